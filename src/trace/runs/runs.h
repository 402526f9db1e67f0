/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorded runs of a directory (setting trace.dir): one trace file each. A run has an id of
 * RUNS_ID_DIGITS hexadecimal digits that is derived from the name of its file, so no index must be
 * kept. Users type a prefix that no other run of the directory shares.
 */
#ifndef SLUICE_TRACE_RUNS_RUNS_H
#define SLUICE_TRACE_RUNS_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define RUNS_ID_DIGITS 12
#define RUNS_ID_SHOWN 5 /* at least; more if the directory needs them to tell its runs apart */

struct run_file {
	char *path;
	const char *name; /* the base name, part of path */
	char id[RUNS_ID_DIGITS + 1];
	int64_t modified_ns; /* since the epoch */
	uint64_t bytes;
};

struct runs {
	struct run_file *list; /* newest first */
	size_t count, cap;
	int id_digits; /* how many digits of an id tell all runs apart */
};

/* A directory that does not exist holds no runs. Release with runs_release(). */
int runs_read(struct runs *runs, const char *directory, struct err *err);
void runs_release(struct runs *runs);

/*
 * Finds the trace that a user means: the path of a file, an id or a unique prefix of one, or the
 * name of a trace in the directory, with or without its suffix. name NULL: the newest run. Returns
 * the path, which the caller frees; NULL with err set (ENOENT: no run matches).
 */
char *runs_find(const char *directory, const char *name, struct err *err);

#endif
