/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders the notes of a run: anomalies, applied actions, reductions of the recording, reports of
 * plug-ins, the overhead, and node statistics.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/integer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "base/text.h"
#include "base/unit.h"
#include "observe/plugins/file_surveyor.h"
#include "observe/report/note_groups.h"
#include "observe/report/render.h"
#include "observe/stats/window.h"
#include "observe/tally/overhead_notes.h"
#include "observe/tally/summary.h"

#define SOURCE_PARAGRAPHS 40
#define LINE_COLUMNS 118
#define EVENT_HANG 4

/* The kinds of notes and their sections in a report. */
struct section {
	const char *kind, *title, *key;
	const char *word; /* names the kind of a single note */
	bool events;	  /* print single notes with their times, not groups */
};

enum { ANOMALIES, APPLIED, CONFLICTS, CAUTIONS, DEGRADED, REFUSED, PLUGINS, COST, SECTIONS };
static const struct section sections[SECTIONS] = {
	[ANOMALIES] = { NOTE_ANOMALY, "Anomalies", "anomalies", "anomaly", true },
	[APPLIED] = { NOTE_APPLIED, "Applied", "applied", "applied", false },
	[CONFLICTS] = { NOTE_CONFLICT, "Parameters on which sources disagree (who decided: what)",
			"conflicts", "conflict", true },
	[CAUTIONS] = { NOTE_CAUTION, "Warnings about parameters and hints", "warnings", "warning",
		       true },
	[DEGRADED] = { NOTE_DEGRADED, "Reduced recording", "degraded", "reduced recording", true },
	[REFUSED] = { NOTE_REFUSED, "Refused plug-ins", "refused", "refused plug-in", true },
	[PLUGINS] = { NOTE_REPORT, "Plug-in reports (average,minimum,maximum)", "plugins",
		      "plug-in report", false },
	[COST] = { NOTE_COST, "Overhead of recording (average,minimum,maximum)", "cost", "overhead",
		   false },
};

static bool belongs_to(const struct note *note, const struct section *section)
{
	return strcmp(text_or_empty(note->kind), section->kind) == 0;
}

/* Appends "rank 3", "process 7" or "node1"; nothing if it is unknown. */
static void add_whose(struct buf *text, const struct summary *s, const struct note *note)
{
	int32_t rank =
		note->process < 0 ? -1 : ranks_of_process(&s->ranks, (uint32_t)note->process);

	if (rank >= 0)
		buf_printf(text, "rank %" PRId32, s->ranks.list[rank].number);
	else if (note->process >= 0)
		buf_printf(text, "process %" PRId32, note->process);
	else
		buf_puts(text, text_or_empty(note->host));
}

static void print_event(FILE *out, const struct summary *s, const struct note *note)
{
	AUTO_BUF struct buf whose = { 0 };
	AUTO_BUF struct buf line = { 0 };
	char time[UNIT_TEXT];

	add_whose(&whose, s, note);
	buf_puts(&line, "  ");
	if (note->time_ns >= 0)
		buf_printf(&line, "at %s, ", unit_ns(time, note->time_ns));
	if (whose.len)
		buf_printf(&line, "%s, ", buf_text(&whose));
	buf_printf(&line, "%s: %s%s%s", text_or_empty(note->source), text_or_empty(note->name),
		   *text_or_empty(note->name) && *text_or_empty(note->value) ? ": " : "",
		   text_or_empty(note->value));
	term_paragraph(out, EVENT_HANG, buf_text(&line));
}

static void print_events(FILE *out, const struct report *report, const struct section *section)
{
	const struct trace_head *head = report->summary->head;
	uint64_t n = 0;

	for (size_t i = 0; i < head->note_count; i++) {
		if (!belongs_to(&head->notes[i], section))
			continue;
		if (!n)
			term_printf(out, "\n%s\n", section->title);
		if (n++ < report->top)
			print_event(out, report->summary, &head->notes[i]);
	}
	if (n > report->top)
		fprintf(out, "  ... and %" PRIu64 " more (--top %" PRIu64 " shows all)\n",
			n - report->top, n);
}

