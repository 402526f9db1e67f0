/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-17.
 */
#include "observe/report/brief.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/term.h"
#include "base/unit.h"
#include "observe/profile/profile.h"
#include "observe/report/applied.h"
#include "observe/report/loss.h"
#include "observe/report/note_groups.h"
#include "observe/report/render.h"
#include "observe/report/render_findings.h"
#include "observe/tally/names.h"
#include "observe/tally/overhead_notes.h"

#define LAYERS_MAX 3
#define FILES_MAX 3
#define LABEL_COLUMNS 10
#define TEXT_COLUMNS (BRIEF_COLUMNS - LABEL_COLUMNS - 3)
#define FILE_COLUMNS 40 /* a longer path is cut in its middle */

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* The summary under construction. Lines are collected first, because there may be too many. */
struct brief {
	const struct summary *s;
	bool read;
	char *lines[BRIEF_LINES];
	size_t count;
};

/* Is the byte a continuation of a UTF-8 character? */
static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static void keep_line(struct brief *b, char *line)
{
	if (b->count < BRIEF_LINES)
		b->lines[b->count++] = line;
	else
		free(line);
}

/* Returns the number of bytes that fill the given columns. */
static size_t bytes_in_columns(const char *text, size_t columns)
{
	size_t n = 0;

	while (text[n] && (columns || is_continuation(text[n])))
		columns -= !is_continuation(text[n++]);
	return n;
}

/* Escapes the text, and cuts a line that is too long. */
static void put_text(struct brief *b, const char *text)
{
	AUTO_BUF struct buf safe = { 0 };
	size_t n;

	escape_text(&safe, text, "");
	text = buf_text(&safe);
	n = bytes_in_columns(text, BRIEF_COLUMNS);
	keep_line(b,
		  text[n] ? xprintf("%.*s...", (int)bytes_in_columns(text, BRIEF_COLUMNS - 3), text)
			  : xstrdup(text));
}

static void put_line(struct brief *b, const char *label, const char *text)
{
	AUTO_FREE char *line = xprintf("  %-*s %s", LABEL_COLUMNS, label, text);

	put_text(b, line);
}

static void add_bytes(struct buf *text, const struct tally *t)
{
	char bytes[UNIT_TEXT];

	if (t->bytes_read)
		buf_printf(text, "read %s", unit_bytes(bytes, (double)t->bytes_read));
	if (t->bytes_read && t->bytes_written)
		buf_puts(text, ", ");
	if (t->bytes_written)
		buf_printf(text, "wrote %s", unit_bytes(bytes, (double)t->bytes_written));
	if (!t->bytes_read && !t->bytes_written)
		buf_puts(text, "no data transferred");
}

static void add_busy(struct buf *text, const struct summary *s)
{
	char share[UNIT_TEXT], time[UNIT_TEXT];

	if (s->has_aggregates)
		buf_printf(text, ", threads spent %s in I/O", unit_ns(time, s->all.io.time_ns));
	else
		buf_printf(text, ", %s of it in I/O", unit_share(share, summary_io_share(s), 1));
	buf_puts(text, ": ");
}

static void put_head(struct brief *b)
{
	const struct summary *s = b->s;
	AUTO_BUF struct buf text = { 0 };
	char time[UNIT_TEXT];

	buf_puts(&text, "sluice: ");
	if (s->ranks.count)
		buf_printf(&text, "%zu rank%s", s->ranks.count, plural(s->ranks.count));
	if (s->ranks.hosts > 1)
		buf_printf(&text, " on %zu nodes", s->ranks.hosts);
	buf_printf(&text, "%sran %s", s->ranks.count ? " " : "",
		   unit_ns(time, s->head->end.duration_ns));
	if (b->read) {
		add_busy(&text, s);
		add_bytes(&text, &s->all.io);
	} else {
		buf_printf(&text, " and made %" PRIu64 " calls, too many to summarize here",
			   s->head->activities);
	}
	put_text(b, buf_text(&text));
}

