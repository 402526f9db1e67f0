/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is described and not there: --on modelled:NAME.
 */
#ifndef SLUICE_CMD_MODELLED_H
#define SLUICE_CMD_MODELLED_H

#define MODELLED "modelled:"

struct err;
struct generated;
struct system_wish;

/* The name behind "modelled:"; all of it where it does not begin so. */
const char *modelled_name(const char *on);

/* A generated system of that name; the caller's to release. */
int modelled_generate(struct generated *generated, const char *on, const struct system_wish *wish,
		      struct err *err);

#endif
