/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines for a shell that bring about what can be had without us: striping of Lustre, layouts of
 * CephFS, hints by $ROMIO_HINTS. The rest is said in comments. Written only.
 */
#include <string.h>

#include "base/buf.h"
#include "params/form.h"

#define END "SLUICE_HINTS"

static bool is_name(const char *file)
{
	return file && !strpbrk(file, "*?");
}

static void quote(struct buf *out, const char *text)
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

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* A line with all options of a file is written at the first of them. */
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

static const char *option_of(const struct option_row *rows, const struct tunable *tunable)
{
	for (; rows->name; rows++)
		if (strcmp(rows->name, tunable->name) == 0)
			return rows->option;
	return NULL;
}

static bool is_first(const struct param_set *set, size_t index, const struct option_row *rows)
{
	for (size_t i = 0; i < index; i++)
		if (option_of(rows, set->params[i].tunable) &&
		    is_same(set->params[i].file, set->params[index].file))
			return false;
	return true;
}

static void options_put(struct buf *out, const struct param_set *set, const char *file,
			const struct option_row *rows)
{
	const char *option, *space = "";

	for (size_t i = 0; i < set->count; i++) {
		option = option_of(rows, set->params[i].tunable);
		if (!option || !is_same(set->params[i].file, file))
			continue;
		buf_printf(out, "%s%s%s", space, option, set->params[i].value);
		space = " ";
	}
}

/* A file gets its layout when it is made, or from the directory that it is made in. */
static void lustre_put(struct buf *out, const struct param_set *set, const char *file)
{
	bool comment = file && !is_name(file);

	if (comment)
		buf_printf(out, "# for each new file that matches %s:\n# ", file);
	else if (!file)
		buf_puts(out, "# for the directory that new files are made in:\n");
	buf_puts(out, "lfs setstripe ");
	options_put(out, set, file, lustre);
	buf_putc(out, ' ');
	quote(out, comment ? "FILE" : file ? file : ".");
	buf_putc(out, '\n');
}

static void ceph_put(struct buf *out, const struct param_set *set, const char *file)
{
	bool comment = file && !is_name(file);

	if (comment)
		buf_printf(out, "# for each new file that matches %s:\n# ", file);
	else if (!file)
		buf_puts(out, "# for the directory that new files are made in:\n");
	if (is_name(file)) {
		buf_puts(out, "touch ");
		quote(out, file);
		buf_puts(out, " && ");
	}
	buf_printf(out, "setfattr -n ceph.%s.layout -v '", file ? "file" : "dir");
	options_put(out, set, file, ceph);
	buf_puts(out, "' ");
	quote(out, comment ? "FILE" : file ? file : ".");
	buf_putc(out, '\n');
}

static void hints_put(struct buf *out, const struct param_set *set)
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

static void rest_put(struct buf *out, const struct param *p)
{
	if (p->tunable->place == PLACE_HINT ? !p->file || p->tunable->layout
					    : p->tunable->place == PLACE_LAYOUT)
		return;
	buf_printf(out, "# only by sluice run --params: %s=%s", p->tunable->name, p->value);
	if (p->file)
		buf_printf(out, " for %s", p->file);
	buf_putc(out, '\n');
}

static int shell_write(const struct param_set *set, struct buf *out, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		if (option_of(lustre, p->tunable) && is_first(set, i, lustre))
			lustre_put(out, set, p->file);
		if (option_of(ceph, p->tunable) && is_first(set, i, ceph))
			ceph_put(out, set, p->file);
	}
	hints_put(out, set);
	for (size_t i = 0; i < set->count; i++)
		rest_put(out, &set->params[i]);
	if (!set->count)
		buf_puts(out, "# no parameters\n");
	return 0;
}

const struct param_form param_shell = {
	.name = "shell",
	.help = "lines for a shell: lfs setstripe, setfattr, ROMIO_HINTS",
	.write = shell_write,
};
