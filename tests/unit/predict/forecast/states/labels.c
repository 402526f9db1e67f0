/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-18, WAN-19.
 */
#include "predict/forecast/states/labels.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "forecast_sample.h"
#include "learn/file/blob.h"
#include "papers.h"

static const struct labels_plan always = { .from_s = -INFINITY, .to_s = INFINITY, .seed = 1 };

/* WAN-AC-5 defines the generators and the required accuracy of a fit. */
static void mixture_check(double idle, double first, double second, double s0, double s1)
{
	static const uint64_t sizes[] = { 1 << 20, SAMPLE_LARGE };
	struct chronicle chronicle;
	struct states states = { 0 };
	struct random random;
	const struct mixture *mixture;

	random_init(&random, 5);
	chronicle_init(&chronicle, "x", sizes, 2);
	for (int i = 0; i < 20000; i++) {
		bool busy = random_real(&random) >= idle;

		chronicle_add(
			&chronicle, chronicle_add_target(&chronicle, i % 2 ? "a" : "b"), 1, 1e9 + i,
			exp(log(busy ? second : first) + (busy ? s1 : s0) * random_normal(&random)),
			SAMPLE_DONE, SAMPLE_FSYNC);
	}
	CHECK_INT(states_fit(&states, &chronicle, &always, NULL), 0);
	mixture = states_mixture(&states, 1, 1);
	REQUIRE(mixture);
	CHECK(fabs(mixture->components[0].weight - idle) < 0.03);
	CHECK(fabs(mixture_mean(mixture, 0) / (first * exp(s0 * s0 / 2)) - 1) < 0.02);
	CHECK(fabs(mixture_mean(mixture, 1) / (second * exp(s1 * s1 / 2)) - 1) < 0.02);
	CHECK(!states_mixture(&states, 0, 0));
	states_release(&states);
	chronicle_release(&chronicle);
}

static void states_match_titan_and_cori(void)
{
	mixture_check(0.7, 1.85, 2.7, 0.06, 0.20);
	mixture_check(0.65, 3.2, 4.0, 0.04, 0.10);
}

/* As seen on throttled devices: 1.6 % of the writes were bursts, a hundred times faster. */
static void few_fast_writes_are_not_a_state(void)
{
	static const uint64_t sizes[] = { 1 << 20, SAMPLE_LARGE };
	struct chronicle chronicle;
	struct states states = { 0 };
	struct random random;
	const struct mixture *mixture;

	random_init(&random, 7);
	chronicle_init(&chronicle, "x", sizes, 2);
	for (int i = 0; i < 435; i++) {
		double typical = i % 62 == 5 ? 0.002 : i % 10 < 3 ? 0.55 : 0.14;

		chronicle_add(&chronicle, chronicle_add_target(&chronicle, "a"), 1, 1e9 + i,
			      typical * exp(0.25 * random_normal(&random)), SAMPLE_DONE,
			      SAMPLE_DIRECT);
	}
	CHECK_INT(states_fit(&states, &chronicle, &always, NULL), 0);
	mixture = states_mixture(&states, 0, 1);
	REQUIRE(mixture);
	CHECK(fabs(mixture->components[0].weight - 0.7) < 0.05);
	CHECK(fabs(mixture_mean(mixture, 0) / 0.14 - 1) < 0.1);
	CHECK(fabs(mixture_mean(mixture, 1) / 0.55 - 1) < 0.1);
	states_release(&states);
	chronicle_release(&chronicle);
}

static void label_frequencies_match_posteriors(void)
{
	enum { N = 20000 };
	static double time_s[N], seconds[N], labels[N], posterior[N];
	struct labels_writes writes = { .time_s = time_s, .seconds = seconds, .count = N };
	struct states states = { 0 };
	struct sample sample;
	double drawn = 0, expected = 0, variance = 0, best = 0, ceiling;

	sample_make(&sample, 1, 3, 0);
	REQUIRE(states_fit(&states, &sample.chronicle, &always, NULL) == 0);
	for (int i = 0; i < N; i++) {
		time_s[i] = 1e9 + 300 * i;
		seconds[i] = 1.7 + 1.4 * i / N;
	}
	ceiling = labels_draw(&states, 2, 2, 7, &writes, labels, posterior);
	for (int i = 0; i < N; i++) {
		drawn += labels[i];
		expected += posterior[i];
		variance += posterior[i] * (1 - posterior[i]);
		best += fmax(posterior[i], 1 - posterior[i]) / N;
	}
	CHECK(variance > 100);
	PAPER_HOLDS("WAN-AC-7",
		    fabs(drawn - expected) < 4 * sqrt(variance) && fabs(ceiling - best) < 1e-9,
		    "%.0f labels, %.0f expected, standard deviation %.0f; ceiling %.3f", drawn,
		    expected, sqrt(variance), ceiling);
	/* An oracle that knows the posterior reaches the ceiling and does not exceed it. */
	drawn = 0;
	for (int i = 0; i < N; i++)
		drawn += (posterior[i] > 0.5) == (labels[i] == 1);
	CHECK(fabs(drawn / N - ceiling) < 4 * sqrt(variance) / N);
	states_release(&states);
	sample_release(&sample);
}

