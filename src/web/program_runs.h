/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runs of a directory by program, and those of a program in groups that can be compared: the
 * same arguments, ranks, kind of file system and kind of machine. Arguments that are names of files
 * are compared without the parts that differ from run to run (observe/compare/file_pattern.h).
 */
#ifndef SLUICE_WEB_PROGRAM_RUNS_H
#define SLUICE_WEB_PROGRAM_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/compare/trend.h"
#include "trace/runs/runs.h"
#include "web/run_figures.h"

struct err;
struct run_index;

#define PROGRAM_GROUP_DIGITS 12

struct program_run {
	char id[RUNS_ID_DIGITS + 1];
	char group[PROGRAM_GROUP_DIGITS + 1]; /* hexadecimal digits */
	char *program;			      /* valid UTF-8; never empty */
	char *arguments;		      /* as the group has them */
	char *command, *fingerprint, *filesystem, *platform, *applied, *tags;
	const char *state;
	int64_t started_ns, duration_ns;
	int32_t exit_status;
	uint64_t ranks;
	bool is_comparable; /* complete, and the program succeeded */
	bool has_figures, is_unread;
	bool ends_group; /* no later run of the program is in its group */
	struct run_figures figures;
};

/* All readable runs, by program and then in the order of time. */
struct program_runs {
	struct program_run *list;
	size_t count, cap;
};

int program_runs_read(struct program_runs *runs, struct run_index *index, struct err *err);
void program_runs_release(struct program_runs *runs);

/* The number of runs from `first` on that are of the same program. */
size_t program_runs_same(const struct program_runs *runs, size_t first);

/* The first run of the program with this name; SIZE_MAX: none. */
size_t program_runs_find(const struct program_runs *runs, const char *program);

/* Is it one of the runs whose trend is looked at? */
bool program_run_is_tested(const struct program_run *run, const char *group);

/* The measure of a run; NAN: unknown. */
double program_run_value(const struct program_run *run, enum trend_measure measure);

/*
 * The arguments without what differs from run to run. Words are separated by blanks; only those
 * that look like names of files are changed. The caller frees them.
 */
char *program_runs_pattern(const char *arguments);

#endif
