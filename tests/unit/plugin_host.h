/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host for asynchronous plug-ins under test: options and processes are the test's, calls those of
 * the real table; what the plug-in says is kept as text, a line each.
 */
#ifndef SLUICE_TESTS_PLUGIN_HOST_H
#define SLUICE_TESTS_PLUGIN_HOST_H

#include <sluice/plugin.h>

#include "base/buf.h"
#include "check.h"
#include "contract/call.h"

struct plugin_host {
	struct sluice_host host;
	const char *const *options; /* "key=value", ends with NULL */
	const struct sluice_process *processes;
	size_t process_count;
	const char *const *files;
	size_t file_count;
	struct buf said, warned;
};

static inline const char *plugin_host_option(void *self, const char *key)
{
	const struct plugin_host *host = self;
	size_t n = strlen(key);

	for (size_t i = 0; host->options && host->options[i]; i++) {
		if (strncmp(host->options[i], key, n) == 0 && host->options[i][n] == '=')
			return host->options[i] + n + 1;
	}
	return NULL;
}

static inline const struct call_info *plugin_host_call(void *self, uint32_t number)
{
	(void)self;
	return number < call_count ? &call_table[number] : NULL;
}

static inline const char *plugin_host_file(void *self, file_id id)
{
	const struct plugin_host *host = self;

	return id < host->file_count ? host->files[id] : id ? NULL : "";
}

static inline const struct sluice_process *plugin_host_process(void *self, uint32_t index)
{
	const struct plugin_host *host = self;

	return index < host->process_count ? &host->processes[index] : NULL;
}

static inline const char *plugin_host_user(void *self)
{
	(void)self;
	return "somebody";
}

static inline const char *plugin_host_run(void *self)
{
	(void)self;
	return "0123456789abcdef0123456789abcdef";
}

static inline int64_t plugin_host_now(void *self)
{
	(void)self;
	return 0;
}

static inline void plugin_host_number(void *self, int32_t process, const char *group,
				      const char *field, double value)
{
	struct plugin_host *host = self;

	buf_printf(&host->said, "%d|%s|%s|%.17g\n", process, group, field, value);
}

static inline void plugin_host_text(void *self, int32_t process, const char *group,
				    const char *field, const char *value)
{
	struct plugin_host *host = self;

	buf_printf(&host->said, "%d|%s|%s|%s\n", process, group, field, value);
}

static inline void plugin_host_warn(void *self, const char *text)
{
	struct plugin_host *host = self;

	buf_printf(&host->warned, "%s\n", text);
}

static inline void plugin_host_init(struct plugin_host *host, const char *const *options,
				    const struct sluice_process *processes, size_t process_count)
{
	*host = (struct plugin_host){
		.host = { sizeof(host->host), host, plugin_host_option, plugin_host_call,
			  plugin_host_file, plugin_host_process, plugin_host_user, plugin_host_run,
			  plugin_host_now, plugin_host_number, plugin_host_text, plugin_host_warn },
		.options = options,
		.processes = processes,
		.process_count = process_count,
	};
}

static inline void plugin_host_release(struct plugin_host *host)
{
	buf_release(&host->said);
	buf_release(&host->warned);
}

/* The number that was said of a field of the node; -1 where none was. */
static inline double plugin_host_said(const struct plugin_host *host, const char *group,
				      const char *field)
{
	char line[256];
	const char *at;

	snprintf(line, sizeof(line), "-1|%s|%s|", group, field);
	at = strstr(buf_text(&host->said), line);
	return at ? strtod(at + strlen(line), NULL) : -1;
}

/* Number of a call in the table. */
static inline uint16_t plugin_host_call_number(const char *name)
{
	for (unsigned i = 0; i < call_count; i++) {
		if (strcmp(call_table[i].name, name) == 0)
			return (uint16_t)i;
	}
	printf("no call %s\n", name);
	exit(1);
}

#endif
