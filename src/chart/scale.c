/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart/scale.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define DAY_S 86400.0
#define DATE_MOST_S 1e15 /* later times have no date */
#define NEAR_MINUTE_S 40 /* a tick from here on would be too close to that of a minute */
/* Beyond these, differences and products could overflow or vanish. */
#define VALUE_MAX 1e290
#define VALUE_MIN 1e-290

/* A unit of labels: the first one whose `least` is not above the scale's largest value is used. */
struct label_unit {
	double least, size;
	const char *name;
};

static const struct label_unit byte_units[] = {
	{ 0x1p50, 0x1p50, "PiB" }, { 0x1p40, 0x1p40, "TiB" }, { 0x1p30, 0x1p30, "GiB" },
	{ 0x1p20, 0x1p20, "MiB" }, { 0x1p10, 0x1p10, "KiB" }, { 0, 1, "B" },
};

static const struct label_unit rate_units[] = {
	{ 0x1p50, 0x1p50, "PiB/s" }, { 0x1p40, 0x1p40, "TiB/s" }, { 0x1p30, 0x1p30, "GiB/s" },
	{ 0x1p20, 0x1p20, "MiB/s" }, { 0x1p10, 0x1p10, "KiB/s" }, { 0, 1, "B/s" },
};

static const struct label_unit time_units[] = {
	{ 3 * DAY_S, DAY_S, "d" }, { 7200, 3600, "h" },	 { 120, 60, "min" }, { 1, 1, "s" },
	{ 1e-3, 1e-3, "ms" },	   { 1e-6, 1e-6, "µs" }, { 0, 1e-9, "ns" },
};

static const struct label_unit number_units[] = {
	{ 1e13, 1e12, "T" }, { 1e10, 1e9, "G" }, { 1e7, 1e6, "M" }, { 1e4, 1e3, "k" }, { 0, 1, "" },
};

/* Distances of ticks between a second and weeks, for durations and dates. */
static const double time_steps[] = { 1,	    2,	   5,	   10,	   15,	    30,	    60,	   120,
				     300,   600,   900,	   1800,   3600,    7200,   10800, 21600,
				     43200, DAY_S, 172800, 604800, 1209600, 2419200 };

static double range_of(const struct scale *scale)
{
	return scale->high - scale->low;
}

/* A value that a scale can have at its end; `instead` if it is not finite. */
static double make_end(double value, double instead)
{
	if (!isfinite(value))
		return instead;
	return fabs(value) < VALUE_MIN ? 0 : fmax(fmin(value, VALUE_MAX), -VALUE_MAX);
}

void scale_init(struct scale *scale, enum scale_unit unit, double low, double high)
{
	low = make_end(low, 0);
	high = make_end(high, low);
	if (!(high - low > 1e-9 * fmax(fabs(high), fabs(low)))) {
		double room = low == 0 ? 1 : fabs(low) / 2;

		high = low + room;
		low = low == 0 ? 0 : low - room;
	}
	*scale = (struct scale){ .unit = unit, .low = low, .high = high };
}

void scale_init_logarithmic(struct scale *scale, enum scale_unit unit, double low, double high)
{
	low = make_end(low, 0);
	high = make_end(high, low);
	if (!(high > 0))
		high = low > 0 ? low : 1;
	if (!(low > 0))
		low = high / 10;
	if (!(high > low * 1.0001)) {
		low = fmin(low, high) / 2;
		high = low * 4;
	}
	*scale = (struct scale){ .unit = unit, .is_logarithmic = true, .low = low, .high = high };
}

double scale_place(const struct scale *scale, double value)
{
	if (!isfinite(value) || (scale->is_logarithmic && !(value > 0)))
		return NAN;
	if (scale->is_logarithmic)
		return log(value / scale->low) / log(scale->high / scale->low);
	return (value - scale->low) / range_of(scale);
}

/* 1, 2 or 5 times a power of ten. */
static double decimal_step(double least)
{
	double unit = pow(10, floor(log10(least)));
	double steps = least / unit;

	return unit * (steps <= 1 ? 1 : steps <= 2 ? 2 : steps <= 5 ? 5 : 10);
}

static double time_step(double least)
{
	if (least < time_steps[0])
		return decimal_step(least);
	for (size_t i = 0; i < sizeof(time_steps) / sizeof(*time_steps); i++)
		if (time_steps[i] >= least)
			return time_steps[i];
	return DAY_S * decimal_step(least / DAY_S);
}

static double linear_step(const struct scale *scale, size_t about)
{
	double least = range_of(scale) / (double)(about ? about : 1);

	if (scale->unit == SCALE_BYTES || scale->unit == SCALE_RATE)
		return least < 1 ? decimal_step(least) : exp2(ceil(log2(least) - 1e-9));
	if (scale->unit == SCALE_DATE)
		return time_step(fmax(least, 1));
	if (scale->unit == SCALE_COUNT)
		return decimal_step(fmax(least, 1));
	return scale->unit == SCALE_SECONDS ? time_step(least) : decimal_step(least);
}

static size_t make_linear_ticks(const struct scale *scale, double step, double *ticks)
{
	double slack = 1e-9 * range_of(scale);
	size_t count = 0;

	double first = ceil((scale->low - slack) / step);

	while (count < SCALE_TICKS_MAX && (first + (double)count) * step <= scale->high + slack) {
		ticks[count] = (first + (double)count) * step;
		count++;
	}
	return count;
}

