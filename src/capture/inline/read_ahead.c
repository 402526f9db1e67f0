/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-42, SIOX-43, SIOX-61.
 */
#include "capture/inline/read_ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/record/kernel.h"

#define WAYS 4
#define SETS (READ_AHEAD_SLOTS / WAYS)
#define QUICK_ADVICES 64  /* fast advices in a row that make an opening dormant */
#define DORMANT_EVERY 16  /* predictions per advice of a dormant opening at first */
#define DORMANT_MOST 1024 /* the same at most, after doubling with each advice */

struct options {
	uint64_t threshold, depth, depth_max, slow_ns, idle_ns;
	bool sequential, dormant;
};

/* The state of one opening. All members are protected by the slot's lock, `locked`. */
struct slot {
	atomic_bool locked;
	bool used;	/* since the last eviction from the set */
	bool confirmed; /* the position comes from the kernel and is not assumed */
	bool asked;	/* `barred` is known */
	bool barred;	/* advice is useless or harmful for this opening */
	bool yields;	/* the program advises the kernel itself */
	bool is_dormant;
	uint8_t reads;	  /* 0, 1, or 2 for more; from 2 on there is a prediction */
	uint8_t doubt;	  /* predictions left in which a second slow read wakes a dormant opening */
	uint8_t quick;	  /* fast advices in a row */
	uint16_t every;	  /* predictions per advice of a dormant opening */
	uint16_t passed;  /* predictions since the last advice of a dormant opening */
	uint32_t hits;	  /* correct predictions in a row */
	uint32_t depth;	  /* reads to advise ahead */
	uint32_t ahead;	  /* reads after the last one that were advised already */
	int64_t position; /* of the file, for calls without an offset */
	int64_t last;	  /* offset of the last read */
	int64_t length;	  /* its result */
	int64_t difference; /* its distance from the read before */
} __attribute__((aligned(64)));

/*
 * Keys are stored apart from the slots, so that searching threads do not share cache lines with
 * slots in use. A key is an opening, 0 for an empty slot. It changes only under the slot's lock, or
 * to 0.
 */
static struct {
	struct options options;
	const struct sluice_guest *guest;
	_Atomic uint64_t keys[READ_AHEAD_SLOTS] __attribute__((aligned(64)));
	struct slot slots[READ_AHEAD_SLOTS];
} self;

static bool slot_try_lock(struct slot *slot)
{
	if (atomic_load_explicit(&slot->locked, memory_order_relaxed))
		return false;
	/* Pairs with the release in slot_unlock(). */
	return !atomic_exchange_explicit(&slot->locked, true, memory_order_acquire);
}

static void slot_unlock(struct slot *slot)
{
	atomic_store_explicit(&slot->locked, false, memory_order_release);
}

