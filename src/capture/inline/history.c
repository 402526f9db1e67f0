/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/history.h"

#include <fcntl.h>
#include <string.h>

#include "capture/inline/hint_text.h"
#include "capture/libraries/mpi.h"
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

/* Is the word at `at`, which a blank or the end of the line ends, this one? */
static bool word_is(const char *at, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(at, word, n) && (at[n] == ' ' || at[n] == '\n');
}

static const char *next_word(const char *at)
{
	at += strcspn(at, " \n");
	return *at == ' ' ? at + 1 : at;
}

/* The operation in a line of the plan, where further words follow; NULL if it is another line. */
static const char *plan_line(const struct history_plan *plan, const char *line)
{
	const char mode[] = { plan->mode, 0 }, *rest = skip_word(line, "access");

	if (!rest)
		rest = skip_word(line, plan->alone ? "alone" : "beside");
	return skip_word(skip_word(rest, plan->extension), mode);
}

/* Finds the lines of the program that belong to the plan. */
static bool plan_lines(struct history_plan *plan, const char *text, const char *program,
		       const char *extension)
{
	bool ours = false;

	memcpy(plan->extension, extension, strlen(extension) + 1);
	plan->first = NULL;
	for (const char *line = text; *line; line = next_line(line)) {
		const char *named = skip_word(line, "program");

		if (named && plan->first)
			break;
		if (named)
			ours = line_is(named, program);
		if (!ours || !plan_line(plan, line))
			continue;
		if (!plan->first) {
			plan->first = line;
			plan->beside = skip_word(line, "beside") != NULL;
		}
		plan->end = next_line(line);
	}
	return plan->first;
}

bool history_plan_find(struct history_plan *plan, const char *text, const char *program,
		       const struct sluice_query *query)
{
	char extension[HINTS_EXTENSION_BYTES];

	*plan = (struct history_plan){ .mode = hints_mode(query->flags),
				       .alone = query->ranks == 1 };
	/* The hints of its open files never change. */
	if (mpi_kind.is_open)
		return false;
	for (const char *line = text; *line; line = next_line(line)) {
		const char *changes = skip_word(line, "changes"), *calls = skip_word(line, "calls");

		if (changes)
			plan->changes = (uint32_t)number_read(&changes);
		if (calls)
			plan->calls = calls;
	}
	return plan_lines(plan, text, program, hints_extension(query->path, extension)) ||
	       plan_lines(plan, text, program, "*");
}

static bool is_watched(const struct history_plan *plan, const char *call)
{
	const char *at = plan->calls;

	if (!at)
		return true;
	while (*at && *at != '\n' && !word_is(at, call))
		at = next_word(at);
	return *at && *at != '\n';
}

/* Is the line, which begins at the operation, for such accesses? */
static bool line_suits(const char *line, const struct history_access *access)
{
	static const char *const operations[2][2] = { { "read", "read_all" },
						      { "write", "write_all" } };
	const char *size = next_word(line), *offsets = next_word(size), *number = size;

	if (!word_is(line, operations[access->is_write][access->is_collective]))
		return false;
	if (!word_is(size, "any") && number_read(&number) != hints_size_class(access->bytes))
		return false;
	return word_is(offsets, "any") ||
	       word_is(offsets, access->is_strided ? "strided" : "contiguous");
}

bool history_plan_choose(const struct history_plan *plan, const struct history_access *access,
			 unsigned *choice)
{
	unsigned index = 0;

	*choice = 0;
	if (!access->bytes || !is_watched(plan, access->call))
		return false;
	for (const char *line = plan->first; line < plan->end; line = next_line(line)) {
		const char *rest = plan_line(plan, line);

		index += rest != NULL;
		if (rest && index <= HISTORY_CHOICES && line_suits(rest, access)) {
			*choice = index;
			break;
		}
	}
	return true;
}

const char *history_plan_hints(const struct history_plan *plan, unsigned choice)
{
	for (const char *line = plan->first; choice && line < plan->end; line = next_line(line)) {
		const char *rest = plan_line(plan, line);

		if (rest && !--choice)
			return next_word(next_word(next_word(rest)));
	}
	return NULL;
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

/* The hints that the file should be opened with, apart from trials. */
static void read_opened(const char *text, const char *program, const struct sluice_query *query,
			struct sluice_answer *answer)
{
	char extension[HINTS_EXTENSION_BYTES];
	struct history_plan plan;

	answer->count = 0;
	if (!history_plan_find(&plan, text, program, query) || plan.beside)
		hint_text_read(find_best(text, program, hints_extension(query->path, extension),
					 hints_mode(query->flags)),
			       answer);
}

bool history_suggest(const char *text, const char *program, struct control *control,
		     const struct sluice_query *query, struct sluice_answer *answer)
{
	static const char title[] = HINTS_ANSWERS_TITLE "\n";

	if (strncmp(text, title, sizeof(title) - 1) != 0)
		return false;
	answer->trial = 0;
	if (explore(text, control, query, answer))
		return true;
	read_opened(text, program, query, answer);
	return answer->count > 0;
}

bool history_plan_make(struct history_plan *plan, const struct sluice_query *query,
		       struct sluice_answer *opened)
{
	const char *text = answers_text();

	*plan = (struct history_plan){ 0 };
	if (!text || !history_plan_find(plan, text, answers.program, query))
		return false;
	read_opened(text, answers.program, query, opened);
	return true;
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
