/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/layout.h"

#include <string.h>

#include "contract/call.h"

#define TABLE(rows) rows, sizeof(rows) / sizeof((rows)[0])
/* first open, read, write, close; last open, read, write, close; read, write, metadata time;
 * slowest read, slowest write; time of fastest and slowest rank; variances */
#define COMMON_REALS                                                                             \
	{ 0, 1, USAGE_FIRST_NS, COUNTER_FIRST }, { 1, 1, USAGE_FIRST_NS, COUNTER_FIRST },        \
		{ 2, 1, USAGE_FIRST_NS, COUNTER_FIRST }, { 4, 1, USAGE_LAST_NS, COUNTER_LAST },  \
		{ 5, 1, USAGE_LAST_NS, COUNTER_LAST }, { 6, 1, USAGE_LAST_NS, COUNTER_LAST },    \
		{ 7, 1, USAGE_LAST_NS, COUNTER_LAST }, { 8, 1, USAGE_READ_NS, COUNTER_SECONDS }, \
		{ 9, 1, USAGE_WRITE_NS, COUNTER_SECONDS },                                       \
		{ 10, 1, USAGE_METADATA_NS, COUNTER_SECONDS },                                   \
		{ 13, 1, USAGE_FASTEST_NS, COUNTER_RANK_SECONDS },                               \
	{                                                                                        \
		14, 1, USAGE_SLOWEST_NS, COUNTER_RANK_SECONDS                                    \
	}

/* Fastest rank and its bytes, slowest rank and its bytes. */
#define RANKS(word)                                                   \
	{ word, 1, USAGE_FASTEST_RANK, COUNTER_RANK },                \
		{ (word) + 1, 1, USAGE_FASTEST_BYTES, COUNTER_RANK }, \
		{ (word) + 2, 1, USAGE_SLOWEST_RANK, COUNTER_RANK },  \
	{                                                             \
		(word) + 3, 1, USAGE_SLOWEST_BYTES, COUNTER_RANK      \
	}

static const struct counter posix_counters[] = {
	{ 0, 1, USAGE_OPENS, COUNTER_ADD },
	{ 1, 1, USAGE_OPENS, COUNTER_SUBTRACT }, /* fileno() and dup() count as opens, too */
	{ 2, 1, USAGE_OPENS, COUNTER_SUBTRACT },
	{ 2, 1, USAGE_OTHERS, COUNTER_ADD },
	{ 3, 2, USAGE_READS, COUNTER_ADD }, /* and writes */
	{ 5, 1, USAGE_SEEKS, COUNTER_ADD },
	{ 6, 1, USAGE_STATS, COUNTER_ADD },
	{ 7, 1, USAGE_MAPS, COUNTER_ADD },
	{ 8, 1, USAGE_SYNCS, COUNTER_ADD },
	{ 9, 1, USAGE_SYNCS, COUNTER_ADD },
	{ 10, 1, USAGE_OTHERS, COUNTER_ADD }, /* renames, at their source */
	{ 14, 2, USAGE_BYTES_READ, COUNTER_ADD },
	{ 18, 4, USAGE_CONSECUTIVE_READS, COUNTER_ADD }, /* and forward */
	{ 25, 1, USAGE_UNALIGNED, COUNTER_ADD },
	{ 26, 1, USAGE_ALIGNMENT_BYTES, COUNTER_SET },
	{ 29, 2 * USAGE_SIZES, USAGE_READ_SIZES, COUNTER_ADD }, /* and of writes */
	{ 49, 2 * USAGE_COMMON, USAGE_GAP, COUNTER_SET },	/* and their counts */
	{ 57, 2 * USAGE_COMMON, USAGE_SIZE, COUNTER_SET },	/* and their counts */
	RANKS(65),
	COMMON_REALS,
};

