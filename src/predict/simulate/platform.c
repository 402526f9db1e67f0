/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/simulate/platform.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/unit.h"
#include "predict/simulate/description.h"

#define DESCRIPTION_BYTES_MAX (1 << 20)
#define SECTION_MAX 48 /* inih cuts longer ones off */

enum row_kind { ROW_COUNT, ROW_BYTES, ROW_RATE, ROW_SECONDS, ROW_NUMBER };
enum row_need { NEED_NEVER, NEED_LUSTRE = 1, NEED_GPFS = 2, NEED_ALWAYS = 3 };

/* One row per number of a description. min and max: beyond is a slip of the pen. */
struct row {
	const char *section, *key;
	enum row_kind kind;
	unsigned need;
	double min, max;
	size_t offset;
};

#define FIELD(name) offsetof(struct platform, name)

static const struct row rows[] = {
	{ "nodes", "cores", ROW_COUNT, NEED_ALWAYS, 1, 1e5, FIELD(cores) },
	{ "nodes", "memory", ROW_BYTES, NEED_ALWAYS, 1, 1e15, FIELD(memory) },
	{ "nodes", "copy_rate", ROW_RATE, NEED_ALWAYS, 1, 1e15, FIELD(copy_rate) },
	{ "nodes", "piece", ROW_SECONDS, NEED_ALWAYS, 0, 1, FIELD(piece_s) },
	{ "nodes", "link_rate", ROW_RATE, NEED_ALWAYS, 1, 1e15, FIELD(link_rate) },
	{ "nodes", "sync_rank", ROW_SECONDS, NEED_ALWAYS, 0, 1, FIELD(sync_rank_s) },
	{ "nodes", "sync_step", ROW_SECONDS, NEED_ALWAYS, 0, 1, FIELD(sync_step_s) },
	{ "client", "stream_rate", ROW_RATE, NEED_ALWAYS, 1, 1e15, FIELD(stream_rate) },
	{ "client", "node_rate", ROW_RATE, NEED_ALWAYS, 1, 1e15, FIELD(node_rate) },
	{ "client", "dirty", ROW_BYTES, NEED_ALWAYS, 0, 1e15, FIELD(dirty) },
	{ "servers", "peak", ROW_RATE, NEED_ALWAYS, 1, 1e16, FIELD(peak) },
	{ "servers", "share", ROW_NUMBER, NEED_ALWAYS, 1e-6, 1, FIELD(share) },
	{ "servers", "servers", ROW_COUNT, NEED_ALWAYS, 1, 1e6, FIELD(servers) },
	{ "servers", "targets", ROW_COUNT, NEED_LUSTRE, 1, 1e6, FIELD(targets) },
	{ "servers", "target_rate", ROW_RATE, NEED_LUSTRE, 1, 1e15, FIELD(target_rate) },
	{ "servers", "block", ROW_BYTES, NEED_GPFS, 1, 1e12, FIELD(block) },
	{ "servers", "io_nodes", ROW_COUNT, NEED_GPFS, 1, 1e6, FIELD(io_nodes) },
	{ "servers", "io_nodes_min", ROW_COUNT, NEED_GPFS, 1, 1e6, FIELD(io_nodes_min) },
	{ "servers", "io_node_nodes", ROW_COUNT, NEED_GPFS, 1, 1e6, FIELD(io_node_nodes) },
	{ "servers", "io_node_rate", ROW_RATE, NEED_GPFS, 1, 1e15, FIELD(io_node_rate) },
	{ "servers", "io_node_streams", ROW_COUNT, NEED_GPFS, 1, 1e6, FIELD(io_node_streams) },
	{ "servers", "jitter", ROW_NUMBER, NEED_ALWAYS, 0, 100, FIELD(jitter) },
	{ "locks", "lock", ROW_SECONDS, NEED_ALWAYS, 0, 100, FIELD(lock_s) },
	{ "locks", "revoke", ROW_SECONDS, NEED_ALWAYS, 0, 100, FIELD(revoke_s) },
	{ "locks", "range", ROW_SECONDS, NEED_GPFS, 0, 100, FIELD(range_s) },
	{ "metadata", "open_rank", ROW_SECONDS, NEED_ALWAYS, 0, 100, FIELD(open_rank_s) },
	{ "metadata", "open_target", ROW_SECONDS, NEED_LUSTRE, 0, 100, FIELD(open_target_s) },
	{ "metadata", "object", ROW_SECONDS, NEED_ALWAYS, 0, 100, FIELD(object_s) },
	{ "metadata", "chunk", ROW_SECONDS, NEED_ALWAYS, 0, 100, FIELD(chunk_s) },
	{ "defaults", "striping_factor", ROW_COUNT, NEED_LUSTRE, 1, 1e6, FIELD(stripes) },
	{ "defaults", "striping_unit", ROW_BYTES, NEED_LUSTRE, 65536, 1e12, FIELD(unit) },
	{ "defaults", "cb_nodes", ROW_COUNT, NEED_NEVER, 1, 1e9, FIELD(aggregators) },
	{ "defaults", "io_node_aggregators", ROW_COUNT, NEED_GPFS, 1, 1e6,
	  FIELD(io_node_aggregators) },
	{ "defaults", "cb_buffer_size", ROW_BYTES, NEED_ALWAYS, 1, 1e12, FIELD(buffer) },
	{ "defaults", "alignment_threshold", ROW_BYTES, NEED_NEVER, 0, 1e12, FIELD(threshold) },
	{ "defaults", "alignment_boundary", ROW_BYTES, NEED_NEVER, 1, 1e12, FIELD(boundary) },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Where the reader is. The first problem stays: what follows may be its consequence. */
struct source {
	struct platform *platform;
	const char *name, *text;
	size_t left;
	unsigned line;
	unsigned seen[ROWS]; /* line of each number; 0: not given */
	struct err err;
};

__attribute__((format(printf, 2, 3))) static void complain(struct source *s, const char *format,
							   ...)
{
	AUTO_FREE char *text = NULL;
	va_list ap;

	if (s->err.code)
		return;
	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	err_set(&s->err, EINVAL, "%s:%u: %s", s->name, s->line, text);
}

static double *row_value(struct platform *platform, const struct row *row)
{
	void *field = (char *)platform + row->offset;

	return field;
}

/* What a value of this kind looks like, for people. */
static const char *row_form(const struct row *row)
{
	static const char *const forms[] = {
		[ROW_COUNT] = "a whole number",
		[ROW_BYTES] = "a size such as 64K or 1M",
		[ROW_RATE] = "a number of bytes per second such as 35e9",
		[ROW_SECONDS] = "a number of seconds such as 2e-3",
		[ROW_NUMBER] = "a number",
	};

	return forms[row->kind];
}

static bool row_parse(const struct row *row, const char *text, double *out)
{
	uint64_t number;
	char *end;

	switch (row->kind) {
	case ROW_COUNT:
		if (unit_parse_count(text, &number) < 0)
			return false;
		*out = (double)number;
		return true;
	case ROW_BYTES:
		if (unit_parse_bytes(text, &number) < 0)
			return false;
		*out = (double)number;
		return true;
	default:
		*out = strtod(text, &end);
		return *text && !*end && isfinite(*out);
	}
}

static void take_number(struct source *s, size_t i, const char *text)
{
	double value;

	if (s->seen[i])
		complain(s, "%s is given twice; the first is in line %u", rows[i].key, s->seen[i]);
	else if (!row_parse(&rows[i], text, &value))
		complain(s, "%s is '%s', which is not %s", rows[i].key, text, row_form(&rows[i]));
	else if (value < rows[i].min || value > rows[i].max)
		complain(s, "%s is '%s'; it may be from %g to %g", rows[i].key, text, rows[i].min,
			 rows[i].max);
	else
		*row_value(s->platform, &rows[i]) = value;
	s->seen[i] = s->line;
}

static void take_filesystem(struct source *s, const char *text)
{
	if (s->platform->filesystem)
		complain(s, "filesystem is given twice");
	else if (strcmp(text, "lustre") == 0)
		s->platform->filesystem = FILESYSTEM_LUSTRE;
	else if (strcmp(text, "gpfs") == 0)
		s->platform->filesystem = FILESYSTEM_GPFS;
	else
		complain(s, "filesystem is '%s'; there are models of lustre and gpfs", text);
}

static void take_text(struct source *s, char **to, const char *key, const char *text)
{
	if (*to)
		complain(s, "%s is given twice", key);
	else if (!*text)
		complain(s, "%s is empty", key);
	else
		*to = xstrdup(text);
}

static void take_platform(struct source *s, const char *key, const char *text)
{
	if (strcmp(key, "name") == 0)
		take_text(s, &s->platform->name, key, text);
	else if (strcmp(key, "title") == 0)
		take_text(s, &s->platform->title, key, text);
	else if (strcmp(key, "filesystem") == 0)
		take_filesystem(s, text);
	else
		complain(s, "[platform] has no '%s'; it has name, title and filesystem", key);
}

static struct platform_lists *lists_of(struct platform *platform, const char *section)
{
	if (strcmp(section, "values") == 0)
		return &platform->values;
	if (strcmp(section, "search") == 0)
		return &platform->search;
	return strcmp(section, "ties") == 0 ? &platform->ties : NULL;
}

const struct platform_list *platform_list(const struct platform_lists *lists, const char *name)
{
	for (size_t i = 0; i < lists->count; i++)
		if (strcmp(lists->lists[i].name, name) == 0)
			return &lists->lists[i];
	return NULL;
}

static struct platform_list *list_make(struct platform_lists *lists, const char *name)
{
	struct platform_list *list = (struct platform_list *)platform_list(lists, name);

	if (list)
		return list;
	lists->lists = xgrow(lists->lists, &lists->cap, lists->count + 1, sizeof(*lists->lists));
	list = &lists->lists[lists->count++];
	*list = (struct platform_list){ .name = xstrdup(name) };
	return list;
}

/* Words with blanks between. A list that is given in several lines is one list. */
static void take_list(struct source *s, struct platform_lists *lists, const char *key,
		      const char *text)
{
	struct platform_list *list = list_make(lists, key);

	if (!*text)
		complain(s, "%s is empty", key);
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t n = strcspn(text, " \t");

		list->values =
			xgrow(list->values, &list->cap, list->count + 2, sizeof(*list->values));
		list->values[list->count++] = xstrndup(text, n);
		list->values[list->count] = NULL;
		text += n;
	}
}

