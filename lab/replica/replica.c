/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/replica/replica.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "lab/replica/replica_internal.h"
#include "predict/describe.h"

#define FIELD(name) offsetof(struct physics, name)
#define NUMBER(key, kind, min, max, field)                      \
	{                                                       \
		"replica", key, kind, 1, min, max, FIELD(field) \
	}

static const struct describe_row rows[] = {
	NUMBER("torus_links", DESCRIBE_COUNT, 1, 100, torus_links),
	NUMBER("torus_rate", DESCRIBE_RATE, 1, 1e15, torus_rate),
	NUMBER("node_rate", DESCRIBE_RATE, 1, 1e15, node_rate),
	NUMBER("core_rate", DESCRIBE_RATE, 1, 1e15, core_rate),
	NUMBER("l2", DESCRIBE_BYTES, 1, 1e12, l2),
	NUMBER("spill", DESCRIBE_NUMBER, 1e-3, 1, spill),
	NUMBER("step", DESCRIBE_SECONDS, 0, 1, step_s),
	NUMBER("peer", DESCRIBE_SECONDS, 0, 1, peer_s),
	NUMBER("count", DESCRIBE_SECONDS, 0, 1, count_s),
	NUMBER("message", DESCRIBE_SECONDS, 0, 1, message_s),
	NUMBER("reduce_rate", DESCRIBE_RATE, 1, 1e15, reduce_rate),
	NUMBER("exchange_part", DESCRIBE_NUMBER, 1e-3, 1, exchange_eff),
	NUMBER("network_noise", DESCRIBE_NUMBER, 0, 1, network_noise),
	NUMBER("round_rank", DESCRIBE_SECONDS, 0, 1, round_rank_s),
	NUMBER("bridge_rate", DESCRIBE_RATE, 1, 1e15, bridge_rate),
	NUMBER("stream_rate", DESCRIBE_RATE, 1, 1e15, stream_rate),
	NUMBER("serial", DESCRIBE_NUMBER, 0, 1, serial),
	NUMBER("hop", DESCRIBE_NUMBER, 0, 10, hop),
	NUMBER("call", DESCRIBE_SECONDS, 0, 10, call_s),
	NUMBER("straggle", DESCRIBE_NUMBER, 0, 10, straggle),
	NUMBER("client_rate", DESCRIBE_RATE, 1, 1e15, client_rate),
	NUMBER("high", DESCRIBE_NUMBER, 0.01, 1, high),
	NUMBER("low", DESCRIBE_NUMBER, 0, 0.99, low),
	NUMBER("lazy", DESCRIBE_NUMBER, 0.001, 1, lazy),
	NUMBER("yield", DESCRIBE_NUMBER, 0.01, 0.99, yield),
	NUMBER("stale", DESCRIBE_NUMBER, 0, 1, stale),
	NUMBER("targets", DESCRIBE_COUNT, 1, 1e6, targets),
	NUMBER("target_rate", DESCRIBE_RATE, 1, 1e15, target_rate),
	NUMBER("share", DESCRIBE_NUMBER, 1e-6, 1, share),
	NUMBER("knee", DESCRIBE_NUMBER, 0, 1e6, knee),
	NUMBER("knee_loss", DESCRIBE_NUMBER, 0, 100, knee_loss),
	NUMBER("share_loss", DESCRIBE_NUMBER, 0, 100, share_loss),
	NUMBER("ingest_knee", DESCRIBE_NUMBER, 0.5, 100, ingest_knee),
	NUMBER("ingest_loss", DESCRIBE_NUMBER, 0, 100, ingest_loss),
	NUMBER("create", DESCRIBE_SECONDS, 0, 100, create_s),
	NUMBER("token", DESCRIBE_SECONDS, 0, 100, token_s),
	NUMBER("token_power", DESCRIBE_NUMBER, 0, 2, token_power),
	NUMBER("token_noise", DESCRIBE_NUMBER, 0, 2, token_noise),
	NUMBER("burst_every", DESCRIBE_SECONDS, 1e-3, 1e6, burst_every_s),
	NUMBER("burst", DESCRIBE_SECONDS, 1e-3, 1e6, burst_s),
	NUMBER("burst_median", DESCRIBE_NUMBER, 0, 100, burst_median),
	NUMBER("burst_sigma", DESCRIBE_NUMBER, 0, 3, burst_sigma),
	NUMBER("burst_reach", DESCRIBE_NUMBER, 0, 1, burst_reach),
	NUMBER("jitter", DESCRIBE_NUMBER, 0, 3, jitter),
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct describe_folder folder = { "machines", "SLUICE_MACHINES", "machine", "vesta" };

static int read_physics(struct physics *physics, const char *name, struct err *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_BUF struct buf text = { 0 };
	struct describe d = { .into = physics, .rows = rows, .row_count = ROWS };
	int r = describe_load(&folder, name, &path, &text, err);
	bool has_section = false;

	if (r < 0)
		return r;
	d.name = path;
	r = describe_read(&d, buf_text(&text), text.len);
	if (r < 0)
		return err_set(err, d.err.code, "%s", d.err.text);
	for (size_t i = 0; i < ROWS; i++)
		has_section |= d.seen[i] != 0;
	if (!has_section)
		return err_set(err, ENODATA,
			       "%s has no section [replica], so the machine cannot be simulated; "
			       "vesta can",
			       path);
	if (describe_complete(&d, 1) < 0)
		return err_set(err, d.err.code, "%s", d.err.text);
	if (physics->low >= physics->high)
		return err_set(err, EINVAL, "%s: low must be less than high in [replica]", path);
	return 0;
}

static int check_machine(const struct machine *m, const char *name, struct err *err)
{
	uint64_t pset = m->pset_nodes;

	if (m->romio != ROMIO_BLUEGENE || !m->bridges || !m->bridge_nodes || !m->cache_bytes ||
	    !m->block_bytes || !m->cores)
		return err_set(err, EINVAL,
			       "%s: a simulated machine requires romio = bluegene, cores, bridges, "
			       "bridge_nodes, cache and block",
			       name);
	if (pset < 2 || pset > REPLICA_NODES_MAX || pset & (pset - 1) ||
	    m->bridges * pset != 2 * m->bridge_nodes)
		return err_set(
			err, EINVAL,
			"%s: a simulated machine requires psets of two bridges and a power of "
			"two of nodes, from 2 to %d",
			name, REPLICA_NODES_MAX);
	return 0;
}

int replica_open(struct replica **out, const char *name, enum replica_contention contention,
		 struct err *err)
{
	struct replica *replica = xcalloc(1, sizeof(*replica));
	int r = machine_open(&replica->machine, name, err);

	replica->contention = contention;
	if (r >= 0)
		r = read_physics(&replica->physics, name, err);
	if (r >= 0)
		r = check_machine(&replica->machine, name, err);
	if (r < 0) {
		replica_close(replica);
		return r;
	}
	*out = replica;
	return 0;
}

void replica_close(struct replica *replica)
{
	free(replica);
}

const struct machine *replica_machine(const struct replica *replica)
{
	return &replica->machine;
}

uint64_t replica_mix(const uint64_t *numbers, size_t count)
{
	struct random random;
	uint64_t mixed = count;

	for (size_t i = 0; i < count; i++) {
		random_stream(&random, mixed, numbers[i]);
		mixed = random_u64(&random);
	}
	return mixed;
}

void replica_rounds(const struct replica *replica, uint64_t nodes, uint64_t writers, uint64_t bytes,
		    bool topology, uint64_t repetition, double *seconds, size_t rounds)
{
	const uint64_t key[] = { 2, nodes, writers, bytes, topology, repetition };
	struct placement placement;
	struct storage_state state;
	struct load load;

	for (size_t i = 0; i < rounds; i++)
		seconds[i] = NAN;
	if (!placement_start(&placement, replica, nodes) || !writers || !bytes ||
	    writers > nodes * replica->machine.cores)
		return;
	if (topology)
		placement_topology(&placement, 0, writers, (double)bytes);
	else
		placement_uniform(&placement, replica->machine.cores, writers, (double)bytes);
	load_init(&load, replica, &placement);
	storage_start(&state, replica, placement.psets,
		      replica_mix(key, sizeof(key) / sizeof(key[0])));
	for (size_t i = 0; i < rounds; i++)
		seconds[i] = storage_write(&state, &load, i == 0);
}
