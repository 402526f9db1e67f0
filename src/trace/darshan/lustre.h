/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module LUSTRE: the layout of each file.
 */
#ifndef SLUICE_TRACE_DARSHAN_LUSTRE_H
#define SLUICE_TRACE_DARSHAN_LUSTRE_H

#include "trace/darshan/import.h"

/* The layout of a file; of a file with several components, that of its last one. */
struct stripes {
	int64_t bytes, count;
};

/* Fills the map with struct stripes by record id. A damaged module is noted. */
void lustre_read(struct import *import, struct map *stripes);
void stripes_release(struct map *stripes);

#endif
