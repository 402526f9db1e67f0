/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher returns the program's exit code as a shell does, whatever the recorder does. The
 * recorders of these tests are small functions, except one that records. What a recording contains
 * is tested with the real command (tests/run).
 */
#include "run/launcher.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "run/launch.h"
#include "run/session.h"

/* Starts a launcher in a process of its own, because it changes signal handlers. */
static pid_t start(char **argv, int (*record)(void *arg), void *arg)
{
	struct launcher_options options = { "test", argv, record, arg, NULL };
	pid_t pid;

	fflush(stdout);
	launcher_hold_signals();
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid)
		_exit(launcher_run(&options));
	launcher_release_signals();
	return pid;
}

/* The exit code of the launcher; -1 if a signal ended it. */
static int await(pid_t pid)
{
	int status = 0;

	CHECK_INT(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(char **argv, int (*record)(void *arg), void *arg)
{
	return await(start(argv, record, arg));
}

static int run_shell(const char *script, int (*record)(void *arg))
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };

	return run(argv, record, argv);
}

static int record_nothing(void *arg)
{
	(void)arg;
	launch_start_program(launch_link(), NULL, NULL);
	return 0;
}

static int record_truly(void *arg)
{
	AUTO_FREE char *output = check_path("trace.sluice");
	struct config config;
	struct session_options options = { .link = launch_link(),
					   .config = &config,
					   .argv = arg,
					   .output = output,
					   .form = &trace_container };
	struct session_result result;

	config_init(&config);
	session_record(&options, &result);
	config_release(&config);
	return 0;
}

static void the_exit_code_is_the_programs(void)
{
	unsetenv("SLUICE_SPOOL");
	CHECK_INT(run_shell("exit 0", record_nothing), 0);
	CHECK_INT(run_shell("exit 7", record_nothing), 7);
	CHECK_INT(run_shell("exit 7", record_truly), 7);
}

static void a_signal_is_reported_as_in_a_shell(void)
{
	CHECK_INT(run_shell("kill -TERM $$", record_nothing), 128 + SIGTERM);
	CHECK_INT(run_shell("kill -KILL $$", record_truly), 128 + SIGKILL);
}

static void a_program_that_cannot_be_executed_is_reported_as_in_a_shell(void)
{
	AUTO_FREE char *script = check_path("script");
	char *missing[] = { "/nonexistent/program", NULL }, *directory[] = { "/", NULL };
	char *broken[] = { script, NULL };
	FILE *f;

	CHECK_INT(run(missing, record_truly, missing), 127);
	CHECK_INT(run(directory, record_truly, directory), 126);
	f = fopen(script, "w");
	REQUIRE(f);
	fputs("#!/nonexistent/interpreter\n", f);
	fchmod(fileno(f), 0755);
	fclose(f);
	CHECK_INT(run(broken, record_truly, broken), 127);
}

static int move_command(void *arg)
{
	static const char prefix[] = "echo\0two words";

	launch_move_command(launch_link(), *(size_t *)arg, prefix, sizeof(prefix));
	launch_start_program(launch_link(), NULL, NULL);
	return 0;
}

/* What the program prints if the command is put before its word `at`; words[own] is its first. */
static void check_moved(char **words, size_t own, size_t at, const char *expected)
{
	AUTO_FREE char *path = check_path("printed");
	struct launcher_options options = { "test", words + own, move_command, &at, words };
	char printed[256] = "";
	FILE *f;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		REQUIRE(freopen(path, "w", stdout));
		launcher_hold_signals();
		_exit(launcher_run(&options));
	}
	CHECK_INT(await(pid), 0);
	f = fopen(path, "r");
	REQUIRE(f && fgets(printed, sizeof(printed), f));
	fclose(f);
	CHECK_TEXT(printed, expected);
}

static void the_command_moves_behind_words_of_the_program(void)
{
	char *words[] = { "test", "run", "-o", "x", "env", "A=1", "app", "-q", "--", NULL };
	char *dashed[] = { "test", "run", "--", "env", "app", NULL };

	check_moved(words, 4, 2, "two words run -o x -- app -q --\n");
	check_moved(words, 4, 1, "two words run -o x -- A=1 app -q --\n");
	check_moved(dashed, 3, 1, "two words run -- app\n");
}

static int refuse(void *arg)
{
	(void)arg;
	return 2;
}

static void a_program_is_not_started_if_its_command_line_is_refused(void)
{
	AUTO_FREE char *file = check_path("started");
	char *argv[] = { "touch", file, NULL };

	CHECK_INT(run(argv, refuse, NULL), 2);
	CHECK(access(file, F_OK) != 0);
}

