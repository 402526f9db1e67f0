/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: ATE-12.
 */
#include "tune/loop/partial.h"

#include <math.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static void put(struct param_set *set, const char *name, const char *value, const char *file)
{
	struct err err = { 0 };

	REQUIRE(tunable_by_name(name));
	if (param_set_put(set, tunable_by_name(name), value, file, NULL, 0, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
}

static const struct partial_row *find_row(const struct partial *partial, const char *label)
{
	for (size_t i = 0; i < partial->count; i++)
		if (strcmp(partial->rows[i].label, label) == 0)
			return &partial->rows[i];
	printf("there is no row '%s'\n", label);
	check_failures++;
	return &partial->rows[0];
}

/* Each parameter has a factor; factors multiply. */
static double cost_of(const struct param_set *set)
{
	double cost = 64;

	for (size_t i = 0; i < set->count; i++) {
		const char *name = set->params[i].tunable->name;

		if (strcmp(name, "striping_factor") == 0 && strcmp(set->params[i].value, "4") != 0)
			cost /= 8;
		if (strcmp(name, "cb_nodes") == 0)
			cost /= 2;
		if (strcmp(name, "romio_cb_write") == 0)
			cost /= 2;
		if (strcmp(name, "ind_wr_buffer_size") == 0)
			cost *= 2;
	}
	return cost;
}

static void make_sets(struct param_set *initial, struct param_set *winner)
{
	put(initial, "striping_factor", "4", NULL);
	put(initial, "striping_unit", "1M", NULL);
	put(initial, "ind_wr_buffer_size", "1M", NULL);
	put(winner, "striping_factor", "64", NULL);
	put(winner, "striping_unit", "1M", NULL);
	put(winner, "cb_nodes", "16", NULL);
	put(winner, "romio_cb_write", "enable", "big.h5");
}

static size_t run_all(struct partial *partial)
{
	size_t row, runs = 0;

	for (; partial_next(partial, &row); runs++)
		partial_tell(partial, row, cost_of(&partial->rows[row].set));
	return runs;
}

static void each_change_is_set_alone_and_reset_alone(void)
{
	struct param_set initial = { 0 }, winner = { 0 };
	struct tunable_context context = { 0 };
	struct partial partial;
	const struct partial_row *row;

	make_sets(&initial, &winner);
	partial_plan(&partial, &initial, &winner, &context);
	/* default, two layers, four alone, four without, all. "storage" is the same as
	 * striping_factor alone, and "mpi" as all without it. */
	CHECK_INT(partial.count, 12);
	CHECK_INT(run_all(&partial), 10);
	CHECK(find_row(&partial, "default")->cost == 128);
	CHECK(find_row(&partial, "all")->cost == 2);
	CHECK(find_row(&partial, "all")->factor == 64 && find_row(&partial, "all")->share == 1);
	row = find_row(&partial, "storage");
	CHECK(row->kind == PARTIAL_LAYER && row->layer == TUNABLE_STORAGE);
	CHECK(row->factor == 8 && fabs(row->share - 0.5) < 1e-12);
	row = find_row(&partial, "mpi");
	CHECK(row->factor == 8);
	CHECK_INT(row->set.count, 4); /* the buffer is unset */
	row = find_row(&partial, "striping_factor=64");
	CHECK(row->kind == PARTIAL_ALONE && row->factor == 8);
	CHECK(row->same == (size_t)(find_row(&partial, "storage") - partial.rows));
	CHECK(find_row(&partial, "cb_nodes=16")->factor == 2);
	CHECK(find_row(&partial, "romio_cb_write=enable@big.h5")->factor == 2);
	CHECK(find_row(&partial, "ind_wr_buffer_size unset")->factor == 2);
	row = find_row(&partial, "without striping_factor=64");
	CHECK(row->kind == PARTIAL_WITHOUT && row->cost == 16);
	CHECK(fabs(row->share - 0.5) < 1e-12);
	CHECK(fabs(find_row(&partial, "without cb_nodes=16")->share - 1.0 / 6) < 1e-12);
	row = find_row(&partial, "without ind_wr_buffer_size unset");
	CHECK_INT(row->set.count, 5);
	CHECK(row->cost == 4);
	partial_release(&partial);
	param_set_release(&initial);
	param_set_release(&winner);
}

static void measured_rows_are_not_run_again(void)
{
	struct param_set initial = { 0 }, winner = { 0 };
	struct tunable_context context = { 0 };
	struct partial partial;

	make_sets(&initial, &winner);
	partial_plan(&partial, &initial, &winner, &context);
	partial_tell(&partial, partial_find(&partial, PARTIAL_DEFAULT), 100);
	partial_tell(&partial, partial_find(&partial, PARTIAL_FULL), 10);
	CHECK_INT(run_all(&partial), 8);
	CHECK(find_row(&partial, "default")->cost == 100);
	CHECK(find_row(&partial, "all")->factor == 10);
	partial_release(&partial);
	param_set_release(&initial);
	param_set_release(&winner);
}

/* With a single change, its layer, the parameter alone and all are the same run. */
static void one_change_is_one_run(void)
{
	struct param_set initial = { 0 }, winner = { 0 };
	struct tunable_context context = { 0 };
	struct partial partial;

	put(&winner, "cb_nodes", "2", NULL);
	partial_plan(&partial, &initial, &winner, &context);
	CHECK_INT(partial.count, 5);
	CHECK_INT(run_all(&partial), 2);
	for (size_t i = 0; i < partial.count; i++)
		CHECK(partial.rows[i].cost == (i == 0 || i == 3 ? 64 : 32));
	partial_release(&partial);
	/* Without a change there is only the baseline. */
	partial_plan(&partial, &winner, &winner, &context);
	CHECK_INT(partial.count, 2);
	CHECK_INT(run_all(&partial), 1);
	CHECK(isnan(partial.rows[1].share));
	partial_release(&partial);
	param_set_release(&winner);
}

static void dangerous_rows_are_not_run(void)
{
	struct param_set initial = { 0 }, winner = { 0 };
	struct tunable_context context = { .middleware = MIDDLEWARE_OMPIO };
	struct partial partial;
	const struct partial_row *row;

	put(&winner, "cb_nodes", "2", NULL);
	put(&winner, "alignment", "0,65536", NULL);
	partial_plan(&partial, &initial, &winner, &context);
	row = find_row(&partial, "cb_nodes=2");
	CHECK(row->refusal && strstr(row->refusal, "OMPIO loses data"));
	CHECK(!find_row(&partial, "alignment=0,65536")->refusal);
	/* default and alignment, which is also "hdf5" and "without cb_nodes". */
	CHECK_INT(run_all(&partial), 2);
	CHECK(isnan(row->cost) && isnan(find_row(&partial, "all")->factor));
	partial_release(&partial);
	param_set_release(&winner);
}

TESTS(TEST(each_change_is_set_alone_and_reset_alone), TEST(measured_rows_are_not_run_again),
      TEST(one_change_is_one_run), TEST(dangerous_rows_are_not_run))
