/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-11.
 */
#include "observe/chain/fuse.h"

#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/integer.h"
#include "base/map.h"
#include "base/mem.h"
#include "observe/chain/callers.h"
#include "observe/chain/chain.h"
#include "observe/chain/links.h"
#include "observe/chain/requests.h"
#include "observe/chain/sockets.h"
#include "trace/format.h"

#define DEVICE "/dev/fuse"

/* The clocks of two runs are calibrated each on its own, so their difference may drift this much.
 */
#define DRIFT_NS 2000

#define CANDIDATES_MAX 64 /* of a request */

enum role { ROLE_NONE, ROLE_REQUEST, ROLE_REPLY };

/* A call that may have made a request. */
struct candidate {
	uint32_t process;
	bool is_transfer; /* its range agrees with that of the request */
	uint64_t id;
	int64_t start_ns, stop_ns;
	int64_t bytes;
};

struct request {
	uint64_t unique, device;
	int64_t time_ns;      /* when the server has read it */
	int64_t reply_ns;     /* when it began to write the reply; time_ns: unknown */
	int64_t tid;	      /* of the caller */
	int64_t size, offset; /* of a transfer */
	uint32_t opcode;
	uint32_t process;      /* of the server */
	uint32_t transfer;     /* number + 1 of the read */
	uint32_t reply;	       /* number + 1 of the write; 0: none */
	uint32_t call;	       /* number + 1 of the transfer that made it; 0: none */
	uint32_t first, count; /* candidates */
	uint8_t state;	       /* enum chain_state; MATCHED: the candidates decide */
};

/* What is to be added to the times of a server to get those of a client. */
struct difference {
	int64_t low_ns, high_ns;
	bool is_known;
};

struct fuse {
	const struct trace_head *head;
	uint8_t *roles; /* enum role, by call */
	file_id device; /* the file DEVICE */
	int64_t slack_ns;
	struct callers callers;
	struct request *requests;
	size_t count, cap;
	size_t looked; /* requests whose candidates are known */
	struct candidate *candidates;
	size_t candidate_count, candidate_cap;
	struct map open; /* number + 1 of the request without a reply, by device and unique */
	struct map differences; /* by processes of client and server */
	uint64_t reads;		/* without a request */
};

struct fuse *fuse_new(const struct trace_head *head)
{
	struct fuse *f;
	size_t device = 1;

	while (device < head->file_count && strcmp(head->files[device], DEVICE) != 0)
		device++;
	if (device >= head->file_count)
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->head = head;
	f->device = (file_id)device;
	f->slack_ns = head->host_count ? FUSE_SLACK_NS : 0;
	f->roles = xcalloc(head->call_count, sizeof(*f->roles));
	for (size_t i = 0; i < head->call_count; i++)
		f->roles[i] = !strcmp(head->calls[i].name, "fuse_request") ? ROLE_REQUEST
			      : !strcmp(head->calls[i].name, "fuse_reply") ? ROLE_REPLY
									   : ROLE_NONE;
	callers_init(&f->callers, head);
	return f;
}

void fuse_free(struct fuse *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->differences.cap; i++)
		free(f->differences.entries[i].value);
	map_release(&f->differences);
	map_release(&f->open);
	callers_release(&f->callers);
	free(f->candidates);
	free(f->requests);
	free(f->roles);
	free(f);
}

/* --- candidates --- */

/* Only these do not wait for the server, apart from reading ahead. */
static bool is_unattended(uint32_t opcode)
{
	return opcode == FUSE_RELEASE || opcode == FUSE_RELEASEDIR;
}

static bool overlaps(const struct request *r, const struct callers_call *c)
{
	return c->offset >= 0 && c->size > 0 && r->size >= 0 && r->offset >= 0 &&
	       r->offset - c->size < c->offset && c->offset - r->size < r->offset;
}

static bool is_within(const struct request *r, const struct callers_call *c)
{
	return c->offset >= 0 && r->size >= 0 && r->size <= c->size && r->offset >= c->offset &&
	       r->offset - c->offset <= c->size - r->size;
}

