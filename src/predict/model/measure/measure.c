/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/measure/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/unit.h"
#include "predict/model/measure/job_command.h"

#define PROGRAM "elemental"
/* The last lines of a job's other output, which are shown if it fails. */
#define OUTPUT_LINES 4
/* Bounds on the time for the repetitions of one cell of communication; a time limit of the campaign
 * sets it in between. */
#define CELL_LIMIT_MAX_S 1.0
#define CELL_LIMIT_MIN_S 0.02
/* The file system must have this share of the largest file free beyond its size. */
#define SPARE_SHARE 20

#define TMPFS_TYPE 0x01021994
#define RAMFS_TYPE 0x858458f6

struct runner {
	const struct measure_options *options;
	struct measure_result *result;
	struct job_program program;
	char *file; /* that the jobs write and read */
	struct campaign_intake intake;
	int output;  /* descriptor of what the job prints */
	off_t taken; /* bytes of it that were read */
	struct buf line;
	char *lines[OUTPUT_LINES]; /* the last lines that are not rows, a ring */
	size_t line_count;
	char *own_error; /* the first error that the benchmark program itself reported */
	struct err err;	 /* of a row: the job is stopped */
	volatile sig_atomic_t stop;
	double begun_s, planned_s; /* when the runner began, and its estimate then */
};

static void keep_line(struct runner *run, const char *line)
{
	char **place = &run->lines[run->line_count++ % OUTPUT_LINES];

	free(*place);
	*place = xstrdup(line);
	if (!run->own_error && strncmp(line, PROGRAM ": ", strlen(PROGRAM ": ")) == 0)
		run->own_error = xstrdup(line);
}

static void clear_lines(struct runner *run)
{
	for (size_t i = 0; i < OUTPUT_LINES; i++) {
		free(run->lines[i]);
		run->lines[i] = NULL;
	}
	free(run->own_error);
	run->own_error = NULL;
	run->line_count = 0;
}

static void report_progress(const struct runner *run)
{
	const struct campaign *campaign = run->options->campaign;
	const struct campaign_cell *cell = &campaign->cells[run->intake.cell];
	double left_s = campaign_remaining(campaign, 0).seconds, done_s;
	bool is_storage = operations[cell->operation].kind == OPERATION_STORAGE;

	if (!run->options->show)
		return;
	/* The time to start this job is already spent. */
	if (campaign_remaining(campaign, cell->ranks).cells)
		left_s -= campaign->start_s;
	done_s = run->planned_s - left_s;
	run->options->show(
		run->options->arg,
		&(struct measure_progress){
			.cells_done = run->options->known + run->result->cells,
			.cells = campaign->count,
			.ranks = cell->ranks,
			.operation = is_storage ? "storage" : operations[cell->operation].title,
			.left_s =
				done_s > 0 ? (clock_now_s() - run->begun_s) * left_s / done_s : NAN,
		});
}

static int save_cell(struct runner *run)
{
	struct elements *rows = &run->intake.rows;
	int r = elements_save(run->options->store, rows->rows, rows->count, &run->err);

	if (r < 0)
		return r;
	run->result->rows += rows->count;
	run->result->cells++;
	rows->count = 0;
	report_progress(run);
	return 0;
}

static void read_line(struct runner *run, const char *line)
{
	int r = campaign_parse_line(&run->intake, line, clock_realtime_ns(), &run->err);

	if (r == CAMPAIGN_OTHER && *line && *line != '@')
		keep_line(run, line);
	if (r == CAMPAIGN_CELL)
		r = save_cell(run);
	if (r < 0)
		run->stop = SIGTERM;
}

/* Reads what the job has printed since the last call; called while the job runs, and after it. */
static void read_output(void *arg)
{
	struct runner *run = arg;
	char text[4096];
	ssize_t n;

	if (run->options->stop && *run->options->stop)
		run->stop = *run->options->stop;
	while (!run->err.code && (n = pread(run->output, text, sizeof(text), run->taken)) > 0) {
		run->taken += n;
		for (ssize_t i = 0; i < n && !run->err.code; i++) {
			if (text[i] != '\n') {
				buf_putc(&run->line, text[i]);
				continue;
			}
			read_line(run, buf_text(&run->line));
			buf_clear(&run->line);
		}
	}
}

