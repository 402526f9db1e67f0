/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's own memcpy(), memmove() and memset(). Guest.
 *
 * A sanitizer replaces those of libc in the whole process. ThreadSanitizer then takes two threads
 * that use the same chunk of a spool one after the other for a data race of the program, because it
 * does not see the guest's atomic operations, and the program ends with exit code 66. The functions
 * below are hidden, so all calls within the library, also those that the compiler makes, get them.
 * They are not in the archive for static programs, which would use them for everything.
 */
#include <stddef.h>
#include <stdint.h>

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

#pragma GCC visibility push(hidden)
void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
#pragma GCC visibility pop

typedef uint64_t word __attribute__((aligned(1), may_alias));

/* Keeps the compiler from replacing a loop by a call of the function that the loop implements. */
#define KEEP_LOOP(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")

static void copy_forward(char *to, const char *from, size_t count)
{
	for (; count >= sizeof(word); count -= sizeof(word)) {
		*(word *)to = *(const word *)from;
		to += sizeof(word);
		from += sizeof(word);
		KEEP_LOOP(to);
	}
	while (count--) {
		*to++ = *from++;
		KEEP_LOOP(to);
	}
}

static void copy_backward(char *to, const char *from, size_t count)
{
	while (count--) {
		to[count] = from[count];
		KEEP_LOOP(to);
	}
}

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
	copy_forward(to, from, count);
	return to;
}

void *memmove(void *to, const void *from, size_t count)
{
	if ((uintptr_t)to - (uintptr_t)from < count)
		copy_backward(to, from, count);
	else
		copy_forward(to, from, count);
	return to;
}

void *memset(void *to, int value, size_t count)
{
	uint64_t pattern = UINT64_C(0x0101010101010101) * (unsigned char)value;
	char *at = to;

	for (; count >= sizeof(word); count -= sizeof(word)) {
		*(word *)at = pattern;
		at += sizeof(word);
		KEEP_LOOP(at);
	}
	while (count--) {
		*at++ = (char)value;
		KEEP_LOOP(at);
	}
	return to;
}

#endif
