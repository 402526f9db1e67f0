/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The backlog: what the programs of a user know together about storage targets, in memory that all
 * their processes share. It holds the bytes that each target still has to write and the rate that
 * each was seen to write at, and it chooses the target of a new file from them: the one on which
 * the file will be finished first. The guest uses it at each file creation and each write, the
 * simulation of placement (predict/forecast/place/adaptive.h) with simulated times. Guest-safe.
 *
 * Every write is a probe of its target. A call that returns when the data is stored (fsync, a write
 * with O_DIRECT or O_SYNC) gives the rate. A write that the page cache may have absorbed, and a
 * close, count only if they took longer than the known rate explains. A call that has not returned
 * counts as soon as it takes longer than that. The busy time of a target is the time that calls
 * cover, so concurrent writers add up. What was seen loses half of its weight in
 * BACKLOG_HALF_LIFE_NS and then gives way to the forecast.
 *
 * A wrong forecast must not keep files away from a fast target. So it is trusted within a factor of
 * BACKLOG_TRUST around the mean rate, and a target of which next to nothing was seen counts as
 * that much faster than the mean: every target is tried now and then. Idle targets that are
 * about equally fast get the same number of files.
 *
 * What the backlogs of other users of the node say comes from the daemon (contract/exchange.h) and
 * is written here by a recorder of the user, so nobody has to trust memory of another user. It
 * counts for BACKLOG_OTHERS_NS. It is believed only within limits: it never makes a target look
 * faster than the user's own programs know it, and never more than BACKLOG_OTHERS_MOST times as
 * slow. So whatever others say, the chosen target finishes the file at most that many times later
 * (BACKLOG_SAME times that, if it is idle) than the best one, as far as the user's own programs can
 * tell.
 *
 * All functions may run in any number of processes and threads at once, without a lock; they make
 * no system call and do not allocate. Sums may be off by a call if processes race or are killed,
 * which changes a choice at worst, and not for long: files of dead processes are released, and what
 * an open file is still expected to write loses half of its weight in BACKLOG_HALF_LIFE_NS without
 * a call, for example if another process has got the number of a dead one. Times are of
 * CLOCK_MONOTONIC, in nanoseconds.
 */
#ifndef SLUICE_CONTRACT_BACKLOG_H
#define SLUICE_CONTRACT_BACKLOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKLOG_MAGIC UINT64_C(0x33474c4b43424c53) /* "SLBCKLG3" */
#define BACKLOG_TARGETS 512
#define BACKLOG_FILES 4096 /* open files; further ones are placed but not counted */
#define BACKLOG_HALF_LIFE_NS UINT64_C(10000000000)
#define BACKLOG_TRUST 2.0
#define BACKLOG_SAME 1.25		      /* times that differ by less count as equal */
#define BACKLOG_PRIOR_FILES 3.0		      /* the forecast counts as much as so many files */
#define BACKLOG_CHECK_NS UINT64_C(1000000000) /* the owner of a file is looked for this often */
#define BACKLOG_OTHERS_NS UINT64_C(3000000000)
#define BACKLOG_OTHERS_FILES 3.0 /* rates that others have seen count as much as so many files */
#define BACKLOG_OTHERS_MOST 8.0
#define BACKLOG_SUM_MAX (UINT64_C(1) << 50) /* so that sums of sums cannot overflow */

struct backlog_target {
	_Atomic uint64_t key;		 /* backlog_key() of its name; 0: free */
	_Atomic uint64_t bytes, busy_ns; /* seen, with the weight of halved_ns */
	_Atomic uint64_t halved_ns;
	_Atomic uint64_t covered_ns;	/* end of the last call that was counted */
	_Atomic uint64_t left, left_ns; /* bytes that closed files left in the cache at that time */
	_Atomic uint64_t others_outstanding, others_bytes, others_busy_ns; /* of other backlogs */
};

/* An open file. */
struct backlog_file {
	_Atomic uint64_t owner;	     /* process id << 32 | number; 0: free */
	_Atomic uint32_t target;     /* index in targets[] */
	_Atomic uint32_t references; /* descriptors of the owner */
	_Atomic uint64_t expected, written;
	_Atomic uint64_t cached;	      /* written, but perhaps not stored yet */
	_Atomic uint64_t call_ns, call_bytes; /* of the call under way; 0: none */
	_Atomic uint64_t active_ns;	      /* when it was created, or its last call returned */
	_Atomic uint64_t checked_ns;	      /* when the owner was known to live */
};

