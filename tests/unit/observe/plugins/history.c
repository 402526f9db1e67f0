/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests what the history plug-in learns from activities, and which hints it chooses.
 * Papers: SIOX-39, SIOX-AC-9.
 */
#include "observe/plugins/history.h"

#include <fcntl.h>
#include <math.h>

#include "base/config.h"
#include "base/place.h"
#include "contract/hints.h"
#include "contract/record.h"
#include "fake_plugin_host.h"
#include "history_answers.h"
#include "observe/plugins/hint_choice.h"
#include "store/outcomes.h"
#include "store_sample.h"

#define MIB (INT64_C(1) << 20)
#define SECOND INT64_C(1000000000)

enum { NO_FILE, DATA_NC, OTHER_H5, NONE, SET_1, SET_2, CHANGED, UNSAFE, DISABLED, RESTORED, FILES };
static const char *const files[FILES] = {
	[NO_FILE] = "",
	[DATA_NC] = "/data/out.nc",
	[OTHER_H5] = "/data/out.h5",
	[NONE] = "none",
	[SET_1] = "cb_buffer_size=4194304",
	[SET_2] = "cb_buffer_size=200000000;romio_ds_write=disable",
	[CHANGED] = "cb_buffer_size=8388608;striping_unit=4096",
	[UNSAFE] = "cb_buffer_size=0",
	[DISABLED] = "romio_ds_write=disable",
	[RESTORED] = "romio_ds_write=",
};

/* A run: the plug-in with a store; the test feeds it. */
struct run {
	struct fake_host host;
	const struct sluice_async *ops;
	void *state;
	uint64_t seq, collective;
	int64_t now_ns;
	const char *options[8];
	char *store;
	char uuid[16];
};

/* One run of each set is enough, where a test is about something else. */
static const char *const once[] = { "learn=1", NULL };

static void run_start(struct run *run, const struct sample *sample, const char *const *options)
{
	static const struct sluice_process processes[4] = {
		{ .index = 0, .rank = 0, .program = "/opt/bin/app", .command = "app -v" },
		{ .index = 1, .rank = 1, .program = "/opt/bin/app", .command = "app -v" },
		{ .index = 2, .rank = 2, .program = "/usr/bin/app2", .command = "app" },
		{ .index = 3, .program = "/usr/bin/python3.11", .command = "python3 a/app x" },
	};
	static unsigned runs;
	size_t n = 0;

	*run = (struct run){ .ops = plugin_history.async, .collective = 1000 };
	run->store = xprintf("store=%s", sample->path);
	run->options[n++] = run->store;
	for (; options && *options; options++)
		run->options[n++] = *options;
	fake_host_init(&run->host, run->options, processes, 4);
	snprintf(run->uuid, sizeof(run->uuid), "run %u", runs++);
	run->host.run = run->uuid;
	run->host.files = files;
	run->host.file_count = FILES;
	if (run->ops->start(&run->host.host, &run->state) < 0)
		run->state = NULL;
}

static void run_end(struct run *run)
{
	run->ops->report(run->state);
	CHECK_TEXT(buf_text(&run->host.warned), "");
	run->ops->stop(run->state);
	fake_host_release(&run->host);
	free(run->store);
}

static uint64_t feed(struct run *run, struct activity a, const char *call)
{
	a.layer = LAYER_MPI;
	a.call = fake_host_call_number(call);
	a.id = id_make(1, ++run->seq);
	a.present |= PRESENT(RESULT);
	run->ops->batch(run->state, &a, 1);
	return a.id;
}

static uint64_t open_as(struct run *run, uint32_t process, file_id file, file_id hints,
			uint64_t collective)
{
	return feed(run,
		    (struct activity){ .process = process,
				       .start_ns = run->now_ns,
				       .duration_ns = 1000,
				       .file = file,
				       .hints = hints,
				       .flags = HINTS_RDWR | 1,
				       .handle = 1,
				       .collective = collective,
				       .present = PRESENT(HINTS) | PRESENT(COLLECTIVE) |
						  PRESENT(HANDLE) | PRESENT(FLAGS) },
		    "MPI_File_open");
}

