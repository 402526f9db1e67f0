/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statistics of mounts: the mount point of a block device, and the bytes that NFS clients transfer.
 * A statistic of a mount is named "mount" PATH "@" SOURCE "/" FIGURE: "mount/home@sda2/read",
 * "mount@vda/written", "mount/net/x@nfs/read". The path of the root directory is empty.
 */
#ifndef SLUICE_OBSERVE_STATS_MOUNTS_H
#define SLUICE_OBSERVE_STATS_MOUNTS_H

#include <stdint.h>

struct nfs;
struct statistics;

/* Registers the statistics of a mount, in bytes, and stores their numbers in numbers[]. */
enum { MOUNT_READ, MOUNT_WRITTEN, MOUNT_FIGURES };
void mount_add(struct statistics *statistics, const char *path, const char *what,
	       unsigned numbers[MOUNT_FIGURES]);

/*
 * Finds the directory on which a block device is mounted in the text of mountinfo; the shortest one
 * if there are several. Returns NULL if it is not mounted. The caller frees it.
 */
char *mount_of_device(const char *mountinfo, const char *root, uint64_t major, uint64_t minor,
		      const char *device);

/* NFS mounts, including those that appear later: the bytes exchanged with their servers. */
struct nfs *nfs_new(const char *root);
void nfs_free(struct nfs *nfs);
void nfs_poll(struct nfs *nfs, struct statistics *statistics);

#endif
