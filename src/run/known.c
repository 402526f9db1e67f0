/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/known.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/date.h"
#include "base/err.h"
#include "base/mem.h"
#include "store/entry_runs.h"
#include "store/knowledge.h"
#include "store/outcomes.h"
#include "tune/program/identity.h"

/* Runs whose bytes differ by less than this factor have the same size. */
#define SIZE_FACTOR 1.1

static int note_entry(void *arg, const struct knowledge *knowledge)
{
	(void)knowledge;
	*(int *)arg = 1;
	return 1;
}

static int copy_entry(void *arg, const struct knowledge *k)
{
	struct known *known = arg;

	*known = (struct known){
		.id = k->id,
		.parameters = xstrdup(k->parameters),
		.objective = xstrdup(k->objective),
		.gain = k->gain,
		.low = k->gain_low,
		.high = k->gain_high,
		.program = xstrdup(k->key.program),
		.ranks = k->key.ranks,
		.size_class = k->key.size_class,
		.is_pinned = k->pinned,
		.found_ns = k->found_ns,
		.demoted_ns = k->demoted_ns,
		.why = xstrdup(k->demoted_why),
		.compared = xstrdup(k->compared),
	};
	return 1;
}

static enum known_state state_of(const struct known *known)
{
	if (known->differs)
		return KNOWN_OTHER;
	if (!*known->parameters)
		return KNOWN_NO_GAIN;
	return known->demoted_ns ? KNOWN_DEMOTED : KNOWN_SAME;
}

/* Sizes near the border of a class belong to both classes. */
static int find_by_size(struct known *known, struct store *store, struct knowledge_key *key,
			double bytes, struct err *err)
{
	static const double factors[] = { 1, SIZE_FACTOR, 1 / SIZE_FACTOR };
	struct known found = { 0 };
	unsigned differs = 0;
	int r = 0;

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
		key->size_class =
			isnan(bytes) ? KNOWLEDGE_ANY_SIZE : outcomes_size_class(bytes * factors[i]);
		known_release(&found);
		r = knowledge_find(store, key, copy_entry, &found, &differs, err);
		if (r <= 0 || !(differs & KNOWLEDGE_SIZE))
			break;
	}
	if (r <= 0)
		return r;
	found.differs = differs;
	found.state = state_of(&found);
	*known = found;
	return 0;
}

bool known_fits_size(const struct known *known, double bytes)
{
	return outcomes_size_class(bytes * SIZE_FACTOR) == known->size_class ||
	       outcomes_size_class(bytes / SIZE_FACTOR) == known->size_class;
}

int known_judge(struct known *known, struct store *store, struct err *err)
{
	AUTO_FREE struct entry_run *runs = NULL;
	size_t count = 0, fitting = 0;
	int r = entry_runs_read(store, known->id, &runs, &count, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		if (known_fits_size(known, runs[i].bytes))
			runs[fitting++] = runs[i];
	guard_judge(&known->guard, runs, fitting);
	return 0;
}

int known_find_in(struct known *known, struct store *store, const struct config *config,
		  char *const *argv, double bytes, struct err *err)
{
	struct identity identity;
	struct knowledge_key key;
	int has_entries = 0;
	/* Checking for any entry is cheaper than identifying the program. */
	int r = knowledge_list(store, note_entry, &has_entries, err);

	*known = (struct known){ .state = KNOWN_NOTHING };
	if (r < 0 || !has_entries)
		return r;
	identity_init(&identity, argv, config_text(config, SETTING_TUNE_PLATFORM));
	key = (struct knowledge_key){
		.program = identity.program,
		.fingerprint = identity.fingerprint,
		.arguments = identity.arguments,
		.platform = identity.platform,
		.filesystem = filesystem_name(identity.filesystem),
		.ranks = identity.ranks,
	};
	if (isnan(bytes))
		r = knowledge_last_bytes(store, &key, &bytes, err);
	if (r >= 0)
		r = find_by_size(known, store, &key, bytes, err);
	if (r >= 0 && known->state == KNOWN_SAME)
		r = known_judge(known, store, err);
	identity_release(&identity);
	return r;
}

int known_find(struct known *known, const struct config *config, char *const *argv, double bytes,
	       struct err *err)
{
	struct known found = { .state = KNOWN_NOTHING };
	struct store *store;
	int r = store_open_existing(&store, config_text(config, SETTING_STORE_PATH), err);

	if (r == -ENOENT) {
		*known = found;
		return 0;
	}
	if (r < 0)
		return r;
	r = known_find_in(&found, store, config, argv, bytes, err);
	store_close(store);
	if (r < 0) {
		known_release(&found);
		return r;
	}
	*known = found;
	return 0;
}

void known_release(struct known *known)
{
	free(known->parameters);
	free(known->objective);
	free(known->compared);
	free(known->program);
	free(known->why);
	*known = (struct known){ .state = KNOWN_NOTHING };
}

/* "2026-11-16" */
static const char *format_day(char day[DATE_TEXT], int64_t time_ns)
{
	date_text(day, (double)time_ns / NS_PER_S);
	day[strcspn(day, " ")] = 0;
	return day;
}

char *known_describe(const struct known *known)
{
	char day[DATE_TEXT];

	return xprintf(
		"made the %s of this program %.2f times faster (%.2f to %.2f) on %s; %s%s",
		strcmp(known->objective, "run") == 0 ? "run" : "I/O", known->gain, known->low,
		known->high, format_day(day, known->found_ns), *known->compared ? "data " : "",
		*known->compared ? known->compared : "it is unknown how its data was compared");
}

char *known_explain(const struct known *known)
{
	char day[DATE_TEXT];

	if (known->state == KNOWN_NO_GAIN)
		return xprintf("this command was tuned on %s, and nothing better than the default "
			       "was found",
			       format_day(day, known->found_ns));
	if (known->state == KNOWN_DEMOTED)
		return xprintf(
			"entry %" PRId64 " was demoted on %s, because %s; tune again, or apply "
			"it regardless with 'sluice kb pin %" PRId64 "'",
			known->id, format_day(day, known->demoted_ns), known->why, known->id);
	return xstrdup("no tuning of this program is known; 'sluice tune' makes one");
}

char *known_differences(const struct known *known)
{
	struct buf text = { 0 };
	AUTO_FREE char *ranks = xprintf("%u rank%s", known->ranks, known->ranks == 1 ? "" : "s");
	AUTO_FREE char *name = xprintf("program name %s", known->program);
	const struct {
		unsigned difference;
		const char *words;
	} words[] = {
		{ KNOWLEDGE_PLATFORM, "another platform" },
		{ KNOWLEDGE_NAME, name },
		{ KNOWLEDGE_CODE, "another version of the program" },
		{ KNOWLEDGE_FILESYSTEM, "another file system" },
		{ KNOWLEDGE_RANKS, ranks },
		{ KNOWLEDGE_ARGUMENTS, "other arguments" },
		{ KNOWLEDGE_SIZE, "another size of the data" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (known->differs & words[i].difference)
			buf_printf(&text, "%s%s", text.len ? ", " : "", words[i].words);
	return buf_take(&text);
}
