/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looks up the parameters that earlier tuning has found for the program that is about to run. The
 * knowledge base (store/knowledge.h) is searched by the identity of the program
 * (tune/program/identity.h). A run without an entry costs one lookup in the store, if there is one.
 */
#ifndef SLUICE_RUN_KNOWN_H
#define SLUICE_RUN_KNOWN_H

#include <stdint.h>

struct config;
struct err;

/* How well an entry fits the run: the return values of knowledge_find(). */
enum known_fit { KNOWN_NOTHING, KNOWN_OTHER_CODE, KNOWN_OTHER_ARGUMENTS, KNOWN_SAME };

struct known {
	enum known_fit fit;
	int64_t id;	  /* of the entry in the knowledge base */
	char *parameters; /* JSON of params/set.h */
	char *objective;  /* "io", "run", "read" or "write" */
	double gain;	  /* time before / time after */
	char *compared;	  /* how the data was compared, as in struct knowledge; "": unknown */
};

/* The fit is KNOWN_NOTHING if there is no entry or no store. */
int known_find(struct known *known, const struct config *config, char **argv, struct err *err);
void known_release(struct known *known);

/* "made the I/O of this program 2.3 times faster", with a remark if the fit is not exact. The
 * caller frees it. */
char *known_describe(const struct known *known);

#endif
