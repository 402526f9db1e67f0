/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file surveyor as an asynchronous plug-in: it surveys while the program runs and reports at
 * the end the files that took most time.
 *
 * Option, in [plugin.file_surveyor]:
 *   top = 20           number of files to report
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/unit.h"
#include "observe/plugins/file_surveyor.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"

#define TOP_DEFAULT 20

struct plugin_state {
	struct file_surveyor surveyor;
	uint64_t top; /* number of files to report */
};

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
	file_surveyor_init(&state->surveyor, host);
	*out = state;
	return 0;
}

static void batch(void *arg, const struct activity *activities, size_t count)
{
	struct plugin_state *state = arg;

	for (size_t i = 0; i < count; i++)
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
