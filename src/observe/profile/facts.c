/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "contract/hints.h"
#include "contract/parameters.h"

/* Values on Linux, which a trace may come from even if it is read elsewhere. */
enum { LOCK_AND_WAIT = 7, LOCK_DESCRIPTION_AND_WAIT = 38, UNBUFFERED = 2 };

/* Filters of HDF5 that do not compress: shuffle, Fletcher's checksum. */
enum { FILTER_SHUFFLE = 2, FILTER_FLETCHER32 = 3 };

enum kind {
	KIND_NONE,
	KIND_LAYOUT,
	KIND_CAUSE,
	KIND_BUFFER,
	KIND_HINTS,
	KIND_LOCK,
	KIND_MAP,
};

static enum kind kind_of_call(const struct call_info *call)
{
	static const struct {
		const char *name;
		enum kind kind;
	} kinds[] = {
		{ "H5D_layout", KIND_LAYOUT },
		{ "H5D_no_collective", KIND_CAUSE },
		{ "setvbuf", KIND_BUFFER },
		{ "_IO_setvbuf", KIND_BUFFER },
		{ "setbuffer", KIND_BUFFER },
		{ "_IO_setbuffer", KIND_BUFFER },
		{ "posix_parameters", KIND_HINTS },
		{ "MPI_File_parameters", KIND_HINTS },
		{ "MPI_File_open", KIND_HINTS },
		{ "fcntl", KIND_LOCK },
		{ "fcntl64", KIND_LOCK },
		{ "__fcntl", KIND_LOCK },
		{ "mmap", KIND_MAP },
		{ "mmap64", KIND_MAP },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(text_or_empty(call->name), kinds[i].name))
			return kinds[i].kind;
	}
	return KIND_NONE;
}

void facts_release(struct facts *facts)
{
	for (size_t i = 0; i < facts->files.cap; i++)
		free(facts->files.entries[i].value);
	map_release(&facts->files);
	free(facts->kinds);
	*facts = (struct facts){ 0 };
}

struct file_facts *facts_put(struct facts *facts, file_id file)
{
	struct file_facts *f = map_get(&facts->files, file);

	if (!f) {
		f = xcalloc(1, sizeof(*f));
		map_put(&facts->files, file, f);
	}
	return f;
}

/* The product of the numbers of "32,256"; 0 if it is malformed or too large. */
static uint64_t product_of(const char *shape)
{
	uint64_t product = 1;

	for (char *end; *shape; shape = *end == ',' ? end + 1 : end) {
		uint64_t n = strtoull(shape, &end, 10);

		if (end == shape || (*end && *end != ',') ||
		    __builtin_mul_overflow(product, n, &product))
			return 0;
	}
	return product;
}

static void set_shape(struct file_facts *f, const char *shape, uint64_t element)
{
	size_t used = 0;

	for (; *shape && used + 4 < sizeof(f->chunk); shape++) {
		if (*shape == ',')
			used += (size_t)snprintf(f->chunk + used, 4, " x ");
		else
			f->chunk[used++] = *shape;
	}
	snprintf(f->chunk + used, sizeof(f->chunk) - used, " elements of %llu bytes",
		 (unsigned long long)element);
}

static bool has_compression(const char *filters)
{
	for (char *end; *filters; filters = *end == ',' ? end + 1 : end) {
		long filter = strtol(filters, &end, 10);

		if (end == filters)
			break;
		if (filter != FILTER_SHUFFLE && filter != FILTER_FLETCHER32)
			return true;
	}
	return false;
}

static void add_layout(struct file_facts *f, const char *text)
{
	char key[64], value[256], shape[256] = "";
	uint64_t element = 0, cache = 0, bytes;

	while (hints_next(&text, key, sizeof(key), value, sizeof(value))) {
		if (!strcmp(key, "chunk"))
			memcpy(shape, value, sizeof(shape));
		else if (!strcmp(key, "element"))
			element = strtoull(value, NULL, 10);
		else if (!strcmp(key, "cache"))
			cache = strtoull(value, NULL, 10);
		else if (!strcmp(key, "filters"))
			f->compressed |= has_compression(value);
	}
	if (__builtin_mul_overflow(product_of(shape), element, &bytes) || bytes <= f->chunk_bytes)
		return;
	f->chunk_bytes = bytes;
	f->cache_bytes = cache;
	set_shape(f, shape, element);
}

static void add_buffer(struct file_facts *f, uint64_t bytes)
{
	f->has_buffer = true;
	f->buffer_bytes = bytes > f->buffer_bytes ? bytes : f->buffer_bytes;
}

