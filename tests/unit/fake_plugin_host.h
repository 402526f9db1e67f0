/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host for asynchronous plug-ins under test: the test provides options and processes, calls are
 * those of the real table, and the reports of the plug-in are kept as text, one per line.
 */
#ifndef SLUICE_TESTS_FAKE_PLUGIN_HOST_H
#define SLUICE_TESTS_FAKE_PLUGIN_HOST_H

#include <inttypes.h>

#include <sluice/plugin.h>

#include "base/buf.h"
#include "check.h"
#include "contract/call.h"

struct fake_host {
	struct sluice_host host;
	const char *const *options; /* "key=value", ends with NULL */
	const struct sluice_process *processes;
	size_t process_count;
	const char *const *files;
	size_t file_count;
	const char *run;	/* UUID of the run; NULL: some UUID */
	const char *filesystem; /* of all files; NULL: unknown */
	struct buf said, warned;
	struct buf acted; /* what a plug-in that acts has suggested, withdrawn and applied */
	int suggestions;
};

static inline const char *fake_host_option(void *self, const char *key)
{
	const struct fake_host *host = self;
	size_t n = strlen(key);

	for (size_t i = 0; host->options && host->options[i]; i++) {
		if (strncmp(host->options[i], key, n) == 0 && host->options[i][n] == '=')
			return host->options[i] + n + 1;
	}
	return NULL;
}

static inline const struct call_info *fake_host_call(void *self, uint32_t number)
{
	(void)self;
	return number < call_count ? &call_table[number] : NULL;
}

static inline const char *fake_host_file(void *self, file_id id)
{
	const struct fake_host *host = self;

	return id < host->file_count ? host->files[id] : id ? NULL : "";
}

static inline const struct sluice_process *fake_host_process(void *self, uint32_t index)
{
	const struct fake_host *host = self;

	return index < host->process_count ? &host->processes[index] : NULL;
}

static inline const char *fake_host_user(void *self)
{
	(void)self;
	return "somebody";
}

static inline const char *fake_host_run(void *self)
{
	const struct fake_host *host = self;

	return host->run ? host->run : "0123456789abcdef0123456789abcdef";
}

static inline int64_t fake_host_now(void *self)
{
	(void)self;
	return 0;
}

static inline void fake_host_number(void *self, int32_t process, const char *group,
				    const char *field, double value)
{
	struct fake_host *host = self;

	buf_printf(&host->said, "%d|%s|%s|%.17g\n", process, group, field, value);
}

static inline void fake_host_text(void *self, int32_t process, const char *group, const char *field,
				  const char *value)
{
	struct fake_host *host = self;

	buf_printf(&host->said, "%d|%s|%s|%s\n", process, group, field, value);
}

static inline const char *fake_host_filesystem(void *self, file_id id)
{
	const struct fake_host *host = self;

	(void)id;
	return host->filesystem ? host->filesystem : "";
}

static inline void fake_host_warn(void *self, const char *text)
{
	struct fake_host *host = self;

	buf_printf(&host->warned, "%s\n", text);
}

static inline int fake_host_suggest(void *self, const struct sluice_suggestion *s)
{
	struct fake_host *host = self;

	buf_printf(&host->acted,
		   "suggest %s of %u ranks, %" PRIu64 " of %" PRIu64 " bytes: %s; opened with %s\n",
		   s->is_write ? "write" : "read", s->ranks, s->bytes, s->span, s->hints,
		   s->opened);
	return host->suggestions++;
}

static inline void fake_host_withdraw(void *self, int number)
{
	struct fake_host *host = self;

	buf_printf(&host->acted, "withdraw %d\n", number);
}

static inline void fake_host_applied(void *self, const char *name, const char *value)
{
	struct fake_host *host = self;

	buf_printf(&host->acted, "applied %s %s\n", name, value);
}

static inline void fake_host_init(struct fake_host *host, const char *const *options,
				  const struct sluice_process *processes, size_t process_count)
{
	*host = (struct fake_host){
		.host = { sizeof(host->host), host, fake_host_option, fake_host_call,
			  fake_host_file, fake_host_process, fake_host_user, fake_host_run,
			  fake_host_now, fake_host_number, fake_host_text, fake_host_warn,
			  fake_host_filesystem, fake_host_suggest, fake_host_withdraw,
			  fake_host_applied },
		.options = options,
		.processes = processes,
		.process_count = process_count,
	};
}

static inline void fake_host_release(struct fake_host *host)
{
	buf_release(&host->said);
	buf_release(&host->warned);
	buf_release(&host->acted);
}

/* Returns the number that was reported for a field of the node; -1 if there is none. */
static inline double fake_host_reported(const struct fake_host *host, const char *group,
					const char *field)
{
	char line[256];
	const char *at;

	snprintf(line, sizeof(line), "-1|%s|%s|", group, field);
	at = strstr(buf_text(&host->said), line);
	return at ? strtod(at + strlen(line), NULL) : -1;
}

/* Number of a call in the table. */
static inline uint16_t fake_host_call_number(const char *name)
{
	for (unsigned i = 0; i < call_count; i++) {
		if (strcmp(call_table[i].name, name) == 0)
			return (uint16_t)i;
	}
	printf("no call %s\n", name);
	exit(1);
}

#endif
