/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file that ROMIO reads when $ROMIO_HINTS names it: a key and a value per line, # begins a
 * comment. What is no hint for all files becomes a comment when it is written.
 */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "params/form.h"

static bool hints_is(const char *text, size_t bytes)
{
	size_t key;

	(void)bytes;
	for (;;) {
		text += strspn(text, " \t\r\n");
		if (*text != '#')
			break;
		text += strcspn(text, "\n");
	}
	if (!*text)
		return true;
	key = strcspn(text, " \t\r\n");
	for (size_t i = 0; i < key; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	/* A line with one word, or prose of unknown words, is not ours to guess at. */
	return text[key] == ' ' || text[key] == '\t';
}

static void line_read(const struct form_reading *reading, char *line, unsigned number)
{
	char *key, *value;

	line[strcspn(line, "#")] = 0;
	key = line + strspn(line, " \t\r");
	if (!*key)
		return;
	value = key + strcspn(key, " \t\r");
	if (*value)
		*value++ = 0;
	if (!value[strspn(value, " \t\r")])
		form_tell(reading, NULL, true, number, "%.80s: there is no value", key);
	else
		form_put(reading, key, value, NULL, NULL, number);
}

static int hints_read(struct param_set *set, const char *name, const char *text, size_t bytes,
		      param_problem problem, void *arg, struct err *err)
{
	struct form_reading reading = { set, name, problem, arg };
	AUTO_FREE char *copy = xstrndup(text, bytes);
	char *next = copy;
	unsigned number = 1;

	(void)err;
	for (char *line; (line = strsep(&next, "\n")); number++)
		line_read(&reading, line, number);
	return 0;
}

static int hints_write(const struct param_set *set, struct buf *out, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];
		const struct tunable *t = p->tunable;

		if (t->place == PLACE_HINT && !p->file)
			buf_printf(out, "%s %s\n", t->key ? t->key : t->name, p->value);
		else if (t->place == PLACE_HINT)
			buf_printf(out, "# %s %s: only for %s\n", t->name, p->value, p->file);
		else
			buf_printf(out, "# %s %s: is no hint\n", t->name, p->value);
	}
	if (!set->count)
		buf_puts(out, "# no hints\n");
	return 0;
}

const struct param_form param_hints = {
	.name = "hints",
	.help = "a hints file of ROMIO: key and value per line",
	.is = hints_is,
	.read = hints_read,
	.write = hints_write,
};
