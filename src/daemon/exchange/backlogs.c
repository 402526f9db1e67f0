/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/exchange/backlogs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BUSY_MAX_NS (2 * BACKLOG_HALF_LIFE_NS)

/* The last message about a backlog. */
struct source {
	uid_t user;
	uint64_t backlog;
	int64_t received_ns;
	uint32_t count;
	struct backlog_sum *sums; /* by key; NULL: the entry is free */
};

struct backlogs {
	pthread_mutex_t lock; /* protects all that follows */
	struct source sources[BACKLOGS_MAX];
	struct backlogs_counts counts;
};

struct backlogs *backlogs_new(void)
{
	struct backlogs *backlogs = xcalloc(1, sizeof(*backlogs));

	pthread_mutex_init(&backlogs->lock, NULL);
	return backlogs;
}

static void remove_source(struct source *source)
{
	free(source->sums);
	*source = (struct source){ 0 };
}

void backlogs_free(struct backlogs *backlogs)
{
	if (!backlogs)
		return;
	for (int i = 0; i < BACKLOGS_MAX; i++)
		remove_source(&backlogs->sources[i]);
	pthread_mutex_destroy(&backlogs->lock);
	free(backlogs);
}

static void remove_old(struct backlogs *backlogs, int64_t now_ns)
{
	for (int i = 0; i < BACKLOGS_MAX; i++) {
		struct source *source = &backlogs->sources[i];

		if (source->sums && now_ns > source->received_ns + (int64_t)BACKLOG_OTHERS_NS)
			remove_source(source);
	}
}

static bool is_of(const struct source *source, uid_t user, uint64_t backlog)
{
	return source->sums && source->user == user && source->backlog == backlog;
}

/* The entry of a backlog, or a free one; NULL: there are too many. */
static struct source *find_source(struct backlogs *backlogs, uid_t user, uint64_t backlog)
{
	struct source *room = NULL;
	int own = 0;

	for (int i = 0; i < BACKLOGS_MAX; i++) {
		struct source *source = &backlogs->sources[i];

		if (is_of(source, user, backlog))
			return source;
		if (!source->sums && !room)
			room = source;
		own += source->sums && source->user == user;
	}
	return own < BACKLOGS_USER ? room : NULL;
}

static uint64_t limit(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* The part of a sum that counts. The rate that was seen remains. */
static struct backlog_sum limit_sum(const struct backlog_sum *sum)
{
	struct backlog_sum limited = { .key = sum->key,
				       .outstanding = limit(sum->outstanding, BACKLOG_SUM_MAX),
				       .bytes = limit(sum->bytes, BACKLOG_SUM_MAX),
				       .busy_ns = limit(sum->busy_ns, BUSY_MAX_NS) };

	if (sum->busy_ns > BUSY_MAX_NS)
		limited.bytes = (uint64_t)((double)limited.bytes * (double)BUSY_MAX_NS /
					   (double)sum->busy_ns);
	return limited;
}

static void keep_sums(struct source *source, uid_t user, const struct exchange *message,
		      int64_t now_ns)
{
	remove_source(source);
	source->user = user;
	source->backlog = message->backlog;
	source->received_ns = now_ns;
	source->count = message->count;
	source->sums = xcalloc(message->count + 1u, sizeof(*source->sums));
	for (uint32_t i = 0; i < message->count; i++)
		source->sums[i] = limit_sum(&message->sums[i]);
}

/* Adds the sums of one backlog to those with the same keys. Both are in the order of the keys. */
static void add_sums(struct exchange *answer, const struct source *source)
{
	uint32_t i = 0, k = 0;

	while (i < answer->count && k < source->count) {
		struct backlog_sum *to = &answer->sums[i];
		const struct backlog_sum *from = &source->sums[k];

		if (to->key == from->key) {
			to->outstanding += from->outstanding;
			to->bytes += from->bytes;
			to->busy_ns += from->busy_ns;
		}
		i += to->key <= from->key;
		k += from->key <= to->key;
	}
}

static void fill_answer(const struct backlogs *backlogs, uid_t user, const struct exchange *message,
			struct exchange *answer)
{
	answer->version = EXCHANGE_VERSION;
	answer->count = message->count;
	answer->backlog = 0;
	for (uint32_t i = 0; i < message->count; i++)
		answer->sums[i] = (struct backlog_sum){ .key = message->sums[i].key };
	for (int i = 0; i < BACKLOGS_MAX; i++) {
		const struct source *source = &backlogs->sources[i];

		if (source->sums && !is_of(source, user, message->backlog))
			add_sums(answer, source);
	}
}

bool backlogs_exchange(struct backlogs *backlogs, uid_t user, const void *bytes, size_t n,
		       int64_t now_ns, struct exchange *answer)
{
	struct exchange message;
	struct source *source;

	if (n > sizeof(message))
		return false;
	memcpy(&message, bytes, n);
	if (!exchange_is_valid(&message, n))
		return false;
	pthread_mutex_lock(&backlogs->lock);
	remove_old(backlogs, now_ns);
	source = find_source(backlogs, user, message.backlog);
	if (source)
		keep_sums(source, user, &message, now_ns);
	backlogs->counts.messages++;
	backlogs->counts.ignored += !source;
	fill_answer(backlogs, user, &message, answer);
	pthread_mutex_unlock(&backlogs->lock);
	return true;
}

struct backlogs_counts backlogs_count(struct backlogs *backlogs, int64_t now_ns)
{
	struct backlogs_counts counts;

	pthread_mutex_lock(&backlogs->lock);
	remove_old(backlogs, now_ns);
	counts = backlogs->counts;
	for (int i = 0; i < BACKLOGS_MAX; i++)
		counts.backlogs += backlogs->sources[i].sums != NULL;
	pthread_mutex_unlock(&backlogs->lock);
	return counts;
}
