/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/access_properties.h"

#include <string.h>

#include "capture/apply/rules.h"

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

/* The functions of the library that are called: name, symbol if linked, type; see inject_hdf5.c. */
#define USES(X)                                                                                  \
	X(H5get_libversion, H5get_libversion, herr_t (*)(unsigned *, unsigned *, unsigned *))    \
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
	X(H5Pset_cache, __real_H5Pset_cache, herr_t (*)(hid_t, int, size_t, size_t, double))     \
	X(H5Pget_cache, H5Pget_cache, herr_t (*)(hid_t, int *, size_t *, size_t *, double *))    \
	X(H5Pset_page_buffer_size, absent_H5Pset_page_buffer_size,                               \
	  herr_t (*)(hid_t, size_t, unsigned, unsigned))                                         \
	X(H5Pget_page_buffer_size, H5Pget_page_buffer_size,                                      \
	  herr_t (*)(hid_t, size_t *, unsigned *, unsigned *))                                   \
	X(H5Pset_libver_bounds, __real_H5Pset_libver_bounds,                                     \
	  herr_t (*)(hid_t, H5F_libver_t, H5F_libver_t))                                         \
	X(H5Pget_libver_bounds, H5Pget_libver_bounds,                                            \
	  herr_t (*)(hid_t, H5F_libver_t *, H5F_libver_t *))

LIBRARY_TYPED(USES)

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
	    *value++ != ',' || !rules_parse_number(value, &boundary) || !boundary)
		return false;
	return OF(functions, H5Pset_alignment)(list, threshold, boundary) >= 0;
}

