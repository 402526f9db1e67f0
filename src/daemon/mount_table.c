/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/mount_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#define MOUNTINFO_MAX (4u << 20)
#define MOUNTS_MAX 4096

/* Replaces \040 and the like. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned code;

		if (text[0] == '\\' && sscanf(text + 1, "%3o", &code) == 1 && code) {
			*to++ = (char)code;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = 0;
}

static void add_path(struct mount_table *table, char *path)
{
	table->paths = xgrow(table->paths, &table->cap, table->count + 1, sizeof(*table->paths));
	table->paths[table->count++] = path;
}

/* The fifth field of a line is the mount point. */
static void add_line(struct mount_table *table, const char *line, size_t n)
{
	AUTO_FREE char *copy = xstrndup(line, n);
	char *rest = NULL, *word = strtok_r(copy, " ", &rest);

	for (int i = 0; i < 4 && word; i++)
		word = strtok_r(NULL, " ", &rest);
	if (!word || *word != '/' || table->count == MOUNTS_MAX)
		return;
	unescape(word);
	add_path(table, xstrdup(word));
}

static int compare_lengths(const void *a, const void *b)
{
	size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);

	return (x < y) - (x > y);
}

void mount_table_release(struct mount_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->paths[i]);
	free(table->paths);
	*table = (struct mount_table){ 0 };
}

void mount_table_parse(struct mount_table *table, const char *mountinfo)
{
	mount_table_release(table);
	while (*mountinfo) {
		size_t n = strcspn(mountinfo, "\n");

		add_line(table, mountinfo, n);
		mountinfo += n + (mountinfo[n] == '\n');
	}
	add_path(table, xstrdup("/"));
	qsort(table->paths, table->count, sizeof(*table->paths), compare_lengths);
}

void mount_table_load(struct mount_table *table)
{
	AUTO_BUF struct buf text = { 0 };

	if (file_read_all(&text, "/proc/self/mountinfo", MOUNTINFO_MAX, NULL) < 0)
		buf_clear(&text);
	mount_table_parse(table, buf_text(&text));
}

const char *mount_table_find(const struct mount_table *table, const char *path)
{
	if (*path != '/')
		return "other";
	for (size_t i = 0; i < table->count; i++) {
		size_t n = strlen(table->paths[i]);

		if (n == 1 ||
		    (strncmp(path, table->paths[i], n) == 0 && (path[n] == '/' || path[n] == 0)))
			return table->paths[i];
	}
	return "/";
}
