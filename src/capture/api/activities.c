/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Components, activities and phases, and the table of functions that programs find.
 */
#include <errno.h>

#include "capture/api/api.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"
#include "contract/calls.h"

/* "component/name" */
#define TITLE_BYTES (2 * SLUICE_NAME_BYTES)
#define NUMBER_BYTES 21
/* Records of wrong use that a process makes at most; it may be in a loop. */
#define MISUSE_RECORDS 16

/* An activity that has begun. */
struct activity_slot {
	uint64_t seq, start, parent;
	const void *parent_at;
	uint64_t link;
	int64_t step, data_bytes;
	uint32_t title_used, attributes_used;
	char title[TITLE_BYTES];
	char attributes[SLUICE_ATTRIBUTE_BYTES];
};

struct activity_list {
	uint32_t depth;
	uint32_t thread; /* the number of its thread: that of all ids */
	struct activity_slot slots[SLUICE_NESTING];
};

static __thread struct activity_list *open_list TLS_FAST;

enum component_state { COMPONENT_FREE, COMPONENT_TAKEN, COMPONENT_COMPLETE };

/* The components of the process; entries never change again when they are complete. */
static struct {
	_Atomic uint32_t state; /* enum component_state */
	uint32_t used;
	char name[SLUICE_NAME_BYTES];
} components[SLUICE_COMPONENTS];

static _Atomic uint32_t misuses;

/* Copies a text; bytes that would break a list of KEY=VALUE become '?'. Returns its length. */
static uint32_t copy_text(char *to, size_t room, const char *from, size_t bytes, const char *breaks)
{
	size_t n = bytes < room ? bytes : room;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)from[i];

		to[i] = c < ' ' || c == 127 || strchr(breaks, c) ? '?' : (char)c;
	}
	return (uint32_t)n;
}

/* Attaches in a forked child. False if nothing is recorded, and in a signal handler that has
 * interrupted guest code. */
static bool can_record(void)
{
	const struct self *s = &capture_self;

	if (s->vforked || s->level)
		return false;
	if (unlikely(frame_mode() == CAPTURE_DETACHED) && !attach())
		return false;
	return frame_mode() == CAPTURE_TRACE;
}

/* Writes a record without duration: of a phase or of wrong use. */
static void write_mark(unsigned call, const char *text, size_t bytes)
{
	char name[SLUICE_NAME_BYTES];
	size_t used = copy_text(name, sizeof(name), text, bytes, "");
	unsigned words = RECORD_HEAD_WORDS + text_words(used);
	struct frame f;
	uint64_t *w;

	if (!can_record() || !frame_enter(&f))
		return;
	f.stop = f.start;
	w = frame_leave(&f, call, words, 0);
	frame_text(&f, w + RECORD_HEAD_WORDS, name, used);
	frame_commit(&f, w, words);
}

static void report_misuse(const char *what)
{
	if (can_record() && atomic_load_explicit(&misuses, memory_order_relaxed) < MISUSE_RECORDS &&
	    atomic_fetch_add_explicit(&misuses, 1, memory_order_relaxed) < MISUSE_RECORDS)
		write_mark(CALL_misuse, what, strlen(what));
}

static sluice_component component_register(const char *name, size_t bytes)
{
	char copy[SLUICE_NAME_BYTES];
	uint32_t used = copy_text(copy, sizeof(copy), name, bytes, "");

	for (uint32_t i = 0; used && i < SLUICE_COMPONENTS; i++) {
		uint32_t state = atomic_load_explicit(&components[i].state, memory_order_acquire);

		if (state == COMPONENT_FREE &&
		    atomic_compare_exchange_strong(&components[i].state, &state, COMPONENT_TAKEN)) {
			memcpy(components[i].name, copy, used);
			components[i].used = used;
			/* Pairs with the acquire above. */
			atomic_store_explicit(&components[i].state, COMPONENT_COMPLETE,
					      memory_order_release);
			return i + 1;
		}
		/* One that another thread is about to complete gets a second entry at worst. */
		if (state == COMPONENT_COMPLETE && components[i].used == used &&
		    !memcmp(components[i].name, copy, used))
			return i + 1;
	}
	return 0;
}

static bool component_is_known(sluice_component component)
{
	return component <= SLUICE_COMPONENTS &&
	       (!component || atomic_load_explicit(&components[component - 1].state,
						   memory_order_acquire) == COMPONENT_COMPLETE);
}

