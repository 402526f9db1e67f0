/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/history.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/record/capture.h"
#include "contract/hints.h"

enum { TEXT_UNREAD, TEXT_READING, TEXT_READ };

/* The host's file, read when the first file is opened: few processes of a run do. */
static struct {
	_Atomic int state;
	char text[HINTS_ANSWERS_BYTES + 1];
} answers;

static void answers_read(void)
{
	char path[SPOOL_TEXT_BYTES + sizeof(HINTS_ANSWERS_NAME) + 1];
	size_t used = 0, n = strlen(capture_membership.directory);
	long fd, got;

	memcpy(path, capture_membership.directory, n);
	path[n] = '/';
	memcpy(path + n + 1, HINTS_ANSWERS_NAME, sizeof(HINTS_ANSWERS_NAME));
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while (used < HINTS_ANSWERS_BYTES &&
	       (got = syscall(SYS_read, fd, answers.text + used, HINTS_ANSWERS_BYTES - used)) > 0)
		used += (size_t)got;
	syscall(SYS_close, fd);
	/* A line that was cut is none. */
	while (used && answers.text[used - 1] != '\n')
		used--;
	answers.text[used] = 0;
}

/* NULL while another thread reads it: that one answers for all. */
static const char *answers_text(void)
{
	int state = TEXT_UNREAD;

	if (atomic_compare_exchange_strong(&answers.state, &state, TEXT_READING)) {
		answers_read();
		/* Completes the text; pairs with the failing exchange. */
		atomic_store_explicit(&answers.state, TEXT_READ, memory_order_release);
		return answers.text;
	}
	return state == TEXT_READ ? answers.text : NULL;
}

static const char *line_next(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* What follows a word and a blank at the beginning of a text; NULL if it does not begin so. */
static const char *after(const char *text, const char *word)
{
	size_t n = strlen(word);

	return text && !strncmp(text, word, n) && text[n] == ' ' ? text + n + 1 : NULL;
}

/* The hints of the line for this extension; else of that for any. NULL: there is neither. */
static const char *best_find(const char *text, const char *extension, char mode)
{
	const char word[] = { mode, 0 }, *any = NULL;

	for (const char *line = text; *line; line = line_next(line)) {
		const char *best = after(line, "best"),
			   *hints = after(after(best, extension), word);

		if (hints)
			return hints;
		if (!any)
			any = after(after(best, "*"), word);
	}
	return any;
}

static unsigned tries_count(const char *text)
{
	unsigned count = 0;

	for (const char *line = text; *line; line = line_next(line))
		count += after(line, "try") != NULL;
	return count;
}

static const char *tries_find(const char *text, uint64_t index)
{
	for (const char *line = text; *line; line = line_next(line)) {
		const char *hints = after(line, "try");

		if (hints && !index--)
			return hints;
	}
	return NULL;
}

/* What the host says of trials: so many millionths of opens, and how many there were. */
struct explore {
	uint64_t share, opens, explored;
};

static bool explore_find(const char *text, struct explore *e)
{
	for (const char *line = text; *line; line = line_next(line)) {
		char *at = (char *)after(line, "explore");

		if (!at)
			continue;
		e->share = strtoull(at, &at, 10);
		e->opens = strtoull(at, &at, 10);
		e->explored = strtoull(at, &at, 10);
		return *at == '\n' && e->share && e->share <= HINTS_MILLION &&
		       e->opens < UINT32_MAX && e->explored < UINT32_MAX;
	}
	return false;
}

/* One more trial, if that leaves them within their share; *before: how many there were. */
static bool explore_take(const struct explore *e, struct control *control, uint64_t *before)
{
	uint32_t now = atomic_load(&control->explored);

	/* Others may take one meanwhile; who loses that often does not try. */
	for (int i = 0; i < 16; i++) {
		uint64_t opens = e->opens + atomic_load(&control->opens) + 1;

		if ((e->explored + now + 1) * HINTS_MILLION > e->share * opens)
			return false;
		*before = e->explored + now;
		if (atomic_compare_exchange_weak(&control->explored, &now, now + 1))
			return true;
	}
	return false;
}

static void answer_fill(const char *hints, struct sluice_answer *answer)
{
	answer->count = 0;
	while (hints && answer->count < SLUICE_ANSWERS &&
	       hints_next(&hints, answer->hints[answer->count].key, SLUICE_KEY_BYTES,
			  answer->hints[answer->count].value, SLUICE_VALUE_BYTES))
		answer->count++;
}

/* Does the program leave all of these hints open? */
static bool is_open(const struct sluice_query *query, const struct sluice_answer *answer)
{
	for (uint32_t i = 0; i < answer->count; i++)
		if (query->is_set(query, answer->hints[i].key))
			return false;
	return answer->count > 0;
}

static bool explore(const char *text, struct control *control, const struct sluice_query *query,
		    struct sluice_answer *answer)
{
	struct explore e;
	unsigned count = tries_count(text);
	uint64_t before = 0;

	if (!count || !explore_find(text, &e))
		return false;
	/* What would be tried next, to see whether it can be, before it counts. */
	answer_fill(tries_find(text, (e.explored + atomic_load(&control->explored)) % count),
		    answer);
	if (!is_open(query, answer) || !explore_take(&e, control, &before))
		return false;
	answer_fill(tries_find(text, before % count), answer);
	answer->trial = 1;
	return true;
}

bool history_suggest(const char *text, struct control *control, const struct sluice_query *query,
		     struct sluice_answer *answer)
{
	char extension[HINTS_EXTENSION_BYTES];
	const char *rest = after(text, "sluice-answers");

	if (!rest || strncmp(rest, "1\n", 2) != 0)
		return false;
	answer->trial = 0;
	if (explore(text, control, query, answer))
		return true;
	answer_fill(
		best_find(text, hints_extension(query->path, extension), hints_mode(query->flags)),
		answer);
	return answer->count > 0;
}

static int start(const struct sluice_guest *guest, void **state)
{
	(void)guest;
	*state = NULL;
	return 0;
}

static bool suggest(void *state, const struct sluice_query *query, struct sluice_answer *answer)
{
	const char *text = answers_text();

	(void)state;
	return text && history_suggest(text, capture_membership.control, query, answer);
}

static const struct sluice_inline ops = { .start = start, .suggest = suggest };

const struct sluice_plugin inline_history = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_INLINE,
	.name = "history",
	.help = "gives MPI files the hints that were best in earlier runs",
	.in_line = &ops,
};
