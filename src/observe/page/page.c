/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/page/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/date.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "base/unit.h"
#include "chart/style.h"
#include "observe/page/html.h"
#include "observe/page/parts.h"
#include "observe/page/sha256.h"
#include "observe/report/loss.h"
#include "observe/report/render.h"
#include "observe/tally/summary.h"

/* Parts of PAGE_BYTES_MAX. */
#define NOTES_BYTES 20000
#define TABLE_ROWS 2000

extern const struct embedded embedded_look_css, embedded_page_css, embedded_page_js;

/* The content of the page and the list of its sections, which precedes it. */
struct sections {
	struct buf body, list;
};

static void list_section(struct sections *s, const char *id, const char *title, size_t count)
{
	buf_printf(&s->list, "<li><a href=\"#%s\">", id);
	html_text(&s->list, title);
	if (count)
		buf_printf(&s->list, " <span>%zu</span>", count);
	buf_puts(&s->list, "</a></li>\n");
}

static void put_policy(struct buf *out, const struct buf *style)
{
	char script_digest[SHA256_TEXT], style_digest[SHA256_TEXT];

	sha256_text(script_digest, embedded_page_js.text, embedded_page_js.length);
	sha256_text(style_digest, style->data, style->len);
	buf_printf(out,
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "script-src 'sha256-%s'; style-src 'sha256-%s'; base-uri 'none'; "
		   "form-action 'none'\">\n",
		   script_digest, style_digest);
}

/* The name of the program: that of a rank, because the command may be its launcher. */
static void put_program(struct buf *out, const struct trace_head *head)
{
	AUTO_FREE char *word = xstrdup(text_or_empty(head->run.command));
	const char *name = word;

	word[strcspn(word, " ")] = '\0';
	for (size_t i = 0; i < head->process_count; i++) {
		if (head->processes[i].rank < 0 || !*text_or_empty(head->processes[i].program))
			continue;
		name = head->processes[i].program;
		break;
	}
	name = path_base_name(name);
	html_text(out, *name ? name : "unknown program");
}

static void put_head(struct buf *out, const struct trace_head *head)
{
	AUTO_BUF struct buf style = { 0 };

	buf_puts(&style, embedded_look_css.text);
	buf_puts(&style, embedded_page_css.text);
	style_rules(STYLE_AUTO, &style);
	buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	put_policy(out, &style);
	buf_puts(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n"
		      "<meta name=\"referrer\" content=\"no-referrer\">\n"
		      "<meta name=\"generator\" content=\"Sluice " SLUICE_VERSION "\">\n<title>");
	put_program(out, head);
	buf_puts(out, " - I/O report</title>\n<style>");
	buf_add(out, style.data, style.len);
	buf_puts(out, "</style>\n</head>\n");
}

static void put_fact(struct buf *out, const char *before, const char *text)
{
	if (!*text_or_empty(text))
		return;
	buf_puts(out, before);
	html_text(out, text);
}

static void put_facts(struct buf *out, const struct trace_head *head)
{
	char date[DATE_TEXT];

	buf_puts(out, "<p class=\"facts\">");
	if (head->run.started_ns > 0)
		buf_printf(out, "%s UTC",
			   date_text(date, (double)head->run.started_ns / (double)NS_PER_S));
	put_fact(out, " on ", head->run.host);
	put_fact(out, " by ", head->run.user);
	put_fact(out, " in ", head->run.directory);
	if (head->end.exit_status >= 0)
		buf_printf(out, ", exit code %" PRId32, head->end.exit_status);
	buf_puts(out, "</p>\n");
}

/* note stands below the value. */
static void put_figure(struct buf *out, const char *name, const char *value, const char *note)
{
	buf_puts(out, "<div>");
	html_element(out, "dt", NULL, name);
	buf_puts(out, "<dd>");
	html_text(out, value);
	html_element(out, "small", NULL, note);
	buf_puts(out, "</dd></div>\n");
}

