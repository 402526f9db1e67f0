/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-65.
 */
#include "capture/inline/hints.h"

#include <errno.h>
#include <stdlib.h>

#include <sluice/plugin.h>

#include "capture/inline/agree.h"
#include "capture/inline/history.h"
#include "capture/inline/host.h"
#include "capture/inline/nodes.h"
#include "capture/inline/served.h"
#include "capture/inline/suggested.h"
#include "capture/libraries/info.h"
#include "capture/libraries/mpi_io.h"
#include "capture/libraries/wrapper_helpers.h"
#include "capture/record/capture.h"
#include "contract/hints.h"
#include "contract/sources.h"

/* By place in the control page: how often the same ranks have opened a file in the same mode. */
static _Atomic uint32_t times[CONTROL_OPENINGS];

/* One opening whose hints are being decided. */
struct decision {
	struct sluice_query query; /* must be first: is_set() casts it back */
	struct control *control;
	const void *near;
	MPI_Comm comm;
	MPI_Info info;
};

static bool is_set(const struct sluice_query *query, const char *key)
{
	const struct decision *m = (const struct decision *)query;

	return (info_is_valid(m->near, m->info) && info_has(m->near, m->info, key)) ||
	       mpi_io_hints_file_sets(m->near, key);
}

/* Do the site or the user forbid to set the hint? */
static bool is_forbidden(const struct control *c, const char *key)
{
	const char *p = c->forbidden, *last = c->forbidden + CONTROL_FORBIDDEN_BYTES, *end;
	size_t n = strlen(key);

	for (; (end = memchr(p, '\n', (size_t)(last - p))); p = end + 1)
		if ((size_t)(end - p) == n && !memcmp(p, key, n))
			return true;
	return false;
}

/* The answer as text, without unsafe and forbidden hints. */
static const char *answer_text(const struct decision *m, const struct sluice_answer *answer,
			       struct info_text *text)
{
	text->used = 0;
	for (uint32_t i = 0; i < answer->count && i < SLUICE_ANSWERS; i++) {
		const char *key = answer->hints[i].key, *value = answer->hints[i].value;

		if (memchr(key, 0, SLUICE_KEY_BYTES) && memchr(value, 0, SLUICE_VALUE_BYTES) &&
		    mpi_io_hint_is_safe(m->near, key, value) && !is_forbidden(m->control, key) &&
		    text->used + strlen(key) + strlen(value) + 3 < CONTROL_HINTS_BYTES)
			info_text_put(text, key, value);
	}
	return info_text_end(text);
}

/* The number of this rank's answer. *trial: it is counted as a trial until trial_uncount(). */
static uint32_t make_proposal(struct decision *m, bool *trial)
{
	struct sluice_answer answer = { 0 };
	struct info_text text;
	struct frame frame = { 0 };
	unsigned plugin = 0;
	uint32_t number = 0;

	*trial = false;
	if (!inline_suggest(&frame, &m->query, &answer, &plugin))
		return 0;
	number = agree_answer(m->control, answer_text(m, &answer, &text), plugin);
	*trial = answer.trial;
	return number;
}

static void trial_uncount(struct decision *m, bool trial)
{
	if (trial)
		atomic_fetch_sub_explicit(&m->control->explored, 1, memory_order_relaxed);
}

static void count_open(struct decision *m)
{
	atomic_fetch_add_explicit(&m->control->opens, 1, memory_order_relaxed);
}

/* With one rank, no agreement is needed. */
static uint32_t decide_alone(struct decision *m)
{
	bool trial;
	uint32_t answer = make_proposal(m, &trial);

	if (!answer)
		trial_uncount(m, trial);
	count_open(m);
	return answer;
}

/* The number of this opening, the same on all ranks that take part. 0: there is no room for it. */
static uint64_t opening_number(struct decision *m, bool *known)
{
	const char *slash = strrchr(m->query.path, '/'), *name = slash ? slash + 1 : m->query.path;
	uint64_t key = mpi_members_hash(m->near, m->comm, (int)m->query.ranks, known);
	int place;

	key = mpi_mix(mpi_mix(key, mpi_job_key()), mpi_text_hash(name));
	key = mpi_mix(key, (uint64_t)(uint32_t)m->query.flags);
	place = agree_place(m->control, key);
	if (place < 0)
		return 0;
	return mpi_mix(key, 1 + atomic_fetch_add_explicit(&times[place], 1, memory_order_relaxed)) |
	       1;
}

static uint32_t decide_together(struct decision *m, uint64_t *opening)
{
	bool known, mine, trial = false;
	uint64_t number = opening_number(m, &known);
	uint32_t answer = 0, proposal = 0;

	*opening = known ? number : 0;
	if (!number || agree_known(m->control, number, &answer))
		return answer;
	if (known && mpi_job_is_complete())
		proposal = make_proposal(m, &trial);
	answer = agree_decide(m->control, number, proposal, &mine);
	if (!mine || !proposal)
		trial_uncount(m, trial);
	if (mine)
		count_open(m);
	return answer;
}

/* The hint is set already, by the program or by the parameters of the run: notes it if the values
 * differ. */
