/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The in-line plug-in read_ahead: prefetches files that are read with a constant stride, which the
 * kernel's own read-ahead does not detect. Guest.
 *
 * For each opening it predicts that the distance from the last read to the next is the same as that
 * between the last two. After `threshold` correct predictions in a row it calls
 * posix_fadvise(POSIX_FADV_WILLNEED) for the next `depth` reads, once for each. With a constant
 * stride and the default threshold of 4, the first advice follows the sixth read. If a read was
 * advised and still took longer than `slow_us` plus 1 ns per byte, the depth is doubled, up to
 * `depth_max`. A wrong prediction starts again from zero. Sockets, pipes, streams (which have their
 * own buffers) and files that bypass the page cache are ignored. Sequential reads are left to the
 * kernel unless the option `sequential` is set.
 *
 * If 64 advices in a row each returned within `idle_ns`, the file is in the page cache and the
 * opening becomes dormant: only one in 16 predictions is advised, then one in 32, up to one in
 * 1024. A slow advice or two slow reads wake it up. `dormant = no` turns this off.
 *
 * The state is a fixed table of READ_AHEAD_SLOTS openings, in sets of four; a new opening replaces
 * one of its set that was not used recently. A slot has a try-lock: a thread that finds it locked
 * skips the call.
 */
#ifndef SLUICE_CAPTURE_INLINE_READ_AHEAD_H
#define SLUICE_CAPTURE_INLINE_READ_AHEAD_H

#include <sluice/plugin.h>

#define READ_AHEAD_SLOTS 128

#pragma GCC visibility push(hidden)
extern const struct sluice_plugin inline_read_ahead;
#pragma GCC visibility pop

#endif
