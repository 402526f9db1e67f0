/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/interrupt.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/term.h"

#define ONCE_NS 500000000ll

/* A handler has no other place. */
static volatile sig_atomic_t stopped;
static _Atomic int64_t stopped_ns;

static const int signals[INTERRUPT_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

static void on_stop(int number)
{
	struct timespec now;
	int64_t now_ns, first_ns = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = now.tv_sec * 1000000000ll + now.tv_nsec;
	/* timeout(1) and launchers signal the process, and then its whole group. */
	if (!atomic_compare_exchange_strong(&stopped_ns, &first_ns, now_ns) &&
	    now_ns - first_ns > ONCE_NS) {
		signal(number, SIG_DFL);
		raise(number);
	}
	stopped = number;
}

void interrupt_catch(struct interrupt *stop)
{
	struct sigaction catch = { .sa_handler = on_stop };

	for (size_t i = 0; i < INTERRUPT_SIGNALS; i++) {
		sigaction(signals[i], &catch, &stop->old[i]);
		if (stop->old[i].sa_handler == SIG_IGN)
			sigaction(signals[i], &stop->old[i], NULL);
	}
}

void interrupt_restore(const struct interrupt *stop)
{
	/* The end has begun, and its exit code shall be told even if the same wish comes again. */
	if (stopped)
		return;
	for (size_t i = 0; i < INTERRUPT_SIGNALS; i++)
		sigaction(signals[i], &stop->old[i], NULL);
}

const volatile sig_atomic_t *interrupt_flag(void)
{
	return &stopped;
}

bool interrupt_show_progress(void *arg, size_t done, size_t total)
{
	struct progress *progress = arg;

	progress->total = total;
	progress_show(progress, done);
	return stopped != 0;
}
