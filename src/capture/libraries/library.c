/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/libraries/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>

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

static void *own_base_address(void)
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

/* Looks up the symbol in an object; NULL if that leads back to this library. */
static void *symbol_find(void *handle, const char *name)
{
	void *found = dlsym(handle, name);
	Dl_info info;

	return found && dladdr(found, &info) && info.dli_fbase == own_base_address() ? NULL : found;
}

static void *symbol_find_in_file(const char *path, const char *name)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *found;

	if (!handle)
		return NULL;
	found = symbol_find(handle, name);
	dlclose(handle);
	return found;
}

static void *symbol_find_for_caller(const void *caller, const char *name)
{
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname || !info.dli_fname[0])
		return NULL;
	return symbol_find_in_file(info.dli_fname, name);
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
		s->found = symbol_find_in_file(object->dlpi_name, s->name);
	return s->found != NULL;
}

void *library_find(const char *name, const void *caller, void **slot)
{
	unsigned i = (unsigned)((((uintptr_t)caller >> 2) ^ ((uintptr_t)name >> 1)) % CALLERS);
	struct search search = { name, NULL };
	void *found;

	/* The name is read before the function and stored after it, so all three belong together
	 * unless two callers race for the entry; then the second comparison fails. */
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
	found = symbol_find_for_caller(caller, name);
	/* A tail call hides the caller: then any copy is used. */
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

/* The size of the object with this base address. */
struct image {
	uintptr_t base, span;
};

static int image_measure(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct image *image = arg;
	uintptr_t low = UINTPTR_MAX, high = 0;

	(void)size;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		low = start < low ? start : low;
		high = start + part->p_memsz > high ? start + part->p_memsz : high;
	}
	if (image->base < low || image->base >= high)
		return 0;
	image->span = high - image->base;
	return 1;
}

/*
 * Where a program is not fully position-independent, as is usual on x86_64, the linker gives it its
 * own instance of each variable of a library that it refers to. The library then uses that instance
 * as well, and its own one remains unused.
 */
static void *variable_in_use(const char *name, void *found)
{
	const ElfW(Sym) *symbol = NULL;
	void *used;
	Dl_info info;

	if (!found || !dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
	    ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
		return found;
	used = dlsym(RTLD_DEFAULT, name);
	return used ? used : found;
}

/*
 * Looks up the functions of a copy that this thread has claimed. The library is never unloaded,
 * because the guest keeps addresses of it. If the program itself contains the library, its symbols
 * are not visible, and no functions are found.
 */
static void copy_fill(struct library_uses *uses, struct library_copy *copy, const Dl_info *info)
{
	struct image image = { (uintptr_t)info->dli_fbase, 0 };
	void *handle = dlopen(info->dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

	for (unsigned i = 0; handle && i < uses->count; i++)
		copy->functions[i] =
			variable_in_use(uses->names[i], symbol_find(handle, uses->names[i]));
	if (handle)
		dlclose(handle);
	dl_iterate_phdr(image_measure, &image);
	copy->span = image.span;
	/* Pairs with the acquire in library_use(). */
	atomic_store_explicit(&copy->ready, true, memory_order_release);
}

/* NULL also while another thread fills the copy: it is better to record a call without its size
 * than to wait. */
static struct library_copy *copy_find(struct library_uses *uses, const Dl_info *info)
{
	for (unsigned i = 0; i < LIBRARY_COPIES; i++) {
		struct library_copy *copy = &uses->copies[i];
		uintptr_t base = 0;

		if (atomic_compare_exchange_strong(&copy->base, &base,
						   (uintptr_t)info->dli_fbase)) {
			copy_fill(uses, copy, info);
			return copy;
		}
		if (base == (uintptr_t)info->dli_fbase)
			return atomic_load_explicit(&copy->ready, memory_order_acquire) ? copy
											: NULL;
	}
	return NULL;
}

void *const *library_use_slow(struct library_uses *uses, const void *real)
{
	struct library_copy *copy = NULL;
	int saved = errno;
	Dl_info info;

	if (dladdr(real, &info) && info.dli_fname)
		copy = copy_find(uses, &info);
	errno = saved;
	return copy ? copy->functions : NULL;
}
