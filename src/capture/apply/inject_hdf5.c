/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Injects parameters into HDF5 files; also the code that files and datasets share.
 * Papers: H5T-2, H5T-3.
 */
#include "capture/apply/inject_hdf5.h"

#include <errno.h>

#include "capture/apply/access_properties.h"
#include "capture/apply/page_buffer.h"
#include "capture/libraries/mpi_job.h"
#include "capture/libraries/wrapper_helpers.h"
#include "contract/calls.h"

/*
 * The functions of the library that are called: name, symbol if linked, type. A linked program must
 * contain every function that has a wrapper and is named here. Functions that serial HDF5 lacks
 * therefore have an absent_ symbol.
 */
#define USES(X)                                                              \
	X(H5open, H5open, herr_t (*)(void))                                  \
	X(H5Iis_valid, H5Iis_valid, htri_t (*)(hid_t))                       \
	X(H5Pisa_class, H5Pisa_class, htri_t (*)(hid_t, hid_t))              \
	X(H5Pcopy, __real_H5Pcopy, hid_t (*)(hid_t))                         \
	X(H5Pclose, __real_H5Pclose, herr_t (*)(hid_t))                      \
	X(H5P_CLS_FILE_ACCESS_ID_g, H5P_CLS_FILE_ACCESS_ID_g, hid_t *)       \
	X(H5P_LST_FILE_ACCESS_ID_g, H5P_LST_FILE_ACCESS_ID_g, hid_t *)       \
	X(H5P_CLS_FILE_CREATE_ID_g, H5P_CLS_FILE_CREATE_ID_g, hid_t *)       \
	X(H5Pget_userblock, H5Pget_userblock, herr_t (*)(hid_t, hsize_t *))  \
	X(H5Pget_driver, H5Pget_driver, hid_t (*)(hid_t))                    \
	X(H5FD_mpio_init, H5FD_mpio_init, hid_t (*)(void))                   \
	X(H5Fget_access_plist, __real_H5Fget_access_plist, hid_t (*)(hid_t)) \
	X(H5Eget_current_stack, H5Eget_current_stack, hid_t (*)(void))       \
	X(H5Eset_current_stack, H5Eset_current_stack, herr_t (*)(hid_t))

LIBRARY_TYPED(USES)

/* A parallel file was opened although no MPI_Init was seen. */
static atomic_bool ranks_are_unknown;

bool inject_ranks_agree(void)
{
	return !atomic_load_explicit(&ranks_are_unknown, memory_order_relaxed) &&
	       mpi_job_shares_parameters();
}

