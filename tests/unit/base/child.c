/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands are small shell scripts. They write the pids of the processes that they start into a
 * file.
 */
#include "base/child.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static char output[300], pids[300];

static void prepare_paths(void)
{
	snprintf(output, sizeof(output), "%s/output", check_directory());
	snprintf(pids, sizeof(pids), "%s/pids", check_directory());
}

static double grace_s = 0.4;
static const char *begun;

static int run_shell(const char *script, double limit_s, struct child_end *end)
{
	AUTO_FREE char *setting = NULL;
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	char *environment[] = { NULL, (char *)"TO_REMOVE", NULL };
	struct child_options options = {
		.argv = argv,
		.environment = environment,
		.limit_s = limit_s,
		.begun = begun,
		.grace_s = grace_s,
		.linger_s = 0.2,
	};
	struct err err = { 0 };
	int r;

	prepare_paths();
	unlink(pids);
	setting = xprintf("PIDS=%s", pids);
	environment[0] = setting;
	options.output = output;
	r = child_run(&options, end, &err);
	if (r < 0)
		printf("%s\n", err.text);
	return r;
}

/*
 * Runs a script that prints something when it is prepared, and then exceeds its time limit. On a
 * loaded machine it may need more time to prepare.
 */
static int run_until_late(const char *script, struct child_end *end)
{
	for (double limit_s = 0.2;; limit_s *= 4) {
		int r = run_shell(script, limit_s, end);
		AUTO_FREE char *said = child_last_lines(output, 1);

		if (r < 0 || *said || limit_s > 100) {
			CHECK(end->is_late);
			CHECK(end->seconds >= limit_s);
			return r;
		}
	}
}

/* How many of the processes that the script listed in $PIDS are alive. */
static unsigned count_living(unsigned expected)
{
	FILE *f = fopen(pids, "re");
	unsigned alive = 0, seen = 0;
	int pid;

	REQUIRE(f);
	for (; fscanf(f, "%d", &pid) == 1; seen++)
		alive += kill(pid, 0) == 0;
	fclose(f);
	CHECK_INT(seen, expected);
	return alive;
}

static void a_command_exits_by_itself(void)
{
	struct child_end end;
	AUTO_FREE char *last = NULL;

	setenv("TO_REMOVE", "still here", 1);
	CHECK_INT(run_shell("echo one; echo \"two $TO_REMOVE\" >&2; cat; exit 3", INFINITY, &end),
		  0);
	CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 3);
	CHECK(!end.is_late);
	CHECK(!end.was_alive);
	CHECK_INT(end.left, 0);
	CHECK(end.seconds > 0 && end.seconds < 60);
	last = child_last_lines(output, 1);
	CHECK_TEXT(last, "two ");
}

static void a_signal_that_kills_the_command_is_reported(void)
{
	struct child_end end;

	CHECK_INT(run_shell("kill -SEGV $$", INFINITY, &end), 0);
	CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGSEGV);
	CHECK(!end.is_late);
}

static void a_command_that_exceeds_its_limit_is_terminated(void)
{
	struct child_end end;

	CHECK_INT(run_until_late("echo $$ >$PIDS; sleep 300 & echo $! >>$PIDS; echo ready; wait",
				 &end),
		  0);
	CHECK(end.seconds < 300);
	CHECK_INT(count_living(2), 0);
}

static void the_limit_counts_from_the_beginning_of_the_work(void)
{
	struct child_end end;

	begun = pids;
	CHECK_INT(run_shell("sleep 0.5", 0.1, &end), 0);
	CHECK(!end.is_late && WIFEXITED(end.status));
	CHECK_INT(run_shell("sleep 0.5; echo >$PIDS; sleep 300", 0.1, &end), 0);
	CHECK(end.is_late && end.seconds > 0.5);
	begun = NULL;
}

static void a_command_may_clean_up_on_sigterm(void)
{
	struct child_end end;
	AUTO_FREE char *last = NULL;

	grace_s = 100;
	CHECK_INT(run_until_late("trap 'echo clean; exit 7' TERM; echo ready; while :; do sleep "
				 "0.02; done",
				 &end),
		  0);
	grace_s = 0.4;
	CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7);
	last = child_last_lines(output, 1);
	CHECK_TEXT(last, "clean");
}

static void a_command_that_ignores_signals_is_killed(void)
{
	struct child_end end;

	CHECK_INT(run_until_late("trap '' TERM; echo $$ >$PIDS; sleep 300 & echo $! >>$PIDS; echo "
				 "ready; while :; do wait; done",
				 &end),
		  0);
	CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL);
	CHECK_INT(count_living(2), 0);
}

static void a_daemon_with_its_own_session_is_terminated(void)
{
	struct child_end end;

	/* A daemon: its parents have exited, it has its own session, and it ignores signals. */
	CHECK_INT(
		run_until_late("(trap '' TERM HUP; setsid sh -c 'echo $$ >>$PIDS; exec sleep 300' "
			       "&) & while [ ! -s $PIDS ]; do sleep 0.01; done; echo $$ >>$PIDS; "
			       "echo ready; sleep 300",
			       &end),
		0);
	CHECK_INT(count_living(2), 0);
}

static void a_process_that_outlives_its_command_is_terminated(void)
{
	struct child_end end;

	CHECK_INT(run_shell("setsid sh -c 'echo $$ >$PIDS; exec sleep 300' & "
			    "while [ ! -s $PIDS ]; do sleep 0.01; done; exit 0",
			    INFINITY, &end),
		  0);
	CHECK(!end.is_late);
	CHECK(end.was_alive);
	CHECK(WIFEXITED(end.status));
	CHECK_INT(count_living(1), 0);
}