/* How unevenly the ranks spent time in I/O. */
static void put_ranks(struct brief *b)
{
	const struct summary *s = b->s;
	struct spread time =
		summary_rank_spread(s, &sums_measures[s->has_aggregates ? SUMS_TIME : SUMS_BUSY]);
	AUTO_BUF struct buf text = { 0 };
	char out[UNIT_TEXT];

	if (!b->read || s->ranks.count < 2 || !summary_knows_ranks(s))
		return;
	buf_printf(&text, "in I/O for %s on average", unit_ns(out, (int64_t)spread_average(&time)));
	buf_printf(&text, ", from %s (rank %" PRId32 ")", unit_ns(out, i64_of(time.minimum)),
		   time.minimum_rank);
	buf_printf(&text, " to %s (rank %" PRId32 ")", unit_ns(out, i64_of(time.maximum)),
		   time.maximum_rank);
	put_line(b, "ranks", buf_text(&text));
}

/*
 * Appends "1.28 to 2.90" in the unit of `usual`, or both values with their units if these differ.
 */
static void add_range(struct buf *text, const char *minimum, const char *maximum, const char *usual)
{
	const char *units[] = { strchr(usual, ' '), strchr(minimum, ' '), strchr(maximum, ' ') };
	bool same = units[0] && units[1] && units[2] && !strcmp(units[0], units[1]) &&
		    !strcmp(units[0], units[2]);

	buf_printf(text, "%.*s to %.*s", (int)(same ? units[1] - minimum : UNIT_TEXT), minimum,
		   (int)(same ? units[2] - maximum : UNIT_TEXT), maximum);
}

/* In a parallel run, the bandwidth of a rank: average, minimum and maximum. */
static void add_bandwidth(struct buf *text, const struct summary *s, const struct summary_row *row)
{
	const struct measure *rate = &tally_measures[TALLY_BANDWIDTH];
	struct spread spread = summary_spread(s, row, rate);
	double one = s->ranks.count ? spread_average(&spread) : rate->get(row->tally);
	char usual[UNIT_TEXT], minimum[UNIT_TEXT], maximum[UNIT_TEXT];
	AUTO_BUF struct buf range = { 0 };

	if (isnan(one))
		return;
	buf_printf(text, " at %s", measure_text(usual, rate->quantity, one));
	if (spread.count < 2)
		return;
	buf_puts(text, " per rank");
	add_range(&range, measure_text(minimum, rate->quantity, spread.minimum),
		  measure_text(maximum, rate->quantity, spread.maximum), usual);
	if (text->len + range.len + strlen(" ()") <= TEXT_COLUMNS)
		buf_printf(text, " (%s)", buf_text(&range));
}

static int compare_time(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return x->tally->time_ns < y->tally->time_ns   ? 1
	       : x->tally->time_ns > y->tally->time_ns ? -1
						       : 0;
}

static int compare_layer(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return (int)y->layer - (int)x->layer;
}

static uint64_t transferred_bytes(const struct tally *t)
{
	return t->bytes_read + t->bytes_written;
}

/* Chooses the layers that matter: not sockets, and none with less than 1 % of time and bytes. */
static size_t choose_layers(const struct summary *s, struct summary_row *rows, size_t count,
			    size_t most)
{
	int64_t time = s->all.io.time_ns;
	uint64_t bytes = transferred_bytes(&s->all.io);
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tally *t = rows[i].tally;

		if (names_layer_is_io(rows[i].layer) &&
		    (t->time_ns >= time / 100 || transferred_bytes(t) > bytes / 100))
			rows[n++] = rows[i];
	}
	qsort(rows, n, sizeof(*rows), compare_time);
	n = MIN(n, most);
	qsort(rows, n, sizeof(*rows), compare_layer);
	return n;
}

