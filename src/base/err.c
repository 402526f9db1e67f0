/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list ap;

	if (!code)
		code = EIO;
	if (!err)
		return -code;
	err->code = code;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return -code;
}

int err_prefix(struct err *err, const char *format, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t n;

	if (!err)
		return -EIO;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
	return -err->code;
}
