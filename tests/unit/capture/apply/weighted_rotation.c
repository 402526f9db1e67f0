/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The weighted rotation: after every turn each destination has got its share, in all processes and
 * with any number of threads.
 */
#include "check.h"

#include <pthread.h>

#include "capture/apply/rules.c"
#include "capture/apply/weighted_rotation.c"

static char page[PARAMETERS_BYTES];
static _Atomic uint64_t counters[CONTROL_TURNS];

/* Makes a list the only rule of the run. */
static const struct parameters_line *make_rule(const char *list)
{
	memset(known, 0, sizeof(known));
	memset(counters, 0, sizeof(counters));
	snprintf(page, sizeof(page), PARAMETERS_TITLE "parameters\nlayout\t*\t*\tspread_osts\t%s\n",
		 list);
	REQUIRE(rules_read(&rules_own, page));
	return &rules_own.rule[0];
}

static unsigned destination_index(const struct parameters_line *rule,
				  const struct parameters_destination *one)
{
	struct parameters_destination next;
	const char *text = rule->value;
	unsigned i = 0;

	while (parameters_destination(&text, &next) && next.name != one->name)
		i++;
	return i;
}

/* The maximum distance of any destination from its share after any turn, in turns. */
static double maximum_error(const struct parameters_line *rule, const struct list *list,
			    uint64_t turns)
{
	double had[PARAMETERS_DESTINATIONS] = { 0 }, most = 0;
	struct parameters_destination one;

	for (uint64_t n = 0; n < turns; n++) {
		REQUIRE(weighted_rotation_destination(rule, n, &one));
		had[destination_index(rule, &one)]++;
		for (unsigned i = 0; i < list->count; i++) {
			double share = (double)(n + 1) * list->weights[i] / list->sum;
			double off = had[i] > share ? had[i] - share : share - had[i];

			most = off > most ? off : most;
		}
	}
	return most;
}

static void check_list(const char *text)
{
	const struct parameters_line *rule = make_rule(text);
	struct list *list = list_new(rule->value);
	double off;

	REQUIRE(list);
	off = maximum_error(rule, list, 2 * list->sum + 3);
	list_free(list);
	if (off >= 1)
		printf("%s: off by %g\n", text, off);
	CHECK(off < 1);
}

static void every_destination_gets_its_share_at_any_time(void)
{
	check_list("1");
	check_list("1*7");
	check_list("1,2");
	check_list("1*3,2*1");
	check_list("1*1,2*2,3*3,4*4");
	check_list("1*100,2,3,4,5,6,7");
	check_list("1*5,2*5,3*5,4*1,5*1,6*13,7*64");
	check_list("1*97,2*89,3*83,4*79,5*73,6*71,7*67,8*61,9*59,10*53");
}

static void many_destinations_with_odd_weights_get_their_share(void)
{
	static char text[PARAMETERS_BYTES];
	size_t used = 0;

	for (unsigned i = 0, seed = 1; i < 60; i++) {
		seed = seed * 1103515245u + 12345;
		used += (size_t)sprintf(text + used, "%s%u*%u", i ? "," : "", i,
					1 + (seed >> 16) % 14);
	}
	check_list(text);
}

/* The largest possible list, computed by table and by steps. */
static void the_table_equals_the_steps(void)
{
	static char text[PARAMETERS_BYTES];
	static uint16_t table[PARAMETERS_WEIGHTS];
	const struct parameters_line *rule;
	struct parameters_destination one;
	struct list *list;
	size_t used = 0;

	for (unsigned i = 0; i < PARAMETERS_DESTINATIONS; i++)
		used += (size_t)sprintf(text + used, "%s%u*%u", i ? "," : "", i, 1 + i % 15);
	rule = make_rule(text);
	list = list_new(rule->value);
	REQUIRE(list);
	CHECK_INT(list->count, PARAMETERS_DESTINATIONS);
	list_run(list, 600, table);
	for (uint64_t n = 0; n < 600; n += 7) {
		REQUIRE(weighted_rotation_destination(rule, n, &one));
		CHECK_INT(destination_index(rule, &one), table[n]);
		/* As for a thread that asks while another computes the table. */
		CHECK_INT(list_run(list, (uint32_t)n + 1, NULL), table[n]);
	}
	list_free(list);
}

static void a_malformed_list_has_no_destination(void)
{
	static const char *const broken[] = { "", "1*0", "1,,2", "1*9999", "1*4000,2*4000", "*3" };
	struct parameters_destination one;

	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		const struct parameters_line *rule = make_rule(broken[i]);

		CHECK(!weighted_rotation_destination(rule, 0, &one));
		CHECK_INT(weighted_rotation_index(rule, 0), PARAMETERS_DESTINATIONS);
	}
}

static void every_list_has_its_own_counter(void)
{
	const struct parameters_line *first, *second;
	struct parameters_destination one;

	make_rule("1");
	strcpy(page, PARAMETERS_TITLE "parameters\nlayout\ta\t*\tspread_osts\t1,2\n"
				      "layout\t*\t*\tstriping_unit\t65536\n"
				      "layout\t*\t*\tspread_osts\t3*2,4\n");
	REQUIRE(rules_read(&rules_own, page));
	first = &rules_own.rule[0];
	second = &rules_own.rule[2];
	CHECK_INT(weighted_rotation_take(counters, first, 1), 0);
	CHECK_INT(weighted_rotation_take(counters, first, 2), 1);
	CHECK_INT(weighted_rotation_take(counters, second, 1), 0);
	CHECK_INT(weighted_rotation_take(counters, first, 1), 3);
	CHECK(weighted_rotation_destination(first, 1, &one) && one.name[0] == '2');
	CHECK(weighted_rotation_destination(second, 0, &one) && one.name[0] == '3');
}

#define THREADS 8
#define EACH 300

static unsigned had[THREADS][3];

static void *take_turns(void *arg)
{
	unsigned *own = arg;
	struct parameters_destination one;

	for (int i = 0; i < EACH; i++) {
		REQUIRE(weighted_rotation_destination(
			&rules_own.rule[0], weighted_rotation_take(counters, &rules_own.rule[0], 1),
			&one));
		own[destination_index(&rules_own.rule[0], &one)]++;
	}
	return NULL;
}

static void threads_share_a_counter(void)
{
	pthread_t threads[THREADS];
	unsigned sums[3] = { 0 };

	make_rule("1*3,2*2,3*1");
	for (int i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, take_turns, had[i]));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		for (int k = 0; k < 3; k++)
			sums[k] += had[i][k];
	}
	CHECK_INT(sums[0], THREADS * EACH / 2);
	CHECK_INT(sums[1], THREADS * EACH / 3);
	CHECK_INT(sums[2], THREADS * EACH / 6);
}

TESTS(TEST(every_destination_gets_its_share_at_any_time),
      TEST(many_destinations_with_odd_weights_get_their_share), TEST(the_table_equals_the_steps),
      TEST(a_malformed_list_has_no_destination), TEST(every_list_has_its_own_counter),
      TEST(threads_share_a_counter))
