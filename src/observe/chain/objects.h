/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects of CephFS: which writes of clients put the bytes there that a storage server writes.
 * Pure: knows nothing of traces.
 *
 * Ceph divides a file into objects that are named after its inode number. The layout of the file
 * maps each byte to one byte of one object, so writes are compared byte by byte. A server may store
 * bytes long after the client has written them, since clients have caches. But it stores those of
 * several writes in their order, and not before they were written. So for each byte and each store:
 *
 *   - a write of the server comes from a write of a client that began before and was not stored
 * yet;
 *   - if several writes are possible, it is not known which of them a cache has replaced. None is
 *     linked. All but the latest are then stored or replaced, unless they may have been in progress
 *     when the latest began;
 *   - if none is possible, the bytes are stored again, or were written by an unknown client.
 */
#ifndef SLUICE_OBSERVE_CHAIN_OBJECTS_H
#define SLUICE_OBSERVE_CHAIN_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of each list of struct objects. */
#define OBJECTS_WRITES_MAX (1 << 22)

/* The layout of a file; all numbers are above 0, and object_bytes is a multiple of unit. */
struct objects_layout {
	uint64_t unit;	       /* bytes that go to one object before the next one follows */
	uint64_t count;	       /* objects that units go to in turn */
	uint64_t object_bytes; /* until each of them has this size; then the next ones follow */
};

bool objects_layout_is_valid(const struct objects_layout *layout);

struct objects_name {
	uint64_t inode, number;
	uint64_t pool;
};

/*
 * Reads the path of the file in which a FileStore keeps an object, such as
 * STORE/current/2.49_head/10000000abc.00000001__head_4BAF77C9__2. Returns the length of STORE; 0:
 * it is not the newest version of an object of a file in a replicated pool.
 */
size_t objects_read_name(struct objects_name *name, const char *path);

/* A write of bytes of an object. */
struct objects_write {
	uint64_t inode, number; /* of the object */
	uint64_t offset, bytes; /* in the object */
	int64_t start_ns, stop_ns;
	uint64_t store; /* of a server: its writes of an object are copies of those of others */
	uint32_t host;
	uint32_t call; /* chosen by the caller; a call of a client may have several writes */
};

enum objects_state {
	OBJECTS_MATCHED,  /* each byte has one possible write, or none; at least one has */
	OBJECTS_NO_WRITE, /* no byte has one */
	OBJECTS_SEVERAL,  /* a byte has several */
};

/* The call `to` of a server has stored bytes of the call `from` of a client. */
struct objects_link {
	uint32_t to, from;
};

struct objects {
	struct objects_write *clients, *servers;
	size_t client_count, client_cap, server_count, server_cap;
	/* Results of objects_match(). */
	struct objects_link *links; /* sorted by `to`, then `from`; each once */
	size_t link_count, link_cap;
};

void objects_release(struct objects *objects); /* a zeroed structure is empty */

/* Adds a client's write of a range of a file; write->number and offset are ignored, its offset in
 * the file is given. False: there are too many. */
bool objects_add_client(struct objects *objects, const struct objects_layout *layout,
			const struct objects_write *write, uint64_t offset);
bool objects_add_server(struct objects *objects, const struct objects_write *write);

/* How far the times of two hosts may be off. */
struct objects_clocks {
	int64_t same_ns;	  /* of one host with itself */
	const int64_t *errors_ns; /* by host; two of them are added */
};

/* Finds the links. states: by call of a server, all of which are below state_count. */
void objects_match(struct objects *objects, const struct objects_clocks *clocks,
		   enum objects_state *states, size_t state_count);

#endif
