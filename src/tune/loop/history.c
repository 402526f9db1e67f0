/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"

#define REASON_MAX 300 /* bytes of a reason that are kept in memory */

#define WORD(name, word) word,
static const char *const phase_words[PHASES] = { HISTORY_PHASES(WORD) };
#undef WORD

const char *history_phase_name(enum history_phase phase)
{
	return phase_words[phase];
}

void history_release(struct history *history)
{
	for (size_t i = 0; i < history->count; i++) {
		free(history->runs[i].reason);
		free(history->runs[i].compared);
	}
	free(history->runs);
	*history = (struct history){ 0 };
}

static uint64_t text_hash(const char *text)
{
	return XXH3_64bits(text, strlen(text));
}

/* PHASES: the word is unknown. */
static int find_phase(const char *word)
{
	int i = 0;

	while (i < PHASES && strcmp(phase_words[i], word) != 0)
		i++;
	return i;
}

static int find_state(const char *word)
{
	int i = 0;

	while (i < TRIAL_STATES && strcmp(trial_state_name((enum trial_state)i), word) != 0)
		i++;
	return i;
}

static void fill_run(struct history_run *run, const struct study_run *row)
{
	*run = (struct history_run){
		.phase = (enum history_phase)find_phase(row->phase),
		.point = row->point,
		.parameters = text_hash(row->parameters),
		.state = (enum trial_state)find_state(row->state),
		.cost = row->cost,
		.run_s = row->run_s,
		.io_s = row->io_s,
		.read_bytes = row->read_bytes,
		.write_bytes = row->write_bytes,
		.foreign = row->foreign,
		.frequency = row->frequency,
	};
	if (row->compared && *row->compared)
		run->compared = xstrdup(row->compared);
	if (run->state != TRIAL_GOOD)
		run->reason = xstrndup(row->reason ? row->reason : "",
				       row->reason ? strnlen(row->reason, REASON_MAX) : 0);
}

static void append_run(struct history *history, const struct study_run *row)
{
	history->runs =
		xgrow(history->runs, &history->cap, history->count + 1, sizeof(*history->runs));
	fill_run(&history->runs[history->count++], row);
}

struct run_reader {
	struct history *history;
	int r;
};

static int read_run(void *arg, const struct study_run *row)
{
	struct run_reader *reader = arg;

	/* The store may have been edited. */
	if (row->number != (int64_t)reader->history->count + 1 ||
	    find_phase(row->phase) >= PHASES || find_state(row->state) >= TRIAL_STATES ||
	    (find_state(row->state) == TRIAL_GOOD && !(row->cost > 0))) {
		reader->r = -EBADMSG;
		return 1;
	}
	append_run(reader->history, row);
	return 0;
}

int history_open(struct history *history, struct store *store, int64_t study, struct err *err)
{
	struct history made = { .store = store, .study = study };
	struct run_reader reader = { .history = &made };
	int r = study_runs(store, study, read_run, &reader, err);

	if (r >= 0 && (reader.r < 0 || !made.count))
		r = err_set(err, EBADMSG,
			    "run %zu of tuning %lld is missing or damaged; start a new tuning",
			    made.count + 1, (long long)study);
	if (r < 0)
		history_release(&made);
	else
		*history = made;
	return r;
}

int history_begin(struct history *history, struct store *store, const struct study *study,
		  const struct study_run *first, struct err *err)
{
	struct history made = { .store = store };
	int r = study_begin(store, study, first, &made.study, err);

	if (r < 0)
		return r;
	append_run(&made, first);
	*history = made;
	return 0;
}

const struct history_run *history_next_replay(const struct history *history)
{
	return history->next < history->count ? &history->runs[history->next] : NULL;
}

int history_replay(struct history *history, enum history_phase phase, const char *parameters,
		   struct history_run *run, struct err *err)
{
	const struct history_run *waiting = history_next_replay(history);

	if (!waiting)
		return 0;
	if (waiting->phase != phase || waiting->parameters != text_hash(parameters))
		return err_set(err, EBADMSG,
			       "run %zu of tuning %lld belongs to another phase (%s), as another "
			       "version of Sluice made it; start a new tuning",
			       history->next + 1, (long long)history->study,
			       history_phase_name(waiting->phase));
	*run = *waiting;
	history->next++;
	return 1;
}

int history_add(struct history *history, const struct study_run *row, struct history_run *run,
		struct err *err)
{
	struct study_run numbered = *row;
	int r;

	numbered.number = (int64_t)history->count + 1;
	r = study_add_run(history->store, history->study, &numbered, err);
	if (r < 0)
		return r;
	append_run(history, &numbered);
	*run = history->runs[history->count - 1];
	history->next = history->count;
	return 0;
}
