/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/durations.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/store_internal.h"

/* There are 2^BITS bins per power of two. Durations below 2^BITS ns have a bin each. */
#define BITS 3
#define PER_OCTAVE (1 << BITS)
#define SIZE_CLASS_MAX 32

unsigned durations_bin(int64_t ns)
{
	unsigned octave, bin;

	if (ns < PER_OCTAVE)
		return ns < 0 ? 0 : (unsigned)ns;
	octave = 63 - (unsigned)__builtin_clzll((uint64_t)ns);
	bin = (octave - BITS + 1) * PER_OCTAVE +
	      ((unsigned)(ns >> (octave - BITS)) & (PER_OCTAVE - 1));
	return bin < DURATIONS_BINS ? bin : DURATIONS_BINS - 1;
}

int64_t durations_bin_ns(unsigned bin)
{
	unsigned octave = bin / PER_OCTAVE;

	if (!octave)
		return bin;
	return (int64_t)(PER_OCTAVE + bin % PER_OCTAVE) << (octave - 1);
}

void durations_add(struct durations *durations, int64_t ns)
{
	uint32_t *bin = &durations->bins[durations_bin(ns)];

	if (*bin == UINT32_MAX)
		return;
	++*bin;
	durations->calls++;
}

void durations_join(struct durations *sum, const struct durations *more)
{
	for (unsigned i = 0; i < DURATIONS_BINS; i++) {
		uint64_t both = (uint64_t)sum->bins[i] + more->bins[i];
		uint32_t kept = both > UINT32_MAX ? UINT32_MAX : (uint32_t)both;

		sum->calls += kept - sum->bins[i];
		sum->bins[i] = kept;
	}
}

int64_t durations_quantile(const struct durations *durations, double share)
{
	double want = share * (double)durations->calls, before = 0;

	for (unsigned i = 0; i < DURATIONS_BINS; i++) {
		double here = durations->bins[i];
		int64_t from = durations_bin_ns(i);

		if (here > 0 && before + here >= want)
			return from + (int64_t)((want - before) / here *
						(double)(durations_bin_ns(i + 1) - from));
		before += here;
	}
	return 0;
}

unsigned durations_size_class(uint64_t bytes)
{
	return bytes ? (63 - (unsigned)__builtin_clzll(bytes)) / 2 + 1 : 0;
}

uint64_t durations_class_bytes(unsigned size_class)
{
	return size_class ? (uint64_t)1 << (2 * (size_class - 1)) : 0;
}

static int add_to_bin(struct store *store, const char *host, const char *layer, const char *call,
		      unsigned size_class, unsigned bin, uint64_t count, struct err *err)
{
	return store_run(store, err,
			 "INSERT INTO duration (host, layer, call, size, bin, count)"
			 " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (host, layer, call, size, bin)"
			 " DO UPDATE SET count = duration.count + excluded.count",
			 "tttiii", host, layer, call, (int64_t)size_class, (int64_t)bin,
			 (int64_t)count);
}

static int64_t count_calls(struct store *store, const char *host, const char *layer,
			   const char *call, unsigned size_class, struct err *err)
{
	return store_first_number(store,
				  store_query(store, err,
					      "SELECT sum(count) FROM duration WHERE host = ? AND"
					      " layer = ? AND call = ? AND size = ?",
					      "ttti", host, layer, call, (int64_t)size_class),
				  err);
}

static int halve_counts(struct store *store, const char *host, const char *layer, const char *call,
			unsigned size_class, struct err *err)
{
	int r = store_run(store, err,
			  "UPDATE duration SET count = count / 2 WHERE host = ? AND layer = ?"
			  " AND call = ? AND size = ?",
			  "ttti", host, layer, call, (int64_t)size_class);

	if (r < 0)
		return r;
	return store_run(store, err,
			 "DELETE FROM duration WHERE host = ? AND layer = ? AND call = ?"
			 " AND size = ? AND count = 0",
			 "ttti", host, layer, call, (int64_t)size_class);
}

int durations_merge(struct store *store, const char *host, const char *layer, const char *call,
		    unsigned size_class, const struct durations *seen, struct err *err)
{
	int64_t calls;
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < DURATIONS_BINS; i++) {
		uint64_t count = seen->bins[i];

		if (seen->calls > DURATIONS_RUN_MAX)
			count = (count * DURATIONS_RUN_MAX + seen->calls / 2) / seen->calls;
		if (count)
			r = add_to_bin(store, host, layer, call, size_class, i, count, err);
	}
	while (r >= 0) {
		calls = count_calls(store, host, layer, call, size_class, err);
		if (calls <= DURATIONS_KEPT_MAX)
			return calls < 0 ? (int)calls : 0;
		r = halve_counts(store, host, layer, call, size_class, err);
	}
	return r;
}

int durations_forget(struct store *store, struct err *err)
{
	return store_run(store, err, "DELETE FROM duration", "");
}

/* A histogram that is being read bin by bin. */
struct reading {
	char *host, *layer, *call;
	int64_t size_class;
	struct durations durations;
};

static void reading_release(struct reading *reading)
{
	free(reading->host);
	free(reading->layer);
	free(reading->call);
	*reading = (struct reading){ 0 };
}

static bool reading_matches(const struct reading *reading, struct statement *row)
{
	return reading->host && strcmp(reading->host, store_text(row, 0)) == 0 &&
	       strcmp(reading->layer, store_text(row, 1)) == 0 &&
	       strcmp(reading->call, store_text(row, 2)) == 0 &&
	       reading->size_class == store_number(row, 3);
}

static int report_reading(const struct reading *reading, durations_seen seen, void *arg)
{
	if (!reading->host || !reading->durations.calls || reading->size_class < 0 ||
	    reading->size_class > SIZE_CLASS_MAX)
		return 0;
	return seen(arg, reading->host, reading->layer, reading->call,
		    (unsigned)reading->size_class, &reading->durations);
}

static void reading_begin(struct reading *reading, struct statement *row)
{
	reading_release(reading);
	reading->host = xstrdup(store_text(row, 0));
	reading->layer = xstrdup(store_text(row, 1));
	reading->call = xstrdup(store_text(row, 2));
	reading->size_class = store_number(row, 3);
}

/* Ignores values out of range, because other programs can change the file. */
static void reading_add(struct reading *reading, struct statement *row)
{
	int64_t bin = store_number(row, 4), count = store_number(row, 5);

	if (bin < 0 || bin >= DURATIONS_BINS || count < 0 || count > UINT32_MAX)
		return;
	reading->durations.calls += (uint64_t)count - reading->durations.bins[bin];
	reading->durations.bins[bin] = (uint32_t)count;
}

int durations_list(struct store *store, const char *host, durations_seen seen, void *arg,
		   struct err *err)
{
	struct statement *rows =
		store_query(store, err,
			    "SELECT host, layer, call, size, bin, count FROM duration"
			    " WHERE host = ?1 OR ?1 IS NULL"
			    " ORDER BY host, layer, call, size, bin",
			    "t", host);
	struct reading reading = { 0 };
	int r = rows ? 0 : -EIO, stop = 0;

	while (rows && !stop && (r = store_step(store, rows, err)) > 0) {
		if (!reading_matches(&reading, rows)) {
			stop = report_reading(&reading, seen, arg);
			reading_begin(&reading, rows);
		}
		reading_add(&reading, rows);
	}
	if (stop)
		store_done(rows);
	else if (r >= 0)
		report_reading(&reading, seen, arg);
	reading_release(&reading);
	return stop ? 0 : r;
}
