/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What tuning has found for the program that is about to run: looked up in the knowledge base by
 * what the program is known by (tune/program/identity.h). A run that nothing is known about pays a look
 * into the store, if there is one, and nothing else.
 */
#ifndef SLUICE_RUN_KNOWLEDGE_H
#define SLUICE_RUN_KNOWLEDGE_H

#include <stdint.h>

struct config;
struct err;

/* How well it fits: the values of knowledge_find(). */
enum tuned_fit { TUNED_NOTHING, TUNED_OTHER_CODE, TUNED_OTHER_ARGUMENTS, TUNED_SAME };

struct tuned {
	enum tuned_fit fit;
	int64_t id;	  /* of the entry in the knowledge base */
	char *parameters; /* JSON of params/set.h */
	char *objective;
	double gain;
};

/* fit is TUNED_NOTHING where nothing is known, or there is no store. */
int tuned_find(struct tuned *tuned, const struct config *config, char **argv, struct err *err);
void tuned_release(struct tuned *tuned);

/* "made it 2.3 times faster", with what has to be said about the fit. The caller frees. */
char *tuned_describe(const struct tuned *tuned);

#endif
