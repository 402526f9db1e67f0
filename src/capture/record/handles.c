/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptors that no wrapped call has made: inherited over exec, made inside libc, or received
 * from another process. The first successful call on one writes an "inherited" record with its
 * name. Its time is just before that call.
 */
#include "capture/record/handles.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "capture/record/capture.h"
#include "capture/record/fuse.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"
#include "capture/record/socket.h"
#include "contract/calls.h"

_Atomic uint64_t *capture_handles;
_Atomic int capture_handles_high = -1;

/* Everything outside a file system counts as network: sockets, pipes, event descriptors. */
static enum link_kind descriptor_kind(int fd, bool *is_fuse)
{
	struct stat st;

	if (kernel_call(SYS_fstat, fd, &st) != 0)
		return LINK_UNKNOWN;
	*is_fuse = fuse_is_device(&st);
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFCHR:
	case S_IFBLK:
		return LINK_FILE;
	default:
		return LINK_NETWORK;
	}
}

/* The target of the descriptor's link in /proc. */
static size_t read_descriptor_name(int fd, char *name, size_t size)
{
	char path[32] = "/proc/self/fd/", digits[12];
	int n = 0, at = 14;
	long length;

	for (unsigned rest = (unsigned)fd; rest || !n; rest /= 10)
		digits[n++] = (char)('0' + rest % 10);
	while (n)
		path[at++] = digits[--n];
	length = kernel_call(SYS_readlinkat, AT_FDCWD, path, name, size);
	return length > 0 ? (size_t)length : 0;
}

#define NAME_BYTES 512

/* Puts the addresses of a TCP connection at w and returns the place behind them. */
static uint64_t *put_socket_ends(uint64_t *w, int fd)
{
	size_t length = strlen(socket_accepted((struct socket_ends *)(w + 1), fd));

	*w = length;
	memset((char *)(w + 1) + length, 0, -length & 7);
	return w + text_words(length);
}

/*
 * Writes the record. The call in `user`, which used the descriptor, is still the innermost one of
 * its lane. The record becomes its sibling, not its child, and is one tick earlier. The name is
 * read into the record itself, because the stack may be small.
 */
static uint64_t write_inherited_record(int fd, enum link_kind kind, const struct frame *user)
{
	unsigned words =
		RECORD_HEAD_WORDS + 3 + text_words(NAME_BYTES) + text_words(SOCKET_ENDS_BYTES);
	uint64_t enclosing, *w;
	struct frame f;

	if (!frame_enter(&f))
		return 0;
	f.start = f.stop = user->start - 1;
	enclosing = f.parent;
	f.parent = user->parent;
	w = frame_leave(&f, CALL_inherited, words, 0);
	f.parent = enclosing;
	w[4] = 0;
	w[5] = (uint64_t)fd;
	w[6] = (uint64_t)kernel_call(SYS_fcntl, fd, F_GETFL);
	if (w != f.scratch) {
		size_t length = read_descriptor_name(fd, (char *)(w + 8), NAME_BYTES);
		uint64_t *end;

		w[7] = length;
		memset((char *)(w + 8) + length, 0, -length & 7);
		end = put_socket_ends(w + 7 + text_words(length), kind == LINK_NETWORK ? fd : -1);
		words = (unsigned)(end - w);
		w[2] = record_word2(0, words);
	}
	frame_commit(&f, w, words);
	return frame_id(&f);
}

uint64_t handle_inherit(int fd)
{
	uint32_t level = capture_self.level;
	const void *at = level < LANES ? capture_self.lanes[level].current_at : NULL;
	const struct frame *user = at != FRAME_REGION ? at : NULL;
	bool is_fuse = false;
	enum link_kind kind =
		user && !sandbox_is_sealed() ? descriptor_kind(fd, &is_fuse) : LINK_UNKNOWN;
	uint64_t id = kind != LINK_UNKNOWN ? write_inherited_record(fd, kind, user) : 0, link = 0;

	if (id) {
		link = link_make(kind, id);
		handle_put(fd, link);
		if (is_fuse)
			fuse_enter(fd, link);
	}
	return link;
}
