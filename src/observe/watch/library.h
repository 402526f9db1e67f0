/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plug-in library: loaded, checked, and tried beforehand where it can do no harm.
 */
#ifndef SLUICE_OBSERVE_WATCH_LIBRARY_H
#define SLUICE_OBSERVE_WATCH_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include <sluice/plugin.h>

struct err;

/* How long loading a library may take. */
#define LIBRARY_WAIT_MS 5000
#define LIBRARY_NAME_BYTES 64

/* What a library is found to be. */
struct library_found {
	uint32_t kind; /* enum sluice_plugin_kind */
	bool detects;  /* it has a health hook */
	char name[LIBRARY_NAME_BYTES];
};

/* Loads it and checks it for the kind, 0 for any; NULL with a reason in err. It stays loaded. */
const struct sluice_plugin *library_load(const char *path, uint32_t kind, struct err *err);

/* The same in a process of its own: crashes, exits and hangs are reasons like any other. */
int library_probe(const char *path, struct library_found *found, struct err *err);

/* Is it one of the right ABI and kind (0: any), with its required hooks? Else err says what to
 * mend; `name` is how the user knows it. */
int library_check(const struct sluice_plugin *plugin, const char *name, uint32_t kind,
		  struct err *err);

#endif
