/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures how many activities per second go into a trace container and into a site's database:
 *
 *   bench_ingest trace FILE ACTIVITIES      writes a trace of strided writes and mixed calls
 *   bench_ingest store TRACE DATABASE       builds payloads of all its activities, as a node does,
 *                                           and applies them, as the daemon does
 *
 * Each prints one line: number of activities, seconds, activities per second. The clock runs until
 * everything is on disk. Activities and payloads are prepared in memory before it starts.
 * Papers: SIOX-58.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "contract/record.h"
#include "site/build.h"
#include "site/site.h"
#include "trace/format.h"

#define BATCH 4096
#define PROCESSES 64
#define FILES 200
#define PAYLOAD_BYTES (512u << 10)
#define PAYLOADS_PER_TRANSACTION 8

static void fail(const struct err *err)
{
	fprintf(stderr, "bench_ingest: %s\n", err->text);
	exit(1);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static const struct call_info calls[] = {
	{ .name = "open", .class = CLASS_OPEN, .failure = FAILS_MINUS_ERRNO },
	{ .name = "pwrite",
	  .class = CLASS_WRITE,
	  .failure = FAILS_MINUS_ERRNO,
	  .field_count = 4,
	  .fields = { FIELD_RESULT, FIELD_LINK, FIELD_SIZE, FIELD_OFFSET } },
	{ .name = "pread", .class = CLASS_READ, .failure = FAILS_MINUS_ERRNO },
	{ .name = "MPI_File_write_at_all",
	  .layer = LAYER_MPI,
	  .class = CLASS_WRITE,
	  .failure = FAILS_STATUS },
};

static struct activity make_activity(uint64_t number)
{
	uint64_t size = (1 + next_random() % 256) * 4096;

	return (struct activity){
		.start_ns = (int64_t)(number * 1000 + next_random() % 500),
		.duration_ns = 500 + (int64_t)(next_random() % 100000),
		.id = id_make(1, number / PROCESSES + 1),
		.link = link_make(LINK_FILE, id_make(1, 1)),
		.result = (int64_t)size,
		.size = (int64_t)size,
		.offset = (int64_t)(next_random() % 1000000 * 4096),
		.handle = 3,
		.process = (uint32_t)(number % PROCESSES),
		.call = (uint16_t)(1 + next_random() % 3),
		.file = (file_id)(1 + next_random() % (FILES - 1)),
		.present = PRESENT(RESULT) | PRESENT(LINK) | PRESENT(SIZE) | PRESENT(OFFSET) |
			   PRESENT(HANDLE),
	};
}

static void *create_trace(const char *path, const struct run_clock *clock)
{
	struct timespec now;
	struct run_info run = { (char *)"00112233445566778899aabbccddeeff",
				(char *)"./app",
				(char *)"/tmp",
				(char *)"node1",
				(char *)"ann",
				(char *)"0",
				0 };
	struct err err = { 0 };
	void *writer = NULL;
	int r;

	clock_gettime(CLOCK_REALTIME, &now);
	run.started_ns = (int64_t)(now.tv_sec - 3600) * 1000000000;
	r = trace_container.create(&writer, path, &run, clock, calls,
				   sizeof(calls) / sizeof(calls[0]), &err);
	for (uint32_t i = 0; i < PROCESSES && r >= 0; i++) {
		struct process_info process = { .index = i,
						.parent = -1,
						.rank = (int32_t)i,
						.ranks = PROCESSES,
						.host = (char *)"node1",
						.program = (char *)"/usr/bin/app" };

		r = trace_container.add_process(writer, &process, &err);
	}
	for (file_id i = 1; i < FILES && r >= 0; i++) {
		AUTO_FREE char *path_of_file = xprintf("/scratch/ann/run/out-%u.nc", i);

		r = trace_container.add_file(writer, i, path_of_file, &err);
	}
	if (r < 0)
		fail(&err);
	return writer;
}

static int write_trace(const char *path, size_t count)
{
	static const struct run_clock clock = { (char *)"monotonic", 0, 1, 1, 0 };
	struct activity *all = xcalloc(count, sizeof(*all));
	struct run_end end = { (int64_t)count * 1000 + 200000, 0, true };
	struct err err = { 0 };
	void *writer;
	double start;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		all[i] = make_activity(i);
	start = now_s();
	writer = create_trace(path, &clock);
	for (size_t i = 0; i < count && r >= 0; i += BATCH)
		r = trace_container.add_activities(writer, all + i,
						   count - i < BATCH ? count - i : BATCH, &err);
	if (r >= 0)
		r = trace_container.finish(writer, &end, &clock, &err);
	if (r < 0)
		fail(&err);
	start = now_s() - start;
	printf("%zu %.3f %.0f\n", count, start, (double)count / start);
	free(all);
	return 0;
}

struct payloads {
	struct site_payload *list;
	size_t count, cap;
};

static int keep_payload(void *arg, uint16_t type, const void *payload, size_t bytes,
			struct err *err)
{
	struct payloads *to = arg;
	void *copy = xmalloc(bytes);

	(void)type, (void)err;
	memcpy(copy, payload, bytes);
	to->list = xgrow(to->list, &to->cap, to->count + 1, sizeof(*to->list));
	to->list[to->count++] = (struct site_payload){ copy, bytes };
	return 0;
}

static int fill_store(const char *trace, const char *database)
{
	struct payloads payloads = { 0 };
	struct build_options options = { .sample = 1, .payload_bytes = PAYLOAD_BYTES };
	struct site_db *site = NULL;
	struct config config;
	struct err err = { 0 };
	struct trace opened;
	size_t bad, count;
	double start;

	config_init(&config);
	options.config = &config;
	if (trace_open(&opened, trace, NULL, &err) < 0)
		fail(&err);
	count = opened.head.activities;
	trace_close(&opened);
	if (build_trace(trace, &options, keep_payload, &payloads, &err) < 0 ||
	    site_open(&site, database, &err) < 0)
		fail(&err);
	start = now_s();
	for (size_t i = 0; i < payloads.count; i += PAYLOADS_PER_TRANSACTION) {
		size_t left = payloads.count - i;

		if (site_apply_batch(site, "bench", i + 1, payloads.list + i,
				     left < PAYLOADS_PER_TRANSACTION ? left
								     : PAYLOADS_PER_TRANSACTION,
				     &bad, &err) != 1)
			fail(&err);
	}
	start = now_s() - start;
	site_close(site);
	printf("%zu %.3f %.0f\n", count, start, (double)count / start);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "trace"))
		return write_trace(argv[2], strtoul(argv[3], NULL, 10));
	if (argc == 4 && !strcmp(argv[1], "store"))
		return fill_store(argv[2], argv[3]);
	fprintf(stderr, "usage: bench_ingest trace FILE ACTIVITIES | store TRACE DATABASE\n");
	return 2;
}
