/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A campaign and its rows: finds the cells that were measured before, writes the input of the MPI
 * program, and parses its output.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/option.h"
#include "predict/model/costs/campaign.h"
#include "predict/model/costs/rows.h"

/* The benchmark program prints the rows of all rounds up to this number. */
#define ROWS_LISTED 64

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

static void format_words(const struct campaign *campaign, char placement[ELEMENT_WORD],
			 char cache[ELEMENT_WORD])
{
	option_choice_name(CAMPAIGN_PLACEMENT_WORDS, (int)campaign->placement, placement,
			   ELEMENT_WORD);
	option_choice_name(CAMPAIGN_CACHE_WORDS, (int)campaign->cache, cache, ELEMENT_WORD);
}

/* Rows have nodes, plans do not; both have the total numbers of ranks and of writers. */
static bool has_comm(const struct elements *rows, const struct campaign_cell *cell)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct element *row = &rows->rows[i];

		if (strcmp(row->operation, operations[cell->operation].name) == 0 &&
		    row->bytes == (double)cell->bytes && row->senders == (double)cell->senders &&
		    row->receivers == (double)cell->receivers &&
		    is_near(row->nodes * row->cores, (double)cell->ranks))
			return true;
	}
	return false;
}

/* round: of the file, which determines the stripes that it writes. */
static bool has_storage(const struct elements *rows, const struct campaign *campaign,
			const struct campaign_cell *cell, enum operation operation,
			uint64_t writers, uint64_t round)
{
	struct stripes_spread spread = campaign_spread(cell, round, writers);
	char placement[ELEMENT_WORD], cache[ELEMENT_WORD];

	format_words(campaign, placement, cache);
	for (size_t i = 0; i < rows->count; i++) {
		const struct element *row = &rows->rows[i];

		if (strcmp(row->operation, operations[operation].name) == 0 &&
		    row->bytes == (double)cell->bytes && strcmp(row->placement, placement) == 0 &&
		    strcmp(row->cache, cache) == 0 && row->senders == spread.pieces &&
		    row->receivers == spread.targets &&
		    is_near(row->nodes * row->cores, (double)cell->ranks) &&
		    is_near(row->nodes * row->writers, (double)writers))
			return true;
	}
	return false;
}

static bool has_cell(const struct elements *rows, const struct campaign *campaign,
		     const struct campaign_cell *cell)
{
	if (operations[cell->operation].kind == OPERATION_PIECES)
		return has_storage(rows, campaign, cell, cell->operation, cell->writers, 0) &&
		       (cell->operation != OPERATION_PIECE_WRITE || !campaign->reads ||
			has_storage(rows, campaign, cell, OPERATION_PIECE_READ, cell->writers, 0));
	if (operations[cell->operation].kind != OPERATION_STORAGE)
		return has_comm(rows, cell);
	if (!has_storage(rows, campaign, cell, OPERATION_WRITE_FIRST, cell->writers, 0) ||
	    (campaign->reads &&
	     !has_storage(rows, campaign, cell, OPERATION_READ_FIRST, cell->writers, 0)))
		return false;
	/* Of long sequences, only some rounds have a row. */
	for (uint64_t round = 1;
	     cell->stripes.count && cell->rounds <= ROWS_LISTED && round < cell->rounds; round++)
		if (!has_storage(rows, campaign, cell, OPERATION_WRITE_FULL, cell->writers, round))
			return false;
	for (size_t i = 0; i < cell->part_count; i++)
		if (!has_storage(rows, campaign, cell, OPERATION_WRITE_PARTIAL, cell->parts[i],
				 cell->rounds + i))
			return false;
	return true;
}

size_t campaign_mark_measured(struct campaign *campaign, const struct elements *rows)
{
	struct elements means = { 0 };
	size_t known = 0;

	rows_means(rows, &means);
	for (size_t i = 0; i < campaign->count; i++) {
		campaign->cells[i].is_done = has_cell(&means, campaign, &campaign->cells[i]);
		known += campaign->cells[i].is_done;
	}
	elements_release(&means);
	return known;
}

/* Appends the fields that storage and pieces have in common. */
static void append_writers(const struct campaign *campaign, const struct campaign_cell *c,
			   struct buf *out)
{
	char placement[ELEMENT_WORD], cache[ELEMENT_WORD];

	format_words(campaign, placement, cache);
	buf_printf(out, "%s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d", placement,
		   cache, c->writers, c->bytes, c->rounds, c->repetitions, campaign->reads);
}

static void append_storage_line(const struct campaign *campaign, const struct campaign_cell *c,
				struct buf *out)
{
	buf_puts(out, "storage ");
	append_writers(campaign, c, out);
	buf_putc(out, ' ');
	for (size_t i = 0; i < c->part_count; i++)
		buf_printf(out, "%s%" PRIu64, i ? "," : "", c->parts[i]);
	buf_puts(out, c->part_count ? "" : "-");
	if (c->stripes.count)
		buf_printf(out, " %" PRIu64 " %" PRIu64, c->stripes.count, c->stripes.unit);
	buf_putc(out, '\n');
}

