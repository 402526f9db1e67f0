/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The process that writes to one target. A write to storage that does not answer cannot be
 * interrupted, so neither a thread nor the prober itself may do it: a process is left behind, and
 * the others go on.
 *
 * It gets orders and gives answers by pipes, one at a time. Each write goes into room that is newly
 * given, as an application's does: the file is emptied before the write and after it, outside of
 * what is timed. The data are random, made once and shared by all workers.
 *
 * It ends when its pipe ends, and is killed when the prober dies.
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

/* What is written: a piece of random bytes that larger writes repeat. */
struct payload {
	void *bytes;
	size_t size;
};
#define PAYLOAD_BYTES (16u << 20)

int payload_init(struct payload *payload, uint64_t largest, struct err *err);
void payload_release(struct payload *payload);

struct worker_order {
	uint64_t bytes; /* 0: only see whether a file can be made */
	enum sample_method method;
};

struct worker_answer {
	enum sample_outcome outcome;
	enum sample_method method;
	int error; /* positive errno where it is not done */
	double seconds;
	uint64_t device;
	char text[240]; /* what is wrong */
};

struct worker {
	pid_t pid;	     /* 0: there is none */
	int orders, answers; /* -1: closed; of no meaning where there is no process */
	bool is_killed;
	double cpu_s; /* of all its processes that have ended */
};

int worker_start(struct worker *worker, const struct target *target, const struct payload *payload,
		 struct err *err);
/* -EPIPE where it is gone. */
int worker_send(struct worker *worker, const struct worker_order *order);
/* 1: there was an answer; 0: not yet; -EPIPE: it has died. Does not wait. */
int worker_receive(struct worker *worker, struct worker_answer *answer);
/* Kills it; it may take its time to die. */
void worker_kill(struct worker *worker);
/* Has it gone? Then another can be started. Does not wait. */
bool worker_gone(struct worker *worker);
/* Lets it end by itself, once it is done with what it does. */
void worker_leave(struct worker *worker);

#endif
