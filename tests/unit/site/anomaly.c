/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/anomaly.h"

#include <errno.h>

#include "site/notice.h"
#include "site/report.h"
#include "site_sample.h"

#define NOW INT64_C(1000000000000)

/* What a node has sent so far; each one is a payload with the next number. */
static uint64_t sequence;

static void send_payload(struct site_db *site, struct rows_writer *writer, int expected)
{
	struct err err = { 0 };

	CHECK_INT(site_apply(site, "queue", ++sequence, buf_text(&writer->bytes), writer->bytes.len,
			     &err),
		  expected);
	CHECK_TEXT(err.text, "");
	rows_release(writer);
}

static void send_anomaly(struct site_db *site, const char *node, const char *target,
			 int64_t started_ns, int64_t ended_ns)
{
	struct rows_writer writer = { 0 };
	struct report_anomaly a = { .node = node,
				    .target = target,
				    .owner = "",
				    .job = "",
				    .cause = "slow",
				    .detail = "",
				    .started_ns = started_ns,
				    .ended_ns = ended_ns,
				    .value = 7 };

	report_put_anomaly(&writer, &a);
	send_payload(site, &writer, 1);
}

static void send_load(struct site_db *site, const char *node, const char *owner, const char *job,
		      double bytes, int64_t now_ns)
{
	struct rows_writer writer = { 0 };
	struct report_load load = { owner, job, "/scratch", bytes, 1, 10 };

	report_put_loads(&writer, node, &load, 1, now_ns);
	send_payload(site, &writer, 1);
}

static int list(void *arg, const struct anomaly *a)
{
	buf_printf(arg, "%s %s%s ", a->cause, *a->node ? a->node : "site", a->target);
	return 0;
}

static const char *lasting(struct site_db *site)
{
	static struct buf text;

	buf_clear(&text);
	CHECK_INT(anomaly_list(site, list, &text, NULL), 0);
	return buf_text(&text);
}

static void an_anomaly_lasts_until_its_node_ends_it(void)
{
	struct site_db *site = site_sample_open();
	struct rows_writer again = { 0 };

	sequence = 0;
	send_anomaly(site, "n1", "/a", 100, 0);
	send_anomaly(site, "n1", "/b", 100, 0); /* the same one: its target is known better */
	send_anomaly(site, "n2", "/a", 110, 0);
	CHECK_TEXT(lasting(site), "slow n1/b slow n2/a ");
	/* A payload that is sent again changes nothing. */
	report_put_anomaly(&again, &(struct report_anomaly){ "n1", "/x", "", "", "", "", 1, 0, 1 });
	sequence--;
	send_payload(site, &again, 0);
	send_anomaly(site, "n1", "", 100, 200);
	CHECK_TEXT(lasting(site), "slow n2/a ");
	CHECK_INT(site_sample_count(site, "SELECT ended_ns FROM anomaly WHERE node = 'n1'"), 200);
	send_anomaly(site, "n1", "", 0, 300); /* a restarted node ends what it does not know */
	CHECK_INT(site_sample_count(site, "SELECT ended_ns FROM anomaly WHERE node = 'n1'"), 200);
	send_anomaly(site, "n1", "/a", 400, 0);
	send_anomaly(site, "n1", "", 0, 350); /* it began later */
	CHECK_TEXT(lasting(site), "slow n2/a slow n1/a ");
	site_sample_close(site);
}

static void nodes_cannot_send_verdicts(void)
{
	struct site_db *site = site_sample_open();
	struct rows_writer writer = { 0 };
	struct report_anomaly a = { "", "/x", "", "", "", "", 1, 0, 1 };
	struct err err = { 0 };

	report_put_anomaly(&writer, &a);
	CHECK_INT(site_apply(site, "queue", 1, buf_text(&writer.bytes), writer.bytes.len, &err),
		  -EBADMSG);
	CHECK_TEXT(lasting(site), "");
	rows_release(&writer);
	site_sample_close(site);
}

static int list_load(void *arg, const struct load *load)
{
	buf_printf(arg, "%s/%s=%.0f,%.0f%% ", load->owner, load->job, load->bytes_read,
		   100 * load->byte_share);
	return 0;
}

static void loads_are_ranked_over_nodes(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct site_db *site = site_sample_open();

	sequence = 0;
	send_load(site, "n0", "old", "3", 999, NOW - 2 * ANOMALY_STALE_NS);
	send_load(site, "n1", "bob", "2", 150, NOW);
	send_load(site, "n1", "bob", "2", 159, NOW);
	send_load(site, "n2", "ann", "1", 119, NOW);
	send_load(site, "n3", "ann", "1", 119, NOW);
	CHECK_INT(load_rank(site, NOW, NULL, 10, list_load, &text, NULL), 0);
	CHECK_TEXT(buf_text(&text), "ann/1=238,60% bob/2=159,40% ");
	buf_clear(&text);
	CHECK_INT(load_rank(site, NOW, "/other", 10, list_load, &text, NULL), 0);
	CHECK_TEXT(buf_text(&text), "");
	/* A report replaces the previous one of the node. */
	send_load(site, "n1", "cat", "9", 1, NOW);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM node_load WHERE node = 'n1' AND "
					  "owner <> ''"),
		  1);
	site_sample_close(site);
}

