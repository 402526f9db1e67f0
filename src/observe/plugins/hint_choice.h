/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses hints from what the history plug-in has learned: the best hint set of a program for files
 * of an extension that are opened for reading, writing or both. The guests receive the choices in a
 * file.
 *
 * A hint set is compared with the defaults (no hints) on the workload that was seen with both: the
 * same operation on the same file system with accesses of the same size class, in at least `learn`
 * runs each. The time that
 * the defaults took is compared with the time the set would need for the same bytes at its overall
 * rate; an average of rates would favor the fastest sample. The set must be faster by `margin`, and
 * the compared workload must account for at least half of the time seen with the defaults.
 * Otherwise, and when sets are equally fast, the defaults stay. A set with a hint that is not safe
 * (contract/hints.h) is never chosen.
 *
 * There is a choice for each file system, by what was seen there, and one for all file systems. The
 * latter must be at least as fast as the defaults on each file system that the defaults were seen
 * on in `learn` runs.
 *
 * Besides, the best set for each kind of accesses is chosen by the same rules, from the sets whose
 * hints can change while a file is open (contract/hints.h). These choices are used if all accesses
 * together are predicted to be faster by `margin` then. They take the place of the choice for the
 * whole file, or, in files of several ranks, whose hints can change only before collective
 * accesses, they are used beside it.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_HINT_CHOICE_H
#define SLUICE_OBSERVE_PLUGINS_HINT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct store;

/* The options of [plugin.history]; see history.h. */
struct history_options {
	bool by_user, by_extension;
	bool by_volume, by_offset; /* attributes by which accesses are told apart */
	uint64_t learn;
	uint64_t changes;	/* of the hints of an open file; 0: they never change */
	double margin, explore; /* fractions: 0.05 is 5 % */
	char **sets;		/* each sorted by key */
	size_t set_count;
	char *calls; /* names of the watched accesses; NULL: all */
	char *store; /* path; NULL: not configured */
};

/* `get` returns the text of an option, or NULL. On failure there is nothing to release. */
typedef const char *(*history_option)(void *arg, const char *key);
int history_options_read(struct history_options *options, history_option get, void *arg,
			 struct err *err);
void history_options_release(struct history_options *options);

struct hint_choice {
	char *program;
	char *extension;  /* "*" stands for any extension */
	char *filesystem; /* mount point; "": all file systems */
	char mode;	  /* see hints_mode() */
	char *hints;
	double gain; /* speedup over the defaults */
	/* On how many file systems it is at least as fast, if it is for all of them. Files on
	 * unknown file systems count as files on two. */
	unsigned places;
};

/* The files that a choice for accesses is for, and the hints that they are opened with. */
enum access_files {
	ACCESS_FILES_ALL,    /* no hints */
	ACCESS_FILES_ALONE,  /* those of a single rank: no hints */
	ACCESS_FILES_BESIDE, /* those of several ranks: the choice for the whole file */
};

/* The best hints before an access of this kind, on any file system. */
struct access_choice {
	char *program, *extension; /* as above */
	char mode;
	enum access_files files;
	char *operation; /* with HINTS_STRIDED for strided accesses */
	unsigned size_class;
	char *hints;
	double gain; /* speedup over the defaults */
};

struct hint_choices {
	struct hint_choice *best;
	size_t count;
	struct access_choice *accesses;
	size_t access_count;
	uint64_t opens, explored; /* opens by the user in earlier runs */
	uint64_t *seen;		  /* number of samples of each configured set */
};

/* Reads the store, which need not exist yet. On failure there is nothing to release. */
int hint_choices_make(struct hint_choices *choices, const struct history_options *options,
		      const char *user, struct err *err);
/* The same with an open store; options->store is not used. */
int hint_choices_of_store(struct hint_choices *choices, const struct history_options *options,
			  struct store *store, const char *user, struct err *err);
void hint_choices_release(struct hint_choices *choices);

/* Returns the hints for a file of a program on any file system, or NULL for the defaults. */
const char *hint_choices_find(const struct hint_choices *choices, const char *program,
			      const char *extension, char mode);

/* Writes the file that the guests read, see contract/hints.h: choices for all file systems. */
int hint_choices_write(const struct hint_choices *choices, const struct history_options *options,
		       const char *path, struct err *err);

#endif
