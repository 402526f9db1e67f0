/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the two halves of reading a header: parse.c reads what is written, interface.c
 * completes it.
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_PARSE_H
#define SLUICE_CAPTURE_WRAPGEN_PARSE_H

#include "capture/wrapgen/interface.h"

/* Checks the marks of one row against each other and works out its defaults and fields. */
int row_complete(struct row *row, struct err *err);

#endif
