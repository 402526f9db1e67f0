/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/agreement_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "site/agreement.h"

#define TABLE_MODE (S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH)
#define JOB_TEXT 48

int agreement_table_open(struct agreement_page **page, const char *site, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s/" AGREEMENT_NAME, site);
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
				 S_IRUSR | S_IWUSR);
	struct agreement_page *p;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, EPERM, "%s: belongs to somebody else; remove it", path);
	if (fchmod(fd, TABLE_MODE) != 0 || posix_fallocate(fd, 0, sizeof(*p)) != 0)
		return err_set(err, ENOSPC, "%s: cannot be allocated", path);
	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (p->magic != AGREEMENT_MAGIC || p->bytes != sizeof(*p)) {
		memset(p, 0, sizeof(*p));
		p->bytes = sizeof(*p);
		p->magic = AGREEMENT_MAGIC;
	}
	*page = p;
	return 0;
}

void agreement_table_close(struct agreement_page *page)
{
	if (page)
		munmap(page, sizeof(*page));
}

static enum agreement_state state_of(const struct agreement_entry *entry)
{
	return (enum agreement_state)atomic_load_explicit(&entry->state, memory_order_acquire);
}

static void set_state(struct agreement_entry *entry, enum agreement_state state)
{
	/* Sequentially consistent: the deadline is read after this (contract/agreement.h). */
	atomic_store(&entry->state, state);
}

/* Leaves AGREEMENT_WAITING, which a vote and the thread of the database may do at the same time. */
static bool end_waiting(struct agreement_entry *entry, enum agreement_state state)
{
	uint32_t waiting = AGREEMENT_WAITING;

	return atomic_compare_exchange_strong(&entry->state, &waiting, (uint32_t)state);
}

bool agreement_is_open(const struct agreement_entry *entry)
{
	enum agreement_state state = state_of(entry);

	return state == AGREEMENT_WAITING || state == AGREEMENT_CONFIRMING ||
	       state == AGREEMENT_CONFIRMED;
}

/* A decided entry may be needed as long as the job runs. */
static bool entry_is_free(const struct agreement_entry *entry)
{
	enum agreement_state state = state_of(entry);

	if (state == AGREEMENT_GRANTED || state == AGREEMENT_REFUSED)
		return kill(entry->pid, 0) != 0 && errno == ESRCH;
	return state == AGREEMENT_FREE;
}

/* Votes are lost or late at worst; nobody gains from a wrong time. */
static int64_t deadline_of(const struct vote *vote, int64_t now_ns)
{
	return (vote->sent_ns > 0 && vote->sent_ns < now_ns ? vote->sent_ns : now_ns) +
	       AGREEMENT_DEADLINE_NS;
}

static void entry_begin(struct agreement_entry *entry, const struct vote *vote, uint32_t user,
			int32_t pid, int64_t now_ns)
{
	set_state(entry, AGREEMENT_FREE);
	entry->job = vote->job;
	entry->digest = vote->digest;
	atomic_store(&entry->deadline_ns, deadline_of(vote, now_ns));
	entry->user = user;
	entry->pid = pid;
	entry->ranks = vote->ranks;
	atomic_store(&entry->votes, 1);
	set_state(entry, AGREEMENT_WAITING);
}

static void entry_count(struct agreement_entry *entry, const struct vote *vote, int32_t pid,
			int64_t now_ns)
{
	int64_t deadline_ns = deadline_of(vote, now_ns);

	entry->pid = pid;
	if (state_of(entry) != AGREEMENT_WAITING)
		return;
	if (vote->digest != entry->digest || vote->ranks != entry->ranks)
		end_waiting(entry, AGREEMENT_REFUSED);
	/* The earliest counts; before the vote does. */
	if (deadline_ns < atomic_load(&entry->deadline_ns))
		atomic_store(&entry->deadline_ns, deadline_ns);
	atomic_fetch_add(&entry->votes, 1);
}

bool agreement_table_vote(struct agreement_page *page, const struct vote *vote, uint32_t user,
			  int32_t pid, int64_t now_ns)
{
	uint32_t room = AGREEMENT_PROBES;

	for (uint32_t i = 0; i < AGREEMENT_PROBES; i++) {
		struct agreement_entry *e = &page->jobs[agreement_slot(vote->job, i)];

		if (entry_is_free(e)) {
			room = i < room ? i : room;
		} else if (e->job == vote->job && e->user == user) {
			entry_count(e, vote, pid, now_ns);
			return true;
		}
	}
	if (room == AGREEMENT_PROBES)
		return false;
	entry_begin(&page->jobs[agreement_slot(vote->job, room)], vote, user, pid, now_ns);
	return true;
}

