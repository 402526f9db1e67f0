/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/runtimes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "contract/journal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum runtime_kind {
	RUNTIME_VARIABLES, /* reads PREFIXENV_NAME and PREFIX_BIND */
	RUNTIME_OPTIONS,   /* needs --env and --volume */
};

struct runtime {
	const char *name;
	enum runtime_kind kind;
	const char *prefix; /* of its variables */
	bool has_daemon;    /* its containers belong to root, not to the user */
};

/* Apptainer still reads the variables of Singularity, but complains about them. */
static const struct runtime runtimes[] = {
	{ "apptainer", RUNTIME_VARIABLES, "APPTAINER", false },
	{ "singularity", RUNTIME_VARIABLES, "SINGULARITY", false },
	{ "podman", RUNTIME_OPTIONS, NULL, false },
	{ "docker", RUNTIME_OPTIONS, NULL, true },
};

static const struct runtime *find_runtime(const char *program)
{
	const char *name = path_base_name(program);

	for (size_t i = 0; i < COUNT(runtimes); i++)
		if (strcmp(runtimes[i].name, name) == 0)
			return &runtimes[i];
	return NULL;
}

bool runtimes_have(const char *program)
{
	return find_runtime(program) != NULL;
}

static bool starts_container(char *const *argv)
{
	static const char *const commands[] = { "run", "create", "exec", "start", "shell" };

	for (size_t i = 0; argv[i]; i++)
		for (size_t k = 0; k < COUNT(commands); k++)
			if (strcmp(argv[i], commands[k]) == 0)
				return true;
	return false;
}

/* The word of a command that names a runtime, which may follow a launcher of ranks; or NULL. */
static const char *find_started(char *const *argv)
{
	for (size_t i = 0; argv[i]; i++)
		if (find_runtime(argv[i]) && starts_container(argv + i + 1))
			return argv[i];
	return NULL;
}

/* The runtime behind a name: many systems install Apptainer with a link named singularity. */
static const struct runtime *resolve_name(const char *name)
{
	AUTO_FREE char *path = place_program(name);
	AUTO_FREE char *real = path ? realpath(path, NULL) : NULL;
	const struct runtime *found = real ? find_runtime(real) : NULL;

	return found || !path ? found : find_runtime(name);
}

/* The runtime that reads variables: the one of the command, else the first one that can be found,
 * because a script may start it. */
static const struct runtime *find_reader(char *const *argv)
{
	const char *started = find_started(argv);
	const struct runtime *found = started ? resolve_name(started) : NULL;

	for (size_t i = 0; !found && i < COUNT(runtimes); i++)
		if (runtimes[i].kind == RUNTIME_VARIABLES)
			found = resolve_name(runtimes[i].name);
	return found && found->kind == RUNTIME_VARIABLES ? found : NULL;
}

/* Appends "NAME=first", or "NAME=first" joined with the value that the user has set. */
static void put_variable(struct buf *out, const char *prefix, const char *name, const char *first,
			 char separator)
{
	AUTO_FREE char *variable = xprintf("%s%s", prefix, name);
	const char *value = separator ? getenv(variable) : NULL;

	buf_printf(out, "%s=%s", variable, first);
	if (value && *value)
		buf_printf(out, "%c%s", separator, value);
	buf_add(out, "", 1);
}

/* In a list of mounts, a comma separates them and a colon the parts of one. */
static bool can_be_bound(const char *path)
{
	return !path || (!strchr(path, ',') && !strchr(path, ':'));
}

void runtimes_put_variables(struct buf *variables, char *const *argv, const char *library,
			    const char *spool)
{
	const struct runtime *runtime = find_reader(argv);
	const char *journal = getenv(JOURNAL_VARIABLE);
	AUTO_BUF struct buf mounts = { 0 };

	if (!runtime || !can_be_bound(library) || !can_be_bound(spool) || !can_be_bound(journal))
		return;
	buf_puts(&mounts, spool);
	if (library)
		buf_printf(&mounts, ",%s:%s:ro", library, library);
	if (journal)
		buf_printf(&mounts, ",%s", journal);
	put_variable(variables, runtime->prefix, "_BIND", buf_text(&mounts), ',');
	put_variable(variables, runtime->prefix, "ENV_SLUICE_SPOOL", spool, 0);
	if (library)
		put_variable(variables, runtime->prefix, "ENV_LD_PRELOAD", library, ':');
	if (journal)
		put_variable(variables, runtime->prefix, "ENV_" JOURNAL_VARIABLE, journal, 0);
}

static bool has_word(char *const *argv, const char *part)
{
	for (size_t i = 0; argv[i]; i++)
		if (strstr(argv[i], part))
			return true;
	return false;
}

/* The directory of a run has a new name each time, so that the one above it is mounted. */
char *runtimes_advise(char *const *argv, const char *library, const char *spool)
{
	const char *started = find_started(argv);
	const struct runtime *runtime = started ? find_runtime(started) : NULL;
	const char *end = strrchr(spool, '/');
	AUTO_FREE char *above = xstrndup(spool, (size_t)(end - spool));
	struct buf text = { 0 };

	if (!runtime || runtime->kind != RUNTIME_OPTIONS || !library ||
	    (has_word(argv, library) && has_word(argv, "SLUICE_SPOOL")))
		return NULL;
	buf_printf(&text,
		   "%s starts the program in a container, where it runs unrecorded. To record it, "
		   "add these options to '%s run': --env LD_PRELOAD=%s --env SLUICE_SPOOL "
		   "--env SLUICE_SECCOMP=trust --volume %s:%s:ro --volume %s:%s",
		   runtime->name, runtime->name, library, library, library, above, above);
	if (runtime->has_daemon && getuid() != 0)
		buf_printf(&text, " --user %u:%u", (unsigned)getuid(), (unsigned)getgid());
	return buf_take(&text);
}
