/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about the stripes of files.
 */
#include <inttypes.h>

#include "base/unit.h"
#include "observe/diagnose/case.h"
#include "observe/diagnose/convoy.h"

/* Writers at random places would concern at least 63 % of the stripes that they could. */
#define CONVOY_PERCENT 60

/* What the finding recommends as unit: each write concerns all stripes, within these limits. */
#define UNIT_LEAST (64 << 10)
#define UNIT_MOST (1 << 20)

static bool test_stripes(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = file->top;
	uint64_t bytes = t ? t->total.survey.bytes[READING] + t->total.survey.bytes[WRITING] : 0;
	uint64_t members = 0;

	for (int way = READING; t && way <= WRITING; way++)
		if (t->accessing[way] > members)
			members = t->accessing[way];
	if (file->facts->layout.stripes != 1 || bytes < LIMIT(d, STRIPE_BYTES) || members < 2)
		return false;
	case_set_transfers(m, t, t->total.survey.bytes[WRITING] ? WRITING : READING);
	m->bytes = m->of_bytes = bytes;
	m->time_ns = (double)(t->total.survey.transfer_ns[READING] +
			      t->total.survey.transfer_ns[WRITING]);
	m->value = (double)members;
	m->fix_value = members < 8 ? members : 8;
	return true;
}

static void describe_stripes(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char bytes[UNIT_TEXT];

	buf_printf(out, "%.0f %s moved %s to or from a file with one stripe", m->value,
		   d->profile->summary.ranks.count ? "ranks" : "processes",
		   unit_bytes(bytes, (double)m->bytes));
}

static const struct raster *storage_raster(const struct diagnosis *d, file_id file)
{
	const struct rasters *rasters = &d->profile->timeline.rasters;

	for (size_t i = 0; i < rasters->count; i++)
		if (rasters->list[i]->file == file && rasters->list[i]->layer == LAYER_POSIX)
			return rasters->list[i];
	return NULL;
}

static uint64_t smaller_unit(double write, uint64_t stripes)
{
	uint64_t unit = UNIT_MOST;

	while (unit > UNIT_LEAST && (double)unit * (double)stripes > write)
		unit /= 2;
	return unit;
}

static bool test_convoy(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = file->layers[LAYER_POSIX];
	const struct layout *layout = &file->facts->layout;
	const struct raster *raster = storage_raster(d, file->file);
	struct convoy convoy;
	uint64_t unit;

	if (!t || !raster || layout->stripes < 2 ||
	    t->total.survey.bytes[WRITING] < LIMIT(d, STRIPE_BYTES))
		return false;
	convoy = convoy_measure(raster, layout);
	unit = smaller_unit(case_average(t, WRITING), layout->stripes);
	if (!(convoy.stripes * 100 <= convoy.could * CONVOY_PERCENT) || layout->unit <= unit ||
	    convoy.time_ns * 2 < (double)t->total.survey.transfer_ns[WRITING])
		return false;
	case_set_transfers(m, t, WRITING);
	m->time_ns = convoy.time_ns;
	m->value = convoy.writes / convoy.stripes;
	m->fix_value = unit;
	return true;
}

static void describe_convoy(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char size[UNIT_TEXT];

	(void)d;
	buf_printf(out,
		   "%" PRIu64
		   " writes of %s on average; while several were under way, %.1f of them "
		   "shared a stripe on average",
		   m->calls, unit_bytes(size, (double)m->bytes / (double)m->calls), m->value);
}

static const struct rule rules[] = {
	{ .code = "stripe-count",
	  .title = "a large shared file has one stripe",
	  .when = "several ranks move findings.stripe_bytes to or from a file whose "
		  "striping_factor is 1",
	  .explanation =
		  "All data of the file is on one storage target, which limits the bandwidth of "
		  "all ranks together. With several stripes, several targets serve the file.",
	  .parameter = "striping_factor",
	  .unknown = "the speed of more storage targets depends on the file system; "
		     "sluice tune measures it",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_stripes,
	  .describe = describe_stripes,
	  .fixes = { FIX("sluice", "sluice run --params striping_factor={value} -- {command}"),
		     FIX("mpi", "MPI_Info_set(info, \"striping_factor\", \"{value}\");"),
		     FIX("shell", "lfs setstripe -c {value} {directory}  # Lustre, for new files"),
		     FIX("shell", "setfattr -n ceph.dir.layout.stripe_count -v {value} "
				  "{directory}  # CephFS, for new files") } },
	{ .code = "stripe-convoy",
	  .title = "writers wait for the same stripes",
	  .when = "several writes at a time move findings.stripe_bytes to a file, and concern at "
		  "most 60 % of the stripes that they could; its stripes are known, and it has at "
		  "most 4096 accesses",
	  .explanation = "The unit of the stripes is so large that processes which write at the "
			 "same time wait for the same storage target, while the others are idle. "
			 "With a smaller unit, each write is spread over all of them.",
	  .parameter = "striping_unit",
	  .unknown = "the speed of the storage targets is not known; sluice tune measures it",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_convoy,
	  .describe = describe_convoy,
	  .query = "--layer POSIX",
	  .fixes = { FIX("sluice", "sluice run --params striping_unit={value} -- {command}"),
		     FIX("mpi", "MPI_Info_set(info, \"striping_unit\", \"{value}\");"),
		     FIX("shell", "lfs setstripe -S {value} {directory}  # Lustre, for new files"),
		     FIX("shell", "setfattr -n ceph.dir.layout.stripe_unit -v {value} "
				  "{directory}  # CephFS, for new files") } },
};

const struct rule_table rules_stripes = { rules, sizeof(rules) / sizeof(*rules) };
