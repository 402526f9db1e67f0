/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "store/knowledge.h"
#include "tune/program/identity.h"

static int note_entry(void *arg, const struct knowledge *knowledge)
{
	(void)knowledge;
	*(int *)arg = 1;
	return 1;
}

static int copy_entry(void *arg, const struct knowledge *knowledge)
{
	struct known *t = arg;

	t->id = knowledge->id;
	t->parameters = xstrdup(knowledge->parameters);
	t->objective = xstrdup(knowledge->objective);
	t->gain = knowledge->gain;
	t->compared = xstrdup(knowledge->compared);
	return 1;
}

static int find_entry(struct known *t, struct store *store, const struct config *config,
		      char **argv, struct err *err)
{
	struct identity identity;
	struct knowledge_key key;
	int fit;

	identity_init(&identity, argv, config_text(config, SETTING_TUNE_PLATFORM));
	key = (struct knowledge_key){
		.program = identity.program,
		.fingerprint = identity.fingerprint,
		.arguments = identity.arguments,
		.platform = identity.platform,
		.filesystem = filesystem_name(identity.filesystem),
		.ranks = identity.ranks,
	};
	fit = knowledge_find(store, &key, copy_entry, t, err);
	identity_release(&identity);
	return fit;
}

int known_find(struct known *known, const struct config *config, char **argv, struct err *err)
{
	struct known found = { .fit = KNOWN_NOTHING };
	struct store *store;
	int has_entries = 0;
	int r = store_open_existing(&store, config_text(config, SETTING_STORE_PATH), err);

	if (r == -ENOENT) {
		*known = found;
		return 0;
	}
	if (r < 0)
		return r;
	/* Checking for any entry is cheaper than identifying the program. */
	r = knowledge_list(store, note_entry, &has_entries, err);
	if (r >= 0 && has_entries)
		r = find_entry(&found, store, config, argv, err);
	store_close(store);
	if (r < 0) {
		known_release(&found);
		return r;
	}
	if (found.parameters)
		found.fit = (enum known_fit)r;
	*known = found;
	return 0;
}

void known_release(struct known *known)
{
	free(known->parameters);
	free(known->objective);
	free(known->compared);
	*known = (struct known){ .fit = KNOWN_NOTHING };
}

char *known_describe(const struct known *known)
{
	static const char *const fits[] = {
		[KNOWN_OTHER_CODE] = " (found with another version of it)",
		[KNOWN_OTHER_ARGUMENTS] = " (found with other arguments)",
		[KNOWN_SAME] = "",
	};

	return xprintf("made the %s of this program %.2f times faster%s; %s%s",
		       strcmp(known->objective, "run") == 0 ? "run" : "I/O", known->gain,
		       fits[known->fit], *known->compared ? "data " : "",
		       *known->compared ? known->compared
					: "it is unknown how its data was compared");
}
