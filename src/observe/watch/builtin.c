/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-ins of our own.
 */
#include <string.h>

#include "observe/watch/plugins.h"

const struct sluice_plugin *const plugin_builtin[] = {
	NULL,
};

const struct plugin_guest plugin_guests[] = {
	{ .name = NULL },
};

const struct plugin_guest *plugin_guest_find(const char *name)
{
	for (const struct plugin_guest *g = plugin_guests; g->name; g++)
		if (!strcmp(g->name, name))
			return g;
	return NULL;
}
