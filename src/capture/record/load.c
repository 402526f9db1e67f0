/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/load.h"

#include <stddef.h>
#include <stdint.h>

#include "capture/record/old_libc.h"
#include "capture/record/symbols.h"

/* What glibc before 2.34 uses itself: with this flag, it is dlopen() without messages. */
#define PRIVATE_OPEN "__libc_dlopen_mode"
#define PRIVATE_CLOSE "__libc_dlclose"
#define PRIVATE_FLAG ((int)0x80000000u)

struct link_map *object_load(const char *path, int flags)
{
	struct link_map *(*open_privately)(const char *, int);
	struct link_map *object;

	if (!libc_has(dlopen)) {
		open_privately =
			(__typeof__(open_privately))(uintptr_t)symbol_find_next(PRIVATE_OPEN, NULL);
		return open_privately ? open_privately(path, flags | PRIVATE_FLAG) : NULL;
	}
	/* In glibc, a handle is the object. */
	object = dlopen(path, flags);
	if (!object && libc_has(dlerror))
		dlerror();
	return object;
}

void object_unload(struct link_map *object)
{
	int (*close_privately)(struct link_map *);

	if (libc_has(dlclose)) {
		dlclose(object);
		return;
	}
	close_privately =
		(__typeof__(close_privately))(uintptr_t)symbol_find_next(PRIVATE_CLOSE, NULL);
	if (close_privately)
		close_privately(object);
}
