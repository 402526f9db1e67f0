/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/probe/prober.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"

/* Time for workers to exit by themselves, and again after SIGKILL. */
#define STOP_MS 200
#define STUCK_POLL_NS NS_PER_S /* interval of checks whether a killed worker has exited */
#define START_POLL_NS (NS_PER_S / 10)
#define START_TIMEOUT_NS (2 * NS_PER_S) /* a worker without a file by then counts as stuck */

struct prober_now prober_now(void)
{
	return (struct prober_now){ clock_realtime_ns(), clock_now_ns() };
}

static void report_sample(struct prober *prober, size_t i, double seconds,
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

	if (prober->on_sample)
		prober->on_sample(prober->arg, &sample);
}

static void count_outcome(struct prober *prober, struct prober_slot *slot,
			  enum sample_outcome outcome)
{
	struct prober_counts *counts = &slot->counts;

	if (outcome == SAMPLE_DONE && slot->size)
		counts->reference_writes++;
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

static void slot_finish(struct prober *prober, size_t i, double seconds,
			enum sample_outcome outcome, enum sample_method method, const char *text)
{
	struct prober_slot *slot = &prober->slots[i];

	count_outcome(prober, slot, outcome);
	slot->is_busy = false;
	report_sample(prober, i, seconds, outcome, method, text);
}

static void slot_give_up(struct prober_slot *slot)
{
	worker_kill(&slot->worker);
	slot->is_stuck = !worker_has_exited(&slot->worker);
}

static void slot_receive(struct prober *prober, size_t i, int64_t monotonic_ns)
{
	struct prober_slot *slot = &prober->slots[i];
	double seconds = (double)(monotonic_ns - slot->begun_ns) / (double)NS_PER_S;
	struct worker_answer answer;
	int r = worker_receive(&slot->worker, &answer);

	if (r > 0) {
		slot->device = answer.device ? answer.device : slot->device;
		slot_finish(prober, i, answer.seconds, answer.outcome, answer.method, answer.text);
	} else if (r < 0) {
		slot_give_up(slot);
		slot_finish(prober, i, seconds, SAMPLE_FAILED, SAMPLE_UNKNOWN,
			    "the worker process died during the write");
	} else if (monotonic_ns - slot->begun_ns >=
		   prober_plan_timeout(&prober->plan, slot->size)) {
		slot_give_up(slot);
		slot_finish(prober, i, seconds, SAMPLE_TIMEOUT, prober->plan.method, "");
	}
}

static int slot_ensure_worker(struct prober *prober, size_t i)
{
	struct prober_slot *slot = &prober->slots[i];

	if (slot->worker.pid && !slot->worker.is_killed)
		return 0;
	if (!worker_has_exited(&slot->worker))
		return -EBUSY;
	slot->is_stuck = false;
	return worker_start(&slot->worker, &prober->targets[prober->number[i]], &prober->payload,
			    NULL);
}

static void slot_write(struct prober *prober, size_t i, size_t size, struct prober_now now)
{
	struct prober_slot *slot = &prober->slots[i];
	uint64_t bytes = prober->plan.sizes[size];
	struct worker_order order = { bytes, prober->plan.method };

	slot->size = size;
	slot->round_ns = prober->round_ns;
	slot->begun_ns = now.monotonic_ns;
	prober_ledger_spend(&prober->ledger, now.wall_ns, i, bytes);
	slot->is_busy = true;
	if (worker_send(&slot->worker, &order) < 0) {
		slot_give_up(slot);
		slot_finish(prober, i, 0, SAMPLE_FAILED, SAMPLE_UNKNOWN,
			    "the worker process died before the write");
	}
}

/* A probe of a stuck target would take at least as long as the write that is stuck there. */
static void slot_report_stuck(struct prober *prober, size_t i, int64_t monotonic_ns)
{
	struct prober_slot *slot = &prober->slots[i];

	slot->counts.stuck++;
	slot->size = 0;
	slot->round_ns = prober->round_ns;
	report_sample(prober, i, (double)(monotonic_ns - slot->begun_ns) / (double)NS_PER_S,
		      SAMPLE_TIMEOUT, prober->plan.method, "");
}

/* No worker is available: the previous one is stuck, or fork() failed. */
static void slot_skip(struct prober *prober, size_t i, size_t size, bool is_stuck,
		      int64_t monotonic_ns)
{
	struct prober_slot *slot = &prober->slots[i];

	if (is_stuck && !size) {
		slot_report_stuck(prober, i, monotonic_ns);
	} else if (is_stuck) {
		slot->counts.stuck++;
	} else {
		slot->size = size;
		slot->round_ns = prober->round_ns;
		slot_finish(prober, i, 0, SAMPLE_FAILED, SAMPLE_UNKNOWN,
			    "cannot start a worker process");
	}
}

/* Returns true if the write was started or is no longer due; false if it must wait. */
static bool slot_try_write(struct prober *prober, size_t i, size_t size, struct prober_now now)
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
	r = slot_ensure_worker(prober, i);
	if (r < 0)
		slot_skip(prober, i, size, r == -EBUSY, now.monotonic_ns);
	else
		slot_write(prober, i, size, now);
	return true;
}