static void take_row(struct source *s, const char *section, const char *key, const char *text)
{
	bool known = false;

	for (size_t i = 0; i < ROWS; i++) {
		if (strcmp(rows[i].section, section) != 0)
			continue;
		known = true;
		if (strcmp(rows[i].key, key) == 0) {
			take_number(s, i, text);
			return;
		}
	}
	if (known)
		complain(s, "[%s] has no '%s'", section, key);
	else
		complain(s,
			 "there is no section [%s]; there are platform, nodes, client, servers, "
			 "locks, metadata, defaults, values, search and ties",
			 section);
}

static int take_pair(void *user, const char *section, const char *key, const char *text)
{
	struct source *s = user;
	struct platform_lists *lists = lists_of(s->platform, section);

	if (!*section)
		complain(s, "the line stands before any [section]");
	else if (strcmp(section, "platform") == 0)
		take_platform(s, key, text);
	else if (lists)
		take_list(s, lists, key, text);
	else
		take_row(s, section, key, text);
	return 1;
}

/* The next line without blanks at its ends. False: it cannot be used, and that was said. */
static bool line_take(struct source *s, char *out, size_t cap)
{
	const char *newline = memchr(s->text, '\n', s->left);
	const char *from = s->text;
	size_t n = newline ? (size_t)(newline - s->text) : s->left;

	s->text += n + (newline != NULL);
	s->left -= n + (newline != NULL);
	s->line++;
	for (; n && isspace((unsigned char)*from); n--)
		from++;
	while (n && isspace((unsigned char)from[n - 1]))
		n--;
	if (n >= cap)
		complain(s, "the line is too long; a list may be given in several lines");
	else if (memchr(from, 0, n))
		complain(s, "the line holds a zero byte");
	else {
		memcpy(out, from, n);
		out[n] = 0;
		return true;
	}
	return false;
}

