/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/symbols.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#ifdef __aarch64__
#include <sys/ifunc.h>
#endif

#define VERSION_HIDDEN 0x8000u

/* The tables of one object that a search needs. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint16_t *versions;   /* NULL: the object has no versions */
	const uint32_t *gnu, *sysv; /* hash tables; NULL: the object has none of this kind */
	const char *soname;
};

/* This library's dynamic section. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* The dynamic linker relocates most addresses in the section, but not those of the vDSO. */
static const void *table_at(const struct link_map *object, ElfW(Addr) at)
{
	return (const void *)(at < object->l_addr ? at + object->l_addr : at);
}

static struct tables tables_read(const struct link_map *object)
{
	struct tables t = { 0 };
	ElfW(Addr) soname = 0;

	for (const ElfW(Dyn) *d = object->l_ld; d && d->d_tag != DT_NULL; d++) {
		const void *at = table_at(object, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			t.symbols = at;
		else if (d->d_tag == DT_STRTAB)
			t.strings = at;
		else if (d->d_tag == DT_VERSYM)
			t.versions = at;
		else if (d->d_tag == DT_GNU_HASH)
			t.gnu = at;
		else if (d->d_tag == DT_HASH)
			t.sysv = at;
		else if (d->d_tag == DT_SONAME)
			soname = d->d_un.d_val;
	}
	if (soname && t.strings)
		t.soname = t.strings + soname;
	return t;
}

/* The candidates for one name. */
struct candidates {
	const char *name;
	const ElfW(Sym) * best;
	uint32_t rank; /* of the best version: the default above all others, newer above older */
};

/* Not by strcmp(), which a sanitizer may have replaced and not initialized yet. */
static bool is_name(const char *text, const char *name)
{
	while (*text && *text == *name) {
		text++;
		name++;
	}
	return *text == *name;
}

static uint32_t version_rank(const struct tables *t, uint32_t index)
{
	uint32_t version = t->versions ? t->versions[index] : 1;

	if (version & VERSION_HIDDEN)
		return version & ~VERSION_HIDDEN;
	return version ? VERSION_HIDDEN : 0; /* version 0 is local to the object */
}

static void candidate_add(struct candidates *c, const struct tables *t, uint32_t index)
{
	const ElfW(Sym) *symbol = &t->symbols[index];
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	uint32_t rank;

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value ||
	    ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || type == STT_TLS ||
	    !is_name(t->strings + symbol->st_name, c->name))
		return;
	rank = version_rank(t, index);
	if (rank > c->rank) {
		c->best = symbol;
		c->rank = rank;
	}
}

static uint32_t hash_gnu(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static uint32_t hash_sysv(const char *name)
{
	uint32_t hash = 0, high;

	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		high = hash & 0xf0000000;
		hash = (hash ^ high >> 24) & ~high;
	}
	return hash;
}

/* Header: buckets, index of the first hashed symbol, words of the filter, shift of the filter. */
static void search_gnu(struct candidates *c, const struct tables *t)
{
	uint32_t buckets = t->gnu[0], first = t->gnu[1], words = t->gnu[2], shift = t->gnu[3];
	const ElfW(Addr) *filter = (const void *)(t->gnu + 4);
	const uint32_t *bucket = (const void *)(filter + words), *chain = bucket + buckets;
	uint32_t hash = hash_gnu(c->name), index;
	ElfW(Addr) word = words ? filter[hash / __ELF_NATIVE_CLASS % words] : 0;

	if (!(word >> hash % __ELF_NATIVE_CLASS & word >> (hash >> shift) % __ELF_NATIVE_CLASS & 1))
		return;
	index = buckets ? bucket[hash % buckets] : 0;
	if (index < first)
		return;
	/* The lowest bit marks the end of a chain. */
	for (;; index++) {
		uint32_t found = chain[index - first];

		if ((found | 1) == (hash | 1))
			candidate_add(c, t, index);
		if (found & 1)
			return;
	}
}

/* Header: buckets, length of the chain. */
static void search_sysv(struct candidates *c, const struct tables *t)
{
	const uint32_t *bucket = t->sysv + 2, *chain = bucket + t->sysv[0];

	for (uint32_t i = bucket[hash_sysv(c->name) % t->sysv[0]]; i; i = chain[i])
		candidate_add(c, t, i);
}

