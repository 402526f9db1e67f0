/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes of ROMIO's driver for Lustre in MPICH 4 (ad_lustre_wrcoll.c, ad_lustre_aggregate.c):
 * aggregators get stripes round-robin, and each round moves one stripe per aggregator, whatever the
 * size of the buffer is. Reads use the generic code.
 */
#include "predict/model/counts/counts_internal.h"

static struct shares divide_file(const struct layout *l)
{
	uint64_t extent = l->end - l->first, stripe = l->unit;
	uint64_t stripes = (l->end - 1) / stripe - l->first / stripe + 1;
	uint64_t each = stripes / l->aggregators, more = stripes % l->aggregators;

	if (stripes == 1)
		return (struct shares){ .many = 1, .many_bytes = extent };
	return (struct shares){ more, (each + 1) * stripe, l->aggregators - more, each * stripe };
}

static void add_collective_write(struct counts *counts, const struct layout *l)
{
	const struct shares shares = divide_file(l);
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

static int count_lustre(struct counts *counts, const struct machine *machine,
			const struct access *access, const struct settings *settings,
			struct err *err)
{
	struct layout layout;

	(void)err;
	if (counts_begin(counts, &layout, machine, access, settings))
		return 0;
	if (access->is_read)
		counts_add_generic(counts, &layout);
	else
		add_collective_write(counts, &layout);
	return 0;
}

const struct counts_form counts_form_lustre = {
	.name = "lustre",
	.has_layout = true,
	.count = count_lustre,
};
