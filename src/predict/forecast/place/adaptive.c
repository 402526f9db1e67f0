/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A simulation by events: the end of a call is the only one. All calls have the same size and the
 * calls of a target share its rate, so they end in the order in which they began: a target is a
 * queue, and its progress is the number of bytes that each of its calls has written.
 */
#include "predict/forecast/place/adaptive.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "contract/backlog.h"

enum { DEFAULT_FILES = 16, DEFAULT_CALLS = 4, WEIGHT_MAX = 4096 };
#define CALL_BYTES (UINT64_C(1) << 20)
#define START_NS UINT64_C(1000000000)
#define NS_PER_S 1e9

struct writer {
	struct backlog_file *file;
	size_t target, files_left, calls_left;
	uint64_t begin_ns;
	double end_progress; /* of the target when the call ends */
	size_t next;	     /* writer behind it in the queue, or NONE */
};
#define NONE SIZE_MAX

struct queue {
	size_t first, last, length; /* writers whose calls are under way */
	double progress;	    /* calls that each of them has written; never decreases */
	double since_s;		    /* when progress was computed */
	double finish_s;
	double call_s; /* seconds of a call that is alone at the target */
};

struct simulation {
	const struct adaptive_plan *plan;
	const double *seconds;
	size_t count, calls;
	double call_s; /* seconds of a call on a target that takes 1 s per unit */
	struct backlog *backlog;
	struct backlog_view view;
	struct backlog_choice choice;
	uint16_t indices[BACKLOG_TARGETS], weights[BACKLOG_TARGETS];
	_Atomic uint32_t files[BACKLOG_TARGETS];
	size_t places[BACKLOG_TARGETS]; /* the target of each index of the choice */
	uint64_t placed;
	struct queue *queues;
	struct writer *writers;
	double ends_s[BACKLOG_TARGETS]; /* when the first call of each target ends */
};

static uint64_t now_ns(double now_s)
{
	return START_NS + (uint64_t)(now_s * NS_PER_S);
}

/* Brings the progress of a target up to date, before its queue changes. */
static void advance(struct simulation *s, size_t target, double now_s)
{
	struct queue *q = &s->queues[target];

	if (q->length)
		q->progress += (now_s - q->since_s) / (q->call_s * (double)q->length);
	q->since_s = now_s;
}

/* Computes when the first call of a target ends, after its queue has changed. */
static void schedule(struct simulation *s, size_t target)
{
	const struct queue *q = &s->queues[target];
	double left;

	s->ends_s[target] = INFINITY;
	if (!q->length)
		return;
	left = s->writers[q->first].end_progress - q->progress;
	s->ends_s[target] = q->since_s + (left > 0 ? left * q->call_s * (double)q->length : 0);
}

static void begin_call(struct simulation *s, size_t w, double now_s)
{
	struct writer *writer = &s->writers[w];
	struct queue *q = &s->queues[writer->target];

	advance(s, writer->target, now_s);
	writer->begin_ns = now_ns(now_s);
	writer->end_progress = q->progress + 1;
	writer->next = NONE;
	if (q->length++)
		s->writers[q->last].next = w;
	else
		q->first = w;
	q->last = w;
	schedule(s, writer->target);
	backlog_begin_call(writer->file, BACKLOG_STORED_WRITE, CALL_BYTES, writer->begin_ns);
}

/* By feedback: a target that got more than its equal share of the files so far is slower. */
static void slow_down(struct simulation *s, unsigned chosen)
{
	size_t target = s->places[chosen];
	double excess = s->files[chosen] * (double)s->choice.count / (double)s->placed;

	if (s->plan->feedback > 0 && s->files[chosen] > 1 && excess > 1)
		s->queues[target].call_s =
			s->seconds[target] * s->call_s * pow(excess, s->plan->feedback);
}

static void begin_file(struct simulation *s, size_t w, double now_s)
{
	struct writer *writer = &s->writers[w];
	unsigned chosen;

	s->choice.now_ns = now_ns(now_s);
	s->choice.turn = s->placed++;
	chosen = backlog_choose(s->backlog, &s->choice, &s->view);
	s->files[chosen]++;
	writer->target = s->places[chosen];
	slow_down(s, chosen);
	writer->calls_left = s->calls;
	writer->file = backlog_add_file(s->backlog, s->indices[chosen], (int32_t)w + 1,
					s->choice.bytes, s->choice.now_ns);
	begin_call(s, w, now_s);
}

