/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known about a program from other runs: earlier runs of the same command in the directory
 * of traces, and gains in the knowledge base. Nothing here is required: what cannot be read is left
 * out.
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_BACKGROUND_H
#define SLUICE_OBSERVE_DIAGNOSE_BACKGROUND_H

#include "observe/diagnose/finding.h"

struct trace_head;

struct background {
	struct past_run *past;
	size_t past_count, past_cap;
	struct known_gain *known; /* texts are owned */
	size_t known_count, known_cap;
	char *program; /* base name */
	bool is_local; /* all processes of the run were on this machine */
};

/* Reads the heads of the latest runs with the same program, and the store. */
void background_init(struct background *background, const struct config *config,
		     const struct trace_head *head);
void background_release(struct background *background);

#endif
