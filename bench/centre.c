/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A centre with many nodes that send their runs to one database, replayed from a recorded trace:
 *
 *   bench_centre TRACE DATABASE NODES RUNS CONNECTIONS SAMPLE SECONDS
 *
 * Builds the payloads of the trace as a node does, with one of SAMPLE activities (0: none). Each
 * node sends RUNS runs, one after the other, through site_apply_batch() with its own id and
 * ascending sequence numbers, as its forwarder does: one transaction per run. A run gets its own
 * id, host, job and times; the runs of all nodes are spread over ten minutes of site time. Nodes
 * are divided among CONNECTIONS processes with a connection each, which send as fast as the
 * database takes it, for at most SECONDS.
 *
 * Prints one line: runs, rows, activities, bytes of payloads, seconds, CPU seconds of the senders.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "site/build.h"
#include "site/rows.h"
#include "site/site.h"
#include "store/schema.h"

#define SITE_NS (INT64_C(600) * 1000000000) /* ten minutes */
#define PAYLOADS_MAX 64			    /* of one transaction, as in daemon/forwarder.c */

struct totals {
	uint64_t runs, rows, activities, bytes;
};

struct centre {
	struct site_payload *list; /* of the trace */
	size_t count, cap;
	int64_t started_ns; /* of the trace */
	unsigned nodes, runs, connections;
	double seconds;
	const char *database;
	int64_t now_ns;
	struct totals *totals; /* one per connection; shared */
};

/* What distinguishes a run from that of the trace. */
struct identity {
	char uuid[ROWS_UUID_DIGITS + 1], host[32], job[32];
	int64_t delay_ns;
};

