/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared mappings of files that other processes can truncate. An access beyond the end of a
 * truncated file raises SIGBUS; here it finds zeros instead, and the mapping is marked as lost. The
 * first mapping_open() installs a handler of SIGBUS for this. A SIGBUS elsewhere still ends the
 * process. A mapping belongs to one thread; several threads may have mappings.
 */
#ifndef SLUICE_OBSERVE_COLLECT_MAPPING_H
#define SLUICE_OBSERVE_COLLECT_MAPPING_H

#include <signal.h>
#include <stddef.h>

struct mapping {
	void *base; /* NULL: not open */
	size_t bytes;
	volatile sig_atomic_t lost; /* the file was truncated; what is written here is discarded */
	struct mapping *next;
};

/*
 * Maps the first `bytes` bytes of a file for reading and writing. The descriptor may be closed
 * afterwards. The structure must not be moved while it is open. Returns -errno on failure.
 */
int mapping_open(struct mapping *mapping, int fd, size_t bytes);
void mapping_close(struct mapping *mapping); /* a closed or zeroed mapping is fine */

/* Takes the pages out of the resident memory of this process until they are used again. */
void mapping_rest(const struct mapping *mapping);

#endif
