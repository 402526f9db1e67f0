/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/final_account.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "observe/collect/intake.h"
#include "observe/tally/losses.h"
#include "trace/facts.h"
#include "trace/head.h"

/* Limit of a counter of calls if the time is unknown. */
#define CALLS_MAX (UINT64_C(1) << 48)

/*
 * Number of calls that the processes can have made since the run started: a call takes at least one
 * tick. A counter with a higher value was overwritten.
 */
static uint64_t possible_calls(const struct intake *in)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t ticks = in->now_ticks > in->clock.tick0 ? in->now_ticks - in->clock.tick0 : 0;
	uint64_t calls;

	if (!ticks ||
	    __builtin_mul_overflow(ticks, (uint64_t)(processors > 0 ? processors : 1), &calls))
		return CALLS_MAX;
	return calls < CALLS_MAX ? calls : CALLS_MAX;
}

/* Returns a counter of the header; one that is impossible counts as one damaged record. */
static uint64_t check_counter(const struct intake *in, struct member *m, uint64_t value)
{
	if (value <= possible_calls(in))
		return value;
	m->spool.damaged_words++;
	return 0;
}

static void write_cause(struct intake *in, uint32_t process, enum loss_cause cause, uint64_t calls)
{
	AUTO_FREE char *value = xprintf("%llu", (unsigned long long)calls);
	struct note note = { .time_ns = -1,
			     .process = (int32_t)process,
			     .host = (char *)in->host,
			     .source = LOSSES_SOURCE,
			     .kind = NOTE_LOST,
			     .name = (char *)loss_texts[cause].name,
			     .value = value };

	if (calls)
		intake_fact(in, &fact_note, &note);
}

/* h is a copy of the member's header. */
static void write_loss(struct intake *in, struct member *m, const struct spool_header *h)
{
	struct loss_info loss = {
		.process = m->index,
		.threads = check_counter(in, m, atomic_load(&h->lost_threads)),
	};
	uint64_t calls[LOSS_CAUSES];
	struct err err;

	for (unsigned i = 0; i < LOSS_CAUSES; i++)
		calls[i] = check_counter(in, m, atomic_load(&h->lost_records[i]));
	/* What a truncated spool held is unknown. */
	if (m->spool.header.lost && !m->spool.damaged_words)
		m->spool.damaged_words++;
	in->totals.damaged_words += m->spool.damaged_words;
	/*
	 * The number of records in a damaged area is unknown; the shortest possible ones are
	 * assumed.
	 */
	calls[LOSS_DAMAGED] +=
		(m->spool.damaged_words + RECORD_HEAD_WORDS) / (RECORD_HEAD_WORDS + 1);
	for (unsigned i = 0; i < LOSS_CAUSES; i++) {
		loss.records += calls[i];
		write_cause(in, m->index, (enum loss_cause)i, calls[i]);
	}
	in->totals.lost += loss.records;
	if ((loss.records || loss.threads) && !in->error.code)
		intake_note_failure(in, in->form->add_loss(in->writer, &loss, &err), &err);
}

/* Counters of one handle and layer, added up over the slots of all threads. */
struct counted {
	uint64_t key;
	unsigned layer;
	struct {
		uint64_t calls, errors, bytes, ticks;
	} groups[COUNTERS_GROUPS];
};

static void counted_add(struct counted *to, const struct counters_slot *slot)
{
	for (unsigned g = 0; g < COUNTERS_GROUPS; g++) {
		to->groups[g].calls += atomic_load(&slot->groups[g].calls);
		to->groups[g].errors += atomic_load(&slot->groups[g].errors);
		to->groups[g].bytes += atomic_load(&slot->groups[g].bytes);
		to->groups[g].ticks += atomic_load(&slot->groups[g].ticks);
	}
}

static void write_counted(struct intake *in, struct member *m, const struct counted *c)
{
	file_id file = resolver_link_file(in->resolver, m->index, c->key);
	uint32_t process = m->index;
	struct err err;

	for (unsigned g = 0; g < COUNTERS_GROUPS; g++) {
		uint64_t calls = check_counter(in, m, c->groups[g].calls);
		uint64_t bytes = c->groups[g].bytes;
		struct aggregate row = {
			.process = process,
			.file = file,
			.group = (uint8_t)g,
			.layer = (uint8_t)c->layer,
			.calls = calls,
			.errors = c->groups[g].errors < calls ? c->groups[g].errors : calls,
			.bytes = bytes < HEAD_TIME_MAX ? (int64_t)bytes : HEAD_TIME_MAX,
			.duration_ns = intake_ns(&in->clock, c->groups[g].ticks),
		};

		if (row.calls && !in->error.code)
			intake_note_failure(in, in->form->add_aggregate(in->writer, &row, &err),
					    &err);
	}
}

static struct counted *counted_find(struct counted *list, size_t *count, uint64_t key,
				    unsigned layer)
{
	size_t i = 0;

	while (i < *count && (list[i].key != key || list[i].layer != layer))
		i++;
	if (i == *count)
		list[(*count)++] = (struct counted){ .key = key, .layer = layer };
	return &list[i];
}

static void write_counters(struct intake *in, struct member *m, const struct counters_file *file)
{
	AUTO_FREE struct counted *list = xcalloc(COUNTERS_SLOTS, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < COUNTERS_SLOTS; i++) {
		const struct counters_slot *slot = &file->slots[i];
		uint64_t key = atomic_load(&slot->key), whose = atomic_load(&slot->whose);
		unsigned layer = i < COUNTERS_RESERVED ? (unsigned)i : counters_layer(whose);

		if ((key || i < COUNTERS_RESERVED) && layer < LAYER_COUNT)
			counted_add(counted_find(list, &count, key, layer), slot);
	}
	for (size_t i = 0; i < count; i++)
		write_counted(in, m, &list[i]);
}

/* Opens the counters file next to a spool, and removes it. */
static int take_counters(const struct member *m)
{
	int stem = (int)(strlen(m->spool.path) - strlen(SPOOL_SUFFIX)), fd;
	AUTO_FREE char *path = xprintf("%.*s%s", stem, m->spool.path, COUNTERS_SUFFIX);

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* Reads the counters of the process, if there are any. */
static void read_counters(struct intake *in, struct member *m)
{
	AUTO_FREE struct counters_file *file = NULL;

	if (m->counters < 0 && m->spool.path)
		m->counters = take_counters(m);
	if (m->counters < 0)
		return;
	file = xcalloc(1, sizeof(*file));
	if (pread(m->counters, file, sizeof(*file), 0) == (ssize_t)sizeof(*file) &&
	    file->magic == COUNTERS_MAGIC)
		write_counters(in, m, file);
}

/* Ignores accounts of plug-ins that were overwritten. header is a copy. */
static void check_accounts(struct intake *in, struct member *m, struct spool_header *header)
{
	for (unsigned i = 0; i < CONTROL_PLUGINS; i++) {
		struct plugin_account *a = &header->plugins[i];
		uint64_t most = a->calls > a->acts ? a->calls : a->acts;

		if (a->ticks > most)
			most = a->ticks;
		if (a->worst_ticks > most)
			most = a->worst_ticks;
		if (check_counter(in, m, most) != most)
			atomic_store(&a->state, PLUGIN_NONE);
	}
}

void final_account_write(struct intake *in, struct member *m)
{
	read_counters(in, m);
	spool_copy_header(&m->spool, in->header, false);
	check_accounts(in, m, in->header);
	accounts_add(&in->accounts, in->header, m->index);
	write_loss(in, m, in->header);
}
