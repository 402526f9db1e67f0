/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job per number of ranks does the cells that are left. What it says is looked at while it runs,
 * and a cell goes to the store as soon as it is complete. Cells and output are in memory: killed in
 * whatever way, we leave nothing behind.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/term.h"
#include "base/unit.h"
#include "cmd/model/measure.h"
#include "base/launcher.h"
#include "base/interrupt.h"
#include "base/child.h"

#define PROGRAM "elemental"
/* Of what a job says that is not for us, so much is shown if it fails. */
#define SAID_LINES 4
/* A cell of communication is repeated for no longer, by a budget's share in between. */
#define LIMIT_MOST_S 1.0
#define LIMIT_LEAST_S 0.02

struct runner {
	struct bench *bench;
	enum mpi mpi;
	char *program, *launcher, *file;
	struct campaign_intake intake;
	int output; /* what the job says; -1: none */
	off_t taken;
	struct buf line;
	char *said[SAID_LINES]; /* the last ones, in a ring */
	size_t said_count;
	char *own; /* what the program says of its failure */
	struct err err;
	volatile sig_atomic_t stop;
	struct progress progress;
	double begun_s, planned_s; /* when it began; what was estimated then */
};

static double now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- what the job says ---- */

static void said_keep(struct runner *run, const char *line)
{
	char **place = &run->said[run->said_count++ % SAID_LINES];

	free(*place);
	*place = xstrdup(line);
	if (!run->own && strncmp(line, PROGRAM ": ", strlen(PROGRAM) + 2) == 0)
		run->own = xstrdup(line);
}

static void said_clear(struct runner *run)
{
	for (size_t i = 0; i < SAID_LINES; i++) {
		free(run->said[i]);
		run->said[i] = NULL;
	}
	free(run->own);
	run->own = NULL;
	run->said_count = 0;
}

/* "41/170, 4 ranks, Alltoallv, 2 min 3 s left" */
static void progress_tell(struct runner *run)
{
	const struct campaign *campaign = &run->bench->campaign;
	const struct campaign_cell *cell = &campaign->cells[run->intake.cell];
	double left = campaign_left(campaign, 0).seconds, done;
	double passed = now_s(CLOCK_MONOTONIC) - run->begun_s;
	char time[UNIT_TEXT] = "?";
	AUTO_FREE char *text = NULL;

	/* The job runs already. */
	if (campaign_left(campaign, cell->ranks).cells)
		left -= campaign->start_s;
	done = run->planned_s - left;
	if (done > 0)
		unit_ns(time, (int64_t)(passed * left / done * 1e9));
	text = xprintf("%zu/%zu, %" PRIu64 " ranks, %s, %s left",
		       run->bench->known + run->bench->done, campaign->count, cell->ranks,
		       operations[cell->operation].kind == OPERATION_STORAGE
			       ? "storage"
			       : operations[cell->operation].title,
		       time);
	progress_line(&run->progress, text);
}

static void line_take(struct runner *run, const char *line)
{
	int r = campaign_take(&run->intake, line, wall_ns(), &run->err);

	if (r == CAMPAIGN_OTHER && *line && *line != '@')
		said_keep(run, line);
	if (r == CAMPAIGN_CELL) {
		r = elements_save(run->bench->store, run->intake.rows.rows, run->intake.rows.count,
				  &run->err);
		if (r >= 0) {
			run->bench->saved += run->intake.rows.count;
			run->bench->done++;
			run->intake.rows.count = 0;
			progress_tell(run);
		}
	}
	if (r < 0)
		run->stop = SIGTERM;
}

/* Takes what has been said since; called while the job runs, and after it. */
static void look(void *arg)
{
	struct runner *run = arg;
	char text[4096];
	ssize_t n;

	if (*interrupt_flag())
		run->stop = *interrupt_flag();
	while (!run->err.code && (n = pread(run->output, text, sizeof(text), run->taken)) > 0) {
		run->taken += n;
		for (ssize_t i = 0; i < n && !run->err.code; i++) {
			if (text[i] != '\n') {
				buf_putc(&run->line, text[i]);
				continue;
			}
			line_take(run, buf_text(&run->line));
			buf_clear(&run->line);
		}
	}
}

/* ---- the job ---- */

struct words {
	char **items; /* ends with NULL */
	size_t count, cap;
};

static void words_add(struct words *words, const char *word)
{
	words->items = xgrow(words->items, &words->cap, words->count + 2, sizeof(*words->items));
	words->items[words->count++] = xstrdup(word);
	words->items[words->count] = NULL;
}

static void words_release(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	free(words->items);
	*words = (struct words){ 0 };
}

/* The words of --launch, with numbers for {ranks}. */
static void launch_split(struct words *words, const char *launch, uint64_t ranks)
{
	static const char mark[] = "{ranks}";
	AUTO_FREE char *copy = xstrdup(launch);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " \t"))) {
		AUTO_BUF struct buf out = { 0 };
		char *at;

		if (!*word)
			continue;
		while ((at = strstr(word, mark))) {
			buf_add(&out, word, (size_t)(at - word));
			buf_printf(&out, "%" PRIu64, ranks);
			word = at + strlen(mark);
		}
		buf_puts(&out, word);
		words_add(words, buf_text(&out));
	}
}

