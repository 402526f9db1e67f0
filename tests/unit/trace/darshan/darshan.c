/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/format.h"

#include <errno.h>

#include "base/clock.h"
#include "check.h"
#include "darshan_sample.h"
#include "trace/darshan/import.h"
#include "trace/darshan/segments.h"
#include "trace/usage.h"
#include "trace_sample.h"

/* A log on disk, opened as a trace. */
struct opened {
	char *path;
	struct trace trace;
	struct activity *list;
	size_t count, cap;
};

static void read_activities(struct opened *o)
{
	struct err err = { 0 };
	ssize_t n;

	do {
		o->list = xgrow(o->list, &o->cap, o->count + 7, sizeof(*o->list));
		n = trace_next(&o->trace, o->list + o->count, 7, &err);
		o->count += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	CHECK_INT(n, 0);
}

static bool open_log(struct opened *o, struct log *log)
{
	struct err err = { 0 };

	*o = (struct opened){ .path = sample_path(".darshan") };
	if (!log_save(log, o->path)) {
		log_release(log);
		return false;
	}
	log_release(log);
	REQUIRE(trace_open(&o->trace, o->path, NULL, &err) == 0);
	read_activities(o);
	return true;
}

static void close_log(struct opened *o)
{
	trace_close(&o->trace);
	unlink(o->path);
	free(o->path);
	free(o->list);
}

static struct log new_log(void)
{
	return (struct log){ .format = 341, .compression = REGION_ZLIB };
}

static const struct aggregate *find_aggregate(const struct trace_head *head, const char *file,
					      unsigned layer, unsigned group)
{
	for (size_t i = 0; i < head->aggregate_count; i++) {
		const struct aggregate *row = &head->aggregates[i];

		if (!strcmp(head->files[row->file], file) && row->layer == layer &&
		    row->group == group)
			return row;
	}
	return NULL;
}

static const struct usage *find_usage(const struct trace_head *head, const char *file,
				      const char *layer)
{
	for (size_t i = 0; i < head->usage_count; i++)
		if (!strcmp(head->files[head->usages[i].file], file) &&
		    !strcmp(head->usages[i].layer, layer))
			return &head->usages[i];
	return NULL;
}

static void job_becomes_the_head(void)
{
	struct log log = new_log();
	struct opened o;
	const struct trace_head *head = &o.trace.head;

	log_fill(&log, true);
	REQUIRE(open_log(&o, &log));
	CHECK_TEXT(head->format, "darshan");
	CHECK_TEXT(head->run.command, "/opt/app --size 3");
	CHECK_INT(strlen(head->run.uuid), 32);
	CHECK_INT(head->run.started_ns, 1700000000 * NS_PER_S + 5);
	CHECK_INT(head->end.duration_ns, 10 * NS_PER_S);
	CHECK(head->end.complete);
	REQUIRE(head->process_count == LOG_RANKS + 1);
	CHECK_INT(head->processes[3].rank, 3);
	CHECK_INT(head->processes[3].ranks, LOG_RANKS);
	CHECK_TEXT(head->processes[3].program, "/opt/app");
	CHECK_TEXT(head->processes[3].host, "node1");
	CHECK(!process_is_group(&head->processes[3]));
	CHECK(process_is_group(&head->processes[4]));
	CHECK_INT(head->activities, o.count);
	close_log(&o);
}

static void segments_become_nested_activities_in_order(void)
{
	struct log log = new_log();
	struct opened o;

	log_fill(&log, true);
	REQUIRE(open_log(&o, &log));
	REQUIRE(o.count == 3 * LOG_RANKS * LOG_WRITES);
	for (size_t i = 0; i < o.count; i++) {
		const struct activity *a = &o.list[i];
		bool outer = a->layer == LAYER_MPI;

		CHECK(!i || activity_compare(a - 1, a) < 0);
		CHECK_TEXT(o.trace.head.files[a->file], "/scratch/shared");
		CHECK_INT(a->result, outer ? LOG_MIB : LOG_MIB / 2);
		CHECK_INT(a->offset % (LOG_MIB / 2), 0);
		CHECK_INT(o.trace.head.calls[a->call].class, CLASS_WRITE);
		CHECK_INT(!a->parent, outer);
		CHECK_NEAR((double)a->duration_ns, outer ? 1e8 : 4e7, 2);
	}
	close_log(&o);
}

static void segments_are_not_counted_again(void)
{
	struct log log = new_log();
	struct opened o;
	const struct trace_head *head = &o.trace.head;
	const struct aggregate *row;
	const struct usage *usage;

	log_fill(&log, true);
	REQUIRE(open_log(&o, &log));
	CHECK(!find_aggregate(head, "/scratch/shared", LAYER_POSIX, GROUP_WRITE));
	CHECK(!find_aggregate(head, "/scratch/shared", LAYER_MPI, GROUP_WRITE));
	row = find_aggregate(head, "/scratch/shared", LAYER_POSIX, GROUP_META);
	REQUIRE(row);
	CHECK_INT(row->calls, LOG_RANKS + 3 + 1); /* opens, stats, a dup */
	CHECK_INT(row->duration_ns, NS_PER_S / 5);
	/* The time of writes includes that of syncs; 64 segments took 40 ms each. */
	row = find_aggregate(head, "/scratch/shared", LAYER_POSIX, GROUP_SYNC);
	REQUIRE(row);
	CHECK_INT(row->calls, 2);
	CHECK_NEAR((double)row->duration_ns, 1.44e9, 1e3);
	/* Which MPI-IO accesses were collective is only known from the counters. */
	usage = find_usage(head, "/scratch/shared", "MPI");
	REQUIRE(usage);
	CHECK_INT(usage->value[USAGE_COLLECTIVE_WRITES], LOG_RANKS * LOG_WRITES);
	CHECK_INT(usage->value[USAGE_WRITES], 0);
	close_log(&o);
}

static void counters_without_segments_count_everything(void)
{
	struct log log = new_log();
	struct opened o;
	const struct trace_head *head = &o.trace.head;
	const struct aggregate *row;
	const struct usage *usage;

	log_fill(&log, false);
	REQUIRE(open_log(&o, &log));
	CHECK_INT(o.count, 0);
	row = find_aggregate(head, "/scratch/shared", LAYER_POSIX, GROUP_WRITE);
	REQUIRE(row);
	CHECK_INT(row->process, LOG_RANKS);
	CHECK_INT(row->calls, 2 * LOG_RANKS * LOG_WRITES);
	CHECK_INT(row->bytes, (int64_t)LOG_RANKS * LOG_WRITES * LOG_MIB);
	CHECK_INT(row->duration_ns, 4 * NS_PER_S);
	row = find_aggregate(head, "/scratch/input.2", LAYER_POSIX, GROUP_READ);
	REQUIRE(row);
	CHECK_INT(row->process, 2);
	CHECK_INT(row->calls, LOG_READS);
	usage = find_usage(head, "/scratch/shared", "POSIX");
	REQUIRE(usage);
	CHECK_INT(usage->value[USAGE_OPENS], LOG_RANKS);
	CHECK_INT(usage->value[USAGE_WRITE_SIZES_4], 2 * LOG_RANKS * LOG_WRITES);
	CHECK_INT(usage->value[USAGE_SIZE], LOG_MIB / 2);
	CHECK_INT(usage->value[USAGE_COUNT_1], 2 * LOG_RANKS * LOG_WRITES);
	CHECK_INT(usage->value[USAGE_SLOWEST_RANK], 2);
	CHECK_INT(usage->value[USAGE_SLOWEST_NS], 3 * NS_PER_S / 2);
	CHECK_INT(usage->value[USAGE_FIRST_NS], NS_PER_S / 2);
	CHECK_INT(usage->value[USAGE_LAST_NS], 19 * NS_PER_S / 2);
	usage = find_usage(head, "/scratch/input.0", "POSIX");
	REQUIRE(usage);
	CHECK_INT(usage->value[USAGE_CONSECUTIVE_READS], 2);
	CHECK_INT(usage->value[USAGE_FORWARD_READS], 5);
	CHECK_INT(usage->value[USAGE_UNALIGNED], LOG_READS - 1);
	CHECK_INT(usage->value[USAGE_SLOWEST_RANK], -1);
	close_log(&o);
}

static void check_same_log(struct log *log, const struct opened *expected)
{
	struct opened o;

	log_fill(log, true);
	REQUIRE(open_log(&o, log));
	CHECK_INT(o.count, expected->count);
	for (size_t i = 0; i < o.count && i < expected->count; i++)
		CHECK(activity_equal(&o.list[i], &expected->list[i]));
	CHECK_INT(o.trace.head.usage_count, expected->trace.head.usage_count);
	for (size_t i = 0; i < o.trace.head.usage_count; i++)
		CHECK(!memcmp(o.trace.head.usages[i].value, expected->trace.head.usages[i].value,
			      sizeof(o.trace.head.usages[i].value)));
	close_log(&o);
}

static void byte_order_and_compression_do_not_matter(void)
{
	struct log first = new_log();
	struct opened expected;

	log_fill(&first, true);
	REQUIRE(open_log(&expected, &first));
	for (unsigned i = 0; i < 2 * REGION_COMPRESSIONS; i++) {
		struct log log = { .format = 341, .is_swapped = i % 2, .compression = i / 2 };

		if (log.compression != REGION_BZIP2 || dlopen("libbz2.so.1.0", RTLD_NOW))
			check_same_log(&log, &expected);
	}
	close_log(&expected);
}

/* Removes words from a record of the newest version. */
static size_t remove_words(uint64_t *words, size_t count, size_t at, size_t n)
{
	memmove(words + at, words + at + n, (count - at - n) * sizeof(*words));
	return count - n;
}

/* Word i of a record is i, reals are i seconds; the id is 100, the rank 0. */
static void fill_words(uint64_t *words, size_t prefix, size_t integers, size_t reals)
{
	for (size_t i = 2; i < prefix + integers; i++)
		words[i] = i;
	for (size_t i = 0; i < reals; i++)
		words[prefix + integers + i] = log_real((double)i + 1);
	words[0] = 100;
	words[1] = 0;
}

static struct usage read_one(enum darshan_module module, uint32_t version, unsigned format,
			     const uint64_t *words, size_t count, const char *layer)
{
	struct log log = { .format = format, .compression = REGION_ZLIB };
	struct opened o;
	struct usage usage = { 0 };

	log_job(&log, 1, 10, "app");
	log_name(&log, 100, "/f");
	log_record(&log, module, version, words, count);
	REQUIRE(open_log(&o, &log));
	CHECK_INT(o.trace.head.damaged_blocks, 0);
	REQUIRE(o.trace.head.usage_count == 1);
	CHECK_TEXT(o.trace.head.usages[0].layer, layer);
	usage = o.trace.head.usages[0];
	usage.layer = NULL;
	close_log(&o);
	return usage;
}

static void check_usages(const struct usage *a, const struct usage *b)
{
	for (unsigned i = 0; i < USAGE_VALUES; i++)
		CHECK_INT(a->value[i], b->value[i]);
}

static void older_posix_records_lack_only_new_counters(void)
{
	uint64_t words[88];
	size_t count = 88;
	struct usage newest, old;

	fill_words(words, 2, 69, 17);
	words[2 + 1] = words[2 + 2] = words[2 + 10] = 0; /* filenos, dups, renames */
	newest = read_one(DARSHAN_POSIX, 4, 341, words, count, "POSIX");
	CHECK_INT(newest.value[USAGE_READS], 2 + 3);
	CHECK_INT(newest.value[USAGE_BYTES_WRITTEN], 2 + 15);
	CHECK_INT(newest.value[USAGE_METADATA_NS], 11 * NS_PER_S);
	count = remove_words(words, count, 2 + 10, 3);
	count = remove_words(words, count, 2 + 1, 2);
	old = read_one(DARSHAN_POSIX, 3, 321, words, count, "POSIX");
	check_usages(&old, &newest);
	/* Version 2 has no first close and no last open. */
	count = remove_words(words, count, 2 + 64 + 3, 2);
	old = read_one(DARSHAN_POSIX, 2, 310, words, count, "POSIX");
	check_usages(&old, &newest);
}

static void older_records_of_other_modules_are_read(void)
{
	uint64_t words[140];
	struct usage newest, old;
	size_t count;

	fill_words(words, 2, 51, 17);
	newest = read_one(DARSHAN_MPIIO, 3, 341, words, 70, "MPI");
	CHECK_INT(newest.value[USAGE_READS], 4 + 6 + 8 + 10);
	count = remove_words(words, 70, 2 + 51 + 3, 2);
	old = read_one(DARSHAN_MPIIO, 2, 310, words, count, "MPI");
	check_usages(&old, &newest);

	fill_words(words, 2, 14, 15);
	newest = read_one(DARSHAN_STDIO, 2, 341, words, 31, "STDIO");
	CHECK_INT(newest.value[USAGE_BYTES_READ], 2 + 7);
	count = remove_words(words, 31, 2 + 1, 1);
	old = read_one(DARSHAN_STDIO, 1, 310, words, count, "STDIO");
	check_usages(&old, &newest);

	fill_words(words, 3, 94, 17);
	words[2] = 100;
	newest = read_one(DARSHAN_H5D, 2, 341, words, 114, "HDF5");
	CHECK_INT(newest.value[USAGE_WRITES], 3 + 2);
	CHECK_INT(newest.value[USAGE_COUNT_4], 3 + 79);
	count = remove_words(words, 114, 2, 1);
	old = read_one(DARSHAN_H5D, 1, 320, words, count, "HDF5");
	check_usages(&old, &newest);
}

static void file_records_of_libraries_are_read(void)
{
	/* H5F version 1 and PnetCDF version 1: id, rank, opens, first open, last close. */
	uint64_t h5f[] = { 100, 0, 7, log_real(1), log_real(3) };
	uint64_t pnetcdf[] = { 100, 0, 3, 4, log_real(1), log_real(3) };
	uint64_t variable[140];
	struct usage usage;

	usage = read_one(DARSHAN_H5F, 1, 310, h5f, 5, "HDF5");
	CHECK_INT(usage.value[USAGE_OPENS], 7);
	CHECK_INT(usage.value[USAGE_FIRST_NS], NS_PER_S);
	CHECK_INT(usage.value[USAGE_LAST_NS], 3 * NS_PER_S);
	usage = read_one(DARSHAN_PNETCDF_FILE, 1, 310, pnetcdf, 6, "PnetCDF");
	CHECK_INT(usage.value[USAGE_OPENS], 7);
	CHECK_INT(usage.value[USAGE_FIRST_NS], NS_PER_S);
	CHECK_INT(usage.value[USAGE_LAST_NS], 3 * NS_PER_S);
	fill_words(variable, 3, 120, 17);
	usage = read_one(DARSHAN_PNETCDF_VAR, 1, 341, variable, 140, "PnetCDF");
	CHECK_INT(usage.value[USAGE_BYTES_WRITTEN], 3 + 8);
	CHECK_INT(usage.value[USAGE_COLLECTIVE_READS], 3 + 3);
	CHECK_INT(usage.value[USAGE_WRITE_SIZES_9], 3 + 63);
}

static void datasets_belong_to_their_file(void)
{
	uint64_t words[114] = { 7, 0, 100 };
	struct log log = new_log();
	struct opened o;

	words[3 + 1] = 5;
	log_job(&log, 1, 10, "app");
	log_name(&log, 100, "/data/f.h5");
	log_name(&log, 7, "/data/f.h5:/group/set");
	log_record(&log, DARSHAN_H5D, 2, words, 114);
	words[2] = 0; /* as version 1, which does not know the file */
	log_record(&log, DARSHAN_H5D, 2, words, 114);
	REQUIRE(open_log(&o, &log));
	REQUIRE(o.trace.head.usage_count == 2);
	for (size_t i = 0; i < 2; i++)
		CHECK_TEXT(o.trace.head.files[o.trace.head.usages[i].file], "/data/f.h5");
	close_log(&o);
}

static void lustre_layouts_are_attached(void)
{
	uint64_t posix[88], simple[9] = { 100, 0, 4, 1, 0, LOG_MIB, 2, 11, 12 };
	uint64_t composite[4 + 2 * 9 + 3] = { 100, 0, 2, 3 };

	composite[4] = 65536;
	composite[5] = 1;
	composite[4 + 9] = 4 * LOG_MIB;
	composite[5 + 9] = 2;
	for (uint32_t version = 1; version <= 2; version++) {
		struct log log = new_log();
		struct opened o;
		const struct usage *usage;

		log_job(&log, 1, 10, "app");
		log_name(&log, 100, "/scratch/f");
		log_posix(posix, 100, 0);
		log_record(&log, DARSHAN_POSIX, 4, posix, 88);
		if (version == 1)
			log_record(&log, DARSHAN_LUSTRE, 1, simple, 9);
		else
			log_record(&log, DARSHAN_LUSTRE, 2, composite, 25);
		REQUIRE(open_log(&o, &log));
		CHECK_INT(o.trace.head.damaged_blocks, 0);
		usage = find_usage(&o.trace.head, "/scratch/f", "POSIX");
		REQUIRE(usage);
		CHECK_INT(usage->value[USAGE_STRIPE_BYTES], version == 1 ? LOG_MIB : 4 * LOG_MIB);
		CHECK_INT(usage->value[USAGE_STRIPE_COUNT], 2);
		close_log(&o);
	}
}

static void heat_maps_become_flows(void)
{
	const int64_t bins[] = { 10, 0, 30, 0, 5, 0 };
	struct log log = new_log();
	struct opened o;
	const struct flow *flow;

	log_fill(&log, false);
	log_name(&log, 900, "heatmap:STDIO");
	log_name(&log, 901, "heatmap:UNKNOWN");
	log_heatmap(&log, 900, 3, 0.5, bins, 3);
	log_heatmap(&log, 901, 3, 0.5, bins, 3);
	REQUIRE(open_log(&o, &log));
	REQUIRE(o.trace.head.flow_count == 3);
	flow = &o.trace.head.flows[2];
	CHECK_TEXT(flow->layer, "STDIO");
	CHECK_INT(flow->process, 3);
	CHECK_INT(flow->start_ns, NS_PER_S);
	CHECK_INT(flow->period_ns, NS_PER_S / 2);
	CHECK_INT(flow->bytes_written, 30);
	CHECK_INT(o.trace.head.flows[1].bytes_read, 5);
	close_log(&o);
}

static void heat_maps_of_traced_layers_are_left_out(void)
{
	const int64_t bins[] = { 10, 0, 30, 0, 5, 0 };
	struct log log = new_log();
	struct opened o;

	log_fill(&log, true);
	log_name(&log, 900, "heatmap:POSIX");
	log_heatmap(&log, 900, 3, 0.5, bins, 3);
	REQUIRE(open_log(&o, &log));
	CHECK_INT(o.trace.head.flow_count, 0);
	close_log(&o);
}

static bool has_note(const struct trace_head *head, const char *words)
{
	for (size_t i = 0; i < head->note_count; i++)
		if (check_has_words(head->notes[i].value, words))
			return true;
	return false;
}

static void what_a_log_cannot_tell_is_noted(void)
{
	uint64_t word = 1;
	struct log log = new_log();
	struct opened o;

	log_fill(&log, false);
	log.partial = 1u << DARSHAN_POSIX;
	log_record(&log, DARSHAN_APMPI, 1, &word, 1);
	REQUIRE(open_log(&o, &log));
	CHECK(has_note(&o.trace.head, "DXT|timeline"));
	CHECK(has_note(&o.trace.head, "POSIX|memory"));
	CHECK(has_note(&o.trace.head, "APMPI"));
	CHECK(has_note(&o.trace.head, "all ranks"));
	close_log(&o);
	log = new_log();
	log_fill(&log, true);
	REQUIRE(open_log(&o, &log));
	CHECK(!has_note(&o.trace.head, "DXT|timeline"));
	close_log(&o);
}

static void old_segments_have_no_thread_and_no_offset(void)
{
	const struct log_segment list[] = { { 4096, 10, 1, 2, 0 }, { 0, 20, 3, 4, 0 } };
	struct log log = { .format = 310, .compression = REGION_ZLIB };
	struct opened o;

	log_job(&log, 2, 10, "app");
	log_name(&log, 100, "/f");
	log_segments(&log, DARSHAN_DXT_POSIX, 1, 100, 1, "node2", list, 1, 1);
	log_segments(&log, DARSHAN_DXT_MPIIO, 1, 100, 0, "node1", list, 1, 1);
	REQUIRE(open_log(&o, &log));
	REQUIRE(o.count == 4);
	CHECK_INT(o.trace.head.damaged_blocks, 0);
	CHECK(!(o.list[0].present & PRESENT(OFFSET)));
	CHECK_INT(o.list[1].offset, 4096);
	CHECK_INT(o.list[1].process, 1);
	CHECK_INT(o.trace.head.calls[o.list[3].call].class, CLASS_READ);
	close_log(&o);
}

static void small_windows_give_the_same_order(void)
{
	struct log log = new_log();
	AUTO_FREE char *path = sample_path(".darshan");
	struct segments *segments = xcalloc(1, sizeof(*segments));
	struct trace_head head;
	struct import import;
	struct activity last = { .start_ns = -1 }, a;
	struct err err;
	size_t count = 0;

	log_fill(&log, true);
	REQUIRE(log_save(&log, path));
	log_release(&log);
	import_init(&import, &head);
	REQUIRE(darshan_log_open(&import.log, path, &err) == 0);
	REQUIRE(import_job(&import, &err) == 0);
	segments_count(segments, &import);
	segments->window_max = 5;
	while (segments_next(segments, &import, &a, 1, &err) > 0) {
		CHECK(activity_compare(&last, &a) < 0);
		last = a;
		count++;
	}
	CHECK_INT(count, 3 * LOG_RANKS * LOG_WRITES);
	segments_release(segments);
	free(segments);
	import_release(&import);
	head_release(&head);
	unlink(path);
}

static void too_many_records_share_one_row(void)
{
	uint64_t words[31] = { 100 };
	struct log log = new_log();
	struct opened o;
	uint64_t opens = 0;

	words[2] = 1;
	log_job(&log, 1, 10, "app");
	log_name(&log, 100, "/f");
	for (unsigned i = 0; i < IMPORT_ROWS_MAX + 10; i++)
		log_record(&log, DARSHAN_STDIO, 2, words, 31);
	REQUIRE(open_log(&o, &log));
	CHECK_INT(o.trace.head.usage_count, IMPORT_ROWS_MAX + 1);
	for (size_t i = 0; i < o.trace.head.aggregate_count; i++)
		opens += o.trace.head.aggregates[i].calls;
	CHECK_INT(opens, IMPORT_ROWS_MAX + 10);
	CHECK(has_note(&o.trace.head, "more than"));
	close_log(&o);
}

/* Opens the bytes as a trace and reads it to its end. Returns the result of opening. */
static int try_bytes(const char *path, const struct buf *file, size_t n)
{
	struct activity batch[64];
	struct trace trace;
	struct err err = { 0 };
	int r;

	REQUIRE(file_write_all(path, buf_text(file), n, &err) == 0);
	r = trace_open(&trace, path, NULL, &err);
	while (!r && trace_next(&trace, batch, 64, &err) > 0)
		;
	if (!r)
		trace_close(&trace);
	CHECK(r == 0 || *err.text);
	return r;
}

static void truncated_logs_are_refused(void)
{
	AUTO_FREE char *path = sample_path(".darshan");
	AUTO_BUF struct buf file = { 0 };
	struct log log = new_log();

	log_fill(&log, true);
	REQUIRE(log_make(&log, &file));
	log_release(&log);
	for (size_t n = 16; n < file.len; n += 97)
		CHECK(try_bytes(path, &file, n) < 0);
	CHECK_INT(try_bytes(path, &file, file.len), 0);
	unlink(path);
}

static void damaged_modules_keep_what_precedes(void)
{
	AUTO_FREE char *path = sample_path(".darshan");
	struct log log = new_log();
	struct trace trace;
	struct err err;

	log_fill(&log, false);
	buf_puts(&log.modules[DARSHAN_POSIX], "cut");
	REQUIRE(log_save(&log, path));
	log_release(&log);
	REQUIRE(trace_open(&trace, path, NULL, &err) == 0);
	CHECK_INT(trace.head.damaged_blocks, 1);
	CHECK(find_usage(&trace.head, "/scratch/input.3", "POSIX"));
	CHECK(find_usage(&trace.head, "/scratch/shared", "MPI"));
	trace_close(&trace);
	unlink(path);
}

static void other_versions_are_refused_by_name(void)
{
	static const unsigned formats[] = { 206, 300, 342, 400 };
	AUTO_FREE char *path = sample_path(".darshan");

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct log log = { .format = formats[i], .compression = REGION_ZLIB };
		struct trace trace;
		struct err err;

		log_fill(&log, false);
		REQUIRE(log_save(&log, path));
		log_release(&log);
		CHECK_INT(trace_open(&trace, path, NULL, &err), -ENOTSUP);
		CHECK(check_has_words(err.text, "not supported|Darshan 3.1"));
	}
	unlink(path);
}

