/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-24, HYB-39.
 */
#include "predict/model/costs/costs.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"
#include "store/elements.h"

extern const struct learner_ops learner_linear, learner_neighbors;

static const struct learner_ops *const line_alone[] = { &learner_linear, NULL };
static const struct learner_ops *const quick[] = { &learner_linear, &learner_neighbors, NULL };

static const struct costs_plan line_plan = { .learners = line_alone, .budget = 1, .seed = 3 };
static const struct costs_plan quick_plan = { .learners = quick, .budget = 3, .seed = 3 };

static void add_row(struct elements *rows, const char *operation, struct elemental at,
		    const char *placement, double seconds)
{
	struct element row = { .nodes = at.nodes,
			       .cores = at.cores,
			       .senders = at.senders,
			       .receivers = at.receivers,
			       .writers = at.writers,
			       .bytes = at.bytes,
			       .repetition = (int64_t)rows->count,
			       .seconds = seconds };

	snprintf(row.platform, sizeof(row.platform), "toy");
	snprintf(row.operation, sizeof(row.operation), "%s", operation);
	snprintf(row.placement, sizeof(row.placement), "%s", placement);
	elements_add(rows, &row);
}

static struct elemental message(double nodes, double bytes)
{
	return (struct elemental){ .nodes = nodes, .cores = 4, .bytes = bytes };
}

/* Adds rows whose cost is a power of bytes and of nodes: linear in logarithms. */
static double power_law(const struct elemental *at)
{
	return 1e-6 * pow(at->bytes, 0.5) * pow(at->nodes, 0.25);
}

static void add_power_rows(struct elements *rows, const char *operation, size_t repetitions,
			   double noise, uint64_t seed)
{
	struct random random;

	random_init(&random, seed);
	for (double nodes = 1; nodes <= 16; nodes *= 2)
		for (double bytes = 1; bytes <= 1 << 20; bytes *= 4)
			for (size_t i = 0; i < repetitions; i++) {
				struct elemental at = message(nodes, bytes);

				add_row(rows, operation, at, "",
					power_law(&at) * exp(noise * random_normal(&random)));
			}
}

static void a_power_law_is_learned_and_priced(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	struct elemental at = message(3, 3000);
	struct err err = { 0 };

	add_power_rows(&rows, "ar", 1, 0, 1);
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, &err) == 0);
	CHECK(fabs(costs_price(&costs, OPERATION_ALLREDUCE, &at) / power_law(&at) - 1) < 1e-6);
	CHECK(isnan(costs_price(&costs, OPERATION_ALLTOALL, &at)));
	CHECK(isinf(costs_margin(&costs, OPERATION_ALLTOALL, &at, 0.9)));
	CHECK(!costs_is_outside(&costs, OPERATION_ALLREDUCE, &at));
	CHECK(costs.of[OPERATION_ALLREDUCE].score.log_r2 > 0.999);
	costs_release(&costs);
	elements_release(&rows);
}

static void constant_features_are_not_inputs(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	const char *names[OPERATION_FEATURES];
	const struct cost *cost;

	add_power_rows(&rows, "aa", 1, 0, 1);
	REQUIRE(costs_fit(&costs, &rows, &line_plan, NULL) == 0);
	cost = &costs.of[OPERATION_ALLTOALL];
	operation_features(OPERATION_ALLTOALL, NULL, NULL, names);
	CHECK_INT(cost->input_count, 4);
	for (size_t i = 0; i < cost->input_count; i++)
		CHECK(!strstr(names[cost->inputs[i]], "cores"));
	costs_release(&costs);
	elements_release(&rows);
}

static void repetitions_are_one_cell_with_their_mean(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	const struct cost *cost;

	for (double bytes = 1; bytes <= 64; bytes *= 2) {
		add_row(&rows, "bc", message(2, bytes), "", 0.9 * bytes);
		add_row(&rows, "bc", message(2, bytes), "", 1.1 * bytes);
	}
	REQUIRE(costs_fit(&costs, &rows, &line_plan, NULL) == 0);
	cost = &costs.of[OPERATION_BROADCAST];
	CHECK_INT(cost->rows, 14);
	CHECK_INT(cost->cell_count, 7);
	for (size_t i = 0; i < cost->cell_count; i++) {
		CHECK_INT(cost->cells[i].repetitions, 2);
		CHECK(fabs(cost->cells[i].seconds / cost->cells[i].at.bytes - 1) < 1e-12);
	}
	/* Two values 10 % off their mean have a sample deviation of 14 %. */
	CHECK(fabs(cost->noise - 0.1 * sqrt(2)) < 1e-9);
	costs_release(&costs);
	elements_release(&rows);
}

