/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a process leaves when it has ended: its counters by handle and layer, the calls that could
 * not be recorded with their causes, and what plug-ins did in it. The process could overwrite all
 * of this, so each number is compared with what is possible.
 */
#ifndef SLUICE_OBSERVE_COLLECT_FINAL_ACCOUNT_H
#define SLUICE_OBSERVE_COLLECT_FINAL_ACCOUNT_H

struct intake;
struct member;

/* Writes the account into the trace, and removes the file of counters. */
void final_account_write(struct intake *in, struct member *m);

#endif
