/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/read_ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAYS 4
#define SETS (READ_AHEAD_SLOTS / WAYS)
#define QUICK_ADVICES 64  /* so many in a row that did nothing make an opening dormant */
#define DORMANT_EVERY 16  /* then so many predictions pass for one that is advised, */
#define DORMANT_MOST 1024 /* and each time twice as many, up to this */

struct options {
	uint64_t threshold, depth, depth_max, slow_ns, idle_ns;
	bool sequential, dormant;
};

/* What is known of one opening. All under the slot's lock. */
struct slot {
	atomic_bool taken;
	bool used;	/* since the last one was evicted from the set */
	bool confirmed; /* the position is the kernel's word and not our assumption */
	bool asked;	/* what kind of opening it is, */
	bool barred;	/* and it is one that advice is wrong for */
	bool is_dormant;
	uint8_t reads;	    /* 0, 1, or 2 for more: from then on there is a prediction */
	uint8_t doubt;	    /* predictions in which a second slow read wakes a dormant opening */
	uint8_t quick;	    /* advices in a row that returned at once */
	uint16_t every;	    /* of so many predictions a dormant opening advises one */
	uint16_t passed;    /* predictions since the last advice of a dormant opening */
	uint32_t hits;	    /* right predictions in a row */
	uint32_t depth;	    /* accesses that are advised ahead */
	uint32_t ahead;	    /* accesses behind the last one that have been advised */
	int64_t position;   /* of the file */
	int64_t last;	    /* offset of the last read, */
	int64_t length;	    /* what it gave, */
	int64_t difference; /* and its distance from the one before */
} __attribute__((aligned(64)));

/*
 * Keys lie apart from the slots: threads that look for their own file do not disturb each other's.
 * A key is an opening, 0 for an empty slot; it changes only under the slot's lock, or to 0.
 */
static struct {
	struct options options;
	const struct sluice_guest *guest;
	_Atomic uint64_t keys[READ_AHEAD_SLOTS] __attribute__((aligned(64)));
	struct slot slots[READ_AHEAD_SLOTS];
} self;

/* ---- slots ---- */

static bool slot_take(struct slot *slot)
{
	if (atomic_load_explicit(&slot->taken, memory_order_relaxed))
		return false;
	/* Pairs with the release in slot_leave(). */
	return !atomic_exchange_explicit(&slot->taken, true, memory_order_acquire);
}

static void slot_leave(struct slot *slot)
{
	atomic_store_explicit(&slot->taken, false, memory_order_release);
}

/* The first slot of the set that the opening belongs to. */
static unsigned set_of(uint64_t opening)
{
	return (unsigned)(opening * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SETS * WAYS;
}

/* The opening's slot, taken; NULL if it has none or another thread is in it. */
static struct slot *slot_find(uint64_t opening)
{
	unsigned set = set_of(opening);

	for (unsigned i = set; i < set + WAYS; i++) {
		if (atomic_load_explicit(&self.keys[i], memory_order_relaxed) != opening)
			continue;
		if (!slot_take(&self.slots[i]))
			return NULL;
		if (atomic_load_explicit(&self.keys[i], memory_order_relaxed) == opening)
			return &self.slots[i];
		slot_leave(&self.slots[i]);
		return NULL;
	}
	return NULL;
}

static bool is_known(uint64_t opening)
{
	unsigned set = set_of(opening);

	for (unsigned i = set; i < set + WAYS; i++)
		if (atomic_load_explicit(&self.keys[i], memory_order_relaxed) == opening)
			return true;
	return false;
}

/* An empty slot of the set, else one that was not used lately: each gets a second chance. */
static struct slot *slot_evict(unsigned set)
{
	for (unsigned i = set; i < set + WAYS; i++)
		if (!atomic_load_explicit(&self.keys[i], memory_order_relaxed) &&
		    slot_take(&self.slots[i]))
			return &self.slots[i];
	for (unsigned i = set; i < set + 2 * WAYS; i++) {
		struct slot *slot = &self.slots[set + i % WAYS];

		if (!slot_take(slot))
			continue;
		if (!slot->used)
			return slot;
		slot->used = false;
		slot_leave(slot);
	}
	return NULL;
}

/* A slot for an opening that is read for the first time, taken. */
static struct slot *slot_make(uint64_t opening)
{
	struct slot *slot;
	unsigned i;

	if (is_known(opening)) /* busy */
		return NULL;
	slot = slot_evict(set_of(opening));
	if (!slot)
		return NULL;
	i = (unsigned)(slot - self.slots);
	atomic_store_explicit(&self.keys[i], opening, memory_order_relaxed);
	slot->confirmed = slot->asked = slot->barred = slot->is_dormant = false;
	slot->reads = slot->quick = slot->doubt = 0;
	slot->passed = 0;
	slot->hits = slot->ahead = 0;
	slot->depth = (uint32_t)self.options.depth;
	slot->position = slot->last = slot->length = slot->difference = 0;
	return slot;
}

static void slot_drop(uint64_t opening)
{
	unsigned set = set_of(opening);

	for (unsigned i = set; i < set + WAYS; i++)
		if (atomic_load_explicit(&self.keys[i], memory_order_relaxed) == opening)
			atomic_store_explicit(&self.keys[i], 0, memory_order_relaxed);
}

/* ---- prediction ---- */

/* Where the read began. The first of an opening is assumed to begin at 0 until a seek tells. */
static int64_t read_begin(struct slot *slot, const struct sluice_called *called)
{
	int64_t begin = called->offset;

	if (begin >= 0)
		return begin;
	begin = slot->position;
	slot->position += called->result;
	return begin;
}

/* Was it where it was expected? Learns from it either way. */
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

/* The kernel sees by itself what is read from one end to the other. */
static bool is_worth_advice(const struct slot *slot)
{
	if (slot->hits < self.options.threshold || !slot->difference || slot->barred)
		return false;
	return self.options.sequential || slot->difference != slot->length;
}

/* Before the first advice: what bypasses the page cache must not be read into it. */
static bool kind_confirm(struct slot *slot, int fd)
{
	long flags;

	if (slot->asked)
		return true;
	slot->asked = true;
	flags = syscall(SYS_fcntl, fd, F_GETFL);
	slot->barred = flags > 0 && flags & O_DIRECT;
	return !slot->barred;
}

/* An opening whose position was only assumed asks for it once. */
static bool position_confirm(struct slot *slot, const struct sluice_called *called)
{
	long now;

	if (slot->confirmed || called->offset >= 0)
		return true;
	now = syscall(SYS_lseek, (int)called->handle, (off_t)0, SEEK_CUR);
	if (now < 0)
		return false;
	slot->last += now - slot->position;
	slot->position = now;
	slot->confirmed = true;
	return true;
}

/* ---- advice ---- */

static void slot_wake(struct slot *slot)
{
	slot->is_dormant = false;
	slot->quick = slot->doubt = 0;
}

/*
 * A read was slow: because of the device, or because its thread was put aside. Where files were
 * cached so far the next access is advised, which tells; a second one soon after needs no proof.
 */
static void slot_doubt(struct slot *slot)
{
	if (!slot->is_dormant || slot->doubt) {
		slot_wake(slot);
		return;
	}
	slot->doubt = DORMANT_EVERY;
	slot->every = DORMANT_EVERY;
	slot->passed = DORMANT_EVERY;
}

/* An advice that returns at once found everything in memory; after many of them it is left be. */
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

static unsigned advise(struct slot *slot, int fd)
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
			slot->barred = true; /* no file that takes advice */
			break;
		}
		advice_judge(slot, took_ns);
	}
	return acts;
}

