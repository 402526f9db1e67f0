/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Templates, which print the rows in one form each. A template is one constant in template_list.
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
extern const struct template_ops template_flags;   /* the options of ld --wrap */
extern const struct template_ops template_table;   /* contract/calls.c: the rows as data */
extern const struct template_ops template_numbers; /* contract/calls.h: the call numbers */

extern const struct template_ops *const template_list[]; /* ends with NULL */

const struct template_ops *template_find(const char *name);

#endif
