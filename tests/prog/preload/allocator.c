/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaces malloc by an allocator that does I/O: each large block is a mapping, small blocks come
 * from a bump arena, and now and then it writes a byte to /dev/null and maps a file. Memory is
 * never reused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA (512ul << 20)

static _Atomic(char *) arena;
static atomic_size_t used, turns;

static void chatter(void)
{
	int saved = errno, fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "m", 1) != 1)
		_exit(93);
	close(fd);
	errno = saved;
}

static char *arena_get(void)
{
	char *base = atomic_load(&arena);

	if (base)
		return base;
	char *fresh = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (fresh == MAP_FAILED)
		_exit(94);
	if (!atomic_compare_exchange_strong(&arena, &base, fresh)) {
		munmap(fresh, ARENA);
		return base;
	}
	return fresh;
}

/* The size is stored in the 16 bytes before a block. */
void *malloc(size_t n)
{
	char *base = arena_get();
	size_t at = atomic_fetch_add(&used, (n + 31) & ~(size_t)15);

	if (at + n + 16 > ARENA) {
		errno = ENOMEM;
		return NULL;
	}
	if (atomic_fetch_add(&turns, 1) % 16 == 0)
		chatter();
	*(size_t *)(base + at) = n;
	return base + at + 16;
}

void free(void *p)
{
	(void)p;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size); /* fresh memory is zero */
}

void *realloc(void *p, size_t n)
{
	void *q = malloc(n);

	if (p && q) {
		size_t old = *(size_t *)((char *)p - 16);

		memcpy(q, p, old < n ? old : n);
	}
	return q;
}

void *memalign(size_t align, size_t n)
{
	char *p = malloc(n + align + 16);
	uintptr_t at = ((uintptr_t)p + align - 1) & ~(uintptr_t)(align - 1);

	if (!p)
		return NULL;
	if (at != (uintptr_t)p) {
		while (at - (uintptr_t)p < 16)
			at += align;
		*(size_t *)(at - 16) = n;
	}
	return (void *)at;
}

void *aligned_alloc(size_t align, size_t n)
{
	return memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	*p = memalign(align, n);
	return *p ? 0 : ENOMEM;
}
