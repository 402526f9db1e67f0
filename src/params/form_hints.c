/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hints file that ROMIO reads if $ROMIO_HINTS names it: a key and a value per line; # begins a
 * comment. Parameters that are not hints for all files are written as comments.
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
	/* A line with a single word is not a hints file. */
	return text[key] == ' ' || text[key] == '\t';
}

static void read_line(const struct form_reading *reading, char *line, unsigned number)
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
		form_report(reading, NULL, true, number, "%.80s: missing value", key);
	else
		form_set_param(reading, key, value, NULL, NULL, number);
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
		read_line(&reading, line, number);
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
			buf_printf(out, "# %s %s: applies to %s only\n", t->name, p->value,
				   p->file);
		else
			buf_printf(out, "# %s %s: not a hint\n", t->name, p->value);
	}
	if (!set->count)
		buf_puts(out, "# no hints\n");
	return 0;
}

const struct param_form param_hints = {
	.name = "hints",
	.help = "ROMIO hints file: key and value per line",
	.is = hints_is,
	.read = hints_read,
	.write = hints_write,
};
