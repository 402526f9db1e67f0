/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/cost.h"

#include <time.h>

#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"

#define REPLAYS 8      /* sample records per measurement */
#define REPLAY_WORDS 8 /* words of each: the head and the usual four fields */

/*
 * The ticks of REPLAYS sample records at w. It does what frame_enter() to frame_commit() do, with a
 * local lane. Instead of `committed` it writes an unused word of the same cache line.
 */
static uint64_t time_sample_records(struct chunk *chunk, uint64_t *w)
{
	volatile struct {
		uint64_t level, seq, current;
		const void *at;
	} lane = { 0 };
	volatile uint32_t *committed = &chunk->reserved[0];
	uint32_t clock = capture_gate->clock;
	uint64_t begin = clock_ticks(clock);

	for (unsigned i = 0; i < REPLAYS; i++, w += REPLAY_WORDS) {
		volatile uint64_t *to = w;
		uint64_t start, stop;

		lane.at = w;
		lane.level = 1;
		lane.seq = lane.seq + 1;
		lane.current = lane.seq;
		lane.level = 0;
		start = clock_ticks(clock);
		stop = clock_ticks(clock);
		lane.level = 1;
		to[0] = record_word0(lane.seq, 1);
		to[1] = start;
		to[2] = record_word2(stop - start, REPLAY_WORDS);
		to[3] = record_word3(0, 0);
		for (unsigned field = RECORD_HEAD_WORDS; field < REPLAY_WORDS; field++)
			to[field] = field;
		*committed = i;
		lane.level = 0;
		lane.current = 0;
	}
	return clock_ticks(clock) - begin;
}

uint64_t cost_cpu_ticks(void)
{
	const struct control *c = capture_membership.control;
	struct timespec cpu = { 0 };
	uint64_t ns;

	if (sandbox_is_sealed())
		return 0;
	kernel_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &cpu);
	ns = (uint64_t)cpu.tv_sec * UINT64_C(1000000000) + (uint64_t)cpu.tv_nsec;
	if (!c->clock_num || !c->clock_den)
		return ns;
	return (uint64_t)((unsigned __int128)ns * c->clock_den / c->clock_num);
}

void cost_measure(struct self *s, struct chunk *fresh)
{
	uint64_t first = time_sample_records(fresh, fresh->words);
	uint64_t second = time_sample_records(fresh, fresh->words + REPLAYS * REPLAY_WORDS);
	/* The minimum, because one of the two may have been interrupted. */
	uint64_t ticks = 2 * (first < second ? first : second);

	fresh->reserved[0] = 0;
	s->record_ticks = s->record_ticks ? (3 * s->record_ticks + ticks + 2) / 4 : ticks;
}

void cost_flush(struct self *s, struct lane *l, uint64_t ticks)
{
	struct spool_header *h = capture_membership.header;
	uint64_t calls = l->seq - l->costed;

	l->costed = l->seq;
	if (!h || frame_mode() == CAPTURE_DETACHED)
		return;
	counter_add(&h->cost_ticks, ticks + calls * s->record_ticks / SELF_RECORDS);
	counter_add(&h->cost_records, calls);
}

void cost_count(struct self *s, struct frame *f)
{
	struct spool_header *h = capture_membership.header;
	uint64_t record = s->record_ticks / SELF_RECORDS, ticks;

	/* The next flush must not count this call as a record. */
	f->lane->costed++;
	if (f->seq % COST_SAMPLE)
		return;
	ticks = clock_ticks(capture_gate->clock) - f->stop;
	if (record && ticks > COST_SAMPLE_MAX * record)
		ticks = record;
	/* The work before the call is about half of the overhead of a record. */
	ticks += record / 2;
	counter_add(&h->cost_ticks, COST_SAMPLE * ticks);
	counter_add(&h->cost_records, COST_SAMPLE);
}

_Static_assert(SELF_RECORDS == 2 * REPLAYS, "record_ticks is the time of SELF_RECORDS records");
