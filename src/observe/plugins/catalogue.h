/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalogue: an asynchronous plug-in that registers in the store what a run used
 * (store/catalog.h): the layers and calls, the attributes of their records, the node and its
 * block devices. It also stores facts of the run: the user, host and job, the processes, and the
 * hint sets of the opened files.
 *
 * User, host and job are written when the run starts, so that a run that is killed is known as
 * well. The rest is written at the end of the run in one transaction. The store keeps the facts of
 * the newest CATALOGUE_RUNS_KEPT runs, and for each run those of its first CATALOGUE_PROCESSES_MAX
 * processes and CATALOGUE_HINT_SETS_MAX hint sets.
 *
 * Option, in [plugin.catalogue]:
 *   store = PATH       default: the setting store.path
 */
#ifndef SLUICE_OBSERVE_PLUGINS_CATALOGUE_H
#define SLUICE_OBSERVE_PLUGINS_CATALOGUE_H

#include <sluice/plugin.h>

#define CATALOGUE_RUNS_KEPT 1000
#define CATALOGUE_PROCESSES_MAX 4096
#define CATALOGUE_HINT_SETS_MAX 1024

extern const struct sluice_plugin plugin_catalogue;

#endif
