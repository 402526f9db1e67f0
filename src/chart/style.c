/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart/style.h"

#include <math.h>
#include <stddef.h>

#include "base/buf.h"

struct style_rule {
	const char *selector, *property;
	const char *light, *dark;
};

/*
 * Plain values instead of CSS variables: converters such as librsvg do not know the latter. On
 * dark, the colors of series are brighter.
 */
static const struct style_rule rules[] = {
	{ "text", "fill", "#222", "#ddd" },	  { ".mute", "fill", "#5c5c5c", "#a8a8a8" },
	{ ".bg", "fill", "#fff", "#17191d" },	  { ".grid", "stroke", "#e4e4e4", "#33363c" },
	{ ".axis", "stroke", "#8a8a8a", "#777" }, { ".rule", "stroke", "#444", "#bbb" },
	{ ".box", "stroke", "#222", "#ddd" },	  { ".edge", "stroke", "#fff", "#17191d" },
	{ ".q0", "fill", "#fde725", "#440154" },  { ".q1", "fill", "#addc30", "#472d7b" },
	{ ".q2", "fill", "#5ec962", "#3b528b" },  { ".q3", "fill", "#28ae80", "#2c728e" },
	{ ".q4", "fill", "#21918c", "#21918c" },  { ".q5", "fill", "#2c728e", "#28ae80" },
	{ ".q6", "fill", "#3b528b", "#5ec962" },  { ".q7", "fill", "#472d7b", "#addc30" },
	{ ".q8", "fill", "#440154", "#fde725" },
};

static const struct {
	const char *light, *dark;
} series[STYLE_SERIES] = {
	{ "#0072b2", "#4aa8e0" }, { "#e69f00", "#f0b429" }, { "#009e73", "#2cc295" },
	{ "#d55e00", "#f5823c" }, { "#cc79a7", "#e0a0c4" }, { "#56b4e9", "#9ad4f5" },
	{ "#7f7f7f", "#9c9c9c" }, { "#222222", "#e6e6e6" },
};

static const char fixed[] =
	".sluice-plot text{font-family:system-ui,'Helvetica Neue',Arial,sans-serif;font-size:12px}"
	".sluice-plot .title{font-size:17px;font-weight:600}"
	".sluice-plot .head{font-weight:600}"
	".sluice-plot .soft{fill-opacity:.55;stroke-opacity:.55}"
	".sluice-plot .faint{fill-opacity:.25}"
	".sluice-plot .dots{stroke-width:3;stroke-linecap:round}"
	".sluice-plot .fine{stroke-opacity:.4}"
	".sluice-plot .big{stroke-width:6}"
	".sluice-plot .wide{stroke-width:2.5}"
	".sluice-plot .thin{stroke-width:1}"
	".sluice-plot .rule{stroke-dasharray:5 4}"
	".sluice-plot .dotted{stroke-dasharray:1 3}"
	".sluice-plot .crisp{shape-rendering:crispEdges}";

static void put_rules(struct buf *out, enum style_theme theme)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		buf_printf(out, ".sluice-plot %s{%s:%s}", rules[i].selector, rules[i].property,
			   theme == STYLE_DARK ? rules[i].dark : rules[i].light);
	for (int i = 0; i < STYLE_SERIES; i++) {
		const char *color = theme == STYLE_DARK ? series[i].dark : series[i].light;

		buf_printf(out,
			   ".sluice-plot .c%d{fill:%s}.sluice-plot .k%d{stroke:%s;fill:none;"
			   "stroke-width:1.5}",
			   i, color, i, color);
	}
}

void style_rules(enum style_theme theme, struct buf *out)
{
	put_rules(out, theme == STYLE_DARK ? STYLE_DARK : STYLE_LIGHT);
	if (theme == STYLE_AUTO) {
		buf_puts(out, "@media (prefers-color-scheme:dark){");
		put_rules(out, STYLE_DARK);
		buf_puts(out, "}");
	}
	buf_puts(out, fixed);
}

const char *style_fill(unsigned number)
{
	static const char *const classes[STYLE_SERIES] = { "c0", "c1", "c2", "c3",
							   "c4", "c5", "c6", "c7" };

	return classes[number % STYLE_SERIES];
}

const char *style_ramp(double share)
{
	static const char *const classes[STYLE_RAMP] = { "q0", "q1", "q2", "q3", "q4",
							 "q5", "q6", "q7", "q8" };

	if (!(share >= 0))
		return NULL;
	return classes[share >= 1 ? STYLE_RAMP - 1 : (int)(share * STYLE_RAMP)];
}
