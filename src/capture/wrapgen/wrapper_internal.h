/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by wrapper.c, which prints a wrapper up to the real call, and wrapper_after.c, which prints
 * the rest: they implement one printer.
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_WRAPPER_INTERNAL_H
#define SLUICE_CAPTURE_WRAPGEN_WRAPPER_INTERNAL_H

#include <stdbool.h>

struct buf;
struct row;

/* Prints the descriptor that the call is about; false, and prints nothing, if it has none. */
bool wrapper_handle(struct buf *out, const struct row *row);

/* Does the call report failure by errno only? Then the wrapper clears errno before the call. */
bool wrapper_clears_errno(const struct row *row);

/* Prints everything after the real call; a call that does not return has only the other two. */
void wrapper_after(struct buf *out, const struct row *row);
void wrapper_size(struct buf *out, const struct row *row);
void wrapper_record(struct buf *out, const struct row *row);

#endif
