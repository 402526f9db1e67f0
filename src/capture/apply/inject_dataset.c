/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datasets of HDF5: how they are laid out, and how they are moved.
 */
#include <errno.h>
#include <stdio.h>

#include "capture/apply/chunk.h"
#include "capture/apply/inject_hdf5.h"
#include "capture/libraries/mpi_job.h"
#include "capture/libraries/wrapper_helpers.h"
#include "contract/calls.h"

/* What we ask of the library: name, symbol when linked, type; see inject_hdf5.c. */
#define USES(X)                                                                             \
	X(H5Iget_type, H5Iget_type, int (*)(hid_t))                                         \
	X(H5Iis_valid, H5Iis_valid, htri_t (*)(hid_t))                                      \
	X(H5Fget_name, H5Fget_name, ssize_t (*)(hid_t, char *, size_t))                     \
	X(H5Pisa_class, H5Pisa_class, htri_t (*)(hid_t, hid_t))                             \
	X(H5Pcopy, __real_H5Pcopy, hid_t (*)(hid_t))                                        \
	X(H5Pclose, __real_H5Pclose, herr_t (*)(hid_t))                                     \
	X(H5P_CLS_DATASET_CREATE_ID_g, H5P_CLS_DATASET_CREATE_ID_g, hid_t *)                \
	X(H5P_LST_DATASET_CREATE_ID_g, H5P_LST_DATASET_CREATE_ID_g, hid_t *)                \
	X(H5P_CLS_DATASET_XFER_ID_g, H5P_CLS_DATASET_XFER_ID_g, hid_t *)                    \
	X(H5Pget_layout, H5Pget_layout, H5D_layout_t (*)(hid_t))                            \
	X(H5Pget_external_count, H5Pget_external_count, int (*)(hid_t))                     \
	X(H5Pset_chunk, __real_H5Pset_chunk, herr_t (*)(hid_t, int, const hsize_t *))       \
	X(H5Pget_chunk, H5Pget_chunk, int (*)(hid_t, int, hsize_t *))                       \
	X(H5Pset_fill_time, __real_H5Pset_fill_time, herr_t (*)(hid_t, H5D_fill_time_t))    \
	X(H5Pget_fill_time, H5Pget_fill_time, herr_t (*)(hid_t, H5D_fill_time_t *))         \
	X(H5Pset_alloc_time, __real_H5Pset_alloc_time, herr_t (*)(hid_t, H5D_alloc_time_t)) \
	X(H5Pget_alloc_time, H5Pget_alloc_time, herr_t (*)(hid_t, H5D_alloc_time_t *))      \
	X(H5Pget_nfilters, H5Pget_nfilters, int (*)(hid_t))                                 \
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
	X(H5Tget_class, H5Tget_class, int (*)(hid_t))                                       \
	X(H5Pget_dxpl_mpio, H5Pget_dxpl_mpio, herr_t (*)(hid_t, H5FD_mpio_xfer_t *))        \
	X(H5Pset_dxpl_mpio, absent_H5Pset_dxpl_mpio, herr_t (*)(hid_t, H5FD_mpio_xfer_t))

LIBRARY_TYPED(USES)

/* Constants of the library, the same in all versions. */
enum id_type { ID_FILE = 1, ID_GROUP, ID_TYPE, ID_SPACE, ID_DATASET };
enum layout_kind { LAYOUT_COMPACT, LAYOUT_CONTIGUOUS, LAYOUT_CHUNKED, LAYOUT_VIRTUAL };
enum { SPACE_SIMPLE = 1, TRANSFER_INDEPENDENT = 0, TRANSFER_COLLECTIVE = 1 };
static const char *const layouts[] = { "compact", "contiguous", "chunked", "virtual" };
static const char *const fill_times[] = { "alloc", "never", "ifset", NULL };
static const char *const alloc_times[] = { "default", "early", "late", "incr", NULL };
#define FILL_NEVER 1
#define FILL_IF_SET 2
#define ALLOC_DEFAULT 0
#define ALLOC_INCREMENTAL 3

static int word_find(const char *value, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], value))
			return i;
	return -1;
}

/* A dataset whose creation is under way: what is known of it. */
struct site {
	void *const *functions;
	hid_t list; /* ours */
	hid_t type, space;
};

