/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/fill.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/diagnose/case.h"
#include "observe/tally/names.h"
#include "observe/tally/parameters.h"
#include "params/set.h"

struct filler {
	struct buf *out;
	const struct finding *finding;
	const struct diagnosis *d;
	const struct match *match;
	bool is_shell;
};

static const char *first_file(const struct filler *f)
{
	return f->finding->file_count ? profile_file(f->d->profile, f->finding->files[0]) : "FILE";
}

/* Paths in code are inside double quotes already. */
static void put_path(const struct filler *f, const char *path)
{
	if (f->is_shell)
		buf_put_shell_word(f->out, path);
	else
		escape_text(f->out, path, "\\\"");
}

static void put_directory(const struct filler *f)
{
	AUTO_FREE char *path = xstrdup(first_file(f));
	char *slash = strrchr(path, '/');

	if (slash && slash != path)
		*slash = 0;
	put_path(f, slash ? path : ".");
}

/* Returns false if the word is unknown; it is then printed as it is. */
static bool put_word(const struct filler *f, const char *word, size_t n)
{
	static const char *const words[] = { "command", "run",	"file", "directory", "value",
					     "rank",	"mode", "verb", "put" };
	const char *command = text_or_empty(f->d->profile->head->run.command);
	size_t i = 0, count = sizeof(words) / sizeof(*words);

	while (i < count && (strlen(words[i]) != n || strncmp(words[i], word, n) != 0))
		i++;
	if (i == 0)
		buf_puts(f->out, *command ? command : "COMMAND");
	else if (i == 1)
		buf_puts(f->out, text_or_empty(f->d->options->run));
	else if (i == 2)
		put_path(f, first_file(f));
	else if (i == 3)
		put_directory(f);
	else if (i == 4)
		buf_printf(f->out, "%" PRIu64, f->match->fix_value);
	else if (i == 5)
		buf_printf(f->out, "%" PRId32, f->finding->rank_count ? f->finding->ranks[0] : 0);
	else if (i == 6)
		buf_puts(f->out, f->match->way == READING   ? "r"
				 : f->match->way == WRITING ? "w"
							    : "r+");
	else if (i == 7)
		buf_puts(f->out, f->match->way == READING ? "read" : "write");
	else if (i == 8)
		buf_puts(f->out, f->match->way == READING ? "get" : "put");
	return i < count;
}

static void fill(const struct filler *f, const char *text)
{
	while (*text) {
		size_t plain = strcspn(text, "{");
		size_t n = text[plain] ? strcspn(text + plain + 1, "}") : 0;

		buf_add(f->out, text, plain);
		text += plain;
		if (!*text)
			break;
		if (text[n + 1] == '}' && put_word(f, text + 1, n))
			text += n + 2;
		else
			buf_putc(f->out, *text++);
	}
}

/* `sluice print [options] [--file FILE] [RUN]`: calls on the first file, in the layer concerned. */
void fill_query(struct finding *finding, const struct diagnosis *d, const struct match *m)
{
	AUTO_BUF struct buf text = { 0 };
	struct filler f = { &text, finding, d, m, true };

	/* Calls that were only counted cannot be shown. */
	if (d->profile->summary.has_aggregates && !d->profile->head->activities)
		return;
	buf_puts(&text, "sluice print");
	if (finding->rule->query) {
		buf_putc(&text, ' ');
		fill(&f, finding->rule->query);
	} else if (m->layer >= 0) {
		buf_printf(&text, " --layer %s", names_layer((unsigned)m->layer));
	}
	if (finding->file_count && (finding->rule->test_file || finding->file_count == 1)) {
		buf_puts(&text, " --file ");
		buf_put_shell_word(&text, first_file(&f));
	}
	if (d->options->run && *d->options->run)
		buf_printf(&text, " %s", d->options->run);
	finding->query = buf_take(&text);
}

/* Was the layer used: on the first file, or by any call if there is no file? */
static bool uses_layer(const struct filler *f, unsigned layer)
{
	const struct diagnosis *d = f->d;
	const struct case_file *file;

	if (!f->finding->file_count)
		return d->profile->summary.all.layers[layer].calls > 0;
	file = case_find(d, f->finding->files[0]);
	return file && file->layers[layer];
}

