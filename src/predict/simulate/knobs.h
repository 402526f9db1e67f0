/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters of a run as numbers for the model. Parameters that are not set have the site's
 * defaults, and values are limited by what the platform has.
 */
#ifndef SLUICE_PREDICT_SIMULATE_KNOBS_H
#define SLUICE_PREDICT_SIMULATE_KNOBS_H

#include "predict/simulate/workload.h"

struct knobs {
	double stripes, unit;	    /* Lustre */
	double aggregators, buffer; /* of collective buffering */
	double threshold, boundary; /* HDF5 aligns objects >= threshold to multiples of boundary */
	double chunk;		    /* in bytes; 0: datasets are contiguous */
	bool is_lockless, is_largeblock; /* GPFS on Blue Gene */
};

/* -EINVAL: the model cannot use a value; err names the parameter. */
int knobs_from_params(struct knobs *knobs, const struct workload *workload,
		      const struct platform *platform, const struct param_set *set,
		      struct err *err);

#endif