static void moved(struct run *run, uint32_t process, uint64_t open, const char *call, int64_t bytes,
		  int64_t start_ns, int64_t duration_ns)
{
	feed(run,
	     (struct activity){ .process = process,
				.link = open,
				.start_ns = start_ns,
				.duration_ns = duration_ns,
				.result = bytes,
				.size = bytes,
				.present = PRESENT(LINK) | PRESENT(SIZE) |
					   (strstr(call, "_all") ? PRESENT(COLLECTIVE) : 0) },
	     call);
}

static void closed(struct run *run, uint32_t process, uint64_t open)
{
	feed(run,
	     (struct activity){ .process = process,
				.link = open,
				.start_ns = run->now_ns,
				.duration_ns = 1000,
				.present = PRESENT(LINK) },
	     "MPI_File_close");
}

/* A file that one process opens, writes at the given rate in MiB/s, and closes. */
static void write_file_as(struct run *run, uint32_t process, file_id file, file_id hints,
			  int64_t rate)
{
	uint64_t open = open_as(run, process, file, hints, 0);

	moved(run, process, open, "MPI_File_write_at", rate * MIB, run->now_ns + 5000, SECOND);
	run->now_ns += 2 * SECOND;
	closed(run, process, open);
}

static void write_file(struct run *run, file_id file, file_id hints, int64_t rate)
{
	write_file_as(run, 0, file, hints, rate);
}

/* One run that writes a file with each of these hints. */
static void train(const struct sample *sample, const char *const *options, file_id file,
		  file_id hints, int64_t rate)
{
	struct run run;

	run_start(&run, sample, options);
	REQUIRE(run.state);
	write_file(&run, file, hints, rate);
	run_end(&run);
}

/* What would be chosen now; NULL: the defaults. */
static char *best_for(const struct sample *sample, const char *const *options, const char *user,
		      const char *program, const char *extension, char mode)
{
	struct fake_host host;
	struct history_options read;
	struct hint_choices choices;
	const char *found;
	char *best;

	fake_host_init(&host, options, NULL, 0);
	REQUIRE(history_options_read(&read, fake_host_option, &host, NULL) >= 0);
	free(read.store);
	read.store = xstrdup(sample->path);
	REQUIRE(hint_choices_make(&choices, &read, user, NULL) >= 0);
	found = hint_choices_find(&choices, program, extension, mode);
	best = found ? xstrdup(found) : NULL;
	hint_choices_release(&choices);
	history_options_release(&read);
	fake_host_release(&host);
	return best;
}

static void check_best(const struct sample *sample, const char *const *options,
		       const char *extension, char mode, file_id expected)
{
	AUTO_FREE char *best = best_for(sample, options, "somebody", "app", extension, mode);

	CHECK_TEXT(best ? best : files[NONE], files[expected]);
}

static void after_training_the_better_set_is_chosen(void)
{
	struct sample sample;

	sample_make(&sample);
	check_best(&sample, once, "nc", 'w', NONE);
	train(&sample, NULL, DATA_NC, NO_FILE, 100);
	check_best(&sample, once, "nc", 'w', NONE);
	train(&sample, NULL, DATA_NC, SET_1, 150);
	check_best(&sample, once, "nc", 'w', SET_1);
	train(&sample, NULL, DATA_NC, SET_2, 200);
	check_best(&sample, once, "nc", 'w', SET_2);
	/* It only wrote, so nothing is known about reading. */
	check_best(&sample, once, "nc", 'r', NONE);
	check_best(&sample, once, "nc", 'b', SET_2);
	sample_remove(&sample);
}

static void ties_and_small_gains_keep_the_defaults(void)
{
	static const char *const margin[] = { "margin=25%", "learn=1", NULL };
	struct sample sample;

	sample_make(&sample);
	train(&sample, NULL, DATA_NC, NO_FILE, 100);
	train(&sample, NULL, DATA_NC, SET_1, 100);
	check_best(&sample, once, "nc", 'w', NONE);
	train(&sample, NULL, DATA_NC, SET_2, 104);
	check_best(&sample, once, "nc", 'w', NONE);
	train(&sample, NULL, DATA_NC, SET_2, 134); /* 119 on average */
	check_best(&sample, once, "nc", 'w', SET_2);
	check_best(&sample, margin, "nc", 'w', NONE);
	sample_remove(&sample);
}

