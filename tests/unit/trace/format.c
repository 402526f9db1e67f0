/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-32.
 * Papers: SIOX-7.
 */
#include "trace/format.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "trace_sample.h"

static void check_same_rows(const struct fact *fact, const void *a, const void *b, size_t count)
{
	for (size_t i = 0; i < count * fact->count; i++) {
		const struct fact_field *field = &fact->fields[i % fact->count];
		const char *x = (const char *)a + i / fact->count * fact->bytes;
		const char *y = (const char *)b + i / fact->count * fact->bytes;

		if (field->type == FACT_TEXT)
			CHECK_TEXT(fact_text(field, y), fact_text(field, x));
		else
			CHECK_INT(fact_number(field, y), fact_number(field, x));
	}
}

static void check_same_findings(const struct trace_head *a, const struct trace_head *b)
{
	REQUIRE(b->statistic_count == a->statistic_count && b->sample_count == a->sample_count);
	REQUIRE(b->note_count == a->note_count);
	check_same_rows(&fact_statistic, a->statistics, b->statistics, a->statistic_count);
	check_same_rows(&fact_sample, a->samples, b->samples, a->sample_count);
	check_same_rows(&fact_note, a->notes, b->notes, a->note_count);
	REQUIRE(b->usage_count == a->usage_count && b->flow_count == a->flow_count);
	check_same_rows(&fact_usage, a->usages, b->usages, a->usage_count);
	check_same_rows(&fact_flow, a->flows, b->flows, a->flow_count);
}

static void check_same_heads(const struct trace_head *a, const struct trace_head *b)
{
	CHECK_TEXT(b->run.uuid, a->run.uuid);
	CHECK_TEXT(b->run.command, a->run.command);
	CHECK_TEXT(b->run.directory, a->run.directory);
	CHECK_TEXT(b->run.user, a->run.user);
	CHECK_INT(b->run.started_ns, a->run.started_ns);
	CHECK_TEXT(b->clock.source, a->clock.source);
	CHECK_INT(b->clock.error_ns, a->clock.error_ns);
	CHECK_INT(b->end.exit_status, a->end.exit_status);
	CHECK_INT(b->end.duration_ns, a->end.duration_ns);
	CHECK_INT(b->end.complete, a->end.complete);
	CHECK_INT(b->activities, a->activities);
	REQUIRE(b->call_count == a->call_count && b->process_count == a->process_count);
	REQUIRE(b->file_count == a->file_count && b->aggregate_count == a->aggregate_count);
	REQUIRE(b->loss_count == a->loss_count && b->host_count == a->host_count);
	for (size_t i = 0; i < a->call_count; i++) {
		CHECK_TEXT(b->calls[i].name, a->calls[i].name);
		CHECK_INT(b->calls[i].layer, a->calls[i].layer);
		CHECK_INT(b->calls[i].class, a->calls[i].class);
		CHECK_INT(b->calls[i].failure, a->calls[i].failure);
		CHECK(!memcmp(b->calls[i].fields, a->calls[i].fields, CALL_FIELDS_MAX));
	}
	for (size_t i = 0; i < a->process_count; i++) {
		CHECK_TEXT(b->processes[i].program, a->processes[i].program);
		CHECK_TEXT(b->processes[i].command, a->processes[i].command);
		CHECK_INT(b->processes[i].first_thread, a->processes[i].first_thread);
		CHECK_INT(b->processes[i].parent, a->processes[i].parent);
		CHECK_INT(b->processes[i].rank, a->processes[i].rank);
		CHECK_INT(b->processes[i].ranks, a->processes[i].ranks);
		CHECK_INT(b->processes[i].pid, a->processes[i].pid);
		CHECK_INT(b->processes[i].attached_ns, a->processes[i].attached_ns);
	}
	for (size_t i = 0; i < a->file_count; i++)
		CHECK_TEXT(b->files[i], a->files[i]);
	for (size_t i = 0; i < a->aggregate_count; i++) {
		CHECK_INT(b->aggregates[i].process, a->aggregates[i].process);
		CHECK_INT(b->aggregates[i].file, a->aggregates[i].file);
		CHECK_INT(b->aggregates[i].group, a->aggregates[i].group);
		CHECK_INT(b->aggregates[i].layer, a->aggregates[i].layer);
		CHECK_INT(b->aggregates[i].calls, a->aggregates[i].calls);
		CHECK_INT(b->aggregates[i].errors, a->aggregates[i].errors);
		CHECK_INT(b->aggregates[i].bytes, a->aggregates[i].bytes);
		CHECK_INT(b->aggregates[i].duration_ns, a->aggregates[i].duration_ns);
	}
	CHECK(!memcmp(b->losses, a->losses, a->loss_count * sizeof(*a->losses)));
	for (size_t i = 0; i < a->host_count; i++) {
		CHECK_TEXT(b->hosts[i].host, a->hosts[i].host);
		CHECK_TEXT(b->hosts[i].method, a->hosts[i].method);
		CHECK_INT(b->hosts[i].offset_ns, a->hosts[i].offset_ns);
		CHECK_INT(b->hosts[i].error_ns, a->hosts[i].error_ns);
	}
	check_same_findings(a, b);
}

