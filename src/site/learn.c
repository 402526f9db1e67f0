/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/learn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "observe/tally/access_pattern.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"
#include "site/file_places.h"
#include "site/learn_hints.h"
#include "site/notice.h"
#include "site/reader.h"
#include "site/site_internal.h"
#include "store/durations.h"
#include "trace/format.h"

#define BATCH 4096

enum learner { LEARNER_DURATIONS, LEARNER_HINTS, LEARNERS };
static const char *const learner_names[LEARNERS] = { "durations", "hints" };

struct next_run {
	int64_t id;
	char *uuid, *program, *owner;
};

struct histogram {
	uint16_t call;
	uint8_t layer, pattern;
	uint8_t filesystem; /* index of the lesson */
	unsigned size_class;
	struct durations durations;
};

/* What is learned from one run. */
struct lesson {
	const struct trace_head *head;
	bool *watched; /* by call */
	struct file_places places;
	struct access_tracker accesses;
	struct map histograms;
	uint64_t activities;
};

static bool is_word_of(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || strchr(" ,", at[-1])) && strchr(" ,", at[n]))
			return true;
	return false;
}

static void lesson_init(struct lesson *lesson, const struct trace_head *head, const char *words)
{
	*lesson = (struct lesson){ .head = head,
				   .watched = xcalloc(head->call_count + 1, sizeof(bool)) };
	for (size_t i = 0; i < head->call_count; i++)
		lesson->watched[i] = is_word_of(words, names_class(head->calls[i].class)) ||
				     is_word_of(words, head->calls[i].name);
}

static void lesson_release(struct lesson *lesson)
{
	for (size_t i = 0; i < lesson->histograms.cap; i++)
		free(lesson->histograms.entries[i].key ? lesson->histograms.entries[i].value
						       : NULL);
	access_tracker_release(&lesson->accesses);
	map_release(&lesson->histograms);
	file_places_release(&lesson->places);
	free(lesson->watched);
}

/* --- calls --- */

static void add_duration(struct lesson *lesson, const struct activity *a,
			 enum access_pattern pattern, unsigned class, uint8_t filesystem)
{
	uint64_t key = ((uint64_t)a->call << 32 | (uint64_t)filesystem << 24 |
			(uint64_t)a->layer << 16 | (uint64_t)pattern << 8 | class) +
		       1;
	struct histogram *h = map_get(&lesson->histograms, key);

	if (!h) {
		h = xcalloc(1, sizeof(*h));
		*h = (struct histogram){ .call = a->call,
					 .layer = a->layer,
					 .pattern = (uint8_t)pattern,
					 .filesystem = filesystem,
					 .size_class = class };
		map_put(&lesson->histograms, key, h);
	}
	durations_add(&h->durations, a->duration_ns);
}

static void learn_activity(struct lesson *lesson, const struct activity *a)
{
	uint8_t filesystem = lesson->places.of[a->file];
	enum access_pattern pattern;
	uint64_t bytes;
	unsigned class;

	if (!lesson->watched[a->call] || a->error)
		return;
	bytes = traffic_bytes(a, &lesson->head->calls[a->call]);
	pattern = access_tracker_add(&lesson->accesses, a, bytes);
	class = durations_size_class(bytes);
	add_duration(lesson, a, pattern, class, 0);
	if (filesystem)
		add_duration(lesson, a, pattern, class, filesystem);
	lesson->activities++;
}

static int read_lesson(struct lesson *lesson, struct trace *trace, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	ssize_t n;

	while ((n = trace_next(trace, batch, BATCH, err)) > 0)
		for (ssize_t i = 0; i < n; i++)
			learn_activity(lesson, &batch[i]);
	return (int)n;
}

static int add_bin(struct site_db *site, const char *program, const struct lesson *lesson,
		   const struct histogram *h, unsigned bin, uint64_t count, struct err *err)
{
	return store_run(
		site->store, err,
		"INSERT INTO expectation (program, filesystem, pattern, layer, call, size, "
		"bin, count) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (program, "
		"filesystem, pattern, layer, call, size, bin) DO UPDATE SET count = "
		"expectation.count + excluded.count",
		"tttttiii", program, lesson->places.names[h->filesystem],
		access_pattern_name(h->pattern), names_layer(h->layer),
		lesson->head->calls[h->call].name, (int64_t)h->size_class, (int64_t)bin,
		(int64_t)count);
}