static _Noreturn void fail(const struct err *err)
{
	fprintf(stderr, "bench_centre: %s\n", err->text);
	exit(1);
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int keep_payload(void *arg, uint16_t type, const void *payload, size_t bytes,
			struct err *err)
{
	struct centre *c = arg;
	void *copy = xmalloc(bytes);

	(void)type, (void)err;
	memcpy(copy, payload, bytes);
	c->list = xgrow(c->list, &c->cap, c->count + 1, sizeof(*c->list));
	c->list[c->count++] = (struct site_payload){ copy, bytes };
	return 0;
}

static void set_text(struct row_value *values, const struct schema_table *table, const char *column,
		     const char *text)
{
	values[schema_column(table, column)] = row_text(text);
}

/* Gives a row of the trace the identity of the run. */
static void change_row(const struct schema_table *table, struct row_value *values,
		       const struct identity *id)
{
	if (!strcmp(table->name, "run")) {
		set_text(values, table, "uuid", id->uuid);
		set_text(values, table, "host", id->host);
		set_text(values, table, "job", id->job);
		values[schema_column(table, "started_ns")].number += id->delay_ns;
	} else if (!strcmp(table->name, "run_process")) {
		set_text(values, table, "host", id->host);
	} else if (!strcmp(table->name, "activity")) {
		values[schema_column(table, "time_ns")].number += id->delay_ns;
	}
}

static void copy_payload(const struct site_payload *from, struct rows_writer *to,
			 const struct identity *id, struct totals *totals)
{
	struct row_value values[ROWS_COLUMNS_MAX];
	struct rows_reader reader;
	struct err err = { 0 };
	int r = rows_open(&reader, from->bytes, from->count, &err);

	rows_start(to, id->uuid);
	while (r >= 0 && (r = rows_next_block(&reader, &err)) > 0) {
		bool is_activity = !strcmp(reader.table->name, "activity");

		while ((r = rows_next(&reader, values, &err)) > 0) {
			change_row(reader.table, values, id);
			rows_add(to, reader.table, values);
			totals->rows++;
			totals->activities += is_activity;
		}
	}
	if (r < 0)
		fail(&err);
	rows_finish(to);
	totals->bytes += to->bytes.len;
}

static void send_run(struct centre *c, struct site_db *site, unsigned node, unsigned run,
		     uint64_t *sequence, struct totals *totals)
{
	static struct rows_writer writers[PAYLOADS_MAX];
	struct site_payload payloads[PAYLOADS_MAX];
	struct identity id;
	struct err err = { 0 };
	size_t bad;

	snprintf(id.uuid, sizeof(id.uuid), "%08x%08x%016llx", node + 1, run + 1,
		 (unsigned long long)c->now_ns);
	snprintf(id.host, sizeof(id.host), "node%04u", node + 1);
	snprintf(id.job, sizeof(id.job), "%u", run * c->nodes + node + 1);
	id.delay_ns = c->now_ns - SITE_NS + SITE_NS / c->runs * run - c->started_ns;
	for (size_t done = 0; done < c->count;) {
		size_t n = c->count - done < PAYLOADS_MAX ? c->count - done : PAYLOADS_MAX;

		for (size_t i = 0; i < n; i++) {
			copy_payload(&c->list[done + i], &writers[i], &id, totals);
			payloads[i] = (struct site_payload){ writers[i].bytes.data,
							     writers[i].bytes.len };
		}
		if (site_apply_batch(site, id.host, *sequence + 1, payloads, n, &bad, &err) != 1)
			fail(&err);
		*sequence += n;
		done += n;
	}
	totals->runs++;
}

/* One process: the nodes whose number is `connection` modulo the number of connections. */
static void send_nodes(struct centre *c, unsigned connection)
{
	AUTO_FREE uint64_t *sequences = xcalloc(c->nodes, sizeof(*sequences));
	struct site_db *site = NULL;
	struct err err = { 0 };
	int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + (int64_t)(c->seconds * 1e9);

	if (site_open(&site, c->database, &err) < 0)
		fail(&err);
	for (unsigned node = connection; node < c->nodes; node += c->connections) {
		AUTO_FREE char *name = xprintf("node%04u", node + 1);

		/* -ENODATA, or 0: the node has sent nothing yet. */
		if (site_applied(site, name, &sequences[node], &err) < 0)
			sequences[node] = 0;
	}
	for (unsigned run = 0; run < c->runs; run++)
		for (unsigned node = connection; node < c->nodes; node += c->connections) {
			if (clock_ns(CLOCK_MONOTONIC) > end_ns)
				goto out;
			send_run(c, site, node, run, &sequences[node], &c->totals[connection]);
		}
out:
	site_close(site);
}

static void prepare(struct centre *c, const char *trace, uint64_t sample)
{
	struct build_options options = { .owner = "ann", .sample = sample };
	struct row_value values[ROWS_COLUMNS_MAX];
	struct rows_reader reader;
	struct config config;
	struct err err = { 0 };

	config_init(&config);
	options.config = &config;
	if (build_trace(trace, &options, keep_payload, c, &err) < 0 ||
	    rows_open(&reader, c->list[0].bytes, c->list[0].count, &err) < 0 ||
	    rows_next_block(&reader, &err) < 0 || rows_next(&reader, values, &err) < 0)
		fail(&err);
	/* The first row of a run is that of the table `run`. */
	c->started_ns = values[schema_column(reader.table, "started_ns")].number;
	config_release(&config);
}

static double cpu_s(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char **argv)
{
	struct centre c = { 0 };
	struct totals sum = { 0 };
	int64_t start_ns;
	int status, failed = 0;

	if (argc != 8) {
		fprintf(stderr, "usage: bench_centre TRACE DATABASE NODES RUNS CONNECTIONS SAMPLE "
				"SECONDS\n");
		return 2;
	}
	c.database = argv[2];
	c.nodes = (unsigned)strtoul(argv[3], NULL, 10);
	c.runs = (unsigned)strtoul(argv[4], NULL, 10);
	c.connections = (unsigned)strtoul(argv[5], NULL, 10);
	c.seconds = strtod(argv[7], NULL);
	c.now_ns = clock_ns(CLOCK_REALTIME);
	prepare(&c, argv[1], strtoull(argv[6], NULL, 10));
	c.totals = mmap(NULL, c.connections * sizeof(*c.totals), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	start_ns = clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < c.connections; i++) {
		if (fork() != 0)
			continue;
		send_nodes(&c, i);
		exit(0);
	}
	while (wait(&status) > 0)
		failed |= status;
	for (unsigned i = 0; i < c.connections; i++) {
		sum.runs += c.totals[i].runs;
		sum.rows += c.totals[i].rows;
		sum.activities += c.totals[i].activities;
		sum.bytes += c.totals[i].bytes;
	}
	printf("%llu %llu %llu %llu %.3f %.3f\n", (unsigned long long)sum.runs,
	       (unsigned long long)sum.rows, (unsigned long long)sum.activities,
	       (unsigned long long)sum.bytes, (double)(clock_ns(CLOCK_MONOTONIC) - start_ns) * 1e-9,
	       cpu_s());
	return failed != 0;
}