/* One run with n files. */
static void train_files(const struct sample *sample, file_id hints, int64_t rate, int n)
{
	struct run run;

	run_start(&run, sample, NULL);
	for (int i = 0; i < n; i++)
		write_file(&run, DATA_NC, hints, rate);
	run_end(&run);
}

static void several_runs_are_required_not_several_files(void)
{
	struct sample sample;

	sample_make(&sample);
	for (int i = 0; i < 2; i++) {
		train_files(&sample, NO_FILE, 100, 5);
		train_files(&sample, SET_2, 200, 5);
	}
	check_best(&sample, NULL, "nc", 'w', NONE);
	train_files(&sample, SET_2, 200, 1);
	check_best(&sample, NULL, "nc", 'w', NONE);
	train_files(&sample, NO_FILE, 100, 1);
	check_best(&sample, NULL, "nc", 'w', SET_2);
	sample_remove(&sample);
}

/* Files of several extensions in one run are one run, also if extensions are not told apart. */
static void a_run_counts_once(void)
{
	static const char *const any[] = { "by_extension=no", "learn=2", NULL };
	struct sample sample;
	struct run run;

	sample_make(&sample);
	for (int i = 0; i < 2; i++) {
		check_best(&sample, any, "nc", 'w', NONE);
		run_start(&run, &sample, NULL);
		write_file(&run, DATA_NC, NO_FILE, 100);
		write_file(&run, OTHER_H5, NO_FILE, 100);
		write_file(&run, DATA_NC, SET_2, 200);
		write_file(&run, OTHER_H5, SET_2, 200);
		run_end(&run);
	}
	check_best(&sample, any, "nc", 'w', SET_2);
	sample_remove(&sample);
}

/* Process 2 runs another program; process 3 runs a script that is called like the first one. */
static void programs_are_separate(void)
{
	AUTO_FREE char *other = NULL, *interpreter = NULL;
	struct sample sample;
	struct run run;

	sample_make(&sample);
	run_start(&run, &sample, NULL);
	write_file_as(&run, 2, DATA_NC, NO_FILE, 100);
	write_file_as(&run, 2, DATA_NC, SET_2, 200);
	run_end(&run);
	check_best(&sample, once, "nc", 'w', NONE);
	other = best_for(&sample, once, "somebody", "app2", "nc", 'w');
	CHECK_TEXT(other, files[SET_2]);
	run_start(&run, &sample, NULL);
	write_file_as(&run, 3, DATA_NC, NO_FILE, 100);
	write_file_as(&run, 3, DATA_NC, SET_1, 200);
	run_end(&run);
	check_best(&sample, once, "nc", 'w', SET_1);
	interpreter = best_for(&sample, once, "somebody", "python3.11", "nc", 'w');
	CHECK(!interpreter);
	sample_remove(&sample);
}

/* A store of an earlier version does not say which program its rows are of. */
static void rows_without_a_program_are_not_used(void)
{
	struct outcome_key key = { "write", "somebody", "", "nc", "", 10 };
	AUTO_FREE char *unknown = NULL;
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	outcomes_add(store, &key, "", "", 100, 1, NULL);
	outcomes_add(store, &key, "", files[SET_2], 1000, 1, NULL);
	store_close(store);
	check_best(&sample, once, "nc", 'w', NONE);
	unknown = best_for(&sample, once, "somebody", "", "nc", 'w');
	CHECK(!unknown);
	sample_remove(&sample);
}

/* One run that writes a file on a file system. */
static void train_on(const struct sample *sample, const char *filesystem, file_id hints,
		     int64_t rate)
{
	struct run run;

	run_start(&run, sample, NULL);
	run.host.filesystem = filesystem;
	write_file(&run, DATA_NC, hints, rate);
	run_end(&run);
}

