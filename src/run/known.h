/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What earlier tuning knows about the program that is about to run, or that has run. The knowledge
 * base (store/knowledge.h) is searched by the identity of the program (tune/program/identity.h). A
 * run without an entry costs one lookup in the store, if there is one.
 *
 * An entry fits only if everything is the same: program, code, arguments, ranks, platform and file
 * system, and the size of the data, as far as it is known: before a run, it is taken to be that of
 * the last run of the same command.
 */
#ifndef SLUICE_RUN_KNOWN_H
#define SLUICE_RUN_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "run/guard.h"

struct config;
struct err;
struct store;

enum known_state {
	KNOWN_NOTHING, /* there is no entry, or no store */
	KNOWN_NO_GAIN, /* a tuning of exactly this run found nothing better than the default */
	KNOWN_DEMOTED, /* the parameters were slower than the default in later runs */
	KNOWN_OTHER,   /* the entry is of a run that differs */
	KNOWN_SAME,
};

/* Texts are NULL if the state is KNOWN_NOTHING. */
struct known {
	enum known_state state;
	unsigned differs; /* set of enum knowledge_difference; also KNOWLEDGE_SIZE alone */
	int64_t id;	  /* of the entry in the knowledge base */
	char *parameters; /* JSON of params/set.h */
	char *objective;  /* "io", "run", "read" or "write" */
	double gain;	  /* time before / time after */
	char *compared;	  /* how the data was compared, as in struct knowledge; "": unknown */
	double low, high; /* 95 % interval of the gain */
	char *program;	  /* of the entry */
	uint32_t ranks;	  /* of the entry */
	unsigned size_class;
	bool is_pinned;
	int64_t found_ns;   /* time of day */
	int64_t demoted_ns; /* likewise; 0: not demoted */
	char *why;	    /* it was demoted; "" */
	struct guard guard; /* if the state is KNOWN_SAME */
};

/* bytes: that the run has transferred; NAN: it has not run yet. */
int known_find(struct known *known, const struct config *config, char *const *argv, double bytes,
	       struct err *err);
/* The same in an open store. */
int known_find_in(struct known *known, struct store *store, const struct config *config,
		  char *const *argv, double bytes, struct err *err);
void known_release(struct known *known);

/* Is it the size of the entry, or within 10 % of it? */
bool known_fits_size(const struct known *known, double bytes);

/* Judges the runs of the entry so far, as far as they have its size. */
int known_judge(struct known *known, struct store *store, struct err *err);

/* "made the I/O of this program 2.30 times faster (2.05 to 2.60) on 2026-11-16". The caller frees
 * it. */
char *known_describe(const struct known *known);

/* Why nothing can be applied, if the state is KNOWN_NOTHING, KNOWN_NO_GAIN or KNOWN_DEMOTED. The
 * caller frees it. */
char *known_explain(const struct known *known);

/* "8 ranks, other arguments": what the entry differs in. The caller frees it. */
char *known_differences(const struct known *known);

#endif
