/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/probe/prober.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"

#define SECOND_NS 1000000000ll
#define STOP_MS 200	  /* workers may take so long to end, and again to be killed */
#define BACK_NS SECOND_NS /* how often a killed worker is looked for */
#define GREET_NS (SECOND_NS / 10)
#define GREETED_NS (2 * SECOND_NS) /* whoever has made no file by then is taken as stuck */

static int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

struct prober_now prober_now(void)
{
	return (struct prober_now){ clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_MONOTONIC) };
}

static void sample_tell(struct prober *prober, size_t i, double seconds,
			enum sample_outcome outcome, enum sample_method method, const char *text)
{
	const struct prober_slot *slot = &prober->slots[i];
	struct prober_sample sample = { .target = prober->number[i],
					.size = slot->size,
					.round_ns = slot->round_ns,
					.seconds = seconds,
					.outcome = outcome,
					.method = method,
					.text = text };

	if (prober->seen)
		prober->seen(prober->arg, &sample);
}

/* ---- answers ---- */

static void counts_take(struct prober *prober, struct prober_slot *slot,
			enum sample_outcome outcome)
{
	struct prober_counts *counts = &slot->counts;

	if (outcome == SAMPLE_DONE && slot->size)
		counts->truths++;
	else if (outcome == SAMPLE_DONE)
		counts->probes++;
	else if (outcome == SAMPLE_TIMEOUT)
		counts->timeouts++;
	else if (outcome == SAMPLE_FULL)
		counts->full++;
	else
		counts->failed++;
	if (outcome == SAMPLE_DONE || outcome == SAMPLE_TIMEOUT)
		counts->bytes += prober->plan.sizes[slot->size];
}

static void slot_end(struct prober *prober, size_t i, double seconds, enum sample_outcome outcome,
		     enum sample_method method, const char *text)
{
	struct prober_slot *slot = &prober->slots[i];

	counts_take(prober, slot, outcome);
	slot->is_busy = false;
	sample_tell(prober, i, seconds, outcome, method, text);
}

static void slot_give_up(struct prober_slot *slot)
{
	worker_kill(&slot->worker);
	slot->is_stuck = !worker_gone(&slot->worker);
}

static void slot_hear(struct prober *prober, size_t i, int64_t monotonic_ns)
{
	struct prober_slot *slot = &prober->slots[i];
	double seconds = (double)(monotonic_ns - slot->begun_ns) / 1e9;
	struct worker_answer answer;
	int r = worker_hear(&slot->worker, &answer);

	if (r > 0) {
		slot->device = answer.device ? answer.device : slot->device;
		slot_end(prober, i, answer.seconds, answer.outcome, answer.method, answer.text);
	} else if (r < 0) {
		slot_give_up(slot);
		slot_end(prober, i, seconds, SAMPLE_FAILED, SAMPLE_UNKNOWN,
			 "the process that wrote has died");
	} else if (monotonic_ns - slot->begun_ns >=
		   prober_plan_timeout(&prober->plan, slot->size)) {
		slot_give_up(slot);
		slot_end(prober, i, seconds, SAMPLE_TIMEOUT, prober->plan.method, "");
	}
}

/* ---- orders ---- */

static int slot_have_worker(struct prober *prober, size_t i)
{
	struct prober_slot *slot = &prober->slots[i];

	if (slot->worker.pid && !slot->worker.is_killed)
		return 0;
	if (!worker_gone(&slot->worker))
		return -EBUSY;
	slot->is_stuck = false;
	return worker_start(&slot->worker, &prober->targets[prober->number[i]], &prober->payload,
			    NULL);
}

static void slot_begin(struct prober *prober, size_t i, size_t size, struct prober_now now)
{
	struct prober_slot *slot = &prober->slots[i];
	uint64_t bytes = prober->plan.sizes[size];
	struct worker_order order = { bytes, prober->plan.method };

	slot->size = size;
	slot->round_ns = prober->round_ns;
	slot->begun_ns = now.monotonic_ns;
	prober_ledger_spend(&prober->ledger, now.wall_ns, i, bytes);
	slot->is_busy = true;
	if (worker_tell(&slot->worker, &order) < 0) {
		slot_give_up(slot);
		slot_end(prober, i, 0, SAMPLE_FAILED, SAMPLE_UNKNOWN,
			 "the process that writes has died");
	}
}

