/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of a saved profile that combines several parts. Its head does not have the processes of
 * all ranks, so their list is saved. With more than SUMMARY_RANKS_MAX ranks it has distributions in
 * place of the sums of each rank.
 */
#ifndef SLUICE_OBSERVE_PROFILE_SAVED_RANKS_H
#define SLUICE_OBSERVE_PROFILE_SAVED_RANKS_H

struct pack;
struct summary;

/* Writes the list of ranks, or replaces that of a new summary. */
void saved_pack_ranks(struct pack *pack, struct summary *summary);

/*
 * Writes the distributions over ranks, or reads them in place of the sums of each rank. The
 * summary's head must have all calls and files.
 */
void saved_pack_spreads(struct pack *pack, struct summary *summary);

#endif
