/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The control page of a run: the shared file that tells guests how to record, and that `sluice
 * trace recover` reads if the collector is killed. contract/spool.h defines its layout.
 */
#ifndef SLUICE_OBSERVE_COLLECT_CONTROL_PAGE_H
#define SLUICE_OBSERVE_COLLECT_CONTROL_PAGE_H

#include "observe/collect/collector.h"

struct mapping;

/* Creates the page in the run's directory and maps it. The caller closes the mapping. */
int control_page_create(struct mapping *mapping, const char *directory,
			const struct collector_options *options, struct err *err);

/* Stores what recovery needs: the collector's process, the clock, the run and its trace. */
void control_page_describe(struct control *control, const struct run_clock *clock,
			   const struct run_info *run, const char *trace);

/* Stores how long a tick is, as known now. */
void control_page_refine(struct control *control, const struct run_clock *clock);

#endif
