/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a trace for the benchmarks of reports and of the web application:
 * report_trace FILE ACTIVITIES RANKS [FIRST [WORLD [FILES]]]; or only reads one: report_trace
 * --read FILE.
 *
 * Each rank writes blocks of 4 KiB with a stride to a shared file by MPI_File_write_at, which
 * contains a pwrite, reads its own FILES files (default 1) in turn in pieces of 1000 bytes, and
 * calls stat on them now and then. FIRST is the number of the first rank, for a part of a job with
 * WORLD ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/format.h"

#define BATCH 4096
#define PERIOD_NS 10000 /* from one step of a rank to the next */

enum { OPEN, FILE_OPEN, WRITE_AT, PWRITE, PREAD, STAT, NAMES };
static const char *const names[NAMES] = { "open",   "MPI_File_open", "MPI_File_write_at",
					  "pwrite", "pread",	     "stat" };

struct job {
	void *writer;
	struct activity *batch;
	uint64_t *next, *own, *shared; /* per rank: next id, and the opens of its files */
	uint16_t calls[NAMES];
	uint8_t layers[NAMES];
	size_t count;
	uint64_t written, wanted, noise;
	uint32_t ranks, first, world;
	uint32_t files; /* of each rank */
};

static void fail(const struct err *err)
{
	fprintf(stderr, "report_trace: %s\n", err->text);
	exit(1);
}

static void find_calls(struct job *job)
{
	for (int n = 0; n < NAMES; n++) {
		for (unsigned i = 0; i < call_count; i++) {
			if (strcmp(call_table[i].name, names[n]) == 0) {
				job->calls[n] = (uint16_t)i;
				job->layers[n] = call_table[i].layer;
			}
		}
	}
}

static uint64_t add(struct job *job, uint32_t rank, int call, struct activity a)
{
	struct err err;

	a.process = rank;
	a.id = id_make(rank, job->next[rank]++);
	a.call = job->calls[call];
	a.layer = job->layers[call];
	a.present |= PRESENT(RESULT);
	job->batch[job->count++] = a;
	job->written++;
	if (job->count == BATCH || job->written == job->wanted) {
		qsort(job->batch, job->count, sizeof(a), activity_compare);
		if (trace_container.add_activities(job->writer, job->batch, job->count, &err) < 0)
			fail(&err);
		job->count = 0;
	}
	return a.id;
}

static struct activity transfer(int64_t start, int64_t ns, file_id file, int64_t offset,
				int64_t bytes, uint64_t link)
{
	return (struct activity){
		.start_ns = start,
		.duration_ns = ns,
		.file = file,
		.offset = offset,
		.size = bytes,
		.result = bytes,
		.link = link,
		.present = PRESENT(OFFSET) | PRESENT(SIZE) | PRESENT(LINK),
	};
}

static file_id own_file(const struct job *job, uint32_t rank, uint64_t number)
{
	return (file_id)(2 + (uint64_t)rank * job->files + number % job->files);
}

static void open_files(struct job *job, uint32_t rank)
{
	int64_t start = rank;

	job->shared[rank] =
		add(job, rank, FILE_OPEN,
		    (struct activity){ .start_ns = start, .duration_ns = 900, .file = 1 });
	job->own[rank] = add(job, rank, OPEN,
			     (struct activity){ .start_ns = start + 1000,
						.duration_ns = 500,
						.file = own_file(job, rank, 0) });
}

/* A number below `limit` that does not repeat, because times of real traces compress badly. */
static int64_t random_below(struct job *job, int64_t limit)
{
	job->noise = job->noise * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (int64_t)(job->noise >> 33) % limit;
}

/* One step of a rank: up to four activities. */
static void step(struct job *job, uint32_t rank, uint64_t number)
{
	int64_t start = (int64_t)(number + 1) * PERIOD_NS + random_below(job, 1000);
	int64_t at = ((int64_t)number * job->world + job->first + rank) * 4096;
	int64_t slow = random_below(job, 1000);
	struct activity a = transfer(start, 3000 + slow, 1, at, 4096, job->shared[rank]);
	uint64_t outer = add(job, rank, WRITE_AT, a);

	if (job->written == job->wanted)
		return;
	a = transfer(start + 200, 2500 + slow, 1, at, 4096, 0);
	a.parent = outer;
	add(job, rank, PWRITE, a);
	if (job->written == job->wanted)
		return;
	add(job, rank, PREAD,
	    transfer(start + 5000, 400 + slow, own_file(job, rank, number), (int64_t)number * 1000,
		     1000, job->own[rank]));
	if (number % 16 == 0 && job->written < job->wanted)
		add(job, rank, STAT,
		    (struct activity){ .start_ns = start + 6000,
				       .duration_ns = 300,
				       .file = own_file(job, rank, number) });
}

