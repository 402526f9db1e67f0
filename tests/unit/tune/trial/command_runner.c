/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the command runner: reading a trace and cleaning up after a trial. The runner itself
 * needs the real command and is tested by tests/run/tune_trial.sh.
 */
#include "tune/trial/command_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/place.h"
#include "trace_sample.h"
#include "tune/trial/cleanup.h"
#include "tune/trial/reading.h"

static char directory[] = "/tmp/sluice-trial-XXXXXX";

static char *path_in(const char *name)
{
	if (strstr(directory, "XXXXXX"))
		REQUIRE(mkdtemp(directory));
	return place_join(directory, name);
}

static void touch(const char *path)
{
	FILE *f = fopen(path, "we");

	REQUIRE(f);
	fputs("x", f);
	fclose(f);
}

/* On file systems without birth times no file is known to be new. */
static bool knows_birth(const char *path)
{
	struct statx st;

	return statx(AT_FDCWD, path, 0, STATX_BTIME, &st) == 0 && st.stx_mask & STATX_BTIME;
}

/* The clock of file systems advances in ticks. */
static void wait_tick(void)
{
	usleep(20000);
}

static bool finds_new_file(struct cleanup *cleanup, const char *path)
{
	bool is_new;

	cleanup_add_file(cleanup, path);
	is_new = cleanup_has_new(cleanup);
	cleanup->file_count--;
	free(cleanup->files[cleanup->file_count]);
	return is_new;
}

static void only_files_of_the_trial_are_new(void)
{
	AUTO_FREE char *old = path_in("old"), *new = path_in("new"), *link = path_in("link");
	struct cleanup cleanup;

	/* It existed before, though in the same tick. */
	touch(old);
	cleanup_begin(&cleanup);
	wait_tick();
	touch(new);
	touch(old);
	REQUIRE(symlink(old, link) == 0);
	cleanup_add_file(&cleanup, "relative");
	CHECK_INT(cleanup.file_count, 0);
	CHECK(!finds_new_file(&cleanup, old) && !finds_new_file(&cleanup, link));
	CHECK(!finds_new_file(&cleanup, "/nonexistent/file"));
	CHECK_INT(finds_new_file(&cleanup, new), knows_birth(new));
	cleanup_release(&cleanup);
	unlink(old);
	unlink(new);
	unlink(link);
}

static void the_directory_of_a_killed_runner_is_removed(void)
{
	AUTO_FREE char *base = path_in("base"), *file = NULL, *first = NULL, *second = NULL;
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct err err = { 0 };
	int one = -1, two = -1;

	REQUIRE(mkdir(base, 0700) == 0);
	first = cleanup_make_directory(base, &one, &err);
	REQUIRE(first && one >= 0);
	file = place_join(first, "file");
	touch(file);
	CHECK_INT(futimens(one, old), 0);
	/* A locked directory stays, however old it is. */
	second = cleanup_make_directory(base, &two, &err);
	CHECK(second && place_exists(file));
	close(two);
	free(second);
	/* An unlocked one is removed. The one just made is too young. */
	close(one);
	second = cleanup_make_directory(base, &two, &err);
	CHECK(second && !place_exists(first));
	close(two);
	file_remove_tree(base);
	CHECK(!cleanup_make_directory("/nonexistent", &one, &err) && err.code == ENOENT);
}

