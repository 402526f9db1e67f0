/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/control_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/trusted.h"
#include "contract/call.h"
#include "contract/sandbox.h"
#include "observe/collect/calibrate.h"
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

/* Opens the backlog of the user, or creates it. Returns a descriptor or -errno. */
static int open_backlog(const char *path)
{
	int fd = trusted_open_file(AT_FDCWD, path, O_RDWR, TRUSTED_PRIVATE, NULL);

	if (fd == -ENOENT)
		fd = trusted_create_file(AT_FDCWD, path, NULL);
	if (fd == -EEXIST)
		fd = trusted_open_file(AT_FDCWD, path, O_RDWR, TRUSTED_PRIVATE, NULL);
	return fd;
}

/* Maps the backlog at this path; a new one if there is none. -EPROTO: it is not valid. */
static int map_backlog(struct mapping *mapping, const char *path)
{
	AUTO_CLOSE int fd = open_backlog(path);
	struct backlog *backlog;
	int code = fd < 0 ? -fd : posix_fallocate(fd, 0, sizeof(*backlog));

	if (!code)
		code = -mapping_open(mapping, fd, sizeof(*backlog));
	if (code)
		return -code;
	backlog = mapping->base;
	if (!backlog->magic)
		backlog->magic = BACKLOG_MAGIC;
	if (backlog_is_valid(backlog, (uint64_t)clock_now_ns()))
		return 0;
	mapping_close(mapping);
	return -EPROTO;
}

/* Maps the backlog, which all runs below the parent of `directory` share, and links it there. */
static int join_backlog(struct mapping *mapping, const char *directory)
{
	const char *slash = strrchr(directory, '/');
	AUTO_FREE char *path = xprintf("%.*s/%s", slash ? (int)(slash - directory) : 1,
				       slash ? directory : ".", BACKLOG_NAME);
	AUTO_FREE char *link_path = xprintf("%s/%s", directory, BACKLOG_NAME);
	int r = map_backlog(mapping, path);

	/* Programs that use the old one keep it. */
	if (r == -EPROTO && unlink(path) == 0)
		r = map_backlog(mapping, path);
	if (r < 0)
		return r;
	if (link(path, link_path) == 0)
		return 0;
	r = -errno;
	mapping_close(mapping);
	return r;
}

/* The names of pools and OSTs are unique within their file system only. */
static uint64_t placement_key(const struct collector_options *o,
			      const struct parameters_destination *destination)
{
	bool is_path = !o->placed_place || !*o->placed_place;
	AUTO_FREE char *name =
		xprintf("%s%s%.*s", is_path ? "" : o->placed_place, is_path ? "" : ",",
			(int)destination->bytes, destination->name);

	return backlog_key(name, strlen(name));
}

/* Without the backlog, files are placed by the weights of the list. */
static void set_placement(struct control *page, const char *directory,
			  const struct collector_options *o)
{
	struct control_placement *p = &page->placement;
	const char *at = o->placed;
	struct parameters_destination next;
	struct mapping mapping = { 0 };
	uint32_t n = 0;

	if (join_backlog(&mapping, directory) < 0)
		return;
	while (n < PARAMETERS_DESTINATIONS && parameters_destination(&at, &next)) {
		int target = backlog_find_target(mapping.base, placement_key(o, &next));

		if (target < 0)
			break;
		p->targets[n] = (uint16_t)target;
		p->weights[n++] = (uint16_t)next.weight;
	}
	mapping_close(&mapping);
	p->list = parameters_destinations_key(o->placed);
	p->most = o->placed_most;
	p->least = o->placed_least;
	p->count = *at ? 0 : n;
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
	page->calls = call_digest;
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
	if (o->placed)
		set_placement(page, directory, o);
	page->parameters_shared = o->parameters_shared;
	if (o->parameters_shared)
		shift_turns(page);
	atomic_store(&page->mode, o->mode);
	page->magic = CONTROL_MAGIC;
	return 0;
}

void control_page_refine(struct control *control, const struct run_clock *clock)
{
	uint64_t den = control->clock_den;

	/* A reader must not see the parts of two clocks, so that only one of them changes. */
	if (den)
		__atomic_store_n(&control->clock_num, calibrate_scale(clock, den),
				 __ATOMIC_RELAXED);
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