/* Layers are listed from the highest down. */
static void put_layers(struct brief *b, size_t most)
{
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_rows(b->s, SUMMARY_LAYERS, &count);

	count = choose_layers(b->s, rows, count, most);
	for (size_t i = 0; i < count; i++) {
		const struct tally *t = rows[i].tally;
		AUTO_BUF struct buf text = { 0 };

		add_bytes(&text, t);
		buf_printf(&text, " in %" PRIu64 " call%s", t->calls, plural(t->calls));
		add_bandwidth(&text, b->s, &rows[i]);
		put_line(b, names_layer(rows[i].layer), buf_text(&text));
	}
}

/* Appends the path relative to the run's directory; cuts the middle of a long one. */
static void add_path(struct buf *text, const struct trace_head *head, const char *path)
{
	const char *base = head->run.directory;
	size_t n = base ? strlen(base) : 0;

	if (n > 1 && strncmp(path, base, n) == 0 && path[n] == '/')
		path += n + 1;
	n = strlen(path);
	if (n <= FILE_COLUMNS)
		buf_puts(text, path);
	else
		buf_printf(text, "%.*s...%s", FILE_COLUMNS / 3, path,
			   path + n - (FILE_COLUMNS - FILE_COLUMNS / 3 - 3));
}

static void add_file(struct buf *text, const struct summary *s, const struct summary_row *row)
{
	bool first = !text->len;
	char out[UNIT_TEXT];

	buf_puts(text, first ? "" : ", ");
	add_path(text, s->head, row->name);
	buf_puts(text, " (");
	if (transferred_bytes(row->tally))
		buf_printf(text, "%s, ", unit_bytes(out, (double)transferred_bytes(row->tally)));
	buf_printf(text, "%s%s)", unit_share(out, summary_share(s, (double)row->tally->time_ns), 1),
		   first ? " of the run" : "");
}

/* Lists the files with the most I/O time, as many as fit. */
static void put_files(struct brief *b)
{
	size_t count, shown = 0;
	AUTO_FREE struct summary_row *rows = summary_rows(b->s, SUMMARY_FILES, &count);
	struct tally totals[FILE_CLASSES];
	AUTO_FREE char *all = NULL;
	AUTO_BUF struct buf text = { 0 };

	summary_fold_files(rows, count, &count, totals);
	all = xprintf("; %zu files in total", count);
	for (size_t i = 0; i < count && shown < FILES_MAX; i++) {
		size_t before = text.len;

		if (shown && rows[i].tally->time_ns <= b->s->all.io.time_ns / 100)
			break;
		add_file(&text, b->s, &rows[i]);
		if (before && text.len + strlen(all) > TEXT_COLUMNS) {
			text.data[text.len = before] = '\0';
			break;
		}
		shown++;
	}
	if (!shown)
		return;
	if (count > shown)
		buf_puts(&text, all);
	put_line(b, "files", buf_text(&text));
}

static void add_when(struct buf *text, const struct note *note)
{
	char time[UNIT_TEXT];

	if (note->time_ns >= 0)
		buf_printf(text, "at %s: ", unit_ns(time, note->time_ns));
}

static void add_note_group(struct buf *text, const struct note_group *f)
{
	add_when(text, f->first);
	if (f->is_number)
		buf_printf(text, "%s: %s %g", note_group_source(f), note_group_name(f), f->sum);
	else if (*note_group_value(f))
		buf_puts(text, note_group_value(f));
	else
		buf_puts(text, note_group_name(f));
}

/* Shows the first anomaly and the number of anomalies. */
static void put_anomalies(struct brief *b)
{
	size_t count;
	AUTO_FREE struct note_group *found =
		note_groups_new(b->s->head, &b->s->ranks, NOTE_ANOMALY, &count);
	AUTO_BUF struct buf text = { 0 };

	if (count > 1)
		buf_printf(&text, "%zu; first ", count);
	if (count)
		add_note_group(&text, &found[0]);
	if (count)
		put_line(b, "anomalies", buf_text(&text));
}