/* All choices for writing: "FILESYSTEM SET PLACES ", by file system. */
static char *choices_of(const struct sample *sample)
{
	struct history_options read;
	struct hint_choices choices;
	struct fake_host host;
	struct buf text = { 0 };

	fake_host_init(&host, once, NULL, 0);
	REQUIRE(history_options_read(&read, fake_host_option, &host, NULL) >= 0);
	free(read.store);
	read.store = xstrdup(sample->path);
	REQUIRE(hint_choices_make(&choices, &read, "somebody", NULL) >= 0);
	for (size_t i = 0; i < choices.count; i++)
		if (choices.best[i].mode == 'w')
			buf_printf(&text, "%s %s %u ", choices.best[i].filesystem,
				   choices.best[i].hints, choices.best[i].places);
	hint_choices_release(&choices);
	history_options_release(&read);
	fake_host_release(&host);
	return buf_take(&text);
}

static void check_choices(const struct sample *sample, const char *expected)
{
	AUTO_FREE char *found = choices_of(sample);

	CHECK_TEXT(found ? found : "", expected);
}

/* The defaults were seen on a slow file system, the set on a fast one: nothing is comparable. */
static void file_systems_are_not_compared_with_each_other(void)
{
	struct sample sample;

	sample_make(&sample);
	train_on(&sample, "/slow", NO_FILE, 100);
	train_on(&sample, "/fast", SET_2, 200);
	check_choices(&sample, "");
	check_best(&sample, once, "nc", 'w', NONE);
	train_on(&sample, "/fast", NO_FILE, 220);
	check_choices(&sample, "");
	sample_remove(&sample);
}

static void each_file_system_has_its_own_choice(void)
{
	AUTO_BUF struct buf both = { 0 };
	struct sample sample;

	sample_make(&sample);
	train_on(&sample, "/a", NO_FILE, 100);
	train_on(&sample, "/a", SET_1, 200);
	buf_printf(&both, " %s 1 /a %s 1 ", files[SET_1], files[SET_1]);
	check_choices(&sample, buf_text(&both));
	/* Where only the defaults are known, it could be slower. */
	train_on(&sample, "/b", NO_FILE, 100);
	buf_clear(&both);
	buf_printf(&both, "/a %s 1 ", files[SET_1]);
	check_choices(&sample, buf_text(&both));
	/* It is slower there, and another one is faster. */
	train_on(&sample, "/b", SET_1, 70);
	train_on(&sample, "/b", SET_2, 250);
	buf_clear(&both);
	buf_printf(&both, "/a %s 1 /b %s 1 ", files[SET_1], files[SET_2]);
	check_choices(&sample, buf_text(&both));
	/* What is faster on both is for all file systems. */
	train_on(&sample, "/a", SET_2, 150);
	buf_clear(&both);
	buf_printf(&both, " %s 2 /a %s 1 /b %s 1 ", files[SET_2], files[SET_1], files[SET_2]);
	check_choices(&sample, buf_text(&both));
	check_best(&sample, once, "nc", 'w', SET_2);
	sample_remove(&sample);
}

/* Defaults that an earlier version stored without a file system forbid nothing. */
static void rows_without_a_file_system_are_compared_with_each_other(void)
{
	AUTO_BUF struct buf both = { 0 };
	struct sample sample;

	sample_make(&sample);
	train(&sample, NULL, DATA_NC, NO_FILE, 100);
	train_on(&sample, "/a", NO_FILE, 100);
	train_on(&sample, "/a", SET_1, 200);
	buf_printf(&both, " %s 1 /a %s 1 ", files[SET_1], files[SET_1]);
	check_choices(&sample, buf_text(&both));
	train(&sample, NULL, DATA_NC, SET_1, 70);
	buf_clear(&both);
	buf_printf(&both, "/a %s 1 ", files[SET_1]);
	check_choices(&sample, buf_text(&both));
	sample_remove(&sample);
}

/* A set that was only seen with other access sizes says nothing. */
static void only_equal_workloads_are_compared(void)
{
	struct sample sample;
	struct store *store;
	struct outcome_key key = { "write", "somebody", "app", "nc", "", 10 };

	sample_make(&sample);
	store = sample_open(&sample);
	outcomes_add(store, &key, "1", "", 100, 1, NULL);
	key.size_class = 3;
	outcomes_add(store, &key, "1", files[SET_2], 1000, 1, NULL);
	check_best(&sample, once, "nc", 'w', NONE);
	/* Neither does one that was seen with a small part of the workload. */
	outcomes_add(store, &key, "1", "", 10, 1, NULL);
	key.size_class = 10;
	outcomes_add(store, &key, "1", "", 300, 3, NULL);
	check_best(&sample, once, "nc", 'w', NONE);
	/* Slower in one, faster in the other: the bytes decide. */
	outcomes_add(store, &key, "1", files[SET_2], 90, 1, NULL);
	check_best(&sample, once, "nc", 'w', SET_2);
	sample_remove(&sample);
	store_close(store);
}

