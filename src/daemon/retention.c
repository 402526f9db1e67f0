/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/retention.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/text.h"
#include "daemon/about.h"
#include "daemon/forwarder.h"
#include "trace/format.h"

#define LEFTOVER_NS (3600 * NS_PER_S) /* from then on, nobody writes to a copy */

/* A complete trace. */
struct shelved {
	char *path;
	int64_t time_ns;
	uint64_t bytes;
	bool is_unsent;
};

struct shelf {
	const struct retention_limits *limits;
	struct shelved oldest[2 * RETENTION_BATCH]; /* sorted when it is full, and halved */
	size_t count;
	bool is_truncated; /* there are more traces than in `oldest` */
	struct retention_totals totals;
};

static int64_t time_of(const struct stat *st)
{
	return st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;
}

/* Calls `seen` for each file of each user. */
static void visit(const char *traces,
		  void (*seen)(void *arg, uid_t user, const char *path, const struct stat *st),
		  void *arg)
{
	DIR *users = opendir(traces);
	const struct dirent *entry;

	while (users && (entry = readdir(users))) {
		AUTO_FREE char *directory = NULL;
		const struct dirent *file;
		char *end;
		unsigned long user = strtoul(entry->d_name, &end, 10);
		DIR *files;

		if (*end || end == entry->d_name)
			continue;
		directory = place_join(traces, entry->d_name);
		files = opendir(directory);
		while (files && (file = readdir(files))) {
			AUTO_FREE char *path = place_join(directory, file->d_name);
			struct stat st;

			if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
				seen(arg, (uid_t)user, path, &st);
		}
		if (files)
			closedir(files);
	}
	if (users)
		closedir(users);
}

static bool is_trace(const char *path)
{
	return text_ends_with(path, trace_container.suffix);
}

static void remove_trace(const char *path)
{
	AUTO_FREE char *sent = xprintf("%s" FORWARDER_SENT, path);
	AUTO_FREE char *about = xprintf("%s" ABOUT_SUFFIX, path);

	/* The mark goes last: a trace without it would be sent again. */
	unlink(path);
	unlink(about);
	unlink(sent);
}

/* Those that the database has come first, the oldest before others. */
static int compare(const void *a, const void *b)
{
	const struct shelved *x = a, *y = b;

	if (x->is_unsent != y->is_unsent)
		return x->is_unsent ? 1 : -1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void drop_from(struct shelf *shelf, size_t first)
{
	for (size_t i = first; i < shelf->count; i++)
		free(shelf->oldest[i].path);
	shelf->count = first;
}

static void count_removed(struct shelf *shelf, bool is_unsent)
{
	shelf->totals.removed++;
	shelf->totals.removed_unsent += is_unsent;
}

static void see_file(void *arg, uid_t user, const char *path, const struct stat *st)
{
	struct shelf *shelf = arg;
	AUTO_FREE char *sent = NULL;
	bool is_unsent;

	(void)user;
	if (text_ends_with(path, RETENTION_COPY) &&
	    time_of(st) < clock_realtime_ns() - LEFTOVER_NS) {
		unlink(path);
		return;
	}
	if (about_is_orphan(path) && time_of(st) < clock_realtime_ns() - LEFTOVER_NS) {
		unlink(path);
		return;
	}
	if (!is_trace(path)) {
		shelf->totals.bytes += (uint64_t)st->st_size;
		return;
	}
	sent = xprintf("%s" FORWARDER_SENT, path);
	is_unsent = shelf->limits->has_database && !place_exists(sent);
	if (shelf->limits->age_ns && time_of(st) < clock_realtime_ns() - shelf->limits->age_ns) {
		remove_trace(path);
		count_removed(shelf, is_unsent);
		return;
	}
	shelf->totals.traces++;
	shelf->totals.bytes += (uint64_t)st->st_size;
	if (shelf->count == 2 * RETENTION_BATCH) {
		qsort(shelf->oldest, shelf->count, sizeof(shelf->oldest[0]), compare);
		drop_from(shelf, RETENTION_BATCH);
		shelf->is_truncated = true;
	}
	shelf->oldest[shelf->count++] =
		(struct shelved){ xstrdup(path), time_of(st), (uint64_t)st->st_size, is_unsent };
}

/* Removes until the limit is kept. Returns true if another pass is necessary. */
static bool apply_size(struct shelf *shelf)
{
	bool is_above;

	qsort(shelf->oldest, shelf->count, sizeof(shelf->oldest[0]), compare);
	for (size_t i = 0; i < shelf->count && shelf->totals.bytes > shelf->limits->bytes; i++) {
		const struct shelved *trace = &shelf->oldest[i];

		/* Of more than a batch, younger ones that the database has may not be listed. */
		if (shelf->is_truncated && i >= RETENTION_BATCH)
			break;
		remove_trace(trace->path);
		shelf->totals.bytes -= trace->bytes;
		shelf->totals.traces--;
		count_removed(shelf, trace->is_unsent);
	}
	is_above = shelf->totals.bytes > shelf->limits->bytes;
	return is_above && shelf->is_truncated;
}

struct retention_totals retention_apply(const char *traces, const struct retention_limits *limits)
{
	struct shelf *shelf = xcalloc(1, sizeof(*shelf));
	struct retention_totals totals;
	bool again;

	shelf->limits = limits;
	do {
		shelf->totals.traces = shelf->totals.bytes = 0;
		shelf->is_truncated = false;
		visit(traces, see_file, shelf);
		again = limits->bytes && apply_size(shelf);
		drop_from(shelf, 0);
	} while (again);
	totals = shelf->totals;
	free(shelf);
	return totals;
}

struct unwanted {
	bool has_user;
	uid_t user;
	char *end; /* of the name; NULL: any */
	int64_t before_ns;
	uint64_t removed;
};

static void see_unwanted(void *arg, uid_t user, const char *path, const struct stat *st)
{
	struct unwanted *unwanted = arg;

	if (!is_trace(path) || (unwanted->has_user && unwanted->user != user) ||
	    (unwanted->end && !text_ends_with(path, unwanted->end)) ||
	    time_of(st) > unwanted->before_ns)
		return;
	remove_trace(path);
	unwanted->removed++;
}

uint64_t retention_forget(const char *traces, bool has_user, uid_t user, const char *uuid,
			  int64_t before_ns)
{
	AUTO_FREE char *end = uuid ? xprintf("-%s%s", uuid, trace_container.suffix) : NULL;
	struct unwanted unwanted = { has_user, user, end, before_ns, 0 };

	visit(traces, see_unwanted, &unwanted);
	return unwanted.removed;
}
