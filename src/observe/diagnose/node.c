/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about the node and about the history of the program: too many ranks, reads that miss the
 * page cache, and runs that are slower than earlier ones.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"
#include "observe/diagnose/case.h"
#include "observe/diagnose/cost.h"
#include "observe/stats/window.h"
#include "observe/tally/overhead_notes.h"

/* Processors of a host, as the collector noted them; 0: unknown. */
static unsigned long processors_of(const struct trace_head *head, const char *host)
{
	for (size_t i = 0; i < head->note_count; i++) {
		const struct note *note = &head->notes[i];

		if (!strcmp(text_or_empty(note->kind), NOTE_NODE) &&
		    !strcmp(text_or_empty(note->name), NODE_PROCESSORS) &&
		    !strcmp(text_or_empty(note->host), text_or_empty(host)))
			return strtoul(text_or_empty(note->value), NULL, 10);
	}
	return 0;
}

static size_t ranks_on(const struct ranks *ranks, const char *host)
{
	size_t n = 0;

	for (size_t i = 0; i < ranks->count; i++)
		n += !strcmp(text_or_empty(ranks->list[i].host), text_or_empty(host));
	return n;
}

static bool test_oversubscribed(const struct diagnosis *d, struct match *m, struct finding *f)
{
	const struct ranks *ranks = &d->profile->summary.ranks;

	for (size_t i = 0; i < ranks->count; i++) {
		const char *host = ranks->list[i].host;
		unsigned long processors = processors_of(d->profile->head, host);
		size_t own;

		if (!processors ||
		    (i && !strcmp(text_or_empty(ranks->list[i - 1].host), text_or_empty(host))))
			continue;
		own = ranks_on(ranks, host);
		if (own <= processors || own <= m->calls)
			continue;
		m->calls = own;
		m->of_calls = processors;
		m->fix_value = processors;
		m->reason = host;
	}
	m->time_ns = m->calls ? (double)d->profile->summary.all.io.time_ns : 0;
	f->rank_count = 0;
	return m->calls > 0;
}

static void describe_oversubscribed(struct buf *out, const struct diagnosis *d,
				    const struct match *m)
{
	(void)d;
	buf_printf(out, "%" PRIu64 " ranks ran on the %" PRIu64 " processors of %s", m->calls,
		   m->of_calls, m->reason);
}

static bool is_device_read(const struct statistic_info *info)
{
	const char *name = text_or_empty(info->name);

	return !strncmp(name, "io/", 3) && text_ends_with(name, "/read") &&
	       !strcmp(text_or_empty(info->unit), "bytes");
}

/* Bytes that the devices of the nodes read while the program did I/O. */
static double device_reads(const struct diagnosis *d)
{
	const struct trace_head *head = d->profile->head;
	const struct sums *all = &d->profile->summary.all;
	AUTO_FREE struct window_figure *figures =
		window_new(head, all->busy_from_ns, all->busy_until_ns);
	double bytes = 0;

	for (size_t i = 0; figures && i < head->statistic_count; i++) {
		if (is_device_read(&head->statistics[i]))
			bytes += figures[i].total;
	}
	return bytes;
}

static bool has_misses(const struct diagnosis *d, const struct match *m)
{
	return m->of_bytes >= LIMIT(d, STDIO_BYTES) && case_is_most(d, m->bytes, m->of_bytes) &&
	       case_share(d, m->time_ns) * 100 >= (double)LIMIT(d, TIME_PERCENT);
}

static bool test_misses(const struct diagnosis *d, struct match *m, struct finding *f)
{
	double device = device_reads(d);

	for (size_t i = 0; i < d->count; i++) {
		const struct case_file *file = &d->files[i];
		const struct file_total *t = file->layers[LAYER_POSIX];

		if (!t || !t->total.survey.bytes[READING])
			continue;
		m->calls += t->total.survey.accesses[READING];
		m->of_bytes += t->total.survey.bytes[READING];
		m->time_ns += (double)t->total.survey.transfer_ns[READING];
		finding_add_file(f, file->file, (double)t->total.survey.transfer_ns[READING]);
	}
	m->of_calls = m->calls;
	m->bytes = u64_of(device);
	m->way = READING;
	if (!has_misses(d, m))
		return false;
	cost_cache(d, m);
	return true;
}

static void describe_misses(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char device[UNIT_TEXT], all[UNIT_TEXT];

	(void)d;
	buf_printf(out, "the devices of the node read %s while the program read %s from files",
		   unit_bytes(device, (double)m->bytes), unit_bytes(all, (double)m->of_bytes));
}

