/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the database holds, as far as the user may see it.
 */
#ifndef SLUICE_SITE_STATUS_H
#define SLUICE_SITE_STATUS_H

#include <stdint.h>

struct err;
struct site_db;

struct site_status {
	int version; /* of the schema */
	int64_t runs, users;
	int64_t activities; /* that runs have in the database */
	int64_t archived;   /* activities in the archive */
	int64_t findings;
	int64_t first_ns, last_ns; /* start of the oldest and of the newest run; 0: none */
	int64_t bytes;		   /* of the database; -1: unknown */
	int64_t partitions;	   /* of the activities; 0 in SQLite */
	int64_t nodes;		   /* that send payloads; -1: the user may not know */
	int64_t heard_ns;	   /* when one of them sent last */
};

int site_status(struct site_db *site, struct site_status *status, struct err *err);

#endif
