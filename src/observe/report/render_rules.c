/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the rules of the diagnosis as Markdown: the body of docs/reference/findings.md.
 */
#include <string.h>

#include "base/buf.h"
#include "observe/diagnose/rule.h"
#include "observe/report/render_findings.h"

#define DOCUMENT_COLUMNS 118

/* Breaks the text at blanks. */
static void print_paragraph(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column && column + 1 + n > DOCUMENT_COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		column += (size_t)fprintf(out, "%s%.*s", column ? " " : "", (int)n, text);
		text += n;
		text += strspn(text, " ");
	}
	fputs("\n\n", out);
}

static void print_facts(FILE *out, const struct rule *rule)
{
	AUTO_BUF struct buf text = { 0 };

	buf_printf(&text, "*Reported if* %s.", rule->when);
	if (rule->parameter)
		buf_printf(&text, " *Parameter:* `%s`.", rule->parameter);
	buf_printf(&text, " *Severity:* up to %s.", severity_names[rule->most]);
	if (rule->possible)
		buf_puts(&text, " The evidence does not prove the cause: it is labelled possible.");
	if (rule->gain)
		buf_printf(&text, " *Predicted gain:* %s.", rule->gain);
	else
		buf_printf(&text, " *No gain is predicted:* %s.", rule->unknown);
	if (rule->hides)
		buf_printf(&text, " *Explains and therefore hides:* %s.", rule->hides);
	print_paragraph(out, buf_text(&text));
}

static void print_fix(FILE *out, const struct fix_row *fix)
{
	fprintf(out, "    %-8s", fix->kind);
	for (const char *at = fix->text; *at; at++) {
		if (*at == '\n')
			fprintf(out, "\n%12s", "");
		else
			fputc(*at, out);
	}
	fputc('\n', out);
}

void render_rules(FILE *out)
{
	for (size_t t = 0; diagnose_rules[t]; t++) {
		for (size_t i = 0; i < diagnose_rules[t]->count; i++) {
			const struct rule *rule = &diagnose_rules[t]->rules[i];
			AUTO_BUF struct buf text = { 0 };

			fprintf(out, "### %s\n\n", rule->code);
			buf_printf(&text, "**%s%s.** %s", rule->possible ? "Possible: " : "",
				   rule->title, rule->explanation);
			print_paragraph(out, buf_text(&text));
			print_facts(out, rule);
			for (size_t k = 0; k < RULE_FIXES && rule->fixes[k].kind; k++)
				print_fix(out, &rule->fixes[k]);
			fputc('\n', out);
		}
	}
}
