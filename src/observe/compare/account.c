/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/account.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/profile/profile.h"
#include "observe/stats/window.h"
#include "observe/tally/losses.h"
#include "observe/tally/names.h"
#include "observe/tally/summary.h"
#include "observe/tally/traffic.h"

/* Statistics that say how loaded the nodes were, whatever devices they have. */
static const char *const node_statistics[] = {
	"utilization/cpu",     "utilization/memory", "utilization/io",
	"utilization/network", "cpu/running",	     "cpu/blocked",
};
#define NODE_STATISTICS (sizeof(node_statistics) / sizeof(node_statistics[0]))

/* Takes the name. */
static struct account_row *add_row(struct account *account, enum account_table table,
				   unsigned layer, char *name)
{
	struct account_row *row;

	account->rows = xgrow(account->rows, &account->cap, account->count + 1, sizeof(*row));
	row = &account->rows[account->count++];
	*row = (struct account_row){ .table = table, .layer = (uint8_t)layer, .name = name };
	return row;
}

static void set_tally(struct account_row *row, const struct tally *tally)
{
	row->sums[ACCOUNT_TIME_NS] = (double)tally->time_ns;
	row->sums[ACCOUNT_CALLS] = (double)tally->calls;
	row->sums[ACCOUNT_ERRORS] = (double)tally->errors;
	row->sums[ACCOUNT_READ] = (double)tally->bytes_read;
	row->sums[ACCOUNT_WRITTEN] = (double)tally->bytes_written;
	row->sums[ACCOUNT_TRANSFERS] = (double)tally->transfers;
}

static void add_run(struct account *account, const struct summary *summary)
{
	struct account_row *row = add_row(account, ACCOUNT_RUN, 0, xstrdup(ACCOUNT_REQUESTED));

	set_tally(row, &summary->all.io);
	row->sums[ACCOUNT_RUN_NS] = (double)summary->head->end.duration_ns;
	row->sums[ACCOUNT_BUSY_NS] =
		(double)(summary->has_aggregates ? summary->all.io.time_ns : summary->all.busy_ns);
	if (summary_has_libraries(summary))
		set_tally(add_row(account, ACCOUNT_RUN, 0, xstrdup(ACCOUNT_STORAGE)),
			  &summary->all.storage);
}

/* Accesses with a known position. */
struct order {
	double placed, sequential;
};

static struct order order_of(const struct survey *survey)
{
	struct order order = { 0 };

	for (int way = READING; way <= WRITING; way++) {
		order.sequential += (double)survey->sequential[way];
		order.placed += (double)(survey->sequential[way] + survey->short_seeks[way] +
					 survey->long_seeks[way]);
	}
	return order;
}

static void add_order(struct account_row *row, struct order order)
{
	row->sums[ACCOUNT_PLACED] += order.placed;
	row->sums[ACCOUNT_SEQUENTIAL] += order.sequential;
}

static void add_layers(struct account *account, const struct profile *profile,
		       const struct file_total *files, size_t file_count)
{
	size_t count;
	AUTO_FREE struct summary_row *rows =
		summary_rows(&profile->summary, SUMMARY_LAYERS, &count);

	for (size_t i = 0; i < count; i++) {
		struct account_row *row =
			add_row(account, ACCOUNT_LAYERS, rows[i].layer, xstrdup(rows[i].name));

		row->is_aside = !names_layer_is_io(rows[i].layer);
		set_tally(row, rows[i].tally);
		for (size_t k = 0; k < file_count; k++)
			if (files[k].layer == rows[i].layer)
				add_order(row, order_of(&files[k].total.survey));
	}
}

static void add_functions(struct account *account, const struct summary *summary, bool all)
{
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_rows(summary, SUMMARY_FUNCTIONS, &count);
	struct tally channels = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct account_row *row;

		if (rows[i].is_network && !all) {
			tally_merge(&channels, rows[i].tally);
			continue;
		}
		row = add_row(account, ACCOUNT_FUNCTIONS, rows[i].layer,
			      rows[i].counted ? xprintf("(%s)", rows[i].name)
					      : xstrdup(rows[i].name));
		row->is_aside = rows[i].is_network || rows[i].is_process;
		set_tally(row, rows[i].tally);
	}
	if (channels.calls) {
		struct account_row *row = add_row(account, ACCOUNT_FUNCTIONS, LAYER_NETWORK,
						  xstrdup(ACCOUNT_CHANNELS));

		row->is_aside = true;
		set_tally(row, &channels);
	}
}

/* The order of each file's accesses in the layer nearest to storage that knows their positions; by
 * file. The caller frees it. */
static struct order *find_orders(const struct profile *profile, const struct file_total *files,
				 size_t count)
{
	struct order *orders = xcalloc(profile->head->file_count + 1, sizeof(*orders));

	/* The totals are in the order of layers, from the lowest. */
	for (size_t i = 0; i < count; i++)
		if (files[i].file < profile->head->file_count &&
		    !(orders[files[i].file].placed > 0))
			orders[files[i].file] = order_of(&files[i].total.survey);
	return orders;
}

