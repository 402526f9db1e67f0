/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the policy of a site: an INI file with one section.
 *
 *	[policy]
 *	skip = sh bash srun
 *	limit = 256M
 *	act = served
 *	rule = mode=off user=root
 *	rule = mode=trace group=physics partition=debug*
 *	rule = mode=counters program=*.x sample=10%
 *
 * The first rule whose conditions all match decides about a process; a process that no rule matches
 * is not recorded. RULE_WORDS lists the words of a rule. Names of users and groups are looked up
 * when the file is read.
 * Papers: SIOX-5.
 */
#ifndef SLUICE_POLICY_RULES_H
#define SLUICE_POLICY_RULES_H

#include <stddef.h>

struct err;
struct policy;

/* Words of a rule: name, value, help. */
#define RULE_WORDS(X)                                                                          \
	X(MODE, "mode", "off|counters|flight|trace", "what is kept of the process (required)") \
	X(USER, "user", "NAME", "effective user, by name or number")                           \
	X(GROUP, "group", "NAME", "any group of the process, by name or number")               \
	X(PROGRAM, "program", "PATTERN",                                                       \
	  "executable: the whole path if the pattern has a slash, else its base name")         \
	X(PARTITION, "partition", "PATTERN", "partition or queue of the job")                  \
	X(SAMPLE, "sample", "PERCENT", "share of the runs that are kept (default 100%)")

/*
 * Fills skip, act, chunks_max, rule_count and rules of the page. `name` is the file, for messages.
 * An error names file and line, and leaves *page unchanged.
 */
int rules_parse(struct policy *page, const char *name, const char *text, size_t bytes,
		struct err *err);

/* The same with a file that root or the user provides (base/trusted.h). */
int rules_load(struct policy *page, const char *path, struct err *err);

#endif
