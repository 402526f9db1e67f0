/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The exchange of backlogs: who learns what of whom, and how much a hostile user can say.
 */
#include "daemon/exchange/backlogs.h"

#include "base/clock.h"
#include "check.h"

#define NOW (1000 * NS_PER_S)
enum { ANN = 1001, BOB = 1002, EVE = 1003 };

static struct backlogs *backlogs;
static struct exchange message, answer;

/* A message about one backlog, with so many targets; the first has this key. */
static void make_message(uint64_t backlog, uint32_t count, uint64_t first)
{
	message = (struct exchange){ .version = EXCHANGE_VERSION,
				     .count = count,
				     .backlog = backlog };
	for (uint32_t i = 0; i < count; i++)
		message.sums[i] = (struct backlog_sum){ first + i, 100 + i, 10, 20 };
}

static bool send_at(uid_t user, int64_t now)
{
	return backlogs_exchange(backlogs, user, &message, exchange_bytes(message.count), now,
				 &answer);
}

static void users_learn_of_each_other_but_not_of_themselves(void)
{
	backlogs = backlogs_new();
	make_message(1, 3, 10);
	REQUIRE(send_at(ANN, NOW));
	CHECK_INT(answer.count, 3);
	CHECK_INT(answer.sums[0].outstanding + answer.sums[0].bytes, 0);
	/* Targets that only one of them has do not matter. */
	make_message(1, 4, 9);
	REQUIRE(send_at(BOB, NOW));
	CHECK_INT(answer.count, 4);
	CHECK(exchange_is_valid(&answer, exchange_bytes(answer.count)));
	CHECK_INT(answer.backlog, 0);
	CHECK_INT(answer.sums[0].key, 9);
	CHECK_INT(answer.sums[0].outstanding, 0);
	CHECK_INT(answer.sums[1].outstanding, 100);
	CHECK_INT(answer.sums[3].outstanding, 102);
	CHECK_INT(answer.sums[3].bytes, 10);
	CHECK_INT(answer.sums[3].busy_ns, 20);
	/* Ann's own sums do not come back, however often she asks. */
	make_message(1, 3, 10);
	for (int i = 0; i < 3; i++)
		REQUIRE(send_at(ANN, NOW));
	CHECK_INT(answer.sums[0].outstanding, 101);
	/* But those of another backlog of hers do. */
	make_message(2, 1, 10);
	REQUIRE(send_at(ANN, NOW));
	CHECK_INT(answer.sums[0].outstanding, 201);
	backlogs_free(backlogs);
}

static void old_sums_do_not_count(void)
{
	backlogs = backlogs_new();
	make_message(1, 1, 10);
	REQUIRE(send_at(ANN, NOW));
	REQUIRE(send_at(BOB, NOW + (int64_t)BACKLOG_OTHERS_NS));
	CHECK_INT(answer.sums[0].outstanding, 100);
	CHECK_INT(backlogs_count(backlogs, NOW + (int64_t)BACKLOG_OTHERS_NS).backlogs, 2);
	REQUIRE(send_at(BOB, NOW + (int64_t)BACKLOG_OTHERS_NS + 1));
	CHECK_INT(answer.sums[0].outstanding, 0);
	CHECK_INT(backlogs_count(backlogs, NOW + (int64_t)BACKLOG_OTHERS_NS + 1).backlogs, 1);
	backlogs_free(backlogs);
}

static void check_refused(const void *bytes, size_t n)
{
	struct backlogs_counts before = backlogs_count(backlogs, NOW), after;

	CHECK(!backlogs_exchange(backlogs, EVE, bytes, n, NOW, &answer));
	after = backlogs_count(backlogs, NOW);
	CHECK_INT(after.messages, before.messages);
	CHECK_INT(after.backlogs, before.backlogs);
}

