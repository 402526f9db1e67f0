/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Storage servers of Ceph: which writes of clients to files of CephFS the writes of an OSD to its
 * objects come from (objects.h). The OSD has a FileStore, which keeps each object in a file. The
 * inode number and the layout of a client's file are a note of its run (NOTE_LAYOUT).
 *
 * A note is of the file that had the path at the end of the run. So what was written before a
 * recorded call renamed or removed the file does not count. If runs disagree about a file, or files
 * of several file systems have the same number, nothing of it is linked. Nor is anything of a file
 * that was also written by calls whose bytes are not known.
 *
 * Memory: 72 bytes per write of a client or a server, and 64 per object of which it writes a part, up
 * to OBJECTS_WRITES_MAX of either.
 */
#ifndef SLUICE_OBSERVE_CHAIN_STORAGE_H
#define SLUICE_OBSERVE_CHAIN_STORAGE_H

#include <stdint.h>

#include "trace/activity.h"

struct chain_counts;
struct links;
struct sockets;
struct storage;
struct trace_head;

/* NULL if the trace has no object, or no file whose objects are known. The head must stay until
 * storage_free(). */
struct storage *storage_new(const struct trace_head *head);
void storage_free(struct storage *storage); /* accepts NULL */

/* Follows one call. Calls come in the order of their start. */
void storage_see(struct storage *storage, const struct activity *a);

/*
 * After the last call: makes transfers of the writes that belong together, and links them.
 * since_ns: per process, the time from which calls may be missing; INT64_MAX: none is. Counts the
 * writes of servers by state.
 */
void storage_finish(struct storage *storage, struct sockets *sockets, struct links *links,
		    const int64_t *since_ns, struct chain_counts *counts);

#endif
