/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a process that the site records hands its spool to the daemon. Guest-safe.
 *
 * The files are those of a run of `sluice run` (contract/spool.h), but all runs of all users share
 * one directory, which the policy page names. Everybody may create files there (mode 1733), only
 * the owner of a file can open it, and the daemon, which owns the directory, can remove it:
 *
 *   UID-KEY-M.control               control page of a run, which its first process creates
 *   UID-KEY-M-NNNNNNNN-PID.spool    spool of a process, .counters beside it
 *
 * KEY is a hash of the job (or of the session, outside of jobs) in hexadecimal, M is the first
 * letter of the policy's mode. So processes of a job that are kept in the same way form one run.
 *
 * The process sends one frame (contract/frame.h) of type FRAME_HELLO with descriptors of the
 * control page and of its spool to the daemon's socket, without waiting, and closes the connection
 * and the descriptors. There is no reply. It does so again when it has created its counters, and
 * when the epoch of the policy page has changed. What the daemon does not get stays in the files.
 *
 * The daemon believes nothing in the message: descriptors and the peer's credentials decide. Two
 * spools belong to the same run if their control pages are the same file.
 */
#ifndef SLUICE_CONTRACT_HANDOVER_H
#define SLUICE_CONTRACT_HANDOVER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HANDOVER_JOB_BYTES 64
#define HANDOVER_PARTITION_BYTES 64
#define HANDOVER_PROGRAM_BYTES 64
#define HANDOVER_NAME_BYTES 96 /* of a file in the directory, with the terminating zero */

/* Variables that hold the id of a job; the first that is set counts. */
#define HANDOVER_JOB_VARIABLES(X) \
	X("SLURM_JOB_ID")         \
	X("PBS_JOBID")            \
	X("LSB_JOBID")            \
	X("FLUX_JOB_ID")          \
	X("JOB_ID")
#define HANDOVER_PARTITION_VARIABLES(X) \
	X("SLURM_JOB_PARTITION")        \
	X("PBS_QUEUE")                  \
	X("LSB_QUEUE")                  \
	X("QUEUE")

/* The order of the descriptors. */
enum handover_descriptor {
	HANDOVER_CONTROL,
	HANDOVER_SPOOL,
	HANDOVER_COUNTERS, /* if the process has counters */
	HANDOVER_DESCRIPTORS,
};

/* The payload of the frame. Texts are terminated. */
struct hello {
	uint32_t version; /* SPOOL_VERSION */
	uint32_t mode;	  /* enum policy_mode */
	uint32_t epoch;	  /* of the policy page */
	uint32_t number;  /* of the spool in the run */
	uint64_t key;	  /* of the run: the same on all nodes of a job */
	int32_t pid;	  /* in the PID namespace of the process */
	uint32_t reserved;
	char job[HANDOVER_JOB_BYTES];		  /* id of the job; "": none */
	char partition[HANDOVER_PARTITION_BYTES]; /* of the job; "": none */
	char spool[HANDOVER_NAME_BYTES];	  /* names in the directory */
	char control[HANDOVER_NAME_BYTES];
};

_Static_assert(sizeof(struct hello) == 352, "no padding: it is used as it is on the wire");

/*
 * The payload of FRAME_TRACE: `sluice run` has written a trace, of which the site keeps a copy. One
 * descriptor of the trace comes along, which need not be writable. There is no reply.
 */
#define HANDED_TRACE_VERSION 1
struct handed_trace {
	uint32_t version; /* HANDED_TRACE_VERSION */
	uint32_t mode;	  /* enum policy_mode: what the site keeps */
	char job[HANDOVER_JOB_BYTES];
	char partition[HANDOVER_PARTITION_BYTES];
	char program[HANDOVER_PROGRAM_BYTES]; /* name without a path, for the name of the copy */
};

_Static_assert(sizeof(struct handed_trace) == 200, "no padding: it is used as it is on the wire");

static inline uint64_t handover_hash(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *p = (const unsigned char *)bytes; n--; p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	return hash;
}

/* The key of a run: of its job, or outside of jobs of its session (getsid) in a PID namespace. */
static inline uint64_t handover_job_key(const char *job)
{
	return handover_hash(UINT64_C(0xcbf29ce484222325), job, strlen(job));
}

static inline uint64_t handover_session_key(uint64_t namespace_inode, int64_t session)
{
	const struct {
		uint64_t namespace_inode;
		int64_t session;
	} id = { namespace_inode, session };

	return handover_hash(UINT64_C(0x84222325cbf29ce4), &id, sizeof(id));
}

#endif