static int add_own_files(struct job *job, uint32_t rank, struct err *err)
{
	char path[64];
	int r = 0;

	for (uint32_t i = 0; i < job->files && r >= 0; i++) {
		int n = snprintf(path, sizeof(path), "/scratch/input.%u",
				 (job->first + rank) % 4096);

		if (job->files > 1)
			snprintf(path + n, sizeof(path) - (size_t)n, ".%u", i);
		r = trace_container.add_file(job->writer, own_file(job, rank, i), path, err);
	}
	return r;
}

static void add_facts(struct job *job, const char *host)
{
	struct err err;
	int r = trace_container.add_file(job->writer, 1, "/scratch/shared.dat", &err);

	for (uint32_t i = 0; i < job->ranks && r >= 0; i++) {
		struct process_info process = { .index = i,
						.parent = -1,
						.pid = (int32_t)(1000 + i),
						.rank = (int32_t)(job->first + i),
						.ranks = (int32_t)job->world,
						.host = (char *)host,
						.program = (char *)"/scratch/app",
						.command = (char *)"app",
						.directory = (char *)"/scratch" };

		r = trace_container.add_process(job->writer, &process, &err);
		if (r >= 0)
			r = add_own_files(job, i, &err);
	}
	if (r < 0)
		fail(&err);
}

static void run_job(struct job *job)
{
	for (uint32_t i = 0; i < job->ranks && job->written < job->wanted; i++)
		open_files(job, i);
	for (uint64_t number = 0; job->written < job->wanted; number++) {
		for (uint32_t i = 0; i < job->ranks && job->written < job->wanted; i++)
			step(job, i, number);
	}
}

/* Prints the number of activities. */
static int read_trace(const char *path)
{
	struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	struct trace trace;
	struct err err;
	uint64_t count = 0;
	ssize_t n;

	if (trace_open(&trace, path, NULL, &err) < 0)
		fail(&err);
	while ((n = trace_next(&trace, batch, BATCH, &err)) > 0)
		count += (uint64_t)n;
	if (n < 0)
		fail(&err);
	trace_close(&trace);
	free(batch);
	printf("%llu\n", (unsigned long long)count);
	return 0;
}

int main(int argc, char **argv)
{
	struct run_clock clock = { .source = (char *)"monotonic", .num = 1, .den = 1 };
	struct job job = { .batch = xcalloc(BATCH, sizeof(struct activity)) };
	struct run_info run = { .uuid = (char *)"00000000000000000000000000000020",
				.command = (char *)"mpiexec app",
				.user = (char *)"user",
				.version = (char *)"bench",
				.started_ns = INT64_C(1700000000000000000) };
	struct run_end end = { .complete = true };
	char host[32];
	struct err err;

	if (argc == 3 && strcmp(argv[1], "--read") == 0)
		return free(job.batch), read_trace(argv[2]);
	if (argc < 4) {
		fprintf(stderr,
			"usage: %s FILE ACTIVITIES RANKS [FIRST [WORLD [FILES]]] | --read FILE\n",
			argv[0]);
		return 2;
	}
	job.wanted = strtoull(argv[2], NULL, 10);
	job.ranks = (uint32_t)strtoul(argv[3], NULL, 10);
	job.first = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
	job.world = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : job.first + job.ranks;
	job.files = argc > 6 ? (uint32_t)strtoul(argv[6], NULL, 10) : 1;
	if (!job.files)
		job.files = 1;
	job.next = xcalloc(job.ranks, sizeof(*job.next));
	job.own = xcalloc(job.ranks, sizeof(*job.own));
	job.shared = xcalloc(job.ranks, sizeof(*job.shared));
	for (uint32_t i = 0; i < job.ranks; i++)
		job.next[i] = 1;
	snprintf(host, sizeof(host), "node%u", job.ranks ? job.first / job.ranks : 0);
	run.host = host;
	find_calls(&job);
	if (trace_container.create(&job.writer, argv[1], &run, &clock, call_table, call_count,
				   &err) < 0)
		fail(&err);
	add_facts(&job, host);
	run_job(&job);
	end.duration_ns = (int64_t)(job.wanted / job.ranks / 3 + 2) * PERIOD_NS;
	if (trace_container.finish(job.writer, &end, &clock, &err) < 0)
		fail(&err);
	free(job.batch);
	free(job.next);
	free(job.own);
	free(job.shared);
	return 0;
}
