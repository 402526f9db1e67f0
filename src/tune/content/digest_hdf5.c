/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/content/digest_hdf5.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "tune/content/digest.h"
#include "tune/content/hdf5_library.h"
#include "tune/content/item_writer.h"

/* Why some objects are not read. */
#define UNREAD_TYPE "values of this type cannot be compared"

#define RANK_MAX 32
#define NAME_MAX_BYTES 4096
#define DEPTH_MAX 256
#define CACHE_BYTES (64u << 20)
#define CACHE_SLOTS 12421 /* a prime, as HDF5 recommends */
#define TEXTS_MAX 8192	  /* strings of variable length that are read at once */
#define INFO_BYTES 512	  /* more than any version's H5O_info_t */
/* An attribute is read as a whole. Larger ones are rare, and are skipped. */
#define ATTRIBUTE_MAX (64u << 20)

struct walk {
	struct hdf5 h;
	struct item_writer *writer;
	hdf5_id access;	 /* property list to open datasets with */
	char *piece;	 /* DIGEST_PIECE_BYTES */
	struct map seen; /* addresses of visited objects */
	const char *path;
	struct err *err;
};

bool digest_is_hdf5(int fd)
{
	static const char signature[8] = "\x89HDF\r\n\x1a\n";
	char bytes[8];

	for (off_t at = 0; at <= 1 << 20; at = at ? at * 2 : 512) {
		if (pread(fd, bytes, sizeof(bytes), at) != (ssize_t)sizeof(bytes))
			return false;
		if (memcmp(bytes, signature, sizeof(bytes)) == 0)
			return true;
	}
	return false;
}

/* The zero byte is included, so that "ab", "c" differs from "a", "bc". */
static void add_shape_text(struct walk *w, const char *text)
{
	item_writer_shape(w->writer, text, strlen(text) + 1);
}

static void add_shape_number(struct walk *w, uint64_t number)
{
	item_writer_shape(w->writer, &number, sizeof(number));
}

static int fail_object(struct walk *w, const char *name, const char *what)
{
	return err_set(w->err, EBADMSG, "it is broken at %s: %s", name, what);
}

/* In memory, values of such a type are pointers or file addresses, which differ between runs. */
static bool type_has_pointers(const struct hdf5 *h, hdf5_id type)
{
	int class = h->type_class(type), members;
	bool points = false;
	hdf5_id part;

	if (class == HDF5_CLASS_VLEN || class == HDF5_CLASS_REFERENCE)
		return true;
	if (class == HDF5_CLASS_STRING)
		return h->type_is_text(type) > 0;
	if (class == HDF5_CLASS_ARRAY) {
		part = h->type_base(type);
		points = part < 0 || type_has_pointers(h, part);
		h->type_close(part);
	}
	members = class == HDF5_CLASS_COMPOUND ? h->type_members(type) : 0;
	for (int i = 0; !points && i < members; i++) {
		part = h->type_member(type, (unsigned)i);
		points = part < 0 || type_has_pointers(h, part);
		h->type_close(part);
	}
	return points;
}

/* The type to read into: native and packed, as padding would have random content. */
static hdf5_id memory_type(const struct hdf5 *h, hdf5_id type)
{
	hdf5_id native = h->type_native(type, 1);

	if (native < 0)
		native = h->type_copy(type);
	if (native >= 0 && h->type_class(native) == HDF5_CLASS_COMPOUND)
		h->type_pack(native);
	return native;
}

/* The values of a dataset or an attribute. */
struct values {
	hdf5_id type, space; /* in memory, in the file */
	size_t bytes;	     /* of one value */
	bool is_text;	     /* strings of variable length */
	int rank;
	hdf5_size extents[RANK_MAX];
	hdf5_size count;
};

static int values_describe(struct walk *w, const char *name, hdf5_id type, hdf5_id space,
			   struct values *v)
{
	const struct hdf5 *h = &w->h;

	*v = (struct values){ .type = memory_type(h, type), .space = space, .count = 1 };
	if (v->type < 0 || space < 0)
		return fail_object(w, name, "its type or shape cannot be read");
	v->bytes = h->type_bytes(v->type);
	v->is_text = h->type_class(v->type) == HDF5_CLASS_STRING && h->type_is_text(v->type) > 0;
	v->rank = h->space_rank(space);
	if (v->rank < 0 || v->rank > RANK_MAX || !v->bytes ||
	    (v->rank && h->space_extents(space, v->extents, NULL) < 0))
		return fail_object(w, name, "its shape cannot be read");
	if (h->space_kind(space) == HDF5_SPACE_NULL)
		v->count = 0;
	for (int i = 0; i < v->rank; i++)
		if (__builtin_mul_overflow(v->count, v->extents[i], &v->count))
			return fail_object(w, name, "it has more values than can be counted");
	return 0;
}

