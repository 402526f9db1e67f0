/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The function that connects parse.c, which reads rows, with interface.c, which completes them.
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_PARSE_H
#define SLUICE_CAPTURE_WRAPGEN_PARSE_H

#include "capture/wrapgen/interface.h"

/* Checks the marks of one row against each other and sets its defaults and fields. */
int row_complete(struct row *row, struct err *err);

#endif
