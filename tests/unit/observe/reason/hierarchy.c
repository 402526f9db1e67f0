/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-35.
 */
#include "observe/reason/hierarchy.h"

#include <unistd.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

#define SECOND 1000000000ll
#define PROCESSES 8

/* A node whose detector returns what the test sets, and the anomalies signaled on it. */
struct node {
	struct hierarchy *hierarchy;
	struct sluice_health next[PROCESSES];
	unsigned polls;
	struct {
		enum role role;
		int32_t process;
	} signals[64];
	size_t signal_count, new_count;
};

static bool detect(void *arg, uint32_t process, struct sluice_health *health)
{
	struct node *node = arg;

	node->polls++;
	for (size_t i = 0; i < SLUICE_SPEEDS; i++)
		health->counts[i] += node->next[process].counts[i];
	node->next[process] = (struct sluice_health){ 0 };
	return true;
}

static void listen(void *arg, int32_t process, const struct anomaly *anomaly)
{
	struct node *node = arg;

	REQUIRE(node->signal_count < 64);
	node->signals[node->signal_count].role = anomaly->report->role;
	node->signals[node->signal_count++].process = process;
	node->new_count += anomaly->is_new;
}

static void node_open(struct node *node, const char *host, const char *board)
{
	*node = (struct node){ .hierarchy = hierarchy_new(host, board, NULL) };
	hierarchy_add_detector(node->hierarchy, detect, node);
	hierarchy_listen(node->hierarchy, listen, node);
}

static void node_calls(struct node *node, uint32_t process, uint64_t very_slow, uint64_t normal)
{
	node->next[process] = (struct sluice_health){
		.counts = { [SLUICE_VERY_SLOW] = very_slow, [SLUICE_NORMAL] = normal }
	};
	hierarchy_seen(node->hierarchy, process);
}

static enum health_state state_of(const struct node *node, enum role role, uint32_t process)
{
	const struct health_report *report = hierarchy_report(node->hierarchy, role, process);

	return report ? report->state : HEALTH_STATES;
}

static void an_anomaly_reaches_the_system_in_one_cycle(void)
{
	struct node node;

	node_open(&node, "n1", NULL);
	node_calls(&node, 1, 0, 1000);
	node_calls(&node, 3, 0, 1000);
	CHECK_INT(hierarchy_cycle(node.hierarchy, 1 * SECOND, NULL), 0);
	CHECK_INT(node.signal_count, 0);
	CHECK_INT(state_of(&node, ROLE_SYSTEM, 0), HEALTH_GOOD);
	node_calls(&node, 1, 0, 1000);
	node_calls(&node, 3, 40, 10);
	CHECK_INT(hierarchy_cycle(node.hierarchy, 2 * SECOND, NULL), 0);
	REQUIRE(node.signal_count == 3);
	CHECK_INT(node.signals[0].role, ROLE_PROCESS);
	CHECK_INT(node.signals[0].process, 3);
	CHECK_INT(node.signals[1].role, ROLE_NODE);
	CHECK_INT(node.signals[1].process, -1);
	CHECK_INT(node.signals[2].role, ROLE_SYSTEM);
	CHECK_INT(state_of(&node, ROLE_PROCESS, 1), HEALTH_GOOD);
	CHECK_INT(state_of(&node, ROLE_PROCESS, 3), HEALTH_BAD);
	CHECK_INT(node.new_count, 3);
	/* It lasts, across a cycle without calls: not new at any level. */
	hierarchy_cycle(node.hierarchy, 3 * SECOND, NULL);
	node_calls(&node, 3, 40, 10);
	hierarchy_cycle(node.hierarchy, 4 * SECOND, NULL);
	CHECK(node.signal_count > 3);
	CHECK_INT(node.new_count, 3);
	hierarchy_free(node.hierarchy);
}

static void load_of_the_node_explains_slow_calls_at_all_levels(void)
{
	static const double busy[4] = { 99, 0, 0, 0 };
	struct node node;

	node_open(&node, "n1", NULL);
	hierarchy_load(node.hierarchy, busy);
	node_calls(&node, 1, 40, 10);
	CHECK_INT(hierarchy_cycle(node.hierarchy, SECOND, NULL), 0);
	CHECK_INT(node.signal_count, 0);
	CHECK_INT(state_of(&node, ROLE_SYSTEM, 0), HEALTH_GOOD);
	hierarchy_free(node.hierarchy);
}

static void a_short_peak_of_load_explains_nothing(void)
{
	static const double busy[4] = { 99, 0, 0, 0 }, idle[4] = { 50, 0, 0, 0 };
	struct node node;

	node_open(&node, "n1", NULL);
	for (int i = 0; i < 9; i++)
		hierarchy_load(node.hierarchy, idle);
	hierarchy_load(node.hierarchy, busy);
	node_calls(&node, 1, 40, 10);
	CHECK_INT(hierarchy_cycle(node.hierarchy, SECOND, NULL), 0);
	CHECK_INT(state_of(&node, ROLE_PROCESS, 1), HEALTH_BAD);
	/* Load before the cycle does not count in it. */
	hierarchy_load(node.hierarchy, busy);
	node_calls(&node, 1, 40, 10);
	CHECK_INT(hierarchy_cycle(node.hierarchy, 2 * SECOND, NULL), 0);
	CHECK_INT(state_of(&node, ROLE_PROCESS, 1), HEALTH_GOOD);
	hierarchy_free(node.hierarchy);
}

