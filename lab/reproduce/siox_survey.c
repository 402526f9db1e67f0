/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figure 7 of the SIOX paper: the report on one file that 10 processes write and read at the four
 * levels of access. The counts and bytes follow from the access pattern, the times do not. The same
 * run shows how many activities each layer has.
 * Papers: SIOX-54, SIOX-55, SIOX-61, SIOX-AC-4.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "lab/reproduce/siox.h"

#define BLOCK_BYTES 102400

enum { AVERAGE, LEAST, MOST, SPREAD };

struct spread {
	double of[SPREAD];
};

/* The fields that the paper prints; the last ones are times in ns. */
static const struct field {
	const char *name;
	struct spread paper;
} fields[] = {
	{ "Accesses", { { 40964, 40964, 40964 } } },
	{ "Accesses/Reading/Random, long seek", { { 20481.8, 20480, 20482 } } },
	{ "Accesses/Reading/Random, short seek", { { 0, 0, 0 } } },
	{ "Accesses/Reading/Sequential", { { 0.2, 0, 2 } } },
	{ "Bytes", { { 8.38861e9, 8.38861e9, 8.38861e9 } } },
	{ "Bytes/Read per access", { { 204780, 204780, 204780 } } },
	{ "Bytes/Total read", { { 4.1943e9, 4.1943e9, 4.1943e9 } } },
	{ "Seek Distance/Average writing", { { 1.0238e6, 1.0238e6, 1.0238e6 } } },
	{ "Time/Total for opening", { { 3.9504e8, 3.66264e8, 4.38975e8 } } },
	{ "Time/Total for reading", { { 1.47169e11, 1.0968e11, 1.76617e11 } } },
	{ "Time/Total for writing", { { 1.08783e12, 1.03317e12, 1.16192e12 } } },
	{ "Time/Total for closing", { { 1.0856e11, 6.11782e10, 1.46834e11 } } },
	{ "Time/Total surveyed", { { 1.34568e12, 1.34568e12, 1.3457e12 } } },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))
#define COUNTED 8 /* fields whose values follow from the pattern */

/* What the paper counted per process, with the file of 10 GiB. */
static const struct activity {
	const char *layer;
	double paper;
} activities[] = { { "MPI", 41000 }, { "POSIX", 60000 }, { "POSIX.Network", 650000 } };
#define ACTIVITIES (sizeof(activities) / sizeof(activities[0]))

struct survey {
	struct spread fields[FIELDS];
	double calls[ACTIVITIES]; /* per process */
};

static struct spread all_equal(double value)
{
	return (struct spread){ { value, value, value } };
}

/*
 * In each direction, two levels access the file block by block and two in one call. Rank 0 starts
 * where a sequential access would, in the two levels that access it block by block.
 */
static void predict_counts(const struct siox *siox, struct spread expected[COUNTED])
{
	double ranks = (double)siox->scale.ranks, blocks = (double)siox->scale.blocks;
	double calls = 2 * blocks + 2, bytes = 4 * blocks * BLOCK_BYTES;

	expected[0] = all_equal(2 * calls);
	expected[1] = (struct spread){ { calls - 2 / ranks, calls - 2, calls } };
	expected[2] = all_equal(0);
	expected[3] = (struct spread){ { 2 / ranks, 0, 2 } };
	expected[4] = all_equal(2 * bytes);
	expected[5] = all_equal(bytes / calls);
	expected[6] = all_equal(bytes);
	expected[7] = all_equal(2 * (blocks - 1) * ranks * BLOCK_BYTES / calls);
}

/* Reads the line `[FileSurveyor:MPI] ".../levels.dat"/NAME = (average,minimum,maximum)`. */
static struct spread read_field(const char *report, const char *name)
{
	AUTO_FREE char *line = xprintf("levels.dat\"/%s = (", name);
	const char *at = report;
	struct spread spread = all_equal(NAN);

