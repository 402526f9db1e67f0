/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/stats/mounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "observe/stats/procfile.h"
#include "observe/stats/statistics.h"

#define MOUNTS_MAX 64

void mount_add(struct statistics *statistics, const char *path, const char *what,
	       unsigned numbers[MOUNT_FIGURES])
{
	static const char *const figures[MOUNT_FIGURES] = { "read", "written" };

	for (int i = 0; i < MOUNT_FIGURES; i++) {
		AUTO_FREE char *name = xprintf("mount%s@%s/%s", strcmp(path, "/") != 0 ? path : "",
					       what, figures[i]);

		numbers[i] = statistics_add(statistics, name, "bytes", REDUCE_SUM, 1);
	}
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Blanks and similar characters are written as \040. */
static char *unescape_path(const char *word, unsigned length)
{
	char *path = xmalloc((size_t)length + 1), *to = path;

	for (unsigned i = 0; i < length; i++) {
		if (word[i] == '\\' && i + 3 < length && is_octal(word[i + 1]) &&
		    is_octal(word[i + 2]) && is_octal(word[i + 3])) {
			*to++ = (char)((word[i + 1] - '0') << 6 | (word[i + 2] - '0') << 3 |
				       (word[i + 3] - '0'));
			i += 3;
		} else {
			*to++ = word[i];
		}
	}
	*to = 0;
	return path;
}

/*
 * File systems that span several devices have no device number; they name one device as their
 * source.
 */
static bool source_is_device(const char *at, const char *device)
{
	const char *word;
	unsigned n;

	do {
		word = procfile_word(&at, &n);
	} while (n && (n != 1 || *word != '-'));
	procfile_word(&at, &n); /* skip the type of the file system */
	word = procfile_word(&at, &n);
	return n == strlen(device) + 5 && !strncmp(word, "/dev/", 5) &&
	       !strncmp(word + 5, device, n - 5);
}

static bool is_directory(const char *root, const char *path)
{
	AUTO_FREE char *whole = xprintf("%s%s", root, path);
	struct stat st;

	return stat(whole, &st) == 0 && S_ISDIR(st.st_mode);
}

/*
 * Parses "36 35 98:0 /subtree /place rw - ext3 /dev/root rw". Returns the mount point if the line
 * is about the device.
 */
static char *parse_mount_line(const char *at, uint64_t major, uint64_t minor, const char *device)
{
	uint64_t number, parent, of_major, of_minor;
	const char *word;
	unsigned n;

	if (!procfile_number(&at, &number) || !procfile_number(&at, &parent) ||
	    !procfile_number(&at, &of_major) || *at++ != ':' || !procfile_number(&at, &of_minor))
		return NULL;
	procfile_word(&at, &n); /* skip the mounted subtree */
	word = procfile_word(&at, &n);
	if (!n || ((of_major != major || of_minor != minor) && !source_is_device(at, device)))
		return NULL;
	return unescape_path(word, n);
}

char *mount_of_device(const char *mountinfo, const char *root, uint64_t major, uint64_t minor,
		      const char *device)
{
	char *best = NULL;

	for (const char *at = mountinfo; at; at = procfile_next_line(at)) {
		char *place = parse_mount_line(at, major, minor, device);

		/* Containers also mount single files. */
		if (!place || (best && strlen(place) >= strlen(best)) ||
		    !is_directory(root, place)) {
			free(place);
			continue;
		}
		free(best);
		best = place;
	}
	return best;
}

struct nfs_mount {
	char *path;
	unsigned numbers[MOUNT_FIGURES];
	struct counter counters[MOUNT_FIGURES];
};

struct nfs {
	struct procfile mountstats;
	struct nfs_mount *list;
	size_t count, cap;
	uint64_t polls;
};

struct nfs *nfs_new(const char *root)
{
	struct nfs *nfs = xcalloc(1, sizeof(*nfs));

	procfile_open(&nfs->mountstats, root, "/proc/self/mountstats");
	return nfs;
}

void nfs_free(struct nfs *nfs)
{
	for (size_t i = 0; i < nfs->count; i++)
		free(nfs->list[i].path);
	free(nfs->list);
	procfile_close(&nfs->mountstats);
	free(nfs);
}

/*
 * Parses "device SERVER:PATH mounted on PLACE with fstype nfs4 statvers=1.1". Returns the mount
 * point, or NULL.
 */
static char *parse_nfs_mount(const char *at)
{
	static const char *const words[] = {
		"device", NULL, "mounted", "on", NULL, "with", "fstype"
	};
	const char *place = NULL, *word;
	unsigned n, place_bytes = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		word = procfile_word(&at, &n);
		if (words[i] && (n != strlen(words[i]) || strncmp(word, words[i], n) != 0))
			return NULL;
		if (i == 4) {
			place = word;
			place_bytes = n;
		}
	}
	word = procfile_word(&at, &n);
	return n >= 3 && !strncmp(word, "nfs", 3) ? unescape_path(place, place_bytes) : NULL;
}

static struct nfs_mount *get_nfs_mount(struct nfs *nfs, struct statistics *statistics,
				       const char *path)
{
	struct nfs_mount *mount;

	for (size_t i = 0; i < nfs->count; i++)
		if (!strcmp(nfs->list[i].path, path))
			return &nfs->list[i];
	if (nfs->count == MOUNTS_MAX)
		return NULL;
	nfs->list = xgrow(nfs->list, &nfs->cap, nfs->count + 1, sizeof(*mount));
	mount = &nfs->list[nfs->count++];
	*mount = (struct nfs_mount){ .path = xstrdup(path) };
	mount_add(statistics, path, "nfs", mount->numbers);
	return mount;
}

/*
 * Parses the eight numbers after "bytes:": read and written by normal calls, by direct calls, read
 * from and written to the server, and pages of both.
 */
static void update_bytes(struct nfs_mount *mount, struct statistics *statistics, const char *at)
{
	uint64_t values[6];

	for (int i = 0; i < 6; i++)
		if (!procfile_number(&at, &values[i]))
			return;
	for (int i = 0; i < MOUNT_FIGURES; i++)
		statistics_set(statistics, mount->numbers[i],
			       counter_step(&mount->counters[i], values[4 + i]));
}

static void mountstats_read(struct nfs *nfs, struct statistics *statistics)
{
	struct nfs_mount *mount = NULL;

	for (const char *at = procfile_read(&nfs->mountstats); at; at = procfile_next_line(at)) {
		if (!strncmp(at, "device ", 7)) {
			AUTO_FREE char *place = parse_nfs_mount(at);

			mount = place ? get_nfs_mount(nfs, statistics, place) : NULL;
		} else if (mount && !strncmp(at, "\tbytes:", 7)) {
			update_bytes(mount, statistics, at + 7);
		}
	}
}

/*
 * The file describes all mounts at length, so it is read rarely as long as there is no NFS mount.
 */
void nfs_poll(struct nfs *nfs, struct statistics *statistics)
{
	if (nfs->count || nfs->polls % PROVIDER_LOOKS == 0)
		mountstats_read(nfs, statistics);
	nfs->polls++;
}