/* Names of our own numbers as people read them; the notes and the JSON keep the short names. */
static const struct {
	const char *name, *label;
} labels[] = {
	{ OVERHEAD_GUEST_NS, "time in the program" },
	{ OVERHEAD_GUEST_SHARE, "share of the run time" },
	{ OVERHEAD_INLINE_NS, "time in in-line plug-ins" },
	{ OVERHEAD_COLLECTOR_NS, "CPU time of the collector" },
	{ OVERHEAD_WATCHER_NS, "CPU time of the watcher" },
};

/* A suffix of a name tells the unit of its number; the value is printed with the unit instead. */
static const char *const unit_suffixes[] = { " ns", " bytes" };

static void add_label(struct buf *text, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		if (strcmp(name, labels[i].name) == 0) {
			buf_puts(text, labels[i].label);
			return;
		}
	}
	for (size_t i = 0; i < sizeof(unit_suffixes) / sizeof(*unit_suffixes); i++) {
		if (text_ends_with(name, unit_suffixes[i]))
			n -= strlen(unit_suffixes[i]);
	}
	buf_add(text, name, n);
}

/* Measures of the file surveyor, which has names without a unit; NULL for other groups. */
static const struct measure *find_survey_measure(const struct note_group *f)
{
	const char *name = note_group_name(f);

	if (strcmp(note_group_source(f), plugin_file_surveyor.name) != 0)
		return NULL;
	for (size_t i = 0; i < SURVEY_MEASURES; i++) {
		size_t n = strlen(name), m = strlen(survey_measures[i].name);

		if (n > m && name[n - m - 1] == '/' &&
		    text_ends_with(name, survey_measures[i].name))
			return &survey_measures[i];
	}
	return NULL;
}

static void add_number(struct buf *text, const struct note_group *f, double value)
{
	const struct measure *measure = find_survey_measure(f);
	const char *name = note_group_name(f);
	char out[UNIT_TEXT];

	if (isnan(value))
		buf_putc(text, '-');
	else if (measure && measure->quantity != QUANTITY_COUNT)
		buf_puts(text, measure_text(out, measure->quantity, value));
	else if (text_ends_with(name, "_ns") || text_ends_with(name, " ns"))
		buf_puts(text, unit_ns(out, i64_of(value)));
	else if (text_ends_with(name, " bytes"))
		buf_puts(text, unit_bytes(out, value));
	else if (text_ends_with(name, "_share"))
		buf_printf(text, "%.2f%%", 100 * value);
	else
		buf_printf(text, "%g", value);
}

static void add_spread(struct buf *text, const struct note_group *f)
{
	buf_putc(text, '(');
	add_number(text, f, spread_average(&f->spread));
	buf_putc(text, ',');
	add_number(text, f, f->spread.minimum);
	buf_putc(text, ',');
	add_number(text, f, f->spread.maximum);
	buf_putc(text, ')');
}

static void add_value(struct buf *text, const struct note_group *f)
{
	if (f->is_number && f->spread.count > 1)
		add_spread(text, f);
	else if (f->is_number)
		add_number(text, f, f->sum);
	else
		buf_puts(text, note_group_value(f));
	if (!f->is_number && f->count > 1)
		buf_printf(text, " (%zu times)", f->count);
}

/* Length of the paragraph's title in a name; the field follows it. */
static size_t title_length(const struct note_group *f)
{
	const char *name = note_group_name(f), *slash = strrchr(name, '/');

	return slash ? (size_t)(slash - name) : 0;
}

static bool same_source(const struct note_group *a, const struct note_group *b)
{
	return strcmp(note_group_source(a), note_group_source(b)) == 0;
}

static bool same_paragraph(const struct note_group *a, const struct note_group *b)
{
	size_t n = title_length(a);

	return same_source(a, b) && n == title_length(b) &&
	       strncmp(note_group_name(a), note_group_name(b), n) == 0;
}

