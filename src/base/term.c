/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/term.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/unit.h"

#define ELLIPSIS "..."
#define REDRAW_NS (100 * NS_PER_MS)
#define LOG_NS (PROGRESS_LOG_S * NS_PER_S)

static enum term_color_when color_when = TERM_COLOR_AUTO;

void term_set_color(enum term_color_when when)
{
	color_when = when;
}

static bool has_color(FILE *out)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (color_when != TERM_COLOR_AUTO)
		return color_when == TERM_COLOR_ALWAYS;
	if (no && *no)
		return false;
	return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

int term_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	uint64_t width = 0;

	if (!columns || unit_parse_count(columns, &width) < 0 || width > INT_MAX)
		width = 0;
	if (!width && isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	return width && width < TERM_WIDTH_LEAST ? TERM_WIDTH_LEAST : (int)width;
}

int term_columns(const char *text)
{
	int columns = 0;

	for (; *text; text++)
		columns += (*text & 0xC0) != 0x80;
	return columns;
}

/* The bytes of the first `columns` characters. */
static size_t bytes_of_columns(const char *text, int columns)
{
	size_t n = 0;

	while (text[n] && (columns > 0 || (text[n] & 0xC0) == 0x80)) {
		n++;
		columns -= (text[n] & 0xC0) != 0x80;
	}
	return n;
}

void term_shorten(struct buf *out, const char *text, int width)
{
	int columns = term_columns(text), kept = width - (int)strlen(ELLIPSIS), first = kept / 3;

	if (columns <= width) {
		buf_puts(out, text);
		return;
	}
	buf_add(out, text, bytes_of_columns(text, first));
	buf_puts(out, ELLIPSIS);
	buf_puts(out, text + bytes_of_columns(text, columns - (kept - first)));
}

const char *term_bold(FILE *out)
{
	return has_color(out) ? "\033[1m" : "";
}

const char *term_plain(FILE *out)
{
	return has_color(out) ? "\033[0m" : "";
}

/* Length of the line breaks at the end of a text. */
static size_t breaks_at_end(const char *text)
{
	size_t n = strlen(text), kept = n;

	while (kept && text[kept - 1] == '\n')
		kept--;
	return n - kept;
}

int term_vprintf(FILE *out, const char *format, va_list ap)
{
	size_t before = strspn(format, "\n"), after = breaks_at_end(format + before);
	AUTO_BUF struct buf safe = { 0 };
	AUTO_FREE char *text = xvprintf(format, ap);

	buf_add(&safe, text, before);
	text[strlen(text) - after] = 0;
	escape_text(&safe, text + before, "");
	buf_add(&safe, format + strlen(format) - after, after);
	fwrite(buf_text(&safe), 1, safe.len, out);
	return (int)safe.len;
}

int term_printf(FILE *out, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = term_vprintf(out, format, ap);
	va_end(ap);
	return n;
}

/* Prints a word after `blanks` blanks, on a new line if it does not fit. Returns the column. */
static int print_word(FILE *out, const char *word, int blanks, int column, int hang, int width)
{
	int columns = term_columns(word);

	if (width && column > hang && column + blanks + columns > width) {
		putc('\n', out);
		column = 0;
		blanks = hang;
	}
	fprintf(out, "%*s%s", blanks, "", word);
	return column + blanks + columns;
}

/* Prints the text without a line break at its end. */
static void print_wrapped(FILE *out, int hang, const char *text)
{
	AUTO_BUF struct buf safe = { 0 };
	int width = term_width(out), column = 0;

	escape_text(&safe, text, "");
	for (const char *at = buf_text(&safe); *at;) {
		size_t blanks = strspn(at, " "), n = strcspn(at + blanks, " ");
		AUTO_FREE char *word = xstrndup(at + blanks, n);

		if (n)
			column = print_word(out, word, (int)blanks, column, hang, width);
		at += blanks + n;
	}
}

void term_paragraph(FILE *out, int hang, const char *text)
{
	print_wrapped(out, hang, text);
	putc('\n', out);
}

void term_sentence(FILE *out, const char *format, ...)
{
	size_t before = strspn(format, "\n"), after = breaks_at_end(format + before);
	AUTO_FREE char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	text[strlen(text) - after] = 0;
	fwrite(format, 1, before, out);
	print_wrapped(out, TERM_HANG, text + before);
	fwrite(format + strlen(format) - after, 1, after, out);
}

void term_headline(FILE *out, const char *text)
{
	fputs(term_bold(out), out);
	print_wrapped(out, TERM_HANG, text);
	fprintf(out, "%s\n", term_plain(out));
}

void term_lines(FILE *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		AUTO_FREE char *line = xstrndup(text, n);

		term_paragraph(out, TERM_HANG, line);
		text += n + (text[n] == '\n');
	}
}

void progress_start(struct progress *progress, const char *label, uint64_t total)
{
	*progress = (struct progress){ .label = label,
				       .total = total,
				       .shown_ns = clock_now_ns(),
				       .is_terminal = isatty(STDERR_FILENO) };
}

/* True if the line was last printed longer ago than a terminal or a log wants. */
static bool is_due(struct progress *progress, int64_t terminal_ns)
{
	int64_t now = clock_now_ns();

	if (!progress->label ||
	    now - progress->shown_ns < (progress->is_terminal ? terminal_ns : LOG_NS))
		return false;
	progress->shown_ns = now;
	progress->is_drawn = progress->is_terminal;
	return true;
}

static void print_line(const struct progress *progress, const char *separator, const char *text)
{
	if (progress->is_terminal)
		putc('\r', stderr);
	term_printf(stderr, "%s%s %s", progress->label, separator, text);
	fputs(progress->is_terminal ? "\033[K" : "\n", stderr);
	fflush(stderr);
}

void progress_show(struct progress *progress, uint64_t done)
{
	char text[32];

	if (!is_due(progress, REDRAW_NS))
		return;
	if (progress->total)
		snprintf(text, sizeof(text), "%.0f%%",
			 100.0 * (double)done / (double)progress->total);
	else
		snprintf(text, sizeof(text), "%" PRIu64, done);
	print_line(progress, "", text);
}

void progress_line(struct progress *progress, const char *line)
{
	free(progress->line);
	progress->line = xstrdup(line);
	if (is_due(progress, 0))
		print_line(progress, ":", line);
}

void progress_repeat(struct progress *progress)
{
	if (progress->line && !progress->is_terminal && is_due(progress, 0))
		print_line(progress, ":", progress->line);
}

void progress_end(struct progress *progress)
{
	if (progress->is_drawn)
		fputs("\r\033[K", stderr);
	free(progress->line);
	*progress = (struct progress){ 0 };
}