static void put_count(struct buf *out, const char *name, uint64_t count, const char *note)
{
	char text[UNIT_TEXT];

	snprintf(text, sizeof(text), "%" PRIu64, count);
	put_figure(out, name, text, note);
}

static void put_time_figures(struct buf *out, const struct summary *s)
{
	double duration_ns = (double)s->head->end.duration_ns, share = summary_io_share(s);
	char time[UNIT_TEXT], percent[UNIT_TEXT];
	AUTO_BUF struct buf note = { 0 };

	put_figure(out, "Run time", unit_ns(time, (int64_t)duration_ns), "");
	if (isnan(share))
		return;
	buf_printf(&note, "%s of the run", unit_share(percent, share, 1));
	put_figure(out, s->ranks.count ? "In I/O per rank" : "Time in I/O",
		   unit_ns(time, (int64_t)(share * duration_ns)), buf_text(&note));
}

static void put_bytes_figure(struct buf *out, const char *name, uint64_t requested, uint64_t stored,
			     bool has_libraries)
{
	AUTO_BUF struct buf note = { 0 };
	char text[UNIT_TEXT];

	if (has_libraries)
		buf_printf(&note, "storage: %s", unit_bytes(text, (double)stored));
	put_figure(out, name, unit_bytes(text, (double)requested), buf_text(&note));
}

static void put_figures(struct buf *out, const struct summary *s)
{
	const struct sums *all = &s->all;
	bool has_libraries = summary_has_libraries(s);
	AUTO_BUF struct buf note = { 0 };

	buf_puts(out, "<dl class=\"figures\">\n");
	put_time_figures(out, s);
	put_bytes_figure(out, "Read", all->io.bytes_read, all->storage.bytes_read, has_libraries);
	put_bytes_figure(out, "Written", all->io.bytes_written, all->storage.bytes_written,
			 has_libraries);
	if (all->io.errors)
		buf_printf(&note, "%" PRIu64 " failed", all->io.errors);
	put_count(out, "I/O calls", all->io.calls, buf_text(&note));
	buf_clear(&note);
	if (s->ranks.count) {
		if (s->ranks.hosts) /* unknown in some logs */
			buf_printf(&note, "on %zu host%s", s->ranks.hosts,
				   s->ranks.hosts == 1 ? "" : "s");
		put_count(out, "Ranks", s->ranks.count, buf_text(&note));
	} else {
		put_count(out, "Processes", s->head->process_count, "");
	}
	buf_puts(out, "</dl>\n");
}

/* What the trace does not contain comes before everything that is derived from it. */
static void put_losses(struct buf *out, const struct trace_head *head)
{
	AUTO_BUF struct buf losses = { 0 };

	loss_describe(&losses, head);
	if (!losses.len)
		return;
	buf_puts(out,
		 "<div class=\"incomplete\"><p><strong>This trace is incomplete.</strong></p>\n");
	html_lines(out, "losses", buf_text(&losses), NOTES_BYTES);
	buf_puts(out, "</div>\n");
}

static void put_verdict(struct sections *sections, const struct summary *s)
{
	AUTO_BUF struct buf verdict = { 0 };
	AUTO_BUF struct buf notes = { 0 };
	struct buf *out = &sections->body;

	list_section(sections, "verdict", "Verdict", 0);
	buf_puts(out, "<section id=\"verdict\">\n<h1>");
	put_program(out, s->head);
	buf_puts(out, "</h1>\n<p class=\"command\"><code>");
	html_text(out, text_or_empty(s->head->run.command));
	buf_puts(out, "</code></p>\n");
	put_facts(out, s->head);
	put_losses(out, s->head);
	render_verdict(&verdict, s);
	html_element(out, "p", "verdict", buf_text(&verdict));
	put_figures(out, s);
	render_notes(&notes, s);
	html_lines(out, "notes", buf_text(&notes), NOTES_BYTES);
	buf_puts(out, "</section>\n");
}

