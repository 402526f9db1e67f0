/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/knowledge_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#define PAGE_MODE (S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH)
#define SPARE 2 /* slots per entry, so that few slots are searched */

void knowledge_page_release(struct knowledge_page *page)
{
	free(page->hints);
	free(page->durations);
	for (size_t i = 0; i < page->point_count; i++)
		free(page->points[i]);
	free(page->points);
	*page = (struct knowledge_page){ 0 };
}

static bool copy_text(char *to, size_t bytes, const char *text)
{
	size_t n = strlen(text);

	if (n >= bytes)
		return false;
	memcpy(to, text, n + 1);
	return true;
}

/* Gives a mount point its place in the page; false if there is none. */
static bool name_mount(struct knowledge_page *page, const char *mount)
{
	for (uint32_t i = 0; i < page->mount_count; i++)
		if (!strcmp(page->mounts[i], mount))
			return true;
	if (!*mount)
		return true;
	if (page->mount_count == KNOWLEDGE_MOUNTS ||
	    !copy_text(page->mounts[page->mount_count], KNOWLEDGE_NAME_BYTES, mount))
		return false;
	page->mount_count++;
	return true;
}

void knowledge_page_add_hints(struct knowledge_page *page, const struct knowledge_advice *a)
{
	struct knowledge_hints e = { .mode = a->mode, .gain = (float)a->gain, .places = a->places };

	if (!*a->program || !copy_text(e.program, sizeof(e.program), a->program) ||
	    !copy_text(e.filesystem, sizeof(e.filesystem), a->filesystem) ||
	    !copy_text(e.extension, sizeof(e.extension), a->extension) ||
	    !copy_text(e.hints, sizeof(e.hints), a->hints) || !name_mount(page, a->filesystem)) {
		page->left_out++;
		return;
	}
	e.check = knowledge_hash(0, &e, offsetof(struct knowledge_hints, check));
	page->hints = xgrow(page->hints, &page->hint_cap, page->hint_count + 1, sizeof(e));
	page->hints[page->hint_count++] = e;
}

void knowledge_page_add_duration(struct knowledge_page *page, const char *filesystem,
				 const struct knowledge_duration *duration)
{
	if (!name_mount(page, filesystem)) {
		page->left_out++;
		return;
	}
	page->durations = xgrow(page->durations, &page->duration_cap, page->duration_count + 1,
				sizeof(*duration));
	page->durations[page->duration_count++] = *duration;
}

void knowledge_page_add_mount(struct knowledge_page *page, const char *point)
{
	page->points = xrealloc(page->points, page->point_count + 1, sizeof(*page->points));
	page->points[page->point_count++] = xstrdup(point);
}

/* The number of slots for so many entries. */
static uint32_t count_slots(size_t entries, uint32_t max)
{
	uint32_t slots = 1;

	if (!entries)
		return 0;
	while (slots < max && slots < SPARE * entries)
		slots *= 2;
	return slots;
}

static bool put_hints(struct knowledge *k, const struct knowledge_hints *e)
{
	struct knowledge_hints *table = (struct knowledge_hints *)(k + 1);
	uint64_t key = knowledge_hints_key(e->program, e->filesystem, e->extension, e->mode);

	for (uint32_t i = 0; i < KNOWLEDGE_PROBES; i++) {
		struct knowledge_hints *slot = &table[(key + i) & (k->hint_slots - 1)];

		if (slot->program[0])
			continue;
		*slot = *e;
		return true;
	}
	return false;
}

static bool put_duration(struct knowledge *k, const struct knowledge_duration *d)
{
	struct knowledge_duration *table =
		(struct knowledge_duration *)((struct knowledge_hints *)(k + 1) + k->hint_slots);

	for (uint32_t i = 0; i < KNOWLEDGE_PROBES; i++) {
		struct knowledge_duration *slot = &table[(d->key + i) & (k->duration_slots - 1)];

		if (slot->key)
			continue;
		*slot = *d;
		return true;
	}
	return false;
}

static int compare_lengths(const void *a, const void *b)
{
	size_t x = strlen(a), y = strlen(b);

	return x == y ? strcmp(a, b) : (x < y) - (x > y);
}

static void fill_mounts(struct knowledge *k, const struct knowledge_page *page)
{
	for (; k->mount_count < page->mount_count; k->mount_count++)
		copy_text(k->mounts[k->mount_count], KNOWLEDGE_NAME_BYTES,
			  page->mounts[k->mount_count]);
	qsort(k->mounts, k->mount_count, KNOWLEDGE_NAME_BYTES, compare_lengths);
}

