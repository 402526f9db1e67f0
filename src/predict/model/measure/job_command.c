/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/measure/job_command.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"

void words_add(struct words *words, const char *word)
{
	words->items = xgrow(words->items, &words->cap, words->count + 2, sizeof(*words->items));
	words->items[words->count++] = xstrdup(word);
	words->items[words->count] = NULL;
}

void words_release(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	free(words->items);
	*words = (struct words){ 0 };
}

/* Adds the words of the user's launcher, with the number of ranks for {ranks}. */
static void add_launcher_command(struct words *words, const char *command, uint64_t ranks)
{
	static const char mark[] = "{ranks}";
	AUTO_FREE char *copy = xstrdup(command);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " \t"))) {
		AUTO_BUF struct buf out = { 0 };
		char *at;

		if (!*word)
			continue;
		while ((at = strstr(word, mark))) {
			buf_add(&out, word, (size_t)(at - word));
			buf_printf(&out, "%" PRIu64, ranks);
			word = at + strlen(mark);
		}
		buf_puts(&out, word);
		words_add(words, buf_text(&out));
	}
}

static size_t count_hosts(const char *hosts)
{
	size_t n = 1;

	for (; *hosts; hosts++)
		n += *hosts == ',';
	return n;
}

/* "-hosts a,b -ppn 4" for MPICH, "--host a:4,b:4" for Open MPI. */
static void add_hosts(struct words *words, const struct job_command *command)
{
	uint64_t count = count_hosts(command->hosts);
	AUTO_FREE char *per_host = xprintf("%" PRIu64, (command->ranks + count - 1) / count);
	AUTO_FREE char *copy = xstrdup(command->hosts);
	AUTO_BUF struct buf list = { 0 };
	char *rest = copy, *host;

	if (command->mpi == MPI_MPICH) {
		words_add(words, "-hosts");
		words_add(words, command->hosts);
		words_add(words, "-ppn");
		words_add(words, per_host);
		return;
	}
	while ((host = strsep(&rest, ",")))
		buf_printf(&list, "%s%s:%s", list.len ? "," : "", host, per_host);
	words_add(words, "--host");
	words_add(words, buf_text(&list));
}

void job_command_line(const struct job_command *command, struct words *words)
{
	AUTO_FREE char *ranks = xprintf("%" PRIu64, command->ranks);

	if (command->launcher_command) {
		add_launcher_command(words, command->launcher_command, command->ranks);
		return;
	}
	words_add(words, command->launcher);
	words_add(words, "-n");
	words_add(words, ranks);
	if (command->hosts)
		add_hosts(words, command);
}

void job_command_environment(const struct job_command *command, struct words *words)
{
	/* Allow more ranks than cores, do not bind them, and yield while waiting. Open MPI 5 has a
	 * launcher of its own, PRRTE. */
	static const char *const wanted[] = {
		"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1",
		"OMPI_MCA_hwloc_base_binding_policy=none",
		"PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
		"PRTE_MCA_hwloc_default_binding_policy=none"
	};

	if (command->launcher_command || !command->cores || command->ranks <= command->cores)
		return;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		AUTO_FREE char *name = xstrndup(wanted[i], strcspn(wanted[i], "="));

		if (!getenv(name))
			words_add(words, wanted[i]);
	}
}

int job_program_find(struct job_program *program, const char *name, enum mpi wanted,
		     const char *launcher_command, struct err *err)
{
	if (launcher_current_mpi() != MPI_AUTO)
		return err_set(err, EINVAL,
			       "sluice model launches its own ranks; do not run it under mpiexec");
	program->mpi = launcher_choose(name, wanted, &program->path);
	if (!program->path)
		return err_set(err, ENOENT,
			       "the benchmark program is not built%s%s; build Sluice where an MPI "
			       "compiler is installed",
			       wanted ? " for " : "", wanted ? mpi_names[wanted] : "");
	if (launcher_command)
		return 0;
	program->launcher = launcher_path(program->mpi);
	if (!program->launcher)
		return err_set(err, ENOENT,
			       "neither mpiexec.%s nor mpiexec is in PATH; name a launcher with "
			       "--launcher",
			       mpi_names[program->mpi]);
	return 0;
}

void job_program_release(struct job_program *program)
{
	free(program->path);
	free(program->launcher);
	*program = (struct job_program){ 0 };
}

static char *file_prefix(void)
{
	char host[64] = "";

	gethostname(host, sizeof(host) - 1);
	return xprintf("sluice-bench.%s.", host);
}

char *job_file_name(const char *dir, const char *suffix)
{
	AUTO_FREE char *absolute = realpath(dir, NULL), *prefix = file_prefix();

	return xprintf("%s/%s%d%s", absolute ? absolute : dir, prefix, (int)getpid(), suffix);
}

/* True if the name is that of a process which no longer exists. */
static bool is_leftover(const char *name, const char *prefix)
{
	AUTO_FREE char *number = NULL;
	uint64_t pid;
	char *end;

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	number = xstrdup(name + strlen(prefix));
	end = strstr(number, JOB_LIST);
	if (end && strcmp(end, JOB_LIST) == 0)
		*end = 0;
	return unit_parse_count(number, &pid) == 0 && pid > 0 && pid <= INT_MAX &&
	       kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void job_remove_leftovers(const char *dir)
{
	AUTO_FREE char *prefix = file_prefix();
	DIR *entries = opendir(dir);
	struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		if (is_leftover(entry->d_name, prefix))
			unlinkat(dirfd(entries), entry->d_name, 0);
	if (entries)
		closedir(entries);
}
