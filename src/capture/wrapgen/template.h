/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be printed from the rows. A template is one constant in the list of template.c.
 */
#ifndef SLUICE_CAPTURE_WRAPGEN_TEMPLATE_H
#define SLUICE_CAPTURE_WRAPGEN_TEMPLATE_H

#include <stddef.h>

struct buf;
struct interface;

struct template_ops {
	const char *name, *help;
	void (*print)(struct buf *out, const struct interface *interface); /* one C file */
};

extern const struct template_ops template_preload; /* wrappers for LD_PRELOAD */
extern const struct template_ops template_link;	   /* wrappers for ld --wrap */
extern const struct template_ops template_flags;   /* its options */
extern const struct template_ops template_table;   /* trace/calls.c: the rows as data */
extern const struct template_ops template_numbers; /* contract/calls.h: their numbers */

extern const struct template_ops *const template_list[]; /* ends with NULL */

const struct template_ops *template_find(const char *name);

#endif
