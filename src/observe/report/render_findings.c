/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/render_findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "observe/diagnose/rule.h"
#include "observe/profile/profile.h"
#include "observe/report/line.h"

#define INDENT 5
#define FIXES_SHORT 2 /* fixes of a finding in a report that shows everything else, too */

static void put_gain(struct buf *out, const char *what, const struct gain *gain)
{
	if (!isnan(gain->gain))
		buf_printf(out, ", %s gain %.2f times", what, gain->gain);
}

void render_finding_line(struct buf *out, const struct finding *finding)
{
	AUTO_FREE char *title = finding_title(finding);
	char share[UNIT_TEXT];

	buf_printf(out, "%s: %s [%s]", severity_names[finding->severity], title,
		   finding->rule->code);
	if (!isnan(finding->share))
		buf_printf(out, ", %s of the run time", unit_share(share, finding->share, 1));
	put_gain(out, "predicted", &finding->predicted);
	put_gain(out, "measured", &finding->measured);
}

static void print_wrapped(FILE *out, const char *text)
{
	AUTO_FREE char *indented = xprintf("%*s%s", INDENT, "", text);

	term_paragraph(out, INDENT, indented);
}

void render_finding_evidence(struct buf *out, const struct profile *profile,
			     const struct finding *f)
{
	if (f->file_count) {
		buf_printf(out, "%s", profile_file(profile, f->files[0]));
		if (f->file_count > 1)
			buf_printf(out, " and %zu other file%s", f->file_count - 1,
				   f->file_count == 2 ? "" : "s");
		buf_puts(out, ": ");
	}
	buf_printf(out, "%s.", f->evidence);
	if (f->rank_count > 1 && profile->summary.ranks.count) {
		buf_puts(out, " Ranks:");
		for (size_t i = 0; i < f->rank_count; i++)
			buf_printf(out, " %" PRId32, f->ranks[i]);
		if (f->rank_count == FINDING_RANKS)
			buf_puts(out, " ...");
		buf_putc(out, '.');
	}
}

void render_finding_prediction(struct buf *out, const struct finding *f)
{
	if (f->unpredicted)
		buf_printf(out, "No gain is predicted: %s.", f->unpredicted);
	else
		buf_printf(out, "Predicted from: %s.", f->predicted.source);
}

static void print_evidence(FILE *out, const struct profile *profile, const struct finding *f)
{
	AUTO_BUF struct buf text = { 0 };

	render_finding_evidence(&text, profile, f);
	print_wrapped(out, buf_text(&text));
}

/* Length of the first word of a command, with the blanks before it. Quoted blanks do not count. */
static size_t word_length(const char *command)
{
	size_t n = strspn(command, " ");
	char quote = 0;

	for (; command[n] && (quote || command[n] != ' '); n++) {
		if (quote == command[n])
			quote = 0;
		else if (!quote && (command[n] == '\'' || command[n] == '"'))
			quote = command[n];
	}
	return n;
}

/* Prints a command that can be copied: a line that is too long ends with a backslash. */
static void print_command(FILE *out, const char *label, const char *command)
{
	int width = term_width(out), indent = INDENT + (int)strlen(label) + 1;
	int column = term_printf(out, "%*s%s ", INDENT, "", label);

	while (*command) {
		size_t n = word_length(command);
		AUTO_FREE char *word = xstrndup(command, n);

		if (width && column > indent && column + term_columns(word) + 2 > width)
			column = fprintf(out, " \\\n%*s", indent, "") - 3;
		column += term_printf(out, "%s", word);
		command += n;
	}
	fputc('\n', out);
}

/* Where the predicted gain comes from, or why there is none. */
static void print_prediction(FILE *out, const struct finding *f)
{
	AUTO_BUF struct buf text = { 0 };

	render_finding_prediction(&text, f);
	print_wrapped(out, buf_text(&text));
}

static void print_query(FILE *out, const struct finding *f)
{
	AUTO_BUF struct buf text = { 0 };

	if (f->query)
		print_command(out, "show:", f->query);
	for (size_t i = 0; i < f->sample_count; i++) {
		buf_puts(&text, i ? ", " : "slow calls: ");
		line_id(&text, f->samples[i].process, f->samples[i].id);
	}
	if (text.len)
		print_wrapped(out, buf_text(&text));
}

