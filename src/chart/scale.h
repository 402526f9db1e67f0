/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The scale of an axis: maps values to positions, and chooses ticks and their labels. A tick is a
 * round number of the scale's unit: bytes have powers of two, times have minutes and hours, dates
 * have days. Labels include the unit.
 */
#ifndef SLUICE_CHART_SCALE_H
#define SLUICE_CHART_SCALE_H

#include <stdbool.h>
#include <stddef.h>

enum scale_unit {
	SCALE_NUMBER,
	SCALE_COUNT, /* whole numbers */
	SCALE_BYTES,
	SCALE_RATE,    /* bytes per second */
	SCALE_SECONDS, /* duration */
	SCALE_SHARE,   /* 0 to 1, shown in percent */
	SCALE_DATE,    /* seconds since 1970, shown in UTC */
};

struct scale {
	enum scale_unit unit;
	bool is_logarithmic;
	double low, high; /* ends of the axis, as values; low < high */
};

#define SCALE_TICKS_MAX 64
#define SCALE_LABEL 32

/*
 * A linear scale. A range that is empty or not finite is widened, so that every scale has at least
 * one tick.
 */
void scale_init(struct scale *scale, enum scale_unit unit, double low, double high);

/* The same with logarithms; both ends must be above 0, else 1 or a tenth of `high` replaces them.
 */
void scale_init_logarithmic(struct scale *scale, enum scale_unit unit, double low, double high);

/* Moves the upper end up to the next tick, and the lower end down unless it is 0. `about` is as in
 * scale_ticks(). */
void scale_round(struct scale *scale, size_t about);

/* The position of a value: 0 is low, 1 is high; values outside are beyond. NAN: it has none. */
double scale_place(const struct scale *scale, double value);

/*
 * Stores the ticks in ascending order, about as many as asked for and at most SCALE_TICKS_MAX.
 * Returns their number, which is at least 1 unless the range has no round number.
 */
size_t scale_ticks(const struct scale *scale, size_t about, double ticks[SCALE_TICKS_MAX]);

/* "0", "4 MiB", "1.5 s", "20 %", "Mar 10", "18:00". Returns out. */
const char *scale_label(const struct scale *scale, double tick, char out[SCALE_LABEL]);

#endif
