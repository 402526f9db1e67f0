/* SPDX-License-Identifier: BSD-3-Clause
 *
 * squeue in columns of fixed width, the name of the job last. Names may hold anything, even line
 * breaks; but they are cut to fewer bytes than a line has before the name, so no name can hold
 * what looks like a line.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "predict/forecast/jobs/text.h"

/* One row per column; the command is made of the same list. */
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
_Static_assert(HEAD_WIDTH > NAME_WIDTH, "a name must not be able to hold a line");

/* The columns of a line, or false: it is none. */
static bool line_split(const char *at, size_t left, struct jobs_span columns[COLUMN_COUNT])
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

/* Where the name ends that begins here: at the end of the column or before the next job. */
static size_t name_length(const char *at, size_t left)
{
	struct jobs_span columns[COLUMN_COUNT];
	size_t n = 0;

	for (; n < left && n < NAME_WIDTH; n++)
		if (at[n] == '\n' &&
		    (n + 1 == left || line_split(at + n + 1, left - n - 1, columns)))
			break;
	return n;
}

static void job_add(struct jobs *found, const struct jobs_span columns[COLUMN_COUNT],
		    struct jobs_span name, const uint8_t key[OWNER_KEY_BYTES])
{
	struct job *job = jobs_add(found);

	jobs_put(&job->id, columns[COLUMN_ID]);
	jobs_put(&job->queue, columns[COLUMN_QUEUE]);
	jobs_put(&job->name, name);
	jobs_own(job, columns[COLUMN_OWNER], key);
	job->nodes = jobs_bytes(columns[COLUMN_NODES], 1);
	job->memory_bytes = jobs_tres_memory(columns[COLUMN_TRES]);
	job->used_s = jobs_seconds(columns[COLUMN_USED]);
	job->allocated_s = jobs_seconds(columns[COLUMN_LIMIT]);
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
		struct jobs_span columns[COLUMN_COUNT], called;

		if (*at == '\n') {
			at++;
			continue;
		}
		if (!line_split(at, (size_t)(end - at), columns)) {
			jobs_release(&found);
			return err_set(err, EINVAL,
				       "%s:%u: the line has no columns of %zu and more characters "
				       "with | between: is this what '%s' prints?",
				       name, jobs_line(text, at), widths[0],
				       jobs_reader_slurm_text.command);
		}
		at += HEAD_WIDTH;
		called = (struct jobs_span){ at, name_length(at, (size_t)(end - at)) };
		at += called.n;
		if (is_running(columns[COLUMN_STATE]))
			job_add(&found, columns, called, key);
		/* Blanks that fill the column of a name that was cut are no line. */
		while (at < end && *at == ' ')
			at++;
	}
	return jobs_settle(jobs, &found, 0);
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