/* Shows the last reduction by the overhead monitor, or else the last note. */
static void put_degraded(struct brief *b)
{
	size_t count, last = 0;
	AUTO_FREE struct note_group *found =
		note_groups_new(b->s->head, &b->s->ranks, NOTE_DEGRADED, &count);
	AUTO_BUF struct buf text = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (strcmp(note_group_source(&found[last]), "overhead") != 0 ||
		    !strcmp(note_group_source(&found[i]), "overhead"))
			last = i;
	}
	if (count)
		add_note_group(&text, &found[last]);
	if (count)
		put_line(b, "degraded", buf_text(&text));
}

static void put_refused(struct brief *b)
{
	size_t count;
	AUTO_FREE struct note_group *found =
		note_groups_new(b->s->head, &b->s->ranks, NOTE_REFUSED, &count);
	AUTO_BUF struct buf text = { 0 };

	if (count > 1)
		buf_printf(&text, "%zu plug-ins; first ", count);
	if (count)
		buf_printf(&text, "%s: %s", note_group_source(&found[0]),
			   note_group_value(&found[0]));
	if (count)
		put_line(b, "refused", buf_text(&text));
}

/*
 * Prints "cb_nodes=4 transfer=independent (1 of 2 applied)". The end is important, so the list is
 * cut.
 */
static void put_parameters(struct brief *b, const struct note_group *f)
{
	AUTO_BUF struct buf applied = { 0 };
	AUTO_BUF struct buf text = { 0 };
	const char *list = note_group_value(f);
	size_t room;

	if (b->read)
		render_applied(&applied, b->s);
	room = TEXT_COLUMNS - (applied.len ? applied.len + strlen(" ()") : 0);
	if (list[bytes_in_columns(list, room)])
		buf_printf(&text, "%.*s...", (int)bytes_in_columns(list, room - 3), list);
	else
		buf_puts(&text, list);
	if (applied.len)
		buf_printf(&text, " (%s)", buf_text(&applied));
	put_line(b, "parameters", buf_text(&text));
}

/* Shows the parameters and the actions of in-line plug-ins: "read_ahead: advice given 1200". */
static void put_applied(struct brief *b)
{
	size_t count;
	AUTO_FREE struct note_group *groups =
		note_groups_new(b->s->head, &b->s->ranks, NOTE_APPLIED, &count);
	const struct note_group *given =
		note_groups_find(groups, count, PARAMETERS_SOURCE, PARAMETERS_GIVEN);
	AUTO_BUF struct buf text = { 0 };

	if (given)
		put_parameters(b, given);
	applied_describe_acts(&text, b->s->head);
	if (text.len)
		put_line(b, "applied", buf_text(&text));
}

static void add_cost(struct buf *text, const struct note_group *cost, const char *what)
{
	char time[UNIT_TEXT];

	if (cost)
		buf_printf(text, "%s%s %s", text->len ? ", " : "",
			   unit_ns(time, (int64_t)cost->sum), what);
}

/* Shows the overhead of recording. */
static void put_overhead(struct brief *b)
{
	size_t n;
	AUTO_FREE struct note_group *costs =
		note_groups_new(b->s->head, &b->s->ranks, NOTE_COST, &n);
	const struct note_group *share =
		note_groups_find(costs, n, OVERHEAD_SOURCE, OVERHEAD_GUEST_SHARE);
	AUTO_BUF struct buf text = { 0 };

	add_cost(&text, note_groups_find(costs, n, OVERHEAD_SOURCE, OVERHEAD_GUEST_NS),
		 "in the program");
	if (share)
		buf_printf(&text, share->spread.count > 1 ? " (up to %.2f%%)" : " (%.2f%%)",
			   100 * share->spread.maximum);
	add_cost(&text, note_groups_find(costs, n, OVERHEAD_SOURCE, OVERHEAD_COLLECTOR_NS),
		 "in the collector");
	add_cost(&text, note_groups_find(costs, n, OVERHEAD_SOURCE, OVERHEAD_WATCHER_NS),
		 "in the watcher");
	if (text.len)
		put_line(b, "overhead", buf_text(&text));
}

