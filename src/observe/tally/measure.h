/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One number of a report: its name and how to compute it. Table columns, JSON fields, survey lines
 * and the comparison of ranks all use these rows.
 */
#ifndef SLUICE_OBSERVE_TALLY_MEASURE_H
#define SLUICE_OBSERVE_TALLY_MEASURE_H

#include <stddef.h>

#include "base/unit.h"

struct json;

enum quantity {
	QUANTITY_COUNT,
	QUANTITY_BYTES,
	QUANTITY_NS,
	QUANTITY_RATE, /* bytes per second */
};

struct measure {
	const char *name;  /* JSON field and survey line */
	const char *title; /* column title, see base/table.h; NULL: not shown in tables */
	enum quantity quantity;
	double (*get)(const void *record); /* NAN if undefined, such as the bytes per call without
					      calls */
};

/* Formats a value for people: "1.50 KiB", "12.3 ms", "-" for NAN. Returns out. */
const char *measure_text(char out[UNIT_TEXT], enum quantity quantity, double value);

/* Writes each measure as a field of the open JSON object. */
void measure_json(struct json *json, const struct measure *measures, size_t count,
		  const void *record);

#endif
