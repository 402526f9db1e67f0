/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice doctor: checks whether programs can be observed on this machine. One row per check.
 */
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/elf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/command.h"
#include "contract/call.h"
#include "contract/calls.h"
#include "learn/math/library.h"
#include "observe/collect/cpu_counter.h"
#include "observe/tally/names.h"
#include "observe/watch/plugins.h"

struct doctor_args {
	bool coverage, verbose, json;
};

static const struct option doctor_options[] = {
	{ 0, "coverage", NULL, NULL, "show how many functions of each layer are recorded",
	  OPTION_FLAG, offsetof(struct doctor_args, coverage) },
	{ 'v', "verbose", NULL, NULL, "with --coverage: list the functions", OPTION_FLAG,
	  offsetof(struct doctor_args, verbose) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.doctor/1", OPTION_FLAG,
	  offsetof(struct doctor_args, json) },
	{ 0 }
};

enum health { HEALTH_GOOD, HEALTH_NOTE, HEALTH_BAD };

static const char *const health_names[] = { "good", "note", "bad" };

/* A check describes its finding in `out` and rates it. */
struct check {
	const char *name;
	enum health (*run)(const struct config *config, struct buf *out);
};

static enum health check_library(const struct config *config, struct buf *out)
{
	struct err err = { 0 };
	AUTO_FREE char *path = place_library(&err);
	AUTO_FREE char *interpreter = NULL;
	enum elf_kind kind;

	(void)config;
	if (!path) {
		buf_puts(out, err.text);
		return HEALTH_BAD;
	}
	buf_puts(out, path);
	/*
	 * A library has no interpreter, so elf_inspect() takes a good one for a static
	 * program.
	 */
	kind = elf_inspect(path, &interpreter);
	if (kind == ELF_STATIC || kind == ELF_DYNAMIC)
		return HEALTH_GOOD;
	buf_puts(out,
		 kind == ELF_FOREIGN ? " is built for another architecture" : " is not a library");
	return HEALTH_BAD;
}

static enum health check_clock(const struct config *config, struct buf *out)
{
	struct cpu_counter counter;

	if (config_choice(config, SETTING_CAPTURE_CLOCK) == CONFIG_CLOCK_MONOTONIC) {
		buf_puts(out, "clock_gettime, as set by capture.clock; the cycle counter has less "
			      "overhead");
		return HEALTH_NOTE;
	}
	cpu_counter_read(&counter);
	if (counter.state == COUNTER_STEADY) {
		buf_printf(out, "cycle counter (%s)", counter.name);
		return HEALTH_GOOD;
	}
	buf_printf(out, "clock_gettime%s: %s",
		   cpu_counter_choose_other() == CLOCK_SOURCE_KERNEL ? ", by system calls" : "",
		   cpu_counter_reason(counter.state));
	if (counter.source[0])
		buf_printf(out, " (clock source %s)", counter.source);
	return HEALTH_NOTE;
}

static enum health check_spool(const struct config *config, struct buf *out)
{
	const char *dir = config_text(config, SETTING_SPOOL_DIR);
	uint64_t limit = config_number(config, SETTING_SPOOL_LIMIT), space;
	char free_text[UNIT_TEXT], limit_text[UNIT_TEXT];
	struct statvfs fs;

	if (strcmp(dir, "auto") == 0)
		dir = "/dev/shm";
	if (statvfs(dir, &fs) < 0 || access(dir, W_OK) < 0) {
		buf_printf(out, "%s is not writable; set spool.dir to a directory in memory", dir);
		return HEALTH_NOTE;
	}
	space = (uint64_t)fs.f_bavail * fs.f_frsize;
	buf_printf(out, "%s has %s free, spool.limit is %s", dir,
		   unit_bytes(free_text, (double)space), unit_bytes(limit_text, (double)limit));
	if (space >= limit)
		return HEALTH_GOOD;
	buf_puts(
		out,
		"; a fast program may lose records: lower spool.limit or choose another spool.dir");
	return HEALTH_NOTE;
}

