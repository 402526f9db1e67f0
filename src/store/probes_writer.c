/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Saves probe data. The rows of a round are added one after the other, with the targets in the same
 * order each time. So the round of the previous row and the target that followed last time are
 * tried first, and each of millions of rows needs a single statement.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/probes.h"
#include "store/store_internal.h"

struct target {
	char *name;
	int64_t id;
};

struct probe_writer {
	struct store *store;
	int64_t system;
	struct target *targets;
	size_t target_count, target_cap, target_next;
	/* The round of the previous row; 0: none. */
	int64_t round;
	double time_s;
	uint64_t bytes;
};

static int64_t find_system(struct store *store, const char *system, struct err *err)
{
	return store_first_number(
		store,
		store_query(store, err, "SELECT id FROM probe_system WHERE name = ?1", "t", system),
		err);
}

static int64_t register_system(struct store *store, const char *system, struct err *err)
{
	int r = store_run(store, err,
			  "INSERT INTO probe_system (name) VALUES (?1) ON CONFLICT DO NOTHING", "t",
			  system);

	return r < 0 ? r : find_system(store, system, err);
}

int probe_writer_open(struct probe_writer **out, struct store *store, const char *system,
		      struct err *err)
{
	struct probe_writer *writer;
	int r = store_begin(store, err);
	int64_t id;

	if (r < 0)
		return r;
	id = register_system(store, system, err);
	if (id < 0) {
		store_end(store, 0, NULL);
		return (int)id;
	}
	writer = xcalloc(1, sizeof(*writer));
	writer->store = store;
	writer->system = id;
	*out = writer;
	return 0;
}

static int64_t find_known_target(struct probe_writer *writer, const char *name)
{
	for (size_t tried = 0; tried < writer->target_count; tried++) {
		size_t i = (writer->target_next + tried) % writer->target_count;

		if (strcmp(writer->targets[i].name, name) == 0) {
			writer->target_next = i + 1;
			return writer->targets[i].id;
		}
	}
	return 0;
}

static int64_t register_target(struct probe_writer *writer, const char *name, struct err *err)
{
	int64_t id = find_known_target(writer, name);
	int r;

	if (id)
		return id;
	r = store_run(writer->store, err,
		      "INSERT INTO probe_target (system, name) VALUES (?1, ?2) "
		      "ON CONFLICT DO NOTHING",
		      "it", writer->system, name);
	if (r < 0)
		return r;
	id = store_first_number(
		writer->store,
		store_query(writer->store, err,
			    "SELECT id FROM probe_target WHERE system = ?1 AND name = ?2", "it",
			    writer->system, name),
		err);
	if (id < 0)
		return id;
	writer->targets = xgrow(writer->targets, &writer->target_cap, writer->target_count + 1,
				sizeof(*writer->targets));
	writer->targets[writer->target_count++] = (struct target){ xstrdup(name), id };
	return id;
}

static int64_t find_round(struct probe_writer *writer, double time_s, uint64_t bytes,
			  struct err *err)
{
	return store_first_number(
		writer->store,
		store_query(writer->store, err,
			    "SELECT id FROM probe_round WHERE system = ?1 AND time = ?2 "
			    "AND bytes = ?3",
			    "idi", writer->system, time_s, (int64_t)bytes),
		err);
}

static int start_round(struct probe_writer *writer, double time_s, uint64_t bytes, struct err *err)
{
	int64_t id = find_round(writer, time_s, bytes, err);
	int r;

	if (!id) {
		r = store_run(writer->store, err,
			      "INSERT INTO probe_round (system, time, bytes) VALUES (?1, ?2, ?3)",
			      "idi", writer->system, time_s, (int64_t)bytes);
		id = r < 0 ? r : find_round(writer, time_s, bytes, err);
	}
	if (id < 0)
		return (int)id;
	writer->round = id;
	writer->time_s = time_s;
	writer->bytes = bytes;
	return 0;
}

