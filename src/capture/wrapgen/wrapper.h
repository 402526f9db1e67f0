/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The code that the templates of wrappers share: everything except how a wrapper gets its symbol
 * and finds the real function. The template prints `struct real real` and the macro REAL(function)
 * before.
 * Papers: SIOX-21.
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_WRAPPER_H
#define SLUICE_CAPTURE_WRAPGEN_WRAPPER_H

struct buf;
struct interface;
struct row;

/* Prints the includes and the #undef lines of all wrapped functions. */
void wrapper_preamble(struct buf *out, const struct interface *interface);

/* Prints struct real, with one member per row, and the table of names in its order. */
void wrapper_reals(struct buf *out, const struct interface *interface);

/* Prints the wrapper of one row; its symbol is prefix + name. */
void wrapper_print(struct buf *out, const struct row *row, const char *prefix);

/* Prints the parameters of a prototype: "int fd, void *buf". */
void wrapper_parameters(struct buf *out, const struct row *row);

/* The separator of a type and a name: "" after a star, else a blank. */
const char *wrapper_space(const char *type);

#endif