static void detectors_are_asked_only_about_active_processes(void)
{
	struct node node;

	node_open(&node, "n1", NULL);
	node_calls(&node, 1, 0, 100);
	hierarchy_cycle(node.hierarchy, 1 * SECOND, NULL);
	hierarchy_cycle(node.hierarchy, 2 * SECOND, NULL);
	CHECK_INT(node.polls, 1);
	CHECK_INT(state_of(&node, ROLE_PROCESS, 1), HEALTH_GOOD);
	/* Idle for longer than reports are valid: dropped. */
	hierarchy_cycle(node.hierarchy, 7 * SECOND, NULL);
	CHECK_INT(state_of(&node, ROLE_PROCESS, 1), HEALTH_STATES);
	node_calls(&node, 1, 0, 100);
	hierarchy_cycle(node.hierarchy, 8 * SECOND, NULL);
	CHECK_INT(node.polls, 2);
	CHECK_INT(state_of(&node, ROLE_PROCESS, 1), HEALTH_GOOD);
	hierarchy_free(node.hierarchy);
}

static void nodes_exchange_reports_by_health_files(void)
{
	char board[] = "/tmp/sluice-hierarchy.XXXXXX";
	AUTO_FREE char *command = NULL;
	struct node a, b;

	REQUIRE(mkdtemp(board));
	command = xprintf("rm -rf '%s'", board);
	node_open(&a, "a", board);
	node_open(&b, "b", board);
	node_calls(&a, 0, 50, 50);
	node_calls(&b, 0, 0, 10000);
	CHECK_INT(hierarchy_cycle(a.hierarchy, SECOND, NULL), 0);
	CHECK_INT(hierarchy_cycle(b.hierarchy, SECOND + 1, NULL), 0);
	/* b itself is fine, but its view of the system includes a. */
	CHECK_INT(state_of(&b, ROLE_NODE, 0), HEALTH_GOOD);
	CHECK_INT(state_of(&b, ROLE_SYSTEM, 0), HEALTH_BAD);
	REQUIRE(b.signal_count == 1);
	CHECK_INT(b.signals[0].role, ROLE_SYSTEM);
	CHECK_INT(hierarchy_report(b.hierarchy, ROLE_SYSTEM, 0)->health.counts[SLUICE_VERY_SLOW],
		  50);
	/* a is gone: its last report is stale. */
	node_calls(&b, 0, 0, 10000);
	CHECK_INT(hierarchy_cycle(b.hierarchy, 20 * SECOND, NULL), 0);
	CHECK_INT(state_of(&b, ROLE_SYSTEM, 0), HEALTH_GOOD);
	hierarchy_free(a.hierarchy);
	hierarchy_free(b.hierarchy);
	CHECK(system(command) == 0);
}

static void an_unwritable_health_file_is_an_error_and_the_node_judges(void)
{
	struct err err = { 0 };
	struct node node;

	node_open(&node, "n1", "/nonexistent/board");
	node_calls(&node, 0, 50, 50);
	CHECK(hierarchy_cycle(node.hierarchy, SECOND, &err) < 0);
	CHECK(strstr(err.text, "/nonexistent/board/n1.health"));
	CHECK_INT(node.signal_count, 3);
	hierarchy_free(node.hierarchy);
}

static void settings_define_an_anomaly(void)
{
	struct reasoner_settings rules;
	struct config config;

	config_init(&config);
	rules = hierarchy_settings(&config);
	CHECK_INT(rules.observations, reasoner_defaults.observations);
	CHECK(rules.slow_share == reasoner_defaults.slow_share);
	CHECK(rules.load_percent == reasoner_defaults.load_percent);
	CHECK_INT(rules.hold_ns, 5 * SECOND);
	REQUIRE(config_assign(&config, "reason.cycle=10s", "test", NULL) == 0);
	REQUIRE(config_assign(&config, "reason.slow=20", "test", NULL) == 0);
	rules = hierarchy_settings(&config);
	CHECK_INT(rules.hold_ns, 30 * SECOND);
	CHECK(rules.slow_share == 0.2);
	config_release(&config);
}

TESTS(TEST(an_anomaly_reaches_the_system_in_one_cycle),
      TEST(load_of_the_node_explains_slow_calls_at_all_levels),
      TEST(a_short_peak_of_load_explains_nothing),
      TEST(detectors_are_asked_only_about_active_processes),
      TEST(nodes_exchange_reports_by_health_files),
      TEST(an_unwritable_health_file_is_an_error_and_the_node_judges),
      TEST(settings_define_an_anomaly))
