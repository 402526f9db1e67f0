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
 * all ranks, contiguous one after the other or interleaved in equal pieces. They are left out while
 * other hints are in force than those that the file was opened with.
 *
 *   model    path of the model (default: the setting model.path)
 *   factor   how much longer than the interval a very slow access takes (2)
 *
 * The plug-in `model_hints` does the same, and acts: where the model predicts a speedup that is
 * certain, it suggests hints for further accesses of the kind, measures these, and withdraws the
 * hints if they were not faster (hint_trial.h). Its part in the program changes the hints
 * (capture/inline/suggested.h).
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
#define PREDICTED_CHANGED_MAX 256 /* different sets of changed hints */

extern const struct sluice_plugin plugin_predicted, plugin_model_hints;

#endif