/* A repetition in the training rows would reveal the held-out one to a nearest-neighbor learner. */
static void all_repetitions_of_a_cell_are_in_one_fold(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	struct random random;

	random_init(&random, 5);
	for (int cell = 0; cell < 40; cell++) {
		double seconds = exp(random_normal(&random));

		for (int i = 0; i < 5; i++)
			add_row(&rows, "ag", message(2, cell + 1), "", seconds);
	}
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, NULL) == 0);
	CHECK(costs.of[OPERATION_ALLGATHER].score.log_r2 < 0.3);
	CHECK(costs.of[OPERATION_ALLGATHER].spread > 0.6);
	costs_release(&costs);
	elements_release(&rows);
}

static void placement_by_topology_takes_precedence(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	struct elemental at = { .nodes = 4, .cores = 4, .writers = 1, .bytes = 8 };

	for (at.bytes = 8; at.bytes < 1000; at.bytes *= 2) {
		add_row(&rows, "s_lock", at, "uniform", 9);
		add_row(&rows, "s_lock", at, "topology", 3);
		add_row(&rows, "s_nl_full", at, "uniform", 9);
	}
	at.bytes = 64;
	REQUIRE(costs_fit(&costs, &rows, &line_plan, NULL) == 0);
	CHECK(fabs(costs_price(&costs, OPERATION_WRITE_FIRST, &at) - 3) < 1e-6);
	CHECK(fabs(costs_price(&costs, OPERATION_WRITE_FULL, &at) - 9) < 1e-6);
	costs_release(&costs);
	elements_release(&rows);
}

/* Fits with one cell off the law that has this number of repetitions and this noise. */
static double odd_price(size_t repetitions, double noise, bool alone, double *margin)
{
	struct costs_plan plan = line_plan;
	struct elements rows = { 0 };
	struct costs costs;
	struct elemental odd = message(4, 1024);
	struct random random;
	double price;

	plan.surrogates_alone = alone;
	random_init(&random, 2);
	add_power_rows(&rows, "ar", 2, noise, 8);
	for (size_t i = 0; i < rows.count;) {
		if (rows.rows[i].nodes == odd.nodes && rows.rows[i].bytes == odd.bytes)
			rows.rows[i] = rows.rows[--rows.count];
		else
			i++;
	}
	for (size_t i = 0; i < repetitions; i++)
		add_row(&rows, "ar", odd, "",
			2 * power_law(&odd) * exp(noise * random_normal(&random)));
	REQUIRE(costs_fit(&costs, &rows, &plan, NULL) == 0);
	price = costs_price(&costs, OPERATION_ALLREDUCE, &odd) / power_law(&odd);
	*margin = costs_margin(&costs, OPERATION_ALLREDUCE, &odd, 0.9);
	costs_release(&costs);
	elements_release(&rows);
	return price;
}

static void frequent_measurements_outweigh_the_surrogate(void)
{
	double often, seldom, margin_often, margin_seldom, margin_alone;

	often = odd_price(100, 0.1, false, &margin_often);
	seldom = odd_price(1, 0.1, false, &margin_seldom);
	CHECK(fabs(often - 2) < 0.1);
	/* A single measurement at ten times the noise from the law of all others is treated as
	 * noise. */
	CHECK(seldom > 0.9 && seldom < 1.5);
	CHECK(margin_often < margin_seldom);
	CHECK(fabs(odd_price(100, 0.1, true, &margin_alone) - 1) < 0.2);
	CHECK(margin_seldom < margin_alone);
}

static void outside_the_range_cost_is_proportional_to_bytes(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	struct elemental edge = message(16, 1 << 20), far = message(16, 4 << 20);
	struct elemental many = message(32, 1 << 20), small = message(1, 0);
	double margin;

	add_power_rows(&rows, "ar", 1, 0.05, 1);
	REQUIRE(costs_fit(&costs, &rows, &line_plan, NULL) == 0);
	margin = costs_margin(&costs, OPERATION_ALLREDUCE, &edge, 0.9);
	CHECK(costs_is_outside(&costs, OPERATION_ALLREDUCE, &far));
	CHECK(!costs_is_outside(&costs, OPERATION_ALLREDUCE, &edge));
	CHECK(fabs(costs_price(&costs, OPERATION_ALLREDUCE, &far) /
			   costs_price(&costs, OPERATION_ALLREDUCE, &edge) -
		   4) < 1e-9);
	CHECK(fabs(costs_margin(&costs, OPERATION_ALLREDUCE, &far, 0.9) - margin - log(4)) < 1e-9);
	/* More nodes cost as much as at the edge, with a larger margin. */
	CHECK(costs_price(&costs, OPERATION_ALLREDUCE, &many) ==
	      costs_price(&costs, OPERATION_ALLREDUCE, &edge));
	CHECK(costs_margin(&costs, OPERATION_ALLREDUCE, &many, 0.9) > margin + 0.6);
	CHECK(costs_price(&costs, OPERATION_ALLREDUCE, &small) > 0);
	costs_release(&costs);
	elements_release(&rows);
}

