/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/unapplied.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "contract/outcomes.h"
#include "observe/collect/collector.h"
#include "observe/tally/parameters.h"

#define ITEMS_MAX 8 /* parameters that one sentence lists */

/* Parameters for which the same sentence is true. */
struct cause {
	const char *why;
	bool is_partial; /* they were applied to other files or datasets */
	struct buf items;
	size_t count;
};

struct report {
	const struct outcomes *outcomes;
	struct parameters_line *lines;
	size_t count;
	struct cause causes[2 * OUTCOME_REASONS + PLACE_COUNT + 3];
	size_t cause_count;
};

/* is_partial: it was applied elsewhere. */
static void add_item(struct report *r, const char *why, const char *item, bool is_partial)
{
	struct cause *c = r->causes;

	while (c < r->causes + r->cause_count &&
	       (strcmp(c->why, why) != 0 || c->is_partial != is_partial))
		c++;
	if (c == r->causes + r->cause_count)
		r->causes[r->cause_count++] =
			(struct cause){ .why = why, .is_partial = is_partial };
	if (c->count++ < ITEMS_MAX)
		buf_printf(&c->items, "%s%s", c->count > 1 ? ", " : "", item);
}

static bool has_bit(const _Atomic uint32_t *bits, size_t i)
{
	return atomic_load(&bits[i / 32]) >> i % 32 & 1;
}

/* Programs create files on several file systems, whose layouts have different parts. */
static bool is_worth_telling(const struct report *r, unsigned reason, size_t i)
{
	return atomic_load(&r->outcomes->refused[i]) >> reason & 1 &&
	       (reason != OUTCOME_FILESYSTEM || !has_bit(r->outcomes->applied, i));
}

/* Refusals are noted at the first line with the name. */
static void add_refusals(struct report *r)
{
#define REASON_SENTENCE(name, word, sentence) sentence,
	static const char *const sentences[] = { OUTCOMES_REASONS(REASON_SENTENCE) };
#undef REASON_SENTENCE

	for (unsigned reason = 0; reason < OUTCOME_REASONS; reason++)
		for (size_t i = 0; i < r->count; i++)
			if (is_worth_telling(r, reason, i))
				add_item(r, sentences[reason], r->lines[i].name,
					 reason != OUTCOME_UNREAD &&
						 has_bit(r->outcomes->applied, i));
}

/* A parameter may have several lines, for different places. */
static bool is_same_parameter(const struct parameters_line *a, const struct parameters_line *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->value, b->value) &&
	       !strcmp(a->file, b->file) && !strcmp(a->object, b->object);
}

/* Did no line of this parameter match, and is line i the first one? */
static bool is_unmatched(const struct report *r, size_t i)
{
	const struct parameters_line *line = &r->lines[i];

	for (size_t k = 0; k < r->count; k++)
		if ((k < i || has_bit(r->outcomes->matched, k)) &&
		    is_same_parameter(&r->lines[k], line))
			return false;
	return true;
}

static const char *why_unmatched(const struct report *r, const struct parameters_line *line)
{
	static const char *const unseen[PLACE_COUNT] = {
		[PLACE_HINT] = "the program opened no file with MPI-IO",
		[PLACE_PREFIX] = "the program opened no file with MPI-IO",
		[PLACE_ACCESS] = "the program opened no HDF5 file",
		[PLACE_CREATION] = "the program created no HDF5 file",
		[PLACE_DATASET] = "the program created no HDF5 dataset",
		[PLACE_TRANSFER] = "the program opened no HDF5 file",
		[PLACE_LAYOUT] = "the program created no file to which it applies",
		[PLACE_STREAM] = "the program opened no file with fopen",
	};

	if (!(atomic_load(&r->outcomes->places) >> line->place & 1))
		return unseen[line->place];
	if (strcmp(line->object, "*") != 0)
		return "no dataset matches";
	if (strcmp(line->file, "*") != 0)
		return "no file matches";
	return "more specific ones were used";
}

static void add_unmatched(struct report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct parameters_line *line = &r->lines[i];
		AUTO_BUF struct buf item = { 0 };

		if (!is_unmatched(r, i))
			continue;
		buf_printf(&item, "%s=%s", line->name, line->value);
		if (strcmp(line->file, "*") != 0)
			buf_printf(&item, "@%s", line->file);
		if (strcmp(line->object, "*") != 0)
			buf_printf(&item, " for %s", line->object);
		add_item(r, why_unmatched(r, line), buf_text(&item), false);
	}
}

static void add_caution(struct collector *collector, const char *sentence, bool is_part)
{
	AUTO_FREE char *text = xprintf("%s%s", sentence, is_part ? " (on this node)" : "");
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .source = PARAMETERS_SOURCE,
			     .kind = NOTE_CAUTION,
			     .name = (char *)"",
			     .value = text };

	collector_note(collector, &note);
	collector_warn(collector, text);
}

static void report_causes(struct report *r, struct collector *collector, bool is_part)
{
	for (size_t i = 0; i < r->cause_count; i++) {
		struct cause *c = &r->causes[i];
		AUTO_FREE char *sentence = NULL;

		if (c->count > ITEMS_MAX)
			buf_printf(&c->items, " and %zu more", c->count - ITEMS_MAX);
		sentence = xprintf("%s not applied%s: %s", buf_text(&c->items),
				   c->is_partial ? " everywhere" : "", c->why);
		add_caution(collector, sentence, is_part);
		buf_release(&c->items);
	}
}

static void report_own(const struct outcomes *outcomes, struct collector *collector, bool is_part)
{
	static const struct {
		enum outcome_own own;
		const char *sentence;
	} rows[] = {
		{ OUTCOME_OWN_AGGREGATORS,
		  "the program sets cb_nodes, and its files are opened by Open MPI's OMPIO, which "
		  "may lose data with several aggregators; the hint was not changed" },
		{ OUTCOME_OWN_PFR, "the program sets romio_cb_pfr, with which ROMIO may abort; the "
				   "hint was not changed" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (atomic_load(&outcomes->own) >> rows[i].own & 1)
			add_caution(collector, rows[i].sentence, is_part);
}

void unapplied_report(struct collector *collector, bool is_part)
{
	const struct control *control = collector_control(collector);
	AUTO_FREE char *text = xstrndup(control->parameters, PARAMETERS_BYTES - 1);
	AUTO_FREE struct parameters_line *lines = xcalloc(OUTCOMES_LINES, sizeof(*lines));
	struct report report = { .outcomes = &control->outcomes, .lines = lines };
	bool application_wins;
	char *at = parameters_read_title(text, &application_wins);

	while (at && report.count < OUTCOMES_LINES &&
	       parameters_read_line(&at, &lines[report.count]))
		report.count++;
	add_refusals(&report);
	add_unmatched(&report);
	report_causes(&report, collector, is_part);
	report_own(report.outcomes, collector, is_part);
}
