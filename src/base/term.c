/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/term.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_NS 100000000

bool term_color(FILE *out)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (no && *no)
		return false;
	return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

const char *term_bold(FILE *out)
{
	return term_color(out) ? "\033[1m" : "";
}

const char *term_plain(FILE *out)
{
	return term_color(out) ? "\033[0m" : "";
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void progress_start(struct progress *progress, const char *label, uint64_t total)
{
	*progress = (struct progress){ .label = label, .total = total, .shown_ns = now_ns() };
	if (isatty(STDERR_FILENO))
		progress->out = stderr;
}

void progress_show(struct progress *progress, uint64_t done)
{
	int64_t now;

	if (!progress->out)
		return;
	now = now_ns();
	if (now - progress->shown_ns < REDRAW_NS)
		return;
	progress->shown_ns = now;
	progress->drawn = true;
	if (progress->total)
		fprintf(progress->out, "\r%s %.0f%%\033[K", progress->label,
			100.0 * (double)done / (double)progress->total);
	else
		fprintf(progress->out, "\r%s %" PRIu64 "\033[K", progress->label, done);
	fflush(progress->out);
}

void progress_line(struct progress *progress, const char *line)
{
	if (!progress->out)
		return;
	progress->drawn = true;
	fprintf(progress->out, "\r%s: %s\033[K", progress->label, line);
	fflush(progress->out);
}

void progress_end(struct progress *progress)
{
	if (progress->out && progress->drawn)
		fputs("\r\033[K", progress->out);
	*progress = (struct progress){ 0 };
}
