/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about the distribution of the work over ranks, and about ranks that share a file.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/unit.h"
#include "observe/diagnose/case.h"

/* One rank does all I/O if it moves this share of the bytes. */
#define ALL_PERCENT 95
/* Ranks have the same work if no rank moves more than this share of the average. */
#define EVEN_PERCENT 120

static int compare_rank(const void *key, const void *element)
{
	const int32_t *number = key;
	const struct rank_info *rank = element;

	return *number < rank->number ? -1 : *number > rank->number;
}

/* Adds what the ranks requested of a file; returns false if that is not known of each. */
static bool add_requested(const struct ranks *ranks, const struct file_total *t, double *bytes)
{
	for (size_t i = 0; t && i < t->members; i++) {
		const struct cell *cell = t->cells[i];
		const struct rank_info *rank = bsearch(&cell->member, ranks->list, ranks->count,
						       sizeof(*ranks->list), compare_rank);

		if (!rank || cell->group)
			return false;
		bytes[rank - ranks->list] +=
			(double)cell->survey.bytes[READING] + (double)cell->survey.bytes[WRITING];
	}
	return true;
}

/*
 * Bytes that each rank requested: sum, maximum and who has it. Files of the user count, if they are
 * known: all ranks of a Python program read the same modules.
 */
static struct spread spread_bytes(const struct diagnosis *d)
{
	const struct summary *summary = &d->profile->summary;
	const struct ranks *ranks = &summary->ranks;
	AUTO_FREE double *bytes = xcalloc(ranks->count + 1, sizeof(*bytes));
	struct spread spread = { 0 };

	for (size_t i = 0; ranks->count && i < d->count; i++) {
		if (!add_requested(ranks, d->files[i].top, bytes))
			return summary_rank_spread(summary, &sums_measures[SUMS_BYTES]);
	}
	for (size_t i = 0; i < ranks->count; i++)
		spread_add(&spread, ranks->list[i].number, bytes[i]);
	return spread;
}

static struct spread spread_time(const struct diagnosis *d)
{
	return summary_rank_spread(&d->profile->summary, &sums_measures[SUMS_BUSY]);
}

static void set_ranks(struct match *m, struct finding *f, const struct spread *bytes, int32_t rank)
{
	m->bytes = u64_of(bytes->maximum);
	m->of_bytes = u64_of(bytes->sum);
	m->calls = (uint64_t)rank;
	m->of_calls = bytes->count;
	m->value = bytes->maximum / spread_average(bytes);
	f->ranks[0] = rank;
	f->rank_count = 1;
}

/* The time that the busiest rank needs more than it would if the work were distributed evenly. */
static void set_excess(struct match *m, const struct diagnosis *d)
{
	struct spread time = spread_time(d);
	double excess = time.maximum - spread_average(&time);

	m->time_ns = time.maximum * (double)time.count;
	m->saved_ns = excess * (double)time.count;
}

static bool test_one(const struct diagnosis *d, struct match *m, struct finding *f)
{
	struct spread bytes = spread_bytes(d);

	if (!summary_knows_ranks(&d->profile->summary) || bytes.count < 2 ||
	    bytes.sum < (double)LIMIT(d, MIN_BYTES) ||
	    bytes.maximum * 100 < bytes.sum * ALL_PERCENT)
		return false;
	set_ranks(m, f, &bytes, bytes.maximum_rank);
	set_excess(m, d);
	return true;
}

static void describe_bytes(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char own[UNIT_TEXT], all[UNIT_TEXT];

	(void)d;
	buf_printf(out,
		   "rank %" PRIu64 " moved %s of %s, %.2f times the average of %" PRIu64 " ranks",
		   m->calls, unit_bytes(own, (double)m->bytes),
		   unit_bytes(all, (double)m->of_bytes), m->value, m->of_calls);
}

/* The file of a log whose slowest rank needs most time beyond the average. */
static const struct group_facts *find_group(const struct diagnosis *d)
{
	const struct group_facts *found = NULL;
	double most = 0;

	for (size_t i = 0; i < d->count; i++) {
		const struct group_facts *g = &d->files[i].facts->group;
		double excess =
			g->ranks > 1 ? (double)g->slowest_ns - (double)g->time_ns / (double)g->ranks
				     : 0;

		if (excess > most) {
			most = excess;
			found = g;
		}
	}
	return found;
}