static const struct {
	struct html_table html;
	size_t (*build)(struct table *table, const struct report *report);
} tables[] = {
	{ { "phases", "Phases",
	    "A phase lasts until the next one of its process. Times are summed over processes.",
	    "phase", NULL, "phases", 40000 },
	  render_phase_table },
	{ { "activities", "Activities",
	    "What the program says that it does. Times are summed over threads; the I/O of an "
	    "activity includes that of activities inside it.",
	    "activity", NULL, "activities", 80000 },
	  render_activity_table },
	{ { "layers", "Layers",
	    "Times are summed over threads. A call inside another call of the same layer does not "
	    "count its time and bytes again.",
	    "layer", "of run", "layers", 20000 },
	  render_layer_table },
	{ { "functions", "Functions", NULL, "function", "of run", "functions", 150000 },
	  render_function_table },
	{ { "files", "Files", NULL, "file", "of run", "files", 350000 }, render_file_table },
	{ { "ranks", "Ranks", NULL, "rank", NULL, "ranks", 200000 }, render_rank_table },
	{ { "parameters", "Parameters",
	    "Effective is the value that was read back after the file was opened.", "parameter",
	    NULL, "parameters", 60000 },
	  render_parameter_table },
	{ { "notes", "Notes",
	    "Anomalies, what Sluice changed for the program, reports of plug-ins, and the overhead "
	    "of recording.",
	    "name", NULL, "notes", 80000 },
	  render_note_table },
	{ { "node", "Node statistics", NULL, "statistic", NULL, "statistics", 60000 },
	  render_node_table },
};

static void put_tables(struct sections *sections, const struct report *report)
{
	struct report whole = *report;

	whole.top = TABLE_ROWS;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		AUTO_BUF struct buf about = { 0 };
		struct html_table html = tables[i].html;
		struct table table;
		size_t count = tables[i].build(&table, &whole);

		if (tables[i].build == render_node_table) {
			render_node_title(&about, report->summary);
			html.about = buf_text(&about);
		}
		if (count) {
			list_section(sections, html.id, html.title, count);
			html_table(&sections->body, &html, &table, count);
		}
		table_release(&table);
	}
}

static void put_footer(struct buf *out, const struct page *page)
{
	const struct trace_head *head = page->report->summary->head;

	buf_printf(out, "<footer>\n<p>Sluice " SLUICE_VERSION ", %" PRIu64 " recorded calls",
		   head->activities);
	put_fact(out, ", run ", head->run.uuid);
	if (page->run) {
		buf_puts(out, ", trace <code>");
		html_text(out, page->run);
		buf_puts(out, "</code>");
	}
	buf_puts(out, "</p>\n</footer>\n");
}

void page_render(struct buf *out, const struct page *page)
{
	const struct summary *s = page->report->summary;
	struct sections sections = { 0 };

	put_verdict(&sections, s);
	list_section(&sections, "findings", "Findings", page->report->finding_count);
	page_put_findings(&sections.body, page->report);
	if (page->plot_count) {
		list_section(&sections, "plots", "Plots", page->plot_count);
		page_put_plots(&sections.body, page);
	}
	put_tables(&sections, page->report);
	put_head(out, s->head);
	buf_puts(out, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
		      "<div class=\"page\">\n<header class=\"bar-top\"><p class=\"brand\">sluice"
		      "<span>I/O report</span></p></header>\n<div class=\"columns\">\n"
		      "<nav aria-label=\"Sections\"><ul>\n");
	buf_add(out, sections.list.data, sections.list.len);
	buf_puts(out, "</ul></nav>\n<main id=\"main\">\n");
	buf_add(out, sections.body.data, sections.body.len);
	buf_puts(out, "</main>\n</div>\n");
	put_footer(out, page);
	buf_puts(out, "</div>\n<script>");
	buf_puts(out, embedded_page_js.text);
	buf_puts(out, "</script>\n</body>\n</html>\n");
	buf_release(&sections.body);
	buf_release(&sections.list);
}
