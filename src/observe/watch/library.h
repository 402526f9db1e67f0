/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plug-in library: loads it, checks it, and tests it in a separate process beforehand.
 */
#ifndef SLUICE_OBSERVE_WATCH_LIBRARY_H
#define SLUICE_OBSERVE_WATCH_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include <sluice/plugin.h>

struct err;

/* Time limit for loading a library. */
#define LIBRARY_WAIT_MS 5000
#define LIBRARY_NAME_BYTES 64

/* Properties of a library. */
struct library_found {
	uint32_t kind; /* enum sluice_plugin_kind */
	bool detects;  /* it has a health hook */
	char name[LIBRARY_NAME_BYTES];
};

/*
 * Loads a library that no other user can have placed (base/trusted.h), and checks that it has the
 * kind, 0 for any. Returns NULL and sets err on failure. It stays loaded.
 */
const struct sluice_plugin *library_load(const char *path, uint32_t kind, struct err *err);

/* Does the same in a separate process, so that crashes, exits and hangs become errors. */
int library_probe(const char *path, struct library_found *found, struct err *err);

/*
 * Checks the ABI, the kind (0: any) and the required hooks. err says what to fix; `name` is the
 * user's name of the plug-in.
 */
int library_check(const struct sluice_plugin *plugin, const char *name, uint32_t kind,
		  struct err *err);

#endif
