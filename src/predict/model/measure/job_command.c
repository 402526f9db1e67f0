/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/measure/job_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

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
	/* Allow more ranks than cores, do not bind them, and yield while waiting. */
	static const char *const wanted[] = { "OMPI_MCA_rmaps_base_oversubscribe=1",
					      "OMPI_MCA_mpi_yield_when_idle=1",
					      "OMPI_MCA_hwloc_base_binding_policy=none" };

	if (command->launcher_command || !command->cores || command->ranks <= command->cores)
		return;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		AUTO_FREE char *name = xstrndup(wanted[i], strcspn(wanted[i], "="));

		if (!getenv(name))
			words_add(words, wanted[i]);
	}
}