/* The estimates know little of this machine: no cell may use up the time that others need. */
static double cell_limit_s(const struct measure_options *options)
{
	double share = options->wish->budget_s / (double)options->campaign->count;

	return fmin(CELL_LIMIT_MAX_S, fmax(CELL_LIMIT_MIN_S, share));
}

static void job_words(const struct runner *run, uint64_t ranks, struct words *words,
		      struct words *environment)
{
	const struct measure_options *options = run->options;
	struct job_command command = { .launcher_command = options->launcher,
				       .launcher = run->program.launcher,
				       .mpi = run->program.mpi,
				       .hosts = options->hosts,
				       .ranks = ranks,
				       .cores = options->wish->cores };

	job_command_line(&command, words);
	words_add(words, run->program.path);
	words_add(words, "--file");
	words_add(words, run->file);
	if (options->wish->budget_s > 0) {
		AUTO_FREE char *limit = xprintf("%.3fs", cell_limit_s(options));

		words_add(words, "--limit");
		words_add(words, limit);
	}
	job_command_environment(&command, environment);
}

/* A file in memory that can be opened by its path; -1 if there can be none. */
static int memory_file(const char *name, char path[64])
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static char *failure_reason(const struct runner *run, int status)
{
	AUTO_BUF struct buf text = { 0 };
	size_t from = run->line_count > OUTPUT_LINES ? run->line_count - OUTPUT_LINES : 0;

	if (run->own_error)
		return xstrdup(run->own_error);
	for (size_t i = from; i < run->line_count; i++)
		buf_printf(&text, "%s%s", i > from ? "\n" : "", run->lines[i % OUTPUT_LINES]);
	if (text.len)
		return buf_take(&text);
	if (WIFSIGNALED(status))
		return xprintf("killed by signal %d", WTERMSIG(status));
	return xprintf("exit code %d without any output", WEXITSTATUS(status));
}

/* After the job: has it measured everything? */
static int check_job(struct runner *run, uint64_t ranks, const struct child_end *end,
		     struct err *err)
{
	const struct measure_options *options = run->options;
	size_t left = campaign_remaining(options->campaign, ranks).cells;
	AUTO_FREE char *reason = NULL, *warning = NULL;

	if (run->err.code) {
		*err = run->err;
		return -run->err.code;
	}
	if (!left && end->status == 0)
		return 0;
	reason = failure_reason(run, end->status);
	if (left)
		return err_set(err, EIO,
			       "the job of %" PRIu64 " ranks failed with %zu cells left: %s", ranks,
			       left, reason);
	warning = xprintf("the job of %" PRIu64 " ranks measured everything, but failed then: %s",
			  ranks, reason);
	if (options->warn)
		options->warn(options->arg, warning);
	return 0;
}

static int job_start(struct runner *run, uint64_t ranks, const char *input, const char *output,
		     struct child_end *end, struct err *err)
{
	struct words words = { 0 }, environment = { 0 };
	struct child_options options = { .input = input,
					 .output = output,
					 .limit_s = INFINITY,
					 .stop = &run->stop,
					 .look = read_output,
					 .look_arg = run };
	int r;

	job_words(run, ranks, &words, &environment);
	options.argv = words.items;
	options.environment = environment.items;
	r = child_run(&options, end, err);
	words_release(&words);
	words_release(&environment);
	return r;
}

static int job_run(struct runner *run, uint64_t ranks, struct err *err)
{
	struct campaign *campaign = run->options->campaign;
	AUTO_BUF struct buf cells = { 0 };
	char input_path[64], output_path[64];
	AUTO_CLOSE int input = memory_file("cells", input_path);
	AUTO_CLOSE int output = memory_file("output", output_path);
	struct child_end end = { 0 };
	int r;

	campaign_write_cells(campaign, ranks, &cells);
	if (input < 0 || output < 0 ||
	    pwrite(input, cells.data, cells.len, 0) != (ssize_t)cells.len)
		return err_set(err, ENOMEM, "not enough memory for the list of cells");
	run->intake = (struct campaign_intake){ .campaign = campaign,
						.platform = run->options->platform,
						.ranks = ranks };
	run->output = output;
	run->taken = 0;
	clear_lines(run);
	buf_clear(&run->line);
	r = job_start(run, ranks, input_path, output_path, &end, err);
	read_output(run);
	elements_release(&run->intake.rows);
	unlink(run->file);
	if (r < 0 && !run->err.code)
		return r;
	return check_job(run, ranks, &end, err);
}

