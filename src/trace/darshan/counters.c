/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/darshan/layout.h"
#include "trace/darshan/lustre.h"
#include "trace/darshan/region.h"

enum { READING, WRITING };

/* Counters are never negative; -1 stands for "unknown" in some versions. */
static int64_t count_of(uint64_t word)
{
	int64_t count = (int64_t)word;

	return count < 0 ? 0 : MIN(count, (int64_t)HEAD_COUNT_MAX);
}

static void apply_integer(const struct counter *c, int64_t *value, uint64_t word, bool is_shared)
{
	switch (c->rule) {
	case COUNTER_ADD:
		*value = MIN(*value + count_of(word), (int64_t)HEAD_COUNT_MAX);
		break;
	case COUNTER_SUBTRACT:
		*value -= MIN(*value, count_of(word));
		break;
	case COUNTER_SET:
		*value = count_of(word);
		break;
	case COUNTER_RANK:
		if (is_shared)
			*value = count_of(word);
		break;
	}
}

static void apply_real(const struct counter *c, int64_t *value, double real, bool is_shared)
{
	int64_t ns = darshan_ns(real);

	switch (c->rule) {
	case COUNTER_SECONDS:
		*value += ns;
		break;
	case COUNTER_FIRST:
		if (ns && (!*value || ns < *value))
			*value = ns;
		break;
	case COUNTER_LAST:
		*value = MAX(*value, ns);
		break;
	case COUNTER_RANK_SECONDS:
		if (is_shared)
			*value = ns;
		break;
	}
}

static bool rule_is_real(unsigned rule)
{
	return rule == COUNTER_SECONDS || rule == COUNTER_FIRST || rule == COUNTER_LAST ||
	       rule == COUNTER_RANK_SECONDS;
}

/* words are in the byte order of this machine. */
static struct usage usage_of(const struct layout *layout, const uint64_t *words)
{
	const uint64_t *integers = words + layout_prefix(layout);
	bool is_shared = (int64_t)words[1] < 0;
	struct usage usage = { 0 };

	usage.value[USAGE_FASTEST_RANK] = usage.value[USAGE_SLOWEST_RANK] = -1;
	for (size_t i = 0; i < layout->counter_count; i++) {
		const struct counter *c = &layout->counters[i];

		for (unsigned j = 0; j < c->count; j++) {
			int64_t *value = &usage.value[c->value + j];
			double real;

			if (!rule_is_real(c->rule)) {
				apply_integer(c, value, integers[c->word + j], is_shared);
				continue;
			}
			memcpy(&real, &integers[layout->integers + c->word + j], sizeof(real));
			apply_real(c, value, real, is_shared);
		}
	}
	return usage;
}

/* Takes from the counter what the segments cover, and from the coverage what was taken. */
static void take_covered(int64_t *counter, int64_t *covered)
{
	int64_t taken = MIN(*counter, *covered);

	*counter -= taken;
	*covered -= taken;
}

/*
 * Leaves out accesses that are activities. If all are, nothing of the time remains, except that of
 * syncs, which Darshan adds to writes. The order of the others among themselves is not known.
 */
static void leave_out_covered(struct usage *usage, struct coverage *covered)
{
	int64_t *v = usage->value;

	for (int way = READING; way <= WRITING; way++) {
		if (!covered->calls[way])
			continue;
		take_covered(&v[USAGE_READS + way], &covered->calls[way]);
		take_covered(&v[USAGE_BYTES_READ + way], &covered->bytes[way]);
		take_covered(&v[USAGE_READ_NS + way], &covered->ns[way]);
		if (!v[USAGE_READS + way] && !(way == WRITING && v[USAGE_SYNCS]))
			v[USAGE_READ_NS + way] = 0;
		for (unsigned i = 0; i < USAGE_SIZES; i++)
			take_covered(&v[USAGE_READ_SIZES + way * USAGE_SIZES + i],
				     &covered->sizes[way][i]);
		v[USAGE_CONSECUTIVE_READS + way] = v[USAGE_FORWARD_READS + way] = 0;
		v[USAGE_UNALIGNED] = 0;
		memset(&v[USAGE_SIZE], 0, 2 * USAGE_COMMON * sizeof(*v));
		memset(&v[USAGE_GAP], 0, 2 * USAGE_COMMON * sizeof(*v));
	}
}

static struct coverage *find_coverage(struct import *import, const struct layout *layout,
				      uint64_t id)
{
	if (!id || (layout->module != DARSHAN_POSIX && layout->module != DARSHAN_MPIIO))
		return NULL;
	return map_get(&import->coverage[layout->module == DARSHAN_MPIIO], id);
}

/* The name of a dataset or variable is that of its file, a colon, and its own. */
static file_id find_file(struct import *import, const struct layout *layout, const uint64_t *words)
{
	const char *name;

	if (!layout->is_object)
		return import_file(import, words[0]);
	if (words[2] && darshan_log_name(&import->log, words[2]))
		return import_file(import, words[2]);
	name = darshan_log_name(&import->log, words[0]);
	return name ? import_path(import, words[0], name, strcspn(name, ":")) : 0;
}

static void import_record(struct import *import, const struct layout *layout,
			  const struct map *stripes, const uint64_t *words)
{
	struct usage usage = usage_of(layout, words);
	struct coverage *covered = find_coverage(import, layout, words[0]);
	const struct stripes *striped = words[0] ? map_get(stripes, words[0]) : NULL;

	usage.process = import_process(import, (int64_t)words[1]);
	usage.file = find_file(import, layout, words);
	if (covered)
		leave_out_covered(&usage, covered);
	if (striped && layout->layer == LAYER_POSIX) {
		usage.value[USAGE_STRIPE_BYTES] = striped->bytes;
		usage.value[USAGE_STRIPE_COUNT] = striped->count;
	}
	import->last_ns = MAX(import->last_ns, usage.value[USAGE_LAST_NS]);
	import_usage(import, &usage, layout->layer);
}

static int import_records(struct import *import, const struct layout *layout,
			  const struct map *stripes, struct err *err)
{
	unsigned version = import->log.modules[layout->module].version;
	size_t count = layout_words(layout, version);
	struct region *region = darshan_log_module(&import->log, layout->module, err);
	uint64_t words[LAYOUT_WORDS_MAX];
	int r = region ? 1 : -EBADMSG;

	while (r > 0 && (r = region_read(region, words, count * sizeof(*words), err)) > 0) {
		for (size_t i = 0; i < count; i++)
			words[i] = darshan_word(&import->log, &words[i]);
		layout_expand(layout, version, words);
		import_record(import, layout, stripes, words);
	}
	region_close(region);
	return r;
}

void counters_import(struct import *import)
{
	struct map stripes = { 0 };

	lustre_read(import, &stripes);
	for (const struct layout *l = layouts; l->module != DARSHAN_NULL; l++) {
		struct err err;

		if (darshan_log_has(&import->log, l->module) &&
		    import_records(import, l, &stripes, &err) < 0)
			import_damaged(import, l->module, &err);
	}
	stripes_release(&stripes);
}
