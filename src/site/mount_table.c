/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/mount_table.h"

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

/* Types of file systems whose data is on other machines. */
static const char *const shared_types[] = {
	"9p",	     "afs",	    "beegfs",	      "ceph",	  "cifs",  "fhgfs",
	"fuse.ceph", "fuse.cephfs", "fuse.glusterfs", "gfs2",	  "gpfs",  "lustre",
	"nfs",	     "nfs4",	    "ocfs2",	      "orangefs", "panfs", "pvfs2",
	"smb3",	     "virtiofs",    "wekafs",	      NULL,
};

static bool is_shared_type(const char *type, size_t n)
{
	for (size_t i = 0; shared_types[i]; i++)
		if (strlen(shared_types[i]) == n && memcmp(shared_types[i], type, n) == 0)
			return true;
	return false;
}

static void add_point(struct mount_table *table, char *path, bool is_shared)
{
	table->points = xgrow(table->points, &table->cap, table->count + 1, sizeof(*table->points));
	table->points[table->count++] = (struct mount_point){ path, is_shared };
}

/* The fifth field of a line is the mount point; the type follows a hyphen. */
static void add_line(struct mount_table *table, const char *line, size_t n)
{
	AUTO_FREE char *copy = xstrndup(line, n);
	const char *type = strstr(copy, " - ");
	bool is_shared = type && is_shared_type(type + 3, strcspn(type + 3, " "));
	char *rest = NULL, *word = strtok_r(copy, " ", &rest);

	for (int i = 0; i < 4 && word; i++)
		word = strtok_r(NULL, " ", &rest);
	if (!word || *word != '/' || table->count == MOUNTS_MAX)
		return;
	unescape(word);
	add_point(table, xstrdup(word), is_shared);
}

static int compare_lengths(const void *a, const void *b)
{
	size_t x = strlen(((const struct mount_point *)a)->path);
	size_t y = strlen(((const struct mount_point *)b)->path);

	return (x < y) - (x > y);
}

void mount_table_release(struct mount_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->points[i].path);
	free(table->points);
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
	add_point(table, xstrdup("/"), false);
	qsort(table->points, table->count, sizeof(*table->points), compare_lengths);
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
		const char *point = table->points[i].path;
		size_t n = strlen(point);

		if (n == 1 || (strncmp(path, point, n) == 0 && (path[n] == '/' || path[n] == 0)))
			return point;
	}
	return "/";
}

bool mount_table_is_shared(const struct mount_table *table, const char *point)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->points[i].is_shared && strcmp(table->points[i].path, point) == 0)
			return true;
	return false;
}
