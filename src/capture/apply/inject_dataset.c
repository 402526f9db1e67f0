/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Injects parameters into HDF5 datasets: creation properties.
 * Papers: H5T-3.
 */
#include <errno.h>
#include <stdio.h>

#include "capture/apply/chunk.h"
#include "capture/apply/chunk_cache.h"
#include "capture/apply/inject_hdf5.h"
#include "capture/libraries/wrapper_helpers.h"
#include "contract/calls.h"

/* The functions of the library that are called: name, symbol if linked, type; see inject_hdf5.c. */
#define USES(X)                                                                             \
	X(H5Iget_type, H5Iget_type, int (*)(hid_t))                                         \
	X(H5Iis_valid, H5Iis_valid, htri_t (*)(hid_t))                                      \
	X(H5Fget_name, H5Fget_name, ssize_t (*)(hid_t, char *, size_t))                     \
	X(H5Iget_name, H5Iget_name, ssize_t (*)(hid_t, char *, size_t))                     \
	X(H5Pisa_class, H5Pisa_class, htri_t (*)(hid_t, hid_t))                             \
	X(H5Pcopy, __real_H5Pcopy, hid_t (*)(hid_t))                                        \
	X(H5Pclose, __real_H5Pclose, herr_t (*)(hid_t))                                     \
	X(H5P_CLS_DATASET_CREATE_ID_g, H5P_CLS_DATASET_CREATE_ID_g, hid_t *)                \
	X(H5P_LST_DATASET_CREATE_ID_g, H5P_LST_DATASET_CREATE_ID_g, hid_t *)                \
	X(H5Pget_layout, H5Pget_layout, H5D_layout_t (*)(hid_t))                            \
	X(H5Pget_external_count, H5Pget_external_count, int (*)(hid_t))                     \
	X(H5Pset_chunk, __real_H5Pset_chunk, herr_t (*)(hid_t, int, const hsize_t *))       \
	X(H5Pget_chunk, H5Pget_chunk, int (*)(hid_t, int, hsize_t *))                       \
	X(H5Pset_fill_time, __real_H5Pset_fill_time, herr_t (*)(hid_t, H5D_fill_time_t))    \
	X(H5Pget_fill_time, H5Pget_fill_time, herr_t (*)(hid_t, H5D_fill_time_t *))         \
	X(H5Pset_alloc_time, __real_H5Pset_alloc_time, herr_t (*)(hid_t, H5D_alloc_time_t)) \
	X(H5Pget_alloc_time, H5Pget_alloc_time, herr_t (*)(hid_t, H5D_alloc_time_t *))      \
	X(H5Dget_create_plist, __real_H5Dget_create_plist, hid_t (*)(hid_t))                \
	X(H5Dget_offset, H5Dget_offset, haddr_t (*)(hid_t))                                 \
	X(H5Dget_storage_size, __real_H5Dget_storage_size, hsize_t (*)(hid_t))              \
	X(H5VLget_connector_id, H5VLget_connector_id, hid_t (*)(hid_t))                     \
	X(H5VLobject_is_native, H5VLobject_is_native, herr_t (*)(hid_t, hbool_t *))         \
	X(H5Sget_simple_extent_type, H5Sget_simple_extent_type, int (*)(hid_t))             \
	X(H5Sget_simple_extent_ndims, H5Sget_simple_extent_ndims, int (*)(hid_t))           \
	X(H5Sget_simple_extent_dims, H5Sget_simple_extent_dims,                             \
	  int (*)(hid_t, hsize_t *, hsize_t *))                                             \
	X(H5Tget_size, H5Tget_size, size_t (*)(hid_t))                                      \
	X(H5Tget_class, H5Tget_class, int (*)(hid_t))

LIBRARY_TYPED(USES)

/* Constants of HDF5, the same in all versions. */
enum id_type { ID_FILE = 1, ID_GROUP, ID_TYPE, ID_SPACE, ID_DATASET };
enum layout_kind { LAYOUT_COMPACT, LAYOUT_CONTIGUOUS, LAYOUT_CHUNKED, LAYOUT_VIRTUAL };
enum { SPACE_SIMPLE = 1 };
static const char *const layouts[] = { "compact", "contiguous", "chunked", "virtual" };
static const char *const fill_times[] = { "alloc", "never", "ifset", NULL };
static const char *const alloc_times[] = { "default", "early", "late", "incr", NULL };
#define FILL_NEVER 1
#define FILL_IF_SET 2
#define ALLOC_DEFAULT 0
#define ALLOC_LATE 2
#define ALLOC_INCREMENTAL 3

static int find_word(const char *value, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], value))
			return i;
	return -1;
}

/* The dataset that is being created. */
struct site {
	void *const *functions;
	hid_t list; /* the copied creation list */
	hid_t type, space;
};

