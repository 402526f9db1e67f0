/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/outputs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/mem.h"
#include "base/text.h"
#include "observe/tally/traffic.h"
#include "tune/program/launch.h"
#include "tune/trial/entries.h"
#include "tune/trial/objective.h"

/* In by_file: the file is shared memory. */
#define NO_OUTPUT SIZE_MAX

enum name_change { CHANGE_NONE, CHANGE_RENAME, CHANGE_LINK, CHANGE_REMOVE, CHANGE_TRUNCATE };

static uint8_t change_of(const char *call)
{
	static const struct {
		const char *call;
		enum name_change change;
	} rows[] = {
		{ "rename", CHANGE_RENAME },	  { "renameat", CHANGE_RENAME },
		{ "renameat2", CHANGE_RENAME },	  { "link", CHANGE_LINK },
		{ "linkat", CHANGE_LINK },	  { "unlink", CHANGE_REMOVE },
		{ "unlinkat", CHANGE_REMOVE },	  { "remove", CHANGE_REMOVE },
		{ "truncate", CHANGE_TRUNCATE },  { "truncate64", CHANGE_TRUNCATE },
		{ "ftruncate", CHANGE_TRUNCATE }, { "ftruncate64", CHANGE_TRUNCATE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].call, call) == 0)
			return rows[i].change;
	return CHANGE_NONE;
}

/* Launchers keep files of their own in a temporary directory. */
static bool is_launcher(const struct process_info *process)
{
	static const char *const helpers[] = { "hydra_pmi_proxy", "orted", "prted", "prte", NULL };
	const char *slash = process->program ? strrchr(process->program, '/') : NULL;
	char *argv[] = { slash ? (char *)slash + 1 : process->program, (char *)"-", NULL };
	struct launch launch;

	if (!argv[0] || process->rank >= 0)
		return false;
	for (const char *const *helper = helpers; *helper; helper++)
		if (strcmp(*helper, argv[0]) == 0)
			return true;
	launch_parse(&launch, argv);
	return launch.launcher != NULL;
}

void outputs_init(struct outputs *o, const struct trace_head *head, const bool *named,
		  const uint8_t *ways)
{
	*o = (struct outputs){ .head = head, .named = named, .ways = ways };
	o->changes = xcalloc(head->call_count + 1, sizeof(*o->changes));
	o->by_file = xcalloc(head->file_count + 1, sizeof(*o->by_file));
	o->is_launcher = xcalloc(head->process_count + 1, sizeof(*o->is_launcher));
	for (size_t i = 0; i < head->call_count; i++)
		o->changes[i] = change_of(head->calls[i].name);
	for (size_t i = 0; i < head->process_count; i++)
		o->is_launcher[i] = is_launcher(&head->processes[i]);
}

void outputs_release(struct outputs *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->list[i].path);
	free(o->list);
	free(o->changes);
	free(o->is_launcher);
	free(o->folders);
	free(o->by_file);
	map_release(&o->live);
	*o = (struct outputs){ 0 };
}

static uint64_t path_key(const char *path)
{
	return XXH3_64bits(path, strlen(path)) | 1;
}

/* The output that has this name now; NULL: none. */
static struct output *find_live(const struct outputs *o, const char *path)
{
	size_t index = (size_t)(uintptr_t)map_get(&o->live, path_key(path));

	return index ? &o->list[index - 1] : NULL;
}

static void set_live(struct outputs *o, const struct output *output)
{
	map_put(&o->live, path_key(output->path), (void *)(uintptr_t)(output - o->list + 1));
}

static struct output *add_output(struct outputs *o, const struct output *output)
{
	o->list = xgrow(o->list, &o->cap, o->count + 1, sizeof(*o->list));
	o->list[o->count] = *output;
	return &o->list[o->count++];
}

/* The output that this file of the trace names now; a new one if there is none. */
static struct output *bind_file(struct outputs *o, file_id file)
{
	struct output *output = find_live(o, o->head->files[file]);

	if (!output) {
		output = add_output(o, &(struct output){ .path = xstrdup(o->head->files[file]) });
		set_live(o, output);
	}
	output->is_named |= o->named[file];
	o->by_file[file] = (size_t)(output - o->list + 1);
	return output;
}

/* The output that a handle refers to: the one that had the name when it was opened. NULL: it is not
 * a file. */
static struct output *output_of(struct outputs *o, file_id file)
{
	if (o->by_file[file] == NO_OUTPUT)
		return NULL;
	return o->by_file[file] ? &o->list[o->by_file[file] - 1] : bind_file(o, file);
}

static void mark_written(struct outputs *o, file_id file)
{
	struct output *output = output_of(o, file);

	if (!output)
		return;
	output->is_written = true;
	if (output->twin)
		o->list[output->twin - 1].is_written = true;
}

