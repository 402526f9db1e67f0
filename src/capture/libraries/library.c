/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/libraries/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "capture/record/symbols.h"

/*
 * A cache of functions that were found for one caller only, by function and return address. A lost
 * entry is searched again.
 */
#define CALLERS 256u

static struct {
	_Atomic(const void *) caller;
	_Atomic(const char *) name;
	_Atomic(void *) function;
} callers[CALLERS];

/*
 * The last object that the program was started with. These objects and their order never change,
 * and all callers see them.
 */
static const struct link_map *last_at_start;

void library_start(void)
{
	last_at_start = object_last();
}

static bool is_from_start(const struct link_map *object)
{
	const struct link_map *o = object_first();

	while (o && o != object && o != last_at_start)
		o = o->l_next;
	return o == object;
}

/* Is `of` within this many steps from the object, by the libraries that each object needs? */
static bool is_dependency(const struct link_map *object, const struct link_map *of, unsigned steps)
{
	if (object_needs(object, of))
		return true;
	for (const struct link_map *o = object_first(); steps > 1 && o; o = o->l_next)
		if (!object_is_own(o) && object_needs(object, o) && is_dependency(o, of, steps - 1))
			return true;
	return false;
}

/* The distance from the object to a library that it uses; DISTANCE_MAX: it does not use it. */
#define DISTANCE_MAX 4

static unsigned object_distance(const struct link_map *object, const struct link_map *of)
{
	unsigned steps = 1;

	if (!object || object == of)
		return object == of ? 0 : DISTANCE_MAX;
	while (steps < DISTANCE_MAX && !is_dependency(object, of, steps))
		steps++;
	return steps;
}

/* The definition of a symbol if there is exactly one. */
static void *definition_only(const char *name)
{
	void *found = NULL;

	for (const struct link_map *o = object_first(); o; o = o->l_next) {
		void *here = object_is_own(o) ? NULL : symbol_find(o, name);

		if (here && found)
			return NULL;
		found = here ? here : found;
	}
	return found;
}

/* The definition in the closest library, if that is closer than `limit`. */
static void *definition_closest(const char *name, const struct link_map *near, unsigned limit)
{
	void *found = NULL;

	for (const struct link_map *o = object_first(); limit && o; o = o->l_next) {
		void *here = object_is_own(o) ? NULL : symbol_find(o, name);
		unsigned distance = here ? object_distance(near, o) : limit;

		if (distance < limit) {
			found = here;
			limit = distance;
		}
	}
	return found;
}

/* A search near an address: for its object, and for symbols that this object uses. */
struct search {
	const void *near;
	const struct link_map *object;
	const char *name; /* NULL: only the object is wanted */
	bool is_near_only;
	void *found;
};

/* The loader's list cannot change while dl_iterate_phdr() calls this function. */
static int search_run(struct dl_phdr_info *first, size_t size, void *arg)
{
	struct search *s = arg;

	(void)first;
	(void)size;
	s->object = object_find(s->near);
	if (s->name && !s->is_near_only)
		s->found = definition_only(s->name);
	if (s->name && !s->found)
		s->found = definition_closest(s->name, s->object, DISTANCE_MAX + !s->is_near_only);
	return 1;
}

void *library_find(const char *name, const void *caller, void **slot)
{
	unsigned i = (unsigned)((((uintptr_t)caller >> 2) ^ ((uintptr_t)name >> 1)) % CALLERS);
	struct search search = { .near = caller, .name = name };
	void *found;

	/* The name is read before the function and stored after it, so all three belong together
	 * unless two callers race for the entry; then the second comparison fails. */
	if (atomic_load(&callers[i].caller) == caller && atomic_load(&callers[i].name) == name) {
		found = atomic_load(&callers[i].function);
		if (atomic_load(&callers[i].caller) == caller)
			return found;
	}
	found = symbol_find_next(name, last_at_start);
	if (found) {
		__atomic_store_n(slot, found, __ATOMIC_RELAXED);
		return found;
	}
	/* A tail call hides the caller: then any copy is used. */
	dl_iterate_phdr(search_run, &search);
	found = search.found;
	if (found) {
		atomic_store(&callers[i].caller, NULL);
		atomic_store(&callers[i].function, found);
		atomic_store(&callers[i].name, name);
		atomic_store(&callers[i].caller, caller);
	}
	return found;
}

/*
 * Where a program is not fully position-independent, as is usual on x86_64, the linker gives it its
 * own instance of each variable of a library that it refers to. The library then uses that instance
 * as well, and its own one remains unused.
 */
static void *variable_in_use(const char *name, void *found)
{
	void *used = found ? symbol_find_variable(object_first(), name) : NULL;

	return used ? used : found;
}

/*
 * Looks up the functions of a copy that this thread has claimed. The library is never unloaded,
 * because the guest keeps addresses of it. If the program itself contains the library and does not
 * export its symbols, no functions are found.
 */
static void copy_fill(struct library_uses *uses, struct library_copy *copy,
		      const struct link_map *object)
{
	struct object_range range = object_range(object);
	void *pinned = NULL;

	if (!is_from_start(object))
		pinned = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	for (unsigned i = 0; i < uses->count; i++) {
		struct search search = { .near = object->l_ld,
					 .name = uses->names[i],
					 .is_near_only = true };

		dl_iterate_phdr(search_run, &search);
		copy->functions[i] = variable_in_use(uses->names[i], search.found);
	}
	if (pinned)
		dlclose(pinned);
	copy->span = range.end - range.start;
	/* Pairs with the acquire in library_use(). */
	atomic_store_explicit(&copy->ready, true, memory_order_release);
}

/* NULL also while another thread fills the copy: it is better to record a call without its size
 * than to wait. */
static struct library_copy *copy_find(struct library_uses *uses, const struct link_map *object)
{
	uintptr_t start = object_range(object).start;

	for (unsigned i = 0; i < LIBRARY_COPIES; i++) {
		struct library_copy *copy = &uses->copies[i];
		uintptr_t base = 0;

		if (atomic_compare_exchange_strong(&copy->base, &base, start)) {
			copy_fill(uses, copy, object);
			return copy;
		}
		if (base == start)
			return atomic_load_explicit(&copy->ready, memory_order_acquire) ? copy
											: NULL;
	}
	return NULL;
}

void *const *library_use_slow(struct library_uses *uses, const void *real)
{
	struct search search = { .near = real };
	struct library_copy *copy = NULL;
	int saved = errno;

	dl_iterate_phdr(search_run, &search);
	if (search.object)
		copy = copy_find(uses, search.object);
	errno = saved;
	return copy ? copy->functions : NULL;
}
