/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/merge/merge.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/interruption.h"
#include "trace_sample.h"

#define SECOND INT64_C(1000000000)
#define DAY INT64_C(1700000000000000000)

/* Numbers in calls_here. calls_there has the same calls in another order, and one more. */
enum { HERE_INIT = 1, HERE_OPEN, HERE_WRITE_ALL, HERE_PWRITE, HERE_FINALIZE, HERE_CLOSE };

static const struct call_info calls_here[] = {
	{ .name = "none" },
	{ .name = "MPI_Init", .layer = LAYER_MPI, .class = CLASS_PROCESS },
	{ .name = "MPI_File_open", .layer = LAYER_MPI, .class = CLASS_OPEN },
	{ .name = "MPI_File_write_all", .layer = LAYER_MPI, .class = CLASS_WRITE },
	{ .name = "pwrite", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	{ .name = "MPI_Finalize", .layer = LAYER_MPI, .class = CLASS_PROCESS },
	{ .name = "MPI_File_close", .layer = LAYER_MPI, .class = CLASS_CLOSE },
};
static const struct call_info calls_there[] = {
	{ .name = "none" },
	{ .name = "later", .layer = LAYER_POSIX, .class = CLASS_META },
	{ .name = "MPI_Finalize", .layer = LAYER_MPI, .class = CLASS_PROCESS },
	{ .name = "pwrite", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	{ .name = "MPI_File_write_all", .layer = LAYER_MPI, .class = CLASS_WRITE },
	{ .name = "MPI_File_open", .layer = LAYER_MPI, .class = CLASS_OPEN },
	{ .name = "MPI_Init", .layer = LAYER_MPI, .class = CLASS_PROCESS },
	{ .name = "MPI_File_close", .layer = LAYER_MPI, .class = CLASS_CLOSE },
};
static const uint16_t there_of_here[] = { 0, 6, 5, 4, 3, 2, 7 };

/* One part that is being written. */
struct made {
	char *path;
	const struct trace_format *form;
	void *writer;
	struct run_clock clock;
	bool there; /* uses calls_there */
};

struct made_options {
	const char *host, *uuid;
	int64_t started_ns;
	uint64_t tick0;
	bool there;
	const struct trace_format *form; /* NULL: the container */
};

static struct made made_begin(struct made_options o)
{
	const struct trace_format *form = o.form ? o.form : &trace_container;
	struct made m = { sample_path(form->suffix),
			  form,
			  NULL,
			  { (char *)"monotonic", o.tick0, 1, 1, 0 },
			  o.there };
	struct run_info run = { (char *)(o.uuid ? o.uuid : "0123456789abcdef0123456789abcdef"),
				(char *)"app",
				(char *)"/",
				(char *)o.host,
				(char *)"me",
				(char *)"0",
				o.started_ns };
	struct err err = { 0 };

	REQUIRE(form->create(&m.writer, m.path, &run, &m.clock, o.there ? calls_there : calls_here,
			     o.there ? 8 : 7, &err) == 0);
	return m;
}

static void made_process(struct made *m, uint32_t index, int32_t parent, int32_t rank)
{
	struct process_info p = { .index = index,
				  .parent = parent,
				  .first_thread = index * 4,
				  .pid = 100 + (int32_t)index,
				  .rank = rank,
				  .ranks = rank < 0 ? 0 : 4,
				  .attached_ns = 5,
				  .host = (char *)"h",
				  .program = (char *)"/bin/app",
				  .command = (char *)"app",
				  .directory = (char *)"/" };
	struct err err = { 0 };

	REQUIRE(m->form->add_process(m->writer, &p, &err) == 0);
}

static void made_file(struct made *m, file_id id, const char *path)
{
	struct err err = { 0 };

	REQUIRE(m->form->add_file(m->writer, id, path, &err) == 0);
}

/* A call by its number in calls_here; times are in ns of the part. */
static void made_call(struct made *m, uint32_t process, int call, int64_t start_ns, int64_t end_ns,
		      uint64_t collective)
{
	static uint64_t number;
	struct activity a = {
		.start_ns = start_ns + (int64_t)m->clock.tick0,
		.duration_ns = end_ns - start_ns,
		.id = id_make(process * 4, ++number),
		.process = process,
		.call = m->there ? there_of_here[call] : (uint16_t)call,
		.layer = calls_here[call].layer,
		.file = call == HERE_PWRITE,
		.handle = -1,
		.collective = collective,
		.present = PRESENT(RESULT) | (collective ? PRESENT(COLLECTIVE) : 0),
	};
	struct err err = { 0 };

	REQUIRE(m->form->add_activities(m->writer, &a, 1, &err) == 0);
}

static char *made_end(struct made *m, int64_t duration_ns, int status)
{
	struct run_end end = { duration_ns, status, true };
	struct err err = { 0 };

	REQUIRE(m->form->finish(m->writer, &end, &m->clock, &err) == 0);
	return m->path;
}

static void discard(char *path)
{
	unlink(path);
	free(path);
}

/* Merges two and opens the result. */
static char *merge_two(struct trace *trace, const char *a, const char *b,
		       const struct trace_format *form)
{
	const char *parts[] = { a, b };
	char *path = sample_path(form->suffix);
	struct err err = { 0 };
	int r = trace_merge(parts, 2, form, path, NULL, NULL, NULL, &err);

	if (r < 0)
		printf("%s\n", err.text);
	REQUIRE(r == 0);
	sample_open(trace, path, NULL);
	return path;
}

static void parts_of_one_host_are_placed_by_their_ticks(void)
{
	/* The time of day says 400 ns apart, the counter 1000 ns; the counter wins. */
	struct made a =
		made_begin((struct made_options){ .host = "n1", .started_ns = DAY, .tick0 = 5000 });
	struct made b = made_begin(
		(struct made_options){ .host = "n1", .started_ns = DAY + 400, .tick0 = 6000 });
	struct trace merged;
	struct activity *all;
	char *path;
	size_t n;

	made_process(&a, 0, -1, 0);
	made_process(&b, 0, -1, 1);
	made_file(&a, 1, "/x");
	made_file(&b, 1, "/x");
	made_call(&a, 0, HERE_PWRITE, 10, 20, 0);
	made_call(&a, 0, HERE_PWRITE, 2000, 2010, 0);
	made_call(&b, 0, HERE_PWRITE, 7, 9, 0);
	made_end(&a, 3000, 0);
	made_end(&b, 2500, 0);
	path = merge_two(&merged, a.path, b.path, &trace_container);
	all = sample_rest(&merged, &n);
	CHECK_INT(n, 3);
	CHECK_INT(all[0].start_ns, 10);
	CHECK_INT(all[1].start_ns, 1007);
	CHECK_INT(all[1].process, 1);
	CHECK_INT(all[2].start_ns, 2000);
	CHECK_INT(merged.head.run.started_ns, DAY);
	CHECK_INT(merged.head.end.duration_ns, 3500);
	CHECK_INT(merged.head.processes[1].attached_ns, 1005);
	CHECK_INT(merged.head.processes[1].rank, 1);
	CHECK_INT(merged.head.file_count, 2);
	CHECK_INT(merged.head.host_count, 1);
	CHECK_TEXT(merged.head.hosts[0].method, "reference");
	trace_close(&merged);
	free(all);
	discard(a.path);
	discard(b.path);
	discard(path);
}

static void everything_is_renumbered(void)
{
	struct made a = made_begin((struct made_options){ .host = "n1", .started_ns = DAY });
	struct made b = made_begin(
		(struct made_options){ .host = "n1", .started_ns = DAY + 100, .there = true });
	struct aggregate counted = { 1, 2,  GROUP_WRITE, LAYER_POSIX,	    7,
				     1, 70, 700,	 AGGREGATE_ENCLOSED };
	struct loss_info loss = { 1, 3, 0 };
	struct err err = { 0 };
	struct trace merged;
	struct activity *all;
	char *path;
	size_t n;

	made_process(&a, 0, -1, 0);
	made_process(&a, 1, 0, -1);
	made_file(&a, 1, "/a");
	made_file(&a, 2, "/shared");
	made_process(&b, 0, -1, 1);
	made_process(&b, 1, 0, -1);
	made_file(&b, 1, "/shared");
	made_file(&b, 2, "/b");
	made_call(&a, 0, HERE_PWRITE, 10, 20, 0);
	made_call(&b, 1, HERE_PWRITE, 10, 20, 0);
	made_call(&b, 0, HERE_FINALIZE, 30, 40, 0);
	REQUIRE(b.form->add_aggregate(b.writer, &counted, &err) == 0);
	REQUIRE(b.form->add_loss(b.writer, &loss, &err) == 0);
	made_end(&a, 50, 0);
	made_end(&b, 50, 9);
	for (size_t f = 0; trace_formats[f]; f++) {
		path = merge_two(&merged, a.path, b.path, trace_formats[f]);
		all = sample_rest(&merged, &n);
		CHECK_INT(n, 3);
		CHECK_TEXT(merged.head.files[all[0].file], "/a");
		CHECK_TEXT(merged.head.files[all[1].file], "/shared");
		CHECK_INT(all[1].process, 3);
		CHECK_INT(merged.head.processes[3].parent, 2);
		CHECK_INT(merged.head.processes[2].parent, -1);
		CHECK_INT(merged.head.processes[2].ranks, 4);
		CHECK_TEXT(merged.head.calls[all[1].call].name, "pwrite");
		CHECK_TEXT(merged.head.calls[all[2].call].name, "MPI_Finalize");
		CHECK_INT(all[0].call, all[1].call);
		CHECK_INT(merged.head.call_count, 8);
		CHECK_INT(merged.head.file_count, 4);
		CHECK_INT(merged.head.aggregate_count, 1);
		CHECK_INT(merged.head.aggregates[0].process, 3);
		CHECK_TEXT(merged.head.files[merged.head.aggregates[0].file], "/b");
		CHECK_INT(merged.head.losses[0].process, 3);
		CHECK_INT(merged.head.end.exit_status, 9);
		CHECK(merged.head.end.complete);
		CHECK(strcmp(merged.head.run.uuid, "0123456789abcdef0123456789abcdef") != 0);
		trace_close(&merged);
		free(all);
		discard(path);
	}
	discard(a.path);
	discard(b.path);
}

static void made_findings(struct made *m, const char *host, int32_t process)
{
	struct statistic_info statistics[] = {
		{ 0, (char *)host, (char *)"cpu/user", (char *)"%", (char *)"mean", 1 },
		{ 1, (char *)"", (char *)"io/sda/read", (char *)"bytes", (char *)"sum", 1 },
	};
	struct stat_sample samples[] = { { 1, 40, 10, 7 }, { 0, 50, 10, -8 }, { 1, 50, 10, 9 } };
	struct note notes[] = {
		{ -1, -1, (char *)"", (char *)"x", (char *)NOTE_COST, (char *)"run", (char *)"1" },
		{ 45, process, (char *)host, (char *)"x", (char *)NOTE_ANOMALY, (char *)"bad",
		  (char *)"2" },
	};
	struct err err = { 0 };

	for (size_t i = 0; i < 2; i++)
		REQUIRE(!m->form->add_fact(m->writer, &fact_statistic, &statistics[i], &err));
	for (size_t i = 0; i < 3; i++)
		REQUIRE(!m->form->add_fact(m->writer, &fact_sample, &samples[i], &err));
	for (size_t i = 0; i < 2; i++)
		REQUIRE(!m->form->add_fact(m->writer, &fact_note, &notes[i], &err));
}

static void findings_are_renumbered_and_shifted_in_time(void)
{
	struct made a = made_begin((struct made_options){ .host = "n1", .started_ns = DAY });
	struct made b = made_begin((struct made_options){ .host = "n2", .started_ns = DAY + 1000 });
	struct trace merged;
	const struct trace_head *head = &merged.head;

	made_process(&a, 0, -1, 0);
	made_process(&a, 1, 0, -1);
	made_process(&b, 0, -1, 1);
	made_findings(&a, "", 1);
	made_findings(&b, "other", 0);
	made_end(&a, 5000, 0);
	made_end(&b, 5000, 0);
	for (size_t f = 0; trace_formats[f]; f++) {
		char *path = merge_two(&merged, a.path, b.path, trace_formats[f]);

		REQUIRE(head->statistic_count == 4 && head->sample_count == 6);
		REQUIRE(head->note_count == 4);
		CHECK_TEXT(head->statistics[0].host, "n1");
		CHECK_TEXT(head->statistics[2].host, "other");
		CHECK_TEXT(head->statistics[3].host, "n2");
		CHECK_TEXT(head->statistics[3].name, "io/sda/read");
		CHECK_INT(head->samples[0].time_ns, 50);
		CHECK_INT(head->samples[1].statistic, 1);
		CHECK_INT(head->samples[1].time_ns, 40);
		CHECK_INT(head->samples[3].statistic, 2);
		CHECK_INT(head->samples[3].time_ns, 1050);
		CHECK_INT(head->samples[3].value, -8);
		CHECK_INT(head->samples[5].statistic, 3);
		CHECK_INT(head->samples[5].time_ns, 1050);
		CHECK_INT(head->samples[5].value, 9);
		CHECK_INT(head->notes[1].process, 1);
		CHECK_INT(head->notes[1].time_ns, 45);
		CHECK_TEXT(head->notes[2].host, "n2");
		CHECK_INT(head->notes[2].time_ns, -1);
		CHECK_INT(head->notes[2].process, -1);
		CHECK_TEXT(head->notes[3].host, "other");
		CHECK_INT(head->notes[3].process, 2);
		CHECK_INT(head->notes[3].time_ns, 1045);
		trace_close(&merged);
		discard(path);
	}
	discard(a.path);
	discard(b.path);
}

/* A part with two ranks on a host whose time of day is off by skew_ns compared with "n1". */
static struct made host_begin(const char *host, int64_t zero_ns, int64_t skew_ns)
{
	struct made m = made_begin((struct made_options){
		.host = host, .started_ns = DAY + zero_ns + skew_ns, .tick0 = 1 });

	made_process(&m, 0, -1, 0);
	made_process(&m, 1, -1, 1);
	made_file(&m, 1, "/x");
	return m;
}

static struct made two_hosts(struct made *a, int64_t skew_ns)
{
	const int64_t zero = 3 * SECOND; /* true time at which the second host's part begins */
	struct made b = host_begin("n2", zero, skew_ns);

	*a = host_begin("n1", 0, 0);
	/* MPI_Init: the last rank enters at 4 s; all have left 50 ms later. */
	made_call(a, 0, HERE_INIT, 1 * SECOND, 4 * SECOND + 40000000, 0);
	made_call(a, 1, HERE_INIT, 2 * SECOND, 4 * SECOND + 30000000, 0);
	made_call(&b, 0, HERE_INIT, SECOND - 5, SECOND + 50000000, 0);
	made_call(&b, 1, HERE_INIT, SECOND, SECOND + 45000000, 0);
	/* An open: all ranks enter before 5 s and leave within 100 us. */
	made_call(a, 0, HERE_OPEN, 5 * SECOND - 500, 5 * SECOND + 90000, 77);
	made_call(a, 1, HERE_OPEN, 5 * SECOND, 5 * SECOND + 80000, 77);
	made_call(&b, 0, HERE_OPEN, 2 * SECOND - 100, 2 * SECOND + 100000, 77);
	made_call(&b, 1, HERE_OPEN, 2 * SECOND - 90, 2 * SECOND + 95000, 77);
	/* A write does not synchronize the ranks, so it must be ignored. */
	made_call(a, 0, HERE_WRITE_ALL, 6 * SECOND, 6 * SECOND + 10, 78);
	made_call(&b, 0, HERE_WRITE_ALL, 5 * SECOND, 5 * SECOND + 10, 78);
	/* Nor need a close: the ranks close 60 us after each other, which the open does not
	 * contradict. */
	made_call(a, 0, HERE_CLOSE, 8 * SECOND, 8 * SECOND + 10, 79);
	made_call(&b, 0, HERE_CLOSE, 5 * SECOND + 60000, 5 * SECOND + 60010, 79);
	made_call(a, 0, HERE_FINALIZE, 9 * SECOND, 9 * SECOND + 2000000, 0);
	made_call(&b, 0, HERE_FINALIZE, 6 * SECOND - 1000, 6 * SECOND + 2000000, 0);
	made_end(a, 10 * SECOND, 0);
	made_end(&b, 7 * SECOND, 0);
	return b;
}

static void clocks_of_two_hosts_are_aligned_within_the_error(void)
{
	static const int64_t skews[] = { 0, 7 * SECOND, -40 * SECOND, 3600 * SECOND, 123 };

	for (size_t i = 0; i < sizeof(skews) / sizeof(*skews); i++) {
		struct made a, b = two_hosts(&a, skews[i]);
		const struct host_info *moved;
		struct trace merged;
		char *path = merge_two(&merged, a.path, b.path, &trace_container);
		size_t which = strcmp(merged.head.hosts[0].host, "n2") == 0 ? 0 : 1;

		REQUIRE(merged.head.host_count == 2);
		/* The host whose time of day is earlier is the reference. */
		moved = !strcmp(merged.head.hosts[which].method, "reference")
				? &merged.head.hosts[1 - which]
				: &merged.head.hosts[which];
		CHECK_TEXT(moved->method, "collective calls");
		CHECK(moved->error_ns > 0 && moved->error_ns <= 100000);
		CHECK(llabs(moved->offset_ns) >= llabs(skews[i]) - moved->error_ns);
		CHECK(llabs(moved->offset_ns) <= llabs(skews[i]) + moved->error_ns);
		trace_close(&merged);
		discard(a.path);
		discard(b.path);
		discard(path);
	}
}

static void calls_of_a_collective_overlap_when_merged(void)
{
	struct made a, b = two_hosts(&a, -500 * SECOND);
	struct activity *all;
	struct trace merged;
	char *path = merge_two(&merged, a.path, b.path, &trace_text);
	int64_t enter = INT64_MIN, out = INT64_MAX, before = INT64_MIN;
	size_t n, opens = 0;

	all = sample_rest(&merged, &n);
	CHECK_INT(n, 14);
	for (size_t i = 0; i < n; i++) {
		const struct activity *x = &all[i];

		CHECK(x->start_ns >= before && x->start_ns >= 0);
		before = x->start_ns;
		if (x->collective != 77)
			continue;
		opens++;
		enter = x->start_ns > enter ? x->start_ns : enter;
		out = x->start_ns + x->duration_ns < out ? x->start_ns + x->duration_ns : out;
	}
	CHECK_INT(opens, 4);
	CHECK(enter <= out);
	trace_close(&merged);
	free(all);
	discard(a.path);
	discard(b.path);
	discard(path);
}

static void without_a_common_call_the_time_of_day_is_used(void)
{
	struct made a = host_begin("n1", 0, 0), b = host_begin("n2", 2 * SECOND, 0);
	struct activity *all;
	struct trace merged;
	char *path;
	size_t n;

	made_call(&a, 0, HERE_INIT, 10, 20, 0);
	made_call(&b, 0, HERE_PWRITE, 10, 20, 0);
	made_end(&a, SECOND, 0);
	made_end(&b, SECOND, 0);
	path = merge_two(&merged, a.path, b.path, &trace_container);
	all = sample_rest(&merged, &n);
	CHECK_INT(n, 2);
	CHECK_INT(all[1].start_ns, 2 * SECOND + 10);
	CHECK_TEXT(merged.head.hosts[1].method, "time of day");
	CHECK_INT(merged.head.hosts[1].error_ns, -1);
	CHECK_INT(merged.head.hosts[1].offset_ns, 0);
	trace_close(&merged);
	free(all);
	discard(a.path);
	discard(b.path);
	discard(path);
}

static void merging_again_keeps_the_hosts_apart(void)
{
	struct made a, b = two_hosts(&a, 5 * SECOND), c = host_begin("n3", SECOND, 0);
	struct trace merged;
	char *once, *twice;

	made_call(&c, 0, HERE_INIT, SECOND, 3 * SECOND + 20000000, 0);
	made_end(&c, 5 * SECOND, 0);
	once = merge_two(&merged, a.path, b.path, &trace_container);
	trace_close(&merged);
	twice = merge_two(&merged, once, c.path, &trace_container);
	CHECK_INT(merged.head.host_count, 3);
	CHECK_INT(merged.head.process_count, 6);
	CHECK_INT(merged.head.activities, 15);
	trace_close(&merged);
	discard(a.path);
	discard(b.path);
	discard(c.path);
	discard(once);
	discard(twice);
}

static void large_parts_are_merged_completely_and_in_order(void)
{
	enum { PARTS = 5, EACH = 20000 };
	const char *paths[PARTS];
	AUTO_FREE char *out = sample_path(".sluice");
	struct merge_totals totals = { 0 };
	struct err err = { 0 };
	struct activity *all;
	size_t n, wrong = 0;

	for (int i = 0; i < PARTS; i++) {
		struct activity *some = sample_many(EACH);
		char *path = sample_path(".sluice");

		qsort(some, EACH, sizeof(*some), activity_compare);
		sample_write(&trace_container, path, some, EACH, 1000);
		free(some);
		paths[i] = path;
	}
	REQUIRE(trace_merge(paths, PARTS, &trace_container, out, NULL, &totals, NULL, &err) == 0);
	all = sample_read(out, NULL, &n);
	CHECK_INT(n, PARTS * EACH);
	CHECK_INT(totals.activities, PARTS * EACH);
	CHECK_INT(totals.processes, PARTS * SAMPLE_PROCESSES);
	for (size_t i = 1; i < n; i++)
		wrong += activity_compare(&all[i - 1], &all[i]) > 0;
	CHECK_INT(wrong, 0);
	free(all);
	for (int i = 0; i < PARTS; i++)
		discard((char *)paths[i]);
	unlink(out);
}

static void damage_byte(const char *path, long offset)
{
	FILE *f = fopen(path, "r+b");

	REQUIRE(f && fseek(f, offset, SEEK_SET) == 0);
	fputs("damage damage damage", f);
	fclose(f);
}

static void damage_of_a_part_is_counted(void)
{
	struct activity *some = sample_many(300000);
	char *whole = sample_path(".sluice"), *hurt = sample_path(".sluice"),
	     *out = sample_path(".sluice");
	const char *parts[] = { whole, hurt };
	struct merge_totals totals = { 0 };
	struct err err = { 0 };
	struct trace merged;
	struct stat st;

	qsort(some, 300000, sizeof(*some), activity_compare);
	sample_write(&trace_container, whole, some, 300000, 10000);
	sample_write(&trace_container, hurt, some, 300000, 10000);
	REQUIRE(stat(hurt, &st) == 0);
	damage_byte(hurt, st.st_size / 2);
	REQUIRE(trace_merge(parts, 2, &trace_container, out, NULL, &totals, NULL, &err) == 0);
	CHECK(totals.damaged_blocks >= 1);
	CHECK(totals.activities > 300000 && totals.activities < 600000);
	sample_open(&merged, out, NULL);
	CHECK(!merged.head.end.complete);
	CHECK_INT(merged.head.activities, totals.activities);
	trace_close(&merged);
	free(some);
	discard(whole);
	discard(hurt);
	discard(out);
}

/* Removes the end of a trace, as if its collector had been killed. */
static void cut_end(const char *path)
{
	struct stat st;

	REQUIRE(stat(path, &st) == 0 && truncate(path, st.st_size - 8) == 0);
}

static void the_host_of_a_part_without_end_is_noted_once(void)
{
	struct made a, b = two_hosts(&a, 0);
	char *path, *again;
	struct trace merged;
	size_t found = 0;

	cut_end(b.path);
	path = merge_two(&merged, a.path, b.path, &trace_container);
	CHECK(!merged.head.end.complete);
	trace_close(&merged);
	again = merge_two(&merged, path, a.path, &trace_container);
	for (size_t i = 0; i < merged.head.note_count; i++) {
		if (!interruption_is_note(&merged.head.notes[i]))
			continue;
		CHECK_TEXT(merged.head.notes[i].host, "n2");
		found++;
	}
	CHECK_INT(found, 1);
	trace_close(&merged);
	discard(a.path);
	discard(b.path);
	discard(path);
	discard(again);
}

static void an_invalid_part_is_named_and_leaves_no_file(void)
{
	struct made a = host_begin("n1", 0, 0);
	char *garbage = sample_path(".sluice"), *out = sample_path(".sluice");
	const char *parts[] = { a.path, garbage };
	struct err err = { 0 };
	FILE *f = fopen(garbage, "w");

	made_end(&a, SECOND, 0);
	fputs("this is not a trace", f);
	fclose(f);
	CHECK(trace_merge(parts, 2, &trace_container, out, NULL, NULL, NULL, &err) < 0);
	CHECK(strstr(err.text, garbage) != NULL);
	CHECK(access(out, F_OK) != 0);
	CHECK(trace_merge_check(parts, 2, false, &err) < 0);
	unlink(garbage);
	CHECK_INT(trace_merge(parts, 2, &trace_container, out, NULL, NULL, NULL, &err), -ENOENT);
	CHECK(access(out, F_OK) != 0);
	discard(a.path);
	discard(garbage);
	discard(out);
}

static void parts_of_other_jobs_are_refused(void)
{
	struct made a = host_begin("n1", 0, 0), b = host_begin("n2", 0, 0),
		    later = host_begin("n3", 3600 * SECOND, 0);
	struct made other = made_begin((struct made_options){
		.host = "n2", .uuid = "ffffffffffffffffffffffffffffffff", .started_ns = DAY });
	const char *good[] = { made_end(&a, SECOND, 0), made_end(&b, SECOND, 0) };
	const char *twice[] = { a.path, b.path, a.path };
	const char *strange[] = { a.path, made_end(&other, SECOND, 0) };
	const char *late[] = { a.path, made_end(&later, SECOND, 0) };
	struct err err = { 0 };

	CHECK_INT(trace_merge_check(good, 2, false, &err), 0);
	CHECK_INT(trace_merge_check(twice, 3, false, &err), -EINVAL);
	CHECK(strstr(err.text, "same part") != NULL);
	CHECK_INT(trace_merge_check(strange, 2, false, &err), -EINVAL);
	CHECK_INT(trace_merge_check(strange, 2, true, &err), 0);
	CHECK(strstr(err.text, "uuid") != NULL);
	CHECK_INT(trace_merge_check(late, 2, false, &err), -EINVAL);
	CHECK_INT(trace_merge_check(late, 2, true, &err), -EINVAL);
	CHECK(strstr(err.text, "same time") != NULL);
	discard(a.path);
	discard(b.path);
	discard(later.path);
	discard(other.path);
}

TESTS(TEST(parts_of_one_host_are_placed_by_their_ticks), TEST(everything_is_renumbered),
      TEST(findings_are_renumbered_and_shifted_in_time),
      TEST(clocks_of_two_hosts_are_aligned_within_the_error),
      TEST(calls_of_a_collective_overlap_when_merged),
      TEST(without_a_common_call_the_time_of_day_is_used),
      TEST(merging_again_keeps_the_hosts_apart),
      TEST(large_parts_are_merged_completely_and_in_order), TEST(damage_of_a_part_is_counted),
      TEST(the_host_of_a_part_without_end_is_noted_once),
      TEST(an_invalid_part_is_named_and_leaves_no_file), TEST(parts_of_other_jobs_are_refused))
