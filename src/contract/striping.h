/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How file systems describe the stripes of a file: the structures and names of their interfaces.
 * Guest-safe.
 */
#ifndef SLUICE_CONTRACT_STRIPING_H
#define SLUICE_CONTRACT_STRIPING_H

#include <stdint.h>
#include <sys/ioctl.h>

/* The attribute of a file on Lustre, struct lov_user_md: the common part of versions 1 and 3. */
#define LUSTRE_STRIPES "lustre.lov"
#define LUSTRE_STRIPES_1 0x0BD10BD0u
#define LUSTRE_STRIPES_3 0x0BD30BD0u
#define LUSTRE_POOL_BYTES 16 /* of the pool name before the objects in version 3 */

struct lustre_stripes {
	uint32_t magic, pattern;
	uint64_t object[2];
	uint32_t size;
	uint16_t count, first;
};

/* struct lov_user_ost_data: one per stripe. */
struct lustre_object {
	uint64_t id[2];
	uint32_t generation, target;
};

/* The attribute of a file on CephFS: "stripe_unit=N stripe_count=N object_size=N pool=NAME". */
#define CEPH_LAYOUT "ceph.file.layout"

/* What an ioctl of a file on BeeGFS returns. */
struct beegfs_stripes {
	unsigned pattern, chunk;
	uint16_t targets;
};
#define BEEGFS_STRIPES _IOR('f', 25, struct beegfs_stripes)

#endif
