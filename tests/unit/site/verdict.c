/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/verdict.h"

#include <stdlib.h>

#include "base/buf.h"
#include "check.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define EVIDENCE(anomalies, loads) \
	(&(struct verdict_evidence){ anomalies, COUNT(anomalies), loads, COUNT(loads) })

static struct verdict *judged;
static size_t judged_count;

/* Judges, and returns "CAUSE NODE TARGET JOB OWNER|..." of all verdicts. */
static const char *judge(const struct verdict_evidence *evidence)
{
	static struct buf text;

	verdict_free(judged, judged_count);
	judged_count = verdict_judge(evidence, &judged);
	buf_clear(&text);
	for (size_t i = 0; i < judged_count; i++) {
		buf_puts(&text, i ? "|" : "");
		verdict_put_cause(&text, &judged[i]);
		buf_printf(&text, " n=%s t=%s j=%s o=%s", judged[i].node, judged[i].target,
			   judged[i].job, judged[i].owner);
	}
	return buf_text(&text);
}

static const struct verdict_load even[] = {
	{ "n1", "ann", "1", "/s", 100, 10 },
	{ "n2", "bob", "2", "/s", 100, 10 },
	{ "n3", "cat", "3", "/s", 100, 10 },
};

static void nothing_slow_gives_no_verdict(void)
{
	struct verdict_evidence none = { 0 };

	CHECK_TEXT(judge(&none), "");
	none.loads = even;
	none.load_count = COUNT(even);
	CHECK_TEXT(judge(&none), "");
}

static void one_slow_node_is_the_cause_if_others_use_the_target(void)
{
	static const struct verdict_anomaly one[] = { { "n1", "/s", 5 } };
	static const struct verdict_load alone[] = { { "n1", "ann", "1", "/s", 100, 10 },
						     { "n2", "bob", "2", "/t", 100, 10 } };
	static const struct verdict_load two[] = { { "n1", "ann", "1", "/s", 100, 10 },
						   { "n2", "bob", "2", "/s", 100, 10 } };

	CHECK_TEXT(judge(EVIDENCE(one, even)), "likely node n=n1 t=/s j= o=");
	CHECK_WORDS(judged[0].detail, "only n1|2 other nodes use /s");
	CHECK(judged[0].value == 5);
	CHECK_TEXT(judge(EVIDENCE(one, two)), "possible node n=n1 t=/s j= o=");
	CHECK_WORDS(judged[0].detail, "1 other node uses /s");
	CHECK_TEXT(judge(EVIDENCE(one, alone)), "possible node n=n1 t=/s j= o=");
	CHECK_WORDS(judged[0].detail, "no other node uses /s");
}

static void file_systems_of_nodes_are_not_one_target(void)
{
	static const struct verdict_anomaly own[] = { { "n2", "n2:/tmp", 3 },
						      { "n1", "n1:/tmp", 5 } };

	CHECK_TEXT(judge(EVIDENCE(own, even)),
		   "likely node n=n1 t=n1:/tmp j= o=|likely node n=n2 t=n2:/tmp j= o=");
	CHECK_WORDS(judged[0].detail, "own file system /tmp");
}

static void common_target_is_the_cause_if_no_job_stands_out(void)
{
	static const struct verdict_anomaly two[] = { { "n1", "/s", 5 }, { "n2", "/s", 9 } };
	static const struct verdict_load many[] = {
		{ "n1", "ann", "1", "/s", 100, 10 }, { "n2", "bob", "2", "/s", 100, 10 },
		{ "n3", "cat", "3", "/s", 100, 10 }, { "n4", "dan", "4", "/s", 100, 10 },
		{ "n5", "", "", "/s", 300, 90 }, /* many others, none of which is known */
	};

	CHECK_TEXT(judge(EVIDENCE(two, even)), "likely target n= t=/s j= o=");
	CHECK_WORDS(judged[0].detail, "2 of 3 nodes that use /s are slow|no job stands out");
	CHECK(judged[0].value == 9);
	/* Most nodes use it without delay, so it may be something else. */
	CHECK_TEXT(judge(EVIDENCE(two, many)), "possible target n= t=/s j= o=");
}

