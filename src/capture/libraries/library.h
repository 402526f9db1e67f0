/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of libraries that may be absent, loaded late, or visible to their callers only
 * (RTLD_LOCAL, as Python does), even in several copies. Guest.
 *
 * A wrapper looks for its real function on the first call: among the libraries that the program was
 * started with, then in the libraries that its caller uses, then in all loaded libraries.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_LIBRARY_H
#define SLUICE_CAPTURE_LIBRARIES_LIBRARY_H

#include "capture/record/frame.h"

#pragma GCC visibility push(hidden)

/* The constructor of the guest runs: notes the objects that the program was started with. */
void library_start(void);

/*
 * The real function for a call that returns to `caller`; NULL if it does not exist. Stored in *slot
 * if it is the same for all callers.
 */
__attribute__((cold)) void *library_find(const char *name, const void *caller, void **slot);

/* Does the object that contains the address define the symbol? */
__attribute__((cold)) bool library_defines(const void *address, const char *name);

/*
 * The functions that the guest itself calls, taken from the same copy of the library as a given
 * real function. There is one static struct per library; names and count are set, the rest starts
 * as 0.
 *
 * The real function may belong to another tool that is preloaded, such as Darshan, and wraps some
 * functions of the library. Then the functions are those of the library behind it, and both are the
 * same copy: ids are the same in both, and the other tool does not see what the guest asks.
 */
#define LIBRARY_USES_MAX 40
#define LIBRARY_COPIES 4

struct library_uses {
	const char *const *names;
	unsigned count;
	void *const *linked; /* instead of copies: functions of a statically linked library */
	struct library_copy {
		_Atomic uintptr_t base; /* 0: the entry is free */
		uintptr_t span;		/* bytes of its image; valid, as functions, once ready */
		void *const *functions; /* own, or those of the library behind this object */
		_Atomic bool ready;
		void *own[LIBRARY_USES_MAX];
	} copies[LIBRARY_COPIES];
};

/* Finds or adds the copy that `real` belongs to. */
__attribute__((cold)) void *const *library_use_slow(struct library_uses *uses, const void *real);

#pragma GCC visibility pop

/*
 * Defines `uses` from a list of X(name, type): USE(near, name) is then the function of that name as
 * a pointer of its type, or NULL.
 */
#define LIBRARY_USE_ENUM(name, type) USE_##name,
#define LIBRARY_USE_NAME(name, type) #name,
#define LIBRARY_USE_TYPE(name, type) typedef __typeof__(type) type_##name;
#define LIBRARY_USE_WEAK(name, type) extern char weak_##name[] __asm__(#name) __attribute__((weak));
#define LIBRARY_USE_LINK(name, type) weak_##name,
#ifdef SLUICE_LINKED
#define LIBRARY_USE_FIND(LIST)                                            \
	LIST(LIBRARY_USE_WEAK)                                            \
	static void *use_of(const void *near, enum use use)               \
	{                                                                 \
		static void *const linked[] = { LIST(LIBRARY_USE_LINK) }; \
                                                                          \
		(void)near;                                               \
		return linked[use];                                       \
	}
#else
#define LIBRARY_USE_FIND(LIST)                                                        \
	static const char *const use_names[] = { LIST(LIBRARY_USE_NAME) };            \
	static struct library_uses uses = { .names = use_names, .count = USE_COUNT }; \
	static void *use_of(const void *near, enum use use)                           \
	{                                                                             \
		void *const *functions = library_use(&uses, near);                    \
                                                                                      \
		return functions ? functions[use] : NULL;                             \
	}
#endif
#define LIBRARY_USES(LIST)                                                               \
	enum use { LIST(LIBRARY_USE_ENUM) USE_COUNT };                                   \
	_Static_assert(USE_COUNT <= LIBRARY_USES_MAX, "the table of uses is too small"); \
	LIST(LIBRARY_USE_TYPE)                                                           \
	LIBRARY_USE_FIND(LIST)
#define USE(near, name) ((type_##name)use_of(near, USE_##name))

