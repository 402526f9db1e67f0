/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The histogram of SIOX: an asynchronous plug-in that learns how long calls take, grades later ones
 * from very slow to very fast (grading.h), and tells the reasoners. What it learnt is kept in the
 * store, per host, so that the next run knows it from its first call on.
 *
 * Graded are calls of all layers, each as one of its own layer, of these classes, that did not
 * fail. Those on sockets and pipes are not: how long they take is up to the other end.
 *
 * Options, in [plugin.histogram]:
 *   learn = 1000                 calls of a kind before they are graded
 *   quantiles = 1 10 90 99       percent: very fast, fast, slow, very slow
 *   factor = 4                   very slow is also so many times the median
 *   floor = 100us                and longer than this
 *   classes = open close ...     classes of calls, as `sluice print` names them
 *   freeze = yes                 no: thresholds follow what is seen
 *   store = PATH                 where it is kept; the setting store.path
 */
#ifndef SLUICE_OBSERVE_PLUGINS_HISTOGRAM_H
#define SLUICE_OBSERVE_PLUGINS_HISTOGRAM_H

#include <sluice/plugin.h>

extern const struct sluice_plugin plugin_histogram;

#endif
