/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/names.h"

#include <string.h>
#include <strings.h>

#include "contract/group.h"

struct class_names {
	const char *name, *size, *result;
};

#define NAME_ROW(id, text, ...) text,
#define CLASS_ROW(id, text, size, result) { text, size, result },
static const char *const layer_names[] = { LAYER_LIST(NAME_ROW) };
static const char *const group_names[] = { GROUP_LIST(NAME_ROW) };
static const char *const field_names[] = { FIELD_LIST(NAME_ROW) };
static const struct class_names class_rows[] = { CLASS_LIST(CLASS_ROW) };
#undef NAME_ROW
#undef CLASS_ROW

const char *names_layer(unsigned layer)
{
	return layer < LAYER_COUNT ? layer_names[layer] : "?";
}

const char *names_class(unsigned class)
{
	return class < CLASS_COUNT ? class_rows[class].name : "?";
}

const char *names_group(unsigned group)
{
	return group < GROUP_COUNT ? group_names[group] : "?";
}

const char *names_domain(unsigned layer)
{
	return names_layer(layer == LAYER_NETWORK ? LAYER_POSIX : layer);
}

const char *names_field(unsigned class, enum field field)
{
	if (class < CLASS_COUNT && field == FIELD_SIZE && class_rows[class].size)
		return class_rows[class].size;
	if (class < CLASS_COUNT && field == FIELD_RESULT && class_rows[class].result)
		return class_rows[class].result;
	if (class == CLASS_MESSAGE && field == FIELD_FLAGS)
		return "message/peer";
	return field_names[field];
}

bool names_own_result(unsigned class)
{
	return class < CLASS_COUNT && class_rows[class].result;
}

int names_find_layer(const char *name, size_t n)
{
	for (int layer = 0; layer < LAYER_COUNT; layer++) {
		if (strlen(layer_names[layer]) == n &&
		    strncasecmp(layer_names[layer], name, n) == 0)
			return layer;
	}
	return -1;
}

bool names_is_file(const char *name)
{
	return strncmp(name, "pipe:[", 6) != 0 && strncmp(name, "socket:[", 8) != 0;
}

bool names_list_has(const char *list, unsigned layer, const char *name)
{
	const char *prefix = names_layer(layer);
	size_t n = strlen(prefix);

	for (const char *at = list + strspn(list, " ,"); *at; at += strspn(at, " ,")) {
		size_t length = strcspn(at, " ,");
		const char *word = at;

		at += length;
		if (length > n && word[n] == '/' && strncmp(word, prefix, n) == 0) {
			word += n + 1;
			length -= n + 1;
		}
		if (strlen(name) == length && strncmp(word, name, length) == 0)
			return true;
	}
	return false;
}
