/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast submit: keeps a collection job queued (predict/forecast/service/resubmission.h).
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/option.h"
#include "base/term.h"
#include "cmd/forecast/probe.h"
#include "predict/forecast/service/resubmission.h"
#include "predict/forecast/site.h"

#define FIELD(name) offsetof(struct probe_args, name)

static const struct option submit_options[] = {
	{ 0, "every", "TIME", "30s", "time between queries of the queue", OPTION_TIME,
	  FIELD(every_ns) },
	{ 0, "duration", "TIME", NULL, "stop after TIME (default: when interrupted)", OPTION_TIME,
	  FIELD(duration_ns) },
	{ 0, "jobs", "N", NULL, "stop after N jobs have been submitted and have ended",
	  OPTION_COUNT, FIELD(jobs) },
	{ 0, "name", "NAME", NULL, "name of the job (default: derived from the path of the script)",
	  OPTION_TEXT, FIELD(name) },
	{ 0, "max-failures", "N", "5",
	  "give up after N consecutive jobs that were rejected or ended too early", OPTION_COUNT,
	  FIELD(max_failures) },
	{ 0, "min-runtime", "TIME", "1m", "count a job that ends earlier as failed", OPTION_TIME,
	  FIELD(min_runtime_ns) },
	{ 0, "cancel", NULL, NULL,
	  "cancel the job when this command stops (default: leave it in the queue)", OPTION_FLAG,
	  FIELD(cancel) },
	OPTION_INCLUDE(probe_site_options, 0),
	OPTION_INCLUDE(probe_json_options, 0),
	{ 0 }
};

#undef FIELD

struct submit {
	struct command *command;
	const struct probe_args *args;
};

/* Prints a line with the time; with --json there is one object at the end instead. */
static void print_event(const struct submit *submit, const char *format, const char *id)
{
	time_t now = time(NULL);
	char clock[32];

	if (submit->args->json)
		return;
	strftime(clock, sizeof(clock), "%Y-%m-%dT%H:%M:%S", localtime(&now));
	term_printf(stdout, "%s ", clock);
	printf(format, id);
	putchar('\n');
	fflush(stdout);
}

static void show_event(void *arg, enum resubmission_event event, const char *id, const char *text)
{
	const struct submit *submit = arg;

	switch (event) {
	case RESUBMISSION_FOUND:
		print_event(submit, "found job %s in the queue", id);
		break;
	case RESUBMISSION_SUBMITTED:
		print_event(submit, "submitted job %s", id);
		break;
	case RESUBMISSION_ENDED:
		print_event(submit, "job %s ended", id);
		break;
	case RESUBMISSION_ENDED_EARLY:
		print_event(submit, "job %s ended too early", id);
		break;
	case RESUBMISSION_LEFT:
		print_event(submit,
			    "job %s stays in the queue; this command finds it when it is run again",
			    id);
		break;
	case RESUBMISSION_CANCELED:
		print_event(submit, "canceled job %s", id);
		break;
	case RESUBMISSION_CANCEL_FAILED:
		command_warn(submit->command, "cannot cancel job %s: %s", id, text);
		break;
	case RESUBMISSION_REFUSED:
		command_warn(submit->command, "%s", text);
		break;
	case RESUBMISSION_UNREACHABLE:
		command_warn(submit->command, "%s; no job is submitted until the queue answers",
			     text);
		break;
	}
}

static void print_json(const struct resubmission *outcome)
{
	struct json json;
	char end[16];

	option_choice_name(RESUBMISSION_ENDS, (int)outcome->end, end, sizeof(end));
	json_start(&json, stdout, PROBE_SCHEMA);
	json_text(&json, "scheduler", outcome->resubmit.system->name);
	json_text(&json, "name", outcome->name);
	json_text(&json, "script", outcome->resubmit.job.script);
	json_text(&json, "end", end);
	json_count(&json, "submitted", outcome->resubmit.submitted);
	json_open(&json, "jobs", '[');
	for (size_t i = 0; i < outcome->count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "id", outcome->jobs[i].id);
		json_bool(&json, "found", outcome->jobs[i].was_found);
		json_double(&json, "since", outcome->jobs[i].since_s);
		json_double(&json, "ended", outcome->jobs[i].ended_s);
		json_close(&json);
	}
	json_close(&json);
	json_end(&json);
}

static int check_args(const struct submit *submit)
{
	const struct probe_args *args = submit->args;

	if (args->name && !resubmission_name_is_valid(args->name))
		return command_misuse(submit->command,
				      "--name: expected letters, digits, - and _, at most %d",
				      BATCH_NAME - 1);
	if (args->max_failures < 1 || args->every_ns <= 0)
		return command_misuse(submit->command,
				      "--max-failures and --every must be positive");
	return COMMAND_GOOD;
}

static int run_submission(struct submit *submit, const struct site *site)
{
	const struct probe_args *args = submit->args;
	const struct resubmission_options options = {
		.site = site,
		.script = submit->command->argv[0],
		.arguments = submit->command->argv + 1,
		.name = args->name,
		.store_path = config_text(submit->command->config, SETTING_STORE_PATH),
		.max_jobs = args->jobs,
		.max_failures = args->max_failures,
		.min_runtime_s = (double)args->min_runtime_ns / NS_PER_S,
		.every_s = (double)args->every_ns / NS_PER_S,
		.duration_s = args->duration_ns ? (double)args->duration_ns / NS_PER_S : INFINITY,
		.cancels = args->cancel,
		.stop = interrupt_flag(),
		.on_event = show_event,
		.arg = submit,
	};
	struct resubmission outcome = { 0 };
	struct err err = { 0 };
	struct interrupt stop;
	bool is_complete;
	int r;

	interrupt_catch(&stop);
	r = resubmission_run(&outcome, &options, &err);
	interrupt_restore(&stop);
	is_complete = r >= 0 || outcome.end == RESUBMISSION_BY_FAILURES ||
		      outcome.end == RESUBMISSION_BY_SCHEDULER;
	if (args->json && is_complete)
		print_json(&outcome);
	resubmission_release(&outcome);
	return r < 0 ? command_fail(submit->command, "%s", err.text) : COMMAND_GOOD;
}

static int submit_run(struct command *command)
{
	const struct probe_args *args = command->args;
	struct submit submit = { .command = command, .args = args };
	const char *name = probe_site(command, args);
	struct err err = { 0 };
	struct site site;
	int ret = check_args(&submit);

	if (ret != COMMAND_GOOD)
		return ret;
	site_init(&site);
	if (*name && site_load(&site, name, &err) < 0)
		return command_fail(command, "%s", err.text);
	ret = run_submission(&submit, &site);
	site_release(&site);
	return ret;
}

const struct command_ops command_forecast_submit = {
	.name = "submit",
	.help = "keep a collection job in the queue of Slurm or PBS",
	.operands = "SCRIPT [-- OPTION...]",
	.operands_min = 1,
	.operands_max = -1,
	.about = "For sites that limit the run time of jobs: whenever the job has ended, it is "
		 "submitted again. Arguments after -- are passed to sbatch or qsub. The job is "
		 "found by its name, so this command can be stopped and restarted without "
		 "submitting a second job.\n\n"
		 "  sluice forecast submit --duration 10d collect.sh -- -A project",
	.options = submit_options,
	.args_bytes = sizeof(struct probe_args),
	.run = submit_run,
};