/* The mount point, of those that entries name, that a mount point of the node is below; NULL: none,
 * or it is one of them. */
static const char *find_above(const struct knowledge *k, const char *point)
{
	const char *above = NULL;

	for (uint32_t i = 0; i < k->mount_count; i++) {
		if (!strcmp(k->mounts[i], point))
			return NULL;
		if (!above && knowledge_is_below(k->mounts[i], point))
			above = k->mounts[i];
	}
	return above;
}

static void add_other(struct knowledge *k, const char *point)
{
	for (uint32_t i = 0; i < k->other_count; i++)
		if (!strcmp(k->others[i], point))
			return;
	copy_text(k->others[k->other_count++], KNOWLEDGE_NAME_BYTES, point);
}

/* There is always room to hide all that entries name. */
static void fill_others(struct knowledge *k, const struct knowledge_page *page)
{
	for (size_t i = 0; i < page->point_count; i++) {
		const char *point = page->points[i], *above = find_above(k, point);
		bool fits = strlen(point) < KNOWLEDGE_NAME_BYTES &&
			    k->other_count < KNOWLEDGE_OTHERS - KNOWLEDGE_MOUNTS;

		if (above)
			add_other(k, fits ? point : above);
	}
	qsort(k->others, k->other_count, KNOWLEDGE_NAME_BYTES, compare_lengths);
}

/* Makes the page; the caller frees it. */
static struct knowledge *make_page(struct knowledge_page *page, uint64_t *bytes)
{
	uint32_t hints = count_slots(page->hint_count, KNOWLEDGE_HINT_SLOTS);
	uint32_t durations = count_slots(page->duration_count, KNOWLEDGE_DURATION_SLOTS);
	struct knowledge *k;

	*bytes = knowledge_bytes(hints, durations);
	k = xcalloc(1, *bytes);
	*k = (struct knowledge){ .magic = KNOWLEDGE_MAGIC,
				 .version = KNOWLEDGE_VERSION,
				 .hint_slots = hints,
				 .duration_slots = durations };
	fill_mounts(k, page);
	fill_others(k, page);
	for (size_t i = 0; i < page->hint_count; i++)
		page->left_out += !put_hints(k, &page->hints[i]);
	for (size_t i = 0; i < page->duration_count; i++)
		page->left_out += !put_duration(k, &page->durations[i]);
	k->digest = knowledge_hash(knowledge_hash(0, k->mounts, sizeof(k->mounts)), k + 1,
				   *bytes - sizeof(*k));
	k->check = knowledge_hash(0, k, offsetof(struct knowledge, check));
	return k;
}

static int write_page(const char *path, const void *bytes, size_t count, struct err *err)
{
	struct file_draft draft;
	int fd, r;

	file_draft_init(&draft, path);
	fd = open(draft.temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  S_IRUSR | S_IWUSR);
	r = fd < 0 ? -errno : file_write_fd(fd, bytes, count);
	if (r >= 0 && fchmod(fd, PAGE_MODE) != 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	if (r < 0)
		err_set(err, -r, "%s: %s", draft.temporary, strerror(-r));
	else
		r = file_draft_commit(&draft, err);
	file_draft_discard(&draft);
	return r;
}

/* Reads a page; fails if it is not valid. */
static int read_page(struct buf *text, const char *path, struct err *err)
{
	int r = file_read_all(text, path, KNOWLEDGE_BYTES_MAX, err);

	if (r < 0)
		return r;
	if (text->len < sizeof(struct knowledge) ||
	    !knowledge_is_valid((const struct knowledge *)text->data, text->len))
		return err_set(err, EBADMSG, "%s: not a knowledge page of this version; remove it",
			       path);
	return 0;
}

int knowledge_page_publish(struct knowledge_page *page, const char *path, struct err *err)
{
	AUTO_BUF struct buf current = { 0 };
	uint64_t bytes;
	AUTO_FREE struct knowledge *k = make_page(page, &bytes);
	int r = 0;

	if (read_page(&current, path, NULL) < 0 || current.len != bytes ||
	    memcmp(current.data, k, bytes) != 0)
		r = write_page(path, k, bytes, err);
	if (r >= 0)
		page->digest = k->digest;
	return r;
}

int knowledge_page_copy(const char *from, const char *path, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	int r = read_page(&text, from, err);

	return r < 0 ? r : write_page(path, text.data, text.len, err);
}