static void add_hints(struct file_facts *f, const char *text)
{
	char key[64], value[256];

	while (hints_next(&text, key, sizeof(key), value, sizeof(value))) {
		uint64_t number = strtoull(value, NULL, 10);

		if (!strcmp(key, "striping_factor") && number && !f->has_layout)
			f->layout.stripes = number;
		else if (!strcmp(key, "cause"))
			f->causes |= (uint32_t)number;
		else if (!strcmp(key, PARAMETERS_STDIO_BUFFER) && number)
			add_buffer(f, number);
	}
}

/* Finds the number of each file by its path. */
static void index_paths(struct map *numbers, const struct trace_head *head)
{
	for (size_t i = 1; i < head->file_count; i++)
		map_put(numbers, layout_path_key(head->files[i]), (void *)(uintptr_t)i);
}

static void add_layouts(struct facts *facts, const struct trace_head *head)
{
	size_t count;
	AUTO_FREE struct layout_row *rows = layout_rows(head, &count);
	struct map numbers = { 0 };

	if (count)
		index_paths(&numbers, head);
	for (size_t i = 0; i < count; i++) {
		uintptr_t file = (uintptr_t)map_get(&numbers, layout_path_key(rows[i].file));
		struct file_facts *f = file ? facts_put(facts, (file_id)file) : NULL;

		if (!f)
			continue;
		f->layout = rows[i].layout;
		f->has_layout = true;
	}
	map_release(&numbers);
}

void facts_init(struct facts *facts, const struct trace_head *head)
{
	*facts = (struct facts){ .kinds = xcalloc(head->call_count + 1, 1) };
	for (size_t i = 0; i < head->call_count; i++)
		facts->kinds[i] = (uint8_t)kind_of_call(&head->calls[i]);
	add_layouts(facts, head);
}

static void add_setvbuf(struct file_facts *f, const struct activity *a)
{
	bool unbuffered = a->present & PRESENT(FLAGS) && a->flags == UNBUFFERED;

	if (unbuffered || a->size > 0)
		add_buffer(f, unbuffered ? 0 : (uint64_t)a->size);
}

static bool is_waiting(const struct activity *a)
{
	return a->flags == LOCK_AND_WAIT || a->flags == LOCK_DESCRIPTION_AND_WAIT;
}

void facts_add(struct facts *facts, const struct trace_head *head, const struct activity *activity)
{
	const struct activity *a = activity;
	enum kind kind = (enum kind)facts->kinds[a->call];
	const char *hints = a->hints < head->file_count ? head->files[a->hints] : "";
	struct file_facts *f;

	if (kind == KIND_NONE || !a->file || a->error || (kind == KIND_LOCK && !is_waiting(a)))
		return;
	f = facts_put(facts, a->file);
	if (kind == KIND_LAYOUT) {
		add_layout(f, hints);
	} else if (kind == KIND_CAUSE || kind == KIND_HINTS) {
		add_hints(f, hints);
	} else if (kind == KIND_BUFFER) {
		add_setvbuf(f, a);
	} else if (kind == KIND_MAP) {
		f->mapped_bytes += a->size > 0 ? (uint64_t)a->size : 0;
	} else {
		f->locks++;
		f->lock_ns += a->duration_ns;
	}
}

static void merge_file(struct file_facts *to, const struct file_facts *from)
{
	if (from->chunk_bytes > to->chunk_bytes) {
		to->chunk_bytes = from->chunk_bytes;
		to->cache_bytes = from->cache_bytes;
		memcpy(to->chunk, from->chunk, sizeof(to->chunk));
	}
	to->compressed |= from->compressed;
	to->causes |= from->causes;
	if (from->has_buffer)
		add_buffer(to, from->buffer_bytes);
	to->mapped_bytes += from->mapped_bytes;
	if (!to->layout.stripes || (from->has_layout && !to->has_layout)) {
		to->layout = from->layout;
		to->has_layout = from->has_layout;
	}
	if (from->group.slowest_ns > to->group.slowest_ns)
		to->group = from->group;
	to->locks += from->locks;
	to->lock_ns += from->lock_ns;
}

void facts_merge(struct facts *facts, const struct facts *other, const file_id *files)
{
	for (size_t i = 0; i < other->files.cap; i++) {
		const struct map_entry *entry = &other->files.entries[i];

		if (entry->key && files[entry->key])
			merge_file(facts_put(facts, files[entry->key]), entry->value);
	}
}

const struct file_facts *facts_get(const struct facts *facts, file_id file)
{
	static const struct file_facts none = { 0 };
	const struct file_facts *f = file ? map_get(&facts->files, file) : NULL;

	return f ? f : &none;
}
