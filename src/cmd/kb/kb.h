/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What kb.c and kb_import.c share: an import is a file of its own because jansson and base/json.h
 * name functions alike.
 */
#ifndef SLUICE_CMD_KB_KB_H
#define SLUICE_CMD_KB_KB_H

#include "base/err.h"

#define KB_SCHEMA "sluice.kb/1"

struct store;

struct kb_import {
	unsigned added, kept; /* kept: those that are pinned here */
};

/* Takes all entries of the file in, or none: what is wrong is told with the entry. */
int kb_import(struct store *store, const char *path, struct kb_import *done, struct err *err);

#endif
