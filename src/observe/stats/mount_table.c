/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/stats/mount_table.h"

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

/* A line of a mountinfo file. */
struct mount_line {
	char *text; /* that the others point into */
	char *id, *parent, *device;
	char *root;  /* directory of the file system that is mounted */
	char *point; /* where */
	bool is_shared;
};

/* Takes a copy of the line apart; false if it is damaged. */
static bool split_line(struct mount_line *line, const char *text, size_t n)
{
	char **fields[] = { &line->id, &line->parent, &line->device, &line->root, &line->point };
	char *rest = NULL;
	const char *type;

	*line = (struct mount_line){ .text = xstrndup(text, n) };
	type = strstr(line->text, " - ");
	line->is_shared = type && is_shared_type(type + 3, strcspn(type + 3, " "));
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!(*fields[i] = strtok_r(i ? NULL : line->text, " ", &rest)))
			return false;
	unescape(line->root);
	unescape(line->point);
	return line->point[0] == '/';
}

/* What of `path` is below the directory; NULL if it is elsewhere. "/a/b" is "/b" below "/a". */
static const char *path_below(const char *directory, const char *path)
{
	size_t n = strcmp(directory, "/") ? strlen(directory) : 0;

	return strncmp(path, directory, n) == 0 && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/*
 * Is a directory mounted onto itself? It is no other file system: sandboxes of services do this to
 * protect a directory.
 */
static bool is_onto_itself(const struct mount_line *lines, size_t count,
			   const struct mount_line *line)
{
	for (size_t i = 0; i < count; i++) {
		const struct mount_line *above = &lines[i];
		const char *place, *root;

		if (above == line || strcmp(above->id, line->parent) != 0 ||
		    strcmp(above->device, line->device) != 0)
			continue;
		place = path_below(above->point, line->point);
		root = path_below(above->root, line->root);
		return place && root && strcmp(place, root) == 0;
	}
	return false;
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
	AUTO_FREE struct mount_line *lines = NULL;
	size_t count = 0, cap = 0;

	mount_table_release(table);
	while (*mountinfo && count < MOUNTS_MAX) {
		size_t n = strcspn(mountinfo, "\n");

		lines = xgrow(lines, &cap, count + 1, sizeof(*lines));
		if (split_line(&lines[count], mountinfo, n))
			count++;
		else
			free(lines[count].text);
		mountinfo += n + (mountinfo[n] == '\n');
	}
	for (size_t i = 0; i < count; i++)
		if (!is_onto_itself(lines, count, &lines[i]))
			add_point(table, xstrdup(lines[i].point), lines[i].is_shared);
	for (size_t i = 0; i < count; i++)
		free(lines[i].text);
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
