/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/chunk_cache.h"

#include <string.h>

/* The functions of the library that are called: name, symbol if linked, type; see inject_hdf5.c. */
#define USES(X)                                                                                    \
	X(H5Iis_valid, H5Iis_valid, htri_t (*)(hid_t))                                             \
	X(H5Pisa_class, H5Pisa_class, htri_t (*)(hid_t, hid_t))                                    \
	X(H5Pcopy, __real_H5Pcopy, hid_t (*)(hid_t))                                               \
	X(H5Pclose, __real_H5Pclose, herr_t (*)(hid_t))                                            \
	X(H5P_CLS_DATASET_ACCESS_ID_g, H5P_CLS_DATASET_ACCESS_ID_g, hid_t *)                       \
	X(H5P_LST_DATASET_ACCESS_ID_g, H5P_LST_DATASET_ACCESS_ID_g, hid_t *)                       \
	X(H5Pget, H5Pget, herr_t (*)(hid_t, const char *, void *))                                 \
	X(H5Pset_chunk_cache, __real_H5Pset_chunk_cache,                                           \
	  herr_t (*)(hid_t, size_t, size_t, double))                                               \
	X(H5Pget_chunk_cache, H5Pget_chunk_cache, herr_t (*)(hid_t, size_t *, size_t *, double *)) \
	X(H5Dget_access_plist, __real_H5Dget_access_plist, hid_t (*)(hid_t))

LIBRARY_TYPED(USES)

/* The names in the rules are also those of HDF5's properties. */
enum member { NBYTES, NSLOTS, W0 };
static const char *const keys[INJECT_CACHE_VALUES] = { "rdcc_nbytes", "rdcc_nslots", "rdcc_w0" };

/* What an access list says. FROM_FILE and W0_FROM_FILE: the cache of the file is used. */
struct cache {
	size_t nbytes, nslots;
	double w0;
};
#define FROM_FILE ((size_t)-1)
#define W0_FROM_FILE (-1.0)

static bool library_is_usable(void *const *functions)
{
	for (unsigned i = 0; functions && i < USE_COUNT; i++)
		if (!functions[i])
			return false;
	return functions;
}

/* Is it the default or a valid list? Tests before each call that it cannot fail. */
static bool list_is_valid(void *const *functions, hid_t list)
{
	hid_t *defaults = OF(functions, H5P_LST_DATASET_ACCESS_ID_g);

	return list == HDF5_DEFAULT ||
	       (list > 0 && list >> 56 == *defaults >> 56 && OF(functions, H5Iis_valid)(list) > 0 &&
		OF(functions, H5Pisa_class)(list, *OF(functions, H5P_CLS_DATASET_ACCESS_ID_g)) > 0);
}

/* Reads what the list itself says; H5Pget_chunk_cache() would replace FROM_FILE by a default. */
static bool cache_get(void *const *functions, hid_t list, struct cache *cache)
{
	*cache = (struct cache){ FROM_FILE, FROM_FILE, W0_FROM_FILE };
	return list == HDF5_DEFAULT ||
	       (OF(functions, H5Pget)(list, keys[NBYTES], &cache->nbytes) >= 0 &&
		OF(functions, H5Pget)(list, keys[NSLOTS], &cache->nslots) >= 0 &&
		OF(functions, H5Pget)(list, keys[W0], &cache->w0) >= 0);
}

static bool is_from_file(const struct cache *cache, enum member member)
{
	return member == W0 ? cache->w0 < 0
			    : (member == NBYTES ? cache->nbytes : cache->nslots) == FROM_FILE;
}

static bool cache_set_member(struct cache *cache, enum member member, const char *value)
{
	uint64_t number;

	if (member == W0)
		return rules_parse_ratio(value, &cache->w0);
	if (!rules_parse_number(value, &number))
		return false;
	*(member == NBYTES ? &cache->nbytes : &cache->nslots) = (size_t)number;
	return true;
}

static bool copy_access_list(struct inject_dataset *dataset, void *const *functions)
{
	hid_t from = dataset->access == HDF5_DEFAULT ? *OF(functions, H5P_LST_DATASET_ACCESS_ID_g)
						     : dataset->access;
	hid_t copy = OF(functions, H5Pcopy)(from);

	if (copy < 0)
		return false;
	dataset->access = copy;
	dataset->is_access_copied = true;
	return true;
}

