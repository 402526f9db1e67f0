/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tunings of the user: what `sluice kb tunings` lists, what `sluice tune` says at the end of
 * each, their course while they run, and stopping and resuming them.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/server.h"
#include "store/knowledge.h"
#include "tune/loop/outcome.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/study.h"

#define EVENTS_MS 1000
/* How long the answer to a change waits for its effect. */
#define EFFECT_MS 3000
#define LOOK_MS 50

/* --- list --- */

struct studies {
	struct web_study *list;
	size_t count, cap;
	const struct config *config;
};

static int append_study(void *arg, const struct study *study)
{
	struct studies *studies = arg;

	studies->list =
		xgrow(studies->list, &studies->cap, studies->count + 1, sizeof(*studies->list));
	web_study_init(&studies->list[studies->count++], studies->config, study);
	return 0;
}

/* What the list shows of the runs. */
struct course_sums {
	uint64_t runs;
	char *phase;	/* of the last run */
	char *compared; /* of the last run that has it; NULL: none */
};

static int add_run(void *arg, const struct study_run *run)
{
	struct course_sums *sums = arg;

	sums->runs++;
	free(sums->phase);
	sums->phase = xstrdup(run->phase);
	if (*run->compared) {
		free(sums->compared);
		sums->compared = xstrdup(run->compared);
	}
	return 0;
}

static void put_gain(struct json *json, const struct study *study)
{
	json_double(json, "gain", study->gain);
	json_double(json, "gain_low", study->gain_low);
	json_double(json, "gain_high", study->gain_high);
	json_text(json, "conditions", *study->conditions ? study->conditions : NULL);
}

/* The members that the list and a single tuning share. */
static void put_study(struct json *json, const struct web_study *study)
{
	unsigned ranks;
	const char *program = web_study_program(study, &ranks);

	json_number(json, "id", study->study.id);
	json_text(json, "program", program);
	json_count(json, "ranks", ranks);
	json_text(json, "command", study->study.command);
	json_text(json, "directory", study->plan.directory);
	json_bool(json, "simulated", study->plan.on);
	json_text(json, "objective", study->has_plan ? cost_name(study->plan.objective) : NULL);
	json_text(json, "search", study->plan.search);
	json_count(json, "search_runs", study->plan.runs);
	json_number(json, "begun_ns", study->study.begun_ns);
	put_gain(json, &study->study);
}

static int put_row(struct json *json, struct store *store, const struct web_study *study,
		   struct err *err)
{
	struct course_sums sums = { 0 };
	int r = study_runs(store, study->study.id, add_run, &sums, err);

	json_open(json, NULL, '{');
	put_study(json, study);
	json_text(json, "state", tuning_state_name(study->status.state));
	json_count(json, "runs", sums.runs);
	json_text(json, "phase", sums.phase);
	json_text(json, "compared", sums.compared);
	json_close(json);
	free(sums.phase);
	free(sums.compared);
	return r;
}

static int put_rows(struct json *json, const struct config *config, struct err *err)
{
	struct studies studies = { .config = config };
	struct store *store = NULL;
	int r = store_open_existing(&store, config_text(config, SETTING_STORE_PATH), err);

	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = study_list(store, append_study, &studies, err);
	/* The latest first. */
	for (size_t i = studies.count; r >= 0 && i > 0; i--)
		r = put_row(json, store, &studies.list[i - 1], err);
	for (size_t i = 0; i < studies.count; i++)
		web_study_release(&studies.list[i]);
	free(studies.list);
	store_close(store);
	return r;
}

void handle_tunings(struct web_call *call)
{
	struct err err = { 0 };
	struct reply reply;
	int r;

	reply_start(&reply, "sluice.tunings/1");
	json_open(&reply.json, "tunings", '[');
	r = put_rows(&reply.json, call->config, &err);
	json_close(&reply.json);
	reply_end(&reply, call);
	if (r < 0) {
		buf_release(&call->answer->body);
		call_fail(call, 500, "%s", err.text);
	}
}

/* --- one --- */

