/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arbitration: which of several sources decides on a parameter before the run starts
 * (contract/sources.h, docs/reference/arbitration.md). Sources are added in their order. The first
 * one that sets a parameter decides on it for all files; a later one with another value loses,
 * which is noted as a conflict. The guest notes further conflicts with the program and with in-line
 * plug-ins (contract/outcomes.h); arbitration_report_guest() adds them at the end of the run.
 */
#ifndef SLUICE_RUN_ARBITRATION_H
#define SLUICE_RUN_ARBITRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "contract/sources.h"

struct collector;
struct control;
struct param_set;
struct tunable;

struct arbitration {
	struct decision *decisions;
	size_t count, cap;
	struct buf conflicts; /* lines: SOURCE, parameter and sentence, separated by tabs */
	struct buf best;      /* lines of advice.best (contract/advice.h) */
};

/* Zero-initialized is empty. */
void arbitration_release(struct arbitration *arbitration);

/* Forgets all decisions: the parameters of the run are others. */
void arbitration_clear(struct arbitration *arbitration);

/* Does an earlier source decide on this parameter? */
bool arbitration_has(const struct arbitration *arbitration, const struct tunable *tunable);

/*
 * Adds the parameters of a source. origin names it: "FILE", "entry 3". withheld: why none of them
 * is applied, such as "an entry is applied only as a whole"; NULL: those are applied that no
 * earlier source decides on.
 */
void arbitration_add(struct arbitration *arbitration, enum source source, const char *origin,
		     const struct param_set *set, const char *withheld);

/* Adds what is known but applied nowhere, as an answer to programs that ask. */
void arbitration_suggest(struct arbitration *arbitration, enum source source,
			 const struct param_set *set);

/* Writes the decisions and conflicts into the trace. */
void arbitration_report(const struct arbitration *arbitration, struct collector *collector);

/* The same for the conflicts that the processes have noted; before collector_close(). */
void arbitration_report_guest(struct collector *collector);

#endif