static void slot_set_title(struct activity_slot *slot, sluice_component component, const char *name,
			   size_t bytes)
{
	if (component) {
		slot->title_used = components[component - 1].used;
		memcpy(slot->title, components[component - 1].name, slot->title_used);
		slot->title[slot->title_used++] = '/';
	}
	slot->title_used +=
		copy_text(slot->title + slot->title_used, SLUICE_NAME_BYTES - 1, name, bytes, "");
}

/* The list of this thread; NULL: there is no memory, or no thread number left. */
static struct activity_list *list_get(struct lane *lane)
{
	if (unlikely(!lane->numbered || !open_list)) {
		struct signals_held held = signals_hold();

		if (lane_number(&capture_self, lane) && !open_list && !sandbox_is_sealed())
			open_list = kernel_map_private(sizeof(*open_list));
		signals_release(held);
	}
	if (!lane->numbered || !open_list)
		return NULL;
	if (!open_list->depth)
		open_list->thread = lane->thread;
	return open_list;
}

static sluice_activity activity_begin(sluice_component component, const char *name, size_t bytes)
{
	struct activity_list *list;
	struct activity_slot *slot;
	struct frame f;

	if (!can_record())
		return 0;
	if (!component_is_known(component)) {
		report_misuse("an activity of an unknown component");
		return 0;
	}
	list = list_get(&capture_self.lanes[0]);
	if (!list) {
		count_lost_record(LOSS_ADDRESS_SPACE);
		return 0;
	}
	if (list->depth >= SLUICE_NESTING) {
		report_misuse("too many open activities in a thread");
		return 0;
	}
	if (!frame_enter(&f))
		return 0;
	/* A signal handler from here on uses the next slot. */
	slot = &list->slots[list->depth++];
	signal_fence();
	slot->seq = f.seq;
	slot->start = f.start;
	slot->parent = f.parent;
	slot->parent_at = f.parent_at;
	slot->link = 0;
	slot->step = slot->data_bytes = -1;
	slot->title_used = slot->attributes_used = 0;
	slot_set_title(slot, component, name, bytes);
	f.lane->current_at = f.parent_at ? f.parent_at : FRAME_REGION;
	return id_make(list->thread, f.seq);
}

/* The number of open activities up to this one; 0: it is not open in this thread. */
static uint32_t list_find(const struct activity_list *list, sluice_activity activity)
{
	uint32_t i = list && id_thread(activity) == list->thread && !(activity & ~ID_MASK)
			     ? list->depth
			     : 0;

	while (i && list->slots[i - 1].seq != id_seq(activity))
		i--;
	return i;
}

static struct activity_slot *slot_find(sluice_activity activity)
{
	uint32_t i = can_record() ? list_find(open_list, activity) : 0;

	if (i)
		return &open_list->slots[i - 1];
	report_misuse("an attribute of an activity that is not open in the thread");
	return NULL;
}

static void activity_text(sluice_activity activity, const char *key, size_t key_bytes,
			  const char *value, size_t value_bytes)
{
	struct activity_slot *slot = slot_find(activity);
	char *at;

	/* Room for ';' and '='; a set of attributes is cut between two of them. */
	if (!slot || !key_bytes ||
	    key_bytes + value_bytes + 2 > SLUICE_ATTRIBUTE_BYTES - slot->attributes_used)
		return;
	at = slot->attributes + slot->attributes_used;
	if (slot->attributes_used)
		*at++ = ';';
	at += copy_text(at, key_bytes, key, key_bytes, ";=");
	*at++ = '=';
	at += copy_text(at, value_bytes, value, value_bytes, ";");
	slot->attributes_used = (uint32_t)(at - slot->attributes);
}

static void activity_number(sluice_activity activity, const char *key, size_t key_bytes,
			    int64_t value)
{
	char digits[NUMBER_BYTES], *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	activity_text(activity, key, key_bytes, at, (size_t)(digits + sizeof(digits) - at));
}

/* The files of a new step are placed anew (capture/apply/placed.h). The ranks do not reach it at
 * the same time; the first decides. */
static void note_step(int64_t step)
{
	struct control *control = capture_membership.control;
	uint64_t mark = step >= 0 ? (uint64_t)step + 1 : 0, before;
	struct control_placement *placement;

	if (!control || !control->placement.count)
		return;
	placement = &control->placement;
	before = atomic_load_explicit(&placement->mark, memory_order_relaxed);
	while (before < mark && !atomic_compare_exchange_weak(&placement->mark, &before, mark))
		;
}