/* Converts a trace, checks the copy, removes the original and returns the path of the copy. */
static char *convert_and_check(char *from, const struct trace_format *form,
			       const struct activity *all, size_t n)
{
	char *to = sample_path(form->suffix);
	struct err err = { 0 };
	struct trace a, b;
	struct activity *back;
	size_t got;
	int r;

	sample_open(&a, from, NULL);
	r = trace_convert(&a, form, to, NULL, &err);
	if (r < 0)
		printf("%s\n", err.text);
	REQUIRE(r == 0);
	sample_open(&b, to, NULL);
	CHECK_TEXT(b.head.format, form->name);
	check_same_heads(&a.head, &b.head);
	back = sample_rest(&b, &got);
	CHECK_INT(got, n);
	CHECK_INT(sample_differences(all, back, got < n ? got : n), 0);
	free(back);
	trace_close(&a);
	trace_close(&b);
	unlink(from);
	free(from);
	return to;
}

static void every_form_keeps_every_value(void)
{
	const size_t n = 90000;
	AUTO_FREE struct activity *all = sample_many(n);
	char *path = sample_path(".sluice");

	sample_write(&trace_container, path, all, n, 1);
	qsort(all, n, sizeof(*all), activity_compare);
	path = convert_and_check(path, &trace_text, all, n);
	path = convert_and_check(path, &trace_sqlite, all, n);
	path = convert_and_check(path, &trace_container, all, n);
	path = convert_and_check(path, &trace_sqlite, all, n);
	path = convert_and_check(path, &trace_text, all, n);
	path = convert_and_check(path, &trace_container, all, n);
	unlink(path);
	free(path);
}

static void empty_trace_is_a_trace_in_every_form(void)
{
	char *path = sample_path(".sluice");

	sample_write(&trace_container, path, NULL, 0, 1);
	path = convert_and_check(path, &trace_text, NULL, 0);
	path = convert_and_check(path, &trace_sqlite, NULL, 0);
	path = convert_and_check(path, &trace_container, NULL, 0);
	unlink(path);
	free(path);
}

static void every_form_stores_hosts(void)
{
	for (size_t i = 0; trace_formats[i]; i++) {
		AUTO_FREE char *path = sample_path(trace_formats[i]->suffix);
		struct trace trace;

		sample_write(trace_formats[i], path, NULL, 0, 1);
		sample_open(&trace, path, NULL);
		REQUIRE(trace.head.host_count == 2);
		CHECK_TEXT(trace.head.hosts[0].method, "reference");
		CHECK_TEXT(trace.head.hosts[1].host, "node\t2");
		CHECK_INT(trace.head.hosts[1].offset_ns, -HEAD_TIME_MAX);
		CHECK_INT(trace.head.hosts[1].error_ns, -1);
		trace_close(&trace);
		unlink(path);
	}
}

