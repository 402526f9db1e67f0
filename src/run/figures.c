/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/tally/effect.h"
#include "observe/tally/overhead_notes.h"
#include "trace/format.h"
#include "tune/trial/objective.h"

/* The origin of parameters, before the id of the entry. */
#define ENTRY_PREFIX "knowledge base, entry "

char *figures_entry_name(int64_t entry)
{
	return xprintf(ENTRY_PREFIX "%" PRId64, entry);
}

enum figures_origin figures_origin(const struct trace_head *head, int64_t *entry)
{
	enum figures_origin origin = FIGURES_UNMODIFIED;

	for (size_t i = 0; i < head->note_count; i++) {
		const struct note *note = &head->notes[i];

		if (strcmp(note->kind, NOTE_APPLIED) != 0)
			continue;
		if (strcmp(note->source, PARAMETERS_SOURCE) != 0)
			return FIGURES_OTHER;
		if (origin == FIGURES_UNMODIFIED)
			origin = FIGURES_OTHER;
		if (strcmp(note->name, PARAMETERS_ORIGIN) == 0 &&
		    sscanf(note->value, ENTRY_PREFIX "%" SCNd64, entry) == 1)
			origin = FIGURES_ENTRY;
	}
	return origin;
}

static bool is_degraded(const struct trace_head *head)
{
	for (size_t i = 0; i < head->note_count; i++)
		if (strcmp(head->notes[i].kind, NOTE_DEGRADED) == 0 &&
		    strcmp(head->notes[i].source, OVERHEAD_SOURCE) == 0)
			return true;
	return false;
}

static const char *find_flaw(const struct summary *s)
{
	const struct trace_head *head = s->head;

	if (!head->end.complete)
		return "its trace is incomplete";
	if (s->ranks.count < s->ranks.world)
		return "this trace does not contain all ranks";
	if (is_degraded(head))
		return "recording was reduced to limit its overhead";
	if (!head->activities)
		return "no calls were recorded";
	return NULL;
}

/* Counts the requested parameters and those that had no effect. */
static void count_effects(struct figures *figures, const struct summary *s)
{
	size_t count;
	struct parameter *rows = parameters_rows(&s->parameters, &count);

	for (size_t i = 0; i < count; i++) {
		const struct evidence *evidence = parameters_evidence(&s->parameters, rows[i].file);

		if (!rows[i].requested && !rows[i].refusal)
			continue;
		figures->requested++;
		figures->ignored += effect_judge(&rows[i], evidence).effect == EFFECT_IGNORED;
	}
	parameters_rows_release(rows, count);
}

static void copy_figures(struct figures *figures, const struct objective *o)
{
	const struct run_end *end = &o->head->end;

	figures->trial = (struct trial){
		.run_s = (double)end->duration_ns / NS_PER_S,
		.io_s = o->io_s,
		.read_s = o->read_s,
		.write_s = o->write_s,
		.read_bytes = o->read_bytes,
		.write_bytes = o->write_bytes,
	};
	figures->bytes = o->read_bytes + o->write_bytes;
	figures->exit_status = end->exit_status;
	figures->flaw = find_flaw(o->summary);
	if (!figures->flaw && !o->calls)
		figures->flaw = "no I/O on data files was recorded";
	count_effects(figures, o->summary);
}

/* A reading under way. */
struct reader {
	struct figures *figures;
	uint64_t most;
};

static bool accept_trace(void *arg, const struct trace_head *head)
{
	const struct reader *reader = arg;

	*reader->figures = (struct figures){ .exit_status = head->end.exit_status,
					     .flaw = "its trace is too long" };
	return head->activities <= reader->most;
}

static void take_figures(void *arg, const struct objective *objective, bool is_complete)
{
	const struct reader *reader = arg;

	if (is_complete)
		copy_figures(reader->figures, objective);
}

int figures_read(struct figures *figures, const char *trace, uint64_t most, struct err *err)
{
	struct reader reader = { figures, most };
	struct objective_visitor visitor = { .accepts = accept_trace,
					     .end = take_figures,
					     .arg = &reader };

	return objective_read(trace, NULL, &visitor, err);
}