static void prices_of_many_arguments_equal_single_prices(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	struct elemental at[50];
	double seconds[50];
	struct random random;

	random_init(&random, 9);
	add_power_rows(&rows, "aa", 3, 0.1, 1);
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, NULL) == 0);
	for (int i = 0; i < 50; i++)
		at[i] = message(1 + 20 * random_real(&random), exp(16 * random_real(&random)));
	costs_prices(&costs, OPERATION_ALLTOALL, at, 50, seconds);
	for (int i = 0; i < 50; i++)
		CHECK(fabs(seconds[i] / costs_price(&costs, OPERATION_ALLTOALL, &at[i]) - 1) <
		      1e-12);
	costs_prices(&costs, OPERATION_BARRIER, at, 2, seconds);
	CHECK(isnan(seconds[0]) && isnan(seconds[1]));
	costs_release(&costs);
	elements_release(&rows);
}

static void few_cells_are_fitted_by_a_line_or_a_constant(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	struct elemental middle = message(2, 16), alone = message(2, 0);

	add_row(&rows, "ba", message(2, 0), "", 7e-6);
	add_row(&rows, "ba", message(2, 0), "", 9e-6);
	add_row(&rows, "bc", message(2, 4), "", 1e-6);
	add_row(&rows, "bc", message(2, 64), "", 4e-6);
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, NULL) == 0);
	CHECK(fabs(costs_price(&costs, OPERATION_BARRIER, &alone) - 8e-6) < 1e-12);
	CHECK(costs_price(&costs, OPERATION_BROADCAST, &middle) > 1e-6);
	CHECK(costs_price(&costs, OPERATION_BROADCAST, &middle) < 4e-6);
	CHECK(costs_margin(&costs, OPERATION_BROADCAST, &middle, 0.9) >= log(2));
	CHECK(isfinite(costs_margin(&costs, OPERATION_BROADCAST, &middle, 0.9)));
	costs_release(&costs);
	elements_release(&rows);
}

static void cells_without_a_positive_time_are_left_out(void)
{
	struct costs_plan plain = line_plan;
	struct elements rows = { 0 };
	struct costs costs;

	add_power_rows(&rows, "ar", 1, 0, 1);
	rows.rows[3].seconds = -1;
	rows.rows[9].seconds = 0;
	REQUIRE(costs_fit(&costs, &rows, &line_plan, NULL) == 0);
	CHECK_INT(costs.of[OPERATION_ALLREDUCE].left_out, 2);
	CHECK_INT(costs.of[OPERATION_ALLREDUCE].cell_count, rows.count - 2);
	costs_release(&costs);
	plain.plain_target = true;
	REQUIRE(costs_fit(&costs, &rows, &plain, NULL) == 0);
	CHECK_INT(costs.of[OPERATION_ALLREDUCE].left_out, 0);
	/* A linear model of seconds may be negative; a price is not. */
	for (size_t i = 0; i < rows.count; i++) {
		struct elemental at = message(rows.rows[i].nodes, rows.rows[i].bytes);

		CHECK(costs_price(&costs, OPERATION_ALLREDUCE, &at) > 0);
	}
	costs_release(&costs);
	elements_release(&rows);
}

static void invalid_rows_are_refused(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	struct err err = { 0 };

	CHECK_INT(costs_fit(&costs, &rows, &line_plan, &err), -ENODATA);
	add_row(&rows, "knot", message(2, 4), "", 1);
	CHECK_INT(costs_fit(&costs, &rows, &line_plan, &err), -EINVAL);
	CHECK(strstr(err.text, "knot"));
	snprintf(rows.rows[0].operation, sizeof(rows.rows[0].operation), "ar");
	rows.rows[0].seconds = NAN;
	CHECK_INT(costs_fit(&costs, &rows, &line_plan, &err), -EINVAL);
	rows.rows[0].seconds = 1;
	rows.rows[0].bytes = -4;
	CHECK_INT(costs_fit(&costs, &rows, &line_plan, &err), -EINVAL);
	CHECK(strstr(err.text, "-4"));
	elements_release(&rows);
}

