/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The JSON format: {"schema": "sluice.params/1", "parameters": [{"name": "cb_nodes", "value": 4},
 * {"name": "striping_factor", "value": 4, "file": "sample.h5part"}]}. A value is a number, a string
 * with a unit, a boolean, or an array of numbers.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "params/form.h"

static bool json_is(const char *text, size_t bytes)
{
	(void)bytes;
	return text[strspn(text, " \t\r\n")] == '{';
}

/* Finds the next object at nesting depth two. */
static const char *find_next_element(const char *at, int *depth)
{
	bool quoted = false;

	for (; *at; at++) {
		if (quoted) {
			if (*at == '\\' && at[1])
				at++;
			else if (*at == '"')
				quoted = false;
			continue;
		}
		quoted = *at == '"';
		if (*at == '{' && *depth == 2) {
			(*depth)++;
			return at;
		}
		*depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
	}
	return at;
}

void form_lines_init(struct form_lines *lines, const char *text)
{
	*lines = (struct form_lines){ text, text, 0, 1 };
}

unsigned form_lines_next(struct form_lines *lines)
{
	const char *start = find_next_element(lines->at, &lines->depth);

	for (; lines->counted < start; lines->counted++)
		lines->line += *lines->counted == '\n';
	lines->at = *start ? start + 1 : start;
	return lines->line;
}

static bool append_scalar(struct buf *out, const json_t *value)
{
	if (json_is_string(value))
		buf_puts(out, json_string_value(value));
	else if (json_is_integer(value))
		buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_boolean(value))
		buf_puts(out, json_is_true(value) ? "true" : "false");
	else
		return false;
	return true;
}

bool form_json_value(struct buf *out, const struct json_t *value)
{
	const json_t *part;
	size_t i;

	if (!json_is_array(value))
		return append_scalar(out, value);
	json_array_foreach(value, i, part)
	{
		if (i)
			buf_putc(out, ',');
		if (!append_scalar(out, part))
			return false;
	}
	return true;
}

static bool is_optional_string(const json_t *value)
{
	return !value || json_is_null(value) || json_is_string(value);
}

static void read_element(const struct form_reading *reading, const json_t *element, unsigned line)
{
	const char *name = json_string_value(json_object_get(element, "name"));
	const json_t *file = json_object_get(element, "file");
	const json_t *object = json_object_get(element, "object");
	AUTO_BUF struct buf value = { 0 };

	if (!name) {
		form_report(reading, NULL, true, line, "the parameter has no \"name\"");
		return;
	}
	if (!form_json_value(&value, json_object_get(element, "value"))) {
		form_report(reading, NULL, true, line,
			    "%.80s: \"value\" must be a string, an integer, a boolean or an array",
			    name);
		return;
	}
	if (!is_optional_string(file) || !is_optional_string(object)) {
		form_report(reading, NULL, true, line,
			    "%.80s: \"file\" and \"object\" must be strings", name);
		return;
	}
	form_set_param(reading, name, buf_text(&value), json_string_value(file),
		       json_string_value(object), line);
}

static int read_root(const struct form_reading *reading, const json_t *root, const char *text,
		     struct err *err)
{
	const json_t *list = json_object_get(root, "parameters"), *element;
	const json_t *schema = json_object_get(root, "schema");
	struct form_lines lines;
	size_t i;

	if (schema && json_check_schema(json_string_value(schema), PARAMS_SCHEMA, err) < 0)
		return err_prefix(err, "%s", reading->name);
	if (!json_is_array(list))
		return err_set(err, EINVAL, "%s: missing array \"parameters\"", reading->name);
	reading->set->command = xstrdup(json_string_value(json_object_get(root, "command")));
	form_lines_init(&lines, text);
	json_array_foreach(list, i, element)
	{
		if (json_is_object(element))
			read_element(reading, element, form_lines_next(&lines));
		else
			form_report(reading, NULL, true, 0, "parameter %zu is not an object",
				    i + 1);
	}
	return 0;
}

static int json_read(struct param_set *set, const char *name, const char *text, size_t bytes,
		     param_problem problem, void *arg, struct err *err)
{
	struct form_reading reading = { set, name, problem, arg };
	json_error_t wrong;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &wrong);
	int r;

	if (!root)
		return err_set(err, EINVAL, "%s:%d: %s", name, wrong.line, wrong.text);
	r = read_root(&reading, root, text, err);
	json_decref(root);
	return r;
}

const struct param_form param_json = {
	.name = "json",
	.help = "JSON of schema " PARAMS_SCHEMA,
	.is = json_is,
	.read = json_read,
	.write = form_json_write,
};
