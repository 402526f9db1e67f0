/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/part_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/job/parts.h"
#include "observe/profile/saved.h"
#include "trace/format.h"

void part_list_add(struct part_list *list, const char *path)
{
	list->paths = xgrow(list->paths, &list->cap, list->count + 1, sizeof(*list->paths));
	list->paths[list->count++] = xstrdup(path);
}

void part_list_release(struct part_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct part_list){ 0 };
}

bool part_list_is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *part_list_saved_path(const char *part)
{
	size_t n = strlen(part), suffix = strlen(trace_container.suffix);

	if (n > suffix && strcmp(part + n - suffix, trace_container.suffix) == 0)
		n -= suffix;
	return xprintf("%.*s" SAVED_SUFFIX, (int)n, part);
}

static void append_part_or_profile(struct part_list *list, const char *path, bool saved)
{
	AUTO_FREE char *profile = part_list_saved_path(path);

	part_list_add(list, saved && access(profile, R_OK) == 0 ? profile : path);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Is it the name of a saved profile whose part is not in the directory any more? */
static bool is_lone_profile(const char *directory, const char *name)
{
	AUTO_FREE char *part = NULL;

	if (name[0] == '.' || !text_ends_with(name, SAVED_SUFFIX))
		return false;
	part = xprintf("%s/%.*s%s", directory, (int)(strlen(name) - strlen(SAVED_SUFFIX)), name,
		       trace_container.suffix);
	return access(part, F_OK) != 0;
}

static void list_lone_profiles(struct part_list *list, const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		AUTO_FREE char *path = xprintf("%s/%s", directory, entry->d_name);

		if (is_lone_profile(directory, entry->d_name))
			part_list_add(list, path);
	}
	if (dir)
		closedir(dir);
	if (list->count)
		qsort(list->paths, list->count, sizeof(*list->paths), compare_paths);
}

static int append_directory(struct part_list *list, const char *directory, bool saved,
			    struct err *err)
{
	struct part_list lone = { 0 };
	struct parts parts;
	int r = parts_list(directory, NULL, &parts, err);

	if (r >= 0)
		list_lone_profiles(&lone, directory);
	if (r >= 0 && !parts.count && !lone.count)
		r = err_set(err, ENOENT, "%s: the directory contains no %s or %s file", directory,
			    trace_container.suffix, SAVED_SUFFIX);
	else if (r >= 0 && !parts.count && !saved)
		r = err_set(err, ENOENT,
			    "%s: the directory contains only profiles that are saved already; "
			    "'sluice report %s' reads them",
			    directory, directory);
	for (size_t i = 0; r >= 0 && i < parts.count; i++)
		append_part_or_profile(list, parts.paths[i], saved);
	for (size_t i = 0; r >= 0 && saved && i < lone.count; i++)
		part_list_add(list, lone.paths[i]);
	parts_release(&parts);
	part_list_release(&lone);
	return r;
}

int part_list_find(struct part_list *list, int argc, char *const *argv, bool saved, struct err *err)
{
	for (int i = 0; i < argc; i++) {
		int r;

		if (!part_list_is_directory(argv[i])) {
			part_list_add(list, argv[i]);
			continue;
		}
		r = append_directory(list, argv[i], saved, err);
		if (r < 0)
			return r;
	}
	return 0;
}
