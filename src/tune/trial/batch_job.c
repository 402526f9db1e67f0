/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/batch_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"

#define LAUNCHER "slurm"

/*
 * Submits a job and waits for its end. The files that the job creates are looked for five times per
 * second, and Slurm is asked for its state every five seconds. A controller that does not answer is
 * asked again. A network file system may take a while to show the file of a job that has ended.
 */
static const char wait_script[] =
	"stop=\n"
	"trap 'stop=1' TERM INT\n"
	"is_gone() {\n"
	"	state=$(squeue --noheader --jobs=\"$id\" --format=%T 2>&1) &&\n"
	"		[ -z \"$state\" ] && return\n"
	"	case $state in *'Invalid job id'*) return 0 ;; esac\n"
	"	return 1\n"
	"}\n"
	"last_state() {\n"
	"	scontrol show job \"$id\" 2>&1 | sed -n 's/.*JobState=\\([A-Z_]*\\).*/\\1/p'\n"
	"}\n"
	"wait_for_file() {\n"
	"	for i in 1 2 3 4 5 6; do [ -e \"$ended\" ] || sleep $i; done\n"
	"}\n"
	"id=$(submit) || exit 1\n"
	"id=${id%%;*} turns=0\n"
	"while [ ! -e \"$ended\" ] && [ -z \"$stop\" ]; do\n"
	"	sleep 0.2\n"
	"	turns=$((turns + 1))\n"
	"	[ $((turns % 25)) = 0 ] && is_gone || continue\n"
	"	state=$(last_state)\n"
	"	case $state in COMPLETED | FAILED | '') wait_for_file ;; esac\n"
	"	[ ! -e \"$ended\" ] || break\n"
	"	echo \"job $id ended before its command (${state:-unknown state})\" >&2\n"
	"	exit 1\n"
	"done\n"
	"[ -e \"$ended\" ] && exit 0\n"
	"scancel \"$id\"\n"
	"until is_gone; do sleep 1; done\n"
	"exit 1\n";

const char *batch_job_find_fault(const char *launcher)
{
	size_t n = strlen(LAUNCHER);

	return strncmp(launcher, LAUNCHER, n) == 0 && (!launcher[n] || launcher[n] == ' ')
		       ? NULL
		       : "the launcher must be '" LAUNCHER "', with options of sbatch if needed: "
			 "--launcher '" LAUNCHER " --nodes=2 --time=10'";
}

void batch_job_init(struct batch_job *job, const char *launcher, const char *directory)
{
	*job = (struct batch_job){
		.options = xstrdup(launcher + strlen(LAUNCHER)),
		.script = place_join(directory, "job.sh"),
		.begun = place_join(directory, "job.begun"),
		.ended = place_join(directory, "job.ended"),
	};
	job->argv[0] = xstrdup("sh");
	job->argv[1] = xstrdup("-c");
}

void batch_job_release(struct batch_job *job)
{
	for (size_t i = 0; job->argv[i]; i++)
		free(job->argv[i]);
	free(job->options);
	free(job->script);
	free(job->begun);
	free(job->ended);
	*job = (struct batch_job){ 0 };
}

static void put_word(struct buf *text, const char *before, const char *word)
{
	buf_puts(text, before);
	buf_put_shell_word(text, word);
}

/* The end of the job is published by renaming, so that it is never read half-written. */
static char *job_text(const struct batch_job *job, const struct batch_job_command *command)
{
	struct buf text = { 0 };

	put_word(&text, "#!/bin/sh\ndate +%s.%N >", job->begun);
	if (command->setting)
		put_word(&text, "\nexport ", command->setting);
	buf_putc(&text, '\n');
	buf_put_command(&text, command->argv);
	put_word(&text, "\ncode=$?\necho \"$code $(date +%s.%N)\" >", job->ended);
	put_word(&text, ".draft\nmv ", job->ended);
	put_word(&text, ".draft ", job->ended);
	buf_puts(&text, "\nexit $code\n");
	return buf_take(&text);
}

static char *wait_text(const struct batch_job *job, const struct batch_job_command *command,
		       const char *directory)
{
	struct buf text = { 0 };

	put_word(&text, "ended=", job->ended);
	put_word(&text, "\nsubmit() { sbatch --parsable --no-requeue --open-mode=append --output=",
		 command->output);
	put_word(&text, " --error=", command->errors);
	put_word(&text, " --chdir=", directory);
	buf_printf(&text, " --job-name=sluice-tune%s ", job->options);
	put_word(&text, "", job->script);
	buf_printf(&text, "; }\n%s", wait_script);
	return buf_take(&text);
}

int batch_job_prepare(struct batch_job *job, const struct batch_job_command *command,
		      struct err *err)
{
	AUTO_FREE char *directory = getcwd(NULL, 0), *text = job_text(job, command);
	int r = file_write_all(job->script, text, strlen(text), err);

	if (r < 0)
		return r;
	if (!directory)
		return err_set(err, errno, "the working directory is unknown: %s", strerror(errno));
	unlink(job->begun);
	unlink(job->ended);
	free(job->argv[2]);
	job->argv[2] = wait_text(job, command, directory);
	return 0;
}

/* Reads the file of a job: "TIME" or "CODE TIME". Returns the number of values. */
static int read_report(const char *path, double values[2])
{
	FILE *f = fopen(path, "re");
	int n = f ? fscanf(f, "%lf %lf", &values[0], &values[1]) : 0;

	if (f)
		fclose(f);
	return n;
}

void batch_job_read_end(const struct batch_job *job, struct child_end *end)
{
	double begun[2], ended[2];

	if (read_report(job->begun, begun) < 1 || read_report(job->ended, ended) < 2)
		return;
	end->status = ((int)ended[0] & 0xff) << 8;
	end->seconds = ended[1] - begun[0];
}
