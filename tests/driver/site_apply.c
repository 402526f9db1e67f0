/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends a trace to a site's database as a node does: site_apply TRACE DATABASE NODE. It continues
 * after what the database has of the node, and tries again while the server is away.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "site/build.h"
#include "site/site.h"

#define PAYLOAD_BYTES (8u << 10) /* many transactions */
#define TRIES 6000
#define PAUSE_US 50000

struct payloads {
	struct site_payload *list;
	size_t count, cap;
};

static int keep_payload(void *arg, uint16_t type, const void *payload, size_t bytes,
			struct err *err)
{
	struct payloads *to = arg;
	void *copy = xmalloc(bytes);

	(void)type, (void)err;
	memcpy(copy, payload, bytes);
	to->list = xgrow(to->list, &to->cap, to->count + 1, sizeof(*to->list));
	to->list[to->count++] = (struct site_payload){ copy, bytes };
	return 0;
}

/* Opens the database and finds where to continue; waits for the server. */
static struct site_db *open_site(const char *database, const char *node, uint64_t *sequence)
{
	struct site_db *site = NULL;
	struct err err = { 0 };

	for (int i = 0; i < TRIES; i++) {
		if (site_open(&site, database, &err) >= 0) {
			if (site_applied(site, node, sequence, &err) >= 0)
				return site;
			site_close(site);
			site = NULL;
		}
		usleep(PAUSE_US);
	}
	fprintf(stderr, "site_apply: %s\n", err.text);
	exit(1);
}

int main(int argc, char **argv)
{
	struct build_options options = { .sample = 1, .payload_bytes = PAYLOAD_BYTES };
	struct payloads payloads = { 0 };
	struct config config;
	struct err err = { 0 };
	struct site_db *site;
	uint64_t sequence = 0, again = 0;

	if (argc != 4)
		return 2;
	config_init(&config);
	options.config = &config;
	options.owner = "ann";
	if (build_trace(argv[1], &options, keep_payload, &payloads, &err) < 0) {
		fprintf(stderr, "site_apply: %s\n", err.text);
		return 1;
	}
	site = open_site(argv[2], argv[3], &sequence);
	while (sequence < payloads.count) {
		const struct site_payload *p = &payloads.list[sequence];
		int r = site_apply(site, argv[3], sequence + 1, p->bytes, p->count, &err);

		if (r >= 0) {
			sequence++;
		} else if (++again > TRIES) {
			fprintf(stderr, "site_apply: %s\n", err.text);
			return 1;
		} else {
			usleep(PAUSE_US);
		}
	}
	printf("%zu payloads, %llu tries failed\n", payloads.count, (unsigned long long)again);
	site_close(site);
	return 0;
}
