/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows come from formulas, or from the modelled machine, whose runs are the truth there.
 */
#include "predict/model/hybrid/hybrid.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "lab/model/bluegene.h"
#include "lab/replica/replica.h"
#include "learn/file/checked_file.h"
#include "params/space.h"
#include "predict/model/hybrid/choices.h"
#include "store/elements.h"

extern const struct learner_ops learner_linear, learner_perceptron, learner_rules;

static const struct learner_ops *const line_alone[] = { &learner_linear, NULL };
static const struct costs_plan line_plan = { .learners = line_alone, .budget = 1, .seed = 3 };

/* ---- a machine by formulas ---- */

typedef double price_of(enum operation operation, const struct elemental *at);

static double price_one(enum operation operation, const struct elemental *at)
{
	(void)operation;
	(void)at;
	return 1;
}

/* Locks grow with writers, bytes are written faster by more of them. */
static double price_toy(enum operation operation, const struct elemental *at)
{
	double mib = at->bytes / 1048576;

	switch (operation) {
	case OPERATION_ALLREDUCE:
	case OPERATION_ALLTOALL:
		return 1e-5 + 1e-9 * at->bytes;
	case OPERATION_ALLTOALLV:
		return 1e-4 + 1e-9 * at->bytes * at->senders / at->receivers;
	case OPERATION_WRITE_FIRST:
		return 0.1 + 0.3 * at->writers + 0.01 * at->writers * mib;
	default:
		return 0.05 + 0.01 * sqrt(at->writers) * mib;
	}
}

static void row_add(struct elements *rows, enum operation operation, const struct elemental *at,
		    price_of *price)
{
	struct element row = { .platform = "toy",
			       .nodes = at->nodes,
			       .cores = at->cores,
			       .senders = at->senders,
			       .receivers = at->receivers,
			       .writers = at->writers,
			       .bytes = at->bytes,
			       .seconds = price(operation, at) };

	snprintf(row.operation, sizeof(row.operation), "%s", operations[operation].name);
	elements_add(rows, &row);
}

static void rows_collective(struct elements *rows, double nodes, price_of *price)
{
	for (double bytes = 4; bytes <= 1 << 18; bytes *= 8)
		for (int o = OPERATION_ALLREDUCE; o <= OPERATION_ALLTOALL; o++)
			row_add(rows, (enum operation)o,
				&(struct elemental){ .nodes = nodes, .cores = 16, .bytes = bytes },
				price);
	for (double bytes = 4; bytes <= 1 << 26; bytes *= 16)
		for (double senders = 1; senders <= 16 * nodes; senders *= 8)
			for (double receivers = 1; receivers <= 5 * nodes; receivers *= 8)
				row_add(rows, OPERATION_ALLTOALLV,
					&(struct elemental){ nodes, 16, senders, receivers, 0,
							     bytes },
					price);
}

static void rows_storage(struct elements *rows, double nodes, price_of *price)
{
	static const double writers[] = { 0.3125, 1.0625, 4.0625 };

	for (double bytes = 8 << 20; bytes <= 32 << 20; bytes *= 2)
		for (int w = 0; w < 3; w++) {
			struct elemental at = { nodes, 16, 0, 0, writers[w], bytes };

			row_add(rows, OPERATION_WRITE_FIRST, &at, price);
			row_add(rows, OPERATION_WRITE_FULL, &at, price);
			for (double part = 0.01; part < 1.1; part += 0.33) {
				at.writers = part * writers[w];
				row_add(rows, OPERATION_WRITE_PARTIAL, &at, price);
			}
		}
}

static void toy_fit(struct hybrid *hybrid, price_of *price)
{
	struct elements rows = { 0 };
	struct machine machine;
	struct err err = { 0 };

	REQUIRE(machine_open(&machine, "vesta", &err) == 0);
	bluegene_attach(&machine, NULL);
	for (double nodes = 128; nodes <= 512; nodes *= 2) {
		rows_collective(&rows, nodes, price);
		rows_storage(&rows, nodes, price);
	}
	REQUIRE(hybrid_fit(hybrid, &machine, &rows, &line_plan, &err) == 0);
	elements_release(&rows);
}