static void job_that_causes_the_load_is_named(void)
{
	static const struct verdict_anomaly two[] = { { "n1", "/s", 5 }, { "n2", "/s", 9 } };
	static const struct verdict_load hog[] = {
		{ "n1", "ann", "1", "/s", 10, 10 },	{ "n2", "bob", "2", "/s", 10, 10 },
		{ "n3", "cat", "77", "/s", 500, 10 },	{ "n4", "cat", "77", "/s", 480, 10 },
		{ "n5", "dan", "9", "/other", 1e9, 1 },
	};
	static const struct verdict_load storm[] = {
		{ "n1", "ann", "1", "/s", 50, 10 },
		{ "n2", "bob", "2", "/s", 49, 10 },
		{ "n3", "cat", "", "/s", 40, 900 },
	};
	static const struct verdict_load victims[] = { { "n1", "ann", "1", "/s", 500, 10 },
						       { "n2", "ann", "1", "/s", 500, 10 } };

	/* Two of four nodes are slow, which is not most of them. */
	CHECK_TEXT(judge(EVIDENCE(two, hog)), "possible job n= t=/s j=77 o=cat");
	CHECK_WORDS(judged[0].detail, "job 77 of cat|98 % of the bytes|50 % of the operations");
	CHECK_TEXT(judge(&(struct verdict_evidence){ two, 2, hog, 3 }),
		   "likely job n= t=/s j=77 o=cat");
	/* Operations count if nobody moves most of the bytes. */
	CHECK_TEXT(judge(EVIDENCE(two, storm)), "likely job n= t=/s j= o=cat");
	CHECK_WORDS(judged[0].detail, "runs of cat outside of jobs|98 % of the operations");
	/* The job is slow itself, and nobody else: it may be the victim. */
	CHECK_TEXT(judge(EVIDENCE(two, victims)), "possible job n= t=/s j=1 o=ann");
}

static void unknown_target_proves_nothing(void)
{
	static const struct verdict_anomaly two[] = { { "n1", "", 5 }, { "n2", "", 9 } };
	static const struct verdict_load hog[] = { { "n3", "cat", "77", "", 500, 10 } };

	CHECK_TEXT(judge(EVIDENCE(two, hog)), "possible load n= t= j= o=");
	CHECK_TEXT(judge(&(struct verdict_evidence){ two, 1, hog, 1 }),
		   "possible node n=n1 t= j= o=");
}

static void order_of_the_evidence_does_not_matter(void)
{
	static const struct verdict_anomaly list[] = { { "n2", "/t", 2 }, { "n1", "/s", 3 },
						       { "n2", "/s", 4 }, { "n1", "/t", 1 },
						       { "n1", "/s", 8 }, { "n9", "", 1 } };
	static const struct verdict_anomaly reversed[] = { { "n9", "", 1 },   { "n1", "/s", 8 },
							   { "n1", "/t", 1 }, { "n2", "/s", 4 },
							   { "n1", "/s", 3 }, { "n2", "/t", 2 } };
	char first[256];

	snprintf(first, sizeof(first), "%s", judge(EVIDENCE(list, even)));
	CHECK_TEXT(first, "possible node n=n9 t= j= o=|likely target n= t=/s j= o=|likely target "
			  "n= t=/t j= o=");
	CHECK(judged[1].value == 8);
	CHECK_TEXT(judge(EVIDENCE(reversed, even)), first);
	verdict_free(judged, judged_count);
	judged_count = 0;
	judged = NULL;
}

TESTS(TEST(nothing_slow_gives_no_verdict),
      TEST(one_slow_node_is_the_cause_if_others_use_the_target),
      TEST(file_systems_of_nodes_are_not_one_target),
      TEST(common_target_is_the_cause_if_no_job_stands_out),
      TEST(job_that_causes_the_load_is_named), TEST(unknown_target_proves_nothing),
      TEST(order_of_the_evidence_does_not_matter))
