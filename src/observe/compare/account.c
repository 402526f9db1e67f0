/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/account.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/stats/window.h"
#include "observe/tally/losses.h"
#include "observe/tally/names.h"
#include "observe/tally/summary.h"

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

static void add_table(struct account *account, const struct summary *summary,
		      enum account_table table, enum summary_table source)
{
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_rows(summary, source, &count);

	for (size_t i = 0; i < count; i++) {
		const struct summary_row *row = &rows[i];
		char *name;

		/* The numbers of sockets and pipes differ in each run; their layer has a row. */
		if (table == ACCOUNT_FILES && (row->is_network || !names_is_file(row->name)))
			continue;
		name = row->counted ? xprintf("(%s)", row->name) : xstrdup(row->name);
		set_tally(add_row(account, table, table == ACCOUNT_FILES ? 0 : row->layer, name),
			  row->tally);
	}
}

static void add_ranks(struct account *account, const struct summary *summary)
{
	for (size_t i = 0; i < summary->ranks.count; i++) {
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

void account_init(struct account *account, const char *path, const struct summary *summary)
{
	const struct trace_head *head = summary->head;
	struct losses losses = losses_sum(head);

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
	add_table(account, summary, ACCOUNT_LAYERS, SUMMARY_LAYERS);
	add_table(account, summary, ACCOUNT_FUNCTIONS, SUMMARY_FUNCTIONS);
	add_table(account, summary, ACCOUNT_FILES, SUMMARY_FILES);
	add_ranks(account, summary);
	add_node(account, head);
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
