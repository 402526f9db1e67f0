/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/injection.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/collect/collector.h"
#include "observe/job/agreement.h"
#include "observe/tally/parameters.h"
#include "params/set.h"
#include "run/figures.h"
#include "run/known.h"
#include "run/placing.h"

#define LINE_MAX 160 /* bytes of a list of parameters in a sentence */

/* The problems of one source: the first is reported, the others are counted. */
struct problems {
	const char *origin;
	char *first;
	size_t count;
};

static void add_sentence(struct injection *in, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_sentence(struct injection *in, const char *format, ...)
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

/* Messages of readers name the file already, messages of checks do not. */
static void add_problem(void *arg, const struct param *param, bool drop, const char *text)
{
	struct problems *p = arg;
	bool has_origin = strncmp(text, p->origin, strlen(p->origin)) == 0;

	if (!drop)
		return;
	p->count++;
	if (p->first)
		return;
	if (has_origin)
		p->first = xstrdup(text);
	else if (param && param->line)
		p->first = xprintf("%s:%u: %s", p->origin, param->line, text);
	else
		p->first = xprintf("%s: %s", p->origin, text);
}

static void report_problems(struct injection *in, const struct problems *p)
{
	if (p->count == 1)
		add_sentence(in, "%s", p->first);
	else if (p->count)
		add_sentence(in, "%s; %zu more %s not applied (see 'sluice kb params check')",
			     p->first, p->count - 1, p->count == 2 ? "is" : "are");
}

static void remove_forbidden(struct param_set *set, const struct config *config, struct problems *p)
{
	struct param_set kept = { .command = xstrdup(set->command) };

	for (size_t i = 0; i < set->count; i++) {
		const struct param *param = &set->params[i];
		const char *name = param->tunable->name;
		AUTO_FREE char *text = xprintf("%s is not applied: params.forbid names it", name);

		if (config_forbids(config, name))
			add_problem(p, param, true, text);
		else
			param_set_put(&kept, param->tunable, param->value, param->file,
				      param->object, param->line, NULL);
	}
	param_set_release(set);
	*set = kept;
}

static enum tunable_safety safety_of(int allow)
{
	switch (allow) {
	case CONFIG_ALLOW_SAFE:
		return TUNABLE_SAFE;
	case CONFIG_ALLOW_SEMANTICS:
		return TUNABLE_SEMANTICS;
	default:
		return TUNABLE_LAYOUT;
	}
}

/* Messages advise to set params.allow, which has no effect beyond the limit of the site. */
static void report_site_limit(struct injection *in, const struct config *config,
			      const struct problems *p)
{
	if (p->count && config_choice(config, SETTING_PARAMS_ALLOW) > config->site_allow)
		add_sentence(in, "the site's settings allow at most params.allow = %s",
			     tunable_safety_name(safety_of(config->site_allow)));
}

static bool is_from(const struct config *config, enum setting_id id, const char *origin)
{
	return strcmp(config->values[id].origin, origin) == 0;
}

/*
 * The program's own values, and those of ROMIO_HINTS, have priority over what Sluice has learnt and
 * over the file of the site, but not over a file that the user names for this run.
 */
static bool application_wins(const struct config *config, bool is_learnt)
{
	switch (config_choice(config, SETTING_PARAMS_AUTHORITY)) {
	case CONFIG_AUTHORITY_PARAMETERS:
		return false;
	case CONFIG_AUTHORITY_APPLICATION:
		return true;
	default:
		return is_learnt || config_is_from_site(config, SETTING_PARAMS_FILE);
	}
}

static bool is_placing(const struct config *config)
{
	return config_choice(config, SETTING_PLACE_RULE) != CONFIG_PLACE_OFF;
}

/*
 * Adds the parameters that place new files by forecast, except those that the set has already. The
 * user asked for placement by name, so the user's params.allow does not apply to it, but the limit
 * of the site and params.forbid do.
 */
static void add_placement(struct injection *in, struct param_set *set, const struct config *config,
			  struct problems *problems)
{
	struct tunable_context context = { .allowed = safety_of(config->site_allow) };
	struct param_set found = { 0 };
	struct err err = { 0 }, why = { 0 };

	if (placing_find(&found, &in->adaptive, config, &why, &err) < 0)
		add_sentence(in, "%s; new files are not placed", err.text);
	else if (why.code)
		add_sentence(in,
			     COLLECTOR_NOTICE "%s; all targets count as equal until they are seen",
			     why.text);
	param_set_prune(&found, &context, add_problem, problems);
	for (size_t i = 0; i < found.count; i++) {
		const struct param *p = &found.params[i];

		if (!arbitration_has(&in->arbitration, p->tunable))
			param_set_put(set, p->tunable, p->value, p->file, p->object, 0, NULL);
	}
	arbitration_add(&in->arbitration, SOURCE_PLACEMENT, "forecast", &found, NULL);
	param_set_release(&found);
}

/* Takes the variables of the program, and leaves out its arguments, which are never changed.
 * Returns the line for people, with the variables last. */
static char *take_open_parameters(struct injection *in, const struct param_set *set)
{
	struct param_set libraries;
	struct buf line = { 0 };

	param_set_copy(&libraries, set);
	param_set_remove_layer(&libraries, TUNABLE_COMMAND);
	param_set_remove_layer(&libraries, TUNABLE_ENVIRONMENT);
	param_set_line(&libraries, &line);
	param_set_release(&libraries);
	in->environment_at = line.len;
	buf_clear(&in->environment);
	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		if (p->tunable->layer != TUNABLE_ENVIRONMENT)
			continue;
		buf_printf(&line, "%s%s=%s", line.len ? " " : "", p->tunable->name, p->value);
		buf_printf(&in->environment, "%s=%s", p->tunable->key, p->value);
		buf_add(&in->environment, "", 1);
	}
	free(in->command);
	in->command = xstrdup(set->command);
	return buf_take(&line);
}

