/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalogue: an asynchronous plug-in that registers in the store what a run has to do with
 * (store/catalogue.h): the layers and calls that were used, the attributes that records of them
 * carry, the node and its block devices; and the facts of the run: who ran what, where, as which
 * job, its processes, and the hint sets its files were opened with.
 *
 * Who, where and as which job is written when the run starts, so that one that is killed is known
 * as well; the rest at its end, as one transaction. The facts of the newest CATALOGUE_RUNS_KEPT
 * runs are kept, and of each run those of its first CATALOGUE_PROCESSES_MAX processes and
 * CATALOGUE_HINT_SETS_MAX hint sets.
 *
 * Option, in [plugin.catalogue]:
 *   store = PATH       the setting store.path
 */
#ifndef SLUICE_OBSERVE_PLUGINS_CATALOGUE_H
#define SLUICE_OBSERVE_PLUGINS_CATALOGUE_H

#include <sluice/plugin.h>

#define CATALOGUE_RUNS_KEPT 1000
#define CATALOGUE_PROCESSES_MAX 4096
#define CATALOGUE_HINT_SETS_MAX 1024

extern const struct sluice_plugin plugin_catalogue;

#endif
