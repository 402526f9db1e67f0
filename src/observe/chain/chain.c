/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-11.
 */
#include "observe/chain/chain.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "observe/chain/fuse.h"
#include "observe/chain/gaps.h"
#include "observe/chain/links.h"
#include "observe/chain/requests.h"
#include "observe/chain/sockets.h"
#include "observe/chain/storage.h"
#include "observe/chain/stream.h"
#include "trace/format.h"

#define BATCH 4096

/* How far times may be off: those of two hosts, whose difference may not be known, and those of two
 * runs on one host, which have calibrated the same clock each on its own. */
#define HOSTS_SLACK_NS INT64_C(1000000000)
#define RUNS_SLACK_NS INT64_C(1000000)

struct chain {
	struct sockets sockets;
	struct requests requests;
	struct fuse *fuse;	 /* NULL: there is no FUSE server */
	struct storage *storage; /* NULL: there is no storage server */
	struct links links;	 /* of transfers that are not on a connection */
	uint32_t *partners;	 /* numbers of transfers; those of a direction of an end follow each
				    other */
	struct chain_counts counts;
};

/* --- reading --- */

/* The requests of a thread: see chain.h. */
static void follow_requests(struct chain *c, const struct activity *a,
			    const struct sockets_event *event)
{
	struct chain_transfer *t =
		event->transfer ? &c->sockets.transfers[event->transfer - 1] : NULL;
	struct sockets_end *end = event->end;

	if (c->sockets.head->processes[a->process].rank >= 0)
		return;
	if (event->is_accept || (event->is_end && end->role == SOCKETS_ACCEPTED))
		requests_switch(&c->requests, a->process, a->id, a->start_ns, 0);
	if (!t)
		return;
	if (end->role == SOCKETS_ACCEPTED && !t->is_sent) {
		t->is_request = true;
		requests_switch(&c->requests, a->process, a->id, a->start_ns, event->transfer);
	} else if (end->role == SOCKETS_CONNECTED && t->is_sent) {
		end->request = requests_now(&c->requests, a->process, a->id);
	} else if (end->role == SOCKETS_CONNECTED && end->request) {
		requests_switch(&c->requests, a->process, a->id, a->start_ns, end->request);
	}
}

/* The same for a thread of a FUSE server. */
static void follow_fuse(struct chain *c, const struct activity *a)
{
	struct fuse_event event;

	fuse_see(c->fuse, &c->sockets, &c->requests, a, &event);
	if (event.id && c->sockets.head->processes[a->process].rank < 0)
		requests_switch(&c->requests, a->process, event.id, event.start_ns, event.request);
}

/* A forked child continues the numbers of its parent's thread, so its first one is not known. */
static uint64_t first_number(const struct trace_head *head, uint32_t process)
{
	return head->processes[process].parent < 0;
}

static int read_calls(struct chain *c, struct gaps *gaps, struct trace *trace, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	struct sockets_event event;
	ssize_t n;

	while ((n = trace_next(trace, batch, BATCH, err)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			const struct activity *a = &batch[i];

			gaps_see(gaps, a->process, a->id, a->start_ns,
				 first_number(&trace->head, a->process));
			sockets_see(&c->sockets, a, &event);
			follow_requests(c, a, &event);
			if (c->fuse)
				follow_fuse(c, a);
			if (c->storage)
				storage_see(c->storage, a);
		}
	}
	return (int)n;
}

/* What was done for a request is not known if calls are missing before its end. */
static void doubt_requests(struct chain *c, struct sockets_end *end)
{
	for (size_t i = 0; i < end->received.count; i++) {
		const struct chain_transfer *t = &c->sockets.transfers[end->received.numbers[i]];

		if (!t->is_request ||
		    requests_end(&c->requests, t->process, t->id) <= end->certain_ns)
			continue;
		end->certain_ns = i64_min(end->certain_ns, t->stop_ns - 1);
		return;
	}
}

