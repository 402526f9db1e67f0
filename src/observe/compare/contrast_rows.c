/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/contrast_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "observe/compare/file_pattern.h"

static void collect_entries(struct row_groups *groups, const struct account *const accounts[SIDES],
			    const size_t runs[SIDES])
{
	size_t cap = 0;

	for (int side = 0; side < SIDES; side++) {
		for (size_t run = 0; run < runs[side]; run++) {
			const struct account *account = &accounts[side][run];

			groups->entries = xgrow(groups->entries, &cap,
						groups->entry_count + account->count + 1,
						sizeof(*groups->entries));
			for (size_t i = 0; i < account->count; i++)
				groups->entries[groups->entry_count++] =
					(struct row_entry){ .row = &account->rows[i],
							    .run = run,
							    .side = side,
							    .name = account->rows[i].name };
		}
	}
}

static int compare_keys(const struct row_entry *x, const struct row_entry *y)
{
	if (x->row->table != y->row->table)
		return x->row->table < y->row->table ? -1 : 1;
	if (x->row->layer != y->row->layer)
		return x->row->layer < y->row->layer ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int compare_entries(const void *a, const void *b)
{
	const struct row_entry *x = a, *y = b;
	int by = compare_keys(x, y);

	if (by)
		return by;
	if (x->side != y->side)
		return x->side - y->side;
	return (x->run > y->run) - (x->run < y->run);
}

static void sort_entries(struct row_groups *groups)
{
	if (groups->entry_count)
		qsort(groups->entries, groups->entry_count, sizeof(*groups->entries),
		      compare_entries);
}

/* The number of entries from `first` on with the same key. */
static size_t count_same(const struct row_entry *entries, size_t count, size_t first)
{
	size_t i = first + 1;

	while (i < count && compare_keys(&entries[first], &entries[i]) == 0)
		i++;
	return i - first;
}

/* The number of runs of each side that the sorted entries belong to. */
static void count_runs(const struct row_entry *entries, size_t count, size_t runs[SIDES])
{
	runs[SIDE_A] = runs[SIDE_B] = 0;
	for (size_t i = 0; i < count; i++)
		runs[entries[i].side] += !i || entries[i - 1].side != entries[i].side ||
					 entries[i - 1].run != entries[i].run;
}

/* Calls visit() for each group of entries of files with the same name. */
static void visit_files(struct row_groups *groups,
			void (*visit)(struct row_groups *, size_t first, size_t count, void *),
			void *arg)
{
	for (size_t i = 0, n; i < groups->entry_count; i += n) {
		n = count_same(groups->entries, groups->entry_count, i);
		if (groups->entries[i].row->table == ACCOUNT_FILES)
			visit(groups, i, n, arg);
	}
}

/* Gives files that only one side has their pattern as a name, for now. */
static void propose_pattern(struct row_groups *groups, size_t first, size_t count, void *arg)
{
	const struct account *const *accounts = arg;
	size_t runs[SIDES];

	count_runs(&groups->entries[first], count, runs);
	if (runs[SIDE_A] && runs[SIDE_B])
		return;
	for (size_t i = first; i < first + count; i++) {
		struct row_entry *entry = &groups->entries[i];
		const struct account *account = &accounts[entry->side][entry->run];
		struct file_context context = { account->directory, account->pids,
						account->pid_count };

		entry->pattern = file_pattern(entry->row->name, &context);
		if (strcmp(entry->pattern, entry->row->name) == 0) {
			free(entry->pattern);
			entry->pattern = NULL;
		} else {
			entry->name = entry->pattern;
		}
	}
}

/* True if the entries, which have the same pattern, have the same path as well. */
static bool has_one_path(const struct row_entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (strcmp(entries[i].row->name, entries[0].row->name) != 0)
			return false;
	return true;
}

/* Reverts patterns that do not bring different names together. */
static void revert_pattern(struct row_groups *groups, size_t first, size_t count, void *arg)
{
	struct row_entry *entries = &groups->entries[first];
	size_t runs[SIDES];

	(void)arg;
	count_runs(entries, count, runs);
	/* Several names of a single run are different files. */
	if (!has_one_path(entries, count) && runs[SIDE_A] + runs[SIDE_B] > 1)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!entries[i].pattern)
			continue;
		free(entries[i].pattern);
		entries[i].pattern = NULL;
		entries[i].name = entries[i].row->name;
	}
}