static void line_check(struct source *s, const char *line)
{
	if (!*line || *line == '#' || *line == ';')
		return;
	if (*line == '[' && (!strchr(line, ']') || strcspn(line + 1, "]") > SECTION_MAX))
		complain(s, "the heading has no closing ]");
	else if (*line != '[' && (!strpbrk(line, "=:") || *line == '=' || *line == ':'))
		complain(s, "the line is neither [section] nor key = value");
}

/* inih's reader. A line that cannot be used becomes an empty one: what is wrong has been said. */
static char *read_line(char *out, int cap, void *user)
{
	struct source *s = user;

	if (!s->left)
		return NULL;
	if (line_take(s, out, (size_t)cap))
		line_check(s, out);
	if (s->err.code)
		out[0] = 0;
	return out;
}

static int check_complete(struct source *s)
{
	struct platform *p = s->platform;
	unsigned need = p->filesystem == FILESYSTEM_LUSTRE ? NEED_LUSTRE : NEED_GPFS;

	if (!p->name || !p->filesystem)
		return err_set(&s->err, EINVAL, "%s: [platform] %s is missing", s->name,
			       p->name ? "filesystem" : "name");
	for (size_t i = 0; i < ROWS; i++)
		if ((rows[i].need & need) && !s->seen[i])
			return err_set(&s->err, EINVAL, "%s: [%s] %s is missing: %s", s->name,
				       rows[i].section, rows[i].key, row_form(&rows[i]));
	if (p->boundary < 1)
		p->boundary = 1;
	if (!p->title)
		p->title = xstrdup(p->name);
	return 0;
}

