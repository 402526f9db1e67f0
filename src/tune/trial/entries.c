/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/entries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"

void entries_release(struct entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		free((char *)entries->list[i].record.path);
		free(entries->list[i].kept);
	}
	free(entries->list);
	*entries = (struct entries){ 0 };
}

/* The number behind the last dash of v-HASH-N. */
static int version_of(const char *name)
{
	return atoi(strrchr(name, '-') + 1);
}

static char *find_kept(const char *journal, const char *name)
{
	char *path = place_join(journal, name);

	if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return path;
	free(path);
	return NULL;
}

/* The file that holds the content, if there is one. */
static char *kept_of(const char *journal, const char *name, const struct journal_record *record)
{
	char kept[JOURNAL_NAME_BYTES];

	switch (record->kind) {
	case JOURNAL_FILE:
	case JOURNAL_OTHER:
		journal_file_name(kept, JOURNAL_LINK, record->device, record->inode);
		break;
	case JOURNAL_WRITTEN:
		journal_file_name(kept, JOURNAL_DATA, record->device, record->inode);
		break;
	case JOURNAL_REMOVED:
	case JOURNAL_REPLACED:
	case JOURNAL_TRUNCATED:
		journal_hash_name(kept, JOURNAL_CONTENT, journal_hash(record->path),
				  version_of(name));
		break;
	default:
		return NULL;
	}
	return find_kept(journal, kept);
}

static bool is_record_name(const char *name)
{
	static const char *const prefixes[] = { JOURNAL_PATH, JOURNAL_CHANGED, JOURNAL_VERSION,
						JOURNAL_REFUSED };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void add_entry(struct entries *entries, const char *journal, const char *name)
{
	AUTO_FREE char *link = place_join(journal, name);
	char text[JOURNAL_RECORD_BYTES];
	ssize_t n = readlink(link, text, sizeof(text) - 1);
	struct journal_record record;
	struct entry *entry;

	if (n < 0)
		return;
	text[n] = 0;
	if (!journal_read_record(text, &record))
		return;
	entries->list =
		xgrow(entries->list, &entries->cap, entries->count + 1, sizeof(*entries->list));
	entry = &entries->list[entries->count++];
	*entry = (struct entry){ .record = record, .version = -1 };
	if (strncmp(name, JOURNAL_VERSION, strlen(JOURNAL_VERSION)) == 0)
		entry->version = version_of(name);
	entry->kept = kept_of(journal, name, &record);
	entry->record.path = xstrdup(record.path);
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->record.path, y->record.path);

	if (order)
		return order;
	if (x->record.kind != y->record.kind)
		return x->record.kind < y->record.kind ? -1 : 1;
	return (x->version > y->version) - (x->version < y->version);
}

int entries_read(struct entries *entries, const char *journal, struct err *err)
{
	DIR *dir = opendir(journal);
	struct entries found = { 0 };
	struct dirent *item;

	if (!dir)
		return err_set(err, errno, "%s: %s", journal, strerror(errno));
	while ((item = readdir(dir)))
		if (is_record_name(item->d_name))
			add_entry(&found, journal, item->d_name);
	closedir(dir);
	if (found.count)
		qsort(found.list, found.count, sizeof(*found.list), compare_entries);
	*entries = found;
	return 0;
}
