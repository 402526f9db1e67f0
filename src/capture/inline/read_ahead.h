/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The in-line plug-in read_ahead: advises the kernel of the next access to a file that is read in
 * strides, which the kernel's own read-ahead does not see. Guest.
 *
 * Per opening it predicts that the next read begins as far behind the last one as that did behind
 * the one before. After `threshold` right predictions in a row it calls
 * posix_fadvise(POSIX_FADV_WILLNEED) for the next `depth` accesses, each once; with constant
 * strides and the default of 4 the first advice follows the sixth read. A read that was advised and
 * still took longer than `slow_us`, and a nanosecond per byte, doubles the depth, up to
 * `depth_max`. A wrong prediction starts all over. Sockets and pipes are never looked at, nor what
 * bypasses the page cache, and streams have their own buffers; a purely sequential reader is left
 * to the kernel unless `sequential` says otherwise.
 *
 * Where 64 advices in a row returned within `idle_ns` each, the file is cached: from then on only
 * the 16th prediction is advised, after it the 32nd, and so on up to every 1024th, until an
 * advice is slow again, or two reads are. `dormant = no` keeps on.
 *
 * State is a fixed table of READ_AHEAD_SLOTS openings; the one least lately used of four makes room
 * for another. A slot has a try-lock: whoever finds it taken passes by.
 */
#ifndef SLUICE_CAPTURE_INLINE_READ_AHEAD_H
#define SLUICE_CAPTURE_INLINE_READ_AHEAD_H

#include <sluice/plugin.h>

#define READ_AHEAD_SLOTS 128

#pragma GCC visibility push(hidden)
extern const struct sluice_plugin inline_read_ahead;
#pragma GCC visibility pop

#endif
