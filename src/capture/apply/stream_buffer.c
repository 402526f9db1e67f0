/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/stream_buffer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <sys/stat.h>

#include "capture/apply/inject.h"
#include "capture/record/handles.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"
#include "capture/record/symbols.h"
#include "contract/calls.h"

/* Streams with a buffer at the same time; others keep the buffer of libc. */
#define BUFFERS 256

static struct entry {
	_Atomic(const FILE *) stream; /* NULL: free; CLAIMED: being filled */
	struct stream_buffer buffer;
} entries[BUFFERS];

#define CLAIMED ((const FILE *)entries)

/* Too large for the stack of a small thread. */
struct workspace {
	char path[RULES_PATH_BYTES];
	struct info_text requested, effective;
};

typedef int setvbuf_function(FILE *, char *, int, size_t);

#ifdef SLUICE_LINKED
extern setvbuf_function linked_setvbuf __asm__("__real_setvbuf") __attribute__((weak));
#endif

static setvbuf_function *real_setvbuf;

void stream_buffer_load(void)
{
	if (!rules_has(PLACE_STREAM))
		return;
#ifdef SLUICE_LINKED
	real_setvbuf = linked_setvbuf;
#else
	real_setvbuf = (setvbuf_function *)(uintptr_t)symbol_find_next("setvbuf", NULL);
#endif
}

static struct entry *entry_claim(void)
{
	for (struct entry *e = entries; e < entries + BUFFERS; e++) {
		const FILE *expected = NULL;

		/* Pairs with the release in stream_buffer_closing_slow(). */
		if (atomic_compare_exchange_strong_explicit(&e->stream, &expected, CLAIMED,
							    memory_order_acquire,
							    memory_order_relaxed))
			return e;
	}
	return NULL;
}

static bool is_regular(FILE *stream)
{
	struct stat st;
	int fd = stream_fd(stream);

	return fd >= 0 && kernel_call(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Gives the stream a buffer. Returns why not; NULL: it has one. */
static const char *buffer_give(FILE *stream, const char *value)
{
	struct entry *entry;
	uint64_t bytes;

	if (!real_setvbuf || !rules_parse_number(value, &bytes))
		return "failed";
	if (!is_regular(stream))
		return "file";
	entry = entry_claim();
	if (!entry)
		return "streams";
	entry->buffer.bytes = (size_t)bytes;
	entry->buffer.memory = kernel_map_private(entry->buffer.bytes);
	if (entry->buffer.memory &&
	    real_setvbuf(stream, entry->buffer.memory, _IOFBF, entry->buffer.bytes) == 0) {
		atomic_store_explicit(&entry->stream, stream, memory_order_release);
		return NULL;
	}
	if (entry->buffer.memory)
		kernel_call(SYS_munmap, entry->buffer.memory, entry->buffer.bytes);
	atomic_store_explicit(&entry->stream, NULL, memory_order_release);
	return "failed";
}

static void buffer_record(FILE *stream, struct workspace *space)
{
	int fd = stream_fd(stream);
	char value[24];

	if (fd < 0 || !capture_handles || !handle_peek(fd))
		return;
	rules_put_number(value, __fbufsize(stream));
	info_text_put(&space->effective, PARAMETERS_STDIO_BUFFER, value);
	inject_record(CALL_posix_parameters, handle_peek(fd), &space->requested, &space->effective);
}

static void buffer_apply(FILE *stream, const char *path, struct workspace *space)
{
	const struct parameters_line *rule =
		rules_find(&rules_own, PLACE_STREAM, rules_path(space->path, path), "",
			   PARAMETERS_STDIO_BUFFER);
	const char *refusal;

	if (!rule)
		return;
	refusal = buffer_give(stream, rule->value);
	if (refusal)
		inject_refuse(&space->requested, rule->name, refusal);
	else
		inject_accept(&space->requested, rule->name, rule->value);
	buffer_record(stream, space);
}

void stream_buffer_opened_slow(FILE *stream, const char *path)
{
	struct workspace *space;
	int saved = errno;

	/* A child of vfork() shares the table with its parent. */
	if (capture_self.vforked || sandbox_is_sealed())
		return;
	space = kernel_map_private(sizeof(*space));
	if (space) {
		buffer_apply(stream, path, space);
		kernel_call(SYS_munmap, space, sizeof(*space));
	}
	errno = saved;
}

void stream_buffer_closing_slow(struct stream_buffer *buffer, const FILE *stream)
{
	for (struct entry *e = entries; stream && e < entries + BUFFERS; e++) {
		if (atomic_load_explicit(&e->stream, memory_order_acquire) != stream)
			continue;
		*buffer = e->buffer;
		atomic_store_explicit(&e->stream, NULL, memory_order_release);
		return;
	}
}

void stream_buffer_closed_slow(const struct stream_buffer *buffer)
{
	/* A process in a sandbox keeps the memory. */
	if (!sandbox_is_sealed())
		kernel_call(SYS_munmap, buffer->memory, buffer->bytes);
}
