/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/jobs/batch.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "predict/forecast/jobs/ask.h"
#include "predict/forecast/jobs/pbs.h"

static void append_arguments(const struct batch_job *job, struct buf *command)
{
	for (size_t i = 0; job->options && job->options[i]; i++) {
		buf_putc(command, ' ');
		buf_put_shell_word(command, job->options[i]);
	}
	buf_putc(command, ' ');
	buf_put_shell_word(command, job->script);
}

/* Copies the first word of a line if it can be an id, which starts with a digit; else "". */
static void copy_id(char id[BATCH_ID], const char *line)
{
	size_t n = 0;

	line += strspn(line, " \t");
	while (line[n] && (isalnum((unsigned char)line[n]) || strchr("._-[]", line[n])))
		n++;
	if (n >= BATCH_ID || !isdigit((unsigned char)*line))
		n = 0;
	memcpy(id, line, n);
	id[n] = 0;
}

static void slurm_submit(const struct batch_job *job, struct buf *command)
{
	buf_printf(command, "sbatch --parsable --job-name=%s", job->name);
	append_arguments(job, command);
}

/* A COMPLETING job counts as ended; only its nodes are still being cleaned up. */
static void slurm_query(const struct batch_job *job, struct buf *command)
{
	buf_printf(command,
		   "squeue -h -u %u -n %s -o %%i "
		   "-t PENDING,RUNNING,SUSPENDED,CONFIGURING,REQUEUED,REQUEUE_HOLD,STOPPED",
		   (unsigned)geteuid(), job->name);
}

static int slurm_find(const struct batch_job *job, const struct buf *printed, char id[BATCH_ID],
		      struct err *err)
{
	(void)job;
	(void)err;
	copy_id(id, buf_text(printed));
	return 0;
}

static const struct batch_system slurm = {
	.name = "slurm",
	.program = "sbatch",
	.submit = slurm_submit,
	.query = slurm_query,
	.find = slurm_find,
	.cancel = "scancel",
};

static void pbs_submit(const struct batch_job *job, struct buf *command)
{
	buf_printf(command, "qsub -N %s", job->name);
	append_arguments(job, command);
}

static void pbs_query(const struct batch_job *job, struct buf *command)
{
	(void)job;
	buf_puts(command, "qstat -f");
}

struct search {
	const struct batch_job *job;
	const char *user;
	char *id;
};

static void match_pbs_job(const struct pbs_job *job, void *arg)
{
	struct search *search = arg;
	const char *owner = job->of[PBS_OWNER], *name = job->of[PBS_NAME];
	const char *state = job->of[PBS_STATE];

	/* Skip completed jobs, and finished ones of the job history. */
	if (*search->id || !name || !owner || (state && strchr("CFX", *state)))
		return;
	if (strcmp(name, search->job->name) == 0 && strcspn(owner, "@") == strlen(search->user) &&
	    strncmp(owner, search->user, strlen(search->user)) == 0)
		copy_id(search->id, job->id);
}

static int pbs_find(const struct batch_job *job, const struct buf *printed, char id[BATCH_ID],
		    struct err *err)
{
	const struct passwd *entry = getpwuid(geteuid());
	AUTO_FREE char *user = entry ? xstrdup(entry->pw_name) : place_user();
	struct search search = { job, user, id };

	id[0] = 0;
	return pbs_for_each("qstat -f", buf_text(printed), printed->len, match_pbs_job, &search,
			    err);
}

static const struct batch_system pbs = {
	.name = "pbs",
	.program = "qsub",
	.submit = pbs_submit,
	.query = pbs_query,
	.find = pbs_find,
	.cancel = "qdel",
};

/* Slurm is first, because it may come with a qsub; PBS never comes with an sbatch. */
const struct batch_system *const batch_systems[] = { &slurm, &pbs, NULL };

const struct batch_system *batch_system_find(const char *reader, struct err *err)
{
	if (strncmp(reader, "slurm", 5) == 0 || strcmp(reader, "scontrol") == 0)
		return &slurm;
	if (strncmp(reader, "pbs", 3) == 0)
		return &pbs;
	for (size_t i = 0; batch_systems[i]; i++) {
		AUTO_FREE char *found = place_program(batch_systems[i]->program);

		if (found)
			return batch_systems[i];
	}
	err_set(err, ENOENT, "found neither sbatch nor qsub; choose a --site with a scheduler");
	return NULL;
}

void batch_job_name(char out[BATCH_NAME], const char *script)
{
	static const uint8_t key[OWNER_KEY_BYTES];
	AUTO_FREE char *whole = realpath(script, NULL);
	const char *path = whole ? whole : script;

	snprintf(out, BATCH_NAME, "slc-%08x", (unsigned)owner_hash(path, strlen(path), key));
}

int batch_find(const struct batch_system *system, const struct batch_job *job, char id[BATCH_ID],
	       struct err *err)
{
	AUTO_BUF struct buf command = { 0 }, printed = { 0 };
	char found[BATCH_ID] = "";
	int r;

	system->query(job, &command);
	r = jobs_run_command(&printed, buf_text(&command), BATCH_TIMEOUT_S, JOBS_ASK_BYTES, err);
	if (r >= 0)
		r = system->find(job, &printed, found, err);
	if (r < 0)
		return r;
	memcpy(id, found, sizeof(found));
	return 0;
}

/* The id is on the last line, because sites may print news before it. */
static const char *last_line(struct buf *text)
{
	const char *newline;

	while (text->len && isspace((unsigned char)text->data[text->len - 1]))
		text->data[--text->len] = 0;
	newline = strrchr(buf_text(text), '\n');
	return newline ? newline + 1 : buf_text(text);
}

int batch_submit(const struct batch_system *system, const struct batch_job *job, char id[BATCH_ID],
		 struct err *err)
{
	AUTO_BUF struct buf command = { 0 }, printed = { 0 };
	char found[BATCH_ID];
	int r;

	system->submit(job, &command);
	r = jobs_run_command(&printed, buf_text(&command), BATCH_TIMEOUT_S, JOBS_ASK_BYTES, err);
	if (r < 0)
		return r;
	copy_id(found, last_line(&printed));
	if (!*found)
		return err_set(err, EPROTO, "%s printed no job id: \"%.200s\"", system->program,
			       buf_text(&printed));
	memcpy(id, found, sizeof(found));
	return 0;
}

int batch_cancel(const struct batch_system *system, const char *id, struct err *err)
{
	AUTO_BUF struct buf command = { 0 }, printed = { 0 };

	buf_printf(&command, "%s ", system->cancel);
	buf_put_shell_word(&command, id);
	return jobs_run_command(&printed, buf_text(&command), BATCH_TIMEOUT_S, JOBS_ASK_BYTES, err);
}
