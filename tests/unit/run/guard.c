/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/guard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "store/entry_runs.h"

/* Judges runs that are written as "d10 d12 a5 a!": a cost without (d) and with (a) parameters; "!"
 * is a failure. */
static struct guard judge(const char *text)
{
	struct entry_run runs[100];
	struct guard guard;
	size_t count = 0;

	for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
		REQUIRE(count < 100);
		runs[count++] = (struct entry_run){
			.is_applied = *text == 'a',
			.cost = text[1] == '!' ? INFINITY : strtod(text + 1, NULL),
		};
	}
	guard_judge(&guard, runs, count);
	return guard;
}

static void an_entry_without_runs_is_applied(void)
{
	struct guard g = judge("");

	CHECK_INT(g.control, GUARD_NO_CONTROL);
	CHECK_INT(g.baseline_runs, 0);
	CHECK(isnan(g.high) && isnan(g.applied_median));
	CHECK(!guard_demotes(&g));
}

static void faster_runs_need_no_control(void)
{
	struct guard g = judge("d10 d12 d11 d10 d13 a5 a6 a5");

	CHECK_INT(g.control, GUARD_NO_CONTROL);
	CHECK(g.low == 10 && g.median == 11 && g.high == 13);
	CHECK(g.applied_median == 5 && g.applied_runs == 3);
	CHECK(!g.losses && !g.is_last_lost && !guard_demotes(&g));
}

static void a_loss_is_followed_by_a_control(void)
{
	struct guard g = judge("d10 d12 d11 d10 a5 a14");

	CHECK_INT(g.control, GUARD_AFTER_LOSS);
	CHECK(g.is_last_lost);
	CHECK_INT(g.losses, 0); /* not confirmed yet */
	/* The control was fast: the loss is confirmed, but one is not enough. */
	g = judge("d10 d12 d11 d10 a5 a14 d11");
	CHECK_INT(g.control, GUARD_NO_CONTROL);
	CHECK_INT(g.losses, 1);
	CHECK(!guard_demotes(&g));
}

static void two_confirmed_losses_demote(void)
{
	struct guard g = judge("d10 d12 d11 d10 a14 d11 a15");

	CHECK(!guard_demotes(&g));
	CHECK_INT(g.control, GUARD_AFTER_LOSS);
	g = judge("d10 d12 d11 d10 a14 d11 a15 d10");
	CHECK_INT(g.losses, 2);
	CHECK(guard_demotes(&g));
}

/* On a loaded machine the control is as slow as the run with the parameters. */
static void load_excuses_losses(void)
{
	struct guard g = judge("d10 d12 d11 d10 a30 d35 a33 d31");

	CHECK_INT(g.losses, 0);
	CHECK(!guard_demotes(&g));
	CHECK(g.high == 35);
}

static void failures_are_losses_that_need_a_good_control(void)
{
	struct guard g = judge("d10 d12 d11 d10 a!");

	CHECK_INT(g.control, GUARD_AFTER_LOSS);
	CHECK(!guard_demotes(&g));
	g = judge("d10 d12 d11 d10 a! d10 a! d11");
	CHECK(guard_demotes(&g));
}

static void old_losses_are_forgotten(void)
{
	struct guard g = judge("d10 d12 d11 d10 a14 d11 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a14 d10");

	CHECK_INT(g.losses, 1);
	CHECK(!guard_demotes(&g));
}

static void an_unknown_baseline_is_measured_first(void)
{
	struct guard g = judge("a14");

	CHECK_INT(g.control, GUARD_NO_BASELINE);
	g = judge("a14 d10");
	CHECK_INT(g.control, GUARD_NO_CONTROL);
	g = judge("a14 d10 a13 d10 a14 d11 a15");
	CHECK_INT(g.control, GUARD_NO_BASELINE);
	CHECK_INT(g.losses, 0);
	/* With the fourth run of the baseline, earlier runs count as well. */
	g = judge("a14 d10 a13 d10 a14 d11 a15 d12");
	CHECK(guard_demotes(&g));
}

static void one_run_in_twenty_is_a_control(void)
{
	struct guard g =
		judge("d10 d10 d10 d10 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5");

	CHECK_INT(g.control, GUARD_NO_CONTROL);
	g = judge("d10 d10 d10 d10 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5 a5");
	CHECK_INT(g.control, GUARD_PERIODIC);
	CHECK(*guard_control_reason(g.control) && !*guard_control_reason(GUARD_NO_CONTROL));
}

/* The machine has become faster since the tuning, and the parameters are now slower than the
 * default, but not slower than the default was then. */
static void a_baseline_that_became_faster_is_noticed(void)
{
	struct guard g = judge("d10 d10 d10 d10 a5 a5 a5 a5 a5 a5 d3");

	CHECK_INT(g.control, GUARD_NO_CONTROL);
	g = judge("d10 d10 d10 d10 a5 a5 a5 a5 a5 a5 d3 a5");
	CHECK_INT(g.control, GUARD_IN_DOUBT);
	g = judge("d10 d10 d10 d10 a5 a5 a5 a5 a5 a5 d3 a5 d3 a5 d3 a5");
	CHECK(!guard_demotes(&g));
	g = judge("d10 d10 d10 d10 a5 a5 a5 a5 a5 a5 d3 a5 d3 a5 d3 a5 d3");
	CHECK(g.is_slower);
	CHECK(guard_demotes(&g));
}

/* Both have become faster: runs with the parameters are still better. */
static void a_faster_machine_does_not_demote(void)
{
	struct guard g = judge("d10 d10 d10 d10 a5 a5 a5 a5 a5 a5 d3 a1 d3 a1 d3 a1 d3 a1 d3");

	CHECK(!guard_demotes(&g));
	CHECK_INT(g.control, GUARD_NO_CONTROL);
}

TESTS(TEST(an_entry_without_runs_is_applied), TEST(faster_runs_need_no_control),
      TEST(a_loss_is_followed_by_a_control), TEST(two_confirmed_losses_demote),
      TEST(load_excuses_losses), TEST(failures_are_losses_that_need_a_good_control),
      TEST(old_losses_are_forgotten), TEST(an_unknown_baseline_is_measured_first),
      TEST(one_run_in_twenty_is_a_control), TEST(a_baseline_that_became_faster_is_noticed),
      TEST(a_faster_machine_does_not_demote))
