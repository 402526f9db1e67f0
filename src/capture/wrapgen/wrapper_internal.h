/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the two files that print a wrapper's body share: up to the real call, and after it.
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_WRAPPER_INTERNAL_H
#define SLUICE_CAPTURE_WRAPGEN_WRAPPER_INTERNAL_H

#include <stdbool.h>

struct buf;
struct row;

/* The descriptor that the call is about; false: it has none, and nothing is printed. */
bool wrapper_handle(struct buf *out, const struct row *row);

/* Is only a changed errno an error of the call? Then it is cleared before. */
bool wrapper_clears_errno(const struct row *row);

/* All that comes after the real call, and the parts of it that a call has that does not return. */
void wrapper_after(struct buf *out, const struct row *row);
void wrapper_size(struct buf *out, const struct row *row);
void wrapper_record(struct buf *out, const struct row *row);

#endif
