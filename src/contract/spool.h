/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The spool: shared memory, backed by a file, through which a process passes its records to the
 * collector. Guest-safe.
 *
 * Every process image has one spool, in the same directory as the run's control page:
 *
 *   header (SPOOL_HEADER_BYTES)   identity of the process, counts of lost records, free map
 *   chunk 0, chunk 1, ...         SPOOL_CHUNK_BYTES each
 *
 * A thread owns the chunk that it writes to; only the owner writes records. It publishes each
 * record by a release store of `committed`; committed records survive the death of the process.
 * The spool grows by segments of several chunks. The space of a segment is allocated in the file
 * before it is mapped, so a full disk causes counted losses but never a SIGBUS. Drained chunks
 * return to the free map and are used again, lowest number first.
 *
 *   free --a thread claims it--> owned --the thread leaves it--> full --the collector drains it-->
 *   free
 *
 * The collector also drains chunks that are still owned; only the owner marks a chunk full.
 */
#ifndef SLUICE_CONTRACT_SPOOL_H
#define SLUICE_CONTRACT_SPOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "contract/advice.h"
#include "contract/backlog.h"
#include "contract/burst.h"
#include "contract/handover.h"
#include "contract/launch.h"
#include "contract/loss.h"
#include "contract/outcomes.h"
#include "contract/parameters.h"
#include "contract/record.h"
#include "contract/suggestion.h"

#define SPOOL_MAGIC UINT64_C(0x314c4f4f50534c53) /* "SLSPOOL1" */
#define SPOOL_VERSION 15
#define SPOOL_SUFFIX ".spool"
#define CONTROL_NAME "control"
#define BACKLOG_NAME "backlog" /* a link to the backlog of the user, if the run uses it */

#define SPOOL_CHUNK_BYTES (64u * 1024)
#define SPOOL_FIRST_CHUNKS 2	/* chunks of segment 0, enough for most processes */
#define SPOOL_SEGMENT_CHUNKS 16 /* chunks of every later segment */
#define SPOOL_SEGMENTS_MAX 1024
#define SPOOL_CHUNKS_MAX (SPOOL_FIRST_CHUNKS + (SPOOL_SEGMENTS_MAX - 1) * SPOOL_SEGMENT_CHUNKS)
#define SPOOL_MAP_WORDS ((SPOOL_CHUNKS_MAX + 63) / 64)
#define SPOOL_TEXT_BYTES 4096
#define SPOOL_HEADER_BYTES (32u * 1024)

/* How guests handle calls. The values are part of the format of the control page. */
enum capture_mode {
	CAPTURE_DETACHED, /* not part of a run (yet); also the value of a page that fork has wiped
			   */
	CAPTURE_OFF,
	CAPTURE_COUNTERS, /* opens are recorded, all other calls are counted per file */
	CAPTURE_TRACE,
};

enum capture_clock {
	CLOCK_SOURCE_MONOTONIC, /* clock_gettime, one tick is a nanosecond */
	CLOCK_SOURCE_COUNTER,	/* cntvct_el0 or the invariant TSC */
	CLOCK_SOURCE_KERNEL,	/* as MONOTONIC, but clock_gettime needs a system call */
	CLOCK_SOURCE_COUNT,
};

#define CONTROL_MAGIC UINT64_C(0x3152544e4f434c53) /* "SLCONTR1" */
#define CONTROL_SKIP_BYTES 1024
#define CONTROL_RUN_BYTES 64
#define CONTROL_FORBIDDEN_BYTES 8192
#define CONTROL_TURNS 16

/*
 * The in-line plug-ins of the run, which each process starts. A name without a slash is a plug-in
 * that is built into the guest.
 */
#define CONTROL_PLUGINS 8
#define CONTROL_OPTIONS_BYTES 2048

struct control_plugin {
	char name[256];	 /* or the absolute path of a library; empty: end of list */
	uint32_t layers; /* layers whose calls it gets: a bit per enum layer */
	char options[CONTROL_OPTIONS_BYTES]; /* KEY=VALUE lines */
};