/* Code may have several lines; each is indented like the first. */
static void print_fix(FILE *out, const struct fix *fix)
{
	AUTO_FREE char *copy = xstrdup(fix->text);
	char *rest = NULL;
	const char *label = fix->kind;

	if (fix_is_command(fix->kind)) {
		AUTO_FREE char *before = xprintf("fix: %-7s", fix->kind);

		print_command(out, before, fix->text);
		return;
	}
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		term_printf(out, "%*s%-4s %-7s %s\n", INDENT, "", *label ? "fix:" : "", label,
			    line);
		label = "";
	}
}

static void print_full(FILE *out, const struct profile *profile, const struct finding *f,
		       size_t fixes)
{
	print_evidence(out, profile, f);
	print_wrapped(out, f->rule->explanation);
	print_prediction(out, f);
	print_query(out, f);
	for (size_t i = 0; i < f->fix_count && i < fixes; i++)
		print_fix(out, &f->fixes[i]);
}

void render_findings(FILE *out, const struct profile *profile, const struct finding *findings,
		     size_t count, size_t full)
{
	term_printf(out, "\nFindings\n");
	if (!count)
		term_printf(out, "  none: no rule matches ('sluice report --rules' lists them)\n");
	for (size_t i = 0; i < count; i++) {
		AUTO_BUF struct buf line = { 0 };

		buf_printf(&line, "%3zu. ", i + 1);
		render_finding_line(&line, &findings[i]);
		term_paragraph(out, INDENT, buf_text(&line));
		if (i < full)
			print_full(out, profile, &findings[i],
				   full >= count ? SIZE_MAX : FIXES_SHORT);
	}
	if (count > full)
		term_printf(out, "     'sluice report --findings' shows all in full\n");
}

static void put_gain_json(struct json *json, const char *key, const struct gain *gain)
{
	if (isnan(gain->gain)) {
		json_text(json, key, NULL);
		return;
	}
	json_open(json, key, '{');
	json_double(json, "gain", gain->gain);
	json_double(json, "low", gain->low);
	json_double(json, "high", gain->high);
	json_text(json, "source", gain->source);
	json_close(json);
}

static void put_places(struct json *json, const struct profile *profile, const struct finding *f)
{
	json_count(json, "file_count", f->file_count);
	json_open(json, "files", '[');
	for (size_t i = 0; i < f->file_count && i < FINDING_FILES; i++)
		json_text(json, NULL, profile_file(profile, f->files[i]));
	json_close(json);
	json_open(json, profile->summary.ranks.count ? "ranks" : "processes", '[');
	for (size_t i = 0; i < f->rank_count; i++)
		json_number(json, NULL, f->ranks[i]);
	json_close(json);
	json_open(json, "samples", '[');
	for (size_t i = 0; i < f->sample_count; i++) {
		AUTO_BUF struct buf id = { 0 };

		line_id(&id, f->samples[i].process, f->samples[i].id);
		json_text(json, NULL, buf_text(&id));
	}
	json_close(json);
}

static void put_fixes(struct json *json, const struct finding *f)
{
	json_open(json, "fixes", '[');
	for (size_t i = 0; i < f->fix_count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "kind", f->fixes[i].kind);
		json_text(json, "text", f->fixes[i].text);
		json_close(json);
	}
	json_close(json);
}

static void put_finding(struct json *json, const struct profile *profile, const struct finding *f)
{
	json_open(json, NULL, '{');
	json_text(json, "code", f->rule->code);
	json_text(json, "title", f->rule->title);
	json_text(json, "severity", severity_names[f->severity]);
	json_bool(json, "possible", f->possible);
	json_double(json, "share", f->share);
	json_text(json, "evidence", f->evidence);
	json_text(json, "explanation", f->rule->explanation);
	json_text(json, "parameter", f->rule->parameter);
	put_gain_json(json, "predicted", &f->predicted);
	json_text(json, "unpredicted", f->unpredicted);
	put_gain_json(json, "measured", &f->measured);
	put_places(json, profile, f);
	json_text(json, "query", f->query);
	put_fixes(json, f);
	json_close(json);
}

void render_findings_json(struct json *json, const struct profile *profile,
			  const struct finding *findings, size_t count)
{
	json_open(json, "findings", '[');
	for (size_t i = 0; i < count; i++)
		put_finding(json, profile, &findings[i]);
	json_close(json);
}