/* Durations beyond a minute: 1, 2, 5, 10, 20 min; if there are many ticks, only 1 and 10 min. */
static size_t add_long_times(const struct scale *scale, bool is_dense, size_t count, double *ticks)
{
	static const double dense[] = { 60,   120,   300,   600,   1200,   3600,
					7200, 18000, 36000, DAY_S, 864000, 8640000 };
	static const double sparse[] = { 60, 600, 3600, 36000, DAY_S, 864000, 8640000 };
	const double *times = is_dense ? dense : sparse;
	size_t all = is_dense ? sizeof(dense) / sizeof(*dense) : sizeof(sparse) / sizeof(*sparse);

	for (size_t i = 0; i < all && count < SCALE_TICKS_MAX; i++) {
		double place = scale_place(scale, times[i]);

		if (place >= -1e-9 && place <= 1 + 1e-9)
			ticks[count++] = times[i];
	}
	return count;
}

/* Powers of two, or of ten with 2 and 5 between them if there are few. */
static size_t make_logarithmic_ticks(const struct scale *scale, size_t about, double *ticks)
{
	bool binary = scale->unit == SCALE_BYTES || scale->unit == SCALE_RATE;
	double base = binary ? 2 : 10;
	double low = log(scale->low) / log(base), high = log(scale->high) / log(base);
	double stride = fmax(ceil((high - low) / (double)(about ? about : 1)), 1);
	bool between = !binary && stride == 1 && 2 * (high - low) <= (double)about;
	size_t count = 0;

	for (long k = (long)floor(low / stride); (double)k * stride <= high + 1e-9; k++)
		for (int i = 0; i < (between ? 3 : 1) && count < SCALE_TICKS_MAX; i++) {
			double tick = pow(base, (double)k * stride) * (i == 2 ? 5 : i + 1);
			double place = scale_place(scale, tick);

			if (scale->unit == SCALE_SECONDS && tick >= NEAR_MINUTE_S)
				break;
			if (place >= -1e-9 && place <= 1 + 1e-9)
				ticks[count++] = tick;
		}
	return scale->unit == SCALE_SECONDS ? add_long_times(scale, between, count, ticks) : count;
}

/* A logarithmic scale of less than a decade has equidistant ticks. */
size_t scale_ticks(const struct scale *scale, size_t about, double ticks[SCALE_TICKS_MAX])
{
	if (scale->is_logarithmic && scale->high / scale->low >= 8)
		return make_logarithmic_ticks(scale, about, ticks);
	return make_linear_ticks(scale, linear_step(scale, about), ticks);
}

void scale_round(struct scale *scale, size_t about)
{
	double step = linear_step(scale, about);

	if (scale->is_logarithmic)
		return;
	scale->high = step * ceil(scale->high / step - 1e-9);
	if (scale->low != 0)
		scale->low = step * floor(scale->low / step + 1e-9);
}

/* Linear ticks share the unit of the largest one; logarithmic ticks have their own. */
static const struct label_unit *find_unit(const struct scale *scale, const struct label_unit *units,
					  double tick)
{
	double largest = fmax(fabs(scale->low), fabs(scale->high));

	while (units->least > 0 &&
	       (scale->is_logarithmic ? tick * (1 + 1e-9) < units->size : largest < units->least))
		units++;
	return units;
}

/* Midnight shows the day, other times the time of day. */
static void label_date(double tick, char out[SCALE_LABEL])
{
	bool is_date = fabs(tick) < DATE_MOST_S;
	time_t seconds = is_date ? (time_t)tick : 0;
	struct tm tm;

	if (!is_date || !gmtime_r(&seconds, &tm))
		snprintf(out, SCALE_LABEL, "?");
	else if (seconds % (time_t)DAY_S == 0)
		strftime(out, SCALE_LABEL, "%b %-d", &tm);
	else
		strftime(out, SCALE_LABEL, seconds % 60 ? "%H:%M:%S" : "%H:%M", &tm);
}

static void label_unit(const struct scale *scale, double tick, char out[SCALE_LABEL])
{
	const struct label_unit *units = scale->unit == SCALE_BYTES	? byte_units
					 : scale->unit == SCALE_RATE	? rate_units
					 : scale->unit == SCALE_SECONDS ? time_units
									: number_units;
	const struct label_unit *unit = find_unit(scale, units, tick);

	snprintf(out, SCALE_LABEL, "%.4g%s%s", tick / unit->size, *unit->name ? " " : "",
		 unit->name);
}

const char *scale_label(const struct scale *scale, double tick, char out[SCALE_LABEL])
{
	/* Rounding errors must not turn zero into a tiny number. */
	bool is_zero = !scale->is_logarithmic && fabs(tick) < 1e-9 * range_of(scale);

	if (scale->unit == SCALE_DATE)
		label_date(tick, out);
	else if (is_zero)
		snprintf(out, SCALE_LABEL, scale->unit == SCALE_SHARE ? "0 %%" : "0");
	else if (scale->unit == SCALE_SHARE)
		snprintf(out, SCALE_LABEL, "%.4g %%", 100 * tick);
	else
		label_unit(scale, tick, out);
	return out;
}
