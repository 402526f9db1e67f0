/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/metrics.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"

#define PREFIX "sluice_"
#define UNKNOWN "unknown"
#define KEY_BYTES (METRICS_LABELS * METRICS_VALUE_BYTES)

enum metric_type { COUNTER, GAUGE, HISTOGRAM };

static const char *const type_words[] = { "counter", "gauge", "histogram" };

static const struct metric_row {
	const char *name;
	enum metric_type type;
	const char *labels, *help;
} rows[METRIC_COUNT] = {
#define METRIC_ROW(id, name, type, labels, help) { PREFIX name, type, labels, help },
	METRIC_LIST(METRIC_ROW)
#undef METRIC_ROW
};

/* Upper limits of the buckets of a histogram, in seconds; the last one is unlimited. */
static const double bounds[] = { 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100 };
enum { BOUNDS = sizeof(bounds) / sizeof(*bounds) };

/* The key holds the values of the labels, each ended by a zero. */
struct series {
	UT_hash_handle hh;
	size_t key_bytes;
	double value;		      /* of a histogram: the sum of what was observed */
	uint64_t buckets[BOUNDS + 1]; /* not cumulative */
	char key[];
};

struct metrics {
	pthread_mutex_t lock;
	struct series *series[METRIC_COUNT];
};

struct metrics *metrics_new(void)
{
	struct metrics *metrics = xcalloc(1, sizeof(*metrics));

	pthread_mutex_init(&metrics->lock, NULL);
	return metrics;
}

/* Removes the series whose first label has this value; NULL: all of them. */
static void remove_series(struct metrics *metrics, enum metric metric, const char *value)
{
	struct series *series = metrics->series[metric], *next;

	HASH_CLEAR(hh, metrics->series[metric]);
	for (; series; series = next) {
		next = series->hh.next;
		if (value && strcmp(series->key, value) != 0)
			HASH_ADD(hh, metrics->series[metric], key, series->key_bytes, series);
		else
			free(series);
	}
}

void metrics_free(struct metrics *metrics)
{
	if (!metrics)
		return;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		remove_series(metrics, (enum metric)i, NULL);
	pthread_mutex_destroy(&metrics->lock);
	free(metrics);
}

static unsigned count_labels(enum metric metric)
{
	unsigned count = *rows[metric].labels != 0;

	for (const char *p = rows[metric].labels; *p; p++)
		count += *p == ' ';
	return count;
}

/* Copies a value, with '?' for each byte that is not UTF-8, cut between two characters. Returns the
 * number of bytes including the terminating zero. */
static size_t copy_value(char *to, const char *value)
{
	const char *from = value && *value ? value : UNKNOWN;
	size_t used = 0;
	uint32_t code;

	while (*from) {
		size_t n = escape_decode(from, &code);

		if (used + (n ? n : 1) >= METRICS_VALUE_BYTES)
			break;
		if (n)
			memcpy(to + used, from, n);
		else
			to[used] = '?';
		used += n ? n : 1;
		from += n ? n : 1;
	}
	to[used] = 0;
	return used + 1;
}

static size_t copy_values(char key[KEY_BYTES], enum metric metric, const char *const *labels)
{
	size_t used = 0;

	for (unsigned i = 0; i < count_labels(metric); i++)
		used += copy_value(key + used, labels ? labels[i] : NULL);
	return used;
}

/* The value of the label with this number. */
static const char *value_at(const char *key, unsigned label)
{
	while (label--)
		key += strlen(key) + 1;
	return key;
}

/* Is this value of the label among the series, or is there room for it? */
static bool admits_value(const struct metrics *metrics, enum metric metric, unsigned label,
			 const char *value)
{
	const char *seen[METRICS_VALUES];
	size_t count = 0;

	for (const struct series *s = metrics->series[metric]; s; s = s->hh.next) {
		const char *known = value_at(s->key, label);
		size_t i = 0;

		if (strcmp(known, value) == 0)
			return true;
		while (i < count && strcmp(seen[i], known) != 0)
			i++;
		if (i == count && count < METRICS_VALUES)
			seen[count++] = known;
	}
	return count < METRICS_VALUES;
}

/* Replaces values that would be too many by "other". */
static size_t limit_values(const struct metrics *metrics, enum metric metric, char key[KEY_BYTES],
			   bool *is_over)
{
	bool is_full = HASH_COUNT(metrics->series[metric]) >= METRICS_SERIES;
	const char *values[METRICS_LABELS];
	char limited[KEY_BYTES] = "";
	size_t used = 0;

	*is_over = is_full;
	for (unsigned i = 0; i < count_labels(metric); i++) {
		values[i] = value_at(key, i);
		if (is_full || !admits_value(metrics, metric, i, values[i])) {
			values[i] = METRICS_OTHER;
			*is_over = true;
		}
		used += copy_value(limited + used, values[i]);
	}
	memcpy(key, limited, used);
	return used;
}

static struct series *add_series(struct metrics *metrics, enum metric metric, const char *key,
				 size_t bytes)
{
	struct series *series = xcalloc(1, sizeof(*series) + bytes);

	memcpy(series->key, key, bytes);
	series->key_bytes = bytes;
	HASH_ADD(hh, metrics->series[metric], key, bytes, series);
	return series;
}

