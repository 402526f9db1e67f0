/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splits an annotated header into tokens.
 */
#include "capture/wrapgen/token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct reader {
	const char *file, *at, *end;
	unsigned line;
	bool line_start; /* only blanks so far on this line */
	struct err *err;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool starts_with(const struct reader *r, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(r->end - r->at) >= len && memcmp(r->at, text, len) == 0;
}

static void advance(struct reader *r)
{
	if (*r->at == '\n')
		r->line++;
	r->at++;
}

static int skip_comment(struct reader *r)
{
	unsigned line = r->line;

	for (r->at += 2; r->at < r->end; advance(r)) {
		if (starts_with(r, "*/")) {
			r->at += 2;
			return 0;
		}
	}
	return err_set(r->err, EINVAL, "%s:%u: unterminated comment", r->file, line);
}

static void skip_line(struct reader *r)
{
	while (r->at < r->end && *r->at != '\n') {
		if (*r->at == '\\' && r->at + 1 < r->end)
			r->at++;
		advance(r);
	}
}

/* Skips a preprocessor line. After the line marker "# 12 "file"", the next line is line 12. */
static void skip_directive(struct reader *r)
{
	const char *at = r->at + 1;
	unsigned line = 0;

	while (at < r->end && *at == ' ')
		at++;
	for (; at < r->end && *at >= '0' && *at <= '9' && line < 1000000; at++)
		line = line * 10 + (unsigned)(*at - '0');
	skip_line(r);
	if (line)
		r->line = line - 1;
}

/* Moves to the next token or the end. */
static int skip_blank(struct reader *r)
{
	while (r->at < r->end) {
		int error = 0;

		if (*r->at == '\n')
			r->line_start = true;
		if (strchr(" \t\r\n\f\v", *r->at) && *r->at)
			advance(r);
		else if (starts_with(r, "/*"))
			error = skip_comment(r);
		else if (*r->at == '#' && r->line_start)
			skip_directive(r);
		else if (starts_with(r, "//"))
			skip_line(r);
		else
			return 0;
		if (error)
			return error;
	}
	return 0;
}

static int read_literal(struct reader *r, struct token *t)
{
	char quote = *r->at++;

	t->kind = TOKEN_TEXT;
	while (r->at < r->end && *r->at != quote && *r->at != '\n') {
		if (*r->at == '\\' && r->at + 1 < r->end && r->at[1] != '\n')
			r->at++;
		r->at++;
	}
	if (r->at >= r->end || *r->at != quote)
		return err_set(r->err, EINVAL, "%s:%u: literal lacks the closing %c", r->file,
			       r->line, quote);
	r->at++;
	return 0;
}

static int read_token(struct reader *r, struct token *t)
{
	int error = 0;

	*t = (struct token){ TOKEN_SIGN, r->at, 0, r->line };
	r->line_start = false;
	if (is_word(*r->at)) {
		t->kind = TOKEN_WORD;
		while (r->at < r->end && is_word(*r->at))
			r->at++;
	} else if (*r->at == '"' || *r->at == '\'') {
		error = read_literal(r, t);
	} else if (starts_with(r, "...")) {
		t->kind = TOKEN_ELLIPSIS;
		r->at += 3;
	} else if (*r->at > ' ' && *r->at < 0x7f) {
		r->at++;
	} else {
		return err_set(r->err, EINVAL, "%s:%u: invalid byte 0x%02x", r->file, r->line,
			       (unsigned char)*r->at);
	}
	t->len = (size_t)(r->at - t->at);
	return error;
}

int tokens_read(struct tokens *tokens, const char *file, const char *text, size_t len,
		struct err *err)
{
	struct reader r = { file, text, text + len, 1, true, err };

	for (;;) {
		int error = skip_blank(&r);

		if (error)
			return error;
		tokens->list =
			xgrow(tokens->list, &tokens->cap, tokens->count + 1, sizeof(*tokens->list));
		if (r.at == r.end)
			break;
		error = read_token(&r, &tokens->list[tokens->count]);
		if (error)
			return error;
		tokens->count++;
	}
	tokens->list[tokens->count++] = (struct token){ TOKEN_END, r.end, 0, r.line };
	return 0;
}

void tokens_release(struct tokens *tokens)
{
	free(tokens->list);
	*tokens = (struct tokens){ 0 };
}

bool token_is(const struct token *token, const char *text)
{
	return token->len == strlen(text) && memcmp(token->at, text, token->len) == 0;
}

bool token_is_capital(const struct token *token)
{
	if (token->kind != TOKEN_WORD || token->len < 2 || token->at[0] < 'A' || token->at[0] > 'Z')
		return false;
	for (size_t i = 0; i < token->len; i++) {
		if (token->at[i] >= 'a' && token->at[i] <= 'z')
			return false;
	}
	return true;
}