/*
 * Prints "[histogram] POSIX read: very slow 2, slow 7, ...", with as many lines as the fields of
 * the paragraph need. Returns the number of groups.
 */
static size_t print_paragraph(FILE *out, const struct note_group *f, size_t count)
{
	int width = term_width(out), columns = width && width < LINE_COLUMNS ? width : LINE_COLUMNS;
	size_t title = title_length(f), n = 0;
	int column = term_printf(out, "  [%s]", note_group_source(f));

	if (title)
		column += term_printf(out, " %.*s:", (int)title, note_group_name(f));
	for (; n < count && same_paragraph(f, &f[n]); n++) {
		AUTO_BUF struct buf text = { 0 };

		add_label(&text, note_group_name(&f[n]) + (title ? title + 1 : 0));
		buf_putc(&text, ' ');
		add_value(&text, &f[n]);
		if (n)
			column += fprintf(out, ",");
		if (n && column + 2 + (int)text.len > columns)
			column = fprintf(out, "\n     ") - 1;
		column += term_printf(out, " %s", buf_text(&text));
	}
	fputc('\n', out);
	return n;
}

/* Limits the number of paragraphs per source, unless --top asks for more. */
static void print_note_groups(FILE *out, const struct report *report, const struct section *section)
{
	const struct summary *s = report->summary;
	size_t most = report->top > SOURCE_PARAGRAPHS ? (size_t)report->top : SOURCE_PARAGRAPHS;
	size_t count, paragraphs = 0, i = 0;
	AUTO_FREE struct note_group *groups =
		note_groups_new(s->head, &s->ranks, section->kind, &count);

	if (count)
		term_printf(out, "\n%s\n", section->title);
	while (i < count) {
		size_t first = i;

		paragraphs = i && same_source(&groups[i], &groups[i - 1]) ? paragraphs + 1 : 1;
		if (paragraphs <= most)
			i += print_paragraph(out, &groups[i], count - i);
		else
			while (i < count && same_paragraph(&groups[first], &groups[i]))
				i++;
		if (paragraphs > most && (i == count || !same_source(&groups[first], &groups[i])))
			term_printf(out, "  ... and %zu more of %s (--top %zu shows all)\n",
				    paragraphs - most, note_group_source(&groups[first]),
				    paragraphs);
	}
}

/* The time in which the program did I/O; the whole run if that is unknown. */
static void period_of_io(const struct summary *s, int64_t *from_ns, int64_t *to_ns)
{
	*from_ns = s->all.busy_from_ns;
	*to_ns = s->all.busy_until_ns;
	if (*to_ns <= *from_ns || s->has_aggregates) {
		*from_ns = 0;
		*to_ns = s->head->end.duration_ns;
	}
}

static struct window_figure *window_of_io(const struct summary *s)
{
	int64_t from, to;

	period_of_io(s, &from, &to);
	return window_new(s->head, from, to);
}

static void add_figure(struct table *table, const char *unit, double value, const char *per)
{
	char text[UNIT_TEXT];

	if (!strcmp(unit, "bytes"))
		table_add_number(table, value, "%s%s", unit_bytes(text, value), per);
	else if (!strcmp(unit, "ns"))
		table_add_number(table, value, "%s%s", unit_ns(text, i64_of(value)), per);
	else if (!strcmp(unit, "%"))
		table_add_number(table, value / 100, "%.1f%%", value);
	else
		table_add_number(table, value, "%.4g %s%s", value, unit, per);
}

static void add_statistic(struct table *table, const struct window_figure *f)
{
	const struct statistic_info *info = f->statistic;
	const char *unit = text_or_empty(info->unit);
	bool sums = !strcmp(text_or_empty(info->reduction), "sum");
	const char *per = sums ? "/s" : "";

	table_add(table, "%s", text_or_empty(info->name));
	add_figure(table, unit, f->mean, per);
	add_figure(table, unit, f->minimum, per);
	add_figure(table, unit, f->maximum, per);
	if (sums)
		add_figure(table, unit, f->total, "");
	else
		table_add(table, "-");
	table_add(table, "%s", text_or_empty(info->host));
}

