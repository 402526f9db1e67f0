/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/saved_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "observe/profile/pack.h"
#include "observe/tally/summary.h"

/* A host is saved if it is not that of the previous rank. `ranks` are those to be written. */
static void pack_host(struct pack *pack, const struct ranks *ranks, size_t i, char **host)
{
	uint64_t same = !pack_is_reading(pack) && i &&
			!strcmp(ranks->list[i - 1].host, ranks->list[i].host);

	pack_index(pack, &same, 1 + (i > 0));
	if (same)
		return;
	*host = pack_is_reading(pack) ? NULL : (char *)ranks->list[i].host;
	pack_text(pack, host);
}

/* Numbers ascend; what is saved is the difference from the previous one. */
static void pack_number_of_rank(struct pack *pack, const struct ranks *ranks, size_t i,
				int32_t *number)
{
	uint64_t before = i ? (uint64_t)*number : 0, step = 0;

	if (!pack_is_reading(pack))
		step = (uint64_t)ranks->list[i].number - before;
	pack_index(pack, &step, INT32_MAX - before);
	pack->in.bad |= i && !step;
	*number = (int32_t)(before + step);
}

static void read_ranks(struct pack *pack, struct summary *summary, size_t count)
{
	struct rank_info *list = xcalloc(count + 1, sizeof(*list));
	char **names = xcalloc(count + 1, sizeof(*names));
	int32_t number = 0;
	size_t used = 0, i;

	for (i = 0; i < count && !pack->in.bad; i++) {
		char *host = NULL;

		pack_number_of_rank(pack, &summary->ranks, i, &number);
		pack_host(pack, &summary->ranks, i, &host);
		if (host || !i)
			names[used++] = host ? host : xstrdup("");
		list[i] = (struct rank_info){ number, names[used - 1] };
	}
	ranks_replace(&summary->ranks, summary->head, list, i, names, used);
}

void saved_pack_ranks(struct pack *pack, struct summary *summary)
{
	struct ranks *ranks = &summary->ranks;
	uint64_t count = ranks->count, hosts = ranks->hosts, world = ranks->world;
	int32_t number = 0;
	char *host;

	pack_count(pack, &count);
	pack_index(pack, &hosts, INT32_MAX);
	pack_index(pack, &world, INT32_MAX);
	if (pack_is_reading(pack)) {
		read_ranks(pack, summary, count);
		ranks->hosts = hosts;
		ranks->world = world;
		free(summary->of_rank);
		summary->of_rank = xcalloc(ranks->count + 1, sizeof(*summary->of_rank));
		return;
	}
	for (size_t i = 0; i < count; i++) {
		pack_number_of_rank(pack, ranks, i, &number);
		pack_host(pack, ranks, i, &host);
	}
}

static void pack_real(struct pack *pack, double *value)
{
	uint64_t bits;

	memcpy(&bits, value, sizeof(bits));
	pack_number(pack, &bits);
	memcpy(value, &bits, sizeof(bits));
	if (!isfinite(*value)) {
		pack->in.bad = true;
		*value = 0;
	}
}

static void pack_spread(struct pack *pack, struct spread *spread)
{
	uint64_t ranks[] = { (uint64_t)spread->minimum_rank, (uint64_t)spread->maximum_rank };
	uint64_t count = spread->count;

	pack_index(pack, &count, INT32_MAX);
	spread->count = count;
	if (!count)
		return;
	pack_real(pack, &spread->sum);
	pack_real(pack, &spread->minimum);
	pack_real(pack, &spread->maximum);
	pack_index(pack, &ranks[0], INT32_MAX);
	pack_index(pack, &ranks[1], INT32_MAX);
	spread->minimum_rank = (int32_t)ranks[0];
	spread->maximum_rank = (int32_t)ranks[1];
}

static void pack_row(struct pack *pack, struct row_spreads *row)
{
	for (int i = 0; i < TALLY_MEASURES; i++)
		pack_spread(pack, &row->of[i]);
}

/* is_valid checks a key that was read. */
static void pack_table(struct pack *pack, struct map *table, const struct trace_head *head,
		       bool (*is_valid)(const struct trace_head *head, uint64_t key))
{
	uint64_t count;
	AUTO_FREE struct map_entry *list = pack_entries(pack, table, &count);

	for (uint64_t i = 0; i < count && !pack->in.bad; i++) {
		uint64_t key = list ? list[i].key : 0;

		pack_number(pack, &key);
		if (pack_is_reading(pack) && (!key || !is_valid(head, key)))
			pack->in.bad = true;
		else
			pack_row(pack, spreads_row(table, key));
	}
}

void saved_pack_spreads(struct pack *pack, struct summary *summary)
{
	struct spreads *spreads = summary->spreads;

	if (pack_is_reading(pack)) {
		spreads = summary->spreads = xcalloc(1, sizeof(*spreads));
		free(summary->of_rank);
		summary->of_rank = NULL;
	}
	for (int i = 0; i < SUMS_MEASURES; i++)
		pack_spread(pack, &spreads->ranks[i]);
	for (int i = 0; i < LAYER_COUNT; i++)
		pack_row(pack, &spreads->layers[i]);
	for (int i = 0; i < FILE_CLASSES; i++)
		pack_row(pack, &spreads->classes[i]);
	pack_table(pack, &spreads->functions, summary->head, sums_is_function);
	pack_table(pack, &spreads->files, summary->head, sums_is_file);
}
