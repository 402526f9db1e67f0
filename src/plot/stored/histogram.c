/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/stored/histogram.h"

#include <math.h>

double histogram_edge(const struct scale *x, double place)
{
	return x->low * pow(x->high / x->low, place);
}

void histogram_panel(struct figure *figure, struct panel *panel, struct panel_plan *plan,
		     const double *values, size_t count, double shares[HISTOGRAM_BINS])
{
	double most = 0;

	for (size_t i = 0; i < HISTOGRAM_BINS; i++)
		shares[i] = 0;
	for (size_t i = 0; i < count; i++) {
		double place = scale_place(&plan->x, values[i]);

		if (place >= 0 && place < 1)
			shares[(size_t)(place * HISTOGRAM_BINS)] += 1 / (double)count;
	}
	for (size_t i = 0; i < HISTOGRAM_BINS; i++)
		most = fmax(most, shares[i]);
	scale_init(&plan->y, SCALE_SHARE, 0, most);
	scale_round(&plan->y, 4);
	figure_panel(figure, panel, plan);
	for (size_t i = 0; i < HISTOGRAM_BINS; i++)
		if (shares[i] > 0)
			panel_rect(panel, "c0 soft",
				   histogram_edge(&plan->x, (double)i / HISTOGRAM_BINS),
				   histogram_edge(&plan->x, (double)(i + 1) / HISTOGRAM_BINS), 0,
				   shares[i], NULL);
}
