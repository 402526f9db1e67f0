/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/accounts.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

char *accounts_user_name(uid_t user)
{
	struct passwd entry, *found = NULL;
	char room[4096];

	if (getpwuid_r(user, &entry, room, sizeof(room), &found) == 0 && found)
		return xstrdup(entry.pw_name);
	return xprintf("%u", (unsigned)user);
}

gid_t accounts_find_group(const char *name)
{
	const struct group *group = *name ? getgrnam(name) : NULL;

	return group ? group->gr_gid : GROUP_NONE;
}

gid_t accounts_private_group(void)
{
	const struct passwd *user = geteuid() ? getpwuid(geteuid()) : NULL;
	AUTO_FREE char *name = user ? xstrdup(user->pw_name) : NULL;
	const struct group *group = name ? getgrgid(getegid()) : NULL;

	if (!group || strcmp(group->gr_name, name) != 0 || group->gr_mem[0])
		return GROUP_NONE;
	return group->gr_gid;
}
