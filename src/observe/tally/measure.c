/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/integer.h"
#include "base/json.h"

const char *measure_text(char out[UNIT_TEXT], enum quantity quantity, double value)
{
	if (isnan(value))
		return strcpy(out, "-");
	switch (quantity) {
	case QUANTITY_BYTES:
		return unit_bytes(out, value);
	case QUANTITY_NS:
		return unit_ns(out, i64_of(value));
	case QUANTITY_RATE:
		return unit_rate(out, value, NS_PER_S);
	case QUANTITY_COUNT:
		break;
	}
	snprintf(out, UNIT_TEXT, "%.0f", value);
	return out;
}

/* Whole numbers are written without a fraction; a double holds them exactly up to 2^53. */
static void measure_write(struct json *json, const struct measure *measure, double value)
{
	if (value == floor(value) && fabs(value) < 0x1p53)
		json_number(json, measure->name, i64_of(value));
	else
		json_double(json, measure->name, value);
}

void measure_json(struct json *json, const struct measure *measures, size_t count,
		  const void *record)
{
	for (size_t i = 0; i < count; i++)
		measure_write(json, &measures[i], measures[i].get(record));
}
