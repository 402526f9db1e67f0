/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads and writes the settings of all methods.
 */
#include "learn/learner.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/option.h"

size_t learner_setting_count(const struct learner_ops *learner)
{
	size_t count = 0;

	while (learner->settings[count].name)
		count++;
	return count;
}

void learner_defaults(const struct learner_ops *learner, double *settings)
{
	for (size_t i = 0; learner->settings[i].name; i++)
		settings[i] = learner->settings[i].fallback;
}

static int find_setting(const struct learner_ops *learner, const char *name, size_t n)
{
	static const char british[] = "neighbours"; /* accepted for scripts of version 0.1 */

	if (n == sizeof(british) - 1 && memcmp(name, british, n) == 0) {
		name = "neighbors";
		n = strlen(name);
	}
	for (size_t i = 0; learner->settings[i].name; i++) {
		if (strncmp(learner->settings[i].name, name, n) == 0 &&
		    !learner->settings[i].name[n])
			return (int)i;
	}
	return -ENOENT;
}

static int read_setting(const struct learner_ops *learner, const struct learner_setting *setting,
			const char *text, double *value, struct err *err)
{
	char *end;
	double number;

	if (setting->words) {
		int choice = option_choice(setting->words, text, strlen(text));

		if (choice < 0)
			return err_set(err, EINVAL,
				       "%s: invalid value %s=\"%s\"; expected one of %s",
				       learner->name, setting->name, text, setting->words);
		*value = choice;
		return 0;
	}
	number = strtod(text, &end);
	if (end == text || *end || !(number >= setting->least && number <= setting->most) ||
	    (setting->whole && number != floor(number)))
		return err_set(
			err, EINVAL, "%s: invalid value %s=\"%s\"; expected %s from %g to %g",
			learner->name, setting->name, text,
			setting->whole ? "an integer" : "a number", setting->least, setting->most);
	*value = number;
	return 0;
}

static int assign_setting(const struct learner_ops *learner, const char *item, double *settings,
			  struct err *err)
{
	const char *equals = strchr(item, '=');
	int which = find_setting(learner, item, equals ? (size_t)(equals - item) : strlen(item));
	AUTO_BUF struct buf known = { 0 };

	if (which >= 0 && equals)
		return read_setting(learner, &learner->settings[which], equals + 1,
				    &settings[which], err);
	for (size_t i = 0; learner->settings[i].name; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", learner->settings[i].name);
	if (which >= 0)
		return err_set(err, EINVAL, "%s: setting %s needs a value: %s=VALUE", learner->name,
			       item, item);
	return err_set(err, EINVAL, "%s has no setting \"%s\"; its settings are %s", learner->name,
		       item, known.len ? buf_text(&known) : "none");
}

int learner_parse(const struct learner_ops *learner, const char *text, double *settings,
		  struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text ? text : "");
	double read[LEARNER_SETTINGS_MAX] = { 0 };
	size_t count = learner_setting_count(learner);
	char *rest = copy, *item;
	int r;

	memcpy(read, settings, count * sizeof(*read));
	while ((item = strsep(&rest, ", "))) {
		if (!*item)
			continue;
		r = assign_setting(learner, item, read, err);
		if (r < 0)
			return r;
	}
	memcpy(settings, read, count * sizeof(*read));
	return 0;
}

void learner_format(const struct learner_ops *learner, const double *settings, struct buf *out)
{
	size_t before = out->len;

	for (size_t i = 0; learner->settings[i].name; i++) {
		const struct learner_setting *setting = &learner->settings[i];
		char word[64], number[NUMBER_TEXT_MAX];

		if (settings[i] == setting->fallback)
			continue;
		buf_printf(out, "%s%s=", out->len > before ? "," : "", setting->name);
		if (setting->words) {
			option_choice_name(setting->words, (int)settings[i], word, sizeof(word));
			buf_puts(out, word);
		} else {
			number_format(settings[i], number);
			buf_puts(out, number);
		}
	}
}

double learner_value(const struct learner_ops *learner, const double *settings, const char *name)
{
	int which = find_setting(learner, name, strlen(name));

	return which < 0 ? NAN : settings[which];
}

size_t learner_best(const double *values, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++) {
		if (values[i] > values[best])
			best = i;
	}
	return best;
}
