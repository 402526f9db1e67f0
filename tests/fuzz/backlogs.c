/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a message about a backlog, after others that are like it but of several
 * users. It is refused, or the answer is valid, has the same keys, and no sum has overflowed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/exchange/backlogs.h"

static void require(int truth)
{
	if (!truth)
		abort();
}

static void send_one(struct backlogs *backlogs, uid_t user, const void *bytes, size_t n,
		     int64_t now_ns)
{
	static struct exchange message, answer;
	bool fits = n <= sizeof(message);

	memcpy(&message, bytes, fits ? n : sizeof(message));
	if (!backlogs_exchange(backlogs, user, bytes, n, now_ns, &answer)) {
		require(!fits || !exchange_is_valid(&message, n));
		return;
	}
	require(exchange_is_valid(&answer, n) && !answer.backlog);
	for (uint32_t i = 0; i < answer.count; i++) {
		require(answer.sums[i].key == message.sums[i].key);
		require(answer.sums[i].outstanding <= BACKLOGS_MAX * BACKLOG_SUM_MAX);
		require(answer.sums[i].bytes <= BACKLOGS_MAX * BACKLOG_SUM_MAX);
		require(answer.sums[i].busy_ns <= BACKLOGS_MAX * 2 * BACKLOG_HALF_LIFE_NS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct exchange message;
	struct backlogs *backlogs = backlogs_new();
	size_t count = n / sizeof(struct backlog_sum);

	/* A message with the right form, so that sums with any value and any keys are reached. */
	count = count < BACKLOG_TARGETS ? count : BACKLOG_TARGETS;
	message = (struct exchange){ .version = EXCHANGE_VERSION, .count = (uint32_t)count };
	memcpy(message.sums, data, count * sizeof(message.sums[0]));
	for (unsigned user = 0; user < 8; user++) {
		message.backlog = n ? data[user % n] : 0;
		send_one(backlogs, user, &message, exchange_bytes((uint32_t)count),
			 (int64_t)(message.backlog << 24));
	}
	send_one(backlogs, 1, data, n, 0);
	require(backlogs_count(backlogs, 0).backlogs <= 9);
	backlogs_free(backlogs);
	return 0;
}