/* ---- the grid of the paper ---- */

enum { INSTANCES = 33, CHOICES = 9, INITIAL = 7 };

static struct access instance(size_t i)
{
	static const uint64_t sizes[] = { 1, 2, 4, 8, 16, 32, 64, 96, 128, 196, 256 };
	uint64_t nodes = 128u << i / 11;

	return (struct access){ .nodes = nodes,
				.ranks = 16 * nodes,
				.rank_bytes = sizes[i % 11] << 20 };
}

static struct settings choice(size_t i)
{
	static const uint64_t aggregators[] = { 4, 16, 64 };

	return (struct settings){ .aggregators = aggregators[i / 3],
				  .buffer_bytes = (uint64_t)(8 << 20) << i % 3 };
}

/* HYB-29. */
static void operations_of_one_second_count_themselves(void)
{
	struct hybrid hybrid;

	toy_fit(&hybrid, price_one);
	for (size_t i = 0; i < INSTANCES; i++)
		for (size_t j = 0; j < CHOICES; j++) {
			struct access access = instance(i);
			struct settings settings = choice(j);
			struct prediction p;
			double rounds, expected;

			REQUIRE(hybrid_predict(&hybrid, &access, &settings, 0.9, &p, NULL) == 0);
			rounds = (double)p.counts.rounds;
			expected = 6 + 2 * rounds + 3 * (double)p.counts.incomplete +
				   fmax(0, rounds - 1);
			/* Few senders and writers were not benchmarked; all cost the same. */
			CHECK(fabs(p.seconds - expected) < 1e-6 * expected);
		}
	hybrid_release(&hybrid);
}

static void terms_make_up_the_sum_and_lie_in_the_interval(void)
{
	struct access access = instance(15);
	struct settings settings = choice(4);
	struct prediction wide, narrow;
	struct hybrid hybrid;
	double sum = 0;

	toy_fit(&hybrid, price_toy);
	REQUIRE(hybrid_predict(&hybrid, &access, &settings, 0.95, &wide, NULL) == 0);
	REQUIRE(hybrid_predict(&hybrid, &access, &settings, 0.5, &narrow, NULL) == 0);
	for (size_t i = 0; i < wide.counts.count; i++) {
		CHECK(fabs(wide.terms[i] - wide.each[i] * wide.counts.terms[i].count) < 1e-12);
		sum += wide.terms[i];
	}
	CHECK(fabs(sum - wide.seconds) < 1e-9);
	CHECK(wide.low < narrow.low && narrow.low < narrow.seconds);
	CHECK(narrow.seconds < narrow.high && narrow.high < wide.high);
	CHECK(wide.seconds == narrow.seconds);
	hybrid_release(&hybrid);
}

/* One surrogate: its relative error is that of the sum, however often it is used. */
static void errors_of_one_surrogate_do_not_average_out(void)
{
	struct access access = instance(8);
	struct settings settings = choice(4);
	struct hybrid hybrid;
	struct prediction p;

	toy_fit(&hybrid, price_toy);
	for (int i = 0; i < OPERATIONS; i++) {
		hybrid.costs.of[i].noise = NAN;
		hybrid.costs.of[i].spread = 0;
		for (size_t j = 0; j < hybrid.costs.of[i].conformal.count; j++)
			hybrid.costs.of[i].conformal.errors[j] =
				i == OPERATION_WRITE_FULL ? log(2) : 0;
		hybrid.costs.of[i].alone = true;
	}
	REQUIRE(hybrid_predict(&hybrid, &access, &settings, 0.9, &p, NULL) == 0);
	for (size_t i = 0; i < p.counts.count; i++)
		if (p.counts.terms[i].operation == OPERATION_WRITE_FULL)
			CHECK(p.high >= p.seconds + p.terms[i] * (1 - 1e-9));
	hybrid_release(&hybrid);
}