/*
 * Tables by which ranks agree on hints without messages (capture/inline/agree.h): the ranks of each
 * job that are in this run, the proposed answers, and for each collective opening of a file the
 * answer that was chosen.
 */
#define CONTROL_JOBS 64
#define CONTROL_ANSWERS 64
#define CONTROL_OPENINGS 16384
#define CONTROL_HINTS_BYTES 1024

struct control_job {
	_Atomic uint64_t key;	  /* 0: free */
	_Atomic uint32_t present; /* ranks that have called MPI_Init */
	_Atomic uint32_t differs; /* not 0: the ranks have read different hints files of ROMIO */
	_Atomic uint64_t hints;	  /* hash of the hints file that the first rank has read */
};

enum answer_state {
	ANSWER_FREE,
	ANSWER_TAKEN,	 /* a process is writing it */
	ANSWER_COMPLETE, /* it never changes again */
};

struct control_answer {
	_Atomic uint32_t state;		 /* enum answer_state */
	uint32_t plugin;		 /* index in plugins[] of the plug-in that proposed it */
	char hints[CONTROL_HINTS_BYTES]; /* KEY=VALUE;KEY=VALUE */
};

/*
 * Tables by which the ranks of an open file agree on when its hints change, and to what
 * (capture/inline/access_agree.h).
 */
#define CONTROL_CHANGED_FILES 256
#define CONTROL_CHANGES_MAX 64

struct control_changes {
	_Atomic uint64_t opening; /* its number; 0: free */
	_Atomic uint32_t ready;	  /* ranks that take part */
	_Atomic uint32_t
		own; /* hints that must not change: a bit per index in hints_changeable[] */
	_Atomic uint64_t opened;		     /* a hash of what ranks must have in common */
	_Atomic uint64_t state;			     /* the latest access that was decided */
	_Atomic uint64_t steps[CONTROL_CHANGES_MAX]; /* accesses before which hints change */
};

#define PLACEMENT_TOTALS 1024 /* bursts that a run keeps: the last ones */

/*
 * Placement by the backlog (contract/backlog.h), for the list of destinations with these names. The
 * arrays are in the order of the list. The guest counts what it has placed.
 */
struct control_placement {
	uint32_t count; /* 0: files are placed by the weights of their list */
	uint64_t list;	/* parameters_destinations_key() */
	double most, least;
	uint16_t targets[PARAMETERS_DESTINATIONS], weights[PARAMETERS_DESTINATIONS];
	/* Files of the current step. A step ends with a pause or with a mark of the program. */
	_Atomic uint32_t step_files[PARAMETERS_DESTINATIONS];
	_Atomic uint64_t last_ns;     /* when a file was created or written */
	_Atomic uint64_t mark, begun; /* the last number of sluice_step() + 1; that of the step */
	_Atomic uint32_t steps;
	/* Of the whole run: */
	_Atomic uint32_t files[PARAMETERS_DESTINATIONS];
	_Atomic uint64_t bytes[PARAMETERS_DESTINATIONS];
	_Atomic uint64_t closed_files, closed_bytes;
	/* What is being written, and what the steps before have written: entry n % PLACEMENT_TOTALS
	 * is the n-th. */
	struct burst bursts[PARAMETERS_DESTINATIONS];
	_Atomic uint32_t total_count;
	struct burst_total totals[PLACEMENT_TOTALS];
};

/* The control page, through which the collector steers all processes of the run. All of them map
 * it. */