static void garbage_is_refused(void)
{
	static unsigned char bytes[sizeof(struct exchange) + 1];

	backlogs = backlogs_new();
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 2654435761u >> 11);
	for (size_t n = 0; n < 100; n++)
		check_refused(bytes, n);
	check_refused(bytes, sizeof(struct exchange));
	check_refused(bytes, sizeof(struct exchange) + 1);
	/* Truncated, too long, another version, and more targets than there can be. */
	make_message(1, 5, 10);
	for (size_t n = 0; n < exchange_bytes(5); n++)
		check_refused(&message, n);
	check_refused(&message, exchange_bytes(6));
	message.version++;
	check_refused(&message, exchange_bytes(5));
	make_message(1, 5, 10);
	message.count = BACKLOG_TARGETS + 1;
	check_refused(&message, sizeof(message));
	message.count = UINT32_MAX;
	check_refused(&message, exchange_bytes(5));
	/* No key, and keys that are there twice or in another order. */
	make_message(1, 5, 0);
	check_refused(&message, exchange_bytes(5));
	make_message(1, 5, 10);
	message.sums[3].key = message.sums[2].key;
	check_refused(&message, exchange_bytes(5));
	message.sums[3].key = 1;
	check_refused(&message, exchange_bytes(5));
	make_message(1, BACKLOG_TARGETS, 1);
	CHECK(send_at(EVE, NOW));
	make_message(1, 0, 1);
	CHECK(send_at(EVE, NOW));
	backlogs_free(backlogs);
}

/* As many users as there is room for claim all they can. */
static void huge_sums_do_not_overflow(void)
{
	backlogs = backlogs_new();
	for (unsigned user = 0; user < BACKLOGS_MAX; user++) {
		make_message(1, 2, 10);
		message.sums[0] = (struct backlog_sum){ 10, UINT64_MAX, UINT64_MAX, UINT64_MAX };
		message.sums[1] = (struct backlog_sum){ 11, UINT64_MAX, UINT64_MAX, 0 };
		REQUIRE(send_at(user, NOW));
	}
	make_message(1, 2, 10);
	REQUIRE(send_at(BACKLOGS_MAX, NOW));
	CHECK_INT(answer.sums[0].outstanding, BACKLOGS_MAX * BACKLOG_SUM_MAX);
	CHECK_INT(answer.sums[0].busy_ns, BACKLOGS_MAX * 2 * BACKLOG_HALF_LIFE_NS);
	CHECK_INT(answer.sums[1].bytes, BACKLOGS_MAX * BACKLOG_SUM_MAX);
	backlogs_free(backlogs);
}

/* Ten seconds of honest writing at 100 bytes per ns, and a claim of 1 byte per ns for a year. */
static void nobody_outweighs_the_others(void)
{
	double rate;

	backlogs = backlogs_new();
	make_message(1, 1, 10);
	message.sums[0] = (struct backlog_sum){ 10, 0, 1000 * NS_PER_S, 10 * NS_PER_S };
	REQUIRE(send_at(ANN, NOW));
	message.sums[0] = (struct backlog_sum){ 10, 0, 31536000 * NS_PER_S, 31536000 * NS_PER_S };
	REQUIRE(send_at(EVE, NOW));
	make_message(1, 1, 10);
	REQUIRE(send_at(BOB, NOW));
	rate = (double)answer.sums[0].bytes / (double)answer.sums[0].busy_ns;
	CHECK(rate > 30 && rate < 40);
	backlogs_free(backlogs);
}

/* One user cannot take the places of others; if there are too many, they still get an answer. */
static void places_are_limited(void)
{
	struct backlogs_counts counts;

	backlogs = backlogs_new();
	for (uint64_t i = 0; i < 1000; i++) {
		make_message(i, 1, 10);
		REQUIRE(send_at(EVE, NOW));
	}
	counts = backlogs_count(backlogs, NOW);
	CHECK_INT(counts.backlogs, BACKLOGS_USER);
	CHECK_INT(counts.messages, 1000);
	CHECK_INT(counts.ignored, 1000 - BACKLOGS_USER);
	for (unsigned user = 0; user < 2 * BACKLOGS_MAX; user++) {
		make_message(1, 1, 10);
		REQUIRE(send_at(user, NOW));
		CHECK(answer.sums[0].outstanding >= 100 * BACKLOGS_USER);
	}
	CHECK_INT(backlogs_count(backlogs, NOW).backlogs, BACKLOGS_MAX);
	/* Those that have gone make room. */
	make_message(1, 1, 10);
	REQUIRE(send_at(ANN, NOW + (int64_t)BACKLOG_OTHERS_NS + 1));
	CHECK_INT(backlogs_count(backlogs, NOW + (int64_t)BACKLOG_OTHERS_NS + 1).backlogs, 1);
	backlogs_free(backlogs);
}

TESTS(TEST(users_learn_of_each_other_but_not_of_themselves), TEST(old_sums_do_not_count),
      TEST(garbage_is_refused), TEST(huge_sums_do_not_overflow), TEST(nobody_outweighs_the_others),
      TEST(places_are_limited))