/* Begins the item of the values. */
static void begin_values(struct walk *w, const char *name, const struct values *v)
{
	item_writer_begin(w->writer, name, v->is_text ? 0 : v->count * v->bytes);
	add_shape_number(w, (uint64_t)w->h.type_class(v->type));
	add_shape_number(w, v->bytes);
	add_shape_number(w, (uint64_t)v->rank);
	for (int i = 0; i < v->rank; i++)
		add_shape_number(w, v->extents[i]);
}

/* Adds values that were read to the item, and lets HDF5 free strings. */
static void add_and_reclaim(struct walk *w, const struct values *v, hdf5_id space, size_t count)
{
	char *const *texts = (char *const *)w->piece;

	if (!v->is_text) {
		item_writer_data(w->writer, w->piece, count * v->bytes);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const char *text = texts[i] ? texts[i] : "";

		item_writer_data(w->writer, text, strlen(text) + 1);
	}
	w->h.reclaim(v->type, space, 0, w->piece);
}

/* A box of values that is contiguous in their order: it is complete in all dimensions after the one
 * that is cut. */
struct box {
	hdf5_size start[RANK_MAX], count[RANK_MAX];
	int cut;	/* index of the dimension that is cut */
	hdf5_size most; /* extent of the cut dimension */
};

static void box_init(struct box *box, const struct values *v)
{
	hdf5_size most = v->is_text ? TEXTS_MAX : DIGEST_PIECE_BYTES / v->bytes, inner = 1;

	*box = (struct box){ .cut = 0 };
	for (int i = 0; i < v->rank; i++)
		box->count[i] = 1;
	for (box->cut = v->rank - 1; box->cut > 0 && inner * v->extents[box->cut] <= most;
	     box->cut--) {
		inner *= v->extents[box->cut];
		box->count[box->cut] = v->extents[box->cut];
	}
	box->most = most / inner;
}

static hdf5_size box_size(struct box *box, const struct values *v)
{
	hdf5_size left = v->extents[box->cut] - box->start[box->cut], size = 1;

	box->count[box->cut] = left < box->most ? left : box->most;
	for (int i = 0; i < v->rank; i++)
		size *= box->count[i];
	return size;
}

/* Moves to the next box in the order of the values. False: there is none. */
static bool box_next(struct box *box, const struct values *v)
{
	box->start[box->cut] += box->count[box->cut];
	for (int i = box->cut; box->start[i] >= v->extents[i]; i--) {
		if (i == 0)
			return false;
		box->start[i] = 0;
		box->start[i - 1]++;
	}
	return true;
}

static int box_read(struct walk *w, hdf5_id dataset, const struct values *v, struct box *box)
{
	const struct hdf5 *h = &w->h;
	hdf5_size size = box_size(box, v);
	hdf5_id memory = h->space_new(1, &size, NULL);
	int r = -1;

	memset(w->piece, 0, size * v->bytes);
	if (memory >= 0 && h->space_select(v->space, 0, box->start, NULL, box->count, NULL) >= 0)
		r = h->dataset_read(dataset, v->type, memory, v->space, 0, w->piece);
	if (r >= 0)
		add_and_reclaim(w, v, memory, size);
	h->space_close(memory);
	return r;
}

/* Hashes the values piece by piece in their order, whatever the layout in the file is. */
static int dataset_read(struct walk *w, const char *name, hdf5_id dataset, const struct values *v)
{
	struct box box;

	if (v->bytes > DIGEST_PIECE_BYTES)
		return fail_object(w, name, "its values are too large");
	if (!v->count)
		return 0;
	if (!v->rank) {
		memset(w->piece, 0, v->bytes);
		if (w->h.dataset_read(dataset, v->type, 0, 0, 0, w->piece) < 0)
			return fail_object(w, name, "its value cannot be read");
		add_and_reclaim(w, v, v->space, 1);
		return 0;
	}
	box_init(&box, v);
	do {
		if (box_read(w, dataset, v, &box) < 0)
			return fail_object(w, name, "its values cannot be read");
	} while (box_next(&box, v));
	return 0;
}