static void every_form_stores_statistics_and_notes(void)
{
	for (size_t i = 0; trace_formats[i]; i++) {
		AUTO_FREE char *path = sample_path(trace_formats[i]->suffix);
		const struct stat_sample *samples;
		struct trace trace;
		uint64_t seed = sample_seed;

		sample_write(trace_formats[i], path, NULL, 0, 1);
		sample_open(&trace, path, NULL);
		REQUIRE(trace.head.statistic_count == SAMPLE_STATISTICS);
		CHECK_TEXT(trace.head.statistics[1].name, "io/a=b\xff/read");
		CHECK_TEXT(trace.head.statistics[1].host, "node\t1");
		CHECK_TEXT(trace.head.statistics[0].reduction, "mean");
		CHECK_INT(trace.head.statistics[0].scale, 100);
		CHECK_INT(trace.head.statistics[2].scale, UINT32_MAX);
		REQUIRE(trace.head.sample_count == (size_t)SAMPLE_STATISTICS * SAMPLE_POLLS);
		samples = trace.head.samples;
		sample_seed = seed; /* draws the same values again */
		for (size_t poll = 0; poll < SAMPLE_POLLS; poll++)
			for (size_t k = 0; k < SAMPLE_STATISTICS; k++) {
				const struct stat_sample *s = &samples[k * SAMPLE_POLLS + poll];

				CHECK_INT(s->statistic, k);
				CHECK_INT(s->time_ns, (int64_t)(poll + 1) * 100000000);
				CHECK_INT(s->period_ns, 100000000);
				CHECK_INT(s->value, sample_value());
			}
		REQUIRE(trace.head.note_count == SAMPLE_NOTES);
		CHECK_INT(trace.head.notes[0].time_ns, -1);
		CHECK_INT(trace.head.notes[0].process, -1);
		CHECK_TEXT(trace.head.notes[0].value, "17.5");
		CHECK_INT(trace.head.notes[1].process, SAMPLE_PROCESSES - 1);
		CHECK_TEXT(trace.head.notes[1].kind, NOTE_ANOMALY);
		CHECK_TEXT(trace.head.notes[1].value, "two\nlines\tand \\ \xfe");
		CHECK_INT(trace.head.notes[2].time_ns, HEAD_TIME_MAX);
		trace_close(&trace);
		unlink(path);
	}
}

static void a_process_can_be_updated(void)
{
	struct process_info first = sample_process(SAMPLE_LATE), last = sample_late_process();

	for (size_t i = 0; trace_formats[i]; i++) {
		AUTO_FREE char *path = sample_path(trace_formats[i]->suffix);
		const struct process_info *process;
		struct trace trace;
		void *w = sample_create(trace_formats[i], path);

		/* An update with another rank, and with fields that must not change. */
		last.rank = 77;
		last.parent = -1;
		last.first_thread = 1;
		last.pid = 1;
		REQUIRE(trace_formats[i]->add_process(w, &last, NULL) == 0);
		sample_finish(trace_formats[i], w);
		sample_open(&trace, path, NULL);
		REQUIRE(trace.head.process_count == SAMPLE_PROCESSES);
		process = &trace.head.processes[SAMPLE_LATE];
		CHECK_INT(process->rank, 1);
		CHECK_INT(process->ranks, 2);
		CHECK_TEXT(process->command, last.command);
		CHECK_TEXT(process->program, first.program);
		CHECK_INT(process->index, SAMPLE_LATE);
		CHECK_INT(process->parent, first.parent);
		CHECK_INT(process->first_thread, first.first_thread);
		CHECK_INT(process->pid, first.pid);
		CHECK_INT(trace.head.processes[SAMPLE_LATE - 1].ranks, 0);
		trace_close(&trace);
		unlink(path);
	}
}

static void errors_of_libraries_may_be_negative(void)
{
	static const int32_t errors[] = { 0, -1, -36, INT32_MIN, INT32_MAX, 5 };
	const size_t n = sizeof(errors) / sizeof(errors[0]);

	for (size_t i = 0; trace_formats[i]; i++) {
		AUTO_FREE char *path = sample_path(trace_formats[i]->suffix);
		AUTO_FREE struct activity *back = NULL;
		struct activity all[sizeof(errors) / sizeof(errors[0])];
		size_t got;

		for (size_t k = 0; k < n; k++) {
			all[k] = sample_strided(k);
			all[k].error = errors[k];
		}
		sample_write(trace_formats[i], path, all, n, n);
		back = sample_read(path, NULL, &got);
		REQUIRE(got == n);
		for (size_t k = 0; k < n; k++)
			CHECK_INT(back[k].error, errors[k]);
		unlink(path);
	}
}

