/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders a contrast of two groups of runs. Renderers write to the given stream and decide nothing.
 */
#ifndef SLUICE_OBSERVE_COMPARE_RENDER_COMPARE_H
#define SLUICE_OBSERVE_COMPARE_RENDER_COMPARE_H

#include <stdio.h>

struct contrast;

/* For people: the verdict, what changed, and tables. */
void render_compare_text(FILE *out, const struct contrast *contrast);

/* One object of schema sluice.compare/1. */
void render_compare_json(FILE *out, const struct contrast *contrast);

/* One line per row and measure. */
void render_compare_csv(FILE *out, const struct contrast *contrast);

/* The run times as `hyperfine --export-json` writes them. */
void render_compare_hyperfine(FILE *out, const struct contrast *contrast);

#endif
