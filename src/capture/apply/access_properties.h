/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The properties of HDF5's file access lists that parameters can set: one row per property, with
 * its text set and read. Guest.
 */
#ifndef SLUICE_CAPTURE_APPLY_ACCESS_PROPERTIES_H
#define SLUICE_CAPTURE_APPLY_ACCESS_PROPERTIES_H

#include "capture/libraries/hdf5.h"

#define ACCESS_VALUE_BYTES 64

struct access_property {
	const char *name; /* in the rules */
	bool is_shared;	  /* for parallel files only */
	/* False if the library lacks the function, or rejects the value. */
	bool (*set)(void *const *functions, hid_t list, const char *value);
	bool (*get)(void *const *functions, hid_t list, char value[ACCESS_VALUE_BYTES]);
};

#pragma GCC visibility push(hidden)

extern const struct access_property access_properties[]; /* the last row has no name */

/* NULL: the guest does not know the name. */
const struct access_property *access_property_find(const char *name);

/* near: a function of the copy of the library that the list belongs to. */
bool access_property_set(const struct access_property *property, const void *near, hid_t list,
			 const char *value);
bool access_property_get(const struct access_property *property, const void *near, hid_t list,
			 char value[ACCESS_VALUE_BYTES]);

#pragma GCC visibility pop

#endif
