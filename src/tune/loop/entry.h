/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An entry of the knowledge base in words and as JSON. `sluice kb` and the web application show the
 * same.
 */
#ifndef SLUICE_TUNE_LOOP_ENTRY_H
#define SLUICE_TUNE_LOOP_ENTRY_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json;
struct knowledge;
struct param_set;
struct store;

#define KB_SCHEMA "sluice.kb/1"

/* Parses the parameters of an entry. The store may have been edited, so they may be invalid. The
 * caller releases the set, also after a failure. */
int entry_parse_parameters(const struct knowledge *knowledge, struct param_set *set,
			   struct err *err);

/* Appends "cb_nodes=4 striping_factor=4", or what to show instead. */
void entry_append_parameters(const struct knowledge *knowledge, struct buf *line);

/* How the data was compared; "-" if there are no parameters. */
const char *entry_comparison(const struct knowledge *knowledge);

/* Appends "1.42 s", "failed", or the number alone if this version does not know the objective. */
void entry_append_cost(const struct knowledge *knowledge, double cost, struct buf *out);
/* Appends "I/O 1.42 s -> 614 ms". */
void entry_append_costs(const struct knowledge *knowledge, struct buf *out);

/* Writes the members of an entry of KB_SCHEMA; the caller has opened the object. */
void entry_json(const struct knowledge *knowledge, struct json *json);

/* Runs that an entry is judged by, of which the newest ENTRY_RUNS_KEPT are known. */
struct entry_range {
	size_t runs;
	double low, high; /* costs; INFINITY: a run failed */
};

struct entry_usage {
	struct entry_range with, without; /* the parameters of the entry */
};

int entry_usage_read(struct entry_usage *usage, struct store *store, int64_t id, struct err *err);

#endif
