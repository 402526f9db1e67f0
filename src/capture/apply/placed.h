/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that are placed by the backlog of their targets (contract/backlog.h): chooses the
 * directory, the pool of CephFS or the OST of Lustre of a new file, and reports what the program
 * then does with it. Guest.
 *
 * The host decides whether a run does so, and puts a link to the backlog of the user into the run's
 * directory; all runs of the user on a node share it. A process maps it when it joins. A file is
 * measured while its descriptor and the duplicates of it are open in the process that created it;
 * calls of an inherited descriptor are not. Calls are measured for write() and its relatives,
 * copies in the kernel, fsync(), fwrite(), and the close; the size of the file is read at the
 * close, so that bytes written otherwise are known then. An open file is never moved. What each
 * step has written to each target, and how long that took, is left in the control page
 * (contract/burst.h).
 *
 * A measured call costs two readings of the clock and no system call; every other call costs a
 * test.
 */
#ifndef SLUICE_CAPTURE_APPLY_PLACED_H
#define SLUICE_CAPTURE_APPLY_PLACED_H

#include <stdint.h>

#include "capture/apply/rules.h"
#include "capture/record/frame.h"
#include "contract/backlog.h"

#define PLACED_DESCRIPTORS 4096 /* files with higher descriptors are placed but not measured */

/* A call on a placed file. */
struct placed_call {
	struct backlog_file *file; /* NULL: the call is not measured */
	uint64_t begin_ns;
	int fd;
	enum backlog_call call;
};

#pragma GCC visibility push(hidden)

/* After rules_join(): maps the backlog if there are rules for it. Releases the files that the
 * process had before it executed this program. */
void placed_join(void);

/* In a forked child: the files are those of the parent. */
void placed_forget(void);

/*
 * Chooses a destination of the list and replaces *turn by it. Returns the file's entry in the
 * backlog. NULL: the list is not placed by the backlog and *turn is unchanged, or the backlog is
 * full.
 */
struct backlog_file *placed_choose(const struct parameters_line *rule, uint64_t *turn,
				   struct backlog_view *view);

/*
 * Sets the share of each destination of the list in a file that is on several of them. False: the
 * list is not placed by the backlog. Such a file is not measured.
 */
bool placed_shares(const struct parameters_line *rule, double shares[PARAMETERS_DESTINATIONS],
		   struct backlog_view *view);

/* The file was opened with these flags, or was not created after all. NULL is allowed. */
void placed_open(struct backlog_file *file, uint64_t turn, int fd, int flags);
void placed_cancel(struct backlog_file **file);

/* The file is not where it was placed any more, because the program has set its layout. */
void placed_yield(int fd);

void placed_begin_slow(struct placed_call *call, uint64_t bytes);
void placed_end_slow(struct placed_call *call, int64_t result);
void placed_copy_slow(int fd, int to);
void placed_close_range_slow(unsigned first, unsigned last);

#pragma GCC visibility pop

static inline bool placed_is_on(void)
{
	return unlikely(rules_places & RULES_PLACED);
}

/* Before a call that writes so many bytes, if known. Keeps errno. */
static inline void placed_begin(struct placed_call *call, enum backlog_call kind, int fd,
				uint64_t bytes)
{
	call->file = NULL;
	if (placed_is_on()) {
		call->call = kind;
		call->fd = fd;
		placed_begin_slow(call, bytes);
	}
}

/* For rows of interfaces/. wrapgen knows that there is nothing to do unless placed_is_on(). */
#define PLACED_CALL(kind, fd, bytes) \
	struct placed_call placed;   \
	placed_begin(&placed, BACKLOG_##kind, fd, bytes)

/* After the call; result is what it has written, or negative if it failed. Keeps errno. */
static inline void placed_end(struct placed_call *call, int64_t result)
{
	if (unlikely(call->file))
		placed_end_slow(call, result);
}

/* After `to` was made a duplicate of fd; -1: it was not. */
static inline void placed_copy(int fd, int to)
{
	if (placed_is_on())
		placed_copy_slow(fd, to);
}

/* Before descriptors are closed together. If that fails, their files are not measured any more. */
static inline void placed_close_range(unsigned first, unsigned last)
{
	if (placed_is_on())
		placed_close_range_slow(first, last);
}

#endif
