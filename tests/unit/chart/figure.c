/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart/figure.h"

#include <math.h>

#include "svg_check.h"

static void start_panel(struct figure *figure, struct panel *panel)
{
	struct panel_plan plan = { .title = "panel", .height = 100, .x_title = "x" };

	figure_init(figure, "title", "about");
	scale_init(&plan.x, SCALE_NUMBER, 0, 10);
	scale_init(&plan.y, SCALE_NUMBER, 0, 10);
	figure_panel(figure, panel, &plan);
}

static void hostile_texts_are_escaped(void)
{
	static const char evil[] = "</svg><script>&\"'\x01\x1b[31m\xff\xe2\x80\xae]]>";
	const struct figure_key keys[] = { { 0, evil, false }, { 1, evil, true } };
	AUTO_BUF struct buf out = { 0 };
	struct figure figure;
	struct panel panel;
	struct panel_plan plan = { .title = evil, .height = 50, .x_title = evil };
	struct scale scale;

	figure_init(&figure, evil, evil);
	figure_text(&figure, "%s", evil);
	figure_legend(&figure, keys, 2);
	scale_init(&scale, SCALE_BYTES, 0, 1);
	figure_ramp(&figure, evil, &scale);
	plan.x = plan.y = scale;
	figure_panel(&figure, &panel, &plan);
	panel_rect(&panel, "c0", 0, 1, 0, 1, evil);
	panel_row_name(&panel, 0.5, evil);
	panel_level(&panel, 0.5, evil);
	figure_svg(&figure, STYLE_AUTO, &out);
	check_well_formed(out.data);
	CHECK(!strstr(out.data, "<script") && !strchr(out.data, 1) && !strchr(out.data, 27));
	CHECK(!strstr(out.data, "\xff") && !strstr(out.data, "\xe2\x80\xae"));
	figure_release(&figure);
}

static void both_themes_are_in_the_file_unless_one_is_chosen(void)
{
	AUTO_BUF struct buf automatic = { 0 }, dark = { 0 };
	struct figure figure;

	figure_init(&figure, "title", "about");
	figure_svg(&figure, STYLE_AUTO, &automatic);
	figure_svg(&figure, STYLE_DARK, &dark);
	CHECK(strstr(automatic.data, "prefers-color-scheme:dark"));
	CHECK(!strstr(dark.data, "prefers-color-scheme"));
	CHECK(strstr(automatic.data, "<title>title</title>"));
	CHECK(strstr(automatic.data, "<desc>about</desc>"));
	CHECK(!strstr(automatic.data, "<script") && !strstr(automatic.data, "href"));
	figure_release(&figure);
}

static void values_outside_stay_in_the_panel(void)
{
	AUTO_BUF struct buf out = { 0 };
	const double x[] = { -5, 5, NAN, 15, 5 }, y[] = { 20, -3, 1, INFINITY, 5 };
	struct figure figure;
	struct panel panel;

	start_panel(&figure, &panel);
	CHECK_NEAR(panel_x(&panel, -1), panel.left, 1e-9);
	CHECK_NEAR(panel_x(&panel, 99), panel.left + panel.width, 1e-9);
	CHECK_NEAR(panel_y(&panel, 99), panel.top, 1e-9);
	CHECK(isnan(panel_y(&panel, NAN)));
	panel_line(&panel, 0, "", x, y, 5);
	panel_dots(&panel, 9, "soft", x, y, 5);
	panel_rect(&panel, "c0", 0, NAN, 0, 1, NULL);
	figure_svg(&figure, STYLE_LIGHT, &out);
	check_well_formed(out.data);
	figure_release(&figure);
}

/* Runs of equal cells are one rectangle. */
static void cells_of_a_line_are_joined(void)
{
	AUTO_BUF struct buf out = { 0 };
	const char *low = style_ramp(0), *high = style_ramp(1);
	const char *classes[] = { low, NULL, low, high, low, NULL }; /* 3 columns of 2 lines */
	struct figure figure;
	struct panel panel;

	start_panel(&figure, &panel);
	panel_cells(&panel, 3, 2, classes);
	figure_svg(&figure, STYLE_LIGHT, &out);
	check_well_formed(out.data);
	CHECK(strstr(out.data, "d=\"M0 1h3v1h-3z\" class=\"q0\""));
	CHECK(strstr(out.data, "d=\"M1 0h1v1h-1z\" class=\"q8\""));
	figure_release(&figure);
}

static void a_ramp_has_a_class_for_each_share(void)
{
	CHECK(!style_ramp(NAN) && !style_ramp(-0.1));
	CHECK_TEXT(style_ramp(0), "q0");
	CHECK_TEXT(style_ramp(0.5), "q4");
	CHECK_TEXT(style_ramp(1), "q8");
	CHECK_TEXT(style_ramp(7), "q8");
}

static void long_texts_keep_their_end(void)
{
	char *fitted = svg_fit("/a/very/long/path/to/the/file.h5", 120, 12);

	CHECK(svg_text_width(fitted, 12) <= 120);
	CHECK(strstr(fitted, "file.h5") && strstr(fitted, "…"));
	free(fitted);
	fitted = svg_fit("short", 120, 12);
	CHECK_TEXT(fitted, "short");
	free(fitted);
	fitted = svg_fit("too long", 10, 12);
	CHECK_TEXT(fitted, "");
	free(fitted);
	for (double width = 0; width < 400; width += 7) {
		fitted = svg_fit("\xff\xfeÄÖÜ\x01日本語のファイル名 and more", width, 12);
		CHECK(svg_text_width(fitted, 12) <= width);
		free(fitted);
	}
}

TESTS(TEST(hostile_texts_are_escaped), TEST(both_themes_are_in_the_file_unless_one_is_chosen),
      TEST(values_outside_stay_in_the_panel), TEST(cells_of_a_line_are_joined),
      TEST(a_ramp_has_a_class_for_each_share), TEST(long_texts_keep_their_end))