/* ---- many at once ---- */

static size_t settings_many(struct settings *settings)
{
	size_t count = 0;

	for (uint64_t aggregators = 1; aggregators <= 70; aggregators += 3)
		for (uint64_t mib = 1; mib <= 64; mib++)
			settings[count++] = (struct settings){ .aggregators = aggregators,
							       .buffer_bytes = mib << 20 };
	return count;
}

static void many_check(enum rule_rounds rounds)
{
	AUTO_FREE struct settings *settings = xcalloc(2000, sizeof(*settings));
	AUTO_FREE double *seconds = xcalloc(2000, sizeof(*seconds));
	size_t count = settings_many(settings), best = 0;
	struct access access = instance(19);
	size_t order[40];
	double ordered[40];
	struct recommendation r;
	struct hybrid hybrid;
	struct prediction p;

	toy_fit(&hybrid, price_toy);
	bluegene_attach(&hybrid.machine, &(struct bluegene_rules){ .rounds = rounds });
	REQUIRE(hybrid_times(&hybrid, &access, settings, count, seconds, NULL) == 0);
	for (size_t i = 0; i < count; i++) {
		REQUIRE(hybrid_predict(&hybrid, &access, &settings[i], 0.9, &p, NULL) == 0);
		CHECK(fabs(seconds[i] / p.seconds - 1) < 1e-12);
		best = seconds[i] < seconds[best] ? i : best;
	}
	CHECK_INT(hybrid_best(&hybrid, &access, settings, count, 40, order, ordered, NULL), 40);
	for (size_t i = 0; i < 40; i++) {
		size_t faster = 0;

		for (size_t j = 0; j < count; j++)
			faster += seconds[j] < ordered[i];
		CHECK(faster <= i);
		CHECK(fabs(ordered[i] / seconds[order[i]] - 1) < 1e-12);
		CHECK(!i || ordered[i - 1] <= ordered[i]);
	}
	REQUIRE(hybrid_recommend(&hybrid, &access, settings, count, &settings[0], 0.9, &r, NULL) ==
		0);
	CHECK_INT(r.best, best);
	CHECK(fabs(r.gain - seconds[0] / seconds[best]) < 1e-9);
	hybrid_release(&hybrid);
}

static void times_of_many_are_those_of_each(void)
{
	many_check(ROUNDS_PUBLISHED);
	many_check(ROUNDS_DOMAINS);
}

/* ---- rounds that caches hold ---- */

static void use_domains(struct hybrid *hybrid)
{
	bluegene_attach(&hybrid->machine, &(struct bluegene_rules){ .rounds = ROUNDS_DOMAINS });
}

/* The price of the first term of cached rounds, which has full buffers. */
static double cached_each(const struct hybrid *hybrid, size_t chosen)
{
	size_t at = 0;
	struct access access = instance(2);
	struct settings settings = choice(chosen);
	struct prediction p;

	REQUIRE(hybrid_predict(hybrid, &access, &settings, 0.9, &p, NULL) == 0);
	for (size_t i = 0; i < p.counts.count; i++) {
		CHECK(p.slacks[i] == 0);
		CHECK(p.margins[i] >= 0 && isfinite(p.margins[i]));
		if (!at && p.counts.terms[i].operation == OPERATION_WRITE_CACHED)
			at = i;
	}
	REQUIRE(p.counts.terms[at].operation == OPERATION_WRITE_CACHED);
	return p.each[at];
}

/* As if noise had not been looked for. */
static void cells_forget(struct hybrid *hybrid)
{
	for (int i = 0; i < OPERATIONS; i++) {
		hybrid->costs.of[i].noise = NAN;
		for (size_t j = 0; j < hybrid->costs.of[i].cell_count; j++)
			hybrid->costs.of[i].cells[j].deviation = NAN;
	}
}