/* A probe of a target that hangs would take at least as long as what hangs there. */
static void slot_tell_stuck(struct prober *prober, size_t i, int64_t monotonic_ns)
{
	struct prober_slot *slot = &prober->slots[i];

	slot->counts.stuck++;
	slot->size = 0;
	slot->round_ns = prober->round_ns;
	sample_tell(prober, i, (double)(monotonic_ns - slot->begun_ns) / 1e9, SAMPLE_TIMEOUT,
		    prober->plan.method, "");
}

/* There is no process to write: the old one hangs, or none could be made. */
static void slot_pass_over(struct prober *prober, size_t i, size_t size, bool hangs,
			   int64_t monotonic_ns)
{
	struct prober_slot *slot = &prober->slots[i];

	if (hangs && !size) {
		slot_tell_stuck(prober, i, monotonic_ns);
	} else if (hangs) {
		slot->counts.stuck++;
	} else {
		slot->size = size;
		slot->round_ns = prober->round_ns;
		slot_end(prober, i, 0, SAMPLE_FAILED, SAMPLE_UNKNOWN,
			 "no process could be made to write");
	}
}

/* True: it has been begun, or need not be any more; false: not yet. */
static bool task_begin(struct prober *prober, size_t i, size_t size, struct prober_now now)
{
	struct prober_slot *slot = &prober->slots[i];
	int r;

	if (slot->is_busy)
		return false;
	if (!prober_ledger_fits(&prober->ledger, &prober->plan, now.wall_ns, i,
				prober->plan.sizes[size])) {
		slot->counts.over_budget++;
		return true;
	}
	if (prober_ledger_wait(&prober->ledger, &prober->plan, now.monotonic_ns) > 0)
		return false;
	r = slot_have_worker(prober, i);
	if (r < 0)
		slot_pass_over(prober, i, size, r == -EBUSY, now.monotonic_ns);
	else
		slot_begin(prober, i, size, now);
	return true;
}

/* ---- rounds ---- */

static void truth_queue(struct prober *prober, size_t i, size_t size)
{
	size_t task = i * CHRONICLE_SIZES + size;

	if (prober->truth_due[task]) {
		prober->slots[i].counts.late++;
		return;
	}
	prober->truth_due[task] = 1;
	prober->queue[prober->queued++] = task;
}

static void round_begin(struct prober *prober, int64_t round_ns)
{
	uint64_t missed = (uint64_t)((round_ns - prober->round_ns) / prober->plan.every_ns) - 1;

	prober->round_ns = round_ns;
	prober->rounds++;
	for (size_t i = 0; i < prober->count; i++) {
		prober->slots[i].counts.late += missed + prober->slots[i].is_probe_due;
		prober->slots[i].is_probe_due = true;
		for (size_t size = 1; size < prober->plan.size_count; size++)
			if (prober_plan_truth(&prober->plan, round_ns, prober->number[i],
					      prober->all, size))
				truth_queue(prober, i, size);
	}
}

static bool truth_runs(const struct prober *prober)
{
	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].is_busy && prober->slots[i].size)
			return true;
	return false;
}

static void truths_begin(struct prober *prober, struct prober_now now)
{
	bool may = prober->plan.is_together || !truth_runs(prober);
	size_t kept = 0;

	for (size_t q = 0; q < prober->queued; q++) {
		size_t task = prober->queue[q];

		if (may &&
		    task_begin(prober, task / CHRONICLE_SIZES, task % CHRONICLE_SIZES, now)) {
			prober->truth_due[task] = 0;
			may = prober->plan.is_together || !truth_runs(prober);
		} else {
			prober->queue[kept++] = task;
		}
	}
	prober->queued = kept;
}

