/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-in `expected`: compares the calls of a run with the durations that the site has learned
 * for the program, the file system, the access pattern and the size of the call, or for all
 * programs if it knows nothing of this one. The daemon of the node serves them
 * (contract/knowledge.h); the page is read once, when the run starts, into private memory. Without
 * a page, the plug-in does nothing.
 *
 * It is a detector: calls that take longer than 99 % of what the site has seen are slow, and very
 * slow if they take `factor` times as long. The report names the kinds of calls that were slow
 * more often than that, the expectation, and what it was learned from.
 *
 *   page     path of the knowledge page (default: that of the site of this node)
 *   factor   how much longer than the slowest expected calls a very slow call takes (2)
 *   floor    calls that are shorter are never slow (100us)
 */
#ifndef SLUICE_OBSERVE_PLUGINS_EXPECTED_H
#define SLUICE_OBSERVE_PLUGINS_EXPECTED_H

#include <sluice/plugin.h>

/* The bounds of its memory. */
#define EXPECTED_KINDS_MAX 2048
#define EXPECTED_POSITIONS_MAX 65536

extern const struct sluice_plugin plugin_expected;

#endif