struct control {
	uint64_t magic;
	uint32_t version;
	uint32_t clock;		   /* enum capture_clock */
	uint32_t messages;	   /* not 0: MPI messages are recorded, too */
	_Atomic uint32_t mode;	   /* enum capture_mode; guests read it when they change chunks */
	uint32_t owner;		   /* effective user of the collector */
	uint32_t chunks_max;	   /* limit for the whole run */
	_Atomic uint32_t chunks;   /* allocated by all processes of the run */
	_Atomic uint32_t sequence; /* the number of the next spool */
	uint32_t seccomp_filters;  /* of the collector: see contract/sandbox.h */
	char skip[CONTROL_SKIP_BYTES]; /* names of programs that are not captured, one per line */
	/* For `sluice trace recover`, in case the collector dies: */
	int32_t collector_pid;
	uint64_t collector_start;	   /* as process_start below */
	uint64_t begin_ticks;		   /* time 0 of the trace */
	_Atomic uint32_t pass_state;	   /* enum pass_state */
	uint32_t calls;			   /* call_digest of who made the page; 0: unknown */
	uint64_t pass_until;		   /* ticks */
	uint64_t pass_before;		   /* activities in the trace when the pass began */
	uint64_t clock_num, clock_den;	   /* ns per tick, as known so far */
	char trace[SPOOL_TEXT_BYTES];	   /* absolute path of the container being written */
	char run[CONTROL_RUN_BYTES];	   /* uuid of the run, as in the trace */
	int64_t started_ns;		   /* start of the run, as in the trace */
	char parameters[PARAMETERS_BYTES]; /* see contract/parameters.h; may be empty */
	struct outcomes outcomes;	   /* what became of them */
	/*
	 * Names of parameters that must not be applied, one per line, with an empty first line.
	 * The host has checked `parameters`; this is for the hints of in-line plug-ins.
	 */
	char forbidden[CONTROL_FORBIDDEN_BYTES];
	/* Not 0: the control pages of the other nodes hold the same parameters. */
	uint32_t parameters_shared;
	/* Per list of destinations, the number of files that were assigned one so far
	 * (capture/apply/weighted_rotation.h). */
	_Atomic uint64_t turns[CONTROL_TURNS];
	/* A hook that takes longer than this is switched off; 0: no limit. */
	uint64_t plugin_budget_ticks;
	struct control_plugin plugins[CONTROL_PLUGINS];
	_Atomic uint32_t opens,
		explored; /* MPI files opened so far; those of them with trial hints */
	struct control_job jobs[CONTROL_JOBS];
	struct control_answer answers[CONTROL_ANSWERS];
	/* The upper 48 bits are a hash of the opening, the rest is the number of its answer (0: no
	 * hints). 0: the entry is free. */
	_Atomic uint64_t openings[CONTROL_OPENINGS];
	struct control_changes changes[CONTROL_CHANGED_FILES];
	/* How often the plug-in history has changed the hints of an open file, each change of all
	 * its ranks counted once. */
	_Atomic uint32_t hint_changes;
	struct suggestion suggestions[SUGGESTIONS];
	_Atomic uint64_t suggestions_until; /* see contract/suggestion.h */
	struct launch_table launches;
	/* Processes that were not recorded, by enum loss_cause: counted by the collector, for
	 * recovery. */
	_Atomic uint64_t unrecorded[LOSS_CAUSES];
	struct advice advice; /* what programs may ask for */
	/* By the policy of a site: the job of the process that created the page, for a daemon that
	 * finds the files without a message. */
	char job[HANDOVER_JOB_BYTES], partition[HANDOVER_PARTITION_BYTES];
	struct control_placement placement;
};

/* Do records of processes with this table of calls (call_digest) belong to the page? */
static inline bool control_knows_calls(const struct control *control, uint32_t digest)
{
	return !control->calls || control->calls == digest;
}

/* The progress of the collector's pass. Records stay in the spools until the pass ends. */
enum pass_state {
	PASS_NONE,
	PASS_WRITING, /* some of the calls that ended by pass_until are in the trace */
	PASS_WRITTEN, /* all of these calls are in the trace */
	PASS_FLIGHT,  /* flight recorder: records in the spools do not belong in the trace */
	PASS_CLOSED,  /* the trace is complete: nobody reads the spools any more */
};

