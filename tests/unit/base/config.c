/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/config.h"

#include <errno.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static void read_text(struct config *config, const char *text)
{
	config_init(config);
	config_read_text(config, "test.conf", text, strlen(text));
}

static void defaults_are_valid(void)
{
	struct config c;

	config_init(&c);
	CHECK_INT(c.problem_count, 0);
	CHECK_INT(config_choice(&c, SETTING_CAPTURE_MODE), CONFIG_MODE_TRACE);
	CHECK_INT(config_number(&c, SETTING_SPOOL_LIMIT), 1 << 30);
	CHECK_TEXT(config_text(&c, SETTING_SPOOL_DIR), "auto");
	CHECK_TEXT(c.values[SETTING_SPOOL_DIR].origin, "default");
	for (int id = 0; id < SETTING_COUNT; id++)
		CHECK(c.values[id].text && c.values[id].origin);
	config_release(&c);
}

static void a_file_sets_values_and_their_origin(void)
{
	struct config c;

	read_text(&c, "# a comment\n[capture]\nmode = counters\n  skip = bash, sh ; "
		      "why\n\n[spool]\nlimit: 2M\n");
	CHECK_INT(c.problem_count, 0);
	CHECK_INT(config_choice(&c, SETTING_CAPTURE_MODE), CONFIG_MODE_COUNTERS);
	CHECK_TEXT(c.values[SETTING_CAPTURE_MODE].origin, "test.conf:3");
	CHECK_TEXT(config_text(&c, SETTING_CAPTURE_SKIP), "bash, sh");
	CHECK_TEXT(c.values[SETTING_CAPTURE_SKIP].origin, "test.conf:4");
	CHECK_INT(config_number(&c, SETTING_SPOOL_LIMIT), 2 << 20);
	CHECK_TEXT(c.values[SETTING_SPOOL_LIMIT].origin, "test.conf:7");
	config_release(&c);
}