/* Why the value is not applied; NULL: it is part of the cache now. */
static const char *member_refusal(const struct inject_dataset *dataset, struct cache *cache,
				  enum member member, const char *value)
{
	if (dataset->access == INJECT_NO_ACCESS)
		return "function";
	if (rules_own.application_wins && !is_from_file(cache, member))
		return "application";
	return cache_set_member(cache, member, value) ? NULL : "failed";
}

static void member_apply(struct inject_dataset *dataset, struct cache *cache, enum member member,
			 const struct parameters_line *rule)
{
	bool is_for_all = !strcmp(rule->object, "*");
	const char *refusal;

	/* The file has it. */
	if (is_for_all && (dataset->access == INJECT_NO_ACCESS || is_from_file(cache, member)))
		return;
	refusal = member_refusal(dataset, cache, member, rule->value);
	if (refusal)
		inject_refuse(&dataset->requested, keys[member], refusal);
	else
		dataset->cache[member] = rule->value;
}

static void refuse_applied(struct inject_dataset *dataset, const char *reason)
{
	for (int i = 0; i < INJECT_CACHE_VALUES; i++) {
		if (dataset->cache[i])
			inject_refuse(&dataset->requested, keys[i], reason);
		dataset->cache[i] = NULL;
	}
}

bool chunk_cache_is_applied(const struct inject_dataset *dataset)
{
	for (int i = 0; i < INJECT_CACHE_VALUES; i++)
		if (dataset->cache[i])
			return true;
	return false;
}

void chunk_cache_apply(struct inject_dataset *dataset, const char *path, const char *name)
{
	void *const *functions = library_use(&uses, dataset->near);
	struct cache cache;

	memset(dataset->cache, 0, sizeof(dataset->cache));
	if (!(rules_places & RULES_CACHE) || !library_is_usable(functions) ||
	    (dataset->access != INJECT_NO_ACCESS && !list_is_valid(functions, dataset->access)) ||
	    !cache_get(functions,
		       dataset->access == INJECT_NO_ACCESS ? HDF5_DEFAULT : dataset->access,
		       &cache))
		return;
	for (int i = 0; i < INJECT_CACHE_VALUES; i++) {
		const struct parameters_line *rule =
			rules_find(&rules_own, PLACE_ACCESS, path, name, keys[i]);

		if (rule)
			member_apply(dataset, &cache, (enum member)i, rule);
	}
	if (chunk_cache_is_applied(dataset) &&
	    (!copy_access_list(dataset, functions) ||
	     OF(functions, H5Pset_chunk_cache)(dataset->access, cache.nslots, cache.nbytes,
					       cache.w0) < 0))
		refuse_applied(dataset, "failed");
}

static void put_cache(struct info_text *to, const struct cache *cache)
{
	char value[24];

	rules_put_number(value, cache->nbytes);
	info_text_put(to, keys[NBYTES], value);
	rules_put_number(value, cache->nslots);
	info_text_put(to, keys[NSLOTS], value);
	rules_put_ratio(value, cache->w0);
	info_text_put(to, keys[W0], value);
}

void chunk_cache_read(struct inject_dataset *dataset, hid_t id, bool is_chunked,
		      struct info_text *effective)
{
	void *const *functions = library_use(&uses, dataset->near);
	struct cache cache;
	hid_t list;

	if (!is_chunked)
		refuse_applied(dataset, "layout");
	for (int i = 0; i < INJECT_CACHE_VALUES; i++)
		if (dataset->cache[i])
			inject_accept(&dataset->requested, keys[i], dataset->cache[i]);
	if (!is_chunked || !library_is_usable(functions) ||
	    (rules_places != RULES_ON && !(rules_places & RULES_CACHE)))
		return;
	list = OF(functions, H5Dget_access_plist)(id);
	if (list < 0)
		return;
	if (OF(functions, H5Pget_chunk_cache)(list, &cache.nslots, &cache.nbytes, &cache.w0) >= 0)
		put_cache(effective, &cache);
	OF(functions, H5Pclose)(list);
}
