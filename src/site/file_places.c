/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/file_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "site/site_internal.h"

void file_places_release(struct file_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->names[i]);
	free(places->of);
	*places = (struct file_places){ 0 };
}

/* Is there a run of a user of this name? Returns 1, 0 or -errno. */
static int is_owner(struct site_db *site, const char *name, struct err *err)
{
	return (int)store_first_number(
		site->store,
		store_query(site->store, err,
			    "SELECT count(*) FROM (SELECT id FROM run WHERE owner = ?1 LIMIT 1) r",
			    "t", name),
		err);
}

int file_places_hide_owner(struct site_db *site, char *mount, struct err *err)
{
	for (char *slash = mount; slash && slash[1]; slash = strchr(slash + 1, '/')) {
		AUTO_FREE char *part = xstrndup(slash + 1, strcspn(slash + 1, "/"));
		int r = is_owner(site, part, err);

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		slash[slash == mount] = '\0';
		return 0;
	}
	return 0;
}

/* The index of a file system, which is added if it is new; takes the text. */
static uint8_t find_place(struct file_places *places, char *mount)
{
	size_t i = 1;

	while (i < places->count && strcmp(places->names[i], mount) != 0)
		i++;
	if (i == places->count && i <= FILE_PLACES_MAX) {
		places->names[places->count++] = mount;
		return (uint8_t)i;
	}
	free(mount);
	return (uint8_t)(i <= FILE_PLACES_MAX ? i : 0);
}

/* Assigns a file system, as the database names it, to the files of the run that are on it. */
static int assign_place(struct file_places *places, struct site_db *site, int64_t run,
			const char *mount, struct err *err)
{
	char *shown = xstrdup(mount);
	struct statement *rows;
	uint8_t index;
	int r = file_places_hide_owner(site, shown, err);

	if (r < 0) {
		free(shown);
		return r;
	}
	index = find_place(places, shown);
	rows = store_query(site->store, err,
			   "SELECT file FROM run_file WHERE run = ?1 AND filesystem = ?2", "it",
			   run, mount);
	r = rows ? 0 : -EIO;
	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		int64_t file = store_number(rows, 0);

		if (file > 0 && file < (int64_t)places->file_count)
			places->of[file] = index;
	}
	return r;
}

int file_places_read(struct file_places *places, struct site_db *site, int64_t run,
		     size_t file_count, struct err *err)
{
	char *mounts[FILE_PLACES_MAX];
	struct statement *rows = store_query(site->store, err,
					     "SELECT DISTINCT filesystem FROM run_file WHERE run = "
					     "?1 AND filesystem IS NOT NULL ORDER BY 1",
					     "i", run);
	int r = rows ? 0 : -EIO;
	size_t count = 0;

	*places = (struct file_places){ .names = { xstrdup("") },
					.count = 1,
					.of = xcalloc(file_count + 1, 1),
					.file_count = file_count };
	while (rows && (r = store_step(site->store, rows, err)) > 0) {
		if (count < FILE_PLACES_MAX)
			mounts[count++] = xstrdup(store_text(rows, 0));
	}
	for (size_t i = 0; i < count; i++) {
		if (r >= 0)
			r = assign_place(places, site, run, mounts[i], err);
		free(mounts[i]);
	}
	return r;
}
