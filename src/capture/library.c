/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>

/*
 * What was found for one caller alone: by function and place of the call. A lost entry is found
 * again.
 */
#define CALLERS 256u

static struct {
	_Atomic(const void *) caller;
	_Atomic(const char *) name;
	_Atomic(void *) function;
} callers[CALLERS];

static void *own_base(void)
{
	static _Atomic(void *) base;
	void *known = atomic_load_explicit(&base, memory_order_relaxed);
	Dl_info info;

	if (!known && dladdr((void *)(uintptr_t)library_find, &info)) {
		known = info.dli_fbase;
		atomic_store_explicit(&base, known, memory_order_relaxed);
	}
	return known;
}

/* The symbol as the object at this path sees it, unless that is ourselves. */
static void *symbol_in(const char *path, const char *name)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *found;
	Dl_info info;

	if (!handle)
		return NULL;
	found = dlsym(handle, name);
	dlclose(handle);
	if (found && dladdr(found, &info) && info.dli_fbase == own_base())
		return NULL;
	return found;
}

static void *symbol_for(const void *caller, const char *name)
{
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname || !info.dli_fname[0])
		return NULL;
	return symbol_in(info.dli_fname, name);
}

struct search {
	const char *name;
	void *found;
};

static int search_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	if (object->dlpi_name && object->dlpi_name[0])
		s->found = symbol_in(object->dlpi_name, s->name);
	return s->found != NULL;
}

void *library_find(const char *name, const void *caller, void **slot)
{
	unsigned i = (unsigned)((((uintptr_t)caller >> 2) ^ ((uintptr_t)name >> 1)) % CALLERS);
	struct search search = { name, NULL };
	void *found;

	/* The name is read before the function and stored after it, so all three belong together
	 * unless two callers race for the place; then the caller differs in the end. */
	if (atomic_load(&callers[i].caller) == caller && atomic_load(&callers[i].name) == name) {
		found = atomic_load(&callers[i].function);
		if (atomic_load(&callers[i].caller) == caller)
			return found;
	}
	found = dlsym(RTLD_NEXT, name);
	if (found) {
		__atomic_store_n(slot, found, __ATOMIC_RELAXED);
		return found;
	}
	found = symbol_for(caller, name);
	/* A tail call hides its caller: then any copy has to do. */
	if (!found && dl_iterate_phdr(search_object, &search))
		found = search.found;
	if (found) {
		atomic_store(&callers[i].caller, NULL);
		atomic_store(&callers[i].function, found);
		atomic_store(&callers[i].name, name);
		atomic_store(&callers[i].caller, caller);
	}
	return found;
}

static struct library_copy *copy_make(struct library_uses *uses, const Dl_info *info)
{
	uint32_t taken = atomic_fetch_add(&uses->taken, 1);
	struct library_copy *copy;

	if (taken >= LIBRARY_COPIES) {
		atomic_store(&uses->taken, LIBRARY_COPIES);
		return NULL;
	}
	copy = &uses->copies[taken];
	for (unsigned i = 0; i < uses->count; i++)
		copy->functions[i] = symbol_in(info->dli_fname, uses->names[i]);
	atomic_store(&copy->base, info->dli_fbase);
	/* Pairs with the acquire in copy_of(). */
	atomic_store_explicit(&copy->ready, 1, memory_order_release);
	return copy;
}

static struct library_copy *copy_of(struct library_uses *uses, const Dl_info *info)
{
	for (unsigned i = 0; i < LIBRARY_COPIES; i++)
		if (atomic_load_explicit(&uses->copies[i].ready, memory_order_acquire) &&
		    atomic_load(&uses->copies[i].base) == info->dli_fbase)
			return &uses->copies[i];
	return copy_make(uses, info);
}

void *const *library_use_slow(struct library_uses *uses, const void *real)
{
	unsigned i = ((uintptr_t)real >> 4) % LIBRARY_CACHE;
	struct library_copy *copy;
	int saved = errno;
	Dl_info info;

	if (!dladdr(real, &info) || !info.dli_fname)
		return NULL;
	copy = copy_of(uses, &info);
	if (copy) {
		/* Pairs with the acquire in library_use(). */
		atomic_store_explicit(&uses->cache[i].copy, NULL, memory_order_relaxed);
		atomic_store_explicit(&uses->cache[i].real, real, memory_order_relaxed);
		atomic_store_explicit(&uses->cache[i].copy, copy, memory_order_release);
	}
	errno = saved;
	return copy ? copy->functions : NULL;
}