static int compare_durations(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median of the latest earlier runs; 0 if there are too few. */
static int64_t usual_duration(const struct diagnosis *d, size_t *count)
{
	const struct diagnose_options *o = d->options;
	AUTO_FREE int64_t *durations = xcalloc(o->past_count + 1, sizeof(*durations));
	int64_t started = d->profile->head->run.started_ns;
	size_t n = 0;

	for (size_t i = 0; i < o->past_count; i++) {
		if (o->past[i].started_ns < started)
			durations[n++] = o->past[i].duration_ns;
	}
	*count = n;
	if (n < LIMIT(d, HISTORY_RUNS))
		return 0;
	qsort(durations, n, sizeof(*durations), compare_durations);
	return (durations[(n - 1) / 2] + durations[n / 2]) / 2;
}

static bool test_regression(const struct diagnosis *d, struct match *m, struct finding *f)
{
	int64_t duration = d->profile->head->end.duration_ns;
	size_t count;
	int64_t usual = usual_duration(d, &count);

	(void)f;
	if (usual <= 0 || duration - usual < (int64_t)LIMIT(d, MIN_TIME) ||
	    (double)duration * 100 < (double)usual * (double)LIMIT(d, REGRESSION_PERCENT))
		return false;
	m->calls = count;
	m->value = (double)duration / (double)usual;
	m->fix_value = u64_of(usual);
	return true;
}

/* The utilization of the node that is highest on average, if a statistic shows one. */
static const struct window_figure *busiest(const struct window_figure *figures, size_t count)
{
	const struct window_figure *best = NULL;

	for (size_t i = 0; figures && i < count; i++) {
		if (!strncmp(text_or_empty(figures[i].statistic->name), "utilization/", 12) &&
		    figures[i].covered_ns > 0 && (!best || figures[i].mean > best->mean))
			best = &figures[i];
	}
	return best;
}

static void describe_regression(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	const struct trace_head *head = d->profile->head;
	AUTO_FREE struct window_figure *figures = window_new(head, 0, head->end.duration_ns);
	const struct window_figure *best = busiest(figures, head->statistic_count);
	char now[UNIT_TEXT], usual[UNIT_TEXT];

	buf_printf(out, "the run took %s, %.2f times the median of its last %" PRIu64 " runs (%s)",
		   unit_ns(now, head->end.duration_ns), m->value, m->calls,
		   unit_ns(usual, (int64_t)m->fix_value));
	if (best && best->mean >= 50)
		buf_printf(out, "; %s of the node was %.0f %% busy", best->statistic->name + 12,
			   best->mean);
}

static const struct rule rules[] = {
	{ .code = "oversubscribed",
	  .title = "more ranks than processors",
	  .when = "a node has more ranks than processors",
	  .explanation =
		  "Ranks share processors, so a rank that others wait for may not be running. "
		  "Collective calls suffer most, because every rank has to take its turn.",
	  .unknown = "the trace does not tell how long ranks wait for a processor",
	  .most = SEVERITY_WARNING,
	  .is_unlimited = true,
	  .test_run = test_oversubscribed,
	  .describe = describe_oversubscribed,
	  .fixes = { FIX("shell",
			 "mpiexec -n {value} PROGRAM  # at most {value} ranks on each node") } },
	{ .code = "cache-misses",
	  .title = "reads miss the page cache",
	  .when = "devices read findings.share_percent of the bytes that the program reads (at "
		  "least findings.stdio_bytes), which takes findings.time_percent of the run time",
	  .explanation = "The data is not in memory and has to come from the device. The node's "
			 "figures include other programs, so the cause is possible, not certain.",
	  .gain = "the time of the reads, less that of the same reads from memory",
	  .most = SEVERITY_WARNING,
	  .possible = true,
	  .test_run = test_misses,
	  .describe = describe_misses,
	  .query = "--layer POSIX --min-duration 100us",
	  .fixes = { FIX("sluice", "sluice --set plugins.act=read_ahead run -- {command}"),
		     FIX("c",
			 "posix_fadvise(fd, offset, bytes, POSIX_FADV_WILLNEED);  /* well "
			 "before read */",
			 .layers = FIX_LIBC),
		     FIX("shell", "cat {file} >/dev/null  # if it fits into memory") } },
	{ .code = "regression",
	  .title = "slower than the earlier runs of this program",
	  .when = "the run takes findings.regression_percent of the median of at least "
		  "findings.history_runs earlier runs of the same command, and findings.min_time "
		  "longer",
	  .explanation = "The same command was faster before. Compare this run with one of them: "
			 "either the program and its input have changed, or the machine is busier.",
	  .unknown = "the cause is not known",
	  .most = SEVERITY_WARNING,
	  .is_unlimited = true,
	  .test_run = test_regression,
	  .describe = describe_regression,
	  .fixes = { FIX("inspect", "sluice ls  # then: sluice compare EARLIER_RUN {run}") } },
};

const struct rule_table rules_node = { rules, sizeof(rules) / sizeof(*rules) };
