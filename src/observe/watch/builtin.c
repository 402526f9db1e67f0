/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The built-in plug-ins.
 */
#include <string.h>

#include "observe/plugins/catalogue.h"
#include "observe/plugins/expected.h"
#include "observe/plugins/file_surveyor.h"
#include "observe/plugins/histogram.h"
#include "observe/plugins/history.h"
#include "observe/plugins/predicted.h"
#include "observe/watch/plugins.h"

const struct sluice_plugin *const plugin_builtin[] = {
	&plugin_catalogue, &plugin_expected,	&plugin_file_surveyor, &plugin_histogram,
	&plugin_history,   &plugin_model_hints, &plugin_predicted,     NULL,
};

const struct plugin_guest plugin_guests[] = {
	{ .name = "history",
	  .help = "passes MPI hints that were faster in earlier runs of the program",
	  .acts = "hints given",
	  .prepare = history_prepare },
	{ .name = "served",
	  .help = "passes MPI hints that the site has learned for the program",
	  .acts = "hints given" },
	{ .name = "model_hints",
	  .help = "changes hints of open MPI files where the model of the machine predicts a "
		  "speedup",
	  .acts = "hint changes" },
	{ .name = "read_ahead",
	  .help = "prefetches files that are read with a constant stride",
	  .acts = "advice given" },
	{ .name = NULL },
};

const struct plugin_guest *plugin_guest_find(const char *name)
{
	for (const struct plugin_guest *g = plugin_guests; g->name; g++)
		if (!strcmp(g->name, name))
			return g;
	return NULL;
}
