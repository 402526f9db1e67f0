/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/spread.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "params/tunable.h"

#define EQUAL_WEIGHT 64 /* weight of an equal share before weights are reduced */

/* Removes blanks around commas and asterisks. */
static void remove_blanks(char *text)
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

static int check_name(const struct tunable *t, const char *name, struct err *err)
{
	for (const char *p = name; *p; p++)
		if (*p <= ' ' || *p > '~' || strchr(";|", *p))
			return err_set(
				err, EINVAL,
				"%s: \"%s\" contains a blank, a control character, ';' or '|'",
				t->name, name);
	if (t->fits && !t->fits(name))
		return err_set(err, EINVAL, "%s: invalid destination \"%s\"; expected %s", t->name,
			       name, t->words);
	return 0;
}

/* Checks the last item of the list and adds its weight to the sum. */
static int check_item(const struct tunable *t, struct parameters_destination *list, size_t count,
		      uint32_t *sum, struct err *err)
{
	AUTO_FREE char *name = xstrndup(list[count].name, list[count].bytes);

	if (check_name(t, name, err) < 0)
		return -EINVAL;
	if (is_among(list, count, &list[count]))
		return err_set(err, EINVAL, "%s: \"%s\" is named twice", t->name, name);
	*sum += list[count].weight;
	if (*sum > PARAMETERS_WEIGHTS)
		return err_set(err, EINVAL, "%s: the sum of weights exceeds %d", t->name,
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

	remove_blanks(value);
	while (count <= PARAMETERS_DESTINATIONS && parameters_destination(&at, &list[count])) {
		if (check_item(t, list, count++, &sum, err) < 0)
			return NULL;
	}
	if (count > PARAMETERS_DESTINATIONS) {
		err_set(err, EINVAL, "%s: more than %d destinations", t->name,
			PARAMETERS_DESTINATIONS);
		return NULL;
	}
	if (*at || !count) {
		err_set(err, EINVAL,
			"%s: invalid list at \"%.40s\"; expected %s with weights from 1 to %d",
			t->name, at, t->words, PARAMETERS_WEIGHTS);
		return NULL;
	}
	return xstrdup(value);
}

/* Computes the weights and returns their common divisor. The sum stays below PARAMETERS_WEIGHTS
 * because rounding adds at most one half to each. */
static uint32_t compute_weights(const double *shares, size_t count, uint32_t *weights)
{
	double total = 0,
	       steps = fmin(EQUAL_WEIGHT * (double)count, PARAMETERS_WEIGHTS - (double)count);
	uint32_t common = 0;

	for (size_t i = 0; i < count; i++)
		total += shares[i] > 0 ? shares[i] : 0;
	for (size_t i = 0; i < count; i++) {
		weights[i] = shares[i] > 0 ? (uint32_t)lround(shares[i] / total * steps) : 0;
		common = (uint32_t)u64_gcd(weights[i], common);
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
		return err_set(err, EINVAL, "more than %d destinations", PARAMETERS_DESTINATIONS);
	common = compute_weights(shares, count, weights);
	for (size_t i = 0; i < count; i++) {
		if (!weights[i])
			continue;
		if (!names[i][0] || strpbrk(names[i], "*,;| \t\r\n"))
			return err_set(err, EINVAL, "\"%s\" is not a valid name of a destination",
				       names[i]);
		buf_printf(&text, "%s%s*%" PRIu32, text.len ? "," : "", names[i],
			   weights[i] / common);
	}
	if (!text.len)
		return err_set(err, EINVAL, "no destination has a share");
	if (text.len > SPREAD_BYTES)
		return err_set(err, EINVAL, "%zu destinations need %zu bytes, but the limit is %d",
			       count, text.len, SPREAD_BYTES);
	buf_add(out, text.data, text.len);
	return 0;
}
