/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/hint_sets.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

char *hints_override(const char *first, const char *second)
{
	AUTO_BUF struct buf out = { 0 };

	while (*first || *second) {
		size_t a = strcspn(first, "="), b = strcspn(second, "=");
		int order = !*first ? 1 : !*second ? -1 : memcmp(first, second, a < b ? a : b);
		const char **from;
		size_t n;

		if (!order && *first && *second)
			order = (a > b) - (a < b);
		if (!order) /* overridden */
			first += strcspn(first, ";") + (first[strcspn(first, ";")] == ';');
		from = order < 0 ? &first : &second;
		n = strcspn(*from, ";");
		if (n && (*from)[n - 1] != '=')
			buf_printf(&out, "%s%.*s", out.len ? ";" : "", (int)n, *from);
		*from += n + ((*from)[n] == ';');
	}
	return xstrdup(buf_text(&out));
}

bool hints_contain(const char *hints, const char *set)
{
	while (*set) {
		size_t n = strcspn(set, ";");
		const char *at = hints;

		while (*at && (strncmp(at, set, n) != 0 || (at[n] && at[n] != ';')))
			at += strcspn(at, ";") + (at[strcspn(at, ";")] == ';');
		if (!*at)
			return false;
		set += n + (set[n] == ';');
	}
	return true;
}