/* Two ranks make two collective writes; the filter selects the second one. */
static void a_collective_call_is_found_with_the_calls_it_caused(void)
{
	enum { CALLS = 10, MINE = 0x5eed };
	static const struct {
		uint64_t id, parent, collective;
		uint32_t process;
		uint8_t layer;
		bool passes;
	} rows[CALLS] = {
		{ 1, 0, 0x1111, 0, LAYER_MPI, false },
		{ 1, 0, 0x1111, 1, LAYER_MPI, false },
		{ 2, 1, 0, 0, LAYER_POSIX, false },
		{ 3, 0, 0, 0, LAYER_HDF5,
		  false }, /* the parent is not part of the collective call */
		{ 4, 3, MINE, 0, LAYER_MPI, true },
		{ 2, 0, MINE, 1, LAYER_MPI, true },
		{ 5, 4, 0, 0, LAYER_POSIX, true },
		{ 6, 5, 0, 0, LAYER_POSIX, true },
		{ 4, 0, 0, 1, LAYER_POSIX, false }, /* the same id as one of process 0 */
		{ 5, 4, 0, 1, LAYER_POSIX, false },
	};
	struct trace_filter filter = { .collective = MINE };
	AUTO_FREE char *path = sample_path(".sluice");
	struct activity all[CALLS];
	size_t got, kept = 0;

	for (int i = 0; i < CALLS; i++)
		all[i] = (struct activity){ .start_ns = i,
					    .id = rows[i].id,
					    .parent = rows[i].parent,
					    .collective = rows[i].collective,
					    .process = rows[i].process,
					    .layer = rows[i].layer,
					    .handle = -1,
					    .present =
						    rows[i].collective ? PRESENT(COLLECTIVE) : 0 };
	sample_write(&trace_container, path, all, CALLS, CALLS);
	for (int posix_only = 0; posix_only < 2; posix_only++, kept = 0) {
		AUTO_FREE struct activity *back = NULL;

		filter.layers = posix_only ? 1u << LAYER_POSIX : 0;
		back = sample_read(path, &filter, &got);
		for (int i = 0; i < CALLS; i++) {
			if (!rows[i].passes || (posix_only && rows[i].layer != LAYER_POSIX))
				continue;
			CHECK(kept < got && activity_equal(&all[i], &back[kept]));
			kept++;
		}
		CHECK_INT(got, kept);
	}
	unlink(path);
}

