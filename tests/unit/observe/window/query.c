/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of any window equal those of a plain pass over all activities.
 */
#include "observe/window/window.h"

#include <errno.h>
#include <pthread.h>

#include "observe/tally/sums.h"
#include "observe/window/bins.h"
#include "window_sample.h"

enum { BINS = 37 };

/* Sums by name; the tables of a result have the same rows. */
struct expected {
	struct window_sum total;
	struct window_sum layers[LAYER_COUNT], functions[CALLS], files[FILES], members[64];
	uint64_t sizes[2][CELL_SIZE_BINS];
	uint64_t calls[BINS], errors[BINS];
	struct bin_values bins[BINS];
};

static void add(struct window_sum *to, const struct counted *c, bool full, bool reads, bool writes)
{
	to->calls++;
	to->errors += c->a.error != 0;
	if (!full)
		return;
	to->time_ns += c->a.duration_ns;
	to->bytes[READING] += reads ? c->share.bytes_read : 0;
	to->bytes[WRITING] += writes ? c->share.bytes_written + (uint64_t)c->more : 0;
}

/* The part of a call in the time from low to high. */
static double part_between(const struct counted *c, int64_t low, int64_t high)
{
	int64_t end = c->a.start_ns + c->a.duration_ns;
	int64_t from = c->a.start_ns > low ? c->a.start_ns : low, to = end < high ? end : high;

	if (!c->a.duration_ns)
		return c->a.start_ns >= low && c->a.start_ns < high;
	return to > from ? (double)(to - from) / (double)c->a.duration_ns : 0;
}

static void add_bins(struct expected *e, const struct window_result *r, const struct counted *c,
		     bool full)
{
	for (size_t i = 0; i < r->bin_count; i++) {
		int64_t low = r->frame.from_ns + (int64_t)i * r->bin_ns, high = low + r->bin_ns;
		double part;

		if (high > r->frame.to_ns)
			high = r->frame.to_ns;
		if (c->a.start_ns >= low && c->a.start_ns < high) {
			e->calls[i]++;
			e->errors[i] += c->a.error != 0;
		}
		part = full ? part_between(c, low, high) : 0;
		e->bins[i].time_ns += part * (double)c->a.duration_ns;
		e->bins[i].bytes[READING] += part * (double)c->share.bytes_read;
		e->bins[i].bytes[WRITING] +=
			part * ((double)c->share.bytes_written + (double)c->more);
	}
}

static void add_file(struct expected *e, const struct counted *c, bool all)
{
	bool copies = c->share.is_copy && c->a.file2;
	bool covered = all && (c->at.in_file || c->share.is_process);

	if (c->a.layer == LAYER_APPLICATION)
		return;
	if (copies) {
		e->files[c->a.file2].calls++;
		if (!all || !c->at.in_file2)
			e->files[c->a.file2].bytes[READING] += c->share.bytes_read;
	}
	if (c->a.file)
		add(&e->files[c->a.file], c, !covered, !copies, true);
}

static struct expected expect(const struct made *m, const struct counted *all,
			      const struct window_filter *f, const struct window_result *r)
{
	struct expected e = { 0 };
	bool every = f->level == WINDOW_ALL;

	for (size_t i = 0; i < m->count; i++) {
		const struct counted *c = &all[i];
		bool of_layer = !every || (!c->at.in_layer && !c->share.is_process);
		bool of_function = !every || !c->at.in_function;
		bool full = f->function ? of_function : of_layer;

		if (!is_selected(m, c, f, true))
			continue;
		add_bins(&e, r, c, full);
		if (c->a.start_ns < r->frame.from_ns || c->a.start_ns >= r->frame.to_ns)
			continue;
		add(&e.total, c, full, true, true);
		add(&e.layers[c->a.layer], c, of_layer, true, true);
		add(&e.functions[c->a.call], c, of_function, true, true);
		add(&e.members[member_of(m, c->a.process)], c, full, true, true);
		add_file(&e, c, every);
		if (!c->share.transfer || !full)
			continue;
		if (calls[c->a.call].class == CLASS_READ || c->share.is_copy)
			e.sizes[READING][cell_bin(c->share.bytes_read)]++;
		if (calls[c->a.call].class != CLASS_READ)
			e.sizes[WRITING][cell_bin(c->share.bytes_written)]++;
	}
	return e;
}

