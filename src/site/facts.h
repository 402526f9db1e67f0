/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables that hold the facts of a trace (trace/facts.h) one by one. Columns have the names of the
 * fields, except where a row says otherwise.
 */
#ifndef SLUICE_SITE_FACTS_H
#define SLUICE_SITE_FACTS_H

#include <stddef.h>

#include "trace/facts.h"

struct schema_column;

struct site_fact {
	const char *table;
	const struct fact *fact;
	const char *column, *field; /* the column that has another name than its field; NULL */
	const char *order;	    /* columns by which the rows are read back */
};

/* In the order in which a reader needs them. */
extern const struct site_fact site_facts[];
extern const size_t site_fact_count;

const struct site_fact *site_fact_of(const struct fact *fact);

/* The field of a column; NULL if it is no field, such as the run. */
const struct fact_field *site_fact_field(const struct site_fact *fact,
					 const struct schema_column *column);

#endif