/* A long run must not outweigh all others, and old runs must fade. */
static int bound_histogram(struct site_db *site, const char *program, const struct lesson *lesson,
			   const struct histogram *h, struct err *err)
{
	const char *name = lesson->head->calls[h->call].name;
	const char *filesystem = lesson->places.names[h->filesystem];
	int64_t calls = store_first_number(
		site->store,
		store_query(site->store, err,
			    "SELECT sum(count) FROM expectation WHERE program = ?1 AND filesystem "
			    "= ?2 AND pattern = ?3 AND layer = ?4 AND call = ?5 AND size = ?6",
			    "ttttti", program, filesystem, access_pattern_name(h->pattern),
			    names_layer(h->layer), name, (int64_t)h->size_class),
		err);

	if (calls <= DURATIONS_KEPT_MAX)
		return calls < 0 ? (int)calls : 0;
	return store_run(site->store, err,
			 "UPDATE expectation SET count = (count + 1) / 2 WHERE program = ?1 AND "
			 "filesystem = ?2 AND pattern = ?3 AND layer = ?4 AND call = ?5 AND size = "
			 "?6",
			 "ttttti", program, filesystem, access_pattern_name(h->pattern),
			 names_layer(h->layer), name, (int64_t)h->size_class);
}

static int save_histogram(struct site_db *site, const char *program, const struct lesson *lesson,
			  const struct histogram *h, struct err *err)
{
	int r = 0;

	for (unsigned bin = 0; bin < DURATIONS_BINS && r >= 0; bin++) {
		uint64_t count = h->durations.bins[bin];

		if (h->durations.calls > DURATIONS_RUN_MAX)
			count = (count * DURATIONS_RUN_MAX + h->durations.calls / 2) /
				h->durations.calls;
		if (count)
			r = add_bin(site, program, lesson, h, bin, count, err);
	}
	return r < 0 ? r : bound_histogram(site, program, lesson, h, err);
}

static int mark_learned(struct site_db *site, enum learner learner, int64_t run, struct err *err)
{
	return store_run(site->store, err,
			 "INSERT INTO learned (learner, run) VALUES (?1, ?2) "
			 "ON CONFLICT (learner) DO UPDATE SET run = excluded.run",
			 "ti", learner_names[learner], run);
}

static int save_locked(struct site_db *site, int64_t run, const char *program,
		       const struct lesson *lesson, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < lesson->histograms.cap && r >= 0; i++) {
		if (!lesson->histograms.entries[i].key)
			continue;
		r = save_histogram(site, program, lesson, lesson->histograms.entries[i].value, err);
		if (r >= 0)
			r = save_histogram(site, "*", lesson, lesson->histograms.entries[i].value,
					   err);
	}
	if (r < 0)
		return r;
	return mark_learned(site, LEARNER_DURATIONS, run, err);
}

static int learn_durations(struct site_db *site, const struct config *config,
			   const struct next_run *next, struct learn_totals *totals,
			   struct err *err)
{
	struct lesson lesson;
	struct trace trace;
	int r = site_read(&trace, site, next->uuid, err);

	if (r < 0)
		return r;
	lesson_init(&lesson, &trace.head, config_text(config, SETTING_SITE_LEARN));
	r = file_places_read(&lesson.places, site, next->id, trace.head.file_count, err);
	if (r >= 0)
		r = read_lesson(&lesson, &trace, err);
	/* Ends the transaction that reads; the head stays. */
	trace.format->close(trace.reader);
	trace.reader = NULL;
	if (r >= 0)
		r = store_begin(site->store, err);
	if (r >= 0)
		r = site_end(site, save_locked(site, next->id, next->program, &lesson, err), err);
	if (r >= 0) {
		totals->runs++;
		totals->activities += lesson.activities;
	}
	lesson_release(&lesson);
	trace_close(&trace);
	return r;
}

/* What was learned from the run before, if the step was killed, is replaced. */
static int learn_rates(struct site_db *site, const struct config *config,
		       const struct next_run *next, struct learn_totals *totals, struct err *err)
{
	struct file_places places = { 0 };
	struct trace trace;
	int r = store_run(site->store, err, "DELETE FROM outcome WHERE run = ?1", "t", next->uuid);

	if (r >= 0)
		r = site_read(&trace, site, next->uuid, err);
	if (r < 0)
		return r;
	r = file_places_read(&places, site, next->id, trace.head.file_count, err);
	if (r >= 0)
		r = learn_hints(site, config, &trace, &places, next->uuid, next->owner, err);
	file_places_release(&places);
	trace_close(&trace);
	if (r >= 0)
		r = mark_learned(site, LEARNER_HINTS, next->id, err);
	if (r >= 0)
		totals->hint_runs++;
	return r;
}

static void next_run_release(struct next_run *next)
{
	free(next->uuid);
	free(next->program);
	free(next->owner);
	*next = (struct next_run){ 0 };
}

/*
 * The next run that a learner has not read. Hints are learned from runs of which everything is
 * stored, as it is. Returns 1, 0 if there is none, or -errno.
 */
