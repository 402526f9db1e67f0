/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-36.
 */
#include "observe/reason/reasoner.h"

#include <math.h>

#include "check.h"

#define SECOND 1000000000ll
static const double idle[4] = { 10, 5, 20, 99 }, busy[4] = { 10, 5, 97, 40 };

/* A detector that returns what the test sets, once. */
static bool detect(void *arg, struct sluice_health *health)
{
	struct sluice_health *next = arg;
	bool any = false;

	for (size_t i = 0; i < SLUICE_SPEEDS; i++) {
		health->counts[i] += next->counts[i];
		any |= next->counts[i] > 0;
	}
	health->excess_ns += next->excess_ns;
	*next = (struct sluice_health){ 0 };
	return any;
}

struct heard {
	int count, new_count;
	char reason[256], id[64];
	enum health_rule rule;
};

static void listen(void *arg, const struct anomaly *anomaly)
{
	struct heard *heard = arg;

	heard->count++;
	heard->new_count += anomaly->is_new;
	heard->rule = anomaly->report->rule;
	snprintf(heard->reason, sizeof(heard->reason), "%s", anomaly->reason);
	snprintf(heard->id, sizeof(heard->id), "%s", anomaly->report->id);
}

struct bench {
	struct reasoner *reasoner;
	struct sluice_health next;
	struct heard heard;
	int64_t now_ns;
};

static void bench_open(struct bench *b, enum role role, const char *id)
{
	*b = (struct bench){ .now_ns = 1000 * SECOND };
	b->reasoner = reasoner_new(role, id, NULL);
	reasoner_add_detector(b->reasoner, detect, &b->next);
	reasoner_add_listener(b->reasoner, listen, &b->heard);
}

static const struct health_report *bench_cycle(struct bench *b)
{
	b->now_ns += SECOND;
	return reasoner_cycle(b->reasoner, b->now_ns);
}

static void bench_calls(struct bench *b, uint64_t very_slow, uint64_t normal, uint64_t very_fast)
{
	b->next = (struct sluice_health){ .counts = { [SLUICE_VERY_SLOW] = very_slow,
						      [SLUICE_NORMAL] = normal,
						      [SLUICE_VERY_FAST] = very_fast } };
}

static void usual_calls_are_good_and_silent(void)
{
	struct bench b;
	const struct health_report *report;

	bench_open(&b, ROLE_PROCESS, "process 1");
	bench_calls(&b, 1, 98, 1);
	report = bench_cycle(&b);
	CHECK_INT(report->state, HEALTH_GOOD);
	CHECK_INT(report->rule, RULE_NONE);
	CHECK_INT(report->health.counts[SLUICE_NORMAL], 98);
	CHECK_INT(report->time_ns, b.now_ns);
	CHECK_INT(b.heard.count, 0);
	reasoner_free(b.reasoner);
}

static void slow_calls_are_signaled_in_their_cycle(void)
{
	struct bench b;

	bench_open(&b, ROLE_PROCESS, "process 1");
	reasoner_load(b.reasoner, idle);
	bench_calls(&b, 0, 100, 0);
	bench_cycle(&b);
	bench_calls(&b, 6, 94, 0);
	b.next.excess_ns = 60000000;
	CHECK_INT(bench_cycle(&b)->state, HEALTH_BAD);
	CHECK_INT(b.heard.count, 1);
	CHECK_INT(b.heard.rule, RULE_SLOW);
	CHECK_TEXT(b.heard.id, "process 1");
	CHECK_WORDS(b.heard.reason, "6 of 100 calls|slow|60.0 ms");
	reasoner_free(b.reasoner);
}

static void a_lasting_anomaly_is_signaled_each_cycle_but_new_once(void)
{
	struct bench b;

	bench_open(&b, ROLE_PROCESS, "process 1");
	for (int i = 0; i < 3; i++) {
		bench_calls(&b, 50, 50, 0);
		bench_cycle(&b);
	}
	CHECK_INT(b.heard.count, 3);
	CHECK_INT(b.heard.new_count, 1);
	/* Cycles without calls do not end the anomaly. */
	bench_cycle(&b);
	bench_calls(&b, 50, 50, 0);
	bench_cycle(&b);
	CHECK_INT(b.heard.count, 4);
	CHECK_INT(b.heard.new_count, 1);
	bench_calls(&b, 0, 100, 0);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_GOOD);
	bench_calls(&b, 50, 50, 0);
	bench_cycle(&b);
	CHECK_INT(b.heard.new_count, 2);
	reasoner_free(b.reasoner);
}

