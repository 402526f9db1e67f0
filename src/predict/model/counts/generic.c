/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ADIO's generic code in MPICH 4 (ad_write_coll.c, ad_read_coll.c, ad_aggregate.c). UFS, NFS and
 * most other file systems use it, and so do reads on Lustre, whose parts end at stripes.
 */
#include "predict/model/counts/counts_internal.h"

/* All parts are equal except for the last one. Parts that end at stripes are at least one stripe
 * long. */
static struct shares divide_file(const struct layout *l)
{
	uint64_t extent = l->end - l->first, each = l->domain, count;

	if (l->domains == LAYOUT_ALIGNED && each < l->unit)
		each = l->unit < extent ? l->unit : extent;
	count = (extent + each - 1) / each;
	return (struct shares){ count - 1, each, 1, extent - (count - 1) * each };
}

void counts_add_generic(struct counts *counts, const struct layout *l)
{
	const struct shares shares = divide_file(l);
	const struct access *access = &l->access;
	double rounds = (double)layout_rounds(l);

	counts_add_collective(counts, access, OPERATION_ALLGATHER, "first and last offsets", 2, 8);
	counts_add_collective(counts, access, OPERATION_ALLTOALL, "sizes of messages", 1 + rounds,
			      4);
	counts_add_collective(counts, access, OPERATION_ALLREDUCE, "number of rounds", 1, 4);
	counts_add_rounds(counts, l, &shares);
	if (access->is_read)
		return;
	counts_add_collective(counts, access,
			      l->hinted == 1 ? OPERATION_BROADCAST : OPERATION_ALLREDUCE,
			      "errors of aggregators", 1, 4);
}

static int count_generic(struct counts *counts, const struct machine *machine,
			 const struct access *access, const struct settings *settings,
			 struct err *err)
{
	struct layout layout;

	(void)err;
	if (!counts_begin(counts, &layout, machine, access, settings))
		counts_add_generic(counts, &layout);
	return 0;
}

const struct counts_form counts_form_generic = {
	.name = "generic",
	.has_layout = true,
	.count = count_generic,
};