static void a_trace_is_read(void)
{
	AUTO_FREE char *path = path_in("trace"), *out = path_in("out");
	struct process_info process = { .parent = -1, .rank = 0, .ranks = 4, .host = (char *)"a" };
	struct activity all[] = {
		{ .start_ns = 1000,
		  .duration_ns = 500,
		  .id = id_make(1, 1),
		  .call = 2,
		  .file = 1,
		  .result = 77,
		  .present = PRESENT(RESULT) },
		{ .start_ns = 2000,
		  .duration_ns = 500,
		  .id = id_make(1, 2),
		  .call = 2,
		  .file = 2,
		  .result = 5,
		  .present = PRESENT(RESULT) },
	};
	struct run_end end = { .duration_ns = 3000000000, .complete = true };
	struct reading reading = { 0 };
	struct cleanup cleanup;
	struct err err = { 0 };
	void *w = NULL;

	REQUIRE(trace_container.create(&w, path, &sample_run, &sample_clock, sample_calls,
				       SAMPLE_CALLS, &err) == 0);
	REQUIRE(trace_container.add_process(w, &process, &err) == 0);
	REQUIRE(trace_container.add_file(w, 1, out, &err) == 0);
	REQUIRE(trace_container.add_file(w, 2, "/scratch/trial.log", &err) == 0);
	REQUIRE(trace_container.add_activities(w, all, 2, &err) == 0);
	REQUIRE(trace_container.finish(w, &end, &sample_clock, &err) == 0);
	cleanup_begin(&cleanup);
	CHECK_INT(reading_from_trace(&reading, path, "/scratch", &cleanup, &err), 0);
	CHECK_INT(reading.run_s, 3);
	CHECK_INT(reading.io_s * 1e9 + 0.5, 500);
	CHECK_INT(reading.write_bytes, 77);
	CHECK_INT(reading.calls, 1);
	CHECK_INT(reading.ranks, 4);
	CHECK(!reading.effective);
	CHECK_INT(cleanup.file_count, 1);
	CHECK_TEXT(cleanup.files[0], out);
	reading_release(&reading);
	cleanup_release(&cleanup);
	unlink(path);
}

static void a_file_that_is_not_a_trace_is_an_error(void)
{
	AUTO_FREE char *path = path_in("trace");
	struct reading reading = { .ranks = 9 };
	struct cleanup cleanup;
	struct err err = { 0 };

	cleanup_begin(&cleanup);
	CHECK(reading_from_trace(&reading, path, "/scratch", &cleanup, &err) < 0);
	touch(path);
	CHECK(reading_from_trace(&reading, path, "/scratch", &cleanup, &err) < 0);
	CHECK_INT(reading.ranks, 9);
	cleanup_release(&cleanup);
	unlink(path);
}

static void a_runner_identifies_its_program_and_cleans_up(void)
{
	AUTO_FREE char *scratch = path_in("scratch");
	char *argv[] = { (char *)"mpiexec", (char *)"-n", (char *)"3", (char *)"/nonexistent/app",
			 NULL };
	struct command_runner_options options = { .argv = argv,
						  .scratch = scratch,
						  .sluice = "/nonexistent/sluice",
						  .platform = "here" };
	struct trial_limits limits = { .seconds = INFINITY };
	struct trial trial = { .io_s = 7 };
	struct param_set set = { 0 };
	struct err err = { 0 };
	struct trial_runner runner;

	CHECK_INT(command_runner_open(&runner, &options, &err), 0);
	CHECK_TEXT(runner.program, "app");
	CHECK_TEXT(runner.platform, "here");
	CHECK_INT(runner.ranks, 3);
	CHECK(!runner.ops->is_exact);
	/* Trials fail without the command. */
	CHECK_INT(runner.ops->run(runner.state, &set, &limits, &trial, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/sluice"));
	CHECK_INT(trial.io_s, 7);
	runner.ops->close(runner.state);
	CHECK(place_exists(scratch));
	file_remove_tree(scratch);
	options.scratch = "/proc/nonexistent/scratch";
	CHECK(command_runner_open(&runner, &options, &err) < 0);
	CHECK(strstr(err.text, "/proc/nonexistent"));
	CHECK_INT(rmdir(directory), 0);
}

static void states_have_names(void)
{
	CHECK_TEXT(trial_state_name(TRIAL_GOOD), "good");
	CHECK_TEXT(trial_state_name(TRIAL_UNSEEN), "unseen");
	CHECK_TEXT(trial_state_name(TRIAL_STATES), "?");
}

TESTS(TEST(states_have_names), TEST(only_files_of_the_trial_are_new),
      TEST(the_directory_of_a_killed_runner_is_removed), TEST(a_trace_is_read),
      TEST(a_file_that_is_not_a_trace_is_an_error),
      TEST(a_runner_identifies_its_program_and_cleans_up))
