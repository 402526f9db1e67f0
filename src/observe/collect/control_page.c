/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/control_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/trusted.h"
#include "contract/sandbox.h"
#include "observe/collect/mapping.h"

/* The nodes of a job must not all start with the same destination of new files. */
static void shift_turns(struct control *control)
{
	char host[256] = "";
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	gethostname(host, sizeof(host) - 1);
	for (const char *p = host; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	for (int i = 0; i < CONTROL_TURNS; i++)
		atomic_store(&control->turns[i], hash >> 32);
}

/* The filters that all processes of the run inherit from the collector. */
static uint32_t count_seccomp_filters(void)
{
	char status[SANDBOX_STATUS_BYTES] = "";
	AUTO_FCLOSE FILE *file = fopen("/proc/self/status", "re");
	size_t n = file ? fread(status, 1, sizeof(status) - 1, file) : 0;

	status[n] = 0;
	return sandbox_filters(status);
}

int control_page_create(struct mapping *mapping, const char *directory,
			const struct collector_options *o, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s/%s", directory, CONTROL_NAME);
	AUTO_CLOSE int fd = trusted_create_file(AT_FDCWD, path, err);
	int code = fd < 0 ? -fd : posix_fallocate(fd, 0, sizeof(struct control));
	size_t used = 0;
	struct control *page;

	if (!code)
		code = -mapping_open(mapping, fd, sizeof(*page));
	if (code)
		return err_set(err, code, "%s: %s", path, strerror(code));
	page = mapping->base;
	page->version = SPOOL_VERSION;
	page->clock = o->clock;
	page->messages = o->messages;
	page->seccomp_filters = count_seccomp_filters();
	page->owner = (uint32_t)geteuid();
	page->chunks_max = (uint32_t)(o->spool_bytes / SPOOL_CHUNK_BYTES);
	for (const char *s = o->skip ? o->skip : ""; *s && used + 1 < CONTROL_SKIP_BYTES; s++)
		page->skip[used++] = strchr(", \t", *s) ? '\n' : *s;
	page->skip[used] = '\n';
	if (o->parameters && strlen(o->parameters) < PARAMETERS_BYTES)
		strcpy(page->parameters, o->parameters);
	if (o->forbidden)
		snprintf(page->forbidden, sizeof(page->forbidden), "%s", o->forbidden);
	if (o->advice)
		page->advice = *o->advice;
	page->parameters_shared = o->parameters_shared;
	if (o->parameters_shared)
		shift_turns(page);
	atomic_store(&page->mode, o->mode);
	page->magic = CONTROL_MAGIC;
	return 0;
}

void control_page_describe(struct control *control, const struct run_clock *clock,
			   const struct run_info *run, const char *trace)
{
	AUTO_FREE char *path = realpath(trace, NULL);

	control->collector_pid = (int32_t)getpid();
	control->collector_start = process_start(getpid());
	control->begin_ticks = clock->tick0;
	control->clock_num = clock->num;
	control->clock_den = clock->den;
	snprintf(control->run, sizeof(control->run), "%s", run->uuid);
	control->started_ns = run->started_ns;
	if (path && strlen(path) < sizeof(control->trace))
		strcpy(control->trace, path);
}
