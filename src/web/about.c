/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the application is, and the settings of its user.
 */
#include "base/config.h"
#include "base/mem.h"
#include "web/call.h"
#include "web/handlers.h"

void handle_about(struct web_call *call)
{
	static const char *const pages[] = { "runs",	"programs",  "compare",
					     "tunings", "knowledge", "storage",
					     "node",	"model",     "settings" };
	struct reply reply;

	reply_start(&reply, "sluice.about/1");
	json_text(&reply.json, "version", SLUICE_VERSION);
	json_text(&reply.json, "user", call->user);
	json_bool(&reply.json, "is_site", false);
	json_text(&reply.json, "directory", call->directory);
	json_open(&reply.json, "pages", '[');
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		json_text(&reply.json, NULL, pages[i]);
	json_close(&reply.json);
	reply_end(&reply, call);
}

static void put_setting(struct json *json, const struct setting *setting,
			const struct config_value *value)
{
	AUTO_FREE char *name = xprintf("%s.%s", setting->section, setting->key);

	json_open(json, NULL, '{');
	json_text(json, "name", name);
	json_text(json, "value", value->text);
	json_text(json, "origin", value->origin);
	json_text(json, "default", setting->fallback);
	json_text(json, "environment", setting->environment);
	json_text(json, "help", setting->help);
	json_close(json);
}

void handle_settings(struct web_call *call)
{
	struct reply reply;

	reply_start(&reply, "sluice.settings/1");
	json_open(&reply.json, "settings", '[');
	for (int i = 0; i < SETTING_COUNT; i++)
		put_setting(&reply.json, &settings[i], &call->config->values[i]);
	json_close(&reply.json);
	reply_end(&reply, call);
}
