/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters that the libraries of a run apply. They are read once per run and node by the
 * process that opens the collector, and are in the control page before the first process starts.
 *
 * They come from a file (`--params`, params.file) and from a forecast (`--place`, place.rule), else
 * from the knowledge base (tune.apply). A problem with them never keeps the program from running: a
 * sentence says what is wrong, and the remaining parameters, or none, are applied.
 */
#ifndef SLUICE_RUN_INJECTION_H
#define SLUICE_RUN_INJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "contract/parameters.h"
#include "run/arbitration.h"
#include "run/placing.h"

struct collector;
struct config;
struct err;

struct injection {
	char text[PARAMETERS_BYTES]; /* contract/parameters.h; "": nothing is applied */
	char *origin;		     /* file name or other source; NULL: there is none */
	char *line;		     /* for people; NULL or "": nothing is applied */
	struct buf said;	     /* sentences for the user, each ended by a newline */
	struct buf environment; /* variables for the program, each "NAME=VALUE" and a zero byte */
	size_t environment_at;	/* where they begin in `line` */
	struct arbitration arbitration; /* who decided on which parameter */
	struct placing_adaptive adaptive;
	char *command; /* that the parameters were found with, if it has other arguments; or NULL */
};

/*
 * Fails if the file that --params names cannot be used, so that the program does not run without
 * the parameters that the user asked for. A setting that names such a file causes only a warning.
 */
int injection_check(const struct config *config, struct err *err);

/* argv is the command line that will be run. Always succeeds; problems are sentences in `said`. */
void injection_init(struct injection *injection, const struct config *config, char **argv);
void injection_release(struct injection *injection);

/* The program cannot get the variables; says why. */
void injection_refuse_environment(struct injection *injection, const char *reason);

/*
 * Makes all nodes of a job apply the same text, or none. part is the path of this node's part of
 * the trace; the node stands for `ranks` (0: unknown) of the `size` ranks of the job. What another
 * node has compiled passes the same checks as this node's own parameters.
 */
void injection_agree(struct injection *injection, const struct config *config, const char *part,
		     uint32_t ranks, uint32_t size);

/*
 * Names that params.allow and params.forbid exclude, in the form of control.forbidden. They also
 * bind plug-ins that propose hints during the run. The caller frees it.
 */
char *injection_forbidden(const struct config *config);

/* Passes the sentences to the collector, and notes in the trace which parameters were given. */
void injection_report(const struct injection *injection, struct collector *collector);

#endif
