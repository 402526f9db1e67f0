/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the templates of wrappers have in common: everything but how a wrapper gets its symbol and
 * finds the real function. Both come from `struct real real`, which the template has printed
 * before, and the macro REAL(function).
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_WRAPPER_H
#define SLUICE_CAPTURE_WRAPGEN_WRAPPER_H

struct buf;
struct interface;
struct row;

/* The includes, the headers of the interface, and what both must not disturb. */
void wrapper_preamble(struct buf *out, const struct interface *interface);

/* struct real, one member per row, and the table of names in its order. */
void wrapper_reals(struct buf *out, const struct interface *interface);

/* The wrapper of one row as the symbol prefix + name. */
void wrapper_print(struct buf *out, const struct row *row, const char *prefix);

/* "int fd, void *buf": the parameters of its prototype. */
void wrapper_parameters(struct buf *out, const struct row *row);

/* What separates a type from a name: nothing after a star. */
const char *wrapper_space(const char *type);

#endif
