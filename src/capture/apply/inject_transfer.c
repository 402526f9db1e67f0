/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Injects the mode of transfers of HDF5 datasets: makes collective ones independent, or independent
 * ones collective.
 *
 * A collective transfer waits for all ranks that opened the file, so all must decide alike. The
 * decision follows only from the parameters, which all ranks share, from how the file was opened,
 * and from properties of the dataset that are stored in the file. Whether all ranks make the
 * transfer at all cannot be known here: the host passes this parameter on only if there is evidence
 * that they do, or if the user insists.
 */
#include <errno.h>

#include "capture/apply/inject_hdf5.h"
#include "capture/libraries/wrapper_helpers.h"

/* The functions of the library that are called: name, symbol if linked, type; see inject_hdf5.c. */
#define USES(X)                                                                      \
	X(H5Iget_type, H5Iget_type, int (*)(hid_t))                                  \
	X(H5Iis_valid, H5Iis_valid, htri_t (*)(hid_t))                               \
	X(H5Fget_name, H5Fget_name, ssize_t (*)(hid_t, char *, size_t))              \
	X(H5Pisa_class, H5Pisa_class, htri_t (*)(hid_t, hid_t))                      \
	X(H5Pcopy, __real_H5Pcopy, hid_t (*)(hid_t))                                 \
	X(H5Pclose, __real_H5Pclose, herr_t (*)(hid_t))                              \
	X(H5P_CLS_DATASET_XFER_ID_g, H5P_CLS_DATASET_XFER_ID_g, hid_t *)             \
	X(H5P_LST_DATASET_XFER_ID_g, H5P_LST_DATASET_XFER_ID_g, hid_t *)             \
	X(H5Pget_layout, H5Pget_layout, H5D_layout_t (*)(hid_t))                     \
	X(H5Pget_external_count, H5Pget_external_count, int (*)(hid_t))              \
	X(H5Pget_nfilters, H5Pget_nfilters, int (*)(hid_t))                          \
	X(H5Dget_create_plist, __real_H5Dget_create_plist, hid_t (*)(hid_t))         \
	X(H5VLget_connector_id, H5VLget_connector_id, hid_t (*)(hid_t))              \
	X(H5VLobject_is_native, H5VLobject_is_native, herr_t (*)(hid_t, hbool_t *))  \
	X(H5Pget_dxpl_mpio, H5Pget_dxpl_mpio, herr_t (*)(hid_t, H5FD_mpio_xfer_t *)) \
	X(H5Pset_dxpl_mpio, absent_H5Pset_dxpl_mpio, herr_t (*)(hid_t, H5FD_mpio_xfer_t))

LIBRARY_TYPED(USES)

/* Constants of HDF5, the same in all versions. */
enum { ID_DATASET = 5, LAYOUT_CONTIGUOUS = 1, LAYOUT_CHUNKED = 2 };
enum { TRANSFER_INDEPENDENT = 0, TRANSFER_COLLECTIVE = 1 };

/*
 * The files whose transfers become collective: a hash of the path, whose lowest bit says whether
 * the file was last opened with MPI-IO; 0: free. HDF5 has no function that tells this of an open
 * file without communication, and without printing an error if it is not. No entry is removed: a
 * cache that forgets could make ranks decide differently.
 */
#define FILES_MAX 4096u
static _Atomic uint64_t files[FILES_MAX];

/* FNV-1a; never 0 above the lowest bit. */
static uint64_t hash_path(const char *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
	return (hash | UINT64_C(1) << 63) & ~UINT64_C(1);
}

/* The entry of the file; if it has none, a free one that it gets, or NULL. */
static _Atomic uint64_t *find_file(uint64_t hash, bool is_added)
{
	for (unsigned i = 0; i < FILES_MAX; i++) {
		_Atomic uint64_t *entry = &files[((hash >> 32) + i) % FILES_MAX];
		uint64_t found = atomic_load_explicit(entry, memory_order_relaxed);

		if (!found && !is_added)
			return NULL;
		if ((found & ~UINT64_C(1)) == hash ||
		    (!found && atomic_compare_exchange_strong_explicit(entry, &found, hash,
								       memory_order_relaxed,
								       memory_order_relaxed)))
			return entry;
	}
	return NULL;
}

