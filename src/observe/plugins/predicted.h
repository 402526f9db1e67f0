/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-in `predicted`: compares the time of collective accesses with the prediction interval of
 * the hybrid model of this machine (predict/model/hybrid/hybrid.h), while the program runs.
 *
 * It is a detector: an access that takes longer than the interval allows is slow, and very slow if
 * it takes `factor` times as long; one that takes less is fast. The time is that from the first
 * rank that begins to the last that ends, as in the calibration. An access counts once for each
 * process that takes part. The report names the state of the calibration, and the accesses that
 * were slower than the interval more often than it allows.
 *
 * Only predictions are used whose interval is calibrated for such accesses on this host: without a
 * fitted or a calibrated model, and for one of another host, the plug-in says so and grades
 * nothing. Accesses are compared if they have exactly a form that the model counts: equal shares of
 * all ranks, contiguous one after the other or interleaved in equal pieces. A file is left out
 * after its hints were changed while it was open.
 *
 *   model    path of the model (default: the setting model.path)
 *   factor   how much longer than the interval a very slow access takes (2)
 * Papers: SIOX-2.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_PREDICTED_H
#define SLUICE_OBSERVE_PLUGINS_PREDICTED_H

#include <sluice/plugin.h>

/* The bounds of its memory: kinds of accesses, accesses under way, openings, and ranks of one. */
#define PREDICTED_KINDS_MAX 256
#define PREDICTED_JOINTS_MAX 1024
#define PREDICTED_OPENINGS_MAX 16384
#define PREDICTED_RANKS_MAX 4096

extern const struct sluice_plugin plugin_predicted;

#endif
