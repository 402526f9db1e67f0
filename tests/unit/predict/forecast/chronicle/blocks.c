/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-AC-1.
 */
#include "predict/forecast/chronicle/blocks.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

#define MIB (1u << 20)

static const uint8_t key[OWNER_KEY_BYTES] = { 7 };

/* The sample block of the paper (WAN-10), with the dots of the figure. */
static const char paper[] = "Timestamp: 1520708288\n"
			    "All running jobs:\n"
			    "Job Id: 3901500\n"
			    "    Job_Name = run\n"
			    "    Job_Owner = user1@titan-login3\n"
			    "    resources_used.mem = 8412kb\n"
			    "    resources_used.vmem = 168948kb\n"
			    "    resources_used.walltime = 03:55:35\n"
			    "    ...\n"
			    "...\n"
			    "Performance:\n"
			    "OSS id, 1MB, 64MB, 256MB, 1GB\n"
			    "atlas1-0 0.00851s 0.11085s 0.5206s 1.83079s\n"
			    "...\n";

static struct chronicle parsed(const char *text, struct blocks_facts *facts)
{
	struct chronicle chronicle = { 0 };
	struct err err = { 0 };

	if (blocks_parse(&chronicle, "f", text, strlen(text), key, facts, &err) < 0)
		printf("message: %s\n", err.text);
	REQUIRE(!err.code);
	return chronicle;
}

static float seconds_of(const struct chronicle *chronicle, size_t target, size_t size)
{
	const struct chronicle_series *series = chronicle_series(chronicle, target, size);

	REQUIRE(series->count == 1);
	return series->seconds[0];
}

static void sample_of_the_paper_is_read_correctly(void)
{
	struct blocks_facts facts;
	struct chronicle chronicle = parsed(paper, &facts);
	const struct job *job;
	char owner[OWNER_TEXT];

	CHECK(facts.blocks == 1 && facts.samples == 4 && facts.snapshots == 1 && !facts.torn);
	REQUIRE(chronicle.target_count == 1 && chronicle.size_count == 4);
	CHECK_TEXT(chronicle.targets[0], "atlas1-0");
	CHECK(chronicle.sizes[0] == MIB && chronicle.sizes[1] == 64 * MIB &&
	      chronicle.sizes[2] == 256 * MIB && chronicle.sizes[3] == 1024 * MIB);
	CHECK(seconds_of(&chronicle, 0, 0) == 0.00851f);
	CHECK(seconds_of(&chronicle, 0, 1) == 0.11085f);
	CHECK(seconds_of(&chronicle, 0, 2) == 0.5206f);
	CHECK(seconds_of(&chronicle, 0, 3) == 1.83079f);
	CHECK(chronicle_series(&chronicle, 0, 3)->time_s[0] == 1520708288);
	REQUIRE(chronicle.snapshot_count == 1 && chronicle.snapshots[0].count == 1);
	CHECK(chronicle.snapshots[0].time_s == 1520708288);
	job = &chronicle.snapshots[0].rows[0];
	CHECK_TEXT(job->id, "3901500");
	CHECK_TEXT(job->name, "run");
	CHECK(job->memory_bytes == 8412 * 1024.0 && job->virtual_bytes == 168948 * 1024.0);
	CHECK(job->used_s == 3 * 3600 + 55 * 60 + 35);
	CHECK(isnan(job->nodes) && isnan(job->allocated_s));
	owner_hide(owner, "user1", key);
	CHECK_TEXT(job->owner, owner);
	chronicle_release(&chronicle);
}

/* Data with all kinds of cells, methods, times and jobs. */
static struct chronicle chronicle_sample(void)
{
	const uint64_t sizes[] = { MIB, 1000, 5ull << 30 };
	struct chronicle chronicle;
	struct jobs jobs = { .time_s = 60.125 }, none = { .time_s = 1e9 + 1.0 / 3 };
	struct job *job;

