/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the JSON format. It is not in form_json.c because names of jansson and base/json.h
 * collide.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "params/form.h"

int form_json_write(const struct param_set *set, struct buf *out, struct err *err)
{
	AUTO_FREE char *text = NULL;
	size_t bytes;
	FILE *stream = xmemstream(&text, &bytes);
	struct json j;

	(void)err;
	json_start(&j, stream, PARAMS_SCHEMA);
	if (set->command)
		json_text(&j, "command", set->command);
	json_open(&j, "parameters", '[');
	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		json_open(&j, NULL, '{');
		json_text(&j, "name", p->tunable->name);
		json_text(&j, "value", p->value);
		if (p->file)
			json_text(&j, "file", p->file);
		if (p->object)
			json_text(&j, "object", p->object);
		json_close(&j);
	}
	json_end(&j);
	fclose(stream);
	buf_add(out, text, bytes);
	return 0;
}
