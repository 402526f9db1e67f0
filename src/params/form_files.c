/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/form_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "params/set.h"

int param_form_write_file(const struct param_set *set, const struct param_form *form,
			  const char *prefix, const char *suffix, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s.%s", prefix, suffix);
	AUTO_BUF struct buf text = { 0 };
	AUTO_FCLOSE FILE *f = NULL;
	int r = form->write(set, &text, err);

	if (r < 0)
		return r;
	f = fopen(path, "we");
	if (!f || fwrite(buf_text(&text), 1, text.len, f) != text.len || fflush(f) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

int param_forms_write_all(const struct param_set *set, const char *prefix, struct err *err)
{
	static const struct {
		const struct param_form *form;
		const char *suffix;
	} files[] = { { &param_xml, "xml" },
		      { &param_json, "json" },
		      { &param_hints, "hints" },
		      { &param_shell, "sh" } };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(files) / sizeof(files[0]); i++)
		r = param_form_write_file(set, files[i].form, prefix, files[i].suffix, err);
	return r;
}