/*
 * Can the call have made the request? The kernel reads whole pages and ahead, so a read has to need
 * a part of them. A write waits for all of its requests; at an unknown offset its size must
 * suffice.
 */
static bool agrees(const struct fuse *f, const struct request *r, const struct callers_call *c,
		   bool *is_transfer)
{
	enum call_class class = f->head->calls[c->call].class;
	bool is_stream = f->head->calls[c->call].layer == LAYER_STDIO;

	*is_transfer = false;
	if (r->opcode == FUSE_READ) {
		*is_transfer = class == CLASS_READ && overlaps(r, c);
		return *is_transfer;
	}
	if (r->opcode != FUSE_WRITE || is_stream || class == CLASS_COPY)
		return true;
	if (class != CLASS_WRITE)
		return false;
	*is_transfer = is_within(r, c);
	return *is_transfer || (c->offset < 0 && r->size <= c->size);
}

static bool is_near(const struct fuse *f, const struct request *r, const struct callers_call *c)
{
	return c->stop_ns > c->start_ns && c->start_ns - f->slack_ns <= r->time_ns &&
	       r->time_ns <= c->stop_ns + f->slack_ns;
}

/* Does it enclose another call that is near? */
static bool is_outer(const struct fuse *f, const struct request *r, const struct callers_thread *t,
		     size_t call)
{
	for (size_t i = call + 1; i < t->count; i++)
		if (t->list[i].parent == t->list[call].id && is_near(f, r, &t->list[i]))
			return true;
	return false;
}

static void add_candidates(struct fuse *f, struct request *r, const struct callers_thread *t)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct callers_call *c = &t->list[i];
		bool is_transfer;

		if (!is_near(f, r, c) || is_outer(f, r, t, i) || !agrees(f, r, c, &is_transfer))
			continue;
		if (r->count == CANDIDATES_MAX) {
			r->state = CHAIN_SEVERAL_CALLS;
			return;
		}
		f->candidates = xgrow(f->candidates, &f->candidate_cap, f->candidate_count + 1,
				      sizeof(*f->candidates));
		f->candidates[f->candidate_count++] =
			(struct candidate){ .process = t->process,
					    .is_transfer = is_transfer,
					    .id = c->id,
					    .start_ns = c->start_ns,
					    .stop_ns = c->stop_ns,
					    .bytes = i64_max(c->result, 0) };
		r->count++;
	}
}

/* Requests that no program waits for name no caller, and so do those of unknown callers. */
static enum chain_state judge_nameless(uint32_t opcode)
{
	switch (opcode) {
	case FUSE_INIT:
	case FUSE_DESTROY:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		return CHAIN_KERNEL;
	default:
		return CHAIN_NO_CALLER_ID;
	}
}

static void find_candidates(struct fuse *f, struct request *r)
{
	const struct callers_thread *t = callers_find(&f->callers, r->process, r->tid);

	r->first = (uint32_t)f->candidate_count;
	if (!r->tid)
		r->state = (uint8_t)judge_nameless(r->opcode);
	else if (!t)
		r->state = CHAIN_NO_CALLER;
	else if (is_unattended(r->opcode))
		r->state = CHAIN_KERNEL;
	if (r->state != CHAIN_MATCHED)
		return;
	for (; t; t = callers_next(&f->callers, r->process, t))
		add_candidates(f, r, t);
}

/* Of all requests whose callers' calls have been seen. */
static void look_at_requests(struct fuse *f, int64_t now_ns)
{
	while (f->looked < f->count && f->requests[f->looked].time_ns + f->slack_ns < now_ns)
		find_candidates(f, &f->requests[f->looked++]);
}

/* --- following --- */

static uint64_t request_key(uint64_t device, uint64_t unique)
{
	uint64_t numbers[2] = { device, unique };

	return XXH3_64bits(numbers, sizeof(numbers)) | 1;
}

/* A descriptor: that of the process that has opened it. */
static uint64_t device_key(const struct fuse *f, const struct activity *a)
{
	uint64_t numbers[2] = { trace_find_owner(f->head, a->process, a->link), a->link };

	return XXH3_64bits(numbers, sizeof(numbers));
}