/* Calls the resolver of a function of which the object has several implementations. */
static void *ifunc_resolve(void *resolver)
{
#ifdef __aarch64__
	__ifunc_arg_t arg = { ._size = sizeof(arg),
			      ._hwcap = getauxval(AT_HWCAP),
			      ._hwcap2 = getauxval(AT_HWCAP2) };

	return ((void *(*)(uint64_t, const __ifunc_arg_t *))(uintptr_t)resolver)(
		arg._hwcap | _IFUNC_ARG_HWCAP, &arg);
#else
	return ((void *(*)(void))(uintptr_t)resolver)();
#endif
}

static const ElfW(Sym) * entry_find(const struct link_map *object, const char *name)
{
	struct tables t = tables_read(object);
	struct candidates c = { .name = name };

	if (!t.symbols || !t.strings)
		return NULL;
	if (t.gnu)
		search_gnu(&c, &t);
	else if (t.sysv && t.sysv[0])
		search_sysv(&c, &t);
	return c.best;
}

void *symbol_find(const struct link_map *object, const char *name)
{
	const ElfW(Sym) *entry = entry_find(object, name);
	void *found = entry ? (void *)(object->l_addr + entry->st_value) : NULL;

	return entry && ELF64_ST_TYPE(entry->st_info) == STT_GNU_IFUNC ? ifunc_resolve(found)
								       : found;
}

void *symbol_find_variable(const struct link_map *object, const char *name)
{
	const ElfW(Sym) *entry = entry_find(object, name);

	return entry && ELF64_ST_TYPE(entry->st_info) == STT_OBJECT
		       ? (void *)(object->l_addr + entry->st_value)
		       : NULL;
}

/* Weak, because musl lacks it. */
#pragma weak _r_debug

const struct link_map *object_first(void)
{
	return &_r_debug ? _r_debug.r_map : NULL;
}

const struct link_map *object_last(void)
{
	const struct link_map *object = object_first();

	while (object && object->l_next)
		object = object->l_next;
	return object;
}

bool object_is_own(const struct link_map *object)
{
	return object->l_ld == _DYNAMIC;
}

void *symbol_find_next(const char *name, const struct link_map *last)
{
	const struct link_map *object = object_first();
	void *found = NULL;

	while (object && !object_is_own(object))
		object = object->l_next;
	while (object && object != last && !found) {
		object = object->l_next;
		found = object ? symbol_find(object, name) : NULL;
	}
	return found;
}

struct object_range object_range(const struct link_map *object)
{
	struct object_range range = { UINTPTR_MAX, 0 };
	const ElfW(Ehdr) *header = (const void *)object->l_addr;
	const ElfW(Phdr) * part;
	unsigned count;

	if (object == object_first()) {
		part = (const void *)getauxval(AT_PHDR);
		count = (unsigned)getauxval(AT_PHNUM);
	} else if (header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0) {
		part = (const void *)(object->l_addr + header->e_phoff);
		count = header->e_phnum;
	} else {
		return (struct object_range){ 0, 0 };
	}
	for (unsigned i = 0; part && i < count; i++) {
		uintptr_t start = object->l_addr + part[i].p_vaddr, end = start + part[i].p_memsz;

		if (part[i].p_type != PT_LOAD)
			continue;
		range.start = start < range.start ? start : range.start;
		range.end = end > range.end ? end : range.end;
	}
	return range.end ? range : (struct object_range){ 0, 0 };
}

const struct link_map *object_find(const void *address)
{
	for (const struct link_map *object = object_first(); object; object = object->l_next) {
		struct object_range range = object_range(object);

		if ((uintptr_t)address - range.start < range.end - range.start)
			return object;
	}
	return NULL;
}

/* The name that other objects use for this one. */
static const char *object_name(const struct link_map *object)
{
	const char *slash = object->l_name ? strrchr(object->l_name, '/') : NULL,
		   *soname = tables_read(object).soname;

	if (soname)
		return soname;
	return slash ? slash + 1 : object->l_name;
}

bool object_needs(const struct link_map *object, const struct link_map *other)
{
	const char *strings = tables_read(object).strings, *name = object_name(other);

	for (const ElfW(Dyn) *d = object->l_ld; d && strings && name && d->d_tag != DT_NULL; d++) {
		const char *needed = strings + d->d_un.d_val, *slash;

		if (d->d_tag != DT_NEEDED)
			continue;
		slash = strrchr(needed, '/');
		if (strcmp(slash ? slash + 1 : needed, name) == 0)
			return true;
	}
	return false;
}
