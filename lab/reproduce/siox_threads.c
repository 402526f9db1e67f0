/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figure 8 of the SIOX paper: the overhead per call of threads that call fwrite without writing
 * anything. The paper gives the length of the critical section of two configurations; since all
 * threads compete for one lock, a call of one of T busy threads takes T times as long.
 * Papers: SIOX-57, SIOX-AC-11.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "chart/chart.h"
#include "lab/reproduce/siox.h"

#define PAPER_BARE_NS 6
#define PAPER_PLAIN_NS 750
#define PAPER_ALL_NS 6000

enum way { BARE, PLAIN, DEFAULT, ALL, WAYS };

static const char *const way_names[WAYS] = { "bare", "plain", "default", "all" };
static const char *const plain_settings[] = { "plugins.load=", NULL };
static const char *const all_settings[] = {
	"plugins.load=catalogue histogram file_surveyor history", "plugins.act=history read_ahead",
	NULL
};
static const char *const *const way_settings[WAYS] = { NULL, plain_settings, NULL, all_settings };

static const uint64_t thread_counts[] = { 1, 2, 4, 8, 16, 24 };
#define COUNTS (sizeof(thread_counts) / sizeof(thread_counts[0]))

struct threads {
	struct siox_sample ns[COUNTS][WAYS];
	size_t counts; /* of threads, that were measured */
};

static int measure_once(struct siox *siox, uint64_t threads, enum way way, uint64_t round,
			struct siox_sample *ns, struct err *err)
{
	AUTO_FREE char *count = xprintf("%llu", (unsigned long long)threads);
	AUTO_FREE char *calls = xprintf("%llu", (unsigned long long)siox->scale.calls);
	AUTO_FREE char *key = xprintf("figure8-%s-%s-%s-%llu", way_names[way], count, calls,
				      (unsigned long long)round);
	AUTO_FREE char *output = NULL;
	struct siox_command command = { 0 };

	if (way != BARE)
		siox_add_sluice(siox, &command, false, way_settings[way]);
	siox_add_all(&command,
		     (const char *const[]){ siox->lab, "program", "threads", count, calls, NULL });
	output = siox_run(siox, key, &command, err);
	if (!output)
		return -err->code;
	siox_sample_add(ns, siox_number(output, "", "call_ns"));
	return 0;
}

static int measure_threads(struct siox *siox, struct threads *threads, struct err *err)
{
	int r = 0;

	while (threads->counts < COUNTS &&
	       thread_counts[threads->counts] <= siox->scale.threads_max)
		threads->counts++;
	for (uint64_t round = 1; round <= siox->scale.repeat; round++)
		for (size_t c = 0; c < threads->counts; c++)
			for (int way = 0; way < WAYS && r >= 0; way++)
				r = measure_once(siox, thread_counts[c], (enum way)way, round,
						 &threads->ns[c][way], err);
	return r;
}

/* The overhead per call. The least value is the one that other load disturbs least. */
static double overhead_ns(const struct threads *threads, size_t count, enum way way)
{
	return siox_sample_least(&threads->ns[count][way]) -
	       siox_sample_least(&threads->ns[count][BARE]);
}

static void add_sheet(struct siox *siox, const struct threads *threads)
{
	static const struct sheet_column columns[] = {
		{ ">threads", "threads", 0 },	       { ">paper: plain", "paper_plain_ns", 0 },
		{ ">all modules", "paper_all_ns", 0 }, { ">here: bare call", "bare_ns", 1 },
		{ ">plain", "plain_ns", 1 },	       { ">default modules", "default_ns", 1 },
		{ ">all modules", "all_ns", 1 },       { 0 }
	};
	struct sheet sheet;

	sheet_init(&sheet, "figure8", "Figure 8: overhead per call of fwrite by threads, in ns",
		   columns);
	for (size_t c = 0; c < threads->counts; c++) {
		double count = (double)thread_counts[c];

		sheet_number(&sheet, count);
		sheet_number(&sheet, count * PAPER_PLAIN_NS);
		sheet_number(&sheet, count * PAPER_ALL_NS);
		sheet_number(&sheet, siox_sample_least(&threads->ns[c][BARE]));
		for (int way = PLAIN; way < WAYS; way++)
			sheet_number(&sheet, overhead_ns(threads, c, (enum way)way));
	}
	sheet_note(&sheet, "Here: CPU time, least of %llu runs of %llu calls per thread.",
		   (unsigned long long)siox->scale.repeat, (unsigned long long)siox->scale.calls);
	sheet_note(&sheet,
		   "Paper: a bare call takes %d ns, the critical section 0.75 us (plain) to 6 us "
		   "(all modules); both are shown times the number of threads, which compete for "
		   "it.",
		   PAPER_BARE_NS);
	reproduce_add_sheet(&siox->output, &sheet);
}

static int draw_chart(const struct siox *siox, const struct threads *threads, struct err *err)
{
	static const char *const names[] = { "paper: plain", "paper: all modules", "plain",
					     "default modules", "all modules" };
	struct chart chart;
	size_t series[5];

	chart_init(&chart, "Figure 8: overhead per call of fwrite", "threads",
		   "ns per call; paper: section times threads");
	chart.logarithmic = true;
	for (size_t i = 0; i < 5; i++)
		series[i] = chart_series(&chart, CHART_LINES, names[i]);
	for (size_t c = 0; c < threads->counts; c++) {
		chart_category(&chart, "%llu", (unsigned long long)thread_counts[c]);
		chart_value(&chart, series[0], (double)thread_counts[c] * PAPER_PLAIN_NS);
		chart_value(&chart, series[1], (double)thread_counts[c] * PAPER_ALL_NS);
		for (int way = PLAIN; way < WAYS; way++)
			chart_value(&chart, series[1 + way],
				    overhead_ns(threads, c, (enum way)way));
	}
	return siox_save_chart(siox, &chart, "figure8", err);
}

static void judge(struct siox *siox, const struct threads *threads)
{
	double plain = -INFINITY, all = -INFINITY;
	uint64_t most = 0;

	for (size_t c = 0; c < threads->counts; c++) {
		plain = fmax(plain, overhead_ns(threads, c, PLAIN));
		all = fmax(all, overhead_ns(threads, c, ALL));
		most = thread_counts[c];
	}
	siox_check_add(siox, "SIOX-AC-11", plain <= PAPER_PLAIN_NS && all <= PAPER_ALL_NS,
		       "at most 0.75 us per call (plain) and 6 us (all modules)",
		       xprintf("CPU time per call, with up to %llu threads: at most %.1f ns, with "
			       "all modules %.1f ns",
			       (unsigned long long)most, plain, all));
}

int siox_figure8(struct siox *siox, struct err *err)
{
	struct threads threads = { 0 };
	int r = measure_threads(siox, &threads, err);

	if (r < 0)
		return r;
	add_sheet(siox, &threads);
	judge(siox, &threads);
	return draw_chart(siox, &threads, err);
}