static volatile sig_atomic_t stop;

static void set_stop(void *arg)
{
	(void)arg;
	stop = 1;
}

static void an_interrupt_terminates_the_command(void)
{
	char *argv[] = { (char *)"sleep", (char *)"300", NULL };
	struct child_options options = {
		.argv = argv, .limit_s = INFINITY, .stop = &stop, .look = set_stop
	};
	struct child_end end;
	struct err err = { 0 };

	prepare_paths();
	options.output = output;
	CHECK_INT(child_run(&options, &end, &err), -EINTR);
	CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGTERM);
	/* After the interrupt no other command is started. */
	CHECK_INT(child_run(&options, &end, &err), -EINTR);
	stop = 0;
}

/* A caller that is killed at a random moment leaves no process of its command behind. */
static void a_killed_caller_leaves_no_orphan(void)
{
	/* Processes that ignore signals, have sessions of their own, and have lost their parents.
	 */
	const char *script = "trap '' TERM HUP; echo $$ >>$PIDS; "
			     "(setsid sh -c 'echo $$ >>$PIDS; sleep 300' &); "
			     "sleep 300 & echo $! >>$PIDS; wait; sleep 300";
	pid_t caller;
	FILE *f;
	int pid;

	for (int i = 0; i < 8; i++) {
		struct child_end end;

		fflush(stdout);
		prepare_paths();
		caller = fork();
		REQUIRE(caller >= 0);
		if (!caller) {
			run_shell(script, INFINITY, &end);
			_exit(0);
		}
		usleep((useconds_t)(i * i * 2000));
		kill(caller, SIGKILL);
		CHECK_INT(waitpid(caller, NULL, 0), caller);
		/* The guardian needs the grace period, and longer on a loaded machine. */
		for (unsigned tries = 0, left = 1; left && tries < 6000; tries++) {
			left = 0;
			f = fopen(pids, "re");
			while (f && fscanf(f, "%d", &pid) == 1)
				left += kill(pid, 0) == 0;
			if (f)
				fclose(f);
			usleep(10000);
			CHECK(!left || tries + 1 < 6000);
		}
	}
}

static void a_missing_program_is_an_error(void)
{
	char *argv[] = { (char *)"/nonexistent/program", NULL };
	struct child_options options = { .argv = argv, .limit_s = INFINITY };
	struct child_end end;
	struct err err = { 0 };

	prepare_paths();
	options.output = output;
	CHECK_INT(child_run(&options, &end, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/program"));
	options.output = "/nonexistent/output";
	CHECK_INT(child_run(&options, &end, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/output"));
}

/* Answers the command while it runs: it continues when the file `pids` is not empty. */
static void answer_command(void *arg)
{
	AUTO_FREE char *said = child_last_lines(output, 1);
	FILE *f;

	*(unsigned *)arg += 1;
	if (strcmp(said, "heard word") != 0)
		return;
	f = fopen(pids, "we");
	REQUIRE(f);
	fputs("answer\n", f);
	fclose(f);
}

static void the_callback_is_called_while_a_command_with_input_runs(void)
{
	char *argv[] = { (char *)"sh", (char *)"-c",
			 (char *)"read a && echo heard $a && while ! [ -s \"$PIDS\" ]; do sleep "
				 "0.02; done; cat \"$PIDS\"",
			 NULL };
	AUTO_FREE char *setting = NULL, *input = NULL, *said = NULL;
	char *environment[] = { NULL, NULL };
	struct child_end end = { 0 };
	unsigned looks = 0;
	FILE *f;

	prepare_paths();
	unlink(pids);
	setting = environment[0] = xprintf("PIDS=%s", pids);
	input = check_path("input");
	f = fopen(input, "we");
	REQUIRE(f);
	fputs("word\n", f);
	fclose(f);
	CHECK_INT(child_run(&(struct child_options){ .argv = argv,
						     .environment = environment,
						     .input = input,
						     .output = output,
						     .limit_s = 60,
						     .look = answer_command,
						     .look_arg = &looks },
			    &end, NULL),
		  0);
	CHECK(!end.is_late && end.status == 0);
	CHECK(looks > 0);
	said = child_last_lines(output, 1);
	CHECK_TEXT(said, "answer");
}

static void only_the_last_lines_are_returned(void)
{
	struct child_end end;
	AUTO_FREE char *two = NULL, *all = NULL, *none = NULL;

	CHECK_INT(run_shell("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i; done; echo; echo",
			    INFINITY, &end),
		  0);
	two = child_last_lines(output, 2);
	CHECK_TEXT(two, "2999\n3000");
	CHECK_INT(run_shell("printf 'a\\nb'", INFINITY, &end), 0);
	all = child_last_lines(output, 10);
	CHECK_TEXT(all, "a\nb");
	none = child_last_lines("/nonexistent", 3);
	CHECK_TEXT(none, "");
}

TESTS(TEST(a_command_exits_by_itself), TEST(a_signal_that_kills_the_command_is_reported),
      TEST(a_command_that_exceeds_its_limit_is_terminated),
      TEST(the_limit_counts_from_the_beginning_of_the_work),
      TEST(a_command_may_clean_up_on_sigterm), TEST(a_command_that_ignores_signals_is_killed),
      TEST(a_daemon_with_its_own_session_is_terminated),
      TEST(a_process_that_outlives_its_command_is_terminated),
      TEST(an_interrupt_terminates_the_command), TEST(a_killed_caller_leaves_no_orphan),
      TEST(a_missing_program_is_an_error),
      TEST(the_callback_is_called_while_a_command_with_input_runs),
      TEST(only_the_last_lines_are_returned))
