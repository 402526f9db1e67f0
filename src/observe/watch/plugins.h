/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which plug-ins the settings ask for, found and checked. Plug-ins of our own are constants in
 * plugin_builtin[]; any other is a library, named by its absolute path.
 */
#ifndef SLUICE_OBSERVE_WATCH_PLUGINS_H
#define SLUICE_OBSERVE_WATCH_PLUGINS_H

#include <stdint.h>

#include <sluice/plugin.h>

struct config;
struct err;

/* Asynchronous ones of our own; ends with NULL. */
extern const struct sluice_plugin *const plugin_builtin[];

/*
 * In-line ones of our own are in the guest, by name. prepare (optional) runs in the host before the
 * first process starts, and leaves in the run's directory what the guest's half will read. A name
 * may be in both lists: then it has two halves, which are two choices.
 */
struct plugin_guest {
	const char *name;
	int (*prepare)(const struct config *config, const char *directory, struct err *err);
};
extern const struct plugin_guest plugin_guests[]; /* ends with a NULL name */

struct plugin_choice {
	const char *name; /* as the settings have it; path of a library */
	char *short_name; /* section of its options: base name of a path without its suffix */
	uint32_t layers;  /* bit per enum layer */
	uint32_t kind;	  /* enum sluice_plugin_kind */
	const struct sluice_plugin *plugin; /* of an asynchronous one that is our own */
	char *refusal;			    /* why it is not used; NULL: it is */
};

struct plugin_choices {
	struct plugin_choice *list;
	size_t count;
};

/*
 * Reads [plugins] and [plugins.LAYER]. A plug-in that several sections name is one choice.
 * Libraries are tried in a process of their own, so that one that crashes when it is loaded is
 * refused as any other. Layers that do not exist are a refusal that names the settings' place.
 */
void plugin_choices_make(struct plugin_choices *choices, const struct config *config);
void plugin_choices_release(struct plugin_choices *choices);

/* Loads an asynchronous choice; NULL with a reason in err. The library stays loaded. */
const struct sluice_plugin *plugin_load(const struct plugin_choice *choice, struct err *err);

/* Is it one of the right ABI and kind, with its required hooks? Else err says what to mend. */
int plugin_check(const struct sluice_plugin *plugin, const char *name, uint32_t kind,
		 struct err *err);

#endif
