/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hot path as functions instead of inline code, for wrappers compiled with SLUICE_COMPACT.
 */
#include "capture/record/frame.h"

bool frame_enter_called(struct frame *f)
{
	return frame_enter(f);
}

void frame_stop_called(struct frame *f)
{
	frame_stop(f);
}

uint64_t *frame_leave_called(struct frame *f, unsigned call, unsigned words, int error)
{
	return frame_leave(f, call, words, error);
}

void frame_commit_called(struct frame *f, uint64_t *w, unsigned words)
{
	frame_commit(f, w, words);
}

uint64_t *frame_text_called(struct frame *f, uint64_t *w, const char *text, size_t length)
{
	return frame_text(f, w, text, length);
}
