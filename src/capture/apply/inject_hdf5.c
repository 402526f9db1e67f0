/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Injects parameters into HDF5 files; also the code that files and datasets share.
 */
#include "capture/apply/inject_hdf5.h"

#include <errno.h>

#include "capture/libraries/mpi_job.h"
#include "capture/libraries/wrapper_helpers.h"
#include "contract/calls.h"

/*
 * H5AC_cache_config_t, version 1, up to the members that are used. `rest` makes it at least as long
 * as that of any HDF5.
 */
struct cache_config {
	int version;
	hbool_t reports, opens_trace, closes_trace;
	char trace[1025];
	hbool_t evicts, sets_initial_size;
	size_t initial_size;
	double min_clean_fraction;
	size_t max_size, min_size;
	char rest[512];
};

#define CACHE_CONFIG_VERSION 1

/*
 * The functions of the library that are called: name, symbol if linked, type. A linked program must
 * contain every function that has a wrapper and is named here. Functions that serial HDF5 lacks
 * therefore have an absent_ symbol.
 */
#define USES(X)                                                                                  \
	X(H5open, H5open, herr_t (*)(void))                                                      \
	X(H5get_libversion, H5get_libversion, herr_t (*)(unsigned *, unsigned *, unsigned *))    \
	X(H5Iis_valid, H5Iis_valid, htri_t (*)(hid_t))                                           \
	X(H5Pisa_class, H5Pisa_class, htri_t (*)(hid_t, hid_t))                                  \
	X(H5Pcopy, __real_H5Pcopy, hid_t (*)(hid_t))                                             \
	X(H5Pclose, __real_H5Pclose, herr_t (*)(hid_t))                                          \
	X(H5P_CLS_FILE_ACCESS_ID_g, H5P_CLS_FILE_ACCESS_ID_g, hid_t *)                           \
	X(H5P_LST_FILE_ACCESS_ID_g, H5P_LST_FILE_ACCESS_ID_g, hid_t *)                           \
	X(H5P_CLS_FILE_CREATE_ID_g, H5P_CLS_FILE_CREATE_ID_g, hid_t *)                           \
	X(H5Pget_userblock, H5Pget_userblock, herr_t (*)(hid_t, hsize_t *))                      \
	X(H5Pget_driver, H5Pget_driver, hid_t (*)(hid_t))                                        \
	X(H5FD_mpio_init, H5FD_mpio_init, hid_t (*)(void))                                       \
	X(H5Fget_access_plist, __real_H5Fget_access_plist, hid_t (*)(hid_t))                     \
	X(H5Eget_current_stack, H5Eget_current_stack, hid_t (*)(void))                           \
	X(H5Eset_current_stack, H5Eset_current_stack, herr_t (*)(hid_t))                         \
	X(H5Pset_alignment, __real_H5Pset_alignment, herr_t (*)(hid_t, hsize_t, hsize_t))        \
	X(H5Pget_alignment, H5Pget_alignment, herr_t (*)(hid_t, hsize_t *, hsize_t *))           \
	X(H5Pset_sieve_buf_size, __real_H5Pset_sieve_buf_size, herr_t (*)(hid_t, size_t))        \
	X(H5Pget_sieve_buf_size, H5Pget_sieve_buf_size, herr_t (*)(hid_t, size_t *))             \
	X(H5Pset_meta_block_size, __real_H5Pset_meta_block_size, herr_t (*)(hid_t, hsize_t))     \
	X(H5Pget_meta_block_size, H5Pget_meta_block_size, herr_t (*)(hid_t, hsize_t *))          \
	X(H5Pset_small_data_block_size, __real_H5Pset_small_data_block_size,                     \
	  herr_t (*)(hid_t, hsize_t))                                                            \
	X(H5Pget_small_data_block_size, H5Pget_small_data_block_size,                            \
	  herr_t (*)(hid_t, hsize_t *))                                                          \
	X(H5Pset_mdc_config, __real_H5Pset_mdc_config, herr_t (*)(hid_t, struct cache_config *)) \
	X(H5Pget_mdc_config, H5Pget_mdc_config, herr_t (*)(hid_t, struct cache_config *))        \
	X(H5Pset_all_coll_metadata_ops, absent_H5Pset_all_coll_metadata_ops,                     \
	  herr_t (*)(hid_t, hbool_t))                                                            \
	X(H5Pget_all_coll_metadata_ops, H5Pget_all_coll_metadata_ops,                            \
	  herr_t (*)(hid_t, hbool_t *))                                                          \
	X(H5Pset_coll_metadata_write, absent_H5Pset_coll_metadata_write,                         \
	  herr_t (*)(hid_t, hbool_t))                                                            \
	X(H5Pget_coll_metadata_write, H5Pget_coll_metadata_write, herr_t (*)(hid_t, hbool_t *))  \
	X(H5Pset_libver_bounds, __real_H5Pset_libver_bounds,                                     \
	  herr_t (*)(hid_t, H5F_libver_t, H5F_libver_t))                                         \
	X(H5Pget_libver_bounds, H5Pget_libver_bounds,                                            \
	  herr_t (*)(hid_t, H5F_libver_t *, H5F_libver_t *))

