/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Causes across TCP connections, FUSE mounts and storage servers: which calls received the bytes
 * that a call has sent, and what a server did because of them. It needs the trace of both ends: one
 * run that has both, or several runs that `sluice trace merge --join` has put together.
 *
 * The guest records the addresses of both ends when a connection is made (capture/record/socket.h).
 * Two ends belong together if their addresses are each other's. In each direction, calls are then
 * matched by the offset of their bytes (stream.h). Neither the protocol nor the times matter,
 * except that addresses can be used again: then an accepted connection belongs to the latest
 * connect() before.
 *
 * A receive on a connection that was accepted starts a request. What its thread calls afterwards is
 * done for it, until the thread accepts a connection, receives on another one that it has accepted,
 * or sees the end of one. Two refinements: what is sent on an accepted connection answers the
 * latest receive on it, in whatever thread; and a receive from a server of its own continues the
 * request for which the thread's process has sent to it. Ranks of MPI are peers and have no
 * requests: only their receives are matched.
 *
 * What a FUSE server reads from /dev/fuse is a request, too. It is matched with the call that made
 * it (fuse.h), and ends with the reply, which leads back to that call.
 *
 * What a storage server writes is matched with the writes of clients by its bytes (storage.h),
 * since it hands work from thread to thread.
 *
 * Limits: work that is handed to another thread is not found; work for several requests together
 * belongs to the latest; a receive with several requests (pipelining) leads to what is done for all
 * of them. What is not certain is not matched, and counted by its reason.
 *
 * Memory: 72 bytes per call on a TCP connection, up to CHAIN_TRANSFERS_MAX, and per request and
 * reply of a FUSE server and matched write of a storage server.
 */
#ifndef SLUICE_OBSERVE_CHAIN_CHAIN_H
#define SLUICE_OBSERVE_CHAIN_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/activity.h"

struct chain;
struct err;
struct json;
struct trace_head;

enum { CHAIN_TRANSFERS_MAX = 1 << 22 };

/* One row per state of a call that transferred bytes on a TCP connection, of a request to a FUSE
 * server, or of a write of a storage server: enum name, key in JSON, text. */
#define CHAIN_STATE_LIST(X)                                                                     \
	X(MATCHED, "matched", "matched")                                                        \
	X(LOST, "lost", "calls are missing from the trace")                                     \
	X(CONTRADICTORY, "contradictory", "the calls at the two ends contradict each other")    \
	X(UNREAD, "unread", "the bytes were not received")                                      \
	X(NO_PEER, "no_peer", "the other end was not recorded")                                 \
	X(SAME_ADDRESSES, "same_addresses", "connections had the same addresses")               \
	X(INHERITED, "inherited", "earlier calls on the connection were not recorded")          \
	X(BUFFERED, "buffered", "a stream or asynchronous calls transferred the bytes")         \
	X(UNORDERED, "unordered", "several threads used the connection at the same time")       \
	X(KERNEL, "kernel", "the kernel made the request itself")                               \
	X(NO_CALLER_ID, "no_caller_id", "the request names no caller")                          \
	X(NO_CALLER, "no_caller", "the caller was not recorded")                                \
	X(NO_CALL, "no_call", "no call of the caller agrees with the request")                  \
	X(SEVERAL_CALLS, "several_calls", "several calls of the caller agree with the request") \
	X(NO_CLOCK, "no_clock", "no transfer shows how the clocks of the two runs differ")      \
	X(NO_HEAD, "no_head", "the head of the request was not recorded")                       \
	X(NO_FILE, "no_file", "no recorded client has used the file")                           \
	X(SAME_NUMBER, "same_number", "the runs disagree about the file with this number")      \
	X(NO_WRITE, "no_write", "no recorded client has written the bytes before")              \
	X(SEVERAL_WRITES, "several_writes", "several writes of clients may be the cause")

#define CHAIN_STATE_ENUM(name, ...) CHAIN_##name,
enum chain_state { CHAIN_STATE_LIST(CHAIN_STATE_ENUM) CHAIN_STATES };
#undef CHAIN_STATE_ENUM

/* Is it a state of calls on connections, of requests to FUSE servers, or of writes of storage
 * servers? Some are of several. */
bool chain_state_is_link(enum chain_state state);
bool chain_state_is_fuse(enum chain_state state);
bool chain_state_is_object(enum chain_state state);

/* Not a problem, or not a failure to match. */
bool chain_state_is_good(enum chain_state state);

/* A call that transferred bytes on a TCP connection, that a FUSE server received a request or wrote
 * a reply by, that a storage server wrote an object by, or that such a call is matched with. */
struct chain_transfer {
	uint32_t process;
	uint64_t id;
	int64_t start_ns, stop_ns;
	uint64_t bytes;
	uint32_t end;	  /* of the connection; SOCKETS_NO_END: a FUSE mount; private */
	uint32_t first;	  /* private */
	uint32_t count;	  /* calls at the other end that belong to it; see chain_partner() */
	uint32_t request; /* private */
	uint8_t state;	  /* enum chain_state */
	bool is_sent;	  /* else received */
	bool is_request;  /* received on a connection that was accepted, or from /dev/fuse */
};

struct chain_counts {
	uint64_t connections;		 /* with both ends in the trace */
	uint64_t calls[CHAIN_STATES];	 /* on TCP connections */
	uint64_t requests[CHAIN_STATES]; /* to FUSE servers */
	uint64_t objects[CHAIN_STATES];	 /* writes of storage servers */
	uint64_t other_sockets; /* calls on sockets that are not TCP or whose addresses are unknown
				 */
};

/*
 * Reads the trace at path. *chain is NULL if no connection has both ends in it and there is neither
 * a FUSE server nor a storage server; that is found out from the head of the trace.
 */
int chain_read(struct chain **chain, const char *path, struct err *err);
void chain_free(struct chain *chain); /* accepts NULL */

/* The functions below accept a chain that is NULL, which has no transfers. */

/* NULL if the call is none. */
const struct chain_transfer *chain_find(const struct chain *chain, uint32_t process, uint64_t id);

/* A transfer that shares bytes with t, in the order of the bytes; or a request that the call t has
 * made, in their order; or the call that t is a request or a reply of. Writes of storage servers
 * are in the order of their starts, after the requests. i < t->count. */
const struct chain_transfer *chain_partner(const struct chain *chain,
					   const struct chain_transfer *t, uint32_t i);

/*
 * The receive that the call was made for; NULL if there is none, or if an enclosing call was made
 * for it.
 */
const struct chain_transfer *chain_request(const struct chain *chain, const struct activity *a);

/* The nearest cause in another process or an earlier call: the first partner of a receive, or the
 * request. NULL: none. */
const struct chain_transfer *chain_cause(const struct chain *chain, const struct activity *a);

/* All transfers have numbers below chain_size(). */
size_t chain_size(const struct chain *chain);
size_t chain_number(const struct chain *chain, const struct chain_transfer *t);
const struct chain_transfer *chain_at(const struct chain *chain, size_t number);

/* The time at which the latest receive that starts a request after t in its thread begins;
 * INT64_MAX: none. */
int64_t chain_request_end(const struct chain *chain, const struct chain_transfer *t);

/* NULL if there is no chain. */
const struct chain_counts *chain_counts(const struct chain *chain);

/* The text of a state. */
const char *chain_state_text(enum chain_state state);
const char *chain_state_key(enum chain_state state);

#endif
