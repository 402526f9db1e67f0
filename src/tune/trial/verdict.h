/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What became of a trial, with the reason: from the exit of its program, and from the last lines
 * that the program printed.
 */
#ifndef SLUICE_TUNE_TRIAL_VERDICT_H
#define SLUICE_TUNE_TRIAL_VERDICT_H

#include "tune/trial/trial.h"

struct child_end;

/* The files that hold what a program printed. */
struct trial_output {
	const char *output;
	const char *errors; /* NULL: none */
};

/* Sets the state and the reason. The text is freed. */
void verdict_set(struct trial *trial, enum trial_state state, char *text);

/* Likewise; the last lines of output follow the text, without those of a launcher. */
void verdict_set_shown(struct trial *trial, enum trial_state state, char *text,
		       const struct trial_output *output);

/* Judges how the program ended. The state of a good trial does not change. */
void verdict_judge_exit(struct trial *trial, const struct child_end *end, double limit_s,
			const struct trial_output *output);

/* Moves both outputs into one file. What cannot be moved stays. */
void verdict_keep_output(const struct trial_output *output, const char *to);

#endif
