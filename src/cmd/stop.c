/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/stop.h"

#include "base/term.h"

/* A handler has no other place. */
static volatile sig_atomic_t stopped;

static const int signals[STOP_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

static void on_stop(int signal)
{
	stopped = signal;
}

void stop_catch(struct stop *stop)
{
	struct sigaction catch = { .sa_handler = on_stop, .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < STOP_SIGNALS; i++) {
		sigaction(signals[i], &catch, &stop->old[i]);
		if (stop->old[i].sa_handler == SIG_IGN)
			sigaction(signals[i], &stop->old[i], NULL);
	}
}

void stop_restore(const struct stop *stop)
{
	for (size_t i = 0; i < STOP_SIGNALS; i++)
		sigaction(signals[i], &stop->old[i], NULL);
}

const volatile sig_atomic_t *stop_flag(void)
{
	return &stopped;
}

bool stop_tell(void *arg, size_t done, size_t total)
{
	struct progress *progress = arg;

	progress->total = total;
	progress_show(progress, done);
	return stopped != 0;
}
