/* SPDX-License-Identifier: BSD-3-Clause */
#include "contract/policy.h"

#include "check.h"

static struct policy page;
static const uint32_t groups[] = { 20, 30 };

static void begin(void)
{
	memset(&page, 0, sizeof(page));
	page.magic = POLICY_MAGIC;
	page.version = POLICY_VERSION;
	page.bytes = sizeof(page);
	strcpy(page.socket, "/run/x/socket");
	strcpy(page.spools, "/run/x/spools");
}

static struct policy_rule *add_rule(enum policy_mode mode)
{
	struct policy_rule *rule = &page.rules[page.rule_count++];

	*rule = (struct policy_rule){
		.user = POLICY_NOBODY, .group = POLICY_NOBODY, .mode = mode, .sample = POLICY_ALL
	};
	return rule;
}

static const struct policy_subject who = { .user = 1000,
					   .group = 10,
					   .groups = groups,
					   .group_count = 2,
					   .program = "/opt/app/solver.x",
					   .partition = "batch",
					   .key = 77 };

static void without_a_rule_nothing_is_recorded(void)
{
	begin();
	CHECK(policy_is_valid(&page, sizeof(page)));
	CHECK(policy_decide(&page, &who) == POLICY_OFF);
}

static void the_first_rule_that_matches_decides(void)
{
	begin();
	add_rule(POLICY_COUNTERS)->user = 1001;
	add_rule(POLICY_FLIGHT)->group = 31;
	add_rule(POLICY_TRACE)->group = 30;
	add_rule(POLICY_COUNTERS);
	CHECK(policy_decide(&page, &who) == POLICY_TRACE);
	page.rules[0].user = 1000;
	CHECK(policy_decide(&page, &who) == POLICY_COUNTERS);
	page.rules[0].user = POLICY_NOBODY;
	page.rules[0].group = 10;
	CHECK(policy_decide(&page, &who) == POLICY_COUNTERS);
}

static void all_conditions_of_a_rule_must_match(void)
{
	struct policy_rule *rule;

	begin();
	rule = add_rule(POLICY_TRACE);
	strcpy(rule->program, "*.x");
	strcpy(rule->partition, "b?tch");
	CHECK(policy_decide(&page, &who) == POLICY_TRACE);
	strcpy(rule->program, "/opt/*/solver.*");
	CHECK(policy_decide(&page, &who) == POLICY_TRACE);
	strcpy(rule->program, "/usr/*");
	CHECK(policy_decide(&page, &who) == POLICY_OFF);
	strcpy(rule->program, "solver.x");
	strcpy(rule->partition, "debug");
	CHECK(policy_decide(&page, &who) == POLICY_OFF);
}

static void a_sample_is_a_share_of_the_runs(void)
{
	struct policy_subject run = who;
	unsigned kept = 0;

	begin();
	add_rule(POLICY_TRACE)->sample = POLICY_ALL / 10;
	for (run.key = 1; run.key <= 100000; run.key++)
		kept += policy_decide(&page, &run) == POLICY_TRACE;
	CHECK(kept > 9500 && kept < 10500);
	/* A run that is not in the sample is not recorded by a later rule either. */
	add_rule(POLICY_COUNTERS);
	page.rules[0].sample = 0;
	CHECK(policy_decide(&page, &who) == POLICY_OFF);
	page.rules[0].sample = POLICY_ALL;
	CHECK(policy_decide(&page, &who) == POLICY_TRACE);
}

static void a_page_that_is_not_complete_is_invalid(void)
{
	begin();
	add_rule(POLICY_TRACE);
	CHECK(policy_is_valid(&page, sizeof(page)));
	CHECK(!policy_is_valid(&page, sizeof(page) - 1));
	page.rules[0].mode = POLICY_MODE_COUNT;
	CHECK(!policy_is_valid(&page, sizeof(page)));
	page.rules[0].mode = POLICY_TRACE;
	memset(page.rules[0].program, 'x', sizeof(page.rules[0].program));
	CHECK(!policy_is_valid(&page, sizeof(page)));
	page.rules[0].program[0] = 0;
	page.rule_count = POLICY_RULES + 1;
	CHECK(!policy_is_valid(&page, sizeof(page)));
	page.rule_count = 1;
	memset(page.socket, '/', sizeof(page.socket));
	CHECK(!policy_is_valid(&page, sizeof(page)));
	page.socket[1] = 0;
	page.spools[0] = 'r';
	CHECK(!policy_is_valid(&page, sizeof(page)));
}

TESTS(TEST(without_a_rule_nothing_is_recorded), TEST(the_first_rule_that_matches_decides),
      TEST(all_conditions_of_a_rule_must_match), TEST(a_sample_is_a_share_of_the_runs),
      TEST(a_page_that_is_not_complete_is_invalid))
