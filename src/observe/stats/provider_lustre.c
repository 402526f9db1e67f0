/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Data transferred by the node's Lustre client, per mounted file system. Reads the stats files of
 * llite, which are in /proc or, for newer clients, in debugfs. Without Lustre there are no
 * statistics.
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
	char *path; /* path of its stats file */
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

	(void)statistics; /* clients are registered when they are first seen */
	lustre->root = root;
	*state = lustre;
	return 0;
}

/*
 * The directory is named FILESYSTEM-ADDRESS. Two mounts of one file system differ in the address.
 */
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

static void find_clients(struct lustre *lustre, struct statistics *statistics)
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

/* Parses "read_bytes 12 samples [bytes] 4096 1048576 8388608": count, minimum, maximum, sum. */
static bool parse_stats_line(const char *at, uint64_t *times, uint64_t *sum)
{
	uint64_t minimum, maximum;
	unsigned n;

	if (!procfile_number(&at, times))
		return false;
	procfile_word(&at, &n);
	procfile_word(&at, &n);
	return procfile_number(&at, &minimum) && procfile_number(&at, &maximum) &&
	       procfile_number(&at, sum);
}

static void update_client(struct client *client, struct statistics *statistics)
{
	/* The file omits a line while its count is 0. */
	uint64_t values[FIGURES] = { 0 };
	const char *at = procfile_read(&client->stats);

	if (!at)
		return;
	for (; at; at = procfile_next_line(at)) {
		if (!strncmp(at, "read_bytes ", 11))
			parse_stats_line(at + 11, &values[READS], &values[READ]);
		else if (!strncmp(at, "write_bytes ", 12))
			parse_stats_line(at + 12, &values[WRITES], &values[WRITTEN]);
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
		find_clients(lustre, statistics);
	for (size_t i = 0; i < lustre->count; i++)
		update_client(&lustre->list[i], statistics);
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
	.help = "data transferred by the Lustre client",
	.start = start,
	.poll = poll,
	.stop = stop,
};
