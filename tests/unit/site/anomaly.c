/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/anomaly.h"

#include <errno.h>

#include "site_sample.h"

struct seen {
	int count, systems;
	char cause[32], detail[200];
};

static int see(void *arg, const struct anomaly *a)
{
	struct seen *seen = arg;

	seen->count++;
	if (!strcmp(a->subject, ANOMALY_SYSTEM)) {
		seen->systems++;
		snprintf(seen->cause, sizeof(seen->cause), "%s", a->cause);
		snprintf(seen->detail, sizeof(seen->detail), "%s", a->detail);
	}
	return 0;
}

static int64_t raise_on(struct site_db *site, const char *node, const char *target)
{
	struct anomaly a = { .node = node,
			     .subject = "node",
			     .target = target,
			     .started_ns = 100,
			     .cause = "slow",
			     .value = 7 };
	struct err err = { 0 };
	int64_t id = 0;

	CHECK_INT(anomaly_raise(site, &a, &id, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK(id > 0);
	return id;
}

static void an_anomaly_lasts_until_it_is_ended(void)
{
	struct site_db *site = site_sample_open();
	struct seen seen = { 0 };
	int64_t id = raise_on(site, "n1", "");

	CHECK_INT(raise_on(site, "n1", ""), id);
	CHECK(raise_on(site, "n2", "") != id);
	CHECK_INT(anomaly_list(site, see, &seen, NULL), 0);
	CHECK_INT(seen.count, 2);
	CHECK_INT(anomaly_end(site, id, 200, NULL), 0);
	CHECK_INT(anomaly_end(site, id, 300, NULL), 0);
	seen.count = 0;
	CHECK_INT(anomaly_list(site, see, &seen, NULL), 0);
	CHECK_INT(seen.count, 1);
	CHECK_INT(site_sample_count(site, "SELECT ended_ns FROM anomaly ORDER BY id LIMIT 1"), 200);
	CHECK(raise_on(site, "n1", "") != id);
	site_sample_close(site);
}

static void state_load(struct site_db *site, const char *node, const char *owner, const char *job,
		       double bytes, int64_t updated_ns)
{
	struct load load = { node, owner, job, "/scratch", bytes, 1, 10, updated_ns };
	struct err err = { 0 };

	CHECK_INT(load_report(site, &load, &err), 0);
	CHECK_TEXT(err.text, "");
}

static int list_load(void *arg, const struct load *load)
{
	buf_printf(arg, "%s/%s=%.0f ", load->owner, load->job, load->bytes_read);
	return 0;
}

static void loads_are_ranked_over_nodes(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct site_db *site = site_sample_open();

	state_load(site, "n1", "ann", "1", 100, 50);
	state_load(site, "n2", "ann", "1", 100, 50);
	state_load(site, "n1", "bob", "2", 150, 50);
	state_load(site, "n1", "bob", "2", 160, 51);
	state_load(site, "n1", "old", "3", 999, 9);
	CHECK_INT(load_rank(site, 10, 10, list_load, &text, NULL), 0);
	CHECK_TEXT(buf_text(&text), "ann/1=200 bob/2=160 ");
	site_sample_close(site);
}

static void the_system_is_judged_by_what_nodes_have_in_common(void)
{
	int64_t now = INT64_C(1000000000000);
	struct site_db *site = site_sample_open();
	struct seen seen = { 0 };
	int64_t first, second;

	CHECK_INT(anomaly_judge(site, now, NULL), 0);
	first = raise_on(site, "n1", "/scratch");
	CHECK_INT(anomaly_judge(site, now, NULL), 0); /* one node is no evidence about the system */
	second = raise_on(site, "n2", "/scratch");
	CHECK_INT(anomaly_judge(site, now, NULL), 1);
	CHECK_INT(anomaly_list(site, see, &seen, NULL), 0);
	CHECK_INT(seen.systems, 1);
	CHECK_TEXT(seen.cause, "target");
	CHECK_WORDS(seen.detail, "/scratch");
	/* Without a common target, the job with most of the load is the likely cause. */
	anomaly_end(site, first, now, NULL);
	anomaly_end(site, second, now, NULL);
	first = raise_on(site, "n1", "/a");
	second = raise_on(site, "n2", "/b");
	state_load(site, "n1", "ann", "77", 900, now);
	state_load(site, "n1", "bob", "78", 100, now);
	CHECK_INT(anomaly_judge(site, now, NULL), 1);
	seen.systems = 0;
	CHECK_INT(anomaly_list(site, see, &seen, NULL), 0);
	CHECK_INT(seen.systems, 1);
	CHECK_TEXT(seen.cause, "job");
	CHECK(strstr(seen.detail, "77") && strstr(seen.detail, "ann"));
	anomaly_end(site, first, now, NULL);
	anomaly_end(site, second, now, NULL);
	CHECK_INT(anomaly_judge(site, now, NULL), 1);
	seen.count = 0;
	CHECK_INT(anomaly_list(site, see, &seen, NULL), 0);
	CHECK_INT(seen.count, 0);
	CHECK_INT(anomaly_judge(site, now, NULL), 0);
	site_sample_close(site);
}

static void changes_are_notified(void)
{
	struct site_db *site = site_sample_open(), *other = NULL;
	struct err err = { 0 };
	int64_t id = 0, heard = 0;

	if (!site_is_postgres(site)) {
		CHECK_INT(anomaly_listen(site, &err), -EOPNOTSUPP);
		site_sample_close(site);
		return;
	}
	REQUIRE(site_open(&other, site_sample_name, NULL) == 0);
	CHECK_INT(anomaly_listen(other, &err), 0);
	CHECK_INT(anomaly_wait(other, 0, &heard, &err), 0);
	id = raise_on(site, "n1", "");
	CHECK_INT(anomaly_wait(other, 60000, &heard, &err), 1);
	CHECK_INT(heard, id);
	CHECK_INT(anomaly_end(site, id, 1, &err), 0);
	CHECK_INT(anomaly_wait(other, 60000, &heard, &err), 1);
	CHECK_INT(heard, id);
	CHECK_TEXT(err.text, "");
	site_close(other);
	site_sample_close(site);
}

TESTS(TEST(an_anomaly_lasts_until_it_is_ended), TEST(loads_are_ranked_over_nodes),
      TEST(the_system_is_judged_by_what_nodes_have_in_common), TEST(changes_are_notified))