static const char *chunk_apply(const struct site *site, const char *value)
{
	void *const *functions = site->functions;
	hsize_t dims[HDF5_RANK_MAX], most[HDF5_RANK_MAX], chunk[HDF5_RANK_MAX];
	int rank;

	/* Only the default layout is changed: any other is a decision of the program. */
	if (OF(functions, H5Pget_layout)(site->list) != LAYOUT_CONTIGUOUS ||
	    OF(functions, H5Pget_external_count)(site->list) != 0)
		return "layout";
	if (OF(functions, H5Sget_simple_extent_type)(site->space) != SPACE_SIMPLE)
		return "rank";
	rank = OF(functions, H5Sget_simple_extent_ndims)(site->space);
	if (rank < 1 || rank > HDF5_RANK_MAX ||
	    OF(functions, H5Sget_simple_extent_dims)(site->space, dims, most) < 0)
		return "rank";
	/* HDF5 rejects a contiguous dataset that can grow; chunks would hide that error. */
	if (memcmp(dims, most, (size_t)rank * sizeof(dims[0])) != 0)
		return "extent";
	if (!chunk_shape(value, rank, dims, OF(functions, H5Tget_size)(site->type), chunk))
		return "shape";
	return OF(functions, H5Pset_chunk)(site->list, rank, chunk) < 0 ? "failed" : NULL;
}

/* Simple types. HDF5 relies on the fill value of others, such as variable-length types. */
static bool type_is_plain(const struct site *site)
{
	enum { INTEGER, FLOAT, BITS = 4, OPAQUE = 5, ENUM = 8 };
	int class = OF(site->functions, H5Tget_class)(site->type);

	return class == INTEGER || class == FLOAT || class == BITS || class == OPAQUE ||
	       class == ENUM;
}

static const char *fill_apply(const struct site *site, const char *value)
{
	int time = find_word(value, fill_times);
	H5D_fill_time_t was = -1;

	if (time < 0 || OF(site->functions, H5Pget_fill_time)(site->list, &was) < 0)
		return "failed";
	if (rules_own.application_wins && was != FILL_IF_SET)
		return "application";
	if (time == FILL_NEVER && !type_is_plain(site))
		return "type";
	return OF(site->functions, H5Pset_fill_time)(site->list, time) < 0 ? "failed" : NULL;
}

static const char *alloc_apply(const struct site *site, const char *value)
{
	int time = find_word(value, alloc_times), layout;
	H5D_alloc_time_t was = -1;

	if (time < 0 || OF(site->functions, H5Pget_alloc_time)(site->list, &was) < 0)
		return "failed";
	layout = OF(site->functions, H5Pget_layout)(site->list);
	if (layout == LAYOUT_COMPACT || layout == LAYOUT_VIRTUAL ||
	    (time == ALLOC_INCREMENTAL && layout != LAYOUT_CHUNKED))
		return "layout";
	/* A list returns the default of its layout if the program has not set the property. */
	if (rules_own.application_wins && was != ALLOC_DEFAULT &&
	    was != (layout == LAYOUT_CHUNKED ? ALLOC_INCREMENTAL : ALLOC_LATE))
		return "application";
	return OF(site->functions, H5Pset_alloc_time)(site->list, time) < 0 ? "failed" : NULL;
}

/* One row per property, in the order of application: later ones depend on earlier ones. */
static const struct {
	const char *name;
	const char *(*apply)(const struct site *site,
			     const char *value); /* NULL, or the reason of refusal */
} properties[] = {
	{ "chunk_size", chunk_apply },
	{ "fill_time", fill_apply },
	{ "alloc_time", alloc_apply },
};

static bool library_is_usable(void *const *functions)
{
	static const enum use needed[] = {
		USE_H5Iget_type,
		USE_H5Iis_valid,
		USE_H5Fget_name,
		USE_H5Iget_name,
		USE_H5Pisa_class,
		USE_H5Pcopy,
		USE_H5Pclose,
		USE_H5P_CLS_DATASET_CREATE_ID_g,
		USE_H5P_LST_DATASET_CREATE_ID_g,
		USE_H5Pget_layout,
		USE_H5Pget_external_count,
		USE_H5Pset_chunk,
		USE_H5Pget_chunk,
		USE_H5Pset_fill_time,
		USE_H5Pget_fill_time,
		USE_H5Pset_alloc_time,
		USE_H5Pget_alloc_time,
		USE_H5Dget_create_plist,
		USE_H5Sget_simple_extent_type,
		USE_H5Sget_simple_extent_ndims,
		USE_H5Sget_simple_extent_dims,
		USE_H5Tget_size,
		USE_H5Tget_class,
	};

	if (!functions)
		return false;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!functions[needed[i]])
			return false;
	return true;
}

