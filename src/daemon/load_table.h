/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who loads which file system: calls and bytes by user, job and place. Runs hold the entries that
 * they add to. Its size is fixed: beyond LOAD_ENTRIES, the rest is one entry without user and job.
 * Two readers follow independently: the metrics, and the report to the site. An entry goes when no
 * run holds it, both have read it, and nothing was added for LOAD_LINGER_NS, so that Prometheus
 * sees the last value. Belongs to the thread that has the lock of the observer.
 */
#ifndef SLUICE_DAEMON_LOAD_TABLE_H
#define SLUICE_DAEMON_LOAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LOAD_ENTRIES 256
#define LOAD_JOB_BYTES 64
#define LOAD_LINGER_NS (INT64_C(300) * 1000000000)

enum load_operation { LOAD_READ, LOAD_WRITE, LOAD_OTHER, LOAD_OPERATIONS };
enum load_reader { LOAD_METRICS, LOAD_REPORT, LOAD_READERS };

struct load_counts {
	uint64_t calls[LOAD_OPERATIONS], bytes[LOAD_OPERATIONS];
};

/* What was added since a reader asked last. */
struct load_sum {
	bool is_other; /* more jobs than the table has entries; user and job mean nothing */
	bool is_gone;  /* this was the last entry of the job */
	uid_t user;
	char job[LOAD_JOB_BYTES]; /* "": none */
	unsigned place;
	struct load_counts counts;
};

struct load_entry {
	bool is_used;
	unsigned holders;
	int64_t changed_ns;
	struct load_sum name;
	struct load_counts total, seen[LOAD_READERS];
};

/* Entry 0 is the one of all others. A zeroed table is empty. */
struct load_table {
	struct load_entry entries[LOAD_ENTRIES];
};

/* Holds an entry and returns its number. Give it back by load_table_close(). */
unsigned load_table_open(struct load_table *table, uid_t user, const char *job, unsigned place);
void load_table_close(struct load_table *table, unsigned entry);

void load_table_add(struct load_table *table, unsigned entry, enum load_operation operation,
		    uint64_t calls, uint64_t bytes);

/* Writes what is new for a reader to out, which has room for LOAD_ENTRIES. Returns the number. */
size_t load_table_read(struct load_table *table, enum load_reader reader, int64_t now_ns,
		       struct load_sum *out);

#endif
