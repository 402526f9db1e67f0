/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parameters of a run that were not applied. When the program has ended, this reads what its
 * processes noted in the control page (contract/outcomes.h), and tells the user and the trace which
 * parameters were refused and why, which matched no file or dataset, and which hints of the program
 * itself are dangerous.
 */
#ifndef SLUICE_RUN_UNAPPLIED_H
#define SLUICE_RUN_UNAPPLIED_H

#include <stdbool.h>

struct collector;

/*
 * Adds the warnings and notes; before collector_close(). is_part: other nodes of the job have pages
 * of their own, so the sentences are about this node.
 */
void unapplied_report(struct collector *collector, bool is_part);

#endif