/* The state of an in-line plug-in in one process. */
enum plugin_state {
	PLUGIN_NONE,
	PLUGIN_ACTIVE,
	PLUGIN_MISSING, /* the library cannot be loaded or is not a plug-in */
	PLUGIN_FOREIGN, /* it has another ABI or is not in-line */
	PLUGIN_FAILED,	/* start() failed, or a required hook is missing */
	PLUGIN_SLOW,	/* switched off because it exceeded its budget */
};

struct plugin_account {
	_Atomic uint32_t state;	      /* enum plugin_state */
	_Atomic uint32_t reason;      /* error number of FAILED */
	_Atomic uint64_t calls, acts; /* calls of its hooks; how often they acted */
	_Atomic uint64_t ticks;	      /* time spent in its hooks */
	_Atomic uint64_t worst_ticks; /* the longest call */
};

enum spool_state {
	SPOOL_ATTACHING, /* the header is not complete: the collector skips it for now */
	SPOOL_LIVE,
};

struct spool_header {
	uint64_t magic;
	uint32_t version;
	_Atomic uint32_t state; /* enum spool_state; release store completes the header */
	int32_t pid, ppid;
	uint32_t number;	/* the number of this spool in the run */
	int32_t parent_number;	/* spool of the process it was forked from, -1 for none */
	uint32_t first_thread;	/* number of its first thread; in a child, the thread that forked */
	uint32_t forked_thread; /* number of that thread in the parent */
	uint64_t forked_seq;	/* sequence number of its last call in the parent: a call under
				 * way continues in both processes */
	_Atomic uint32_t threads; /* next free thread number */
	uint64_t pid_namespace;	  /* inode of /proc/self/ns/pid, 0 if unknown */
	uint64_t process_start; /* start time of the pid in clock ticks since boot: /proc/PID/stat,
				   field 22 */
	uint64_t attached;	/* ticks */
	/* Bit set: the space of the segment is allocated. */
	_Atomic uint64_t segment_map[SPOOL_SEGMENTS_MAX / 64];
	_Atomic int32_t rank, ranks; /* in MPI_COMM_WORLD, and its size; -1 and 0 before MPI_Init */
	_Atomic uint64_t lost_records[LOSS_CAUSES]; /* by enum loss_cause */
	_Atomic uint64_t lost_threads;
	/* The overhead in ticks, summed over all threads, and the number of records it covers.
	 * Updated when a thread changes its chunk (capture/record/cost.h). */
	_Atomic uint64_t cost_ticks;
	_Atomic uint64_t cost_records;
	struct plugin_account plugins[CONTROL_PLUGINS]; /* by index in the control page */
	/* Descriptions of the process: terminated, possibly truncated. */
	char program[SPOOL_TEXT_BYTES];
	char directory[SPOOL_TEXT_BYTES];
	char command[SPOOL_TEXT_BYTES]; /* arguments, each ended by NUL */
	uint32_t command_bytes;
	/* Bit set: the chunk is mapped and free. Threads claim it by fetch_and, the collector
	 * returns it by fetch_or. */
	_Atomic uint64_t free_map[SPOOL_MAP_WORDS] __attribute__((aligned(64)));
};

_Static_assert(sizeof(struct spool_header) <= SPOOL_HEADER_BYTES,
	       "the header has outgrown its space");

/* Records that the process has lost, of all causes. */
static inline uint64_t spool_lost_records(const struct spool_header *header)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < LOSS_CAUSES; i++)
		lost += atomic_load_explicit(&header->lost_records[i], memory_order_relaxed);
	return lost;
}

enum chunk_state {
	CHUNK_FREE,
	CHUNK_OWNED,
	CHUNK_FULL,
};

struct chunk {
	_Atomic uint32_t committed; /* words of complete records */
	_Atomic uint32_t state;	    /* enum chunk_state */
	uint32_t thread;	    /* number of the thread (or signal lane) that owns it */
	int32_t tid;		    /* the kernel's id of the owner */
	uint32_t drained; /* words that the collector has read; used by the collector only */
	uint32_t reserved[11];
	uint64_t words[]; /* records back to back */
};