struct backlog {
	uint64_t magic;
	_Atomic uint32_t numbers;      /* of files, for `owner` */
	_Atomic uint32_t high;	       /* entries of files[] that were ever used */
	_Atomic uint64_t others_ns;    /* when the others were heard of; 0: never */
	_Atomic uint64_t exchanged_ns; /* when a recorder asked for them */
	struct backlog_target targets[BACKLOG_TARGETS];
	struct backlog_file files[BACKLOG_FILES];
};

/* What is known of a target, in one backlog or in several. */
struct backlog_sum {
	uint64_t key;		 /* of the target */
	uint64_t outstanding;	 /* bytes */
	uint64_t bytes, busy_ns; /* seen lately */
};

/* Room for backlog_choose(), which is too large for the stack of a guest. */
struct backlog_view {
	struct {
		double outstanding; /* bytes */
		double call_bytes;  /* of calls under way */
		uint64_t call_ns;   /* begin of the earliest of them; 0: none */
		/* Of other backlogs: */
		double others_outstanding;
		double others_bytes, others_busy_s;
	} targets[BACKLOG_TARGETS];
	double finish_s[BACKLOG_TARGETS]; /* by index of the choice; DBL_MAX: not allowed */
};

/* A question: which of these targets gets the next file? */
struct backlog_choice {
	unsigned count;
	const uint16_t *targets; /* indices on the backlog */
	const uint16_t *weights; /* relative speeds by forecast */
	uint64_t bytes;		 /* expected size of the file, at least 1 */
	uint64_t now_ns;
	uint64_t turn; /* where to begin if several targets are equal */
	/* The limits of a site, as multiples of the equal share of the files; 0: no limit. */
	double most, least;
	const _Atomic uint32_t *files; /* files that each target got in this step; NULL: unknown */
	/* Does the process live? NULL: all do. Asked once per BACKLOG_CHECK_NS and file. */
	bool (*is_alive)(int32_t pid);
};

/* What a call does with a file. */
enum backlog_call {
	BACKLOG_CACHED_WRITE, /* the page cache may absorb it */
	BACKLOG_STORED_WRITE, /* returns when the data is stored */
	BACKLOG_SYNC,	      /* the same for everything that was written before */
	BACKLOG_CLOSE,	      /* may store what was written before */
};

uint64_t backlog_key(const char *name, size_t bytes);

/* False if the backlog has another format, or is from before a restart of the machine. */
bool backlog_is_valid(const struct backlog *backlog, uint64_t now_ns);

/* Finds or adds the target with this key. Returns its index, or -1 if the backlog is full. */
int backlog_find_target(struct backlog *backlog, uint64_t key);

/* Returns an index of choice->targets. Releases files whose owner has died. */
unsigned backlog_choose(struct backlog *backlog, const struct backlog_choice *choice,
			struct backlog_view *view);

/*
 * The share of each of choice->targets in a file that is on several of them: in proportion to the
 * rates that are known of them, within the limits of the site. What is outstanding does not count,
 * because such a file is written for longer. A target of which nothing was seen has the rate of the
 * forecast, since a file cannot leave it again.
 */
void backlog_shares(struct backlog *backlog, const struct backlog_choice *choice,
		    struct backlog_view *view, double *shares);

/* Adds a file that the process has created on a target. NULL if the backlog is full. */
struct backlog_file *backlog_add_file(struct backlog *backlog, unsigned target, int32_t pid,
				      uint64_t expected, uint64_t now_ns);

/* Around a call that writes `bytes`; those of BACKLOG_SYNC and BACKLOG_CLOSE are known. */
void backlog_begin_call(struct backlog_file *file, enum backlog_call call, uint64_t bytes,
			uint64_t now_ns);
void backlog_end_call(struct backlog *backlog, struct backlog_file *file, enum backlog_call call,
		      uint64_t bytes, uint64_t begin_ns, uint64_t now_ns);

/* Releases the file. What it has left in the cache is outstanding for a while. */
void backlog_remove_file(struct backlog *backlog, struct backlog_file *file, uint64_t now_ns);

/* Releases the files of a process. */
void backlog_remove_process(struct backlog *backlog, int32_t pid, uint64_t now_ns);

/* The rate of a target in bytes per second as seen lately; 0: unknown. */
double backlog_rate(const struct backlog_target *target, uint64_t now_ns);

/* Sums up the backlog by the index of the target; key 0: there is none. No sum exceeds
 * BACKLOG_SUM_MAX, whatever the backlog holds. */
void backlog_sum_up(struct backlog *backlog, uint64_t now_ns, struct backlog_view *view,
		    struct backlog_sum sums[BACKLOG_TARGETS]);

/* Notes what other backlogs hold now, by the same index. Their keys are not read. */
void backlog_set_others(struct backlog *backlog, const struct backlog_sum others[BACKLOG_TARGETS],
			uint64_t now_ns);

#endif