/* The path of the file that an object is in; "" if asking for it could fail. */
static const char *object_file(void *const *functions, hid_t place, char path[RULES_PATH_BYTES])
{
	int type = OF(functions, H5Iget_type)(place);
	char name[RULES_PATH_BYTES];
	ssize_t n = -1;

	path[0] = 0;
	if (type == ID_FILE || type == ID_GROUP || type == ID_TYPE || type == ID_DATASET)
		n = OF(functions, H5Fget_name)(place, name, sizeof(name));
	return n > 0 && n < (ssize_t)sizeof(name) ? rules_path(path, name) : path;
}

/* The absolute name of a dataset that is to be created or opened; "/" if it has no name yet. */
static const char *object_name(void *const *functions, hid_t place, const char *name,
			       char object[RULES_PATH_BYTES])
{
	char group[RULES_PATH_BYTES];
	ssize_t n = 0;

	if (!name)
		return rules_object(object, "", "");
	/* A name that begins with a slash does not depend on the group. */
	if (name[0] != '/')
		n = OF(functions, H5Iget_name)(place, group, sizeof(group));
	return rules_object(object, n > 0 && n < (ssize_t)sizeof(group) ? group : "", name);
}

static bool list_is_valid(void *const *functions, hid_t list, hid_t class)
{
	hid_t *defaults = OF(functions, H5P_LST_DATASET_CREATE_ID_g);

	return list > 0 && list >> 56 == *defaults >> 56 && OF(functions, H5Iis_valid)(list) > 0 &&
	       OF(functions, H5Pisa_class)(list, class) > 0;
}

static bool copy_creation_list(struct inject_dataset *dataset, void *const *functions)
{
	hid_t from = dataset->creation == HDF5_DEFAULT ? *OF(functions, H5P_LST_DATASET_CREATE_ID_g)
						       : dataset->creation;
	hid_t copy = OF(functions, H5Pcopy)(from);

	if (copy < 0)
		return false;
	dataset->creation = copy;
	dataset->is_copied = true;
	return true;
}

static void apply_rules(struct inject_dataset *dataset, struct site *site, const char *path,
			hid_t place, const char *name)
{
	char buffer[RULES_PATH_BYTES];
	const char *object = object_name(site->functions, place, name, buffer);
	bool all_agree = inject_ranks_agree();

	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		const char *key = properties[i].name, *refusal = NULL;
		const char *value = rules_value(&rules_own, PLACE_DATASET, path, object, key);

		if (!value)
			continue;
		if (!all_agree)
			refusal = "ranks";
		else if (!dataset->is_copied && !copy_creation_list(dataset, site->functions))
			refusal = "failed";
		site->list = dataset->creation;
		if (!refusal)
			refusal = properties[i].apply(site, value);
		if (refusal)
			inject_refuse(&dataset->requested, key, refusal);
		else
			inject_accept(&dataset->requested, key, value);
	}
}

void inject_dataset_slow(struct inject_dataset *dataset, hid_t place, const char *name, hid_t type,
			 hid_t space)
{
	void *const *functions = library_use(&uses, dataset->near);
	struct site site = { functions, dataset->creation, type, space };
	char path[RULES_PATH_BYTES], object[RULES_PATH_BYTES];
	int saved = errno;

	if (library_is_usable(functions) && (!name || path_bytes(name, EINVAL)) &&
	    OF(functions, H5Iget_type)(type) == ID_TYPE &&
	    OF(functions, H5Iget_type)(space) == ID_SPACE &&
	    (dataset->creation == HDF5_DEFAULT ||
	     list_is_valid(functions, dataset->creation,
			   *OF(functions, H5P_CLS_DATASET_CREATE_ID_g))) &&
	    *object_file(functions, place, path)) {
		dataset->is_ours = true;
		dataset->requested.used = 0;
		dataset->is_aligned = rules_value(&rules_own, PLACE_ACCESS, path, "",
						  PARAMETERS_ALIGNMENT) != NULL;
		apply_rules(dataset, &site, path, place, name);
		chunk_cache_apply(dataset, path, object_name(functions, place, name, object));
	}
	errno = saved;
}

void inject_dataset_open_slow(struct inject_dataset *dataset, hid_t place, const char *name)
{
	void *const *functions = library_use(&uses, dataset->near);
	char path[RULES_PATH_BYTES], object[RULES_PATH_BYTES];
	int saved = errno;

	if (library_is_usable(functions) && path_bytes(name, EINVAL) &&
	    *object_file(functions, place, path)) {
		dataset->is_ours = true;
		dataset->requested.used = 0;
		dataset->is_aligned = false;
		chunk_cache_apply(dataset, path, object_name(functions, place, name, object));
	}
	errno = saved;
}