/* The record is a child of the call that has read the request. */
static void add_request(struct fuse *f, struct sockets *s, struct callers_thread *t,
			const struct activity *a, struct fuse_event *event)
{
	const struct callers_call *call = callers_call(t, a->parent);
	struct request *r;
	uint32_t transfer;

	if (!call)
		return;
	event->id = call->id;
	event->start_ns = call->start_ns;
	f->reads -= t->device_read == call->id;
	t->device_read = 0;
	transfer = sockets_add_other(s, a->process, call->id, call->start_ns, call->stop_ns,
				     call->result, false);
	if (!transfer)
		return;
	event->request = transfer;
	s->transfers[transfer - 1].is_request = true;
	f->requests = xgrow(f->requests, &f->cap, f->count + 1, sizeof(*f->requests));
	r = &f->requests[f->count++];
	*r = (struct request){ .unique = (uint64_t)a->result,
			       .device = device_key(f, a),
			       .time_ns = a->start_ns,
			       .reply_ns = a->start_ns,
			       .tid = a->variable,
			       .size = a->size,
			       .offset = a->present & PRESENT(OFFSET) ? a->offset : -1,
			       .opcode = (uint32_t)a->flags,
			       .process = a->process,
			       .transfer = transfer,
			       .state = CHAIN_MATCHED };
	map_put(&f->open, request_key(r->device, r->unique), (void *)f->count);
}

static void add_reply(struct fuse *f, struct sockets *s, const struct requests *requests,
		      struct callers_thread *t, const struct activity *a, struct fuse_event *event)
{
	uint64_t device = device_key(f, a), key = request_key(device, (uint64_t)a->result);
	uintptr_t number = (uintptr_t)map_get(&f->open, key);
	const struct callers_call *call = callers_call(t, a->parent);
	struct request *r = number ? &f->requests[number - 1] : NULL;

	if (!r || !call || r->device != device || r->unique != (uint64_t)a->result)
		return;
	map_remove(&f->open, key);
	r->reply = sockets_add_other(s, a->process, call->id, call->start_ns, call->stop_ns,
				     call->result, true);
	if (!r->reply)
		return;
	r->reply_ns = call->start_ns;
	s->transfers[r->reply - 1].request = r->transfer;
	/* The thread has done its work for the request. */
	if (requests_now(requests, a->process, a->id) == r->transfer) {
		event->id = a->id;
		event->start_ns = a->start_ns;
	}
}

static bool is_device_read(const struct fuse *f, const struct activity *a)
{
	return f->head->calls[a->call].class == CLASS_READ && a->file == f->device && !a->error &&
	       a->result > 0;
}

void fuse_see(struct fuse *f, struct sockets *s, const struct requests *requests,
	      const struct activity *a, struct fuse_event *event)
{
	struct callers_thread *t;

	*event = (struct fuse_event){ 0 };
	/* Only a damaged record has no id. */
	if (!a->id)
		return;
	look_at_requests(f, a->start_ns);
	t = callers_add(&f->callers, a, 2 * f->slack_ns);
	if (f->roles[a->call] == ROLE_REQUEST) {
		add_request(f, s, t, a, event);
	} else if (f->roles[a->call] == ROLE_REPLY) {
		add_reply(f, s, requests, t, a, event);
	} else if (is_device_read(f, a)) {
		*event = (struct fuse_event){ .id = a->id, .start_ns = a->start_ns };
		t->device_read = a->id;
		f->reads++;
	}
}

/* --- decisions --- */

static struct difference *get_difference(struct fuse *f, uint32_t client, uint32_t server)
{
	uint64_t key = ((uint64_t)client << 32 | server) + 1;
	struct difference *d = map_get(&f->differences, key);

	if (d)
		return d;
	d = xmalloc(sizeof(*d));
	*d = (struct difference){ -f->slack_ns, f->slack_ns, !f->slack_ns };
	map_put(&f->differences, key, d);
	return d;
}

