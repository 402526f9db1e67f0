/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/knowledge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "store/knowledge.h"
#include "tune/program/identity.h"

static int is_there(void *arg, const struct knowledge *knowledge)
{
	(void)knowledge;
	*(int *)arg = 1;
	return 1;
}

static int entry_take(void *arg, const struct knowledge *knowledge)
{
	struct tuned *t = arg;

	t->id = knowledge->id;
	t->parameters = xstrdup(knowledge->parameters);
	t->objective = xstrdup(knowledge->objective);
	t->gain = knowledge->gain;
	return 1;
}

static int entry_find(struct tuned *t, struct store *store, const struct config *config,
		      char **argv, struct err *err)
{
	struct identity identity;
	struct knowledge_key key;
	int fit;

	identity_of(&identity, argv, config_text(config, SETTING_TUNE_PLATFORM));
	key = (struct knowledge_key){
		.program = identity.program,
		.fingerprint = identity.fingerprint,
		.arguments = identity.arguments,
		.platform = identity.platform,
		.filesystem = filesystem_name(identity.filesystem),
		.ranks = identity.ranks,
	};
	fit = knowledge_find(store, &key, entry_take, t, err);
	identity_release(&identity);
	return fit;
}

int tuned_find(struct tuned *tuned, const struct config *config, char **argv, struct err *err)
{
	struct tuned found = { .fit = TUNED_NOTHING };
	struct store *store;
	int knows = 0;
	int r = store_open_existing(&store, config_text(config, SETTING_STORE_PATH), err);

	if (r == -ENOENT) {
		*tuned = found;
		return 0;
	}
	if (r < 0)
		return r;
	/* To find out what a program is known by takes longer than this. */
	r = knowledge_list(store, is_there, &knows, err);
	if (r >= 0 && knows)
		r = entry_find(&found, store, config, argv, err);
	store_close(store);
	if (r < 0) {
		tuned_release(&found);
		return r;
	}
	if (found.parameters)
		found.fit = (enum tuned_fit)r;
	*tuned = found;
	return 0;
}

void tuned_release(struct tuned *tuned)
{
	free(tuned->parameters);
	free(tuned->objective);
	*tuned = (struct tuned){ .fit = TUNED_NOTHING };
}

char *tuned_describe(const struct tuned *tuned)
{
	static const char *const fits[] = {
		[TUNED_OTHER_CODE] = ", though found with another version of it",
		[TUNED_OTHER_ARGUMENTS] = ", though found with other arguments",
		[TUNED_SAME] = "",
	};

	return xprintf("made the %s of this program %.2f times faster%s",
		       strcmp(tuned->objective, "run") == 0 ? "run" : "I/O", tuned->gain,
		       fits[tuned->fit]);
}
