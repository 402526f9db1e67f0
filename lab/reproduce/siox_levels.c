/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figure 9 of the SIOX paper: the four levels of access of MPI-IO without hints, with hints, and
 * with hints and recording: MPI alone by linked wrappers, or MPI and POSIX by the preloaded
 * library, also with the plug-in read_ahead.
 * Papers: SIOX-60, SIOX-61, SIOX-AC-15.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chart/chart.h"
#include "lab/reproduce/siox.h"

#define LEVELS 4
#define NOISE 0.9 /* share of the rate of the plain run that counts as the same */

static const char *const level_names[LEVELS] = { "independent-contiguous", "collective-contiguous",
						 "independent-noncontiguous",
						 "collective-noncontiguous" };
static const char *const level_titles[LEVELS] = { "ind-ctg", "coll-ctg", "ind-nc", "coll-nc" };
enum { COLLECTIVE_CONTIGUOUS = 1, INDEPENDENT_NONCONTIGUOUS = 2 };

enum direction { WRITE, READ, DIRECTIONS };
static const char *const direction_names[DIRECTIONS] = { "write", "read" };

enum way { NO_HINTS, HINTS, LINKED, PRELOADED, READ_AHEAD, WAYS };
static const char *const way_keys[WAYS] = { "none", "hints", "linked", "preloaded", "read_ahead" };
static const char *const way_titles[WAYS] = { "no hints", "hints", "MPI (--wrap)",
					      "MPI, POSIX (preloaded)", "and read_ahead" };

/* The paper raises the collective buffer to 200 MB and disables data sieving. */
static const char *const hints[] = { "-H", "cb_buffer_size=200000000",
				     "-H", "romio_ds_read=disable",
				     "-H", "romio_ds_write=disable",
				     NULL };
static const char *const read_ahead_settings[] = { "plugins.act=read_ahead", NULL };

/* What the paper says about collective contiguous reads, in MiB/s. */
static const double paper_read[WAYS] = { NAN, 200, NAN, 170, 130 };

struct levels {
	struct siox_sample slowness[LEVELS][DIRECTIONS][WAYS]; /* seconds per MiB */
};

static int measure_once(struct siox *siox, struct levels *levels, enum way way, uint64_t round,
			struct err *err)
{
	AUTO_FREE char *ranks = xprintf("%llu", (unsigned long long)siox->scale.ranks);
	AUTO_FREE char *blocks = xprintf("%llu", (unsigned long long)siox->scale.blocks);
	AUTO_FREE char *key = xprintf("figure9-%s-%s-%s-%llu", way_keys[way], ranks, blocks,
				      (unsigned long long)round);
	AUTO_FREE char *output = NULL;
	struct siox_command command = { 0 };

	if (way >= LINKED)
		siox_add_sluice(siox, &command, way == LINKED,
				way == READ_AHEAD ? read_ahead_settings : NULL);
	siox_add_ranks(siox, &command, ranks);
	siox_add(&command, way == LINKED ? siox->levels_linked : siox->levels);
	siox_add_all(&command, (const char *const[]){ "--count", blocks, "--block", "100K", NULL });
	if (way != NO_HINTS)
		siox_add_all(&command, hints);
	output = siox_run(siox, key, &command, err);
	if (!output)
		return -err->code;
	for (int level = 0; level < LEVELS; level++)
		for (int d = 0; d < DIRECTIONS; d++) {
			AUTO_FREE char *line = xprintf("level=%s direction=%s ", level_names[level],
						       direction_names[d]);

			siox_sample_add(&levels->slowness[level][d][way],
					1 / siox_number(output, line, "mib_per_s"));
		}
	return 0;
}

static int measure_levels(struct siox *siox, struct levels *levels, struct err *err)
{
	int r = 0;

	for (uint64_t round = 1; round <= siox->scale.repeat; round++)
		for (int way = 0; way < WAYS && r >= 0; way++)
			if (way != LINKED || siox->levels_linked)
				r = measure_once(siox, levels, (enum way)way, round, err);
	return r;
}

/* MiB/s of the run that other load disturbed least. */
static double rate(const struct levels *levels, int level, int direction, int way)
{
	return 1 / siox_sample_least(&levels->slowness[level][direction][way]);
}

