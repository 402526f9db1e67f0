/* SPDX-License-Identifier: BSD-3-Clause
 *
 * I/O nodes and servers. An I/O node takes writes into its cache and flushes it behind the writers'
 * backs: at its leisure while there is room, with all its might from a high mark down to a low one,
 * when writers get only a part of what is flushed. All I/O nodes share the servers with one another
 * and with bursts of others. A round is over when the last I/O node has taken its part.
 *
 * Rates are those of the beginning of a round or a wait.
 */
#include <math.h>

#include "lab/replica/replica_internal.h"

static double exponential(struct random *random, double mean)
{
	return -mean * log1p(-random_real(random));
}

/* Others come in bursts of some length, each with a load of its own. */
static void bursts_pass(struct course *c, double seconds)
{
	const struct physics *p = &c->replica->physics;

	for (c->until_s -= seconds; c->until_s <= 0;) {
		if (c->burst > 0) {
			c->burst = 0;
			c->until_s += exponential(&c->random, p->burst_every_s);
		} else {
			c->burst =
				p->burst_median * exp(p->burst_sigma * random_normal(&c->random));
			c->until_s += exponential(&c->random, p->burst_s);
		}
	}
}

void course_start(struct course *c, const struct replica *replica, size_t psets, uint64_t seed)
{
	const struct physics *p = &replica->physics;
	double cache = (double)replica->machine.cache_bytes, stale;

	*c = (struct course){ .replica = replica, .psets = psets };
	random_init(&c->random, seed);
	/* What was there before has reached all I/O nodes much alike. */
	stale = p->stale * random_real(&c->random);
	for (size_t i = 0; i < psets; i++)
		c->dirty[i] = cache * stale * (0.8 + 0.2 * random_real(&c->random));
	c->until_s = exponential(&c->random, p->burst_every_s);
}

/* The part of their rate that targets reach when so many streams come to each of them. */
static double efficiency(const struct replica *replica, double streams)
{
	const struct physics *p = &replica->physics;
	double each = streams / p->targets;

	if (replica->contention == REPLICA_SHARE)
		return 1 / (1 + p->share_loss * each);
	return 1 / (1 + p->knee_loss * fmax(each - p->knee, 0));
}

/* What the servers take in: not all of them have something to do when there are few blocks. */
static double server_rate(const struct course *c)
{
	const struct physics *p = &c->replica->physics;
	double blocks = c->streams;

	for (size_t i = 0; i < c->psets; i++)
		blocks += c->dirty[i] / (double)c->replica->machine.block_bytes;
	return p->targets * p->target_rate * p->share * efficiency(c->replica, c->streams) *
	       -expm1(-blocks / p->targets) / (1 + c->burst);
}

/* What each I/O node flushes with all its might, and at its leisure. The servers are fair. */
static void share_servers(struct course *c)
{
	const struct physics *p = &c->replica->physics;

	c->might = fmin(p->client_rate, server_rate(c) / (double)c->psets);
	c->leisure = fmin(p->client_rate * p->lazy, c->might);
}

/* Time until an I/O node changes its mind, while its dirty bytes grow at a rate. */
static double until_mark(const struct course *c, size_t i, double growth)
{
	const struct physics *p = &c->replica->physics;
	double cache = (double)c->replica->machine.cache_bytes;

	if (c->is_flushing[i])
		return growth < 0 ? (c->dirty[i] - p->low * cache) / -growth : INFINITY;
	return growth > 0 ? (p->high * cache - c->dirty[i]) / growth : INFINITY;
}

/* One stretch in which nothing changes but what is dirty; returns how long it was. */
static double stretch(struct course *c, size_t i, double in, double out, double seconds)
{
	double mark = fmax(until_mark(c, i, in - out), 0);
	double t = fmin(seconds, mark);

	c->dirty[i] = fmax(c->dirty[i] + (in - out) * t, 0);
	if (mark <= seconds)
		c->is_flushing[i] = !c->is_flushing[i];
	return t;
}

/* Seconds in which one I/O node takes bytes that come at a rate where nothing is in the way. */
static double take(struct course *c, size_t i, double bytes, double rate)
{
	double seconds = 0;

	while (bytes > 0) {
		double out = c->is_flushing[i] ? c->might : c->leisure;
		double in = c->is_flushing[i] ? fmin(rate, c->replica->physics.yield * out) : rate;
		double t = stretch(c, i, in, out, bytes / in);

		seconds += t;
		bytes = t * in >= bytes * (1 - 1e-12) ? 0 : bytes - t * in;
	}
	return seconds;
}

static void drain(struct course *c, size_t i, double seconds)
{
	while (seconds > 0) {
		double out = c->is_flushing[i] ? c->might : c->leisure;

		seconds -= stretch(c, i, 0, out, seconds);
	}
}

void course_wait(struct course *c, double seconds)
{
	share_servers(c);
	for (size_t i = 0; i < c->psets; i++)
		drain(c, i, seconds);
	bursts_pass(c, seconds);
}

/*
 * The first client is given the whole file; for each domain of another one the manager has to call
 * back those that hold what is around it, which are the more the more clients there are.
 */
static double token_seconds(struct course *c, const struct load *load)
{
	const struct physics *p = &c->replica->physics;
	double clients = 0, noise = exp(p->token_noise * random_normal(&c->random));
	double domains;

	for (size_t i = 0; i < load->psets; i++)
		clients += load->bytes[i] > 0;
	domains = load->writers / clients;
	return noise *
	       (p->create_s + p->token_s * clients * clients * pow(domains, p->token_power));
}

double course_write(struct course *c, const struct load *load, bool is_first)
{
	const struct physics *p = &c->replica->physics;
	double took[REPLICA_PSETS_MAX], tokens = is_first ? token_seconds(c, load) : 0, last = 0;

	if (tokens > 0)
		course_wait(c, tokens);
	c->streams = load->writers;
	share_servers(c);
	for (size_t i = 0; i < c->psets; i++) {
		double noise = exp(p->jitter * random_normal(&c->random)) *
			       (1 + p->burst_reach * c->burst);

		took[i] = take(c, i, load->bytes[i], load->bytes[i] / load->seconds[i] / noise);
		last = fmax(last, took[i]);
	}
	for (size_t i = 0; i < c->psets; i++)
		drain(c, i, last - took[i]);
	bursts_pass(c, last);
	return tokens + last;
}
