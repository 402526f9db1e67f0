/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The linear model of some rows on few inputs: least squares, from which the inputs that do not
 * earn their keep are taken out one by one.
 */
#ifndef SLUICE_LEARN_LEARNERS_RULES_LINE_H
#define SLUICE_LEARN_LEARNERS_RULES_LINE_H

#include <stddef.h>
#include <stdint.h>

struct samples;

enum {
	LINE_INPUTS = 48, /* looked at: those that go best with the target, where there are more */
	LINE_TERMS = 20,  /* taken */
};

struct term {
	uint32_t input;
	double slope;
};

struct line {
	double constant;
	uint32_t count;
	struct term terms[LINE_TERMS];
	double error; /* of rows to come: the root mean square x line_pessimism() */
};

/* Room to work in, to be kept from fit to fit. */
struct line_work {
	uint32_t inputs[LINE_INPUTS];
	double mean[LINE_INPUTS + 1];
	double sums[LINE_INPUTS + 1][LINE_INPUTS + 1];
	double *scores; /* one per input of the samples */
};

/* target has one value per row of the samples and stands in for their own; count > 0. */
void line_fit(struct line *line, const struct samples *samples, const double *target,
	      const uint32_t *rows, size_t count, struct line_work *work);

/*
 * What the error of n rows is to be multiplied by for others, when v numbers were fitted to them:
 * (n + 2 v) / (n - v). Quinlan has n + v; inputs are chosen from many here.
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
