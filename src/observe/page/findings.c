/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The findings of the page: each is a card with its evidence and with fixes to copy.
 */
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/unit.h"
#include "observe/diagnose/rule.h"
#include "observe/page/html.h"
#include "observe/page/parts.h"
#include "observe/report/render.h"
#include "observe/report/render_findings.h"

/* Further findings are only counted. */
#define FINDINGS_BYTES 120000

static void put_head(struct buf *out, const struct finding *f)
{
	AUTO_FREE char *title = finding_title(f);

	buf_puts(out, "<div class=\"finding-head\">");
	buf_printf(out, "<span class=\"chip %s\">%s</span>", severity_names[f->severity],
		   severity_names[f->severity]);
	html_element(out, "h3", NULL, title);
	html_element(out, "code", NULL, f->rule->code);
	buf_puts(out, "</div>\n");
}

static void put_gain(struct buf *out, const char *what, const struct gain *gain)
{
	AUTO_BUF struct buf text = { 0 };

	if (isnan(gain->gain))
		return;
	buf_printf(&text, "%s gain: %.2f times", what, gain->gain);
	if (gain->high > gain->low)
		buf_printf(&text, " (%.2f to %.2f)", gain->low, gain->high);
	if (gain->source)
		buf_printf(&text, ", %s", gain->source);
	html_element(out, "span", "chip good", buf_text(&text));
}

static void put_measures(struct buf *out, const struct finding *f)
{
	char share[UNIT_TEXT];

	buf_puts(out, "<div class=\"measures\">");
	if (!isnan(f->share))
		buf_printf(out, "<span class=\"chip\">%s of the run time</span>\n",
			   unit_share(share, f->share, 1));
	put_gain(out, "predicted", &f->predicted);
	put_gain(out, "measured", &f->measured);
	buf_puts(out, "</div>\n");
}

static void put_fix(struct buf *out, const struct fix *fix)
{
	buf_puts(out, "<p class=\"label\">Fix: ");
	html_text(out, fix->kind);
	buf_puts(out, "</p>\n");
	html_copy(out, fix->text);
}

/* The first fix is shown at once, the others on request. */
static void put_fixes(struct buf *out, const struct finding *f)
{
	for (size_t i = 0; i < f->fix_count; i++) {
		if (i == 1)
			buf_printf(out, "<details><summary>%zu more way%s to fix it</summary>\n",
				   f->fix_count - 1, f->fix_count == 2 ? "" : "s");
		put_fix(out, &f->fixes[i]);
	}
	if (f->fix_count > 1)
		buf_puts(out, "</details>\n");
}

static void put_query(struct buf *out, const struct finding *f)
{
	if (!f->query)
		return;
	buf_puts(out, "<details><summary>Show the calls</summary>\n");
	html_copy(out, f->query);
	buf_puts(out, "</details>\n");
}

static void put_finding(struct buf *out, const struct report *report, const struct finding *f)
{
	AUTO_BUF struct buf evidence = { 0 };

	buf_printf(out, "<article class=\"finding %s\" id=\"finding-%s\">\n",
		   severity_names[f->severity], f->rule->code);
	put_head(out, f);
	put_measures(out, f);
	render_finding_evidence(&evidence, report->profile, f);
	html_element(out, "p", "evidence", buf_text(&evidence));
	html_element(out, "p", "about", f->rule->explanation);
	if (f->unpredicted) {
		AUTO_BUF struct buf text = { 0 };

		render_finding_prediction(&text, f);
		html_element(out, "p", "about", buf_text(&text));
	}
	put_fixes(out, f);
	put_query(out, f);
	buf_puts(out, "</article>\n");
}

void page_put_findings(struct buf *out, const struct report *report)
{
	size_t limit = out->len + FINDINGS_BYTES, i;

	buf_puts(out, "<section id=\"findings\">\n<h2>Findings</h2>\n");
	for (i = 0; i < report->finding_count && out->len < limit; i++)
		put_finding(out, report, &report->findings[i]);
	if (i < report->finding_count)
		buf_printf(out,
			   "<p class=\"more\">%zu more findings are not on this page; "
			   "<code>sluice report --findings</code> prints all.</p>\n",
			   report->finding_count - i);
	if (!report->finding_count)
		buf_puts(out, "<p class=\"good-news\">None of the rules of "
			      "<code>sluice report --rules</code> matches this run.</p>\n");
	buf_puts(out, "</section>\n");
}