static size_t hosts_count(const char *hosts)
{
	size_t n = 1;

	for (; *hosts; hosts++)
		n += *hosts == ',';
	return n;
}

/* "-hosts a,b -ppn 4" of MPICH, "--host a:4,b:4" of Open MPI. */
static void hosts_add(struct words *words, enum mpi mpi, const char *hosts, uint64_t ranks)
{
	uint64_t count = hosts_count(hosts), each = (ranks + count - 1) / count;
	AUTO_FREE char *number = xprintf("%" PRIu64, each);
	AUTO_FREE char *copy = xstrdup(hosts);
	AUTO_BUF struct buf list = { 0 };
	char *rest = copy, *host;

	if (mpi == MPI_MPICH) {
		words_add(words, "-hosts");
		words_add(words, hosts);
		words_add(words, "-ppn");
		words_add(words, number);
		return;
	}
	while ((host = strsep(&rest, ",")))
		buf_printf(&list, "%s%s:%s", list.len ? "," : "", host, number);
	words_add(words, "--host");
	words_add(words, buf_text(&list));
}

/* Estimates know little of this machine: no cell may use up what others need of the budget. */
static double cell_limit(const struct bench *bench)
{
	double each = bench->wish.budget_s / (double)bench->campaign.count;

	return fmin(LIMIT_MOST_S, fmax(LIMIT_LEAST_S, each));
}

static void job_words(const struct runner *run, struct words *words, uint64_t ranks)
{
	const struct bench_args *args = run->bench->args;
	AUTO_FREE char *number = xprintf("%" PRIu64, ranks);

	if (args->launch) {
		launch_split(words, args->launch, ranks);
	} else {
		words_add(words, run->launcher);
		words_add(words, "-n");
		words_add(words, number);
		if (args->hosts)
			hosts_add(words, run->mpi, args->hosts, ranks);
	}
	words_add(words, run->program);
	words_add(words, "--file");
	words_add(words, run->file);
	if (run->bench->wish.budget_s > 0) {
		AUTO_FREE char *limit = xprintf("%.3fs", cell_limit(run->bench));

		words_add(words, "--limit");
		words_add(words, limit);
	}
}

/* More ranks than cores: Open MPI is to allow that, not to bind them, and to yield. */
static void job_environment(const struct runner *run, struct words *words, uint64_t ranks)
{
	static const char *const wanted[] = { "OMPI_MCA_rmaps_base_oversubscribe=1",
					      "OMPI_MCA_mpi_yield_when_idle=1",
					      "OMPI_MCA_hwloc_base_binding_policy=none" };

	if (run->bench->args->launch || !run->bench->wish.cores || ranks <= run->bench->wish.cores)
		return;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		AUTO_FREE char *name = xstrndup(wanted[i], strcspn(wanted[i], "="));

		if (!getenv(name))
			words_add(words, wanted[i]);
	}
}

/* A file in memory that is called by its path; -1 where there can be none. */
static int memory_file(const char *name, char path[64])
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static char *reason_of(const struct runner *run, int status)
{
	AUTO_BUF struct buf text = { 0 };
	size_t from = run->said_count > SAID_LINES ? run->said_count - SAID_LINES : 0;

	if (run->own)
		return xstrdup(run->own);
	for (size_t i = from; i < run->said_count; i++)
		buf_printf(&text, "%s%s", i > from ? "\n" : "", run->said[i % SAID_LINES]);
	if (text.len)
		return buf_take(&text);
	if (WIFSIGNALED(status))
		return xprintf("signal %d", WTERMSIG(status));
	return xprintf("exit code %d, without a word", WEXITSTATUS(status));
}

/* After the job: has it done everything? */
static int job_judge(struct runner *run, uint64_t ranks, const struct child_end *end)
{
	struct command *c = run->bench->command;
	size_t left = campaign_left(&run->bench->campaign, ranks).cells;
	AUTO_FREE char *reason = NULL;

	if (run->err.code)
		return command_fail(c, "%s", run->err.text);
	if (!left && end->status == 0)
		return COMMAND_GOOD;
	reason = reason_of(run, end->status);
	if (!left) {
		command_warn(c, "%" PRIu64 " ranks have done everything, but: %s", ranks, reason);
		return COMMAND_GOOD;
	}
	return command_fail(c, "%" PRIu64 " ranks, %zu cells left: %s", ranks, left, reason);
}

static int job_start(struct runner *run, uint64_t ranks, const char *input, const char *output,
		     struct child_end *end, struct err *err)
{
	struct words words = { 0 }, environment = { 0 };
	struct child_options options = { .input = input,
					 .output = output,
					 .limit_s = INFINITY,
					 .stop = &run->stop,
					 .look = look,
					 .look_arg = run };
	int r;

	job_words(run, &words, ranks);
	job_environment(run, &environment, ranks);
	options.argv = words.items;
	options.environment = environment.items;
	r = child_run(&options, end, err);
	words_release(&words);
	words_release(&environment);
	return r;
}