static int check_space(const struct measure_options *options, struct err *err)
{
	uint64_t needed = campaign_remaining(options->campaign, 0).file_bytes, available;
	char need[UNIT_TEXT], have[UNIT_TEXT];
	struct statvfs fs;

	if (!needed)
		return 0;
	if (access(options->dir, W_OK | X_OK) != 0 || statvfs(options->dir, &fs) != 0)
		return err_set(err, errno, "--dir: %s: %s", options->dir, strerror(errno));
	available = (uint64_t)fs.f_bavail * fs.f_frsize;
	/* Some file systems do not know their size: CephFS without a manager, for example. */
	if (!fs.f_blocks || available >= needed + needed / SPARE_SHARE)
		return 0;
	return err_set(err, ENOSPC,
		       "%s has %s free, but the largest file takes %s; use another --dir, smaller "
		       "--buffers or fewer --rounds",
		       options->dir, unit_bytes(have, (double)available),
		       unit_bytes(need, (double)needed));
}

int measure_run(const struct measure_options *options, struct measure_result *result,
		struct err *err)
{
	const struct campaign *campaign = options->campaign;
	struct runner run = { .options = options, .result = result, .output = -1 };
	int r;

	*result = (struct measure_result){ 0 };
	r = check_space(options, err);
	if (r >= 0 && campaign_remaining(campaign, 0).cells)
		r = job_program_find(&run.program, PROGRAM, options->mpi, options->launcher, err);
	run.begun_s = clock_now_s();
	run.planned_s = campaign_remaining(campaign, 0).seconds;
	run.file = job_file_name(options->dir, "");
	job_remove_leftovers(options->dir);
	for (size_t i = 0; r >= 0 && i < options->wish->ranks.count; i++) {
		uint64_t ranks = options->wish->ranks.items[i];

		if (campaign_remaining(campaign, ranks).cells)
			r = job_run(&run, ranks, err);
	}
	result->seconds = clock_now_s() - run.begun_s;
	clear_lines(&run);
	buf_release(&run.line);
	job_program_release(&run.program);
	free(run.file);
	return r < 0 ? r : 0;
}

/* Rows that were measured around the page cache and rows that were not cannot be compared. */
static int check_same_cache(const struct campaign_request *wish, const char *platform,
			    const struct elements *rows, struct err *err)
{
	char cache[ELEMENT_WORD];

	option_choice_name(CAMPAIGN_CACHE_WORDS, (int)wish->cache, cache, sizeof(cache));
	for (size_t i = 0; wish->storage && i < rows->count; i++)
		if (*rows->rows[i].cache && strcmp(rows->rows[i].cache, cache) != 0)
			return err_set(err, EINVAL,
				       "\"%s\" has rows measured with the cache %s, but these "
				       "would be %s; use another --platform, or delete the rows "
				       "with 'sluice model data forget'",
				       platform, rows->rows[i].cache, cache);
	return 0;
}

int measure_resume(struct campaign *campaign, const struct campaign_request *wish,
		   struct store *store, const char *platform, bool remeasure, size_t *known,
		   struct err *err)
{
	struct elements rows = { 0 };
	int r = elements_load(store, platform, NULL, &rows, err);

	if (r >= 0)
		r = check_same_cache(wish, platform, &rows, err);
	if (r >= 0)
		*known = remeasure ? 0 : campaign_mark_measured(campaign, &rows);
	elements_release(&rows);
	return r;
}

enum campaign_cache measure_cache_choose(const char *dir)
{
	struct statfs fs;
	bool is_memory = statfs(dir, &fs) == 0 && ((unsigned long)fs.f_type == TMPFS_TYPE ||
						   (unsigned long)fs.f_type == RAMFS_TYPE);

	return is_memory ? CAMPAIGN_WITHIN : CAMPAIGN_BYPASSED;
}

uint64_t measure_memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}