size_t render_node_table(struct table *table, const struct report *report)
{
	static const char *const titles[] = { "statistic", ">mean", ">min", ">max",
					      ">total",	   "node",  NULL };
	const struct summary *s = report->summary;
	AUTO_FREE struct window_figure *figures = window_of_io(s);
	size_t rows = 0;

	table_init(table, titles);
	for (size_t i = 0; figures && i < s->head->statistic_count; i++) {
		if (figures[i].covered_ns <= 0 ||
		    (figures[i].maximum == 0 && figures[i].minimum == 0))
			continue;
		add_statistic(table, &figures[i]);
		rows++;
	}
	return rows;
}

void render_node_title(struct buf *out, const struct summary *summary)
{
	char first[UNIT_TEXT], last[UNIT_TEXT];
	int64_t from, to;

	period_of_io(summary, &from, &to);
	buf_printf(out, "Node statistics while the program did I/O (%s to %s after the start)",
		   unit_ns(first, from), unit_ns(last, to));
}

static void print_node(FILE *out, const struct report *report)
{
	AUTO_BUF struct buf title = { 0 };
	struct table table;

	if (render_node_table(&table, report)) {
		render_node_title(&title, report->summary);
		term_sentence(out, "\n%s\n", buf_text(&title));
		table_print(&table, out, 2);
	}
	table_release(&table);
}

static void add_event_row(struct table *table, const struct summary *s,
			  const struct section *section, const struct note *note)
{
	AUTO_BUF struct buf whose = { 0 };
	char time[UNIT_TEXT];

	add_whose(&whose, s, note);
	table_add(table, "%s", section->word);
	if (note->time_ns >= 0)
		table_add_number(table, (double)note->time_ns, "%s", unit_ns(time, note->time_ns));
	else
		table_add(table, "-");
	table_add(table, "%s", buf_text(&whose));
	table_add(table, "%s", text_or_empty(note->source));
	table_add(table, "%s", text_or_empty(note->name));
	table_add(table, "%s", text_or_empty(note->value));
}

static void add_group_row(struct table *table, const struct section *section,
			  const struct note_group *f)
{
	AUTO_BUF struct buf name = { 0 };
	AUTO_BUF struct buf value = { 0 };

	add_label(&name, note_group_name(f));
	add_value(&value, f);
	table_add(table, "%s", section->word);
	table_add(table, "-");
	if (f->is_number && f->spread.count > 1)
		table_add(table, "all (average,minimum,maximum)");
	else
		table_add(table, "all");
	table_add(table, "%s", note_group_source(f));
	table_add(table, "%s", buf_text(&name));
	table_add(table, "%s", buf_text(&value));
}

/* Both add the notes of a section after those of others, of which there are `count`. */
static size_t add_event_rows(struct table *table, const struct report *report,
			     const struct section *section, size_t count)
{
	const struct trace_head *head = report->summary->head;

	for (size_t i = 0; i < head->note_count; i++)
		if (belongs_to(&head->notes[i], section) && count++ < report->top)
			add_event_row(table, report->summary, section, &head->notes[i]);
	return count;
}

static size_t add_group_rows(struct table *table, const struct report *report,
			     const struct section *section, size_t count)
{
	const struct summary *s = report->summary;
	size_t n;
	AUTO_FREE struct note_group *groups =
		note_groups_new(s->head, &s->ranks, section->kind, &n);

	for (size_t i = 0; i < n; i++)
		if (count++ < report->top)
			add_group_row(table, section, &groups[i]);
	return count;
}

