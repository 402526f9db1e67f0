/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Users and groups of the operating system. In a file of its own, because the group of <grp.h> is
 * not the one of contract/group.h.
 */
#ifndef SLUICE_DAEMON_ACCOUNTS_H
#define SLUICE_DAEMON_ACCOUNTS_H

#include <sys/types.h>

#define GROUP_NONE ((gid_t)-1)

/* The name of a user; its number if it has none. The caller frees it. May ask the network. */
char *accounts_user_name(uid_t user);

/* The group of this name; GROUP_NONE if there is none, or if the name is empty. */
gid_t accounts_find_group(const char *name);

/*
 * The effective group, if it is private to the effective user: it has the user's name and no other
 * members. GROUP_NONE otherwise, and for root.
 */
gid_t accounts_private_group(void);

#endif
