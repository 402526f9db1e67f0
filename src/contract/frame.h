/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The header of a frame: the unit in which processes of Sluice exchange data over a socket and keep
 * it on disk (docs/reference/protocol.md). Guest-safe. All numbers are little-endian.
 *
 *   0   magic       4 bytes "SLF1"
 *   4   version     2 bytes
 *   6   type        2 bytes, FRAME_LIST
 *   8   length      4 bytes, of the payload that follows the header
 *  12   flags       4 bytes, 0 in version 1
 *  16   sequence    8 bytes, assigned by the sender; consecutive in a queue on disk
 *  24   check       4 bytes, lower half of the XXH3-64 of the payload
 *  28   head_check  4 bytes, lower half of the XXH3-64 of bytes 0 to 27
 */
#ifndef SLUICE_CONTRACT_FRAME_H
#define SLUICE_CONTRACT_FRAME_H

#include <stdint.h>

#define FRAME_MAGIC UINT32_C(0x31464c53) /* "SLF1" */
#define FRAME_VERSION 1
#define FRAME_HEADER_BYTES 32
#define FRAME_PAYLOAD_MAX (1u << 20) /* of any frame */
#define FRAME_CLIENT_MAX (1u << 16)  /* of a frame that an unprivileged client sends */
#define FRAME_DESCRIPTORS_MAX 4	     /* descriptors that accompany a frame */

/* name, number, maximum payload, who sends it to whom; 5 is reserved */
#define FRAME_LIST(X)                                                                      \
	X(HELLO, 1, 8192,                                                                  \
	  "process to daemon: hands over the spool of the process; with "                  \
	  "descriptors")                                                                   \
	X(SUMS, 2, 8192, "collector to daemon: sums of calls for the metrics of the node") \
	X(STATUS_REQUEST, 3, 0, "client to daemon: asks for the status")                   \
	X(STATUS, 4, FRAME_PAYLOAD_MAX, "daemon to client: the status as JSON")            \
	X(REFUSED, 6, 512, "daemon to client: why the connection will be closed")          \
	X(VOTE, 7, 32, "rank to daemon: its vote on hints of the job")                     \
	X(TRACE, 8, 8192,                                                                  \
	  "recorder to daemon: a complete trace of 'sluice run'; with its "                \
	  "descriptor")                                                                    \
	X(BACKLOG, 9, 1u << 15,                                                            \
	  "recorder to daemon: what the programs of a user have to write to each target")  \
	X(OTHERS, 10, 1u << 15, "daemon to recorder: the same of all other backlogs")

#define FRAME_ENUM(name, number, ...) FRAME_##name = (number),
enum frame_type {
	FRAME_LIST(FRAME_ENUM)
	/*
	 * Rows for the site's database, from here to FRAME_TYPE_MAX. The queue and the daemon do
	 * not look into them. Only queues on disk have them; the daemon refuses them from clients.
	 */
	FRAME_ROWS_FIRST = 64,
	FRAME_TYPE_MAX = 1023,
};
#undef FRAME_ENUM

struct frame_header {
	uint32_t magic;
	uint16_t version, type;
	uint32_t length, flags;
	uint64_t sequence;
	uint32_t check, head_check;
};

_Static_assert(sizeof(struct frame_header) == FRAME_HEADER_BYTES, "frames have no padding");
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "struct frame_header is used as it is on the wire, which is little-endian"
#endif

#endif
