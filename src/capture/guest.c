/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The composition of the guest: which of its parts act on the events of a process. record/
 * announces the events (record/hooks.h); this is the only file that knows all parts.
 */
#include "capture/api/api.h"
#include "capture/apply/layout.h"
#include "capture/apply/placed.h"
#include "capture/apply/rules.h"
#include "capture/apply/stream_buffer.h"
#include "capture/inline/host.h"
#include "capture/libraries/library.h"
#include "capture/preserve/preserve.h"
#include "capture/record/capture.h"
#include "capture/record/hooks.h"
#include "capture/record/sandbox.h"

static void guest_joined(uint32_t mode)
{
	rules_join(capture_membership.control->parameters, &capture_membership.control->outcomes);
	placed_join();
	preserve_join();
	if (mode >= CAPTURE_COUNTERS)
		inline_start();
}

static void guest_started(void)
{
	/* Also if the process cannot be recorded. */
	preserve_join();
#ifndef SLUICE_LINKED
	library_start();
#endif
	if (sandbox_is_sealed())
		return;
	inline_load();
	layout_load();
	stream_buffer_load();
}

static void guest_sealed(void)
{
	rules_places = 0;
	preserve_is_on = 0;
	inline_stop();
}

static void guest_forked(struct self *s)
{
	inline_forget(s);
	api_forget(s);
	placed_forget();
}

static void guest_flush(struct self *s)
{
	api_flush(s);
	inline_flush(s);
}

const struct record_hooks record_hooks = {
	.joined = guest_joined,
	.started = guest_started,
	.forked = guest_forked,
	.sealed = guest_sealed,
	.flush = guest_flush,
};
