/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The words of an annotated header, as it is or as the preprocessor leaves it. Comments and
 * preprocessor lines are left out; line markers are followed. Tokens point into the text, which
 * must outlive them and need not end in a zero.
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_TOKEN_H
#define SLUICE_CAPTURE_WRAPGEN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum token_kind {
	TOKEN_END,	/* after the last; its line is that of the end of the text */
	TOKEN_WORD,	/* identifier or number */
	TOKEN_TEXT,	/* string or character literal */
	TOKEN_SIGN,	/* one byte of punctuation */
	TOKEN_ELLIPSIS, /* ... */
};

struct token {
	enum token_kind kind;
	const char *at;
	size_t len;
	unsigned line;
};

struct tokens {
	struct token *list; /* ends with one TOKEN_END once read */
	size_t count, cap;
};

/* Reads the whole text. -EINVAL names file, line and what is wrong; tokens can be released in any
 * case. */
int tokens_read(struct tokens *tokens, const char *file, const char *text, size_t len,
		struct err *err);
void tokens_release(struct tokens *tokens);

bool token_is(const struct token *token, const char *text);

/* All capitals, digits and underscores, at least two: how marks are spelt, and FILE and DIR. */
bool token_is_capital(const struct token *token);

#endif
