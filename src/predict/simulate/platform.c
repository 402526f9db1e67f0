/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/simulate/platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "predict/describe.h"
#include "predict/simulate/description.h"

enum row_need { NEED_NEVER, NEED_LUSTRE = 1, NEED_GPFS = 2, NEED_ALWAYS = 3 };

#define FIELD(name) offsetof(struct platform, name)

/* One row per numeric key of a description. */
static const struct describe_row rows[] = {
	{ "nodes", "cores", DESCRIBE_COUNT, NEED_ALWAYS, 1, 1e5, FIELD(cores) },
	{ "nodes", "memory", DESCRIBE_BYTES, NEED_ALWAYS, 1, 1e15, FIELD(memory) },
	{ "nodes", "copy_rate", DESCRIBE_RATE, NEED_ALWAYS, 1, 1e15, FIELD(copy_rate) },
	{ "nodes", "piece", DESCRIBE_SECONDS, NEED_ALWAYS, 0, 1, FIELD(piece_s) },
	{ "nodes", "link_rate", DESCRIBE_RATE, NEED_ALWAYS, 1, 1e15, FIELD(link_rate) },
	{ "nodes", "sync_rank", DESCRIBE_SECONDS, NEED_ALWAYS, 0, 1, FIELD(sync_rank_s) },
	{ "nodes", "sync_step", DESCRIBE_SECONDS, NEED_ALWAYS, 0, 1, FIELD(sync_step_s) },
	{ "client", "stream_rate", DESCRIBE_RATE, NEED_ALWAYS, 1, 1e15, FIELD(stream_rate) },
	{ "client", "node_rate", DESCRIBE_RATE, NEED_ALWAYS, 1, 1e15, FIELD(node_rate) },
	{ "client", "dirty", DESCRIBE_BYTES, NEED_ALWAYS, 0, 1e15, FIELD(dirty) },
	{ "servers", "peak", DESCRIBE_RATE, NEED_ALWAYS, 1, 1e16, FIELD(peak) },
	{ "servers", "share", DESCRIBE_NUMBER, NEED_ALWAYS, 1e-6, 1, FIELD(share) },
	{ "servers", "servers", DESCRIBE_COUNT, NEED_ALWAYS, 1, 1e6, FIELD(servers) },
	{ "servers", "targets", DESCRIBE_COUNT, NEED_LUSTRE, 1, 1e6, FIELD(targets) },
	{ "servers", "target_rate", DESCRIBE_RATE, NEED_LUSTRE, 1, 1e15, FIELD(target_rate) },
	{ "servers", "block", DESCRIBE_BYTES, NEED_GPFS, 1, 1e12, FIELD(block) },
	{ "servers", "io_nodes", DESCRIBE_COUNT, NEED_GPFS, 1, 1e6, FIELD(io_nodes) },
	{ "servers", "io_nodes_min", DESCRIBE_COUNT, NEED_GPFS, 1, 1e6, FIELD(io_nodes_min) },
	{ "servers", "io_node_nodes", DESCRIBE_COUNT, NEED_GPFS, 1, 1e6, FIELD(io_node_nodes) },
	{ "servers", "io_node_rate", DESCRIBE_RATE, NEED_GPFS, 1, 1e15, FIELD(io_node_rate) },
	{ "servers", "io_node_streams", DESCRIBE_COUNT, NEED_GPFS, 1, 1e6, FIELD(io_node_streams) },
	{ "servers", "jitter", DESCRIBE_NUMBER, NEED_ALWAYS, 0, 100, FIELD(jitter) },
	{ "locks", "lock", DESCRIBE_SECONDS, NEED_ALWAYS, 0, 100, FIELD(lock_s) },
	{ "locks", "revoke", DESCRIBE_SECONDS, NEED_ALWAYS, 0, 100, FIELD(revoke_s) },
	{ "locks", "range", DESCRIBE_SECONDS, NEED_GPFS, 0, 100, FIELD(range_s) },
	{ "metadata", "open_rank", DESCRIBE_SECONDS, NEED_ALWAYS, 0, 100, FIELD(open_rank_s) },
	{ "metadata", "open_target", DESCRIBE_SECONDS, NEED_LUSTRE, 0, 100, FIELD(open_target_s) },
	{ "metadata", "object", DESCRIBE_SECONDS, NEED_ALWAYS, 0, 100, FIELD(object_s) },
	{ "metadata", "chunk", DESCRIBE_SECONDS, NEED_ALWAYS, 0, 100, FIELD(chunk_s) },
	{ "defaults", "striping_factor", DESCRIBE_COUNT, NEED_LUSTRE, 1, 1e6, FIELD(stripes) },
	{ "defaults", "striping_unit", DESCRIBE_BYTES, NEED_LUSTRE, 65536, 1e12, FIELD(unit) },
	{ "defaults", "cb_nodes", DESCRIBE_COUNT, NEED_NEVER, 1, 1e9, FIELD(aggregators) },
	{ "defaults", "io_node_aggregators", DESCRIBE_COUNT, NEED_GPFS, 1, 1e6,
	  FIELD(io_node_aggregators) },
	{ "defaults", "cb_buffer_size", DESCRIBE_BYTES, NEED_ALWAYS, 1, 1e12, FIELD(buffer) },
	{ "defaults", "alignment_threshold", DESCRIBE_BYTES, NEED_NEVER, 0, 1e12,
	  FIELD(threshold) },
	{ "defaults", "alignment_boundary", DESCRIBE_BYTES, NEED_NEVER, 1, 1e12, FIELD(boundary) },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void set_filesystem(struct describe *d, const char *text)
{
	struct platform *platform = d->into;

	if (platform->filesystem)
		describe_complain(d, "filesystem is given twice");
	else if (strcmp(text, "lustre") == 0)
		platform->filesystem = FILESYSTEM_LUSTRE;
	else if (strcmp(text, "gpfs") == 0)
		platform->filesystem = FILESYSTEM_GPFS;
	else
		describe_complain(d, "filesystem is '%s'; expected lustre or gpfs", text);
}

static void set_text(struct describe *d, char **to, const char *key, const char *text)
{
	if (*to)
		describe_complain(d, "%s is given twice", key);
	else if (!*text)
		describe_complain(d, "%s is empty", key);
	else
		*to = xstrdup(text);
}

static void set_platform_key(struct describe *d, const char *key, const char *text)
{
	struct platform *platform = d->into;

	if (strcmp(key, "name") == 0)
		set_text(d, &platform->name, key, text);
	else if (strcmp(key, "title") == 0)
		set_text(d, &platform->title, key, text);
	else if (strcmp(key, "filesystem") == 0)
		set_filesystem(d, text);
	else
		describe_complain(
			d, "unknown key '%s' in [platform]; expected name, title or filesystem",
			key);
}

static struct platform_lists *find_lists(struct platform *platform, const char *section)
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

static struct platform_list *get_list(struct platform_lists *lists, const char *name)
{
	struct platform_list *list = (struct platform_list *)platform_list(lists, name);

	if (list)
		return list;
	lists->lists = xgrow(lists->lists, &lists->cap, lists->count + 1, sizeof(*lists->lists));
	list = &lists->lists[lists->count++];
	*list = (struct platform_list){ .name = xstrdup(name) };
	return list;
}

/* Appends words separated by blanks. Several lines with the same key form one list. */
static void append_to_list(struct describe *d, struct platform_lists *lists, const char *key,
			   const char *text)
{
	struct platform_list *list = get_list(lists, key);

	if (!*text)
		describe_complain(d, "%s is empty", key);
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t n = strcspn(text, " \t");

		list->values =
			xgrow(list->values, &list->cap, list->count + 2, sizeof(*list->values));
		list->values[list->count++] = xstrndup(text, n);
		list->values[list->count] = NULL;
		text += n;
	}
}

