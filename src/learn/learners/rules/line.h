/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A linear model of some rows with few inputs: least squares with backward elimination of inputs
 * that do not reduce the expected error.
 */
#ifndef SLUICE_LEARN_LEARNERS_RULES_LINE_H
#define SLUICE_LEARN_LEARNERS_RULES_LINE_H

#include <stddef.h>
#include <stdint.h>

struct samples;

enum {
	/* Candidates: the inputs that correlate best with the target, if there are more. */
	LINE_INPUTS = 48,
	LINE_TERMS = 20, /* maximum number of terms */
};

struct line_term {
	uint32_t input;
	double slope;
};

struct line {
	double constant;
	uint32_t count;
	struct line_term terms[LINE_TERMS];
	double error; /* expected on new rows: the root mean square error x line_pessimism() */
};

/* Workspace that is reused from fit to fit. */
struct line_work {
	uint32_t inputs[LINE_INPUTS];
	double mean[LINE_INPUTS + 1];
	double sums[LINE_INPUTS + 1][LINE_INPUTS + 1];
	double *scores; /* one per input of the samples */
};

/*
 * Fits a line to `count` > 0 rows. target has one value per row of the samples and replaces their
 * y.
 */
void line_fit(struct line *line, const struct samples *samples, const double *target,
	      const uint32_t *rows, size_t count, struct line_work *work);

/*
 * Factor from the error on n training rows to the expected error on new rows if v numbers were
 * fitted: (n + 2 v) / (n - v). Quinlan uses n + v; the larger value accounts for the choice among
 * many inputs.
 */
double line_pessimism(size_t n, size_t v);

static inline double line_value(const struct line *line, const double *row)
{
	double value = line->constant;

	for (uint32_t i = 0; i < line->count; i++)
		value += line->terms[i].slope * row[line->terms[i].input];
	return value;
}

#endif
