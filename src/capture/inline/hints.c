/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/hints.h"

#include <errno.h>
#include <stdlib.h>

#include <sluice/plugin.h>

#include "capture/inline/agree.h"
#include "capture/inline/host.h"
#include "capture/libraries/info.h"
#include "capture/libraries/mpi_job.h"
#include "capture/libraries/wrapper_helpers.h"
#include "capture/record/capture.h"
#include "contract/hints.h"

/* How often each file was opened by the same ranks in the same mode, by its place. */
static _Atomic uint32_t times[CONTROL_OPENINGS];

/* One opening being settled. */
struct matter {
	struct sluice_query query; /* first: is_set() gets it and finds the rest */
	struct control *control;
	const void *near;
	MPI_Comm comm;
	MPI_Info info;
};

static bool is_set(const struct sluice_query *query, const char *key)
{
	const struct matter *m = (const struct matter *)query;

	return info_is_one(m->near, m->info) && info_has(m->near, m->info, key);
}

/* What the plug-ins say, as text without what is known to harm. */
static const char *text_of(const struct sluice_answer *answer, struct info_text *text)
{
	text->used = 0;
	for (uint32_t i = 0; i < answer->count && i < SLUICE_ANSWERS; i++) {
		const char *key = answer->hints[i].key, *value = answer->hints[i].value;

		if (memchr(key, 0, SLUICE_KEY_BYTES) && memchr(value, 0, SLUICE_VALUE_BYTES) &&
		    hints_is_safe(key, value, mpi_is_ompio()) &&
		    text->used + strlen(key) + strlen(value) + 3 < CONTROL_HINTS_BYTES)
			info_text_put(text, key, value);
	}
	return info_text_end(text);
}

/* The number of our own answer. *trial: it counts as a trial until trial_return(). */
static uint32_t propose(struct matter *m, bool *trial)
{
	struct sluice_answer answer = { 0 };
	struct info_text text;
	struct frame frame = { 0 };
	unsigned plugin = 0;
	uint32_t number = 0;

	*trial = false;
	if (!inline_suggest(&frame, &m->query, &answer, &plugin))
		return 0;
	number = agree_answer(m->control, text_of(&answer, &text), plugin);
	*trial = answer.trial;
	return number;
}

static void trial_return(struct matter *m, bool trial)
{
	if (trial)
		atomic_fetch_sub_explicit(&m->control->explored, 1, memory_order_relaxed);
}

static void open_count(struct matter *m)
{
	atomic_fetch_add_explicit(&m->control->opens, 1, memory_order_relaxed);
}

/* A communicator of one need ask nobody. */
static uint32_t settle_alone(struct matter *m)
{
	bool trial;
	uint32_t answer = propose(m, &trial);

	if (!answer)
		trial_return(m, trial);
	open_count(m);
	return answer;
}

/* The number of this opening: the same on all ranks that take part. 0: it has none. */
static uint64_t opening_number(struct matter *m, bool *known)
{
	const char *slash = strrchr(m->query.path, '/'), *name = slash ? slash + 1 : m->query.path;
	uint64_t key = mpi_members(m->near, m->comm, (int)m->query.ranks, known);
	int place;

	key = mpi_mix(mpi_mix(key, mpi_job_key()), mpi_text_hash(name));
	key = mpi_mix(key, (uint64_t)(uint32_t)m->query.flags);
	place = agree_place(m->control, key);
	if (place < 0)
		return 0;
	return mpi_mix(key, 1 + atomic_fetch_add_explicit(&times[place], 1, memory_order_relaxed)) |
	       1;
}

static uint32_t settle_together(struct matter *m)
{
	bool known, mine, trial = false;
	uint64_t number = opening_number(m, &known);
	uint32_t answer = 0, proposal = 0;

	if (!number || agree_known(m->control, number, &answer))
		return answer;
	if (known && mpi_job_is_complete())
		proposal = propose(m, &trial);
	answer = agree_decide(m->control, number, proposal, &mine);
	if (!mine || !proposal)
		trial_return(m, trial);
	if (mine)
		open_count(m);
	return answer;
}

/* Adds what the program leaves open to a copy of its info. */
static void hints_add(struct matter *m, struct hints_opening *opening, uint32_t answer)
{
	uint32_t plugin = 0;
	const char *at = agree_hints(m->control, answer, &plugin);
	char key[SLUICE_KEY_BYTES], value[SLUICE_VALUE_BYTES];
	unsigned added = 0;

	if (!*at || !info_copy(m->near, m->info, &opening->copy))
		return;
	opening->is_copied = true;
	while (hints_next(&at, key, sizeof(key), value, sizeof(value)))
		if (!is_set(&m->query, key))
			added += info_set(m->near, opening->copy, key, value);
	inline_acted(plugin, added);
}

static void settle(struct hints_opening *opening, struct matter *m)
{
	m->query.ranks = (uint32_t)mpi_size(m->near, m->comm);
	/* The path is not proved yet. */
	if (!m->query.ranks || !path_bytes(m->query.path, EINVAL))
		return;
	hints_add(m, opening, m->query.ranks == 1 ? settle_alone(m) : settle_together(m));
}

MPI_Info hints_begin(struct hints_opening *opening, bool inner, const void *called, MPI_Comm comm,
		     const char *path, int amode, MPI_Info info)
{
	struct control *control = capture_membership.control;
	int saved = errno;
	struct matter m = { { path, amode, 0, is_set }, control, called, comm, info };

	opening->near = called;
	opening->is_copied = false;
	if (inner || !mpi_job_has_joined() || !control->plugins[0].name[0])
		return info;
	mpi_bind(called);
	settle(opening, &m);
	errno = saved;
	return opening->is_copied ? opening->copy : info;
}

void hints_end(struct hints_opening *opening)
{
	int saved = errno;

	if (opening->is_copied)
		info_free(opening->near, &opening->copy);
	errno = saved;
}