void inject_transfer_opened(const char *path, bool is_shared)
{
	uint64_t hash = hash_path(path);
	_Atomic uint64_t *entry = find_file(hash, is_shared);

	if (entry)
		atomic_store_explicit(entry, hash | is_shared, memory_order_relaxed);
}

static bool file_is_shared(const char *path)
{
	_Atomic uint64_t *entry = find_file(hash_path(path), false);

	return entry && atomic_load_explicit(entry, memory_order_relaxed) & 1;
}

const char *inject_transfer_mode(const char *path)
{
	return rules_value(&rules_own, PLACE_TRANSFER, path, "", "transfer");
}

bool inject_transfer_is_collective(const char *mode)
{
	return mode && !strcmp(mode, "collective");
}

/* Cache by copy and id: what becomes of the transfers of a dataset. */
enum verdict { VERDICT_NONE, VERDICT_LEAVE, VERDICT_INDEPENDENT, VERDICT_COLLECTIVE };
static struct answer_cache verdicts;

void inject_hdf5_ended(void)
{
	answer_cache_clear(&verdicts);
}

/* A dataset with filters requires collective transfers. */
static bool may_be_independent(void *const *functions, hid_t list)
{
	return OF(functions, H5Pget_nfilters)(list) == 0;
}

/*
 * The sources of a virtual dataset would be transferred one by one, and not the same ones on all
 * ranks. Compact datasets and external files have no collective transfers.
 */
static bool may_be_collective(void *const *functions, hid_t list)
{
	int layout = OF(functions, H5Pget_layout)(list);

	return (layout == LAYOUT_CONTIGUOUS || layout == LAYOUT_CHUNKED) &&
	       OF(functions, H5Pget_external_count)(list) == 0;
}

/* Other connectors than the native one may ignore the mode, or transfer later. */
static bool is_native(void *const *functions, hid_t dataset)
{
	hbool_t native = false;

	if (!OF(functions, H5VLget_connector_id))
		return true; /* a version without connectors */
	return OF(functions, H5VLobject_is_native) &&
	       OF(functions, H5VLobject_is_native)(dataset, &native) >= 0 && native;
}

/* The path of the file that the dataset is in; "" if it is unknown. */
static const char *dataset_file(void *const *functions, hid_t dataset, char path[RULES_PATH_BYTES])
{
	char name[RULES_PATH_BYTES];
	ssize_t n = OF(functions, H5Fget_name)(dataset, name, sizeof(name));

	path[0] = 0;
	return n > 0 && n < (ssize_t)sizeof(name) ? rules_path(path, name) : path;
}

/*
 * NONE if a transfer with this mode need not be changed: then other ranks need not make it, and
 * this one must not ask HDF5 on its own (see hdf5_is_parallel()).
 */
static enum verdict decide_transfer(void *const *functions, hid_t dataset, H5FD_mpio_xfer_t current)
{
	char path[RULES_PATH_BYTES];
	enum verdict verdict = VERDICT_LEAVE;
	const char *mode;
	hid_t list;

	if (OF(functions, H5Iget_type)(dataset) != ID_DATASET || !inject_ranks_agree() ||
	    !*dataset_file(functions, dataset, path))
		return VERDICT_LEAVE;
	mode = inject_transfer_mode(path);
	if (!mode || (inject_transfer_is_collective(mode) &&
		      (!file_is_shared(path) || !is_native(functions, dataset))))
		return VERDICT_LEAVE;
	if (inject_transfer_is_collective(mode) == (current == TRANSFER_COLLECTIVE))
		return VERDICT_NONE;
	list = OF(functions, H5Dget_create_plist)(dataset);
	if (list < 0)
		return VERDICT_LEAVE;
	if (!inject_transfer_is_collective(mode) && may_be_independent(functions, list))
		verdict = VERDICT_INDEPENDENT;
	if (inject_transfer_is_collective(mode) && may_be_collective(functions, list))
		verdict = VERDICT_COLLECTIVE;
	OF(functions, H5Pclose)(list);
	return verdict;
}

