/* SPDX-License-Identifier: BSD-3-Clause */
#include "contract/backlog.h"

#include <float.h>
#include <string.h>

#include "contract/shares.h"

#define NS_PER_S 1e9

static uint64_t get(const _Atomic uint64_t *at)
{
	return atomic_load_explicit(at, memory_order_relaxed);
}

static void set(_Atomic uint64_t *at, uint64_t value)
{
	atomic_store_explicit(at, value, memory_order_relaxed);
}

static void add(_Atomic uint64_t *at, uint64_t value)
{
	atomic_fetch_add_explicit(at, value, memory_order_relaxed);
}

uint64_t backlog_key(const char *name, size_t bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

bool backlog_is_valid(const struct backlog *backlog, uint64_t now_ns)
{
	if (backlog->magic != BACKLOG_MAGIC)
		return false;
	/* The clock begins anew when the machine starts. A call may just have returned. */
	for (int i = 0; i < BACKLOG_TARGETS; i++)
		if (get(&backlog->targets[i].covered_ns) > now_ns + BACKLOG_CHECK_NS)
			return false;
	return true;
}

int backlog_find_target(struct backlog *backlog, uint64_t key)
{
	for (int i = 0; i < BACKLOG_TARGETS; i++) {
		uint64_t is = 0;

		if (atomic_compare_exchange_strong(&backlog->targets[i].key, &is, key) || is == key)
			return i;
	}
	return -1;
}

/* How often the weight of what was seen has halved since. */
static unsigned count_halvings(uint64_t since_ns, uint64_t now_ns)
{
	uint64_t n = now_ns > since_ns ? (now_ns - since_ns) / BACKLOG_HALF_LIFE_NS : 0;

	return n < 63 ? (unsigned)n : 63;
}

/* What was seen of a target. */
struct seen {
	double bytes, busy_s;
};

static struct seen get_seen(const struct backlog_target *target, uint64_t now_ns)
{
	unsigned n = count_halvings(get(&target->halved_ns), now_ns);

	return (struct seen){ (double)(get(&target->bytes) >> n),
			      (double)(get(&target->busy_ns) >> n) / NS_PER_S };
}

double backlog_rate(const struct backlog_target *target, uint64_t now_ns)
{
	struct seen seen = get_seen(target, now_ns);

	return seen.busy_s > 0 ? seen.bytes / seen.busy_s : 0;
}

static void halve(_Atomic uint64_t *at, unsigned times)
{
	uint64_t value = get(at);

	atomic_fetch_sub_explicit(at, value - (value >> times), memory_order_relaxed);
}

/* Reduces the weight of what was seen before; only one process does it. */
static void forget_old(struct backlog_target *target, uint64_t now_ns)
{
	uint64_t since = get(&target->halved_ns);
	unsigned n = count_halvings(since, now_ns);
	uint64_t then = n < 63 ? since + n * BACKLOG_HALF_LIFE_NS : now_ns;

	if (!n || !atomic_compare_exchange_strong(&target->halved_ns, &since, then))
		return;
	halve(&target->bytes, n);
	halve(&target->busy_ns, n);
}

/* Counts bytes that were stored by a call. Time that another call has covered counts once. */
static void learn(struct backlog_target *target, uint64_t bytes, uint64_t begin_ns, uint64_t now_ns)
{
	uint64_t covered = get(&target->covered_ns);
	uint64_t from = begin_ns > covered ? begin_ns : covered;

	while (covered < now_ns &&
	       !atomic_compare_exchange_weak(&target->covered_ns, &covered, now_ns))
		from = begin_ns > covered ? begin_ns : covered;
	forget_old(target, now_ns);
	add(&target->bytes, bytes);
	add(&target->busy_ns, now_ns > from ? now_ns - from : 0);
}

/* The bytes in the cache that the target has not stored yet, by its rate; if that is unknown, they
 * are forgotten like everything else. */
static double get_left(const struct backlog_target *target, uint64_t now_ns)
{
	uint64_t left = get(&target->left), since = get(&target->left_ns);
	double rate = backlog_rate(target, now_ns), rest;

	if (!left)
		return 0;
	if (!(rate > 0))
		return (double)(left >> count_halvings(since, now_ns));
	rest = (double)left - (now_ns > since ? rate * (double)(now_ns - since) / NS_PER_S : 0);
	return rest > 0 ? rest : 0;
}

static void leave_in_cache(struct backlog_target *target, uint64_t bytes, uint64_t now_ns)
{
	uint64_t rest = (uint64_t)get_left(target, now_ns);

	set(&target->left_ns, now_ns);
	set(&target->left, rest + bytes);
}

static int32_t owner_pid(uint64_t owner)
{
	return (int32_t)(owner >> 32);
}

/* Is the owner known to live, or found to? */
static bool has_owner(struct backlog_file *file, uint64_t owner,
		      const struct backlog_choice *choice)
{
	if (!choice->is_alive || choice->now_ns < get(&file->checked_ns) + BACKLOG_CHECK_NS)
		return true;
	if (!choice->is_alive(owner_pid(owner)))
		return false;
	set(&file->checked_ns, choice->now_ns);
	return true;
}

/* Adds an open file to the view: what it will probably write, and the call under way. */
static void view_file(struct backlog_view *view, const struct backlog_file *file, uint64_t now_ns)
{
	uint64_t expected = get(&file->expected), written = get(&file->written);
	uint64_t begin = get(&file->call_ns), bytes = begin ? get(&file->call_bytes) : 0;
	uint64_t rest = expected > written ? expected - written : 0;
	uint32_t target = atomic_load_explicit(&file->target, memory_order_relaxed);

	if (target >= BACKLOG_TARGETS)
		return;
	if (!begin)
		rest >>= count_halvings(get(&file->active_ns), now_ns);
	view->targets[target].outstanding += (double)(rest > bytes ? rest : bytes);
	if (!begin)
		return;
	view->targets[target].call_bytes += (double)bytes;
	if (!view->targets[target].call_ns || begin < view->targets[target].call_ns)
		view->targets[target].call_ns = begin;
}

/* Only one process releases the file. What it has left in the cache is still written. */
static void release_dead(struct backlog *backlog, struct backlog_file *file, uint64_t owner,
			 uint64_t now_ns)
{
	uint32_t target = atomic_load_explicit(&file->target, memory_order_relaxed);
	uint64_t cached = get(&file->cached);

	if (atomic_compare_exchange_strong(&file->owner, &owner, 0) && cached)
		leave_in_cache(&backlog->targets[target % BACKLOG_TARGETS], cached, now_ns);
}

static void view_files(struct backlog *backlog, const struct backlog_choice *choice,
		       struct backlog_view *view)
{
	uint32_t high = atomic_load_explicit(&backlog->high, memory_order_relaxed);

	memset(view, 0, sizeof(*view));
	for (uint32_t i = 0; i < high && i < BACKLOG_FILES; i++) {
		struct backlog_file *file = &backlog->files[i];
		uint64_t owner = get(&file->owner);

		if (!owner)
			continue;
		if (has_owner(file, owner, choice))
			view_file(view, file, choice->now_ns);
		else
			release_dead(backlog, file, owner, choice->now_ns);
	}
}

/* Adds what other backlogs hold to the view, as long as it is recent. */
static void view_others(const struct backlog *backlog, const struct backlog_choice *choice,
			struct backlog_view *view)
{
	uint64_t heard = get(&backlog->others_ns), now = choice->now_ns;

	/* A process may have read the clock before the recorder wrote. */
	if (!heard || heard > now + BACKLOG_CHECK_NS || now > heard + BACKLOG_OTHERS_NS)
		return;
	for (unsigned i = 0; i < choice->count; i++) {
		const struct backlog_target *target = &backlog->targets[choice->targets[i]];
		double bytes = (double)get(&target->others_bytes), part;
		double most = BACKLOG_OTHERS_FILES * (double)choice->bytes;

		part = bytes > most ? most / bytes : 1;
		view->targets[choice->targets[i]].others_outstanding =
			(double)get(&target->others_outstanding);
		view->targets[choice->targets[i]].others_bytes = bytes * part;
		view->targets[choice->targets[i]].others_busy_s =
			(double)get(&target->others_busy_ns) * part / NS_PER_S;
	}
}

/* Whose knowledge counts. */
enum sight { OWN, OTHERS, ALL, SIGHTS };

static struct seen see(const struct backlog *backlog, const struct backlog_choice *choice,
		       const struct backlog_view *view, unsigned i, enum sight sight)
{
	unsigned at = choice->targets[i];
	struct seen seen = { 0, 0 };

	if (sight != OTHERS)
		seen = get_seen(&backlog->targets[at], choice->now_ns);
	if (sight != OWN) {
		seen.bytes += view->targets[at].others_bytes;
		seen.busy_s += view->targets[at].others_busy_s;
	}
	return seen;
}

/* What was seen of all targets of a choice. */
struct scale {
	double mean;   /* rate; 0: nothing was seen, so the forecast decides */
	double weight; /* rate per unit of weight */
};

static struct scale find_scale(const struct backlog *backlog, const struct backlog_choice *choice,
			       const struct backlog_view *view, enum sight sight)
{
	double bytes = 0, busy = 0, weighted = 0;

	for (unsigned i = 0; i < choice->count; i++) {
		struct seen seen = see(backlog, choice, view, i, sight);

		bytes += seen.bytes;
		busy += seen.busy_s;
		weighted += seen.busy_s * choice->weights[i];
	}
	if (!(bytes > 0 && busy > 0))
		return (struct scale){ 0, 1 };
	return (struct scale){ bytes / busy, bytes / weighted };
}

/* Without a rate of one's own, targets differ by the forecast, at rates as others have seen them.
 */
static void find_scales(const struct backlog *backlog, const struct backlog_choice *choice,
			const struct backlog_view *view, struct scale scales[SIGHTS])
{
	scales[OWN] = scales[ALL] = find_scale(backlog, choice, view, OWN);
	if (scales[OWN].mean > 0)
		return;
	scales[ALL] = find_scale(backlog, choice, view, OTHERS);
	scales[OWN].weight = scales[ALL].weight;
}

/* The rate that the forecast gives, within its limits. */
static double prior_rate(const struct scale *scale, double weight, bool is_seen)
{
	double rate = weight * scale->weight;
	double high = scale->mean * BACKLOG_TRUST;
	double low = is_seen ? scale->mean / BACKLOG_TRUST : high;

	return rate < low ? low : rate > high ? high : rate;
}

/* Was more than next to nothing seen of the target? */
static bool is_seen(const struct seen *seen, double prior_bytes, const struct scale *scale)
{
	return seen->busy_s * scale->mean > prior_bytes / 8;
}

/* The rate of a target: the forecast counts as BACKLOG_PRIOR_FILES files, then what was seen. With
 * `tries`, one of which nothing was seen counts as fast. */
static double estimate_rate(const struct backlog_choice *choice, const struct backlog *backlog,
			    const struct backlog_view *view, unsigned i, const struct scale *scale,
			    enum sight sight, bool tries)
{
	const struct backlog_target *target = &backlog->targets[choice->targets[i]];
	uint64_t from = view->targets[choice->targets[i]].call_ns;
	uint64_t covered = get(&target->covered_ns);
	struct seen seen = see(backlog, choice, view, i, sight);
	double prior = BACKLOG_PRIOR_FILES * (double)choice->bytes, bytes, busy, rate, late;

	if (!(scale->mean > 0))
		return choice->weights[i] * scale->weight;
	bytes = seen.bytes + prior;
	busy = seen.busy_s + prior / prior_rate(scale, choice->weights[i],
						!tries || is_seen(&seen, prior, scale));
	rate = bytes / busy;
	if (!from)
		return rate;
	/* A call that should have returned by now shows that the target is slower. */
	from = from > covered ? from : covered;
	busy += choice->now_ns > from ? (double)(choice->now_ns - from) / NS_PER_S : 0;
	late = (bytes + view->targets[choice->targets[i]].call_bytes) / busy;
	return late < rate ? late : rate;
}

/* The files that a target got in this step. */
static uint32_t get_files(const struct backlog_choice *choice, unsigned i)
{
	return choice->files ? atomic_load_explicit(&choice->files[i], memory_order_relaxed) : 0;
}

/* By the limits of the site: 0: must get the file, 1: may get it, 2: must not. */
static int rank_target(const struct backlog_choice *choice, unsigned i, uint64_t total)
{
	double equal = (double)(total + 1) / choice->count, files;

	if (!choice->files)
		return 1;
	files = (double)get_files(choice, i);
	if (choice->least > 0 && files + 1 <= choice->least * equal)
		return 0;
	return choice->most > 0 && files >= 1 && files + 1 > choice->most * equal + 1 ? 2 : 1;
}

static uint64_t count_files(const struct backlog_choice *choice)
{
	uint64_t total = 0;

	for (unsigned i = 0; choice->files && i < choice->count; i++)
		total += get_files(choice, i);
	return total;
}

/* The seconds until a new file would be finished on a target, by what is known to OWN or ALL. */
static double predict_finish(const struct backlog *backlog, const struct backlog_choice *choice,
			     const struct backlog_view *view, unsigned i,
			     const struct scale scales[SIGHTS], enum sight sight)
{
	unsigned at = choice->targets[i];
	double bytes = view->targets[at].outstanding +
		       get_left(&backlog->targets[at], choice->now_ns) + (double)choice->bytes;

	if (sight == ALL)
		bytes += view->targets[at].others_outstanding;
	return bytes / estimate_rate(choice, backlog, view, i, &scales[sight], sight, true);
}

/* The same within the limits in which others are believed. */
static double predict_limited(const struct backlog *backlog, const struct backlog_choice *choice,
			      const struct backlog_view *view, unsigned i,
			      const struct scale scales[SIGHTS])
{
	double own = predict_finish(backlog, choice, view, i, scales, OWN);
	double all = predict_finish(backlog, choice, view, i, scales, ALL);

	return all < own ? own : all > own * BACKLOG_OTHERS_MOST ? own * BACKLOG_OTHERS_MOST : all;
}

/* Among the targets that finish the file first, the one with the fewest files. Those that have
 * nothing else to do need only be about as fast. */
static unsigned choose_among_best(const struct backlog_choice *choice,
				  const struct backlog_view *view, double best_s)
{
	unsigned chosen = choice->count;

	for (unsigned k = 0; k < choice->count; k++) {
		unsigned i = (unsigned)((choice->turn + k) % choice->count);
		unsigned at = choice->targets[i];
		bool is_idle = !(view->targets[at].outstanding > 0 ||
				 view->targets[at].others_outstanding > 0);

		if (view->finish_s[i] <= best_s * (is_idle ? BACKLOG_SAME : 1) &&
		    (chosen == choice->count || get_files(choice, i) < get_files(choice, chosen)))
			chosen = i;
	}
	return chosen;
}

unsigned backlog_choose(struct backlog *backlog, const struct backlog_choice *choice,
			struct backlog_view *view)
{
	uint64_t total = count_files(choice);
	struct scale scales[SIGHTS];
	double best_s = DBL_MAX;
	int best_rank = 3;

	view_files(backlog, choice, view);
	view_others(backlog, choice, view);
	find_scales(backlog, choice, view, scales);
	for (unsigned i = 0; i < choice->count; i++) {
		int rank = rank_target(choice, i, total);

		best_rank = rank < best_rank ? rank : best_rank;
	}
	for (unsigned i = 0; i < choice->count; i++) {
		bool may_get = rank_target(choice, i, total) == best_rank;

		view->finish_s[i] =
			may_get ? predict_limited(backlog, choice, view, i, scales) : DBL_MAX;
		best_s = view->finish_s[i] < best_s ? view->finish_s[i] : best_s;
	}
	return choose_among_best(choice, view, best_s);
}

void backlog_shares(struct backlog *backlog, const struct backlog_choice *choice,
		    struct backlog_view *view, double *shares)
{
	struct scale scale;

	view_files(backlog, choice, view);
	scale = find_scale(backlog, choice, view, OWN);
	for (unsigned i = 0; i < choice->count; i++)
		shares[i] = estimate_rate(choice, backlog, view, i, &scale, OWN, false);
	shares_fill(shares, choice->count, choice->least, choice->most, shares);
}

/* Counts the entry as used. */
static void raise_high(struct backlog *backlog, uint32_t count)
{
	uint32_t high = atomic_load_explicit(&backlog->high, memory_order_relaxed);

	while (high < count && !atomic_compare_exchange_weak(&backlog->high, &high, count))
		;
}

struct backlog_file *backlog_add_file(struct backlog *backlog, unsigned target, int32_t pid,
				      uint64_t expected, uint64_t now_ns)
{
	uint64_t number = atomic_fetch_add_explicit(&backlog->numbers, 1, memory_order_relaxed);
	uint64_t owner = (uint64_t)(uint32_t)pid << 32 | (uint32_t)number;

	for (uint32_t i = 0; i < BACKLOG_FILES; i++) {
		struct backlog_file *file = &backlog->files[i];
		uint64_t free = 0;

		if (get(&file->owner) ||
		    !atomic_compare_exchange_strong(&file->owner, &free, owner))
			continue;
		atomic_store_explicit(&file->target, target, memory_order_relaxed);
		atomic_store_explicit(&file->references, 1, memory_order_relaxed);
		set(&file->written, 0);
		set(&file->cached, 0);
		set(&file->call_ns, 0);
		set(&file->active_ns, now_ns);
		set(&file->checked_ns, now_ns);
		set(&file->expected, expected);
		raise_high(backlog, i + 1);
		return file;
	}
	return NULL;
}

void backlog_begin_call(struct backlog_file *file, enum backlog_call call, uint64_t bytes,
			uint64_t now_ns)
{
	bool is_write = call == BACKLOG_CACHED_WRITE || call == BACKLOG_STORED_WRITE;

	set(&file->call_bytes, is_write ? bytes : get(&file->cached));
	set(&file->call_ns, now_ns);
}

/* Did a call that the cache may absorb take longer than the known rate explains? */
static bool is_slow(const struct backlog_target *target, uint64_t bytes, uint64_t begin_ns,
		    uint64_t now_ns)
{
	double rate = backlog_rate(target, now_ns);

	return rate > 0 && (double)bytes < rate * (double)(now_ns - begin_ns) / NS_PER_S;
}

void backlog_end_call(struct backlog *backlog, struct backlog_file *file, enum backlog_call call,
		      uint64_t bytes, uint64_t begin_ns, uint64_t now_ns)
{
	uint32_t index = atomic_load_explicit(&file->target, memory_order_relaxed);
	struct backlog_target *target = &backlog->targets[index % BACKLOG_TARGETS];
	bool is_write = call == BACKLOG_CACHED_WRITE || call == BACKLOG_STORED_WRITE;
	bool is_stored = call == BACKLOG_STORED_WRITE || call == BACKLOG_SYNC;
	uint64_t moved = is_write ? bytes : get(&file->cached);

	set(&file->active_ns, now_ns);
	set(&file->call_ns, 0);
	if (is_write)
		add(&file->written, bytes);
	if (is_stored || is_slow(target, moved, begin_ns, now_ns)) {
		learn(target, moved, begin_ns, now_ns);
		if (!is_write)
			set(&file->cached, 0);
	} else if (is_write) {
		add(&file->cached, bytes);
	}
}

void backlog_remove_file(struct backlog *backlog, struct backlog_file *file, uint64_t now_ns)
{
	uint32_t index = atomic_load_explicit(&file->target, memory_order_relaxed);
	uint64_t cached = get(&file->cached);

	if (cached)
		leave_in_cache(&backlog->targets[index % BACKLOG_TARGETS], cached, now_ns);
	set(&file->owner, 0);
}

void backlog_remove_process(struct backlog *backlog, int32_t pid, uint64_t now_ns)
{
	uint32_t high = atomic_load_explicit(&backlog->high, memory_order_relaxed);

	for (uint32_t i = 0; i < high && i < BACKLOG_FILES; i++) {
		uint64_t owner = get(&backlog->files[i].owner);

		if (owner && owner_pid(owner) == pid)
			backlog_remove_file(backlog, &backlog->files[i], now_ns);
	}
}

static uint64_t to_sum(double value)
{
	return value < (double)BACKLOG_SUM_MAX ? (uint64_t)value : BACKLOG_SUM_MAX;
}

/* What was seen of a target; with the calls under way if they take longer than the rate explains.
 */
static struct seen see_late(const struct backlog_target *target, const struct backlog_view *view,
			    unsigned at, uint64_t now_ns)
{
	uint64_t from = view->targets[at].call_ns, covered = get(&target->covered_ns);
	struct seen seen = get_seen(target, now_ns);
	struct seen late = { seen.bytes + view->targets[at].call_bytes, seen.busy_s };

	if (!from)
		return seen;
	from = from > covered ? from : covered;
	late.busy_s += now_ns > from ? (double)(now_ns - from) / NS_PER_S : 0;
	return late.bytes * seen.busy_s < seen.bytes * late.busy_s ? late : seen;
}

void backlog_sum_up(struct backlog *backlog, uint64_t now_ns, struct backlog_view *view,
		    struct backlog_sum sums[BACKLOG_TARGETS])
{
	struct backlog_choice choice = { .now_ns = now_ns };

	view_files(backlog, &choice, view);
	for (unsigned i = 0; i < BACKLOG_TARGETS; i++) {
		const struct backlog_target *target = &backlog->targets[i];
		struct seen seen = see_late(target, view, i, now_ns);

		sums[i] = (struct backlog_sum){
			.key = get(&target->key),
			.outstanding =
				to_sum(view->targets[i].outstanding + get_left(target, now_ns)),
			.bytes = to_sum(seen.bytes),
			.busy_ns = to_sum(seen.busy_s * NS_PER_S),
		};
	}
}

void backlog_set_others(struct backlog *backlog, const struct backlog_sum others[BACKLOG_TARGETS],
			uint64_t now_ns)
{
	for (unsigned i = 0; i < BACKLOG_TARGETS; i++) {
		set(&backlog->targets[i].others_outstanding, others[i].outstanding);
		set(&backlog->targets[i].others_bytes, others[i].bytes);
		set(&backlog->targets[i].others_busy_ns, others[i].busy_ns);
	}
	set(&backlog->others_ns, now_ns);
}