static void report_sums_up_what_exceeds_it(void)
{
	struct site_db *site = site_sample_open();
	struct report_load loads[REPORT_LOADS + 10];
	struct rows_writer writer = { 0 };
	char jobs[REPORT_LOADS + 10][8];

	sequence = 0;
	for (int i = 0; i < REPORT_LOADS + 10; i++) {
		snprintf(jobs[i], sizeof(jobs[i]), "%d", i);
		loads[i] = (struct report_load){ "ann", jobs[i], "/s", i < 10 ? 1 : 100, 0, 1 };
	}
	report_put_loads(&writer, "n1", loads, REPORT_LOADS + 10, NOW);
	send_payload(site, &writer, 1);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM node_load"), REPORT_LOADS + 1);
	CHECK_INT(site_sample_count(site, "SELECT CAST(sum(bytes_read) AS INTEGER) FROM node_load "
					  "WHERE owner = ''"),
		  10);
	site_sample_close(site);
}

static void verdicts_hold_while_the_evidence_does(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct site_db *site = site_sample_open();

	sequence = 0;
	CHECK_INT(anomaly_judge(site, NOW, NULL), 0);
	send_load(site, "n1", "ann", "1", 100, NOW);
	send_load(site, "n2", "bob", "2", 100, NOW);
	send_load(site, "n3", "cat", "77", 9000, NOW);
	send_anomaly(site, "n1", "/scratch", NOW, 0);
	CHECK_INT(anomaly_judge(site, NOW, NULL), 1);
	CHECK_TEXT(lasting(site), "slow n1/scratch likely node n1/scratch ");
	CHECK_INT(anomaly_judge(site, NOW, NULL), 0); /* nothing is new */
	/* The second node changes the verdict. */
	send_anomaly(site, "n2", "/scratch", NOW, 0);
	CHECK_INT(anomaly_judge(site, NOW, NULL), 2);
	CHECK_TEXT(lasting(site), "slow n1/scratch slow n2/scratch likely job site/scratch ");
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM anomaly WHERE owner = 'cat' AND "
					  "job = '77'"),
		  1);
	/* Nodes that use the target receive it, while the reasoner is alive. */
	CHECK_INT(anomaly_list_verdicts(site, "n3", NOW, list, &text, NULL), 0);
	CHECK_TEXT(buf_text(&text), "likely job site/scratch ");
	buf_clear(&text);
	CHECK_INT(anomaly_list_verdicts(site, "n4", NOW, list, &text, NULL), 0);
	CHECK_INT(anomaly_list_verdicts(site, "n3", NOW + 2 * ANOMALY_STALE_NS, list, &text, NULL),
		  0);
	CHECK_TEXT(buf_text(&text), "");
	/* The job ends, and its load with it. */
	send_load(site, "n3", "dan", "78", 100, NOW);
	CHECK_INT(anomaly_judge(site, NOW, NULL), 1);
	CHECK_TEXT(lasting(site), "slow n1/scratch slow n2/scratch likely target site/scratch ");
	send_anomaly(site, "n1", "", NOW, NOW + 1);
	send_anomaly(site, "n2", "", NOW, NOW + 1);
	CHECK_INT(anomaly_judge(site, NOW + 1, NULL), 1);
	CHECK_TEXT(lasting(site), "");
	CHECK_INT(anomaly_judge(site, NOW + 1, NULL), 0);
	site_sample_close(site);
}

static void silent_nodes_do_not_count(void)
{
	struct site_db *site = site_sample_open();
	int64_t later = NOW + 3 * ANOMALY_STALE_NS;

	sequence = 0;
	send_anomaly(site, "n1", "/scratch", NOW, 0);
	send_anomaly(site, "n2", "/scratch", NOW, 0);
	CHECK_INT(anomaly_judge(site, NOW, NULL), 1);
	send_load(site, "n2", "bob", "2", 100, later);
	CHECK_INT(anomaly_judge(site, later, NULL), 2);
	CHECK_TEXT(lasting(site), "slow n1/scratch slow n2/scratch possible node n2/scratch ");
	site_sample_close(site);
}

static void changes_are_notified(void)
{
	struct site_db *site = site_sample_open(), *other = NULL;
	struct err err = { 0 };
	enum notice notice = NOTICES;
	int64_t heard = 0;

	sequence = 0;
	if (!site_is_postgres(site)) {
		CHECK_INT(notice_listen(site, NOTICE_ANOMALY, &err), -EOPNOTSUPP);
		site_sample_close(site);
		return;
	}
	REQUIRE(site_open(&other, site_sample_name, NULL) == 0);
	CHECK_INT(notice_listen(other, NOTICE_ANOMALY, &err), 0);
	CHECK_INT(notice_wait(other, 0, &notice, &heard, &err), 0);
	send_anomaly(site, "n1", "", 1, 0);
	CHECK_INT(notice_wait(other, 60000, &notice, &heard, &err), 1);
	CHECK_INT(notice, NOTICE_ANOMALY);
	CHECK_INT(heard, site_sample_count(site, "SELECT id FROM anomaly"));
	heard = 0;
	send_anomaly(site, "n1", "", 1, 2);
	CHECK_INT(notice_wait(other, 60000, &notice, &heard, &err), 1);
	CHECK(heard > 0);
	CHECK_TEXT(err.text, "");
	site_close(other);
	site_sample_close(site);
}

TESTS(TEST(an_anomaly_lasts_until_its_node_ends_it), TEST(nodes_cannot_send_verdicts),
      TEST(loads_are_ranked_over_nodes), TEST(report_sums_up_what_exceeds_it),
      TEST(verdicts_hold_while_the_evidence_does), TEST(silent_nodes_do_not_count),
      TEST(changes_are_notified))
