/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adds the summary of another part of a job.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/tally/summary.h"
#include "observe/tally/traffic.h"

/* Makes room for the files and calls that were added to the head. */
static void follow_head(struct summary *s)
{
	size_t files = s->head->file_count;

	s->file_layers = xrealloc(s->file_layers, files + 1, sizeof(*s->file_layers));
	if (files > s->file_count)
		memset(s->file_layers + s->file_count, 0, files - s->file_count);
	s->file_count = files;
	/* Most parts have the same table of calls. */
	if (s->call_count == s->head->call_count)
		return;
	s->call_count = s->head->call_count;
	free(s->ways);
	s->ways = traffic_table(s->head);
	parameters_follow_head(&s->parameters);
}

static uint8_t *list_classes(const struct summary *s)
{
	uint8_t *classes = xcalloc(s->head->file_count + 1, sizeof(*classes));

	for (size_t i = 0; i < s->head->file_count; i++)
		classes[i] = (uint8_t)summary_file_class(s, (file_id)i);
	return classes;
}

static struct spreads *make_spreads(const struct summary *s)
{
	struct spreads *spreads = xcalloc(1, sizeof(*spreads));
	AUTO_FREE uint8_t *classes = list_classes(s);

	for (size_t i = 0; i < s->ranks.count; i++)
		spreads_add_rank(spreads, s->ranks.list[i].number, &s->of_rank[i], classes);
	return spreads;
}

/* Replaces the sums of ranks by their distribution. */
static void drop_ranks(struct summary *s)
{
	if (s->spreads)
		return;
	s->spreads = make_spreads(s);
	for (size_t i = 0; i < s->ranks.count; i++)
		sums_release(&s->of_rank[i]);
	free(s->of_rank);
	s->of_rank = NULL;
}

static void merge_spreads(struct summary *s, const struct summary *other,
			  const struct renumbering *to)
{
	struct spreads *spreads = other->spreads ? other->spreads : make_spreads(other);

	drop_ranks(s);
	spreads_merge(s->spreads, spreads, to);
	if (spreads == other->spreads)
		return;
	spreads_release(spreads);
	free(spreads);
}

/* A rank that is in both parts ran there one after the other. */
static void merge_ranks(struct summary *s, const struct summary *other,
			const struct renumbering *to, const struct ranks_union *where,
			size_t before)
{
	struct sums *sums = xcalloc(s->ranks.count + 1, sizeof(*sums));

	for (size_t i = 0; i < before; i++)
		sums[where->first[i]] = s->of_rank[i];
	for (size_t i = 0; i < other->ranks.count; i++)
		sums_merge(&sums[where->second[i]], &other->of_rank[i], to, false);
	free(s->of_rank);
	s->of_rank = sums;
}

/* Adds what is not divided by ranks. */
static void merge_whole(struct summary *s, const struct summary *other,
			const struct renumbering *to)
{
	sums_merge(&s->all, &other->all, to, true);
	sums_merge(&s->outside, &other->outside, to, true);
	s->has_aggregates |= other->has_aggregates;
	tally_merge(&s->group, &other->group);
	for (size_t i = 0; i < other->head->file_count; i++)
		s->file_layers[to->files[i]] |= other->file_layers[i];
	parameters_merge(&s->parameters, &other->parameters, to);
}

void summary_join(struct summary *summary, const struct summary *other,
		  const struct renumbering *same)
{
	for (size_t i = 0; i < summary->ranks.count; i++)
		sums_merge(&summary->of_rank[i], &other->of_rank[i], same, false);
	merge_whole(summary, other, same);
}

void summary_add_up(struct summary *summary)
{
	for (size_t i = 0; i < summary->ranks.count && summary->all_is_postponed; i++)
		sums_merge(&summary->all, &summary->of_rank[i], NULL, true);
	summary->all_is_postponed = false;
}

void summary_merge(struct summary *summary, const struct summary *other,
		   const struct renumbering *to, size_t process_base)
{
	struct summary *s = summary;
	bool many = s->spreads || other->spreads ||
		    s->ranks.count + other->ranks.count > SUMMARY_RANKS_MAX;
	size_t before = s->ranks.count;
	struct ranks_union where;

	follow_head(s);
	if (many)
		merge_spreads(s, other, to);
	where = ranks_merge(&s->ranks, &other->ranks, process_base, s->head->process_count);
	for (size_t i = 0; i < other->ranks.count; i++)
		s->ranks.list[where.second[i]].host = to->host(to->arg, other->ranks.list[i].host);
	if (!many)
		merge_ranks(s, other, to, &where, before);
	free(where.first);
	free(where.second);
	merge_whole(s, other, to);
}
