/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-7.
 */
#include "trace/container/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "trace_sample.h"

static size_t file_size(const char *path)
{
	struct stat st;

	REQUIRE(stat(path, &st) == 0);
	return (size_t)st.st_size;
}

static char *load_file(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY);
	char *bytes;

	*n = file_size(path);
	bytes = xmalloc(*n);
	REQUIRE(fd >= 0 && read_at(fd, bytes, *n, 0) == (ssize_t)*n);
	close(fd);
	return bytes;
}

static void store_file(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	REQUIRE(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static struct block_list list_blocks(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct block_list list;

	REQUIRE(fd >= 0 && block_list_load(&list, fd, file_size(path), NULL) == 0);
	close(fd);
	return list;
}

/* Activities in sorted batches of 1000, so that the times of their blocks overlap. */
static struct activity *make_overlapping(size_t n)
{
	struct activity *all = sample_many(n);

	for (size_t i = 0; i < n; i += 1000)
		qsort(all + i, n - i < 1000 ? n - i : 1000, sizeof(*all), activity_compare);
	return all;
}

static void overlapping_blocks_are_read_in_one_order(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	const size_t n = 300000;
	AUTO_FREE struct activity *all = make_overlapping(n), *back = NULL;
	size_t got;

	sample_write(&trace_container, path, all, n, 1000);
	qsort(all, n, sizeof(*all), activity_compare);
	back = sample_read(path, NULL, &got);
	CHECK_INT(got, n);
	CHECK_INT(sample_differences(all, back, got < n ? got : n), 0);
	unlink(path);
}

static void ticks_that_share_a_nanosecond_are_ordered_by_id(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	struct run_clock clock = { (char *)"tsc", 1000, 1, 3, 0 };
	struct activity all[900];
	void *w = sample_create(&trace_container, path);
	AUTO_FREE struct activity *back = NULL;
	size_t got, wrong = 0;

	for (int i = 0; i < 900; i++) {
		all[i] = sample_activity((uint64_t)(900 - i));
		all[i].start_ns = 1000 + i;
		all[i].duration_ns = 10;
		REQUIRE(trace_container.add_activities(w, &all[i], 1, NULL) == 0);
	}
	REQUIRE(trace_container.finish(w, &sample_end, &clock, NULL) == 0);
	back = sample_read(path, NULL, &got);
	CHECK_INT(got, 900);
	for (size_t i = 0; i < got; i++)
		wrong += (i && activity_compare(&back[i - 1], &back[i]) > 0) ||
			 back[i].start_ns != (int64_t)i / 3 || back[i].duration_ns < 3;
	CHECK_INT(wrong, 0);
	unlink(path);
}

/* A truncated file must give the activities of its complete blocks. */
static void check_cut(const char *path, const char *bytes, size_t cut,
		      const struct block_list *list)
{
	struct trace trace;
	size_t got, expected = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->blocks[i].type == BLOCK_ACTIVITIES && block_end(&list->blocks[i]) <= cut)
			expected += list->blocks[i].count;
	store_file(path, bytes, cut);
	sample_open(&trace, path, NULL);
	free(sample_rest(&trace, &got));
	CHECK_INT(got, expected);
	CHECK(!trace.head.end.complete);
	CHECK_INT(trace.head.damaged_blocks, 0);
	trace_close(&trace);
}

static void a_truncated_file_is_readable_up_to_its_end(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	const size_t n = 150000;
	AUTO_FREE struct activity *all = make_overlapping(n);
	AUTO_FREE char *bytes = NULL;
	struct block_list list;
	size_t size;

	sample_write(&trace_container, path, all, n, 1000);
	bytes = load_file(path, &size);
	list = list_blocks(path);
	CHECK(list.sealed && list.count >= 12);
	check_cut(path, bytes, CONTAINER_HEADER_BYTES, &list);
	for (size_t i = 0; i < list.count; i++) {
		size_t at = list.blocks[i].offset, end = block_end(&list.blocks[i]);

		check_cut(path, bytes, at + 100, &list);
		check_cut(path, bytes, (at + end + BLOCK_HEADER_BYTES) / 2, &list);
		check_cut(path, bytes, end, &list);
	}
	check_cut(path, bytes, size - 1, &list);
	block_list_release(&list);
	unlink(path);
}

static void a_truncated_file_uses_the_clock_known_at_the_start(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	struct run_clock clock = { (char *)"tsc", 100, 10, 1, 0 };
	struct activity a = sample_strided(0);
	AUTO_FREE char *bytes = NULL;
	struct trace trace;
	struct activity back;
	struct block_list list;
	struct process_info process = { .parent = -1 };
	size_t size;
	void *w;

	a.start_ns = 105;
	a.file = 0;
	REQUIRE(trace_container.create(&w, path, &sample_run, &clock, sample_calls, SAMPLE_CALLS,
				       NULL) == 0);
	REQUIRE(trace_container.add_process(w, &process, NULL) == 0);
	REQUIRE(trace_container.add_activities(w, &a, 1, NULL) == 0);
	REQUIRE(trace_container.finish(w, &sample_end, &sample_clock, NULL) == 0);
	bytes = load_file(path, &size);
	list = list_blocks(path);
	for (size_t i = 0; i < list.count; i++)
		if (list.blocks[i].type == BLOCK_ACTIVITIES)
			store_file(path, bytes, block_end(&list.blocks[i]));
	sample_open(&trace, path, NULL);
	CHECK_INT(trace_next(&trace, &back, 1, NULL), 1);
	CHECK_INT(back.start_ns, 50);
	trace_close(&trace);
	block_list_release(&list);
	unlink(path);
}

/* Damages one byte and returns the number of activities that can still be read. */
static size_t read_damaged(const char *path, const char *bytes, size_t size, size_t at,
			   uint64_t *damaged)
{
	AUTO_FREE char *copy = xmalloc(size);
	struct trace trace;
	size_t got;

	memcpy(copy, bytes, size);
	copy[at] ^= 0x10;
	store_file(path, copy, size);
	sample_open(&trace, path, NULL);
	free(sample_rest(&trace, &got));
	CHECK_INT(trace.head.activities, got);
	*damaged = trace.head.damaged_blocks;
	trace_close(&trace);
	return got;
}

static void a_damaged_byte_loses_one_block_and_is_counted(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	const size_t n = 150000;
	AUTO_FREE struct activity *all = make_overlapping(n);
	AUTO_FREE char *bytes = NULL;
	struct block_list list;
	uint64_t damaged;
	size_t size;

	sample_write(&trace_container, path, all, n, 1000);
	bytes = load_file(path, &size);
	list = list_blocks(path);
	for (size_t i = 0; i < list.count; i++) {
		const struct block *block = &list.blocks[i];
		bool rows = block->type == BLOCK_ACTIVITIES;

		if (block->type == BLOCK_NAMES || block->type == BLOCK_CALLS)
			continue;
		CHECK_INT(read_damaged(path, bytes, size, block_end(block) - 3, &damaged),
			  n - (rows ? block->count : 0));
		CHECK_INT(damaged, 1);
		/* The index has a copy of each header. */
		CHECK_INT(read_damaged(path, bytes, size, block->offset + 10, &damaged), n);
		CHECK_INT(damaged, 0);
	}
	block_list_release(&list);
	unlink(path);
}

static void a_damaged_header_is_skipped_without_an_index(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	const size_t n = 150000;
	AUTO_FREE struct activity *all = make_overlapping(n);
	AUTO_FREE char *bytes = NULL;
	struct block_list list;
	uint64_t damaged;
	size_t size;

	sample_write(&trace_container, path, all, n, 1000);
	bytes = load_file(path, &size);
	list = list_blocks(path);
	for (size_t i = 0; i < list.count; i++) {
		const struct block *block = &list.blocks[i];

		if (block->type != BLOCK_ACTIVITIES)
			continue;
		/* Without the trailer only the headers in the file are left. */
		CHECK_INT(read_damaged(path, bytes, size - 1, block->offset + 10, &damaged),
			  n - block->count);
		CHECK_INT(damaged, 1);
	}
	block_list_release(&list);
	unlink(path);
}

static void a_damaged_call_table_is_an_error_with_its_offset(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	AUTO_FREE char *bytes = NULL;
	struct activity a = sample_activity(1);
	struct err err = { 0 };
	struct block_list list;
	struct trace trace;
	size_t size;

	sample_write(&trace_container, path, &a, 1, 1);
	bytes = load_file(path, &size);
	list = list_blocks(path);
	CHECK_INT(list.blocks[1].type, BLOCK_CALLS);
	bytes[block_end(&list.blocks[1]) - 1] ^= 1;
	store_file(path, bytes, size);
	CHECK_INT(trace_open(&trace, path, NULL, &err), -EBADMSG);
	CHECK(strstr(err.text, path) && strstr(err.text, "offset"));
	block_list_release(&list);
	unlink(path);
}

static void skipping_blocks_by_header_changes_no_result(void)
{
	static const struct trace_filter filters[] = {
		{ .from_ns = 100000, .to_ns = 150000 },
		{ .process = 3 },
		{ .rank = 1 },
		{ .layers = 1u << LAYER_STDIO },
		{ .file = "file-11" },
		{ .file = "/data/dir2/*" },
		{ .min_duration_ns = 4000 },
		{ .from_ns = 2000000 },
		{ .file = "nowhere" },
	};
	AUTO_FREE char *path = sample_path(".sluice"), *text = sample_path(".txt");
	const size_t n = 200000;
	AUTO_FREE struct activity *all = sample_many(n);
	struct trace trace;

	/* Each range has its own time, process, layer and file, so that blocks can be skipped. */
	qsort(all, n, sizeof(*all), activity_compare);
	for (size_t i = 0; i < n; i++) {
		all[i].process = (uint32_t)(i / 70000);
		all[i].layer = (uint8_t)(i / 70000);
		all[i].file = (file_id)(10 + i / 70000);
		all[i].file2 = 0;
	}
	sample_write(&trace_container, path, all, n, 1000);
	/* The text form does not skip anything. */
	sample_open(&trace, path, NULL);
	REQUIRE(trace_convert(&trace, &trace_text, text, NULL, NULL) == 0);
	trace_close(&trace);
	for (size_t f = 0; f < sizeof(filters) / sizeof(filters[0]); f++) {
		AUTO_FREE struct activity *skipped = NULL, *read = NULL;
		size_t got, expected;

		skipped = sample_read(path, &filters[f], &got);
		read = sample_read(text, &filters[f], &expected);
		CHECK_INT(got, expected);
		CHECK_INT(sample_differences(read, skipped, got < expected ? got : expected), 0);
	}
	unlink(text);
	unlink(path);
}

static void two_million_activities_need_little_memory(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	AUTO_FREE struct activity *batch = xcalloc(1000, sizeof(*batch));
	const uint64_t n = 2000000;
	void *w = sample_create(&trace_container, path);
	struct trace trace;
	size_t total = 0, peak = 0, before, wrong = 0;
	ssize_t got;

	for (uint64_t i = 0; i < n; i += 1000) {
		for (uint64_t j = 0; j < 1000; j++)
			batch[j] = sample_strided(i + j);
		REQUIRE(trace_container.add_activities(w, batch, 1000, NULL) == 0);
	}
	sample_finish(&trace_container, w);
	CHECK(file_size(path) <= n * 4);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	sample_open(&trace, path, NULL);
	while ((got = trace_next(&trace, batch, 1000, NULL)) > 0) {
		size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;

		peak = now > peak ? now : peak;
		for (ssize_t i = 0; i < got; i++)
			wrong += batch[i].id != id_make(1, ++total);
	}
	CHECK_INT(got, 0);
	CHECK_INT(total, n);
	CHECK_INT(wrong, 0);
	CHECK(peak - before < (32u << 20));
	trace_close(&trace);
	unlink(path);
}

static void a_future_version_is_refused(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	AUTO_FREE char *bytes = NULL;
	struct err err = { 0 };
	struct trace trace;
	size_t size;

	sample_write(&trace_container, path, NULL, 0, 1);
	bytes = load_file(path, &size);
	bytes[8] = 9;
	store_file(path, bytes, size);
	CHECK_INT(trace_open(&trace, path, NULL, &err), -ENOTSUP);
	CHECK(strstr(err.text, "version 9") && strstr(err.text, "update"));
	CHECK(!trace.reader);
	unlink(path);
}

/* Replaces the payload of the first activity block and truncates the file after it. */
static void replace_activities(const char *path, unsigned version, size_t cut_bytes)
{
	AUTO_BUF struct buf packed = { 0 }, raw = { 0 }, out = { 0 };
	struct block_list list = list_blocks(path);
	struct block *block = list.blocks;
	uint8_t header[BLOCK_HEADER_BYTES];
	AUTO_FREE char *bytes = NULL;
	int fd = open(path, O_RDONLY);
	size_t size;

	while (block->type != BLOCK_ACTIVITIES)
		block++;
	REQUIRE(block_unpack(block, fd, &packed, &raw) == 0 && raw.len > cut_bytes);
	close(fd);
	for (size_t i = raw.len - cut_bytes; i < raw.len; i++)
		REQUIRE(raw.data[i] == 0);
	raw.len -= cut_bytes;
	block->version = (uint16_t)version;
	block->raw_bytes = block->packed_bytes = (uint32_t)raw.len;
	block->checksum = XXH64(raw.data, raw.len, 0);
	block_encode_header(header, block);
	bytes = load_file(path, &size);
	buf_add(&out, bytes, block->offset);
	buf_add(&out, header, sizeof(header));
	buf_add(&out, raw.data, raw.len);
	store_file(path, out.data, out.len);
	block_list_release(&list);
}

/* Version 1 lacks the last columns; an empty column has two bytes. */
static void activities_of_version_1_are_read(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	const size_t n = 5000;
	AUTO_FREE struct activity *all = sample_many(n), *back = NULL;
	size_t got;

	for (size_t i = 0; i < n; i++) {
		all[i].present &=
			(uint16_t) ~(PRESENT(SPAN) | PRESENT(VARIABLE) | PRESENT(COLLECTIVE));
		all[i].name = all[i].hints = 0;
	}
	sample_write(&trace_container, path, all, n, n);
	replace_activities(path, 1, 2 * (ROW_COUNT - ROW_COUNT_1));
	qsort(all, n, sizeof(*all), activity_compare);
	back = sample_read(path, NULL, &got);
	REQUIRE(got == n);
	CHECK_INT(sample_differences(all, back, n), 0);
	for (size_t i = 0; i < n; i++)
		CHECK(!back[i].span && !back[i].variable && !back[i].collective && !back[i].name);
	unlink(path);
}

static void activities_of_version_2_are_read(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	const size_t n = 3000;
	AUTO_FREE struct activity *all = sample_many(n), *back = NULL;
	size_t got;

	for (size_t i = 0; i < n; i++)
		all[i].hints = 0;
	sample_write(&trace_container, path, all, n, n);
	replace_activities(path, 2, 2 * (ROW_COUNT - ROW_COUNT_2));
	qsort(all, n, sizeof(*all), activity_compare);
	back = sample_read(path, NULL, &got);
	REQUIRE(got == n);
	CHECK_INT(sample_differences(all, back, n), 0);
	unlink(path);
}

static void activities_of_a_future_version_are_refused(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	struct activity a = sample_strided(0);
	struct err err = { 0 };
	struct trace trace;

	sample_write(&trace_container, path, &a, 1, 1);
	replace_activities(path, 4, 0);
	CHECK_INT(trace_open(&trace, path, NULL, &err), -ENOTSUP);
	CHECK(strstr(err.text, path) && strstr(err.text, "version 4") &&
	      strstr(err.text, "update"));
	unlink(path);
}

static void an_updated_rank_survives_damage_to_the_first_row(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	AUTO_FREE char *bytes = NULL;
	struct activity a = sample_strided(0);
	struct process_info late = sample_late_process();
	struct process_info another = sample_process(SAMPLE_PROCESSES);
	void *w = sample_create(&trace_container, path);
	struct block_list list;
	struct trace trace;
	size_t size, i = 0;

	/* Three blocks: new processes; an update and a new process; an update alone. */
	REQUIRE(trace_container.add_activities(w, &a, 1, NULL) == 0);
	REQUIRE(trace_container.flush(w, NULL) == 0);
	REQUIRE(trace_container.add_process(w, &late, NULL) == 0);
	REQUIRE(trace_container.add_process(w, &another, NULL) == 0);
	REQUIRE(trace_container.flush(w, NULL) == 0);
	sample_finish(&trace_container, w);
	bytes = load_file(path, &size);
	list = list_blocks(path);
	while (list.blocks[i].type != BLOCK_PROCESSES)
		i++;
	bytes[block_end(&list.blocks[i]) - 1] ^= 1;
	store_file(path, bytes, size);
	sample_open(&trace, path, NULL);
	CHECK_INT(trace.head.damaged_blocks, 1);
	REQUIRE(trace.head.process_count == SAMPLE_PROCESSES + 1);
	CHECK_INT(trace.head.processes[SAMPLE_LATE].rank, late.rank);
	CHECK_INT(trace.head.processes[SAMPLE_LATE].ranks, late.ranks);
	CHECK_INT(trace.head.processes[SAMPLE_LATE - 1].rank, -1);
	CHECK_INT(trace.head.processes[SAMPLE_PROCESSES].pid, another.pid);
	trace_close(&trace);
	block_list_release(&list);
	unlink(path);
}

static void unused_fields_need_almost_no_space(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	AUTO_BUF struct buf packed = { 0 }, raw = { 0 };
	AUTO_FREE struct activity *all = xcalloc(BLOCK_ROWS_MAX, sizeof(*all));
	struct block_list list;
	int fd;

	for (size_t i = 0; i < BLOCK_ROWS_MAX; i++)
		all[i] = sample_strided(i);
	sample_write(&trace_container, path, all, BLOCK_ROWS_MAX, 1000);
	list = list_blocks(path);
	fd = open(path, O_RDONLY);
	for (size_t i = 0; i < list.count; i++) {
		if (list.blocks[i].type != BLOCK_ACTIVITIES)
			continue;
		REQUIRE(block_unpack(&list.blocks[i], fd, &packed, &raw) == 0);
		for (size_t k = 1; k <= 2 * (ROW_COUNT - ROW_COUNT_1); k++)
			CHECK_INT(raw.data[raw.len - k], 0);
	}
	close(fd);
	block_list_release(&list);
	unlink(path);
}

/* The names of a build whose layers start at 1 and whose first two fields are swapped. */
static void put_other_names(struct buf *raw, struct block *block)
{
	for (uint32_t i = 0; i < LAYER_COUNT; i++)
		fact_row_encode(
			raw, &fact_name,
			&(struct name_row){ (char *)"layer", i + 1, (char *)layer_name(i) });
	for (uint32_t i = 0; i < FIELD_COUNT; i++) {
		uint32_t number = i == FIELD_SIZE ? FIELD_MODE : i == FIELD_MODE ? FIELD_SIZE : i;

		fact_row_encode(
			raw, &fact_name,
			&(struct name_row){ (char *)"field", number, (char *)field_name(i) });
	}
	fact_row_encode(raw, &fact_name, &(struct name_row){ (char *)"color", 1, (char *)"red" });
	*block = (struct block){ .type = BLOCK_NAMES,
				 .version = (uint16_t)block_version(BLOCK_NAMES),
				 .raw_bytes = (uint32_t)raw->len,
				 .packed_bytes = (uint32_t)raw->len,
				 .count = LAYER_COUNT + FIELD_COUNT + 1,
				 .checksum = XXH64(raw->data, raw->len, 0) };
}

/* Replaces the names block and removes the index. */
static void replace_names(const char *path)
{
	AUTO_BUF struct buf raw = { 0 }, out = { 0 };
	AUTO_FREE char *bytes = NULL;
	struct block_list list = list_blocks(path);
	uint8_t header[BLOCK_HEADER_BYTES];
	struct block names;
	size_t size, from = block_end(&list.blocks[0]);

	REQUIRE(list.blocks[0].type == BLOCK_NAMES);
	bytes = load_file(path, &size);
	put_other_names(&raw, &names);
	block_encode_header(header, &names);
	buf_add(&out, bytes, CONTAINER_HEADER_BYTES);
	buf_add(&out, header, sizeof(header));
	buf_add(&out, raw.data, raw.len);
	buf_add(&out, bytes + from, size - from - 1);
	store_file(path, out.data, out.len);
	block_list_release(&list);
}

static void numbers_of_another_build_are_translated_by_name(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	struct activity a = sample_strided(0);
	AUTO_FREE struct activity *back = NULL;
	struct trace_filter filter = { .layers = 1u << LAYER_POSIX };
	size_t got;

	a.layer = 1;
	a.mode = 17;
	a.present = PRESENT(RESULT) | PRESENT(MODE);
	sample_write(&trace_container, path, &a, 1, 1);
	replace_names(path);
	back = sample_read(path, &filter, &got);
	REQUIRE(got == 1);
	CHECK_INT(back->layer, LAYER_POSIX);
	CHECK_INT(back->present, PRESENT(RESULT) | PRESENT(SIZE));
	unlink(path);
}

static void calls_keep_the_names_of_the_writer(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	struct trace trace;

	sample_write(&trace_container, path, NULL, 0, 1);
	sample_open(&trace, path, NULL);
	REQUIRE(trace.head.call_count == SAMPLE_CALLS);
	CHECK_TEXT(trace.head.calls[2].name, "pwrite");
	CHECK_INT(trace.head.calls[2].class, CLASS_WRITE);
	CHECK_INT(trace.head.calls[2].failure, FAILS_MINUS_ERRNO);
	CHECK_INT(trace.head.calls[2].field_count, 4);
	CHECK_INT(trace.head.calls[2].fields[3], FIELD_OFFSET);
	CHECK_INT(trace.head.calls[3].layer, LAYER_STDIO);
	trace_close(&trace);
	unlink(path);
}

static void a_full_disk_is_reported_with_the_file_name(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	const struct rlimit full = { 10, RLIM_INFINITY }, roomy = { RLIM_INFINITY, RLIM_INFINITY };
	struct err err = { 0 };
	void *w = NULL;

	signal(SIGXFSZ, SIG_IGN);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
	CHECK_INT(trace_container.create(&w, path, &sample_run, &sample_clock, sample_calls,
					 SAMPLE_CALLS, &err),
		  -EFBIG);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &roomy) == 0);
	CHECK(strstr(err.text, path));
	CHECK(!w);
	unlink(path);
}