/*
 * The same for a library with inline helpers, whose struct library_uses is not static. The list is
 * X(name, symbol), where symbol is the name to use if the guest is linked with --wrap: __real_NAME
 * for a function that has a wrapper. LIBRARY_LISTED(table) initializes the struct.
 */
#define LIBRARY_LIST_NAME(name, symbol) #name,
#define LIBRARY_LIST_WEAK(name, symbol) \
	extern char weak_##name[] __asm__(#symbol) __attribute__((weak));
#define LIBRARY_LIST_LINK(name, symbol) weak_##name,
#ifdef SLUICE_LINKED
#define LIBRARY_TABLE(table, LIST) \
	LIST(LIBRARY_LIST_WEAK)    \
	static void *const table[] = { LIST(LIBRARY_LIST_LINK) };
#define LIBRARY_LISTED(table)     \
	{                         \
		.linked = (table) \
	}
#else
#define LIBRARY_TABLE(table, LIST) static const char *const table[] = { LIST(LIBRARY_LIST_NAME) };
#define LIBRARY_LISTED(table)                                                 \
	{                                                                     \
		.names = (table), .count = sizeof(table) / sizeof((table)[0]) \
	}
#endif

/*
 * Defines `uses` from a list of X(name, symbol, type), with symbol as above: OF(functions, name) is
 * then the function of that name as a pointer of its type, or NULL.
 */
#define LIBRARY_TYPED_ENUM(name, symbol, type) USE_##name,
#define LIBRARY_TYPED_TYPE(name, symbol, type) typedef __typeof__(type) type_##name;
#define LIBRARY_TYPED_NAME(name, symbol, type) #name,
#define LIBRARY_TYPED_WEAK(name, symbol, type) LIBRARY_LIST_WEAK(name, symbol)
#define LIBRARY_TYPED_LINK(name, symbol, type) weak_##name,
#ifdef SLUICE_LINKED
#define LIBRARY_TYPED_TABLE(LIST) \
	LIST(LIBRARY_TYPED_WEAK)  \
	static void *const use_table[] = { LIST(LIBRARY_TYPED_LINK) };
#else
#define LIBRARY_TYPED_TABLE(LIST) \
	static const char *const use_table[] = { LIST(LIBRARY_TYPED_NAME) };
#endif
#define LIBRARY_TYPED(LIST)                                                              \
	enum use { LIST(LIBRARY_TYPED_ENUM) USE_COUNT };                                 \
	_Static_assert(USE_COUNT <= LIBRARY_USES_MAX, "the table of uses is too small"); \
	LIST(LIBRARY_TYPED_TYPE)                                                         \
	LIBRARY_TYPED_TABLE(LIST)                                                        \
	static struct library_uses uses = LIBRARY_LISTED(use_table);
#define OF(functions, name) ((type_##name)(uintptr_t)(functions)[USE_##name])

/* The functions in the order of uses->names, NULL for those that the library lacks. Returns NULL if
 * the copy is unknown. */
INLINE void *const *library_use(struct library_uses *uses, const void *real)
{
#ifdef SLUICE_LINKED
	(void)real;
	return uses->linked;
#endif
	for (unsigned i = 0; i < LIBRARY_COPIES; i++) {
		struct library_copy *copy = &uses->copies[i];

		/* Pairs with the release in copy_fill(). */
		if (unlikely(!atomic_load_explicit(&copy->ready, memory_order_acquire)))
			break;
		if (likely((uintptr_t)real - copy->base < copy->span))
			return copy->functions;
	}
	return library_use_slow(uses, real);
}

/* The index of the copy with these functions; LIBRARY_COPIES: unknown. */
INLINE unsigned library_copy_of(const struct library_uses *uses, void *const *functions)
{
	uintptr_t offset = (uintptr_t)functions - (uintptr_t)uses->copies;

	if (uses->linked)
		return 0;
	return functions ? (unsigned)(offset / sizeof(struct library_copy)) : LIBRARY_COPIES;
}

#endif
