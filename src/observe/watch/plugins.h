/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which plug-ins the settings ask for, found and checked. Plug-ins of our own are constants in
 * plugin_builtin[] and plugin_guests[] (builtin.c); any other is a library, named by its absolute
 * path (library.h).
 */
#ifndef SLUICE_OBSERVE_WATCH_PLUGINS_H
#define SLUICE_OBSERVE_WATCH_PLUGINS_H

#include <stdbool.h>
#include <stdint.h>

#include <sluice/plugin.h>

struct config;
struct control;
struct err;

#define PLUGIN_ALL_LAYERS ((UINT32_C(1) << LAYER_COUNT) - 1)

/* Asynchronous ones of our own; ends with NULL. */
extern const struct sluice_plugin *const plugin_builtin[];

/*
 * In-line ones of our own are in the guest, by name. prepare (optional) runs in the host before the
 * first process starts, and leaves in the run's directory what the guest's half will read. A name
 * may be in both lists: then it has two halves, which are two choices.
 */
struct plugin_guest {
	const char *name;
	const char *acts; /* what its hooks' acts are, in the report: "advice given" */
	int (*prepare)(const struct config *config, const char *directory, struct err *err);
};
extern const struct plugin_guest plugin_guests[];		/* ends with a NULL name */
const struct plugin_guest *plugin_guest_find(const char *name); /* NULL: it is none of ours */

struct plugin_choice {
	char *name;	  /* as the settings have it: a word, or the path of a library */
	char *short_name; /* its section in the settings, and its lines in the report */
	char *origin;	  /* where the settings name it */
	uint32_t layers;  /* bit per enum layer */
	uint32_t kind;	  /* enum sluice_plugin_kind; 0 where it could not be learnt */
	bool detects;	  /* it has a health hook */
	const struct sluice_plugin *plugin; /* of an asynchronous one that is our own */
	char *refusal;			    /* why it is not used; NULL: it is */
};

struct plugin_choices {
	struct plugin_choice *list;
	size_t count, cap;
};

/*
 * Reads [plugins] and [plugins.LAYER]. A plug-in that several sections name is one choice.
 * Libraries are tried in a process of their own, so that one that crashes when it is loaded is
 * refused as any other. Layers that do not exist are a refusal that names the settings' place.
 */
void plugin_choices_make(struct plugin_choices *choices, const struct config *config);
/* Adds those of a list of names; origin is where it comes from. */
void plugin_choices_add(struct plugin_choices *choices, const char *names, uint32_t layers,
			const char *origin);
void plugin_choices_release(struct plugin_choices *choices);

/* Is there one that is not refused? */
bool plugin_choices_have(const struct plugin_choices *choices, uint32_t kind);

/* Is there one that detects anomalies? */
bool plugin_choices_detect(const struct plugin_choices *choices);

/*
 * Writes the in-line ones, with their options and budget, into the control page, and prepares what
 * they need. One that cannot be had is refused. num and den: what a tick is worth in ns.
 */
void plugin_choices_control(struct plugin_choices *choices, const struct config *config,
			    const char *directory, struct control *control, uint64_t num,
			    uint64_t den);

/* Loads an asynchronous choice; NULL with a reason in err. The library stays loaded. */
const struct sluice_plugin *plugin_load(const struct plugin_choice *choice, struct err *err);

#endif
