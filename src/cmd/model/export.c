/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model export: writes the best settings as files for other commands: each as a parameter
 * file, and the values of all of them as a search space. Times are the sums over all accesses. Only
 * settings that are predicted to be faster than the current ones are written; of settings with
 * equal predictions, the one that changes the fewest parameters.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/integer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/model/model.h"
#include "cmd/run_argument.h"
#include "params/form_files.h"
#include "params/set.h"
#include "params/space.h"
#include "predict/model/hybrid/choices.h"
#include "tune/loop/advice.h"

#define TOP_MAX 1000

static const struct option export_options[] = {
	OPTION_INCLUDE(model_access_options, 0),
	OPTION_INCLUDE(model_file_options, 0),
	OPTION_INCLUDE(model_space_options, 0),
	{ 't', "top", "N", "5", "write the N best settings", OPTION_COUNT,
	  offsetof(struct model_args, top) },
	{ 'o', "output", "PREFIX", NULL, "write to files with this prefix (required)", OPTION_TEXT,
	  offsetof(struct model_args, output) },
	OPTION_INCLUDE(model_json_options, 0),
	{ 0 },
};

struct ranked {
	struct settings *choice;
	double seconds;
	size_t changes;
};

struct exporting {
	const struct command *command;
	const struct model_args *args;
	struct advice *advice;
	struct access_profile accessed;
	struct choices choices;
	struct ranked *ranked; /* best first */
	size_t count;
	struct param_set *sets; /* of the top */
	char **files;		/* prefix of each */
	size_t top;
	double now; /* seconds with the current settings */
	char *space;
};

static void export_release(struct exporting *e)
{
	for (size_t i = 0; i < e->top; i++) {
		param_set_release(&e->sets[i]);
		free(e->files[i]);
	}
	free(e->sets);
	free(e->files);
	free(e->ranked);
	free(e->space);
	choices_release(&e->choices);
	access_profile_release(&e->accessed);
	advice_close(e->advice);
}

static int load_accesses(struct exporting *e)
{
	const struct hybrid *hybrid = advice_model(e->advice);
	struct access access;
	int ret;

	if (e->args->run)
		return model_run_accessed(e->command, e->args, &e->accessed);
	ret = model_access(e->command, e->args, &hybrid->machine, hybrid, &access);
	if (ret)
		return ret;
	e->accessed.rows = xgrow(NULL, &e->accessed.cap, 1, sizeof(*e->accessed.rows));
	e->accessed.rows[0] = (struct access_profile_row){ .access = access, .calls = 1 };
	e->accessed.count = 1;
	return COMMAND_GOOD;
}

static int load_choices(struct exporting *e, struct err *err)
{
	const struct hybrid *hybrid = advice_model(e->advice);
	const struct access *access = &e->accessed.rows[0].access;
	struct space space = { 0 };
	int r;

	if (!e->args->space)
		return choices_from_catalog(&e->choices, hybrid, access, err);
	space.context = (struct tunable_context){ .allowed = TUNABLE_LAYOUT,
						  .ranks = (uint32_t)access->ranks,
						  .nodes = (uint32_t)access->nodes };
	r = space_read(&space, e->args->space, err);
	if (r >= 0)
		r = choices_from_space(&e->choices, &space, &hybrid->machine, access, err);
	space_release(&space);
	return r;
}

static int make_params(const struct exporting *e, const struct settings *choice,
		       struct param_set *set, struct err *err)
{
	return settings_to_params(choice, &advice_model(e->advice)->machine,
				  &e->accessed.rows[0].access, set, err);
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? -1 : 1;
	if (x->changes != y->changes)
		return x->changes < y->changes ? -1 : 1;
	return x->choice < y->choice ? -1 : x->choice > y->choice;
}

/* Keeps the first of settings with equal predictions, which changes the fewest parameters. */
static void drop_equal_predictions(struct exporting *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->count; i++)
		if (!kept || e->ranked[i].seconds != e->ranked[kept - 1].seconds)
			e->ranked[kept++] = e->ranked[i];
	e->count = kept;
}

/* Ranks the settings that are faster than the current ones. */
static int rank_choices(struct exporting *e, struct err *err)
{
	static const struct param_set nothing;
	int r = 0;

	e->now = advice_seconds(e->advice, &nothing);
	e->ranked = xcalloc(e->choices.count + 1, sizeof(*e->ranked));
	for (size_t i = 0; r >= 0 && i < e->choices.count; i++) {
		struct ranked *ranked = &e->ranked[e->count];
		struct param_set set = { 0 };

		ranked->choice = &e->choices.list[i];
		r = make_params(e, ranked->choice, &set, err);
		ranked->seconds = advice_seconds(e->advice, &set);
		ranked->changes = set.count;
		e->count += ranked->seconds < e->now;
		param_set_release(&set);
	}
	qsort(e->ranked, e->count, sizeof(*e->ranked), compare_ranked);
	drop_equal_predictions(e);
	return r;
}

static int find_top(struct exporting *e, struct err *err)
{
	int r = load_choices(e, err);

	if (r >= 0)
		r = rank_choices(e, err);
	if (r < 0)
		return r;
	e->top = size_min(e->args->top, e->count);
	e->sets = xcalloc(e->top + 1, sizeof(*e->sets));
	e->files = xcalloc(e->top + 1, sizeof(*e->files));
	for (size_t i = 0; r >= 0 && i < e->top; i++)
		r = make_params(e, e->ranked[i].choice, &e->sets[i], err);
	return r;
}

static int compare_values(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	double p = strtod(x, NULL), q = strtod(y, NULL);

	return p < q ? -1 : p > q ? 1 : strcmp(x, y);
}