static int job_run(struct runner *run, uint64_t ranks)
{
	AUTO_BUF struct buf cells = { 0 };
	char input_path[64], output_path[64];
	AUTO_CLOSE int input = memory_file("cells", input_path);
	AUTO_CLOSE int output = memory_file("output", output_path);
	struct child_end end = { 0 };
	struct err err = { 0 };
	int r;

	campaign_lines(&run->bench->campaign, ranks, &cells);
	if (input < 0 || output < 0 ||
	    pwrite(input, cells.data, cells.len, 0) != (ssize_t)cells.len)
		return command_fail(run->bench->command, "there is no memory for the cells");
	run->intake = (struct campaign_intake){ .campaign = &run->bench->campaign,
						.platform = run->bench->platform,
						.ranks = ranks };
	run->output = output;
	run->taken = 0;
	said_clear(run);
	buf_clear(&run->line);
	r = job_start(run, ranks, input_path, output_path, &end, &err);
	look(run);
	elements_release(&run->intake.rows);
	progress_end(&run->progress);
	unlink(run->file);
	if (r == -EINTR && !run->err.code)
		return 128 + run->stop;
	if (r < 0 && !run->err.code)
		return command_fail(run->bench->command, "%s", err.text);
	return job_judge(run, ranks, &end);
}

/* ---- before the first job ---- */

static int room_check(const struct bench *bench)
{
	uint64_t needed = campaign_left(&bench->campaign, 0).file_bytes, there;
	char need[UNIT_TEXT], have[UNIT_TEXT];
	struct statvfs fs;

	if (!needed)
		return 0;
	if (access(bench->args->dir, W_OK | X_OK) != 0 || statvfs(bench->args->dir, &fs) != 0)
		return command_fail(bench->command, "--dir: %s: %s", bench->args->dir,
				    strerror(errno));
	there = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (there < needed + needed / 20)
		return command_fail(bench->command,
				    "%s has %s left, the largest file takes %s: another --dir, "
				    "smaller --buffers or fewer --rounds would fit",
				    bench->args->dir, unit_bytes(have, (double)there),
				    unit_bytes(need, (double)needed));
	return 0;
}

static int program_choose(struct runner *run)
{
	struct command *c = run->bench->command;
	int wanted = run->bench->args->mpi;

	if (launcher_mpi_around() != MPI_AUTO)
		return command_fail(c, "it starts its ranks itself: not below mpiexec, please");
	run->mpi = launcher_choose(PROGRAM, wanted, &run->program);
	if (!run->program)
		return command_fail(c,
				    "the benchmark is not built%s%s: an MPI must be there when "
				    "Sluice is built",
				    wanted ? " for " : "", wanted ? mpi_names[wanted] : "");
	if (run->bench->args->launch)
		return 0;
	run->launcher = launcher_path(run->mpi);
	if (!run->launcher)
		return command_fail(c, "neither mpiexec.%s nor mpiexec is in PATH; see --launch",
				    mpi_names[run->mpi]);
	return 0;
}

/* Files are called by host and process: several may run in one directory. */
static char *file_prefix(void)
{
	char host[64] = "";

	gethostname(host, sizeof(host) - 1);
	return xprintf("sluice-bench.%s.", host);
}

static char *file_name(const char *dir)
{
	AUTO_FREE char *absolute = realpath(dir, NULL), *prefix = file_prefix();

	return xprintf("%s/%s%d", absolute ? absolute : dir, prefix, (int)getpid());
}

/* On several nodes a file may outlive a process that was killed without warning. */
static void leftovers_remove(const char *dir)
{
	AUTO_FREE char *prefix = file_prefix();
	DIR *entries = opendir(dir);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		const char *number = entry->d_name + strlen(prefix);
		uint64_t pid;

		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
		    unit_parse_count(number, &pid) == 0 && pid > 0 && pid <= INT_MAX &&
		    kill((pid_t)pid, 0) != 0 && errno == ESRCH)
			unlinkat(dirfd(entries), entry->d_name, 0);
	}
	if (entries)
		closedir(entries);
}

int bench_run(struct bench *bench)
{
	struct runner run = { .bench = bench, .output = -1 };
	int ret = room_check(bench);

	if (!ret && campaign_left(&bench->campaign, 0).cells)
		ret = program_choose(&run);
	run.begun_s = now_s(CLOCK_MONOTONIC);
	run.planned_s = campaign_left(&bench->campaign, 0).seconds;
	run.file = file_name(bench->args->dir);
	leftovers_remove(bench->args->dir);
	for (size_t i = 0; !ret && i < bench->wish.ranks.count; i++) {
		uint64_t ranks = bench->wish.ranks.items[i];

		if (!campaign_left(&bench->campaign, ranks).cells)
			continue;
		progress_start(&run.progress, "bench", 0);
		ret = job_run(&run, ranks);
	}
	bench->seconds = now_s(CLOCK_MONOTONIC) - run.begun_s;
	said_clear(&run);
	buf_release(&run.line);
	free(run.program);
	free(run.launcher);
	free(run.file);
	return ret;
}