static bool take_key(struct describe *d, const char *section, const char *key, const char *text)
{
	struct platform_lists *lists = find_lists(d->into, section);

	if (strcmp(section, "platform") == 0)
		set_platform_key(d, key, text);
	else if (lists)
		append_to_list(d, lists, key, text);
	else
		return false;
	return true;
}

static int check_complete(struct describe *d)
{
	struct platform *p = d->into;
	unsigned need = p->filesystem == FILESYSTEM_LUSTRE ? NEED_LUSTRE : NEED_GPFS;
	int r;

	if (!p->name || !p->filesystem)
		return err_set(&d->err, EINVAL, "%s: [platform] %s is missing", d->name,
			       p->name ? "filesystem" : "name");
	r = describe_complete(d, need);
	if (r < 0)
		return r;
	if (p->boundary < 1)
		p->boundary = 1;
	if (!p->title)
		p->title = xstrdup(p->name);
	return 0;
}

/* Parameters in [search] and targets of [ties] must have [values]. */
static int check_lists(struct describe *d)
{
	const struct platform *p = d->into;

	for (size_t i = 0; i < p->search.count; i++) {
		const struct platform_list *words = &p->search.lists[i];

		if (strcmp(words->name, "collective") != 0 &&
		    strcmp(words->name, "independent") != 0)
			return err_set(&d->err, EINVAL,
				       "%s: unknown key '%s' in [search]; expected collective or "
				       "independent",
				       d->name, words->name);
		for (size_t k = 0; k < words->count; k++)
			if (!platform_list(&p->values, words->values[k]))
				return err_set(&d->err, EINVAL,
					       "%s: [search] names %s, which has no [values]",
					       d->name, words->values[k]);
	}
	for (size_t i = 0; i < p->ties.count; i++)
		if (p->ties.lists[i].count != 1 ||
		    !platform_list(&p->values, p->ties.lists[i].values[0]))
			return err_set(&d->err, EINVAL,
				       "%s: [ties] %s must name one parameter that has [values]",
				       d->name, p->ties.lists[i].name);
	return 0;
}

int platform_read_text(struct platform **out, const char *name, const char *text, size_t bytes,
		       struct err *err)
{
	struct describe d = { .name = name, .rows = rows, .row_count = ROWS, .take = take_key };

	d.sections = "platform, nodes, client, servers, locks, metadata, defaults, values, search "
		     "and ties";
	d.into = xcalloc(1, sizeof(struct platform));
	if (describe_read(&d, text, bytes) < 0 || check_complete(&d) < 0 || check_lists(&d) < 0) {
		platform_close(d.into);
		return err_set(err, d.err.code, "%s", d.err.text);
	}
	*out = d.into;
	return 0;
}

int platform_open(struct platform **out, const char *name, struct err *err)
{
	static const struct describe_folder folder = { "platforms", "SLUICE_PLATFORMS", "platform",
						       "hopper, intrepid, stampede" };
	AUTO_BUF struct buf text = { 0 };
	AUTO_FREE char *path = NULL;
	int r = describe_load(&folder, name, &path, &text, err);

	return r < 0 ? r : platform_read_text(out, path, buf_text(&text), text.len, err);
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

double platform_peak(const struct platform *platform)
{
	return platform->peak;
}

/* All platforms run ROMIO of the MPICH family, to which the paper's hints apply. */
void platform_context(const struct platform *platform, struct tunable_context *context)
{
	*context = (struct tunable_context){ .middleware = MIDDLEWARE_MPICH,
					     .filesystem = platform->filesystem,
					     .allowed = TUNABLE_SEMANTICS };
}
