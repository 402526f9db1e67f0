/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For tests that link the guest's sources but need no spool: the process is part of no run, and
 * nothing is recorded. Single include per program.
 */
#ifndef SLUICE_TESTS_GUEST_OUTSIDE_H
#define SLUICE_TESTS_GUEST_OUTSIDE_H

#include "capture/record/capture.h"
#include "capture/record/hooks.h"
#include "capture/record/sandbox.h"

struct membership capture_membership;
atomic_bool sandbox_sealed;

bool attach(void)
{
	return false;
}

bool program_is_skipped(const char *skip, size_t bytes)
{
	(void)skip, (void)bytes;
	return false;
}

static void nothing_to_flush(struct self *s)
{
	(void)s;
}

const struct record_hooks record_hooks = { .flush = nothing_to_flush };

#endif