/*
 * Toy: 0.01 s per writer and MiB beside locks, so 0.25 * 0.01 * 8 for 40 writers; 128 nodes, 4 MiB
 * per rank. Of 32 MiB twice as much was not benchmarked, half of it was.
 */
static void a_cached_round_costs_a_first_one_without_its_locks(void)
{
	struct hybrid hybrid;

	toy_fit(&hybrid, price_toy);
	use_domains(&hybrid);
	/* What was measured alone: the line does not bend as the toy does. */
	cells_forget(&hybrid);
	for (int i = 0; i < OPERATIONS; i++)
		hybrid.costs.of[i].noise = 0;
	CHECK(fabs(cached_each(&hybrid, 0) - 0.3125 * 0.01 * 8) < 1e-9);
	CHECK(fabs(cached_each(&hybrid, 2) - 0.3125 * 0.01 * 32) < 1e-9);
	hybrid_release(&hybrid);
}

static void a_cached_round_costs_no_more_than_others_and_not_nothing(void)
{
	struct hybrid hybrid;
	double each;

	/* Whatever the bytes, one second: the difference says that bytes are free. */
	toy_fit(&hybrid, price_one);
	use_domains(&hybrid);
	each = cached_each(&hybrid, 0);
	CHECK(each > 0 && each < 0.01);
	hybrid_release(&hybrid);
}

static void what_was_not_benchmarked_is_named(void)
{
	struct access access = instance(4);
	struct settings settings = choice(4);
	struct recommendation r = { .best = 77 };
	struct prediction p = { .seconds = 77 };
	struct hybrid hybrid;
	struct err err = { 0 };
	double seconds = 77;

	toy_fit(&hybrid, price_toy);
	hybrid.costs.of[OPERATION_WRITE_PARTIAL].is_fitted = false;
	CHECK_INT(hybrid_predict(&hybrid, &access, &settings, 0.9, &p, &err), -ENODATA);
	CHECK(strstr(err.text, "s_nl_partial") && strstr(err.text, "storage"));
	CHECK_INT(hybrid_times(&hybrid, &access, &settings, 1, &seconds, &err), -ENODATA);
	CHECK_INT(hybrid_recommend(&hybrid, &access, &settings, 1, &settings, 0.9, &r, &err),
		  -ENODATA);
	CHECK(p.seconds == 77 && seconds == 77 && r.best == 77);
	hybrid_release(&hybrid);
}

/* ---- gains ---- */

static void a_setting_gains_nothing_over_itself(void)
{
	struct access access = instance(20);
	struct settings settings = choice(3);
	struct recommendation r;
	struct hybrid hybrid;
	struct prediction p;
	struct gain gain;

	toy_fit(&hybrid, price_toy);
	REQUIRE(hybrid_predict(&hybrid, &access, &settings, 0.9, &p, NULL) == 0);
	hybrid_gain(&p, &p, &gain);
	CHECK(gain.gain == 1 && gain.low == 1 && gain.high == 1);
	REQUIRE(hybrid_recommend(&hybrid, &access, &settings, 1, &settings, 0.9, &r, NULL) == 0);
	CHECK(r.keep && r.best == 0);
	hybrid_release(&hybrid);
}