	chronicle_init(&chronicle, "a system", sizes, 1);
	CHECK_INT(chronicle_add_size(&chronicle, sizes[1]), 0);
	CHECK_INT(chronicle_add_size(&chronicle, sizes[2]), 2);
	for (size_t target = 0; target < 3; target++)
		chronicle_add_target(&chronicle,
				     (const char *const[]){ "b c,%", "lustre:ost3", "x:" }[target]);
	for (int i = 0; i < 50; i++)
		for (size_t target = 0; target < 3; target++)
			chronicle_add(&chronicle, target, 0, 1000 + i / 3.0,
				      exp(i - 20.0) / (double)(target + 3), SAMPLE_DONE,
				      i % 5 ? SAMPLE_DIRECT : SAMPLE_FSYNC);
	chronicle_add(&chronicle, 1, 2, 1000, 30, SAMPLE_TIMEOUT, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 1, 2, 1001, 3, SAMPLE_FULL, SAMPLE_FSYNC);
	chronicle_add(&chronicle, 2, 1, 1001, 3, SAMPLE_FAILED, SAMPLE_UNKNOWN);
	chronicle_add(&chronicle, 2, 1, 1001, 0, SAMPLE_DONE, SAMPLE_UNKNOWN);
	job = jobs_add(&jobs);
	free(job->name);
	job->name = xstrdup("x = y");
	free(job->owner);
	job->owner = xstrdup("0123456789abcdef");
	job->nodes = 17920;
	job->memory_bytes = 1234567;
	job->virtual_bytes = 0x1p43;
	job->used_s = 12345.678;
	job->allocated_s = 86400 * 2;
	jobs_add(&jobs);
	chronicle_add_jobs(&chronicle, &jobs);
	chronicle_add_jobs(&chronicle, &none);
	chronicle_add_node(&chronicle,
			   &(struct node_state){ 1000, { 0.1, NAN, 1.0 / 3, 4096, 0, 1e11 } });
	return chronicle;
}

static void same_series(const struct chronicle_series *a, const struct chronicle_series *b)
{
	REQUIRE(a->count == b->count);
	for (size_t i = 0; i < a->count; i++) {
		CHECK(a->time_s[i] == b->time_s[i]);
		CHECK(a->seconds[i] == b->seconds[i]);
		CHECK_INT(a->outcome[i], b->outcome[i]);
	}
}

static void same_jobs(const struct jobs *a, const struct jobs *b)
{
	CHECK(a->time_s == b->time_s);
	REQUIRE(a->count == b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct job *one = &a->rows[i], *other = &b->rows[i];
		const double numbers[][2] = {
			{ one->nodes, other->nodes },
			{ one->memory_bytes, other->memory_bytes },
			{ one->virtual_bytes, other->virtual_bytes },
			{ one->used_s, other->used_s },
			{ one->allocated_s, other->allocated_s },
		};

		CHECK_TEXT(one->id, other->id);
		CHECK_TEXT(one->name, other->name);
		CHECK_TEXT(one->owner, other->owner);
		CHECK_TEXT(one->queue, other->queue);
		for (size_t j = 0; j < 5; j++)
			CHECK(numbers[j][0] == numbers[j][1] ||
			      (isnan(numbers[j][0]) && isnan(numbers[j][1])));
	}
}

static void same_chronicle(const struct chronicle *a, const struct chronicle *b)
{
	CHECK_TEXT(a->system, b->system);
	REQUIRE(a->target_count == b->target_count && a->size_count == b->size_count);
	for (size_t i = 0; i < a->target_count; i++) {
		CHECK_TEXT(a->targets[i], b->targets[i]);
		for (size_t j = 0; j < a->size_count; j++) {
			CHECK(a->sizes[j] == b->sizes[j]);
			same_series(chronicle_series(a, i, j), chronicle_series(b, i, j));
		}
	}
	REQUIRE(a->snapshot_count == b->snapshot_count && a->node_count == b->node_count);
	for (size_t i = 0; i < a->snapshot_count; i++)
		same_jobs(&a->snapshots[i], &b->snapshots[i]);
	for (size_t i = 0; i < a->node_count; i++)
		for (int j = 0; j < NODE_VALUES; j++)
			CHECK(a->nodes[i].values[j] == b->nodes[i].values[j] ||
			      (isnan(a->nodes[i].values[j]) && isnan(b->nodes[i].values[j])));
}

static void written_data_is_read_back_exactly(void)
{
	struct chronicle chronicle = chronicle_sample(), back = { 0 };
	struct chronicle sample = parsed(paper, NULL), again = { 0 };
	AUTO_BUF struct buf text = { 0 };

	blocks_begin(&text, &chronicle);
	blocks_add(&text, &chronicle, -INFINITY, INFINITY);
	back = parsed(buf_text(&text), NULL);
	same_chronicle(&chronicle, &back);
	buf_clear(&text);
	blocks_add(&text, &sample, -INFINITY, INFINITY);
	again = parsed(buf_text(&text), NULL);
	same_chronicle(&sample, &again);
	CHECK(strstr(buf_text(&text), "\nOSS id 1MB 64MB 256MB 1GB\n"
				      "atlas1-0 0.00851s 0.11085s 0.5206s 1.83079s\n"));
	CHECK(strstr(buf_text(&text), "    resources_used.mem = 8412kb\n"));
	CHECK(strstr(buf_text(&text), "    resources_used.walltime = 03:55:35\n"));
	chronicle_release(&sample);
	chronicle_release(&again);
	chronicle_release(&back);
	chronicle_release(&chronicle);
}