/* Are all filters of the dataset installed? If not, the file is not broken. */
static bool dataset_is_readable(const struct hdf5 *h, hdf5_id dataset)
{
	hdf5_id list = h->dataset_list(dataset);
	int filters = list >= 0 ? h->list_filters(list) : 0;
	bool readable = true;

	for (int i = 0; i < filters; i++) {
		unsigned flags, config;
		size_t values = 0;
		int filter =
			h->list_filter(list, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);

		readable = readable && filter >= 0 && h->filter_is_there(filter) > 0;
	}
	h->list_close(list);
	return readable;
}

static int write_values(struct walk *w, const char *name, hdf5_id dataset, hdf5_id type,
			hdf5_id space)
{
	struct values v;
	int r = values_describe(w, name, type, space, &v);

	if (r >= 0 && !v.is_text && type_has_pointers(&w->h, v.type)) {
		item_writer_unread(w->writer, name, UNREAD_TYPE);
	} else if (r >= 0 && !dataset_is_readable(&w->h, dataset)) {
		item_writer_unread(w->writer, name, "a filter is not installed");
	} else if (r >= 0) {
		begin_values(w, name, &v);
		r = dataset_read(w, name, dataset, &v);
		item_writer_end(w->writer);
	}
	if (v.type >= 0)
		w->h.type_close(v.type);
	return r;
}

/* Opens the dataset again: the chunk cache of the opened object is too small. */
static int write_dataset(struct walk *w, hdf5_id object, const char *name)
{
	const struct hdf5 *h = &w->h;
	hdf5_id dataset = h->dataset_open(object, ".", w->access);
	hdf5_id type, space;
	int r;

	if (dataset < 0)
		return fail_object(w, name, "it cannot be opened");
	type = h->dataset_type(dataset);
	space = h->dataset_space(dataset);
	r = write_values(w, name, dataset, type, space);
	h->type_close(type);
	h->space_close(space);
	h->dataset_close(dataset);
	return r;
}

static int attribute_read(struct walk *w, const char *name, hdf5_id attribute,
			  const struct values *v)
{
	char *piece = w->piece;
	int r;

	if ((!v->is_text && type_has_pointers(&w->h, v->type)) ||
	    v->count > ATTRIBUTE_MAX / v->bytes) {
		item_writer_unread(w->writer, name, UNREAD_TYPE);
		return 0;
	}
	begin_values(w, name, v);
	if (!v->count)
		return 0;
	w->piece = xcalloc(v->count, v->bytes);
	r = w->h.attribute_read(attribute, v->type, w->piece);
	if (r >= 0)
		add_and_reclaim(w, v, v->space, v->count);
	free(w->piece);
	w->piece = piece;
	return r < 0 ? fail_object(w, name, "the attribute cannot be read") : 0;
}

static int write_attribute(struct walk *w, hdf5_id attribute, const char *of)
{
	const struct hdf5 *h = &w->h;
	char name[NAME_MAX_BYTES] = "";
	hdf5_id type = h->attribute_type(attribute), space = h->attribute_space(attribute);
	AUTO_FREE char *path = NULL;
	struct values v;
	int r;

	h->attribute_name(attribute, sizeof(name), name);
	path = xprintf("%s@%s", of, name);
	r = values_describe(w, path, type, space, &v);
	if (r >= 0)
		r = attribute_read(w, path, attribute, &v);
	item_writer_end(w->writer);
	if (v.type >= 0)
		h->type_close(v.type);
	h->type_close(type);
	h->space_close(space);
	return r;
}

static int write_attributes(struct walk *w, hdf5_id object, const char *of)
{
	int count = w->h.attribute_count(object), r = 0;

	if (count < 0)
		return fail_object(w, of, "its attributes cannot be counted");
	for (int i = 0; r >= 0 && i < count; i++) {
		hdf5_id attribute = w->h.attribute_open(object, ".", 0, 0, (hdf5_size)i, 0, 0);

		if (attribute < 0)
			return fail_object(w, of, "an attribute cannot be opened");
		r = write_attribute(w, attribute, of);
		w->h.attribute_close(attribute);
	}
	return r;
}

/* A link of a group. */
struct link {
	char *name;
	int kind;
};

struct links {
	struct link *list;
	size_t count, cap;
};

static int add_link(hdf5_id group, const char *name, const int *info, void *arg)
{
	struct links *links = arg;

	(void)group;
	links->list = xgrow(links->list, &links->cap, links->count + 1, sizeof(*links->list));
	links->list[links->count++] = (struct link){ xstrdup(name), *info };
	return 0;
}

static void links_release(struct links *links)
{
	for (size_t i = 0; i < links->count; i++)
		free(links->list[i].name);
	free(links->list);
}

