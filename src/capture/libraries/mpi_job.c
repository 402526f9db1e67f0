/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/libraries/mpi_job.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "capture/libraries/hints_file.h"
#include "capture/libraries/mpi.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/number.h"

/* The job of this process; valid once `joined` is set. */
static struct {
	atomic_bool joined;
	const void *near; /* a function of the MPI that the process uses */
	uint64_t key;
	int index; /* in the control page; -1: the job is unknown, or there was no room for it */
} own;

/* The socket to the launcher of MPICH; -1: none. */
static int launcher_socket(void)
{
	const char *text = getenv("PMI_FD"), *end = text;
	uint64_t fd = text ? number_read(&end) : 0;

	return end == text || *end || fd > INT_MAX ? -1 : (int)fd;
}

/* The hash of what the launcher says about the job; 0 if it says nothing. */
static uint64_t find_key(void)
{
	const char *name = getenv("PMIX_NAMESPACE");
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof(peer);

	if (name && name[0])
		return mpi_text_hash(name);
	/* The peer of this socket is the one process that has started all ranks of the node. */
	if (kernel_call(SYS_getsockopt, launcher_socket(), SOL_SOCKET, SO_PEERCRED, &peer,
			&bytes) == 0 &&
	    peer.pid > 0)
		return mpi_mix(mpi_text_hash("PMI_FD"), (uint64_t)peer.pid);
	return 0;
}

int mpi_job_count_rank(struct control *control, uint64_t key)
{
	if (!key)
		return -1;
	for (int i = 0; i < CONTROL_JOBS; i++) {
		struct control_job *job = &control->jobs[i];
		uint64_t found = 0;

		if (!atomic_compare_exchange_strong(&job->key, &found, key) && found != key)
			continue;
		atomic_fetch_add(&job->present, 1);
		return i;
	}
	return -1;
}

bool mpi_job_has_ranks(const struct control *control, int job, int ranks)
{
	return job >= 0 && ranks > 0 && atomic_load(&control->jobs[job].present) == (uint32_t)ranks;
}

void mpi_job_compare_hints_file(struct control *control, int job, uint64_t hash)
{
	uint64_t found = 0;

	if (job >= 0 && !atomic_compare_exchange_strong(&control->jobs[job].hints, &found, hash) &&
	    found != hash)
		atomic_store(&control->jobs[job].differs, 1);
}

/* Reads the hints file if parameters or plug-ins may have to yield to it. */
static void compare_hints_file(struct control *control)
{
	if (!control->parameters[0] && !control->plugins[0].name[0])
		return;
	hints_file_load();
	mpi_job_compare_hints_file(control, own.index, hints_file_hash());
}

void mpi_job_join(const void *called)
{
	struct control *control = capture_membership.control;
	int saved = errno;

	if (!control || atomic_load_explicit(&own.joined, memory_order_relaxed))
		return;
	own.near = called;
	own.key = find_key();
	own.index = mpi_job_count_rank(control, own.key);
	compare_hints_file(control);
	/* Pairs with the acquire in mpi_job_has_joined(). */
	atomic_store_explicit(&own.joined, true, memory_order_release);
	errno = saved;
}

bool mpi_job_has_joined(void)
{
	return atomic_load_explicit(&own.joined, memory_order_acquire);
}

uint64_t mpi_job_key(void)
{
	return own.key;
}

static int world_size(void)
{
	mpi_bind(own.near);
	return mpi_size(own.near, mpi_kind.world);
}

bool mpi_job_is_complete(void)
{
	return mpi_job_has_ranks(capture_membership.control, own.index, world_size());
}

bool mpi_job_shares_parameters(void)
{
	const struct control *control = capture_membership.control;
	int ranks;

	if (!mpi_job_has_joined())
		return true;
	ranks = world_size();
	return ranks == 1 || control->parameters_shared ||
	       mpi_job_has_ranks(control, own.index, ranks);
}

bool mpi_job_shares_hints_file(void)
{
	const struct control *control = capture_membership.control;

	if (!mpi_job_has_joined() || world_size() == 1)
		return true;
	if (mpi_job_is_complete())
		return !atomic_load(&control->jobs[own.index].differs);
	return !hints_file_is_given();
}
