/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file surveyor as an asynchronous plug-in: the same survey while the program runs, told at its
 * end for the files that took most time.
 *
 *	[plugin.file_surveyor]   top = 20
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
	uint64_t top; /* files to report of, at most */
};

static int start(const struct sluice_host *host, void **out)
{
	const char *top = host->option(host->self, "top");
	struct plugin_state *state;
	uint64_t files = TOP_DEFAULT;

	if (top && unit_parse_count(top, &files) < 0) {
		host->warn(host->self, "top must be a number of files");
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

/* What is to be told: the rows of the top files, and the surveys that belong to them. */
struct telling {
	const struct sluice_host *host;
	const struct survey_row *rows;
	size_t count;
};

/* As SIOX prints it: the layer, then the file in quotation marks. The caller frees. */
static char *group_of(const struct sluice_host *host, unsigned layer, file_id file)
{
	return xprintf("%s \"%s\"", names_layer(layer), host->file(host->self, file));
}

static void tell_survey(void *arg, unsigned layer, file_id file, uint32_t process,
			const struct survey *survey)
{
	const struct telling *telling = arg;
	const struct sluice_host *host = telling->host;
	AUTO_FREE char *group = NULL;
	size_t i = 0;

	while (i < telling->count &&
	       (telling->rows[i].layer != layer || telling->rows[i].file != file))
		i++;
	if (i == telling->count)
		return;
	group = group_of(host, layer, file);
	for (size_t f = 0; f < SURVEY_MEASURES; f++) {
		if (telling->rows[i].fields[f].maximum > 0) /* 0 everywhere says nothing */
			host->number(host->self, (int32_t)process, group, survey_measures[f].name,
				     survey_measures[f].get(survey));
	}
}

static void tell_sharing(const struct sluice_host *host, const struct survey_row *row)
{
	AUTO_FREE char *group = group_of(host, row->layer, row->file);

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
	size_t count, files = 0, told = 0;
	AUTO_FREE struct survey_row *rows = file_surveyor_rows(&state->surveyor, NULL, &count);
	struct telling telling = { .host = host, .rows = rows };

	for (; told < count; told++) {
		files += !told || rows[told].file != rows[told - 1].file;
		if (files > state->top)
			break;
		tell_sharing(host, &rows[told]);
	}
	telling.count = told;
	file_surveyor_list(&state->surveyor, tell_survey, &telling);
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
	.help = "how each file was accessed: patterns, sizes, alignment, sharing, times",
	.async = &surveyor,
};
