/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "contract/clock.h"
#include "contract/journal.h"
#include "observe/collect/launches.h"
#include "observe/job/parts.h"
#include "run/circumstances.h"
#include "run/comparison.h"
#include "run/launch.h"
#include "run/recording.h"
#include "run/runtimes.h"
#include "run/tasks.h"

/* The pause between two passes over the spools: short while records arrive, longer when the program
 * does not do I/O. */
#define PAUSE_MIN_US 500
#define PAUSE_MAX_US 20000
/* The pause if another process collects. */
#define PAUSE_IDLE_US 1000000
/* Ranks may need this long to exit after their launcher has returned. */
#define RANKS_EXIT_NS UINT64_C(2000000000)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

__attribute__((format(printf, 2, 3))) static void warn(const struct session_options *options,
						       const char *format, ...)
{
	AUTO_FREE char *sentence = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&sentence, format, args) < 0)
		sentence = NULL;
	va_end(args);
	if (sentence && options->warn)
		options->warn(options->arg, sentence);
}

/* Passes on the sentences of the collector, one per line. */
static void forward_sentences(const struct session_options *options, const char *text)
{
	const size_t notice = strlen(COLLECTOR_NOTICE);

	while (*text) {
		size_t n = strcspn(text, "\n");
		AUTO_FREE char *line = xstrndup(text, n);

		if (strncmp(line, COLLECTOR_NOTICE, notice) != 0)
			warn(options, "%s", line);
		else if (options->notify)
			options->notify(options->arg, line + notice);
		text += n + (text[n] != 0);
	}
}

/* Says beforehand why a program cannot be recorded. It runs in any case. */
static void warn_if_unrecordable(const struct session_options *options, const char *path)
{
	AUTO_FREE char *interpreter = NULL;

	switch (elf_inspect(path, &interpreter)) {
	case ELF_STATIC:
		warn(options,
		     "%s is statically linked, so no library can be preloaded: it runs unrecorded. "
		     "Link it dynamically, or link the wrappers in (see --linked)",
		     path);
		break;
	case ELF_SETUID:
		warn(options,
		     "%s is set-user-id or set-group-id, so the loader ignores preloaded "
		     "libraries: it runs unrecorded",
		     path);
		break;
	case ELF_MUSL:
		warn(options,
		     "%s is linked with musl instead of glibc, which Sluice does not support: it "
		     "runs unrecorded",
		     path);
		break;
	case ELF_GO:
		warn(options,
		     "%s is written in Go, which makes system calls without libc: its I/O is not "
		     "recorded",
		     path);
		break;
	case ELF_FOREIGN:
		warn(options,
		     "%s is built for another machine type than Sluice: it runs unrecorded", path);
		break;
	case ELF_SCRIPT:
		if (strcmp(interpreter, path) != 0)
			warn_if_unrecordable(options, interpreter);
		break;
	case ELF_DYNAMIC:
	case ELF_LINKED:
	case ELF_UNKNOWN:
		break;
	}
}

/* A wrong setting must not keep a program from running. */
static void warn_about_settings(const struct session_options *options)
{
	struct err err = { 0 };

	recording_budget(options->config, &err);
	if (err.code)
		warn(options, "%s", err.text);
}

/*
 * The value of LD_PRELOAD: the guest library comes before the libraries that the user preloads. A
 * site may preload a copy of the guest library from another place; both would record every call.
 */
static char *compose_preload(const char *library)
{
	const char *at = getenv("LD_PRELOAD"), *own = path_base_name(library);
	struct buf preload = { 0 };

	buf_puts(&preload, library);
	while (at && *at) {
		size_t n = strcspn(at, ": ");
		AUTO_FREE char *other = xstrndup(at, n);

		if (n && strcmp(path_base_name(other), own) != 0)
			buf_printf(&preload, ":%s", other);
		at += n + (at[n] != 0);
	}
	return buf_take(&preload);
}

/* A launcher of ranks that has killed them returns while they are still exiting, and recording. */
static void collect_until_ranks_exit(struct recording *recording)
{
	uint64_t until = clock_monotonic_ns() + RANKS_EXIT_NS;

	while (collector_live_ranks(recording->collector) && clock_monotonic_ns() < until) {
		recording_poll(recording);
		clock_sleep_ns(PAUSE_MIN_US * NS_PER_US);
	}
}

