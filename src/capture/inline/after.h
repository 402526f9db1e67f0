/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one function of in-line plug-ins that generated wrappers call. It has a header of its own
 * because the plug-in ABI (sluice/plugin.h) defines names that wrapped functions use for their
 * arguments. Guest.
 */
#ifndef SLUICE_CAPTURE_INLINE_AFTER_H
#define SLUICE_CAPTURE_INLINE_AFTER_H

#include "capture/record/frame.h"

/*
 * Calls the plug-ins that want this call, after its record is published. Wrappers call it only if
 * frame_watched() is true. handle is a descriptor or -1, link its LINK word, offset all ones for
 * the file's own position. Keeps errno.
 */
__attribute__((visibility("hidden"))) void inline_after(struct frame *f, unsigned call,
							int64_t handle, uint64_t link,
							uint64_t size, uint64_t offset,
							uint64_t result, int error);

#endif