static void note_conflict(struct decision *m, const char *key, const char *value)
{
	struct outcomes *outcomes = &m->control->outcomes;
	char set[OUTCOMES_VALUE_BYTES];

	if (!info_is_valid(m->near, m->info) ||
	    !info_get(m->near, m->info, key, set, sizeof(set)) || !strcmp(set, value))
		return;
	outcomes_note_conflict(outcomes, key, OUTCOME_SET, set, SOURCE_PLUGIN, value);
}

/* Adds the hints that the program has not set to a copy of its info. */
static void hints_add(struct decision *m, struct hints_opening *opening, const char *at,
		      unsigned plugin)
{
	char key[SLUICE_KEY_BYTES], value[SLUICE_VALUE_BYTES];
	unsigned added = 0;

	if (!*at || !info_copy(m->near, m->info, &opening->copy))
		return;
	opening->is_copied = true;
	while (hints_next(&at, key, sizeof(key), value, sizeof(value))) {
		if (is_set(&m->query, key))
			note_conflict(m, key, value);
		else if (mpi_io_hint_is_safe(m->near, key, value) && !is_forbidden(m->control, key))
			added += info_set(m->near, opening->copy, key, value);
	}
	inline_acted(plugin, added);
}

/* Is the file opened with exactly the hints that the plan expects? */
static bool plan_fits(const struct decision *m, struct history_plan *plan, const char *hints)
{
	struct sluice_answer opened = { 0 };
	struct info_text text;

	return history_plan_make(plan, &m->query, &opened) &&
	       !strcmp(answer_text(m, &opened, &text), hints);
}

/* Is the plug-in enabled for calls of MPI? */
static bool is_enabled(const struct control *c, const struct sluice_plugin *plugin)
{
	unsigned i = inline_index(c, plugin->name);

	return i < CONTROL_PLUGINS && c->plugins[i].layers >> LAYER_MPI & 1;
}

/* The hash of the hints that the file will be opened with, as they will be recorded. */
static uint64_t opened_hash(const struct decision *m, const struct hints_opening *opening)
{
	struct info_text text;

	return suggestion_hash(
		info_read(&text, m->near, opening->is_copied ? opening->copy : m->info, 0));
}

/*
 * The hints may change later, before accesses. hints: those that all ranks open the file with.
 * number is the same on all ranks; 0: they cannot agree.
 */
static void plan_accesses(struct hints_opening *opening, const struct decision *m,
			  const char *hints, uint64_t number)
{
	struct access_opening *accesses = &opening->accesses;

	if (!number)
		return;
	if (!is_enabled(m->control, &inline_history) || !plan_fits(m, &accesses->plan, hints))
		accesses->plan = (struct history_plan){ 0 };
	if (is_enabled(m->control, &inline_model_hints) && m->query.ranks > 1)
		accesses->suggested = opened_hash(m, opening);
	accesses->ranks = m->query.ranks;
	accesses->number = number;
	for (int i = 0; i < HINTS_CHANGEABLE; i++)
		if (is_set(&m->query, hints_changeable[i]) ||
		    is_forbidden(m->control, hints_changeable[i]))
			accesses->own |= 1u << i;
}

/* Ranks outside of this run take part: all of them use the same knowledge, or none does. */
static void decide_with_nodes(struct hints_opening *opening, struct decision *m)
{
	const char *hints = NULL;
	bool known;

	mpi_members_hash(m->near, m->comm, (int)m->query.ranks, &known);
	if (known && nodes_agree())
		hints = nodes_hints(m->query.path, m->query.flags);
	if (hints)
		hints_add(m, opening, hints, inline_index(m->control, inline_served.name));
}

static void decide(struct hints_opening *opening, struct decision *m)
{
	uint32_t answer, plugin = 0;
	uint64_t number = 1; /* of a file of one rank; need not differ from others */
	const char *hints;

	m->query.ranks = (uint32_t)mpi_size(m->near, m->comm);
	/* No call has accepted the path yet, so it is probed. */
	if (!m->query.ranks || !path_bytes(m->query.path, EINVAL))
		return;
	if (m->query.ranks > 1 && nodes_have_voted()) {
		decide_with_nodes(opening, m);
		return;
	}
	answer = m->query.ranks == 1 ? decide_alone(m) : decide_together(m, &number);
	hints = agree_hints(m->control, answer, &plugin);
	hints_add(m, opening, hints, plugin);
	plan_accesses(opening, m, hints, number);
}

MPI_Info hints_begin(struct hints_opening *opening, bool inner, const void *called, MPI_Comm comm,
		     const char *path, int amode, MPI_Info info)
{
	struct control *control = capture_membership.control;
	int saved = errno;
	struct decision m = { { path, amode, 0, is_set }, control, called, comm, info };

	opening->near = called;
	opening->is_copied = false;
	opening->accesses = (struct access_opening){ 0 };
	if (inner || !mpi_job_has_joined() || !control->plugins[0].name[0])
		return info;
	mpi_bind(called);
	decide(opening, &m);
	errno = saved;
	return opening->is_copied ? opening->copy : info;
}

void hints_end(struct hints_opening *opening, const MPI_File *file, int ret)
{
	int saved = errno;

	if (ret == MPI_SUCCESS)
		access_opened(opening->near, *file, &opening->accesses);
	if (opening->is_copied)
		info_free(opening->near, &opening->copy);
	errno = saved;
}