void prober_step(struct prober *prober, struct prober_now now)
{
	int64_t round_ns = prober_plan_round(&prober->plan, now.wall_ns);

	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].is_busy)
			slot_hear(prober, i, now.monotonic_ns);
		else if (prober->slots[i].is_stuck)
			prober->slots[i].is_stuck = !worker_gone(&prober->slots[i].worker);
	/* A round that is under way is not joined; nor is one waited for if the clock was set back.
	 */
	if (!prober->round_ns || round_ns < prober->round_ns)
		prober->round_ns = round_ns;
	if (round_ns > prober->round_ns)
		round_begin(prober, round_ns);
	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].is_probe_due && task_begin(prober, i, 0, now))
			prober->slots[i].is_probe_due = false;
	if (prober_has_probed(prober))
		truths_begin(prober, now);
}

bool prober_is_busy(const struct prober *prober)
{
	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].is_busy)
			return true;
	return false;
}

/* A probe that waits for a large write to the same target keeps nobody else waiting. */
bool prober_has_probed(const struct prober *prober)
{
	for (size_t i = 0; i < prober->count; i++) {
		const struct prober_slot *slot = &prober->slots[i];

		if (slot->is_busy ? !slot->size : slot->is_probe_due)
			return false;
	}
	return true;
}

/* ---- waiting ---- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t pause_of(const struct prober *prober, struct prober_now now)
{
	const struct prober_plan *plan = &prober->plan;
	int64_t pause = plan->every_ns - now.wall_ns % plan->every_ns;
	bool has_waiting = prober->queued > 0;

	for (size_t i = 0; i < prober->count; i++) {
		const struct prober_slot *slot = &prober->slots[i];

		if (slot->is_busy)
			pause = least(pause, slot->begun_ns +
						     prober_plan_timeout(plan, slot->size) -
						     now.monotonic_ns);
		if (slot->is_stuck)
			pause = least(pause, BACK_NS);
		has_waiting = has_waiting || slot->is_probe_due;
	}
	if (has_waiting && plan->rate_bytes && prober->ledger.room < 0)
		pause = least(pause,
			      (int64_t)(-prober->ledger.room / (double)plan->rate_bytes * 1e9) + 1);
	return pause > 0 ? pause : 0;
}

void prober_wait(const struct prober *prober, struct prober_now now, int fd, int64_t most_ns)
{
	AUTO_FREE struct pollfd *fds = xcalloc(prober->count + 1, sizeof(*fds));
	int64_t pause = least(pause_of(prober, now), most_ns);
	struct timespec ts = { pause / SECOND_NS, pause % SECOND_NS };
	nfds_t n = 0;

	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].is_busy)
			fds[n++] = (struct pollfd){ .fd = prober->slots[i].worker.answers,
						    .events = POLLIN };
	if (fd >= 0)
		fds[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	ppoll(fds, n, &ts, NULL);
}

/* ---- begin and end ---- */

/* Every worker makes a file, so that what is wrong with a target is told at once. */
static int slots_greet(struct prober *prober, struct err *err)
{
	const struct worker_order order = { 0 };
	struct prober_now now = prober_now();
	int r = 0;

	for (size_t i = 0; r >= 0 && i < prober->count; i++) {
		const struct target *target = &prober->targets[prober->number[i]];
		struct prober_slot *slot = &prober->slots[i];

		r = worker_start(&slot->worker, target, &prober->payload, err);
		if (r >= 0)
			slot->is_busy = worker_tell(&slot->worker, &order) >= 0;
		slot->begun_ns = now.monotonic_ns;
	}
	return r;
}

static int slot_welcome(struct prober *prober, size_t i, struct err *err)
{
	struct prober_slot *slot = &prober->slots[i];
	struct worker_answer answer;
	int r = worker_hear(&slot->worker, &answer);

	if (r == 0)
		return 0;
	slot->is_busy = false;
	if (r < 0)
		return err_set(err, EPIPE, "the process for \"%s\" has died",
			       prober->targets[prober->number[i]].name);
	slot->device = answer.device;
	if (answer.outcome != SAMPLE_FAILED)
		return 0;
	return err_set(err, answer.error, "target \"%s\": %s",
		       prober->targets[prober->number[i]].name, answer.text);
}

