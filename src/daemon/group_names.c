/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/group_names.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

gid_t group_names_find(const char *name)
{
	const struct group *group = *name ? getgrnam(name) : NULL;

	return group ? group->gr_gid : GROUP_NONE;
}

gid_t group_names_private(void)
{
	const struct passwd *user = geteuid() ? getpwuid(geteuid()) : NULL;
	AUTO_FREE char *name = user ? xstrdup(user->pw_name) : NULL;
	const struct group *group = name ? getgrgid(getegid()) : NULL;

	if (!group || strcmp(group->gr_name, name) != 0 || group->gr_mem[0])
		return GROUP_NONE;
	return group->gr_gid;
}