/* Suggests the command line that the parameters were found with, if this one differs. */
static void suggest_command(struct injection *in, char **argv)
{
	AUTO_BUF struct buf current = { 0 };

	if (!in->command)
		return;
	buf_put_command(&current, argv);
	if (strcmp(buf_text(&current), in->command) != 0)
		add_sentence(in,
			     COLLECTOR_NOTICE "the parameters were found with other arguments, "
					      "which are not changed: %s",
			     in->command);
}

void injection_refuse_environment(struct injection *in, const char *reason)
{
	if (!in->environment.len)
		return;
	add_sentence(in, "environment variables are not applied: %s", reason);
	buf_clear(&in->environment);
	if (in->line)
		in->line[in->environment_at] = 0;
}

/*
 * Compiles the parameters that may be applied. The MPI and the file system are not known before the
 * run: the guest leaves out what does not fit them. is_learnt: they come from the knowledge base.
 * is_proven: those with which programs may hang were proven for this command.
 */
static void compile_set(struct injection *in, struct param_set *set, const struct config *config,
			struct problems *problems, bool is_learnt, bool is_proven)
{
	struct tunable_context context = { .allowed = safety_of(config_allowed(config)),
					   .is_lockstep = is_proven };
	struct err err = { 0 };

	param_set_prune(set, &context, add_problem, problems);
	remove_forbidden(set, config, problems);
	if (!is_learnt)
		arbitration_add(&in->arbitration,
				config_is_from_site(config, SETTING_PARAMS_FILE) ? SOURCE_SITE
										 : SOURCE_USER,
				problems->origin, set, NULL);
	if (!is_learnt && is_placing(config))
		add_placement(in, set, config, problems);
	remove_forbidden(set, config, problems);
	report_problems(in, problems);
	report_site_limit(in, config, problems);
	if (param_set_compile(set, application_wins(config, is_learnt), in->text, &err) < 0) {
		in->text[0] = 0;
		add_sentence(in, "%s: %s; nothing is applied", problems->origin, err.text);
		return;
	}
	in->line = take_open_parameters(in, set);
	in->origin = xstrdup(problems->origin);
}

static void ignore_problem(void *arg, const struct param *param, bool drop, const char *text)
{
	(void)arg, (void)param, (void)drop, (void)text;
}

static bool has_hanging(const struct param_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (tunable_may_hang(set->params[i].tunable, set->params[i].value))
			return true;
	return false;
}

/* Was the parameter proven for the same files? */
static bool is_among(const struct param *param, const struct param_set *proven)
{
	for (size_t i = 0; i < proven->count; i++)
		if (proven->params[i].tunable == param->tunable &&
		    strcmp(proven->params[i].value, param->value) == 0 &&
		    text_equal(proven->params[i].file, param->file))
			return true;
	return false;
}

