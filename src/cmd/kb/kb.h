/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by kb.c and import.c. They are separate files because jansson and base/json.h have
 * functions with the same names.
 */
#ifndef SLUICE_CMD_KB_KB_H
#define SLUICE_CMD_KB_KB_H

#include "base/err.h"

#define KB_SCHEMA "sluice.kb/1"

struct store;

struct kb_import {
	unsigned added;
	unsigned kept; /* pinned entries that were not replaced */
};

/* Imports all entries of the file. If one is invalid, err names it and nothing is imported. */
int kb_import(struct store *store, const char *path, struct kb_import *done, struct err *err);

#endif
