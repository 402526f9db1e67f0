/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets the stripes of a new, empty file. Only CephFS is supported, by the attribute that `sluice
 * run
 * --params` sets as well (src/capture/apply/layout_ceph.c).
 */
#ifndef SLUICE_KERNEL_STRIPING_H
#define SLUICE_KERNEL_STRIPING_H

#include <stdbool.h>
#include <stdint.h>

struct err;

bool striping_is_settable(int fd);

/* 0: as the directory says. The objects are as large as those of the directory, rounded down to
 * whole units. Fails on other file systems, and if the file system rejects the values. */
int striping_set(int fd, uint64_t count, uint64_t unit, struct err *err);

#endif
