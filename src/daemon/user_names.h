/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of users of the operating system.
 */
#ifndef SLUICE_DAEMON_USER_NAMES_H
#define SLUICE_DAEMON_USER_NAMES_H

#include <sys/types.h>

/* The name of a user; its number if it has none. The caller frees it. May ask the network. */
char *user_names_find(uid_t user);

#endif