/* Reads the layout, as text in the form of the rules. Returns it; -1: unknown. */
static int read_layout(void *const *functions, hid_t list, struct info_text *effective)
{
	int layout = OF(functions, H5Pget_layout)(list), rank = 0;
	char value[HDF5_RANK_MAX * 21 + 1], *to = value;
	hsize_t chunk[HDF5_RANK_MAX];

	if (layout < 0 || layout > LAYOUT_VIRTUAL)
		return -1;
	if (layout == LAYOUT_CHUNKED)
		rank = OF(functions, H5Pget_chunk)(list, HDF5_RANK_MAX, chunk);
	strcpy(value, layouts[layout]);
	for (int i = 0; i < rank; i++)
		to += snprintf(to, 22, "%s%llu", i ? "," : "", chunk[i]);
	info_text_put(effective, "chunk_size", value);
	return layout;
}

/* Reads when elements are filled and allocated, which matters only while the dataset is new. */
static void read_times(void *const *functions, hid_t list, struct info_text *effective)
{
	int time = -1;

	if (OF(functions, H5Pget_fill_time)(list, &time) >= 0 && time >= 0 && time <= FILL_IF_SET)
		info_text_put(effective, "fill_time", fill_times[time]);
	if (OF(functions, H5Pget_alloc_time)(list, &time) >= 0 && time >= 0 &&
	    time <= ALLOC_INCREMENTAL)
		info_text_put(effective, "alloc_time", alloc_times[time]);
}

static void put_number(struct info_text *to, const char *key, uint64_t number)
{
	char value[24];

	snprintf(value, sizeof(value), "%llu", (unsigned long long)number);
	info_text_put(to, key, value);
}

/* Only native HDF5 files have offsets; with other connectors asking for them fails. */
static bool has_offsets(void *const *functions, hid_t dataset)
{
	hbool_t is_native = false;

	if (!OF(functions, H5Dget_offset) || !OF(functions, H5Dget_storage_size))
		return false;
	if (!OF(functions, H5VLget_connector_id))
		return true; /* a version without connectors */
	return OF(functions, H5VLobject_is_native) &&
	       OF(functions, H5VLobject_is_native)(dataset, &is_native) >= 0 && is_native;
}

/* Is the data allocated? If not, the offset is -1 plus the size of the user block: 0 or a power
 * of 2.
 */
static bool offset_is_allocated(haddr_t offset)
{
	return (offset & (offset + 1)) != 0;
}

/*
 * Reads the place of the data, which shows the effect of an alignment. For contiguous data HDF5
 * answers both questions from memory and without communication. The size of other data may have to
 * be read from the file, so it is asked for only if there is an offset.
 */
static void read_place(void *const *functions, hid_t dataset, struct info_text *effective)
{
	haddr_t offset;

	if (!has_offsets(functions, dataset))
		return;
	offset = OF(functions, H5Dget_offset)(dataset);
	if (!offset_is_allocated(offset))
		return;
	put_number(effective, PARAMETERS_OFFSET, offset);
	put_number(effective, PARAMETERS_SIZE, OF(functions, H5Dget_storage_size)(dataset));
}

/* Reads the properties of the dataset. Only chunked ones have a cache. */
static void read_effective(struct inject_dataset *dataset, void *const *functions, hid_t id,
			   struct info_text *effective)
{
	hid_t list = OF(functions, H5Dget_create_plist)(id);
	bool is_chunked;

	if (list < 0)
		return;
	is_chunked = read_layout(functions, list, effective) == LAYOUT_CHUNKED;
	if (dataset->creation != INJECT_OPENS)
		read_times(functions, list, effective);
	chunk_cache_read(dataset, id, is_chunked, effective);
	OF(functions, H5Pclose)(list);
}

void inject_dataset_created(struct inject_dataset *dataset, hid_t id, bool is_complete)
{
	void *const *functions = library_use(&uses, dataset->near);
	/* H5Oopen also opens groups and types. */
	bool is_dataset = id >= 0 && OF(functions, H5Iget_type)(id) == ID_DATASET;
	uint64_t link = is_dataset ? hdf5_link(dataset->near, id) : 0;
	bool is_recorded = dataset->requested.used || chunk_cache_is_applied(dataset) ||
			   rules_places == RULES_ON;
	struct info_text effective;
	int saved = errno;

	effective.used = 0;
	if (link && is_complete && is_recorded)
		read_effective(dataset, functions, id, &effective);
	if (link && is_complete && (dataset->is_aligned || rules_places == RULES_ON))
		read_place(functions, id, &effective);
	/* Without requests and effective values there is nothing to record. */
	if (is_recorded || effective.used)
		inject_record(CALL_H5D_parameters, link, &dataset->requested, &effective);
	if (dataset->is_copied)
		inject_list_close(dataset->near, dataset->creation, id < 0);
	if (dataset->is_access_copied)
		inject_list_close(dataset->near, dataset->access, id < 0);
	errno = saved;
}