/* Damages the payload of the first block of a type. */
static void damage_block(const char *path, unsigned type)
{
	AUTO_FREE char *bytes = NULL;
	struct block_list list = list_blocks(path);
	size_t size, i = 0;

	bytes = load_file(path, &size);
	while (i < list.count && list.blocks[i].type != type)
		i++;
	REQUIRE(i < list.count);
	bytes[block_end(&list.blocks[i]) - 1] ^= 1;
	store_file(path, bytes, size);
	block_list_release(&list);
}

static void damage_loses_the_samples_of_one_block_only(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	struct trace trace;

	sample_write(&trace_container, path, NULL, 0, 1);
	damage_block(path, BLOCK_SAMPLES);
	sample_open(&trace, path, NULL);
	CHECK_INT(trace.head.damaged_blocks, 1);
	CHECK_INT(trace.head.sample_count, SAMPLE_STATISTICS * SAMPLE_POLLS - BLOCK_FACTS_ROWS);
	CHECK_INT(trace.head.samples[0].time_ns,
		  (BLOCK_FACTS_ROWS / SAMPLE_STATISTICS + 2) * INT64_C(100000000));
	CHECK_INT(trace.head.note_count, SAMPLE_NOTES);
	trace_close(&trace);
	unlink(path);
}

static void statistics_with_lost_names_keep_their_numbers(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	struct statistic_info late = { .number = SAMPLE_STATISTICS,
				       .name = (char *)"late",
				       .scale = 1 };
	struct stat_sample sample = { SAMPLE_STATISTICS, 7, 1, 99 };
	void *w = sample_create(&trace_container, path);
	struct trace trace;

	sample_findings(&trace_container, w);
	REQUIRE(trace_container.flush(w, NULL) == 0);
	REQUIRE(trace_container.add_fact(w, &fact_statistic, &late, NULL) == 0);
	REQUIRE(trace_container.add_fact(w, &fact_sample, &sample, NULL) == 0);
	REQUIRE(trace_container.finish(w, &sample_end, &sample_clock, NULL) == 0);
	damage_block(path, BLOCK_STATISTICS);
	sample_open(&trace, path, NULL);
	REQUIRE(trace.head.statistic_count == SAMPLE_STATISTICS + 1);
	CHECK_TEXT(trace.head.statistics[0].name, "");
	CHECK_INT(trace.head.statistics[0].scale, 1);
	CHECK_TEXT(trace.head.statistics[SAMPLE_STATISTICS].name, "late");
	CHECK_INT(trace.head.sample_count, SAMPLE_STATISTICS * SAMPLE_POLLS + 1);
	CHECK_INT(trace.head.samples[trace.head.sample_count - 1].value, 99);
	trace_close(&trace);
	unlink(path);
}