static void a_share_at_the_threshold_is_not_an_anomaly(void)
{
	struct bench b;

	bench_open(&b, ROLE_PROCESS, "process 1");
	bench_calls(&b, 5, 95, 0);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_GOOD);
	CHECK_INT(b.heard.count, 0);
	reasoner_free(b.reasoner);
}

static void slow_under_load_is_explained(void)
{
	struct bench b;
	const struct health_report *report;

	bench_open(&b, ROLE_PROCESS, "process 1");
	reasoner_load(b.reasoner, busy);
	bench_calls(&b, 90, 10, 0);
	report = bench_cycle(&b);
	CHECK_INT(report->state, HEALTH_GOOD);
	CHECK_INT(report->rule, RULE_LOADED);
	CHECK_INT(b.heard.count, 0);
	/* Memory alone explains nothing. */
	reasoner_load(b.reasoner, idle);
	bench_calls(&b, 90, 10, 0);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_BAD);
	reasoner_free(b.reasoner);
}

static void load_of_the_node_reaches_its_processes_in_its_report(void)
{
	struct bench b;
	struct health_report node = { .id = "n1", .role = ROLE_NODE, .state = HEALTH_GOOD };

	bench_open(&b, ROLE_PROCESS, "process 1");
	memcpy(node.utilization, busy, sizeof(busy));
	node.time_ns = b.now_ns;
	reasoner_hear(b.reasoner, &node);
	bench_calls(&b, 90, 10, 0);
	CHECK_INT(bench_cycle(&b)->rule, RULE_LOADED);
	/* An old report does not count any more. */
	b.now_ns += 60 * SECOND;
	bench_calls(&b, 90, 10, 0);
	CHECK_INT(bench_cycle(&b)->rule, RULE_SLOW);
	reasoner_free(b.reasoner);
}

static void very_fast_calls_are_abnormally_good(void)
{
	struct bench b;

	bench_open(&b, ROLE_PROCESS, "process 1");
	bench_calls(&b, 0, 40, 60);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_ABNORMALLY_GOOD);
	CHECK_INT(b.heard.count, 1);
	CHECK_WORDS(b.heard.reason, "60 of 100 calls|fast");
	reasoner_free(b.reasoner);
}

static void few_calls_keep_the_state_for_a_while(void)
{
	struct bench b;

	bench_open(&b, ROLE_PROCESS, "process 1");
	bench_calls(&b, 3, 0, 0);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_UNKNOWN);
	bench_calls(&b, 50, 50, 0);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_BAD);
	for (int i = 0; i < 5; i++)
		CHECK_INT(bench_cycle(&b)->state, HEALTH_BAD);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_UNKNOWN);
	CHECK_INT(b.heard.count, 1);
	reasoner_free(b.reasoner);
}

static void one_call_that_hangs_is_enough(void)
{
	struct bench b;

	bench_open(&b, ROLE_PROCESS, "process 1");
	bench_calls(&b, 0, 100, 0);
	bench_cycle(&b);
	bench_calls(&b, 1, 0, 0);
	b.next.excess_ns = SECOND * 3 / 4;
	CHECK_INT(bench_cycle(&b)->state, HEALTH_BAD);
	CHECK_INT(b.heard.rule, RULE_SLOW);
	reasoner_free(b.reasoner);
}

static struct health_report process_report(const char *id, enum health_state state, int64_t time_ns)
{
	struct health_report report = { .role = ROLE_PROCESS, .state = state, .time_ns = time_ns };

	snprintf(report.id, sizeof(report.id), "%s", id);
	report.rule = state == HEALTH_BAD ? RULE_SLOW : RULE_NONE;
	report.health.counts[state == HEALTH_BAD ? SLUICE_VERY_SLOW : SLUICE_NORMAL] =
		state == HEALTH_BAD ? 30 : 1000;
	return report;
}

