/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/studies.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "store_sample.h"

static struct study study_sample(const char *digest, int64_t changed_ns)
{
	return (struct study){
		.command = "mpiexec -n 4 ./app",
		.plan = "{\"seed\": 1}",
		.digest = digest,
		.state = "running",
		.begun_ns = 5,
		.changed_ns = changed_ns,
	};
}

static struct study_run run_sample(int64_t number, double cost)
{
	return (struct study_run){
		.number = number,
		.phase = "search",
		.point = UINT64_MAX - (uint64_t)number,
		.parameters = "{\"a\": 1}",
		.effective = "cb_nodes=2",
		.state = isnan(cost) ? "crashed" : "good",
		.reason = isnan(cost) ? "signal 11" : NULL,
		.cost = cost,
		.run_s = 2 * cost,
		.io_s = cost,
		.read_bytes = 1e12,
		.write_bytes = 3,
		.digest = "abc",
		.begun_ns = 100 + number,
	};
}

struct found {
	struct buf text;
	int64_t id;
	int stop_after;
};

static int keep_study(void *arg, const struct study *study)
{
	struct found *f = arg;

	f->id = study->id;
	buf_printf(&f->text, "[%s|%s|%s|%s|%lld|%lld]", study->command, study->plan, study->digest,
		   study->state, (long long)study->begun_ns, (long long)study->changed_ns);
	return 0;
}

static int keep_run(void *arg, const struct study_run *run)
{
	struct found *f = arg;

	buf_printf(&f->text, "%lld %s %llu %s %s %s '%s' %g %g %g %g %g %s %lld;",
		   (long long)run->number, run->phase, (unsigned long long)run->point,
		   run->parameters, run->effective, run->state, run->reason, run->cost, run->run_s,
		   run->io_s, run->read_bytes, run->write_bytes, run->digest,
		   (long long)run->begun_ns);
	return --f->stop_after == 0;
}

static int64_t begin(struct store *store, const char *digest, int64_t changed_ns)
{
	struct study study = study_sample(digest, changed_ns);
	struct study_run first = run_sample(1, 1.5);
	int64_t id = 0;

	CHECK_INT(study_begin(store, &study, &first, &id, NULL), 0);
	CHECK(id > 0);
	return id;
}