static const struct counter mpiio_counters[] = {
	{ 0, 1, USAGE_OPENS, COUNTER_ADD },
	{ 1, 1, USAGE_OPENS, COUNTER_ADD },
	{ 2, 2, USAGE_READS, COUNTER_ADD }, /* independent */
	{ 4, 2, USAGE_READS, COUNTER_ADD }, /* collective */
	{ 4, 2, USAGE_COLLECTIVE_READS, COUNTER_ADD },
	{ 6, 2, USAGE_READS, COUNTER_ADD }, /* split collective */
	{ 6, 2, USAGE_COLLECTIVE_READS, COUNTER_ADD },
	{ 8, 2, USAGE_READS, COUNTER_ADD }, /* nonblocking */
	{ 10, 1, USAGE_SYNCS, COUNTER_ADD },
	{ 12, 1, USAGE_OTHERS, COUNTER_ADD }, /* views */
	{ 14, 2, USAGE_BYTES_READ, COUNTER_ADD },
	{ 19, 2 * USAGE_SIZES, USAGE_READ_SIZES, COUNTER_ADD },
	{ 39, 2 * USAGE_COMMON, USAGE_SIZE, COUNTER_SET },
	RANKS(47),
	COMMON_REALS,
};

static const struct counter stdio_counters[] = {
	{ 0, 1, USAGE_OPENS, COUNTER_ADD },
	{ 2, 2, USAGE_READS, COUNTER_ADD },
	{ 4, 1, USAGE_SEEKS, COUNTER_ADD },
	{ 5, 1, USAGE_SYNCS, COUNTER_ADD },
	{ 6, 1, USAGE_BYTES_WRITTEN, COUNTER_ADD },
	{ 7, 1, USAGE_BYTES_READ, COUNTER_ADD },
	RANKS(10),
	{ 0, 1, USAGE_METADATA_NS, COUNTER_SECONDS },
	{ 1, 1, USAGE_WRITE_NS, COUNTER_SECONDS },
	{ 2, 1, USAGE_READ_NS, COUNTER_SECONDS },
	{ 3, 1, USAGE_FIRST_NS, COUNTER_FIRST },
	{ 5, 1, USAGE_FIRST_NS, COUNTER_FIRST },
	{ 6, 1, USAGE_FIRST_NS, COUNTER_FIRST },
	{ 7, 1, USAGE_LAST_NS, COUNTER_LAST },
	{ 8, 1, USAGE_LAST_NS, COUNTER_LAST },
	{ 9, 1, USAGE_LAST_NS, COUNTER_LAST },
	{ 10, 1, USAGE_LAST_NS, COUNTER_LAST },
	{ 11, 1, USAGE_FASTEST_NS, COUNTER_RANK_SECONDS },
	{ 12, 1, USAGE_SLOWEST_NS, COUNTER_RANK_SECONDS },
};

static const struct counter h5f_counters[] = {
	{ 0, 1, USAGE_OPENS, COUNTER_ADD },	 { 1, 1, USAGE_SYNCS, COUNTER_ADD },
	{ 0, 1, USAGE_FIRST_NS, COUNTER_FIRST }, { 2, 1, USAGE_LAST_NS, COUNTER_LAST },
	{ 3, 1, USAGE_LAST_NS, COUNTER_LAST },	 { 4, 1, USAGE_METADATA_NS, COUNTER_SECONDS },
};

/* Four times: the size of an access, and its extent and stride in five dimensions. */
#define SHAPES(word)                                                                         \
	{ word, 1, USAGE_SIZE, COUNTER_SET }, { (word) + 11, 1, USAGE_SIZE_2, COUNTER_SET }, \
		{ (word) + 22, 1, USAGE_SIZE_3, COUNTER_SET },                               \
		{ (word) + 33, 1, USAGE_SIZE_4, COUNTER_SET },                               \
	{                                                                                    \
		(word) + 44, USAGE_COMMON, USAGE_COUNT_1, COUNTER_SET                        \
	}

static const struct counter h5d_counters[] = {
	{ 0, 1, USAGE_OPENS, COUNTER_ADD },
	{ 1, 2, USAGE_READS, COUNTER_ADD },
	{ 3, 1, USAGE_SYNCS, COUNTER_ADD },
	{ 4, 2, USAGE_BYTES_READ, COUNTER_ADD },
	{ 12, 2 * USAGE_SIZES, USAGE_READ_SIZES, COUNTER_ADD },
	SHAPES(32),
	RANKS(90),
	COMMON_REALS,
};

