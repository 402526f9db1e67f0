/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The in-line plug-in served: suggests the hints for MPI_File_open that the database of the site
 * has learned for this program, from the knowledge page of the node (contract/knowledge.h). Guest.
 *
 * The page is mapped when the process joins its run and stays mapped, whatever the daemon does.
 * Finding an entry makes no system call.
 * Papers: SIOX-3.
 */
#ifndef SLUICE_CAPTURE_INLINE_SERVED_H
#define SLUICE_CAPTURE_INLINE_SERVED_H

#include <sluice/plugin.h>

#include "contract/knowledge.h"

#pragma GCC visibility push(hidden)

extern const struct sluice_plugin inline_served;

/* The page of this process; NULL if it has none. */
const struct knowledge *served_page(void);

/* The name of this program (contract/program.h). */
const char *served_program(void);

#pragma GCC visibility pop

#endif
