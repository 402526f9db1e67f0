/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The conditions on this node while a trial runs: what other processes use of the processors, and
 * their frequency.
 *
 *	conditions_begin(&conditions);
 *	run the trial and wait for its processes
 *	conditions_end(&conditions);
 */
#ifndef SLUICE_TUNE_TRIAL_CONDITIONS_H
#define SLUICE_TUNE_TRIAL_CONDITIONS_H

#include <stddef.h>
#include <stdint.h>

struct conditions {
	int64_t begun_ns;
	double busy_s, own_s; /* processor time so far: of the node, and of this process with its
				 children that have ended */
	double foreign;	      /* share of the processors, 0 to 1, that other processes or other
				 virtual machines used; NAN: unknown */
	double frequency;     /* mean of the processors, in Hz; NAN: unknown */
};

void conditions_begin(struct conditions *conditions);
void conditions_end(struct conditions *conditions);

/* Processors that this process may use; at least 1. */
unsigned conditions_cores(void);

/* Seconds of processor time that "/proc/stat" shows as used, including time that the hypervisor
 * gave to others; NAN: the text has no such line. */
double conditions_busy_s(const char *text);

#endif