/* What both settings do is wrong in both: the ratio is surer than the times are. */
static void what_is_common_cancels(void)
{
	struct prediction from = { .seconds = 11 }, to = { .seconds = 10.5 };
	struct gain gain;

	from.counts.count = to.counts.count = 2;
	from.counts.terms[0] = to.counts.terms[0] =
		(struct term){ .operation = OPERATION_ALLTOALL, .count = 1, .at = { .bytes = 4 } };
	from.counts.terms[1] = to.counts.terms[1] = (struct term){
		.operation = OPERATION_WRITE_FULL, .count = 1, .at = { .bytes = 8 }
	};
	to.counts.terms[1].at.bytes = 16;
	from.terms[0] = to.terms[0] = 10;
	from.terms[1] = 1;
	to.terms[1] = 0.5;
	from.margins[0] = to.margins[0] = log(3);
	hybrid_gain(&from, &to, &gain);
	CHECK(fabs(gain.gain - 11 / 10.5) < 1e-12);
	CHECK(gain.low > 1 && gain.high < 1.2);
	/* Had the second operation that margin, nothing could be said. */
	from.margins[1] = to.margins[1] = log(3);
	hybrid_gain(&from, &to, &gain);
	CHECK(gain.low < 1);
	/* And an endless one says nothing at all. */
	from.margins[1] = to.margins[1] = INFINITY;
	hybrid_gain(&from, &to, &gain);
	CHECK(gain.low < 1e-9 && !isnan(gain.high));
}

static void a_gain_that_is_not_sure_is_not_taken(void)
{
	struct access access = instance(10);
	struct settings settings[CHOICES];
	struct recommendation sure, unsure;
	struct hybrid hybrid;

	toy_fit(&hybrid, price_toy);
	cells_forget(&hybrid);
	for (size_t i = 0; i < CHOICES; i++)
		settings[i] = choice(i);
	for (int i = 0; i < OPERATIONS; i++)
		for (size_t j = 0; j < hybrid.costs.of[i].conformal.count; j++)
			hybrid.costs.of[i].conformal.errors[j] = 0;
	REQUIRE(hybrid_recommend(&hybrid, &access, settings, CHOICES, &settings[0], 0.9, &sure,
				 NULL) == 0);
	CHECK(!sure.keep && sure.gain > 1 && sure.gain_low > 1 && sure.best != 0);
	for (int i = 0; i < OPERATIONS; i++)
		for (size_t j = 0; j < hybrid.costs.of[i].conformal.count; j++)
			hybrid.costs.of[i].conformal.errors[j] = 3;
	REQUIRE(hybrid_recommend(&hybrid, &access, settings, CHOICES, &settings[0], 0.9, &unsure,
				 NULL) == 0);
	CHECK(unsure.keep && unsure.best == sure.best && unsure.gain == sure.gain);
	CHECK(unsure.gain_low < 1 && unsure.gain_high > sure.gain_high);
	hybrid_release(&hybrid);
}

/* ---- choices ---- */

static void catalogued_choices_stay_where_benchmarks_were(void)
{
	struct access access = instance(16);
	struct choices choices = { 0 };
	struct hybrid hybrid;
	struct prediction p;

	toy_fit(&hybrid, price_toy);
	REQUIRE(choices_catalogued(&choices, &hybrid, &access, NULL) == 0);
	CHECK(choices.count > 10);
	CHECK(!choices.list[0].aggregators && !choices.list[0].buffer_bytes);
	for (size_t i = 0; i < choices.count; i++) {
		uint64_t buffer = choices.list[i].buffer_bytes;

		CHECK(!buffer || (buffer >= 8 << 20 && buffer <= 32 << 20));
		CHECK(hybrid_predict(&hybrid, &access, &choices.list[i], 0.9, &p, NULL) == 0);
		CHECK(p.counts.aggregators >= 80 && p.counts.aggregators <= 1040);
	}
	choices_release(&choices);
	hybrid_release(&hybrid);
}

