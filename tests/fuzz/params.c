/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a parameter file. Accepted parameters must be as valid as those that
 * Sluice writes: they are the same after they were written and read again in every format that can
 * hold them, and the text for programs keeps to its lines and fields.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "params/set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(void *arg, const struct param *param, bool drop, const char *text)
{
	(void)arg;
	(void)param;
	(void)drop;
	if (!*text)
		abort();
}

/* Only JSON holds environment variables and arguments of the program. */
static bool is_open(const struct param_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (strpbrk(set->params[i].tunable->name, ":{"))
			return true;
	return false;
}

static void compare(const struct param_set *set, const struct param_form *form)
{
	AUTO_BUF struct buf text = { 0 };
	struct param_set again = { 0 };
	struct err err = { 0 };

	if (form->write(set, &text, &err) < 0)
		abort();
	if (!form->read)
		return;
	if (param_set_read_text(&again, "again", buf_text(&text), text.len, note, NULL, &err) < 0)
		abort();
	/* A hints file contains only hints. */
	if (form != &param_hints && (form == &param_json || !is_open(set)) &&
	    !param_set_equal(set, &again))
		abort();
	param_set_release(&again);
}

static void compile(const struct param_set *set)
{
	static char text[PARAMETERS_BYTES];
	struct err err = { 0 };
	size_t tabs = 0, lines = 0;

	if (param_set_compile(set, false, text, &err) < 0)
		return;
	for (const char *p = text; *p; p++) {
		tabs += *p == '\t';
		lines += *p == '\n';
	}
	if (!lines || tabs != 4 * (lines - 1))
		abort();
}

static void check(struct param_set *set)
{
	for (int middleware = 0; middleware <= MIDDLEWARE_OMPIO; middleware++) {
		struct tunable_context context = { .middleware = (enum middleware)middleware,
						   .filesystem = FILESYSTEM_LUSTRE,
						   .allowed = TUNABLE_LAYOUT,
						   .ranks = 4,
						   .nodes = 1 };

		param_set_prune(set, &context, note, NULL);
		if (param_set_check(set, &context, NULL, NULL))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct param_set set = { 0 };
	struct err err = { 0 };

	if (param_set_read_text(&set, "fuzz", (const char *)data, size, note, NULL, &err) < 0) {
		if (!*err.text)
			abort();
		return 0;
	}
	for (size_t i = 0; i < set.count; i++) {
		char *value = tunable_parse(set.params[i].tunable, set.params[i].value, &err);

		if (!value || strcmp(value, set.params[i].value) != 0)
			abort();
		free(value);
	}
	for (size_t i = 0; param_forms[i]; i++)
		compare(&set, param_forms[i]);
	compile(&set);
	check(&set);
	param_set_release(&set);
	return 0;
}
