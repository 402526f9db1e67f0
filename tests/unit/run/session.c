/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions report exit codes as a shell does, recorded or not. What a recording contains is tested
 * with the real command (tests/run).
 */
#include "run/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static char directory[] = "/tmp/sluice-session-XXXXXX";

static int run(char **argv, struct session_result *result, struct err *err)
{
	AUTO_FREE char *output = xprintf("%s/trace.sluice", directory);
	struct config config;
	struct session_options options = {
		.config = &config,
		.argv = argv,
		.output = output,
		.form = &trace_container,
	};
	int r;

	config_init(&config);
	unsetenv("SLUICE_SPOOL");
	r = session_run(&options, result, err);
	config_release(&config);
	unlink(output);
	return r;
}

static void the_exit_code_is_the_programs(void)
{
	char *good[] = { "true", NULL }, *bad[] = { "sh", "-c", "exit 7", NULL };
	struct session_result result;

	CHECK_INT(run(good, &result, NULL), 0);
	CHECK_INT(result.exit_code, 0);
	CHECK_INT(run(bad, &result, NULL), 0);
	CHECK_INT(result.exit_code, 7);
}

static void a_signal_is_reported_as_in_a_shell(void)
{
	char *argv[] = { "sh", "-c", "kill -TERM $$", NULL };
	struct session_result result;

	CHECK_INT(run(argv, &result, NULL), 0);
	CHECK_INT(result.exit_code, 128 + SIGTERM);
}

static void a_program_that_cannot_be_started_is_an_error(void)
{
	AUTO_FREE char *broken = xprintf("%s/broken", directory);
	char *missing[] = { "/nonexistent/program", NULL }, *script[] = { broken, NULL };
	struct session_result result;
	struct err err = { 0 };
	FILE *f;

	CHECK_INT(run(missing, &result, &err), -ENOENT);
	CHECK_INT(result.exit_code, 127);
	CHECK(strstr(err.text, "/nonexistent/program"));
	/* The failure of exec() comes from the child. */
	f = fopen(broken, "w");
	REQUIRE(f);
	fputs("#!/nonexistent/interpreter\n", f);
	fchmod(fileno(f), 0755);
	fclose(f);
	CHECK_INT(run(script, &result, &err), -ENOENT);
	CHECK_INT(result.exit_code, 127);
	CHECK(strstr(err.text, "broken"));
	unlink(broken);
}

static void signal_handlers_are_restored(void)
{
	char *argv[] = { "true", NULL };
	struct session_result result;
	struct sigaction now;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	CHECK_INT(run(argv, &result, NULL), 0);
	sigaction(SIGINT, NULL, &now);
	CHECK(now.sa_handler == SIG_DFL);
	sigaction(SIGTERM, NULL, &now);
	CHECK(now.sa_handler == SIG_DFL);
	rmdir(directory);
}

static void prepare_directory(void)
{
	REQUIRE(mkdtemp(directory));
}

TESTS(TEST(prepare_directory), TEST(the_exit_code_is_the_programs),
      TEST(a_signal_is_reported_as_in_a_shell), TEST(a_program_that_cannot_be_started_is_an_error),
      TEST(signal_handlers_are_restored))
