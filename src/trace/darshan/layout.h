/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the counters of a record are. A record consists of 64-bit words: the id of its name, the
 * rank, in some modules the id of the file, then integer counters, then reals (seconds). Newer
 * versions of a module insert words, so one table of the newest version and a list of the words
 * that older versions lack describe all of them.
 */
#ifndef SLUICE_TRACE_DARSHAN_LAYOUT_H
#define SLUICE_TRACE_DARSHAN_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/darshan/log.h"
#include "trace/usage.h"

enum { LAYOUT_WORDS_MAX = 160, LAYOUT_GAPS_MAX = 5 };

/* What a word means for a value of the usage. */
enum counter_rule {
	COUNTER_ADD,	      /* integer */
	COUNTER_SUBTRACT,     /* integer that an earlier word includes */
	COUNTER_SET,	      /* integer */
	COUNTER_SECONDS,      /* real, added */
	COUNTER_FIRST,	      /* real: a moment, the earliest counts */
	COUNTER_LAST,	      /* real: a moment, the latest counts */
	COUNTER_RANK,	      /* integer, only valid in a record of all ranks */
	COUNTER_RANK_SECONDS, /* real, likewise */
};

/* `count` consecutive words that belong to as many consecutive values. */
struct counter {
	uint8_t word, count; /* word of the newest version, from the first counter or first real */
	uint8_t value;	     /* enum usage_value */
	uint8_t rule;	     /* enum counter_rule; reals have a rule for reals */
};

/* Versions up to this one lack `words` words at word `at` of the newest version. */
struct layout_gap {
	uint8_t version, at, words;
};

struct layout {
	enum darshan_module module;
	uint8_t layer;
	bool is_object;		 /* a dataset or variable: word 2 is the id of the file */
	uint8_t integers, reals; /* in the newest version */
	struct layout_gap gaps[LAYOUT_GAPS_MAX];
	const struct counter *counters;
	size_t counter_count;
};

extern const struct layout layouts[]; /* ends with module DARSHAN_NULL */

/* 64-bit words before the counters, and in the whole record, of a version. */
size_t layout_prefix(const struct layout *layout);
size_t layout_words(const struct layout *layout, unsigned version);

/* Inserts zeros for the words that the version lacks. words has room for LAYOUT_WORDS_MAX. */
void layout_expand(const struct layout *layout, unsigned version, uint64_t *words);

#endif