static struct series *find_series(struct metrics *metrics, enum metric metric,
				  const char *const *labels)
{
	char key[KEY_BYTES];
	size_t bytes = copy_values(key, metric, labels);
	struct series *series;
	bool is_over;

	HASH_FIND(hh, metrics->series[metric], key, bytes, series);
	if (series)
		return series;
	bytes = limit_values(metrics, metric, key, &is_over);
	if (is_over)
		find_series(metrics, METRIC_OVERFLOW, (const char *const[]){ rows[metric].name })
			->value++;
	HASH_FIND(hh, metrics->series[metric], key, bytes, series);
	return series ? series : add_series(metrics, metric, key, bytes);
}

void metrics_add(struct metrics *metrics, enum metric metric, const char *const *labels,
		 double value)
{
	if (rows[metric].type != COUNTER || !(value >= 0) || isinf(value))
		return;
	pthread_mutex_lock(&metrics->lock);
	find_series(metrics, metric, labels)->value += value;
	pthread_mutex_unlock(&metrics->lock);
}

void metrics_set(struct metrics *metrics, enum metric metric, const char *const *labels,
		 double value)
{
	if (rows[metric].type != GAUGE)
		return;
	pthread_mutex_lock(&metrics->lock);
	find_series(metrics, metric, labels)->value = value;
	pthread_mutex_unlock(&metrics->lock);
}

void metrics_observe(struct metrics *metrics, enum metric metric, const char *const *labels,
		     double value)
{
	struct series *series;
	size_t i = 0;

	if (rows[metric].type != HISTOGRAM || !(value >= 0) || isinf(value))
		return;
	while (i < BOUNDS && value > bounds[i])
		i++;
	pthread_mutex_lock(&metrics->lock);
	series = find_series(metrics, metric, labels);
	series->buckets[i]++;
	series->value += value;
	pthread_mutex_unlock(&metrics->lock);
}

void metrics_forget(struct metrics *metrics, enum metric metric, const char *value)
{
	char wanted[METRICS_VALUE_BYTES];

	copy_value(wanted, value);
	pthread_mutex_lock(&metrics->lock);
	remove_series(metrics, metric, wanted);
	pthread_mutex_unlock(&metrics->lock);
}

static void put_number(struct buf *out, double value)
{
	if (isnan(value))
		buf_puts(out, "NaN");
	else if (isinf(value))
		buf_puts(out, value > 0 ? "+Inf" : "-Inf");
	else if (value == floor(value) && fabs(value) < 1e15)
		buf_printf(out, "%.0f", value);
	else
		buf_printf(out, "%.17g", value);
}

static void put_escaped(struct buf *out, const char *text, bool quotes)
{
	for (; *text; text++) {
		if (*text == '\n')
			buf_puts(out, "\\n");
		else if (*text == '\\' || (quotes && *text == '"'))
			buf_printf(out, "\\%c", *text);
		else
			buf_putc(out, *text);
	}
}

/* {filesystem="lustre",le="0.1"}; le may be NULL. */
static void put_labels(struct buf *out, enum metric metric, const struct series *series,
		       const char *le)
{
	const char *name = rows[metric].labels, *value = series->key;
	size_t count = 0;

	for (; *name; name += strspn(name, " ")) {
		size_t n = strcspn(name, " ");

		buf_printf(out, "%s%.*s=\"", count++ ? "," : "{", (int)n, name);
		put_escaped(out, value, true);
		buf_putc(out, '"');
		value += strlen(value) + 1;
		name += n;
	}
	if (le)
		buf_printf(out, "%sle=\"%s\"", count++ ? "," : "{", le);
	if (count)
		buf_putc(out, '}');
}

static void put_sample(struct buf *out, enum metric metric, const char *suffix,
		       const struct series *series, const char *le, double value)
{
	buf_printf(out, "%s%s", rows[metric].name, suffix);
	put_labels(out, metric, series, le);
	buf_putc(out, ' ');
	put_number(out, value);
	buf_putc(out, '\n');
}

static void put_histogram(struct buf *out, enum metric metric, const struct series *series)
{
	uint64_t count = 0;
	char le[32];

	for (size_t i = 0; i <= BOUNDS; i++) {
		count += series->buckets[i];
		if (i < BOUNDS)
			snprintf(le, sizeof(le), "%g", bounds[i]);
		put_sample(out, metric, "_bucket", series, i < BOUNDS ? le : "+Inf", (double)count);
	}
	put_sample(out, metric, "_sum", series, NULL, series->value);
	put_sample(out, metric, "_count", series, NULL, (double)count);
}

/* Has the metric a label of that name, as its first? */
static bool is_private(enum metric metric)
{
	return strncmp(rows[metric].labels, "job_id ", 7) == 0;
}

static void put_metric(struct metrics *metrics, enum metric metric, struct buf *out)
{
	buf_printf(out, "# HELP %s ", rows[metric].name);
	put_escaped(out, rows[metric].help, false);
	buf_printf(out, "\n# TYPE %s %s\n", rows[metric].name, type_words[rows[metric].type]);
	for (const struct series *s = metrics->series[metric]; s; s = s->hh.next) {
		if (rows[metric].type == HISTOGRAM)
			put_histogram(out, metric, s);
		else
			put_sample(out, metric, "", s, NULL, s->value);
	}
}

void metrics_render(struct metrics *metrics, bool with_jobs, struct buf *out)
{
	pthread_mutex_lock(&metrics->lock);
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (metrics->series[i] && (with_jobs || !is_private((enum metric)i)))
			put_metric(metrics, (enum metric)i, out);
	pthread_mutex_unlock(&metrics->lock);
}
