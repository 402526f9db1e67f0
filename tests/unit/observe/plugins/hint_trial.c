/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trials of hints, with a model that was fitted to synthetic benchmarks and calibrated with
 * simulated accesses.
 * Papers: SIOX-2.
 */
#include "observe/plugins/hint_trial.h"

#include <unistd.h>

#include "base/buf.h"
#include "contract/hints.h"
#include "model_sample.h"
#include "predict/model/hybrid/choices.h"

#define KIB UINT64_C(1024)

static const char machine[] =
	"[machine]\nname = small\nromio = generic\n[nodes]\ncores = 4\n"
	"[storage]\nblock = 4K\n[defaults]\nnode_aggregators = 1\ncb_buffer_size = 1M\n";
static const char pieces[] = "romio_cb_write=disable;romio_ds_write=disable";

static const struct access strided = { .pattern = ACCESS_STRIDED,
				       .nodes = 1,
				       .ranks = 3,
				       .rank_bytes = 256 * KIB,
				       .block_bytes = 64 * KIB,
				       .stride_bytes = 64 * KIB };

/* Collective buffering takes 0.05 s; error: standard deviation of the logarithm of all times. */
static void model_make(struct hybrid *hybrid, double seconds_of_pieces, double error)
{
	const double seconds[TRANSFERS] = { [TRANSFER_COLLECTIVE] = 0.05,
					    [TRANSFER_SIEVED] = 0.4,
					    [TRANSFER_PIECES] = seconds_of_pieces };
	char path[32];

	*hybrid = (struct hybrid){ 0 };
	model_save(hybrid, machine, 1, path);
	unlink(path);
	model_calibrate(hybrid, &strided, seconds, error, NULL);
}

/* An access that begins as much later than the one before as it must. */
static struct hint_trial_access access_of(double seconds)
{
	static int64_t now_ns;

	now_ns += HINT_TRIAL_SPACING_NS;
	return (struct hint_trial_access){ now_ns, seconds };
}

/* Adds the accesses before the trial; returns its hints. */
static const char *trial_begin(struct hint_trial *trial, const struct hybrid *hybrid,
			       const char *opened, double seconds)
{
	const char *hints = NULL;

	*trial = (struct hint_trial){ 0 };
	for (int i = 0; i < HINT_TRIAL_ACCESSES; i++) {
		CHECK(!hints);
		hints = hint_trial_before(trial, hybrid, &strided, opened,
					  access_of(seconds * (1 + 0.01 * i)));
	}
	return hints;
}

static void hints_are_tried_if_the_whole_interval_is_a_gain(void)
{
	struct hint_trial trial;
	struct hybrid hybrid;

	model_make(&hybrid, 0.02, 0.05);
	CHECK_TEXT(trial_begin(&trial, &hybrid, "", 0.05), pieces);
	CHECK_INT(trial.state, HINT_TRIAL_RUNS);
	CHECK(trial.predicted.is_calibrated && trial.predicted.gain_low > 1);
	/* Once only. */
	CHECK(!hint_trial_before(&trial, &hybrid, &strided, "", access_of(0.05)));
	hint_trial_release(&trial);
	hybrid_release(&hybrid);
}

static void an_interval_that_includes_1_is_no_reason(void)
{
	struct hint_trial trial;
	struct hybrid hybrid;

	/* The same gain, but measurements differ by factors. */
	model_make(&hybrid, 0.02, 1);
	CHECK(!trial_begin(&trial, &hybrid, "", 0.05));
	CHECK_INT(trial.state, HINT_TRIAL_NONE);
	CHECK(trial.predicted.gain > 1 && trial.predicted.gain_low <= 1);
	hybrid_release(&hybrid);
	/* No gain, and known exactly. */
	model_make(&hybrid, 0.08, 0.01);
	CHECK(!trial_begin(&trial, &hybrid, "", 0.05));
	hybrid_release(&hybrid);
}

static void a_model_that_is_not_calibrated_is_no_reason(void)
{
	struct hint_trial trial;
	struct hybrid hybrid;

	model_make(&hybrid, 0.02, 0.05);
	validation_release(&hybrid.validation);
	CHECK(!trial_begin(&trial, &hybrid, "", 0.05));
	hybrid_release(&hybrid);
}

static void hints_that_the_file_was_opened_with_stay(void)
{
	struct hint_trial trial;
	struct hybrid hybrid;

	model_make(&hybrid, 0.02, 0.05);
	CHECK(!trial_begin(&trial, &hybrid, "romio_cb_write=enable", 0.05));
	/* With the value that the default has, too. */
	CHECK(!trial_begin(&trial, &hybrid, "romio_ds_write=automatic", 0.05));
	CHECK_TEXT(trial_begin(&trial, &hybrid, "romio_cb_write=disable", 0.1),
		   "romio_ds_write=disable");
	hint_trial_release(&trial);
	/* It cannot change while the file is open, and the others do not depend on it. */
	CHECK_TEXT(trial_begin(&trial, &hybrid, "cb_nodes=2", 0.05), pieces);
	hint_trial_release(&trial);
	hybrid_release(&hybrid);
}