static int write_object(struct walk *w, hdf5_id object, const char *name, unsigned depth);

/* Adds the link to the item of its group. */
static void add_link_shape(struct walk *w, hdf5_id group, const struct link *link)
{
	char target[NAME_MAX_BYTES] = "";

	add_shape_text(w, link->name);
	add_shape_number(w, (uint64_t)link->kind);
	if (link->kind == HDF5_LINK_HARD)
		return;
	/* The value of an external link is two texts, with zero bytes between them. */
	w->h.link_value(group, link->name, target, sizeof(target) - 1, 0);
	item_writer_shape(w->writer, target, sizeof(target));
}

/* Writes the object that a hard link points to. */
static int follow_link(struct walk *w, hdf5_id group, const struct link *link, const char *name,
		       unsigned depth)
{
	hdf5_id object;
	int r;

	if (link->kind != HDF5_LINK_HARD)
		return 0;
	object = w->h.object_open(group, link->name, 0);
	if (object < 0)
		return fail_object(w, name, "it cannot be opened");
	r = write_object(w, object, name, depth);
	w->h.object_close(object);
	return r;
}

static int write_group(struct walk *w, hdf5_id group, const char *name, unsigned depth)
{
	struct links links = { 0 };
	hdf5_size at = 0;
	int r = w->h.links(group, 0, 0, &at, add_link, &links);

	if (r < 0)
		r = fail_object(w, name, "its links cannot be read");
	item_writer_begin(w->writer, name, 0);
	add_shape_number(w, links.count);
	for (size_t i = 0; r >= 0 && i < links.count; i++)
		add_link_shape(w, group, &links.list[i]);
	item_writer_end(w->writer);
	for (size_t i = 0; r >= 0 && i < links.count; i++) {
		AUTO_FREE char *path = xprintf("%s%s%s", name, strcmp(name, "/") == 0 ? "" : "/",
					       links.list[i].name);

		r = follow_link(w, group, &links.list[i], path, depth);
	}
	links_release(&links);
	return r;
}

/* Objects may have several names, and groups may contain themselves. */
static bool is_visited(struct walk *w, hdf5_id object)
{
	union {
		struct {
			unsigned long file;
			uint64_t address;
		} begin;
		char bytes[INFO_BYTES];
	} info = { 0 };

	if (w->h.object_info(object, &info) < 0)
		return false;
	if (map_get(&w->seen, info.begin.address + 1))
		return true;
	map_put(&w->seen, info.begin.address + 1, w);
	return false;
}

static int write_object(struct walk *w, hdf5_id object, const char *name, unsigned depth)
{
	int kind = w->h.object_kind(object), r;

	if (depth > DEPTH_MAX)
		return fail_object(w, name, "groups are nested too deeply");
	if (is_visited(w, object)) {
		item_writer_begin(w->writer, name, 0);
		add_shape_text(w, "an object with several names");
		item_writer_end(w->writer);
		return 0;
	}
	r = write_attributes(w, object, name);
	if (r >= 0 && kind == HDF5_IS_GROUP)
		r = write_group(w, object, name, depth + 1);
	else if (r >= 0 && kind == HDF5_IS_DATASET)
		r = write_dataset(w, object, name);
	else if (r >= 0)
		item_writer_unread(w->writer, name, UNREAD_TYPE);
	return r;
}

static int walk_file(struct walk *w)
{
	hdf5_id file = w->h.file_open(w->path, 0, 0), root;
	int r;

	if (file < 0)
		return err_set(w->err, EBADMSG, "HDF5 cannot open it");
	root = w->h.object_open(file, "/", 0);
	r = root < 0 ? fail_object(w, "/", "it cannot be opened") : write_object(w, root, "/", 0);
	if (root >= 0)
		w->h.object_close(root);
	w->h.file_close(file);
	return r;
}

int digest_hdf5(struct item_writer *writer, const char *path, struct err *err)
{
	struct walk w = { .writer = writer, .path = path, .err = err };
	int r = hdf5_load(&w.h, err);

	/* The second condition follows from the first; it is here for clang-tidy. */
	if (r < 0 || !w.h.access_class)
		return -ENOENT;
	w.access = w.h.list_new(*w.h.access_class);
	w.h.list_cache(w.access, CACHE_SLOTS, CACHE_BYTES, 1.0);
	w.piece = xmalloc(DIGEST_PIECE_BYTES);
	r = walk_file(&w);
	w.h.list_close(w.access);
	map_release(&w.seen);
	free(w.piece);
	return r;
}
