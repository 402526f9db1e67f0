/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What another tool has counted (trace/usage.h), as cells and as a timeline. Counters do not say
 * everything that a cell holds, so some members are estimates:
 *
 * - The sizes of accesses are known by class. An access of a class is in the bin of a frequent size
 *   of the log if that size is in the class, else in the bin in the middle of the class. All
 *   accesses of a file in STDIO are in the bin of their average size.
 * - An access that does not start right after the previous one has a long seek, unless the log has
 *   frequent gaps of at most SURVEY_SHORT_SEEK_BYTES. Accesses after one of the frequent gaps are
 *   strided. The first access of each open is sequential.
 * - An access is aligned if its offset is; what the log knows is one alignment for each file.
 * - The time of metadata is divided in proportion to the numbers of opens, stats, seeks and others.
 *   The time of syncs is part of that of writes.
 * - Positions are not known: there are no regions, no rasters and no slowest calls.
 */
#ifndef SLUICE_OBSERVE_PROFILE_COUNTED_H
#define SLUICE_OBSERVE_PROFILE_COUNTED_H

struct cell;
struct profile;
struct usage;

/* Adds all usages and flows of the head to a profile without activities. */
void counted_add(struct profile *profile);

/* Adds one usage to a cell. */
void counted_add_usage(struct cell *cell, const struct usage *usage);

#endif
