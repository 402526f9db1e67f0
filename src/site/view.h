/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a page shows of a site's PostgreSQL: runs, the sums and findings of one run, anomalies and
 * loads. The database decides which rows the caller sees. Texts of rows are valid during the call
 * of visit() only.
 */
#ifndef SLUICE_SITE_VIEW_H
#define SLUICE_SITE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct site_db;

struct view_run {
	int64_t number; /* of the row */
	const char *id, *owner, *job, *program, *command, *host;
	int64_t started_ns, duration_ns, exit_status, processes, ranks;
	int64_t activities, kept, sample, lost;
	int64_t bytes_read, bytes_written;
	double io_share; /* NAN: unknown */
	bool is_complete, is_hidden;
};

enum view_order {
	VIEW_BY_START,
	VIEW_BY_DURATION,
	VIEW_BY_CALLS,
	VIEW_BY_BYTES,
	VIEW_BY_COMMAND,
	VIEW_ORDERS
};

struct view_query {
	const char *search; /* a part of the command, program, host, owner, job or id; "": all */
	enum view_order order;
	bool ascending;
	int64_t limit, offset;
};

typedef void view_visit_run(void *arg, const struct view_run *run);

/* Returns how many runs match in all, or -errno. */
int64_t view_runs(struct site_db *site, const struct view_query *query, view_visit_run *visit,
		  void *arg, struct err *err);

/* The only run whose id starts like that. -ENOENT: none that the caller may see, or several. */
int view_run(struct site_db *site, const char *id, view_visit_run *visit, void *arg,
	     struct err *err);

/* Sums of a run by layer, by file and layer, or by rank (or process) and layer. */
enum view_part { VIEW_LAYERS, VIEW_FILES, VIEW_MEMBERS, VIEW_PARTS };

struct view_sum {
	const char *layer;
	const char *file, *filesystem; /* NULL: of another part, or unknown */
	int64_t member;
	int64_t calls, errors, opens, reads, writes, bytes_read, bytes_written, time_ns;
	int64_t sequential, small, first_ns, last_ns;
};

typedef void view_visit_sum(void *arg, const struct view_sum *sum);

/* Those with the most time first. Returns how many there are in all, or -errno. */
int64_t view_sums(struct site_db *site, int64_t run, enum view_part part, int64_t limit,
		  view_visit_sum *visit, void *arg, struct err *err);

struct view_finding {
	const char *code, *title, *severity, *evidence, *file; /* file NULL: none */
	bool is_possible;
	double share, gain; /* NAN: unknown */
	int64_t files;
};

typedef void view_visit_finding(void *arg, const struct view_finding *finding);
int view_findings(struct site_db *site, int64_t run, view_visit_finding *visit, void *arg,
		  struct err *err);

/* An anomaly that lasts (ended_ns 0) or lasted, and a load; see site/report.h. */
struct view_anomaly {
	const char *node, *subject, *owner, *job, *target, *cause, *detail;
	int64_t started_ns, ended_ns;
	double value;
};

struct view_load {
	const char *owner, *job, *target;
	int64_t nodes;
	double bytes_read, bytes_written, operations; /* per second */
};

typedef void view_visit_anomaly(void *arg, const struct view_anomaly *anomaly);
typedef void view_visit_load(void *arg, const struct view_load *load);

/* Those that last come first, then those that began last. */
int view_anomalies(struct site_db *site, int64_t limit, view_visit_anomaly *visit, void *arg,
		   struct err *err);
/* The loads of the last minute, the largest first. */
int view_loads(struct site_db *site, int64_t limit, view_visit_load *visit, void *arg,
	       struct err *err);

#endif
