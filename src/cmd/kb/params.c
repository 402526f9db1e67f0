/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice params: what can be tuned, and files of parameters looked at and turned into one another.
 * Nothing is applied here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/verb.h"
#include "params/set.h"

struct params_args {
	const char *place, *to, *output;
	int layer, allow;
	uint64_t ranks, nodes;
	bool json;
};

#define FIELD(name) offsetof(struct params_args, name)

static const struct option params_options[] = {
	{ 0, "layer", "hdf5|mpi|storage", NULL, "list: parameters of this layer only",
	  OPTION_CHOICE, FIELD(layer) },
	{ 'f', "for", "PLACE", NULL,
	  "list, check: the MPI, the file system, or both: mpich,lustre; else any", OPTION_TEXT,
	  FIELD(place) },
	{ 0, "ranks", "N", NULL, "check: ranks of the program", OPTION_COUNT, FIELD(ranks) },
	{ 0, "nodes", "N", NULL, "check: nodes that they run on", OPTION_COUNT, FIELD(nodes) },
	{ 0, "allow", "safe|layout|semantics", NULL,
	  "check: what may change; else as params.allow says", OPTION_CHOICE, FIELD(allow) },
	{ 't', "to", "FORM", NULL, "convert: xml, json, hints or shell", OPTION_TEXT, FIELD(to) },
	{ 'o', "output", "FILE", NULL, "convert: write to this file", OPTION_TEXT, FIELD(output) },
	{ 'j', "json", NULL, NULL,
	  "list, check: print one JSON object of schema sluice.params.list/1, "
	  "sluice.params.check/1",
	  OPTION_FLAG, FIELD(json) },
	{ 0 }
};

#undef FIELD

/* ---- the place ---- */

static int word_take(struct tunable_context *context, const char *word)
{
	int middleware = middleware_by_name(word), filesystem = filesystem_by_name(word);

	if (middleware > 0)
		context->middleware = (enum middleware)middleware;
	else if (filesystem > 0)
		context->filesystem = (enum filesystem)filesystem;
	else
		return strcasecmp(word, "any") == 0 ? 0 : -EINVAL;
	return 0;
}

static int place_read(const struct command *command, struct tunable_context *context)
{
	const struct params_args *args = command->args;
	AUTO_FREE char *copy = xstrdup(args->place ? args->place : "any");
	char *next = copy;
	int allow = args->allow < 0 ? config_choice(command->config, SETTING_PARAMS_ALLOW)
				    : args->allow;

	*context = (struct tunable_context){
		.allowed = (enum tunable_safety)allow,
		.ranks = args->ranks == OPTION_NONE ? 0 : (uint32_t)args->ranks,
		.nodes = args->nodes == OPTION_NONE ? 0 : (uint32_t)args->nodes,
	};
	for (char *word; (word = strsep(&next, ","));)
		if (word_take(context, word) < 0)
			return command_misuse(
				command,
				"--for: \"%s\" is none of mpich, openmpi-romio, ompio, local, nfs, "
				"lustre, gpfs, ceph",
				word);
	return COMMAND_GOOD;
}

/* ---- list ---- */

static void legal_put(struct buf *out, const struct tunable *t)
{
	switch (t->kind) {
	case TUNABLE_CHOICE:
	case TUNABLE_TEXT:
	case TUNABLE_SPREAD:
		buf_puts(out, t->words);
		break;
	case TUNABLE_PAIR:
		buf_puts(out, "THRESHOLD,BOUNDARY");
		break;
	case TUNABLE_SHAPE:
		buf_puts(out, "N,N,... or SIZE");
		break;
	default:
		buf_printf(out, "%llu..%llu %s", (unsigned long long)t->min,
			   (unsigned long long)t->max, t->unit);
	}
}

static void listeners_put(struct buf *out, unsigned bits, const char *between)
{
	bool any = false;

	for (unsigned bit = 1; bit <= EFFECT_LAST; bit <<= 1) {
		if (!(bits & bit))
			continue;
		buf_printf(out, "%s%s", any ? between : "",
			   tunable_honour_name((enum tunable_honour)bit));
		any = true;
	}
	if (!any)
		buf_puts(out, "nobody");
}

static void row_table(struct table *table, const struct tunable *t, unsigned listeners)
{
	AUTO_BUF struct buf legal = { 0 }, who = { 0 };

	legal_put(&legal, t);
	listeners_put(&who, listeners, ", ");
	table_add(table, "%s", t->name);
	table_add(table, "%s", tunable_layer_name(t->layer));
	table_add(table, "%s", buf_text(&legal));
	table_add(table, "%s", t->initial ? t->initial : "-");
	table_add(table, "%s", tunable_safety_name(t->safety));
	table_add(table, "%s", buf_text(&who));
	table_add(table, "%s", t->help);
}

