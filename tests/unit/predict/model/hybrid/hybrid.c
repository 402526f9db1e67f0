/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hybrid model on rows from formulas, and on rows from the simulated machine, whose runs are
 * the truth.
 * Papers: HYB-11, HYB-29, HYB-AC-4.
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

typedef double price_of(enum operation operation, const struct elemental *at);

static double price_one(enum operation operation, const struct elemental *at)
{
	(void)operation;
	(void)at;
	return 1;
}

/* Locks cost more with more writers; bytes cost less. */
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

static void add_row(struct elements *rows, enum operation operation, const struct elemental *at,
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

static void add_collective_rows(struct elements *rows, double nodes, price_of *price)
{
	for (double bytes = 4; bytes <= 1 << 18; bytes *= 8)
		for (int o = OPERATION_ALLREDUCE; o <= OPERATION_ALLTOALL; o++)
			add_row(rows, (enum operation)o,
				&(struct elemental){ .nodes = nodes, .cores = 16, .bytes = bytes },
				price);
	for (double bytes = 4; bytes <= 1 << 26; bytes *= 16)
		for (double senders = 1; senders <= 16 * nodes; senders *= 8)
			for (double receivers = 1; receivers <= 5 * nodes; receivers *= 8)
				add_row(rows, OPERATION_ALLTOALLV,
					&(struct elemental){ nodes, 16, senders, receivers, 0,
							     bytes },
					price);
}

static void add_storage_rows(struct elements *rows, double nodes, price_of *price)
{
	static const double writers[] = { 0.3125, 1.0625, 4.0625 };

	for (double bytes = 8 << 20; bytes <= 32 << 20; bytes *= 2)
		for (int w = 0; w < 3; w++) {
			struct elemental at = { nodes, 16, 0, 0, writers[w], bytes };

			add_row(rows, OPERATION_WRITE_FIRST, &at, price);
			add_row(rows, OPERATION_WRITE_FULL, &at, price);
			for (double part = 0.01; part < 1.1; part += 0.33) {
				at.writers = part * writers[w];
				add_row(rows, OPERATION_WRITE_PARTIAL, &at, price);
			}
		}
}

static void fit_toy(struct hybrid *hybrid, price_of *price)
{
	struct elements rows = { 0 };
	struct machine machine;
	struct err err = { 0 };

	REQUIRE(machine_open(&machine, "vesta", &err) == 0);
	bluegene_attach(&machine, NULL);
	for (double nodes = 128; nodes <= 512; nodes *= 2) {
		add_collective_rows(&rows, nodes, price);
		add_storage_rows(&rows, nodes, price);
	}
	REQUIRE(hybrid_fit(hybrid, &machine, &rows, &line_plan, &err) == 0);
	elements_release(&rows);
}

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

static void unit_costs_predict_the_number_of_operations(void)
{
	struct hybrid hybrid;

	fit_toy(&hybrid, price_one);
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
			/* Small numbers of senders and writers were not benchmarked, but the cost
			 * is constant. */
			CHECK(fabs(p.seconds - expected) < 1e-6 * expected);
		}
	hybrid_release(&hybrid);
}

