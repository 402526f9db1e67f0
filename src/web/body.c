/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/body.h"

#include <errno.h>
#include <jansson.h>

#include "base/err.h"

/* A struct body is never defined: it is the json_t of jansson, whose header this one cannot need.
 */

static json_t *member(const struct body *body, const char *name)
{
	return json_object_get((const json_t *)(const void *)body, name);
}

struct body *body_read(const char *text, size_t bytes, struct err *err)
{
	json_error_t wrong;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &wrong);

	if (!root) {
		err_set(err, EINVAL, "the body is not JSON: line %d: %s", wrong.line, wrong.text);
		return NULL;
	}
	if (!json_is_object(root)) {
		json_decref(root);
		err_set(err, EINVAL, "the body is not a JSON object");
		return NULL;
	}
	return (struct body *)(void *)root;
}

void body_free(struct body *body)
{
	json_decref((json_t *)(void *)body);
}

const char *body_text(const struct body *body, const char *name)
{
	return json_string_value(member(body, name));
}

bool body_integer(const struct body *body, const char *name, int64_t *value)
{
	const json_t *found = member(body, name);

	if (!json_is_integer(found))
		return false;
	*value = json_integer_value(found);
	return true;
}

bool body_flag(const struct body *body, const char *name, bool *value)
{
	const json_t *found = member(body, name);

	if (!json_is_boolean(found))
		return false;
	*value = json_is_true(found);
	return true;
}

int body_text_count(const struct body *body, const char *name)
{
	const json_t *list = member(body, name);

	if (!json_is_array(list))
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!json_is_string(json_array_get(list, i)))
			return -1;
	return (int)json_array_size(list);
}

const char *body_text_at(const struct body *body, const char *name, int i)
{
	return json_string_value(json_array_get(member(body, name), (size_t)i));
}
