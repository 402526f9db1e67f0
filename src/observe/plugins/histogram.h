/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The histogram of SIOX: an asynchronous plug-in that learns how long calls take, grades later
 * calls from very slow to very fast (grading.h), and reports the grades to the reasoners. It stores
 * the durations per host, so that the next run can grade its first calls.
 *
 * It grades successful calls of the configured classes in all layers. It does not grade calls on
 * sockets and pipes, because their duration depends on the peer.
 *
 * Options, in [plugin.histogram]:
 *   learn = 1000                 calls of a kind before they are graded
 *   quantiles = 1 10 90 99       percentiles: very fast, fast, slow, very slow
 *   factor = 4                   a very slow call takes at least this multiple of the median
 *   floor = 100us                and at least this time
 *   classes = open close ...     classes of calls, as `sluice print` names them
 *   freeze = yes                 no: update the thresholds during the run
 *   store = PATH                 default: the setting store.path
 */
#ifndef SLUICE_OBSERVE_PLUGINS_HISTOGRAM_H
#define SLUICE_OBSERVE_PLUGINS_HISTOGRAM_H

#include <sluice/plugin.h>

extern const struct sluice_plugin plugin_histogram;

#endif
