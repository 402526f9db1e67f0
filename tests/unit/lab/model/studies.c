/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Studies on a toy machine whose operations cost what a formula says. Benchmarks and runs agree, so
 * a model that learns the operations must choose well.
 * Papers: HYB-46, HYB-49 to HYB-52.
 */
#include "lab/model/studies.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "lab/model/contest.h"
#include "learn/math/random.h"

#define MIB 1048576ull

static const struct machine toy = { .name = "toy",
				    .romio = ROMIO_BLUEGENE,
				    .form = &counts_form_bluegene,
				    .cores = 16,
				    .bridges = 8,
				    .bridge_nodes = 128,
				    .pset_nodes = 32,
				    .cache_bytes = 4096 * MIB,
				    .block_bytes = 8 * MIB,
				    .aggregators = 64,
				    .buffer_bytes = 16 * MIB };

/* Powers of the arguments, which are linear in logarithms. */
static double toy_cost(void *arg, enum operation operation, const struct elemental *at)
{
	(void)arg;
	if (operations[operation].kind != OPERATION_STORAGE)
		return 1e-5 * pow(at->bytes, 0.3) * pow(at->nodes, 0.5);
	return (operation == OPERATION_WRITE_FIRST ? 0.2 : 0.05) * pow(at->writers, 1.3) *
	       pow(at->bytes / (double)MIB, 0.8) * pow(at->nodes / 128, 0.9);
}

static double toy_run(void *arg, const struct access *access, const struct settings *settings,
		      uint64_t run)
{
	struct counts counts;

	(void)arg;
	(void)run;
	REQUIRE(counts_compute(&counts, &toy, access, settings, NULL) == 0);
	return counts_price(&counts, toy_cost, NULL, NULL);
}

static void append_row(struct elements *out, enum operation operation, const struct elemental *at,
		       struct random *random)
{
	struct element row = { .nodes = at->nodes,
			       .cores = at->cores,
			       .senders = at->senders,
			       .receivers = at->receivers,
			       .writers = at->writers,
			       .bytes = at->bytes };

	snprintf(row.platform, sizeof(row.platform), "toy");
	snprintf(row.operation, sizeof(row.operation), "%s", operations[operation].name);
	row.seconds = toy_cost(NULL, operation, at) * (1 + 0.001 * random_normal(random));
	elements_add(out, &row);
}

static int toy_benchmark(void *arg, uint64_t draw, struct elements *out, struct err *err)
{
	static const double writers[] = { 0.05, 0.3125, 1.0625, 2, 4.0625 };
	struct random random;

	(void)arg;
	(void)err;
	random_init(&random, draw);
	for (double n = 128; n <= 512; n *= 2) {
		struct elemental at = { .nodes = n, .cores = 16 };

		for (at.bytes = 4; at.bytes <= 64.0 * MIB; at.bytes *= 16) {
			at.senders = at.receivers = 0;
			append_row(out, OPERATION_ALLREDUCE, &at, &random);
			append_row(out, OPERATION_ALLTOALL, &at, &random);
			at.senders = 16 * n;
			at.receivers = n;
			append_row(out, OPERATION_ALLTOALLV, &at, &random);
		}
		at.senders = at.receivers = 0;
		for (at.bytes = 8.0 * MIB; at.bytes <= 32.0 * MIB; at.bytes *= 2)
			for (size_t w = 0; w < 5; w++) {
				at.writers = writers[w];
				append_row(out, OPERATION_WRITE_FIRST, &at, &random);
				append_row(out, OPERATION_WRITE_FULL, &at, &random);
				append_row(out, OPERATION_WRITE_PARTIAL, &at, &random);
			}
	}
	return 0;
}

static const struct learner_ops *methods[2];

