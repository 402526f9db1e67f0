/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/libraries/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "capture/record/load.h"
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
	const char *name;
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
	if (!s->is_near_only)
		s->found = definition_only(s->name);
	if (!s->found)
		s->found = definition_closest(s->name, s->object, DISTANCE_MAX + !s->is_near_only);
	return 1;
}

static int definition_run(struct dl_phdr_info *first, size_t size, void *arg)
{
	struct search *s = arg;

	(void)first;
	(void)size;
	s->object = object_find(s->near);
	s->found = s->object ? symbol_find(s->object, s->name) : NULL;
	return 1;
}

bool library_defines(const void *address, const char *name)
{
	struct search search = { .near = address, .name = name };

	dl_iterate_phdr(definition_run, &search);
	return search.found;
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

/* How many of the functions the object defines. */
static unsigned count_defined(const struct library_uses *uses, const struct link_map *object)
{
	unsigned count = 0;

	for (unsigned i = 0; i < uses->count; i++)
		count += symbol_find(object, uses->names[i]) != NULL;
	return count;
}

/* The object that defines most of the functions: of those that `of` uses, or, if it is NULL, of
 * those that the program was started with. */
static const struct link_map *most_complete(const struct library_uses *uses,
					    const struct link_map *of, unsigned *most)
{
	const struct link_map *best = of, *last = of ? NULL : last_at_start;

	*most = of ? count_defined(uses, of) : 0;
	for (const struct link_map *o = object_first(); o; o = o == last ? NULL : o->l_next) {
		unsigned count = object_is_own(o) ? 0 : count_defined(uses, o);

		/* Finding the distance takes long, so it is asked last. */
		if (count > *most && (!of || object_distance(of, o) < DISTANCE_MAX)) {
			*most = count;
			best = o;
		}
	}
	return best;
}

/* A search for the library that executes a function: its own object, or the one behind it. */
struct home_search {
	const struct library_uses *uses;
	const void *real;
	const struct link_map *object, *home;
};

/*
 * Every version of a library has at least half of the functions that the guest calls. An object
 * that has fewer, and uses no library that has them, wraps functions of a library that it finds
 * with RTLD_NEXT. Only objects of the program's start can do so.
 */
static int home_search_run(struct dl_phdr_info *first, size_t size, void *arg)
{
	struct home_search *s = arg;
	unsigned most, behind;

	(void)first;
	(void)size;
	s->object = object_find(s->real);
	if (!s->object)
		return 1;
	s->home = most_complete(s->uses, s->object, &most);
	if (2 * most < s->uses->count && is_from_start(s->object)) {
		const struct link_map *other = most_complete(s->uses, NULL, &behind);

		if (behind > most)
			s->home = other;
	}
	return 1;
}

/* The library is never unloaded, because the guest keeps addresses of it. */
static void object_pin(const struct link_map *object)
{
	struct link_map *pinned =
		is_from_start(object)
			? NULL
			: object_load(object->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

	if (pinned)
		object_unload(pinned);
}

/*
 * Looks up the functions of a copy that this thread has claimed. If the program itself contains the
 * library and does not export its symbols, no functions are found.
 */
static void copy_fill(struct library_uses *uses, struct library_copy *copy,
		      const struct link_map *object)
{
	for (unsigned i = 0; i < uses->count; i++) {
		struct search search = { .near = object->l_ld,
					 .name = uses->names[i],
					 .is_near_only = true };

		dl_iterate_phdr(search_run, &search);
		copy->own[i] = variable_in_use(uses->names[i], search.found);
	}
	copy->functions = copy->own;
}

/*
 * The functions of an object: of the library behind it if they are given, else its own. NULL also
 * while another thread looks them up: it is better to record a call without its size than to wait.
 */
static void *const *copy_functions(struct library_uses *uses, const struct link_map *object,
				   void *const *behind)
{
	struct object_range range = object_range(object);

	for (unsigned i = 0; i < LIBRARY_COPIES; i++) {
		struct library_copy *copy = &uses->copies[i];
		uintptr_t base = 0;

		if (atomic_compare_exchange_strong(&copy->base, &base, range.start)) {
			object_pin(object);
			copy->span = range.end - range.start;
			copy->functions = behind;
			if (!behind)
				copy_fill(uses, copy, object);
			/* Pairs with the acquire in library_use(). */
			atomic_store_explicit(&copy->ready, true, memory_order_release);
			return copy->functions;
		}
		if (base == range.start)
			return atomic_load_explicit(&copy->ready, memory_order_acquire)
				       ? copy->functions
				       : NULL;
	}
	return NULL;
}

void *const *library_use_slow(struct library_uses *uses, const void *real)
{
	struct home_search search = { .uses = uses, .real = real };
	void *const *functions = NULL;
	int saved = errno;

	if (atomic_load_explicit(&uses->copies[LIBRARY_COPIES - 1].base, memory_order_relaxed))
		return NULL; /* no entry is free */
	dl_iterate_phdr(home_search_run, &search);
	if (search.home)
		functions = copy_functions(uses, search.home, NULL);
	if (functions && search.home != search.object)
		functions = copy_functions(uses, search.object, functions);
	errno = saved;
	return functions;
}