static void extensions_are_separate_unless_disabled(void)
{
	static const char *const any[] = { "by_extension=no", "learn=1", NULL };
	struct sample sample;

	sample_make(&sample);
	train(&sample, NULL, DATA_NC, NO_FILE, 100);
	train(&sample, NULL, DATA_NC, SET_2, 200);
	check_best(&sample, once, "h5", 'w', NONE);
	check_best(&sample, any, "h5", 'w', SET_2);
	train(&sample, NULL, OTHER_H5, NO_FILE, 100);
	train(&sample, NULL, OTHER_H5, SET_1, 150);
	check_best(&sample, once, "h5", 'w', SET_1);
	check_best(&sample, once, "nc", 'w', SET_2);
	sample_remove(&sample);
}

static void users_are_separate_unless_disabled(void)
{
	static const char *const any[] = { "by_user=no", "learn=1", NULL };
	AUTO_FREE char *own = NULL, *shared = NULL;
	struct sample sample;

	sample_make(&sample);
	train(&sample, NULL, DATA_NC, NO_FILE, 100); /* user "somebody" */
	train(&sample, NULL, DATA_NC, SET_2, 200);
	own = best_for(&sample, once, "ann", "app", "nc", 'w');
	CHECK(!own);
	shared = best_for(&sample, any, "ann", "app", "nc", 'w');
	CHECK_TEXT(shared, files[SET_2]);
	sample_remove(&sample);
}

static void unsafe_sets_are_never_chosen(void)
{
	struct sample sample;

	sample_make(&sample);
	train(&sample, NULL, DATA_NC, NO_FILE, 100);
	train(&sample, NULL, DATA_NC, UNSAFE, 900);
	check_best(&sample, once, "nc", 'w', NONE);
	sample_remove(&sample);
}

struct credited {
	char *text;
	size_t rows;
};

static int credited_keep(void *arg, const struct outcome_key *key, const char *hints,
			 const struct outcome *outcome)
{
	struct credited *c = arg;
	char *text = xprintf("%s%s %s/%u [%s] %llu x %.0f; ", c->text ? c->text : "",
			     key->operation, key->extension, key->size_class, hints,
			     (unsigned long long)outcome->count, outcome->rate / MIB);

	free(c->text);
	c->text = text;
	c->rows++;
	return 0;
}

static void check_credited(const struct sample *sample, const char *expected)
{
	struct store *store = sample_open(sample);
	struct credited credited = { 0 };

	CHECK_INT(outcomes_list(store, &(struct outcomes_filter){ 0 }, credited_keep, &credited,
				NULL),
		  0);
	CHECK_TEXT(credited.text ? credited.text : "", expected);
	free(credited.text);
	store_close(store);
}

/* Two ranks transfer 30 and 20 MiB in 1 and 2 seconds, which is 25 MiB/s together. */
static void ranks_that_open_together_are_one_sample(void)
{
	struct sample sample;
	struct run run;
	uint64_t first, second;

	sample_make(&sample);
	run_start(&run, &sample, NULL);
	first = open_as(&run, 0, DATA_NC, SET_1, run.collective);
	second = open_as(&run, 1, DATA_NC, SET_1, run.collective);
	moved(&run, 0, first, "MPI_File_write_at_all", 30 * MIB, 0, SECOND);
	moved(&run, 1, second, "MPI_File_write_at_all", 20 * MIB, 0, 2 * SECOND);
	/* Reading is separate; the time of overlapping calls counts once. */
	moved(&run, 1, second, "MPI_File_read_at", 4 * MIB, 3 * SECOND, SECOND);
	moved(&run, 1, second, "MPI_File_read_at", 4 * MIB, 3 * SECOND + SECOND / 2, SECOND / 2);
	run.now_ns = 5 * SECOND;
	closed(&run, 0, first);
	closed(&run, 1, second);
	run_end(&run);
	check_credited(&sample, "read nc/11 [cb_buffer_size=4194304] 1 x 8; "
				"write_all nc/12 [cb_buffer_size=4194304] 1 x 25; ");
	sample_remove(&sample);
}