/* Does the slowest rank move more than `percent` of the average? */
static bool group_is_uneven(const struct group_facts *g, uint64_t percent)
{
	return (double)g->slowest_bytes * 100 * (double)g->ranks >
	       (double)g->bytes * (double)percent;
}

/* The same for a log that has counted all ranks together, from its slowest rank. */
static bool test_group(const struct diagnosis *d, struct match *m, struct finding *f, bool uneven)
{
	const struct group_facts *g = find_group(d);
	double average = g ? (double)g->time_ns / (double)g->ranks : 0;
	double excess = g ? (double)g->slowest_ns - average : 0;
	double duration = (double)d->profile->head->end.duration_ns;

	if (!g || summary_knows_ranks(&d->profile->summary) ||
	    excess < (double)LIMIT(d, MIN_TIME) ||
	    excess * 100 < duration * (double)LIMIT(d, TIME_PERCENT) ||
	    (double)g->slowest_ns * 100 < average * (double)LIMIT(d, IMBALANCE_PERCENT) ||
	    group_is_uneven(g, EVEN_PERCENT) != uneven)
		return false;
	m->bytes = g->slowest_bytes;
	m->of_bytes = g->bytes;
	m->calls = (uint64_t)g->slowest_rank;
	m->of_calls = (uint64_t)g->ranks;
	m->value = uneven ? (double)g->slowest_bytes * (double)g->ranks / (double)g->bytes
			  : (double)g->slowest_ns;
	m->fix_value = u64_of(average);
	m->time_ns = (double)g->slowest_ns * (double)g->ranks;
	m->saved_ns = excess * (double)g->ranks;
	f->ranks[0] = (int32_t)g->slowest_rank;
	f->rank_count = 1;
	return true;
}

static bool test_imbalance(const struct diagnosis *d, struct match *m, struct finding *f)
{
	struct spread bytes = spread_bytes(d);

	if (!summary_knows_ranks(&d->profile->summary))
		return test_group(d, m, f, true);
	if (bytes.count < 2 || bytes.sum < (double)LIMIT(d, MIN_BYTES) ||
	    bytes.maximum * 100 >= bytes.sum * ALL_PERCENT ||
	    bytes.maximum * 100 < spread_average(&bytes) * (double)LIMIT(d, IMBALANCE_PERCENT))
		return false;
	set_ranks(m, f, &bytes, bytes.maximum_rank);
	set_excess(m, d);
	return true;
}

static bool test_straggler(const struct diagnosis *d, struct match *m, struct finding *f)
{
	struct spread bytes = spread_bytes(d), time = spread_time(d);
	double average = spread_average(&time), excess = time.maximum - average;
	double duration = (double)d->profile->head->end.duration_ns;

	if (!summary_knows_ranks(&d->profile->summary))
		return test_group(d, m, f, false);
	if (time.count < 2 || excess < (double)LIMIT(d, MIN_TIME) ||
	    excess * 100 < duration * (double)LIMIT(d, TIME_PERCENT) ||
	    time.maximum * 100 < average * (double)LIMIT(d, IMBALANCE_PERCENT) ||
	    bytes.maximum * 100 > spread_average(&bytes) * EVEN_PERCENT)
		return false;
	set_ranks(m, f, &bytes, time.maximum_rank);
	m->value = time.maximum;
	m->fix_value = u64_of(average);
	m->time_ns = time.maximum * (double)time.count;
	m->saved_ns = excess * (double)time.count;
	return true;
}

static void describe_straggler(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char own[UNIT_TEXT], average[UNIT_TEXT];

	(void)d;
	buf_printf(out,
		   "rank %" PRIu64 " was in I/O for %s, the average of %" PRIu64
		   " ranks is %s, although all moved about the same bytes",
		   m->calls, unit_ns(own, i64_of(m->value)), m->of_calls,
		   unit_ns(average, (int64_t)m->fix_value));
}

static bool test_contention(const struct diagnosis *d, const struct case_file *file,
			    struct match *m)
{
	const struct file_total *t = file->top;
	const struct survey *s = t ? &t->total.survey : NULL;