static bool same(const struct window_sum *a, const struct window_sum *b)
{
	return a->calls == b->calls && a->errors == b->errors && a->time_ns == b->time_ns &&
	       a->bytes[READING] == b->bytes[READING] && a->bytes[WRITING] == b->bytes[WRITING];
}

/* Each row is as expected, and no row is missing. */
#define CHECK_ROWS(rows, expected, n, number)                                 \
	do {                                                                  \
		size_t check_rows = 0;                                        \
		for (size_t k = 0; k < (rows).count; k++) {                   \
			const struct window_row *row = &(rows).list[k];       \
			CHECK(same(&row->sum, &(expected)[number]));          \
			CHECK(!k || row->sum.time_ns <= row[-1].sum.time_ns); \
		}                                                             \
		for (size_t k = 0; k < (n); k++)                              \
			check_rows += (expected)[k].calls != 0;               \
		CHECK_INT((rows).count, check_rows);                          \
	} while (0)

static unsigned call_of(const char *name)
{
	unsigned call = 0;

	while (call < CALLS - 1 && strcmp(calls[call].name, name) != 0)
		call++;
	return call;
}

static unsigned file_of(const struct window_row *row)
{
	return row->name ? (unsigned)atoi(row->name + strlen("/data/")) : 0;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1 + 1e-9 * fabs(b);
}

static void check_bins(const struct window_result *r, const struct expected *e, bool exactly)
{
	uint64_t calls_found = 0, calls_made = 0;
	double time_found = 0, time_spent = 0;

	for (size_t i = 0; i < r->bin_count; i++) {
		const struct window_sum *bin = &r->bins[i];

		if (exactly) {
			CHECK_INT(bin->calls, e->calls[i]);
			CHECK_INT(bin->errors, e->errors[i]);
			CHECK(is_near((double)bin->time_ns, e->bins[i].time_ns));
			CHECK(is_near((double)bin->bytes[0], e->bins[i].bytes[0]));
			CHECK(is_near((double)bin->bytes[1], e->bins[i].bytes[1]));
		}
		calls_found += bin->calls;
		calls_made += e->calls[i];
		time_found += (double)bin->time_ns;
		time_spent += e->bins[i].time_ns;
	}
	CHECK_INT(calls_found, calls_made);
	/* What lasts beyond the window may be spread in another way. */
	CHECK_NEAR(time_found, time_spent, 0.02 * time_spent + 5000);
}

