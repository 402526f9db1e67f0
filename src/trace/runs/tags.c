/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/runs/tags.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

/* The first line of the file, followed by the uuid of the run. */
#define TAGS_HEAD "#sluice-tags "
#define TAGS_BYTES 4096
#define TAGS_MODE 0600

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* How long a change waits for another one. */
#define WAIT_NS (5 * NS_PER_S)
#define WAIT_STEP_NS (5 * NS_PER_MS)

static bool is_tag(const char *word, size_t n)
{
	return n >= 1 && n <= TAG_LETTERS && strspn(word, LETTERS) >= 1 &&
	       strspn(word, LETTERS "._-:") >= n;
}

bool tag_is_valid(const char *word, struct err *err)
{
	if (is_tag(word, strlen(word)))
		return true;
	err_set(err, EINVAL,
		"\"%s\" is not a tag: use 1 to %d letters, digits, periods, underscores, hyphens "
		"and colons, and start with a letter or digit",
		word, TAG_LETTERS);
	return false;
}

size_t tags_next(const char **tags)
{
	*tags += strspn(*tags, " ");
	return strcspn(*tags, " ");
}

static bool has_word(const char *tags, const char *word, size_t length)
{
	for (size_t n; (n = tags_next(&tags)); tags += n)
		if (n == length && strncmp(tags, word, n) == 0)
			return true;
	return false;
}

bool tags_has(const char *tags, const char *word)
{
	return has_word(tags, word, strlen(word));
}

void tags_json(struct json *json, const char *tags)
{
	json_open(json, "tags", '[');
	for (size_t n; (n = tags_next(&tags)); tags += n) {
		AUTO_FREE char *tag = xstrndup(tags, n);

		json_text(json, NULL, tag);
	}
	json_close(json);
}

/* Up to TAGS_MAX different words, sorted. */
struct words {
	char *list[TAGS_MAX];
	size_t count;
};

static void words_release(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->list[i]);
	*words = (struct words){ 0 };
}

/* False: there is no room for it. */
static bool words_add(struct words *words, const char *word, size_t n)
{
	AUTO_FREE char *copy = xstrndup(word, n);
	size_t at = 0;

	while (at < words->count && strcmp(words->list[at], copy) < 0)
		at++;
	if (at < words->count && strcmp(words->list[at], copy) == 0)
		return true;
	if (words->count == TAGS_MAX)
		return false;
	memmove(&words->list[at + 1], &words->list[at],
		(words->count - at) * sizeof(words->list[0]));
	words->list[at] = copy;
	copy = NULL;
	words->count++;
	return true;
}

static char *words_join(const struct words *words)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < words->count; i++)
		buf_printf(&text, "%s%s", i ? " " : "", words->list[i]);
	return buf_take(&text);
}

/* Reads the lines of a file that belongs to this run. */
static void words_read(struct words *words, const char *path, const char *uuid)
{
	AUTO_BUF struct buf text = { 0 };
	AUTO_FREE char *head = xprintf(TAGS_HEAD "%s\n", uuid);
	const char *at;

	if (file_read_all(&text, path, TAGS_BYTES, NULL) < 0 ||
	    !text_starts_with(buf_text(&text), head))
		return;
	for (at = buf_text(&text) + strlen(head); *at; at += strspn(at, "\n")) {
		size_t n = strcspn(at, "\n");

		if (is_tag(at, n))
			words_add(words, at, n);
		at += n;
	}
}

char *tags_read(const char *trace, const char *uuid)
{
	AUTO_FREE char *path = xprintf("%s" TAGS_SUFFIX, trace);
	struct words words = { 0 };
	char *tags;

	words_read(&words, path, uuid);
	tags = words_join(&words);
	words_release(&words);
	return tags;
}

static int check_words(const char *words, struct err *err)
{
	for (size_t n; (n = tags_next(&words)); words += n) {
		AUTO_FREE char *word = xstrndup(words, n);

		if (!tag_is_valid(word, err))
			return -EINVAL;
	}
	return 0;
}

/* The words of the run after the change. */
static int change_words(const struct words *old, struct words *new, const char *add,
			const char *remove, struct err *err)
{
	bool fits = true;

	for (size_t i = 0; i < old->count; i++)
		if (!tags_has(remove, old->list[i]))
			fits &= words_add(new, old->list[i], strlen(old->list[i]));
	for (size_t n; (n = tags_next(&add)); add += n)
		if (!has_word(remove, add, n))
			fits &= words_add(new, add, n);
	if (!fits)
		return err_set(err, E2BIG, "a run can have at most %d tags", TAGS_MAX);
	return 0;
}

/* Writes the file anew, or removes it if there are no words. */
static int words_write(const struct words *words, const char *path, const char *uuid,
		       struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	struct file_draft draft;
	int fd, r;

	if (!words->count)
		return unlink(path) == 0 || errno == ENOENT
			       ? 0
			       : err_set(err, errno, "%s: %s", path, strerror(errno));
	buf_printf(&text, TAGS_HEAD "%s\n", uuid);
	for (size_t i = 0; i < words->count; i++)
		buf_printf(&text, "%s\n", words->list[i]);
	file_draft_init(&draft, path);
	fd = open(draft.temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, TAGS_MODE);
	r = fd < 0 ? -errno : file_write_fd(fd, text.data, text.len);
	if (fd >= 0 && close(fd) != 0 && r == 0)
		r = -errno;
	if (r == 0)
		return file_draft_commit(&draft, err);
	file_draft_discard(&draft);
	return err_set(err, -r, "%s: %s", path, strerror(-r));
}

/* Changes of one run exclude each other by a lock on its trace, which stays as it is. */
static int lock_trace(const char *trace, struct err *err)
{
	int64_t until = clock_now_ns() + WAIT_NS;
	int fd = file_open(trace, err);

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EINTR && (errno != EWOULDBLOCK || clock_now_ns() > until)) {
			int r = err_set(err, errno, "%s: cannot be locked: %s", trace,
					strerror(errno));

			close(fd);
			return r;
		}
		clock_sleep_ns(WAIT_STEP_NS);
	}
	return fd;
}

int tags_change(const char *trace, const char *uuid, const char *add, const char *remove,
		char **result, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s" TAGS_SUFFIX, trace);
	struct words old = { 0 }, new = { 0 };
	int fd, r = check_words(add, err);

	if (r == 0)
		r = check_words(remove, err);
	if (r < 0)
		return r;
	fd = lock_trace(trace, err);
	if (fd < 0)
		return fd;
	words_read(&old, path, uuid);
	r = change_words(&old, &new, add, remove, err);
	if (r == 0)
		r = words_write(&new, path, uuid, err);
	if (r == 0 && result)
		*result = words_join(&new);
	close(fd);
	words_release(&old);
	words_release(&new);
	return r;
}

void tags_delete(const char *trace)
{
	AUTO_FREE char *path = xprintf("%s" TAGS_SUFFIX, trace);
	AUTO_BUF struct buf text = { 0 };

	if (file_read_all(&text, path, TAGS_BYTES, NULL) >= 0 &&
	    text_starts_with(buf_text(&text), TAGS_HEAD))
		unlink(path);
}
