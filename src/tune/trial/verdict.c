/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/verdict.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/file.h"
#include "base/mem.h"

#define REASON_LINES 3
#define OUTPUT_LINES 40 /* of the end of the output, in which the reason is searched */
#define KEPT_BYTES ((size_t)64 << 20) /* of the error output of a failed trial */

/* A line of dashes. Open MPI prints its own long explanation of a failed rank between two. */
static bool is_rule(const char *line, size_t n)
{
	return n >= 20 && strspn(line, "-") >= n;
}

/* The end of both outputs of the program, in one text. */
static char *read_end(const struct trial_output *o)
{
	AUTO_FREE char *first = child_last_lines(o->output, OUTPUT_LINES);
	AUTO_FREE char *last = o->errors ? child_last_lines(o->errors, OUTPUT_LINES) : xstrdup("");

	return xprintf("%s\n%s", first, last);
}

/* The last lines of output of the program itself, without those of its launcher. */
static char *last_lines(const struct trial_output *output)
{
	AUTO_FREE char *text = read_end(output);
	const char *lines[REASON_LINES] = { 0 };
	struct buf words = { 0 };
	bool boxed = false;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t n = strcspn(at, "\n");

		if (is_rule(at, n)) {
			boxed = !boxed;
		} else if (n && !boxed) {
			memmove(lines, lines + 1, sizeof(lines) - sizeof(lines[0]));
			lines[REASON_LINES - 1] = at;
		}
	}
	for (size_t i = 0; i < REASON_LINES; i++) {
		if (!lines[i])
			continue;
		if (words.len)
			buf_putc(&words, '\n');
		buf_add(&words, lines[i], strcspn(lines[i], "\n"));
	}
	return buf_take(&words);
}

void verdict_set(struct trial *trial, enum trial_state state, char *text)
{
	trial->state = state;
	free(trial->reason);
	trial->reason = text;
}

void verdict_set_shown(struct trial *trial, enum trial_state state, char *text,
		       const struct trial_output *output)
{
	AUTO_FREE char *plain = text, *last = last_lines(output);

	verdict_set(trial, state, *last ? xprintf("%s: %s", plain, last) : xstrdup(plain));
}

void verdict_judge_exit(struct trial *trial, const struct child_end *end, double limit_s,
			const struct trial_output *output)
{
	int code = WIFEXITED(end->status) ? WEXITSTATUS(end->status) : 128 + WTERMSIG(end->status);

	if (end->is_late)
		verdict_set(trial, TRIAL_SLOW, xprintf("aborted after %.3g s", limit_s));
	else if (code > 128 && code < 128 + NSIG)
		verdict_set_shown(trial, TRIAL_CRASHED,
				  xprintf("signal %d (%s)", code - 128, strsignal(code - 128)),
				  output);
	else if (code)
		verdict_set_shown(trial, TRIAL_FAILED, xprintf("exit code %d", code), output);
	if (end->left)
		verdict_set(trial, trial->state == TRIAL_GOOD ? TRIAL_FAILED : trial->state,
			    xprintf("%zu processes cannot be killed", end->left));
}

void verdict_keep_output(const struct trial_output *output, const char *to)
{
	AUTO_BUF struct buf errors = { 0 };
	FILE *f;

	if (file_read_all(&errors, output->errors, KEPT_BYTES, NULL) < 0 ||
	    rename(output->output, to) != 0)
		return;
	f = fopen(to, "ae");
	if (!f)
		return;
	fwrite(buf_text(&errors), 1, errors.len, f);
	fclose(f);
}