static const char *chunk_apply(const struct site *site, const char *value)
{
	void *const *functions = site->functions;
	hsize_t dims[HDF5_RANK_MAX], most[HDF5_RANK_MAX], chunk[HDF5_RANK_MAX];
	int rank;

	/* The default, with nothing that needs it: else the program has its reasons. */
	if (OF(functions, H5Pget_layout)(site->list) != LAYOUT_CONTIGUOUS ||
	    OF(functions, H5Pget_external_count)(site->list) != 0)
		return "layout";
	if (OF(functions, H5Sget_simple_extent_type)(site->space) != SPACE_SIMPLE)
		return "rank";
	rank = OF(functions, H5Sget_simple_extent_ndims)(site->space);
	if (rank < 1 || rank > HDF5_RANK_MAX ||
	    OF(functions, H5Sget_simple_extent_dims)(site->space, dims, most) < 0)
		return "rank";
	/* A contiguous dataset that can grow is an error of the program's, and stays one. */
	if (memcmp(dims, most, (size_t)rank * sizeof(dims[0])) != 0)
		return "extent";
	if (!chunk_shape(value, rank, dims, OF(functions, H5Tget_size)(site->type), chunk))
		return "shape";
	return OF(functions, H5Pset_chunk)(site->list, rank, chunk) < 0 ? "failed" : NULL;
}

/* Types without parts: others may need their fill value for more than looks. */
static bool type_is_plain(const struct site *site)
{
	enum { INTEGER, FLOAT, BITS = 4, OPAQUE = 5, ENUM = 8 };
	int class = OF(site->functions, H5Tget_class)(site->type);

	return class == INTEGER || class == FLOAT || class == BITS || class == OPAQUE ||
	       class == ENUM;
}

static const char *fill_apply(const struct site *site, const char *value)
{
	int time = word_find(value, fill_times);
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
	int time = word_find(value, alloc_times), layout;
	H5D_alloc_time_t was = -1;

	if (time < 0 || OF(site->functions, H5Pget_alloc_time)(site->list, &was) < 0)
		return "failed";
	layout = OF(site->functions, H5Pget_layout)(site->list);
	if (layout == LAYOUT_COMPACT || layout == LAYOUT_VIRTUAL ||
	    (time == ALLOC_INCREMENTAL && layout != LAYOUT_CHUNKED))
		return "layout";
	/* A list tells the default of its layout, whether it was set or not. */
	if (rules_own.application_wins && was != ALLOC_DEFAULT &&
	    was != (layout == LAYOUT_CHUNKED ? ALLOC_INCREMENTAL : 2))
		return "application";
	return OF(site->functions, H5Pset_alloc_time)(site->list, time) < 0 ? "failed" : NULL;
}

/* One row per property, in the order in which they are applied: the later depend on the earlier. */
static const struct {
	const char *name;
	const char *(*apply)(const struct site *site, const char *value); /* NULL, or why not */
} properties[] = {
	{ "chunk_size", chunk_apply },
	{ "fill_time", fill_apply },
	{ "alloc_time", alloc_apply },
};

/* Datasets. */

