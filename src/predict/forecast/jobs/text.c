/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/jobs/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

#define FIELD_BYTES 255 /* longer values are cut */
#define NUMBER_BYTES 47

struct jobs_span jobs_span(const char *text)
{
	return (struct jobs_span){ text ? text : "", text ? strlen(text) : 0 };
}

static struct jobs_span trim(struct jobs_span text)
{
	for (; text.n && isspace((unsigned char)*text.at); text.n--)
		text.at++;
	while (text.n && isspace((unsigned char)text.at[text.n - 1]))
		text.n--;
	return text;
}

/* Copies a text as a string; "" if it is too long for a number. */
static const char *copy_number(char out[NUMBER_BYTES + 1], struct jobs_span text)
{
	text = trim(text);
	out[0] = 0;
	if (text.n <= NUMBER_BYTES && !memchr(text.at, 0, text.n)) {
		memcpy(out, text.at, text.n);
		out[text.n] = 0;
	}
	return out;
}

/* Parses digits and at most one point. strtod() would also accept "inf" and "0x1p3". */
static const char *parse_number(const char *text, double *number)
{
	size_t n = strspn(text, "0123456789.");
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	*number = strtod(text, &end);
	return end == text + n ? end : NULL;
}

double jobs_parse_seconds(struct jobs_span text)
{
	char number[NUMBER_BYTES + 1];
	const char *p = copy_number(number, text);
	double part, days = 0, sum = 0;
	int parts = 0;

	for (;; p++) {
		p = parse_number(p, &part);
		if (!p)
			return NAN;
		if (*p == '-' && !parts && !days)
			days = part;
		else {
			sum = 60 * sum + part;
			parts++;
		}
		if (!*p)
			break;
		if (parts > 2 || (*p != ':' && (*p != '-' || parts)))
			return NAN;
	}
	/* With days, the first part is hours. */
	if (strchr(number, '-'))
		sum *= parts == 1 ? 3600 : parts == 2 ? 60 : 1;
	return days * 86400 + sum;
}

double jobs_parse_bytes(struct jobs_span text, double unit)
{
	static const char powers[] = "kmgtpe";
	char number[NUMBER_BYTES + 1];
	const char *p = parse_number(copy_number(number, text), &(double){ 0 }), *power;
	double value;

	if (!p)
		return NAN;
	parse_number(number, &value);
	if (!*p)
		return value * unit;
	power = strchr(powers, tolower((unsigned char)*p));
	if (power) {
		value = ldexp(value, 10 * (int)(power - powers + 1));
		p++;
	}
	if (*p == 'i')
		p++;
	if (tolower((unsigned char)*p) == 'w')
		value *= 8;
	if (*p && strchr("bBwW", *p))
		p++;
	return *p ? NAN : value;
}

double jobs_parse_tres_memory(struct jobs_span text)
{
	const char *p = text.at, *end = text.at + text.n;

	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		size_t n = (size_t)((comma ? comma : end) - p);

		if (n > 4 && memcmp(p, "mem=", 4) == 0)
			return jobs_parse_bytes((struct jobs_span){ p + 4, n - 4 }, 1 << 20);
		p += n + 1;
	}
	return NAN;
}

double jobs_parse_clock(struct jobs_span text)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char number[NUMBER_BYTES + 1], month[4];
	struct tm tm = { .tm_isdst = -1 };
	const char *found;
	time_t seconds;

	if (sscanf(copy_number(number, text), "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d", month,
		   &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &tm.tm_year) != 6)
		return NAN;
	found = strlen(month) == 3 ? strstr(months, month) : NULL;
	if (!found || (found - months) % 3 || tm.tm_year < 1970)
		return NAN;
	tm.tm_mon = (int)(found - months) / 3;
	tm.tm_year -= 1900;
	seconds = mktime(&tm);
	return seconds == (time_t)-1 ? NAN : (double)seconds;
}

void job_field_set(char **field, struct jobs_span text)
{
	text = trim(text);
	if (text.n > FIELD_BYTES)
		text.n = FIELD_BYTES;
	free(*field);
	*field = xmalloc(text.n + 1);
	for (size_t i = 0; i < text.n; i++)
		(*field)[i] = iscntrl((unsigned char)text.at[i]) ? ' ' : text.at[i];
	(*field)[text.n] = 0;
}

void job_owner_set(struct job *job, struct jobs_span owner, const uint8_t key[OWNER_KEY_BYTES])
{
	AUTO_FREE char *name = NULL;
	char *shown;

	job_field_set(&name, owner);
	shown = owner_hide_in(job->name, name, key);
	free(job->name);
	job->name = shown;
	free(job->owner);
	job->owner = xmalloc(OWNER_TEXT);
	owner_hide(job->owner, name, key);
}

int jobs_finish_reading(struct jobs *jobs, struct jobs *found, int r)
{
	if (r >= 0 && found->count) {
		jobs->rows = xgrow(jobs->rows, &jobs->cap, jobs->count + found->count,
				   sizeof(*jobs->rows));
		memcpy(jobs->rows + jobs->count, found->rows, found->count * sizeof(*found->rows));
		jobs->count += found->count;
		found->count = 0;
	}
	jobs_release(found);
	return r;
}

unsigned jobs_line_number(const char *text, const char *at)
{
	unsigned line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}
