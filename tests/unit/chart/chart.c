/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart/chart.h"

#include <math.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "svg_check.h"

/* The first rectangle after the background and the legend's only square. */
static const char *find_first_bar(const char *svg)
{
	const char *at = strstr(svg, "<rect x=");

	for (int i = 0; at && i < 2; i++)
		at = strstr(at + 1, "<rect x=");
	return at;
}

static void a_bar_is_as_long_as_its_value(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct chart chart;
	double y[2], height[2];
	const char *at;
	size_t s;

	chart_init(&chart, "t", "x", "y");
	s = chart_series(&chart, CHART_BARS, "one");
	for (int i = 1; i <= 2; i++) {
		chart_category(&chart, "%d", i);
		chart_value(&chart, s, i);
	}
	chart_svg(&chart, &out);
	check_well_formed(out.data);
	at = find_first_bar(out.data);
	for (int i = 0; i < 2; i++) {
		REQUIRE(at && sscanf(at, "<rect x=\"%*f\" y=\"%lf\" width=\"%*f\" height=\"%lf\"",
				     &y[i], &height[i]) == 2);
		at = strstr(at + 1, "<rect x=");
	}
	CHECK(fabs(height[1] - 2 * height[0]) < 0.3);
	CHECK(fabs(y[0] + height[0] - y[1] - height[1]) < 0.3);
	CHECK_INT(count_parts(out.data, "<rect x="), 4);
	chart_release(&chart);
}

static void decades_have_equal_heights_on_a_logarithmic_axis(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct chart chart;
	double x[3], y[3];
	size_t s;

	chart_init(&chart, "t", "x", "y");
	chart.logarithmic = true;
	s = chart_series(&chart, CHART_LINES, "one");
	for (int i = 0; i < 3; i++) {
		chart_category(&chart, "%d", i);
		chart_value(&chart, s, pow(10, i));
	}
	chart_svg(&chart, &out);
	check_well_formed(out.data);
	REQUIRE(strstr(out.data, "points=\"") &&
		sscanf(strstr(out.data, "points=\""), "points=\"%lf,%lf %lf,%lf %lf,%lf", &x[0],
		       &y[0], &x[1], &y[1], &x[2], &y[2]) == 6);
	CHECK(fabs((y[0] - y[1]) - (y[1] - y[2])) < 0.3 && y[0] > y[1]);
	CHECK(fabs((x[1] - x[0]) - (x[2] - x[1])) < 0.3 && x[1] > x[0]);
	CHECK(strstr(out.data, ">1</text>") && strstr(out.data, ">100</text>"));
	chart_release(&chart);
}

static void values_that_cannot_be_shown_are_left_out(void)
{
	AUTO_BUF struct buf out = { 0 };
	static const double values[] = { 1, NAN, 2, 3, 0, INFINITY, -1, 4 };
	struct chart chart;
	size_t line, box;

	chart_init(&chart, "t", "x", "y");
	chart.logarithmic = true;
	line = chart_series(&chart, CHART_LINES, "line");
	box = chart_series(&chart, CHART_BOXES, "box");
	for (size_t i = 0; i < 8; i++) {
		double v = values[i];

		chart_category(&chart, "%zu", i);
		chart_value(&chart, line, v);
		chart_box(&chart, box, &(struct chart_box){ v, v, v * 2, v * 3, v * 4 });
	}
	chart_value(&chart, line, 1e9); /* beyond the categories */
	chart_svg(&chart, &out);
	check_well_formed(out.data);
	CHECK_INT(count_parts(out.data, "<circle"), 4);
	CHECK_INT(count_parts(out.data, "soft box\""), 4);
	CHECK(!strstr(out.data, "1e+"));
	chart_release(&chart);
}

static void texts_are_escaped(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct chart chart;

	chart_init(&chart, "a < b & \"c\" > d\x01", "x", "y");
	chart_category(&chart, "<script>");
	chart_value(&chart, chart_series(&chart, CHART_BARS, "</svg>"), 1);
	chart_level(&chart, 1, "<&");
	chart_svg(&chart, &out);
	check_well_formed(out.data);
	CHECK(strstr(out.data, "a &lt; b &amp; &quot;c&quot; &gt; d\\x01</text>"));
	CHECK(!strstr(out.data, "<script>"));
	CHECK_INT(count_parts(out.data, "</svg>"), 1);
	chart_release(&chart);
}

static void names_of_near_levels_do_not_overlap(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct chart chart;
	double y[2];
	size_t s;

	chart_init(&chart, "t", "x", "y");
	chart_category(&chart, "a");
	chart_category(&chart, "b");
	s = chart_series(&chart, CHART_LINES, "");
	chart_value(&chart, s, 0);
	chart_value(&chart, s, 100);
	chart_level(&chart, 50, "first");
	chart_level(&chart, 51, "second");
	chart_svg(&chart, &out);
	for (int i = 0; i < 2; i++) {
		char *at = strstr(out.data, i ? ">second<" : ">first<");

		REQUIRE(at);
		while (strncmp(at, "<text", 5) != 0)
			at--;
		REQUIRE(sscanf(at, "<text x=\"%*f\" y=\"%lf\"", &y[i]) == 1);
	}
	CHECK(fabs(y[0] - y[1]) > 12);
	chart_release(&chart);
}