void agreement_expire(struct agreement_entry *entry, int64_t now_ns)
{
	if (now_ns >= atomic_load(&entry->deadline_ns))
		end_waiting(entry, AGREEMENT_REFUSED);
}

static void apply_verdict(struct agreement_entry *entry, enum agreement_verdict verdict)
{
	if (verdict != VERDICT_NONE)
		set_state(entry,
			  verdict == VERDICT_GRANTED ? AGREEMENT_GRANTED : AGREEMENT_REFUSED);
}

static int decide(struct agreement_entry *entry, struct site_db *site, const char *job,
		  enum agreement_verdict proposal, struct err *err)
{
	enum agreement_verdict verdict;
	int r = site_agreement_decide(site, job, proposal, &verdict, err);

	if (r >= 0)
		apply_verdict(entry, verdict);
	return r;
}

static int confirm(struct agreement_entry *entry, struct site_db *site, const char *job,
		   const char *node, struct err *err)
{
	int r = site_agreement_confirm(site, job, node, err);

	if (r >= 0)
		set_state(entry, AGREEMENT_CONFIRMED);
	return r;
}

/* All ranks agree. The first write to the database after which others may grant is confirm(). */
static int confirm_in_time(struct agreement_entry *entry, struct site_db *site, const char *job,
			   const char *node, struct err *err)
{
	if (!end_waiting(entry, AGREEMENT_CONFIRMING))
		return 0;
	if (clock_now_ns() < atomic_load(&entry->deadline_ns))
		return confirm(entry, site, job, node, err);
	set_state(entry, AGREEMENT_REFUSED);
	return 0;
}

/* This node will not confirm, so no other verdict is possible; tells the other nodes. */
static int refuse(struct agreement_entry *entry, struct site_db *site, const char *job,
		  struct err *err)
{
	enum agreement_verdict verdict;

	end_waiting(entry, AGREEMENT_REFUSED);
	return site_agreement_decide(site, job, VERDICT_REFUSED, &verdict, err);
}

static int advance_waiting(struct agreement_entry *entry, struct site_db *site, const char *job,
			   const char *node, uint32_t *sent, struct err *err)
{
	uint32_t votes = atomic_load(&entry->votes);
	struct agreement_view view;
	int r = 0;

	if (clock_now_ns() >= atomic_load(&entry->deadline_ns))
		return refuse(entry, site, job, err);
	if (votes != *sent)
		r = site_agreement_vote(site, job, node, entry->ranks, votes, entry->digest, err);
	if (r < 0)
		return r;
	*sent = votes;
	r = site_agreement_read(site, job, &view, err);
	if (r < 0)
		return r;
	if (view.verdict != VERDICT_NONE || !view.is_same || view.votes > entry->ranks)
		return refuse(entry, site, job, err);
	return view.votes == entry->ranks ? confirm_in_time(entry, site, job, node, err) : 0;
}

static int advance_confirmed(struct agreement_entry *entry, struct site_db *site, const char *job,
			     struct err *err)
{
	struct agreement_view view;
	int r = site_agreement_read(site, job, &view, err);

	if (r < 0)
		return r;
	if (view.verdict != VERDICT_NONE)
		apply_verdict(entry, view.verdict);
	else if (view.is_confirmed && view.is_same && view.votes == entry->ranks)
		return decide(entry, site, job, VERDICT_GRANTED, err);
	else if (clock_now_ns() > atomic_load(&entry->deadline_ns) + AGREEMENT_GRACE_NS)
		return decide(entry, site, job, VERDICT_REFUSED, err);
	return 0;
}

int agreement_advance(struct agreement_entry *entry, struct site_db *site, const char *node,
		      uint32_t *sent, struct err *err)
{
	char job[JOB_TEXT];

	snprintf(job, sizeof(job), "%" PRIu32 "-%016" PRIx64, entry->user, entry->job);
	switch (state_of(entry)) {
	case AGREEMENT_WAITING:
		return advance_waiting(entry, site, job, node, sent, err);
	case AGREEMENT_CONFIRMING:
		return confirm(entry, site, job, node, err);
	case AGREEMENT_CONFIRMED:
		return advance_confirmed(entry, site, job, err);
	default:
		return 0;
	}
}
