/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/hide.h"

#include <ctype.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"

#define EXTENSION_MAX 8

int hide_init(struct hide *hide, const struct config *config, struct err *err)
{
	*hide = (struct hide){
		.hashes_paths = config_choice(config, SETTING_SITE_PATHS) == CONFIG_PATHS_HASH,
		.omits_commands =
			config_choice(config, SETTING_SITE_COMMANDS) == CONFIG_COMMANDS_OMIT,
	};
	return hide->hashes_paths
		       ? owner_key_load(hide->key, config_text(config, SETTING_SITE_KEY), err)
		       : 0;
}

/* The extension with its point; "" if there is none, or if it may be something else. */
static const char *extension_of(const char *path)
{
	const char *base = strrchr(path, '/'), *dot;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	if (!dot || dot == base || !dot[1] || strlen(dot + 1) > EXTENSION_MAX)
		return "";
	for (const char *c = dot + 1; *c; c++)
		if (!isalnum((unsigned char)*c))
			return "";
	return dot;
}

char *hide_path(const struct hide *hide, const char *path)
{
	if (!hide->hashes_paths || !*path)
		return xstrdup(path);
	return xprintf("%016llx%s", (unsigned long long)owner_hash(path, strlen(path), hide->key),
		       extension_of(path));
}

char *hide_program(const struct hide *hide, const char *path)
{
	const char *base = strrchr(path, '/');

	return xstrdup(hide->hashes_paths && base ? base + 1 : path);
}

const char *hide_command(const struct hide *hide, const char *command)
{
	return hide->omits_commands ? "" : command;
}