/* If the directory does not exist yet, its nearest existing parent is checked; nothing is created.
 */
static enum health check_traces(const struct config *config, struct buf *out)
{
	const char *dir = config_text(config, SETTING_TRACE_DIR);
	AUTO_FREE char *parent = xstrdup(dir);
	char text[UNIT_TEXT];
	struct statvfs fs;

	for (char *slash;
	     !place_exists(parent) && (slash = strrchr(parent, '/')) && slash > parent;)
		*slash = 0;
	if (access(parent, W_OK) < 0 || statvfs(parent, &fs) < 0) {
		buf_printf(out, "%s is not writable; set trace.dir to another directory", dir);
		return HEALTH_BAD;
	}
	buf_printf(out, "%s has %s free", dir,
		   unit_bytes(text, (double)fs.f_bavail * (double)fs.f_frsize));
	return HEALTH_GOOD;
}

static enum health check_system(const struct config *config, struct buf *out)
{
	struct utsname name;

	(void)config;
	if (uname(&name) < 0)
		return HEALTH_NOTE;
	buf_printf(out, "%s %s on %s, glibc %s", name.sysname, name.release, name.machine,
		   gnu_get_libc_version());
	return HEALTH_GOOD;
}

static enum health check_config(const struct config *config, struct buf *out)
{
	if (!config->problem_count) {
		buf_puts(out, "files and environment are valid");
		return HEALTH_GOOD;
	}
	for (size_t i = 0; i < config->problem_count; i++)
		buf_printf(out, "%s%s", i ? "; " : "", config->problems[i]);
	return HEALTH_BAD;
}

static enum health check_environment(const struct config *config, struct buf *out)
{
	const char *disable = getenv("SLUICE_DISABLE"), *preload = getenv("LD_PRELOAD");

	(void)config;
	if (disable && *disable && strcmp(disable, "0") != 0) {
		buf_puts(out, "SLUICE_DISABLE is set; nothing will be recorded");
		return HEALTH_NOTE;
	}
	if (preload && *preload)
		buf_printf(out, "LD_PRELOAD is %s; Sluice adds its library to it", preload);
	else
		buf_puts(out, "neither SLUICE_DISABLE nor LD_PRELOAD is set");
	return HEALTH_GOOD;
}

static enum health check_limits(const struct config *config, struct buf *out)
{
	(void)config;
	buf_puts(out,
		 "not recorded: statically linked programs, setuid and setgid programs, direct "
		 "system calls, io_uring without liburing, asynchronous I/O without libaio, "
		 "accesses to mapped memory");
	return HEALTH_NOTE;
}

static void explain_acting(struct buf *out)
{
	buf_puts(out, "no plug-in acts on programs; enable one with plugins.act:");
	for (const struct plugin_guest *g = plugin_guests; g->name; g++)
		buf_printf(out, "%s %s %s", g == plugin_guests ? "" : ",", g->name, g->help);
}

/* In-line plug-ins, which run inside programs and may change what they do. */
static enum health check_acting(const struct config *config, struct buf *out)
{
	struct plugin_choices choices;
	bool acts = false;

	plugin_choices_make(&choices, config);
	for (size_t i = 0; i < choices.count; i++) {
		const struct plugin_choice *choice = &choices.list[i];

		if (choice->kind != SLUICE_INLINE || choice->refusal)
			continue;
		buf_printf(out, "%s%s (%s)",
			   acts ? ", " : "enabled to act on programs: ", choice->short_name,
			   choice->origin);
		acts = true;
	}
	plugin_choices_release(&choices);
	if (!acts)
		explain_acting(out);
	return acts ? HEALTH_NOTE : HEALTH_GOOD;
}

/* Libraries that are loaded when a learning method first needs them. */
static enum health check_learning(const struct config *config, struct buf *out)
{
	struct err lapack = { 0 }, svm = { 0 };
	bool good = library_lapack(&lapack) && library_svm(&svm);

