/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a site does not want to see of its users: paths become keyed hashes that keep the extension
 * ("/home/ann/x/run7.nc" becomes "a3f09c5511b20e7d.nc"), and command lines are omitted. With one
 * key per site, a path has the same hash on all nodes and in all runs, so that it can be counted
 * and compared; without the key, nobody can try paths until one matches.
 */
#ifndef SLUICE_SITE_HIDE_H
#define SLUICE_SITE_HIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "predict/forecast/jobs/owner.h"

struct config;
struct err;

struct hide {
	bool hashes_paths, omits_commands;
	uint8_t key[OWNER_KEY_BYTES];
};

/* Reads the settings site.paths, site.commands and site.key. */
int hide_init(struct hide *hide, const struct config *config, struct err *err);

/*
 * The path as it may be stored, hashed or not; the caller frees it. An extension has up to 8
 * letters and digits.
 */
char *hide_path(const struct hide *hide, const char *path);

/* The name of a program: hashed paths keep their base name only. The caller frees it. */
char *hide_program(const struct hide *hide, const char *path);

/* The command, or "" if it is omitted. */
const char *hide_command(const struct hide *hide, const char *command);

#endif