static int die(void *arg)
{
	(void)arg;
	kill(getpid(), SIGKILL);
	return 0;
}

/* Counts its starts in a file, and lives from the third one on. */
static int die_twice(void *arg)
{
	AUTO_FREE char *path = check_path("starts");
	FILE *f = fopen(path, "a+");
	long starts = f && fputc('x', f) == 'x' ? ftell(f) : 0;

	if (f)
		fclose(f);
	if (starts < 3)
		die(arg);
	launch_start_program(launch_link(), "/third", NULL);
	return 0;
}

static void a_recorder_that_dies_early_is_replaced(void)
{
	CHECK_INT(run_shell("test $SLUICE_SPOOL = /third && exit 5", die_twice), 5);
	/* The program runs unrecorded in the end. */
	CHECK_INT(run_shell("test -z \"$SLUICE_SPOOL\" && exit 6", die), 6);
}

static int die_late(void *arg)
{
	launch_start_program(launch_link(), NULL, NULL);
	return die(arg);
}

static int stop_late(void *arg)
{
	launch_start_program(launch_link(), NULL, NULL);
	kill(getpid(), SIGSTOP);
	return die(arg);
}

static void a_recorder_that_dies_or_stops_later_does_not_change_the_exit_code(void)
{
	CHECK_INT(run_shell("exit 8", die_late), 8);
	CHECK_INT(run_shell("exit 9", stop_late), 9);
}

static int hang(void *arg)
{
	while (!arg)
		pause();
	return 0;
}

static void a_signal_reaches_a_program_that_waits_for_its_recorder(void)
{
	char *argv[] = { "sleep", "300", NULL };
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGUSR1 };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		pid_t pid = start(argv, hang, NULL);

		kill(pid, signals[i]);
		CHECK_INT(await(pid), 128 + signals[i]);
	}
}

static int close_life(void *arg)
{
	struct launch_link *link = launch_link();
	FILE *f = fopen(arg, "w");

	kill(link->launch->launcher, SIGKILL);
	launch_start_program(link, NULL, NULL);
	while (!launch_wait(link, 1000))
		;
	if (f) {
		fprintf(f, "%d", launch_exit_code(link));
		fclose(f);
	}
	return 0;
}

/* The recorder survives the launcher and ends after the program. */
static void a_program_runs_and_is_recorded_without_its_launcher(void)
{
	AUTO_FREE char *file = check_path("code"), *done = check_path("done");
	char *argv[] = { "touch", done, NULL }, text[8] = "";
	FILE *f = NULL;

	CHECK_INT(run(argv, close_life, file), -1);
	for (int i = 0; i < 6000 && !text[0]; i++) {
		usleep(10000);
		f = fopen(file, "r");
		if (!f || !fgets(text, sizeof(text), f))
			text[0] = 0;
		if (f)
			fclose(f);
	}
	CHECK_TEXT(text, "-1");
	CHECK_INT(access(done, F_OK), 0);
}

static void the_program_inherits_mask_and_actions(void)
{
	/* Bit 11 is SIGUSR2. */
	char *masked[] = { "grep", "^SigBlk:.*0800$", "/proc/self/status", NULL };
	char *hangs_up[] = { "sh", "-c", "kill -HUP $$; exit 0", NULL };
	sigset_t mask, before;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, &before);
	signal(SIGHUP, SIG_IGN);
	CHECK_INT(run(masked, record_nothing, NULL), 0);
	CHECK_INT(run(hangs_up, record_nothing, NULL), 0);
	signal(SIGHUP, SIG_DFL);
	CHECK_INT(run(hangs_up, record_nothing, NULL), 128 + SIGHUP);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

TESTS(TEST(the_exit_code_is_the_programs), TEST(a_signal_is_reported_as_in_a_shell),
      TEST(a_program_that_cannot_be_executed_is_reported_as_in_a_shell),
      TEST(the_command_moves_behind_words_of_the_program),
      TEST(a_program_is_not_started_if_its_command_line_is_refused),
      TEST(a_recorder_that_dies_early_is_replaced),
      TEST(a_recorder_that_dies_or_stops_later_does_not_change_the_exit_code),
      TEST(a_signal_reaches_a_program_that_waits_for_its_recorder),
      TEST(a_program_runs_and_is_recorded_without_its_launcher),
      TEST(the_program_inherits_mask_and_actions))
