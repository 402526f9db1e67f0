/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/job/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"
#include "observe/job/agreement.h"
#include "trace/format.h"
#include "trace/merge/merge.h"

#define MERGING "merging"
#define JOB_DIGITS 16
#define RANKS "-ranks"

static bool ends_with(const char *text, size_t n, const char *end)
{
	size_t e = strlen(end);

	return n > e && !strncmp(text + n - e, end, e);
}

/* Creates or opens a private directory of that name. */
static int make_directory(const char *directory, struct err *err)
{
	int fd = trusted_make_directory(directory, err);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/*
 * The names of the directory, in the order in which they are tried. All nodes know the first two.
 * Nobody can guess the last; parts with that name are not merged.
 */
#define NAMES 3
static char *directory_name(const char *trace, int number)
{
	unsigned user = (unsigned)geteuid();
	uint64_t random = 0;

	if (number == 0)
		return xprintf("%s" PARTS_SUFFIX, trace);
	if (number == 1)
		return xprintf("%s-%u" PARTS_SUFFIX, trace, user);
	(void)!getrandom(&random, sizeof(random), 0);
	return xprintf("%s-%u-%016" PRIx64 PARTS_SUFFIX, trace, user, random);
}

static char *create_directory(const char *trace, char **warning, struct err *err)
{
	struct err first = { 0 }, why = { 0 };
	int r = -EPERM;

	/* ENOTDIR: the name belongs to a file. */
	for (int i = 0; i < NAMES && (r == -EPERM || r == -ENOTDIR); i++) {
		char *name = directory_name(trace, i);

		r = make_directory(name, i ? &why : &first);
		if (r >= 0) {
			*warning = i ? xprintf("%s; %s is used instead", first.text, name) : NULL;
			return name;
		}
		free(name);
	}
	err_set(err, first.code, "%s", first.text);
	return NULL;
}

char *parts_begin(const char *trace, uint64_t job, const char *host, char **warning,
		  struct err *err)
{
	AUTO_FREE char *directory = NULL;

	*warning = NULL;
	directory = create_directory(trace, warning, err);
	if (!directory)
		return NULL;
	return xprintf("%s/%0*" PRIx64 "-%s-%d%s", directory, JOB_DIGITS, job, host, (int)getpid(),
		       trace_container.suffix);
}

/* Returns N of "HOST-PID.N-ranks.sluice"; 0 for other names. */
static uint32_t ranks_of(const char *path)
{
	size_t n = strlen(path) - strlen(trace_container.suffix), digits;

	if (!ends_with(path, n, RANKS))
		return 0;
	n -= strlen(RANKS);
	for (digits = n; digits && path[digits - 1] >= '0' && path[digits - 1] <= '9';)
		digits--;
	return digits && path[digits - 1] == '.' ? (uint32_t)strtoul(path + digits, NULL, 10) : 0;
}

static int is_part(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       ends_with(entry->d_name, strlen(entry->d_name), trace_container.suffix);
}

int parts_list(const char *directory, const char *prefix, struct parts *parts, struct err *err)
{
	struct dirent **names;
	int n = scandir(directory, &names, is_part, alphasort);

	*parts = (struct parts){ 0 };
	if (n < 0)
		return err_set(err, errno, "%s: %s", directory, strerror(errno));
	parts->paths = xcalloc((size_t)n + 1, sizeof(char *));
	for (int i = 0; i < n; i++) {
		if (!prefix || !strncmp(names[i]->d_name, prefix, strlen(prefix))) {
			parts->paths[parts->count++] = place_join(directory, names[i]->d_name);
			parts->ranks += ranks_of(names[i]->d_name);
		}
		free(names[i]);
	}
	free(names);
	return 0;
}

void parts_release(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->paths[i]);
	free(parts->paths);
	*parts = (struct parts){ 0 };
}

char *parts_trace(const char *directory)
{
	size_t n = strlen(directory);

	while (n > 1 && directory[n - 1] == '/')
		n--;
	if (!ends_with(directory, n, PARTS_SUFFIX))
		return NULL;
	return xstrndup(directory, n - strlen(PARTS_SUFFIX));
}

char *parts_trace_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *directory = xstrndup(path, slash ? (size_t)(slash - path) : 0);

	return parts_trace(directory);
}

char *parts_sibling(const char *part, const char *name)
{
	const char *slash = strrchr(part, '/');
	int directory = slash ? (int)(slash + 1 - part) : 0;

	return xprintf("%.*s%.*s-%s", directory, part, JOB_DIGITS, part + directory, name);
}

void parts_remove(const char *directory, const struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		AUTO_FREE char *marker = parts_sibling(parts->paths[i], MERGING);

		unlink(parts->paths[i]);
		unlink(marker);
		agreement_remove(parts->paths[i]);
	}
	rmdir(directory);
}

/* Several nodes may see that all parts are complete, but only one may merge. */
static bool is_elected(const char *part)
{
	AUTO_FREE char *path = parts_sibling(part, MERGING);
	AUTO_CLOSE int fd = trusted_create_file(AT_FDCWD, path, NULL);

	return fd >= 0;
}

/* Returns the name itself, or one with a number before the suffix that does not exist yet. */
static char *free_name(const struct parts_whole *whole)
{
	size_t n = strlen(whole->trace), suffix = strlen(whole->form->suffix);
	size_t stem = ends_with(whole->trace, n, whole->form->suffix) ? n - suffix : n;
	char *path = xstrdup(whole->trace);

	for (int i = 2; !whole->replace && place_exists(path); i++) {
		free(path);
		path = xprintf("%.*s-%d%s", (int)stem, whole->trace, i, whole->trace + stem);
	}
	return path;
}

static int merge_all(const char *directory, const struct parts *parts,
		     const struct parts_whole *whole, char **result, struct err *err)
{
	char *path = free_name(whole);
	int r = trace_merge((const char *const *)parts->paths, parts->count, whole->form, path,
			    NULL, NULL, NULL, err);

	if (r < 0) {
		free(path);
		return r;
	}
	parts_remove(directory, parts);
	*result = path;
	return 0;
}

/* Lists the job's parts in the directory, which must be the user's own. */
static int list_own_parts(const char *directory, const char *job, struct parts *parts,
			  struct err *err)
{
	AUTO_CLOSE int fd = trusted_open_directory(AT_FDCWD, directory, TRUSTED_PRIVATE, err);

	*parts = (struct parts){ 0 };
	return fd < 0 ? fd : parts_list(directory, job, parts, err);
}

int parts_end(const char *part, const struct parts_whole *whole, uint32_t ranks, char **result,
	      struct err *err)
{
	size_t stem = strlen(part) - strlen(trace_container.suffix);
	AUTO_FREE char *directory = xstrndup(part, (size_t)(path_base_name(part) - 1 - part));
	char *named = xprintf("%.*s.%u%s%s", (int)stem, part, ranks, RANKS, trace_container.suffix);
	AUTO_FREE char *job =
		xstrndup(part + strlen(directory) + 1, JOB_DIGITS); /* from its own name */
	struct parts parts;
	int r;

	if (rename(part, named) != 0) {
		r = err_set(err, errno, "%s: %s", part, strerror(errno));
		free(named);
		return r;
	}
	*result = named;
	/* Listed after our own part is complete, so the last of all nodes sees every part. */
	r = list_own_parts(directory, job, &parts, err);
	if (r >= 0 && parts.ranks >= whole->size && is_elected(part)) {
		r = merge_all(directory, &parts, whole, result, err);
		if (r >= 0)
			free(named);
	}
	parts_release(&parts);
	return r;
}