static void a_node_signals_a_bad_process_once(void)
{
	struct bench b;
	struct health_report report;

	bench_open(&b, ROLE_NODE, "n1");
	for (int i = 0; i < 3; i++) {
		report = process_report("process 1", HEALTH_GOOD, b.now_ns);
		reasoner_hear(b.reasoner, &report);
		report = process_report("process 2", HEALTH_BAD, b.now_ns);
		reasoner_hear(b.reasoner, &report);
		CHECK_INT(bench_cycle(&b)->state, HEALTH_BAD);
	}
	CHECK_INT(b.heard.count, 1);
	CHECK_INT(b.heard.rule, RULE_NEIGHBOR);
	CHECK_WORDS(b.heard.reason, "process 2|bad");
	report = process_report("process 1", HEALTH_BAD, b.now_ns);
	report.health.counts[SLUICE_NORMAL] = 2000;
	reasoner_hear(b.reasoner, &report);
	bench_cycle(&b);
	CHECK_INT(b.heard.count, 2);
	CHECK_WORDS(b.heard.reason, "process 1|1 more");
	reasoner_free(b.reasoner);
}

static void a_node_judges_the_sum_of_its_processes(void)
{
	struct bench b;
	struct health_report report;
	char id[16];

	bench_open(&b, ROLE_NODE, "n1");
	for (int i = 0; i < 4; i++) {
		/* Each process has too few calls to be judged alone. */
		snprintf(id, sizeof(id), "process %d", i);
		report = process_report(id, HEALTH_UNKNOWN, b.now_ns);
		report.health = (struct sluice_health){
			.counts = { [SLUICE_VERY_SLOW] = 6, [SLUICE_NORMAL] = 1 }
		};
		reasoner_hear(b.reasoner, &report);
	}
	CHECK_INT(bench_cycle(&b)->health.counts[SLUICE_VERY_SLOW], 24);
	CHECK_INT(b.heard.rule, RULE_SLOW);
	reasoner_free(b.reasoner);
}

static void a_stale_neighbor_is_ignored(void)
{
	struct bench b;
	struct health_report report;

	bench_open(&b, ROLE_NODE, "n1");
	report = process_report("process 2", HEALTH_BAD, b.now_ns - 10 * SECOND);
	reasoner_hear(b.reasoner, &report);
	report = process_report("process 3", HEALTH_BAD, b.now_ns + 10 * SECOND);
	reasoner_hear(b.reasoner, &report);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_UNKNOWN);
	CHECK_INT(b.heard.count, 0);
	reasoner_free(b.reasoner);
}

static void load_of_a_node_explains_slow_calls_to_the_system(void)
{
	struct bench b;
	struct health_report node = { .id = "n1", .role = ROLE_NODE, .state = HEALTH_GOOD };

	bench_open(&b, ROLE_SYSTEM, "system");
	node.time_ns = b.now_ns;
	node.rule = RULE_LOADED;
	node.health.counts[SLUICE_VERY_SLOW] = 100;
	node.health.excess_ns = 100 * SECOND;
	reasoner_hear(b.reasoner, &node);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_GOOD);
	CHECK_INT(b.heard.count, 0);
	CHECK_INT(reasoner_cycle(b.reasoner, b.now_ns + 1)->health.counts[SLUICE_NORMAL], 100);
	reasoner_free(b.reasoner);
}

static void only_reports_of_neighbors_count(void)
{
	struct bench b;
	struct health_report report;

	bench_open(&b, ROLE_SYSTEM, "system");
	report = process_report("process 2", HEALTH_BAD, b.now_ns);
	reasoner_hear(b.reasoner, &report);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_UNKNOWN);
	reasoner_free(b.reasoner);
}

static void unknown_load_explains_nothing(void)
{
	struct bench b;
	const double unknown[4] = { NAN, NAN, NAN, NAN };

	bench_open(&b, ROLE_PROCESS, "process 1");
	reasoner_load(b.reasoner, unknown);
	bench_calls(&b, 50, 50, 0);
	CHECK_INT(bench_cycle(&b)->state, HEALTH_BAD);
	reasoner_free(b.reasoner);
}

TESTS(TEST(usual_calls_are_good_and_silent), TEST(slow_calls_are_signaled_in_their_cycle),
      TEST(a_lasting_anomaly_is_signaled_each_cycle_but_new_once),
      TEST(a_share_at_the_threshold_is_not_an_anomaly), TEST(slow_under_load_is_explained),
      TEST(load_of_the_node_reaches_its_processes_in_its_report),
      TEST(very_fast_calls_are_abnormally_good), TEST(few_calls_keep_the_state_for_a_while),
      TEST(one_call_that_hangs_is_enough), TEST(a_node_signals_a_bad_process_once),
      TEST(a_node_judges_the_sum_of_its_processes), TEST(a_stale_neighbor_is_ignored),
      TEST(load_of_a_node_explains_slow_calls_to_the_system), TEST(only_reports_of_neighbors_count),
      TEST(unknown_load_explains_nothing))