static void queue_reference_write(struct prober *prober, size_t i, size_t size)
{
	size_t task = i * CHRONICLE_SIZES + size;

	if (prober->reference_due[task]) {
		prober->slots[i].counts.late++;
		return;
	}
	prober->reference_due[task] = 1;
	prober->queue[prober->queued++] = task;
}

static void begin_round(struct prober *prober, int64_t round_ns)
{
	uint64_t missed = (uint64_t)((round_ns - prober->round_ns) / prober->plan.every_ns) - 1;

	prober->round_ns = round_ns;
	prober->rounds++;
	for (size_t i = 0; i < prober->count; i++) {
		prober->slots[i].counts.late += missed + prober->slots[i].is_probe_due;
		prober->slots[i].is_probe_due = true;
		for (size_t size = 1; size < prober->plan.size_count; size++)
			if (prober_plan_reference_due(&prober->plan, round_ns, prober->number[i],
						      prober->all, size))
				queue_reference_write(prober, i, size);
	}
}

static bool reference_write_is_running(const struct prober *prober)
{
	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].is_busy && prober->slots[i].size)
			return true;
	return false;
}

static void begin_reference_writes(struct prober *prober, struct prober_now now)
{
	bool may_start = prober->plan.is_simultaneous || !reference_write_is_running(prober);
	size_t kept = 0;

	for (size_t q = 0; q < prober->queued; q++) {
		size_t task = prober->queue[q];

		if (may_start &&
		    slot_try_write(prober, task / CHRONICLE_SIZES, task % CHRONICLE_SIZES, now)) {
			prober->reference_due[task] = 0;
			may_start =
				prober->plan.is_simultaneous || !reference_write_is_running(prober);
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
			slot_receive(prober, i, now.monotonic_ns);
		else if (prober->slots[i].is_stuck)
			prober->slots[i].is_stuck = !worker_has_exited(&prober->slots[i].worker);
	/* Do not join a round in progress, and do not wait for one if the clock was set back. */
	if (!prober->round_ns || round_ns < prober->round_ns)
		prober->round_ns = round_ns;
	if (round_ns > prober->round_ns)
		begin_round(prober, round_ns);
	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].is_probe_due && slot_try_write(prober, i, 0, now))
			prober->slots[i].is_probe_due = false;
	if (prober_has_probed(prober))
		begin_reference_writes(prober, now);
}

bool prober_is_busy(const struct prober *prober)
{
	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].is_busy)
			return true;
	return false;
}

/* A probe that waits for a reference write to its own target does not delay the others. */
bool prober_has_probed(const struct prober *prober)
{
	for (size_t i = 0; i < prober->count; i++) {
		const struct prober_slot *slot = &prober->slots[i];

		if (slot->is_busy ? !slot->size : slot->is_probe_due)
			return false;
	}
	return true;
}

static int64_t time_to_next_event(const struct prober *prober, struct prober_now now)
{
	const struct prober_plan *plan = &prober->plan;
	int64_t pause = plan->every_ns - now.wall_ns % plan->every_ns;
	bool has_queued = prober->queued > 0;

	for (size_t i = 0; i < prober->count; i++) {
		const struct prober_slot *slot = &prober->slots[i];

		if (slot->is_busy)
			pause = i64_min(pause, slot->begun_ns +
						       prober_plan_timeout(plan, slot->size) -
						       now.monotonic_ns);
		if (slot->is_stuck)
			pause = i64_min(pause, STUCK_POLL_NS);
		has_queued = has_queued || slot->is_probe_due;
	}
	if (has_queued && plan->rate_bytes && prober->ledger.room < 0)
		pause = i64_min(pause, (int64_t)(-prober->ledger.room / (double)plan->rate_bytes *
						 (double)NS_PER_S) +
					       1);
	return pause > 0 ? pause : 0;
}

void prober_wait(const struct prober *prober, struct prober_now now, int fd, int64_t max_ns)
{
	AUTO_FREE struct pollfd *fds = xcalloc(prober->count + 1, sizeof(*fds));
	int64_t pause = i64_min(time_to_next_event(prober, now), max_ns);
	struct timespec ts = { pause / NS_PER_S, pause % NS_PER_S };
	nfds_t n = 0;

	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].is_busy)
			fds[n++] = (struct pollfd){ .fd = prober->slots[i].worker.answers,
						    .events = POLLIN };
	if (fd >= 0)
		fds[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	ppoll(fds, n, &ts, NULL);
}