/* Does the property have its default value? Then the program has not set it. */
static bool property_is_default(const struct access_property *property, const void *near,
				hid_t list, hid_t defaults)
{
	char value[ACCESS_VALUE_BYTES], initial[ACCESS_VALUE_BYTES];

	return access_property_get(property, near, list, value) &&
	       access_property_get(property, near, defaults, initial) && !strcmp(value, initial);
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

/* Does the program pass a list that HDF5 accepts, or none? */
static bool creation_is_valid(const struct inject_file *file, void *const *functions)
{
	const hid_t *class = OF(functions, H5P_CLS_FILE_CREATE_ID_g);

	return file->creation == INJECT_OPENS ||
	       (class && list_is_valid(functions, file->creation, class));
}

/* HDF5 requires that the size of a user block is a multiple of the alignment. */
static bool alignment_fits(const struct inject_file *file, void *const *functions,
			   const char *value)
{
	uint64_t threshold, boundary;
	hsize_t block = 0;

	if (file->creation == HDF5_DEFAULT || file->creation == INJECT_OPENS)
		return true;
	if (!OF(functions, H5Pget_userblock) || !creation_is_valid(file, functions) ||
	    OF(functions, H5Pget_userblock)(file->creation, &block) < 0)
		return false;
	return !block ||
	       (rules_number(&value, &threshold) && *value++ == ',' &&
		rules_parse_number(value, &boundary) && boundary && block % boundary == 0);
}

/* Why HDF5 would fail to create or open the file with this value; NULL: it would not. */
static const char *file_refusal(const struct inject_file *file, void *const *functions,
				const struct parameters_line *rule)
{
	if (!strcmp(rule->name, PARAMETERS_ALIGNMENT))
		return alignment_fits(file, functions, rule->value) ? NULL : "userblock";
	if (!strcmp(rule->name, PARAMETERS_PAGE_BUFFER))
		return creation_is_valid(file, functions) ? page_buffer_refusal(file, rule->value)
							  : "failed";
	return NULL;
}

static const char *property_refusal(const struct inject_file *file, void *const *functions,
				    const struct parameters_line *rule)
{
	const struct access_property *property = access_property_find(rule->name);
	const char *refusal;

	if (!property)
		return "unknown";
	if (property->is_shared && !file->is_shared)
		return "serial";
	if (rules_own.application_wins &&
	    !property_is_default(property, file->near, file->access,
				 *OF(functions, H5P_LST_FILE_ACCESS_ID_g)))
		return "application";
	refusal = file_refusal(file, functions, rule);
	if (!refusal && !access_property_set(property, file->near, file->access, rule->value))
		refusal = "failed";
	return refusal;
}

static void property_apply(struct inject_file *file, void *const *functions,
			   const struct parameters_line *rule)
{
	const char *refusal = property_refusal(file, functions, rule);

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

/* The mode of transfers is applied later; a file without MPI-IO has no collective ones. */
static void apply_transfer_mode(struct inject_file *file, const char *path)
{
	const char *mode = inject_transfer_mode(path);

	if (!mode)
		return;
	if (inject_transfer_is_collective(mode) && !file->is_shared)
		inject_refuse(&file->requested, "transfer", "serial");
	else
		inject_accept(&file->requested, "transfer", mode);
}

static void apply_rules(struct inject_file *file, void *const *functions, const char *path)
{
	const struct parameters_line *rule = rules_next(&rules_own, NULL, PLACE_ACCESS, path, "");

	apply_transfer_mode(file, path);
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
		file->path = spelled;
		file->requested.used = 0;
		file->is_shared = is_shared(file, functions);
		if (file->is_shared && !mpi_job_has_joined())
			atomic_store_explicit(&ranks_are_unknown, true, memory_order_relaxed);
		rules_path(path, spelled);
		if (file->is_shared && !inject_ranks_agree())
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
	char value[ACCESS_VALUE_BYTES];

	if (list < 0)
		return;
	info_text_put(effective, PARAMETERS_FROM,
		      is_from_file ? PARAMETERS_FROM_FILE : PARAMETERS_FROM_LIST);
	for (const struct access_property *p = access_properties; p->name; p++)
		if ((file->is_shared || !p->is_shared) &&
		    access_property_get(p, file->near, list, value))
			info_text_put(effective, p->name, value);
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

/* Remembers whether transfers of this file can be collective. */
static void note_transfer_mode(const struct inject_file *file)
{
	char path[RULES_PATH_BYTES];

	if (inject_transfer_is_collective(inject_transfer_mode(rules_path(path, file->path))))
		inject_transfer_opened(path, file->is_shared);
}

void inject_file_opened(struct inject_file *file, hid_t id, bool is_complete)
{
	void *const *functions = library_use(&uses, file->near);
	uint64_t link = id < 0 ? 0 : hdf5_link(file->near, id);
	struct info_text effective;
	int saved = errno;

	if (id >= 0 && rules_has(PLACE_TRANSFER))
		note_transfer_mode(file);
	if (functions && link) {
		effective.used = 0;
		read_effective(file, functions, id, is_complete, &effective);
		inject_record(CALL_H5F_parameters, link, &file->requested, &effective);
	}
	if (file->is_copied)
		inject_list_close(file->near, file->access, id < 0);
	errno = saved;
}
