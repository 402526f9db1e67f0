/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Contests, outcomes and the black box, on toy machines whose run times follow a formula.
 * Papers: HYB-4, HYB-5, HYB-45, HYB-47, HYB-48, HYB-AC-7.
 */
#include "lab/model/contest.h"

#include <math.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "lab/model/blackbox.h"
#include "lab/model/outcome.h"
#include "learn/judge/metrics.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"

#define MIB 1048576ull

static const struct machine toy = {
	.name = "toy", .cores = 16, .aggregators = 64, .buffer_bytes = 16 * MIB
};

/* Few aggregators are best for small accesses, many for large ones. */
static double toy_run(void *arg, const struct access *access, const struct settings *settings,
		      uint64_t run)
{
	double ideal = 4 * pow(2, log2((double)access->rank_bytes / (double)MIB) / 2);
	double off = fabs(log2((double)settings->aggregators / ideal));
	double large = (double)settings->buffer_bytes / (double)(8 * MIB);

	(void)arg;
	return (1 + off + 0.1 * large) * (double)access->rank_bytes / 1e6 *
	       (1 + 0.01 * (double)run);
}

static void toy_contest(struct contest *contest)
{
	struct err err = { 0 };

	REQUIRE(contest_paper(contest, &toy, &err) == 0);
	REQUIRE(contest_measure(contest, 10, toy_run, NULL, &err) == 0);
}

static void the_paper_has_33_instances_and_9_choices(void)
{
	struct contest contest;

	toy_contest(&contest);
	CHECK_INT(contest.instance_count, 33);
	CHECK_INT(contest.choice_count, 9);
	CHECK_INT(contest.choices[contest.initial].aggregators, 64);
	CHECK_INT(contest.choices[contest.initial].buffer_bytes, 16 * MIB);
	CHECK_INT(contest.instances[0].ranks, 2048);
	CHECK_INT(contest.instances[32].ranks, 8192);
	CHECK_INT(contest.instances[32].rank_bytes, 256 * MIB);
	CHECK_INT(contest.instances[9].rank_bytes, 196 * MIB);
	/* Runs take 1.00 to 1.09 times the first one. */
	CHECK(fabs(contest_mean(&contest, 3, 4) / contest_seconds(&contest, 3, 4, 0) - 1.045) <
	      1e-12);
	CHECK(contest_seconds(&contest, 3, 4, 12) == contest_seconds(&contest, 3, 4, 2));
	contest_release(&contest);
	contest_release(&contest);
}

static void the_design_has_each_level_once_per_instance(void)
{
	struct contest contest;
	size_t points[99], other[99], differ = 0, diagonals[3] = { 0 };

	toy_contest(&contest);
	CHECK_INT(contest_design(&contest, 1, points), 99);
	CHECK_INT(contest_design(&contest, 2, other), 99);
	for (size_t i = 0; i < 33; i++) {
		unsigned rows = 0, columns = 0;

		for (size_t k = 0; k < 3; k++) {
			size_t choice = points[3 * i + k] % 9;

			CHECK_INT(points[3 * i + k] / 9, i);
			rows |= 1u << choice / 3;
			columns |= 1u << choice % 3;
			differ += points[3 * i + k] != other[3 * i + k];
		}
		CHECK(rows == 7 && columns == 7);
		diagonals[points[3 * i] % 3]++;
	}
	CHECK(differ > 0);
	CHECK(diagonals[0] && diagonals[1] && diagonals[2]);
	contest_release(&contest);
}

static void check_refused(const char *text, const char *why)
{
	AUTO_DATASET struct dataset table = { 0 };
	struct contest contest = { 0 };
	struct err err = { 0 };

	REQUIRE(csv_parse(&table, "t.csv", text, strlen(text), &err) == 0);
	CHECK(contest_table(&contest, &toy, &table, "t.csv", &err) < 0);
	if (!strstr(err.text, why))
		printf("\"%s\" lacks \"%s\"\n", err.text, why);
	CHECK(strstr(err.text, why) && strstr(err.text, "t.csv"));
	CHECK(!contest.instances);
}

#define NAMES "nodes,rank_bytes,aggregators,buffer_bytes,seconds\n"

