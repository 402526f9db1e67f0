/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The process that runs a tuning of the store, as another process of the same user sees it: whether
 * there is one, how to stop it as Ctrl-C does, and how to start it again.
 */
#ifndef SLUICE_TUNE_LOOP_TUNING_PROCESS_H
#define SLUICE_TUNE_LOOP_TUNING_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct err;
struct study;

enum tuning_state { TUNING_RUNNING, TUNING_INTERRUPTED, TUNING_FINISHED };

struct tuning_status {
	enum tuning_state state;
	/* Of a tuning that is running: */
	int pid;
	char host[256];
	bool is_here; /* on this host, so that it can be stopped */
};

const char *tuning_state_name(enum tuning_state state); /* "running", ... */

/* A tuning is running if a process holds its lock (tune/trial/lock.h), also after its last run: the
 * process has yet to enter the result in the knowledge base and to print it. What the store says of
 * the tuning survives a process that was killed. */
void tuning_status_read(struct tuning_status *status, const struct config *config,
			const struct study *study);

/*
 * Sends SIGINT to the process that runs the tuning. The process aborts its trial, restores the
 * files and exits, which takes a while. -ESRCH: no process runs it; -EREMOTE: one on another host
 * does.
 */
int tuning_stop(const struct config *config, const struct study *study, struct err *err);

/*
 * Starts `sluice tune --resume --tuning ID` as a process of its own, which outlives the caller. Its
 * output goes to the file of tuning_log_path(). -EALREADY: the tuning is finished; -EBUSY: it is
 * running. Whether the new process can resume the tuning is seen in its output and its lock.
 */
int tuning_restart(const struct config *config, const struct study *study, struct err *err);

/* Where the output of a tuning goes that was started by tuning_restart(). The caller frees it. */
char *tuning_log_path(const struct config *config, int64_t id);

/* The directory of locks and of tune/trial/snapshot.h. The caller frees it. */
char *tuning_state_directory(const struct config *config);

/* The lock of the tunings with this digest of the plan. The caller frees it. */
char *tuning_lock_path(const struct config *config, const char *digest);

#endif