static void make_groups(struct row_groups *groups)
{
	size_t cap = 0;

	for (size_t i = 0, n; i < groups->entry_count; i += n) {
		struct row_group *group;

		n = count_same(groups->entries, groups->entry_count, i);
		groups->list = xgrow(groups->list, &cap, groups->count + 1, sizeof(*groups->list));
		group = &groups->list[groups->count++];
		*group = (struct row_group){ .first = i, .count = n, .is_aside = true };
		for (size_t k = i; k < i + n; k++) {
			group->weight += groups->entries[k].row->sums[ACCOUNT_TIME_NS];
			group->is_pattern |= groups->entries[k].pattern != NULL;
			group->is_aside &= groups->entries[k].row->is_aside;
		}
	}
}

void row_groups_init(struct row_groups *groups, const struct account *const accounts[SIDES],
		     const size_t runs[SIDES])
{
	*groups = (struct row_groups){ .runs = { runs[SIDE_A], runs[SIDE_B] } };
	collect_entries(groups, accounts, runs);
	sort_entries(groups);
	visit_files(groups, propose_pattern, (void *)accounts);
	sort_entries(groups);
	visit_files(groups, revert_pattern, NULL);
	sort_entries(groups);
	make_groups(groups);
}

void row_groups_release(struct row_groups *groups)
{
	for (size_t i = 0; i < groups->entry_count; i++)
		free(groups->entries[i].pattern);
	free(groups->entries);
	free(groups->list);
	*groups = (struct row_groups){ 0 };
}

static const struct row_entry *first_entry(const struct row_groups *groups,
					   const struct row_group *group)
{
	return &groups->entries[group->first];
}

/* By table, those aside last, then by descending weight. The entries, which decide ties, are in
 * order. */
static int compare_groups(const void *a, const void *b, void *arg)
{
	const struct row_group *x = a, *y = b;
	int table = (int)first_entry(arg, x)->row->table - (int)first_entry(arg, y)->row->table;

	if (table)
		return table;
	if (x->is_aside != y->is_aside)
		return x->is_aside ? 1 : -1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

void row_groups_limit(struct row_groups *groups, size_t top, size_t left_out[ACCOUNT_TABLES])
{
	size_t in_table[ACCOUNT_TABLES] = { 0 }, kept = 0;

	if (groups->count)
		qsort_r(groups->list, groups->count, sizeof(*groups->list), compare_groups, groups);
	for (size_t i = 0; i < groups->count; i++) {
		enum account_table table = first_entry(groups, &groups->list[i])->row->table;

		if (in_table[table]++ >= top && table != ACCOUNT_RUN)
			left_out[table]++;
		else
			groups->list[kept++] = groups->list[i];
	}
	groups->count = kept;
}

/* Counts the files that each run has in the group; the entries are sorted by run. */
static size_t most_files(const struct row_entry *entries, size_t count)
{
	size_t most = 0, of_run = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_same_run = i && entries[i - 1].side == entries[i].side &&
				   entries[i - 1].run == entries[i].run;

		of_run = is_same_run ? of_run + 1 : 1;
		most = size_max(most, of_run);
	}
	return most;
}

void row_groups_read(const struct row_groups *groups, size_t i, struct contrast_row *row,
		     struct row_sums *sums)
{
	const struct row_group *group = &groups->list[i];
	const struct row_entry *entries = first_entry(groups, group);
	size_t count = (groups->runs[SIDE_A] + groups->runs[SIDE_B]) * ACCOUNT_SUMS;

	*row = (struct contrast_row){ .table = entries->row->table,
				      .layer = entries->row->layer,
				      .name = xstrdup(entries->name),
				      .is_aside = group->is_aside,
				      .files = most_files(entries, group->count) };
	count_runs(entries, group->count, row->runs);
	*sums = (struct row_sums){ .offset = { 0, groups->runs[SIDE_A] } };
	sums->sums = xcalloc(count, sizeof(*sums->sums));
	/* A run without a call made none, but a statistic that was not sampled is not 0. */
	for (size_t k = 0; k < count && row->table == ACCOUNT_NODE; k++)
		sums->sums[k] = NAN;
	for (size_t k = 0; k < group->count; k++) {
		double *to = sums->sums +
			     (sums->offset[entries[k].side] + entries[k].run) * ACCOUNT_SUMS;

		for (int s = 0; s < ACCOUNT_SUMS; s++)
			to[s] = (isnan(to[s]) ? 0 : to[s]) + entries[k].row->sums[s];
	}
}

const double *row_sums_of(const struct row_sums *sums, int side, size_t run)
{
	return sums->sums + (sums->offset[side] + run) * ACCOUNT_SUMS;
}

void row_sums_release(struct row_sums *sums)
{
	free(sums->sums);
	*sums = (struct row_sums){ 0 };
}
