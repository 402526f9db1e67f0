/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders a summary as text for people: verdict, notes and tables.
 */
#include "base/buf.h"
#include "base/table.h"
#include "base/term.h"
#include "observe/report/render.h"
#include "observe/report/render_findings.h"
#include "observe/tally/summary.h"

struct text_table {
	const char *title, *row;
	size_t (*build)(struct table *table, const struct report *report);
	bool is_optional; /* not shown if it is empty */
};

static const struct text_table rank_table = { "By rank", "rank", render_rank_table, false };
static const struct text_table tables[] = {
	{ "By phase of the program", "phase", render_phase_table, true },
	{ "By activity of the program", "kind", render_activity_table, true },
	{ "By layer", "layer", render_layer_table, false },
	{ "By function", "function", render_function_table, false },
	{ "By file", "file", render_file_table, false },
	{ "Stripes", "file", render_layout_table, true },
};

static void print_table(FILE *out, const struct report *report, const struct text_table *which)
{
	struct table table;
	size_t count = which->build(&table, report), shown = table.count / table.columns;

	if (!count && which->is_optional) {
		table_release(&table);
		return;
	}
	term_printf(out, "\n%s\n", which->title);
	table_print(&table, out, 2);
	if (count > shown)
		term_printf(out, "  ... and %zu more %s%s (--top %zu shows all)\n", count - shown,
			    which->row, count - shown == 1 ? "" : "s", count);
	if (table.note)
		term_printf(out, "  (%s)\n", table.note);
	table_release(&table);
}

void render_text(FILE *out, const struct report *report)
{
	const struct summary *s = report->summary;
	AUTO_BUF struct buf verdict = { 0 };
	AUTO_BUF struct buf notes = { 0 };

	render_verdict(&verdict, s);
	render_notes(&notes, s);
	term_headline(out, buf_text(&verdict));
	term_printf(out, "%s\n", s->head->run.command ? s->head->run.command : "");
	if (report->findings)
		render_findings(out, report->profile, report->findings, report->finding_count,
				report->findings_shown);
	if (notes.len)
		term_printf(out, "\n");
	term_lines(out, buf_text(&notes));
	render_misuse(out, report);
	render_events(out, report);
	render_parameters(out, report);
	if (report->by_rank && s->ranks.count && s->of_rank)
		print_table(out, report, &rank_table);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		print_table(out, report, &tables[i]);
	render_note_groups(out, report);
}
