/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small parallel job, as one trace and as the parts of two nodes, for tests of profiles: four
 * ranks write interleaved blocks of a shared file by collective calls that contain a pread and a
 * pwrite, and small pieces of a file of their own.
 */
#ifndef SLUICE_TESTS_PROFILE_SAMPLE_H
#define SLUICE_TESTS_PROFILE_SAMPLE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/profile/profile.h"

enum { OPEN = 1, PREAD, PWRITE, CLOSE, FILE_OPEN, WRITE_ALL, FSYNC, CALLS };

static struct call_info calls[CALLS] = {
	[0] = { .name = "none", .class = CLASS_CONTROL },
	[OPEN] = { .name = "open", .layer = LAYER_POSIX, .class = CLASS_OPEN },
	[PREAD] = { .name = "pread", .layer = LAYER_POSIX, .class = CLASS_READ },
	[PWRITE] = { .name = "pwrite", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	[CLOSE] = { .name = "close", .layer = LAYER_POSIX, .class = CLASS_CLOSE },
	[FILE_OPEN] = { .name = "MPI_File_open", .layer = LAYER_MPI, .class = CLASS_OPEN },
	[WRITE_ALL] = { .name = "MPI_File_write_at_all", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[FSYNC] = { .name = "fsync", .layer = LAYER_POSIX, .class = CLASS_SYNC },
};

#define RANKS 4
#define RUN_NS 1000000
static char *both_files[] = { "", "/data/shared", "/data/0", "/data/1", "/data/2", "/data/3" };
static char *left_files[] = { "", "/data/0", "/data/1", "/data/shared" };
static char *right_files[] = { "", "/data/shared", "/data/3", "/data/2" };

/* A trace of some ranks: its head and activities. */
struct job {
	struct trace_head head;
	struct process_info processes[RANKS];
	struct activity list[4096];
	size_t count;
	uint64_t next[RANKS];
};

static void job_init(struct job *job, int first, int ranks, char **files, size_t file_count)
{
	*job = (struct job){ 0 };
	for (int i = 0; i < ranks; i++)
		job->processes[i] = (struct process_info){
			.index = (uint32_t)i,
			.parent = -1,
			.rank = first + i,
			.ranks = RANKS,
			.host = (char *)(first + i < 2 ? "n0" : "n1"),
		};
	for (int i = 0; i < RANKS; i++)
		job->next[i] = 1;
	job->head = (struct trace_head){
		.calls = calls,
		.call_count = CALLS,
		.files = files,
		.file_count = file_count,
		.processes = job->processes,
		.process_count = (size_t)ranks,
		.end = { .duration_ns = RUN_NS, .complete = true },
	};
}

static file_id file_of(const struct job *job, const char *path)
{
	for (size_t i = 1; i < job->head.file_count; i++) {
		if (strcmp(job->head.files[i], path) == 0)
			return (file_id)i;
	}
	return 0;
}

static uint64_t put(struct job *job, int process, struct activity a, const char *path)
{
	a.process = (uint32_t)process;
	a.id = job->next[process]++;
	a.file = file_of(job, path);
	a.layer = calls[a.call].layer;
	job->list[job->count++] = a;
	return a.id;
}

static struct activity access_at(int call, int64_t start, int64_t ns, int64_t offset, int64_t bytes)
{
	return (struct activity){
		.call = (uint16_t)call,
		.start_ns = start,
		.duration_ns = ns,
		.offset = offset,
		.size = bytes,
		.result = bytes,
		.present = PRESENT(OFFSET) | PRESENT(SIZE) | PRESENT(RESULT),
	};
}

/* What a rank does depends on its number only, so that two jobs can share the work. */
static void run_rank(struct job *job, int process, int rank)
{
	char own[16];
	uint64_t outer;

	snprintf(own, sizeof(own), "/data/%d", rank);
	put(job, process,
	    (struct activity){ .call = FILE_OPEN, .start_ns = 100 + rank, .duration_ns = 50 },
	    "/data/shared");
	put(job, process,
	    (struct activity){ .call = OPEN,
			       .start_ns = 200 + rank,
			       .duration_ns = 10,
			       .flags = O_CREAT,
			       .present = PRESENT(FLAGS) },
	    own);
	for (int i = 0; i < 100; i++) {
		int64_t start = 1000 + 5000 * i + 7 * rank, at = (int64_t)(RANKS * i + rank) * 1000;
		struct activity a = access_at(WRITE_ALL, start, 100 + 10 * rank, at, 1000);

		a.collective = 77;
		outer = put(job, process, a, "/data/shared");
		a = access_at(PREAD, start + 1, 10, at / 4096 * 4096, 4096);
		a.parent = outer;
		put(job, process, a, "/data/shared");
		a = access_at(PWRITE, start + 20, 30, at / 4096 * 4096, 4096);
		a.parent = outer;
		put(job, process, a, "/data/shared");
		put(job, process, access_at(PWRITE, start + 1000, 3, i * 10, 10), own);
	}
	put(job, process,
	    (struct activity){ .call = FSYNC, .start_ns = 900000, .duration_ns = 500 }, own);
}

static int compare_starts(const void *a, const void *b)
{
	return activity_compare(a, b);
}

static void job_profile(struct job *job, struct profile *profile,
			const struct profile_limits *limits)
{
	qsort(job->list, job->count, sizeof(*job->list), compare_starts);
	profile_init(profile, &job->head, limits);
	for (size_t i = 0; i < job->count; i++)
		profile_add(profile, &job->list[i]);
}

static struct job both, left, right;

static void profile_both(struct profile *profile, const struct profile_limits *limits)
{
	job_init(&both, 0, RANKS, both_files, 6);
	for (int i = 0; i < RANKS; i++)
		run_rank(&both, i, i);
	job_profile(&both, profile, limits);
}

/* The same ranks on two nodes; the files have other numbers there. */
static void profile_parts(struct profile *first, struct profile *second,
			  const struct profile_limits *limits)
{
	job_init(&left, 0, 2, left_files, 4);
	run_rank(&left, 0, 0);
	run_rank(&left, 1, 1);
	job_profile(&left, first, limits);
	job_init(&right, 2, 2, right_files, 4);
	run_rank(&right, 0, 2);
	run_rank(&right, 1, 3);
	job_profile(&right, second, limits);
}

#endif