static void an_empty_chart_says_so(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct chart chart;

	chart_init(&chart, "t", "x", "y");
	chart_series(&chart, CHART_BOXES, "none");
	chart_level(&chart, 1, NULL);
	chart_svg(&chart, &out);
	check_well_formed(out.data);
	CHECK(strstr(out.data, "no values"));
	chart_release(&chart);
	chart_release(&chart);
}

static void one_value_has_an_axis_with_ticks(void)
{
	static const double values[] = { 0, 5, -3, 1e-300, 1e300 };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		AUTO_BUF struct buf out = { 0 };
		struct chart chart;

		chart_init(&chart, "t", "x", "y");
		chart_category(&chart, "only");
		chart_value(&chart, chart_series(&chart, CHART_LINES, ""), values[i]);
		chart_svg(&chart, &out);
		check_well_formed(out.data);
		CHECK(count_parts(out.data, "text-anchor=\"end\"") >= 2);
		chart_release(&chart);
	}
}

static void many_categories_are_thinned(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct chart chart;
	size_t s;

	chart_init(&chart, "t", "x", "y");
	s = chart_series(&chart, CHART_LINES, "many");
	for (int i = 0; i < 500; i++) {
		chart_category(&chart, "instance %d", i);
		chart_value(&chart, s, i);
	}
	chart_svg(&chart, &out);
	check_well_formed(out.data);
	CHECK(count_parts(out.data, ">instance ") > 20 &&
	      count_parts(out.data, ">instance ") < 100);
	CHECK_INT(count_parts(out.data, "<circle"), 500);
	chart_release(&chart);
}

static void bins_are_drawn_at_their_numbers(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct chart chart;
	double x[2], width[2];
	const char *at;
	size_t s, line;

	chart_init(&chart, "t", "x", "y");
	chart_axis(&chart, 0, 10);
	s = chart_series(&chart, CHART_BARS, "bins");
	chart_bin(&chart, s, 1, 2, 5);
	chart_bin(&chart, s, 4, 6, 3);
	chart_bin(&chart, s, 9, 11,
		  100); /* outside of the axis: not drawn and not part of the range */
	line = chart_series(&chart, CHART_LINES, "line");
	for (int i = 0; i <= 100; i++)
		chart_point(&chart, line, i / 5.0, 4);
	chart_svg(&chart, &out);
	check_well_formed(out.data);
	at = find_first_bar(out.data);
	for (int i = 0; i < 2; i++) {
		REQUIRE(at && sscanf(at, "<rect x=\"%lf\" y=\"%*f\" width=\"%lf\"", &x[i],
				     &width[i]) == 2);
		at = strstr(at + 1, "<rect x=");
	}
	CHECK(fabs((x[1] - x[0]) / 3 - (width[0] + 0.5)) < 0.3);
	CHECK(fabs(width[1] - 2 * width[0] - 0.5) < 0.3);
	CHECK_INT(count_parts(out.data, "<rect x="), 4);
	CHECK(!strstr(out.data, ">100<"));
	CHECK(strstr(out.data, ">10<"));
	/* Points outside of the axis are not drawn, and curves have no dots. */
	CHECK_INT(count_parts(out.data, "<circle"), 0);
	CHECK(count_parts(strstr(out.data, "<polyline"), ",") >= 51);
	chart_release(&chart);
}

static void a_failed_write_names_the_file(void)
{
	struct chart chart;
	struct err err = { 0 };
	char path[] = "/tmp/sluice-chart-XXXXXX";
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	chart_init(&chart, "t", "x", "y");
	CHECK(chart_write(&chart, "/nonexistent/a.svg", &err) < 0);
	CHECK(strstr(err.text, "/nonexistent/a.svg"));
	CHECK_INT(chart_write(&chart, path, &err), 0);
	CHECK(lseek(fd, 0, SEEK_END) > 200);
	close(fd);
	unlink(path);
	chart_release(&chart);
}

TESTS(TEST(a_bar_is_as_long_as_its_value), TEST(decades_have_equal_heights_on_a_logarithmic_axis),
      TEST(values_that_cannot_be_shown_are_left_out), TEST(texts_are_escaped),
      TEST(names_of_near_levels_do_not_overlap), TEST(an_empty_chart_says_so),
      TEST(one_value_has_an_axis_with_ticks), TEST(many_categories_are_thinned),
      TEST(bins_are_drawn_at_their_numbers), TEST(a_failed_write_names_the_file))
