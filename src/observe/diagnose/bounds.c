/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/bounds.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/diagnose/case.h"
#include "observe/tally/losses.h"

static void add_reason(struct buf *reasons, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_reason(struct buf *reasons, const char *format, ...)
{
	AUTO_FREE char *reason = NULL;
	va_list ap;

	va_start(ap, format);
	reason = xvprintf(format, ap);
	va_end(ap);
	buf_printf(reasons, "%s%s", reasons->len ? ", and " : "", reason);
}

/* Were members of the run combined in this file, because the profile had no cell for them? */
static bool has_folded_members(const struct case_file *file)
{
	for (unsigned layer = 0; layer < LAYER_COUNT; layer++) {
		const struct file_total *t = file->layers[layer];

		/* A group is one that a log has counted together. */
		for (size_t i = 0; t && i < t->members; i++) {
			if (t->cells[i]->member == CELL_OTHERS && !t->cells[i]->group)
				return true;
		}
	}
	return false;
}

static bool concerns_folded_members(const struct diagnosis *d, const struct finding *finding)
{
	if (!d->profile->cells.folded_members)
		return false;
	for (size_t i = 0; i < finding->file_count && i < FINDING_FILES; i++) {
		const struct case_file *file = case_find(d, finding->files[i]);

		if (file && has_folded_members(file))
			return true;
	}
	return false;
}

void bounds_describe(struct buf *out, const struct diagnosis *d, const struct finding *finding)
{
	const struct profile *profile = d->profile;
	const struct losses losses = losses_sum(profile->head);
	AUTO_BUF struct buf reasons = { 0 };

	if (finding->rule->is_unlimited)
		return;
	if (profile->cells.folded_files)
		add_reason(&reasons, "calls on further files are known only in total");
	if (concerns_folded_members(d, finding))
		add_reason(&reasons, "further %s that use a file are counted as one",
			   profile->summary.ranks.count ? "ranks" : "processes");
	if (finding->rule->uses_chains && (profile->tree.lost || profile->tree.folded))
		add_reason(&reasons, "the calls inside libraries are not known for all files");
	if (losses.records)
		add_reason(&reasons, "%" PRIu64 " calls were lost", losses.records);
	if (losses.unrecorded_processes)
		add_reason(&reasons, "%" PRIu64 " processes were not recorded",
			   losses.unrecorded_processes);
	if (reasons.len)
		buf_printf(out, "; these are lower bounds, because %s", buf_text(&reasons));
}
