/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Details of counted calls that another tool has counted, such as Darshan: how a process used a
 * file through a layer, and how many bytes it moved when. They describe calls that the trace does
 * not contain as activities; the sums of these calls are aggregates (trace/format.h). Sluice's own
 * recordings have neither.
 */
#ifndef SLUICE_TRACE_USAGE_H
#define SLUICE_TRACE_USAGE_H

#include <sluice/activity.h>
#include <stdint.h>

/* Transfers of up to 100 B, 1 KiB, 10 KiB, 100 KiB, 1 MiB, 4 MiB, 10 MiB, 100 MiB, 1 GiB, more. */
enum { USAGE_SIZES = 10, USAGE_COMMON = 4 };
extern const int64_t usage_size_limits[USAGE_SIZES]; /* the largest size of each class */

/*
 * One row per value: enum name, name in a trace. 0 is also "unknown", except for ranks, which
 * are -1 then. New rows are added at the end.
 *
 * opens to others    calls by kind; others are duplicated descriptors and renames
 * consecutive_*      accesses that start where the previous one of the process ended
 * forward_*          accesses that start at or after that place; includes the consecutive ones
 * unaligned          accesses whose offset is not a multiple of alignment_bytes
 * collective_*       of the accesses, those that several ranks make together
 * size_N, count_N    the most frequent sizes of accesses, and how often each occurred
 * gap_N, gap_count_N the most frequent distances from the end of an access to the next
 * first_ns, last_ns  first and last moment of any call on the file
 * fastest_*, slowest_*  the ranks that spent least and most time, if the row is of all ranks
 * stripe_*           the layout of the file
 */
#define USAGE_LIST(X)                             \
	X(OPENS, opens)                           \
	X(STATS, stats)                           \
	X(SEEKS, seeks)                           \
	X(SYNCS, syncs)                           \
	X(MAPS, maps)                             \
	X(OTHERS, others)                         \
	X(READS, reads)                           \
	X(WRITES, writes)                         \
	X(BYTES_READ, bytes_read)                 \
	X(BYTES_WRITTEN, bytes_written)           \
	X(READ_NS, read_ns)                       \
	X(WRITE_NS, write_ns)                     \
	X(METADATA_NS, metadata_ns)               \
	X(CONSECUTIVE_READS, consecutive_reads)   \
	X(CONSECUTIVE_WRITES, consecutive_writes) \
	X(FORWARD_READS, forward_reads)           \
	X(FORWARD_WRITES, forward_writes)         \
	X(UNALIGNED, unaligned)                   \
	X(ALIGNMENT_BYTES, alignment_bytes)       \
	X(COLLECTIVE_READS, collective_reads)     \
	X(COLLECTIVE_WRITES, collective_writes)   \
	X(READ_SIZES, reads_100B)                 \
	X(READ_SIZES_1, reads_1KiB)               \
	X(READ_SIZES_2, reads_10KiB)              \
	X(READ_SIZES_3, reads_100KiB)             \
	X(READ_SIZES_4, reads_1MiB)               \
	X(READ_SIZES_5, reads_4MiB)               \
	X(READ_SIZES_6, reads_10MiB)              \
	X(READ_SIZES_7, reads_100MiB)             \
	X(READ_SIZES_8, reads_1GiB)               \
	X(READ_SIZES_9, reads_larger)             \
	X(WRITE_SIZES, writes_100B)               \
	X(WRITE_SIZES_1, writes_1KiB)             \
	X(WRITE_SIZES_2, writes_10KiB)            \
	X(WRITE_SIZES_3, writes_100KiB)           \
	X(WRITE_SIZES_4, writes_1MiB)             \
	X(WRITE_SIZES_5, writes_4MiB)             \
	X(WRITE_SIZES_6, writes_10MiB)            \
	X(WRITE_SIZES_7, writes_100MiB)           \
	X(WRITE_SIZES_8, writes_1GiB)             \
	X(WRITE_SIZES_9, writes_larger)           \
	X(SIZE, size_1)                           \
	X(SIZE_2, size_2)                         \
	X(SIZE_3, size_3)                         \
	X(SIZE_4, size_4)                         \
	X(COUNT_1, count_1)                       \
	X(COUNT_2, count_2)                       \
	X(COUNT_3, count_3)                       \
	X(COUNT_4, count_4)                       \
	X(GAP, gap_1)                             \
	X(GAP_2, gap_2)                           \
	X(GAP_3, gap_3)                           \
	X(GAP_4, gap_4)                           \
	X(GAP_COUNT, gap_count_1)                 \
	X(GAP_COUNT_2, gap_count_2)               \
	X(GAP_COUNT_3, gap_count_3)               \
	X(GAP_COUNT_4, gap_count_4)               \
	X(FIRST_NS, first_ns)                     \
	X(LAST_NS, last_ns)                       \
	X(FASTEST_RANK, fastest_rank)             \
	X(FASTEST_BYTES, fastest_bytes)           \
	X(FASTEST_NS, fastest_ns)                 \
	X(SLOWEST_RANK, slowest_rank)             \
	X(SLOWEST_BYTES, slowest_bytes)           \
	X(SLOWEST_NS, slowest_ns)                 \
	X(STRIPE_BYTES, stripe_bytes)             \
	X(STRIPE_COUNT, stripe_count)
#define USAGE_ENUM(name, text) USAGE_##name,
enum usage_value { USAGE_LIST(USAGE_ENUM) USAGE_VALUES };
#undef USAGE_ENUM

/* A process whose rank is -1 and whose `ranks` is positive stands for all ranks together. */
struct usage {
	uint32_t process;
	file_id file; /* 0: several files */
	char *layer;  /* name of the layer; owned */
	int64_t value[USAGE_VALUES];
};

/* Bytes that a process moved through a layer in a period of the run. */
struct flow {
	uint32_t process;
	char *layer; /* owned */
	int64_t start_ns, period_ns;
	int64_t bytes_read, bytes_written;
};

#endif
