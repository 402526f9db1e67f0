/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The payload of a frame SUMS: sums of calls on one file system and storage target, for the metrics
 * of the node. A collector that is not the daemon's own reports them, or any program that knows
 * what it reads and writes. One head and `rows` rows; little-endian, no padding.
 */
#ifndef SLUICE_WIRE_SUMS_H
#define SLUICE_WIRE_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "wire/frame.h"
#include <sluice/call.h>

#define SUMS_NAME_BYTES 48

/* How fast calls were, compared with what is expected: enum name, value of the label. */
#define SPEED_LIST(X)             \
	X(UNKNOWN, "unknown")     \
	X(VERY_SLOW, "very_slow") \
	X(SLOW, "slow")           \
	X(NORMAL, "normal")       \
	X(FAST, "fast")           \
	X(VERY_FAST, "very_fast")
#define SPEED_ENUM(name, text) SPEED_##name,
enum speed { SPEED_LIST(SPEED_ENUM) SPEED_COUNT };
#undef SPEED_ENUM

struct sums_head {
	char filesystem[SUMS_NAME_BYTES]; /* mount point; terminated */
	char target[SUMS_NAME_BYTES];	  /* storage target; terminated; "": unknown */
	uint32_t rows;
	uint32_t reserved; /* 0 */
};

struct sums_row {
	uint8_t operation; /* enum call_class */
	uint8_t speed;	   /* enum speed */
	uint16_t reserved; /* 0 */
	uint32_t calls;
	uint64_t bytes, ns;
};

_Static_assert(sizeof(struct sums_head) == 104 && sizeof(struct sums_row) == 24, "no padding");

/*
 * Checks a payload completely. Returns its head, and the rows in *rows, both of which point into
 * the payload and may be unaligned: copy them. Returns NULL if it is invalid.
 */
const void *sums_check(const struct frame *frame, const uint8_t **rows, uint32_t *count);

#endif