static bool alignment_get(void *const *functions, hid_t list, char value[ACCESS_VALUE_BYTES])
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
#define BYTES(name, type)                                                                          \
	static bool name##_set(void *const *functions, hid_t list, const char *value)              \
	{                                                                                          \
		uint64_t bytes;                                                                    \
                                                                                                   \
		return OF(functions, H5Pset_##name) && rules_parse_number(value, &bytes) &&        \
		       OF(functions, H5Pset_##name)(list, (type)bytes) >= 0;                       \
	}                                                                                          \
	static bool name##_get(void *const *functions, hid_t list, char value[ACCESS_VALUE_BYTES]) \
	{                                                                                          \
		type bytes = 0;                                                                    \
                                                                                                   \
		if (!OF(functions, H5Pget_##name) ||                                               \
		    OF(functions, H5Pget_##name)(list, &bytes) < 0)                                \
			return false;                                                              \
		rules_put_number(value, bytes);                                                    \
		return true;                                                                       \
	}
BYTES(sieve_buf_size, size_t)
BYTES(meta_block_size, hsize_t)
BYTES(small_data_block_size, hsize_t)

/* Defines functions for a property that is on or off. */
#define SWITCH(name)                                                                               \
	static bool name##_set(void *const *functions, hid_t list, const char *value)              \
	{                                                                                          \
		int is_on;                                                                         \
                                                                                                   \
		return OF(functions, H5Pset_##name) && find_word(value, switches, &is_on) &&       \
		       OF(functions, H5Pset_##name)(list, (hbool_t)is_on) >= 0;                    \
	}                                                                                          \
	static bool name##_get(void *const *functions, hid_t list, char value[ACCESS_VALUE_BYTES]) \
	{                                                                                          \
		hbool_t is_on = false;                                                             \
                                                                                                   \
		if (!OF(functions, H5Pget_##name) ||                                               \
		    OF(functions, H5Pget_##name)(list, &is_on) < 0)                                \
			return false;                                                              \
		strcpy(value, switches[is_on]);                                                    \
		return true;                                                                       \
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

	if (!OF(functions, H5Pset_mdc_config) || !rules_parse_number(value, &bytes) ||
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

static bool mdc_max_set(void *const *functions, hid_t list, const char *value)
{
	struct cache_config config;
	uint64_t bytes;

	if (!OF(functions, H5Pset_mdc_config) || !rules_parse_number(value, &bytes) ||
	    !mdc_read(functions, list, &config))
		return false;
	config.max_size = (size_t)bytes;
	if (config.min_size > bytes)
		config.min_size = (size_t)bytes;
	if (config.initial_size > bytes)
		config.initial_size = (size_t)bytes;
	return OF(functions, H5Pset_mdc_config)(list, &config) >= 0;
}

static bool mdc_max_get(void *const *functions, hid_t list, char value[ACCESS_VALUE_BYTES])
{
	struct cache_config config;

	if (!mdc_read(functions, list, &config))
		return false;
	rules_put_number(value, config.max_size);
	return true;
}

static bool mdc_get(void *const *functions, hid_t list, char value[ACCESS_VALUE_BYTES])
{
	struct cache_config config;

	if (!mdc_read(functions, list, &config))
		return false;
	rules_put_number(value, config.initial_size);
	return true;
}

/* The chunk cache that datasets of the file have unless they set their own. */
struct chunk_cache {
	int elements; /* unused by HDF5 */
	size_t nslots, nbytes;
	double w0;
};

static bool chunk_cache_get(void *const *functions, hid_t list, struct chunk_cache *cache)
{
	return OF(functions, H5Pget_cache) &&
	       OF(functions, H5Pget_cache)(list, &cache->elements, &cache->nslots, &cache->nbytes,
					   &cache->w0) >= 0;
}

static bool chunk_cache_set(void *const *functions, hid_t list, const struct chunk_cache *cache)
{
	return OF(functions, H5Pset_cache) &&
	       OF(functions, H5Pset_cache)(list, cache->elements, cache->nslots, cache->nbytes,
					   cache->w0) >= 0;
}

/* Defines functions for one member of the chunk cache. */
#define CHUNK_CACHE(member, type, parse, put)                                                  \
	static bool rdcc_##member##_set(void *const *functions, hid_t list, const char *value) \
	{                                                                                      \
		struct chunk_cache cache;                                                      \
		type number;                                                                   \
                                                                                               \
		if (!parse(value, &number) || !chunk_cache_get(functions, list, &cache))       \
			return false;                                                          \
		cache.member = (__typeof__(cache.member))number;                               \
		return chunk_cache_set(functions, list, &cache);                               \
	}                                                                                      \
	static bool rdcc_##member##_get(void *const *functions, hid_t list,                    \
					char value[ACCESS_VALUE_BYTES])                        \
	{                                                                                      \
		struct chunk_cache cache;                                                      \
                                                                                               \
		if (!chunk_cache_get(functions, list, &cache))                                 \
			return false;                                                          \
		put(value, cache.member);                                                      \
		return true;                                                                   \
	}
CHUNK_CACHE(nbytes, uint64_t, rules_parse_number, rules_put_number)
CHUNK_CACHE(nslots, uint64_t, rules_parse_number, rules_put_number)
CHUNK_CACHE(w0, double, rules_parse_ratio, rules_put_ratio)

/* page_buffer.h says for which files it may be set. */
static bool page_buffer_set(void *const *functions, hid_t list, const char *value)
{
	unsigned metadata = 0, raw = 0;
	size_t before = 0;
	uint64_t bytes;

	return rules_parse_number(value, &bytes) && OF(functions, H5Pget_page_buffer_size) &&
	       OF(functions, H5Pset_page_buffer_size) &&
	       OF(functions, H5Pget_page_buffer_size)(list, &before, &metadata, &raw) >= 0 &&
	       OF(functions, H5Pset_page_buffer_size)(list, (size_t)bytes, metadata, raw) >= 0;
}

static bool page_buffer_get(void *const *functions, hid_t list, char value[ACCESS_VALUE_BYTES])
{
	unsigned metadata, raw;
	size_t bytes;

	if (!OF(functions, H5Pget_page_buffer_size) ||
	    OF(functions, H5Pget_page_buffer_size)(list, &bytes, &metadata, &raw) < 0)
		return false;
	rules_put_number(value, bytes);
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

static bool libver_get(void *const *functions, hid_t list, char value[ACCESS_VALUE_BYTES])
{
	H5F_libver_t low = -1, high = -1;
	int latest = latest_version(functions);

	if (latest < 0 || !OF(functions, H5Pget_libver_bounds) ||
	    OF(functions, H5Pget_libver_bounds)(list, &low, &high) < 0 || low < 0 || low > latest)
		return false;
	strcpy(value, low == latest && low ? "latest" : versions[low]);
	return true;
}

const struct access_property access_properties[] = {
	{ PARAMETERS_ALIGNMENT, false, alignment_set, alignment_get },
	{ "sieve_buf_size", false, sieve_buf_size_set, sieve_buf_size_get },
	{ "meta_block_size", false, meta_block_size_set, meta_block_size_get },
	{ "small_data_block_size", false, small_data_block_size_set, small_data_block_size_get },
	{ "mdc_initial_size", false, mdc_set, mdc_get },
	{ "mdc_max_size", false, mdc_max_set, mdc_max_get },
	{ "rdcc_nbytes", false, rdcc_nbytes_set, rdcc_nbytes_get },
	{ "rdcc_nslots", false, rdcc_nslots_set, rdcc_nslots_get },
	{ "rdcc_w0", false, rdcc_w0_set, rdcc_w0_get },
	{ PARAMETERS_PAGE_BUFFER, false, page_buffer_set, page_buffer_get },
	{ "coll_metadata_ops", true, all_coll_metadata_ops_set, all_coll_metadata_ops_get },
	{ "coll_metadata_write", true, coll_metadata_write_set, coll_metadata_write_get },
	{ "libver", false, libver_set, libver_get },
	{ 0 },
};

const struct access_property *access_property_find(const char *name)
{
	for (const struct access_property *p = access_properties; p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

bool access_property_set(const struct access_property *property, const void *near, hid_t list,
			 const char *value)
{
	void *const *functions = library_use(&uses, near);

	return functions && property->set(functions, list, value);
}

bool access_property_get(const struct access_property *property, const void *near, hid_t list,
			 char value[ACCESS_VALUE_BYTES])
{
	void *const *functions = library_use(&uses, near);

	return functions && property->get(functions, list, value);
}
