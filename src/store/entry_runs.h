/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runs that an entry of the knowledge base is judged by: those of the same program, arguments
 * and ranks with and without its parameters. The first ones are the baseline runs of the tuning
 * that found the entry. run/guard.h has the rules.
 */
#ifndef SLUICE_STORE_ENTRY_RUNS_H
#define SLUICE_STORE_ENTRY_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/* The newest runs that are kept of an entry, with its parameters and without. */
#define ENTRY_RUNS_KEPT 50

struct entry_run {
	bool is_applied; /* with the parameters of the entry; false: without parameters */
	double cost;	 /* by the objective of the entry; INFINITY: the program failed */
	double bytes;	 /* read and written */
	int64_t time_ns; /* time of day */
};

/* Adds a run and drops those that are too old. */
int entry_runs_add(struct store *store, int64_t entry, const struct entry_run *run,
		   struct err *err);

/* Reads all runs in the order in which they were added. The caller frees *runs. */
int entry_runs_read(struct store *store, int64_t entry, struct entry_run **runs, size_t *count,
		    struct err *err);

/* Replaces all runs by the good baseline runs of the tuning that found the entry, if there is one.
 * Within a transaction. */
int entry_runs_reset(struct store *store, int64_t entry, struct err *err);

/* Columns entry, applied, cost, bytes and time of the baseline runs of all tunings whose winners
 * are entries: runs with the same parameters as the first one. For the files of src/store only. */
#define ENTRY_RUNS_OF_STUDIES                                                                    \
	"SELECT k.id, 0, r.cost, r.read + r.written, r.begun FROM knowledge k, study_run r "     \
	"WHERE k.study <> '' AND k.study = CAST(r.study AS TEXT) AND r.state = 'good' AND "      \
	"r.phase <> 'unrecorded' AND r.cost > 0 AND "                                            \
	"r.parameters = (SELECT f.parameters FROM study_run f WHERE f.study = r.study ORDER BY " \
	"f.number LIMIT 1)"

#endif
