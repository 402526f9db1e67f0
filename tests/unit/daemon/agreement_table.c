/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes are two tables that share a database.
 */
#include "daemon/agreement_table.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "check.h"
#include "site/agreement.h"
#include "site/site.h"

static char directories[2][32] = { "agree-test-XXXXXX", "agree-test-XXXXXX" };
static struct agreement_page *tables[2];
static struct site_db *site;
static struct err err;
static uint64_t job; /* one per test */

static void begin(void)
{
	char path[64];

	for (int i = 0; i < 2; i++) {
		REQUIRE(mkdtemp(directories[i]));
		CHECK_INT(agreement_table_open(&tables[i], directories[i], &err), 0);
	}
	snprintf(path, sizeof(path), "%s/site.db", directories[0]);
	REQUIRE(site_open(&site, path, &err) >= 0);
}

static struct agreement_entry *entry_of(int node)
{
	for (uint32_t i = 0; i < AGREEMENT_JOBS; i++)
		if (tables[node]->jobs[i].job == job)
			return &tables[node]->jobs[i];
	return NULL;
}

static void vote_at(int node, uint64_t digest, int64_t sent_ns, int64_t now_ns)
{
	struct vote vote = { .job = job, .digest = digest, .ranks = 3, .sent_ns = sent_ns };

	CHECK(agreement_table_vote(tables[node], &vote, 1000, (int32_t)getpid(), now_ns));
}

/* In an hour, so that the deadline does not pass during the test, however slow the machine is. */
static void vote(int node, uint64_t digest)
{
	int64_t later_ns = clock_now_ns() + 3600 * NS_PER_S;

	vote_at(node, digest, later_ns, later_ns);
}

/* One step of a daemon; returns the state afterwards. */
static int advance(int node)
{
	static uint32_t sent[2];
	struct agreement_entry *entry = entry_of(node);

	sent[node] = 0;
	CHECK_INT(agreement_advance(entry, site, node ? "second" : "first", &sent[node], &err), 0);
	return (int)atomic_load(&entry->state);
}

static void hints_are_granted_when_all_have_confirmed(void)
{
	job = UINT64_C(0x100000001);
	vote(0, 7);
	vote(0, 7);
	CHECK_INT(advance(0), AGREEMENT_WAITING);
	vote(1, 7);
	CHECK_INT(advance(1), AGREEMENT_CONFIRMED);
	/* The first node knows of nothing yet, and could still die. */
	CHECK_INT(advance(1), AGREEMENT_CONFIRMED);
	CHECK_INT(advance(0), AGREEMENT_CONFIRMED);
	CHECK_INT(advance(0), AGREEMENT_GRANTED);
	CHECK_INT(advance(1), AGREEMENT_GRANTED);
	CHECK(!agreement_is_open(entry_of(0)));
}

static void different_knowledge_is_refused(void)
{
	job = UINT64_C(0x200000001);
	vote(0, 7);
	vote(0, 7);
	CHECK_INT(advance(0), AGREEMENT_WAITING);
	vote(1, 8);
	CHECK_INT(advance(1), AGREEMENT_REFUSED);
	CHECK_INT(advance(0), AGREEMENT_REFUSED);
	job++;
	vote(0, 7);
	vote(0, 8);
	CHECK_INT(atomic_load(&entry_of(0)->state), AGREEMENT_REFUSED);
}

