/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The status of the daemon as JSON of the schema sluice.daemon/1, for `sluiced status` and everyone
 * who asks over the socket. It names users and jobs only if the caller says so.
 */
#ifndef SLUICE_DAEMON_STATUS_H
#define SLUICE_DAEMON_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/alert.h"
#include "daemon/counters.h"
#include "daemon/exchange/backlogs.h"
#include "daemon/forwarder.h"
#include "daemon/submission.h"
#include "daemon/sums_table.h"
#include "observe/collect/reception.h"

struct buf;
struct err;

/* What the daemon knows of itself at a moment. */
struct status_view {
	double uptime_s;
	uint64_t memory_limit; /* of the whole daemon, bytes */
	int rules;	       /* of the policy */
	const struct counters *counters;
	struct sums_counts sums;
	struct backlogs_counts backlogs;
	struct reception_counts reception;
	struct submission_counts submission;
	uint64_t traces_limit; /* bytes; 0: none */
	bool has_forwarder;    /* there is a database */
	struct forwarder_status forwarder;
	struct alert alert;
	bool with_names; /* the reader may see the jobs of all users */
};

void status_write(struct buf *out, const struct status_view *view);

/* Resident memory of this process in bytes; 0: unknown. */
uint64_t status_resident_bytes(void);

/* Asks the daemon that listens to the socket. Waits a bounded time. */
int status_ask(struct buf *out, const char *socket_path, struct err *err);

#endif
