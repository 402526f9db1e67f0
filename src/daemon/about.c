/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/about.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/text.h"
#include "observe/collect/ledger.h"
#include "trace/format.h"

#define ABOUT_MAX 4096
#define ONLY_SUMS "sums\n"
#define UUID_DIGITS 32

/* Does the text begin with an id and go on with `end`? */
static bool is_named(const char *text, const char *end)
{
	return strspn(text, "0123456789abcdef") == UUID_DIGITS && !strcmp(text + UUID_DIGITS, end);
}

/* DIRECTORY/UUID.about of DIRECTORY/...-UUID.sluice; NULL if the trace is named otherwise. */
static char *early_name(const char *trace)
{
	const char *slash = strrchr(trace, '/'), *dash = strrchr(trace, '-');

	if (!slash || !dash || dash < slash || !is_named(dash + 1, trace_container.suffix))
		return NULL;
	return xprintf("%.*s/%.*s" ABOUT_SUFFIX, (int)(slash - trace), trace, UUID_DIGITS,
		       dash + 1);
}

static void put_line(struct buf *out, const char *text)
{
	text = text_or_empty(text);
	buf_printf(out, "%.*s\n", (int)strcspn(text, "\n"), text);
}

static void write_file(const char *path, const struct about *about)
{
	AUTO_BUF struct buf text = { 0 };

	put_line(&text, about->job);
	put_line(&text, about->partition);
	if (about->only_sums)
		buf_puts(&text, ONLY_SUMS);
	file_write_all(path, buf_text(&text), text.len, NULL);
}

void about_write(const char *directory, const char *uuid, const struct about *about)
{
	AUTO_FREE char *path = xprintf("%s/%s" ABOUT_SUFFIX, directory, uuid);

	write_file(path, about);
}

/* Another thread changes the ledger, but not these texts. */
static void write_ledger(const char *directory, const char *uuid)
{
	AUTO_FREE char *path = xprintf("%s/%s" LEDGER_SUFFIX, directory, uuid);
	AUTO_FREE struct ledger_page *page = xcalloc(1, sizeof(*page));
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct about about = { .job = page->job, .partition = page->partition };

	if (fd < 0 || pread(fd, page, sizeof(*page), 0) != (ssize_t)sizeof(*page) ||
	    page->magic != LEDGER_MAGIC)
		return;
	page->job[sizeof(page->job) - 1] = page->partition[sizeof(page->partition) - 1] = '\0';
	about_write(directory, uuid, &about);
}

static void write_ledgers_of(const char *directory)
{
	DIR *list = opendir(directory);
	const struct dirent *entry;

	while (list && (entry = readdir(list))) {
		AUTO_FREE char *uuid = xstrndup(entry->d_name, UUID_DIGITS);
		AUTO_FREE char *path = xprintf("%s/%s" ABOUT_SUFFIX, directory, uuid);

		if (is_named(entry->d_name, LEDGER_SUFFIX) && !place_exists(path))
			write_ledger(directory, uuid);
	}
	if (list)
		closedir(list);
}

void about_write_ledgers(const char *traces, const uid_t *user)
{
	DIR *list = user ? NULL : opendir(traces);
	const struct dirent *entry;

	if (user) {
		AUTO_FREE char *directory = xprintf("%s/%u", traces, (unsigned)*user);

		write_ledgers_of(directory);
	}
	while (list && (entry = readdir(list))) {
		AUTO_FREE char *directory = place_join(traces, entry->d_name);

		if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name))
			write_ledgers_of(directory);
	}
	if (list)
		closedir(list);
}

bool about_claim(const char *trace)
{
	AUTO_FREE char *path = xprintf("%s" ABOUT_SUFFIX, trace), *early = early_name(trace);

	return (early && rename(early, path) == 0) || place_exists(path);
}

void about_settle(const char *trace, const struct about *about)
{
	AUTO_FREE char *path = xprintf("%s" ABOUT_SUFFIX, trace);

	if (!about_claim(trace))
		write_file(path, about);
}

/* Returns the next line, NULL if it is empty, and moves on. */
static char *take_line(const char **at)
{
	size_t n = strcspn(*at, "\n");
	char *line = n ? xstrndup(*at, n) : NULL;

	*at += n + ((*at)[n] != 0);
	return line;
}

void about_read(const char *trace, struct about *about)
{
	AUTO_FREE char *path = xprintf("%s" ABOUT_SUFFIX, trace);
	AUTO_BUF struct buf text = { 0 };
	const char *at;

	*about = (struct about){ 0 };
	if (file_read_all(&text, path, ABOUT_MAX, NULL) < 0)
		return;
	at = buf_text(&text);
	about->job = take_line(&at);
	about->partition = take_line(&at);
	about->only_sums = !strcmp(at, ONLY_SUMS);
}

void about_release(struct about *about)
{
	free(about->job);
	free(about->partition);
	*about = (struct about){ 0 };
}

bool about_is_orphan(const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *ledger = NULL;

	if (!slash || !is_named(slash + 1, ABOUT_SUFFIX))
		return false;
	ledger = xprintf("%.*s" LEDGER_SUFFIX, (int)(strlen(path) - strlen(ABOUT_SUFFIX)), path);
	return !place_exists(ledger);
}
