/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Notes the stripes of the files that a run has used, where the file system has stripes.
 */
#ifndef SLUICE_RUN_LAYOUTS_H
#define SLUICE_RUN_LAYOUTS_H

struct collector;

/* Before collector_close(). Asks for no further file after a second. */
void layouts_note(struct collector *collector);

#endif
