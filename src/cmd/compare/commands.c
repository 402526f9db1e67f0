/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/compare/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/command.h"

#define SHOWN_LINES 3 /* of the output of a command that failed */

struct commands {
	const struct command *command;
	const struct commands_options *options;
	commands_read read;
	struct run_list *lists;
	struct progress progress;
	char *sluice;  /* path of this program */
	char *scratch; /* directory of `output` */
	char *output;  /* of the command that runs */
	char *traces;  /* start of the paths of all traces */
	char *words[SIDES];
	uint64_t done; /* runs of both commands, with those that warm up */
	int64_t started_ns;
	int side; /* that runs */
};

void run_list_release(struct run_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		account_release(&list->accounts[i]);
	free(list->accounts);
	*list = (struct run_list){ 0 };
}

struct account *run_list_add(struct run_list *list)
{
	list->accounts =
		xgrow(list->accounts, &list->cap, list->count + 1, sizeof(*list->accounts));
	list->accounts[list->count] = (struct account){ 0 };
	return &list->accounts[list->count++];
}

/* "run 3 of 20 (A), 12 s left" */
static void show_progress(void *arg)
{
	struct commands *c = arg;
	uint64_t total = SIDES * (c->options->runs + c->options->warmup);
	int64_t spent_ns = clock_now_ns() - c->started_ns;
	AUTO_BUF struct buf line = { 0 };
	char text[UNIT_TEXT];

	buf_printf(&line, "run %" PRIu64 " of %" PRIu64 " (%c)", c->done + 1, total,
		   c->side == SIDE_A ? 'A' : 'B');
	if (c->done) {
		double each_ns = (double)spent_ns / (double)c->done;

		buf_printf(&line, ", %s left",
			   unit_ns(text, (int64_t)(each_ns * (double)(total - c->done))));
	}
	progress_line(&c->progress, buf_text(&line));
}

static int run_child(struct commands *c, char *const *argv, struct child_end *end, struct err *err)
{
	struct child_options options = {
		.argv = argv,
		.output = c->output,
		.limit_s = INFINITY,
		.stop = interrupt_flag(),
		.look = show_progress,
		.look_arg = c,
	};

	show_progress(c);
	return child_run(&options, end, err);
}

static int exit_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : COMMAND_SIGNAL + WTERMSIG(status);
}

/* The exit code of this command if the other one was not started. */
static int fail_start(const struct commands *c, int r, const struct err *err)
{
	if (*interrupt_flag())
		return COMMAND_SIGNAL + *interrupt_flag();
	command_fail(c->command, "%c: %s", c->side == SIDE_A ? 'A' : 'B', err->text);
	return r == -ENOENT		       ? COMMAND_NOT_FOUND
	       : r == -EACCES || r == -ENOEXEC ? COMMAND_NOT_EXECUTABLE
					       : COMMAND_FAILED;
}

static int fail_run(const struct commands *c, const char *what, int code)
{
	AUTO_FREE char *last = child_last_lines(c->output, SHOWN_LINES);

	command_fail(c->command, "%c: %s failed with exit code %d%s%s",
		     c->side == SIDE_A ? 'A' : 'B', what, code, *last ? ": " : "", last);
	return code == COMMAND_NOT_FOUND || code == COMMAND_NOT_EXECUTABLE ? code : COMMAND_FAILED;
}

static int prepare_run(struct commands *c)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)c->options->prepare, NULL };
	struct child_end end;
	struct err err = { 0 };
	int r;

	if (!c->options->prepare)
		return COMMAND_GOOD;
	r = run_child(c, argv, &end, &err);
	if (r < 0)
		return fail_start(c, r, &err);
	return exit_code(end.status)
		       ? fail_run(c, "the command of --prepare", exit_code(end.status))
		       : COMMAND_GOOD;
}

/* The command under `sluice run`. The caller frees the array, whose words are not copied. */
static char **record_argv(const struct commands *c, char *const *argv, const char *trace)
{
	const char *const before[] = { c->sluice, "run", "--quiet", "--tune",
				       "off",	  "-o",	 trace,	    "--" };
	size_t n = sizeof(before) / sizeof(before[0]), count = 0;
	char **words;

	while (argv[count])
		count++;
	words = xcalloc(n + count + 1, sizeof(*words));
	for (size_t i = 0; i < n; i++)
		words[i] = (char *)before[i];
	for (size_t i = 0; i < count; i++)
		words[n + i] = argv[i];
	return words;
}

