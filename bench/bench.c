/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "probe.h"

#define WORDS_MAX 48

static char *scratch; /* removed if a signal ends the process */
static char *scratch_memory;

static void interrupted(int number)
{
	directory_remove(scratch);
	directory_remove(scratch_memory);
	_exit(128 + number);
}

/* Settings of the user must not change what is measured. */
static void environment_clean(const char *work)
{
	static const char *const names[] = { "LD_PRELOAD",
					     "SLUICE_DISABLE",
					     "SLUICE_CONFIG",
					     "SLUICE_SPOOL",
					     "SLUICE_CAPTURE_MODE",
					     "SLUICE_CAPTURE_SKIP",
					     "SLUICE_CAPTURE_CLOCK",
					     "SLUICE_PLUGINS_LOAD",
					     "SLUICE_PLUGINS_ACT",
					     "SLUICE_PLUGINS_BUDGET",
					     "SLUICE_OVERHEAD_BUDGET" };
	AUTO_FREE char *store = xprintf("%s/store.db", work);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("XDG_CONFIG_HOME", work, 1);
	setenv("SLUICE_ETC", "/dev/null", 1);
	/* Nothing that a benchmark learns may get into the store of the user. */
	setenv("SLUICE_STORE_PATH", store, 1);
	/* The overhead is what is measured, so Sluice must not reduce it by recording less. */
	setenv("SLUICE_OVERHEAD_BUDGET", "0", 1);
}

bool bench_init(struct bench *b, const char *name, const char *build, const char *const titles[])
{
	const char *temporary = getenv("TMPDIR");
	char *full = realpath(build, NULL);

	if (!full)
		return false;
	*b = (struct bench){ .name = name,
			     .build = full,
			     .sluice = xprintf("%s/sluice", full),
			     .work = xprintf("%s/sluice-bench-XXXXXX",
					     temporary ? temporary : "/tmp"),
			     .memory = xstrdup("/dev/shm/sluice-bench-XXXXXX") };
	if (!mkdtemp(b->work) || !mkdtemp(b->memory))
		return false;
	b->spool = xprintf("%s/spool", b->memory);
	if (mkdir(b->spool, 0700) != 0)
		return false;
	b->trace = xprintf("%s/bench.sluice", b->work);
	scratch = b->work;
	scratch_memory = b->memory;
	signal(SIGINT, interrupted);
	signal(SIGTERM, interrupted);
	environment_clean(b->work);
	table_init(&b->table, titles);
	return true;
}

int bench_end(struct bench *b)
{
	int code = b->failures != 0;

	printf("%s", buf_text(&b->missed));
	printf("bench %s:%s failed=%u\n", b->name, buf_text(&b->line), b->failures);
	directory_remove(b->work);
	directory_remove(b->memory);
	table_release(&b->table);
	buf_release(&b->line);
	buf_release(&b->missed);
	free(b->build);
	free(b->sluice);
	free(b->work);
	free(b->memory);
	free(b->spool);
	free(b->trace);
	return code;
}

char *bench_program(const struct bench *b, const char *name)
{
	return xprintf("%s/bench/%s", b->build, name);
}

char **bench_under_sluice(const struct bench *b, const char *mode, char *const *argv)
{
	static char *words[WORDS_MAX + 1];
	char *own[] = { b->sluice,    "run",	       "--quiet", "--mode",
			(char *)mode, "--output",      b->trace,  "--spool-dir",
			b->spool,     "--spool-limit", "1G",	  "--" };
	size_t n = sizeof(own) / sizeof(own[0]);

	memcpy(words, own, sizeof(own));
	while (*argv && n < WORDS_MAX)
		words[n++] = *argv++;
	words[n] = NULL;
	return words;
}

bool bench_trace_check(struct bench *b, const char *what, const char *function, uint64_t expected,
		       struct reading *reading)
{
	struct err err = { 0 };

	if (reading_take(reading, b->trace, function, &err) < 0) {
		bench_fail(b, "%s: the trace cannot be read: %s", what, err.text);
		return false;
	}
	if (!reading->complete || reading->damaged || reading->lost ||
	    reading->wanted != expected) {
		bench_fail(b,
			   "%s: %llu calls of %s were made; the trace holds %llu, lost %llu, "
			   "has %llu damaged blocks and is %s",
			   what, (unsigned long long)expected, function,
			   (unsigned long long)reading->wanted, (unsigned long long)reading->lost,
			   (unsigned long long)reading->damaged,
			   reading->complete ? "complete" : "incomplete");
		return false;
	}
	return true;
}

void bench_fail(struct bench *b, const char *format, ...)
{
	AUTO_FREE char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	buf_printf(&b->missed, "missed: %s\n", text);
	b->failures++;
}

void bench_figure(struct bench *b, const char *key, double value, int digits)
{
	buf_printf(&b->line, " %s=%.*f", key, digits, value);
}

void bench_judge(struct bench *b, const char *what, double value, double threshold, bool at_least,
		 const char *unit)
{
	bool holds = at_least ? value >= threshold : value <= threshold;

	if (threshold == THRESHOLD_NONE) {
		table_add(&b->table, "%s", "");
		table_add(&b->table, "%s", "");
		return;
	}
	table_add(&b->table, "%s %g", at_least ? ">=" : "<=", threshold);
	table_add(&b->table, "%s", holds ? "yes" : "NO");
	if (!holds)
		bench_fail(b, "%s is %.1f %s, the threshold is %s %g", what, value, unit,
			   at_least ? "at least" : "at most", threshold);
}

void bench_progress(const char *text)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s", text);
}