static void closed_files_are_credited_while_the_run_goes_on(void)
{
	struct sample sample;
	struct run run;
	uint64_t left;

	sample_make(&sample);
	run_start(&run, &sample, NULL);
	write_file(&run, DATA_NC, NO_FILE, 16);
	left = open_as(&run, 0, OTHER_H5, NO_FILE, 0);
	moved(&run, 0, left, "MPI_File_write_at", 16 * MIB, run.now_ns, SECOND);
	run.ops->tick(run.state, run.now_ns + SECOND);
	check_credited(&sample, "");
	run.ops->tick(run.state, run.now_ns + 60 * SECOND);
	check_credited(&sample, "write nc/12 [] 1 x 16; ");
	/* A file that is never closed is credited at the end. */
	run_end(&run);
	check_credited(&sample, "write h5/12 [] 1 x 16; write nc/12 [] 1 x 16; ");
	sample_remove(&sample);
}

static void non_blocking_accesses_last_until_they_are_complete(void)
{
	struct sample sample;
	struct run run;
	uint64_t open, one, two;

	sample_make(&sample);
	run_start(&run, &sample, NULL);
	open = open_as(&run, 0, DATA_NC, NO_FILE, 0);
	moved(&run, 0, open, "MPI_File_iwrite_at", 16 * MIB, 0, 1000);
	one = id_make(1, run.seq);
	moved(&run, 0, open, "MPI_File_iwrite_at", 16 * MIB, 2000, 1000);
	two = id_make(1, run.seq);
	moved(&run, 0, one, "MPI_Wait", 16 * MIB, SECOND, SECOND);
	moved(&run, 0, two, "MPI_Wait", 16 * MIB, 2 * SECOND, 2 * SECOND);
	closed(&run, 0, open);
	run_end(&run);
	check_credited(&sample, "write nc/12 [] 1 x 8; ");
	sample_remove(&sample);
}

static void hints_that_change_after_the_open_count(void)
{
	struct sample sample;
	struct run run;
	uint64_t open;

	sample_make(&sample);
	run_start(&run, &sample, NULL);
	open = open_as(&run, 0, DATA_NC, SET_2, 0);
	feed(&run,
	     (struct activity){
		     .link = open, .hints = CHANGED, .present = PRESENT(LINK) | PRESENT(HINTS) },
	     "MPI_File_set_info");
	moved(&run, 0, open, "MPI_File_write", 16 * MIB, 0, SECOND);
	closed(&run, 0, open);
	run_end(&run);
	check_credited(&sample, "write nc/12 [cb_buffer_size=8388608;romio_ds_write=disable;"
				"striping_unit=4096] 1 x 16; ");
	sample_remove(&sample);
}

/* The plug-in that acts restores hints by setting them to nothing. */
static void accesses_count_for_the_hints_in_force(void)
{
	struct sample sample;
	struct run run;
	uint64_t open;

	sample_make(&sample);
	run_start(&run, &sample, NULL);
	open = open_as(&run, 0, DATA_NC, SET_1, 0);
	for (int i = 0; i < 2; i++) {
		moved(&run, 0, open, "MPI_File_write", 16 * MIB, 4 * i * SECOND, SECOND);
		feed(&run,
		     (struct activity){ .link = open,
					.hints = DISABLED,
					.present = PRESENT(LINK) | PRESENT(HINTS) },
		     "MPI_File_set_info");
		moved(&run, 0, open, "MPI_File_write", 16 * MIB, (4 * i + 1) * SECOND, 2 * SECOND);
		feed(&run,
		     (struct activity){ .link = open,
					.hints = RESTORED,
					.present = PRESENT(LINK) | PRESENT(HINTS) },
		     "MPI_File_set_info");
	}
	closed(&run, 0, open);
	run_end(&run);
	check_credited(&sample,
		       "write nc/12 [cb_buffer_size=4194304] 1 x 16; "
		       "write nc/12 [cb_buffer_size=4194304;romio_ds_write=disable] 1 x 8; ");
	sample_remove(&sample);
}