static int find_next(struct site_db *site, enum learner learner, struct next_run *next,
		     struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT id, uuid, program, owner FROM run WHERE kept > 0 AND (?2 = 0 OR (sample = "
		"1 AND hidden = 0)) AND id > coalesce((SELECT run FROM learned WHERE learner = "
		"?1), 0) AND id NOT IN (SELECT run FROM archive) ORDER BY id LIMIT 1",
		"ti", learner_names[learner], (int64_t)(learner == LEARNER_HINTS));
	int r = rows ? store_step(site->store, rows, err) : -EIO;

	next_run_release(next);
	if (r <= 0)
		return r;
	*next = (struct next_run){ store_number(rows, 0), xstrdup(store_text(rows, 1)),
				   xstrdup(store_text(rows, 2)), xstrdup(store_text(rows, 3)) };
	store_done(rows);
	return 1;
}

static int learn_next(struct site_db *site, const struct config *config, enum learner learner,
		      const struct next_run *next, struct learn_totals *totals, struct err *err)
{
	return learner == LEARNER_HINTS ? learn_rates(site, config, next, totals, err)
					: learn_durations(site, config, next, totals, err);
}

int site_learn(struct site_db *site, const struct config *config, const struct trace_watch *watch,
	       struct learn_totals *totals, struct err *err)
{
	uint64_t before = totals->runs + totals->hint_runs;
	struct next_run next = { 0 };
	int r = 0;

	for (enum learner learner = 0; r >= 0 && learner < LEARNERS; learner++)
		while (r >= 0 && (r = find_next(site, learner, &next, err)) > 0) {
			r = trace_watch_show(watch, totals->runs + totals->hint_runs, 0, err);
			if (r >= 0)
				r = learn_next(site, config, learner, &next, totals, err);
		}
	next_run_release(&next);
	/* Also if the step was interrupted. Who does not hear it looks after some time. */
	if (totals->runs + totals->hint_runs > before)
		notice_send(site, NOTICE_KNOWLEDGE, 0, NULL);
	return r;
}

/* An expectation that is being read bin by bin. */
struct reading {
	char *texts[5]; /* program, filesystem, pattern, layer, call; NULL: none yet */
	unsigned size_class;
	struct durations durations;
};

static void reading_release(struct reading *reading)
{
	for (int i = 0; i < 5; i++)
		free(reading->texts[i]);
	*reading = (struct reading){ 0 };
}

static bool reading_matches(const struct reading *reading, struct statement *rows)
{
	if (!reading->texts[0] || reading->size_class != (unsigned)store_number(rows, 5))
		return false;
	for (int i = 0; i < 5; i++)
		if (strcmp(reading->texts[i], store_text(rows, i)) != 0)
			return false;
	return true;
}

static int report_reading(const struct reading *reading, expectation_seen *seen, void *arg)
{
	struct expectation e;

	if (!reading->texts[0] || !reading->durations.calls)
		return 0;
	e = (struct expectation){ reading->texts[0],
				  reading->texts[1],
				  reading->texts[2],
				  reading->texts[3],
				  reading->texts[4],
				  reading->size_class,
				  reading->durations.calls,
				  durations_quantile(&reading->durations, 0.5),
				  durations_quantile(&reading->durations, 0.99) };
	return seen(arg, &e);
}

/* Values out of range are ignored, because others can change the database. */
static void reading_add(struct reading *reading, struct statement *rows)
{
	int64_t bin = store_number(rows, 6), count = store_number(rows, 7);

	if (bin < 0 || bin >= DURATIONS_BINS || count <= 0 || count > UINT32_MAX)
		return;
	reading->durations.bins[bin] = (uint32_t)count;
	reading->durations.calls += (uint64_t)count;
}

int site_expectations(struct site_db *site, const char *program, expectation_seen *seen, void *arg,
		      struct err *err)
{
	struct statement *rows = store_query(
		site->store, err,
		"SELECT program, filesystem, pattern, layer, call, size, bin, count FROM "
		"expectation WHERE ?1 IS NULL OR program = ?1 OR program = '*' ORDER BY program, "
		"filesystem, pattern, layer, call, size, bin",
		"t", program);
	struct reading reading = { 0 };
	int r = rows ? 0 : -EIO, stop = 0;

	while (rows && !stop && (r = store_step(site->store, rows, err)) > 0) {
		if (!reading_matches(&reading, rows)) {
			stop = report_reading(&reading, seen, arg);
			reading_release(&reading);
			for (int i = 0; i < 5; i++)
				reading.texts[i] = xstrdup(store_text(rows, i));
			reading.size_class = (unsigned)store_number(rows, 5);
		}
		reading_add(&reading, rows);
	}
	if (stop)
		store_done(rows);
	else if (r >= 0)
		report_reading(&reading, seen, arg);
	reading_release(&reading);
	return stop ? 0 : r;
}
