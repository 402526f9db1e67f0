/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs the programs of the SIOX experiments and keeps what they print, so that an interrupted
 * reproduction can be continued.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/place.h"
#include "lab/reproduce/siox.h"
#include "learn/judge/metrics.h"

#define OUTPUT_MAX (64u << 20)
#define SHOWN_LINES 3 /* of the messages of a program that failed */

void siox_add(struct siox_command *command, const char *word)
{
	if (command->count < SIOX_WORDS)
		command->words[command->count++] = word;
}

void siox_add_all(struct siox_command *command, const char *const *words)
{
	while (words && *words)
		siox_add(command, *words++);
}

void siox_add_sluice(const struct siox *siox, struct siox_command *command, bool linked,
		     const char *const *choices)
{
	siox_add(command, siox->sluice);
	for (; choices && *choices; choices++) {
		siox_add(command, "-c");
		siox_add(command, *choices);
	}
	siox_add_all(command,
		     (const char *const[]){ "run", "--quiet", "--output", "trace.sluice", NULL });
	if (linked)
		siox_add(command, "--linked");
	siox_add(command, "--");
}

void siox_add_sluice_to(const struct siox *siox, struct siox_command *command, const char *trace)
{
	siox_add_all(command, (const char *const[]){ siox->sluice, "run", "--quiet", "--output",
						     trace, "--", NULL });
}

void siox_add_ranks(const struct siox *siox, struct siox_command *command, const char *ranks)
{
	siox_add(command, siox->mpiexec);
	siox_add(command, "-n");
	siox_add(command, ranks);
}

char *siox_result_path(const struct siox *siox, const char *key)
{
	return place_join(siox->results, key);
}

char *siox_work_path(const struct siox *siox, const char *name)
{
	return place_join(siox->work, name);
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Removes a trace and what is left beside it. */
static void remove_trace(const struct siox *siox)
{
	AUTO_FREE char *trace = siox_work_path(siox, "trace.sluice");
	AUTO_FREE char *parts = siox_work_path(siox, "trace.sluice.parts");

	unlink(trace);
	file_remove_tree(parts);
}

static void redraw(void *progress)
{
	progress_repeat(progress);
}

/* Runs the command in the working directory; its output goes to `output`. */
static int run_command(struct siox *siox, const struct siox_command *command, const char *output,
		       struct child_end *end, struct err *err)
{
	AUTO_FREE char *store = xprintf("SLUICE_STORE_PATH=%s/store.db", siox->work);
	AUTO_FREE char *errors = siox_work_path(siox, "errors");
	/* All calls are recorded; ranks that share a core yield it; nothing of the user is touched.
	 */
	char *const environment[] = { store,
				      "SLUICE_OVERHEAD_BUDGET=0",
				      "SLUICE_RUN_SUMMARY=no",
				      "OMPI_MCA_rmaps_base_oversubscribe=1",
				      "OMPI_MCA_mpi_yield_when_idle=1",
				      "OMPI_MCA_hwloc_base_binding_policy=none",
				      "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
				      NULL };
	const struct child_options options = { .argv = (char *const *)command->words,
					       .environment = environment,
					       .output = output,
					       .errors = errors,
					       .limit_s = INFINITY,
					       .stop = interrupt_flag(),
					       .look = redraw,
					       .look_arg = &siox->progress };
	int r = child_run(&options, end, err);

	if (r >= 0 && end->status) {
		AUTO_FREE char *last = child_last_lines(errors, SHOWN_LINES);

		r = err_set(err, ECHILD, "%s failed: %s", command->words[0], last);
	}
	return r;
}

/* Appends the times and gives the file its final name. */
static int keep_output(const char *part, const char *path, double wall_s, double cpu_s,
		       struct err *err)
{
	FILE *f = fopen(part, "ae");
	bool good = f && fprintf(f, "wall_s=%.6f cpu_s=%.6f\n", wall_s, cpu_s) > 0;

	if (f && fclose(f) != 0)
		good = false;
	if (!good || rename(part, path) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

char *siox_run(struct siox *siox, const char *key, const struct siox_command *command,
	       struct err *err)
{
	AUTO_FREE char *path = siox_result_path(siox, key);
	AUTO_FREE char *part = xprintf("%s.part", path);
	struct buf text = { 0 };
	struct child_end end;
	int r = 0;

	if (!place_exists(path)) {
		double cpu_s = cpu_seconds();

		progress_line(&siox->progress, key);
		r = run_command(siox, command, part, &end, err);
		if (r >= 0)
			r = keep_output(part, path, end.seconds, cpu_seconds() - cpu_s, err);
		else
			unlink(part);
		remove_trace(siox);
	}
	if (r >= 0)
		r = file_read_all(&text, path, OUTPUT_MAX, err);
	if (r < 0) {
		buf_release(&text);
		return NULL;
	}
	return buf_take(&text);
}

/* The number after the name in a line, which ends at `end`. */
static double number_in(const char *line, const char *end, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = line; at + n < end; at++)
		if (strncmp(at, name, n) == 0 && (at == line || at[-1] == ' ') &&
		    (at[n] == '=' || at[n] == ' '))
			return strtod(at + n + 1, NULL);
	return NAN;
}

double siox_number(const char *output, const char *line, const char *name)
{
	for (const char *at = output; *at;) {
		size_t n = strcspn(at, "\n");
		double value =
			memmem(at, n, line, strlen(line)) ? number_in(at, at + n, name) : NAN;

		if (!isnan(value))
			return value;
		at += n + (at[n] == '\n');
	}
	return NAN;
}

void siox_sample_add(struct siox_sample *sample, double value)
{
	if (sample->count < SIOX_REPEAT_MAX && !isnan(value))
		sample->values[sample->count++] = value;
}

double siox_sample_median(const struct siox_sample *sample)
{
	return sample->count ? metrics_quantile(sample->values, sample->count, 0.5) : NAN;
}

double siox_sample_least(const struct siox_sample *sample)
{
	return sample->count ? metrics_quantile(sample->values, sample->count, 0) : NAN;
}