/* A node that dies before it has confirmed makes the others give up. */
static void a_dead_node_is_waited_for_until_the_deadline(void)
{
	job = UINT64_C(0x300000001);
	vote(0, 7);
	vote(0, 7);
	vote(1, 7);
	CHECK_INT(advance(0), AGREEMENT_WAITING);
	CHECK_INT(advance(1), AGREEMENT_CONFIRMED);
	atomic_store(&entry_of(0)->deadline_ns, clock_now_ns() - 1);
	CHECK_INT(advance(0), AGREEMENT_REFUSED);
	CHECK_INT(advance(1), AGREEMENT_REFUSED);
	job++;
	vote(0, 7);
	vote(0, 7);
	CHECK_INT(advance(0), AGREEMENT_WAITING);
	vote(1, 7);
	CHECK_INT(advance(1), AGREEMENT_CONFIRMED);
	/* Now the first node is dead for ever. */
	atomic_store(&entry_of(1)->deadline_ns, clock_now_ns() - AGREEMENT_GRACE_NS - 1);
	CHECK_INT(advance(1), AGREEMENT_REFUSED);
	/* It comes back: the verdict stands. */
	CHECK_INT(advance(0), AGREEMENT_REFUSED);
}

/* A rank that has given up never finds out later that the others went on. */
static void a_late_vote_does_not_count(void)
{
	job = UINT64_C(0x400000001);
	vote(0, 7);
	vote(0, 7);
	vote_at(0, 7, clock_now_ns() - AGREEMENT_DEADLINE_NS, clock_now_ns());
	CHECK_INT(advance(0), AGREEMENT_REFUSED);
}

static void without_a_database_jobs_expire(void)
{
	job = UINT64_C(0x500000001);
	vote(0, 7);
	agreement_expire(entry_of(0), atomic_load(&entry_of(0)->deadline_ns) - 1);
	CHECK(agreement_is_open(entry_of(0)));
	agreement_expire(entry_of(0), atomic_load(&entry_of(0)->deadline_ns) + 1);
	CHECK_INT(atomic_load(&entry_of(0)->state), AGREEMENT_REFUSED);
}

/* The next daemon finds what the last one has left. */
static void a_table_outlives_its_daemon(void)
{
	struct stat st;
	char path[64];

	job = UINT64_C(0x600000001);
	vote(0, 7);
	vote(0, 7);
	vote(0, 7);
	CHECK_INT(advance(0), AGREEMENT_CONFIRMED);
	agreement_table_close(tables[0]);
	CHECK_INT(agreement_table_open(&tables[0], directories[0], &err), 0);
	CHECK_INT(advance(0), AGREEMENT_GRANTED);
	snprintf(path, sizeof(path), "%s/" AGREEMENT_NAME, directories[0]);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0644);
}

/* Entries of jobs that run stay; more jobs than slots get no hints. */
static void a_full_table_refuses_jobs(void)
{
	struct vote full = { .digest = 7, .ranks = 3 };
	unsigned entered = 0;

	for (unsigned i = 1; i <= 2 * AGREEMENT_JOBS; i++) {
		full.job = (uint64_t)i << 40 | 1;
		full.sent_ns = clock_now_ns();
		entered += agreement_table_vote(tables[1], &full, 1000, (int32_t)getpid(),
						clock_now_ns());
	}
	CHECK(entered <= AGREEMENT_JOBS && entered >= AGREEMENT_PROBES);
	for (uint32_t i = 0; i < AGREEMENT_JOBS; i++)
		agreement_expire(&tables[1]->jobs[i], INT64_MAX);
	/* The processes of these jobs live: this one. */
	full.job = UINT64_C(1) << 40 | 3;
	CHECK(!agreement_table_vote(tables[1], &full, 1000, (int32_t)getpid(), clock_now_ns()));
}

static void end(void)
{
	char command[128];

	site_close(site);
	for (int i = 0; i < 2; i++) {
		agreement_table_close(tables[i]);
		snprintf(command, sizeof(command), "rm -rf %s", directories[i]);
		CHECK_INT(system(command), 0);
	}
}

TESTS(TEST(begin), TEST(hints_are_granted_when_all_have_confirmed),
      TEST(different_knowledge_is_refused), TEST(a_dead_node_is_waited_for_until_the_deadline),
      TEST(a_late_vote_does_not_count), TEST(without_a_database_jobs_expire),
      TEST(a_table_outlives_its_daemon), TEST(a_full_table_refuses_jobs), TEST(end))