static void terms_add_up_and_intervals_widen_with_coverage(void)
{
	struct access access = instance(15);
	struct settings settings = choice(4);
	struct prediction wide, narrow;
	struct hybrid hybrid;
	double sum = 0;

	fit_toy(&hybrid, price_toy);
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

/* The relative error of a surrogate does not shrink with the number of its uses. */
static void errors_of_one_surrogate_do_not_average_out(void)
{
	struct access access = instance(8);
	struct settings settings = choice(4);
	struct hybrid hybrid;
	struct prediction p;

	fit_toy(&hybrid, price_toy);
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

static size_t settings_many(struct settings *settings)
{
	size_t count = 0;

	for (uint64_t aggregators = 1; aggregators <= 70; aggregators += 3)
		for (uint64_t mib = 1; mib <= 64; mib++)
			settings[count++] = (struct settings){ .aggregators = aggregators,
							       .buffer_bytes = mib << 20 };
	return count;
}

static void check_many(enum rule_rounds rounds)
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

	fit_toy(&hybrid, price_toy);
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

static void times_of_many_settings_equal_single_predictions(void)
{
	check_many(ROUNDS_PUBLISHED);
	check_many(ROUNDS_DOMAINS);
}

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

/* Removes the result of smoothing. */
static void forget_smoothing(struct hybrid *hybrid)
{
	for (int i = 0; i < OPERATIONS; i++) {
		hybrid->costs.of[i].noise = NAN;
		for (size_t j = 0; j < hybrid->costs.of[i].cell_count; j++)
			hybrid->costs.of[i].cells[j].deviation = NAN;
	}
}

/*
 * In the toy model, bytes cost 0.01 s per writer and MiB, so 0.3125 * 0.01 * 8 s for 40 writers on
 * 128 nodes with 8 MiB each.
 */
static void a_cached_round_costs_as_much_as_a_first_one_without_locks(void)
{
	struct hybrid hybrid;

	fit_toy(&hybrid, price_toy);
	use_domains(&hybrid);
	/* Use measurements only, because a linear model does not fit the toy model exactly. */
	forget_smoothing(&hybrid);
	for (int i = 0; i < OPERATIONS; i++)
		hybrid.costs.of[i].noise = 0;
	CHECK(fabs(cached_each(&hybrid, 0) - 0.3125 * 0.01 * 8) < 1e-9);
	CHECK(fabs(cached_each(&hybrid, 2) - 0.3125 * 0.01 * 32) < 1e-9);
	hybrid_release(&hybrid);
}

static void the_cost_of_a_cached_round_is_positive_and_bounded(void)
{
	struct hybrid hybrid;
	double each;

	/* The cost is one second for any size, so the difference suggests that bytes are free. */
	fit_toy(&hybrid, price_one);
	use_domains(&hybrid);
	each = cached_each(&hybrid, 0);
	CHECK(each > 0 && each < 0.01);
	hybrid_release(&hybrid);
}

static void operations_without_benchmarks_are_named(void)
{
	struct access access = instance(4);
	struct settings settings = choice(4);
	struct recommendation r = { .best = 77 };
	struct prediction p = { .seconds = 77 };
	struct hybrid hybrid;
	struct err err = { 0 };
	double seconds = 77;

	fit_toy(&hybrid, price_toy);
	hybrid.costs.of[OPERATION_WRITE_PARTIAL].is_fitted = false;
	CHECK_INT(hybrid_predict(&hybrid, &access, &settings, 0.9, &p, &err), -ENODATA);
	CHECK(strstr(err.text, "s_nl_partial") && strstr(err.text, "storage"));
	CHECK_INT(hybrid_times(&hybrid, &access, &settings, 1, &seconds, &err), -ENODATA);
	CHECK_INT(hybrid_recommend(&hybrid, &access, &settings, 1, &settings, 0.9, &r, &err),
		  -ENODATA);
	CHECK(p.seconds == 77 && seconds == 77 && r.best == 77);
	hybrid_release(&hybrid);
}

static void a_setting_gains_nothing_over_itself(void)
{
	struct access access = instance(20);
	struct settings settings = choice(3);
	struct recommendation r;
	struct hybrid hybrid;
	struct prediction p;
	struct gain gain;

	fit_toy(&hybrid, price_toy);
	REQUIRE(hybrid_predict(&hybrid, &access, &settings, 0.9, &p, NULL) == 0);
	hybrid_gain(&p, &p, &gain);
	CHECK(gain.gain == 1 && gain.low == 1 && gain.high == 1);
	REQUIRE(hybrid_recommend(&hybrid, &access, &settings, 1, &settings, 0.9, &r, NULL) == 0);
	CHECK(r.keep && r.best == 0);
	hybrid_release(&hybrid);
}

/* Both settings share an error, so their ratio is known better than the times. */
static void common_errors_cancel(void)
{
	struct prediction from = { .seconds = 11, .correction = 1 };
	struct prediction to = { .seconds = 10.5, .correction = 1 };
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
	/* With the same margin for the second operation, a loss is possible. */
	from.margins[1] = to.margins[1] = log(3);
	hybrid_gain(&from, &to, &gain);
	CHECK(gain.low < 1);
	/* An infinite margin makes the gain unknown. */
	from.margins[1] = to.margins[1] = INFINITY;
	hybrid_gain(&from, &to, &gain);
	CHECK(gain.low < 1e-9 && !isnan(gain.high));
}

static void an_uncertain_gain_keeps_the_default(void)
{
	struct access access = instance(10);
	struct settings settings[CHOICES];
	struct recommendation sure, unsure;
	struct hybrid hybrid;

	fit_toy(&hybrid, price_toy);
	forget_smoothing(&hybrid);
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

static void choices_from_the_catalog_stay_in_the_benchmarked_range(void)
{
	struct access access = instance(16);
	struct choices choices = { 0 };
	struct hybrid hybrid;
	struct prediction p;

	fit_toy(&hybrid, price_toy);
	REQUIRE(choices_from_catalog(&choices, &hybrid, &access, NULL) == 0);
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

static void a_space_lists_each_setting_once(void)
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
	REQUIRE(choices_from_space(&choices, &space, &machine, &access, NULL) == 0);
	CHECK_INT(choices.count, 9);
	CHECK_TEXT(buf_text(&choices.unknown), "alignment");
	for (size_t i = 0; i < choices.count; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(memcmp(&choices.list[i], &choices.list[j], sizeof(*choices.list)));
	choices_release(&choices);
	space_release(&space);
}

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

	fit_toy(&hybrid, price_toy);
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
	static const struct checked_file_kind kind = { .schema = "sluice.hybrid", .version = 2 };
	AUTO_FREE char *path = xprintf("/tmp/predict-hybrid-%d", (int)getpid());
	AUTO_BUF struct buf bytes = { 0 };
	struct hybrid hybrid, again = { .seed = 77 };
	struct err err = { 0 };

	fit_toy(&hybrid, price_toy);
	REQUIRE(hybrid_save(&hybrid, path, &err) == 0);
	REQUIRE(checked_file_read(&bytes, &kind, path, &err) == 0);
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

static void judge_instance(const struct replica *replica, const struct hybrid *hybrid, size_t i,
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
 * Without any run of the application, the model realizes most of the gain and recommends no loss.
 * `sluice lab evaluate` measures its quality in full.
 */
static void recommendations_for_the_simulated_vesta_gain_and_never_lose(void)
{
	static const struct learner_ops *const learners_quick[] = { &learner_rules,
								    &learner_perceptron, NULL };
	struct costs_plan plan = { .learners = learners_quick, .budget = 1, .seed = 1 };
	struct elements rows = { 0 };
	struct replica *replica;
	struct machine machine;
	struct hybrid hybrid;
	struct verdict v = { 0 };

	REQUIRE(replica_open(&replica, "vesta", REPLICA_QUEUE, NULL) == 0);
	REQUIRE(replica_benchmark(replica, 1, &rows, NULL) == 0);
	machine = *replica_machine(replica);
	bluegene_attach(&machine, NULL);
	REQUIRE(hybrid_fit(&hybrid, &machine, &rows, &plan, NULL) == 0);
	for (size_t i = 0; i < INSTANCES; i++)
		judge_instance(replica, &hybrid, i, &v);
	CHECK(v.kept_losses == 0);
	CHECK(v.losses <= 3);
	CHECK(v.changed >= 10);
	CHECK(v.speedup > 0.9 * v.optimum);
	CHECK((double)v.inside > 0.75 * (double)v.gains);
	hybrid_release(&hybrid);
	elements_release(&rows);
	replica_close(replica);
}

TESTS(TEST(unit_costs_predict_the_number_of_operations),
      TEST(terms_add_up_and_intervals_widen_with_coverage),
      TEST(errors_of_one_surrogate_do_not_average_out),
      TEST(times_of_many_settings_equal_single_predictions),
      TEST(a_cached_round_costs_as_much_as_a_first_one_without_locks),
      TEST(the_cost_of_a_cached_round_is_positive_and_bounded),
      TEST(operations_without_benchmarks_are_named), TEST(a_setting_gains_nothing_over_itself),
      TEST(common_errors_cancel), TEST(an_uncertain_gain_keeps_the_default),
      TEST(choices_from_the_catalog_stay_in_the_benchmarked_range),
      TEST(a_space_lists_each_setting_once), TEST(a_saved_model_predicts_the_same),
      TEST(damaged_models_are_refused),
      TEST(recommendations_for_the_simulated_vesta_gain_and_never_lose))