static void put_space(struct json *json, const struct space *space)
{
	json_open(json, "space", '[');
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		json_open(json, NULL, '{');
		json_text(json, "name", d->tunable->name);
		json_text(json, "layer", tunable_layer_name(d->tunable->layer));
		json_text(json, "help", d->tunable->help);
		json_bool(json, "ordered", d->is_ordered);
		json_open(json, "values", '[');
		for (size_t k = 0; k < d->count; k++)
			json_text(json, NULL, d->values[k]);
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

struct run_writer {
	struct json *json;
	const struct web_study *study;
	int64_t after; /* the number of the last run that is not wanted */
	int64_t last;  /* number of the last run that was written */
};

static int write_run(void *arg, const struct study_run *run)
{
	struct run_writer *writer = arg;

	if (run->number > writer->after) {
		put_study_run(writer->json, writer->study, run);
		writer->last = run->number;
	}
	return 0;
}

static int put_runs(struct run_writer *writer, struct store *store, struct err *err)
{
	int r;

	writer->last = writer->after;
	json_open(writer->json, "runs", '[');
	r = study_runs(store, writer->study->study.id, write_run, writer, err);
	json_close(writer->json);
	return r;
}

void handle_tuning(struct web_call *call)
{
	struct store *store = NULL;
	struct web_study study;
	struct err err = { 0 };
	struct reply reply;
	struct run_writer writer = { .json = &reply.json, .study = &study };
	int r;

	if (!open_named_study(call, &store, &study))
		return;
	reply_start(&reply, "sluice.tuning/1");
	put_study(&reply.json, &study);
	put_study_status(&reply.json, call->config, &study);
	json_number(&reply.json, "changed_ns", study.study.changed_ns);
	json_count(&reply.json, "pairs", study.plan.pairs);
	put_space(&reply.json, &study.plan.space);
	r = put_runs(&writer, store, &err);
	reply_end(&reply, call);
	if (r < 0) {
		buf_release(&call->answer->body);
		call_fail(call, 500, "%s", err.text);
	}
	web_study_release(&study);
	store_close(store);
}

/* --- outcome --- */

struct own_entry {
	char *study;
	int64_t id;
};

static int find_entry(void *arg, const struct knowledge *knowledge)
{
	struct own_entry *own = arg;

	if (strcmp(knowledge->study, own->study) == 0)
		own->id = knowledge->id;
	return own->id > 0;
}

/* The entry of the knowledge base that the tuning has made; 0: none, or it was replaced. */
static int64_t entry_of(struct store *store, int64_t study)
{
	AUTO_FREE char *name = xprintf("%" PRId64, study);
	struct own_entry own = { .study = name };

	knowledge_list(store, find_entry, &own, NULL);
	return own.id;
}

static void put_apply(struct json *json, const struct tuning_outcome *outcome)
{
	AUTO_FREE char *command = xprintf("sluice run --tune=apply -- %s", outcome->command);
	bool applies = outcome->entry && tuning_has_winner(outcome->tuning) && !outcome->is_exact;

	json_text(json, "apply", applies ? command : NULL);
}

/* The searches use libraries that may not run in several threads at a time. */
static pthread_mutex_t replaying = PTHREAD_MUTEX_INITIALIZER;

static int replay(struct tuning **tuning, struct web_study *study, struct store *store,
		  struct err *err)
{
	int r;

	if (!study->has_plan)
		return err_set(err, EBADMSG, "another version of Sluice made this tuning");
	pthread_mutex_lock(&replaying);
	r = tuning_replay(tuning, &study->study, &study->plan, store, err);
	pthread_mutex_unlock(&replaying);
	return r;
}

static void answer_outcome(struct web_call *call, const struct tuning *tuning, struct store *store,
			   bool is_simulated)
{
	AUTO_FREE char *command = tuning_winner_command(tuning);
	struct tuning_outcome outcome = { .tuning = tuning,
					  .entry = entry_of(store, tuning_history(tuning)->study),
					  .command = command,
					  .is_exact = is_simulated };
	struct reply reply;

	reply_start(&reply, TUNE_SCHEMA);
	pthread_mutex_lock(&replaying);
	outcome_json(&outcome, &reply.json);
	pthread_mutex_unlock(&replaying);
	put_apply(&reply.json, &outcome);
	reply_end(&reply, call);
}

void handle_tuning_outcome(struct web_call *call)
{
	struct tuning *tuning = NULL;
	struct store *store = NULL;
	struct web_study study;
	struct err err = { 0 };
	bool is_simulated;

	if (!open_named_study(call, &store, &study))
		return;
	is_simulated = study.plan.on;
	if (replay(&tuning, &study, store, &err) < 0)
		call_fail(call, 409, "the result cannot be computed again: %s", err.text);
	else
		answer_outcome(call, tuning, store, is_simulated);
	tuning_close(tuning);
	web_study_release(&study);
	store_close(store);
}

/* --- events --- */

/* A stream about one tuning: it is polled, as the tuner is another process. */
struct follower {
	const struct config *config;
	int64_t id, last; /* number of the last run that was sent */
	char *status;	  /* that was sent; NULL: none yet */
};

/* The status as JSON, which the caller frees. */
static char *status_text(const struct follower *follower, const struct web_study *study)
{
	struct reply reply;

	reply_start(&reply, "sluice.tuning.status/1");
	put_study_status(&reply.json, follower->config, study);
	put_gain(&reply.json, &study->study);
	json_end(&reply.json);
	fclose(reply.out);
	return reply.text;
}

static int send_runs(struct follower *follower, struct store *store, const struct web_study *study,
		     struct buf *piece)
{
	struct reply reply;
	struct run_writer writer = { .json = &reply.json, .study = study, .after = follower->last };
	int r;

	reply_start(&reply, "sluice.tuning.runs/1");
	r = put_runs(&writer, store, NULL);
	if (r >= 0 && writer.last > follower->last) {
		reply_event(&reply, "runs", piece);
		follower->last = writer.last;
	} else {
		json_end(&reply.json);
		fclose(reply.out);
		free(reply.text);
	}
	return r;
}

/* Runs are sent before the state: whoever sees that a tuning has finished has all of its runs. */
static bool follow(void *arg, struct buf *piece)
{
	struct follower *follower = arg;
	struct store *store = NULL;
	struct web_study study;
	bool is_over;

	if (store_open_existing(&store, config_text(follower->config, SETTING_STORE_PATH), NULL) <
		    0 ||
	    web_study_read(&study, follower->config, store, follower->id, NULL) < 0) {
		store_close(store);
		return false;
	}
	if (send_runs(follower, store, &study, piece) >= 0) {
		char *status = status_text(follower, &study);

		if (!follower->status || strcmp(status, follower->status) != 0)
			http_put_event(piece, "status", status);
		free(follower->status);
		follower->status = status;
	}
	is_over = study.status.state == TUNING_FINISHED;
	web_study_release(&study);
	store_close(store);
	return !is_over;
}

static void follower_release(void *arg)
{
	struct follower *follower = arg;

	free(follower->status);
	free(follower);
}

void handle_tuning_events(struct web_call *call)
{
	struct store *store = NULL;
	struct web_study study;
	struct follower *follower;
	int64_t after;

	if (!call_number(call, "after", 0, INT64_MAX, 0, &after) ||
	    !open_named_study(call, &store, &study))
		return;
	follower = xcalloc(1, sizeof(*follower));
	follower->config = call->config;
	follower->id = study.study.id;
	follower->last = after;
	web_study_release(&study);
	store_close(store);
	call->answer->stream = (struct http_stream){
		.next = follow, .release = follower_release, .arg = follower, .period_ms = EVENTS_MS
	};
}

/* --- changes --- */

/* Waits a moment until the tuning leaves a state, and answers with the one it has then. */
static void answer_change(struct web_call *call, struct web_study *study, enum tuning_state before)
{
	struct reply reply;

	for (int waited = 0; study->status.state == before && waited < EFFECT_MS;
	     waited += LOOK_MS) {
		clock_sleep_ns(LOOK_MS * NS_PER_MS);
		tuning_status_read(&study->status, call->config, &study->study);
	}
	reply_start(&reply, "sluice.tuning.status/1");
	put_study_status(&reply.json, call->config, study);
	put_gain(&reply.json, &study->study);
	reply_end(&reply, call);
	call->answer->status = 202;
}

static void change_tuning(struct web_call *call,
			  int (*change)(const struct config *config, const struct study *study,
					struct err *err))
{
	struct store *store = NULL;
	struct web_study study;
	enum tuning_state before;
	struct err err = { 0 };
	int r;

	if (!open_named_study(call, &store, &study))
		return;
	store_close(store);
	before = study.status.state;
	r = change(call->config, &study.study, &err);
	if (r >= 0)
		answer_change(call, &study, before);
	else
		call_fail(call, r == -ESRCH || r == -EBUSY || r == -EALREADY ? 409 : 500, "%s",
			  err.text);
	web_study_release(&study);
}

void handle_tuning_stop(struct web_call *call)
{
	change_tuning(call, tuning_stop);
}

void handle_tuning_resume(struct web_call *call)
{
	change_tuning(call, tuning_restart);
}
