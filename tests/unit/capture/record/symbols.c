/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The lookup of symbols without the dynamic linker, compared with dlsym().
 */
#include "check.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#include "capture/record/symbols.h"

/* In glibc, a handle is the object. */
static struct link_map *libc_find(void)
{
	static void *libc;

	if (!libc)
		libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	REQUIRE(libc);
	return libc;
}

static void symbols_of_libc_are_those_of_dlsym(void)
{
	static const char *const names[] = { "open",	"openat",   "read",	"write",
					     "pread64", "fopen",    "fopen64",	"close",
					     "mmap",	"stat",	    "prctl",	"syscall",
					     "fprintf", "aio_read", "getdelim", "sendfile",
					     "_exit" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK(symbol_find(libc_find(), names[i]) == dlsym(libc_find(), names[i]));
		CHECK(symbol_find_next(names[i], NULL) == dlsym(RTLD_NEXT, names[i]));
	}
}

static void a_function_with_several_implementations_is_resolved(void)
{
	CHECK(symbol_find(libc_find(), "memcpy") == dlsym(libc_find(), "memcpy"));
	CHECK(symbol_find(libc_find(), "strlen") == dlsym(libc_find(), "strlen"));
}

static void a_missing_symbol_is_null(void)
{
	CHECK(!symbol_find_next("sluice_has_no_such_function", NULL));
	CHECK(!symbol_find_next("", NULL));
	CHECK(!symbol_find(libc_find(), "main"));
}

/* dlsym() does not find functions that only old programs are linked with. */
static void an_old_version_is_found(void)
{
	void *old = dlvsym(libc_find(), "llseek", "GLIBC_2.2.5");

	if (old && !dlsym(libc_find(), "llseek"))
		CHECK(symbol_find(libc_find(), "llseek") == old);
}

static void a_search_ends_at_the_last_object(void)
{
	/* libc is needed by this program, so it comes after it. */
	CHECK(symbol_find_next("puts", libc_find()) != NULL);
	/* Usually the vDSO, which an emulator may lack. */
	if (object_first()->l_next != libc_find())
		CHECK(!symbol_find_next("puts", object_first()->l_next));
	CHECK(object_last() && !object_last()->l_next);
}

static void an_address_belongs_to_one_object(void)
{
	static int own;
	int local = 0;
	struct object_range range = object_range(libc_find());

	CHECK(object_find(&own) == object_first());
	CHECK(object_is_own(object_first()));
	CHECK(!object_is_own(libc_find()));
	CHECK(!object_find(&local));
	CHECK(!object_find(NULL));
	CHECK(range.start < (uintptr_t)dlsym(libc_find(), "puts"));
	CHECK((uintptr_t)dlsym(libc_find(), "puts") < range.end);
	CHECK(object_find(dlsym(libc_find(), "puts")) == libc_find());
}

static void needed_libraries_are_found_by_name(void)
{
	CHECK(object_needs(object_first(), libc_find()));
	CHECK(!object_needs(libc_find(), object_first()));
}

TESTS(TEST(symbols_of_libc_are_those_of_dlsym),
      TEST(a_function_with_several_implementations_is_resolved), TEST(a_missing_symbol_is_null),
      TEST(an_old_version_is_found), TEST(a_search_ends_at_the_last_object),
      TEST(an_address_belongs_to_one_object), TEST(needed_libraries_are_found_by_name))
