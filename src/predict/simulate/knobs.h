/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters of a run as the model needs them: numbers, what was not set filled in with the
 * site's defaults, what cannot be cut down to what is there.
 */
#ifndef SLUICE_PREDICT_SIMULATE_KNOBS_H
#define SLUICE_PREDICT_SIMULATE_KNOBS_H

#include "predict/simulate/workload.h"

struct knobs {
	double stripes, unit;		 /* Lustre */
	double aggregators, buffer;	 /* of collective buffering */
	double threshold, boundary;	 /* HDF5 places objects >= threshold at multiples of it */
	double chunk;			 /* bytes; 0: datasets are contiguous */
	bool is_lockless, is_largeblock; /* GPFS on Blue Gene */
};

/* -EINVAL for a value that the model cannot take, with its name in err. */
int knobs_of(struct knobs *knobs, const struct workload *workload, const struct platform *platform,
	     const struct param_set *set, struct err *err);

#endif
