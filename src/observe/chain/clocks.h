/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clocks of hosts that have sent bytes to each other. Bytes are received after they were sent, so
 * each matched pair of calls bounds the difference of the two clocks from one side, and the pairs
 * of the other direction bound it from the other side.
 */
#ifndef SLUICE_OBSERVE_CHAIN_CLOCKS_H
#define SLUICE_OBSERVE_CHAIN_CLOCKS_H

#include <stddef.h>

struct err;
struct merge_correction;

/*
 * Finds corrections of hosts whose clocks were aligned by the time of day, in a merged trace: one
 * per host that has exchanged bytes with the reference, unless they contradict each other, because
 * a clock drifts. The caller frees *list, which has the names of the hosts, by clocks_free().
 */
int clocks_read(struct merge_correction **list, size_t *count, const char *path, struct err *err);
void clocks_free(struct merge_correction *list, size_t count);

#endif