/* Runs the command once. trace NULL: it is not recorded. */
static int run_command(struct commands *c, const char *trace, struct child_end *end)
{
	char *const *argv = c->options->argv[c->side];
	AUTO_FREE char **recorded = trace ? record_argv(c, argv, trace) : NULL;
	struct err err = { 0 };
	int r, code, ret = prepare_run(c);

	if (ret)
		return ret;
	r = run_child(c, recorded ? recorded : argv, end, &err);
	/* The run was not complete, so its trace is useless. */
	if (r < 0 && trace)
		unlink(trace);
	if (r < 0)
		return fail_start(c, r, &err);
	code = exit_code(end->status);
	if (code && (!c->options->ignore_failure || code == COMMAND_NOT_FOUND ||
		     code == COMMAND_NOT_EXECUTABLE))
		return fail_run(c, "the command", code);
	c->done++;
	return COMMAND_GOOD;
}

static int measure_run(struct commands *c, uint64_t number)
{
	AUTO_FREE char *trace = NULL;
	struct run_list *list = &c->lists[c->side];
	struct child_end end;
	int ret;

	if (c->options->record)
		trace = xprintf("%s-%c%02" PRIu64 ".sluice", c->traces,
				c->side == SIDE_A ? 'a' : 'b', number + 1);
	ret = run_command(c, trace, &end);
	if (ret)
		return ret;
	if (!trace) {
		account_init_time(run_list_add(list), c->words[c->side], end.seconds,
				  exit_code(end.status));
		return COMMAND_GOOD;
	}
	ret = c->read(c->command, trace, run_list_add(list));
	list->count -= ret != COMMAND_GOOD;
	return ret;
}

/* Runs both commands; the order depends on the number of the pair. */
static int run_pair(struct commands *c, uint64_t number, bool is_measured)
{
	for (int i = 0; i < SIDES; i++) {
		struct child_end end;
		int ret;

		c->side = number % 2 ? SIDES - 1 - i : i;
		ret = is_measured ? measure_run(c, number) : run_command(c, NULL, &end);
		if (ret)
			return ret;
	}
	return COMMAND_GOOD;
}

/* trace.dir/20260102-030405-compare-PID */
static char *name_traces(const struct command *command, struct err *err)
{
	const char *directory = config_text(command->config, SETTING_TRACE_DIR);
	time_t now = time(NULL);
	struct tm local;
	char stamp[32];

	if (place_make_dir(directory, 0700, err) < 0)
		return NULL;
	localtime_r(&now, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	return xprintf("%s/%s-compare-%d", directory, stamp, (int)getpid());
}

static int commands_open(struct commands *c, struct err *err)
{
	const char *temporary = getenv("TMPDIR");
	AUTO_FREE char *binaries = place_binary_dir();
	AUTO_FREE char *scratch =
		xprintf("%s/sluice-compare-XXXXXX", temporary && *temporary ? temporary : "/tmp");

	if (c->options->record) {
		c->traces = name_traces(c->command, err);
		if (!c->traces)
			return -err->code;
	}
	if (!mkdtemp(scratch))
		return err_set(err, errno, "%s: %s", scratch, strerror(errno));
	c->scratch = xstrdup(scratch);
	c->output = place_join(scratch, "output");
	c->sluice = place_join(binaries ? binaries : ".", "sluice");
	for (int side = 0; side < SIDES; side++) {
		struct buf words = { 0 };

		buf_put_command(&words, c->options->argv[side]);
		c->words[side] = buf_take(&words);
	}
	return 0;
}

static void commands_close(struct commands *c)
{
	if (c->scratch) {
		unlink(c->output);
		rmdir(c->scratch);
	}
	free(c->scratch);
	free(c->output);
	free(c->traces);
	free(c->sluice);
	free(c->words[SIDE_A]);
	free(c->words[SIDE_B]);
}

int commands_run(const struct command *command, const struct commands_options *options,
		 commands_read read, struct run_list lists[SIDES])
{
	struct commands c = {
		.command = command, .options = options, .read = read, .lists = lists
	};
	struct interrupt stop;
	struct err err = { 0 };
	int ret = COMMAND_GOOD;

	if (commands_open(&c, &err) < 0) {
		commands_close(&c);
		return command_fail(command, "%s", err.text);
	}
	interrupt_catch(&stop);
	progress_start(&c.progress, "comparing", 0);
	c.started_ns = clock_now_ns();
	for (uint64_t i = 0; !ret && i < options->warmup; i++)
		ret = run_pair(&c, i, false);
	for (uint64_t i = 0; !ret && i < options->runs; i++)
		ret = run_pair(&c, i, true);
	progress_end(&c.progress);
	commands_close(&c);
	interrupt_restore(&stop);
	return ret;
}
