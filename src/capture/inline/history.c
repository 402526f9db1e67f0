/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/history.h"

#include <fcntl.h>
#include <string.h>

#include "capture/inline/hint_text.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/number.h"
#include "contract/hints.h"
#include "contract/program.h"

#define EXPLORE_ATTEMPTS 16

enum { TEXT_UNREAD, TEXT_READING, TEXT_READ };

/*
 * The answers file and the name of this program. They are read at the first MPI_File_open, as few
 * processes of a run make one.
 */
static struct {
	_Atomic int state;
	char text[HINTS_ANSWERS_BYTES + 1];
	char program[PROGRAM_NAME_BYTES];
} answers;

static void answers_read(void)
{
	struct membership *m = &capture_membership;
	long directory = directory_open(m->directory, &m->directory_id);
	const struct spool_header *h = m->header;
	size_t used;

	if (directory < 0)
		return;
	used = file_read(directory, HINTS_ANSWERS_NAME, answers.text, sizeof(answers.text));
	kernel_call(SYS_close, directory);
	/* Drops a truncated last line. */
	while (used && answers.text[used - 1] != '\n')
		used--;
	answers.text[used] = 0;
	if (h)
		program_name(h->program, h->command, h->command_bytes, answers.program);
}

/* NULL while another thread is reading the file. */
static const char *answers_text(void)
{
	int state = TEXT_UNREAD;

	if (atomic_compare_exchange_strong(&answers.state, &state, TEXT_READING)) {
		answers_read();
		/* Publishes the text; pairs with the failing exchange. */
		atomic_store_explicit(&answers.state, TEXT_READ, memory_order_release);
		return answers.text;
	}
	return state == TEXT_READ ? answers.text : NULL;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* The text after "WORD "; NULL if it does not begin with that. */
static const char *skip_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	return text && !strncmp(text, word, n) && text[n] == ' ' ? text + n + 1 : NULL;
}

/* Is the text up to the end of the line this name? */
static bool line_is(const char *text, const char *name)
{
	size_t n = strlen(name);

	return n && !strncmp(text, name, n) && text[n] == '\n';
}

/* The program's hints for this extension, else those for any extension, else NULL. */
static const char *find_best(const char *text, const char *program, const char *extension,
			     char mode)
{
	const char word[] = { mode, 0 }, *any = NULL;
	bool ours = false;

	for (const char *line = text; *line; line = next_line(line)) {
		const char *named = skip_word(line, "program"),
			   *best = ours ? skip_word(line, "best") : NULL,
			   *hints = skip_word(skip_word(best, extension), word);

		if (named)
			ours = line_is(named, program);
		if (hints)
			return hints;
		if (!any)
			any = skip_word(skip_word(best, "*"), word);
	}
	return any;
}

static unsigned count_trials(const char *text)
{
	unsigned count = 0;

	for (const char *line = text; *line; line = next_line(line))
		count += skip_word(line, "try") != NULL;
	return count;
}

static const char *find_trial(const char *text, uint64_t index)
{
	for (const char *line = text; *line; line = next_line(line)) {
		const char *hints = skip_word(line, "try");

		if (hints && !index--)
			return hints;
	}
	return NULL;
}

/* The line "explore": the share of trials in millionths of opens, and earlier counts. */
struct explore {
	uint64_t share, opens, explored;
};

static bool explore_find(const char *text, struct explore *e)
{
	for (const char *line = text; *line; line = next_line(line)) {
		const char *at = skip_word(line, "explore");

		if (!at)
			continue;
		e->share = number_read(&at);
		e->opens = number_read(&at);
		e->explored = number_read(&at);
		return *at == '\n' && e->share && e->share <= HINTS_MILLION &&
		       e->opens < UINT32_MAX && e->explored < UINT32_MAX;
	}
	return false;
}

/* Counts one more trial if that does not exceed the share; *before: the number of earlier ones. */
static bool explore_count_trial(const struct explore *e, struct control *control, uint64_t *before)
{
	uint32_t now = atomic_load(&control->explored);

	/* Other processes may count one meanwhile; after several failures there is no trial. */
	for (int i = 0; i < EXPLORE_ATTEMPTS; i++) {
		uint64_t opens = e->opens + atomic_load(&control->opens) + 1;

		if ((e->explored + now + 1) * HINTS_MILLION > e->share * opens)
			return false;
		*before = e->explored + now;
		if (atomic_compare_exchange_weak(&control->explored, &now, now + 1))
			return true;
	}
	return false;
}

/* Does the program set none of these hints? */
static bool all_are_unset(const struct sluice_query *query, const struct sluice_answer *answer)
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
	unsigned count = count_trials(text);
	uint64_t before = 0;

	if (!count || !explore_find(text, &e))
		return false;
	/* Checks the hints that would be tried next before the trial is counted. */
	hint_text_read(find_trial(text, (e.explored + atomic_load(&control->explored)) % count),
		       answer);
	if (!all_are_unset(query, answer) || !explore_count_trial(&e, control, &before))
		return false;
	hint_text_read(find_trial(text, before % count), answer);
	answer->trial = 1;
	return true;
}

bool history_suggest(const char *text, const char *program, struct control *control,
		     const struct sluice_query *query, struct sluice_answer *answer)
{
	static const char title[] = HINTS_ANSWERS_TITLE "\n";
	char extension[HINTS_EXTENSION_BYTES];

	if (strncmp(text, title, sizeof(title) - 1) != 0)
		return false;
	answer->trial = 0;
	if (explore(text, control, query, answer))
		return true;
	hint_text_read(find_best(text, program, hints_extension(query->path, extension),
				 hints_mode(query->flags)),
		       answer);
	return answer->count > 0;
}

static int history_start(const struct sluice_guest *guest, void **state)
{
	(void)guest;
	*state = NULL;
	return 0;
}

static bool history_answer(void *state, const struct sluice_query *query,
			   struct sluice_answer *answer)
{
	const char *text = answers_text();

	(void)state;
	return text &&
	       history_suggest(text, answers.program, capture_membership.control, query, answer);
}

static const struct sluice_inline history_ops = { .start = history_start,
						  .suggest = history_answer };

const struct sluice_plugin inline_history = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_INLINE,
	.name = "history",
	.help = "open MPI files with the hints that were best in earlier runs of the program",
	.in_line = &history_ops,
};