static bool is_usable(void *const *functions)
{
	static const enum use needed[] = {
		USE_H5Iget_type,
		USE_H5Iis_valid,
		USE_H5Fget_name,
		USE_H5Pisa_class,
		USE_H5Pcopy,
		USE_H5Pclose,
		USE_H5P_CLS_DATASET_CREATE_ID_g,
		USE_H5P_LST_DATASET_CREATE_ID_g,
		USE_H5P_CLS_DATASET_XFER_ID_g,
		USE_H5Pget_layout,
		USE_H5Pget_external_count,
		USE_H5Pset_chunk,
		USE_H5Pget_chunk,
		USE_H5Pset_fill_time,
		USE_H5Pget_fill_time,
		USE_H5Pset_alloc_time,
		USE_H5Pget_alloc_time,
		USE_H5Pget_nfilters,
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

/* The file that an object is in; "" where that cannot be asked without an error. */
static const char *file_of(void *const *functions, hid_t place, char path[RULES_PATH_BYTES])
{
	int type = OF(functions, H5Iget_type)(place);
	char name[RULES_PATH_BYTES];
	ssize_t n = -1;

	path[0] = 0;
	if (type == ID_FILE || type == ID_GROUP || type == ID_TYPE || type == ID_DATASET)
		n = OF(functions, H5Fget_name)(place, name, sizeof(name));
	return n > 0 && n < (ssize_t)sizeof(name) ? rules_path(path, name) : path;
}

static bool list_is_good(void *const *functions, hid_t list, hid_t class)
{
	hid_t *defaults = OF(functions, H5P_LST_DATASET_CREATE_ID_g);

	return list > 0 && list >> 56 == *defaults >> 56 && OF(functions, H5Iis_valid)(list) > 0 &&
	       OF(functions, H5Pisa_class)(list, class) > 0;
}

/* Can all ranks be expected to do the same? */
static bool ranks_are_here(void)
{
	return !inject_ranks_are_unknown() && mpi_job_shares_parameters();
}

static bool dataset_copy(struct inject_dataset *dataset, void *const *functions)
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

static void dataset_apply(struct inject_dataset *dataset, struct site *site, const char *path,
			  const char *name)
{
	bool is_here = ranks_are_here();

	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		const char *key = properties[i].name, *refusal = NULL;
		const char *value = rules_value(&rules_own, PLACE_DATASET, path, name, key);

		if (!value)
			continue;
		if (!is_here)
			refusal = "ranks";
		else if (!dataset->is_copied && !dataset_copy(dataset, site->functions))
			refusal = "failed";
		site->list = dataset->creation;
		if (!refusal)
			refusal = properties[i].apply(site, value);
		if (refusal)
			inject_refuse(&dataset->requested, key, refusal);
		else
			info_text_put(&dataset->requested, key, value);
	}
}

void inject_dataset_slow(struct inject_dataset *dataset, hid_t place, const char *name, hid_t type,
			 hid_t space)
{
	void *const *functions = library_use(&uses, dataset->near);
	struct site site = { functions, dataset->creation, type, space };
	char path[RULES_PATH_BYTES];
	int saved = errno;

	if (is_usable(functions) && (!name || path_bytes(name, EINVAL)) &&
	    OF(functions, H5Iget_type)(type) == ID_TYPE &&
	    OF(functions, H5Iget_type)(space) == ID_SPACE &&
	    (dataset->creation == HDF5_DEFAULT ||
	     list_is_good(functions, dataset->creation,
			  *OF(functions, H5P_CLS_DATASET_CREATE_ID_g))) &&
	    *file_of(functions, place, path)) {
		dataset->is_ours = true;
		dataset->requested.used = 0;
		dataset->is_aligned = rules_value(&rules_own, PLACE_ACCESS, path, "",
						  PARAMETERS_ALIGNMENT) != NULL;
		dataset_apply(dataset, &site, path, name ? name : "");
	}
	errno = saved;
}

/* What a list says, in the words of the rules. */
static void effective_read(void *const *functions, hid_t list, struct info_text *effective)
{
	int layout = OF(functions, H5Pget_layout)(list), rank = 0, time = -1;
	char value[HDF5_RANK_MAX * 21 + 1], *to = value;
	hsize_t chunk[HDF5_RANK_MAX];

	if (layout < 0 || layout > LAYOUT_VIRTUAL)
		return;
	if (layout == LAYOUT_CHUNKED)
		rank = OF(functions, H5Pget_chunk)(list, HDF5_RANK_MAX, chunk);
	strcpy(value, layouts[layout]);
	for (int i = 0; i < rank; i++)
		to += snprintf(to, 22, "%s%llu", i ? "," : "", chunk[i]);
	info_text_put(effective, "chunk_size", value);
	if (OF(functions, H5Pget_fill_time)(list, &time) >= 0 && time >= 0 && time <= FILL_IF_SET)
		info_text_put(effective, "fill_time", fill_times[time]);
	if (OF(functions, H5Pget_alloc_time)(list, &time) >= 0 && time >= 0 &&
	    time <= ALLOC_INCREMENTAL)
		info_text_put(effective, "alloc_time", alloc_times[time]);
}

static void number_tell(struct info_text *to, const char *key, uint64_t number)
{
	char value[24];

	snprintf(value, sizeof(value), "%llu", (unsigned long long)number);
	info_text_put(to, key, value);
}

/* Only HDF5's own files have offsets; other connectors would make an error of the question. */
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

/* Data without a place is at -1, counted from the end of a user block: of 0 bytes, or a power of 2.
 */
static bool is_place(haddr_t offset)
{
	return (offset & (offset + 1)) != 0;
}

/*
 * Where the data is: alignment by its effect. Of data in one piece the library answers both from
 * memory, each rank on its own; the size of others may be in the file, so it is asked second.
 */
static void place_read(void *const *functions, hid_t dataset, struct info_text *effective)
{
	haddr_t offset;

	if (!has_offsets(functions, dataset))
		return;
	offset = OF(functions, H5Dget_offset)(dataset);
	if (!is_place(offset))
		return;
	number_tell(effective, PARAMETERS_OFFSET, offset);
	number_tell(effective, PARAMETERS_SIZE, OF(functions, H5Dget_storage_size)(dataset));
}

void inject_dataset_created(struct inject_dataset *dataset, hid_t id, bool is_complete)
{
	void *const *functions = library_use(&uses, dataset->near);
	uint64_t link = id < 0 ? 0 : hdf5_link(dataset->near, id);
	bool is_told = dataset->requested.used || rules_places == RULES_ON;
	struct info_text effective;
	int saved = errno;
	hid_t list;

	effective.used = 0;
	if (link && is_complete && is_told) {
		list = OF(functions, H5Dget_create_plist)(id);
		if (list >= 0) {
			effective_read(functions, list, &effective);
			OF(functions, H5Pclose)(list);
		}
	}
	if (link && is_complete && (dataset->is_aligned || rules_places == RULES_ON))
		place_read(functions, id, &effective);
	/* Of a dataset that nothing was asked for there may be nothing to tell. */
	if (is_told || effective.used)
		inject_record(CALL_H5D_parameters, link, &dataset->requested, &effective);
	if (dataset->is_copied)
		inject_list_close(dataset->near, dataset->creation, id < 0);
	errno = saved;
}

/* Transfers. */

/* Whether transfers of a dataset become independent: kept by copy and id. */
enum verdict { VERDICT_NONE, VERDICT_LEAVE, VERDICT_CHANGE };
static struct answer_cache verdicts;

void inject_hdf5_ended(void)
{
	answer_cache_clear(&verdicts);
}

/* Filters need all ranks of a collective transfer; the reverse is never safe. */
static bool has_filters(void *const *functions, hid_t dataset)
{
	hid_t list = OF(functions, H5Dget_create_plist)(dataset);
	int n = 1;

	if (list >= 0) {
		n = OF(functions, H5Pget_nfilters)(list);
		OF(functions, H5Pclose)(list);
	}
	return n != 0;
}

static enum verdict verdict_find(void *const *functions, hid_t dataset)
{
	char path[RULES_PATH_BYTES];
	const char *value = NULL;

	if (OF(functions, H5Iget_type)(dataset) != ID_DATASET || !ranks_are_here())
		return VERDICT_LEAVE;
	if (*file_of(functions, dataset, path))
		value = rules_value(&rules_own, PLACE_TRANSFER, path, "", "transfer");
	return value && !strcmp(value, "independent") && !has_filters(functions, dataset)
		       ? VERDICT_CHANGE
		       : VERDICT_LEAVE;
}

static bool is_to_change(void *const *functions, uint64_t key, hid_t dataset)
{
	enum verdict verdict = (enum verdict)answer_cache_get(&verdicts, key);

	if (verdict == VERDICT_NONE) {
		verdict = verdict_find(functions, dataset);
		answer_cache_put(&verdicts, key, verdict);
	}
	return verdict == VERDICT_CHANGE;
}

static bool all_are_to_change(const void *near, void *const *functions, const hid_t *datasets,
			      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_to_change(functions, hdf5_handle(near, datasets[i]), datasets[i]))
			return false;
	return count > 0;
}

hid_t inject_transfer_slow(const void *near, hid_t list, const hid_t *datasets, size_t count)
{
	void *const *functions = library_use(&uses, near);
	H5FD_mpio_xfer_t mode = TRANSFER_INDEPENDENT;
	int saved = errno;
	hid_t copy = -1;

	/* Only parallel HDF5 has the question. */
	if (is_usable(functions) && OF(functions, H5Pget_dxpl_mpio) &&
	    OF(functions, H5Pset_dxpl_mpio) &&
	    list_is_good(functions, list, *OF(functions, H5P_CLS_DATASET_XFER_ID_g)) &&
	    OF(functions, H5Pget_dxpl_mpio)(list, &mode) >= 0 && mode == TRANSFER_COLLECTIVE &&
	    all_are_to_change(near, functions, datasets, count))
		copy = OF(functions, H5Pcopy)(list);
	if (copy >= 0)
		OF(functions, H5Pset_dxpl_mpio)(copy, TRANSFER_INDEPENDENT);
	errno = saved;
	return copy >= 0 ? copy : list;
}

void inject_transferred_slow(const void *near, hid_t list, herr_t ret)
{
	int saved = errno;

	inject_list_close(near, list, ret < 0);
	errno = saved;
}
