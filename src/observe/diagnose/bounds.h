/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Says if the figures of a finding are lower bounds: calls were lost, or the run has more files,
 * ranks or causal chains than its profile keeps apart (observe/profile/profile.h).
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_BOUNDS_H
#define SLUICE_OBSERVE_DIAGNOSE_BOUNDS_H

struct buf;
struct diagnosis;
struct finding;

/* Appends "; these are lower bounds, because ..." to the evidence, or nothing. */
void bounds_describe(struct buf *out, const struct diagnosis *d, const struct finding *finding);

#endif
