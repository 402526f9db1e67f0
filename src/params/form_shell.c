/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shell commands that apply parameters without Sluice: striping on Lustre, layouts on CephFS, and
 * hints by $ROMIO_HINTS. Comments name the parameters that need Sluice. This format is write-only.
 */
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "params/form.h"

#define END "SLUICE_HINTS"

static bool is_name(const char *file)
{
	return file && !strpbrk(file, "*?");
}

static void append_quoted(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

/* An option of the command line. The command with all options of a file is written when its first
 * parameter is encountered. */
struct option_row {
	const char *name, *option;
};

static const struct option_row lustre[] = {
	{ "striping_factor", "-c " }, { "striping_unit", "-S " }, { "start_iodevice", "-i " }, { 0 }
};

static const struct option_row ceph[] = { { "ceph_stripe_unit", "stripe_unit=" },
					  { "ceph_stripe_count", "stripe_count=" },
					  { "ceph_object_size", "object_size=" },
					  { "ceph_pool", "pool=" },
					  { 0 } };

static const char *find_option(const struct option_row *rows, const struct tunable *tunable)
{
	for (; rows->name; rows++)
		if (strcmp(rows->name, tunable->name) == 0)
			return rows->option;
	return NULL;
}

static bool is_first_of_file(const struct param_set *set, size_t index,
			     const struct option_row *rows)
{
	for (size_t i = 0; i < index; i++)
		if (find_option(rows, set->params[i].tunable) &&
		    text_equal(set->params[i].file, set->params[index].file))
			return false;
	return true;
}

static void append_options(struct buf *out, const struct param_set *set, const char *file,
			   const struct option_row *rows)
{
	const char *option, *space = "";

	for (size_t i = 0; i < set->count; i++) {
		option = find_option(rows, set->params[i].tunable);
		if (!option || !text_equal(set->params[i].file, file))
			continue;
		buf_printf(out, "%s%s%s", space, option, set->params[i].value);
		space = " ";
	}
}

/* A file gets its layout when it is created, by default from its directory. */
static void append_lustre(struct buf *out, const struct param_set *set, const char *file)
{
	bool comment = file && !is_name(file);

	if (comment)
		buf_printf(out, "# for each new file that matches %s:\n# ", file);
	else if (!file)
		buf_puts(out, "# for the directory in which new files are created:\n");
	buf_puts(out, "lfs setstripe ");
	append_options(out, set, file, lustre);
	buf_putc(out, ' ');
	append_quoted(out, comment ? "FILE" : file ? file : ".");
	buf_putc(out, '\n');
}

static void append_ceph(struct buf *out, const struct param_set *set, const char *file)
{
	bool comment = file && !is_name(file);

	if (comment)
		buf_printf(out, "# for each new file that matches %s:\n# ", file);
	else if (!file)
		buf_puts(out, "# for the directory in which new files are created:\n");
	if (is_name(file)) {
		buf_puts(out, "touch ");
		append_quoted(out, file);
		buf_puts(out, " && ");
	}
	buf_printf(out, "setfattr -n ceph.%s.layout -v '", file ? "file" : "dir");
	append_options(out, set, file, ceph);
	buf_puts(out, "' ");
	append_quoted(out, comment ? "FILE" : file ? file : ".");
	buf_putc(out, '\n');
}

static void append_hints(struct buf *out, const struct param_set *set)
{
	bool any = false;

	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		if (p->tunable->place != PLACE_HINT || p->file)
			continue;
		if (!any)
			buf_puts(out, "cat >romio-hints <<'" END "'\n");
		any = true;
		buf_printf(out, "%s %s\n", p->tunable->key ? p->tunable->key : p->tunable->name,
			   p->value);
	}
	if (any)
		buf_puts(out, END "\nexport ROMIO_HINTS=\"$PWD/romio-hints\"\n");
}

/* Variables, and the command with the arguments that were found. */
static void append_environment(struct buf *out, const struct param_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		if (set->params[i].tunable->layer != TUNABLE_ENVIRONMENT)
			continue;
		buf_printf(out, "export %s=", set->params[i].tunable->key);
		append_quoted(out, set->params[i].value);
		buf_putc(out, '\n');
	}
	if (set->command)
		buf_printf(out, "# command: %s\n", set->command);
}

static void append_comment(struct buf *out, const struct param *p)
{
	if (p->tunable->layer == TUNABLE_COMMAND)
		buf_printf(out, "# argument %s: %s\n", p->tunable->name, p->value);
	if (p->tunable->place == TUNABLE_NO_PLACE)
		return;
	if (p->tunable->place == PLACE_HINT ? !p->file || p->tunable->layout
					    : p->tunable->place == PLACE_LAYOUT)
		return;
	buf_printf(out, "# needs sluice run --params: %s=%s", p->tunable->name, p->value);
	if (p->file)
		buf_printf(out, " for %s", p->file);
	buf_putc(out, '\n');
}

static int shell_write(const struct param_set *set, struct buf *out, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		if (find_option(lustre, p->tunable) && is_first_of_file(set, i, lustre))
			append_lustre(out, set, p->file);
		if (find_option(ceph, p->tunable) && is_first_of_file(set, i, ceph))
			append_ceph(out, set, p->file);
	}
	append_hints(out, set);
	append_environment(out, set);
	for (size_t i = 0; i < set->count; i++)
		append_comment(out, &set->params[i]);
	if (!set->count)
		buf_puts(out, "# no parameters\n");
	return 0;
}

const struct param_form param_shell = {
	.name = "shell",
	.help = "shell commands: lfs setstripe, setfattr, ROMIO_HINTS, export",
	.write = shell_write,
};