LIBRARY_TYPED(USES)

/* A parallel file was opened although no MPI_Init was seen. */
static atomic_bool ranks_are_unknown;

bool inject_ranks_are_unknown(void)
{
	return atomic_load_explicit(&ranks_are_unknown, memory_order_relaxed);
}

#define VALUE_BYTES 64

static bool parse_number(const char *value, uint64_t *number)
{
	return rules_number(&value, number) && !*value;
}

static bool find_word(const char *value, const char *const *words, int *index)
{
	for (*index = 0; words[*index]; (*index)++)
		if (!strcmp(words[*index], value))
			return true;
	return false;
}

static const char *const switches[] = { "off", "on", NULL };

static bool alignment_set(void *const *functions, hid_t list, const char *value)
{
	uint64_t threshold, boundary;

	if (!OF(functions, H5Pset_alignment) || !rules_number(&value, &threshold) ||
	    *value++ != ',' || !parse_number(value, &boundary) || !boundary)
		return false;
	return OF(functions, H5Pset_alignment)(list, threshold, boundary) >= 0;
}

static bool alignment_get(void *const *functions, hid_t list, char value[VALUE_BYTES])
{
	hsize_t threshold = 0, boundary = 0;

	if (!OF(functions, H5Pget_alignment) ||
	    OF(functions, H5Pget_alignment)(list, &threshold, &boundary) < 0)
		return false;
	value = rules_put_number(value, threshold);
	*value++ = ',';
	rules_put_number(value, boundary);
	return true;
}

