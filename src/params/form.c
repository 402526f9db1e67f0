/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/form.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#define FILE_BYTES (1 << 20) /* thousands of parameters, more than a run can have */

const struct param_form *const param_forms[] = { &param_xml, &param_json, &param_hints,
						 &param_shell, NULL };

const struct param_form *param_form_by_name(const char *name)
{
	for (size_t i = 0; param_forms[i]; i++)
		if (strcmp(param_forms[i]->name, name) == 0)
			return param_forms[i];
	return NULL;
}

void form_report(const struct form_reading *reading, const struct param *param, bool drop,
		 unsigned line, const char *format, ...)
{
	AUTO_FREE char *said = NULL, *text = NULL;
	va_list ap;

	if (!reading->problem)
		return;
	va_start(ap, format);
	said = xvprintf(format, ap);
	va_end(ap);
	text = line ? xprintf("%s:%u: %s", reading->name, line, said)
		    : xprintf("%s: %s", reading->name, said);
	reading->problem(reading->arg, param, drop, text);
}

static const struct param *find_latest(const struct param_set *set, const struct tunable *tunable,
				       unsigned line)
{
	for (size_t i = set->count; i--;)
		if (set->params[i].tunable == tunable && set->params[i].line == line)
			return &set->params[i];
	return NULL;
}

const struct param *form_set_param(const struct form_reading *reading, const char *name,
				   const char *value, const char *file, const char *object,
				   unsigned line)
{
	const struct tunable *tunable = tunable_by_name(name);
	size_t before = reading->set->count;
	struct err err = { 0 };
	const struct param *param;

	if (!tunable) {
		form_report(reading, NULL, true, line,
			    "%.80s: unknown parameter; see 'sluice kb params list'", name);
		return NULL;
	}
	if (param_set_put(reading->set, tunable, value, file, object, line, &err) < 0) {
		form_report(reading, NULL, true, line, "%s", err.text);
		return NULL;
	}
	param = find_latest(reading->set, tunable, line);
	if (reading->set->count == before)
		form_report(reading, param, false, line, "%s is set twice; the later value is used",
			    tunable->name);
	return param;
}

int form_read_file(const char *path, struct buf *text, struct err *err)
{
	int r = file_read_all(text, path, FILE_BYTES, err);

	return r == -EFBIG ? err_set(err, EFBIG, "%s: a parameter file must not exceed 1 MiB", path)
			   : r;
}

static const struct param_form *detect_form(const char *text, size_t bytes)
{
	for (size_t i = 0; param_forms[i]; i++)
		if (param_forms[i]->is && param_forms[i]->is(text, bytes))
			return param_forms[i];
	return NULL;
}

static void replace_set(struct param_set *set, const struct param_set *fresh, const char *origin)
{
	param_set_release(set);
	*set = *fresh;
	set->origin = xstrdup(origin);
}

int param_set_read_text(struct param_set *set, const char *name, const char *text, size_t bytes,
			param_problem problem, void *arg, struct err *err)
{
	AUTO_FREE char *copy = NULL;
	struct param_set fresh = { 0 };
	const struct param_form *form;
	int r;

	if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
		text += 3;
		bytes -= 3;
	}
	if (memchr(text, 0, bytes))
		return err_set(err, EINVAL, "%s: not a text file", name);
	/* The parsers need a terminating zero, which the caller's text may not have. */
	copy = xstrndup(text, bytes);
	if (!copy[strspn(copy, " \t\r\n")])
		return err_set(err, EINVAL, "%s: the file is empty", name);
	form = detect_form(copy, bytes);
	if (!form)
		return err_set(
			err, EINVAL,
			"%s: unknown format; expected H5Tuner XML, JSON or a ROMIO hints file",
			name);
	r = form->read(&fresh, name, copy, bytes, problem, arg, err);
	if (r < 0) {
		param_set_release(&fresh);
		return r;
	}
	replace_set(set, &fresh, name);
	return 0;
}

/* NAME=VALUE NAME=VALUE@FILE ..., unless a file has that name. */
static bool is_list(const char *text)
{
	size_t name =
		strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return name && text[name] == '=' && access(text, F_OK) != 0;
}

static void read_list(struct param_set *set, const char *text, param_problem problem, void *arg)
{
	struct form_reading reading = { set, text, problem, arg };
	AUTO_FREE char *copy = xstrdup(text);
	char *rest = NULL;

	for (char *name = strtok_r(copy, " \t\n", &rest); name;
	     name = strtok_r(NULL, " \t\n", &rest)) {
		char *value = strchr(name, '=');
		char *file = value ? strrchr(value, '@') : NULL;

		if (value)
			*value++ = 0;
		if (file)
			*file++ = 0;
		if (value && *value)
			form_set_param(&reading, name, value, file, NULL, 0);
		else
			form_report(&reading, NULL, true, 0, "%.80s: missing value", name);
	}
}

int param_set_read(struct param_set *set, const char *path, param_problem problem, void *arg,
		   struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	struct param_set fresh = { 0 };
	int r;

	if (is_list(path)) {
		read_list(&fresh, path, problem, arg);
		replace_set(set, &fresh, path);
		return 0;
	}
	r = form_read_file(path, &text, err);
	if (r < 0)
		return r;
	return param_set_read_text(set, path, buf_text(&text), text.len, problem, arg, err);
}