int probe_writer_add_row(struct probe_writer *writer, const struct probe *row, struct err *err)
{
	int64_t target = register_target(writer, row->target, err);
	int r = 0;

	if (target < 0)
		return (int)target;
	if (!writer->round || writer->time_s != row->time_s || writer->bytes != row->bytes)
		r = start_round(writer, row->time_s, row->bytes, err);
	if (r < 0)
		return r;
	return store_run(writer->store, err,
			 "INSERT INTO probe (round, target, seconds, outcome) "
			 "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (round, target) DO UPDATE SET "
			 "seconds = excluded.seconds, outcome = excluded.outcome",
			 "iidi", writer->round, target, row->seconds, (int64_t)row->outcome);
}

static int64_t register_job(struct probe_writer *writer, const struct probe_job *job,
			    struct err *err)
{
	const char *id = text_or_empty(job->id), *name = text_or_empty(job->name);
	const char *owner = text_or_empty(job->owner), *queue = text_or_empty(job->queue);
	int r = store_run(writer->store, err,
			  "INSERT INTO probe_job (system, job, name, owner, queue) "
			  "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
			  "itttt", writer->system, id, name, owner, queue);

	if (r < 0)
		return r;
	return store_first_number(
		writer->store,
		store_query(writer->store, err,
			    "SELECT id FROM probe_job WHERE system = ?1 AND job = ?2 "
			    "AND name = ?3 AND owner = ?4 AND queue = ?5",
			    "itttt", writer->system, id, name, owner, queue),
		err);
}

static int save_job(struct probe_writer *writer, int64_t snapshot, size_t number,
		    const struct probe_job *job, struct err *err)
{
	int64_t id = register_job(writer, job, err);

	if (id < 0)
		return (int)id;
	return store_run(writer->store, err,
			 "INSERT INTO probe_running (snapshot, number, job, nodes, memory, "
			 "virtual, used, allocated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
			 "iiiddddd", snapshot, (int64_t)number, id, job->nodes, job->memory_bytes,
			 job->virtual_bytes, job->used_s, job->allocated_s);
}

static int64_t start_snapshot(struct probe_writer *writer, double time_s, struct err *err)
{
	int64_t id;
	int r = store_run(writer->store, err,
			  "INSERT INTO probe_snapshot (system, time) VALUES (?1, ?2) "
			  "ON CONFLICT DO NOTHING",
			  "id", writer->system, time_s);

	if (r < 0)
		return r;
	id = store_first_number(
		writer->store,
		store_query(writer->store, err,
			    "SELECT id FROM probe_snapshot WHERE system = ?1 AND time = ?2", "id",
			    writer->system, time_s),
		err);
	if (id < 0)
		return id;
	r = store_run(writer->store, err, "DELETE FROM probe_running WHERE snapshot = ?1", "i", id);
	return r < 0 ? r : id;
}

int probe_writer_add_jobs(struct probe_writer *writer, double time_s, const struct probe_job *jobs,
			  size_t count, struct err *err)
{
	int64_t snapshot = start_snapshot(writer, time_s, err);
	int r = 0;

	if (snapshot < 0)
		return (int)snapshot;
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = save_job(writer, snapshot, i, &jobs[i], err);
	return r;
}

int probe_writer_add_node(struct probe_writer *writer, double time_s,
			  const double values[PROBE_NODE_VALUES], struct err *err)
{
	return store_run(writer->store, err,
			 "INSERT INTO probe_node (system, time, a, b, c, d, e, f) "
			 "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (system, time) DO "
			 "UPDATE SET a = excluded.a, b = excluded.b, c = excluded.c, "
			 "d = excluded.d, e = excluded.e, f = excluded.f",
			 "iddddddd", writer->system, time_s, values[0], values[1], values[2],
			 values[3], values[4], values[5]);
}

int probe_writer_close(struct probe_writer *writer, bool commit, struct err *err)
{
	int r = store_end(writer->store, commit, err);

	for (size_t i = 0; i < writer->target_count; i++)
		free(writer->targets[i].name);
	free(writer->targets);
	free(writer);
	return r;
}