size_t render_note_table(struct table *table, const struct report *report)
{
	static const char *const titles[] = {
		"kind", ">time", "of", "source", "name", "value", NULL
	};
	size_t count = 0;

	table_init(table, titles);
	for (int i = 0; i < SECTIONS; i++)
		count = sections[i].events ? add_event_rows(table, report, &sections[i], count)
					   : add_group_rows(table, report, &sections[i], count);
	return count;
}

void render_events(FILE *out, const struct report *report)
{
	print_note_groups(out, report, &sections[APPLIED]);
	for (int i = 0; i < SECTIONS; i++) {
		if (sections[i].events)
			print_events(out, report, &sections[i]);
	}
}

void render_note_groups(FILE *out, const struct report *report)
{
	print_node(out, report);
	print_note_groups(out, report, &sections[PLUGINS]);
	print_note_groups(out, report, &sections[COST]);
}

static void put_event(struct json *json, const struct summary *s, const struct note *note)
{
	int32_t rank =
		note->process < 0 ? -1 : ranks_of_process(&s->ranks, (uint32_t)note->process);

	json_open(json, NULL, '{');
	if (note->time_ns >= 0)
		json_number(json, "time_ns", note->time_ns);
	if (note->process >= 0)
		json_number(json, "process", note->process);
	if (rank >= 0)
		json_number(json, "rank", s->ranks.list[rank].number);
	json_text(json, "host", text_or_empty(note->host));
	json_text(json, "source", text_or_empty(note->source));
	json_text(json, "name", text_or_empty(note->name));
	json_text(json, "value", text_or_empty(note->value));
	json_close(json);
}

static void put_events(struct json *json, const struct summary *s, const struct section *section)
{
	json_open(json, section->key, '[');
	for (size_t i = 0; i < s->head->note_count; i++) {
		if (belongs_to(&s->head->notes[i], section))
			put_event(json, s, &s->head->notes[i]);
	}
	json_close(json);
}

static void put_note_groups(struct json *json, const struct summary *s,
			    const struct section *section)
{
	note_groups_json(json, section->key, s->head, &s->ranks, section->kind);
}

void render_plugins(FILE *out, const struct summary *summary)
{
	size_t count;
	AUTO_FREE struct note_group *groups =
		note_groups_new(summary->head, &summary->ranks, NOTE_REPORT, &count);

	for (size_t i = 0; i < count;)
		i += print_paragraph(out, &groups[i], count - i);
}

void render_plugins_json(FILE *out, const struct summary *summary)
{
	struct json json;

	json_start(&json, out, "sluice.report.plugins/1");
	put_note_groups(&json, summary, &sections[PLUGINS]);
	json_end(&json);
}

static void put_statistic(struct json *json, const struct window_figure *f)
{
	json_open(json, NULL, '{');
	json_text(json, "host", text_or_empty(f->statistic->host));
	json_text(json, "name", text_or_empty(f->statistic->name));
	json_text(json, "unit", text_or_empty(f->statistic->unit));
	json_text(json, "reduction", text_or_empty(f->statistic->reduction));
	json_double(json, "mean", f->mean);
	json_double(json, "least", f->minimum);
	json_double(json, "most", f->maximum);
	json_double(json, "total", f->total);
	json_close(json);
}

static void put_node(struct json *json, const struct summary *s)
{
	AUTO_FREE struct window_figure *figures = window_of_io(s);
	int64_t from, to;

	period_of_io(s, &from, &to);
	json_open(json, "node", '{');
	json_number(json, "from_ns", from);
	json_number(json, "to_ns", to);
	json_open(json, "statistics", '[');
	for (size_t i = 0; figures && i < s->head->statistic_count; i++) {
		if (figures[i].covered_ns > 0)
			put_statistic(json, &figures[i]);
	}
	json_close(json);
	json_close(json);
}

void render_note_groups_json(struct json *json, const struct summary *summary)
{
	for (int i = 0; i < SECTIONS; i++) {
		if (sections[i].events)
			put_events(json, summary, &sections[i]);
		else
			put_note_groups(json, summary, &sections[i]);
	}
	put_node(json, summary);
}