/* Orders every worker to create a file, so that errors of a target appear at once. */
static int workers_start(struct prober *prober, struct err *err)
{
	const struct worker_order order = { 0 };
	struct prober_now now = prober_now();
	int r = 0;

	for (size_t i = 0; r >= 0 && i < prober->count; i++) {
		const struct target *target = &prober->targets[prober->number[i]];
		struct prober_slot *slot = &prober->slots[i];

		r = worker_start(&slot->worker, target, &prober->payload, err);
		if (r >= 0)
			slot->is_busy = worker_send(&slot->worker, &order) >= 0;
		slot->begun_ns = now.monotonic_ns;
	}
	return r;
}

static int worker_await(struct prober *prober, size_t i, struct err *err)
{
	struct prober_slot *slot = &prober->slots[i];
	struct worker_answer answer;
	int r = worker_receive(&slot->worker, &answer);

	if (r == 0)
		return 0;
	slot->is_busy = false;
	if (r < 0)
		return err_set(err, EPIPE, "target \"%s\": the worker process died",
			       prober->targets[prober->number[i]].name);
	slot->device = answer.device;
	if (answer.outcome != SAMPLE_FAILED)
		return 0;
	return err_set(err, answer.error, "target \"%s\": %s",
		       prober->targets[prober->number[i]].name, answer.text);
}

static int workers_await(struct prober *prober, struct err *err)
{
	struct prober_now began = prober_now(), now = began;
	int r = 0;

	while (r >= 0 && prober_is_busy(prober) &&
	       now.monotonic_ns - began.monotonic_ns <
		       i64_min(prober->plan.timeout_ns, START_TIMEOUT_NS)) {
		prober_wait(prober, now, -1, START_POLL_NS);
		for (size_t i = 0; r >= 0 && i < prober->count; i++)
			if (prober->slots[i].is_busy)
				r = worker_await(prober, i, err);
		now = prober_now();
	}
	for (size_t i = 0; r >= 0 && i < prober->count; i++)
		if (prober->slots[i].is_busy) {
			prober->slots[i].is_busy = false;
			slot_give_up(&prober->slots[i]);
		}
	return r;
}

/* Selects the plan's slice of the targets. */
static void select_targets(struct prober *prober, const struct targets *targets)
{
	const struct prober_plan *plan = &prober->plan;

	prober->number = xcalloc(targets->count + 1, sizeof(*prober->number));
	for (size_t i = plan->first_target; i < targets->count; i += plan->target_step)
		prober->number[prober->count++] = i;
}

int prober_open(struct prober *prober, const struct targets *targets,
		const struct prober_plan *plan, prober_on_sample *on_sample, void *arg,
		struct err *err)
{
	struct prober made = { .plan = *plan, .targets = targets->rows, .all = targets->count };
	int r = prober_plan_check(plan, err);

	if (r >= 0)
		r = payload_init(&made.payload, plan->sizes[plan->size_count - 1], err);
	if (r < 0)
		return r;
	select_targets(&made, targets);
	made.slots = xcalloc(made.count + 1, sizeof(*made.slots));
	made.reference_due = xcalloc(made.count + 1, CHRONICLE_SIZES);
	made.queue = xcalloc((made.count + 1) * CHRONICLE_SIZES, sizeof(*made.queue));
	prober_ledger_init(&made.ledger, made.count);
	r = workers_start(&made, err);
	if (r >= 0)
		r = workers_await(&made, err);
	if (r < 0) {
		prober_close(&made);
		return r;
	}
	made.on_sample = on_sample;
	made.arg = arg;
	*prober = made;
	return 0;
}

static bool all_workers_gone(struct prober *prober)
{
	bool gone = true;

	for (size_t i = 0; i < prober->count; i++)
		gone = worker_has_exited(&prober->slots[i].worker) && gone;
	return gone;
}

void prober_stop(struct prober *prober)
{
	/* A second call must not wait again for a worker that did not exit. */
	if (prober->is_stopped)
		return;
	prober->is_stopped = true;
	for (size_t i = 0; i < prober->count; i++)
		if (prober->slots[i].worker.pid)
			worker_close_pipes(&prober->slots[i].worker);
	for (int ms = 0; ms < 2 * STOP_MS && !all_workers_gone(prober); ms++) {
		for (size_t i = 0; ms == STOP_MS && i < prober->count; i++)
			worker_kill(&prober->slots[i].worker);
		clock_sleep_ns(NS_PER_MS);
	}
}

void prober_close(struct prober *prober)
{
	prober_stop(prober);
	payload_release(&prober->payload);
	prober_ledger_release(&prober->ledger);
	free(prober->number);
	free(prober->slots);
	free(prober->reference_due);
	free(prober->queue);
	*prober = (struct prober){ 0 };
}

void prober_sum(const struct prober *prober, struct prober_counts *sum)
{
	*sum = (struct prober_counts){ 0 };
	for (size_t i = 0; i < prober->count; i++) {
		const struct prober_counts *counts = &prober->slots[i].counts;

		sum->probes += counts->probes;
		sum->reference_writes += counts->reference_writes;
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

bool prober_shared_device(const struct prober *prober, size_t *one, size_t *other)
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
