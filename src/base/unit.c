/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/unit.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"

struct unit {
	const char *name;
	double factor;
};

static const struct unit byte_units[] = {
	{ "", 1 },	  { "B", 1 },	     { "K", 0x1p10 },
	{ "KB", 0x1p10 }, { "KiB", 0x1p10 }, { "M", 0x1p20 },
	{ "MB", 0x1p20 }, { "MiB", 0x1p20 }, { "G", 0x1p30 },
	{ "GB", 0x1p30 }, { "GiB", 0x1p30 }, { "T", 0x1p40 },
	{ "TB", 0x1p40 }, { "TiB", 0x1p40 }, { "P", 0x1p50 },
	{ "PB", 0x1p50 }, { "PiB", 0x1p50 }, { 0 },
};

static const struct unit time_units[] = {
	{ "", 1e9 },  { "ns", 1 },    { "us", 1e3 },     { "ms", 1e6 },    { "s", 1e9 },
	{ "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 }, { 0 },
};

/* strtod() alone would also accept "inf", "0x1p3", signs and leading blanks. */
static int parse_scaled(const char *text, const struct unit *units, double *value)
{
	char *end;
	double number;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	errno = 0;
	number = strtod(text, &end);
	if (end == text)
		return -EINVAL;
	while (*end == ' ')
		end++;
	for (const struct unit *u = units; u->name; u++) {
		if (strcasecmp(end, u->name) != 0)
			continue;
		*value = number * u->factor;
		return isfinite(*value) ? 0 : -ERANGE;
	}
	return -EINVAL;
}

int unit_parse_bytes(const char *text, uint64_t *bytes)
{
	double value;
	int ret;

	/* A plain number is parsed as an integer: a double holds 53 bits only. */
	if (!unit_parse_count(text, bytes))
		return 0;
	ret = parse_scaled(text, byte_units, &value);
	if (ret)
		return ret;
	if (value >= 0x1p63)
		return -ERANGE;
	*bytes = (uint64_t)value;
	return 0;
}

int unit_parse_ns(const char *text, int64_t *ns)
{
	double value;
	int ret = parse_scaled(text, time_units, &value);

	if (ret)
		return ret;
	if (value >= 0x1p63)
		return -ERANGE;
	*ns = (int64_t)llround(value);
	return 0;
}

int unit_parse_count(const char *text, uint64_t *count)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*count = value;
	return 0;
}

static const char *print_three_digits(char out[UNIT_TEXT], double value, const char *unit)
{
	int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(out, UNIT_TEXT, "%.*f %s", digits, value, unit);
	return out;
}

const char *unit_bytes(char out[UNIT_TEXT], double bytes)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	size_t i = 0;

	while (bytes >= 999.5 && i + 1 < sizeof(names) / sizeof(names[0])) {
		bytes /= 1024;
		i++;
	}
	if (i)
		return print_three_digits(out, bytes, names[i]);
	snprintf(out, UNIT_TEXT, "%.0f B", bytes);
	return out;
}

const char *unit_ns(char out[UNIT_TEXT], int64_t ns)
{
	long long seconds = ns / NS_PER_S;

	if (seconds >= 3600)
		snprintf(out, UNIT_TEXT, "%lld h %lld min", seconds / 3600, seconds / 60 % 60);
	else if (seconds >= 100)
		snprintf(out, UNIT_TEXT, "%lld min %lld s", seconds / 60, seconds % 60);
	else if (ns >= 999500000)
		print_three_digits(out, (double)ns / NS_PER_S, "s");
	else if (ns >= 999500)
		print_three_digits(out, (double)ns / NS_PER_MS, "ms");
	else if (ns >= NS_PER_US)
		print_three_digits(out, (double)ns / NS_PER_US, "us");
	else
		snprintf(out, UNIT_TEXT, "%lld ns", (long long)ns);
	return out;
}

const char *unit_rate(char out[UNIT_TEXT], double bytes, int64_t ns)
{
	if (ns <= 0 || bytes <= 0)
		return strcpy(out, "-");
	unit_bytes(out, bytes * NS_PER_S / (double)ns);
	strcat(out, "/s"); /* fits: the longest size leaves 13 bytes of UNIT_TEXT free */
	return out;
}

const char *unit_share(char out[UNIT_TEXT], double part, double whole)
{
	if (isnan(part) || !(whole > 0))
		return strcpy(out, "-");
	snprintf(out, UNIT_TEXT, "%.1f%%", 100 * part / whole);
	return out;
}
