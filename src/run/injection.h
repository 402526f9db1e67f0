/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run is given to apply: read once per run and node by whoever opens its collector, and put
 * into the control page before the first process starts. It comes from a file (`--params`,
 * params.file), from a forecast (`--place`, place.rule), else from what tuning has found
 * (tune.apply). Whatever is wrong with it, the program runs: it is told in one sentence, and
 * nothing, or the rest, is applied.
 */
#ifndef SLUICE_RUN_INJECTION_H
#define SLUICE_RUN_INJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "contract/parameters.h"

struct collector;
struct config;

struct injection {
	char text[PARAMETERS_BYTES]; /* contract/parameters.h; "" for nothing */
	char *origin;		     /* where it came from; NULL: nowhere */
	char *line;		     /* for people; NULL or "": nothing is applied */
	struct buf said;	     /* sentences for the user, each ended by a newline */
};

/* argv: what will be run. */
void injection_init(struct injection *injection, const struct config *config, char **argv);
void injection_release(struct injection *injection);

/*
 * For a job on several nodes: all of them come to the same text, or to none. part is this node's
 * part of the trace; it stands for so many ranks (0: not known) of all.
 */
void injection_agree(struct injection *injection, const char *part, uint32_t ranks, uint32_t size);

/* Passes on what is to be told, and notes in the trace what was handed over. */
void injection_tell(const struct injection *injection, struct collector *collector);

#endif
