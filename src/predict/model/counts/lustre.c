/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes of ROMIO's driver for Lustre in MPICH 4 (ad_lustre_wrcoll.c, ad_lustre_aggregate.c):
 * stripes are dealt out to aggregators in turns, and a round is one stripe of each, whatever the
 * buffer. Its reads are the generic ones.
 */
#include "predict/model/counts/counts_internal.h"

static struct shares share_out(const struct layout *l)
{
	uint64_t extent = l->end - l->first, stripe = l->unit;
	uint64_t stripes = (l->end - 1) / stripe - l->first / stripe + 1;
	uint64_t each = stripes / l->aggregators, more = stripes % l->aggregators;

	if (stripes == 1)
		return (struct shares){ .many = 1, .many_bytes = extent };
	return (struct shares){ more, (each + 1) * stripe, l->aggregators - more, each * stripe };
}

void counts_lustre(struct counts *counts, const struct layout *l)
{
	const struct shares shares = share_out(l);
	const struct access *access = &l->access;
	double ranks = (double)access->ranks;

	counts_add_collective(counts, access, OPERATION_ALLREDUCE, "offsets of all ranks", 1,
			      16 * ranks);
	if (!access_interleaves(access))
		counts_add_collective(counts, access, OPERATION_ALLREDUCE, "mean size of requests",
				      2, 8);
	counts_add_collective(counts, access, OPERATION_ALLTOALL, "numbers of requests", 1, 4);
	counts_add_collective(counts, access, OPERATION_ALLREDUCE, "first and last offset", 2, 8);
	counts_add_rounds(counts, l, &shares);
	counts_add_collective(counts, access,
			      l->hinted == 1 ? OPERATION_BROADCAST : OPERATION_ALLREDUCE,
			      "errors of aggregators", 1, 4);
}
