/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks on several nodes agree through the daemons that all of them use the knowledge page, or none
 * (contract/agreement.h). Makes no MPI call that another rank could wait for. Guest.
 *
 * If they agree, each rank finds the hints of a file by itself: what it looks at is part of the
 * digest that all have voted for, and of the directories of a path, which ranks may write
 * differently, nothing is used. Whether plug-ins are active in one of the processes does not matter
 * any more.
 */
#ifndef SLUICE_CAPTURE_INLINE_NODES_H
#define SLUICE_CAPTURE_INLINE_NODES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* After MPI_Init: votes, if the job has ranks outside of this run. Never waits. Keeps errno. */
__attribute__((cold)) void nodes_vote(void);

/* Has this rank voted? If not, none of the ranks uses the page for files of several nodes. */
bool nodes_have_voted(void);

/*
 * Do all ranks of the job use the knowledge page? The first call waits for the answer, usually not
 * at all, and never longer than AGREEMENT_DEADLINE_NS + AGREEMENT_LIMIT_NS after the vote.
 */
bool nodes_agree(void);

/* The hints for a file after nodes_agree(): KEY=VALUE;..., or NULL. */
const char *nodes_hints(const char *path, int amode);

#pragma GCC visibility pop

#endif