static void only_hints_that_can_change_differ(void)
{
	const struct settings opened = { .aggregators = 2, .node_aggregators = 1, .stripes = 4 };
	struct choices choices = { 0 };
	struct hybrid hybrid;
	bool differs = false;

	model_make(&hybrid, 0.02, 0.05);
	choices_while_open(&choices, &hybrid, &strided, &opened);
	CHECK(choices.count > 2);
	for (size_t i = 0; i < choices.count; i++) {
		CHECK_INT(choices.list[i].aggregators, 2);
		CHECK_INT(choices.list[i].node_aggregators, 1);
		CHECK_INT(choices.list[i].stripes, 4);
		CHECK_INT(choices.list[i].stripe_bytes, 0);
		differs |= choices.list[i].buffering == BUFFERING_DISABLED;
	}
	CHECK(differs);
	choices_release(&choices);
	hybrid_release(&hybrid);
}

/* Makes all accesses of a trial, of which each takes `after` seconds, give or take 3 %. */
static enum hint_trial_state trial_make(struct hint_trial *trial, double after)
{
	struct hybrid hybrid;
	bool failed = false;

	model_make(&hybrid, 0.02, 0.05);
	REQUIRE(trial_begin(trial, &hybrid, "", 0.05));
	for (int i = 0; i < HINT_TRIAL_ACCESSES; i++) {
		CHECK(!failed && trial->state == HINT_TRIAL_RUNS);
		failed = hint_trial_after(trial, access_of(after * (1 + 0.03 * (i % 2 ? 1 : -1))));
	}
	CHECK(failed == (trial->state == HINT_TRIAL_FAILED));
	hybrid_release(&hybrid);
	return trial->state;
}

static void hints_stay_only_if_accesses_are_faster(void)
{
	struct hint_trial trial;

	CHECK_INT(trial_make(&trial, 0.02), HINT_TRIAL_KEPT);
	CHECK(trial.measured.low > 2 && trial.measured.high < 3);
	/* It is over. */
	CHECK(!hint_trial_after(&trial, access_of(10)));
	hint_trial_release(&trial);
	CHECK_INT(trial_make(&trial, 0.0517), HINT_TRIAL_FAILED);
	hint_trial_release(&trial);
	CHECK_INT(trial_make(&trial, 0.2), HINT_TRIAL_FAILED);
	hint_trial_release(&trial);
}

static void neighbors_do_not_count(void)
{
	struct hint_trial trial = { 0 };
	struct hybrid hybrid;

	model_make(&hybrid, 0.02, 0.05);
	for (int64_t i = 0; i < 100; i++)
		CHECK(!hint_trial_before(&trial, &hybrid, &strided, "",
					 (struct hint_trial_access){ i, 0.05 }));
	CHECK_INT(trial.before_count, 1);
	hybrid_release(&hybrid);
}

static void reports_say_what_was_measured(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct hint_trial trial;
	struct hybrid hybrid;

	model_make(&hybrid, 0.02, 0.05);
	REQUIRE(trial_begin(&trial, &hybrid, "", 0.05));
	hint_trial_applied(&trial, &text);
	CHECK_TEXT(buf_text(&text), "");
	hint_trial_describe(&trial, &hybrid, &text);
	CHECK(strstr(buf_text(&text), "not measured, because 0 of 8 accesses"));
	buf_clear(&text);
	hint_trial_after(&trial, access_of(0.02));
	hint_trial_applied(&trial, &text);
	CHECK(strstr(buf_text(&text), "too few accesses to compare"));
	hint_trial_release(&trial);
	buf_clear(&text);
	trial_make(&trial, 0.2);
	hint_trial_applied(&trial, &text);
	hint_trial_describe(&trial, &hybrid, &text);
	CHECK(strstr(buf_text(&text), "median 51.8 ms before, 200 ms after, therefore withdrawn"));
	CHECK(strstr(buf_text(&text), "; measured 0.26 (95 % confidence interval "));
	CHECK(strstr(buf_text(&text), "; withdrawn"));
	hint_trial_release(&trial);
	hybrid_release(&hybrid);
}

TESTS(TEST(hints_are_tried_if_the_whole_interval_is_a_gain),
      TEST(an_interval_that_includes_1_is_no_reason),
      TEST(a_model_that_is_not_calibrated_is_no_reason),
      TEST(hints_that_the_file_was_opened_with_stay), TEST(only_hints_that_can_change_differ),
      TEST(hints_stay_only_if_accesses_are_faster), TEST(neighbors_do_not_count),
      TEST(reports_say_what_was_measured))