/* Samples of 60 statistics, ten times per second, must be small compared with the activities. */
static void a_sample_takes_few_bytes(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	void *w = sample_create(&trace_container, path);
	const uint32_t statistics = 60, polls = 600;
	struct block_list list;
	uint64_t bytes = 0, raw = 0;

	for (uint32_t i = 0; i < statistics; i++) {
		struct statistic_info row = { .number = i, .name = (char *)"x", .scale = 1 };

		REQUIRE(trace_container.add_fact(w, &fact_statistic, &row, NULL) == 0);
	}
	for (uint32_t i = 0; i < statistics * polls; i++) {
		int64_t late_ns = (int64_t)(sample_random() % 50000);
		struct stat_sample row = { i % statistics,
					   i / statistics * INT64_C(100000000) + 1234567890,
					   100000000 + late_ns,
					   50000 + (int64_t)(sample_random() % 100) };

		REQUIRE(trace_container.add_fact(w, &fact_sample, &row, NULL) == 0);
	}
	REQUIRE(trace_container.finish(w, &sample_end, &sample_clock, NULL) == 0);
	list = list_blocks(path);
	for (size_t i = 0; i < list.count; i++)
		if (list.blocks[i].type == BLOCK_SAMPLES) {
			bytes += BLOCK_HEADER_BYTES + list.blocks[i].packed_bytes;
			raw += list.blocks[i].raw_bytes;
		}
	CHECK(raw && raw < UINT64_C(9) * statistics * polls);
	CHECK(bytes < UINT64_C(6) * statistics * polls);
	block_list_release(&list);
	unlink(path);
}