/* Has a tuning of the same command proven all parameters with which programs may hang? */
static bool is_proven(const struct param_set *set, const struct config *config, char **argv)
{
	struct known known = { .state = KNOWN_NOTHING };
	struct param_set proven = { 0 };
	bool yes;

	if (!has_hanging(set) || known_find(&known, config, argv, NAN, NULL) < 0)
		return false;
	yes = known.state == KNOWN_SAME &&
	      param_set_read_text(&proven, "the knowledge base", known.parameters,
				  strlen(known.parameters), ignore_problem, NULL, NULL) >= 0;
	for (size_t i = 0; i < set->count && yes; i++)
		yes = !tunable_may_hang(set->params[i].tunable, set->params[i].value) ||
		      is_among(&set->params[i], &proven);
	param_set_release(&proven);
	known_release(&known);
	return yes;
}

static void read_params_file(struct injection *in, const struct config *config, const char *path,
			     char **argv)
{
	struct problems problems = { .origin = path };
	struct param_set set = { 0 };
	struct err err = { 0 };

	if (param_set_read(&set, path, add_problem, &problems, &err) < 0)
		add_sentence(in, "%s; no parameters are applied", err.text);
	else
		compile_set(in, &set, config, &problems, false, is_proven(&set, config, argv));
	param_set_release(&set);
	free(problems.first);
}

static void discard_parameters(struct injection *in)
{
	arbitration_clear(&in->arbitration);
	in->text[0] = 0;
	buf_clear(&in->environment);
	free(in->line);
	in->line = NULL;
}

/* Without a parameter file, only the forecast sets parameters. */
static void read_forecast(struct injection *in, const struct config *config)
{
	struct problems problems = { .origin = "forecast" };
	struct param_set set = { 0 };

	compile_set(in, &set, config, &problems, false, false);
	/* Even a text without rules would make the guest record each open as one with parameters.
	 */
	if (!set.count)
		discard_parameters(in);
	param_set_release(&set);
	free(problems.first);
}

/* "cb_nodes=4", which may be cut. */
static char *shorten_line(const char *line)
{
	return xprintf("%.*s%s", LINE_MAX, line, strlen(line) > LINE_MAX ? "..." : "");
}

/* Says what was done with an entry: "applied entry 3: cb_nodes=4, which made ... 2.30 times
 * faster".
 */
static void add_notice(struct injection *in, const struct known *known, const char *before,
		       const char *after, const char *more)
{
	AUTO_FREE char *why = known_describe(known);
	AUTO_FREE char *line = shorten_line(in->line);

	add_sentence(in, COLLECTOR_NOTICE "%s %s%s, which %s; %ssee 'sluice kb show %" PRId64 "'",
		     before, line, after, why, more, known->id);
}

/* Compiles the parameters of the entry. False: not all of them may be applied here. Those that may
 * were not measured without the others. */
static bool compile_entry(struct injection *in, const struct config *config,
			  const struct known *known)
{
	AUTO_FREE char *origin = figures_entry_name(known->id);
	struct problems problems = { .origin = origin };
	struct param_set set = { 0 };
	struct err err = { 0 };

	if (param_set_read_text(&set, origin, known->parameters, strlen(known->parameters),
				add_problem, &problems, &err) < 0)
		add_sentence(in, "%s; it is not used", err.text);
	else
		/* An entry is applied only if it is of the same command. */
		compile_set(in, &set, config, &problems, true, true);
	if (in->line && problems.count)
		add_sentence(in,
			     "entry %" PRId64 " is not applied: not all of its parameters are "
			     "allowed here",
			     known->id);
	param_set_release(&set);
	free(problems.first);
	return in->line && *in->line && !problems.count;
}

/* How an entry takes part in the arbitration. */
enum entry_use { ENTRY_APPLIED, ENTRY_WITHHELD, ENTRY_SUGGESTED };

static void arbitrate_entry(struct injection *in, const struct known *known, enum entry_use use)
{
	AUTO_FREE char *origin = xprintf("entry %" PRId64, known->id);
	struct param_set set = { 0 };

	if (param_set_read_text(&set, origin, known->parameters, strlen(known->parameters),
				ignore_problem, NULL, NULL) < 0)
		return;
	if (use == ENTRY_SUGGESTED)
		arbitration_suggest(&in->arbitration, SOURCE_KNOWLEDGE, &set);
	else
		arbitration_add(&in->arbitration, SOURCE_KNOWLEDGE, origin, &set,
				use == ENTRY_WITHHELD ? "an entry is applied only as a whole"
						      : NULL);
	param_set_release(&set);
}