/* Does the fix belong to the requesting layer of the first file? */
static bool fits_layer(const struct filler *f, const struct fix_row *row)
{
	const struct case_file *file =
		f->finding->file_count ? case_find(f->d, f->finding->files[0]) : NULL;
	int layer = file ? case_requesting(file) : -1;

	return !row->layers || layer < 0 || row->layers >> layer & 1;
}

/* Can the parameter of the rule apply to the file? */
static bool parameter_applies(const struct filler *f)
{
	const struct tunable *t =
		f->finding->rule->parameter ? tunable_by_name(f->finding->rule->parameter) : NULL;

	if (!t)
		return true;
	if (t->place == PLACE_HINT)
		return t->layout || uses_layer(f, LAYER_MPI);
	if (t->layer == TUNABLE_HDF5)
		return uses_layer(f, LAYER_HDF5);
	return true;
}

bool fix_is_command(const char *kind)
{
	return !strcmp(kind, "sluice") || !strcmp(kind, "shell") || !strcmp(kind, "inspect");
}

static bool fix_applies(const struct filler *f, const struct fix_row *row)
{
	if (!fits_layer(f, row))
		return false;
	if (!strcmp(row->kind, "sluice"))
		return parameter_applies(f);
	if (!strcmp(row->kind, "mpi"))
		return f->d->profile->summary.ranks.count > 0;
	if (!strcmp(row->kind, "hdf5") || !strcmp(row->kind, "h5py") ||
	    !strcmp(row->kind, "xarray"))
		return uses_layer(f, LAYER_HDF5);
	return true;
}

static bool undoes_injected(const struct filler *f, const struct fix_row *row, struct buf *undone)
{
	const char *sets = row->sets ? row->sets : text_or_empty(f->finding->rule->parameter);

	return injected_is_undone(&f->d->injected, f->finding, sets, undone);
}

/* The parameters that the run was given with --params or by a tuning; "" if there are none. */
static void put_given(const struct diagnosis *d, struct buf *out)
{
	const struct trace_head *head = d->profile->head;
	struct param_set set = { 0 };
	struct err err = { 0 };
	size_t i = 0;

	while (i < head->note_count && (!text_equal(head->notes[i].source, PARAMETERS_SOURCE) ||
					!text_equal(head->notes[i].name, PARAMETERS_GIVEN)))
		i++;
	if (i == head->note_count ||
	    param_set_read(&set, text_or_empty(head->notes[i].value), NULL, NULL, &err) < 0)
		return;
	/* The command has these itself, or its environment. */
	param_set_remove_layer(&set, TUNABLE_ENVIRONMENT);
	param_set_remove_layer(&set, TUNABLE_COMMAND);
	param_set_line(&set, out);
	param_set_release(&set);
}

/* Lets a command that applies parameters keep those of the run: "... --params LIST -- COMMAND". */
static void keep_given(const struct diagnosis *d, struct buf *text)
{
	static const char option[] = "--params ";
	AUTO_FREE char *command = xstrdup(buf_text(text));
	AUTO_BUF struct buf list = { 0 };
	char *begin = strstr(command, option), *end = begin ? strstr(begin, " -- ") : NULL;
	size_t quoted;

	put_given(d, &list);
	if (!end || !list.len)
		return;
	begin += sizeof(option) - 1;
	quoted = *begin == '\'';
	buf_putc(&list, ' ');
	buf_add(&list, begin + quoted, (size_t)(end - begin) - 2 * quoted);
	text->len = (size_t)(begin - command);
	buf_put_shell_word(text, buf_text(&list));
	buf_puts(text, end);
}

void fill_fixes(struct finding *finding, const struct diagnosis *d, const struct match *m,
		struct buf *undone)
{
	const struct rule *rule = finding->rule;

	finding->fixes = xcalloc(RULE_FIXES, sizeof(*finding->fixes));
	for (size_t i = 0; i < RULE_FIXES && rule->fixes[i].kind; i++) {
		const struct fix_row *row = &rule->fixes[i];
		AUTO_BUF struct buf text = { 0 };
		struct filler f = { &text, finding, d, m, fix_is_command(row->kind) };

		if (!fix_applies(&f, row) || undoes_injected(&f, row, undone))
			continue;
		fill(&f, row->text);
		if (!strcmp(row->kind, "sluice"))
			keep_given(d, &text);
		finding->fixes[finding->fix_count++] = (struct fix){ row->kind, buf_take(&text) };
	}
}