static void row_json(struct json *json, const struct tunable *t, unsigned listeners)
{
	AUTO_BUF struct buf legal = { 0 };

	legal_put(&legal, t);
	json_open(json, NULL, '{');
	json_text(json, "name", t->name);
	json_text(json, "aliases", t->aliases);
	json_text(json, "layer", tunable_layer_name(t->layer));
	json_text(json, "unit", t->unit);
	json_text(json, "values", buf_text(&legal));
	json_text(json, "default", t->initial);
	json_text(json, "safety", tunable_safety_name(t->safety));
	json_text(json, "warning", t->warning);
	json_text(json, "help", t->help);
	json_open(json, "honoured", '[');
	for (unsigned bit = 1; bit <= EFFECT_LAST; bit <<= 1)
		if (listeners & bit)
			json_text(json, NULL, tunable_honour_name((enum tunable_honour)bit));
	json_close(json);
	json_close(json);
}

static int verb_list(struct command *command)
{
	static const char *const titles[] = { "parameter", "layer",	  "values",	  "default",
					      "class",	   "honoured by", "what it does", NULL };
	const struct params_args *args = command->args;
	struct tunable_context context;
	struct table table;
	struct json json;
	int r = place_read(command, &context);

	if (r)
		return r;
	table_init(&table, titles);
	if (args->json) {
		json_start(&json, stdout, "sluice.params.list/1");
		json_open(&json, "parameters", '[');
	}
	for (const struct tunable *t = tunables; t->name; t++) {
		unsigned listeners = tunable_listeners(t, &context);

		if ((args->layer >= 0 && args->layer != (int)t->layer) ||
		    (args->place && !listeners))
			continue;
		if (args->json)
			row_json(&json, t, listeners);
		else
			row_table(&table, t, listeners);
	}
	if (args->json)
		json_end(&json);
	else
		table_print(&table, stdout, 0);
	table_release(&table);
	return command_finish(command);
}

/* ---- check ---- */

struct problem {
	char *text;
	bool drop;
};

/* What was said about a file, in reading it and about its values. */
struct review {
	const char *path;
	const struct param_set *set; /* once it is read */
	bool *dropped;		     /* per parameter of the set */
	struct problem *problems;
	size_t count, cap, drops;
};

static void review_release(struct review *review)
{
	for (size_t i = 0; i < review->count; i++)
		free(review->problems[i].text);
	free(review->problems);
	free(review->dropped);
}

static void review_add(void *arg, const struct param *param, bool drop, const char *text)
{
	struct review *review = arg;
	bool known = review->set && param;
	struct problem problem = { NULL, drop };

	problem.text =
		known ? xprintf("%s:%u: %s", review->path, param->line, text) : xstrdup(text);
	review->problems =
		xgrow(review->problems, &review->cap, review->count + 1, sizeof(*review->problems));
	review->problems[review->count++] = problem;
	review->drops += drop;
	if (known && drop)
		review->dropped[param - review->set->params] = true;
}

static void review_print(const struct review *review)
{
	static const char *const titles[] = { "parameter", "value", "file", "object",
					      ">line",	   "is",    NULL };
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < review->set->count; i++) {
		const struct param *p = &review->set->params[i];

		table_add(&table, "%s", p->tunable->name);
		table_add(&table, "%s", p->value);
		table_add(&table, "%s", p->file ? p->file : "*");
		table_add(&table, "%s", p->object ? p->object : "*");
		table_add(&table, "%u", p->line);
		table_add(&table, "%s", review->dropped[i] ? "left out" : "applied");
	}
	if (review->set->count)
		table_print(&table, stdout, 0);
	else
		puts("no parameters");
	table_release(&table);
	for (size_t i = 0; i < review->count; i++)
		printf("%s%s%s\n", i ? "" : "\n", review->problems[i].text,
		       review->problems[i].drop ? "; left out" : "");
}

static void review_json(const struct review *review)
{
	struct json json;

	json_start(&json, stdout, "sluice.params.check/1");
	json_text(&json, "path", review->path);
	json_open(&json, "parameters", '[');
	for (size_t i = 0; i < review->set->count; i++) {
		const struct param *p = &review->set->params[i];

		json_open(&json, NULL, '{');
		json_text(&json, "name", p->tunable->name);
		json_text(&json, "value", p->value);
		json_text(&json, "file", p->file);
		json_text(&json, "object", p->object);
		json_count(&json, "line", p->line);
		json_bool(&json, "applied", !review->dropped[i]);
		json_close(&json);
	}
	json_close(&json);
	json_open(&json, "problems", '[');
	for (size_t i = 0; i < review->count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "text", review->problems[i].text);
		json_bool(&json, "left_out", review->problems[i].drop);
		json_close(&json);
	}
	json_end(&json);
}

