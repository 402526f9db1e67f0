/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/spread.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "params/tunable.h"

#define STEPS 64 /* of a weight that is the equal share */

/* Blanks are for people, around commas and stars. */
static void blanks_drop(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		bool is_outer =
			to == text || strchr(",*", to[-1]) || strchr(",*", p[strspn(p, " \t\r\n")]);

		if (!strchr(" \t\r\n", *p) || !is_outer)
			*to++ = *p;
	}
	*to = 0;
}

static bool is_among(const struct parameters_destination *list, size_t count,
		     const struct parameters_destination *one)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].bytes == one->bytes && !memcmp(list[i].name, one->name, one->bytes))
			return true;
	return false;
}

static int name_check(const struct tunable *t, const char *name, struct err *err)
{
	for (const char *p = name; *p; p++)
		if (*p <= ' ' || *p > '~' || strchr(";|", *p))
			return err_set(err, EINVAL,
				       "%s: \"%s\" has a blank, a control character, ; or | in it",
				       t->name, name);
	if (t->fits && !t->fits(name))
		return err_set(err, EINVAL, "%s: \"%s\" is none; a list looks like %s", t->name,
			       name, t->words);
	return 0;
}

/* One more of the list; its weight is added up. */
static int item_take(const struct tunable *t, struct parameters_destination *list, size_t count,
		     uint32_t *sum, struct err *err)
{
	AUTO_FREE char *name = xstrndup(list[count].name, list[count].bytes);

	if (name_check(t, name, err) < 0)
		return -EINVAL;
	if (is_among(list, count, &list[count]))
		return err_set(err, EINVAL, "%s: \"%s\" is named twice", t->name, name);
	*sum += list[count].weight;
	if (*sum > PARAMETERS_WEIGHTS)
		return err_set(err, EINVAL, "%s: the weights sum up to more than %d", t->name,
			       PARAMETERS_WEIGHTS);
	return 0;
}

char *spread_parse(const struct tunable *t, const char *text, struct err *err)
{
	AUTO_FREE char *value = xstrdup(text);
	AUTO_FREE struct parameters_destination *list =
		xcalloc(PARAMETERS_DESTINATIONS + 1, sizeof(*list));
	const char *at = value;
	size_t count = 0;
	uint32_t sum = 0;

	blanks_drop(value);
	while (count <= PARAMETERS_DESTINATIONS && parameters_destination(&at, &list[count])) {
		if (item_take(t, list, count++, &sum, err) < 0)
			return NULL;
	}
	if (count > PARAMETERS_DESTINATIONS) {
		err_set(err, EINVAL, "%s: there are more than %d destinations", t->name,
			PARAMETERS_DESTINATIONS);
		return NULL;
	}
	if (*at || !count) {
		err_set(err, EINVAL, "%s: \"%.40s\" is no list such as %s; weights are 1 to %d",
			t->name, at, t->words, PARAMETERS_WEIGHTS);
		return NULL;
	}
	return xstrdup(value);
}

/* ---- writing ---- */

static uint32_t divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Their sum stays below PARAMETERS_WEIGHTS, as rounding adds at most a half each. */
static uint32_t weights_find(const double *shares, size_t count, uint32_t *weights)
{
	double total = 0, steps = fmin(STEPS * (double)count, PARAMETERS_WEIGHTS - (double)count);
	uint32_t common = 0;

	for (size_t i = 0; i < count; i++)
		total += shares[i] > 0 ? shares[i] : 0;
	for (size_t i = 0; i < count; i++) {
		weights[i] = shares[i] > 0 ? (uint32_t)lround(shares[i] / total * steps) : 0;
		common = divisor(weights[i], common);
	}
	return common;
}

int spread_write(const char *const *names, const double *shares, size_t count, struct buf *out,
		 struct err *err)
{
	AUTO_FREE uint32_t *weights = xcalloc(count + 1, sizeof(*weights));
	AUTO_BUF struct buf text = { 0 };
	uint32_t common;

	if (count > PARAMETERS_DESTINATIONS)
		return err_set(err, EINVAL, "there are more than %d destinations",
			       PARAMETERS_DESTINATIONS);
	common = weights_find(shares, count, weights);
	for (size_t i = 0; i < count; i++) {
		if (!weights[i])
			continue;
		if (!names[i][0] || strpbrk(names[i], "*,;| \t\r\n"))
			return err_set(err, EINVAL, "\"%s\" cannot be a destination", names[i]);
		buf_printf(&text, "%s%s*%" PRIu32, text.len ? "," : "", names[i],
			   weights[i] / common);
	}
	if (!text.len)
		return err_set(err, EINVAL, "there is no destination with a share");
	if (text.len > SPREAD_BYTES)
		return err_set(err, EINVAL,
			       "%zu destinations need %zu bytes, and there is room for %d", count,
			       text.len, SPREAD_BYTES);
	buf_add(out, text.data, text.len);
	return 0;
}