/* Applies the entry, unless it is time to check it. */
static void apply_entry(struct injection *in, const struct known *known)
{
	AUTO_FREE char *what = xprintf("applied entry %" PRId64 ":", known->id);

	if (known->is_pinned || known->guard.control == GUARD_NO_CONTROL) {
		add_notice(in, known, what, "", "");
		arbitrate_entry(in, known, ENTRY_APPLIED);
		return;
	}
	add_sentence(in,
		     COLLECTOR_NOTICE "control run without parameters, to check entry %" PRId64
				      ": %s",
		     known->id, guard_control_reason(known->guard.control));
	discard_parameters(in);
}

static void suggest_entry(struct injection *in, const struct known *known, bool was_requested)
{
	AUTO_FREE char *differences = known_differences(known);
	AUTO_FREE char *other = xprintf(" for a different run (%s)", differences);

	if (known->state == KNOWN_OTHER)
		add_notice(in, known,
			   was_requested ? "no parameters are applied: tuning found"
					 : "tuning found",
			   other, "tune this command, or ");
	else
		add_notice(in, known, "tuning found", "", "run with --tune=apply, or ");
	discard_parameters(in);
	if (known->state == KNOWN_SAME)
		arbitrate_entry(in, known, ENTRY_SUGGESTED);
}

/* Suggests or applies the parameters that tuning has found for the program. */
static void consult_knowledge_base(struct injection *in, const struct config *config, char **argv)
{
	int wanted = config_choice(config, SETTING_TUNE_APPLY);
	struct known known = { .state = KNOWN_NOTHING };
	struct err err = { 0 };

	if (wanted == CONFIG_APPLY_OFF)
		return;
	if (known_find(&known, config, argv, NAN, &err) < 0) {
		/* If the user did not ask for parameters, the plug-ins report a broken store. */
		if (wanted == CONFIG_APPLY_APPLY)
			add_sentence(in, "%s; no tuned parameters are applied", err.text);
		return;
	}
	if (known.state < KNOWN_OTHER) {
		AUTO_FREE char *why = known_explain(&known);

		if (wanted == CONFIG_APPLY_APPLY)
			add_sentence(in, COLLECTOR_NOTICE "no parameters are applied: %s", why);
	} else if (!compile_entry(in, config, &known)) {
		discard_parameters(in);
	} else if (wanted == CONFIG_APPLY_APPLY && known.state == KNOWN_SAME) {
		apply_entry(in, &known);
	} else {
		suggest_entry(in, &known, wanted == CONFIG_APPLY_APPLY);
	}
	known_release(&known);
}

int injection_check(const struct config *config, struct err *err)
{
	const char *path = config_text(config, SETTING_PARAMS_FILE);
	struct param_set set = { 0 };
	int r;

	if (!*path || !is_from(config, SETTING_PARAMS_FILE, "--params"))
		return 0;
	r = param_set_read(&set, path, ignore_problem, NULL, err);
	param_set_release(&set);
	return r;
}

/* Says that parameters from elsewhere take precedence over those of the knowledge base, and notes
 * the conflicts with an entry that would have been applied. */
static void withhold_entry(struct injection *in, const struct config *config, char **argv,
			   const char *setting)
{
	struct known known = { .state = KNOWN_NOTHING };

	if (config_choice(config, SETTING_TUNE_APPLY) != CONFIG_APPLY_APPLY)
		return;
	add_sentence(in, COLLECTOR_NOTICE "tuned parameters are not applied: %s takes precedence",
		     setting);
	if (known_find(&known, config, argv, NAN, NULL) < 0)
		return;
	if (known.state == KNOWN_SAME)
		arbitrate_entry(in, &known, ENTRY_WITHHELD);
	known_release(&known);
}

void injection_init(struct injection *in, const struct config *config, char **argv)
{
	const char *path = config_text(config, SETTING_PARAMS_FILE);

	*in = (struct injection){ .text = "" };
	if (*path) {
		read_params_file(in, config, path, argv);
		withhold_entry(in, config, argv, path);
	} else if (is_placing(config)) {
		read_forecast(in, config);
		withhold_entry(in, config, argv, "place.rule");
	} else {
		consult_knowledge_base(in, config, argv);
	}
	suggest_command(in, argv);
}

void injection_release(struct injection *in)
{
	arbitration_release(&in->arbitration);
	free(in->origin);
	free(in->line);
	free(in->command);
	buf_release(&in->environment);
	buf_release(&in->said);
	placing_adaptive_release(&in->adaptive);
}

