/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice kb params: lists the catalog of tunable parameters; checks and converts parameter files.
 * Nothing is applied here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/command.h"
#include "cmd/kb/kb.h"
#include "params/set.h"

/* The MPI, file system and job that parameters are checked for. */
struct place_args {
	const char *environment;
	uint64_t ranks, nodes;
	int allow;
};

struct list_args {
	struct place_args place;
	int layer;
	bool json;
};

struct check_args {
	struct place_args place;
	bool json;
};

struct convert_args {
	int format;
	const char *output;
};

#define ENVIRONMENT_OPTION(type)                                                          \
	{                                                                                 \
		0, "environment", "MPI,FS", NULL,                                         \
			"MPI, file system, or both, such as mpich,lustre (default: any)", \
			OPTION_TEXT, offsetof(type, place.environment)                    \
	}

static const struct option list_options[] = {
	{ 0, "layer", "hdf5|mpi|storage|stdio", NULL, "list only parameters of this layer",
	  OPTION_CHOICE, offsetof(struct list_args, layer) },
	ENVIRONMENT_OPTION(struct list_args),
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.params.list/1",
	  OPTION_FLAG, offsetof(struct list_args, json) },
	{ 0 }
};

static const struct option check_options[] = {
	ENVIRONMENT_OPTION(struct check_args),
	{ 'n', "ranks", "N", NULL, "number of MPI ranks", OPTION_COUNT,
	  offsetof(struct check_args, place.ranks) },
	{ 'N', "nodes", "N", NULL, "number of nodes", OPTION_COUNT,
	  offsetof(struct check_args, place.nodes) },
	{ 0, "allow", "safe|layout|semantics", NULL,
	  "limit what parameters may change: run time only, file layout, or what readers see "
	  "(default: setting params.allow)",
	  OPTION_CHOICE, offsetof(struct check_args, place.allow) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.params.check/1",
	  OPTION_FLAG, offsetof(struct check_args, json) },
	{ 0 }
};

static const struct option convert_options[] = {
	{ 'f', "format", PARAM_FORM_WORDS, NULL, "file format to write (required)", OPTION_CHOICE,
	  offsetof(struct convert_args, format) },
	{ 'o', "output", "FILE", NULL, "write to FILE (default: standard output)", OPTION_TEXT,
	  offsetof(struct convert_args, output) },
	{ 0 }
};

static int parse_environment_word(struct tunable_context *context, const char *word)
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

static int parse_place(const struct command *command, const struct place_args *args,
		       struct tunable_context *context)
{
	AUTO_FREE char *copy = xstrdup(args->environment ? args->environment : "any");
	char *next = copy;

	*context = (struct tunable_context){
		.allowed = (enum tunable_safety)args->allow,
		.ranks = args->ranks == OPTION_NONE ? 0 : (uint32_t)args->ranks,
		.nodes = args->nodes == OPTION_NONE ? 0 : (uint32_t)args->nodes,
	};
	if (args->allow < 0)
		context->allowed =
			(enum tunable_safety)config_choice(command->config, SETTING_PARAMS_ALLOW);
	for (char *word; (word = strsep(&next, ","));)
		if (parse_environment_word(context, word) < 0)
			return command_misuse(command,
					      "--environment: unknown MPI or file system \"%s\" "
					      "(expected mpich, openmpi-romio, ompio, local, nfs, "
					      "lustre, gpfs, ceph or beegfs)",
					      word);
	return COMMAND_GOOD;
}

