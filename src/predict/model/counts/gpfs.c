/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ROMIO's driver for GPFS since MPICH 3.3 (ad_gpfs_wrcoll.c, ad_gpfs_rdcoll.c, ad_gpfs_aggrs.c):
 * every part is a number of whole blocks of the file system, and each round exchanges data with one
 * MPI_Alltoallv.
 */
#include "predict/model/counts/counts_internal.h"

static struct shares divide_file(const struct layout *l)
{
	uint64_t extent = l->end - l->first, block = l->unit;
	uint64_t blocks = (l->end - 1) / block - l->first / block + 1;
	uint64_t each = blocks / l->aggregators, more = blocks % l->aggregators;

	if (blocks == 1 || l->aggregators == 1)
		return (struct shares){ .many = 1, .many_bytes = extent };
	return (struct shares){ more, (each + 1) * block, l->aggregators - more, each * block };
}

static void add_collective_access(struct counts *counts, const struct layout *l)
{
	const struct shares shares = divide_file(l);
	const struct access *access = &l->access;
	double ranks = (double)access->ranks, rounds = (double)layout_rounds(l);

	counts_add_collective(counts, access, OPERATION_ALLREDUCE, "offsets of all ranks", 1,
			      16 * ranks);
	counts_add_collective(counts, access, OPERATION_ALLTOALL, "sizes of messages", 1 + rounds,
			      4);
	counts_add_collective(counts, access, OPERATION_ALLREDUCE, "number of rounds", 1, 4);
	counts_add_rounds(counts, l, &shares);
}

static int count_gpfs(struct counts *counts, const struct machine *machine,
		      const struct access *access, const struct settings *settings, struct err *err)
{
	struct layout layout;

	(void)err;
	if (!counts_begin(counts, &layout, machine, access, settings))
		add_collective_access(counts, &layout);
	return 0;
}

const struct counts_form counts_form_gpfs = {
	.name = "gpfs",
	.has_layout = true,
	.count = count_gpfs,
};