/* Checks the coverage of 90 % margins at new arguments against the mean of many runs. */
static void margins_have_the_requested_coverage(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	struct random random;
	size_t inside = 0, count = 0;

	add_power_rows(&rows, "ar", 3, 0.3, 4);
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, NULL) == 0);
	random_init(&random, 6);
	for (; count < 400; count++) {
		struct elemental at =
			message(1 + 15 * random_real(&random), exp(13 * random_real(&random)));
		double wrong = log(costs_price(&costs, OPERATION_ALLREDUCE, &at) / power_law(&at));

		inside += fabs(wrong) <= costs_margin(&costs, OPERATION_ALLREDUCE, &at, 0.9);
	}
	CHECK(inside >= 0.9 * (double)count);
	CHECK(costs_margin(&costs, OPERATION_ALLREDUCE, &(struct elemental){ 3, 4, 0, 0, 0, 9 },
			   0.5) < costs_margin(&costs, OPERATION_ALLREDUCE,
					       &(struct elemental){ 3, 4, 0, 0, 0, 9 }, 0.95));
	costs_release(&costs);
	elements_release(&rows);
}

static void the_leaderboard_is_sorted_best_first(void)
{
	struct elements rows = { 0 };
	struct costs costs, same;
	const struct cost *cost = &costs.of[OPERATION_ALLREDUCE];

	add_power_rows(&rows, "ar", 2, 0.1, 4);
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, NULL) == 0);
	REQUIRE(costs_fit(&same, &rows, &quick_plan, NULL) == 0);
	CHECK_INT(cost->entry_count, 6);
	CHECK_TEXT(cost->entries[0].learner, cost->pipeline.learner->name);
	for (size_t i = 1; i < cost->entry_count; i++)
		CHECK(cost->entries[i].failure ||
		      cost->entries[i - 1].rmse <= cost->entries[i].rmse);
	for (size_t i = 0; i < cost->entry_count; i++)
		CHECK(same.of[OPERATION_ALLREDUCE].entries[i].rmse == cost->entries[i].rmse);
	costs_release(&costs);
	costs_release(&same);
	elements_release(&rows);
}

static bool stop_at_once(void *arg, enum operation operation, size_t done, size_t total)
{
	(void)operation;
	(void)done;
	(void)total;
	++*(int *)arg;
	return true;
}

static void an_interrupted_fit_leaves_costs_untouched(void)
{
	struct costs_plan plan = quick_plan;
	struct elements rows = { 0 };
	struct costs costs;
	int asked = 0;

	plan.progress = stop_at_once;
	plan.progress_arg = &asked;
	plan.threads = 1;
	add_power_rows(&rows, "ar", 1, 0.1, 4);
	CHECK_INT(costs_fit(&costs, &rows, &plan, NULL), -ECANCELED);
	CHECK(asked > 0);
	elements_release(&rows);
}

static void saved_costs_are_loaded_unchanged(void)
{
	struct elements rows = { 0 };
	struct costs costs, again;
	struct elemental at = message(5, 77);
	AUTO_BUF struct buf buf = { 0 };
	struct blob blob;

	add_power_rows(&rows, "ar", 2, 0.1, 4);
	add_row(&rows, "ba", message(2, 0), "", 1e-5);
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, NULL) == 0);
	costs_save(&costs, &buf);
	blob_init(&blob, buf.data, buf.len);
	REQUIRE(costs_load(&again, &blob, NULL) == 0);
	CHECK(blob.at == blob.end);
	CHECK(costs_price(&again, OPERATION_ALLREDUCE, &at) ==
	      costs_price(&costs, OPERATION_ALLREDUCE, &at));
	CHECK(costs_margin(&again, OPERATION_ALLREDUCE, &at, 0.9) ==
	      costs_margin(&costs, OPERATION_ALLREDUCE, &at, 0.9));
	CHECK_INT(again.of[OPERATION_ALLREDUCE].entry_count,
		  costs.of[OPERATION_ALLREDUCE].entry_count);
	CHECK(!again.of[OPERATION_BARRIER].pipeline.learner);
	costs_release(&again);
	for (size_t n = 0; n < buf.len; n += 7) {
		blob_init(&blob, buf.data, n);
		CHECK(costs_load(&again, &blob, NULL) < 0);
	}
	costs_release(&costs);
	elements_release(&rows);
}