static void a_broken_table_is_refused_with_its_line(void)
{
	check_refused("nodes,rank_bytes,aggregators,buffer_bytes\n1,1,64,16777216\n", "seconds");
	check_refused(NAMES "1,1,64,16777216,0\n", "t.csv:2: seconds");
	check_refused(NAMES "1,1,64,16777216,1\n1,1.5,64,16777216,1\n", "t.csv:3: rank_bytes");
	check_refused(NAMES "1,1,64,16777216,1\n1,,64,16777216,1\n", "t.csv:3: rank_bytes");
	check_refused(NAMES "1,1,64,16777216,fast\n", "seconds");
	check_refused(NAMES "1,1,4,16777216,1\n", "not among the choices");
	check_refused(NAMES "1,1,64,16777216,1\n1,1,4,16777216,1\n1,2,64,16777216,1\n", "0 runs");
	check_refused(NAMES, "no rows");
}

static void a_table_may_have_other_levels_than_the_paper(void)
{
	static const char text[] = NAMES "1,1,64,16777216,2\n1,1,32,16777216,1\n";
	AUTO_DATASET struct dataset table = { 0 };
	struct contest contest;
	struct err err = { 0 };
	size_t points[2];

	REQUIRE(csv_parse(&table, "t.csv", text, strlen(text), &err) == 0);
	REQUIRE(contest_table(&contest, &toy, &table, "t.csv", &err) == 0);
	CHECK_INT(contest.choice_count, 2);
	CHECK_INT(contest.instances[0].ranks, 16);
	CHECK(contest_gain(&contest, 0, contest_best(&contest, 0)) == 2);
	CHECK_INT(contest_design(&contest, 1, points), 2);
	CHECK(points[0] != points[1]);
	contest_release(&contest);
}

/* Two instances and three choices; the second choice is the default. */
static void small_contest(struct contest *contest)
{
	static const char text[] =
		NAMES "1,1,32,16777216,1\n1,1,64,16777216,2\n1,1,128,16777216,8\n"
		      "1,2,32,16777216,4\n1,2,64,16777216,2\n1,2,128,16777216,2\n";
	AUTO_DATASET struct dataset table = { 0 };
	struct err err = { 0 };

	REQUIRE(csv_parse(&table, "t.csv", text, strlen(text), &err) == 0);
	REQUIRE(contest_table(contest, &toy, &table, "t.csv", &err) == 0);
}

static void the_shortest_prediction_wins_and_ties_keep_the_default(void)
{
	static const double predicted[] = { 3, 2, 1, 5, 5, 5 };
	static const double partial[] = { NAN, NAN, NAN, 9, NAN, 7 };
	static const bool barred[] = { false, true, true, true, true, true };
	struct contest contest;
	struct outcome outcome;

	small_contest(&contest);
	outcome_init(&outcome, &contest, 3);
	outcome_predicted(&outcome, &contest, 0, predicted, NULL);
	outcome_predicted(&outcome, &contest, 1, partial, NULL);
	outcome_predicted(&outcome, &contest, 2, predicted, barred);
	CHECK_INT(outcome.chosen[0], 2);
	CHECK(outcome.gains[0] == 0.25 && outcome.gains[1] == 1);
	CHECK(fabs(outcome.kendalls[0] + 1) < 1e-12 && isnan(outcome.kendalls[1]));
	CHECK_INT(outcome.chosen[2], 1);
	CHECK_INT(outcome.chosen[3], 2);
	CHECK(outcome.gains[4] == 2 && isnan(outcome.gains[5]));
	outcome_release(&outcome);
	contest_release(&contest);
}

static void standings_count_instances_by_mean_gain(void)
{
	struct contest contest;
	struct outcome outcome;
	struct standing s;

	small_contest(&contest);
	outcome_init(&outcome, &contest, 2);
	/* Gains 2 and 0.25 have the mean 1.125; 1 and 0.5 have 0.75. */
	outcome_choose(&outcome, &contest, 0, 0, 0);
	outcome_choose(&outcome, &contest, 1, 0, 2);
	outcome_choose(&outcome, &contest, 0, 1, 2);
	outcome_choose(&outcome, &contest, 1, 1, 0);
	standing_init(&s, &outcome, &contest);
	CHECK(s.worse == 1 && s.even == 0 && s.better == 1 && s.most == 0);
	CHECK(s.least == 0.75 && s.greatest == 1.125 && s.mean == 0.9375);
	CHECK(s.of_optimal == 0.9375 / 1.5);
	CHECK(s.won == 0.25 && s.lost == 0.5 && s.quantiles[2] == 0.75 && isnan(s.kendall));
	outcome_optimal(&outcome, &contest);
	standing_init(&s, &outcome, &contest);
	CHECK(s.of_optimal == 1 && s.most == 1 && s.even == 1);
	outcome_default(&outcome, &contest);
	standing_init(&s, &outcome, &contest);
	CHECK(s.mean == 1 && s.even == 2 && s.won == 0 && s.lost == 0);
	outcome_expected(&outcome, &contest);
	CHECK(fabs(outcome_mean(&outcome, 0) - 3.25 / 3) < 1e-12);
	outcome_release(&outcome);
	contest_release(&contest);
}

