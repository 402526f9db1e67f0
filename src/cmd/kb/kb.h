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

#define KB_SCHEMA "sluice.kb/1"

struct buf;
struct knowledge;
struct param_form;
struct store;

/* Appends "cb_nodes=4 striping_factor=4", or what to show instead. */
void kb_append_parameters(const struct knowledge *knowledge, struct buf *line);

/* How the data was compared; "-" if there are no parameters. */
const char *kb_comparison(const struct knowledge *knowledge);

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