static void newer_modules_are_left_out(void)
{
	struct log log = new_log();
	struct opened o;

	log_fill(&log, false);
	log.versions[DARSHAN_POSIX] = 5;
	REQUIRE(open_log(&o, &log));
	CHECK(!find_usage(&o.trace.head, "/scratch/shared", "POSIX"));
	CHECK(find_usage(&o.trace.head, "/scratch/shared", "MPI"));
	CHECK(has_note(&o.trace.head, "POSIX|version"));
	close_log(&o);
}

static void bombs_are_refused(void)
{
	AUTO_FREE char *path = sample_path(".darshan");
	AUTO_BUF struct buf file = { 0 };
	struct log log = { .format = 341, .compression = REGION_BZIP2 };
	char *zeros = xcalloc(1, 64 << 20);

	log_fill(&log, false);
	buf_add(&log.names, zeros, 64 << 20); /* bzip2 makes a few dozen bytes of it */
	free(zeros);
	if (log_make(&log, &file))
		CHECK(try_bytes(path, &file, file.len) < 0);
	log_release(&log);
	unlink(path);
}

TESTS(TEST(job_becomes_the_head), TEST(segments_become_nested_activities_in_order),
      TEST(segments_are_not_counted_again), TEST(counters_without_segments_count_everything),
      TEST(byte_order_and_compression_do_not_matter),
      TEST(older_posix_records_lack_only_new_counters),
      TEST(older_records_of_other_modules_are_read), TEST(file_records_of_libraries_are_read),
      TEST(datasets_belong_to_their_file), TEST(lustre_layouts_are_attached),
      TEST(heat_maps_become_flows), TEST(heat_maps_of_traced_layers_are_left_out),
      TEST(what_a_log_cannot_tell_is_noted), TEST(old_segments_have_no_thread_and_no_offset),
      TEST(small_windows_give_the_same_order), TEST(too_many_records_share_one_row),
      TEST(truncated_logs_are_refused), TEST(damaged_modules_keep_what_precedes),
      TEST(other_versions_are_refused_by_name), TEST(newer_modules_are_left_out),
      TEST(bombs_are_refused))