/* Defines functions for a property that is a number of bytes. */
#define BYTES(name, type)                                                                   \
	static bool name##_set(void *const *functions, hid_t list, const char *value)       \
	{                                                                                   \
		uint64_t bytes;                                                             \
                                                                                            \
		return OF(functions, H5Pset_##name) && parse_number(value, &bytes) &&       \
		       OF(functions, H5Pset_##name)(list, (type)bytes) >= 0;                \
	}                                                                                   \
	static bool name##_get(void *const *functions, hid_t list, char value[VALUE_BYTES]) \
	{                                                                                   \
		type bytes = 0;                                                             \
                                                                                            \
		if (!OF(functions, H5Pget_##name) ||                                        \
		    OF(functions, H5Pget_##name)(list, &bytes) < 0)                         \
			return false;                                                       \
		rules_put_number(value, bytes);                                             \
		return true;                                                                \
	}
BYTES(sieve_buf_size, size_t)
BYTES(meta_block_size, hsize_t)
BYTES(small_data_block_size, hsize_t)

/* Defines functions for a property that is on or off. */
#define SWITCH(name)                                                                         \
	static bool name##_set(void *const *functions, hid_t list, const char *value)        \
	{                                                                                    \
		int is_on;                                                                   \
                                                                                             \
		return OF(functions, H5Pset_##name) && find_word(value, switches, &is_on) && \
		       OF(functions, H5Pset_##name)(list, (hbool_t)is_on) >= 0;              \
	}                                                                                    \
	static bool name##_get(void *const *functions, hid_t list, char value[VALUE_BYTES])  \
	{                                                                                    \
		hbool_t is_on = false;                                                       \
                                                                                             \
		if (!OF(functions, H5Pget_##name) ||                                         \
		    OF(functions, H5Pget_##name)(list, &is_on) < 0)                          \
			return false;                                                        \
		strcpy(value, switches[is_on]);                                              \
		return true;                                                                 \
	}
SWITCH(all_coll_metadata_ops)
SWITCH(coll_metadata_write)

static bool mdc_read(void *const *functions, hid_t list, struct cache_config *config)
{
	memset(config, 0, sizeof(*config));
	config->version = CACHE_CONFIG_VERSION;
	return OF(functions, H5Pget_mdc_config) &&
	       OF(functions, H5Pget_mdc_config)(list, config) >= 0;
}

static bool mdc_set(void *const *functions, hid_t list, const char *value)
{
	struct cache_config config;
	uint64_t bytes;

	if (!OF(functions, H5Pset_mdc_config) || !parse_number(value, &bytes) ||
	    !mdc_read(functions, list, &config))
		return false;
	config.sets_initial_size = true;
	config.initial_size = (size_t)bytes;
	if (config.max_size < bytes)
		config.max_size = (size_t)bytes;
	if (config.min_size > bytes)
		config.min_size = (size_t)bytes;
	return OF(functions, H5Pset_mdc_config)(list, &config) >= 0;
}

static bool mdc_get(void *const *functions, hid_t list, char value[VALUE_BYTES])
{
	struct cache_config config;

	if (!mdc_read(functions, list, &config))
		return false;
	rules_put_number(value, config.initial_size);
	return true;
}

/* H5F_libver_t: 1.8 has two values, and every even version since adds one, which is its latest. */
static const char *const versions[] = { "earliest", "v18", "v110", "v112", "v114", NULL };

static int latest_version(void *const *functions)
{
	unsigned major = 0, minor = 0, release = 0;

	if (!OF(functions, H5get_libversion) ||
	    OF(functions, H5get_libversion)(&major, &minor, &release) < 0 || major != 1 ||
	    minor < 8 || minor > 14)
		return -1;
	return minor / 2 - 3;
}

static bool libver_set(void *const *functions, hid_t list, const char *value)
{
	int latest = latest_version(functions), low;

	if (latest < 0 || !OF(functions, H5Pset_libver_bounds))
		return false;
	if (!strcmp(value, "latest"))
		low = latest;
	else if (!find_word(value, versions, &low) || low > latest)
		return false;
	return OF(functions, H5Pset_libver_bounds)(list, low, latest) >= 0;
}

static bool libver_get(void *const *functions, hid_t list, char value[VALUE_BYTES])
{
	H5F_libver_t low = -1, high = -1;
	int latest = latest_version(functions);

	if (latest < 0 || !OF(functions, H5Pget_libver_bounds) ||
	    OF(functions, H5Pget_libver_bounds)(list, &low, &high) < 0 || low < 0 || low > latest)
		return false;
	strcpy(value, low == latest && low ? "latest" : versions[low]);
	return true;
}

/* One row per property: its name in the rules, and how its text is set and read. */
static const struct property {
	const char *name;
	bool is_shared; /* for parallel files only */
	bool (*set)(void *const *functions, hid_t list, const char *value);
	bool (*get)(void *const *functions, hid_t list, char value[VALUE_BYTES]);
} properties[] = {
	{ PARAMETERS_ALIGNMENT, false, alignment_set, alignment_get },
	{ "sieve_buf_size", false, sieve_buf_size_set, sieve_buf_size_get },
	{ "meta_block_size", false, meta_block_size_set, meta_block_size_get },
	{ "small_data_block_size", false, small_data_block_size_set, small_data_block_size_get },
	{ "mdc_initial_size", false, mdc_set, mdc_get },
	{ "coll_metadata_ops", true, all_coll_metadata_ops_set, all_coll_metadata_ops_get },
	{ "coll_metadata_write", true, coll_metadata_write_set, coll_metadata_write_get },
	{ "libver", false, libver_set, libver_get },
};

#define PROPERTIES (sizeof(properties) / sizeof(properties[0]))

static const struct property *property_find(const char *name)
{
	for (size_t i = 0; i < PROPERTIES; i++)
		if (!strcmp(properties[i].name, name))
			return &properties[i];
	return NULL;
}

/* Does the property have its default value? Then the program has not set it. */
static bool property_is_default(const struct property *property, void *const *functions, hid_t list)
{
	char value[VALUE_BYTES], initial[VALUE_BYTES];
	hid_t *defaults = OF(functions, H5P_LST_FILE_ACCESS_ID_g);

	return property->get(functions, list, value) &&
	       property->get(functions, *defaults, initial) && !strcmp(value, initial);
}

/* Is it the default or a list of this class? Tests before each call that it cannot fail. */
static bool list_is_valid(void *const *functions, hid_t list, const hid_t *class)
{
	hid_t *defaults = OF(functions, H5P_LST_FILE_ACCESS_ID_g);

	if (list == HDF5_DEFAULT)
		return true;
	return list > 0 && list >> 56 == *defaults >> 56 && OF(functions, H5Iis_valid)(list) > 0 &&
	       OF(functions, H5Pisa_class)(list, *class) > 0;
}

static bool library_is_usable(void *const *functions)
{
	return functions && OF(functions, H5open) && OF(functions, H5Iis_valid) &&
	       OF(functions, H5Pisa_class) && OF(functions, H5Pcopy) && OF(functions, H5Pclose) &&
	       OF(functions, H5P_CLS_FILE_ACCESS_ID_g) && OF(functions, H5P_LST_FILE_ACCESS_ID_g) &&
	       OF(functions, H5Pget_driver) && OF(functions, H5open)() >= 0 &&
	       *OF(functions, H5P_LST_FILE_ACCESS_ID_g) > 0;
}

static hid_t access_list(void *const *functions, const struct inject_file *file)
{
	return file->access == HDF5_DEFAULT ? *OF(functions, H5P_LST_FILE_ACCESS_ID_g)
					    : file->access;
}

/* HDF5 requires that the size of a user block is a multiple of the alignment. */
static bool alignment_fits(const struct inject_file *file, void *const *functions,
			   const char *value)
{
	const hid_t *class = OF(functions, H5P_CLS_FILE_CREATE_ID_g);
	uint64_t threshold, boundary;
	hsize_t block = 0;

	if (file->creation == HDF5_DEFAULT)
		return true;
	if (!class || !OF(functions, H5Pget_userblock) ||
	    !list_is_valid(functions, file->creation, class) ||
	    OF(functions, H5Pget_userblock)(file->creation, &block) < 0)
		return false;
	return !block || (rules_number(&value, &threshold) && *value++ == ',' &&
			  parse_number(value, &boundary) && boundary && block % boundary == 0);
}

static void property_apply(struct inject_file *file, void *const *functions,
			   const struct parameters_line *rule)
{
	const struct property *property = property_find(rule->name);
	const char *refusal = NULL;

	if (!property)
		refusal = "unknown";
	else if (property->is_shared && !file->is_shared)
		refusal = "serial";
	else if (rules_own.application_wins &&
		 !property_is_default(property, functions, file->access))
		refusal = "application";
	else if (property->set == alignment_set && !alignment_fits(file, functions, rule->value))
		refusal = "userblock";
	else if (!property->set(functions, file->access, rule->value))
		refusal = "failed";
	if (refusal)
		inject_refuse(&file->requested, rule->name, refusal);
	else
		inject_accept(&file->requested, rule->name, rule->value);
}

/* Replaces the access list by a copy, which may be changed. */
static bool copy_access_list(struct inject_file *file, void *const *functions)
{
	hid_t copy = OF(functions, H5Pcopy)(access_list(functions, file));

	if (copy < 0)
		return false;
	file->access = copy;
	file->is_copied = true;
	return true;
}

static void refuse_all_rules(struct inject_file *file, const char *path, const char *reason)
{
	const struct parameters_line *rule = NULL;

	while ((rule = rules_next(&rules_own, rule, PLACE_ACCESS, path, "")))
		inject_refuse(&file->requested, rule->name, reason);
}

static void apply_rules(struct inject_file *file, void *const *functions, const char *path)
{
	const struct parameters_line *rule = rules_next(&rules_own, NULL, PLACE_ACCESS, path, "");
	const char *transfer = rules_value(&rules_own, PLACE_TRANSFER, path, "", "transfer");

	if (transfer)
		inject_accept(&file->requested, "transfer", transfer);
	/* Copying the list of a parallel file is collective: all ranks do it or none. */
	if (!rule && !(file->is_shared && rules_has(PLACE_ACCESS)))
		return;
	if (!copy_access_list(file, functions)) {
		refuse_all_rules(file, path, "failed");
		return;
	}
	for (; rule; rule = rules_next(&rules_own, rule, PLACE_ACCESS, path, ""))
		property_apply(file, functions, rule);
}

static bool is_shared(const struct inject_file *file, void *const *functions)
{
	return OF(functions, H5FD_mpio_init) &&
	       OF(functions, H5Pget_driver)(access_list(functions, file)) ==
		       OF(functions, H5FD_mpio_init)();
}

void inject_file_slow(struct inject_file *file, const char *spelled)
{
	void *const *functions = library_use(&uses, file->near);
	char path[RULES_PATH_BYTES];
	int saved = errno;

	/* No call has accepted the path yet, so it is probed. */
	if (library_is_usable(functions) &&
	    list_is_valid(functions, file->access, OF(functions, H5P_CLS_FILE_ACCESS_ID_g)) &&
	    path_bytes(spelled, EINVAL)) {
		file->is_ours = true;
		file->requested.used = 0;
		file->is_shared = is_shared(file, functions);
		if (file->is_shared && !mpi_job_has_joined())
			atomic_store_explicit(&ranks_are_unknown, true, memory_order_relaxed);
		rules_path(path, spelled);
		if (file->is_shared && (inject_ranks_are_unknown() || !mpi_job_shares_parameters()))
			refuse_all_rules(file, path, "ranks");
		else
			apply_rules(file, functions, path);
	}
	errno = saved;
}

/*
 * Reads the effective properties. A parallel file is not asked: getting its list duplicates its
 * communicator, which is collective. Then the list that it was opened with is read. The effect of
 * an alignment is seen in the datasets (inject_dataset.c).
 */
static void read_effective(const struct inject_file *file, void *const *functions, hid_t id,
			   bool is_complete, struct info_text *effective)
{
	bool is_from_file = is_complete && !file->is_shared && OF(functions, H5Fget_access_plist);
	hid_t list = is_from_file ? OF(functions, H5Fget_access_plist)(id)
				  : access_list(functions, file);
	char value[VALUE_BYTES];

	if (list < 0)
		return;
	info_text_put(effective, PARAMETERS_FROM,
		      is_from_file ? PARAMETERS_FROM_FILE : PARAMETERS_FROM_LIST);
	for (size_t i = 0; i < PROPERTIES; i++)
		if ((file->is_shared || !properties[i].is_shared) &&
		    properties[i].get(functions, list, value))
			info_text_put(effective, properties[i].name, value);
	if (is_from_file)
		OF(functions, H5Pclose)(list);
}

void inject_list_close(const void *near, hid_t list, bool has_failed)
{
	void *const *functions = library_use(&uses, near);
	hid_t stack = -1;

	if (!functions || !OF(functions, H5Pclose))
		return;
	if (has_failed && OF(functions, H5Eget_current_stack) &&
	    OF(functions, H5Eset_current_stack))
		stack = OF(functions, H5Eget_current_stack)();
	OF(functions, H5Pclose)(list);
	if (stack >= 0)
		OF(functions, H5Eset_current_stack)(stack);
}

void inject_file_opened(struct inject_file *file, hid_t id, bool is_complete)
{
	void *const *functions = library_use(&uses, file->near);
	uint64_t link = id < 0 ? 0 : hdf5_link(file->near, id);
	struct info_text effective;
	int saved = errno;

	if (functions && link) {
		effective.used = 0;
		read_effective(file, functions, id, is_complete, &effective);
		inject_record(CALL_H5F_parameters, link, &file->requested, &effective);
	}
	if (file->is_copied)
		inject_list_close(file->near, file->access, id < 0);
	errno = saved;
}
