/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-19, SIOX-28.
 */
#include "observe/watch/plugins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "contract/spool.h"
#include "observe/watch/library.h"
#include "trace/facts.h"

static struct plugin_choice *choice_new(struct plugin_choices *choices, const char *name,
					uint32_t layers, const char *origin)
{
	choices->list =
		xgrow(choices->list, &choices->cap, choices->count + 1, sizeof(*choices->list));
	choices->list[choices->count] = (struct plugin_choice){ .name = xstrdup(name),
								.origin = xstrdup(origin),
								.layers = layers };
	return &choices->list[choices->count++];
}

static void refuse_choice(struct plugin_choice *choice, const char *why)
{
	choice->refusal =
		xprintf("plug-in %s is not used: %s (%s)", choice->name, why, choice->origin);
}

/* Lists all built-in names, each once. */
static void list_builtin_names(struct buf *out)
{
	for (size_t i = 0; plugin_builtin[i]; i++)
		buf_printf(out, " %s", plugin_builtin[i]->name);
	for (const struct plugin_guest *g = plugin_guests; g->name; g++) {
		bool twice = false;

		for (size_t i = 0; plugin_builtin[i]; i++)
			twice |= !strcmp(plugin_builtin[i]->name, g->name);
		if (!twice)
			buf_printf(out, " %s", g->name);
	}
}

static void add_library(struct plugin_choices *choices, const char *path, uint32_t layers,
			const char *origin)
{
	struct plugin_choice *choice = choice_new(choices, path, layers, origin);
	struct library_found found = { 0 };
	struct err err = { 0 };

	if (path[0] != '/')
		err_set(&err, EINVAL, "a plug-in library must be given by its absolute path");
	else
		library_probe(path, &found, &err);
	choice->kind = found.kind;
	choice->detects = found.detects;
	choice->short_name =
		found.kind ? xstrdup(found.name)
			   : xstrndup(path_base_name(path), strcspn(path_base_name(path), "."));
	if (err.code)
		refuse_choice(choice, err.text);
}

static void add_builtin(struct plugin_choices *choices, const char *name, uint32_t layers,
			const char *origin)
{
	struct plugin_choice *choice = NULL;
	AUTO_BUF struct buf why = { 0 };

	for (size_t i = 0; plugin_builtin[i]; i++) {
		if (strcmp(plugin_builtin[i]->name, name) != 0)
			continue;
		choice = choice_new(choices, name, layers, origin);
		choice->short_name = xstrdup(name);
		choice->kind = SLUICE_ASYNC;
		choice->plugin = plugin_builtin[i];
		choice->detects = choice->plugin->async->health != NULL;
	}
	if (plugin_guest_find(name)) {
		choice = choice_new(choices, name, layers, origin);
		choice->short_name = xstrdup(name);
		choice->kind = SLUICE_INLINE;
	}
	if (choice)
		return;
	choice = choice_new(choices, name, layers, origin);
	choice->short_name = xstrdup(name);
	buf_puts(&why, "unknown plug-in; the built-in plug-ins are:");
	list_builtin_names(&why);
	buf_puts(&why, "; give a library by its absolute path");
	refuse_choice(choice, buf_text(&why));
}

/* If the plug-in was named before, adds the layers to it and returns true. */
static bool add_layers(struct plugin_choices *choices, const char *name, uint32_t layers)
{
	bool found = false;

	for (size_t i = 0; i < choices->count; i++) {
		if (strcmp(choices->list[i].name, name) != 0)
			continue;
		choices->list[i].layers |= layers;
		found = true;
	}
	return found;
}

void plugin_choices_add(struct plugin_choices *choices, const char *names, uint32_t layers,
			const char *origin)
{
	AUTO_FREE char *copy = xstrdup(names);
	char *rest = NULL;

	for (char *name = strtok_r(copy, " \t,", &rest); name;
	     name = strtok_r(NULL, " \t,", &rest)) {
		if (add_layers(choices, name, layers))
			continue;
		if (strchr(name, '/'))
			add_library(choices, name, layers, origin);
		else
			add_builtin(choices, name, layers, origin);
	}
}

static void refuse_layer(struct plugin_choices *choices, const struct config_extra *extra)
{
	struct plugin_choice *choice = choice_new(choices, extra->text, 0, extra->origin);
	AUTO_BUF struct buf why = { 0 };

	choice->short_name = xstrdup(extra->section);
	buf_printf(&why, "[%s]: unknown layer; expected one of:", extra->section);
	for (unsigned layer = 0; layer < LAYER_COUNT; layer++)
		buf_printf(&why, " %s", layer_name(layer));
	refuse_choice(choice, buf_text(&why));
}

