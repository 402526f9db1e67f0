/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/hints.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sluice/plugin.h>

#include "capture/record/capture.h"
#include "capture/libraries/info.h"
#include "capture/inline/agree.h"
#include "capture/inline/host.h"
#include "capture/libraries/wrapper_helpers.h"
#include "contract/hints.h"

/* Of this process, once it has joined its job. */
static struct {
	atomic_bool joined;
	const void *near; /* a function of our MPI */
	uint64_t key;
	int job; /* -1: not known, or no place for it */
	/* How often each file was opened by the same ranks in the same mode: by its place. */
	_Atomic uint32_t times[CONTROL_OPENINGS];
} own;

/* One opening being settled. */
struct matter {
	struct sluice_query query; /* first: is_set() gets it and finds the rest */
	struct control *control;
	const void *near;
	MPI_Comm comm;
	MPI_Info info;
};

/* What all ranks of a job know it by, and no other job does; 0 where nothing is known. */
static uint64_t job_key(void)
{
	const char *name = getenv("PMIX_NAMESPACE"), *fd = getenv("PMI_FD");
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof(peer);

	if (name && name[0])
		return mpi_text_hash(name);
	/* The other end of the launcher's socket is the one process that has started all ranks of
	 * the node. */
	if (fd && syscall(SYS_getsockopt, atoi(fd), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
	    peer.pid > 0)
		return mpi_mix(mpi_text_hash("PMI_FD"), (uint64_t)peer.pid);
	return 0;
}

void hints_join(const void *called)
{
	struct control *control = capture_membership.control;
	int saved = errno;

	if (!control || atomic_load_explicit(&own.joined, memory_order_relaxed))
		return;
	own.near = called;
	own.key = job_key();
	own.job = agree_join(control, own.key);
	atomic_store_explicit(&own.joined, true, memory_order_release);
	errno = saved;
}

bool hints_has_joined(void)
{
	return atomic_load_explicit(&own.joined, memory_order_acquire);
}

bool hints_job_is_here(void)
{
	struct control *control = capture_membership.control;
	int ranks;

	if (!hints_has_joined())
		return true;
	mpi_bind(own.near);
	ranks = mpi_size(own.near, mpi_kind.world);
	return ranks == 1 || control->parameters_shared || agree_all_here(control, own.job, ranks);
}

bool hints_is_ompio(void)
{
	return mpi_kind.is_open && !hints_is_romio(getenv("OMPI_MCA_io"));
}

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
		    hints_is_safe(key, value, hints_is_ompio()) &&
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

	key = mpi_mix(mpi_mix(key, own.key), mpi_text_hash(name));
	key = mpi_mix(key, (uint64_t)(uint32_t)m->query.flags);
	place = agree_place(m->control, key);
	if (place < 0)
		return 0;
	return mpi_mix(key,
		       1 + atomic_fetch_add_explicit(&own.times[place], 1, memory_order_relaxed)) |
	       1;
}

static uint32_t settle_together(struct matter *m)
{
	bool known, mine, trial = false;
	uint64_t number = opening_number(m, &known);
	uint32_t answer = 0, proposal = 0;

	if (!number || agree_known(m->control, number, &answer))
		return answer;
	if (known && agree_all_here(m->control, own.job, mpi_size(m->near, mpi_kind.world)))
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
	if (inner || !atomic_load_explicit(&own.joined, memory_order_acquire) ||
	    !control->plugins[0].name[0])
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