/* The output is truncated. Its content is lost, but it may be written again. */
static void lose_version(struct outputs *o, struct output *output)
{
	struct output version;

	if (!output)
		return;
	version = *output;
	output->is_written = false;
	output->is_created = true;
	if (!version.is_written || version.is_gone)
		return;
	version.path = xstrdup(version.path);
	version.is_gone = true;
	add_output(o, &version);
}

/* The name is removed or given to another file. */
static void drop_name(struct outputs *o, const char *path)
{
	struct output *output = find_live(o, path);

	if (!output)
		return;
	output->is_gone = true;
	/* Its content still exists, or it never had a name while it had content. */
	if (!output->is_written || (output->twin && !o->list[output->twin - 1].is_gone))
		output->is_named = false;
	map_remove(&o->live, path_key(path));
}

static void note_open(struct outputs *o, const struct activity *a)
{
	bool has_flags = a->present & PRESENT(FLAGS);
	struct output *output;

	if (strcmp(o->head->calls[a->call].name, "shm_open") == 0) {
		o->by_file[a->file] = NO_OUTPUT;
		return;
	}
	if (a->layer != LAYER_POSIX && a->layer != LAYER_STDIO)
		return;
	if (has_flags && !(a->flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)))
		return;
	output = bind_file(o, a->file);
	if (has_flags && a->flags & O_TRUNC)
		lose_version(o, output);
	output = output_of(o, a->file);
	output->is_created |= !has_flags || a->flags & (O_CREAT | O_TRUNC);
}

static void give_name(struct outputs *o, struct output *output, char *path, bool is_named)
{
	map_remove(&o->live, path_key(output->path));
	free(output->path);
	output->path = path;
	output->is_named |= is_named;
	set_live(o, output);
}

/* Renames what is in a directory. Returns the number of outputs. */
static size_t rename_inside(struct outputs *o, const char *from, const char *to, bool is_named)
{
	size_t n = strlen(from), renamed = 0;

	for (size_t i = 0; i < o->count; i++) {
		struct output *output = &o->list[i];

		if (output->is_gone || !text_starts_with(output->path, from) ||
		    output->path[n] != '/')
			continue;
		give_name(o, output, xprintf("%s%s", to, output->path + n), is_named);
		renamed++;
	}
	return renamed;
}

static void note_rename(struct outputs *o, const struct activity *a)
{
	const char *from = o->head->files[a->file], *to = o->head->files[a->file2];
	bool is_exchange = a->present & PRESENT(FLAGS) && a->flags & RENAME_EXCHANGE;
	struct output *output = find_live(o, from), *other = find_live(o, to);
	struct stat st;

	if (!a->file2 || strcmp(from, to) == 0)
		return;
	if (is_exchange && output && other) {
		char *path = output->path;

		output->path = other->path;
		other->path = path;
		set_live(o, output);
		set_live(o, other);
		return;
	}
	drop_name(o, to);
	if (output) {
		give_name(o, output, xstrdup(to), o->named[a->file2]);
	} else if (!rename_inside(o, from, to, o->named[a->file2]) &&
		   !(stat(to, &st) == 0 && S_ISDIR(st.st_mode))) {
		/* The program moved a file that existed before. */
		bind_file(o, a->file2)->is_written = true;
	}
}

static void note_link(struct outputs *o, const struct activity *a)
{
	struct output *from = find_live(o, o->head->files[a->file]), *to;
	size_t index = from ? (size_t)(from - o->list) : 0;

	if (!from || !a->file2)
		return;
	to = bind_file(o, a->file2);
	to->is_written = o->list[index].is_written;
	to->is_created = o->list[index].is_created;
	to->twin = index + 1;
	o->list[index].twin = (size_t)(to - o->list) + 1;
}

static void note_change(struct outputs *o, const struct activity *a)
{
	switch (o->changes[a->call]) {
	case CHANGE_RENAME:
		note_rename(o, a);
		break;
	case CHANGE_LINK:
		note_link(o, a);
		break;
	case CHANGE_REMOVE:
		drop_name(o, o->head->files[a->file]);
		break;
	case CHANGE_TRUNCATE:
		if (a->size)
			mark_written(o, a->file);
		else
			lose_version(o, output_of(o, a->file));
		break;
	}
}

static bool is_writable_mapping(const struct call_info *call, const struct activity *a)
{
	return call->class == CLASS_MAP && text_starts_with(call->name, "mmap") &&
	       a->mode & PROT_WRITE && a->flags & MAP_SHARED;
}

/* Ranks and the launcher share files in a temporary directory. */
static void note_launcher(struct outputs *o, const struct call_info *call, const struct activity *a)
{
	if (strcmp(call->name, "mkdir") != 0)
		return;
	o->folders = xgrow(o->folders, &o->folder_cap, o->folder_count + 1, sizeof(*o->folders));
	o->folders[o->folder_count++] = a->file;
}

