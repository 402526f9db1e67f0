/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A number of a report: its name and how it is got, said once. Columns of tables, fields of JSON,
 * lines of a survey and the comparison of ranks all read these rows.
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
	const char *name;  /* field of JSON, line of a survey */
	const char *title; /* of its column, see base/table.h; NULL: not in tables */
	enum quantity quantity;
	double (*get)(const void *record); /* NAN where there is none: bytes per call of no call */
};

/* As people read it: "1.50 KiB", "12.3 ms", "-" for none. Returns out. */
const char *measure_text(char out[UNIT_TEXT], enum quantity quantity, double value);

/* Each of the measures as a field of the object that is open. */
void measure_json(struct json *json, const struct measure *measures, size_t count,
		  const void *record);

#endif
