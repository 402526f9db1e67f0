/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model export: the best settings as files that other commands take: each as parameters, and
 * the values of all of them as a space. Times are those of all accesses in question together. Only
 * what is predicted to be better than what counts now is worth a file, and of settings that are
 * predicted to be alike the one that changes least.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "params/form_files.h"
#include "cmd/model/model.h"
#include "params/set.h"
#include "params/space.h"
#include "predict/model/hybrid/choices.h"
#include "tune/loop/advice.h"

#define TOP_MOST 1000

struct ranked {
	struct settings *choice;
	double seconds;
	size_t changes;
};

struct exporting {
	const struct command *command;
	const struct model_args *args;
	struct advice *advice;
	struct accessed accessed;
	struct choices choices;
	struct ranked *ranked; /* best first */
	size_t count;
	struct param_set *sets; /* of the top */
	char **files;		/* prefix of each */
	size_t top;
	double now; /* seconds without parameters */
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
	accessed_release(&e->accessed);
	advice_close(e->advice);
}

/* ---- finding ---- */

static int accesses_take(struct exporting *e)
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
	e->accessed.rows[0] = (struct accessed_row){ .access = access, .calls = 1 };
	e->accessed.count = 1;
	return COMMAND_GOOD;
}

static int choices_take(struct exporting *e, struct err *err)
{
	const struct hybrid *hybrid = advice_model(e->advice);
	const struct access *access = &e->accessed.rows[0].access;
	struct space space = { 0 };
	int r;

	if (!e->args->space)
		return choices_catalogued(&e->choices, hybrid, access, err);
	space.context = (struct tunable_context){ .allowed = TUNABLE_LAYOUT,
						  .ranks = (uint32_t)access->ranks,
						  .nodes = (uint32_t)access->nodes };
	r = space_read(&space, e->args->space, err);
	if (r >= 0)
		r = choices_of_space(&e->choices, &space, &hybrid->machine, access, err);
	space_release(&space);
	return r;
}

static int set_of(const struct exporting *e, const struct settings *choice, struct param_set *set,
		  struct err *err)
{
	return settings_params(choice, &advice_model(e->advice)->machine,
			       &e->accessed.rows[0].access, set, err);
}

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? -1 : 1;
	if (x->changes != y->changes)
		return x->changes < y->changes ? -1 : 1;
	return x->choice < y->choice ? -1 : x->choice > y->choice;
}

/* Of settings that are predicted alike the first stays, which changes least. */
static void ranked_thin(struct exporting *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->count; i++)
		if (!kept || e->ranked[i].seconds != e->ranked[kept - 1].seconds)
			e->ranked[kept++] = e->ranked[i];
	e->count = kept;
}

/* All that is better, by what it takes. */
static int choices_rank(struct exporting *e, struct err *err)
{
	static const struct param_set nothing;
	int r = 0;

	e->now = advice_seconds(e->advice, &nothing);
	e->ranked = xcalloc(e->choices.count + 1, sizeof(*e->ranked));
	for (size_t i = 0; r >= 0 && i < e->choices.count; i++) {
		struct ranked *ranked = &e->ranked[e->count];
		struct param_set set = { 0 };

		ranked->choice = &e->choices.list[i];
		r = set_of(e, ranked->choice, &set, err);
		ranked->seconds = advice_seconds(e->advice, &set);
		ranked->changes = set.count;
		e->count += ranked->seconds < e->now;
		param_set_release(&set);
	}
	qsort(e->ranked, e->count, sizeof(*e->ranked), ranked_compare);
	ranked_thin(e);
	return r;
}

static int top_find(struct exporting *e, struct err *err)
{
	int r = choices_take(e, err);

	if (r >= 0)
		r = choices_rank(e, err);
	if (r < 0)
		return r;
	e->top = e->args->top < e->count ? e->args->top : e->count;
	e->sets = xcalloc(e->top + 1, sizeof(*e->sets));
	e->files = xcalloc(e->top + 1, sizeof(*e->files));
	for (size_t i = 0; r >= 0 && i < e->top; i++)
		r = set_of(e, e->ranked[i].choice, &e->sets[i], err);
	return r;
}

/* ---- writing ---- */