static void accesses_are_told_apart_by_their_attributes(void)
{
	static const char *const volume[] = { "attributes=volume", NULL };
	static const char *const offset[] = { "attributes=offset", NULL };
	static const char *const none[] = { "attributes=", NULL };
	static const struct {
		const char *const *options;
		const char *expected;
	} cases[] = {
		{ NULL,
		  "write nc/10 [] 1 x 1; write nc/12 [] 1 x 16; write strided nc/10 [] 1 x 1; " },
		{ volume, "write nc/10 [] 1 x 1; write nc/12 [] 1 x 16; " },
		{ offset, "write nc/31 [] 1 x 8; write strided nc/31 [] 1 x 1; " },
		{ none, "write nc/31 [] 1 x 6; " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sample sample;
		struct run run;
		uint64_t open;

		sample_make(&sample);
		run_start(&run, &sample, cases[i].options);
		open = open_as(&run, 0, DATA_NC, NO_FILE, 0);
		moved(&run, 0, open, "MPI_File_write", 16 * MIB, 0, SECOND);
		moved(&run, 0, open, "MPI_File_write", MIB, SECOND, SECOND);
		feed(&run,
		     (struct activity){ .link = open,
					.start_ns = 2 * SECOND,
					.duration_ns = SECOND,
					.result = MIB,
					.size = MIB,
					.span = 2 * MIB,
					.present = PRESENT(LINK) | PRESENT(SIZE) | PRESENT(SPAN) },
		     "MPI_File_write");
		closed(&run, 0, open);
		run_end(&run);
		check_credited(&sample, cases[i].expected);
		sample_remove(&sample);
	}
}

/* The collective numbers of openings are the same in each job of a run. */
static void another_job_is_another_opening(void)
{
	struct sample sample;
	struct run run;

	sample_make(&sample);
	run_start(&run, &sample, NULL);
	for (uint32_t job = 0; job < 2; job++) {
		uint64_t open = open_as(&run, job, DATA_NC, NO_FILE, run.collective);

		moved(&run, job, open, "MPI_File_write_at", 16 * MIB, run.now_ns, SECOND);
		run.now_ns += 2 * SECOND;
		closed(&run, job, open);
		run.now_ns += SECOND;
	}
	run_end(&run);
	check_credited(&sample, "write nc/12 [] 2 x 16; ");
	sample_remove(&sample);
}

static void choices_are_written_before_the_run(void)
{
	static const char *const options[] = { "plugin.history.explore=10%",
					       "plugin.history.sets=b=2;a=1 | cb_nodes=2",
					       "plugin.history.learn=1", NULL };
	AUTO_FREE char *first = NULL, *second = NULL;
	struct sample sample;
	struct store *store;

	setenv("USER", "somebody", 1);
	sample_make(&sample);
	first = history_answers(&sample, NULL, NULL);
	CHECK_TEXT(first, "sluice-answers 2\n");
	train(&sample, NULL, DATA_NC, NO_FILE, 100);
	train(&sample, NULL, DATA_NC, SET_2, 200);
	store = sample_open(&sample);
	outcomes_add(store, &(struct outcome_key){ "read", "somebody", "app", "x", "", 1 }, "1",
		     "a=1;b=2", 1, 1, NULL);
	store_close(store);
	second = history_answers(&sample, options, NULL);
	CHECK_TEXT(second, "sluice-answers 2\nexplore 100000 2 0\ntry cb_nodes=2\ntry a=1;b=2\n"
			   "program app\n"
			   "best nc w cb_buffer_size=200000000;romio_ds_write=disable\n"
			   "best nc b cb_buffer_size=200000000;romio_ds_write=disable\n");
	sample_remove(&sample);
}

static void invalid_options_are_errors(void)
{
	static const struct {
		const char *option, *complaint;
	} cases[] = {
		{ "plugin.history.learn=0", "plugin.history.learn" },
		{ "plugin.history.learn=-1", "plugin.history.learn" },
		{ "plugin.history.by_user=maybe", "plugin.history.by_user" },
		{ "plugin.history.margin=5", "plugin.history.margin" },
		{ "plugin.history.explore=101%", "plugin.history.explore" },
		{ "plugin.history.sets=cb_buffer_size=16M", "sets: \"cb_buffer_size=16M\"" },
		{ "plugin.history.sets=a=1|b", "sets: \"b\"" },
		{ "plugin.history.changes=64", "changes: invalid value \"64\"" },
		{ "plugin.history.changes=-1", "plugin.history.changes" },
		{ "plugin.history.attributes=volume size", "attributes: invalid value \"size\"" },
		{ "plugin.history.calls=MPI_File_wriet",
		  "calls: invalid value \"MPI_File_wriet\"" },
		{ "plugin.history.calls=MPI_File_open", "calls: invalid value \"MPI_File_open\"" },
		{ "plugin.history.calls=POSIX/write", "calls: invalid value \"POSIX/write\"" },
	};
	struct sample sample;

	sample_make(&sample);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const options[] = { cases[i].option, NULL };
		struct err err = { 0 };

		CHECK(!history_answers(&sample, options, &err));
		if (!strstr(err.text, cases[i].complaint))
			printf("%s\n", err.text);
		CHECK(strstr(err.text, cases[i].complaint));
	}
	sample_remove(&sample);
}

