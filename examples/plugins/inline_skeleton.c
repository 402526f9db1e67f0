/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A template for an in-line plug-in. It runs inside the observed program, in the thread that made
 *the call. In a hook it may use libc only and must not wait, print, exit or allocate memory;
 *several threads may be in a hook at the same time. See docs/reference/plugins.md.
 *
 * This one advises the kernel to drop the data of long reads from the page cache.
 *
 *	cc -shared -fPIC -I PREFIX/include -o inline_skeleton.so inline_skeleton.c
 *	sluice --set plugins.POSIX.load=$PWD/inline_skeleton.so run -- ./program
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <sluice/plugin.h>

/* Static, because a hook must not allocate memory. All threads share it. */
static struct {
	const struct sluice_guest *guest;
	int64_t least; /* option "least": the smallest read in bytes that is long */
	_Atomic uint64_t seen;
} self;

/* Called once per process, before the first call. An error rejects the plug-in in this process. */
static int start(const struct sluice_guest *guest, void **state)
{
	const char *least = guest->option(guest->self, "least");
	char *end = NULL;

	self.guest = guest;
	self.least = least ? strtoll(least, &end, 10) : 1 << 20;
	if (end && (*end || self.least <= 0))
		return -EINVAL;
	*state = &self;
	return 0;
}

/* Called after each call of the classes below. Returns how often it acted. */
static unsigned after(void *state, const struct sluice_called *called)
{
	(void)state;
	atomic_fetch_add_explicit(&self.seen, 1, memory_order_relaxed);
	if (called->error || called->is_network || called->offset < 0 || called->handle < 0 ||
	    called->result < self.least)
		return 0;
	return self.guest->advise(self.guest->self, (int)called->handle, called->offset,
				  called->result, POSIX_FADV_DONTNEED) >= 0;
}

static const struct sluice_inline hooks = {
	.classes = 1u << CLASS_READ,
	.start = start,
	.after = after,
	.suggest = NULL, /* optional: hints for MPI_File_open */
};

const struct sluice_plugin sluice_plugin = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_INLINE,
	.name = "inline_skeleton",
	.help = "drops long reads from the page cache",
	.in_line = &hooks,
};
