/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/probe/prober_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"

#define DAY_NS (86400 * NS_PER_S)
#define MIN_PERIOD_NS (NS_PER_S / 100)
#define RATE_WINDOW_S 60.0

void prober_plan_init(struct prober_plan *plan)
{
	*plan = (struct prober_plan){
		.every_ns = 30 * NS_PER_S,
		.reference_every_ns = 300 * NS_PER_S,
		.sizes = { PROBER_PROBE_BYTES, 64u << 20, 256u << 20, 1u << 30 },
		.size_count = 4,
		.timeout_ns = 20 * NS_PER_S,
		.target_step = 1,
	};
}

static int append_size(struct prober_plan *plan, const char *word, struct err *err)
{
	uint64_t bytes;

	if (unit_parse_bytes(word, &bytes) < 0 || !bytes || bytes % PROBER_SIZE_STEP)
		return err_set(err, EINVAL, "invalid size \"%s\": expected a multiple of 4K", word);
	if (plan->size_count == CHRONICLE_SIZES)
		return err_set(err, EINVAL, "too many sizes: at most %d are possible",
			       CHRONICLE_SIZES);
	if (plan->size_count && bytes <= plan->sizes[plan->size_count - 1])
		return err_set(err, EINVAL,
			       "size \"%s\" is not larger than the one before it; give sizes in "
			       "ascending order",
			       word);
	plan->sizes[plan->size_count++] = bytes;
	return 0;
}

int prober_plan_sizes(struct prober_plan *plan, const char *text, struct err *err)
{
	struct prober_plan made = *plan;
	AUTO_FREE char *words = xstrdup(text);
	char *save = NULL;

	made.size_count = 0;
	for (char *w = strtok_r(words, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		int r = append_size(&made, w, err);

		if (r < 0)
			return r;
	}
	if (!made.size_count)
		return err_set(err, EINVAL, "missing size: expected a list such as 1M,64M,1G");
	*plan = made;
	return 0;
}

int prober_plan_check(const struct prober_plan *plan, struct err *err)
{
	if (plan->every_ns < MIN_PERIOD_NS)
		return err_set(err, EINVAL, "the probe interval must be at least 10 ms");
	if (plan->reference_every_ns && plan->reference_every_ns < plan->every_ns)
		return err_set(
			err, EINVAL,
			"the interval of reference writes must not be shorter than that of probes");
	if (plan->timeout_ns < MIN_PERIOD_NS)
		return err_set(err, EINVAL, "the timeout must be at least 10 ms");
	if (!plan->target_step)
		return err_set(err, EINVAL, "the target step of a probe plan must not be 0");
	return 0;
}

int64_t prober_plan_timeout(const struct prober_plan *plan, size_t size)
{
	return plan->timeout_ns +
	       (int64_t)(plan->sizes[size] / PROBER_TIMEOUT_BYTES_PER_S) * NS_PER_S;
}

int64_t prober_plan_round(const struct prober_plan *plan, int64_t now_ns)
{
	return now_ns / plan->every_ns * plan->every_ns;
}

bool prober_plan_reference_due(const struct prober_plan *plan, int64_t round_ns, size_t target,
			       size_t targets, size_t size)
{
	size_t tasks = targets * (plan->size_count - 1), task;
	int64_t period, rounds, first;

	if (!plan->reference_every_ns || !size || !tasks)
		return false;
	period = round_ns / plan->reference_every_ns * plan->reference_every_ns;
	first = (period + plan->every_ns - 1) / plan->every_ns * plan->every_ns;
	rounds = plan->reference_every_ns / plan->every_ns;
	if (plan->is_simultaneous || rounds < 1)
		return round_ns == first;
	task = target * (plan->size_count - 1) + size - 1;
	return (round_ns - first) / plan->every_ns == (int64_t)task * rounds / (int64_t)tasks;
}

void prober_ledger_init(struct prober_ledger *ledger, size_t targets)
{
	*ledger = (struct prober_ledger){ .of = xcalloc(targets ? targets : 1, sizeof(*ledger->of)),
					  .targets = targets };
}

void prober_ledger_release(struct prober_ledger *ledger)
{
	free(ledger->of);
	*ledger = (struct prober_ledger){ 0 };
}

static void start_new_day(struct prober_ledger *ledger, int64_t now_ns)
{
	if (ledger->day == now_ns / DAY_NS)
		return;
	ledger->day = now_ns / DAY_NS;
	ledger->spent = 0;
	memset(ledger->of, 0, ledger->targets * sizeof(*ledger->of));
}

static bool fits_limit(uint64_t spent, uint64_t bytes, uint64_t limit)
{
	return !limit || (spent <= limit && bytes <= limit - spent);
}

bool prober_ledger_fits(struct prober_ledger *ledger, const struct prober_plan *plan,
			int64_t now_ns, size_t target, uint64_t bytes)
{
	start_new_day(ledger, now_ns);
	return fits_limit(ledger->spent, bytes, plan->budget_bytes) &&
	       fits_limit(ledger->of[target], bytes, plan->target_bytes);
}

void prober_ledger_spend(struct prober_ledger *ledger, int64_t now_ns, size_t target,
			 uint64_t bytes)
{
	start_new_day(ledger, now_ns);
	ledger->spent += bytes;
	ledger->of[target] += bytes;
	ledger->room -= (double)bytes;
}

int64_t prober_ledger_wait(struct prober_ledger *ledger, const struct prober_plan *plan,
			   int64_t monotonic_ns)
{
	double rate = (double)plan->rate_bytes, max_room = rate * RATE_WINDOW_S;

	if (!plan->rate_bytes)
		return 0;
	if (ledger->room_ns)
		ledger->room += rate * (double)(monotonic_ns - ledger->room_ns) / (double)NS_PER_S;
	else
		ledger->room = max_room;
	ledger->room_ns = monotonic_ns;
	if (ledger->room > max_room)
		ledger->room = max_room;
	/* A write of any size may start while room >= 0; it may leave room negative. */
	return ledger->room >= 0 ? 0 : (int64_t)(-ledger->room / rate * (double)NS_PER_S) + 1;
}
