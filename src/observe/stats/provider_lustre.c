/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the Lustre client of the node moves, per mounted file system, from the stats of llite, which
 * are below /proc or, with newer clients, below debugfs. Where there is no Lustre, there is
 * nothing.
 */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/stats/procfile.h"
#include "observe/stats/statistics.h"

static const char *const places[] = { "/proc/fs/lustre/llite", "/sys/kernel/debug/lustre/llite" };

enum { READ, WRITTEN, READS, WRITES, FIGURES };
static const char *const figures[FIGURES] = { "read", "written", "reads", "writes" };
static const char *const units[FIGURES] = { "bytes", "bytes", "operations", "operations" };

struct client {
	char *path; /* of its stats */
	struct procfile stats;
	unsigned numbers[FIGURES];
	struct counter counters[FIGURES];
};

struct lustre {
	const char *root;
	struct client *list;
	size_t count, cap;
	uint64_t polls;
};

static int start(void **state, struct statistics *statistics, const char *root)
{
	struct lustre *lustre = xcalloc(1, sizeof(*lustre));

	(void)statistics; /* clients register when they are first seen */
	lustre->root = root;
	*state = lustre;
	return 0;
}

/* The directory is FILESYSTEM-ADDRESS; two mounts of one file system differ in the address. */
static char *client_name(struct statistics *statistics, const char *path)
{
	const char *end = strrchr(path, '/'), *name = end;
	size_t bytes;
	char *label;

	while (name > path && name[-1] != '/')
		name--;
	bytes = (size_t)(end - name);
	for (size_t i = bytes; i-- > 1;)
		if (name[i] == '-') {
			AUTO_FREE char *first = xprintf("lustre/%.*s/read", (int)i, name);

			if (!statistics_find(statistics, first))
				bytes = i;
			break;
		}
	label = xprintf("lustre/%.*s", (int)bytes, name);
	return label;
}

static void client_add(struct lustre *lustre, struct statistics *statistics, const char *path)
{
	AUTO_FREE char *label = client_name(statistics, path);
	struct client *client;

	lustre->list = xgrow(lustre->list, &lustre->cap, lustre->count + 1, sizeof(*client));
	client = &lustre->list[lustre->count++];
	*client = (struct client){ .path = xstrdup(path) };
	procfile_open(&client->stats, "", path);
	for (int i = 0; i < FIGURES; i++) {
		AUTO_FREE char *name = xprintf("%s/%s", label, figures[i]);

		client->numbers[i] = statistics_add(statistics, name, units[i], REDUCE_SUM, 1);
	}
}

static bool is_known(const struct lustre *lustre, const char *path)
{
	for (size_t i = 0; i < lustre->count; i++)
		if (!strcmp(lustre->list[i].path, path))
			return true;
	return false;
}

static void clients_find(struct lustre *lustre, struct statistics *statistics)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		AUTO_FREE char *pattern = xprintf("%s%s/*/stats", lustre->root, places[i]);
		glob_t found;

		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			if (!is_known(lustre, found.gl_pathv[k]))
				client_add(lustre, statistics, found.gl_pathv[k]);
		globfree(&found);
	}
}

/* "read_bytes 12 samples [bytes] 4096 1048576 8388608": how often, least, most, sum. */
static bool line_read(const char *at, uint64_t *times, uint64_t *sum)
{
	uint64_t least, most;
	unsigned n;

	if (!procfile_number(&at, times))
		return false;
	procfile_word(&at, &n);
	procfile_word(&at, &n);
	return procfile_number(&at, &least) && procfile_number(&at, &most) &&
	       procfile_number(&at, sum);
}

static void client_set(struct client *client, struct statistics *statistics)
{
	/* A line is left out as long as its count is 0. */
	uint64_t values[FIGURES] = { 0 };
	const char *at = procfile_read(&client->stats);

	if (!at)
		return;
	for (; at; at = procfile_next_line(at)) {
		if (!strncmp(at, "read_bytes ", 11))
			line_read(at + 11, &values[READS], &values[READ]);
		else if (!strncmp(at, "write_bytes ", 12))
			line_read(at + 12, &values[WRITES], &values[WRITTEN]);
	}
	for (int i = 0; i < FIGURES; i++)
		statistics_set(statistics, client->numbers[i],
			       counter_step(&client->counters[i], values[i]));
}

static void poll(void *state, struct statistics *statistics, int64_t elapsed_ns)
{
	struct lustre *lustre = state;

	(void)elapsed_ns; /* increments are not rates */
	if (lustre->polls++ % PROVIDER_LOOKS == 0)
		clients_find(lustre, statistics);
	for (size_t i = 0; i < lustre->count; i++)
		client_set(&lustre->list[i], statistics);
}

static void stop(void *state)
{
	struct lustre *lustre = state;

	for (size_t i = 0; i < lustre->count; i++) {
		procfile_close(&lustre->list[i].stats);
		free(lustre->list[i].path);
	}
	free(lustre->list);
	free(lustre);
}

const struct provider provider_lustre = {
	.name = "lustre",
	.help = "what the Lustre client moves",
	.start = start,
	.poll = poll,
	.stop = stop,
};
