/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of `sluice kb`. kb.c and import.c are separate because jansson and
 * base/json.h have functions with the same names.
 */
#ifndef SLUICE_CMD_KB_KB_H
#define SLUICE_CMD_KB_KB_H

#include <stdint.h>

#include "base/err.h"

/* The value of --format of commands that write parameters (kb export, kb params convert). */
#define PARAM_FORM_WORDS "xml|json|hints|shell"
const struct param_form *param_form_chosen(int choice);

struct param_form;
struct store;

/* Prints an entry and the runs that it is judged by. -ENOENT */
int kb_print_entry(struct store *store, int64_t id, struct err *err);

/* Numbers of entries. */
struct kb_import {
	unsigned added;
	unsigned kept; /* existing entries that were not replaced */
};

/* Imports all entries of the file. If one is invalid, err names it and nothing is imported. */
int kb_import(struct store *store, const char *path, struct kb_import *done, struct err *err);

#endif
