/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads squeue output in columns of fixed width, with the job name last. A name may contain any
 * bytes, even line breaks. It is cut to fewer bytes than a line has before the name, so a name
 * cannot contain a text that looks like a complete line.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "predict/forecast/jobs/text.h"

/* One row per column; the squeue command uses the same list. */
#define COLUMNS(X)                \
	X(ID, "JobID", 20)        \
	X(STATE, "State", 12)     \
	X(QUEUE, "Partition", 64) \
	X(OWNER, "UserName", 64)  \
	X(NODES, "NumNodes", 12)  \
	X(USED, "TimeUsed", 20)   \
	X(LIMIT, "TimeLimit", 20) \
	X(TRES, "tres-alloc", 128)

enum column {
#define COLUMN_ENUM(id, name, width) COLUMN_##id,
	COLUMNS(COLUMN_ENUM)
#undef COLUMN_ENUM
		COLUMN_COUNT
};

static const size_t widths[] = {
#define COLUMN_WIDTH(id, name, width) width,
	COLUMNS(COLUMN_WIDTH)
#undef COLUMN_WIDTH
};

#define NAME_WIDTH 64
#define COLUMN_SUM(id, name, width) +width + 1
#define HEAD_WIDTH (0 COLUMNS(COLUMN_SUM))
_Static_assert(HEAD_WIDTH > NAME_WIDTH, "a job name must be shorter than the columns before it");

/* Splits a line into columns. Returns false if it is not a line of this format. */
static bool split_line(const char *at, size_t left, struct jobs_span columns[COLUMN_COUNT])
{
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (left <= widths[i] || at[widths[i]] != '|' || memchr(at, '\n', widths[i]))
			return false;
		columns[i] = (struct jobs_span){ at, widths[i] };
		at += widths[i] + 1;
		left -= widths[i] + 1;
	}
	return true;
}

/* Length of the name at this position: it ends with its column or before the next job. */
static size_t name_length(const char *at, size_t left)
{
	struct jobs_span columns[COLUMN_COUNT];
	size_t n = 0;

	for (; n < left && n < NAME_WIDTH; n++)
		if (at[n] == '\n' &&
		    (n + 1 == left || split_line(at + n + 1, left - n - 1, columns)))
			break;
	return n;
}

static void append_job(struct jobs *found, const struct jobs_span columns[COLUMN_COUNT],
		       struct jobs_span name, const uint8_t key[OWNER_KEY_BYTES])
{
	struct job *job = jobs_add(found);

	job_field_set(&job->id, columns[COLUMN_ID]);
	job_field_set(&job->queue, columns[COLUMN_QUEUE]);
	job_field_set(&job->name, name);
	job_owner_set(job, columns[COLUMN_OWNER], key);
	job->nodes = jobs_parse_bytes(columns[COLUMN_NODES], 1);
	job->memory_bytes = jobs_parse_tres_memory(columns[COLUMN_TRES]);
	job->used_s = jobs_parse_seconds(columns[COLUMN_USED]);
	job->allocated_s = jobs_parse_seconds(columns[COLUMN_LIMIT]);
}

static bool is_running(struct jobs_span state)
{
	return state.n > 7 && memcmp(state.at, "RUNNING ", 8) == 0;
}

static int slurm_text_read(struct jobs *jobs, const char *name, const char *text, size_t bytes,
			   const uint8_t key[OWNER_KEY_BYTES], struct err *err)
{
	struct jobs found = { .time_s = jobs->time_s };
	const char *at = text, *end = text + bytes;

	while (at < end) {
		struct jobs_span columns[COLUMN_COUNT], job_name;

		if (*at == '\n') {
			at++;
			continue;
		}
		if (!split_line(at, (size_t)(end - at), columns)) {
			jobs_release(&found);
			return err_set(err, EINVAL,
				       "%s:%u: expected columns of %zu or more characters, "
				       "separated by |, as '%s' prints them",
				       name, jobs_line_number(text, at), widths[0],
				       jobs_reader_slurm_text.command);
		}
		at += HEAD_WIDTH;
		job_name = (struct jobs_span){ at, name_length(at, (size_t)(end - at)) };
		at += job_name.n;
		if (is_running(columns[COLUMN_STATE]))
			append_job(&found, columns, job_name, key);
		/* Skip the blanks that fill the column of a name. */
		while (at < end && *at == ' ')
			at++;
	}
	return jobs_finish_reading(jobs, &found, 0);
}

#define QUOTED_(x) #x
#define QUOTED(x) QUOTED_(x)
#define COLUMN_WORD(id, name, width) name ":" #width "|,"

const struct jobs_reader jobs_reader_slurm_text = {
	.name = "slurm-text",
	.help = "Slurm: squeue in columns",
	.command = "squeue -h --noconvert -t RUNNING -O '" COLUMNS(COLUMN_WORD) "Name:" QUOTED(
		NAME_WIDTH) "'",
	.read = slurm_text_read,
};
