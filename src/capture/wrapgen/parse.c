/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads annotated prototypes:
 *
 *	header    = { LAYER ( layer ) | LIBRARY ( space ) | ALSO ( prefix )
 *	            | ONLY ( prefix ) | row ; }
 *	row       = { function mark } type name ( arguments )
 *	arguments = void | argument { , argument } [ , ... ]
 *	argument  = { argument mark } C declaration with a name
 *
 * The parser is not recursive: it counts parentheses, so nesting in the input has no limit.
 */
#include "capture/wrapgen/parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "capture/wrapgen/token.h"

struct parser {
	struct interface *out;
	struct row *row; /* being read */
	const char *file;
	const struct token *at;
	int layer;				       /* -1 before the first LAYER() */
	const char *library, *library_prefix, *prefix; /* for the following rows; NULL: none */
	bool only;				       /* prefix is from ONLY(), not from ALSO() */
	struct err *err;
};

/* The tokens first .. end-1. */
struct span {
	const struct token *first, *end;
};

__attribute__((format(printf, 3, 4))) static int fail(const struct parser *p,
						      const struct token *at, const char *format,
						      ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	err_set(p->err, EINVAL, "%s:%u: %s", p->file, at->line, text);
	return -EINVAL;
}

/* The length of a token for "%.*s" in a message. */
static int shown_length(const struct token *t)
{
	return t->len < 60 ? (int)t->len : 60;
}

/* Gives the text to the interface, which will free it. */
static const char *keep_text(struct parser *p, char *text)
{
	struct interface *out = p->out;

	out->texts = xgrow(out->texts, &out->text_cap, out->text_count + 1, sizeof(*out->texts));
	out->texts[out->text_count++] = text;
	return text;
}

static const char *keep_word(struct parser *p, const struct token *t)
{
	return keep_text(p, xstrndup(t->at, t->len));
}

/* The code of a mark exactly as written. */
static const char *keep_code(struct parser *p, struct span s)
{
	return keep_text(
		p, xstrndup(s.first->at, (size_t)(s.end[-1].at + s.end[-1].len - s.first->at)));
}

static bool is_spaced(const struct token *before, const struct token *t)
{
	if (strchr(",)[]", *t->at) && t->kind == TOKEN_SIGN)
		return false;
	if (before->kind == TOKEN_SIGN && strchr("*([", *before->at))
		return false;
	return !(token_is(t, "(") && token_is(before, ")"));
}

/* A declaration with normalized blanks; the token `without` is left out. */
static const char *keep_declaration(struct parser *p, struct span s, const struct token *without)
{
	struct buf text = { 0 };
	const struct token *before = NULL;

	for (const struct token *t = s.first; t < s.end; t++) {
		if (t == without)
			continue;
		if (before && is_spaced(before, t))
			buf_putc(&text, ' ');
		buf_add(&text, t->at, t->len);
		before = t;
	}
	return keep_text(p, buf_take(&text));
}

/* Reads "( ... )" and moves p->at behind it; inner may be empty. */
static int read_group(struct parser *p, const char *what, int what_len, struct span *inner)
{
	const struct token *open = p->at;
	unsigned depth = 0;

	if (!token_is(open, "("))
		return fail(p, open, "expected '(' after %.*s", what_len, what);
	for (; p->at->kind != TOKEN_END; p->at++) {
		if (token_is(p->at, "("))
			depth++;
		else if (token_is(p->at, ")") && --depth == 0)
			break;
	}
	if (p->at->kind == TOKEN_END)
		return fail(p, open, "'(' after %.*s is not closed", what_len, what);
	*inner = (struct span){ open + 1, p->at++ };
	return 0;
}

/* The end of the part that begins at first: the next comma outside parentheses, or end. */
static const struct token *part_end(const struct token *first, const struct token *end)
{
	unsigned depth = 0;

	for (const struct token *t = first; t < end; t++) {
		if (token_is(t, "("))
			depth++;
		else if (token_is(t, ")") && depth)
			depth--;
		else if (token_is(t, ",") && !depth)
			return t;
	}
	return end;
}

static int find_choice(const struct token *t, const char *const *names, int count)
{
	for (int i = 0; i < count; i++) {
		if (token_is(t, names[i]))
			return i;
	}
	return -1;
}

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NAME_ROW(name, ...) #name,
static const char *const layer_names[] = { LAYER_LIST(NAME_ROW) };
static const char *const class_names[] = { CLASS_LIST(NAME_ROW) };
static const char *const field_choices[] = { FIELD_LIST(NAME_ROW) };
static const char *const role_names[] = { ROLE_LIST(NAME_ROW) };
static const char *const how_names[] = { FAILS_LIST(NAME_ROW) };
static const char *const makes_names[] = { MAKES_LIST(NAME_ROW) };
#undef NAME_ROW

