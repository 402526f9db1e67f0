/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The status of the daemon as JSON of the schema sluice.daemon/1, for `sluiced status` and everyone
 * who asks over the socket. It names no user and no job.
 */
#ifndef SLUICE_DAEMON_STATUS_H
#define SLUICE_DAEMON_STATUS_H

#include <stdint.h>

struct buf;
struct counters;
struct err;
struct sums_counts;

void status_write(struct buf *out, const struct counters *counters, const struct sums_counts *sums,
		  double uptime_s);

/* Resident memory of this process in bytes; 0: unknown. */
uint64_t status_resident_bytes(void);

/* Asks the daemon that listens to the socket. Waits a bounded time. */
int status_ask(struct buf *out, const char *socket_path, struct err *err);

#endif