/* Adds a parameter with the values it has in the top settings, and unset. */
static int add_dimension(struct exporting *e, const struct tunable *tunable, struct space *space,
			 struct err *err)
{
	AUTO_FREE const char **values = xcalloc(e->top + 2, sizeof(*values));
	size_t count = 1;

	values[0] = "";
	for (size_t i = 0; i < e->top; i++) {
		const struct param *param = param_set_find(&e->sets[i], tunable, NULL, NULL);
		size_t at = 1;

		while (param && at < count && strcmp(values[at], param->value) != 0)
			at++;
		if (param && at == count)
			values[count++] = param->value;
	}
	qsort(values + 1, count - 1, sizeof(*values), compare_values);
	return space_add(space, tunable->name, values, NULL, err);
}

static bool has_dimension(const struct space *space, const struct tunable *tunable)
{
	for (size_t i = 0; i < space->count; i++)
		if (space->dimensions[i].tunable == tunable)
			return true;
	return false;
}

static int make_space(struct exporting *e, struct space *space, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < e->top; i++)
		for (size_t j = 0; r >= 0 && j < e->sets[i].count; j++)
			if (!has_dimension(space, e->sets[i].params[j].tunable))
				r = add_dimension(e, e->sets[i].params[j].tunable, space, err);
	return r;
}

static int save_space(struct exporting *e, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s.space.json", e->args->output);
	AUTO_BUF struct buf text = { 0 };
	struct space space = { 0 };
	int r = make_space(e, &space, err);

	if (r >= 0 && space.count)
		r = space_write(&space, &text);
	space_release(&space);
	if (r < 0 || !text.len)
		return r;
	r = file_write_all(path, text.data, text.len, err);
	if (r >= 0)
		e->space = xstrdup(path);
	return r;
}

/* Writes the best in all formats under the plain prefix, the others as JSON with their rank. */
static int save_top(struct exporting *e, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < e->top; i++) {
		e->files[i] =
			i ? xprintf("%s-%zu", e->args->output, i + 1) : xstrdup(e->args->output);
		r = i ? param_form_write_file(&e->sets[i], &param_json, e->files[i], "json", err)
		      : param_forms_write_all(&e->sets[i], e->files[i], err);
	}
	return r < 0 ? r : save_space(e, err);
}

static void print_export(const struct exporting *e)
{
	static const char *const titles[] = { ">predicted", ">speedup", "file", "settings", NULL };
	struct table table;
	char time[UNIT_TEXT];

	if (!e->top) {
		term_sentence(stdout,
			      "no settings are predicted to be faster than the current ones\n");
		return;
	}
	table_init(&table, titles);
	for (size_t i = 0; i < e->top; i++) {
		AUTO_BUF struct buf line = { 0 };

		param_set_line(&e->sets[i], &line);
		table_add(&table, "%s", model_show_seconds(time, e->ranked[i].seconds));
		table_add(&table, "%.2f", e->now / e->ranked[i].seconds);
		table_add(&table, "%s.json", e->files[i]);
		table_add(&table, "%s", buf_text(&line));
	}
	table_print(&table, stdout, 0);
	table_release(&table);
	term_sentence(stdout, "\nto search among their values:\n");
	term_printf(stdout, "  sluice tune --space %s -- COMMAND\n", e->space);
}

static void print_export_json(const struct exporting *e)
{
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	json_double(&json, "predicted_now", e->now);
	json_text(&json, "space", e->space);
	json_open(&json, "exported", '[');
	for (size_t i = 0; i < e->top; i++) {
		AUTO_FREE char *file = xprintf("%s.json", e->files[i]);
		AUTO_BUF struct buf line = { 0 };

		param_set_line(&e->sets[i], &line);
		json_open(&json, NULL, '{');
		json_double(&json, "predicted", e->ranked[i].seconds);
		json_text(&json, "file", file);
		json_text(&json, "settings", buf_text(&line));
		json_close(&json);
	}
	json_end(&json);
}

static int export_settings(struct exporting *e)
{
	struct err err = { 0 };
	int ret = load_accesses(e), r;

	if (ret)
		return ret;
	r = advice_set_profile(e->advice, &e->accessed, &err);
	if (r >= 0 && advice_note(e->advice))
		command_warn(e->command, "%s", advice_note(e->advice));
	if (r >= 0)
		r = find_top(e, &err);
	if (r >= 0)
		r = save_top(e, &err);
	if (r < 0)
		return command_fail_err(e->command, r, &err);
	if (e->args->json)
		print_export_json(e);
	else
		print_export(e);
	return command_finish(e->command);
}

static int export_run(struct command *command)
{
	const struct model_args *args = command->args;
	AUTO_FREE char *path = model_path(command, args);
	struct exporting exporting = { .command = command, .args = args };
	struct err err = { 0 };
	int ret, r;

	if (!args->output)
		return command_misuse(command, "missing --output PREFIX");
	if (!args->top || args->top > TOP_MAX)
		return command_misuse(command, "--top must be from 1 to %d", TOP_MAX);
	r = advice_open(&exporting.advice, path, &err);
	ret = r < 0 ? command_fail_err(command, r, &err) : export_settings(&exporting);
	export_release(&exporting);
	return ret;
}

const struct command_ops command_model_export = {
	.name = "export",
	.help = "write the best settings as files for run and tune",
	.about = "Writes PREFIX.xml, .json, .hints and .sh for the best settings, PREFIX-2.json "
		 "and so on for the next ones, and PREFIX.space.json with the values of all of "
		 "them for 'sluice tune --space'. With --run, all collective accesses of the run "
		 "are considered.\n\n"
		 "  sluice model export --run 3f9a1 --output best",
	.options = export_options,
	.args_bytes = sizeof(struct model_args),
	.run = export_run,
	.complete = run_argument_complete,
};
