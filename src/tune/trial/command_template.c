/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/command_template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

void command_template_defaults(const struct space *space, struct param_set *defaults)
{
	size_t point[SPACE_DIMENSIONS];

	*defaults = (struct param_set){ 0 };
	space_default(space, point);
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		if (d->tunable->layer == TUNABLE_COMMAND)
			param_set_put(defaults, d->tunable, d->values[point[i]], NULL, NULL, 0,
				      NULL);
	}
}

int command_template_check(char *const *argv, const struct param_set *defaults, struct err *err)
{
	for (size_t i = 0; i < defaults->count; i++) {
		const char *name = defaults->params[i].tunable->name;
		size_t at = 0;

		while (argv[at] && !strstr(argv[at], name))
			at++;
		if (!argv[at])
			return err_set(err, EINVAL,
				       "the space contains %s, but the command does not", name);
	}
	return 0;
}

/* The parameter whose name the text begins with; NULL: none. */
static const struct param *find_argument(const struct param_set *defaults, const char *text)
{
	for (size_t i = 0; i < defaults->count; i++) {
		const struct param *p = &defaults->params[i];

		if (strncmp(text, p->tunable->name, strlen(p->tunable->name)) == 0)
			return p;
	}
	return NULL;
}

static char *fill_word(const char *word, const struct param_set *set,
		       const struct param_set *defaults)
{
	struct buf out = { 0 };

	while (*word) {
		const struct param *initial = find_argument(defaults, word);
		const struct param *given =
			initial ? param_set_find(set, initial->tunable, NULL, NULL) : NULL;

		if (!initial) {
			buf_putc(&out, *word++);
			continue;
		}
		buf_puts(&out, given ? given->value : initial->value);
		word += strlen(initial->tunable->name);
	}
	buf_puts(&out, "");
	return buf_take(&out);
}

char **command_template_fill(char *const *argv, const struct param_set *set,
			     const struct param_set *defaults)
{
	size_t n = 0;
	char **filled;

	while (argv[n])
		n++;
	filled = xcalloc(n + 1, sizeof(*filled));
	for (size_t i = 0; i < n; i++)
		filled[i] = fill_word(argv[i], set, defaults);
	return filled;
}

void command_template_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}
