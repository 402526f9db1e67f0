/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Serves metrics: metrics_server ADDRESS TOKEN_FILE GROUP. A group of -1 is none. Prints the port
 * and serves until its standard input ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "metrics/metrics.h"
#include "metrics/serve.h"

#define LABELS(...) ((const char *const[]){ __VA_ARGS__ })

static void update(void *arg, struct metrics *metrics)
{
	(void)arg;
	metrics_add(metrics, METRIC_ACTIVITIES, NULL, 1);
}

static void fill(struct metrics *m)
{
	static const char *const operations[] = { "read", "write", "open" };
	static const char *const classes[] = { "normal", "slow" };
	char target[16];

	for (int i = 0; i < 100; i++) {
		const char *operation = operations[i % 3], *class = classes[i % 2];

		snprintf(target, sizeof(target), "ost%d", i);
		metrics_add(m, METRIC_OPERATIONS, LABELS("lustre", target, operation, class), 1);
		metrics_add(m, METRIC_BYTES, LABELS("lustre", target, operation, class), i);
		metrics_add(m, METRIC_SECONDS, LABELS("lustre", target, operation, class), 1e-3);
		metrics_observe(m, METRIC_DURATION, LABELS("lustre", operation), 1e-6 * i * i);
	}
	metrics_add(m, METRIC_JOB_BYTES, LABELS("42", "alice", "lustre", "write"), 1e9);
	metrics_add(m, METRIC_JOB_OPERATIONS, LABELS("42", "alice", "lustre", "write"), 1000);
	metrics_set(m, METRIC_TARGET_BUSY, LABELS("lustre", "a \"quoted\\ \n name"), 0.25);
	metrics_set(m, METRIC_ANOMALY, LABELS("node", "one target"), 1);
	metrics_set(m, METRIC_MEMORY, NULL, 12345678);
	metrics_add(m, METRIC_LOST, LABELS("disk full"), 2);
}

int main(int argc, char **argv)
{
	struct metrics_server_options options = { .update = update };
	struct metrics *metrics = metrics_new();
	struct metrics_server *server;
	struct err err;
	char byte;

	if (argc != 4)
		return 2;
	options.address = argv[1];
	options.token_file = argv[2];
	options.group = (gid_t)atoi(argv[3]);
	fill(metrics);
	if (metrics_server_start(&server, metrics, &options, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%u\n", metrics_server_port(server));
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	metrics_server_stop(server);
	metrics_free(metrics);
	return 0;
}