/* Collects until the program has ended. Without a collector, only waits. */
static void collect(struct launch_link *link, struct recording *recording,
		    bool wait_for_descendants)
{
	const struct collector *collector = recording->collector;
	unsigned pause = PAUSE_MIN_US;

	while (!launch_wait(link, collector ? pause : PAUSE_IDLE_US)) {
		if (!collector)
			continue;
		if (recording_poll(recording))
			pause = PAUSE_MIN_US;
		else if (pause < PAUSE_MAX_US)
			pause *= 2;
	}
	if (!collector)
		return;
	collect_until_ranks_exit(recording);
	while (wait_for_descendants && collector_has_processes(recording->collector))
		clock_sleep_ns(PAUSE_MAX_US * NS_PER_US);
}

/* Prepares the recording. False: it failed, a warning says so, and the program runs unrecorded. */
static bool recording_begin(const struct session_options *options, const char *program,
			    const char *library, struct recording *recording, struct err *err)
{
	struct recording_options recording_options = {
		.config = options->config,
		.argv = options->argv,
		.program = program,
		.output = options->output,
		.form = options->form,
		.outlive = options->wait_for_descendants,
		.link = options->link,
	};
	bool has_parameters =
		config_text(options->config, SETTING_PARAMS_FILE)[0] ||
		config_choice(options->config, SETTING_TUNE_APPLY) == CONFIG_APPLY_APPLY;

	if (library && recording_start(recording, &recording_options, err) >= 0)
		return true;
	warn(options, "%s; the program runs unrecorded%s", err->text,
	     has_parameters ? " and without parameters" : "");
	return false;
}

/*
 * Compares the run with earlier ones of the same entry of the knowledge base. In a job on several
 * nodes, only the last one has the whole trace.
 */
static void compare_run(const struct session_options *options, const char *trace)
{
	AUTO_FREE char *whole = parts_trace_of(trace);
	AUTO_BUF struct buf said = { 0 };

	if (whole)
		return;
	comparison_make(options->config, options->argv, trace, &said);
	forward_sentences(options, buf_text(&said));
}

/* Says that tasks of srun are missing in the trace. */
static void warn_about_missing_tasks(const struct session_options *options, const char *path)
{
	AUTO_FREE char *srun = place_program("srun");
	AUTO_FREE char *warning = NULL;
	struct err ignored = { 0 };
	struct trace trace;

	if (!srun || trace_open(&trace, path, NULL, &ignored) < 0)
		return;
	warning = tasks_find_missing(options->argv, &trace.head);
	trace_close(&trace);
	if (warning)
		warn(options, "%s", warning);
}

/* Completes the trace. A failure is a warning and changes nothing for the program. The first warned
 * bytes of the recording's warnings were passed on before. */
static void recording_finish(const struct session_options *options, struct recording *recording,
			     size_t warned, int exit_code, struct session_result *result)
{
	struct recording_result recorded = { 0 };
	struct err err = { 0 };
	int failed = recording_end(recording, exit_code, &recorded, &err);

	if (recorded.ours && strlen(recorded.totals.warnings) > warned)
		forward_sentences(options, recorded.totals.warnings + warned);
	if (failed < 0) {
		warn(options, "%s", err.text);
		return;
	}
	if (!recorded.ours)
		return;
	result->has_trace = true;
	result->totals = recorded.totals;
	result->is_empty = !recorded.totals.processes && !recorded.totals.unrecorded &&
			   recording_mode(options->config) != CAPTURE_OFF;
	memcpy(result->trace, recorded.trace, sizeof(result->trace));
	warn_about_missing_tasks(options, result->trace);
	compare_run(options, result->trace);
}

/* Lets programs in containers be recorded, or says what they lack. */
static void prepare_containers(const struct session_options *options, const char *library,
			       const char *directory)
{
	AUTO_BUF struct buf variables = { 0 };
	AUTO_FREE char *advice = runtimes_advise(options->argv, library, directory);

	if (advice)
		warn(options, "%s", advice);
	runtimes_put_variables(&variables, options->argv, library, directory);
	if (launch_add_environment(options->link, buf_text(&variables), variables.len) < 0)
		warn(options, "the variables for containers are too long; programs in containers "
			      "run unrecorded");
}

/* Lets the program start under this recording. */
static void start_recorded(const struct session_options *options, struct recording *recording,
			   const char *program, const char *library)
{
	AUTO_FREE char *preload = options->is_linked ? NULL : compose_preload(library);
	const char *directory = recording_directory(recording);

	prepare_containers(options, options->is_linked ? NULL : library, directory);
	if (!recording->collector)
		launch_set_directory(options->link, directory, true);
	launches_announce(directory, options->link->launch->program, program);
	if (launch_start_program(options->link, directory, preload) >= 0)
		return;
	warn(options, "LD_PRELOAD is too long; the program runs unrecorded");
	launch_start_program(options->link, NULL, NULL);
}