static void append_pieces_line(const struct campaign *campaign, const struct campaign_cell *c,
			       struct buf *out)
{
	buf_printf(out, "pieces %s ", operations[c->operation].name);
	append_writers(campaign, c, out);
	buf_putc(out, '\n');
}

void campaign_write_cells(const struct campaign *campaign, uint64_t ranks, struct buf *out)
{
	for (size_t i = 0; i < campaign->count; i++) {
		const struct campaign_cell *c = &campaign->cells[i];

		if (c->is_done || c->ranks != ranks)
			continue;
		buf_printf(out, "%zu ", i);
		if (operations[c->operation].kind == OPERATION_STORAGE)
			append_storage_line(campaign, c, out);
		else if (operations[c->operation].kind == OPERATION_PIECES)
			append_pieces_line(campaign, c, out);
		else
			buf_printf(out, "comm %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
				   operations[c->operation].name, c->senders, c->receivers,
				   c->bytes, c->repetitions);
	}
}

static int report_garbled(const char *line, struct err *err)
{
	return err_set(err, EPROTO, "unexpected output of the benchmark program: %.80s", line);
}

static int parse_nodes(struct campaign_intake *intake, const char *line, struct err *err)
{
	uint64_t nodes, ranks;

	if (sscanf(line, "@nodes %" SCNu64 " %" SCNu64, &nodes, &ranks) != 2 || !nodes)
		return report_garbled(line, err);
	if (ranks != intake->ranks)
		return err_set(err, EPROTO,
			       "the launcher started %" PRIu64 " ranks instead of %" PRIu64
			       "; does it belong to another MPI library?",
			       ranks, intake->ranks);
	intake->nodes = (double)nodes;
	return CAMPAIGN_OTHER;
}

/* Returns the cell with this index if it was requested, else NULL. */
static const struct campaign_cell *find_cell(const struct campaign_intake *intake, size_t i)
{
	const struct campaign *campaign = intake->campaign;

	if (i >= campaign->count || campaign->cells[i].ranks != intake->ranks || !intake->nodes)
		return NULL;
	return &campaign->cells[i];
}

static void fill_row(struct element *row, const struct campaign_intake *intake,
		     const struct campaign_cell *cell, uint64_t writers)
{
	snprintf(row->platform, sizeof(row->platform), "%s", intake->platform);
	row->nodes = intake->nodes;
	row->cores = (double)intake->ranks / intake->nodes;
	row->senders = (double)cell->senders;
	row->receivers = (double)cell->receivers;
	row->writers = (double)writers / intake->nodes;
	row->bytes = (double)cell->bytes;
	if (operation_has_writers(cell->operation))
		format_words(intake->campaign, row->placement, row->cache);
	if (cell->stripes.count) {
		struct stripes_spread spread = campaign_spread(cell, (uint64_t)row->round, writers);

		row->senders = spread.pieces;
		row->receivers = spread.targets;
		row->repetition += (int64_t)cell->first_repetition;
	}
}

static int parse_row(struct campaign_intake *intake, const char *line, int64_t now_ns,
		     struct err *err)
{
	struct element row = { .time_ns = now_ns };
	const struct campaign_cell *cell;
	uint64_t writers;
	size_t id;

	if (sscanf(line, "@row %zu %15s %" SCNu64 " %" SCNd64 " %" SCNd64 " %lf", &id,
		   row.operation, &writers, &row.round, &row.repetition, &row.seconds) != 6 ||
	    operation_by_name(row.operation) < 0 || !isfinite(row.seconds) || row.seconds < 0 ||
	    row.round < 0)
		return report_garbled(line, err);
	cell = find_cell(intake, id);
	if (!cell || (intake->rows.count && intake->cell != id) ||
	    (cell->stripes.count && writers > cell->writers))
		return report_garbled(line, err);
	fill_row(&row, intake, cell, writers);
	intake->cell = id;
	elements_add(&intake->rows, &row);
	return CAMPAIGN_ROW;
}

int campaign_parse_line(struct campaign_intake *intake, const char *line, int64_t now_ns,
			struct err *err)
{
	size_t id;

	if (strncmp(line, "@nodes ", 7) == 0)
		return parse_nodes(intake, line, err);
	if (strncmp(line, "@row ", 5) == 0)
		return parse_row(intake, line, now_ns, err);
	if (strncmp(line, "@done ", 6) != 0)
		return CAMPAIGN_OTHER;
	if (sscanf(line, "@done %zu", &id) != 1 || !find_cell(intake, id) || !intake->rows.count ||
	    intake->cell != id)
		return report_garbled(line, err);
	intake->campaign->cells[id].is_done = true;
	return CAMPAIGN_CELL;
}