/* Does a dormant opening pass this time? What it passes was not advised. */
static bool is_passed(struct slot *slot)
{
	if (!slot->is_dormant)
		return false;
	if (++slot->passed < slot->every)
		return true;
	slot->passed = 0;
	return false;
}

/* It waited for the device. Memory gives a byte in less than a nanosecond. */
static bool is_slow(const struct sluice_called *called)
{
	return called->duration_ns > (int64_t)self.options.slow_ns + called->result;
}

static unsigned slot_read(struct slot *slot, const struct sluice_called *called)
{
	bool was_advised = slot->ahead > 0, was_slow = is_slow(called);

	slot->used = true;
	slot_learn(slot, read_begin(slot, called), called->result);
	if (!is_worth_advice(slot) || !kind_confirm(slot, (int)called->handle) ||
	    !position_confirm(slot, called))
		return 0;
	slot->doubt -= slot->doubt > 0;
	if (was_slow)
		slot_doubt(slot);
	/* It was asked for too late: further ahead there is more time. */
	if (was_slow && was_advised && slot->depth < self.options.depth_max)
		slot->depth = 2 * slot->depth < self.options.depth_max
				      ? 2 * slot->depth
				      : (uint32_t)self.options.depth_max;
	return is_passed(slot) ? 0 : advise(slot, (int)called->handle);
}

/* ---- hooks ---- */

static unsigned read_after(const struct sluice_called *called)
{
	struct slot *slot;
	unsigned acts;

	if (called->result <= 0 || called->handle < 0)
		return 0;
	slot = slot_find(called->opening);
	if (!slot)
		slot = slot_make(called->opening);
	if (!slot)
		return 0;
	acts = slot_read(slot, called);
	slot_leave(slot);
	return acts;
}

static void seek_after(const struct sluice_called *called)
{
	struct slot *slot = slot_find(called->opening);

	if (!slot)
		return;
	slot->position = called->result;
	slot->confirmed = true;
	slot_leave(slot);
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
	/* A forked child has its parent's table, in which threads may have been that it lacks. */
	for (unsigned i = 0; i < READ_AHEAD_SLOTS; i++) {
		atomic_store_explicit(&self.keys[i], 0, memory_order_relaxed);
		if (atomic_load_explicit(&self.slots[i].taken, memory_order_relaxed))
			slot_leave(&self.slots[i]);
	}
	self.options = options;
	self.guest = guest;
	return 0;
}

static const struct sluice_inline read_ahead = {
	.classes = 1u << CLASS_READ | 1u << CLASS_SEEK | 1u << CLASS_CLOSE,
	.layers = 1u << LAYER_POSIX,
	.start = read_ahead_start,
	.after = read_ahead_after,
};

const struct sluice_plugin inline_read_ahead = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_INLINE,
	.name = "read_ahead",
	.help = "advises the kernel of the next access to files that are read in strides",
	.in_line = &read_ahead,
};