static void record_program(const struct session_options *options, const char *program,
			   struct session_result *result)
{
	struct recording recording;
	struct err trouble = { 0 };
	AUTO_FREE char *library = place_library(&trouble);
	struct collector *collector;
	size_t warned;

	if (!recording_begin(options, program, library, &recording, &trouble)) {
		launch_start_program(options->link, NULL, NULL);
		return;
	}
	collector = recording.collector;
	warned = strlen(recording_warnings(&recording));
	forward_sentences(options, recording_warnings(&recording));
	start_recorded(options, &recording, program, library);
	if (collector)
		circumstances_note(collector, options->config, options->argv);
	collect(options->link, &recording, options->wait_for_descendants);
	recording_finish(options, &recording, warned, launch_exit_code(options->link), result);
}

/* Is the launcher that started this process run under Sluice? Then its ranks are recorded. */
static bool launcher_is_recorded(void)
{
	const char *spool = getenv("SLUICE_SPOOL");
	struct job job;
	bool launched = job_find(&job);

	job_release(&job);
	return launched && spool && collector_is_alive(spool);
}

/* The settings of the outer `sluice run` apply to all ranks. */
static void warn_about_unused_options(const struct session_options *options)
{
	static const struct {
		enum setting_id setting;
		const char *option;
	} checked[] = { { SETTING_PARAMS_FILE, "--params" },
			{ SETTING_TUNE_APPLY, "--tune" },
			{ SETTING_PLACE_RULE, "--place" } };

	for (size_t i = 0; i < COUNT(checked); i++) {
		const char *origin = options->config->values[checked[i].setting].origin;

		if (!origin || strcmp(origin, checked[i].option) != 0)
			continue;
		warn(options,
		     "the launcher already runs under Sluice, whose options apply: %s is not used",
		     checked[i].option);
	}
}

/* As the guest decides. */
static bool is_disabled(void)
{
	const char *disable = getenv("SLUICE_DISABLE");

	return disable && disable[0] && strcmp(disable, "0") != 0;
}

/* Tasks of Slurm do not find the collector of this node. Returns true if each of them will be
 * recorded by a `sluice run` of its own instead. */
static bool hand_to_tasks(const struct session_options *options)
{
	struct tasks tasks;
	bool is_done;

	tasks_init(&tasks, options->argv);
	is_done = tasks.at && launch_move_command(options->link, tasks.at, buf_text(&tasks.prefix),
						  tasks.prefix.len) >= 0;
	if (tasks.warning)
		warn(options, "%s", tasks.warning);
	tasks_release(&tasks);
	return is_done;
}

/* In a trial of `sluice tune` on another node, the program may change nothing without the journal.
 */
static void warn_about_journal(const struct session_options *options)
{
	const char *journal = getenv(JOURNAL_VARIABLE);

	if (journal && !place_exists(journal))
		warn(options,
		     "this node has no %s, so the program cannot change files; run 'sluice tune' "
		     "in a directory that all nodes share",
		     journal);
}

void session_record(const struct session_options *options, struct session_result *result)
{
	AUTO_FREE char *program = place_program(options->argv[0]);

	*result = (struct session_result){ 0 };
	warn_about_journal(options);
	/* The program's process reports that the program cannot be executed. */
	if (!program || is_disabled()) {
		launch_start_program(options->link, NULL, NULL);
		return;
	}
	if (!runtimes_have(program))
		warn_if_unrecordable(options, program);
	if (launcher_is_recorded()) {
		warn_about_unused_options(options);
		launch_start_program(options->link, NULL, NULL);
		return;
	}
	warn_about_settings(options);
	if (hand_to_tasks(options)) {
		launch_start_program(options->link, NULL, NULL);
		return;
	}
	record_program(options, program, result);
}

int session_recover(const struct session_options *options, struct session_result *result,
		    struct err *err)
{
	struct recording_result recorded = { 0 };
	int r = recording_recover(options->config, options->link->launch->spool, options->form,
				  &recorded, err);

	*result = (struct session_result){ 0 };
	if (r < 0)
		return r;
	result->has_trace = true;
	result->totals = recorded.totals;
	memcpy(result->trace, recorded.trace, sizeof(result->trace));
	return 0;
}
