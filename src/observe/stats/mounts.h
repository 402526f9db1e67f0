/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is mounted: the place of a block device, and the bytes that NFS clients move. A figure of a
 * mount is called "mount" PATH "@" WHAT "/" FIGURE: "mount/home@sda2/read", "mount@vda/written",
 * "mount/net/x@nfs/read"; the path of the root is empty.
 */
#ifndef SLUICE_OBSERVE_STATS_MOUNTS_H
#define SLUICE_OBSERVE_STATS_MOUNTS_H

#include <stdint.h>

struct nfs;
struct statistics;

/* Figures of a mount: bytes. Their numbers go to numbers[]. */
enum { MOUNT_READ, MOUNT_WRITTEN, MOUNT_FIGURES };
void mount_add(struct statistics *statistics, const char *path, const char *what,
	       unsigned numbers[MOUNT_FIGURES]);

/*
 * The directory on which a block device is mounted, by the text of mountinfo: of several the
 * shortest. NULL: none. The caller frees.
 */
char *mount_of_device(const char *mountinfo, const char *root, uint64_t major, uint64_t minor,
		      const char *device);

/* Mounts of NFS, those that come later included: what was exchanged with their servers. */
struct nfs *nfs_new(const char *root);
void nfs_free(struct nfs *nfs);
void nfs_poll(struct nfs *nfs, struct statistics *statistics);

#endif