static void runs_are_read_back_unchanged_and_in_order(void)
{
	struct found found = { 0 };
	struct sample sample;
	struct store *store;
	struct study_run run;
	int64_t id;

	sample_make(&sample);
	store = sample_open(&sample);
	id = begin(store, "d", 5);
	run = run_sample(3, 0.25);
	CHECK_INT(study_add_run(store, id, &run, NULL), 0);
	run = run_sample(2, NAN);
	run.run_s = run.io_s = 0;
	CHECK_INT(study_add_run(store, id, &run, NULL), 0);
	store_close(store);
	store = sample_open(&sample);
	CHECK_INT(study_runs(store, id, keep_run, &found, NULL), 0);
	CHECK_TEXT(buf_text(&found.text),
		   "1 search 18446744073709551614 {\"a\": 1} cb_nodes=2 good '' 1.5 3 1.5 1e+12 3 "
		   "abc 101;"
		   "2 search 18446744073709551613 {\"a\": 1} cb_nodes=2 crashed 'signal 11' nan 0 "
		   "0 1e+12 3 abc 102;"
		   "3 search 18446744073709551612 {\"a\": 1} cb_nodes=2 good '' 0.25 0.5 0.25 "
		   "1e+12 3 abc 103;");
	buf_clear(&found.text);
	found.stop_after = 1;
	CHECK_INT(study_runs(store, id, keep_run, &found, NULL), 0);
	CHECK(strchr(buf_text(&found.text), ';') == buf_text(&found.text) + found.text.len - 1);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

static void a_number_can_be_used_once(void)
{
	struct study_run run = run_sample(1, 2);
	struct sample sample;
	struct store *store;
	struct err err = { 0 };

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK(study_add_run(store, begin(store, "d", 5), &run, &err) < 0);
	CHECK(strstr(err.text, "UNIQUE") || strstr(err.text, "duplicate key"));
	store_close(store);
	sample_remove(&sample);
}

static void the_latest_unfinished_is_found(void)
{
	struct found found = { 0 };
	struct err err = { 0 };
	struct sample sample;
	struct store *store;
	int64_t first, second, third;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(study_find(store, NULL, keep_study, &found, &err), -ENOENT);
	CHECK_WORDS(err.text, "unfinished");
	first = begin(store, "one", 10);
	second = begin(store, "two", 20);
	third = begin(store, "two", 30);
	CHECK_INT(study_find(store, NULL, keep_study, &found, NULL), 0);
	CHECK_INT(found.id, third);
	CHECK_INT(study_set_state(store, third, "done", 40, NULL), 0);
	CHECK_INT(study_find(store, "two", keep_study, &found, NULL), 0);
	CHECK_INT(found.id, second);
	CHECK_INT(study_find(store, "one", keep_study, &found, NULL), 0);
	CHECK_INT(found.id, first);
	CHECK_INT(study_find(store, "none", keep_study, &found, NULL), -ENOENT);
	buf_clear(&found.text);
	CHECK_INT(study_get(store, third, keep_study, &found, NULL), 0);
	CHECK_TEXT(buf_text(&found.text), "[mpiexec -n 4 ./app|{\"seed\": 1}|two|done|5|40]");
	CHECK_INT(study_get(store, 999, keep_study, &found, NULL), -ENOENT);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

static void a_forgotten_study_is_gone_with_its_runs(void)
{
	struct found found = { 0 };
	struct sample sample;
	struct store *store;
	int64_t first, second;

	sample_make(&sample);
	store = sample_open(&sample);
	first = begin(store, "one", 10);
	second = begin(store, "two", 20);
	CHECK_INT(study_forget(store, first, NULL), 0);
	CHECK_INT(study_forget(store, first, NULL), -ENOENT);
	CHECK_INT(study_runs(store, first, keep_run, &found, NULL), 0);
	CHECK_INT(found.text.len, 0);
	CHECK_INT(study_list(store, keep_study, &found, NULL), 0);
	CHECK_INT(found.id, second);
	CHECK(strstr(buf_text(&found.text), "one") == NULL);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

/* The child is killed right after study_add_run() has returned. */
static void added_runs_survive_a_kill(void)
{
	struct found found = { 0 };
	struct sample sample;
	struct store *store;
	int64_t id;
	int status;
	pid_t pid;

	sample_make(&sample);
	store = sample_open(&sample);
	id = begin(store, "one", 10);
	store_close(store);
	pid = fork();
	if (pid == 0) {
		struct study_run run = run_sample(2, 7);

		store = sample_open(&sample);
		if (study_add_run(store, id, &run, NULL) < 0)
			_exit(1);
		raise(SIGKILL);
	}
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status));
	store = sample_open(&sample);
	CHECK_INT(study_runs(store, id, keep_run, &found, NULL), 0);
	CHECK(strstr(buf_text(&found.text), ";2 search") != NULL);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

static int keep_gain(void *arg, const struct study *study)
{
	*(double *)arg = study->gain;
	CHECK(study->conditions && !*study->conditions);
	return 0;
}

static void a_study_of_an_earlier_version_has_no_proved_gain(void)
{
	struct sample sample;
	struct store *store;
	struct found found = { 0 };
	double gain = 1;
	int64_t id;

	sample_make(&sample);
	store = sample_open(&sample);
	id = begin(store, "one", 10);
	store_close(store);
	sample_regress(&sample, 7);
	store = sample_open(&sample);
	CHECK_INT(study_get(store, id, keep_gain, &gain, NULL), 0);
	CHECK(isnan(gain));
	CHECK_INT(study_runs(store, id, keep_run, &found, NULL), 0);
	CHECK(found.text.len > 0);
	CHECK_INT(study_set_result(store, id, 2, 1.5, 3, "", NULL), 0);
	CHECK_INT(study_get(store, id, keep_gain, &gain, NULL), 0);
	CHECK(gain == 2);
	buf_release(&found.text);
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(runs_are_read_back_unchanged_and_in_order), TEST(a_number_can_be_used_once),
      TEST(the_latest_unfinished_is_found), TEST(a_forgotten_study_is_gone_with_its_runs),
      TEST(added_runs_survive_a_kill), TEST(a_study_of_an_earlier_version_has_no_proved_gain))