/* What is left must also fit into the text that a run hands on; else none of it is applied. */
static void review_fit(struct review *review, const struct tunable_context *context)
{
	AUTO_FREE char *compiled = xmalloc(PARAMETERS_BYTES), *text = NULL;
	struct param_set rest = { 0 };
	struct err err = { 0 };

	param_set_copy(&rest, review->set);
	param_set_prune(&rest, context, NULL, NULL);
	if (param_set_compile(&rest, false, compiled, &err) < 0) {
		text = xprintf("%s: %s; nothing is applied", review->path, err.text);
		review_add(review, NULL, true, text);
		memset(review->dropped, true, review->set->count);
	}
	param_set_release(&rest);
}

static int verb_check(struct command *command)
{
	const struct params_args *args = command->args;
	struct review review = { .path = command->argv[1] };
	struct tunable_context context;
	struct param_set set = { 0 };
	struct err err = { 0 };
	int r = place_read(command, &context);

	if (r)
		return r;
	if (param_set_read(&set, review.path, review_add, &review, &err) < 0) {
		review_release(&review);
		return command_fail(command, "%s", err.text);
	}
	review.set = &set;
	review.dropped = xcalloc(set.count + 1, sizeof(bool));
	param_set_check(&set, &context, review_add, &review);
	review_fit(&review, &context);
	if (args->json)
		review_json(&review);
	else
		review_print(&review);
	r = command_finish(command);
	if (!r && review.drops)
		r = COMMAND_FAILED;
	review_release(&review);
	param_set_release(&set);
	return r;
}

/* ---- convert ---- */

static void tell(void *arg, const struct param *param, bool drop, const char *text)
{
	(void)param;
	command_warn(arg, "%s%s", text, drop ? "; left out" : "");
}

static int text_write(const struct command *command, const char *path, const struct buf *text)
{
	FILE *out;

	if (!path) {
		fwrite(buf_text(text), 1, text->len, stdout);
		return command_finish(command);
	}
	out = fopen(path, "we");
	if (!out)
		return command_fail(command, "%s: %s", path, strerror(errno));
	fwrite(buf_text(text), 1, text->len, out);
	if (ferror(out) | fclose(out))
		return command_fail(command, "%s: could not be written", path);
	return COMMAND_GOOD;
}

static int verb_convert(struct command *command)
{
	const struct params_args *args = command->args;
	const struct param_form *form = args->to ? param_form_by_name(args->to) : NULL;
	AUTO_BUF struct buf text = { 0 };
	struct param_set set = { 0 };
	struct err err = { 0 };
	int r;

	if (!form)
		return command_misuse(command, "--to: xml, json, hints or shell?");
	if (param_set_read(&set, command->argv[1], tell, command, &err) < 0)
		return command_fail(command, "%s", err.text);
	r = form->write(&set, &text, &err);
	param_set_release(&set);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	return text_write(command, args->output, &text);
}

static const struct {
	struct verb verb;
	int (*run)(struct command *command);
} verbs[] = {
	{ { "list", "", 0, 0 }, verb_list },
	{ { "check", "FILE", 1, 1 }, verb_check },
	{ { "convert", "FILE --to FORM", 1, 1 }, verb_convert },
	{ .verb = { 0 } },
};

static int params_run(struct command *command)
{
	int row = verb_choose(command, command->argv[0], &verbs[0].verb, sizeof(verbs[0]));

	if (row < 0)
		return COMMAND_MISUSE;
	return verbs[row].run(command);
}

const struct command_ops command_params = {
	.name = "params",
	.help = "parameters of HDF5, MPI-IO and file systems: list, check and convert them",
	.operands = "list|check|convert [FILE]",
	.operands_min = 1,
	.operands_max = 2,
	.about = "A file of parameters is given to a program by 'sluice run --params FILE', and "
		 "written by 'sluice tune'. It is the XML of H5Tuner, JSON of schema "
		 "sluice.params/1, or a hints file of ROMIO; its contents tell which.\n\n"
		 "  sluice params list --for mpich,lustre      what does something there?\n"
		 "  sluice params check FILE --for ompio       what would be applied, what not, "
		 "why?\n"
		 "  sluice params convert FILE --to json       another form of it\n\n"
		 "A parameter is of one of four classes. safe: only time changes. layout: files "
		 "are laid out otherwise, with the same contents. semantics: readers may see a "
		 "difference; applied only where params.allow says so. dangerous: known to lose "
		 "data or to end the program; never applied.\n\n"
		 "check exits with 1 if something would be left out. The form shell, lines of lfs "
		 "setstripe, setfattr and ROMIO_HINTS, is written only.",
	.options = params_options,
	.args_bytes = sizeof(struct params_args),
	.run = params_run,
};