/* A transfer with which one call agrees shows the difference between the times of two runs. */
static void learn_difference(struct fuse *f, const struct request *r)
{
	const struct candidate *c = &f->candidates[r->first];
	struct difference *d;

	if (r->state != CHAIN_MATCHED || r->count != 1 || !c->is_transfer)
		return;
	d = get_difference(f, c->process, r->process);
	d->low_ns = i64_max(d->low_ns, c->start_ns - r->time_ns);
	d->high_ns = i64_min(d->high_ns, c->stop_ns - r->reply_ns);
	d->is_known = true;
}

/* Was the request made and answered during the call? */
static bool contains(struct fuse *f, const struct request *r, const struct candidate *c)
{
	const struct difference *d = get_difference(f, c->process, r->process);
	int64_t drift_ns = f->slack_ns ? DRIFT_NS : 0;

	return c->start_ns - r->time_ns <= d->high_ns + drift_ns &&
	       c->stop_ns - r->reply_ns >= d->low_ns - drift_ns;
}

static bool contradicts(struct fuse *f, const struct request *r, const struct candidate *c)
{
	const struct difference *d = get_difference(f, c->process, r->process);

	return d->low_ns > d->high_ns + DRIFT_NS;
}

/* Is it uncertain what the server has called for the request, or what the client has called? */
static bool is_lost(const struct fuse *f, const struct sockets *s, const struct requests *requests,
		    const struct request *r, const struct candidate *found, const int64_t *since_ns)
{
	const struct chain_transfer *t = &s->transfers[r->transfer - 1];

	if (since_ns[r->process] != INT64_MAX &&
	    requests_end(requests, t->process, t->id) > since_ns[r->process])
		return true;
	/* Without a difference of clocks, no other call can have been in progress. */
	return f->slack_ns && r->time_ns + f->slack_ns >= since_ns[found->process];
}

static void decide(struct fuse *f, struct sockets *s, const struct requests *requests,
		   struct request *r, const int64_t *since_ns)
{
	const struct candidate *found = NULL;
	uint32_t count = 0;

	if (r->state != CHAIN_MATCHED)
		return;
	for (uint32_t i = 0; i < r->count; i++) {
		const struct candidate *c = &f->candidates[r->first + i];

		if (contradicts(f, r, c)) {
			r->state = CHAIN_CONTRADICTORY;
			return;
		}
		if (!contains(f, r, c))
			continue;
		found = c;
		count++;
	}
	if (count != 1)
		r->state = count ? CHAIN_SEVERAL_CALLS : CHAIN_NO_CALL;
	else if (!get_difference(f, found->process, r->process)->is_known)
		r->state = CHAIN_NO_CLOCK;
	else if (is_lost(f, s, requests, r, found, since_ns))
		r->state = CHAIN_LOST;
	else
		r->call = sockets_add_cause(s, found->process, found->id, found->start_ns,
					    found->stop_ns, found->bytes);
	if (r->state == CHAIN_MATCHED && !r->call)
		r->state = CHAIN_NO_CALL;
}

void fuse_finish(struct fuse *f, struct sockets *s, const struct requests *requests,
		 const int64_t *since_ns)
{
	look_at_requests(f, INT64_MAX);
	for (size_t i = 0; f->slack_ns && i < f->count; i++)
		learn_difference(f, &f->requests[i]);
	for (size_t i = 0; i < f->count; i++)
		decide(f, s, requests, &f->requests[i], since_ns);
}

void fuse_link(const struct fuse *f, struct sockets *s, struct links *links,
	       struct chain_counts *counts)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct request *r = &f->requests[i];

		s->transfers[r->transfer - 1].state = r->state;
		if (r->reply)
			s->transfers[r->reply - 1].state = r->state;
		counts->requests[r->state]++;
		if (!r->call)
			continue;
		links_add(links, r->call - 1, r->transfer - 1);
		links_add(links, r->transfer - 1, r->call - 1);
		if (r->reply)
			links_add(links, r->reply - 1, r->call - 1);
	}
	counts->requests[CHAIN_NO_HEAD] += f->reads;
}
