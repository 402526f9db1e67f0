/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists the learning methods and their settings from the rows of learners[].
 */
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/option.h"
#include "base/table.h"
#include "lab/learn/print.h"
#include "learn/learner.h"

static const char *describe_tasks(unsigned tasks)
{
	return tasks == (LEARNER_REGRESSES | LEARNER_CLASSIFIES) ? "numbers, classes"
	       : tasks == LEARNER_CLASSIFIES			 ? "classes"
								 : "numbers";
}

static void format_default(const struct learner_setting *setting, char *out, size_t cap)
{
	if (setting->words)
		option_choice_name(setting->words, (int)setting->fallback, out, cap);
	else
		snprintf(out, cap, "%.6g", setting->fallback);
}

static void format_values(const struct learner_setting *setting, char *out, size_t cap)
{
	if (setting->words)
		snprintf(out, cap, "%s", setting->words);
	else if (isfinite(setting->most))
		snprintf(out, cap, "%.6g to %.6g", setting->least, setting->most);
	else
		snprintf(out, cap, "%.6g or more", setting->least);
}

static void print_methods_text(void)
{
	static const char *const titles[] = { "method", "predicts", "preparation", "description",
					      NULL };
	static const char *const setting_titles[] = { "setting", "default", "values", "meaning",
						      NULL };
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; learners[i]; i++) {
		table_add(&table, "%s", learners[i]->name);
		table_add(&table, "%s", describe_tasks(learners[i]->tasks));
		table_add(&table, "%s", learn_recipe_text(learners[i]->recipe));
		table_add(&table, "%s", learners[i]->help);
	}
	table_print(&table, stdout, 0);
	table_release(&table);
	printf("\n");
	table_init(&table, setting_titles);
	for (size_t i = 0; learners[i]; i++) {
		for (const struct learner_setting *s = learners[i]->settings; s->name; s++) {
			char fallback[64], values[128];

			format_default(s, fallback, sizeof(fallback));
			format_values(s, values, sizeof(values));
			table_add(&table, "%s:%s", learners[i]->name, s->name);
			table_add(&table, "%s", fallback);
			table_add(&table, "%s", values);
			table_add(&table, "%s", s->help);
		}
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void print_settings_json(struct json *json, const struct learner_ops *learner)
{
	json_open(json, "settings", '[');
	for (const struct learner_setting *s = learner->settings; s->name; s++) {
		char fallback[64];

		json_open(json, NULL, '{');
		json_text(json, "name", s->name);
		json_text(json, "help", s->help);
		if (s->words) {
			format_default(s, fallback, sizeof(fallback));
			json_text(json, "words", s->words);
			json_text(json, "default", fallback);
		} else {
			json_double(json, "default", s->fallback);
			json_double(json, "least", s->least);
			json_double(json, "most", s->most);
		}
		json_close(json);
	}
	json_close(json);
}

static void print_methods_json(void)
{
	struct json json;

	json_start(&json, stdout, LEARN_SCHEMA);
	json_open(&json, "methods", '[');
	for (size_t i = 0; learners[i]; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "name", learners[i]->name);
		json_text(&json, "help", learners[i]->help);
		json_bool(&json, "regresses", learners[i]->tasks & LEARNER_REGRESSES);
		json_bool(&json, "classifies", learners[i]->tasks & LEARNER_CLASSIFIES);
		json_bool(&json, "refreshes", learners[i]->refresh != NULL);
		json_text(&json, "recipe", learners[i]->recipe);
		print_settings_json(&json, learners[i]);
		json_close(&json);
	}
	json_end(&json);
}

void learn_print_methods(bool json)
{
	if (json)
		print_methods_json();
	else
		print_methods_text();
}