/* The first slot of the opening's set. */
static unsigned set_first_slot(uint64_t opening)
{
	return (unsigned)(opening * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SETS * WAYS;
}

/* Locks the opening's slot; NULL if it has none or another thread holds it. */
static struct slot *slot_find(uint64_t opening)
{
	unsigned set = set_first_slot(opening);

	for (unsigned i = set; i < set + WAYS; i++) {
		if (atomic_load_explicit(&self.keys[i], memory_order_relaxed) != opening)
			continue;
		if (!slot_try_lock(&self.slots[i]))
			return NULL;
		if (atomic_load_explicit(&self.keys[i], memory_order_relaxed) == opening)
			return &self.slots[i];
		slot_unlock(&self.slots[i]);
		return NULL;
	}
	return NULL;
}

static bool is_known(uint64_t opening)
{
	unsigned set = set_first_slot(opening);

	for (unsigned i = set; i < set + WAYS; i++)
		if (atomic_load_explicit(&self.keys[i], memory_order_relaxed) == opening)
			return true;
	return false;
}

/* Locks an empty slot of the set, else one that was not used recently (second chance). */
static struct slot *slot_evict(unsigned set)
{
	for (unsigned i = set; i < set + WAYS; i++)
		if (!atomic_load_explicit(&self.keys[i], memory_order_relaxed) &&
		    slot_try_lock(&self.slots[i]))
			return &self.slots[i];
	for (unsigned i = set; i < set + 2 * WAYS; i++) {
		struct slot *slot = &self.slots[set + i % WAYS];

		if (!slot_try_lock(slot))
			continue;
		if (!slot->used)
			return slot;
		slot->used = false;
		slot_unlock(slot);
	}
	return NULL;
}

/* Locks and initializes a slot for an opening that is read for the first time. */
static struct slot *slot_create(uint64_t opening)
{
	struct slot *slot;
	unsigned i;

	if (is_known(opening)) /* busy */
		return NULL;
	slot = slot_evict(set_first_slot(opening));
	if (!slot)
		return NULL;
	i = (unsigned)(slot - self.slots);
	atomic_store_explicit(&self.keys[i], opening, memory_order_relaxed);
	slot->confirmed = slot->asked = slot->barred = slot->yields = slot->is_dormant = false;
	slot->reads = slot->quick = slot->doubt = 0;
	slot->passed = 0;
	slot->hits = slot->ahead = 0;
	slot->depth = (uint32_t)self.options.depth;
	slot->position = slot->last = slot->length = slot->difference = 0;
	return slot;
}

static void slot_drop(uint64_t opening)
{
	unsigned set = set_first_slot(opening);

	for (unsigned i = set; i < set + WAYS; i++)
		if (atomic_load_explicit(&self.keys[i], memory_order_relaxed) == opening)
			atomic_store_explicit(&self.keys[i], 0, memory_order_relaxed);
}

/* The offset of the read. Without a seek, the first read of an opening is assumed to be at 0. */
static int64_t read_offset(struct slot *slot, const struct sluice_called *called)
{
	int64_t begin = called->offset;

	if (begin >= 0)
		return begin;
	begin = slot->position;
	slot->position += called->result;
	return begin;
}

/* Compares the read with the prediction and makes the next one. */
static void slot_learn(struct slot *slot, int64_t begin, int64_t length)
{
	int64_t difference = begin - slot->last;

	if (slot->reads == 2 && difference == slot->difference) {
		slot->hits++;
		slot->ahead -= slot->ahead > 0;
	} else {
		slot->hits = 0;
		slot->ahead = 0;
	}
	slot->difference = slot->reads ? difference : 0;
	slot->last = begin;
	slot->length = length;
	if (slot->reads < 2)
		slot->reads++;
}

/* Sequential reads are detected by the kernel itself. */
static bool is_worth_advice(const struct slot *slot)
{
	if (slot->hits < self.options.threshold || !slot->difference || slot->barred)
		return false;
	return self.options.sequential || slot->difference != slot->length;
}

/* Before the first advice: files opened with O_DIRECT must not be read into the page cache. */
static bool check_accepts_advice(struct slot *slot, int fd)
{
	long flags;

	if (slot->asked)
		return true;
	slot->asked = true;
	flags = kernel_call(SYS_fcntl, fd, F_GETFL);
	slot->barred = flags > 0 && flags & O_DIRECT;
	return !slot->barred;
}

/* Replaces an assumed position by the kernel's, once per opening. */
static bool confirm_position(struct slot *slot, const struct sluice_called *called)
{
	long now;

	if (slot->confirmed || called->offset >= 0)
		return true;
	now = kernel_call(SYS_lseek, (int)called->handle, (off_t)0, SEEK_CUR);
	if (now < 0)
		return false;
	slot->last += now - slot->position;
	slot->position = now;
	slot->confirmed = true;
	return true;
}

static void slot_wake(struct slot *slot)
{
	slot->is_dormant = false;
	slot->quick = slot->doubt = 0;
}

/*
 * A read was slow, because of the device or because its thread was preempted. A dormant opening
 * advises the next read to find out; a second slow read soon after wakes it at once.
 */
static void slot_handle_slow_read(struct slot *slot)
{
	if (!slot->is_dormant || slot->doubt) {
		slot_wake(slot);
		return;
	}
	slot->doubt = DORMANT_EVERY;
	slot->every = DORMANT_EVERY;
	slot->passed = DORMANT_EVERY;
}

/* An advice that returns at once has found everything in the page cache. */
static void advice_judge(struct slot *slot, int64_t took_ns)
{
	if (took_ns > (int64_t)self.options.idle_ns) {
		slot_wake(slot);
		return;
	}
	if (slot->is_dormant) {
		slot->every = slot->every < DORMANT_MOST ? 2 * slot->every : DORMANT_MOST;
		return;
	}
	if (slot->quick < QUICK_ADVICES)
		slot->quick++;
	if (slot->quick == QUICK_ADVICES && self.options.dormant) {
		slot->is_dormant = true;
		slot->every = DORMANT_EVERY;
		slot->passed = 0;
	}
}

static unsigned advise_ahead(struct slot *slot, int fd)
{
	const struct sluice_guest *guest = self.guest;
	unsigned acts = 0;

	while (slot->ahead < slot->depth) {
		int64_t offset = slot->last + (slot->ahead + 1) * slot->difference, took_ns;

		if (offset < 0)
			break;
		slot->ahead++;
		acts++;
		took_ns = guest->advise(guest->self, fd, offset, slot->length, POSIX_FADV_WILLNEED);
		if (took_ns < 0) {
			slot->barred = true; /* the file does not accept advice */
			break;
		}
		advice_judge(slot, took_ns);
	}
	return acts;
}

/* Does a dormant opening skip this prediction? */
static bool skips_prediction(struct slot *slot)
{
	if (!slot->is_dormant)
		return false;
	if (++slot->passed < slot->every)
		return true;
	slot->passed = 0;
	return false;
}

/* Did the read wait for the device? From memory, a byte takes less than a nanosecond. */
static bool is_slow(const struct sluice_called *called)
{
	return called->duration_ns > (int64_t)self.options.slow_ns + called->result;
}

/* The advice of the program has priority. Once per opening it is noted that this one is missing. */
static bool slot_yields(struct slot *slot)
{
	const struct sluice_guest *guest = self.guest;

	if (!slot->yields)
		return false;
	slot->barred = true;
	if (guest->bytes > offsetof(struct sluice_guest, yielded) && guest->yielded)
		guest->yielded(guest->self, "posix_fadvise", "advice of the program", "WILLNEED");
	return true;
}

static unsigned slot_read(struct slot *slot, const struct sluice_called *called)
{
	bool was_advised = slot->ahead > 0, was_slow = is_slow(called);

	slot->used = true;
	slot_learn(slot, read_offset(slot, called), called->result);
	if (!is_worth_advice(slot) || slot_yields(slot) ||
	    !check_accepts_advice(slot, (int)called->handle) || !confirm_position(slot, called))
		return 0;
	slot->doubt -= slot->doubt > 0;
	if (was_slow)
		slot_handle_slow_read(slot);
	/* The advice came too late: a greater depth leaves more time. */
	if (was_slow && was_advised && slot->depth < self.options.depth_max)
		slot->depth = 2 * slot->depth < self.options.depth_max
				      ? 2 * slot->depth
				      : (uint32_t)self.options.depth_max;
	return skips_prediction(slot) ? 0 : advise_ahead(slot, (int)called->handle);
}

static unsigned read_after(const struct sluice_called *called)
{
	struct slot *slot;
	unsigned acts;

	if (called->result <= 0 || called->handle < 0)
		return 0;
	slot = slot_find(called->opening);
	if (!slot)
		slot = slot_create(called->opening);
	if (!slot)
		return 0;
	acts = slot_read(slot, called);
	slot_unlock(slot);
	return acts;
}

static void seek_after(const struct sluice_called *called)
{
	struct slot *slot = slot_find(called->opening);

	if (!slot)
		return;
	slot->position = called->result;
	slot->confirmed = true;
	slot_unlock(slot);
}

static void advise_after(const struct sluice_called *called)
{
	struct slot *slot = slot_find(called->opening);

	if (!slot)
		slot = slot_create(called->opening);
	if (!slot)
		return;
	slot->yields = true;
	slot_unlock(slot);
}

static unsigned read_ahead_after(void *state, const struct sluice_called *called)
{
	(void)state;
	if (called->layer != LAYER_POSIX || called->is_network || !called->opening)
		return 0;
	if (called->class == CLASS_CLOSE)
		slot_drop(called->opening);
	if (called->error)
		return 0;
	if (called->class == CLASS_READ)
		return read_after(called);
	if (called->class == CLASS_SEEK)
		seek_after(called);
	if (called->class == CLASS_ADVISE)
		advise_after(called);
	return 0;
}

/* One row per option that is a number. */
static const struct {
	const char *key;
	uint64_t fallback, least, most, unit;
	size_t at;
} numbers[] = {
	{ "threshold", 4, 1, 1 << 20, 1, offsetof(struct options, threshold) },
	{ "depth", 1, 1, 1024, 1, offsetof(struct options, depth) },
	{ "depth_max", 8, 1, 1024, 1, offsetof(struct options, depth_max) },
	{ "slow_us", 50, 0, 1 << 30, 1000, offsetof(struct options, slow_ns) },
	{ "idle_ns", 2000, 0, 1 << 30, 1, offsetof(struct options, idle_ns) },
};

static int number_read(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	uint64_t n = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || n > most)
			return -EINVAL;
		n = 10 * n + (uint64_t)(*text - '0');
	}
	if (n < least || n > most)
		return -EINVAL;
	*number = n;
	return 0;
}

