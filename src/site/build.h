/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns a finished trace into payloads for site_apply(): the run, its processes, files, calls,
 * statistics and notes, the sums of its profile per rank, file and layer, its findings, and its
 * activities, all or a sample. What must not leave the node is hidden here, before it is sent.
 *
 * Memory is bounded by that of a profile (observe/profile/profile.h) and by `payload_bytes`.
 */
#ifndef SLUICE_SITE_BUILD_H
#define SLUICE_SITE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct err;
struct mount_table;
struct trace_watch;

struct build_options {
	const struct config *config; /* thresholds of findings, and the settings site.*; required */
	const char *owner;     /* name of the user whose run it is; NULL: the user in the trace */
	const char *job;       /* id of the job; NULL: none */
	const char *partition; /* of the job; NULL: none */
	/* Keep one of so many activities, chosen by a hash of run, process and id; 1: all, 0: none.
	 * Calls of a sample come with their complete sums, which the profile has. */
	uint64_t sample;
	/* The mount points of a node, to tell file systems of files. They are those of the trace
	 * only if all its processes ran there. NULL: file systems are unknown. */
	const struct mount_table *mounts;
	const char *mounts_host;	 /* name of that node */
	size_t payload_bytes;		 /* maximum size of a payload; 0: BUILD_PAYLOAD_BYTES */
	const struct trace_watch *watch; /* may be NULL */
};

#define BUILD_PAYLOAD_BYTES (256u << 10)

/* The type of the frames that carry payloads (contract/frame.h: rows of the site). */
#define BUILD_FRAME_TYPE 64

/*
 * Receives a payload, which is valid during the call; type is BUILD_FRAME_TYPE. A negative result
 * ends the build and is returned.
 */
typedef int build_emit(void *arg, uint16_t type, const void *payload, size_t bytes,
		       struct err *err);

/*
 * Reads the trace and emits its payloads in the order in which they must be applied. If a build was
 * interrupted, build again: the first payload of a run replaces what the database has of it.
 */
int build_trace(const char *path, const struct build_options *options, build_emit *emit, void *arg,
		struct err *err);

#endif
