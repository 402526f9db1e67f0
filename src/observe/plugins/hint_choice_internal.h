/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the choices for files (hint_choice.c) and those for single accesses (access_choice.c) share:
 * samples, and how sets of hints are compared.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_HINT_CHOICE_INTERNAL_H
#define SLUICE_OBSERVE_PLUGINS_HINT_CHOICE_INTERNAL_H

#include "observe/plugins/hint_choice.h"
#include "store/outcomes.h"

struct buf;

/* Samples with one hint set, or with the defaults (hints is ""). */
struct known {
	char *program, *extension, *filesystem, *operation, *hints;
	unsigned size_class;
	struct outcome outcome;
};

bool hint_set_is_safe(const char *hints);
bool known_is_of_mode(const struct known *known, char mode);

/*
 * The lists are of one program and extension, sorted by file system, operation, size class and
 * hints.
 *
 * Returns the speedup of a set over the defaults, 0 if there is too little data, or -1 if there is
 * none of the defaults.
 */
double known_speedup(const struct known *list, size_t count, char mode, const char *hints,
		     uint64_t learn);

/* The number of file systems on which the set is at least as fast; 0: it is slower, or unknown, on
 * one on which the defaults are known. */
unsigned known_places(const struct known *list, size_t count, char mode, const char *hints,
		      uint64_t learn);

/* Adds choices for the accesses to files of this mode, if they pay. The choice of hints to open
 * such files with has been made. */
void access_choices_add(struct hint_choices *choices, const struct known *list, size_t count,
			char mode, const struct history_options *options);
void access_choices_release(struct hint_choices *choices);

/* Appends their lines of the answers file. */
void access_choices_write(struct buf *out, const struct hint_choices *choices,
			  const struct history_options *options);

#endif
