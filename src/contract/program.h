/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The name of the program that a process runs, which host and guest must agree on: the base name of
 * its executable, or of the script if that is an interpreter. Guest-safe.
 */
#ifndef SLUICE_CONTRACT_PROGRAM_H
#define SLUICE_CONTRACT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define PROGRAM_NAME_BYTES 256 /* with the terminating zero */

/*
 * Interpreters whose script is the program: base name (a * stands for any end), options that take a
 * word, and options that replace the script. Names of options are written without dash, with a
 * blank on both sides. Shells are not listed: they run other programs.
 */
#define PROGRAM_INTERPRETERS(X)        \
	X("python*", " W X Q ", " c ") \
	X("perl", " I M ", " e E ")    \
	X("Rscript", NULL, " e ")      \
	X("julia", " t p L J ", " e E ")

struct program_interpreter {
	const char *name, *one, *ends;
};

/* A word of a command line. */
struct program_word {
	const char *at;
	size_t n;
};

/* Moves to the next word. Words are separated by blanks or zeros. False at the end. */
static inline bool program_word_next(struct program_word *word, const char *end)
{
	const char *at = word->at + word->n;

	while (at < end && (!*at || *at == ' '))
		at++;
	word->at = at;
	while (at < end && *at && *at != ' ')
		at++;
	word->n = (size_t)(at - word->at);
	return word->n > 0;
}

static inline struct program_word program_word_base(struct program_word word)
{
	for (size_t i = word.n; i > 0; i--)
		if (word.at[i - 1] == '/')
			return (struct program_word){ word.at + i, word.n - i };
	return word;
}

/* Is it an option of one letter that the list has? */
static inline bool program_option_is_listed(const struct program_word *word, const char *list)
{
	for (const char *at = list; at && *at; at++)
		if (word->n == 2 && at[0] == ' ' && at[1] == word->at[1])
			return true;
	return false;
}

static inline const struct program_interpreter *program_interpreter_find(struct program_word base)
{
#define PROGRAM_INTERPRETER(name, one, ends) { name, one, ends },
	static const struct program_interpreter list[] = { PROGRAM_INTERPRETERS(
		PROGRAM_INTERPRETER) };
#undef PROGRAM_INTERPRETER

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		size_t n = strcspn(list[i].name, "*");

		if (base.n >= n && !memcmp(base.at, list[i].name, n) &&
		    (list[i].name[n] || base.n == n))
			return &list[i];
	}
	return NULL;
}

/* Moves from the interpreter to its script. False if it runs none. */
static inline bool program_find_script(const struct program_interpreter *interpreter,
				       struct program_word *word, const char *end)
{
	while (program_word_next(word, end)) {
		if (word->at[0] != '-' || word->n < 2)
			return true;
		if (program_option_is_listed(word, interpreter->ends))
			return false;
		/* Python's -m runs a module; that of mpi4py runs a script. */
		if (program_option_is_listed(word, " m ") &&
		    (!program_word_next(word, end) || word->n < 6 || memcmp(word->at, "mpi4py", 6)))
			return false;
		if (program_option_is_listed(word, interpreter->one))
			program_word_next(word, end);
	}
	return false;
}

/*
 * Writes and returns the name. `command` is the command line of the process, `bytes` long; the host
 * has its words with blanks between them, the guest with zeros. Control characters become "?". ""
 * if the executable is unknown.
 */
static inline const char *program_name(const char *executable, const char *command, size_t bytes,
				       char name[PROGRAM_NAME_BYTES])
{
	struct program_word own =
		program_word_base((struct program_word){ executable, strlen(executable) });
	const struct program_interpreter *interpreter = program_interpreter_find(own);
	struct program_word word = { command, 0 };
	size_t n;

	if (interpreter && program_word_next(&word, command + bytes) &&
	    program_find_script(interpreter, &word, command + bytes))
		own = program_word_base(word);
	n = own.n < PROGRAM_NAME_BYTES ? own.n : PROGRAM_NAME_BYTES - 1;
	for (size_t i = 0; i < n; i++)
		name[i] = (unsigned char)own.at[i] < ' ' || own.at[i] == 127 ? '?' : own.at[i];
	name[n] = 0;
	return name;
}

#endif
