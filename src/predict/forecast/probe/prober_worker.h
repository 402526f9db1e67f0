/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The process that writes to one target. A write to storage that does not respond cannot be
 * interrupted, so neither a thread nor the prober itself may do it. If a worker hangs, the prober
 * abandons it and continues with the other targets.
 *
 * A worker receives orders and sends answers through pipes, one at a time. Each write allocates new
 * blocks, as an application's write does: the file is truncated before and after the write, outside
 * the measured time. The data is random, generated once and shared by all workers.
 *
 * A worker exits when its pipe is closed, and is killed if the prober dies.
 */
#ifndef SLUICE_PREDICT_FORECAST_PROBE_PROBER_WORKER_H
#define SLUICE_PREDICT_FORECAST_PROBE_PROBER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "predict/forecast/chronicle/chronicle.h"

struct err;
struct target;

/* The random data of the writes. Writes larger than `size` repeat it. */
struct payload {
	void *bytes;
	size_t size;
};
#define PAYLOAD_BYTES (16u << 20)

int payload_init(struct payload *payload, uint64_t largest, struct err *err);
void payload_release(struct payload *payload);

struct worker_order {
	uint64_t bytes; /* 0: only check that a file can be created */
	enum sample_method method;
};

struct worker_answer {
	enum sample_outcome outcome;
	enum sample_method method;
	int error; /* positive errno if the write failed, else 0 */
	double seconds;
	uint64_t device;
	char text[240]; /* error message */
};

struct worker {
	pid_t pid;	     /* 0: no process */
	int orders, answers; /* pipe ends, -1 if closed; valid only while pid is not 0 */
	bool is_killed;
	double cpu_s; /* CPU seconds of this target's processes that have exited */
};

int worker_start(struct worker *worker, const struct target *target, const struct payload *payload,
		 struct err *err);
/* Returns -EPIPE if the worker has died. */
int worker_send(struct worker *worker, const struct worker_order *order);
/* Returns 1 with an answer, 0 if there is none yet, -EPIPE if the worker died. Does not block. */
int worker_receive(struct worker *worker, struct worker_answer *answer);
/* Sends SIGKILL. The process may take a while to exit. */
void worker_kill(struct worker *worker);
/* True if the process has exited, so that another can be started. Does not block. */
bool worker_has_exited(struct worker *worker);
/* Closes the pipes; the worker exits after the write in progress. */
void worker_close_pipes(struct worker *worker);

#endif
