/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A durable queue of frames in a directory. It gives each frame the next sequence number, and
 * returns the frames in this order, also after the process was killed at any moment.
 *
 *	disk_queue_append(queue, type, payload, n, &sequence);
 *	disk_queue_sync(queue);                  // all that was appended is now acknowledged
 *
 *	while (disk_queue_read(queue, &bytes, &frame, &err) > 0) {
 *		store(&frame);
 *		disk_queue_release(queue, frame.sequence);
 *	}
 *
 * What was acknowledged is never lost: neither by kill -9 nor by a power failure, as far as the
 * disk keeps what fdatasync() has written. What was appended but not acknowledged is either in the
 * queue completely or not at all. The reader sees acknowledged frames only, so the receiver never
 * gets a frame that a power failure makes undone. A frame may be read again after a restart; the
 * receiver knows it by stream and sequence, which are never used again.
 *
 * The directory holds segments, "SEQUENCE.frames", named after their first sequence, and "released"
 * with the position of the reader. A segment ends where the next one begins. Segments whose frames
 * were released are removed, except the newest.
 *
 * A torn tail (the process was killed while it wrote) is recognized and removed by the next
 * disk_queue_open(). Damage elsewhere costs the damaged frames only; they are counted.
 *
 * Limits: when the queue has bytes_max bytes, or the disk is full, an append fails with -ENOSPC,
 * changes nothing, and is counted. The caller decides what to drop; nothing ever waits for space.
 *
 * Threads: one may append and sync while another reads and releases. Memory: one frame per reader
 * and a few KiB. Reading never maps files.
 */
#ifndef SLUICE_WIRE_DISK_QUEUE_H
#define SLUICE_WIRE_DISK_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/frame.h"

struct buf;
struct err;
struct disk_queue;

#define DISK_QUEUE_ID_BYTES 32 /* digits of the id of a queue */
#define DISK_QUEUE_SEGMENT_BYTES (UINT64_C(16) << 20)

struct disk_queue_options {
	const char *directory;	/* created if it does not exist; private (base/trusted.h) */
	uint64_t bytes_max;	/* of all segments together; at least one segment */
	uint64_t segment_bytes; /* 0: DISK_QUEUE_SEGMENT_BYTES */
};

struct disk_queue_status {
	uint64_t next;	     /* sequence of the next frame; the first one is 1 */
	uint64_t durable;    /* last acknowledged sequence */
	uint64_t released;   /* last released sequence */
	uint64_t bytes;	     /* size of the segments */
	uint64_t refused;    /* appends that failed since the queue was opened: no space */
	uint64_t failures;   /* failed writes and syncs, other than for lack of space */
	uint64_t lost;	     /* acknowledged frames that were damaged on disk */
	uint64_t torn_bytes; /* incomplete bytes that disk_queue_open() removed */
};

/*
 * Opens or creates a queue. Fails with -EBUSY if another process has it open, with -EPERM if the
 * directory is not private, with -EPROTONOSUPPORT if a later version has written it.
 */
int disk_queue_open(struct disk_queue **queue, const struct disk_queue_options *options,
		    struct err *err);
void disk_queue_close(struct disk_queue *queue); /* syncs; NULL is fine */

/* The id, as in struct frame. A new directory has a new random id. */
const char *disk_queue_id(const struct disk_queue *queue);

/*
 * Appends one frame. Returns 0, -ENOSPC (the queue or the disk is full), -EMSGSIZE, or -errno of a
 * failed write; then nothing has changed. sequence may be NULL.
 */
int disk_queue_append(struct disk_queue *queue, uint16_t type, const void *payload, size_t n,
		      uint64_t *sequence);

/*
 * Makes everything that was appended durable. On failure, all frames that were appended since the
 * last successful call are removed, because the kernel may have discarded them; the caller may
 * append them again, and they get the same sequence numbers.
 */
int disk_queue_sync(struct disk_queue *queue);

/*
 * Reads the next acknowledged frame into bytes, which it overwrites; *frame points into it. Returns
 * 1, 0 if there is none now, or -errno with err set. Starts with the first frame that is not
 * released.
 */
int disk_queue_read(struct disk_queue *queue, struct buf *bytes, struct frame *frame,
		    struct err *err);

/* Makes disk_queue_read() continue with the first frame that is not released. */
void disk_queue_rewind(struct disk_queue *queue);

/*
 * The receiver has stored all frames up to `sequence`. They are not read again, except if the
 * machine fails within seconds.
 */
int disk_queue_release(struct disk_queue *queue, uint64_t sequence);

struct disk_queue_status disk_queue_status(struct disk_queue *queue);

#endif