static void numbers_out_of_order_are_refused(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	void *w = sample_create(&trace_container, path);
	struct process_info process = { .index = 99 };
	struct statistic_info statistic = { .number = 99, .scale = 1 };
	struct stat_sample sample = { .statistic = 99 };

	CHECK_INT(trace_container.add_file(w, 99, "x", NULL), -EINVAL);
	CHECK_INT(trace_container.add_process(w, &process, NULL), -EINVAL);
	CHECK_INT(trace_container.add_fact(w, &fact_statistic, &statistic, NULL), -EINVAL);
	CHECK_INT(trace_container.add_fact(w, &fact_sample, &sample, NULL), -EINVAL);
	CHECK_INT(trace_container.add_fact(w, &fact_process, &process, NULL), -EINVAL);
	sample_finish(&trace_container, w);
	unlink(path);
}

TESTS(TEST(overlapping_blocks_are_read_in_one_order),
      TEST(ticks_that_share_a_nanosecond_are_ordered_by_id),
      TEST(a_truncated_file_is_readable_up_to_its_end),
      TEST(a_truncated_file_uses_the_clock_known_at_the_start),
      TEST(a_damaged_byte_loses_one_block_and_is_counted),
      TEST(a_damaged_header_is_skipped_without_an_index),
      TEST(a_damaged_call_table_is_an_error_with_its_offset),
      TEST(skipping_blocks_by_header_changes_no_result),
      TEST(two_million_activities_need_little_memory), TEST(a_future_version_is_refused),
      TEST(activities_of_version_1_are_read), TEST(activities_of_version_2_are_read),
      TEST(activities_of_a_future_version_are_refused),
      TEST(an_updated_rank_survives_damage_to_the_first_row),
      TEST(unused_fields_need_almost_no_space),
      TEST(numbers_of_another_build_are_translated_by_name),
      TEST(calls_keep_the_names_of_the_writer), TEST(damage_loses_the_samples_of_one_block_only),
      TEST(statistics_with_lost_names_keep_their_numbers), TEST(a_sample_takes_few_bytes),
      TEST(a_full_disk_is_reported_with_the_file_name), TEST(numbers_out_of_order_are_refused))