/* Fails with a message that lists the valid words. */
static int fail_choice(const struct parser *p, const struct token *t, const char *what,
		       const char *const *names, int count)
{
	struct buf list = { 0 };
	int error;

	for (int i = 0; i < count; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
	error = fail(p, t, "unknown %s '%.*s'; expected one of %s", what, shown_length(t), t->at,
		     buf_text(&list));
	buf_release(&list);
	return error;
}

/* Reads a group of exactly one word that must be one of names. */
static int read_choice(struct parser *p, const char *mark, const char *const *names, int count,
		       int *chosen)
{
	struct span s;
	int error = read_group(p, mark, (int)strlen(mark), &s);

	if (error)
		return error;
	if (s.end - s.first != 1)
		return fail(p, s.first, "%s takes one word", mark);
	*chosen = find_choice(s.first, names, count);
	if (*chosen < 0)
		return fail_choice(p, s.first, mark, names, count);
	return 0;
}

static int set_text(struct parser *p, const char *mark, size_t place)
{
	const char **text = (const char **)((char *)p->row + place);
	struct span s;
	int error = read_group(p, mark, (int)strlen(mark), &s);

	if (error)
		return error;
	if (s.first == s.end)
		return fail(p, s.first, "%s is empty", mark);
	if (*text)
		return fail(p, s.first, "%s is given twice", mark);
	*text = keep_code(p, s);
	return 0;
}

/* Statements may be given several times; macros of a header do so. */
static int set_statements(struct parser *p, const char *mark, size_t place)
{
	const char **text = (const char **)((char *)p->row + place), *before = *text;
	int error;

	*text = NULL;
	error = set_text(p, mark, place);
	if (!error && before)
		*text = keep_text(p, xprintf("%s\n\t%s", before, *text));
	return error;
}

static int set_error(struct parser *p, const char *mark, size_t place)
{
	const struct token *comma;
	struct span s;
	int error = read_group(p, mark, (int)strlen(mark), &s);

	(void)place;
	if (error)
		return error;
	comma = part_end(s.first, s.end);
	if (comma == s.first || comma + 1 >= s.end)
		return fail(p, s.first, "%s takes a condition and a value", mark);
	if (p->row->error_if)
		return fail(p, s.first, "%s is given twice", mark);
	p->row->error_if = keep_code(p, (struct span){ s.first, comma });
	p->row->error_value = keep_code(p, (struct span){ comma + 1, s.end });
	return 0;
}

static int set_pass(struct parser *p, const char *mark, size_t place)
{
	struct pass *pass = &p->row->passes[p->row->pass_count];
	struct span s;
	int error = read_group(p, mark, (int)strlen(mark), &s);

	(void)place;
	if (error)
		return error;
	if (s.end - s.first < 3 || !token_is(s.first + 1, ","))
		return fail(p, s.first, "%s takes an argument and an expression", mark);
	if (p->row->pass_count == ROW_PASSES_MAX)
		return fail(p, s.first, "%s is given more than %d times", mark, ROW_PASSES_MAX);
	pass->name = keep_code(p, (struct span){ s.first, s.first + 1 });
	pass->code = keep_code(p, (struct span){ s.first + 2, s.end });
	p->row->pass_count++;
	return 0;
}

static int set_class(struct parser *p, const char *mark, size_t place)
{
	int chosen, error = read_choice(p, mark, class_names, COUNT(class_names), &chosen);

	(void)place;
	if (error)
		return error;
	if (p->row->has_class)
		return fail(p, p->at, "CALL is given twice; is a ';' missing before it?");
	p->row->class = (enum call_class)chosen;
	p->row->has_class = true;
	return 0;
}

static int set_how(struct parser *p, const char *mark, size_t place)
{
	int chosen, error = read_choice(p, mark, how_names, COUNT(how_names), &chosen);

	(void)place;
	if (error)
		return error;
	if (p->row->how != HOW_DEFAULT)
		return fail(p, p->at, "%s is given twice", mark);
	p->row->how = (enum how)chosen;
	return 0;
}

static int set_makes(struct parser *p, const char *mark, size_t place)
{
	int chosen, error = read_choice(p, mark, makes_names, COUNT(makes_names), &chosen);

	(void)place;
	if (error)
		return error;
	if (p->row->makes != MAKES_NOTHING)
		return fail(p, p->at, "%s is given twice", mark);
	p->row->makes = (enum makes)chosen;
	return 0;
}

static int set_flag(struct parser *p, const char *mark, size_t place)
{
	(void)mark;
	*(bool *)((char *)p->row + place) = true;
	return 0;
}

static int set_field(struct parser *p, const char *mark, size_t place)
{
	struct span s;
	int field, error = read_group(p, mark, (int)strlen(mark), &s);

	(void)place;
	if (error)
		return error;
	field = s.first < s.end ? find_choice(s.first, field_choices, COUNT(field_choices)) : -1;
	/* Paths are marked arguments. Hints are always computed, and names may be. */
	if (field < 0 || (field >= FIELD_PATH && field != FIELD_HINTS && field != FIELD_NAME))
		return fail_choice(p, s.first, "field", field_choices, FIELD_PATH);
	if (s.end - s.first < 3 || !token_is(s.first + 1, ","))
		return fail(p, s.first, "FIELD takes a field and an expression");
	if (p->row->field_code[field])
		return fail(p, s.first, "the field %s is given twice", field_choices[field]);
	p->row->field_code[field] = keep_code(p, (struct span){ s.first + 2, s.end });
	return 0;
}

static int read_arg(struct parser *p, struct span s, struct arg *arg);

static int set_rest(struct parser *p, const char *mark, size_t place)
{
	struct span s;
	const struct token *comma;
	int error = read_group(p, mark, (int)strlen(mark), &s);

	(void)place;
	if (error)
		return error;
	if (s.first == s.end)
		return fail(p, s.first, "%s is empty", mark);
	if (p->row->rest.name)
		return fail(p, s.first, "%s is given twice", mark);
	comma = part_end(s.first, s.end);
	error = read_arg(p, (struct span){ s.first, comma }, &p->row->rest);
	if (error || comma == s.end)
		return error;
	if (comma + 1 == s.end)
		return fail(p, comma, "missing condition after the comma of REST");
	p->row->rest_when = keep_code(p, (struct span){ comma + 1, s.end });
	return 0;
}

/*
 * The marks before a prototype; marks.h defines them as empty macros. `place` is the offset of the
 * member of struct row that the mark sets, if it is a single one.
 */
static const struct {
	const char *name;
	int (*set)(struct parser *p, const char *mark, size_t place);
	size_t place;
} function_marks[] = {
	{ "CALL", set_class, 0 },
	{ "FAILS", set_how, 0 },
	{ "ERROR", set_error, 0 },
	{ "MAKES", set_makes, 0 },
	{ "FIELD", set_field, 0 },
	{ "PASS", set_pass, 0 },
	{ "REST", set_rest, 0 },
	{ "ENDS", set_flag, offsetof(struct row, ends) },
	{ "QUIET", set_flag, offsetof(struct row, quiet) },
	{ "LEAVES", set_flag, offsetof(struct row, leaves) },
	{ "FIRST", set_statements, offsetof(struct row, first) },
	{ "LAST", set_statements, offsetof(struct row, last) },
	{ "BEFORE", set_statements, offsetof(struct row, before) },
	{ "AFTER", set_statements, offsetof(struct row, after) },
	{ "RESULT", set_text, offsetof(struct row, field_code[FIELD_RESULT]) },
	{ "ONLY_IF", set_text, offsetof(struct row, only_if) },
	{ "KEEP_IF", set_text, offsetof(struct row, keep_if) },
	{ "FORWARD", set_text, offsetof(struct row, forward) },
	{ "IMPLIED", set_text, offsetof(struct row, implied) },
};

/* Is it a word in capitals at the place of a mark, and not a type such as FILE in "FILE *"? */
static bool looks_like_mark(const struct token *t)
{
	return token_is_capital(t) && (t[1].kind == TOKEN_WORD || token_is(&t[1], "("));
}

static int read_function_marks(struct parser *p)
{
	while (looks_like_mark(p->at)) {
		const struct token *t = p->at++;
		int i, error;

		for (i = 0; i < COUNT(function_marks) && !token_is(t, function_marks[i].name); i++)
			;
		if (i == COUNT(function_marks))
			return fail(p, t,
				    "unknown mark '%.*s' before a function; see "
				    "docs/reference/interfaces.md",
				    shown_length(t), t->at);
		error = function_marks[i].set(p, function_marks[i].name, function_marks[i].place);
		if (error)
			return error;
	}
	return 0;
}

/* The name in a declaration: after the star in "int (*name)(...)", else the last word before '['.
 */
static const struct token *declared_name(struct span s)
{
	const struct token *name = NULL;

	for (const struct token *t = s.first; t < s.end; t++) {
		if (token_is(t, "[") || token_is(t, "("))
			break;
		if (t->kind == TOKEN_WORD && t > s.first)
			name = t;
	}
	for (const struct token *t = s.first; t + 2 < s.end; t++) {
		if (token_is(t, "(") && token_is(t + 1, "*") && t[2].kind == TOKEN_WORD)
			return t + 2;
		if (token_is(t, "("))
			return NULL;
	}
	return name;
}

static bool is_type_word(const struct token *t)
{
	static const char *const words[] = {
		"void",	      "char",	"short",  "int",   "long",     "unsigned",
		"signed",     "float",	"double", "const", "volatile", "restrict",
		"__restrict", "struct", "union",  "enum",
	};

	return find_choice(t, words, COUNT(words)) >= 0;
}

static int read_arg_marks(struct parser *p, struct span *s, struct arg *arg)
{
	arg->role = ROLE_NONE;
	for (; s->first < s->end && token_is_capital(s->first); s->first++) {
		int role = find_choice(s->first, role_names, COUNT(role_names));

		if (role < 0 && !looks_like_mark(s->first))
			return 0;
		if (role < 0)
			return fail(p, s->first,
				    "unknown mark '%.*s' before an argument; see "
				    "docs/reference/interfaces.md",
				    shown_length(s->first), s->first->at);
		if (arg->role != ROLE_NONE)
			return fail(p, s->first, "an argument takes one mark, not %s and %s",
				    role_names[arg->role], role_names[role]);
		arg->role = (enum role)role;
	}
	return 0;
}

static int read_arg(struct parser *p, struct span s, struct arg *arg)
{
	const struct token *name;
	int error = s.first < s.end ? read_arg_marks(p, &s, arg) : 0;

	if (error)
		return error;
	if (s.first == s.end)
		return fail(p, s.first, "missing argument");
	name = declared_name(s);
	if (!name || is_type_word(name))
		return fail(p, s.first, "the argument '%s' has no name",
			    keep_declaration(p, s, NULL));
	arg->decl = keep_declaration(p, s, NULL);
	arg->type = keep_declaration(p, s, name);
	arg->name = keep_word(p, name);
	return 0;
}

static int read_args(struct parser *p, struct span s)
{
	struct row *row = p->row;

	if (s.end - s.first == 1 && token_is(s.first, "void"))
		return 0;
	for (const struct token *t = s.first;; t++) {
		struct span part = { t, part_end(t, s.end) };
		int error;

		if (part.end - part.first == 1 && t->kind == TOKEN_ELLIPSIS && part.end == s.end) {
			row->variadic = true;
			return 0;
		}
		if (row->arg_count == ROW_ARGS_MAX)
			return fail(p, t, "%s() has more than %d arguments", row->name,
				    ROW_ARGS_MAX);
		error = read_arg(p, part, &row->args[row->arg_count]);
		if (error)
			return error;
		row->arg_count++;
		t = part.end;
		if (t == s.end)
			return 0;
	}
}

static bool has_word(struct span s, const char *word)
{
	for (const struct token *t = s.first; t < s.end; t++) {
		if (token_is(t, word))
			return true;
	}
	return false;
}

static enum returns returns_of(struct span type)
{
	static const char *const unsigned_words[] = { "unsigned", "size_t",   "uint16_t",
						      "uint32_t", "uint64_t", "uintptr_t" };

	if (has_word(type, "*"))
		return has_word(type, "FILE")  ? RETURNS_STREAM
		       : has_word(type, "DIR") ? RETURNS_DIR
					       : RETURNS_POINTER;
	if (has_word(type, "void"))
		return RETURNS_VOID;
	if (has_word(type, "wint_t"))
		return RETURNS_WINT;
	for (int i = 0; i < COUNT(unsigned_words); i++) {
		if (has_word(type, unsigned_words[i]))
			return RETURNS_UNSIGNED;
	}
	return RETURNS_SIGNED;
}

static int read_prototype(struct parser *p)
{
	struct span type = { p->at, p->at }, args;
	struct row *row = p->row;
	const struct token *name;
	int error;

	while ((p->at->kind == TOKEN_WORD && !token_is(&p->at[1], "(")) || token_is(p->at, "*"))
		p->at++;
	name = p->at;
	type.end = name;
	if (name->kind != TOKEN_WORD || type.first == type.end)
		return fail(p, name, "expected a prototype 'type name(arguments);' at '%.*s'",
			    shown_length(name), name->at);
	row->type = keep_declaration(p, type, NULL);
	row->returns = returns_of(type);
	row->name = row->call = keep_word(p, name);
	row->line = name->line;
	p->at++;
	error = read_group(p, row->name, shown_length(name), &args);
	if (!error)
		error = read_args(p, args);
	if (error)
		return error;
	if (!token_is(p->at, ";"))
		return fail(p, p->at - 1, "expected ';' after %s(...)", row->name);
	p->at++;
	return 0;
}

/* Adds the row under its name. */
static int add_row(struct parser *p)
{
	struct interface *out = p->out;
	const struct row *same = interface_find(out, p->row->name);

	if (same)
		return err_set(p->err, EINVAL, "%s:%u: %s() already has a row at %s:%u", p->file,
			       p->row->line, p->row->name, same->file, same->line);
	if (out->count == INTERFACE_ROWS_MAX)
		return fail(p, p->at, "more than %d functions", INTERFACE_ROWS_MAX);
	out->rows = xgrow(out->rows, &out->cap, out->count + 1, sizeof(*out->rows));
	out->rows[out->count++] = *p->row;
	return 0;
}

/* Adds a row for each name that has a wrapper; calls are recorded under the first name. */
static int add_names(struct parser *p)
{
	int error = p->only ? 0 : add_row(p);

	if (error || !p->prefix)
		return error;
	p->row->name = keep_text(p, xprintf("%s%s", p->prefix, p->row->call));
	p->row->is_again = !p->only;
	return add_row(p);
}

static int read_row(struct parser *p)
{
	struct row row = { .file = p->file,
			   .how = HOW_DEFAULT,
			   .makes = MAKES_NOTHING,
			   .library = p->library,
			   .library_prefix = p->library_prefix,
			   .has_twin = p->prefix };
	int error;

	if (p->layer < 0)
		return fail(p, p->at, "LAYER(name) must come before the first function");
	row.layer = (enum layer)p->layer;
	row.rest.role = ROLE_NONE;
	p->row = &row;
	error = read_function_marks(p);
	if (!error)
		error = read_prototype(p);
	if (!error)
		error = row_complete(&row, p->err);
	if (!error)
		error = add_names(p);
	p->row = NULL;
	return error;
}

static int read_word(struct parser *p, const char *mark, const char **word)
{
	struct span s;
	int error = read_group(p, mark, (int)strlen(mark), &s);

	if (error)
		return error;
	if (s.end - s.first != 1 || s.first->kind != TOKEN_WORD)
		return fail(p, s.first, "%s takes one word", mark);
	*word = keep_word(p, s.first);
	return 0;
}

static int read_library(struct parser *p)
{
	int error = read_word(p, "LIBRARY", &p->library);
	char *lower;

	if (error)
		return error;
	lower = xstrdup(p->library);
	for (char *c = lower; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	p->library_prefix = keep_text(p, lower);
	return 0;
}

static int read_header(struct parser *p)
{
	while (p->at->kind != TOKEN_END) {
		int error;

		if (token_is(p->at, "LAYER")) {
			p->at++;
			error = read_choice(p, "LAYER", layer_names, COUNT(layer_names), &p->layer);
		} else if (token_is(p->at, "LIBRARY")) {
			p->at++;
			error = read_library(p);
		} else if (token_is(p->at, "ALSO")) {
			p->at++;
			error = read_word(p, "ALSO", &p->prefix);
			p->only = false;
		} else if (token_is(p->at, "ONLY")) {
			p->at++;
			error = read_word(p, "ONLY", &p->prefix);
			p->only = true;
		} else {
			error = read_row(p);
		}
		if (error)
			return error;
	}
	return 0;
}

int interface_read(struct interface *interface, const char *file, const char *text, size_t len,
		   struct err *err)
{
	struct parser p = { .out = interface, .layer = -1, .err = err };
	struct tokens tokens = { 0 };
	const char *slash = strrchr(file, '/');
	int error;

	if (len > INTERFACE_TEXT_MAX)
		return err_set(err, EFBIG, "%s: the header exceeds %u bytes", file,
			       INTERFACE_TEXT_MAX);
	p.file = keep_text(&p, xstrdup(file));
	interface->files = xgrow(interface->files, &interface->file_cap, interface->file_count + 1,
				 sizeof(*interface->files));
	interface->files[interface->file_count++] = slash ? p.file + (slash + 1 - file) : p.file;
	error = tokens_read(&tokens, p.file, text, len, err);
	p.at = tokens.list;
	if (!error)
		error = read_header(&p);
	tokens_release(&tokens);
	return error;
}