static void random_choices_come_near_to_their_expectation(void)
{
	struct contest contest;
	struct outcome drawn, exact;
	double a = 0, b = 0;

	toy_contest(&contest);
	outcome_init(&drawn, &contest, 2000);
	outcome_init(&exact, &contest, 1);
	outcome_random(&drawn, &contest, 7);
	outcome_expected(&exact, &contest);
	for (size_t i = 0; i < 33; i++) {
		a += outcome_mean(&drawn, i) / 33;
		b += outcome_mean(&exact, i) / 33;
	}
	CHECK(fabs(a / b - 1) < 0.01);
	outcome_release(&drawn);
	outcome_release(&exact);
	contest_release(&contest);
}

static void headroom_is_the_gain_of_the_best_choice(void)
{
	struct contest contest;
	struct headroom h;

	small_contest(&contest);
	headroom_init(&h, &contest);
	CHECK(h.near == 1 && h.exact == 1 && h.up_to_two_half == 1);
	CHECK(!h.up_to_half && !h.up_to_three && !h.above_three);
	/* The gains are 2, 1, 0.25, with a 75 % quantile of 1.5, and 0.5, 1, 1. */
	CHECK(h.upper_above == 1 && h.lower_above == 0);
	contest_release(&contest);
}

static void the_black_box_learns_a_simple_machine(void)
{
	struct contest contest;
	struct training training;
	struct pipeline_plan chosen;
	struct blackbox_score score;
	const struct learner_ops *few[] = { learner_find("linear", 0, NULL),
					    learner_find("forest", 0, NULL), NULL };
	struct blackbox_plan plan = { .learners = few,
				      .budget = 2,
				      .folds = 3,
				      .log_target = true,
				      .seed = 1,
				      .threads = 1 };
	double predicted[297];
	struct outcome outcome;
	struct standing standing;
	struct err err = { 0 };

	toy_contest(&contest);
	training_init(&training, &contest, 1, 0);
	CHECK_INT(training.count, 99);
	REQUIRE(blackbox_select(&chosen, &score, &contest, &training, &plan, &err) == 0);
	CHECK(score.r2 > 0.9);
	CHECK(*score.method);
	REQUIRE(blackbox_predict(&chosen, &contest, &training, 1, predicted, &err) == 0);
	CHECK(metrics_r2(contest.means, predicted, 297) > 0.81);
	outcome_init(&outcome, &contest, 1);
	outcome_predicted(&outcome, &contest, 0, predicted, NULL);
	standing_init(&standing, &outcome, &contest);
	CHECK(standing.mean > 1 && standing.of_optimal <= 1);
	outcome_release(&outcome);
	training_release(&training);
	contest_release(&contest);
}

static void thinning_keeps_a_subset_of_the_training_runs(void)
{
	struct contest contest;
	struct training whole, part;
	size_t moved = 0;

	toy_contest(&contest);
	training_init(&whole, &contest, 1, 3);
	training_init(&part, &contest, 1, 3);
	training_thin(&part, 33, 5);
	CHECK_INT(part.count, 33);
	for (size_t i = 0; i < part.count; i++) {
		size_t found = 0;

		for (size_t k = 0; k < whole.count; k++)
			found += whole.points[k] == part.points[i] &&
				 whole.seconds[k] == part.seconds[i];
		CHECK_INT(found, 1);
		moved += part.points[i] != whole.points[i];
		for (size_t k = 0; k < i; k++)
			CHECK(part.points[k] != part.points[i]);
	}
	CHECK(moved > 10);
	training_thin(&part, 99, 5);
	CHECK_INT(part.count, 33);
	training_release(&whole);
	training_release(&part);
	contest_release(&contest);
}

TESTS(TEST(the_paper_has_33_instances_and_9_choices),
      TEST(the_design_has_each_level_once_per_instance),
      TEST(a_broken_table_is_refused_with_its_line),
      TEST(a_table_may_have_other_levels_than_the_paper),
      TEST(the_shortest_prediction_wins_and_ties_keep_the_default),
      TEST(standings_count_instances_by_mean_gain),
      TEST(random_choices_come_near_to_their_expectation),
      TEST(headroom_is_the_gain_of_the_best_choice), TEST(the_black_box_learns_a_simple_machine),
      TEST(thinning_keeps_a_subset_of_the_training_runs))