static bool is_of_launcher(const struct outputs *o, const char *path)
{
	for (size_t i = 0; i < o->folder_count; i++) {
		const char *folder = o->head->files[o->folders[i]];

		if (text_starts_with(path, folder) && path[strlen(folder)] == '/')
			return true;
	}
	return false;
}

void outputs_add(struct outputs *o, const struct activity *a)
{
	const struct call_info *call;

	if (a->error || !a->file || a->call >= o->head->call_count ||
	    a->file >= o->head->file_count || a->file2 >= o->head->file_count ||
	    o->head->files[a->file][0] != '/' || a->process >= o->head->process_count)
		return;
	call = &o->head->calls[a->call];
	if (o->is_launcher[a->process])
		note_launcher(o, call, a);
	else if (call->class == CLASS_OPEN)
		note_open(o, a);
	else if (o->changes[a->call])
		note_change(o, a);
	else if (o->ways[a->call] & 1u << WRITING ||
		 (call->class == CLASS_RESIZE && a->layer == LAYER_POSIX) ||
		 is_writable_mapping(call, a))
		mark_written(o, a->file);
}

void output_sources_add(struct output_sources *s, const char *path, const char *name,
			enum manifest_origin origin)
{
	s->list = xgrow(s->list, &s->cap, s->count + 1, sizeof(*s->list));
	s->list[s->count++] = (struct digest_source){ .path = xstrdup(path),
						      .name = xstrdup(name),
						      .origin = origin };
}

static void add_past(struct output_sources *s, const char *path)
{
	s->past = xgrow(s->past, &s->past_cap, s->past_count + 1, sizeof(*s->past));
	s->past[s->past_count++] = xstrdup(path);
}

void output_sources_release(struct output_sources *s)
{
	for (size_t i = 0; i < s->past_count; i++)
		free(s->past[i]);
	free(s->past);
	for (size_t i = 0; i < s->count; i++) {
		free(s->list[i].path);
		free(s->list[i].name);
	}
	free(s->list);
	*s = (struct output_sources){ 0 };
}

static const char *relative_name(const char *path, const char *directory)
{
	size_t n = directory ? strlen(directory) : 0;

	return n > 1 && text_starts_with(path, directory) && path[n] == '/' ? path + n + 1 : path;
}

/* Was it written, or is it an empty file that the trial created? */
static bool has_content(const struct output *output)
{
	struct stat st;

	if (output->is_written || output->is_gone)
		return output->is_written;
	return output->is_created && stat(output->path, &st) == 0 && S_ISREG(st.st_mode) &&
	       !st.st_size;
}

void outputs_list(const struct outputs *o, const char *scratch, struct output_sources *sources)
{
	AUTO_FREE char *directory = getcwd(NULL, 0);

	for (size_t i = 0; i < o->count; i++) {
		const struct output *output = &o->list[i];

		if (!output->is_named || !objective_may_be_data(output->path, scratch) ||
		    is_of_launcher(o, output->path) ||
		    (output->is_gone && text_starts_with(output->path, "/dev/")) ||
		    !has_content(output))
			continue;
		if (output->is_gone)
			add_past(sources, output->path);
		else
			output_sources_add(sources, output->path,
					   relative_name(output->path, directory), MANIFEST_OUTPUT);
	}
}

/* The path as the journal has it: without symbolic links in its directory. */
static char *real_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *folder = xstrndup(path, (size_t)(slash - path) + 1);
	AUTO_FREE char *real = realpath(folder, NULL);

	return real ? xprintf("%s/%s", strcmp(real, "/") == 0 ? "" : real, slash + 1)
		    : xstrdup(path);
}

static bool is_version_of(const struct entry *entry, const char *path, int version)
{
	return entry->version == version && strcmp(entry->record.path, path) == 0;
}

static const struct entry *find_version(const struct entries *entries, const char *path,
					int version)
{
	for (size_t i = 0; i < entries->count; i++)
		if (is_version_of(&entries->list[i], path, version))
			return &entries->list[i];
	return NULL;
}

/* How many of the first n past versions have this path. */
static int count_past(const struct output_sources *s, size_t n, const char *path)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += strcmp(s->past[i], path) == 0;
	return count;
}

void output_sources_add_past(struct output_sources *s, const struct entries *entries)
{
	AUTO_FREE char *directory = getcwd(NULL, 0);

	for (size_t i = 0; i < s->past_count; i++) {
		int version = count_past(s, i, s->past[i]);
		AUTO_FREE char *path = real_path(s->past[i]);
		AUTO_FREE char *name = xprintf("%s (version %d)",
					       relative_name(s->past[i], directory), version + 1);
		const struct entry *entry = find_version(entries, path, version);

		output_sources_add(s, entry ? entry->kept : NULL, name, MANIFEST_OUTPUT);
	}
}