static int flag_read(const struct sluice_guest *guest, const char *key, bool *flag)
{
	const char *text = guest->option(guest->self, key);

	if (!text)
		return 0;
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		return -EINVAL;
	*flag = text[0] == 'y';
	return 0;
}

static int options_read(const struct sluice_guest *guest, struct options *options)
{
	options->dormant = true;
	options->sequential = false;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const char *text = guest->option(guest->self, numbers[i].key);
		uint64_t n = numbers[i].fallback;

		if (text && number_read(text, numbers[i].least, numbers[i].most, &n) < 0)
			return -EINVAL;
		*(uint64_t *)((char *)options + numbers[i].at) = n * numbers[i].unit;
	}
	if (options->depth_max < options->depth)
		options->depth_max = options->depth;
	if (flag_read(guest, "sequential", &options->sequential) < 0)
		return -EINVAL;
	return flag_read(guest, "dormant", &options->dormant);
}

static int read_ahead_start(const struct sluice_guest *guest, void **state)
{
	struct options options;
	int error = options_read(guest, &options);

	if (error < 0)
		return error;
	*state = NULL;
	/* In a forked child the table is the parent's, and slots may be locked by its threads. */
	for (unsigned i = 0; i < READ_AHEAD_SLOTS; i++) {
		atomic_store_explicit(&self.keys[i], 0, memory_order_relaxed);
		if (atomic_load_explicit(&self.slots[i].locked, memory_order_relaxed))
			slot_unlock(&self.slots[i]);
	}
	self.options = options;
	self.guest = guest;
	return 0;
}

static const struct sluice_inline read_ahead = {
	.classes = 1u << CLASS_READ | 1u << CLASS_SEEK | 1u << CLASS_CLOSE | 1u << CLASS_ADVISE,
	.layers = 1u << LAYER_POSIX,
	.start = read_ahead_start,
	.after = read_ahead_after,
};

const struct sluice_plugin inline_read_ahead = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_INLINE,
	.name = "read_ahead",
	.help = "prefetch files that are read with a constant stride",
	.in_line = &read_ahead,
};