static void write_file(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	REQUIRE(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

static void other_files_are_not_traces(void)
{
	AUTO_FREE char *path = sample_path(".sluice");
	struct err err = { 0 };
	struct trace trace;

	write_file(path, "", 0);
	CHECK(trace_open(&trace, path, NULL, &err) < 0);
	CHECK_WORDS(err.text, "empty|not a|trace");
	write_file(path, "what is this\n", 13);
	CHECK(trace_open(&trace, path, NULL, &err) < 0);
	CHECK_WORDS(err.text, path);
	CHECK_WORDS(err.text, "not a|trace");
	write_file(path, "\211SLUICE\n", 8);
	CHECK(trace_open(&trace, path, NULL, &err) < 0);
	CHECK_WORDS(err.text, "not a|trace");
	unlink(path);
	CHECK_INT(trace_open(&trace, path, NULL, &err), -ENOENT);
	CHECK(strstr(err.text, path));
	CHECK_INT(trace_open(&trace, "/", NULL, &err), -EISDIR);
}

static void errors_name_the_path_that_cannot_be_created(void)
{
	struct err err = { 0 };
	void *w = NULL;

	for (size_t i = 0; trace_formats[i]; i++) {
		CHECK(trace_formats[i]->create(&w, "/nowhere/at/all", &sample_run, &sample_clock,
					       sample_calls, SAMPLE_CALLS, &err) < 0);
		CHECK(strstr(err.text, "/nowhere/at/all"));
		CHECK(!w);
	}
}

static void forms_are_found_by_name(void)
{
	CHECK(trace_format_by_name("container") == &trace_container);
	CHECK(trace_format_by_name("text") == &trace_text);
	CHECK(trace_format_by_name("sqlite") == &trace_sqlite);
	CHECK(!trace_format_by_name("paper"));
}

static void calls_before_a_fork_belong_to_the_ancestor(void)
{
	struct process_info processes[] = { { .index = 0, .parent = -1, .first_thread = 1 },
					    { .index = 1, .parent = 0, .first_thread = 5 },
					    { .index = 2, .parent = 1, .first_thread = 9 } };
	struct trace_head head = { .processes = processes, .process_count = 3 };

	CHECK_INT(trace_find_owner(&head, 2, id_make(9, 1)), 2);
	CHECK_INT(trace_find_owner(&head, 2, id_make(5, 1)), 1);
	CHECK_INT(trace_find_owner(&head, 2, link_make(LINK_FILE, id_make(4, 7))), 0);
	CHECK_INT(trace_find_owner(&head, 0, id_make(0, 7)), 0);
}

static bool reference_passes(const struct trace_head *head, const struct trace_filter *f,
			     const struct activity *a)
{
	if (a->start_ns < f->from_ns || (f->to_ns && a->start_ns >= f->to_ns))
		return false;
	if (f->layers && !(f->layers >> a->layer & 1))
		return false;
	if (f->process && a->process != (uint32_t)f->process - 1)
		return false;
	if (f->rank && head->processes[a->process].rank != f->rank - 1)
		return false;
	if (f->file && a->file != 11 && a->file2 != 11) /* all filters with a file mean number 11 */
		return false;
	return a->duration_ns >= f->min_duration_ns;
}

static void filters_select_exactly_the_matching_activities(void)
{
	static const struct trace_filter filters[] = {
		{ .from_ns = 100000, .to_ns = 150000 },
		{ .process = 2, .layers = 1u << LAYER_POSIX | 1u << LAYER_NETWORK },
		{ .rank = 2, .min_duration_ns = 100 },
		{ .file = "file-11" },
		{ .file = "/data/*/file-11", .to_ns = 500000 },
	};
	AUTO_FREE char *path = sample_path(".sluice");
	const size_t n = 70000;
	AUTO_FREE struct activity *all = sample_many(n);

	sample_write(&trace_container, path, all, n, 1);
	qsort(all, n, sizeof(*all), activity_compare);
	for (size_t f = 0; f < sizeof(filters) / sizeof(filters[0]); f++) {
		AUTO_FREE struct activity *back = NULL;
		struct trace trace;
		size_t got, kept = 0, wrong = 0;

		sample_open(&trace, path, &filters[f]);
		back = sample_rest(&trace, &got);
		for (size_t i = 0; i < n; i++) {
			if (!reference_passes(&trace.head, &filters[f], &all[i]))
				continue;
			wrong += kept >= got || !activity_equal(&all[i], &back[kept]);
			kept++;
		}
		CHECK_INT(wrong, 0);
		CHECK_INT(got, kept);
		CHECK(kept > 0);
		trace_close(&trace);
	}
	unlink(path);
}

static size_t count_rest(struct trace *trace)
{
	size_t n;

	free(sample_rest(trace, &n));
	trace_close(trace);
	return n;
}

/* A form that cannot share its head opens the file as before. */
static void a_trace_can_be_read_several_times_at_once(void)
{
	const struct trace_format *const forms[] = { &trace_container, &trace_text };
	const size_t n = 90000;
	AUTO_FREE struct activity *all = sample_many(n);

	qsort(all, n, sizeof(*all), activity_compare);
	for (size_t i = 0; i < 2; i++) {
		AUTO_FREE char *path = sample_path(forms[i]->suffix);
		const struct trace_filter late = { .from_ns = all[n / 2].start_ns };
		struct trace first, whole, part;
		struct err err = { 0 };
		size_t later = 0;

		sample_write(forms[i], path, all, n, 1);
		for (size_t k = 0; k < n; k++)
			later += all[k].start_ns >= late.from_ns;
		sample_open(&first, path, NULL);
		REQUIRE(trace_reopen(&whole, &first, path, NULL, &err) == 0);
		REQUIRE(trace_reopen(&part, &first, path, &late, &err) == 0);
		check_same_heads(&first.head, &part.head);
		CHECK((part.head.files == first.head.files) == (forms[i] == &trace_container));
		CHECK_INT(count_rest(&part), later);
		CHECK_INT(count_rest(&whole), n);
		CHECK_INT(first.head.activities, n);
		unlink(path);
		trace_close(&first);
	}
}

static void order_is_start_process_id(void)
{
	struct activity a = { .start_ns = 1, .process = 2, .id = 3 }, b = a;

	CHECK_INT(activity_compare(&a, &b), 0);
	b.id = 4;
	CHECK(activity_compare(&a, &b) < 0 && activity_compare(&b, &a) > 0);
	b.process = 1;
	CHECK(activity_compare(&a, &b) > 0);
	b.start_ns = 2;
	CHECK(activity_compare(&a, &b) < 0);
}

static void absent_fields_do_not_differ(void)
{
	struct activity a = { .size = 1, .present = PRESENT(RESULT) },
			b = { .size = 2, .present = PRESENT(RESULT) };

	CHECK(activity_equal(&a, &b));
	a.present = b.present |= PRESENT(SIZE);
	CHECK(!activity_equal(&a, &b));
}

/* Writes until the file may not grow any more: what a full disk is to a writer. */
static int write_into_limit(const struct trace_format *form, const char *path, struct err *err)
{
	struct rlimit old, small;
	struct activity a;
	void *w = sample_create(form, path);
	int r = 0;

	REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
	small = (struct rlimit){ 6 << 20, old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
	for (uint64_t i = 1; i < 400000 && !r; i++) {
		a = sample_activity(i);
		r = form->add_activities(w, &a, 1, err);
	}
	r = form->finish(w, &sample_end, &sample_clock, err);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
	return r;
}

static void a_full_disk_leaves_no_trace_that_looks_complete(void)
{
	for (size_t i = 0; trace_formats[i]; i++) {
		AUTO_FREE char *path = sample_path(trace_formats[i]->suffix);
		struct err err = { 0 };
		struct trace trace;
		size_t got;

		CHECK(write_into_limit(trace_formats[i], path, &err) < 0);
		CHECK(strstr(err.text, path));
		if (trace_formats[i] != &trace_container) {
			CHECK(access(path, F_OK) < 0);
			continue;
		}
		sample_open(&trace, path, NULL);
		free(sample_rest(&trace, &got));
		CHECK(got >= 65536);
		CHECK(!trace.head.end.complete);
		CHECK_INT(trace.head.damaged_blocks, 0);
		trace_close(&trace);
		unlink(path);
	}
}

static void a_trace_can_be_converted_onto_itself(void)
{
	const size_t n = 70000;
	AUTO_FREE char *path = sample_path(".sluice");
	AUTO_FREE struct activity *all = sample_many(n), *back = NULL;
	struct trace trace;
	size_t got;

	sample_write(&trace_container, path, all, n, 1);
	qsort(all, n, sizeof(*all), activity_compare);
	sample_open(&trace, path, NULL);
	CHECK_INT(trace_convert(&trace, &trace_container, path, NULL, NULL), 0);
	trace_close(&trace);
	back = sample_read(path, NULL, &got);
	CHECK_INT(got, n);
	CHECK_INT(sample_differences(all, back, got), 0);
	unlink(path);
}

TESTS(TEST(every_form_keeps_every_value), TEST(empty_trace_is_a_trace_in_every_form),
      TEST(every_form_stores_hosts), TEST(every_form_stores_statistics_and_notes),
      TEST(a_process_can_be_updated), TEST(errors_of_libraries_may_be_negative),
      TEST(a_collective_call_is_found_with_the_calls_it_caused), TEST(other_files_are_not_traces),
      TEST(errors_name_the_path_that_cannot_be_created), TEST(forms_are_found_by_name),
      TEST(calls_before_a_fork_belong_to_the_ancestor),
      TEST(filters_select_exactly_the_matching_activities),
      TEST(a_trace_can_be_read_several_times_at_once), TEST(order_is_start_process_id),
      TEST(absent_fields_do_not_differ), TEST(a_full_disk_leaves_no_trace_that_looks_complete),
      TEST(a_trace_can_be_converted_onto_itself))