static void toy_study(struct contest *contest, struct study *study, unsigned threads)
{
	struct study_plan plan = { .benchmark = toy_benchmark,
				   .coverage = 0.9,
				   .repetitions = 2,
				   .budget = 1,
				   .folds = 3,
				   .learners = methods,
				   .seed = 1,
				   .threads = threads };
	struct err err = { 0 };

	methods[0] = learner_find("linear", LEARNER_REGRESSES, &err);
	REQUIRE(contest_paper(contest, &toy, &err) == 0);
	REQUIRE(contest_measure(contest, 2, toy_run, NULL, &err) == 0);
	if (study_init(study, contest, &plan, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(study->draws);
}

static void a_model_of_the_operations_chooses_well(void)
{
	struct contest contest;
	struct study study;
	struct comparison comparison;
	struct standing hybrid, keep, optimal, initial;
	struct err err = { 0 };

	toy_study(&contest, &study, 1);
	REQUIRE(study_compare(&study, &comparison, &err) == 0);
	standing_init(&hybrid, &comparison.of[STUDY_HYBRID], &contest);
	standing_init(&keep, &comparison.of[STUDY_HYBRID_KEEP], &contest);
	standing_init(&optimal, &comparison.of[STUDY_OPTIMAL], &contest);
	standing_init(&initial, &comparison.of[STUDY_DEFAULT], &contest);
	CHECK(optimal.mean > 1.2);
	CHECK(hybrid.of_optimal > 0.97 && hybrid.of_optimal <= 1);
	CHECK(hybrid.kendall > 0.8);
	CHECK_INT(keep.worse, 0);
	CHECK(initial.mean == 1);
	/* The black box also chooses if the training runs are excluded. */
	CHECK_INT(comparison.of[STUDY_ML_UNSEEN].instances, 33);
	for (size_t i = 0; i < 66; i++)
		CHECK(comparison.of[STUDY_HYBRID].gains[i] > 0 &&
		      comparison.of[STUDY_ML].gains[i] > 0);
	comparison_release(&comparison);
	study_release(&study);
	contest_release(&contest);
}

/* Runs of a machine that counts rounds by domains. */
static double toy_domains_run(void *arg, const struct access *access,
			      const struct settings *settings, uint64_t run)
{
	static const struct bluegene_rules domains = { .rounds = ROUNDS_DOMAINS };
	struct machine machine = toy;
	struct counts counts;

	(void)arg;
	(void)run;
	bluegene_attach(&machine, &domains);
	REQUIRE(counts_compute(&counts, &machine, access, settings, NULL) == 0);
	/* The toy machine has no caches, so cached rounds cost as much as full ones. */
	for (size_t i = 0; i < counts.count; i++)
		if (counts.terms[i].operation == OPERATION_WRITE_CACHED)
			counts.terms[i].operation = OPERATION_WRITE_FULL;
	return counts_price(&counts, toy_cost, NULL, NULL);
}

static void each_rule_of_rounds_is_evaluated_separately(void)
{
	struct contest contest;
	struct study study;
	struct comparison comparison;
	struct standing published, domains;
	struct err err = { 0 };

	toy_study(&contest, &study, 1);
	REQUIRE(contest_measure(&contest, 2, toy_domains_run, NULL, &err) == 0);
	REQUIRE(study_compare(&study, &comparison, &err) == 0);
	standing_init(&published, &comparison.of[STUDY_HYBRID], &contest);
	standing_init(&domains, &comparison.of[STUDY_DOMAINS], &contest);
	CHECK(domains.of_optimal > 0.97 && domains.kendall > published.kendall);
	comparison_release(&comparison);
	study_release(&study);
	contest_release(&contest);
}

static void results_do_not_depend_on_the_number_of_threads(void)
{
	struct contest contest[2];
	struct study study[2];
	struct comparison comparison[2];
	static const double sigmas[] = { 0.5 };
	struct noise_result noise[2];
	struct err err = { 0 };
	size_t cells = 2 * 297; /* of ml: repetitions x instances x choices */

	for (unsigned i = 0; i < 2; i++) {
		toy_study(&contest[i], &study[i], i ? 3 : 1);
		REQUIRE(study_compare(&study[i], &comparison[i], &err) == 0);
		REQUIRE(study_noise(&study[i], &comparison[i], NOISE_ALLOW, sigmas, 1, &noise[i],
				    &err) == 0);
	}
	CHECK(memcmp(comparison[0].hybrid, comparison[1].hybrid,
		     ROUNDS_RULES * cells * sizeof(double)) == 0);
	CHECK(memcmp(comparison[0].ml, comparison[1].ml, cells * sizeof(double)) == 0);
	for (int i = 0; i < HYBRID_OUTCOMES; i++)
		CHECK(memcmp(noise[0].hybrid[i].gains, noise[1].hybrid[i].gains,
			     66 * sizeof(double)) == 0);
	CHECK(noise[0].ml_kendall == noise[1].ml_kendall);
	for (unsigned i = 0; i < 2; i++) {
		noise_results_release(&noise[i], 1);
		comparison_release(&comparison[i]);
		study_release(&study[i]);
		contest_release(&contest[i]);
	}
}

static void little_noise_changes_little_and_much_changes_much(void)
{
	static const double sigmas[] = { 0.001, 3 };
	struct contest contest;
	struct study study;
	struct comparison comparison;
	struct noise_result noise[2];
	struct err err = { 0 };

	toy_study(&contest, &study, 1);
	REQUIRE(study_compare(&study, &comparison, &err) == 0);
	REQUIRE(study_noise(&study, &comparison, NOISE_ALLOW, sigmas, 2, noise, &err) == 0);
	for (int i = 0; i < ROUNDS_RULES; i++) {
		CHECK(noise[0].hybrid_kendall[i] > 0.95);
		CHECK(noise[1].hybrid_kendall[i] < noise[0].hybrid_kendall[i]);
	}
	CHECK_INT(noise[0].left_out, 0);
	/* With sigma 3, a third of all times are negative. */
	CHECK(noise[1].left_out > 50);
	noise_results_release(noise, 2);
	/* The other policies make no time negative, so that nothing is left out. */
	REQUIRE(study_noise(&study, &comparison, NOISE_REFLECT, sigmas + 1, 1, noise, &err) == 0);
	CHECK_INT(noise[0].left_out, 0);
	noise_results_release(noise, 1);
	comparison_release(&comparison);
	study_release(&study);
	contest_release(&contest);
}

static void policies_differ_for_negative_times_only(void)
{
	CHECK(noise_apply(2, 1.5, NOISE_ALLOW) == 3);
	CHECK(noise_apply(2, 1.5, NOISE_CLIP) == 3 && noise_apply(2, 1.5, NOISE_REFLECT) == 3);
	CHECK(noise_apply(2, -0.5, NOISE_ALLOW) == -1);
	CHECK(noise_apply(2, -0.5, NOISE_REFLECT) == 1);
	CHECK(noise_apply(2, -0.5, NOISE_CLIP) > 0 && noise_apply(2, -0.5, NOISE_CLIP) < 0.01);
}

static size_t count_rows(const struct elements *rows, const char *operation)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += strcmp(rows->rows[i].operation, operation) == 0;
	return count;
}

static void thinning_keeps_a_share_of_each_operation(void)
{
	struct elements rows = { 0 }, same = { 0 }, none = { 0 };
	size_t whole;

	toy_benchmark(NULL, 1, &rows, NULL);
	toy_benchmark(NULL, 2, &rows, NULL); /* a second repetition of every cell */
	toy_benchmark(NULL, 1, &same, NULL);
	whole = count_rows(&rows, "s_lock");
	CHECK_INT(whole, 90);
	elements_thin(&rows, 1.0 / 3, 5);
	CHECK_INT(count_rows(&rows, "s_lock"), 30);
	CHECK_INT(count_rows(&rows, "s_nl_full"), 30);
	/* All repetitions of a cell are kept, or none. */
	for (size_t i = 0; i < rows.count; i++) {
		size_t twins = 0;

		for (size_t k = 0; k < rows.count; k++)
			twins += strcmp(rows.rows[i].operation, rows.rows[k].operation) == 0 &&
				 rows.rows[i].nodes == rows.rows[k].nodes &&
				 rows.rows[i].bytes == rows.rows[k].bytes &&
				 rows.rows[i].writers == rows.rows[k].writers;
		CHECK_INT(twins, 2);
	}
	elements_thin(&same, 1, 5);
	CHECK_INT(count_rows(&same, "s_lock"), 45);
	elements_thin(&same, 0, 5);
	CHECK_INT(count_rows(&same, "aa"), 2);
	elements_thin(&none, 0.5, 5);
	CHECK_INT(none.count, 0);
	elements_release(&rows);
	elements_release(&same);
}

static void smaller_shares_train_on_fewer_rows(void)
{
	static const double shares[] = { 1, 1.0 / 3 };
	struct contest contest;
	struct study study;
	struct size_result ml[2], hybrid[2];
	struct standing standing;
	struct err err = { 0 };

	toy_study(&contest, &study, 2);
	REQUIRE(study_ml_sizes(&study, shares, 2, ml, &err) == 0);
	REQUIRE(study_hybrid_sizes(&study, shares, 2, hybrid, &err) == 0);
	CHECK(ml[0].rows == 99 && ml[1].rows == 33);
	CHECK(hybrid[0].rows > 2 * hybrid[1].rows);
	/* A linear function needs few points. */
	standing_init(&standing, &hybrid[1].hybrid[ROUNDS_PUBLISHED], &contest);
	CHECK(standing.of_optimal > 0.95);
	size_results_release(ml, 2);
	size_results_release(hybrid, 2);
	study_release(&study);
	contest_release(&contest);
}

static int benchmark_fails(void *arg, uint64_t draw, struct elements *out, struct err *err)
{
	(void)arg;
	(void)out;
	return draw % 1000 == 1 ? err_set(err, EIO, "disk failed") : 0;
}

static void the_error_of_a_benchmark_is_returned(void)
{
	struct study_plan plan = { .benchmark = benchmark_fails, .repetitions = 3, .seed = 1 };
	struct contest contest;
	struct study study;
	struct err err = { 0 };

	REQUIRE(contest_paper(&contest, &toy, &err) == 0);
	REQUIRE(contest_measure(&contest, 1, toy_run, NULL, &err) == 0);
	CHECK_INT(study_init(&study, &contest, &plan, &err), -EIO);
	CHECK_TEXT(err.text, "disk failed");
	contest_release(&contest);
}

TESTS(TEST(a_model_of_the_operations_chooses_well),
      TEST(each_rule_of_rounds_is_evaluated_separately),
      TEST(results_do_not_depend_on_the_number_of_threads),
      TEST(little_noise_changes_little_and_much_changes_much),
      TEST(policies_differ_for_negative_times_only), TEST(thinning_keeps_a_share_of_each_operation),
      TEST(smaller_shares_train_on_fewer_rows), TEST(the_error_of_a_benchmark_is_returned))
