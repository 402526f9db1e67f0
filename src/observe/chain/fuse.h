/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests of the kernel to FUSE servers: which call of a client each of them comes from, and which
 * reply answers it. The guest has recorded the head of each request (capture/record/fuse.h).
 *
 * A request comes from the innermost call of its caller during which the server has read it and
 * written the reply. The caller is a thread with the kernel's id that the request names, in the pid
 * namespace of the server, on its host. Only the kernel's reading ahead and asynchronous direct I/O
 * do not wait for a reply: so the range of a transfer must agree with the call, too.
 *
 * If client and server were recorded by different runs, their times may differ by FUSE_SLACK_NS.
 * Transfers with which only one call agrees show by how much; with that knowledge other requests
 * are matched, if it leaves one call.
 *
 * Memory: 88 bytes per request, 40 per call that may have made it, and the calls of each thread in
 * the last 2 * FUSE_SLACK_NS.
 */
#ifndef SLUICE_OBSERVE_CHAIN_FUSE_H
#define SLUICE_OBSERVE_CHAIN_FUSE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/activity.h"

struct chain_counts;
struct fuse;
struct links;
struct requests;
struct sockets;
struct trace_head;

#define FUSE_SLACK_NS INT64_C(50000)

/* NULL if the trace has no call on /dev/fuse. The head must stay until fuse_free(). */
struct fuse *fuse_new(const struct trace_head *head);
void fuse_free(struct fuse *fuse); /* accepts NULL */

/* What a call means for the requests that its thread works on. */
struct fuse_event {
	uint64_t id; /* of the call from which on the thread works on `request`; 0: no change */
	int64_t start_ns; /* of that call */
	uint32_t request; /* number + 1 of the transfer that has received it; 0: none */
};

/*
 * Follows one call. Calls come in the order of their start. Requests and replies become transfers
 * of `sockets`; `requests` tells what the thread works on now.
 */
void fuse_see(struct fuse *fuse, struct sockets *sockets, const struct requests *requests,
	      const struct activity *a, struct fuse_event *event);

/* After the last call: finds the calls that made the requests, which become transfers as well. */
void fuse_finish(struct fuse *fuse, struct sockets *sockets, const struct requests *requests,
		 const int64_t *since_ns);

/* Links calls, requests and replies with each other, and counts requests by state. */
void fuse_link(const struct fuse *fuse, struct sockets *sockets, struct links *links,
	       struct chain_counts *counts);

#endif
