/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/page_buffer.h"

/* The functions of the library that are called: name, symbol if linked, type; see inject_hdf5.c. */
#define USES(X)                                                                                   \
	X(H5Fopen, __real_H5Fopen, hid_t (*)(const char *, unsigned, hid_t))                      \
	X(H5Fclose, __real_H5Fclose, herr_t (*)(hid_t))                                           \
	X(H5Fget_create_plist, __real_H5Fget_create_plist, hid_t (*)(hid_t))                      \
	X(H5Pclose, __real_H5Pclose, herr_t (*)(hid_t))                                           \
	X(H5Pget_driver, H5Pget_driver, hid_t (*)(hid_t))                                         \
	X(H5FD_sec2_init, H5FD_sec2_init, hid_t (*)(void))                                        \
	X(H5Pget_file_space_strategy, H5Pget_file_space_strategy,                                 \
	  herr_t (*)(hid_t, H5F_fspace_strategy_t *, hbool_t *, hsize_t *))                       \
	X(H5Pget_file_space_page_size, H5Pget_file_space_page_size, herr_t (*)(hid_t, hsize_t *)) \
	X(H5Eget_auto2, H5Eget_auto2, herr_t (*)(hid_t, hdf5_callback *, void **))                \
	X(H5Eset_auto2, H5Eset_auto2, herr_t (*)(hid_t, hdf5_callback, void *))

LIBRARY_TYPED(USES)

#define STRATEGY_PAGE 1 /* H5F_FSPACE_STRATEGY_PAGE */
#define READ_ONLY 0u	/* H5F_ACC_RDONLY */

static bool library_is_usable(void *const *functions)
{
	for (unsigned i = 0; functions && i < USE_COUNT; i++)
		if (!functions[i])
			return false;
	return functions;
}

static const char *list_refusal(void *const *functions, hid_t list, uint64_t bytes)
{
	H5F_fspace_strategy_t strategy = -1;
	hsize_t threshold = 0, page = 0;
	hbool_t persists = false;

	if (list == HDF5_DEFAULT)
		return "strategy";
	if (OF(functions, H5Pget_file_space_strategy)(list, &strategy, &persists, &threshold) < 0 ||
	    OF(functions, H5Pget_file_space_page_size)(list, &page) < 0)
		return "failed";
	if (strategy != STRATEGY_PAGE)
		return "strategy";
	return page > bytes ? "page" : NULL;
}

static const char *open_file_refusal(void *const *functions, hid_t id, uint64_t bytes)
{
	hid_t list = OF(functions, H5Fget_create_plist)(id);
	const char *refusal = list < 0 ? "failed" : list_refusal(functions, list, bytes);

	if (list >= 0)
		OF(functions, H5Pclose)(list);
	return refusal;
}

/* The file may not exist, or not be of HDF5: errors are not printed, because the program's own call
 * will print them. */
static const char *existing_refusal(void *const *functions, const struct inject_file *file,
				    uint64_t bytes)
{
	const char *refusal = "failed";
	hdf5_callback print = NULL;
	void *arg = NULL;
	hid_t id;

	if (OF(functions, H5Pget_driver)(file->access) != OF(functions, H5FD_sec2_init)())
		return "driver";
	if (OF(functions, H5Eget_auto2)(HDF5_DEFAULT, &print, &arg) < 0)
		return "failed";
	OF(functions, H5Eset_auto2)(HDF5_DEFAULT, NULL, NULL);
	id = OF(functions, H5Fopen)(file->path, READ_ONLY, file->access);
	if (id >= 0) {
		refusal = open_file_refusal(functions, id, bytes);
		OF(functions, H5Fclose)(id);
	}
	OF(functions, H5Eset_auto2)(HDF5_DEFAULT, print, arg);
	return refusal;
}

const char *page_buffer_refusal(const struct inject_file *file, const char *value)
{
	void *const *functions = library_use(&uses, file->near);
	uint64_t bytes;

	if (file->is_shared)
		return "parallel";
	if (!library_is_usable(functions) || !rules_parse_number(value, &bytes))
		return "failed";
	return file->creation == INJECT_OPENS ? existing_refusal(functions, file, bytes)
					      : list_refusal(functions, file->creation, bytes);
}