static void only_the_time_range_is_written(void)
{
	struct chronicle chronicle = chronicle_sample(), back;
	AUTO_BUF struct buf text = { 0 };

	blocks_add(&text, &chronicle, 1001, 1002);
	back = parsed(buf_text(&text), NULL);
	CHECK_INT(chronicle_series(&back, 0, 1)->count, 0);
	CHECK_INT(chronicle_series(&back, 0, 0)->count, 3);
	CHECK(chronicle_series(&back, 0, 0)->time_s[0] == 1001);
	CHECK_INT(back.snapshot_count, 0);
	chronicle_release(&back);
	chronicle_release(&chronicle);
}

static void refused(const char *text, const char *words)
{
	struct chronicle chronicle = { 0 };
	struct err err = { 0 };

	CHECK_INT(blocks_parse(&chronicle, "f", text, strlen(text), key, NULL, &err), -EINVAL);
	CHECK_WORDS(err.text, words);
	chronicle_release(&chronicle);
}

#define HEAD "Timestamp: 5\nPerformance:\nOSS id 1MB 1GB\n"

static void errors_name_line_and_what_is_wrong(void)
{
	refused("hello\nworld\n", "f:1:|\"Timestamp:\"");
	refused("hello", "f:1:|\"Timestamp:\"");
	refused("Timestamp: noon\n", "f:1:|timestamp");
	refused("Timestamp: -4\n", "f:1:|timestamp");
	refused("Timestamp: 5\nfoo\n", "f:2:|\"All running jobs:\"");
	refused("Timestamp: 5\nAll running jobs:\n\nfoo\n", "f:4:|\"Job Id:\"");
	refused("Timestamp: 5\nPerformance:\n1MB\n", "f:3:|column");
	refused("Timestamp: 5\nPerformance:\nOSS id 1MB x\n", "f:3:|size|\"x\"");
	refused("Timestamp: 5\nPerformance:\nOSS id 1MB 1024KB\n", "f:3:|duplicate size");
	refused("Timestamp: 5\nMethod: magic\n", "f:2:|method|\"magic\"");
	refused("Timestamp: 5\nNode: load\n", "f:2:|value|\"load\"");
	refused(HEAD "a 1s\n", "f:4:|1 cells|2 sizes");
	refused(HEAD "a 1s 2s 3s\n", "f:4:|too many");
	refused(HEAD "a 1s 2\n", "f:4:|cell|\"2\"");
	refused(HEAD "a 1s -2s\n", "f:4:|cell");
	refused(HEAD "a 1s nans\n", "f:4:|cell");
	refused(HEAD "a 1s 1e99s\n", "f:4:|cell");
	refused(HEAD ",,\n", "f:4:|target");
	refused(HEAD "Performance:\n", "f:4:|unexpected|\"Performance:\"");
	refused(HEAD "a234567890123456789012345678901234567890123456789012345678901234 - -\n",
		"f:4:|target");
}

static void zero_bytes_are_refused(void)
{
	struct chronicle chronicle = { 0 };
	struct err err = { 0 };

	CHECK_INT(blocks_parse(&chronicle, "f", "Timestamp: 5\n\0\n", 15, key, NULL, &err),
		  -EINVAL);
	CHECK_WORDS(err.text, "f:2:|zero byte");
	chronicle_release(&chronicle);
}

static void too_many_sizes_are_refused(void)
{
	struct chronicle chronicle = { 0 };
	struct err err = { 0 };
	static const char text[] = "Timestamp: 1\nPerformance:\nx 1 2 3 4 5 6 7 8\n"
				   "Timestamp: 2\nPerformance:\nx 9\n";

	CHECK_INT(blocks_parse(&chronicle, "f", text, strlen(text), key, NULL, &err), -E2BIG);
	CHECK(strstr(err.text, "more than 8"));
	chronicle_release(&chronicle);
}

