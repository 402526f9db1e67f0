/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/injection.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "run/forecast.h"
#include "run/knowledge.h"
#include "observe/collect/agreement.h"
#include "observe/collect/collector.h"
#include "observe/tally/parameters.h"
#include "params/set.h"

#define LINE_MAX 160 /* bytes of a list of parameters in a sentence */

/* What is wrong with a file: the first is told, the others are counted. */
struct problems {
	const char *origin;
	char *first;
	size_t count;
};

static void sentence_add(struct injection *in, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void sentence_add(struct injection *in, const char *format, ...)
{
	va_list ap;
	AUTO_FREE char *text = NULL;

	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	for (char *p = text; *p; p++)
		*p = *p == '\n' ? ' ' : *p;
	buf_printf(&in->said, "%s\n", text);
}

/* The texts of readers name the file already, those of checks do not. */
static void problem_take(void *arg, const struct param *param, bool drop, const char *text)
{
	struct problems *p = arg;
	bool is_placed = strncmp(text, p->origin, strlen(p->origin)) == 0;

	if (!drop)
		return;
	p->count++;
	if (p->first)
		return;
	if (is_placed)
		p->first = xstrdup(text);
	else if (param && param->line)
		p->first = xprintf("%s:%u: %s", p->origin, param->line, text);
	else
		p->first = xprintf("%s: %s", p->origin, text);
}

static void problems_tell(struct injection *in, const struct problems *p)
{
	if (p->count == 1)
		sentence_add(in, "%s", p->first);
	else if (p->count)
		sentence_add(in, "%s; %zu more %s not applied ('sluice params check' tells why)",
			     p->first, p->count - 1, p->count == 2 ? "is" : "are");
}

/* Is the name in a list that is separated by blanks or commas? */
static bool is_listed(const char *names, const char *name)
{
	size_t n = strlen(name);

	while (*names) {
		size_t word = strcspn(names, ", \t");

		if (word == n && strncmp(names, name, n) == 0)
			return true;
		names += word;
		names += strspn(names, ", \t");
	}
	return false;
}

/* Without those that are forbidden; the site's own file cannot be overruled. */
static void set_forbid(struct param_set *set, const struct config *config, struct problems *p)
{
	struct param_set kept = { 0 };
	struct config site;

	config_init(&site);
	config_read_file(&site, config_site_file(), false);
	for (size_t i = 0; i < set->count; i++) {
		const struct param *param = &set->params[i];
		const char *name = param->tunable->name;
		AUTO_FREE char *text = xprintf("%s is not applied: params.forbid names it", name);

		if (is_listed(config_text(config, SETTING_PARAMS_FORBID), name) ||
		    is_listed(config_text(&site, SETTING_PARAMS_FORBID), name))
			problem_take(p, param, true, text);
		else
			param_set_put(&kept, param->tunable, param->value, param->file,
				      param->object, param->line, NULL);
	}
	config_release(&site);
	param_set_release(set);
	*set = kept;
}

static enum tunable_safety allowed(const struct config *config)
{
	switch (config_choice(config, SETTING_PARAMS_ALLOW)) {
	case CONFIG_ALLOW_SAFE:
		return TUNABLE_SAFE;
	case CONFIG_ALLOW_SEMANTICS:
		return TUNABLE_SEMANTICS;
	default:
		return TUNABLE_LAYOUT;
	}
}

static bool application_wins(const struct config *config, bool is_learnt)
{
	switch (config_choice(config, SETTING_PARAMS_AUTHORITY)) {
	case CONFIG_AUTHORITY_PARAMETERS:
		return false;
	case CONFIG_AUTHORITY_APPLICATION:
		return true;
	default:
		return is_learnt;
	}
}

static bool is_placing(const struct config *config)
{
	return config_choice(config, SETTING_PLACE_RULE) != CONFIG_PLACE_OFF;
}

/* Is the tunable among the first of the set? */
static bool is_spoken_of(const struct param_set *set, const struct tunable *tunable, size_t first)
{
	for (size_t i = 0; i < first; i++)
		if (set->params[i].tunable == tunable)
			return true;
	return false;
}

/*
 * What a forecast says of new files, where the set does not speak of it. It was asked for by name,
 * so params.allow has no say, but params.forbid has.
 */
static void placed_add(struct injection *in, struct param_set *set, const struct config *config)
{
	struct param_set found = { 0 };
	struct err err = { 0 };

	if (placed_find(&found, config, &err) < 0)
		sentence_add(in, "%s; new files are not placed", err.text);
	for (size_t i = 0, given = set->count; i < found.count; i++) {
		const struct param *p = &found.params[i];

		if (!is_spoken_of(set, p->tunable, given))
			param_set_put(set, p->tunable, p->value, p->file, p->object, 0, NULL);
	}
	param_set_release(&found);
}

/* Takes over what was read, as far as it may be applied. Which MPI and file system there will be
 * is not known before the run: the guest leaves out what they must not get. */
static void take(struct injection *in, struct param_set *set, const struct config *config,
		 struct problems *problems, bool is_learnt)
{
	struct tunable_context context = { .allowed = allowed(config) };
	struct err err = { 0 };
	struct buf line = { 0 };

	param_set_prune(set, &context, problem_take, problems);
	if (!is_learnt && is_placing(config))
		placed_add(in, set, config);
	set_forbid(set, config, problems);
	problems_tell(in, problems);
	if (param_set_compile(set, application_wins(config, is_learnt), in->text, &err) < 0) {
		in->text[0] = 0;
		sentence_add(in, "%s: %s; nothing is applied", problems->origin, err.text);
		return;
	}
	param_set_line(set, &line);
	in->line = buf_take(&line);
	in->origin = xstrdup(problems->origin);
}

static void file_read(struct injection *in, const struct config *config, const char *path)
{
	struct problems problems = { .origin = path };
	struct param_set set = { 0 };
	struct err err = { 0 };

	if (param_set_read(&set, path, problem_take, &problems, &err) < 0)
		sentence_add(in, "%s; no parameters are applied", err.text);
	else
		take(in, &set, config, &problems, false);
	param_set_release(&set);
	free(problems.first);
}

static void drop(struct injection *in)
{
	in->text[0] = 0;
	free(in->line);
	in->line = NULL;
}

/* Without a file: what the forecast says alone. */
static void placed_read(struct injection *in, const struct config *config)
{
	struct problems problems = { .origin = "forecast" };
	struct param_set set = { 0 };

	take(in, &set, config, &problems, false);
	/* A page without rules would make every opening be recorded. */
	if (!set.count)
		drop(in);
	param_set_release(&set);
	free(problems.first);
}

static void notice_add(struct injection *in, const struct tuned *tuned, const char *what,
		       const char *more)
{
	AUTO_FREE char *why = tuned_describe(tuned);
	bool is_long = strlen(in->line) > LINE_MAX;

	sentence_add(in, COLLECTOR_NOTICE "%s %.*s%s, which %s%s", what, LINE_MAX, in->line,
		     is_long ? "..." : "", why, more);
}

/* The entry as it may be applied here: in *in, or nothing where that is nothing. */
static bool entry_take(struct injection *in, const struct config *config, const struct tuned *tuned)
{
	AUTO_FREE char *origin = xprintf("knowledge base, entry %" PRId64, tuned->id);
	struct problems problems = { .origin = origin };
	struct param_set set = { 0 };
	struct err err = { 0 };

	if (param_set_read_text(&set, origin, tuned->parameters, strlen(tuned->parameters),
				problem_take, &problems, &err) < 0)
		sentence_add(in, "%s; it is not used", err.text);
	else
		take(in, &set, config, &problems, true);
	param_set_release(&set);
	free(problems.first);
	return in->line && *in->line;
}

/* Found with other code it may do harm: that is for people to say. */
static void entry_use(struct injection *in, const struct config *config, const struct tuned *tuned)
{
	bool apply = config_choice(config, SETTING_TUNE_APPLY) == CONFIG_APPLY_APPLY &&
		     tuned->fit >= TUNED_OTHER_ARGUMENTS;
	AUTO_FREE char *show =
		xprintf(": run with --tune=apply, or see 'sluice kb show %" PRId64 "'", tuned->id);
	AUTO_FREE char *use = xprintf(": see 'sluice kb show %" PRId64 "'", tuned->id);

	if (!entry_take(in, config, tuned)) {
		drop(in);
		return;
	}
	if (apply) {
		notice_add(in, tuned, "applied", use);
		return;
	}
	notice_add(in, tuned, "there are parameters,", tuned->fit == TUNED_OTHER_CODE ? use : show);
	drop(in);
}

/* What tuning has found for the program: told of, or applied. */
static void learnt_consult(struct injection *in, const struct config *config, char **argv)
{
	int wanted = config_choice(config, SETTING_TUNE_APPLY);
	struct tuned tuned = { .fit = TUNED_NOTHING };
	struct err err = { 0 };

	if (wanted == CONFIG_APPLY_OFF)
		return;
	/* Of a store that is broken users hear from the plug-ins, if they did not ask for this. */
	if (tuned_find(&tuned, config, argv, &err) < 0 && wanted == CONFIG_APPLY_APPLY)
		sentence_add(in, "%s; what tuning has found is not applied", err.text);
	if (tuned.fit != TUNED_NOTHING)
		entry_use(in, config, &tuned);
	tuned_release(&tuned);
}

void injection_init(struct injection *in, const struct config *config, char **argv)
{
	const char *path = config_text(config, SETTING_PARAMS_FILE);

	*in = (struct injection){ .text = "" };
	if (*path)
		file_read(in, config, path);
	else if (is_placing(config))
		placed_read(in, config);
	else
		learnt_consult(in, config, argv);
}

void injection_release(struct injection *in)
{
	free(in->origin);
	free(in->line);
	buf_release(&in->said);
}

/* "cb_nodes=4 striping_factor=4@sample.h5part" of a text that another node has compiled. */
static char *line_of(const char *text)
{
	struct buf line = { 0 };

	for (text += strcspn(text, "\n"); *text == '\n'; text += strcspn(text, "\n")) {
		size_t at[6] = { 0 };

		text++;
		for (size_t i = 1; i < 6; i++)
			at[i] = at[i - 1] + strcspn(text + at[i - 1], "\t\n") + 1;
		if (text[at[4] - 1] != '\t' || text[at[5] - 1] != '\n')
			continue;
		buf_printf(&line, "%s%.*s=%.*s", line.len ? " " : "", (int)(at[4] - at[3] - 1),
			   text + at[3], (int)(at[5] - at[4] - 1), text + at[4]);
		if (strncmp(text + at[1], "*\t", 2) != 0)
			buf_printf(&line, "@%.*s", (int)(at[2] - at[1] - 1), text + at[1]);
	}
	return buf_take(&line);
}

/* What counts is not what we have read. */
static void replace(struct injection *in, const char *text)
{
	if (in->text[0])
		sentence_add(in, "another node of the job has other parameters, which count");
	snprintf(in->text, sizeof(in->text), "%s", text);
	free(in->line);
	free(in->origin);
	in->line = line_of(text);
	in->origin = xstrdup("another node of the job");
}

void injection_agree(struct injection *in, const char *part, uint32_t ranks, uint32_t size)
{
	struct agreement_options options = {
		.part = part, .text = in->text, .ranks = ranks, .size = size
	};
	struct agreement agreement = { 0 };
	struct err err = { 0 };

	if (agreement_reach(&agreement, &options, &err) < 0) {
		if (in->text[0])
			sentence_add(in,
				     "%s; the nodes of the job cannot agree on parameters, so "
				     "none are applied",
				     err.text);
		drop(in);
		return;
	}
	/* What the first has read was told by it. */
	if (!agreement.is_ours)
		buf_clear(&in->said);
	if (agreement.refusal && agreement.is_ours)
		sentence_add(in, "no parameters are applied: %s", agreement.refusal);
	if (agreement.refusal)
		drop(in);
	else if (strcmp(agreement.text, in->text) != 0)
		replace(in, agreement.text);
	free(agreement.text);
}

static void note_add(struct collector *collector, const char *name, const char *value)
{
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .source = PARAMETERS_SOURCE,
			     .kind = NOTE_APPLIED,
			     .name = (char *)name,
			     .value = (char *)value };

	collector_note(collector, &note);
}

void injection_tell(const struct injection *in, struct collector *collector)
{
	for (const char *at = buf_text(&in->said); *at; at += strcspn(at, "\n") + 1) {
		AUTO_FREE char *sentence = xstrndup(at, strcspn(at, "\n"));

		collector_warn(collector, sentence);
	}
	if (!in->text[0] || !in->line || !*in->line)
		return;
	note_add(collector, PARAMETERS_GIVEN, in->line);
	note_add(collector, PARAMETERS_ORIGIN, in->origin);
}
