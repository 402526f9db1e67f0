/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loading of libraries into the program. What old versions of glibc need is not executed here.
 */
#include "check.h"

#include <dlfcn.h>
#include <link.h>

#include "capture/record/load.h"
#include "capture/record/symbols.h"

static void a_library_is_loaded_and_its_symbols_are_found(void)
{
	struct link_map *object = object_load("libc.so.6", RTLD_NOW | RTLD_LOCAL);

	REQUIRE(object);
	CHECK(symbol_find(object, "dlopen") == dlsym(object, "dlopen"));
	object_unload(object);
	/* The program itself uses it, so it stays. */
	object = object_load("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	REQUIRE(object);
	object_unload(object);
}

static void the_program_does_not_see_a_failure(void)
{
	dlerror();
	CHECK(!object_load("/nonexistent/library.so", RTLD_NOW));
	CHECK(!dlerror());
	/* The check itself works. */
	CHECK(!dlopen("/nonexistent/library.so", RTLD_NOW));
	CHECK(dlerror());
}

TESTS(TEST(a_library_is_loaded_and_its_symbols_are_found), TEST(the_program_does_not_see_a_failure))