	(void)config;
	if (!good) {
		buf_puts(out, lapack.code ? lapack.text : svm.text);
		return HEALTH_NOTE;
	}
	buf_puts(out, "OpenBLAS (or LAPACK) and libsvm are installed");
	return HEALTH_GOOD;
}

static const struct check checks[] = {
	{ "library", check_library },
	{ "clock", check_clock },
	{ "spool", check_spool },
	{ "traces", check_traces },
	{ "system", check_system },
	{ "config", check_config },
	{ "environment", check_environment },
	{ "acting", check_acting },
	{ "limits", check_limits },
	{ "learning", check_learning },
};
#define TEXT_COLUMN 19 /* of the result of a check */
#define CHECK_COUNT (sizeof(checks) / sizeof(checks[0]))

/* The layer of the application is the last one and has no wrappers. */
static unsigned count_calls(unsigned layer)
{
	unsigned n = 0;

	for (unsigned i = CALLS_WITHOUT_WRAPPER; i < call_count; i++)
		n += call_table[i].layer == layer;
	return n;
}

static void coverage_text(bool names)
{
	unsigned sum = 0;

	for (unsigned layer = 0; layer < LAYER_APPLICATION; layer++) {
		sum += count_calls(layer);
		term_printf(stdout, "%-14s %4u calls\n", names_layer(layer), count_calls(layer));
		for (unsigned i = CALLS_WITHOUT_WRAPPER; names && i < call_count; i++) {
			if (call_table[i].layer == layer)
				term_printf(stdout, "  %-24s %s\n", call_table[i].name,
					    names_class(call_table[i].class));
		}
	}
	term_printf(stdout, "%-14s %4u calls\n", "all", sum);
}

static void coverage_json(struct json *json)
{
	json_open(json, "coverage", '[');
	for (unsigned layer = 0; layer < LAYER_APPLICATION; layer++) {
		json_open(json, NULL, '{');
		json_text(json, "layer", names_layer(layer));
		json_count(json, "calls", count_calls(layer));
		json_open(json, "names", '[');
		for (unsigned i = CALLS_WITHOUT_WRAPPER; i < call_count; i++) {
			if (call_table[i].layer == layer)
				json_text(json, NULL, call_table[i].name);
		}
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

static enum health show_check(struct json *json, const struct check *check,
			      const struct config *config)
{
	AUTO_BUF struct buf text = { 0 };
	enum health health = check->run(config, &text);

	if (!json) {
		AUTO_FREE char *line = xprintf("%-4s  %-11s  %s", health_names[health], check->name,
					       buf_text(&text));

		term_paragraph(stdout, TEXT_COLUMN, line);
		return health;
	}
	json_open(json, NULL, '{');
	json_text(json, "name", check->name);
	json_text(json, "state", health_names[health]);
	json_text(json, "text", buf_text(&text));
	json_close(json);
	return health;
}

static bool show_checks(struct json *json, const struct config *config)
{
	bool good = true;

	for (size_t i = 0; i < CHECK_COUNT; i++)
		good &= show_check(json, &checks[i], config) != HEALTH_BAD;
	return good;
}

static int doctor_run(struct command *command)
{
	const struct doctor_args *args = command->args;
	struct json json;
	bool good = true;
	int ret;

	if (args->json) {
		json_start(&json, stdout, "sluice.doctor/1");
		json_open(&json, "checks", '[');
		good = show_checks(&json, command->config);
		json_close(&json);
		coverage_json(&json);
		json_end(&json);
	} else if (args->coverage) {
		coverage_text(args->verbose);
	} else {
		good = show_checks(NULL, command->config);
	}
	ret = command_finish(command);
	return ret ? ret : good ? COMMAND_GOOD : COMMAND_FAILED;
}

const struct command_ops command_doctor = {
	.name = "doctor",
	.help = "check whether programs can be observed on this machine",
	.operands = "",
	.about = "Each check is rated good, note or bad. The exit status is 1 if a check is bad.",
	.options = doctor_options,
	.args_bytes = sizeof(struct doctor_args),
	.flags = COMMAND_CHECKS_CONFIG,
	.run = doctor_run,
};
