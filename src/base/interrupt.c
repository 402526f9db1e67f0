/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/interrupt.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/term.h"

#define SAME_REQUEST_NS (500 * NS_PER_MS)

/* Global because a signal handler takes no argument. */
static volatile sig_atomic_t stopped;
static _Atomic int64_t stopped_ns;

static const int signals[INTERRUPT_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

static void handle_signal(int number)
{
	int64_t now_ns = clock_now_ns(), first_ns = 0;

	if (!atomic_compare_exchange_strong(&stopped_ns, &first_ns, now_ns) &&
	    now_ns - first_ns > SAME_REQUEST_NS) {
		signal(number, SIG_DFL);
		raise(number);
	}
	stopped = number;
}

void interrupt_catch(struct interrupt *stop)
{
	struct sigaction catch = { .sa_handler = handle_signal };

	for (size_t i = 0; i < INTERRUPT_SIGNALS; i++) {
		sigaction(signals[i], &catch, &stop->old[i]);
		if (stop->old[i].sa_handler == SIG_IGN)
			sigaction(signals[i], &stop->old[i], NULL);
	}
}

void interrupt_restore(const struct interrupt *stop)
{
	/* A repeated signal must not change the exit code of a process that is cleaning up. */
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