	if (!t || t->layer > LAYER_STDIO || t->accessing[WRITING] < 2 ||
	    s->accesses[WRITING] < LIMIT(d, MIN_ACCESSES) ||
	    (t->sharing[WRITING] != SHARING_INTERLEAVED &&
	     t->sharing[WRITING] != SHARING_OVERLAPPING) ||
	    case_average(t, WRITING) >= (double)LIMIT(d, COLLECTIVE_BYTES))
		return false;
	m->way = WRITING;
	m->layer = t->layer;
	m->calls = m->of_calls = s->accesses[WRITING];
	m->bytes = m->of_bytes = s->bytes[WRITING];
	m->time_ns = (double)s->transfer_ns[WRITING];
	m->value = (double)t->accessing[WRITING];
	m->reason = sharing_names[t->sharing[WRITING]];
	return true;
}

static void describe_contention(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char size[UNIT_TEXT];

	(void)d;
	buf_printf(out,
		   "%.0f ranks or processes wrote %s parts of one file, in %" PRIu64
		   " accesses of %s on average",
		   m->value, m->reason, m->calls,
		   unit_bytes(size, m->calls ? (double)m->bytes / (double)m->calls : 0));
}

static const struct rule rules[] = {
	{ .code = "shared-contention",
	  .title = "several writers compete for parts of one file",
	  .when = "several ranks or processes write interleaved or overlapping parts of a file by "
		  "at least findings.min_accesses POSIX calls of less than "
		  "findings.collective_bytes",
	  .explanation =
		  "Writers of neighboring parts need the same blocks and locks of the file system. "
		  "They may wait for each other, and blocks travel between the nodes.",
	  .hides = "unaligned-requests random-access small-requests strided-reads",
	  .unknown = "the trace does not tell how long writers wait for each other",
	  .most = SEVERITY_WARNING,
	  .possible = true,
	  .test_file = test_contention,
	  .describe = describe_contention,
	  .fixes = { FIX("c", "/* one contiguous range per writer */\n"
			      "off_t first = rank * bytes_per_rank;"),
		     FIX("mpi", "MPI_File_write_at_all(fh, offset, buffer, count, type, &status);",
			 .sets = "transfer=collective") } },
	{ .code = "one-rank-io",
	  .title = "one rank does all I/O",
	  .when = "one of several ranks moves 95 % of at least findings.min_bytes",
	  .explanation = "One rank reads or writes for all while the others wait. Its bandwidth "
			 "and memory limit the run, whatever the storage can do.",
	  .gain = "the time in I/O of this rank beyond the average of all ranks",
	  .most = SEVERITY_CRITICAL,
	  .test_run = test_one,
	  .describe = describe_bytes,
	  .query = "--rank {rank}",
	  .fixes = { FIX("mpi",
			 "/* each rank writes its own part, instead of MPI_Gather and fwrite */\n"
			 "MPI_File_write_at_all(fh, rank * bytes, part, bytes, MPI_BYTE, "
			 "&status);"),
		     FIX("h5py",
			 "f = h5py.File(path, \"w\", driver=\"mpio\", comm=MPI.COMM_WORLD)") } },
	{ .code = "rank-imbalance",
	  .title = "the ranks move different amounts of data",
	  .when = "one rank moves findings.imbalance_percent of the average, of at least "
		  "findings.min_bytes in total",
	  .explanation = "The rank with the most data is still busy when the others have finished. "
			 "An even distribution shortens the longest time.",
	  .gain = "the time in I/O of the busiest rank beyond the average of all "
		  "ranks",
	  .most = SEVERITY_CRITICAL,
	  .test_run = test_imbalance,
	  .describe = describe_bytes,
	  .query = "--rank {rank}",
	  .fixes = { FIX("mpi", "/* distribute elements evenly; the first ranks get one more */\n"
				"long own = total / ranks + (rank < total % ranks);") } },
	{ .code = "straggler",
	  .title = "one rank is slower than the others",
	  .when = "ranks move about the same bytes, but one is in I/O for "
		  "findings.imbalance_percent of the average, findings.min_time and "
		  "findings.time_percent of the run time longer",
	  .explanation =
		  "One rank needs much more time for the same amount of data. Its node, its "
		  "storage target or other programs on its node slow it down, and the others wait.",
	  .gain = "the time in I/O of this rank beyond the average of all ranks",
	  .most = SEVERITY_CRITICAL,
	  .possible = true,
	  .test_run = test_straggler,
	  .describe = describe_straggler,
	  .query = "--rank {rank} --min-duration 10ms",
	  .fixes = { FIX("inspect",
			 "sluice report --by-rank {run}  # is it always the same node?") } },
};

const struct rule_table rules_ranks = { rules, sizeof(rules) / sizeof(*rules) };
