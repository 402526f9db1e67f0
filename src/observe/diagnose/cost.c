/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/diagnose/case.h"
#include "observe/diagnose/replay.h"
#include "observe/tally/overhead_notes.h"

/* A size counts if it has this many requests besides the slowest ones. */
#define LEAST_CALLS 8
/* Sizes differ enough if the largest is so many times the size in question. */
#define LEAST_RATIO 8
/* Relative weight of sizes: below this, the time of a request hardly depends on its size. */
#define SIZE_SCALE 4096
/* The fitted line describes the requests in question within this factor. */
#define FIT_FACTOR 1.5
/* Requests of the run are of the kind of requests to memory within these factors. */
#define REPLAY_FASTEST 0.25
#define REPLAY_SLOWEST 6

/* Requests of about one size. */
struct size_group {
	double calls, bytes, time_ns;
};

static void add_cell(struct size_group groups[CELL_SIZE_BINS], const struct cell *cell, int way)
{
	for (unsigned bin = 1; bin < CELL_SIZE_BINS; bin++) {
		double calls = (double)cell->sizes[way][bin];

		groups[bin].calls += calls;
		groups[bin].bytes += calls * case_bin_size(cell, way, bin);
		groups[bin].time_ns += (double)cell->size_ns[way][bin];
	}
	/* The slowest calls waited for something else. */
	for (int i = 0; i < CELL_SAMPLES; i++) {
		const struct cell_sample *sample = &cell->samples[way][i];
		struct size_group *g = &groups[cell_bin(sample->bytes)];

		if (!sample->call.id || g->calls < 1)
			continue;
		g->bytes -= g->bytes / g->calls;
		g->calls -= 1;
		g->time_ns -= (double)sample->duration_ns;
	}
}

static void add_file(struct size_group groups[CELL_SIZE_BINS], const struct file_total *t, int way)
{
	for (size_t i = 0; t && i < t->members; i++)
		add_cell(groups, t->cells[i], way);
}

/* Requests in memory of about one size. */
struct replayed {
	bool tried;
	uint64_t bytes; /* 0: it failed */
	struct replay replay;
};

struct costs {
	bool pooled[LAYER_COUNT][2];
	struct size_group groups[LAYER_COUNT][2][CELL_SIZE_BINS]; /* of all files of the user */
	struct replayed replays[2][CELL_SIZE_BINS];
};

struct costs *costs_new(void)
{
	return xcalloc(1, sizeof(struct costs));
}

void costs_free(struct costs *costs)
{
	free(costs);
}

static const struct size_group *pooled_groups(const struct diagnosis *d, unsigned layer, int way)
{
	struct costs *c = d->costs;

	for (size_t i = 0; !c->pooled[layer][way] && i < d->count; i++)
		add_file(c->groups[layer][way], d->files[i].layers[layer], way);
	c->pooled[layer][way] = true;
	return c->groups[layer][way];
}

/* Times of requests to memory; false if they cannot be measured. */
static bool find_replay(const struct diagnosis *d, int way, double size, struct replay *replay)
{
	uint64_t bytes = u64_max(u64_of(size), 1);
	struct replayed *r = &d->costs->replays[way][cell_bin(bytes)];

	if (!r->tried && replay_measure(way, bytes, &r->replay) == 0)
		r->bytes = bytes;
	r->tried = true;
	*replay = r->replay;
	replay->request_ns += ((double)bytes - (double)r->bytes) * replay->byte_ns;
	return r->bytes > 0;
}

struct line {
	double request_ns, byte_ns;
};

/* Least squares of relative errors over groups with enough calls. */
static bool fit_line(const struct size_group groups[CELL_SIZE_BINS], double size, struct line *line)
{
	double w = 0, ws = 0, wss = 0, wt = 0, wst = 0, largest = 0, determinant;

	for (unsigned bin = 1; bin < CELL_SIZE_BINS; bin++) {
		const struct size_group *g = &groups[bin];
		double s, t, weight;

		if (g->calls < LEAST_CALLS || g->time_ns <= 0)
			continue;
		s = g->bytes / g->calls;
		t = g->time_ns / g->calls;
		weight = g->calls / ((s + SIZE_SCALE) * (s + SIZE_SCALE));
		w += weight;
		ws += weight * s;
		wss += weight * s * s;
		wt += weight * t;
		wst += weight * s * t;
		largest = s > largest ? s : largest;
	}
	determinant = w * wss - ws * ws;
	if (largest < LEAST_RATIO * size || determinant <= 0)
		return false;
	line->byte_ns = (w * wst - ws * wt) / determinant;
	line->request_ns = (wt - line->byte_ns * ws) / w;
	return line->byte_ns >= 0 && line->request_ns >= 0;
}

/* Does the line predict the time of the requests in question? */
static bool line_fits(const struct line *line, double size, double time_ns)
{
	double predicted = line->request_ns + line->byte_ns * size;

	return predicted < time_ns * FIT_FACTOR && predicted * FIT_FACTOR > time_ns;
}