/* "cb_nodes=4 striping_factor=4@sample.h5part" of a text that another node has compiled. */
static char *line_of(const char *text)
{
	AUTO_FREE char *copy = xstrdup(text);
	struct parameters_line parameter;
	struct buf line = { 0 };
	bool application_wins;
	char *at = parameters_read_title(copy, &application_wins);

	while (parameters_read_line(&at, &parameter)) {
		buf_printf(&line, "%s%s=%s", line.len ? " " : "", parameter.name, parameter.value);
		if (strcmp(parameter.file, "*") != 0)
			buf_printf(&line, "@%s", parameter.file);
	}
	return buf_take(&line);
}

/* Takes the text of another node instead of the one that was read here. */
static void replace_text(struct injection *in, const char *text)
{
	if (in->text[0])
		add_sentence(
			in,
			"another node of this job uses different parameters; those take effect");
	snprintf(in->text, sizeof(in->text), "%s", text);
	arbitration_clear(&in->arbitration);
	free(in->line);
	free(in->origin);
	in->line = line_of(text);
	in->origin = xstrdup("another node of the job");
}

/* May a text that was not compiled here be applied, as far as this node is concerned? */
static bool accepts_text(void *arg, const char *text, struct err *err)
{
	const struct config *config = arg;
	struct tunable_context context = {
		/* The node that compiled it may have placed files: see add_placement(). */
		.allowed =
			safety_of(is_placing(config) ? config->site_allow : config_allowed(config)),
		/* Likewise it may have asked its knowledge base. */
		.is_lockstep = true,
	};
	struct problems problems = { .origin = "parameters of another node" };
	struct param_set set = { 0 };
	int r = param_set_decompile(&set, text, err);

	param_set_check(&set, &context, add_problem, &problems);
	remove_forbidden(&set, config, &problems);
	if (r >= 0 && problems.count)
		r = err_set(err, EPERM, "%s", problems.first);
	param_set_release(&set);
	free(problems.first);
	return r >= 0;
}

void injection_agree(struct injection *in, const struct config *config, const char *part,
		     uint32_t ranks, uint32_t size)
{
	struct agreement_options options = { .part = part,
					     .text = in->text,
					     .ranks = ranks,
					     .size = size,
					     .accepts = accepts_text,
					     .arg = (void *)config };
	struct agreement agreement = { 0 };
	struct err err = { 0 };
	int r = agreement_reach(&agreement, &options, &err);

	if (r < 0) {
		if (in->text[0] || r == -EPERM)
			add_sentence(in,
				     "%s; the nodes of the job cannot agree on parameters, so "
				     "none are applied",
				     err.text);
		discard_parameters(in);
		return;
	}
	/* The node whose text is used has reported its problems. */
	if (!agreement.is_ours)
		buf_clear(&in->said);
	if (agreement.refusal && agreement.is_ours)
		add_sentence(in, "no parameters are applied: %s", agreement.refusal);
	if (agreement.refusal)
		discard_parameters(in);
	else if (strcmp(agreement.text, in->text) != 0)
		replace_text(in, agreement.text);
	free(agreement.text);
}

/* Names in the site's and the user's lists may be hints that are not in the catalog. */
static void add_names(struct buf *out, const char *names)
{
	while (names && *names) {
		size_t n = strcspn(names, ", \t");

		buf_printf(out, "%.*s%s", (int)n, names, n ? "\n" : "");
		names += n + (names[n] != 0);
	}
}

char *injection_forbidden(const struct config *config)
{
	enum tunable_safety allowed = safety_of(config_allowed(config));
	struct buf out = { 0 };

	buf_putc(&out, '\n');
	add_names(&out, config->site_forbid);
	for (const struct tunable *t = tunables; t->name; t++)
		if (t->safety > allowed || config_forbids(config, t->name))
			buf_printf(&out, "%s\n", t->key ? t->key : t->name);
	add_names(&out, config_text(config, SETTING_PARAMS_FORBID));
	return buf_take(&out);
}

static void add_note(struct collector *collector, const char *name, const char *value)
{
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .source = PARAMETERS_SOURCE,
			     .kind = NOTE_APPLIED,
			     .name = (char *)name,
			     .value = (char *)value };

	collector_note(collector, &note);
}

void injection_report(const struct injection *in, struct collector *collector)
{
	for (const char *at = buf_text(&in->said); *at; at += strcspn(at, "\n") + 1) {
		AUTO_FREE char *sentence = xstrndup(at, strcspn(at, "\n"));

		collector_warn(collector, sentence);
	}
	arbitration_report(&in->arbitration, collector);
	if (!in->text[0] || !in->line || !*in->line)
		return;
	add_note(collector, PARAMETERS_GIVEN, in->line);
	add_note(collector, PARAMETERS_ORIGIN, in->origin);
}
