/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/sums_table.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Both names one after the other, zero-filled, so that one comparison finds a place. */
struct names {
	char filesystem[SUMS_NAME_BYTES], target[SUMS_NAME_BYTES];
};

struct place {
	struct names names;
	struct sums sums[CLASS_COUNT][SPEED_COUNT];
};

struct sums_table {
	pthread_mutex_t lock;
	struct sums_counts received;
	size_t count, last; /* places in use; the one that was used last */
	struct place places[SUMS_PLACES];
};

struct sums_table *sums_table_new(void)
{
	struct sums_table *table = xcalloc(1, sizeof(*table));

	pthread_mutex_init(&table->lock, NULL);
	return table;
}

void sums_table_free(struct sums_table *table)
{
	if (!table)
		return;
	pthread_mutex_destroy(&table->lock);
	free(table);
}

static struct place *find_place(struct sums_table *table, const struct names *names)
{
	size_t i = table->last;

	if (i < table->count && memcmp(&table->places[i].names, names, sizeof(*names)) == 0)
		return &table->places[i];
	for (i = 0; i < table->count; i++)
		if (memcmp(&table->places[i].names, names, sizeof(*names)) == 0)
			break;
	if (i == SUMS_PLACES)
		i--;
	if (i == table->count) {
		table->count++;
		table->places[i].names = *names;
		if (table->count == SUMS_PLACES)
			table->places[i].names = (struct names){ "other", "other" };
	}
	table->last = i;
	return &table->places[i];
}

static void add_sums(struct sums *to, const struct sums *from)
{
	to->calls += from->calls;
	to->bytes += from->bytes;
	to->ns += from->ns;
}

/* Zero-fills what follows the end of a name: a client may have sent anything there. */
static void copy_name(char *to, const char *from)
{
	size_t n = strnlen(from, SUMS_NAME_BYTES - 1);

	memcpy(to, from, n);
	memset(to + n, 0, SUMS_NAME_BYTES - n);
}

int64_t sums_table_add_frame(struct sums_table *table, const struct frame *frame)
{
	const uint8_t *rows;
	uint32_t count;
	const struct sums_head *head = sums_check(frame, &rows, &count);
	struct names names;
	struct place *place;
	int64_t calls = 0;

	if (!head)
		return -EBADMSG;
	/* Characters have no alignment. */
	copy_name(names.filesystem, head->filesystem);
	copy_name(names.target, head->target);
	pthread_mutex_lock(&table->lock);
	place = find_place(table, &names);
	for (uint32_t i = 0; i < count; i++) {
		struct sums_row row;
		struct sums sums;

		memcpy(&row, rows + i * sizeof(row), sizeof(row));
		sums = (struct sums){ row.calls, row.bytes, row.ns };
		add_sums(&place->sums[row.operation][row.speed], &sums);
		calls += row.calls;
	}
	table->received.messages++;
	table->received.rows += count;
	table->received.calls += (uint64_t)calls;
	pthread_mutex_unlock(&table->lock);
	return calls;
}

void sums_table_count(struct sums_table *table, struct sums_counts *counts)
{
	pthread_mutex_lock(&table->lock);
	counts->messages += table->received.messages;
	counts->rows += table->received.rows;
	counts->calls += table->received.calls;
	pthread_mutex_unlock(&table->lock);
}

void sums_table_add(struct sums_table *table, const char *filesystem, const char *target,
		    enum call_class operation, enum speed speed, const struct sums *sums)
{
	struct names names = { 0 };

	copy_name(names.filesystem, filesystem);
	copy_name(names.target, target);
	pthread_mutex_lock(&table->lock);
	add_sums(&find_place(table, &names)->sums[operation][speed], sums);
	pthread_mutex_unlock(&table->lock);
}

void sums_table_drain(struct sums_table *table, sums_table_take *take, void *arg)
{
	pthread_mutex_lock(&table->lock);
	for (size_t i = 0; i < table->count; i++) {
		struct place *place = &table->places[i];

		for (int class = 0; class < CLASS_COUNT; class ++) {
			for (int speed = 0; speed < SPEED_COUNT; speed++) {
				struct sums *sums = &place->sums[class][speed];

				if (!sums->calls && !sums->bytes && !sums->ns)
					continue;
				take(arg, place->names.filesystem, place->names.target,
				     (enum call_class) class, (enum speed)speed, sums);
				*sums = (struct sums){ 0 };
			}
		}
	}
	pthread_mutex_unlock(&table->lock);
}