static int value_compare(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	double p = strtod(x, NULL), q = strtod(y, NULL);

	return p < q ? -1 : p > q ? 1 : strcmp(x, y);
}

/* A parameter with the values that it has in the top, and left alone. */
static int dimension_add(struct exporting *e, const struct tunable *tunable, struct space *space,
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
	qsort(values + 1, count - 1, sizeof(*values), value_compare);
	return space_add(space, tunable->name, values, NULL, err);
}

static bool has_dimension(const struct space *space, const struct tunable *tunable)
{
	for (size_t i = 0; i < space->count; i++)
		if (space->dimensions[i].tunable == tunable)
			return true;
	return false;
}

static int space_make(struct exporting *e, struct space *space, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < e->top; i++)
		for (size_t j = 0; r >= 0 && j < e->sets[i].count; j++)
			if (!has_dimension(space, e->sets[i].params[j].tunable))
				r = dimension_add(e, e->sets[i].params[j].tunable, space, err);
	return r;
}

static int space_save(struct exporting *e, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s.space.json", e->args->output);
	AUTO_BUF struct buf text = { 0 };
	AUTO_FCLOSE FILE *f = NULL;
	struct space space = { 0 };
	int r = space_make(e, &space, err);

	if (r >= 0 && space.count)
		r = space_write(&space, &text);
	space_release(&space);
	if (r < 0 || !text.len)
		return r;
	f = fopen(path, "we");
	if (!f || fputs(buf_text(&text), f) < 0 || fflush(f) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	e->space = xstrdup(path);
	return 0;
}

/* The best in all forms under the plain name, the others as JSON with their rank. */
static int top_save(struct exporting *e, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < e->top; i++) {
		e->files[i] =
			i ? xprintf("%s-%zu", e->args->output, i + 1) : xstrdup(e->args->output);
		r = i ? forms_write_one(&e->sets[i], &param_json, e->files[i], "json", err)
		      : forms_write(&e->sets[i], e->files[i], err);
	}
	return r < 0 ? r : space_save(e, err);
}

/* ---- telling ---- */

static void export_text(const struct exporting *e)
{
	static const char *const titles[] = { ">predicted", ">as fast", "file", "settings", NULL };
	struct table table;
	char time[32];

	if (!e->top) {
		printf("nothing is predicted to be better than what counts now\n");
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
	printf("\ntheir values, to be tried: sluice tune --space %s -- COMMAND\n", e->space);
}

static void export_json(const struct exporting *e)
{
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	json_real(&json, "predicted_now", e->now);
	json_text(&json, "space", e->space);
	json_open(&json, "exported", '[');
	for (size_t i = 0; i < e->top; i++) {
		AUTO_FREE char *file = xprintf("%s.json", e->files[i]);
		AUTO_BUF struct buf line = { 0 };

		param_set_line(&e->sets[i], &line);
		json_open(&json, NULL, '{');
		json_real(&json, "predicted", e->ranked[i].seconds);
		json_text(&json, "file", file);
		json_text(&json, "settings", buf_text(&line));
		json_close(&json);
	}
	json_end(&json);
}

static int export_do(struct exporting *e)
{
	struct err err = { 0 };
	int ret = accesses_take(e), r;

	if (ret)
		return ret;
	r = advice_about(e->advice, &e->accessed, &err);
	if (r >= 0 && advice_note(e->advice))
		command_warn(e->command, "%s", advice_note(e->advice));
	if (r >= 0)
		r = top_find(e, &err);
	if (r >= 0)
		r = top_save(e, &err);
	if (r < 0)
		return model_fail(e->command, r, &err);
	if (e->args->json)
		export_json(e);
	else
		export_text(e);
	return command_finish(e->command);
}

int model_export_settings(struct command *command, const struct model_args *args)
{
	AUTO_FREE char *path = model_path(command, args);
	struct exporting exporting = { .command = command, .args = args };
	struct err err = { 0 };
	int ret, r;

	if (!args->output)
		return command_misuse(command, "--output: what are names of files to begin with?");
	if (!args->top || args->top > TOP_MOST)
		return command_misuse(command, "--top: from 1 to %d", TOP_MOST);
	r = advice_open(&exporting.advice, path, &err);
	ret = r < 0 ? model_fail(command, r, &err) : export_do(&exporting);
	export_release(&exporting);
	return ret;
}
