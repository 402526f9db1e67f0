/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Follows the sockets of a trace: which end of which TCP connection a call used, and the bytes that
 * it sent or received. Duplicated, forked and inherited descriptors lead to the same end.
 */
#ifndef SLUICE_OBSERVE_CHAIN_SOCKETS_H
#define SLUICE_OBSERVE_CHAIN_SOCKETS_H

#include "base/map.h"
#include "observe/chain/chain.h"
#include "trace/format.h"

enum sockets_role {
	SOCKETS_ACCEPTED,
	SOCKETS_CONNECTED,
	SOCKETS_FOUND, /* the call that made the connection is not in the trace */
};

#define SOCKETS_NO_END UINT32_MAX /* of a transfer that is not on a TCP connection */

struct buf;

struct sockets_list {
	uint32_t *numbers; /* of transfers, in order of their start */
	size_t count, cap;
};

/* One end of a TCP connection, from the time when it was made. */
struct sockets_end {
	const char *name; /* "LOCAL-PEER", as in capture/record/socket.h; owned by the head */
	const char *host;
	uint32_t number;
	uint32_t process; /* that made it */
	enum sockets_role role;
	bool is_buffered;		/* streams or asynchronous calls have used it */
	bool has_ended;			/* its peer has sent no more */
	int64_t opened_ns, accepted_ns; /* start and end of the call that made it */
	int64_t last_ns;		/* end of the latest call on it */
	int64_t certain_ns;		/* no call on it is missing that began before */
	struct sockets_list sent, received;
	uint32_t request; /* number + 1 of the request for which it was last used; of requests.h */
	struct sockets_end *earlier; /* the previous end with the same hash of name and host */
};

/* What a call did. */
struct sockets_event {
	struct sockets_end *end; /* on a TCP connection; NULL: no */
	uint32_t transfer;	 /* number + 1 of the new transfer; 0: none */
	bool is_accept;		 /* it has accepted a connection, or found none to accept */
	bool is_end;		 /* it has seen the end of the stream */
};

struct sockets {
	const struct trace_head *head;
	size_t process_count;
	struct sockets_trait *traits; /* by call */
	struct map *handles;	      /* per process: struct socket_handle by id */
	struct map *ids;	      /* per process: number + 1 of the transfer by id */
	struct map names;	      /* latest struct sockets_end by hash of name and host */
	struct sockets_end **ends;
	size_t end_count, end_cap;
	struct chain_transfer *transfers;
	size_t transfer_count, transfer_cap;
	uint64_t other_calls; /* on sockets that are no ends of TCP connections */
	int64_t full_ns;      /* start of the first transfer beyond the limit; INT64_MAX: none */
};

/* The head must stay until sockets_doubt() has returned and no name of an end is needed. */
void sockets_init(struct sockets *sockets, const struct trace_head *head);
void sockets_release(struct sockets *sockets);

/* Follows one call. Calls come in the order of their start. */
void sockets_see(struct sockets *sockets, const struct activity *a, struct sockets_event *event);

/*
 * Adds a transfer that is not on a TCP connection. Returns its number + 1; 0: there are too many,
 * or the call has a transfer.
 */
uint32_t sockets_add_other(struct sockets *sockets, uint32_t process, uint64_t id, int64_t start_ns,
			   int64_t stop_ns, int64_t bytes, bool is_sent);

/*
 * The same for a call that others are linked with as its effects; it may have further ones. 0: it
 * is a transfer for another reason, or there are too many.
 */
uint32_t sockets_add_cause(struct sockets *sockets, uint32_t process, uint64_t id, int64_t start_ns,
			   int64_t stop_ns, int64_t bytes);

/*
 * After the last call. since_ns: per process, the time from which calls may be missing, INT64_MAX
 * if none is. Sets certain_ns of the ends that the process or one that it has forked can use.
 */
void sockets_doubt(struct sockets *sockets, const int64_t *since_ns);

/* The number + 1 of the transfer; 0: none. */
uint32_t sockets_transfer(const struct sockets *sockets, uint32_t process, uint64_t id);

/* Is this the name of a connection? If so, appends the name that its peer has for it. */
bool sockets_reverse_name(struct buf *out, const char *name);

/* Is it a connection of a host with itself, by addresses that every host has? */
bool sockets_is_local_name(const char *name);

#endif
