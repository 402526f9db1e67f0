/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file surveyor as an asynchronous plug-in: it surveys while the program runs and reports at
 * the end the files that took most time.
 *
 * Options, in [plugin.file_surveyor]:
 *   top = 20           number of files to report
 *   read = NAMES       functions that are surveyed as reads, of those that read; default: all
 *   write = NAMES      the same for writes
 *   seek = NAMES       the same for seeks
 * NAMES are separated by blanks or commas; LAYER/NAME selects the function of one layer only. Calls
 * that are left out do not change the position at which the next access is expected.
 * Papers: SIOX-41.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/unit.h"
#include "observe/plugins/file_surveyor.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"

#define TOP_DEFAULT 20
#define CALL_NUMBERS_MAX 65536 /* of a valid trace; calls beyond are all surveyed */

/* The classes whose functions can be selected. */
enum selectable { SELECT_READ, SELECT_WRITE, SELECT_SEEK, SELECTS };
static const struct {
	const char *option;
	enum call_class class;
} selectables[SELECTS] = {
	[SELECT_READ] = { "read", CLASS_READ },
	[SELECT_WRITE] = { "write", CLASS_WRITE },
	[SELECT_SEEK] = { "seek", CLASS_SEEK },
};

/* Whether calls with a number are surveyed. */
enum decision { UNDECIDED, SURVEYED, LEFT_OUT };

struct plugin_state {
	struct file_surveyor surveyor;
	uint64_t top;		  /* number of files to report */
	char *selected[SELECTS];  /* NULL: all functions of the class */
	unsigned char *decisions; /* enum decision by the number of the call */
	size_t decision_count, decision_cap;
};

static enum decision decide(const struct plugin_state *state, const struct call_info *call)
{
	for (int i = 0; call && i < SELECTS; i++)
		if (state->selected[i] && call->class == selectables[i].class &&
		    !names_list_has(state->selected[i], call->layer, call->name))
			return LEFT_OUT;
	return SURVEYED;
}

static bool is_selected(struct plugin_state *state, uint32_t number)
{
	const struct sluice_host *host = state->surveyor.host;

	if (number >= CALL_NUMBERS_MAX)
		return true;
	if (number >= state->decision_count) {
		state->decisions = xgrow(state->decisions, &state->decision_cap, number + 1, 1);
		memset(state->decisions + state->decision_count, UNDECIDED,
		       number + 1 - state->decision_count);
		state->decision_count = number + 1;
	}
	if (state->decisions[number] == UNDECIDED)
		state->decisions[number] =
			(unsigned char)decide(state, host->call(host->self, number));
	return state->decisions[number] == SURVEYED;
}

static int start(const struct sluice_host *host, void **out)
{
	const char *top = host->option(host->self, "top");
	struct plugin_state *state;
	uint64_t files = TOP_DEFAULT;

	if (top && unit_parse_count(top, &files) < 0) {
		host->warn(host->self, "plugin.file_surveyor.top: expected a number of files");
		return -EINVAL;
	}
	state = xcalloc(1, sizeof(*state));
	state->top = files;
	for (int i = 0; i < SELECTS; i++) {
		const char *names = host->option(host->self, selectables[i].option);

		state->selected[i] = names ? xstrdup(names) : NULL;
	}
	file_surveyor_init(&state->surveyor, host);
	*out = state;
	return 0;
}

static void batch(void *arg, const struct activity *activities, size_t count)
{
	struct plugin_state *state = arg;

	for (size_t i = 0; i < count; i++)
		if (is_selected(state, activities[i].call))
			file_surveyor_add(&state->surveyor, &activities[i]);
}

/* Rows of the files to report. */
struct reported_rows {
	const struct sluice_host *host;
	const struct survey_row *rows;
	size_t count;
};

/* Returns the layer and the file in quotation marks, as SIOX prints it. The caller frees it. */
static char *group_name(const struct sluice_host *host, unsigned layer, file_id file)
{
	return xprintf("%s \"%s\"", names_layer(layer), host->file(host->self, file));
}

static void report_survey(void *arg, unsigned layer, file_id file, uint32_t process,
			  const struct survey *survey)
{
	const struct reported_rows *wanted = arg;
	const struct sluice_host *host = wanted->host;
	AUTO_FREE char *group = NULL;
	size_t i = 0;

	while (i < wanted->count &&
	       (wanted->rows[i].layer != layer || wanted->rows[i].file != file))
		i++;
	if (i == wanted->count)
		return;
	group = group_name(host, layer, file);
	for (size_t f = 0; f < SURVEY_MEASURES; f++) {
		/* A measure that is 0 everywhere says nothing. */
		if (wanted->rows[i].fields[f].maximum > 0)
			host->number(host->self, (int32_t)process, group, survey_measures[f].name,
				     survey_measures[f].get(survey));
	}
}

static void report_sharing(const struct sluice_host *host, const struct survey_row *row)
{
	AUTO_FREE char *group = group_name(host, row->layer, row->file);

	for (int way = READING; way <= WRITING; way++) {
		if (row->sharing[way] > SHARING_ONE)
			host->text(host->self, -1, group,
				   way == READING ? "Sharing/Reading" : "Sharing/Writing",
				   sharing_names[row->sharing[way]]);
	}
}

static void report(void *arg)
{
	struct plugin_state *state = arg;
	const struct sluice_host *host = state->surveyor.host;
	size_t count, files = 0, reported = 0;
	AUTO_FREE struct survey_row *rows = file_surveyor_rows(&state->surveyor, NULL, &count);
	struct reported_rows wanted = { .host = host, .rows = rows };

	for (; reported < count; reported++) {
		files += !reported || rows[reported].file != rows[reported - 1].file;
		if (files > state->top)
			break;
		report_sharing(host, &rows[reported]);
	}
	wanted.count = reported;
	file_surveyor_list(&state->surveyor, report_survey, &wanted);
}

static void stop(void *arg)
{
	struct plugin_state *state = arg;

	file_surveyor_release(&state->surveyor);
	for (int i = 0; i < SELECTS; i++)
		free(state->selected[i]);
	free(state->decisions);
	free(state);
}

static const struct sluice_async surveyor = {
	.start = start,
	.batch = batch,
	.report = report,
	.stop = stop,
};

const struct sluice_plugin plugin_file_surveyor = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_ASYNC,
	.name = "file_surveyor",
	.help = "report how each file was accessed: patterns, sizes, alignment, sharing, times",
	.async = &surveyor,
};
