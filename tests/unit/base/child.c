/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands are small shell scripts. What they have started is known by its pid, which they
 * write into a file.
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

static char directory[] = "/tmp/sluice-child-XXXXXX";
static char *output, *pids;

static void prepare(void)
{
	if (output)
		return;
	REQUIRE(mkdtemp(directory));
	output = xprintf("%s/output", directory);
	pids = xprintf("%s/pids", directory);
}

static void tidy(void)
{
	if (!output)
		return;
	unlink(output);
	unlink(pids);
	rmdir(directory);
	free(output);
	free(pids);
}

static int run_shell(const char *script, double limit_s, struct child_end *end)
{
	AUTO_FREE char *setting = NULL;
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	char *environment[] = { NULL, (char *)"TO_REMOVE", NULL };
	struct child_options options = {
		.argv = argv,
		.environment = environment,
		.limit_s = limit_s,
		.grace_s = 0.4,
		.linger_s = 0.2,
	};
	struct err err = { 0 };
	int r;

	prepare();
	unlink(pids);
	setting = xprintf("PIDS=%s", pids);
	environment[0] = setting;
	options.output = output;
	r = child_run(&options, end, &err);
	if (r < 0)
		printf("%s\n", err.text);
	return r;
}

/* How many of those that the script has noted in $PIDS live. */
static unsigned living(unsigned expected)
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

static void a_command_ends_by_itself(void)
{
	struct child_end end;
	AUTO_FREE char *last = NULL;

	setenv("TO_REMOVE", "still here", 1);
	CHECK_INT(run_shell("echo one; echo \"two $TO_REMOVE\" >&2; cat; exit 3", INFINITY, &end),
		  0);
	CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 3);
	CHECK(!end.is_late && !end.was_alive && end.left == 0);
	CHECK(end.seconds > 0 && end.seconds < 60);
	last = child_last_lines(output, 1);
	CHECK_TEXT(last, "two ");
}

static void a_signal_that_ends_it_is_told(void)
{
	struct child_end end;

	CHECK_INT(run_shell("kill -SEGV $$", INFINITY, &end), 0);
	CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGSEGV);
	CHECK(!end.is_late);
}

static void what_takes_too_long_is_ended(void)
{
	struct child_end end;

	CHECK_INT(run_shell("echo $$ >$PIDS; sleep 300 & echo $! >>$PIDS; wait", 0.2, &end), 0);
	CHECK(end.is_late);
	CHECK(end.seconds >= 0.2 && end.seconds < 60);
	CHECK_INT(living(2), 0);
}

static void what_cleans_up_on_a_signal_may(void)
{
	struct child_end end;
	AUTO_FREE char *last = NULL;

	CHECK_INT(run_shell("trap 'echo clean; exit 7' TERM; while :; do sleep 0.02; done", 0.2,
			    &end),
		  0);
	CHECK(end.is_late);
	CHECK(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7);
	last = child_last_lines(output, 1);
	CHECK_TEXT(last, "clean");
}

static void what_ignores_signals_is_killed(void)
{
	struct child_end end;

	CHECK_INT(run_shell("trap '' TERM; echo $$ >$PIDS; sleep 300 & echo $! >>$PIDS; while :; "
			    "do wait; done",
			    0.2, &end),
		  0);
	CHECK(end.is_late);
	CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL);
	CHECK_INT(living(2), 0);
}

static void a_session_of_its_own_does_not_help(void)
{
	struct child_end end;

	/* A daemon: its parents have gone, its session is another, and it ignores signals. */
	CHECK_INT(
		run_shell("(trap '' TERM HUP; setsid sh -c 'echo $$ >>$PIDS; exec sleep 300' &) & "
			  "while [ ! -s $PIDS ]; do sleep 0.01; done; echo $$ >>$PIDS; sleep 300",
			  0.3, &end),
		0);
	CHECK(end.is_late);
	CHECK_INT(living(2), 0);
}

static void what_outlives_its_command_is_ended(void)
{
	struct child_end end;

	CHECK_INT(run_shell("setsid sh -c 'echo $$ >$PIDS; exec sleep 300' & "
			    "while [ ! -s $PIDS ]; do sleep 0.01; done; exit 0",
			    INFINITY, &end),
		  0);
	CHECK(!end.is_late && end.was_alive && WIFEXITED(end.status));
	CHECK_INT(living(1), 0);
}

static volatile sig_atomic_t stop;

static void set_stop(int signal)
{
	(void)signal;
	stop = 1;
}

static void an_interrupt_ends_it(void)
{
	char *argv[] = { (char *)"sleep", (char *)"300", NULL };
	struct child_options options = { .argv = argv, .limit_s = INFINITY, .stop = &stop };
	struct child_end end;
	struct err err = { 0 };

	prepare();
	options.output = output;
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = set_stop }, NULL);
	ualarm(100000, 0);
	CHECK_INT(child_run(&options, &end, &err), -EINTR);
	CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGTERM);
	/* And nothing is started after it. */
	CHECK_INT(child_run(&options, &end, &err), -EINTR);
	stop = 0;
}

static void children_of_the_caller_are_left_alone(void)
{
	struct child_end end;
	pid_t other = fork();

	REQUIRE(other >= 0);
	if (!other) {
		pause();
		_exit(0);
	}
	CHECK_INT(run_shell("sleep 300", 0.1, &end), 0);
	CHECK(end.is_late);
	CHECK_INT(waitpid(other, NULL, WNOHANG), 0);
	kill(other, SIGKILL);
	CHECK_INT(waitpid(other, NULL, 0), other);
}

static void what_cannot_be_run_is_an_error(void)
{
	char *argv[] = { (char *)"/nonexistent/program", NULL };
	struct child_options options = { .argv = argv, .limit_s = INFINITY };
	struct child_end end;
	struct err err = { 0 };

	prepare();
	options.output = output;
	CHECK_INT(child_run(&options, &end, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/program"));
	options.output = "/nonexistent/output";
	CHECK_INT(child_run(&options, &end, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/output"));
}

/* Answers what the command says while it runs: it goes on when there is something in pids. */
static void answer(void *arg)
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

static void a_command_that_has_input_is_looked_at_while_it_runs(void)
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

	prepare();
	unlink(pids);
	setting = environment[0] = xprintf("PIDS=%s", pids);
	input = xprintf("%s/input", directory);
	f = fopen(input, "we");
	REQUIRE(f);
	fputs("word\n", f);
	fclose(f);
	CHECK_INT(child_run(&(struct child_options){ .argv = argv,
						     .environment = environment,
						     .input = input,
						     .output = output,
						     .limit_s = 60,
						     .look = answer,
						     .look_arg = &looks },
			    &end, NULL),
		  0);
	CHECK(!end.is_late && end.status == 0);
	CHECK(looks > 0);
	said = child_last_lines(output, 1);
	CHECK_TEXT(said, "answer");
	unlink(input);
}

static void last_lines_are_few(void)
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
	tidy();
}

TESTS(TEST(a_command_ends_by_itself), TEST(a_signal_that_ends_it_is_told),
      TEST(what_takes_too_long_is_ended), TEST(what_cleans_up_on_a_signal_may),
      TEST(what_ignores_signals_is_killed), TEST(a_session_of_its_own_does_not_help),
      TEST(what_outlives_its_command_is_ended), TEST(an_interrupt_ends_it),
      TEST(children_of_the_caller_are_left_alone), TEST(what_cannot_be_run_is_an_error),
      TEST(a_command_that_has_input_is_looked_at_while_it_runs), TEST(last_lines_are_few))