	while ((at = strstr(at, "[FileSurveyor:MPI]"))) {
		const char *end = at + strcspn(at, "\n");
		const char *found = memmem(at, (size_t)(end - at), line, strlen(line));

		if (found && sscanf(found + strlen(line), "%lf,%lf,%lf", &spread.of[AVERAGE],
				    &spread.of[LEAST], &spread.of[MOST]) == SPREAD)
			return spread;
		at = end;
	}
	return all_equal(NAN);
}

static void count_activities(struct survey *survey, json_t *report, double ranks)
{
	json_t *layers = json_object_get(report, "layers"), *row;
	size_t i;

	for (size_t a = 0; a < ACTIVITIES; a++)
		survey->calls[a] = NAN;
	json_array_foreach(layers, i, row)
	{
		const char *layer = json_string_value(json_object_get(row, "layer"));

		for (size_t a = 0; layer && a < ACTIVITIES; a++)
			if (strcmp(layer, activities[a].layer) == 0)
				survey->calls[a] =
					json_number_value(json_object_get(row, "calls")) / ranks;
	}
}

/* Runs `sluice report` on the trace. The caller frees the output. */
static char *report_on(struct siox *siox, const char *trace, const char *option, const char *key,
		       struct err *err)
{
	struct siox_command command = { 0 };

	siox_add_all(&command,
		     (const char *const[]){ siox->sluice, "report", option, trace, NULL });
	return siox_run(siox, key, &command, err);
}

static int read_reports(struct siox *siox, const char *key, const char *trace,
			struct survey *survey, struct err *err)
{
	AUTO_FREE char *survey_key = xprintf("%s-survey", key), *json_key = xprintf("%s-json", key);
	AUTO_FREE char *lines = report_on(siox, trace, "--survey", survey_key, err);
	AUTO_FREE char *text = lines ? report_on(siox, trace, "--json", json_key, err) : NULL;
	/* The times of the run follow the object. */
	json_t *report = text ? json_loads(text, JSON_DISABLE_EOF_CHECK, NULL) : NULL;

	if (!text)
		return -err->code;
	if (!report)
		return err_set(err, EINVAL, "%s: not JSON", json_key);
	for (size_t i = 0; i < FIELDS; i++)
		survey->fields[i] = read_field(lines, fields[i].name);
	count_activities(survey, report, (double)siox->scale.ranks);
	json_decref(report);
	return 0;
}

static int measure_survey(struct siox *siox, struct survey *survey, struct err *err)
{
	AUTO_FREE char *ranks = xprintf("%llu", (unsigned long long)siox->scale.ranks);
	AUTO_FREE char *blocks = xprintf("%llu", (unsigned long long)siox->scale.blocks);
	AUTO_FREE char *key = xprintf("figure7-%s-%s", ranks, blocks);
	AUTO_FREE char *name = xprintf("%s.sluice", key);
	AUTO_FREE char *trace = siox_result_path(siox, name);
	AUTO_FREE char *output = NULL;
	struct siox_command command = { 0 };
	int r;

	siox_add_sluice_to(siox, &command, trace);
	siox_add_ranks(siox, &command, ranks);
	siox_add_all(&command, (const char *const[]){ siox->levels, "--count", blocks, "--block",
						      "100K", NULL });
	output = siox_run(siox, key, &command, err);
	if (!output)
		return -err->code;
	r = read_reports(siox, key, trace, survey, err);
	if (r >= 0)
		unlink(trace);
	return r;
}

/* Numbers of a field: counts and bytes, or ns, which are shown as ms. */
static void add_spread(struct sheet *sheet, size_t field, const struct spread *spread)
{
	for (int i = 0; i < SPREAD; i++)
		sheet_number(sheet, spread->of[i] / (field < COUNTED ? 1 : 1e6));
}

