/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters that Sluice set in the run itself, because the user or a tuning chose them. A
 * finding must not recommend undoing such a choice: it may well have been measured to be faster.
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_INJECTED_H
#define SLUICE_OBSERVE_DIAGNOSE_INJECTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct finding;
struct parameter;
struct parameters;
struct profile;

struct injected {
	const struct parameters *parameters;
	struct parameter *rows;
	size_t count;
};

void injected_init(struct injected *injected, const struct profile *profile);
void injected_release(struct injected *injected);

/*
 * Would a fix undo a parameter that took effect, or may have, on a file of the finding, or on any
 * file if the finding names none? `sets` is what the fix decides (struct fix_row). Adds each such
 * parameter to the list "NAME=VALUE NAME=VALUE" in `undone`, once.
 */
bool injected_is_undone(const struct injected *injected, const struct finding *finding,
			const char *sets, struct buf *undone);

#endif
