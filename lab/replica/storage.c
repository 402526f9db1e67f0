/* SPDX-License-Identifier: BSD-3-Clause
 *
 * I/O nodes and servers. An I/O node stores writes in its cache and flushes the cache in the
 * background, slowly while there is room. When the cache fills to a high mark, it flushes at full
 * rate down to a low mark; writers then get only a part of the flush rate. All I/O nodes share the
 * servers with each other and with bursts of other jobs. A round ends when the last I/O node has
 * accepted its part.
 *
 * Rates are constant during a round or a wait.
 * Papers: HYB-32 to HYB-34.
 */
#include <math.h>

#include "lab/replica/replica_internal.h"

#define STALE_LEAST 0.8 /* level of an I/O node when a run begins, relative to the fullest one */
#define STALE_SPREAD 0.2
#define ROUNDING 1e-12

static double draw_exponential(struct random *random, double mean)
{
	return -mean * log1p(-random_real(random));
}

/* Advances the bursts of other jobs. Each burst has its own duration and load. */
static void advance_bursts(struct storage_state *c, double seconds)
{
	const struct physics *p = &c->replica->physics;

	for (c->until_s -= seconds; c->until_s <= 0;) {
		if (c->burst > 0) {
			c->burst = 0;
			c->until_s += draw_exponential(&c->random, p->burst_every_s);
		} else {
			c->burst =
				p->burst_median * exp(p->burst_sigma * random_normal(&c->random));
			c->until_s += draw_exponential(&c->random, p->burst_s);
		}
	}
}

void storage_start(struct storage_state *c, const struct replica *replica, size_t psets,
		   uint64_t seed)
{
	const struct physics *p = &replica->physics;
	double cache = (double)replica->machine.cache_bytes, stale;

	*c = (struct storage_state){ .replica = replica, .psets = psets };
	random_init(&c->random, seed);
	/* Earlier jobs have filled the caches of all I/O nodes to about the same level. */
	stale = p->stale * random_real(&c->random);
	for (size_t i = 0; i < psets; i++)
		c->dirty[i] =
			cache * stale * (STALE_LEAST + STALE_SPREAD * random_real(&c->random));
	c->until_s = draw_exponential(&c->random, p->burst_every_s);
}

/* The part of their rate that targets reach with this number of streams. */
static double target_efficiency(const struct replica *replica, double streams)
{
	const struct physics *p = &replica->physics;
	double each = streams / p->targets;

	if (replica->contention == REPLICA_SHARE)
		return 1 / (1 + p->share_loss * each);
	return 1 / (1 + p->knee_loss * fmax(each - p->knee, 0));
}

/* The rate of the servers. With few blocks, not all of them have work. */
static double server_rate(const struct storage_state *c)
{
	const struct physics *p = &c->replica->physics;
	double blocks = c->streams;

	for (size_t i = 0; i < c->psets; i++)
		blocks += c->dirty[i] / (double)c->replica->machine.block_bytes;
	return p->targets * p->target_rate * p->share * target_efficiency(c->replica, c->streams) *
	       -expm1(-blocks / p->targets) / (1 + c->burst);
}

/* Divides the rate of the servers equally among the I/O nodes. */
static void share_servers(struct storage_state *c)
{
	const struct physics *p = &c->replica->physics;

	c->flush_rate = fmin(p->client_rate, server_rate(c) / (double)c->psets);
	c->background_rate = fmin(p->client_rate * p->lazy, c->flush_rate);
}

/* Time until an I/O node starts or ends full-rate flushing, if its dirty bytes grow at a rate. */
static double time_to_mark(const struct storage_state *c, size_t i, double growth)
{
	const struct physics *p = &c->replica->physics;
	double cache = (double)c->replica->machine.cache_bytes;

	if (c->is_flushing[i])
		return growth < 0 ? (c->dirty[i] - p->low * cache) / -growth : INFINITY;
	return growth > 0 ? (p->high * cache - c->dirty[i]) / growth : INFINITY;
}

/* Advances an I/O node until a mark is reached or the time is over. Returns the elapsed time. */
static double advance_cache(struct storage_state *c, size_t i, double in, double out,
			    double seconds)
{
	double mark = fmax(time_to_mark(c, i, in - out), 0);
	double t = fmin(seconds, mark);

	c->dirty[i] = fmax(c->dirty[i] + (in - out) * t, 0);
	if (mark <= seconds)
		c->is_flushing[i] = !c->is_flushing[i];
	return t;
}

/* Seconds in which an I/O node accepts bytes that writers offer at a rate. */
static double accept_bytes(struct storage_state *c, size_t i, double bytes, double rate)
{
	double seconds = 0;

	while (bytes > 0) {
		double out = c->is_flushing[i] ? c->flush_rate : c->background_rate;
		double in = c->is_flushing[i] ? fmin(rate, c->replica->physics.yield * out) : rate;
		double t = advance_cache(c, i, in, out, bytes / in);

		seconds += t;
		bytes = t * in >= bytes * (1 - ROUNDING) ? 0 : bytes - t * in;
	}
	return seconds;
}

static void drain_cache(struct storage_state *c, size_t i, double seconds)
{
	while (seconds > 0) {
		double out = c->is_flushing[i] ? c->flush_rate : c->background_rate;

		seconds -= advance_cache(c, i, 0, out, seconds);
	}
}

void storage_wait(struct storage_state *c, double seconds)
{
	share_servers(c);
	for (size_t i = 0; i < c->psets; i++)
		drain_cache(c, i, seconds);
	advance_bursts(c, seconds);
}

/*
 * The first client receives a token for the whole file. For each domain of another client the
 * manager must revoke the tokens around it, whose number grows with the number of clients.
 */
static double token_seconds(struct storage_state *c, const struct load *load)
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

double storage_write(struct storage_state *c, const struct load *load, bool is_first)
{
	const struct physics *p = &c->replica->physics;
	double took[REPLICA_PSETS_MAX], tokens = is_first ? token_seconds(c, load) : 0, last = 0;

	if (tokens > 0)
		storage_wait(c, tokens);
	c->streams = load->writers;
	share_servers(c);
	for (size_t i = 0; i < c->psets; i++) {
		double noise = exp(p->jitter * random_normal(&c->random)) *
			       (1 + p->burst_reach * c->burst);

		took[i] = accept_bytes(c, i, load->bytes[i],
				       load->bytes[i] / load->seconds[i] / noise);
		last = fmax(last, took[i]);
	}
	for (size_t i = 0; i < c->psets; i++)
		drain_cache(c, i, last - took[i]);
	advance_bursts(c, last);
	return tokens + last;
}