static int slots_welcome(struct prober *prober, struct err *err)
{
	struct prober_now began = prober_now(), now = began;
	int r = 0;

	while (r >= 0 && prober_is_busy(prober) &&
	       now.monotonic_ns - began.monotonic_ns < least(prober->plan.timeout_ns, GREETED_NS)) {
		prober_wait(prober, now, -1, GREET_NS);
		for (size_t i = 0; r >= 0 && i < prober->count; i++)
			if (prober->slots[i].is_busy)
				r = slot_welcome(prober, i, err);
		now = prober_now();
	}
	for (size_t i = 0; r >= 0 && i < prober->count; i++)
		if (prober->slots[i].is_busy) {
			prober->slots[i].is_busy = false;
			slot_give_up(&prober->slots[i]);
		}
	return r;
}

int prober_open(struct prober *prober, const struct targets *targets, size_t first, size_t step,
		const struct prober_plan *plan,
		void (*seen)(void *arg, const struct prober_sample *sample), void *arg,
		struct err *err)
{
	struct prober made = { .plan = *plan, .targets = targets->rows, .all = targets->count };
	int r = prober_plan_check(plan, err);

	if (r >= 0)
		r = payload_init(&made.payload, plan->sizes[plan->size_count - 1], err);
	if (r < 0)
		return r;
	made.number = xcalloc(targets->count + 1, sizeof(*made.number));
	for (size_t i = first; i < targets->count; i += step)
		made.number[made.count++] = i;
	made.slots = xcalloc(made.count + 1, sizeof(*made.slots));
	made.truth_due = xcalloc(made.count + 1, CHRONICLE_SIZES);
	made.queue = xcalloc((made.count + 1) * CHRONICLE_SIZES, sizeof(*made.queue));
	prober_ledger_init(&made.ledger, made.count);
	r = slots_greet(&made, err);
	if (r >= 0)
		r = slots_welcome(&made, err);
	if (r < 0) {
		prober_close(&made);
		return r;
	}
	made.seen = seen;
	made.arg = arg;
	*prober = made;
	return 0;
}

static bool all_gone(struct prober *prober)
{
	bool gone = true;

	for (size_t i = 0; i < prober->count; i++)
		gone = worker_gone(&prober->slots[i].worker) && gone;
	return gone;
}

void prober_stop(struct prober *prober)
{
	struct timespec pause = { 0, 1000000 };

	/* What did not die then is not waited for twice. */
	if (prober->is_stopped)
		return;
	prober->is_stopped = true;
	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].worker.pid)
			worker_leave(&prober->slots[i].worker);
	for (int ms = 0; ms < 2 * STOP_MS && !all_gone(prober); ms++) {
		for (size_t i = 0; ms == STOP_MS && i < prober->count; i++)
			worker_kill(&prober->slots[i].worker);
		nanosleep(&pause, NULL);
	}
}

void prober_close(struct prober *prober)
{
	prober_stop(prober);
	payload_release(&prober->payload);
	prober_ledger_release(&prober->ledger);
	free(prober->number);
	free(prober->slots);
	free(prober->truth_due);
	free(prober->queue);
	*prober = (struct prober){ 0 };
}

/* ---- what came of it ---- */

void prober_sum(const struct prober *prober, struct prober_counts *sum)
{
	*sum = (struct prober_counts){ 0 };
	for (size_t i = 0; i < prober->count; i++) {
		const struct prober_counts *counts = &prober->slots[i].counts;

		sum->probes += counts->probes;
		sum->truths += counts->truths;
		sum->timeouts += counts->timeouts;
		sum->full += counts->full;
		sum->failed += counts->failed;
		sum->bytes += counts->bytes;
		sum->over_budget += counts->over_budget;
		sum->late += counts->late;
		sum->stuck += counts->stuck;
	}
}

double prober_cpu(const struct prober *prober)
{
	double cpu = 0;

	for (size_t i = 0; i < prober->count; i++)
		cpu += prober->slots[i].worker.cpu_s;
	return cpu;
}

bool prober_twins(const struct prober *prober, size_t *one, size_t *other)
{
	for (size_t i = 0; i < prober->count; i++)
		for (size_t k = i + 1; k < prober->count; k++) {
			const struct target *a = &prober->targets[prober->number[i]];
			const struct target *b = &prober->targets[prober->number[k]];

			if (a->ops == &target_directory && b->ops == &target_directory &&
			    prober->slots[i].device &&
			    prober->slots[i].device == prober->slots[k].device) {
				*one = prober->number[i];
				*other = prober->number[k];
				return true;
			}
		}
	return false;
}