static void add_files(struct account *account, const struct profile *profile,
		      const struct file_total *files, size_t file_count, bool all)
{
	size_t count, users;
	AUTO_FREE struct summary_row *rows = summary_rows(&profile->summary, SUMMARY_FILES, &count);
	AUTO_FREE struct order *orders = find_orders(profile, files, file_count);
	struct tally totals[FILE_CLASSES];

	if (!all)
		count = summary_fold_files(rows, count, &users, totals);
	for (size_t i = 0; i < count; i++) {
		struct account_row *row;

		if (rows[i].class == FILE_CHANNEL || rows[i].is_network)
			continue;
		row = add_row(account, ACCOUNT_FILES, 0,
			      rows[i].folded ? xprintf("(%s)", rows[i].name)
					     : xstrdup(rows[i].name));
		row->is_aside = rows[i].class != FILE_USER;
		set_tally(row, rows[i].tally);
		if (!rows[i].folded)
			add_order(row, orders[rows[i].key - 1]);
	}
}

static void add_ranks(struct account *account, const struct summary *summary)
{
	/* With very many ranks, there are no sums of single ones. */
	for (size_t i = 0; summary->of_rank && i < summary->ranks.count; i++) {
		struct account_row *row =
			add_row(account, ACCOUNT_RANKS, 0,
				xprintf("%" PRId32, summary->ranks.list[i].number));

		set_tally(row, &summary->of_rank[i].io);
		row->sums[ACCOUNT_BUSY_NS] = (double)summary->of_rank[i].busy_ns;
	}
}

/* The mean over nodes. A run that was too short to be sampled has no rows. */
static void add_node(struct account *account, const struct trace_head *head)
{
	AUTO_FREE struct window_figure *figures = window_new(head, 0, head->end.duration_ns);

	for (size_t k = 0; figures && k < NODE_STATISTICS; k++) {
		double sum = 0;
		size_t nodes = 0;

		for (size_t i = 0; i < head->statistic_count; i++) {
			if (figures[i].covered_ns <= 0 ||
			    !text_equal(figures[i].statistic->name, node_statistics[k]))
				continue;
			sum += figures[i].mean;
			nodes++;
		}
		if (nodes)
			add_row(account, ACCOUNT_NODE, 0, xstrdup(node_statistics[k]))
				->sums[ACCOUNT_LEVEL] = sum / (double)nodes;
	}
}

static int compare_pids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static void copy_pids(struct account *account, const struct trace_head *head)
{
	account->pid_count = 2 * head->process_count;
	account->pids = xcalloc(account->pid_count + 1, sizeof(*account->pids));
	for (size_t i = 0; i < head->process_count; i++) {
		account->pids[2 * i] = head->processes[i].pid;
		account->pids[2 * i + 1] = head->processes[i].ppid;
	}
	qsort(account->pids, account->pid_count, sizeof(*account->pids), compare_pids);
}

void account_init(struct account *account, const char *path, const struct profile *profile,
		  bool all)
{
	const struct summary *summary = &profile->summary;
	const struct trace_head *head = profile->head;
	struct losses losses = losses_sum(head);
	size_t count;
	struct file_total *files = profile_files(profile, &count);

	*account = (struct account){
		.path = xstrdup(path),
		.command = xstrdup(text_or_empty(head->run.command)),
		.directory = xstrdup(text_or_empty(head->run.directory)),
		.started_ns = head->run.started_ns,
		.exit_status = head->end.exit_status,
		.is_recorded = true,
		.is_partial = !head->end.complete || losses.records || losses.threads ||
			      losses.unrecorded_processes || head->damaged_blocks,
		.ranks = summary->ranks.count,
	};
	copy_pids(account, head);
	add_run(account, summary);
	add_layers(account, profile, files, count);
	add_functions(account, summary, all);
	add_files(account, profile, files, count, all);
	add_ranks(account, summary);
	add_node(account, head);
	profile_files_release(files, count);
}

void account_init_time(struct account *account, const char *command, double run_s, int exit_status)
{
	struct account_row *row;

	*account = (struct account){
		.command = xstrdup(command),
		.directory = xstrdup(""),
		.exit_status = exit_status,
	};
	row = add_row(account, ACCOUNT_RUN, 0, xstrdup(ACCOUNT_REQUESTED));
	for (int i = 0; i < ACCOUNT_SUMS; i++)
		row->sums[i] = NAN;
	row->sums[ACCOUNT_RUN_NS] = run_s * NS_PER_S;
}

void account_release(struct account *account)
{
	for (size_t i = 0; i < account->count; i++)
		free(account->rows[i].name);
	free(account->rows);
	free(account->pids);
	free(account->directory);
	free(account->command);
	free(account->path);
	*account = (struct account){ 0 };
}