static void put_losses(struct brief *b)
{
	AUTO_BUF struct buf text = { 0 };

	loss_summarize(&text, b->s->head);
	if (text.len)
		put_line(b, "incomplete", buf_text(&text));
}

/* Appends a word for the shell, with "~" for the home directory if that needs no quotes. */
static void add_word(struct buf *text, const char *path)
{
	const char *home = getenv("HOME");
	size_t n = home ? strlen(home) : 0;
	AUTO_BUF struct buf word = { 0 };

	buf_put_shell_word(&word, path);
	if (n > 1 && strncmp(buf_text(&word), home, n) == 0 && buf_text(&word)[n] == '/')
		buf_printf(text, "~%s", buf_text(&word) + n);
	else
		buf_puts(text, buf_text(&word));
}

static void put_more(struct brief *b, const char *path)
{
	AUTO_BUF struct buf text = { 0 };

	add_word(&text, path);
	keep_line(b, xprintf("  %-*s sluice report %s", LABEL_COLUMNS, "more", buf_text(&text)));
}

/* Adds the lines after the layers. */
static void put_rest(struct brief *b, const char *path)
{
	if (b->read)
		put_files(b);
	put_anomalies(b);
	put_degraded(b);
	put_refused(b);
	put_overhead(b);
	put_losses(b);
	put_more(b, path);
}

/* A command must not be broken, so that it can be copied. */
static void print_line(FILE *out, const char *line, bool is_command)
{
	if (is_command)
		term_printf(out, "%s\n", line);
	else
		term_paragraph(out, LABEL_COLUMNS + 3, line);
}

static void print_lines(FILE *out, struct brief *b, bool bold)
{
	for (size_t i = 0; i < b->count; i++) {
		if (bold && !i)
			term_headline(out, b->lines[i]);
		else
			print_line(out, b->lines[i], !bold && i + 1 == b->count);
		free(b->lines[i]);
	}
	b->count = 0;
}

static void put_finding(struct brief *b, const struct finding *worst)
{
	AUTO_BUF struct buf text = { 0 };

	if (!worst)
		return;
	render_finding_line(&text, worst);
	put_line(b, "finding", buf_text(&text));
}

void brief_render(FILE *out, const struct summary *summary, const struct finding *worst,
		  const char *path, bool read)
{
	struct brief first = { .s = summary, .read = read };
	struct brief rest = { .s = summary, .read = read };
	size_t room;

	put_head(&first);
	put_applied(&first);
	put_finding(&first, worst);
	put_ranks(&first);
	put_rest(&rest, path);
	room = BRIEF_LINES - MIN(BRIEF_LINES, first.count + rest.count);
	if (read)
		put_layers(&first, MIN(room, LAYERS_MAX));
	print_lines(out, &first, true);
	print_lines(out, &rest, false);
}

int brief_print(FILE *out, const char *path, const struct config *config, struct err *err)
{
	struct diagnose_options options = { .config = config };
	struct finding *findings = NULL;
	size_t count = 0;
	struct trace trace;
	struct profile profile;
	int r = trace_open(&trace, path, NULL, err);
	bool read;

	if (r < 0)
		return r;
	read = trace.head.activities <= BRIEF_ACTIVITIES;
	profile_init(&profile, &trace.head, NULL);
	if (read)
		r = profile_read(&profile, &trace, parallel_cores(), NULL, NULL, err);
	if (r >= 0 && read)
		findings = diagnose(&profile, &options, &count);
	if (r >= 0)
		brief_render(out, &profile.summary, count ? findings : NULL, path, read);
	findings_release(findings, count);
	profile_release(&profile);
	trace_close(&trace);
	return r;
}