/* Applies what is missing from the trace to the ends of connections. */
static void apply_gaps(struct chain *c, struct gaps *gaps, const struct trace_head *head)
{
	AUTO_FREE int64_t *since_ns = xcalloc(head->process_count, sizeof(*since_ns));

	gaps_finish(gaps);
	for (size_t i = 0; i < head->loss_count; i++)
		if (head->losses[i].records || head->losses[i].threads)
			gaps_lost(gaps, head->losses[i].process);
	for (size_t i = 0; i < head->process_count; i++)
		since_ns[i] = gaps->processes[i].since_ns;
	if (c->fuse) {
		fuse_finish(c->fuse, &c->sockets, &c->requests, since_ns);
		fuse_link(c->fuse, &c->sockets, &c->links, &c->counts);
	}
	if (c->storage)
		storage_finish(c->storage, &c->sockets, &c->links, since_ns, &c->counts);
	sockets_doubt(&c->sockets, since_ns);
	for (size_t i = 0; i < c->sockets.end_count; i++)
		if (c->sockets.ends[i]->certain_ns != INT64_MAX)
			doubt_requests(c, c->sockets.ends[i]);
}

/* --- pairs of ends --- */

/* By name, then host, then time. */
static int compare_ends(const void *a, const void *b)
{
	const struct sockets_end *x = *(struct sockets_end *const *)a;
	const struct sockets_end *y = *(struct sockets_end *const *)b;
	int order = strcmp(x->name, y->name);

	if (!order && x->opened_ns != y->opened_ns)
		order = x->opened_ns < y->opened_ns ? -1 : 1;
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

struct pairing {
	struct sockets_end **sorted;
	size_t count;
	struct sockets_end **peers; /* by number of the end; NULL: none */
	bool *is_ambiguous;	    /* by number */
	int64_t host_slack_ns;	    /* between two ends on one host */
};

/* The first end that has this name or a greater one. */
static size_t find_name(const struct pairing *p, const char *name)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(p->sorted[middle]->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool may_be_peers(const struct sockets_end *a, const struct sockets_end *b)
{
	return !strcmp(a->host, b->host) || !sockets_is_local_name(a->name);
}

static int64_t slack_of(const struct pairing *p, const struct sockets_end *a,
			const struct sockets_end *b)
{
	return strcmp(a->host, b->host) != 0 ? HOSTS_SLACK_NS : p->host_slack_ns;
}

/* Finds the connect() of an accepted connection: the latest one before it was accepted. */
static struct sockets_end *find_connected(const struct pairing *p, const struct sockets_end *end,
					  const char *reverse)
{
	struct sockets_end *found = NULL;

	for (size_t i = find_name(p, reverse); i < p->count; i++) {
		struct sockets_end *other = p->sorted[i];

		if (strcmp(other->name, reverse) != 0)
			break;
		if (other->role == SOCKETS_CONNECTED && may_be_peers(end, other) &&
		    other->opened_ns <= end->accepted_ns + slack_of(p, end, other))
			found = other;
	}
	return found;
}

static void mark_ambiguous(struct pairing *p, const struct sockets_end *end)
{
	struct sockets_end *peer = p->peers[end->number];

	p->is_ambiguous[end->number] = true;
	if (peer)
		p->is_ambiguous[peer->number] = true;
}

static void pair_end(struct pairing *p, struct sockets_end *end)
{
	AUTO_BUF struct buf reverse = { 0 };
	struct sockets_end *other;

	if (end->role != SOCKETS_ACCEPTED || !sockets_reverse_name(&reverse, end->name))
		return;
	other = find_connected(p, end, buf_text(&reverse));
	if (!other)
		return;
	p->peers[end->number] = other;
	if (p->peers[other->number]) {
		mark_ambiguous(p, other);
		p->is_ambiguous[end->number] = true;
	} else {
		p->peers[other->number] = end;
	}
}

/* Two sockets cannot have the same addresses at the same time, unless they are in different
 * networks. */
static void mark_overlaps(struct pairing *p)
{
	for (size_t i = 1; i < p->count; i++) {
		struct sockets_end *a = p->sorted[i - 1], *b = p->sorted[i];

		if (strcmp(a->name, b->name) != 0 || !may_be_peers(a, b) ||
		    a->last_ns + slack_of(p, a, b) < b->opened_ns)
			continue;
		mark_ambiguous(p, a);
		mark_ambiguous(p, b);
	}
}

static void pairing_init(struct pairing *p, const struct sockets *s)
{
	*p = (struct pairing){ .sorted = xcalloc(s->end_count, sizeof(*p->sorted)),
			       .count = s->end_count,
			       .peers = xcalloc(s->end_count, sizeof(*p->peers)),
			       .is_ambiguous = xcalloc(s->end_count, sizeof(*p->is_ambiguous)),
			       .host_slack_ns = s->head->host_count ? RUNS_SLACK_NS : 0 };
	for (size_t i = 0; i < p->count; i++)
		p->sorted[i] = s->ends[i];
	qsort(p->sorted, p->count, sizeof(*p->sorted), compare_ends);
	for (size_t i = 0; i < p->count; i++)
		pair_end(p, p->sorted[i]);
	mark_overlaps(p);
}

static void pairing_release(struct pairing *p)
{
	free(p->sorted);
	free(p->peers);
	free(p->is_ambiguous);
}

/* --- matching --- */

static struct stream_side side_of(const struct chain *c, const struct sockets_list *list,
				  const struct sockets_end *end)
{
	struct stream_side side = { .calls = xcalloc(list->count, sizeof(*side.calls)),
				    .count = list->count,
				    .certain_ns = end->certain_ns,
				    .has_ended = end->has_ended };

	for (size_t i = 0; i < list->count; i++) {
		const struct chain_transfer *t = &c->sockets.transfers[list->numbers[i]];

		side.calls[i] = (struct stream_call){ .start_ns = t->start_ns,
						      .stop_ns = t->stop_ns,
						      .bytes = t->bytes };
	}
	return side;
}

static enum chain_state state_of(const struct stream_call *call, const struct stream_side *others)
{
	if (call->count)
		return CHAIN_MATCHED;
	if (call->is_cut || (others->certain_ns != INT64_MAX && call->is_partly_matched))
		return CHAIN_LOST;
	return call->is_unordered || call->is_partly_matched ? CHAIN_UNORDERED : CHAIN_UNREAD;
}

/* base: where the transfers of the other side begin in partners. */
static void store_results(struct chain *c, const struct sockets_list *list,
			  const struct stream_side *side, const struct stream_side *others,
			  size_t base, bool agrees)
{
	for (size_t i = 0; i < list->count; i++) {
		struct chain_transfer *t = &c->sockets.transfers[list->numbers[i]];

		t->first = (uint32_t)(base + side->calls[i].first);
		t->count = side->calls[i].count;
		t->state =
			agrees ? (uint8_t)state_of(&side->calls[i], others) : CHAIN_CONTRADICTORY;
	}
}

static void match_direction(struct chain *c, const struct pairing *p,
			    const struct sockets_end *from, const struct sockets_end *to,
			    const size_t *bases)
{
	struct stream_side sent = side_of(c, &from->sent, from);
	struct stream_side received = side_of(c, &to->received, to);
	int64_t slack_ns = strcmp(from->host, to->host) != 0 ? INT64_MAX : p->host_slack_ns;
	bool agrees = stream_match(&sent, &received, slack_ns);

	store_results(c, &from->sent, &sent, &received, bases[2 * to->number], agrees);
	store_results(c, &to->received, &received, &sent, bases[2 * from->number + 1], agrees);
	free(sent.calls);
	free(received.calls);
}

static void set_states(struct chain *c, const struct sockets_list *list, enum chain_state state)
{
	for (size_t i = 0; i < list->count; i++)
		c->sockets.transfers[list->numbers[i]].state = (uint8_t)state;
}

/* Why nothing of the end can be matched; CHAIN_MATCHED: it can. */
static enum chain_state judge_end(const struct pairing *p, const struct sockets_end *end)
{
	const struct sockets_end *peer = p->peers[end->number];

	if (p->is_ambiguous[end->number] || (peer && p->is_ambiguous[peer->number]))
		return CHAIN_SAME_ADDRESSES;
	if (end->role == SOCKETS_FOUND)
		return CHAIN_INHERITED;
	if (!peer)
		return CHAIN_NO_PEER;
	return end->is_buffered || peer->is_buffered ? CHAIN_BUFFERED : CHAIN_MATCHED;
}

/* Lists the transfers by end and direction, and returns where each begins: received and sent. The
 * partners of those that are not on a connection follow. */
static size_t *list_partners(struct chain *c)
{
	size_t *bases = xcalloc(2 * c->sockets.end_count, sizeof(*bases)), at = 0;

	c->partners = xcalloc(c->sockets.transfer_count + c->links.count, sizeof(*c->partners));
	for (size_t i = 0; i < c->sockets.end_count; i++) {
		const struct sockets_list *lists[] = { &c->sockets.ends[i]->received,
						       &c->sockets.ends[i]->sent };

		for (size_t k = 0; k < 2; k++) {
			bases[2 * i + k] = at;
			if (lists[k]->count)
				memcpy(c->partners + at, lists[k]->numbers,
				       lists[k]->count * sizeof(*c->partners));
			at += lists[k]->count;
		}
	}
	links_store(&c->links, &c->sockets, c->partners, at);
	return bases;
}

/* An answer belongs to the latest receive that was complete before it was sent. */
static void find_answered(struct chain *c, const struct sockets_end *end)
{
	const uint32_t *received = end->received.numbers;
	size_t at = 0;

	for (size_t i = 0; i < end->sent.count; i++) {
		struct chain_transfer *t = &c->sockets.transfers[end->sent.numbers[i]];

		while (at < end->received.count &&
		       c->sockets.transfers[received[at]].stop_ns <= t->start_ns)
			at++;
		if (at && c->sockets.transfers[received[at - 1]].is_request)
			t->request = received[at - 1] + 1;
	}
}

static void match_ends(struct chain *c)
{
	AUTO_FREE size_t *bases = list_partners(c);
	struct pairing p;

	pairing_init(&p, &c->sockets);
	for (size_t i = 0; i < c->sockets.end_count; i++) {
		struct sockets_end *end = c->sockets.ends[i], *peer = p.peers[i];
		enum chain_state state = judge_end(&p, end);

		if (state != CHAIN_MATCHED) {
			set_states(c, &end->sent, state);
			set_states(c, &end->received, state);
		} else if (end->role == SOCKETS_ACCEPTED) {
			match_direction(c, &p, peer, end, bases);
			match_direction(c, &p, end, peer, bases);
			find_answered(c, end);
			c->counts.connections++;
		}
	}
	pairing_release(&p);
	for (size_t i = 0; i < c->sockets.transfer_count; i++)
		if (c->sockets.transfers[i].end != SOCKETS_NO_END)
			c->counts.calls[c->sockets.transfers[i].state]++;
	c->counts.other_sockets = c->sockets.other_calls;
}

/* --- the whole --- */

/* Are there two names of which each is the other in reverse? */
static bool has_both_ends(const struct trace_head *head)
{
	AUTO_BUF struct buf reverse = { 0 };
	struct map seen = { 0 };
	bool found = false;

	for (size_t i = 0; i < head->file_count && !found; i++) {
		buf_clear(&reverse);
		if (!sockets_reverse_name(&reverse, head->files[i]))
			continue;
		found = map_get(&seen, XXH3_64bits(buf_text(&reverse), reverse.len) | 1);
		map_put(&seen, XXH3_64bits(head->files[i], strlen(head->files[i])) | 1,
			head->files[i]);
	}
	map_release(&seen);
	return found;
}

static int build(struct chain *c, struct trace *trace, struct err *err)
{
	struct gaps gaps;
	int r;

	sockets_init(&c->sockets, &trace->head);
	gaps_init(&gaps, trace->head.process_count);
	r = read_calls(c, &gaps, trace, err);
	if (r >= 0) {
		apply_gaps(c, &gaps, &trace->head);
		match_ends(c);
	}
	gaps_release(&gaps);
	return r;
}

/* Frees what needs the head of the trace. */
static void forget_trace(struct chain *c)
{
	fuse_free(c->fuse);
	storage_free(c->storage);
	links_release(&c->links);
	c->fuse = NULL;
	c->storage = NULL;
}

int chain_read(struct chain **chain, const char *path, struct err *err)
{
	struct chain *c;
	struct trace trace;
	int r = trace_open(&trace, path, NULL, err);

	if (r < 0)
		return r;
	c = xcalloc(1, sizeof(*c));
	c->fuse = fuse_new(&trace.head);
	c->storage = storage_new(&trace.head);
	if (c->fuse || c->storage || has_both_ends(&trace.head)) {
		r = build(c, &trace, err);
		forget_trace(c);
	} else {
		free(c);
		c = NULL;
	}
	trace_close(&trace);
	if (r < 0)
		chain_free(c);
	else
		*chain = c;
	return r;
}

void chain_free(struct chain *c)
{
	if (!c)
		return;
	sockets_release(&c->sockets);
	requests_release(&c->requests);
	free(c->partners);
	free(c);
}

/* --- questions --- */

const struct chain_transfer *chain_find(const struct chain *c, uint32_t process, uint64_t id)
{
	uint32_t number = c ? sockets_transfer(&c->sockets, process, id) : 0;

	return number ? &c->sockets.transfers[number - 1] : NULL;
}

const struct chain_transfer *chain_partner(const struct chain *c, const struct chain_transfer *t,
					   uint32_t i)
{
	return &c->sockets.transfers[c->partners[t->first + i]];
}

const struct chain_transfer *chain_request(const struct chain *c, const struct activity *a)
{
	const struct chain_transfer *t = chain_find(c, a->process, a->id), *request;
	uint32_t number;

	if (!c || (t && t->is_request))
		return NULL;
	number = t && t->request ? t->request
				 : requests_find(&c->requests, a->process, a->id, a->parent);
	request = number ? &c->sockets.transfers[number - 1] : NULL;
	return request && request->count ? request : NULL;
}

const struct chain_transfer *chain_cause(const struct chain *c, const struct activity *a)
{
	const struct chain_transfer *t = chain_find(c, a->process, a->id);

	if (t && !t->is_sent && t->count)
		return chain_partner(c, t, 0);
	return chain_request(c, a);
}

int64_t chain_request_end(const struct chain *c, const struct chain_transfer *t)
{
	return requests_end(&c->requests, t->process, t->id);
}

size_t chain_size(const struct chain *c)
{
	return c ? c->sockets.transfer_count : 0;
}

size_t chain_number(const struct chain *c, const struct chain_transfer *t)
{
	return (size_t)(t - c->sockets.transfers);
}

const struct chain_transfer *chain_at(const struct chain *c, size_t number)
{
	return &c->sockets.transfers[number];
}

const struct chain_counts *chain_counts(const struct chain *c)
{
	return c ? &c->counts : NULL;
}

#define STATE_TEXT(name, key, text) text,
#define STATE_KEY(name, key, text) key,
static const char *const state_texts[] = { CHAIN_STATE_LIST(STATE_TEXT) };
static const char *const state_keys[] = { CHAIN_STATE_LIST(STATE_KEY) };
#undef STATE_TEXT
#undef STATE_KEY

bool chain_state_is_link(enum chain_state state)
{
	return state < CHAIN_KERNEL;
}

bool chain_state_is_fuse(enum chain_state state)
{
	return state < CHAIN_UNREAD || (state >= CHAIN_KERNEL && state < CHAIN_NO_FILE);
}

bool chain_state_is_object(enum chain_state state)
{
	return state == CHAIN_MATCHED || state == CHAIN_LOST || state == CHAIN_BUFFERED ||
	       state >= CHAIN_NO_FILE;
}

bool chain_state_is_good(enum chain_state state)
{
	return state == CHAIN_MATCHED || state == CHAIN_UNREAD || state == CHAIN_KERNEL ||
	       state == CHAIN_NO_FILE;
}

const char *chain_state_text(enum chain_state state)
{
	return state_texts[state];
}

const char *chain_state_key(enum chain_state state)
{
	return state_keys[state];
}