static void a_space_gives_each_of_its_settings_once(void)
{
	static const char *const pset[] = { "4", "16", "64", NULL };
	static const char *const buffers[] = { "", "8M", "32M", NULL };
	static const char *const alignments[] = { "", "4096,4096", NULL };
	struct access access = instance(16);
	struct choices choices = { 0 };
	struct space space = { .context.allowed = TUNABLE_LAYOUT };
	struct machine machine;

	REQUIRE(machine_open(&machine, "vesta", NULL) == 0);
	REQUIRE(space_add(&space, "alignment", alignments, NULL, NULL) == 0);
	REQUIRE(space_add(&space, "bg_nodes_pset", pset, "64", NULL) == 0);
	REQUIRE(space_add(&space, "cb_buffer_size", buffers, NULL, NULL) == 0);
	REQUIRE(choices_of_space(&choices, &space, &machine, &access, NULL) == 0);
	CHECK_INT(choices.count, 9);
	CHECK_TEXT(buf_text(&choices.unknown), "alignment");
	for (size_t i = 0; i < choices.count; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(memcmp(&choices.list[i], &choices.list[j], sizeof(*choices.list)));
	choices_release(&choices);
	space_release(&space);
}

/* ---- files ---- */

static void a_saved_model_predicts_the_same(void)
{
	AUTO_FREE char *path = xprintf("/tmp/predict-hybrid-%d", (int)getpid());
	struct hybrid hybrid, again;
	const struct bluegene_rules rules = { .single = SINGLE_CORRECTED,
					      .rounds = ROUNDS_DOMAINS };
	struct settings settings = choice(5);
	struct access access = instance(12);
	struct prediction a, b;
	struct err err = { 0 };

	toy_fit(&hybrid, price_toy);
	bluegene_attach(&hybrid.machine, &rules);
	REQUIRE(hybrid_save(&hybrid, path, &err) == 0);
	REQUIRE(hybrid_load(&again, path, &err) == 0);
	CHECK_INT(hybrid_predict(&again, &access, &settings, 0.9, &b, NULL), -ENOTSUP);
	bluegene_attach(&again.machine, NULL);
	REQUIRE(hybrid_predict(&hybrid, &access, &settings, 0.9, &a, NULL) == 0);
	REQUIRE(hybrid_predict(&again, &access, &settings, 0.9, &b, NULL) == 0);
	CHECK(a.seconds == b.seconds && a.low == b.low && a.high == b.high);
	CHECK_INT(bluegene_rules(&again.machine).single, SINGLE_CORRECTED);
	CHECK_INT(bluegene_rules(&again.machine).rounds, ROUNDS_DOMAINS);
	CHECK_TEXT(again.machine.title, hybrid.machine.title);
	CHECK_INT(again.made, hybrid.made);
	unlink(path);
	CHECK_INT(hybrid_load(&again, path, &err), -ENOENT);
	hybrid_release(&hybrid);
	hybrid_release(&again);
}

static void damaged_models_are_refused(void)
{
	static const struct sealed_kind kind = { .schema = "sluice.hybrid", .version = 1 };
	AUTO_FREE char *path = xprintf("/tmp/predict-hybrid-%d", (int)getpid());
	AUTO_BUF struct buf bytes = { 0 };
	struct hybrid hybrid, again = { .seed = 77 };
	struct err err = { 0 };

	toy_fit(&hybrid, price_toy);
	REQUIRE(hybrid_save(&hybrid, path, &err) == 0);
	REQUIRE(sealed_read(&bytes, &kind, path, &err) == 0);
	unlink(path);
	for (size_t i = 0; i < bytes.len; i += 101) {
		bytes.data[i] ^= 0x40;
		CHECK(hybrid_parse(&again, "damaged", bytes.data, bytes.len, &err) < 0);
		CHECK(strstr(err.text, "damaged"));
		bytes.data[i] ^= 0x40;
		CHECK(hybrid_parse(&again, "damaged", bytes.data, i, &err) < 0);
	}
	CHECK_INT(again.seed, 77);
	hybrid_release(&hybrid);
}

/* ---- the modelled machine ---- */

struct verdict {
	size_t inside, gains, losses, kept_losses, changed;
	double speedup, optimum;
};

static double truth(const struct replica *replica, const struct access *access,
		    const struct settings *settings)
{
	double sum = 0;

	for (uint64_t i = 0; i < 5; i++)
		sum += replica_run(replica, access, settings, i);
	return sum / 5;
}

static void instance_judge(const struct replica *replica, const struct hybrid *hybrid, size_t i,
			   struct verdict *v)
{
	struct access access = instance(i);
	struct settings settings[CHOICES];
	struct prediction p[CHOICES];
	struct recommendation r;
	double seconds[CHOICES], best = INFINITY, gained;

	for (size_t j = 0; j < CHOICES; j++) {
		settings[j] = choice(j);
		seconds[j] = truth(replica, &access, &settings[j]);
		best = fmin(best, seconds[j]);
		REQUIRE(hybrid_predict(hybrid, &access, &settings[j], 0.9, &p[j], NULL) == 0);
	}
	for (size_t j = 0; j < CHOICES; j++) {
		double real = seconds[INITIAL] / seconds[j];
		struct gain gain;

		hybrid_gain(&p[INITIAL], &p[j], &gain);
		v->gains += j != INITIAL;
		v->inside += j != INITIAL && gain.low <= real && real <= gain.high;
	}
	REQUIRE(hybrid_recommend(hybrid, &access, settings, CHOICES, &settings[INITIAL], 0.9, &r,
				 NULL) == 0);
	gained = seconds[INITIAL] / seconds[r.best];
	v->losses += gained < 0.98;
	v->kept_losses += gained < 0.98 && !r.keep;
	v->changed += !r.keep;
	v->speedup += r.keep ? 1 : gained;
	v->optimum += seconds[INITIAL] / best;
}

/*
 * Without any run of the application: most gains are taken, and none of what is taken is a loss.
 * How good it is in full, over laws, noise and rows, is `sluice model evaluate`'s to tell.
 */
static void modelled_vesta_gains_and_does_not_lose(void)
{
	static const struct learner_ops *const learners_quick[] = { &learner_rules,
								    &learner_perceptron, NULL };
	struct costs_plan plan = { .learners = learners_quick, .budget = 1, .seed = 1 };
	struct elements rows = { 0 };
	struct replica *replica;
	struct hybrid hybrid;
	struct verdict v = { 0 };

	REQUIRE(replica_open(&replica, "vesta", REPLICA_QUEUE, NULL) == 0);
	REQUIRE(replica_benchmark(replica, 1, &rows, NULL) == 0);
	REQUIRE(hybrid_fit(&hybrid, replica_machine(replica), &rows, &plan, NULL) == 0);
	for (size_t i = 0; i < INSTANCES; i++)
		instance_judge(replica, &hybrid, i, &v);
	CHECK(v.kept_losses == 0);
	CHECK(v.losses <= 3);
	CHECK(v.changed >= 10);
	CHECK(v.speedup > 0.9 * v.optimum);
	CHECK((double)v.inside > 0.75 * (double)v.gains);
	hybrid_release(&hybrid);
	elements_release(&rows);
	replica_close(replica);
}

TESTS(TEST(operations_of_one_second_count_themselves),
      TEST(terms_make_up_the_sum_and_lie_in_the_interval),
      TEST(errors_of_one_surrogate_do_not_average_out), TEST(times_of_many_are_those_of_each),
      TEST(a_cached_round_costs_a_first_one_without_its_locks),
      TEST(a_cached_round_costs_no_more_than_others_and_not_nothing),
      TEST(what_was_not_benchmarked_is_named), TEST(a_setting_gains_nothing_over_itself),
      TEST(what_is_common_cancels), TEST(a_gain_that_is_not_sure_is_not_taken),
      TEST(catalogued_choices_stay_where_benchmarks_were),
      TEST(a_space_gives_each_of_its_settings_once), TEST(a_saved_model_predicts_the_same),
      TEST(damaged_models_are_refused), TEST(modelled_vesta_gains_and_does_not_lose))
