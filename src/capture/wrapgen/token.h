/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splits an annotated header into tokens, before or after the preprocessor. Comments and
 * preprocessor lines are skipped; line markers set the line number. Tokens point into the text,
 * which must outlive them and need not be terminated.
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_TOKEN_H
#define SLUICE_CAPTURE_WRAPGEN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum token_kind {
	TOKEN_END,	/* after the last token; has the line number of the end */
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
	struct token *list; /* after tokens_read(), ends with one TOKEN_END */
	size_t count, cap;
};

/* Reads the whole text. On -EINVAL, err names file, line and mistake. Release tokens in any case.
 */
int tokens_read(struct tokens *tokens, const char *file, const char *text, size_t len,
		struct err *err);
void tokens_release(struct tokens *tokens);

bool token_is(const struct token *token, const char *text);

/* Is it two or more capitals, digits and underscores, as marks (and FILE and DIR) are? */
bool token_is_capital(const struct token *token);

#endif