/* After a cut at any position, all complete blocks are read and no incomplete one. */
static void truncated_text_keeps_complete_rows(void)
{
	struct chronicle whole = chronicle_sample();
	AUTO_BUF struct buf text = { 0 };
	size_t torn = 0, second;

	blocks_begin(&text, &whole);
	blocks_add(&text, &whole, -INFINITY, INFINITY);
	second = (size_t)(strstr(strstr(buf_text(&text), "Timestamp:") + 1, "Timestamp:") -
			  buf_text(&text));
	for (size_t n = second; n < text.len; n++) {
		struct chronicle part = { 0 };
		struct blocks_facts facts;

		CHECK_INT(blocks_parse(&part, "f", buf_text(&text), n, key, &facts, NULL), 0);
		torn += facts.torn;
		CHECK(facts.torn <= 1);
		REQUIRE(part.snapshot_count >= 1);
		same_jobs(&part.snapshots[0], &whole.snapshots[0]);
		for (size_t i = 0; i < part.target_count; i++)
			for (size_t j = 0; j < chronicle_series(&part, i, 0)->count; j++)
				CHECK(chronicle_series(&part, i, 0)->seconds[j] ==
				      chronicle_series(&whole, i, 0)->seconds[j]);
		chronicle_release(&part);
	}
	CHECK(torn > 100);
	chronicle_release(&whole);
}

static void truncated_job_list_gives_no_snapshot(void)
{
	struct blocks_facts facts;
	struct chronicle chronicle = parsed("Timestamp: 1\nAll running jobs:\nJob Id: 1\n"
					    "Timestamp: 2\nPerformance:\nOSS id 1MB\na 1s",
					    &facts);

	CHECK(facts.torn == 1 && facts.torn_line == 4 && facts.blocks == 1);
	CHECK_INT(chronicle.snapshot_count, 0);
	CHECK(seconds_of(&chronicle, 0, 0) == 1);
	chronicle_release(&chronicle);
}

static void name_of_the_caller_takes_precedence(void)
{
	struct chronicle chronicle = { 0 };
	static const char text[] = "System: theirs\n" HEAD "a 1s 2s\n";

	snprintf(chronicle.system, sizeof(chronicle.system), "mine");
	CHECK_INT(blocks_parse(&chronicle, "f", text, strlen(text), key, NULL, NULL), 0);
	CHECK_TEXT(chronicle.system, "mine");
	chronicle_release(&chronicle);
	chronicle = parsed(text, NULL);
	CHECK_TEXT(chronicle.system, "theirs");
	chronicle_release(&chronicle);
}

static size_t file_bytes(const char *path)
{
	FILE *f = fopen(path, "r");
	long n;

	REQUIRE(f && fseek(f, 0, SEEK_END) == 0);
	n = ftell(f);
	fclose(f);
	return (size_t)n;
}

static void compressed_and_plain_files_are_read(void)
{
	struct chronicle chronicle = chronicle_sample(), back = { 0 };
	char folder[] = "/tmp/sluice-blocks.XXXXXX";
	struct blocks_facts facts;
	struct err err = { 0 };

	REQUIRE(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		AUTO_FREE char *path = xprintf("%s/rows%s", folder, i ? ".gz" : "");

		CHECK_INT(blocks_write(&chronicle, path, -INFINITY, INFINITY, NULL), 0);
		CHECK_INT(blocks_read(&back, path, key, &facts, NULL), 0);
		same_chronicle(&chronicle, &back);
		chronicle_release(&back);
		REQUIRE(truncate(path, (off_t)file_bytes(path) - 20) == 0);
		CHECK_INT(blocks_read(&back, path, key, &facts, NULL), 0);
		CHECK(facts.blocks > 10 || i);
		CHECK_INT(facts.torn, 1);
		chronicle_release(&back);
		CHECK_INT(unlink(path), 0);
	}
	CHECK_INT(blocks_read(&back, folder, key, NULL, &err), -EISDIR);
	CHECK_INT(rmdir(folder), 0);
	CHECK_INT(blocks_read(&back, folder, key, NULL, &err), -ENOENT);
	CHECK(strstr(err.text, folder));
	CHECK_INT(blocks_write(&chronicle, "/nowhere/x", 0, 1, &err), -ENOENT);
	chronicle_release(&chronicle);
}

TESTS(TEST(sample_of_the_paper_is_read_correctly), TEST(written_data_is_read_back_exactly),
      TEST(only_the_time_range_is_written), TEST(errors_name_line_and_what_is_wrong),
      TEST(zero_bytes_are_refused), TEST(too_many_sizes_are_refused),
      TEST(truncated_text_keeps_complete_rows), TEST(truncated_job_list_gives_no_snapshot),
      TEST(name_of_the_caller_takes_precedence), TEST(compressed_and_plain_files_are_read))