/* The line of the file or, if its requests have one size, of all files in that layer. */
static bool find_line(const struct diagnosis *d, const struct case_file *file, int way, double size,
		      double time_ns, struct line *line)
{
	struct size_group own[CELL_SIZE_BINS] = { 0 };

	add_file(own, file->top, way);
	if (fit_line(own, size, line) && line_fits(line, size, time_ns))
		return true;
	return fit_line(pooled_groups(d, file->top->layer, way), size, line) &&
	       line_fits(line, size, time_ns);
}

static void set_saved(struct match *m, double saved_ns, const char *source)
{
	if (saved_ns <= 0) {
		m->unknown = "larger requests would take as long";
		return;
	}
	m->saved_ns = saved_ns;
	m->source = source;
}

/*
 * The share of the time of such requests that depends on their number, as in memory: file systems
 * make both parts slower. NAN: unknown.
 */
static double replayed_share(const struct diagnosis *d, struct match *m, int way, double size,
			     double time_ns, double moved)
{
	struct replay replay;
	double ratio;

	if (!d->options->is_local) {
		m->unknown = "all requests have about one size, and the run was on another machine";
		return NAN;
	}
	if (!find_replay(d, way, size, &replay)) {
		m->unknown = "all requests have about one size";
		return NAN;
	}
	ratio = time_ns / replay.request_ns;
	if (ratio < REPLAY_FASTEST || ratio > REPLAY_SLOWEST) {
		m->unknown = "all requests have about one size, and did not take as long as in "
			     "memory: the trace does not tell whether their number or their bytes "
			     "cost the time";
		return NAN;
	}
	return 1 - moved * size * replay.byte_ns / replay.request_ns;
}

void cost_merge(const struct diagnosis *d, const struct case_file *file, struct match *m,
		uint64_t moved)
{
	double size = m->calls ? (double)m->bytes / (double)m->calls : 0;
	double time_ns = m->calls ? m->time_ns / (double)m->calls : 0;
	double after = ceil((double)moved / (double)REPLAY_LARGE), share;
	struct line line;

	if (m->way < 0 || size <= 0 || time_ns <= 0) {
		m->unknown = "the times of the requests are not known";
	} else if (find_line(d, file, m->way, size, time_ns, &line)) {
		set_saved(m, m->time_ns - after * line.request_ns - (double)moved * line.byte_ns,
			  SOURCE_SIZES);
	} else if (file->top->layer != LAYER_POSIX) {
		m->unknown = "all requests have about one size";
	} else {
		share = replayed_share(d, m, m->way, size, time_ns,
				       (double)moved / (double)m->bytes);
		if (!isnan(share))
			set_saved(m, share * m->time_ns, SOURCE_REPLAY);
	}
}

void cost_merge_stream(const struct diagnosis *d, struct match *m, uint64_t buffer)
{
	double piece = m->calls ? (double)m->bytes / (double)m->calls : 0;
	double size = (double)buffer > piece ? (double)buffer : piece;
	double requests = size > 0 ? (double)m->bytes / size : 0, share;

	if (requests < 1 || m->time_ns <= 0) {
		m->unknown = "the times of the requests are not known";
		return;
	}
	share = replayed_share(d, m, m->way, size, m->time_ns / requests, 1);
	if (!isnan(share))
		set_saved(m, share * m->time_ns, SOURCE_REPLAY);
}

void cost_cache(const struct diagnosis *d, struct match *m)
{
	struct replay replay;

	if (!d->options->is_local || !m->calls ||
	    !find_replay(d, READING, (double)m->of_bytes / (double)m->calls, &replay)) {
		m->unknown = "the run was on another machine";
		return;
	}
	set_saved(m, m->time_ns - (double)m->calls * replay.request_ns, SOURCE_REPLAY);
}

double cost_recording(const struct diagnosis *d)
{
	const struct trace_head *head = d->profile->head;
	bool has_ranks = d->profile->summary.ranks.count > 0;
	double sum_ns = 0, first_ns = INFINITY, duration_ns = (double)head->end.duration_ns, share;

	for (size_t i = 0; i < head->note_count; i++) {
		const struct note *note = &head->notes[i];

		if (!strcmp(text_or_empty(note->source), OVERHEAD_SOURCE) &&
		    !strcmp(text_or_empty(note->name), OVERHEAD_GUEST_NS))
			sum_ns += strtod(text_or_empty(note->value), NULL);
	}
	for (size_t i = 0; i < head->process_count; i++)
		first_ns = fmin(first_ns, (double)head->processes[i].attached_ns);
	if (!(duration_ns > 0) || isinf(first_ns))
		return 0;
	share = (first_ns + sum_ns / (has_ranks ? (double)d->members : 1)) / duration_ns;
	return share < 1 ? share : 1;
}