static void each_mistake_is_reported_with_its_line(void)
{
	static const struct {
		const char *text, *problem; /* key words of the message */
	} cases[] = {
		{ "[captur]\nmode = off\n", "2:|section|[captur]" },
		{ "[captur]\nmode = off\n", "[spool]|[trace]|[store]|[plugins]" },
		{ "[capture]\nmoed = off\n", "2:|\"moed\"|[capture]" },
		{ "[capture]\nmoed = off\n", "mode|skip|clock|messages" },
		{ "\n[capture]\nmode = maybe\n", "3:|capture.mode|\"maybe\"" },
		{ "[spool]\nlimit = lots", "2:|spool.limit|\"lots\"" },
		{ "mode = off\n", "1:|assignment" },
		{ "[capture\nmode = off\n", "1:|]" },
		{ "[capture]\nmode off\n", "2: expected" },
		{ "[plugins.POSIX]\nlaod = x\n", "2:|\"laod\"" },
		{ "[plugin.]\nkey = x\n", "2:|[plugin.]" },
		{ "[plugin.0123456789012345678901234567890123456789012345]\nkey = x\n",
		  "1:|section name" },
		{ "[stats]\nperiod = soon\n", "2:|stats.period|\"soon\"" },
		{ "[capture]\n= off\n", "2: expected" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct config c;

		read_text(&c, cases[i].text);
		REQUIRE(c.problem_count >= 1);
		CHECK(strncmp(c.problems[0], "test.conf:", 10) == 0);
		CHECK_WORDS(c.problems[0], cases[i].problem);
		CHECK_INT(config_choice(&c, SETTING_CAPTURE_MODE), CONFIG_MODE_TRACE);
		config_release(&c);
	}
}

static void valid_lines_are_used_despite_invalid_ones(void)
{
	struct config c;

	read_text(&c, "[capture]\nmode = maybe\nclock = monotonic\n[run]\nsummary = yes\n");
	CHECK_INT(c.problem_count, 1);
	CHECK_INT(config_choice(&c, SETTING_CAPTURE_MODE), CONFIG_MODE_TRACE);
	CHECK_INT(config_choice(&c, SETTING_CAPTURE_CLOCK), CONFIG_CLOCK_MONOTONIC);
	CHECK_INT(config_choice(&c, SETTING_RUN_SUMMARY), CONFIG_WHEN_YES);
	config_release(&c);
}

static void long_lines_and_zero_bytes_are_problems(void)
{
	static const char zero[] = "[run]\nsummary = y\0es\nsummary = no\n";
	char text[1000];
	struct config c;

	memset(text, 'x', sizeof(text));
	memcpy(text, "[trace]\ndir = ", 14);
	text[sizeof(text) - 1] = 0;
	read_text(&c, text);
	CHECK_INT(c.problem_count, 1);
	config_release(&c);
	config_init(&c);
	config_read_text(&c, "test.conf", zero, sizeof(zero) - 1);
	CHECK_INT(c.problem_count, 1);
	CHECK_INT(config_choice(&c, SETTING_RUN_SUMMARY), CONFIG_WHEN_NO);
	CHECK_TEXT(c.values[SETTING_RUN_SUMMARY].origin, "test.conf:3");
	config_release(&c);
}

static void windows_line_ends_and_byte_order_marks_are_accepted(void)
{
	struct config c;

	read_text(&c, "\xEF\xBB\xBF[run]\r\nsummary = yes\r\n");
	CHECK_INT(c.problem_count, 0);
	CHECK_INT(config_choice(&c, SETTING_RUN_SUMMARY), CONFIG_WHEN_YES);
	config_release(&c);
}

static void the_command_line_assigns(void)
{
	struct config c;
	struct err err = { 0 };

	config_init(&c);
	CHECK_INT(config_assign(&c, "spool.limit=4K", "--set", &err), 0);
	CHECK_INT(config_number(&c, SETTING_SPOOL_LIMIT), 4096);
	CHECK_TEXT(c.values[SETTING_SPOOL_LIMIT].origin, "--set");
	CHECK_INT(config_assign(&c, "spool.limit", "--set", &err), -EINVAL);
	CHECK(strstr(err.text, "SECTION.KEY=VALUE"));
	CHECK_INT(config_assign(&c, "spool.limit=x", "--set", &err), -EINVAL);
	CHECK_INT(config_number(&c, SETTING_SPOOL_LIMIT), 4096);
	CHECK_INT(config_set(&c, SETTING_SPOOL_LIMIT, NULL, "--x", &err), 0);
	CHECK_TEXT(c.values[SETTING_SPOOL_LIMIT].origin, "--set");
	config_release(&c);
}

static void times_are_nanoseconds(void)
{
	struct config c;

	read_text(&c, "[stats]\nperiod = 250ms\n");
	CHECK_INT(c.problem_count, 0);
	CHECK_INT(config_number(&c, SETTING_STATS_PERIOD), 250000000);
	CHECK_INT(config_number(&c, SETTING_HEALTH_INTERVAL), 1000000000);
	config_release(&c);
}

static void sections_of_plugins_hold_any_key_and_the_last_counts(void)
{
	struct err err = { 0 };
	struct config c;

	read_text(&c, "[plugins.POSIX]\nload = a b\n[plugin.mine]\ndepth = 3\nshape = round\n");
	CHECK_INT(c.problem_count, 0);
	CHECK_INT(c.extra_count, 3);
	CHECK_TEXT(config_extra(&c, "plugins.POSIX", "load"), "a b");
	CHECK_TEXT(config_extra(&c, "plugin.mine", "depth"), "3");
	CHECK_TEXT(c.extras[1].origin, "test.conf:4");
	CHECK(!config_extra(&c, "plugin.mine", "width"));
	CHECK(!config_extra(&c, "plugin.other", "depth"));
	CHECK_INT(config_assign(&c, "plugin.mine.depth=a=b", "--set", &err), 0);
	CHECK_TEXT(config_extra(&c, "plugin.mine", "depth"), "a=b");
	CHECK_TEXT(c.extras[1].origin, "--set");
	CHECK_INT(config_assign(&c, "plugins.POSIX.Network.load=x", "--set", &err), 0);
	CHECK_TEXT(config_extra(&c, "plugins.POSIX.Network", "load"), "x");
	CHECK_INT(config_assign(&c, "plugins.POSIX.depth=x", "--set", &err), -EINVAL);
	CHECK_INT(c.extra_count, 4);
	config_release(&c);
}

static char *write_file(const char *text)
{
	char *path = check_path("config-XXXXXX");
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	REQUIRE(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	return path;
}

static void later_sources_win(void)
{
	AUTO_FREE char *etc = write_file("[capture]\nmode = off\nclock = monotonic\nskip = a\n");
	AUTO_FREE char *named = write_file("[capture]\nmode = counters\nskip = b\n");
	AUTO_FREE char *origin = xprintf("%s:2", named);
	struct config c;

	setenv("SLUICE_ETC", etc, 1);
	setenv("SLUICE_CONFIG", named, 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	setenv("SLUICE_CAPTURE_SKIP", "c", 1);
	config_load(&c);
	CHECK_INT(c.problem_count, 0);
	CHECK_INT(config_choice(&c, SETTING_CAPTURE_CLOCK), CONFIG_CLOCK_MONOTONIC);
	CHECK_INT(config_choice(&c, SETTING_CAPTURE_MODE), CONFIG_MODE_COUNTERS);
	CHECK_TEXT(c.values[SETTING_CAPTURE_MODE].origin, origin);
	CHECK_TEXT(config_text(&c, SETTING_CAPTURE_SKIP), "c");
	CHECK_TEXT(c.values[SETTING_CAPTURE_SKIP].origin, "SLUICE_CAPTURE_SKIP");
	config_release(&c);
	unlink(etc);
	unlink(named);
	config_load(&c);
	CHECK_INT(c.problem_count, 1); /* the file that SLUICE_CONFIG names is gone */
	config_release(&c);
	unsetenv("SLUICE_CONFIG");
	unsetenv("SLUICE_CAPTURE_SKIP");
}

static void misspelled_variables_are_problems(void)
{
	struct config c;

	setenv("SLUICE_CAPTURE_MOED", "off", 1);
	setenv("SLUICE_RUN_SUMMARY", "perhaps", 1);
	setenv("SLUICE_DISABLE", "1", 1);
	config_load(&c);
	REQUIRE(c.problem_count == 2);
	CHECK(strstr(c.problems[0], "SLUICE_CAPTURE_MOED"));
	CHECK(strstr(c.problems[1], "SLUICE_RUN_SUMMARY: run.summary: \"perhaps\""));
	config_release(&c);
	unsetenv("SLUICE_CAPTURE_MOED");
	unsetenv("SLUICE_RUN_SUMMARY");
	unsetenv("SLUICE_DISABLE");
}

static void old_names_still_set_their_settings(void)
{
	struct err err = { 0 };
	struct config c;

	read_text(&c, "[reason]\ncycle = 2s\ncalls = 3\nslow = 4\nload = 5\n[flight]\nring = 6\n");
	CHECK_INT(c.problem_count, 0);
	CHECK_INT(config_number(&c, SETTING_HEALTH_INTERVAL), 2000000000);
	CHECK_INT(config_number(&c, SETTING_HEALTH_MIN_CALLS), 3);
	CHECK_INT(config_number(&c, SETTING_HEALTH_SLOW_PERCENT), 4);
	CHECK_INT(config_number(&c, SETTING_HEALTH_BUSY_PERCENT), 5);
	CHECK_INT(config_number(&c, SETTING_FLIGHT_CALLS), 6);
	CHECK_INT(config_assign(&c, "stats.network=1K", "--set", &err), 0);
	CHECK_INT(config_find("reason.cycle", &err), SETTING_HEALTH_INTERVAL);
	CHECK_INT(config_find("health.interval", &err), SETTING_HEALTH_INTERVAL);
	CHECK_INT(config_find("reason", &err), -EINVAL);
	CHECK_INT(config_number(&c, SETTING_STATS_LINK_SPEED), 1024);
	config_release(&c);
}

static void an_old_variable_yields_to_the_new_one(void)
{
	struct config c;

	setenv("SLUICE_FLIGHT_RING", "7", 1);
	config_load(&c);
	CHECK_INT(c.problem_count, 0);
	CHECK_INT(config_number(&c, SETTING_FLIGHT_CALLS), 7);
	config_release(&c);
	setenv("SLUICE_FLIGHT_CALLS", "8", 1);
	config_load(&c);
	CHECK_INT(config_number(&c, SETTING_FLIGHT_CALLS), 8);
	CHECK_TEXT(c.values[SETTING_FLIGHT_CALLS].origin, "SLUICE_FLIGHT_CALLS");
	config_release(&c);
	unsetenv("SLUICE_FLIGHT_RING");
	unsetenv("SLUICE_FLIGHT_CALLS");
}

static void paths_are_expanded(void)
{
	struct config c;

	setenv("HOME", "/home/u", 1);
	unsetenv("XDG_DATA_HOME");
	config_init(&c);
	CHECK_TEXT(config_text(&c, SETTING_TRACE_DIR), "/home/u/.local/share/sluice/runs");
	config_release(&c);
	setenv("XDG_DATA_HOME", "/data", 1);
	config_init(&c);
	CHECK_TEXT(config_text(&c, SETTING_TRACE_DIR), "/data/sluice/runs");
	config_release(&c);
}

TESTS(TEST(defaults_are_valid), TEST(a_file_sets_values_and_their_origin),
      TEST(each_mistake_is_reported_with_its_line), TEST(valid_lines_are_used_despite_invalid_ones),
      TEST(long_lines_and_zero_bytes_are_problems),
      TEST(windows_line_ends_and_byte_order_marks_are_accepted), TEST(the_command_line_assigns),
      TEST(times_are_nanoseconds), TEST(sections_of_plugins_hold_any_key_and_the_last_counts),
      TEST(later_sources_win), TEST(misspelled_variables_are_problems), TEST(paths_are_expanded),
      TEST(old_names_still_set_their_settings), TEST(an_old_variable_yields_to_the_new_one))
