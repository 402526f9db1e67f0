/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/form.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#define FILE_BYTES (1 << 20) /* thousands of parameters; the text of a run holds fewer */

const struct param_form *const param_forms[] = { &param_xml, &param_json, &param_hints,
						 &param_shell, NULL };

const struct param_form *param_form_by_name(const char *name)
{
	for (size_t i = 0; param_forms[i]; i++)
		if (strcmp(param_forms[i]->name, name) == 0)
			return param_forms[i];
	return NULL;
}

void form_tell(const struct form_reading *reading, const struct param *param, bool drop,
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

static const struct param *param_latest(const struct param_set *set, const struct tunable *tunable,
					unsigned line)
{
	for (size_t i = set->count; i--;)
		if (set->params[i].tunable == tunable && set->params[i].line == line)
			return &set->params[i];
	return NULL;
}

const struct param *form_put(const struct form_reading *reading, const char *name,
			     const char *value, const char *file, const char *object, unsigned line)
{
	const struct tunable *tunable = tunable_by_name(name);
	size_t before = reading->set->count;
	struct err err = { 0 };
	const struct param *param;

	if (!tunable) {
		form_tell(reading, NULL, true, line,
			  "%.80s: there is no such parameter; see 'sluice params list'", name);
		return NULL;
	}
	if (param_set_put(reading->set, tunable, value, file, object, line, &err) < 0) {
		form_tell(reading, NULL, true, line, "%s", err.text);
		return NULL;
	}
	param = param_latest(reading->set, tunable, line);
	if (reading->set->count == before)
		form_tell(reading, param, false, line, "%s was set before; this value counts",
			  tunable->name);
	return param;
}

/* ---- reading ---- */

int form_file_read(const char *path, struct buf *text, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	do {
		buf_reserve(text, 65536);
		n = read(fd, text->data + text->len, 65536);
		if (n < 0)
			return err_set(err, errno, "%s: %s", path, strerror(errno));
		text->len += (size_t)n;
		text->data[text->len] = 0;
	} while (n && text->len <= FILE_BYTES);
	if (n)
		return err_set(err, EFBIG, "%s: is larger than 1 MiB: no file of parameters", path);
	return 0;
}

static const struct param_form *form_of(const char *text, size_t bytes)
{
	for (size_t i = 0; param_forms[i]; i++)
		if (param_forms[i]->is && param_forms[i]->is(text, bytes))
			return param_forms[i];
	return NULL;
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
		return err_set(err, EINVAL, "%s: is not text", name);
	/* Not everybody who calls has a zero behind the text, and the parsers look for one. */
	copy = xstrndup(text, bytes);
	if (!copy[strspn(copy, " \t\r\n")])
		return err_set(err, EINVAL, "%s: is empty", name);
	form = form_of(copy, bytes);
	if (!form)
		return err_set(err, EINVAL,
			       "%s: is neither XML of H5Tuner, nor JSON, nor a file of hints",
			       name);
	r = form->read(&fresh, name, copy, bytes, problem, arg, err);
	if (r < 0) {
		param_set_release(&fresh);
		return r;
	}
	param_set_release(set);
	*set = fresh;
	set->origin = xstrdup(name);
	return 0;
}

int param_set_read(struct param_set *set, const char *path, param_problem problem, void *arg,
		   struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	int r = form_file_read(path, &text, err);

	if (r < 0)
		return r;
	return param_set_read_text(set, path, buf_text(&text), text.len, problem, arg, err);
}
