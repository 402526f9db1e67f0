/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/runs/runs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/text.h"
#include "trace/format.h"

#define CANDIDATES_SHOWN 5

static bool has_run_name(const char *name)
{
	return name[0] != '.' && text_ends_with(name, trace_container.suffix);
}

static int compare_newest_first(const void *a, const void *b)
{
	const struct run_file *x = a, *y = b;

	if (x->modified_ns != y->modified_ns)
		return x->modified_ns < y->modified_ns ? 1 : -1;
	return strcmp(y->path, x->path);
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The number of leading digits that two ids have in common. */
static int count_shared_digits(const char *a, const char *b)
{
	int n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* How many digits tell all ids apart: one more than the most that two neighbors share. */
static int count_needed_digits(const struct runs *runs)
{
	AUTO_FREE const char **ids = xcalloc(runs->count + 1, sizeof(*ids));
	int needed = RUNS_ID_SHOWN;

	for (size_t i = 0; i < runs->count; i++)
		ids[i] = runs->list[i].id;
	qsort(ids, runs->count, sizeof(*ids), compare_ids);
	for (size_t i = 1; i < runs->count; i++) {
		int shared = count_shared_digits(ids[i - 1], ids[i]);

		if (shared + 1 > needed)
			needed = shared + 1;
	}
	return needed < RUNS_ID_DIGITS ? needed : RUNS_ID_DIGITS;
}

static void append_run(struct runs *runs, char *path, const struct stat *st)
{
	struct run_file *run;
	uint64_t hash;

	runs->list = xgrow(runs->list, &runs->cap, runs->count + 1, sizeof(*runs->list));
	run = &runs->list[runs->count++];
	*run = (struct run_file){
		.path = path,
		.name = path_base_name(path),
		.modified_ns = (int64_t)st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec,
		.bytes = (uint64_t)st->st_size,
	};
	hash = XXH64(run->name, strlen(run->name), 0);
	snprintf(run->id, sizeof(run->id), "%012" PRIx64, hash >> 16);
}

static void auto_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

int runs_read(struct runs *runs, const char *directory, struct err *err)
{
	__attribute__((cleanup(auto_closedir))) DIR *dir = opendir(directory);
	struct runs found = { 0 };
	struct dirent *entry;

	if (!dir && errno != ENOENT)
		return err_set(err, errno, "%s: %s", directory, strerror(errno));
	while (dir && (entry = readdir(dir))) {
		char *path = place_join(directory, entry->d_name);
		struct stat st;

		if (has_run_name(entry->d_name) && stat(path, &st) == 0 && S_ISREG(st.st_mode))
			append_run(&found, path, &st);
		else
			free(path);
	}
	if (found.count)
		qsort(found.list, found.count, sizeof(*found.list), compare_newest_first);
	found.id_digits = count_needed_digits(&found);
	*runs = found;
	return 0;
}

void runs_release(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		free(runs->list[i].path);
	free(runs->list);
	*runs = (struct runs){ 0 };
}

static char *find_newest_run(const char *directory, struct err *err)
{
	struct runs runs;
	char *path = NULL;

	if (runs_read(&runs, directory, err) < 0)
		return NULL;
	if (runs.count)
		path = xstrdup(runs.list[0].path);
	else
		err_set(err, ENOENT, "no run in %s yet; record one with 'sluice run -- PROGRAM'",
			directory);
	runs_release(&runs);
	return path;
}

/* Does the user's word mean this run: a prefix of its id, or its name without or with suffix? */
static bool is_meant(const struct run_file *run, const char *word)
{
	size_t n = strlen(word), stem = strlen(run->name) - strlen(trace_container.suffix);

	if (strncmp(run->id, word, n) == 0)
		return true;
	return strncmp(run->name, word, n) == 0 && (n == stem || !run->name[n]);
}

static void append_candidate(struct buf *out, const struct runs *runs, const struct run_file *run,
			     size_t number)
{
	if (number < CANDIDATES_SHOWN)
		buf_printf(out, "%s%.*s", number ? ", " : "", runs->id_digits, run->id);
	else if (number == CANDIDATES_SHOWN)
		buf_printf(out, ", ...");
}

static char *find_meant(const struct runs *runs, const char *word, struct err *err)
{
	AUTO_BUF struct buf candidates = { 0 };
	const struct run_file *found = NULL;
	size_t matches = 0;

	for (size_t i = 0; i < runs->count; i++) {
		if (!is_meant(&runs->list[i], word))
			continue;
		found = &runs->list[i];
		append_candidate(&candidates, runs, found, matches++);
	}
	if (matches == 1)
		return xstrdup(found->path);
	if (matches)
		err_set(err, EINVAL, "run id \"%s\" is ambiguous: %s", word, buf_text(&candidates));
	else
		err_set(err, ENOENT, "no trace file or run \"%s\"; 'sluice ls' lists the runs",
			word);
	return NULL;
}

char *runs_find(const char *directory, const char *name, struct err *err)
{
	struct runs runs;
	char *path;

	if (!name)
		return find_newest_run(directory, err);
	if (*name && place_exists(name))
		return xstrdup(name);
	if (!*name || strchr(name, '/')) {
		err_set(err, ENOENT, "%s: no such file", *name ? name : "\"\"");
		return NULL;
	}
	if (runs_read(&runs, directory, err) < 0)
		return NULL;
	path = find_meant(&runs, name, err);
	runs_release(&runs);
	return path;
}