static enum verdict find_verdict(void *const *functions, uint64_t key, hid_t dataset,
				 H5FD_mpio_xfer_t current)
{
	enum verdict verdict = (enum verdict)answer_cache_get(&verdicts, key);

	if (verdict == VERDICT_NONE)
		verdict = decide_transfer(functions, dataset, current);
	if (verdict != VERDICT_NONE)
		answer_cache_put(&verdicts, key, verdict);
	return verdict;
}

/* The verdict on all datasets; LEAVE if they have different ones. */
static enum verdict find_common_verdict(const void *near, void *const *functions,
					const hid_t *datasets, size_t count,
					H5FD_mpio_xfer_t current)
{
	enum verdict common = VERDICT_LEAVE;

	for (size_t i = 0; i < count; i++) {
		enum verdict verdict = find_verdict(functions, hdf5_handle(near, datasets[i]),
						    datasets[i], current);

		if (i && verdict != common)
			return VERDICT_LEAVE;
		common = verdict;
	}
	return common;
}

static bool library_is_usable(void *const *functions)
{
	static const enum use needed[] = {
		USE_H5Iget_type,
		USE_H5Iis_valid,
		USE_H5Fget_name,
		USE_H5Pisa_class,
		USE_H5Pcopy,
		USE_H5Pclose,
		USE_H5P_CLS_DATASET_XFER_ID_g,
		USE_H5P_LST_DATASET_XFER_ID_g,
		USE_H5Pget_layout,
		USE_H5Pget_external_count,
		USE_H5Pget_nfilters,
		USE_H5Dget_create_plist,
		/* Only parallel HDF5 has these. */
		USE_H5Pget_dxpl_mpio,
		USE_H5Pset_dxpl_mpio,
	};

	if (!functions)
		return false;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!functions[needed[i]])
			return false;
	return true;
}

/* Reads the mode of a list that HDF5 accepts; -1 if it is none. */
static H5FD_mpio_xfer_t read_mode(void *const *functions, hid_t list)
{
	hid_t *defaults = OF(functions, H5P_LST_DATASET_XFER_ID_g);
	H5FD_mpio_xfer_t mode = -1;

	if (list == HDF5_DEFAULT)
		return TRANSFER_INDEPENDENT;
	if (list > 0 && list >> 56 == *defaults >> 56 && OF(functions, H5Iis_valid)(list) > 0 &&
	    OF(functions, H5Pisa_class)(list, *OF(functions, H5P_CLS_DATASET_XFER_ID_g)) > 0 &&
	    OF(functions, H5Pget_dxpl_mpio)(list, &mode) < 0)
		mode = -1;
	return mode;
}

hid_t inject_transfer_slow(const void *near, hid_t list, const hid_t *datasets, size_t count)
{
	void *const *functions = library_use(&uses, near);
	H5FD_mpio_xfer_t mode = -1;
	enum verdict verdict;
	int saved = errno;
	hid_t copy = -1;

	if (library_is_usable(functions))
		mode = read_mode(functions, list);
	if (mode >= 0) {
		verdict = find_common_verdict(near, functions, datasets, count, mode);
		if (verdict ==
		    (mode == TRANSFER_COLLECTIVE ? VERDICT_INDEPENDENT : VERDICT_COLLECTIVE))
			copy = OF(functions, H5Pcopy)(
				list == HDF5_DEFAULT ? *OF(functions, H5P_LST_DATASET_XFER_ID_g)
						     : list);
	}
	if (copy >= 0)
		OF(functions, H5Pset_dxpl_mpio)(copy, !mode);
	errno = saved;
	return copy >= 0 ? copy : list;
}

void inject_transferred_slow(const void *near, hid_t list, herr_t ret)
{
	int saved = errno;

	inject_list_close(near, list, ret < 0);
	errno = saved;
}