/* Ends the first call of the queue, and begins the writer's next call or file. */
static void end_call(struct simulation *s, size_t target, double now_s)
{
	struct queue *q = &s->queues[target];
	size_t w = q->first;
	struct writer *writer = &s->writers[w];

	advance(s, target, now_s);
	q->first = writer->next;
	q->length--;
	q->finish_s = now_s;
	schedule(s, target);
	backlog_end_call(s->backlog, writer->file, BACKLOG_STORED_WRITE, CALL_BYTES,
			 writer->begin_ns, now_ns(now_s));
	if (--writer->calls_left) {
		begin_call(s, w, now_s);
		return;
	}
	backlog_remove_file(s->backlog, writer->file, now_ns(now_s));
	if (--writer->files_left)
		begin_file(s, w, now_s);
}

/* The target whose first call ends next; its time is INFINITY if no call is under way. */
static size_t find_next(const struct simulation *s)
{
	size_t next = 0;

	for (size_t i = 1; i < s->count; i++)
		if (s->ends_s[i] < s->ends_s[next])
			next = i;
	return next;
}

static void run_step(struct simulation *s, size_t files, double *finish)
{
	size_t target;

	for (size_t i = 0; i < s->count; i++) {
		s->queues[i].call_s = s->seconds[i] * s->call_s;
		s->ends_s[i] = INFINITY;
	}
	for (size_t w = 0; w < s->count; w++) {
		s->writers[w].files_left = files;
		begin_file(s, w, 0);
	}
	while (isfinite(s->ends_s[target = find_next(s)]))
		end_call(s, target, s->ends_s[target]);
	for (size_t i = 0; i < s->count; i++)
		finish[i] = s->queues[i].finish_s;
}

/* The prior: shares by expected time, as the weights of a list of destinations. */
static void set_choice(struct simulation *s, const double *shares,
		       const struct placement_limits *limits)
{
	double most = 0;
	unsigned n = 0;

	for (size_t i = 0; i < s->count; i++)
		most = shares[i] > most ? shares[i] : most;
	for (size_t i = 0; i < s->count; i++) {
		double weight = shares[i] / most * WEIGHT_MAX;

		if (!(shares[i] > 0))
			continue;
		s->indices[n] = (uint16_t)backlog_find_target(s->backlog, i + 1);
		s->weights[n] = weight < 1 ? 1 : (uint16_t)weight;
		s->places[n++] = i;
	}
	s->choice = (struct backlog_choice){ .count = n,
					     .targets = s->indices,
					     .weights = s->weights,
					     .bytes = CALL_BYTES * s->calls,
					     .most = limits ? limits->most : 0,
					     .least = limits ? limits->least : 0,
					     .files = s->files };
}

int adaptive_simulate(const struct adaptive_plan *plan, const struct placement_target *targets,
		      const double *seconds, size_t count, const struct placement_limits *limits,
		      double *finish, struct err *err)
{
	size_t files = plan->files ? plan->files : DEFAULT_FILES;
	AUTO_FREE struct simulation *s = xcalloc(1, sizeof(*s));
	AUTO_FREE struct backlog *backlog = xcalloc(1, sizeof(*backlog));
	AUTO_FREE double *shares = xcalloc(count + 1, sizeof(*shares));
	AUTO_FREE struct queue *queues = xcalloc(count + 1, sizeof(*queues));
	AUTO_FREE struct writer *writers = xcalloc(count + 1, sizeof(*writers));
	int r;

	if (count > BACKLOG_TARGETS)
		return err_set(err, E2BIG, "files can be placed on at most %d targets (got %zu)",
			       BACKLOG_TARGETS, count);
	r = placement_shares(PLACEMENT_EXPECTED, targets, count, NULL, shares, err);
	if (r < 0)
		return r;
	s->plan = plan;
	s->seconds = seconds;
	s->count = count;
	s->calls = plan->calls ? plan->calls : DEFAULT_CALLS;
	s->call_s = 1 / (double)(files * s->calls);
	s->backlog = backlog;
	s->queues = queues;
	s->writers = writers;
	set_choice(s, shares, limits);
	run_step(s, files, finish);
	return 0;
}