void plugin_choices_make(struct plugin_choices *choices, const struct config *config)
{
	static const enum setting_id global[] = { SETTING_PLUGINS_LOAD, SETTING_PLUGINS_ACT };

	*choices = (struct plugin_choices){ 0 };
	for (size_t i = 0; i < sizeof(global) / sizeof(global[0]); i++)
		plugin_choices_add(choices, config->values[global[i]].text, PLUGIN_ALL_LAYERS,
				   config->values[global[i]].origin);
	for (size_t i = 0; i < config->extra_count; i++) {
		const struct config_extra *extra = &config->extras[i];
		int layer;

		if (strncmp(extra->section, "plugins.", 8) != 0)
			continue;
		layer = layer_by_name(extra->section + 8);
		if (layer < 0)
			refuse_layer(choices, extra);
		else
			plugin_choices_add(choices, extra->text, UINT32_C(1) << layer,
					   extra->origin);
	}
}

void plugin_choices_release(struct plugin_choices *choices)
{
	for (size_t i = 0; i < choices->count; i++) {
		free(choices->list[i].name);
		free(choices->list[i].short_name);
		free(choices->list[i].origin);
		free(choices->list[i].refusal);
	}
	free(choices->list);
	*choices = (struct plugin_choices){ 0 };
}

bool plugin_choices_have(const struct plugin_choices *choices, uint32_t kind)
{
	for (size_t i = 0; i < choices->count; i++)
		if (choices->list[i].kind == kind && !choices->list[i].refusal)
			return true;
	return false;
}

bool plugin_choices_detect(const struct plugin_choices *choices)
{
	for (size_t i = 0; i < choices->count; i++)
		if (choices->list[i].detects && !choices->list[i].refusal)
			return true;
	return false;
}

/* Writes its section in the form that the guest reads. */
static int write_options(const struct plugin_choice *choice, const struct config *config,
			 char out[CONTROL_OPTIONS_BYTES], struct err *err)
{
	AUTO_FREE char *section = xprintf("plugin.%s", choice->short_name);
	AUTO_BUF struct buf text = { 0 };

	for (size_t i = 0; i < config->extra_count; i++)
		if (!strcmp(config->extras[i].section, section))
			buf_printf(&text, "%s=%s\n", config->extras[i].key, config->extras[i].text);
	if (text.len >= CONTROL_OPTIONS_BYTES)
		return err_set(err, E2BIG, "the options are longer than %d bytes",
			       CONTROL_OPTIONS_BYTES - 1);
	strcpy(out, buf_text(&text));
	return 0;
}

static int write_inline(const struct plugin_choice *choice, const struct config *config,
			const char *directory, struct control_plugin *out, struct err *err)
{
	const struct plugin_guest *guest = plugin_guest_find(choice->name);
	int r = write_options(choice, config, out->options, err);

	if (r >= 0 && guest && guest->prepare)
		r = guest->prepare(config, directory, err);
	if (r >= 0 && strlen(choice->name) >= sizeof(out->name))
		r = err_set(err, ENAMETOOLONG, "the path is longer than %zu bytes",
			    sizeof(out->name) - 1);
	if (r < 0)
		return r;
	out->layers = choice->layers;
	strcpy(out->name, choice->name);
	return 0;
}

void plugin_choices_control(struct plugin_choices *choices, const struct config *config,
			    const char *directory, struct control *control, uint64_t num,
			    uint64_t den)
{
	uint64_t budget_ns = config_number(config, SETTING_PLUGINS_BUDGET);
	size_t used = 0;

	control->plugin_budget_ticks = (uint64_t)((__uint128_t)budget_ns * den / num);
	for (size_t i = 0; i < choices->count; i++) {
		struct plugin_choice *choice = &choices->list[i];
		struct err err = { 0 };

		if (choice->kind != SLUICE_INLINE || choice->refusal)
			continue;
		if (used == CONTROL_PLUGINS)
			err_set(&err, E2BIG, "at most %d in-line plug-ins are supported",
				CONTROL_PLUGINS);
		else if (write_inline(choice, config, directory, &control->plugins[used], &err) >=
			 0)
			used++;
		if (err.code) {
			refuse_choice(choice, err.text);
			if (used < CONTROL_PLUGINS)
				control->plugins[used] = (struct control_plugin){ 0 };
		}
	}
}

const struct sluice_plugin *plugin_load(const struct plugin_choice *choice, struct err *err)
{
	return choice->plugin ? choice->plugin : library_load(choice->name, choice->kind, err);
}
