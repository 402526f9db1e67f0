/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is compared of one run: rows of sums by layer, function, file, rank and node statistic. An
 * account needs neither the trace nor its profile any more, so many runs can be compared.
 */
#ifndef SLUICE_OBSERVE_COMPARE_ACCOUNT_H
#define SLUICE_OBSERVE_COMPARE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

enum account_table {
	ACCOUNT_RUN, /* ACCOUNT_REQUESTED and, with libraries, ACCOUNT_STORAGE */
	ACCOUNT_LAYERS,
	ACCOUNT_FUNCTIONS,
	ACCOUNT_FILES,
	ACCOUNT_RANKS,
	ACCOUNT_NODE,
	ACCOUNT_TABLES
};

/* Names of the rows of ACCOUNT_RUN: what the program requested, and what libraries made of it. */
#define ACCOUNT_REQUESTED "requested"
#define ACCOUNT_STORAGE "storage"

/* The row of all functions that access sockets and pipes. */
#define ACCOUNT_CHANNELS "(sockets and pipes)"

/* Sums can be added, so that rows can be combined. */
enum account_sum {
	ACCOUNT_RUN_NS,	 /* run time; only in ACCOUNT_REQUESTED */
	ACCOUNT_BUSY_NS, /* wall-clock time in I/O; only in ACCOUNT_REQUESTED and of ranks */
	ACCOUNT_TIME_NS, /* summed over threads */
	ACCOUNT_CALLS,
	ACCOUNT_ERRORS,
	ACCOUNT_READ, /* bytes */
	ACCOUNT_WRITTEN,
	ACCOUNT_TRANSFERS,
	ACCOUNT_PLACED,	    /* accesses with a known position in the file */
	ACCOUNT_SEQUENTIAL, /* of these, those that start where the previous one ended */
	ACCOUNT_LEVEL,	    /* of a node statistic: its mean over the run */
	ACCOUNT_SUMS
};

struct account_row {
	enum account_table table;
	uint8_t layer; /* of a function */
	char *name;    /* function, path, number of a rank, or node statistic */
	/*
	 * It is not I/O of the program: sockets and pipes, calls that start or end processes,
	 * system files. Such rows come last.
	 */
	bool is_aside;
	double sums[ACCOUNT_SUMS];
};

struct account {
	char *path;    /* of the trace; NULL: the run was not recorded */
	char *command; /* shell-quoted */
	char *directory;
	int64_t started_ns; /* since 1970; 0: unknown */
	int exit_status;    /* -1: unknown */
	bool is_recorded;
	bool is_partial; /* the trace lacks calls or processes */
	size_t ranks;
	int32_t *pids; /* of its processes and their parents, sorted */
	size_t pid_count;
	struct account_row *rows;
	size_t count, cap;
};

/*
 * Fills the account from the profile of a whole trace. With `all`, system files have rows of their
 * own, and so have the functions that access sockets and pipes; otherwise they share one each.
 * Sockets and pipes have no row among the files, as their names mean nothing.
 */
void account_init(struct account *account, const char *path, const struct profile *profile,
		  bool all);

/* A run that was only measured. */
void account_init_time(struct account *account, const char *command, double run_s, int exit_status);

void account_release(struct account *account);

#endif
