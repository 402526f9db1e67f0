/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output of `sluice plot`: converts SVG to PNG with the program rsvg-convert (librsvg), which is
 * needed only for that.
 */
#ifndef SLUICE_CMD_PLOT_OUTPUT_H
#define SLUICE_CMD_PLOT_OUTPUT_H

struct buf;
struct err;

/* Appends the PNG, twice as wide and high as the SVG. -ENOENT: there is no such program. */
int plot_output_png(const struct buf *svg, struct buf *png, struct err *err);

#endif
