/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-ins that the settings name, looked up and checked. Built-in plug-ins are constants in
 * plugin_builtin[] and plugin_guests[] (builtin.c); any other plug-in is a library, named by its
 * absolute path (library.h).
 * Papers: SIOX-4, SIOX-69.
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

/* Built-in asynchronous plug-ins; ends with NULL. */
extern const struct sluice_plugin *const plugin_builtin[];

/*
 * Built-in in-line plug-ins run in the guest and are known by name. prepare (optional) runs in the
 * host before the first process starts and writes what the guest's part will read into the run's
 * directory. A name may be in both lists: it then has two parts, which are two choices.
 */
struct plugin_guest {
	const char *name;
	const char *help; /* what it does for the program: "passes MPI hints that ..." */
	const char *acts; /* what the report calls its actions: "advice given" */
	int (*prepare)(const struct config *config, const char *directory, struct err *err);
};
extern const struct plugin_guest plugin_guests[]; /* ends with a NULL name */
const struct plugin_guest *plugin_guest_find(
	const char *name); /* NULL: not a built-in in-line plug-in */

struct plugin_choice {
	char *name;	  /* as in the settings: a word, or the path of a library */
	char *short_name; /* its section in the settings and its name in the report */
	char *origin;	  /* where the settings name it */
	uint32_t layers;  /* one bit per enum layer */
	uint32_t kind;	  /* enum sluice_plugin_kind; 0: unknown */
	bool detects;	  /* it has a health hook */
	const struct sluice_plugin *plugin; /* built-in asynchronous plug-in, else NULL */
	char *refusal;			    /* why it is not used; NULL: it is used */
};

struct plugin_choices {
	struct plugin_choice *list;
	size_t count, cap;
};

/*
 * Reads [plugins] and [plugins.LAYER]. By default no choice is in-line: what acts on a program must
 * be named by the user or the site. A plug-in that several sections name is one choice.
 * Libraries are tested in a separate process, so that one that crashes when it is loaded is refused
 * like any other. An unknown layer is a refusal that cites its place in the settings.
 */
void plugin_choices_make(struct plugin_choices *choices, const struct config *config);
/* Adds the plug-ins of a list of names; origin is where the list comes from. */
void plugin_choices_add(struct plugin_choices *choices, const char *names, uint32_t layers,
			const char *origin);
void plugin_choices_release(struct plugin_choices *choices);

/* Is there a choice of this kind that is not refused? */
bool plugin_choices_have(const struct plugin_choices *choices, uint32_t kind);

/* Is there a choice that detects anomalies? */
bool plugin_choices_detect(const struct plugin_choices *choices);

/*
 * Writes the in-line plug-ins, with their options and budget, into the control page and prepares
 * their data. A plug-in that does not fit is refused. num / den is the number of ns per tick.
 */
void plugin_choices_control(struct plugin_choices *choices, const struct config *config,
			    const char *directory, struct control *control, uint64_t num,
			    uint64_t den);

/* Loads an asynchronous plug-in; returns NULL and sets err on failure. The library stays loaded. */
const struct sluice_plugin *plugin_load(const struct plugin_choice *choice, struct err *err);

#endif