/* Nothing is learned from runs whose accesses are not watched. */
static void only_watched_calls_count(void)
{
	static const char *const watched[] = { "calls=MPI_File_read_at, MPI/MPI_File_write_at",
					       NULL };
	static const char *const others[] = { "calls=MPI_File_write_at_all,MPI/MPI_File_write",
					      NULL };
	struct sample sample;

	sample_make(&sample);
	train(&sample, others, DATA_NC, NO_FILE, 100);
	train(&sample, others, DATA_NC, SET_2, 200);
	check_best(&sample, once, "nc", 'w', NONE);
	train(&sample, watched, DATA_NC, NO_FILE, 100);
	train(&sample, watched, DATA_NC, SET_2, 200);
	check_best(&sample, once, "nc", 'w', SET_2);
	sample_remove(&sample);
}

static void trials_are_counted_over_runs(void)
{
	static const char *const options[] = {
		"explore=10%", "sets=cb_buffer_size=200000000;romio_ds_write=disable", "learn=1",
		NULL
	};
	uint64_t opens = 0, explored = 0;
	struct sample sample;
	struct store *store;
	struct run run;

	sample_make(&sample);
	run_start(&run, &sample, options);
	write_file(&run, DATA_NC, NO_FILE, 100);
	write_file(&run, DATA_NC, SET_1, 100);
	write_file(&run, DATA_NC, SET_2, 200);
	run_end(&run);
	store = sample_open(&sample);
	CHECK_INT(outcomes_count_opens(store, "somebody", &opens, &explored, NULL), 0);
	CHECK_INT(opens, 3);
	CHECK_INT(explored, 1);
	/* Now it is the best set, and no longer a trial. */
	train(&sample, options, DATA_NC, SET_2, 200);
	CHECK_INT(outcomes_count_opens(store, "somebody", &opens, &explored, NULL), 0);
	CHECK_INT(opens, 4);
	CHECK_INT(explored, 1);
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(after_training_the_better_set_is_chosen), TEST(ties_and_small_gains_keep_the_defaults),
      TEST(several_runs_are_required_not_several_files), TEST(a_run_counts_once),
      TEST(programs_are_separate), TEST(rows_without_a_program_are_not_used),
      TEST(only_equal_workloads_are_compared), TEST(file_systems_are_not_compared_with_each_other),
      TEST(each_file_system_has_its_own_choice),
      TEST(rows_without_a_file_system_are_compared_with_each_other),
      TEST(extensions_are_separate_unless_disabled), TEST(users_are_separate_unless_disabled),
      TEST(unsafe_sets_are_never_chosen), TEST(ranks_that_open_together_are_one_sample),
      TEST(closed_files_are_credited_while_the_run_goes_on),
      TEST(non_blocking_accesses_last_until_they_are_complete),
      TEST(hints_that_change_after_the_open_count), TEST(another_job_is_another_opening),
      TEST(accesses_count_for_the_hints_in_force),
      TEST(accesses_are_told_apart_by_their_attributes), TEST(choices_are_written_before_the_run),
      TEST(invalid_options_are_errors), TEST(only_watched_calls_count),
      TEST(trials_are_counted_over_runs))