/* What is to be searched must have values, and what is tied something to hang on. */
static int check_lists(struct source *s)
{
	const struct platform *p = s->platform;

	for (size_t i = 0; i < p->search.count; i++) {
		const struct platform_list *words = &p->search.lists[i];

		if (strcmp(words->name, "collective") != 0 &&
		    strcmp(words->name, "independent") != 0)
			return err_set(
				&s->err, EINVAL,
				"%s: [search] has no '%s'; it has collective and independent",
				s->name, words->name);
		for (size_t k = 0; k < words->count; k++)
			if (!platform_list(&p->values, words->values[k]))
				return err_set(&s->err, EINVAL,
					       "%s: [search] names %s, for which [values] has none",
					       s->name, words->values[k]);
	}
	for (size_t i = 0; i < p->ties.count; i++)
		if (p->ties.lists[i].count != 1 ||
		    !platform_list(&p->values, p->ties.lists[i].values[0]))
			return err_set(&s->err, EINVAL,
				       "%s: [ties] %s must name one parameter that has [values]",
				       s->name, p->ties.lists[i].name);
	return 0;
}

int platform_read_text(struct platform **out, const char *name, const char *text, size_t bytes,
		       struct err *err)
{
	struct source s = { .name = name, .text = text, .left = bytes };

	s.platform = xcalloc(1, sizeof(*s.platform));
	ini_parse_stream(read_line, &s, take_pair, &s);
	if (s.err.code || check_complete(&s) < 0 || check_lists(&s) < 0) {
		platform_close(s.platform);
		return err_set(err, s.err.code, "%s", s.err.text);
	}
	*out = s.platform;
	return 0;
}

static int read_file(struct platform **out, const char *path, struct err *err)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	AUTO_BUF struct buf text = { 0 };
	char piece[4096];
	size_t n;

	if (!f)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0) {
		buf_add(&text, piece, n);
		if (text.len > DESCRIPTION_BYTES_MAX)
			return err_set(err, EFBIG, "%s is too large for a description", path);
	}
	if (ferror(f))
		return err_set(err, EIO, "%s cannot be read", path);
	return platform_read_text(out, path, buf_text(&text), text.len, err);
}

/* Path of the description below one directory; NULL where it is not there. */
static char *find_below(const char *directory, const char *below, const char *name)
{
	char *path = xprintf("%s/%s%s.ini", directory, below, name);

	if (place_exists(path))
		return path;
	free(path);
	return NULL;
}

static char *find(const char *name)
{
	static const char *const below[] = { "platforms/", "../platforms/",
					     "../share/sluice/platforms/" };
	const char *named = getenv("SLUICE_PLATFORMS");
	AUTO_FREE char *bin = place_binary_dir();
	char *path = named && *named ? find_below(named, "", name) : NULL;

	for (size_t i = 0; !path && bin && i < sizeof(below) / sizeof(below[0]); i++)
		path = find_below(bin, below[i], name);
	return path;
}

static bool is_path(const char *name)
{
	size_t n = strlen(name);

	return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".ini") == 0);
}

int platform_open(struct platform **out, const char *name, struct err *err)
{
	AUTO_FREE char *path = NULL;

	if (is_path(name))
		return read_file(out, name, err);
	path = find(name);
	if (!path)
		return err_set(err, ENOENT,
			       "there is no description of a platform '%s': name hopper, intrepid, "
			       "stampede or a file, or set SLUICE_PLATFORMS to where it is",
			       name);
	return read_file(out, path, err);
}

static void lists_release(struct platform_lists *lists)
{
	for (size_t i = 0; i < lists->count; i++) {
		for (size_t k = 0; k < lists->lists[i].count; k++)
			free(lists->lists[i].values[k]);
		free(lists->lists[i].values);
		free(lists->lists[i].name);
	}
	free(lists->lists);
}

void platform_close(struct platform *platform)
{
	if (!platform)
		return;
	lists_release(&platform->values);
	lists_release(&platform->search);
	lists_release(&platform->ties);
	free(platform->name);
	free(platform->title);
	free(platform);
}

const char *platform_name(const struct platform *platform)
{
	return platform->name;
}

const char *platform_title(const struct platform *platform)
{
	return platform->title;
}

double platform_peak(const struct platform *platform)
{
	return platform->peak;
}

/* ROMIO everywhere, of the MPICH family: what the paper's hints are for. */
void platform_context(const struct platform *platform, struct tunable_context *context)
{
	*context = (struct tunable_context){ .middleware = MIDDLEWARE_MPICH,
					     .filesystem = platform->filesystem,
					     .allowed = TUNABLE_SEMANTICS };
}