static void append_values(struct buf *out, const struct tunable *t)
{
	switch (t->kind) {
	case TUNABLE_CHOICE:
	case TUNABLE_TEXT:
	case TUNABLE_SPREAD:
	case TUNABLE_WORDS:
		buf_puts(out, t->words);
		break;
	case TUNABLE_RATIO:
		buf_puts(out, "0..1");
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

static void append_consumers(struct buf *out, unsigned bits, const char *between)
{
	bool any = false;

	for (unsigned bit = 1; bit <= TUNABLE_CONSUMER_LAST; bit <<= 1) {
		if (!(bits & bit))
			continue;
		buf_printf(out, "%s%s", any ? between : "",
			   tunable_consumer_name((enum tunable_consumer)bit));
		any = true;
	}
	if (!any)
		buf_puts(out, "none");
}

static void add_parameter_row(struct table *table, const struct tunable *t, unsigned listeners)
{
	AUTO_BUF struct buf legal = { 0 }, who = { 0 };

	append_values(&legal, t);
	append_consumers(&who, listeners, ", ");
	table_add(table, "%s", t->name);
	table_add(table, "%s", tunable_layer_name(t->layer));
	table_add(table, "%s", buf_text(&legal));
	table_add(table, "%s", t->initial ? t->initial : "-");
	table_add(table, "%s", tunable_safety_name(t->safety));
	table_add(table, "%s", buf_text(&who));
	table_add(table, "%s", t->help);
}

static void json_parameter(struct json *json, const struct tunable *t, unsigned listeners)
{
	AUTO_BUF struct buf legal = { 0 };

	append_values(&legal, t);
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
	for (unsigned bit = 1; bit <= TUNABLE_CONSUMER_LAST; bit <<= 1)
		if (listeners & bit)
			json_text(json, NULL, tunable_consumer_name((enum tunable_consumer)bit));
	json_close(json);
	json_close(json);
}

static int list_run(struct command *command)
{
	static const char *const titles[] = { "parameter", "layer",   "values", "default",
					      "class",	   "used by", "effect", NULL };
	const struct list_args *args = command->args;
	struct place_args place = args->place;
	struct tunable_context context;
	struct table table;
	struct json json;
	int r;

	place.ranks = place.nodes = OPTION_NONE;
	place.allow = -1;
	r = parse_place(command, &place, &context);
	if (r)
		return r;
	table_init(&table, titles);
	if (args->json) {
		json_start(&json, stdout, "sluice.params.list/1");
		json_open(&json, "parameters", '[');
	}
	for (const struct tunable *t = tunables; t->name; t++) {
		unsigned listeners = tunable_consumers(t, &context);

		if ((args->layer >= 0 && args->layer != (int)t->layer) ||
		    (place.environment && !listeners))
			continue;
		if (args->json)
			json_parameter(&json, t, listeners);
		else
			add_parameter_row(&table, t, listeners);
	}
	if (args->json)
		json_end(&json);
	else
		table_print(&table, stdout, 0);
	table_release(&table);
	return command_finish(command);
}

struct problem {
	char *text;
	bool drop;
};

/* The problems found in a file while it was read and checked. */
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

static void add_problem(void *arg, const struct param *param, bool drop, const char *text)
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

static void print_review(const struct review *review)
{
	static const char *const titles[] = { "parameter", "value",  "file", "object",
					      ">line",	   "status", NULL };
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < review->set->count; i++) {
		const struct param *p = &review->set->params[i];

		table_add(&table, "%s", p->tunable->name);
		table_add(&table, "%s", p->value);
		table_add(&table, "%s", p->file ? p->file : "*");
		table_add(&table, "%s", p->object ? p->object : "*");
		table_add(&table, "%u", p->line);
		table_add(&table, "%s", review->dropped[i] ? "ignored" : "applied");
	}
	if (review->set->count)
		table_print(&table, stdout, 0);
	else
		puts("no parameters");
	table_release(&table);
	for (size_t i = 0; i < review->count; i++)
		term_printf(stdout, i ? "%s%s\n" : "\n%s%s\n", review->problems[i].text,
			    review->problems[i].drop ? "; ignored" : "");
}

static void print_review_json(const struct review *review)
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

/* The remaining parameters must fit into the text that a run passes on; else none is applied. */
static void check_compiled_size(struct review *review, const struct tunable_context *context)
{
	AUTO_FREE char *compiled = xmalloc(PARAMETERS_BYTES), *text = NULL;
	struct param_set rest = { 0 };
	struct err err = { 0 };

	param_set_copy(&rest, review->set);
	param_set_prune(&rest, context, NULL, NULL);
	if (param_set_compile(&rest, false, compiled, &err) < 0) {
		text = xprintf("%s: %s; nothing is applied", review->path, err.text);
		add_problem(review, NULL, true, text);
		memset(review->dropped, true, review->set->count);
	}
	param_set_release(&rest);
}

static int check_run(struct command *command)
{
	const struct check_args *args = command->args;
	struct review review = { .path = command->argv[0] };
	struct tunable_context context;
	struct param_set set = { 0 };
	struct err err = { 0 };
	int r = parse_place(command, &args->place, &context);

	if (r)
		return r;
	if (param_set_read(&set, review.path, add_problem, &review, &err) < 0) {
		review_release(&review);
		return command_fail(command, "%s", err.text);
	}
	review.set = &set;
	review.dropped = xcalloc(set.count + 1, sizeof(bool));
	param_set_check(&set, &context, add_problem, &review);
	check_compiled_size(&review, &context);
	if (args->json)
		print_review_json(&review);
	else
		print_review(&review);
	r = command_finish(command);
	if (!r && review.drops)
		r = COMMAND_FAILED;
	review_release(&review);
	param_set_release(&set);
	return r;
}

static void warn_problem(void *arg, const struct param *param, bool drop, const char *text)
{
	(void)param;
	command_warn(arg, "%s%s", text, drop ? "; ignored" : "");
}

static int write_text(const struct command *command, const char *path, const struct buf *text)
{
	struct err err = { 0 };

	if (!path) {
		fwrite(buf_text(text), 1, text->len, stdout);
		return command_finish(command);
	}
	if (file_write_all(path, text->data, text->len, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

const struct param_form *param_form_chosen(int choice)
{
	char word[16] = "";

	if (choice >= 0)
		option_choice_name(PARAM_FORM_WORDS, choice, word, sizeof(word));
	return param_form_by_name(word);
}

static int convert_run(struct command *command)
{
	const struct convert_args *args = command->args;
	const struct param_form *form = param_form_chosen(args->format);
	AUTO_BUF struct buf text = { 0 };
	struct param_set set = { 0 };
	struct err err = { 0 };
	int r;

	if (!form)
		return command_misuse(command, "missing --format xml|json|hints|shell");
	if (param_set_read(&set, command->argv[0], warn_problem, command, &err) < 0)
		return command_fail(command, "%s", err.text);
	r = form->write(&set, &text, &err);
	param_set_release(&set);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	return write_text(command, args->output, &text);
}

static const struct command_ops command_list = {
	.name = "list",
	.help = "list tunable parameters of HDF5, MPI-IO and file systems",
	.about = "Each parameter has a class. safe: only run time changes. layout: files are laid "
		 "out differently, with the same contents. semantics: readers may see a "
		 "difference; applied only if the setting params.allow permits it. dangerous: "
		 "known to lose data or to abort the program; never applied.\n\n"
		 "  sluice kb params list --environment mpich,lustre",
	.options = list_options,
	.args_bytes = sizeof(struct list_args),
	.run = list_run,
};

static const struct command_ops command_check = {
	.name = "check",
	.help = "show which parameters of a file would be applied",
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.about = "The exit status is 1 if a parameter would be ignored.\n\n"
		 "  sluice kb params check best.xml --environment mpich,lustre --ranks 64",
	.options = check_options,
	.args_bytes = sizeof(struct check_args),
	.run = check_run,
};

static const struct command_ops command_convert = {
	.name = "convert",
	.help = "write a parameter file in another format",
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.about = "The format shell, which contains lfs setstripe, setfattr and ROMIO_HINTS "
		 "commands, can only be written.\n\n"
		 "  sluice kb params convert best.xml --format hints -o best.hints",
	.options = convert_options,
	.args_bytes = sizeof(struct convert_args),
	.flags = COMMAND_NO_JSON,
	.run = convert_run,
};

static const struct command_ops *const subcommands[] = { &command_list, &command_check,
							 &command_convert, NULL };

const struct command_ops command_kb_params = {
	.name = "params",
	.help = "list parameters; check and convert parameter files",
	.about = "'sluice run --params FILE' applies a parameter file, and 'sluice tune' writes "
		 "one. It is H5Tuner's XML, JSON of schema sluice.params/1, or a ROMIO hints "
		 "file; the format is detected.",
	.subcommands = subcommands,
};
