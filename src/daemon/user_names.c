/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/user_names.h"

#include <pwd.h>
#include <stddef.h>

#include "base/mem.h"

char *user_names_find(uid_t user)
{
	struct passwd entry, *found = NULL;
	char room[4096];

	if (getpwuid_r(user, &entry, room, sizeof(room), &found) == 0 && found)
		return xstrdup(entry.pw_name);
	return xprintf("%u", (unsigned)user);
}
