/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reception: collects the runs of all users whose processes hand over their spools by
 * descriptors (contract/handover.h). One collector per run; the trace of a run is
 *
 *   TRACES/UID/UUID.partial.N           while it runs, with UUID.ledger (ledger.h)
 *   TRACES/UID/DATE-PROGRAM-UUID.sluice complete
 *
 * Nothing that a client sends or writes is trusted: a descriptor must be a regular file of the
 * peer's user with the expected size, and everything is read as drain.h describes.
 *
 * If the process of the reception is killed, the traces are complete up to the last pass, and the
 * records since then are in the spools. The next reception continues the run when it gets the same
 * descriptors again, or finds the files in the directory: nothing is lost or written twice.
 *
 * A reception belongs to one thread. Several threads may each have their own, if a given control
 * page is always passed to the same one.
 */
#ifndef SLUICE_OBSERVE_COLLECT_RECEPTION_H
#define SLUICE_OBSERVE_COLLECT_RECEPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "contract/handover.h"
#include "contract/policy.h"
#include "observe/collect/collector.h"

struct err;
struct reception;

/* A run. Texts are valid during the call that it is passed to. */
struct reception_run {
	uid_t user;
	enum policy_mode mode;
	uint64_t id;		     /* unique in this reception; not 0 */
	uint64_t key;		     /* of the job, see contract/handover.h; as the client says */
	const char *job, *partition; /* as the client says */
};

/* A run that is over. Texts are valid during the call. */
struct reception_end {
	struct reception_run run;
	const char *trace; /* path; NULL: it could not be written, see err */
	/* NULL: an earlier reception has written the trace, which may lack its end. */
	const struct collector_totals *totals;
	const struct err *err; /* NULL: the trace is complete */
};

struct reception_options {
	const char *spools;	/* the directory of the policy page; NULL: names are not removed */
	const char *traces;	/* directory of the traces; created if necessary */
	size_t runs_max;	/* at the same time, of one user; 0: 64 */
	size_t spools_max;	/* at the same time, of one user; 0: 4096 */
	uint64_t linger_ns;	/* a run is over if it had no process for this long; 0: 2 s */
	uint64_t flight_ring;	/* as in collector_options, for runs of POLICY_FLIGHT */
	double overhead_budget; /* the same, for all runs */
	int64_t overhead_grace_ns;
	/* reception_scan() is limited to control pages with inode % shards == shard; 0: one. */
	unsigned shard, shards;
	const struct config *config; /* for the detector of POLICY_FLIGHT; NULL: no watchers */
	/* A run is over. May be NULL. */
	void (*on_end)(void *arg, const struct reception_end *end);
	/* The message with this ticket is not needed any more: its spool is in the trace, or was
	 * refused. May be NULL. Called for each ticket once. */
	void (*on_release)(void *arg, uint64_t ticket);
	/* Every batch that is written to a trace, times in ns; key of the run. May be NULL. */
	void (*on_activities)(void *arg, const struct reception_run *run,
			      const struct activity *batch, size_t n);
	/* A file that activities of the run refer to, before the first of them. May be NULL. */
	void (*on_file)(void *arg, const struct reception_run *run, file_id id, const char *path);
	void *arg;
};

/* A message of a client, as it was received. A keeper can store it and pass it to the next
 * reception. */
struct reception_message {
	struct hello hello; /* a copy; nothing in it is checked yet */
	uid_t user;	    /* of the peer, as the kernel says (SO_PEERCRED) */
	pid_t process;	    /* the same; 0: unknown */
	uint64_t ticket;    /* chosen by the caller, not 0 */
	int fds[HANDOVER_DESCRIPTORS];
	size_t fd_count;
};

struct reception_counts {
	size_t runs, spools; /* now */
	uint64_t activities; /* in all traces of this reception */
	uint64_t accepted;   /* spools */
	uint64_t refused;    /* messages with wrong content, and those beyond a limit */
	uint64_t repeated;   /* messages about known spools */
};

int reception_open(struct reception **reception, const struct reception_options *options,
		   struct err *err);

/*
 * Takes a message over, with its descriptors: they are closed sooner or later, also on failure.
 * Returns 0 if the spool is being collected, and -errno if the message was refused; then err says
 * why, and on_release() has been called.
 */
int reception_take(struct reception *reception, const struct reception_message *message,
		   struct err *err);

/*
 * Opens the files in the directory that were never handed over, as far as this process may: those
 * of its own user, and those of the policy's group. For a start, and now and then. Returns how many
 * spools were found.
 */
size_t reception_scan(struct reception *reception);

/* Runs one pass over all runs and completes those that are over. Returns the number of activities
 * read, so that the caller knows how long to sleep. */
size_t reception_poll(struct reception *reception);

struct reception_counts reception_counts(const struct reception *reception);

/* Closes everything. What was not finished is left for the next reception. */
void reception_close(struct reception *reception);

#endif