#define CHUNK_WORDS ((SPOOL_CHUNK_BYTES - (uint32_t)sizeof(struct chunk)) / 8)

_Static_assert(sizeof(struct chunk) == 64, "records start on a cache line of their own");
_Static_assert(RECORD_WORDS_MAX <= CHUNK_WORDS, "the longest record fits into an empty chunk");

/* The segment of a chunk; the first chunk of a segment and its number of chunks. */
static inline uint32_t spool_segment_of(uint32_t chunk)
{
	if (chunk < SPOOL_FIRST_CHUNKS)
		return 0;
	return 1 + (chunk - SPOOL_FIRST_CHUNKS) / SPOOL_SEGMENT_CHUNKS;
}

static inline uint32_t spool_segment_first(uint32_t segment)
{
	return segment ? SPOOL_FIRST_CHUNKS + (segment - 1) * SPOOL_SEGMENT_CHUNKS : 0;
}

static inline uint32_t spool_segment_chunks(uint32_t segment)
{
	return segment ? SPOOL_SEGMENT_CHUNKS : SPOOL_FIRST_CHUNKS;
}

static inline uint64_t spool_chunk_offset(uint32_t chunk)
{
	return SPOOL_HEADER_BYTES + (uint64_t)chunk * SPOOL_CHUNK_BYTES;
}

/*
 * The counters of a process: a second file beside the spool, created when the first call is
 * counted instead of recorded. It is a hash table with one slot per opened handle (the key is its
 * LINK word) and layer. Reserved slot n counts calls of layer n for which there was no slot. The
 * first COUNTERS_OWNERS threads have slots that only they add to; all other threads share slots by
 * atomic additions. The reader adds up the slots of the same handle and layer.
 */
#define COUNTERS_MAGIC UINT64_C(0x3153544e554f4353) /* "SCOUNTS1" */
#define COUNTERS_SUFFIX ".counters"
#define COUNTERS_SLOTS 2048
#define COUNTERS_RESERVED 16 /* at least the number of layers */
#define COUNTERS_GROUPS 6    /* enum group of contract/group.h */
#define COUNTERS_OWNERS 8

struct counter {
	_Atomic uint64_t calls, errors, bytes, ticks;
};

struct counters_slot {
	_Atomic uint64_t key;	/* LINK word; 0: unused or reserved */
	_Atomic uint64_t whose; /* from counters_whose(); 0 while the slot is being created */
	struct counter groups[COUNTERS_GROUPS];
};

/* The layer of a slot and its owner: the number of a thread, or 0 for a shared slot. */
static inline uint64_t counters_whose(unsigned layer, uint32_t owner)
{
	return (uint64_t)owner << 32 | (layer + 1);
}

static inline unsigned counters_layer(uint64_t whose)
{
	return (uint32_t)whose - 1;
}

/*
 * Most processes use few slots. So that a reader need not copy all of the file, `used` has a bit
 * for each COUNTERS_PAGE bytes of it in which a slot has been created; it is set after the slot.
 */
#define COUNTERS_PAGE 4096
#define COUNTERS_PAGES 128 /* at least those of the file */

struct counters_file {
	uint64_t magic;
	uint64_t has_used; /* 0: written by a version that does not set `used` */
	_Atomic uint64_t used[COUNTERS_PAGES / 64];
	uint64_t reserved[4];
	struct counters_slot slots[COUNTERS_SLOTS];
};

_Static_assert(sizeof(struct counters_file) <= COUNTERS_PAGES * COUNTERS_PAGE, "has enough bits");

/* The first and the last page of a slot. */
static inline unsigned counters_first_page(unsigned slot)
{
	return (unsigned)((offsetof(struct counters_file, slots) +
			   slot * sizeof(struct counters_slot)) /
			  COUNTERS_PAGE);
}

static inline unsigned counters_last_page(unsigned slot)
{
	return (unsigned)((offsetof(struct counters_file, slots) +
			   (slot + 1) * sizeof(struct counters_slot) - 1) /
			  COUNTERS_PAGE);
}

#endif