static void check_window(struct window_index *index, const struct made *m,
			 const struct counted *all, const struct window_filter *f, bool exactly)
{
	const struct window_limits limits = { .bins = BINS };
	struct window_result r;
	struct err err = { 0 };
	struct expected e;

	if (window_query(index, f, &limits, &r, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	e = expect(m, all, f, &r);
	CHECK(!r.frame.folded);
	CHECK(same(&r.total, &e.total));
	CHECK_ROWS(r.layers, e.layers, LAYER_COUNT, row->layer);
	CHECK_ROWS(r.functions, e.functions, CALLS, call_of(row->name));
	CHECK_ROWS(r.files, e.files, FILES, file_of(row));
	CHECK_ROWS(r.members, e.members, 64, row->member);
	CHECK(memcmp(r.sizes, e.sizes, sizeof(r.sizes)) == 0);
	check_bins(&r, &e, exactly);
	window_result_release(&r);
}

static struct window_filter random_filter(int64_t end_ns)
{
	static const char *const layers[] = { "POSIX", "STDIO", "MPI", "HDF5", "POSIX.Network" };
	static const char *const files[] = { "/data/1", "/data/7", "/data/23", "/missing" };
	struct window_filter f = { .level = (enum window_level)below(3) };

	if (below(5)) {
		f.from_ns = (int64_t)below((uint64_t)end_ns);
		f.to_ns = f.from_ns + (int64_t)below((uint64_t)(end_ns - f.from_ns) + 1);
	}
	if (below(3) == 0)
		f.layer = layers[below(5)];
	if (below(3) == 0)
		f.function = calls[1 + below(CALLS - 1)].name;
	if (below(4) == 0)
		f.file = files[below(4)];
	if (below(4) == 0) {
		f.has_member = true;
		f.member = (int32_t)below(3);
	}
	f.errors = below(4) == 0;
	return f;
}

static void compare_with_pass(const struct trace_format *form, bool parallel, size_t chapter)
{
	struct made m = make_run(parallel ? 4 : 3, parallel, 400);
	AUTO_FREE char *path = write_run(&m, form);
	AUTO_FREE struct counted *all = count_all(&m);
	const struct index_tuning tuning = { .chapter = chapter };
	struct window_index *index = index_whole_run(path, &tuning);

	CHECK(window_index_covered(index) == 1);
	for (int i = 0; i < 120; i++) {
		struct window_filter f = random_filter(m.end_ns);

		check_window(index, &m, &all[0], &f, m.count / chapter < WINDOW_READ_CHAPTERS);
	}
	window_index_close(index);
	free(m.list);
}

static void windows_equal_a_pass(void)
{
	compare_with_pass(&trace_container, false, 97);
	compare_with_pass(&trace_container, true, 250);
}

static void windows_that_are_read_have_exact_bins(void)
{
	compare_with_pass(&trace_container, true, 5000);
	compare_with_pass(&trace_text, false, 1500);
	compare_with_pass(&trace_sqlite, true, 1500);
}

/* Small windows of an index with many chapters are read, too: their bins are exact. */
static void bins_include_calls_of_earlier_chapters(void)
{
	struct made m = make_run(3, true, 500);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	AUTO_FREE struct counted *all = count_all(&m);
	const struct index_tuning tuning = { .chapter = 100 };
	struct window_index *index = index_whole_run(path, &tuning);

	for (int i = 0; i < 100; i++) {
		size_t first = below(m.count - 500);
		struct window_filter f = { .from_ns = m.list[first].start_ns + 3,
					   .to_ns = m.list[first + 400].start_ns,
					   .level = (enum window_level)below(3) };

		check_window(index, &m, all, &f, true);
	}
	window_index_close(index);
	free(m.list);
}

static bool is_tally(const struct window_sum *sum, const struct tally *tally)
{
	return sum->calls == tally->calls && sum->errors == tally->errors &&
	       sum->time_ns == tally->time_ns && sum->bytes[READING] == tally->bytes_read &&
	       sum->bytes[WRITING] == tally->bytes_written;
}

static struct window_result query(struct window_index *index, const struct window_filter *f)
{
	const struct window_limits limits = { .bins = 10 };
	struct window_result r = { 0 };
	struct err err = { 0 };

	if (window_query(index, f, &limits, &r, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	return r;
}

static void check_tables(const struct window_result *r, const struct summary *summary)
{
	for (size_t i = 0; i < r->layers.count; i++)
		CHECK(is_tally(&r->layers.list[i].sum,
			       &summary->all.layers[r->layers.list[i].layer]));
	for (size_t i = 0; i < r->functions.count; i++) {
		const struct window_row *row = &r->functions.list[i];

		CHECK(is_tally(&row->sum,
			       map_get(&summary->all.functions,
				       sums_function_key(call_of(row->name), row->layer))));
	}
	for (size_t i = 0; i < r->files.count; i++)
		CHECK(is_tally(
			&r->files.list[i].sum,
			map_get(&summary->all.files, sums_file_key(file_of(&r->files.list[i])))));
	CHECK_INT(r->functions.count, summary->all.functions.count);
}

static void whole_run_equals_the_report(void)
{
	for (int parallel = 0; parallel < 2; parallel++) {
		struct made m = make_run(4, parallel, 300);
		AUTO_FREE char *path = write_run(&m, &trace_container);
		const struct index_tuning tuning = { .chapter = 64 };
		struct window_index *index = index_whole_run(path, &tuning);
		struct window_filter f = { 0 };
		struct summary summary;
		struct window_result r;

		summary_init(&summary, window_index_head(index));
		for (size_t i = 0; i < m.count; i++)
			summary_add(&summary, &m.list[i]);
		r = query(index, &f);
		CHECK(is_tally(&r.total, &summary.all.io));
		CHECK(r.total.calls > 0);
		window_result_release(&r);
		f.level = WINDOW_STORAGE;
		r = query(index, &f);
		CHECK(is_tally(&r.total, &summary.all.storage));
		window_result_release(&r);
		f.level = WINDOW_ALL;
		r = query(index, &f);
		check_tables(&r, &summary);
		window_result_release(&r);
		summary_release(&summary);
		window_index_close(index);
		free(m.list);
	}
}

static void strange_windows_are_empty_or_the_run(void)
{
	static const int64_t windows[][2] = {
		{ 5, 5 },
		{ 900, 100 },
		{ INT64_MAX, INT64_MIN },
		{ -100, -50 },
		{ INT64_MAX - 1, INT64_MAX },
		{ INT64_C(1) << 61, INT64_MAX },
	};
	struct made m = make_run(2, false, 100);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	struct window_index *index = index_whole_run(path, NULL);
	struct window_filter f = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	struct window_limits limits = { .bins = SIZE_MAX };
	struct window_result whole, r;
	struct err err = { 0 };

	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		f.from_ns = windows[i][0];
		f.to_ns = windows[i][1];
		r = query(index, &f);
		CHECK_INT(r.total.calls, 0);
		CHECK_INT(r.functions.count, 0);
		window_result_release(&r);
	}
	f = (struct window_filter){ 0 };
	whole = query(index, &f);
	f = (struct window_filter){ .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	CHECK(window_query(index, &f, &limits, &r, &err) == 0);
	CHECK(same(&r.total, &whole.total));
	CHECK(r.bin_count <= WINDOW_BINS_MAX);
	window_result_release(&r);
	window_result_release(&whole);
	f.layer = "nonsense";
	CHECK_INT(window_query(index, &f, &limits, &r, &err), -EINVAL);
	CHECK_WORDS(err.text, "layer|nonsense");
	window_index_close(index);
	free(m.list);
}

static void part_of_a_run_is_known_early(void)
{
	struct made m = make_run(3, false, 400);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	AUTO_FREE struct counted *all = count_all(&m);
	size_t half = m.count / 2 / 100 * 100;
	const struct index_tuning tuning = { .chapter = 100, .pause_after = half };
	struct window_index *index = index_run(path, &tuning);
	struct window_filter f = { .level = WINDOW_ALL };
	struct window_result r;
	struct expected e;

	while (atomic_load(&index->indexed) < half)
		usleep(100);
	r = query(index, &f);
	CHECK_NEAR(r.frame.covered, (double)half / (double)m.count, 1e-9);
	CHECK_INT(r.frame.to_ns, m.end_ns);
	m.count = half;
	/* The completions that follow are not known yet. */
	for (size_t i = 0; i < half; i++)
		all[i].more = 0;
	e = expect(&m, all, &f, &r);
	CHECK_INT(r.total.calls, e.total.calls);
	CHECK_INT(r.total.time_ns, e.total.time_ns);
	CHECK_INT(r.total.bytes[READING], e.total.bytes[READING]);
	window_result_release(&r);
	window_index_close(index);
	free(m.list);
}

static void closing_does_not_wait_for_the_end(void)
{
	struct made m = make_run(3, false, 2000);
	AUTO_FREE char *path = write_run(&m, &trace_container);

	for (int i = 0; i < 20; i++) {
		const struct index_tuning tuning = { .pause_after = below(m.count) + 1 };
		struct window_index *index = index_run(path, i % 2 ? &tuning : NULL);

		window_index_close(index);
	}
	window_index_close(NULL);
	free(m.list);
}

/* With few rows per chapter, files and members are folded, but no call is lost. */
static void memory_is_bounded(void)
{
	struct made m = make_run(40, false, 300);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	AUTO_FREE struct counted *all = count_all(&m);
	const struct index_tuning tuning = { .chapter = 3000, .rows = 1, .chapter_rows = 100 };
	struct window_index *index = index_whole_run(path, &tuning);
	size_t folded = 0, most = 0;

	for (int level = 0; level < 3; level++) {
		struct window_filter f = { .level = (enum window_level)level };
		struct window_result r = query(index, &f);
		struct expected e = expect(&m, all, &f, &r);

		CHECK(r.frame.folded);
		CHECK(same(&r.total, &e.total));
		CHECK_ROWS(r.layers, e.layers, LAYER_COUNT, row->layer);
		CHECK_ROWS(r.functions, e.functions, CALLS, call_of(row->name));
		CHECK(memcmp(r.sizes, e.sizes, sizeof(r.sizes)) == 0);
		window_result_release(&r);
	}
	for (size_t i = 0; i < index->chapter_count; i++) {
		folded += index->chapters[i]->folded;
		if (index->chapters[i]->row_count > most)
			most = index->chapters[i]->row_count;
	}
	CHECK(folded > WINDOW_READ_CHAPTERS);
	/* Functions and sizes are not folded. */
	CHECK(most < tuning.chapter / 2);
	/* A few folded chapters are read again. */
	for (int i = 0; i < 20; i++) {
		size_t first = below(m.count - 5000);
		struct window_filter f = { .from_ns = m.list[first].start_ns,
					   .to_ns = m.list[first + 4500].start_ns };

		check_window(index, &m, all, &f, true);
	}
	window_index_close(index);
	free(m.list);
}

static void *query_often(void *arg)
{
	struct window_index *index = arg;

	for (int i = 0; i < 60; i++) {
		struct window_filter f = { .level = (enum window_level)(i % 3),
					   .from_ns = i % 4 ? i * 1000 : 0,
					   .to_ns = i % 4 ? 1000000 : 0 };
		struct window_result r = query(index, &f);

		window_result_release(&r);
		CHECK(window_index_bytes(index) > 0);
	}
	return NULL;
}

static void several_threads_may_ask(void)
{
	struct made m = make_run(4, true, 2000);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	const struct index_tuning tuning = { .chapter = 200, .rows = 1, .chapter_rows = 60 };
	struct window_index *index = index_run(path, &tuning);
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		REQUIRE(pthread_create(&threads[i], NULL, query_often, index) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(window_index_wait(index, NULL), 0);
	window_index_close(index);
	free(m.list);
}

static void missing_trace_is_an_error(void)
{
	struct window_index *index = NULL;
	struct err err = { 0 };

	CHECK_INT(window_index_open(&index, "/nonexistent/trace", &err), -ENOENT);
	CHECK(!index && err.text[0]);
	CHECK_INT(index_open(&index, check_directory(), NULL, &err), -EISDIR);
}

TESTS(TEST(windows_equal_a_pass), TEST(windows_that_are_read_have_exact_bins),
      TEST(bins_include_calls_of_earlier_chapters), TEST(whole_run_equals_the_report),
      TEST(strange_windows_are_empty_or_the_run), TEST(part_of_a_run_is_known_early),
      TEST(closing_does_not_wait_for_the_end), TEST(memory_is_bounded),
      TEST(several_threads_may_ask), TEST(missing_trace_is_an_error))