static const struct counter pnetcdf_file_counters[] = {
	{ 0, 1, USAGE_OPENS, COUNTER_ADD }, /* that create the file */
	{ 1, 1, USAGE_OPENS, COUNTER_ADD },	      { 2, 1, USAGE_OTHERS, COUNTER_ADD },
	{ 5, 1, USAGE_SYNCS, COUNTER_ADD },	      { 0, 1, USAGE_FIRST_NS, COUNTER_FIRST },
	{ 3, 1, USAGE_LAST_NS, COUNTER_LAST },	      { 4, 1, USAGE_LAST_NS, COUNTER_LAST },
	{ 6, 1, USAGE_METADATA_NS, COUNTER_SECONDS },
};

static const struct counter pnetcdf_var_counters[] = {
	{ 0, 1, USAGE_OPENS, COUNTER_ADD },
	{ 1, 2, USAGE_READS, COUNTER_ADD }, /* independent */
	{ 3, 2, USAGE_READS, COUNTER_ADD }, /* collective */
	{ 3, 2, USAGE_COLLECTIVE_READS, COUNTER_ADD },
	{ 5, 2, USAGE_READS, COUNTER_ADD }, /* nonblocking */
	{ 7, 2, USAGE_BYTES_READ, COUNTER_ADD },
	{ 44, 2 * USAGE_SIZES, USAGE_READ_SIZES, COUNTER_ADD },
	SHAPES(64),
	RANKS(116),
	COMMON_REALS,
};

const struct layout layouts[] = {
	{ DARSHAN_POSIX,
	  LAYER_POSIX,
	  false,
	  69,
	  17,
	  { { 3, 3, 2 }, { 3, 12, 3 }, { 2, 74, 2 } },
	  TABLE(posix_counters) },
	{ DARSHAN_MPIIO, LAYER_MPI, false, 51, 17, { { 2, 56, 2 } }, TABLE(mpiio_counters) },
	{ DARSHAN_STDIO, LAYER_STDIO, false, 14, 15, { { 1, 3, 1 } }, TABLE(stdio_counters) },
	{ DARSHAN_H5F,
	  LAYER_HDF5,
	  false,
	  3,
	  5,
	  { { 2, 3, 2 }, { 1, 6, 2 }, { 2, 9, 1 } },
	  TABLE(h5f_counters) },
	{ DARSHAN_H5D, LAYER_HDF5, true, 94, 17, { { 1, 2, 1 } }, TABLE(h5d_counters) },
	{ DARSHAN_PNETCDF_FILE,
	  LAYER_PNETCDF,
	  false,
	  9,
	  8,
	  { { 2, 4, 7 }, { 1, 12, 1 }, { 2, 13, 1 }, { 1, 14, 1 }, { 2, 16, 3 } },
	  TABLE(pnetcdf_file_counters) },
	{ DARSHAN_PNETCDF_VAR,
	  LAYER_PNETCDF,
	  true,
	  120,
	  17,
	  { { 0 } },
	  TABLE(pnetcdf_var_counters) },
	{ .module = DARSHAN_NULL },
};

size_t layout_prefix(const struct layout *layout)
{
	return layout->is_object ? 3 : 2;
}

size_t layout_words(const struct layout *layout, unsigned version)
{
	size_t words = layout_prefix(layout) + layout->integers + layout->reals;

	for (unsigned i = 0; i < LAYOUT_GAPS_MAX; i++)
		if (version <= layout->gaps[i].version)
			words -= layout->gaps[i].words;
	return words;
}

/* The gaps of a layout are in ascending order, so each is opened at its final place. */
void layout_expand(const struct layout *layout, unsigned version, uint64_t *words)
{
	size_t count = layout_words(layout, version);

	for (unsigned i = 0; i < LAYOUT_GAPS_MAX; i++) {
		const struct layout_gap *gap = &layout->gaps[i];

		if (version > gap->version || !gap->words)
			continue;
		memmove(words + gap->at + gap->words, words + gap->at,
			(count - gap->at) * sizeof(*words));
		memset(words + gap->at, 0, gap->words * sizeof(*words));
		count += gap->words;
	}
}