static void add_figure(struct siox *siox, const struct survey *survey,
		       const struct spread expected[COUNTED])
{
	static const struct sheet_column columns[] = { { "field", "field", 0 },
						       { ">paper: average", "paper_average", 1 },
						       { ">min", "paper_minimum", 1 },
						       { ">max", "paper_maximum", 1 },
						       { ">expected: average", "expected_average",
							 1 },
						       { ">min", "expected_minimum", 1 },
						       { ">max", "expected_maximum", 1 },
						       { ">here: average", "average", 1 },
						       { ">min", "minimum", 1 },
						       { ">max", "maximum", 1 },
						       { 0 } };
	const struct spread none = all_equal(NAN);
	struct sheet sheet;

	sheet_init(&sheet, "figure7", "Figure 7: report on the file of all processes", columns);
	for (size_t i = 0; i < FIELDS; i++) {
		sheet_text(&sheet, "%s%s", fields[i].name, i < COUNTED ? "" : ", ms");
		add_spread(&sheet, i, &fields[i].paper);
		add_spread(&sheet, i, i < COUNTED ? &expected[i] : &none);
		add_spread(&sheet, i, &survey->fields[i]);
	}
	sheet_note(&sheet,
		   "Here: %llu processes with %llu blocks of 100 KiB each; paper: 10 with 10240.",
		   (unsigned long long)siox->scale.ranks, (unsigned long long)siox->scale.blocks);
	sheet_note(&sheet, "Expected: what follows from the pattern for the size used here.");
	siox_note_mpi(siox, &sheet);
	reproduce_add_sheet(&siox->output, &sheet);
}

static void add_activities(struct siox *siox, const struct survey *survey)
{
	static const struct sheet_column columns[] = {
		{ "layer", "layer", 0 }, { ">paper", "paper", 0 }, { ">here", "here", 1 }, { 0 }
	};
	struct sheet sheet;

	sheet_init(&sheet, "activities", "Activities per process of that run", columns);
	for (size_t i = 0; i < ACTIVITIES; i++) {
		sheet_text(&sheet, "%s", activities[i].layer);
		sheet_number(&sheet, activities[i].paper);
		sheet_number(&sheet, survey->calls[i]);
	}
	sheet_note(&sheet,
		   "Paper: sockets of MPI were recorded as POSIX. Here they are a layer of their "
		   "own, which is no I/O; an MPI that uses shared memory needs few of them.");
	siox_note_mpi(siox, &sheet);
	reproduce_add_sheet(&siox->output, &sheet);
}

static void judge(struct siox *siox, const struct survey *survey,
		  const struct spread expected[COUNTED])
{
	size_t equal = 0;

	for (size_t i = 0; i < COUNTED; i++) {
		const double *a = survey->fields[i].of, *b = expected[i].of;

		/* The report prints six digits. */
		equal += fabs(a[AVERAGE] - b[AVERAGE]) <= 1e-5 * b[AVERAGE] &&
			 fabs(a[LEAST] - b[LEAST]) <= 1e-5 * b[LEAST] &&
			 fabs(a[MOST] - b[MOST]) <= 1e-5 * b[MOST];
	}
	siox_check_add(siox, "SIOX-AC-4", equal == COUNTED,
		       "the counts and bytes of the report follow from the pattern",
		       xprintf("%zu of %d fields are as expected", equal, COUNTED));
}

int siox_figure7(struct siox *siox, struct err *err)
{
	struct spread expected[COUNTED];
	struct survey survey = { .calls = { NAN, NAN, NAN } };
	int r = 0;

	predict_counts(siox, expected);
	for (size_t i = 0; i < FIELDS; i++)
		survey.fields[i] = all_equal(NAN);
	if (siox_has_mpi(siox)) {
		r = measure_survey(siox, &survey, err);
		if (r < 0)
			return r;
		judge(siox, &survey, expected);
	}
	add_figure(siox, &survey, expected);
	add_activities(siox, &survey);
	return 0;
}
