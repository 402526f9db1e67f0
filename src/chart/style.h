/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Colors of charts. Elements name classes, and one style sheet inside the SVG gives the classes
 * their colors, so a file looks right alone, in a page, and on light and dark backgrounds.
 *
 * Series have the colors of Okabe and Ito (2008), which color-blind people can distinguish. The
 * ramp for quantities is that of viridis, which grows evenly in brightness; it starts near the
 * background.
 *
 *   c0 .. c7   filled with the color of a series      k0 .. k7   drawn with it, 1.5 pixels wide
 *   q0 .. q8   filled with a color of the ramp
 *   bg, grid, axis, rule   background, lines of the grid, axes, dashed lines
 *   title, head, mute       texts: title, heading of a panel, secondary
 *   soft, faint, fine      translucent
 *   dots, big, wide, thin  lines: round, 3 pixels wide; 6 pixels; 2.5 pixels; 1 pixel
 *   box, edge, crisp       outlined in the color of texts, of the background; without smoothing
 */
#ifndef SLUICE_CHART_STYLE_H
#define SLUICE_CHART_STYLE_H

struct buf;

enum style_theme { STYLE_AUTO, STYLE_LIGHT, STYLE_DARK }; /* auto: as the viewer prefers */
#define STYLE_THEMES "auto|light|dark"

#define STYLE_SERIES 8
#define STYLE_RAMP 9

/* Appends the content of a style element. */
void style_rules(enum style_theme theme, struct buf *out);

/* The class that fills with the color of a series; the colors repeat. */
const char *style_fill(unsigned series);

/* The class of a share of the ramp, 0 to 1; NULL for a share that is negative or NAN. */
const char *style_ramp(double share);

#endif