static void a_write_has_the_same_label_in_every_range(void)
{
	enum { N = 1000 };
	double time_s[N], seconds[N], labels[N], posterior[N], part[N], rest[N];
	struct labels_writes writes = { .time_s = time_s, .seconds = seconds, .count = N };
	struct states states = { 0 };
	struct sample sample;
	int differ = 0;

	sample_make(&sample, 1, 3, 0);
	REQUIRE(states_fit(&states, &sample.chronicle, &always, NULL) == 0);
	for (int i = 0; i < N; i++) {
		time_s[i] = 1e9 + i;
		seconds[i] = 2.05;
	}
	labels_draw(&states, 1, 2, 7, &writes, labels, posterior);
	writes = (struct labels_writes){ time_s + 300, seconds + 300, NULL, 500 };
	labels_draw(&states, 1, 2, 7, &writes, part, rest);
	for (int i = 0; i < 500; i++)
		CHECK(part[i] == labels[300 + i]);
	/* Another seed, target or size gives other labels. */
	writes = (struct labels_writes){ time_s, seconds, NULL, N };
	labels_draw(&states, 2, 2, 7, &writes, part, rest);
	for (int i = 0; i < N; i++)
		differ += part[i] != labels[i];
	CHECK(differ > 50);
	differ = 0;
	labels_draw(&states, 1, 2, 8, &writes, part, rest);
	for (int i = 0; i < N; i++)
		differ += part[i] != labels[i];
	CHECK(differ > 50);
	states_release(&states);
	sample_release(&sample);
}

static void a_write_that_timed_out_is_busy(void)
{
	double time_s[] = { 1, 2 }, seconds[] = { 1.85, 1.85 }, labels[2], posterior[2];
	bool late[] = { false, true };
	struct labels_writes writes = { time_s, seconds, late, 2 };
	struct states states = { 0 }, again = { 0 };
	struct sample sample;
	double before;

	sample_make(&sample, 1, 3, 0);
	REQUIRE(states_fit(&states, &sample.chronicle, &always, NULL) == 0);
	labels_draw(&states, 0, 2, 1, &writes, labels, posterior);
	CHECK(posterior[0] < 0.5);
	CHECK(labels[1] == 1 && posterior[1] == 1);
	/* The mixture does not use it: 20 s is the timeout, not the duration. */
	before = mixture_mean(states_mixture(&states, 0, 2), 1);
	for (int i = 0; i < 50; i++)
		chronicle_add(&sample.chronicle, 0, 2, SAMPLE_START + i, 20, SAMPLE_TIMEOUT,
			      SAMPLE_DIRECT);
	REQUIRE(states_fit(&again, &sample.chronicle, &always, NULL) == 0);
	CHECK(mixture_mean(states_mixture(&again, 0, 2), 1) == before);
	states_release(&again);
	states_release(&states);
	sample_release(&sample);
}

static void only_the_training_range_is_used(void)
{
	struct labels_plan plan = { .from_s = SAMPLE_START, .to_s = SAMPLE_START + 86400 };
	struct states states = { 0 }, again = { 0 };
	struct sample sample;

	sample_make(&sample, 1.5, 3, 0);
	REQUIRE(states_fit(&states, &sample.chronicle, &plan, NULL) == 0);
	chronicle_add(&sample.chronicle, 0, 2, SAMPLE_START + 86400, 500, SAMPLE_DONE,
		      SAMPLE_DIRECT);
	REQUIRE(states_fit(&again, &sample.chronicle, &plan, NULL) == 0);
	CHECK(memcmp(states.mixtures, again.mixtures, 3 * sizeof(struct mixture)) == 0);
	states_release(&states);
	states_release(&again);
	sample_release(&sample);
}

static void targets_can_have_separate_states(void)
{
	struct labels_plan plan = always;
	struct states states = { 0 }, loaded = { 0 };
	AUTO_BUF struct buf buf = { 0 };
	struct sample sample;
	struct blob blob;

	plan.scope = LABELS_TARGET;
	sample_make(&sample, 1, 3, 0);
	chronicle_add_target(&sample.chronicle, "new");
	REQUIRE(states_fit(&states, &sample.chronicle, &plan, NULL) == 0);
	CHECK(states_mixture(&states, 0, 2) != states_mixture(&states, 1, 2));
	CHECK(!states_mixture(&states, SAMPLE_TARGETS, 2));
	states_save(&states, &buf);
	blob_init(&blob, buf_text(&buf), buf.len);
	REQUIRE(states_load(&loaded, &blob, SAMPLE_TARGETS + 1, 3, NULL) == 0);
	CHECK(blob.at == blob.end);
	CHECK(mixture_mean(states_mixture(&loaded, 3, 1), 1) ==
	      mixture_mean(states_mixture(&states, 3, 1), 1));
	CHECK(!states_mixture(&loaded, SAMPLE_TARGETS, 2));
	states_release(&loaded);
	states_release(&states);
	sample_release(&sample);
}

static void no_reference_writes_give_no_states(void)
{
	struct labels_plan plan = { .from_s = 5, .to_s = 6 };
	struct states states = { 0 };
	struct err err = { 0 };
	struct sample sample;

	sample_make(&sample, .1, 3, 0);
	CHECK_INT(states_fit(&states, &sample.chronicle, &plan, &err), -ENODATA);
	CHECK(strstr(err.text, "little"));
	sample_release(&sample);
}

TESTS(TEST(states_match_titan_and_cori), TEST(few_fast_writes_are_not_a_state),
      TEST(label_frequencies_match_posteriors), TEST(a_write_has_the_same_label_in_every_range),
      TEST(a_write_that_timed_out_is_busy), TEST(only_the_training_range_is_used),
      TEST(targets_can_have_separate_states), TEST(no_reference_writes_give_no_states))