/* Adds rows of writes whose cost grows less than proportionally with writers. */
static void add_storage_rows(struct elements *rows, const char *operation, double step,
			     double factor, double noise, uint64_t seed)
{
	struct random random;

	random_init(&random, seed);
	for (double nodes = 2; nodes <= 32; nodes *= 2)
		for (double writers = 0.25; writers <= 4; writers *= step)
			for (double bytes = 1 << 20; bytes <= 1 << 24; bytes *= 4) {
				struct elemental at = { .nodes = nodes,
							.cores = 4,
							.writers = writers,
							.bytes = bytes };

				add_row(rows, operation, at, "",
					factor * power_law(&at) * pow(writers, 0.5) *
						(1 + noise * random_normal(&random)));
			}
}

/* Root mean square and mean of the logarithmic errors of all cells relative to the law. */
static double cells_error(const struct costs *costs, enum operation operation, double factor,
			  double *bias)
{
	const struct cost *cost = &costs->of[operation];
	double squares = 0, sum = 0;

	for (size_t i = 0; i < cost->cell_count; i++) {
		const struct elemental *at = &cost->cells[i].at;
		double law = factor * power_law(at) * pow(at->writers, 0.5);
		double off = log(costs_price((void *)costs, operation, at) / law);

		squares += off * off;
		sum += off;
	}
	*bias = sum / (double)cost->cell_count;
	return sqrt(squares / (double)cost->cell_count);
}

/* The mean logarithm of values with 30 % noise is 5 % too low; the costs must not be. */
static void noise_is_removed_from_cells_measured_once(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	double bias;

	add_storage_rows(&rows, "s_nl_partial", 1.25, 1, 0.3, 4);
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, NULL) == 0);
	CHECK(cells_error(&costs, OPERATION_WRITE_PARTIAL, 1, &bias) < 0.1);
	CHECK(fabs(bias) < 0.035);
	CHECK(fabs(costs.of[OPERATION_WRITE_PARTIAL].noise / 0.3 - 1) < 0.25);
	costs_release(&costs);
	elements_release(&rows);
}

/* Few noisy cells have the same shape as many cells with little noise. */
static void similar_writes_share_information(void)
{
	struct elements rows = { 0 }, few = { 0 };
	struct costs costs;
	double bias, alone, together;

	add_storage_rows(&few, "s_nl_full", 16, 1.5, 0.4, 11);
	add_storage_rows(&rows, "s_nl_full", 16, 1.5, 0.4, 11);
	add_storage_rows(&rows, "s_nl_partial", 1.5, 1, 0.1, 6);
	REQUIRE(costs_fit(&costs, &few, &quick_plan, NULL) == 0);
	alone = cells_error(&costs, OPERATION_WRITE_FULL, 1.5, &bias);
	costs_release(&costs);
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, NULL) == 0);
	together = cells_error(&costs, OPERATION_WRITE_FULL, 1.5, &bias);
	CHECK(together < 0.2 && together < alone);
	CHECK(costs.of[OPERATION_WRITE_FULL].noise > 2 * costs.of[OPERATION_WRITE_PARTIAL].noise);
	costs_release(&costs);
	elements_release(&rows);
	elements_release(&few);
}

static void without_noise_the_price_is_the_measurement(void)
{
	struct elements rows = { 0 };
	struct costs costs;
	double bias;

	add_storage_rows(&rows, "s_lock", 2, 1, 0, 1);
	add_storage_rows(&rows, "s_nl_full", 16, 1.5, 0, 1);
	REQUIRE(costs_fit(&costs, &rows, &quick_plan, NULL) == 0);
	CHECK(cells_error(&costs, OPERATION_WRITE_FIRST, 1, &bias) < 1e-9);
	CHECK(cells_error(&costs, OPERATION_WRITE_FULL, 1.5, &bias) < 1e-9);
	costs_release(&costs);
	elements_release(&rows);
}

TESTS(TEST(noise_is_removed_from_cells_measured_once), TEST(similar_writes_share_information),
      TEST(without_noise_the_price_is_the_measurement), TEST(a_power_law_is_learned_and_priced),
      TEST(constant_features_are_not_inputs), TEST(repetitions_are_one_cell_with_their_mean),
      TEST(all_repetitions_of_a_cell_are_in_one_fold), TEST(placement_by_topology_takes_precedence),
      TEST(frequent_measurements_outweigh_the_surrogate),
      TEST(outside_the_range_cost_is_proportional_to_bytes),
      TEST(prices_of_many_arguments_equal_single_prices),
      TEST(few_cells_are_fitted_by_a_line_or_a_constant),
      TEST(cells_without_a_positive_time_are_left_out), TEST(invalid_rows_are_refused),
      TEST(margins_have_the_requested_coverage), TEST(the_leaderboard_is_sorted_best_first),
      TEST(an_interrupted_fit_leaves_costs_untouched), TEST(saved_costs_are_loaded_unchanged))