static void activity_step(sluice_activity activity, int64_t step)
{
	struct activity_slot *slot = slot_find(activity);

	if (!slot)
		return;
	slot->step = step;
	note_step(step);
}

static void activity_data(sluice_activity activity, int64_t data_bytes)
{
	struct activity_slot *slot = slot_find(activity);

	if (slot)
		slot->data_bytes = data_bytes;
}

static void activity_link(sluice_activity activity, sluice_activity cause)
{
	struct activity_slot *slot = slot_find(activity);

	if (slot)
		slot->link = cause & ID_MASK;
}

/* Writes the record of the innermost activity and removes it. */
static void end_innermost(struct activity_list *list, uint64_t stop, int error)
{
	struct lane *lane = &capture_self.lanes[0];
	const struct activity_slot *slot = &list->slots[list->depth - 1];
	/* False if the wrapped call that it was begun in has ended before it. */
	bool is_current = lane->current == slot->seq;
	struct frame f = { .start = slot->start,
			   .stop = stop,
			   .seq = slot->seq,
			   .parent = slot->parent,
			   .parent_at = is_current ? slot->parent_at : lane->current_at,
			   .lane = lane };
	unsigned words = RECORD_HEAD_WORDS + 3 + text_words(slot->title_used) +
			 text_words(slot->attributes_used);
	uint64_t current = lane->current, *w, *text;

	w = frame_leave(&f, CALL_activity, words, error);
	if (!is_current)
		f.parent = current;
	w[RECORD_HEAD_WORDS] = slot->link;
	w[RECORD_HEAD_WORDS + 1] = (uint64_t)slot->data_bytes;
	w[RECORD_HEAD_WORDS + 2] = (uint64_t)slot->step;
	text = frame_text(&f, w + RECORD_HEAD_WORDS + 3, slot->title, slot->title_used);
	frame_text(&f, text, slot->attributes, slot->attributes_used);
	list->depth--;
	frame_commit(&f, w, words);
}

/* Removes activities that began before recording was reduced to counters. */
static void abandon_from(struct activity_list *list, uint32_t number)
{
	const struct activity_slot *slot = &list->slots[number - 1];
	struct lane *lane = &capture_self.lanes[0];

	list->depth = number - 1;
	lane->current = slot->parent;
	lane->current_at = slot->parent_at;
}

static void activity_end(sluice_activity activity, int32_t error)
{
	bool is_recorded = can_record();
	uint32_t number;
	uint64_t now;

	if (capture_self.vforked || capture_self.level)
		return;
	number = list_find(open_list, activity);
	if (!number) {
		report_misuse("the end of an activity that is not open in the thread");
		return;
	}
	if (!is_recorded) {
		abandon_from(open_list, number);
		return;
	}
	now = clock_ticks(capture_gate->clock);
	while (open_list->depth > number)
		end_innermost(open_list, now, 0);
	end_innermost(open_list, now, error);
}

static void phase_mark(const char *name, size_t bytes)
{
	write_mark(CALL_phase, name, bytes);
}

void api_forget(struct self *s)
{
	if (open_list)
		open_list->depth = 0;
	for (int i = 0; i < LANES; i++)
		if (s->lanes[i].current_at == FRAME_REGION) {
			s->lanes[i].current_at = NULL;
			s->lanes[i].current = 0;
		}
}

void api_flush(struct self *s)
{
	struct activity_list *list = open_list;

	if (!list)
		return;
	/* At the end of a thread guest code is active, and the chunks of the thread are gone. */
	if (s->level) {
		open_list = NULL;
		if (!sandbox_is_sealed())
			kernel_call(SYS_munmap, list, sizeof(*list));
		return;
	}
	while (list->depth && frame_mode() == CAPTURE_TRACE)
		end_innermost(list, clock_ticks(capture_gate->clock), ECANCELED);
}

EXPORT const struct sluice_instrument sluice_instrument_1 = {
	.abi = SLUICE_INSTRUMENT_ABI,
	.bytes = sizeof(struct sluice_instrument),
	.component = component_register,
	.begin = activity_begin,
	.text = activity_text,
	.number = activity_number,
	.step = activity_step,
	.data = activity_data,
	.link = activity_link,
	.end = activity_end,
	.phase = phase_mark,
	.target = answer_target,
	.target_at = answer_target_at,
	.best = answer_best,
};
