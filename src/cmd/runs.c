/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/runs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "cli/command.h"
#include "observe/report/loss.h"

static bool is_run(const char *name)
{
	size_t n = strlen(name), suffix = strlen(trace_container.suffix);

	return n > suffix && name[0] != '.' &&
	       strcmp(name + n - suffix, trace_container.suffix) == 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct run_file *x = a, *y = b;

	if (x->modified_ns != y->modified_ns)
		return x->modified_ns < y->modified_ns ? 1 : -1;
	return strcmp(y->path, x->path);
}

static void auto_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

int runs_list(const char *directory, struct run_file **runs, size_t *count, struct err *err)
{
	__attribute__((cleanup(auto_closedir))) DIR *dir = opendir(directory);
	struct run_file *list = NULL;
	size_t n = 0, cap = 0;
	struct dirent *entry;

	if (!dir && errno != ENOENT)
		return err_set(err, errno, "%s: %s", directory, strerror(errno));
	while (dir && (entry = readdir(dir))) {
		char *path = place_join(directory, entry->d_name);
		struct stat st;

		if (!is_run(entry->d_name) || stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
			free(path);
			continue;
		}
		list = xgrow(list, &cap, n + 1, sizeof(*list));
		list[n++] = (struct run_file){
			.path = path,
			.modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
			.bytes = (uint64_t)st.st_size,
		};
	}
	if (n)
		qsort(list, n, sizeof(*list), newest_first);
	*runs = list;
	*count = n;
	return 0;
}

void runs_free(struct run_file *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(runs[i].path);
	free(runs);
}

char *runs_last(const char *directory, struct err *err)
{
	struct run_file *runs = NULL;
	size_t count = 0;
	char *path = NULL;

	if (runs_list(directory, &runs, &count, err) < 0)
		return NULL;
	if (count)
		path = xstrdup(runs[0].path);
	else
		err_set(err, ENOENT, "there is no run in %s yet; try: sluice run -- PROGRAM",
			directory);
	runs_free(runs, count);
	return path;
}

int runs_open(const struct command *command, struct trace *trace, const struct trace_filter *filter)
{
	struct err err = { 0 };
	AUTO_FREE char *path = NULL;

	*trace = (struct trace){ 0 };
	if (command->argc)
		path = xstrdup(command->argv[0]);
	else
		path = runs_last(config_text(command->config, SETTING_TRACE_DIR), &err);
	if (!path) {
		command_fail(command, "%s", err.text);
		return err.code == ENOENT ? COMMAND_NO_DATA : COMMAND_FAILED;
	}
	if (trace_open(trace, path, filter, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

void runs_tell_losses(const struct command *command, const struct trace_head *head)
{
	AUTO_BUF struct buf text = { 0 };
	char *rest = NULL;

	loss_describe(&text, head);
	if (!text.len)
		return;
	for (char *line = strtok_r(text.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		command_warn(command, "%s", line);
}
