/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/usage.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "contract/hints.h"
#include "contract/parameters.h"
#include "tune/trial/lockstep.h"

#define KEY_BYTES 64
#define VALUE_BYTES 512
/* Limits for runs that open many files with different parameters. */
#define VALUES_BYTES 1024
#define KEYS_MAX 256
#define SUFFIX "_parameters"

struct usage_value {
	char key[KEY_BYTES];
	struct buf values; /* distinct values, separated by "|" */
};

void usage_release(struct usage *usage)
{
	for (size_t i = 0; i < usage->count; i++)
		buf_release(&usage->values[i].values);
	free(usage->values);
	*usage = (struct usage){ 0 };
}

/* The index of the key, or the index at which to insert it. */
static size_t find_key(const struct usage *usage, const char *key)
{
	size_t from = 0, to = usage->count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (strcmp(usage->values[middle].key, key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct usage_value *put_key(struct usage *usage, const char *key)
{
	size_t at = find_key(usage, key);

	if (at < usage->count && strcmp(usage->values[at].key, key) == 0)
		return &usage->values[at];
	if (usage->count >= KEYS_MAX)
		return NULL;
	usage->values = xgrow(usage->values, &usage->cap, usage->count + 1, sizeof(*usage->values));
	memmove(usage->values + at + 1, usage->values + at,
		(usage->count++ - at) * sizeof(*usage->values));
	usage->values[at] = (struct usage_value){ 0 };
	snprintf(usage->values[at].key, KEY_BYTES, "%s", key);
	return &usage->values[at];
}

static bool is_among(const char *values, const char *value)
{
	size_t n = strlen(value);

	for (const char *at = values; *at;) {
		size_t m = strcspn(at, "|");

		if (m == n && strncmp(at, value, n) == 0)
			return true;
		at += m + (at[m] == '|');
	}
	return false;
}

static void add_value(struct usage *usage, const char *key, const char *value)
{
	struct usage_value *v = put_key(usage, key);

	if (!v || is_among(buf_text(&v->values), value) || v->values.len > VALUES_BYTES)
		return;
	if (v->values.len)
		buf_putc(&v->values, '|');
	buf_puts(&v->values, value);
}

static void set_middleware(struct usage *usage, const char *value)
{
	for (int m = MIDDLEWARE_MPICH; m <= MIDDLEWARE_OMPIO; m++)
		if (strcmp(value, middleware_name((enum middleware)m)) == 0)
			usage->middleware = (enum middleware)m;
}

static void add_parameters(struct usage *usage, const char *effective)
{
	char key[KEY_BYTES], value[VALUE_BYTES];

	while (hints_next(&effective, key, sizeof(key), value, sizeof(value))) {
		if (strcmp(key, PARAMETERS_MPI) == 0)
			set_middleware(usage, value);
		/* The shape of chunks, or the name of another layout. */
		if (strcmp(key, "chunk_size") == 0 && isdigit((unsigned char)value[0]))
			usage->uses.chunked = true;
		add_value(usage, key, value);
	}
}

static bool is_parameters_record(const struct call_info *call)
{
	size_t n = strlen(call->name);

	return call->class == CLASS_CONTROL && n > strlen(SUFFIX) &&
	       strcmp(call->name + n - strlen(SUFFIX), SUFFIX) == 0;
}

static void add_mpi(struct space_uses *uses, const uint8_t *ways, const struct call_info *call,
		    const struct activity *a, const struct nest_call *enclosing, size_t depth)
{
	bool moves = ways[a->call], is_collective = moves && a->collective;

	uses->mpi = true;
	uses->collective |= is_collective;
	if (!uses->independent && !lockstep_is_in_library(enclosing, depth))
		uses->independent = lockstep_is_transfer(call);
	for (size_t i = 0; i < depth; i++) {
		if (enclosing[i].layer != LAYER_HDF5)
			continue;
		uses->hdf5_parallel = true;
		/* The metadata that HDF5 writes at a close does not show how data is moved. */
		uses->collective_hdf5 |= is_collective && ways[enclosing[i].call];
		uses->independent |= moves && !is_collective && ways[enclosing[i].call];
	}
}

void usage_add(struct usage *usage, const struct trace_head *head, const uint8_t *ways,
	       const struct activity *activity, const struct nest_call *enclosing, size_t depth)
{
	const struct call_info *call = &head->calls[activity->call];

	if (is_parameters_record(call)) {
		if (activity->hints < head->file_count)
			add_parameters(usage, head->files[activity->hints]);
		return;
	}
	if (call->class == CLASS_PROCESS)
		return;
	if (activity->layer == LAYER_HDF5)
		usage->uses.hdf5 = true;
	if (activity->layer == LAYER_STDIO && ways[activity->call] && activity->file)
		usage->uses.streams = true;
	if (activity->layer == LAYER_MPI)
		add_mpi(&usage->uses, ways, call, activity, enclosing, depth);
}

void usage_effective(const struct usage *usage, struct buf *out)
{
	for (size_t i = 0; i < usage->count; i++)
		buf_printf(out, "%s%s=%s", i ? ";" : "", usage->values[i].key,
			   buf_text(&usage->values[i].values));
}
