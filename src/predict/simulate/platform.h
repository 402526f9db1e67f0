/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Platforms that we cannot run on, described: nodes, cores, network, file system, its servers, and
 * the constants of the cost model. A description is an INI file (share/platforms/NAME.ini), so that
 * a site can describe its own; every number says in a comment where it comes from. Which keys there
 * are, and what they mean, is in the rows of platform.c and in docs/platforms.md.
 *
 * Parameters of a described platform are those of the catalogue; a platform may know the paper's
 * own (bgl_nodes_pset, bglockless, IBM_largeblock_io). What counts if nothing is set are the site's
 * defaults, in the description too.
 */
#ifndef SLUICE_PREDICT_SIMULATE_PLATFORM_H
#define SLUICE_PREDICT_SIMULATE_PLATFORM_H

#include "params/space.h"

struct platform; /* opaque: the model reads it, predict/simulate/description.h */

/*
 * By name, or by the path of a description (it has a slash or ends in ".ini"). A name is looked for
 * in $SLUICE_PLATFORMS, beside the binary (build tree), and in ../share/sluice/platforms
 * (installed). err names file and line.
 */
int platform_open(struct platform **platform, const char *name, struct err *err);

/* The same from memory; name stands for the file in messages. The text may hold any bytes. */
int platform_read_text(struct platform **platform, const char *name, const char *text, size_t bytes,
		       struct err *err);
void platform_close(struct platform *platform); /* NULL is fine */

const char *platform_name(const struct platform *platform);
const char *platform_title(const struct platform *platform); /* what it is, for people */
double platform_peak(const struct platform *platform); /* bytes/s that its file system can do */
void platform_context(const struct platform *platform, struct tunable_context *context);

#endif
