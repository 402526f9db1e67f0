/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "base/unit.h"
#include "observe/report/names.h"
#include "observe/report/render.h"
#include "observe/report/summary.h"

/* With counted calls the wall-clock share is not known; the time of the threads is. */
static void verdict_time(struct buf *out, const struct summary *s)
{
	int64_t duration = s->head->end.duration_ns;
	char text[UNIT_TEXT], share[UNIT_TEXT];

	buf_printf(out, "ran %s", unit_ns(text, duration));
	if (s->has_aggregates)
		buf_printf(out, ", threads spent %s in I/O", unit_ns(text, s->run.time_ns));
	else
		buf_printf(out, ", %s of it in I/O (%s)",
			   unit_share(share, (double)s->busy_ns, (double)duration),
			   unit_ns(text, s->busy_ns));
}

static void verdict_consumer(struct buf *out, const struct summary_row *rows, size_t count,
			     int64_t whole_ns, const char *before)
{
	char share[UNIT_TEXT];

	if (!count || rows[0].tally->time_ns <= 0 || whole_ns <= 0)
		return;
	buf_printf(out, "%s%s (%s)", before, rows[0].name,
		   unit_share(share, (double)rows[0].tally->time_ns, (double)whole_ns));
}

/* The first of the rows that is storage: a wait on a pipe is no consumer of I/O. */
static size_t skip_network(const struct summary_row *rows, size_t count)
{
	size_t i = 0;

	while (i < count && rows[i].layer == LAYER_NETWORK)
		i++;
	return i;
}

void render_verdict(struct buf *out, const struct summary *summary)
{
	const struct tally *run = &summary->run;
	size_t functions, files, first;
	AUTO_FREE struct summary_row *by_function = summary_functions(summary, &functions);
	AUTO_FREE struct summary_row *by_file = summary_files(summary, &files);
	char bytes[UNIT_TEXT];

	verdict_time(out, summary);
	buf_printf(out, "; read %s", unit_bytes(bytes, (double)run->bytes_read));
	buf_printf(out, ", wrote %s", unit_bytes(bytes, (double)run->bytes_written));
	buf_printf(out, " in %" PRIu64 " call%s", run->calls, run->calls == 1 ? "" : "s");
	if (run->errors)
		buf_printf(out, ", %" PRIu64 " of them failed", run->errors);
	first = skip_network(by_function, functions);
	verdict_consumer(out, by_function + first, functions - first, run->time_ns,
			 "; most time in ");
	verdict_consumer(out, by_file, files, run->time_ns, " and on ");
}

#define TALLY_TITLES \
	">calls", ">errors", ">read", ">written", ">time", ">share", ">avg size", ">bandwidth"

static void add_tally(struct table *table, const struct tally *t, int64_t whole_ns)
{
	uint64_t bytes = t->bytes_read + t->bytes_written;
	char text[UNIT_TEXT];

	table_add(table, "%" PRIu64, t->calls);
	table_add(table, "%" PRIu64, t->errors);
	table_add(table, "%s", unit_bytes(text, (double)t->bytes_read));
	table_add(table, "%s", unit_bytes(text, (double)t->bytes_written));
	table_add(table, "%s", unit_ns(text, t->time_ns));
	table_add(table, "%s", unit_share(text, (double)t->time_ns, (double)whole_ns));
	table_add(table, "%s",
		  t->transfers ? unit_bytes(text, (double)bytes / (double)t->transfers) : "-");
	table_add(table, "%s", unit_rate(text, (double)bytes, t->transfer_ns));
}

static int64_t whole_time(const struct summary *s)
{
	return s->run.time_ns + s->network.time_ns;
}

static void print_layers(FILE *out, const struct summary *s)
{
	static const char *const titles[] = { "layer", TALLY_TITLES, NULL };
	struct table table;

	table_init(&table, titles);
	for (unsigned layer = 0; layer < LAYER_COUNT; layer++) {
		if (!s->layers[layer].calls)
			continue;
		table_add(&table, "%s", names_layer(layer));
		add_tally(&table, &s->layers[layer], whole_time(s));
	}
	fputs("\nBy layer\n", out);
	table_print(&table, out, 2);
	table_release(&table);
}

static void print_more(FILE *out, size_t count, uint64_t top, const char *what)
{
	if (count > top)
		fprintf(out, "  ... and %zu more %s (--top %zu shows all)\n", count - (size_t)top,
			what, count);
}

static void print_functions(FILE *out, const struct summary *s, uint64_t top)
{
	static const char *const titles[] = { "function", "layer", TALLY_TITLES, NULL };
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_functions(s, &count);
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < count && i < top; i++) {
		table_add(&table, rows[i].counted ? "(%s)" : "%s", rows[i].name);
		table_add(&table, "%s", names_layer(rows[i].layer));
		add_tally(&table, rows[i].tally, whole_time(s));
	}
	fputs("\nBy function\n", out);
	table_print(&table, out, 2);
	print_more(out, count, top, "functions");
	table_release(&table);
}

static void print_files(FILE *out, const struct summary *s, uint64_t top)
{
	/* The path comes last: it is the one column without a sensible width. */
	static const char *const titles[] = { TALLY_TITLES, "file", NULL };
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_files(s, &count);
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < count && i < top; i++) {
		add_tally(&table, rows[i].tally, whole_time(s));
		table_add(&table, "%s", rows[i].name);
	}
	fputs("\nBy file\n", out);
	table_print(&table, out, 2);
	print_more(out, count, top, "files");
	table_release(&table);
}

void render_text(FILE *out, const struct summary *summary, uint64_t top)
{
	AUTO_BUF struct buf verdict = { 0 };
	char text[UNIT_TEXT];

	render_verdict(&verdict, summary);
	fprintf(out, "%s%s%s\n", term_bold(out), buf_text(&verdict), term_plain(out));
	fprintf(out, "%s\n", summary->head->run.command ? summary->head->run.command : "");
	if (summary->network.calls)
		fprintf(out, "sockets and pipes: %s, not part of the I/O time above\n",
			unit_ns(text, summary->network.time_ns));
	print_layers(out, summary);
	print_functions(out, summary, top);
	print_files(out, summary, top);
}
