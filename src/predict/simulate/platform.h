/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptions of platforms for simulation: nodes, cores, network, file system, its servers, and
 * the constants of the cost model. A description is an INI file (share/platforms/NAME.ini), so a
 * site can describe its own platform; a comment states the source of every number. platform.c has
 * one row per key, and docs/reference/simulated/platforms.md explains the keys.
 *
 * A platform has the parameters of the catalog (params/tunable.h), including those of Blue Gene
 * (bgl_nodes_pset, bglockless, IBM_largeblock_io). The description states the site's defaults.
 */
#ifndef SLUICE_PREDICT_SIMULATE_PLATFORM_H
#define SLUICE_PREDICT_SIMULATE_PLATFORM_H

#include "params/space.h"

struct platform; /* opaque; the model reads it (predict/simulate/description.h) */

/*
 * Opens a description by name, or by path if the argument contains a slash or ends in ".ini". Names
 * are searched in $SLUICE_PLATFORMS, beside the binary (build tree), and in
 * ../share/sluice/platforms (installation). Errors name file and line.
 */
int platform_open(struct platform **platform, const char *name, struct err *err);

/* Reads a description from memory; name is used in messages. The text may contain any bytes. */
int platform_read_text(struct platform **platform, const char *name, const char *text, size_t bytes,
		       struct err *err);
void platform_close(struct platform *platform); /* accepts NULL */

const char *platform_name(const struct platform *platform);
double platform_peak(const struct platform *platform); /* of the file system, in bytes per second */
void platform_context(const struct platform *platform, struct tunable_context *context);

#endif
