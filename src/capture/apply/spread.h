/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spreads new files over several directories, from the run's parameters (spread_directories). The
 * file is created in the directory that the backlog chooses (capture/apply/placed.h) or the rotation
 * assigns (capture/apply/weighted_rotation.h), and a symbolic link to it is created where the program creates the file. Then the program's open
 * follows the link. Guest.
 *
 * The file exists before the link. So if the directory rejects the file (no space, no permission,
 * unsupported flags), the open is made as the program asked. Creating the link satisfies O_EXCL,
 * because only one process can succeed. If the program removes the file, or replaces it by a
 * rename, the file is removed together with its link. The guest recognizes its links by their
 * target: in one of the directories, with a name that ends in a mark and a random number. If a
 * program copies a link (cp -a, mv to another file system), the copy points to a second hard link
 * of the file, so the file exists until both are removed.
 *
 * If links are removed by programs outside Sluice, or in a run without the parameter, the file
 * stays; so it may if processes replace the same name at the same time. Files in directories that
 * all users may write to, such as /tmp, are not spread, because the kernel may refuse to follow
 * links there.
 */
#ifndef SLUICE_CAPTURE_APPLY_SPREAD_H
#define SLUICE_CAPTURE_APPLY_SPREAD_H

#include <fcntl.h>

#include "capture/apply/rules.h"
#include "capture/libraries/info.h"
#include "capture/record/frame.h"

struct layout;
struct layout_workspace;

/* Stands between a file's name and its number, which has SPREAD_DIGITS hexadecimal digits. */
#define SPREAD_MARK ".sluice."
#define SPREAD_DIGITS 16

/* The file behind a link that is being removed, or the target of a copied link. */
struct spread_removal {
	char *target; /* in mapped memory; NULL: it is not a link of the guest */
	int link;     /* descriptor of the link being removed, or -1; valid if target is set */
};

#pragma GCC visibility push(hidden)

/*
 * Creates the file and its link if there is a rule for the path in the workspace. True: there is an
 * outcome to record, and spread_end() has to be called after the open.
 */
bool spread_begin(struct layout *layout, struct layout_workspace *space);

/* After the open, which has returned fd: fills in the texts of the record. */
void spread_end(struct layout *layout, int fd, struct layout_workspace *space);

void spread_removes_slow(struct spread_removal *removal, int directory, const char *path);
void spread_replaces_slow(struct spread_removal *removal, int directory, const char *path,
			  int to_directory, const char *to);
void spread_copies_slow(struct spread_removal *removal, const char *target);
void spread_removed_slow(struct spread_removal *removal, int result);
void spread_copied_slow(struct spread_removal *removal, int result);

#pragma GCC visibility pop

/* Before a name is removed, and before `to` is replaced by path. Both keep errno. */
static inline void spread_removes(struct spread_removal *removal, int directory, const char *path)
{
	removal->target = NULL;
	if (unlikely(rules_places & RULES_SPREAD))
		spread_removes_slow(removal, directory, path);
}

static inline void spread_replaces(struct spread_removal *removal, int directory, const char *path,
				   int to_directory, const char *to)
{
	removal->target = NULL;
	if (unlikely(rules_places & RULES_SPREAD))
		spread_replaces_slow(removal, directory, path, to_directory, to);
}

/* Before a link to `target` is created; removal->target replaces it if it is not NULL. */
static inline void spread_copies(struct spread_removal *removal, const char *target)
{
	removal->target = NULL;
	if (unlikely(rules_places & RULES_SPREAD))
		spread_copies_slow(removal, target);
}

/* After a name was removed or replaced, with this result. Keeps errno. */
static inline void spread_removed(struct spread_removal *removal, int result)
{
	if (unlikely(removal->target))
		spread_removed_slow(removal, result);
}

/* After a link was created; on failure the second hard link is removed. Keeps errno. */
static inline void spread_copied(struct spread_removal *removal, int result)
{
	if (unlikely(removal->target))
		spread_copied_slow(removal, result);
}

/* For rows of interfaces/. */
#define SPREAD_REMOVES(directory, path) \
	struct spread_removal removal;  \
	spread_removes(&removal, directory, path)

#define SPREAD_REPLACES(directory, path, to_directory, to) \
	struct spread_removal removal;                     \
	spread_replaces(&removal, directory, path, to_directory, to)

#define SPREAD_COPIES(target)          \
	struct spread_removal removal; \
	spread_copies(&removal, target)

#endif
