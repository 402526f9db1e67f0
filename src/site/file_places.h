/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file systems that the files of a stored run are on, as far as they are known, for what is
 * learned from the run. Everybody may read what was learned, which therefore must not name users: a
 * mount point such as /home/ann counts as /home.
 */
#ifndef SLUICE_SITE_FILE_PLACES_H
#define SLUICE_SITE_FILE_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct site_db;

#define FILE_PLACES_MAX 255

struct file_places {
	char *names[FILE_PLACES_MAX + 1]; /* mount points; the first is "", for all of them */
	size_t count;
	uint8_t *of; /* by file: index of its file system; 0: unknown */
	size_t file_count;
};

/* Reads those of the run with this number, which has file_count files. After a failure, too, the
 * result is to be released. */
int file_places_read(struct file_places *places, struct site_db *site, int64_t run,
		     size_t file_count, struct err *err);
void file_places_release(struct file_places *places);

/* Cuts a mount point, in place, before the name of a user who has runs in the database. */
int file_places_hide_owner(struct site_db *site, char *mount, struct err *err);

#endif