static void add_sheet(struct siox *siox, const struct levels *levels)
{
	static const struct sheet_column columns[] = { { "level", "level", 0 },
						       { "direction", "direction", 0 },
						       { ">paper: hints", "paper_hints", 0 },
						       { ">recorded", "paper_preloaded", 0 },
						       { ">read-ahead", "paper_read_ahead", 0 },
						       { ">here: no hints", "none", 1 },
						       { ">hints", "hints", 1 },
						       { ">--wrap", "linked", 1 },
						       { ">preloaded", "preloaded", 1 },
						       { ">read-ahead", "read_ahead", 1 },
						       { ">preloaded/hints", "ratio", 2 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "figure9", "Figure 9: the four levels of access, in MiB/s", columns);
	for (int level = 0; level < LEVELS; level++)
		for (int d = 0; d < DIRECTIONS; d++) {
			bool is_given = level == COLLECTIVE_CONTIGUOUS && d == READ;

			sheet_text(&sheet, "%s", level_names[level]);
			sheet_text(&sheet, "%s", direction_names[d]);
			sheet_number(&sheet, is_given ? paper_read[HINTS] : NAN);
			sheet_number(&sheet, is_given ? paper_read[PRELOADED] : NAN);
			sheet_number(&sheet, is_given ? paper_read[READ_AHEAD] : NAN);
			for (int way = 0; way < WAYS; way++)
				sheet_number(&sheet, rate(levels, level, d, way));
			sheet_number(&sheet, rate(levels, level, d, PRELOADED) /
						     rate(levels, level, d, HINTS));
		}
	sheet_note(&sheet,
		   "Here: %llu ranks with %llu blocks of 100 KiB each, best of %llu runs. --wrap "
		   "records MPI, preloaded MPI and POSIX, both with hints.",
		   (unsigned long long)siox->scale.ranks, (unsigned long long)siox->scale.blocks,
		   (unsigned long long)siox->scale.repeat);
	sheet_note(&sheet,
		   "Paper: recorded runs are as fast as others, except collective contiguous "
		   "reads, because sockets of MPI were recorded as I/O; data sieving slows "
		   "independent non-contiguous accesses. The other rates are only drawn.");
	siox_note_mpi(siox, &sheet);
	reproduce_add_sheet(&siox->output, &sheet);
}

static int draw_chart(const struct siox *siox, const struct levels *levels, int direction,
		      struct err *err)
{
	AUTO_FREE char *title =
		xprintf("Figure 9: four levels of access, %s", direction_names[direction]);
	AUTO_FREE char *name = xprintf("figure9-%s", direction_names[direction]);
	struct chart chart;

	chart_init(&chart, title, "level", "MiB/s");
	for (int level = 0; level < LEVELS; level++)
		chart_category(&chart, "%s", level_titles[level]);
	for (int way = 0; way < WAYS; way++) {
		size_t series = chart_series(&chart, CHART_BARS, way_titles[way]);

		for (int level = 0; level < LEVELS; level++)
			chart_value(&chart, series, rate(levels, level, direction, way));
	}
	return siox_save_chart(siox, &chart, name, err);
}

static void judge(struct siox *siox, const struct levels *levels)
{
	double gain[DIRECTIONS], worst = INFINITY;

	for (int d = 0; d < DIRECTIONS; d++) {
		gain[d] = rate(levels, INDEPENDENT_NONCONTIGUOUS, d, HINTS) /
			  rate(levels, INDEPENDENT_NONCONTIGUOUS, d, NO_HINTS);
		for (int level = 0; level < LEVELS; level++)
			for (int way = LINKED; way <= PRELOADED; way++)
				worst = fmin(worst, rate(levels, level, d, way) /
							    rate(levels, level, d, HINTS));
	}
	siox_check_add(
		siox, "SIOX-AC-15", gain[WRITE] > 1 && gain[READ] > 1 && worst >= NOISE,
		"no sieving and a buffer of 200 MB improve independent non-contiguous "
		"access; recorded at least 0.9 of plain",
		xprintf("hints: independent non-contiguous write %.2fx, read %.2fx; recorded "
			"at least %.2f of plain",
			gain[WRITE], gain[READ], worst));
}

int siox_figure9(struct siox *siox, struct err *err)
{
	struct levels *levels = xcalloc(1, sizeof(*levels));
	int r = 0;

	if (siox_has_mpi(siox)) {
		r = measure_levels(siox, levels, err);
		if (r >= 0)
			judge(siox, levels);
	}
	if (r >= 0)
		add_sheet(siox, levels);
	for (int d = 0; d < DIRECTIONS && r >= 0; d++)
		r = draw_chart(siox, levels, d, err);
	free(levels);
	return r;
}
