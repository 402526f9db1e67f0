/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The spool: the shared memory, backed by a file, through which a process hands records to the
 * collector. Guest-safe.
 *
 * One spool per process image, in the directory that the run's control page lies in:
 *
 *   header (SPOOL_HEADER_BYTES)   who the process is, counters of loss, map of free chunks
 *   chunk 0, chunk 1, ...         SPOOL_CHUNK_BYTES each
 *
 * A thread owns the chunk that it writes to; nobody else ever writes to its records. It publishes
 * each record by a release store of `committed`; whatever is committed survives the death of the
 * process. Chunks come in segments: the unit of growth, of mapping and of file allocation, always
 * allocated before it is mapped, so that a full disk is a counted loss and never a SIGBUS. Emptied
 * chunks go back into the map of free chunks and are used again, lowest first.
 *
 *   free --claimed by a thread--> owned --thread leaves it--> full --drained by the collector-->
 * free
 *
 * The collector may drain a chunk while it is owned; only the owner makes it full.
 */
#ifndef SLUICE_CONTRACT_SPOOL_H
#define SLUICE_CONTRACT_SPOOL_H

#include <stdatomic.h>
#include <stdint.h>

#include "contract/parameters.h"
#include "contract/record.h"

#define SPOOL_MAGIC UINT64_C(0x314c4f4f50534c53) /* "SLSPOOL1" */
#define SPOOL_VERSION 6
#define SPOOL_SUFFIX ".spool"
#define CONTROL_NAME "control"

#define SPOOL_CHUNK_BYTES (64u * 1024)
#define SPOOL_FIRST_CHUNKS 2	/* chunks of segment 0: most processes need no more */
#define SPOOL_SEGMENT_CHUNKS 16 /* chunks of every later segment */
#define SPOOL_SEGMENTS_MAX 1024
#define SPOOL_CHUNKS_MAX (SPOOL_FIRST_CHUNKS + (SPOOL_SEGMENTS_MAX - 1) * SPOOL_SEGMENT_CHUNKS)
#define SPOOL_MAP_WORDS ((SPOOL_CHUNKS_MAX + 63) / 64)
#define SPOOL_TEXT_BYTES 4096
#define SPOOL_HEADER_BYTES (32u * 1024)

/* What guests do with a call. The values are part of the format of the control page. */
enum capture_mode {
	CAPTURE_DETACHED, /* not (yet) part of a run: also what a wiped page after fork says */
	CAPTURE_OFF,
	CAPTURE_COUNTERS, /* opens are recorded, the rest is counted per file */
	CAPTURE_TRACE,
};

enum capture_clock {
	CLOCK_SOURCE_MONOTONIC, /* clock_gettime, one tick is a nanosecond */
	CLOCK_SOURCE_COUNTER,	/* cntvct_el0 or the invariant TSC */
};

#define CONTROL_MAGIC UINT64_C(0x3152544e4f434c53) /* "SLCONTR1" */
#define CONTROL_SKIP_BYTES 1024
#define CONTROL_TURNS 16

/*
 * In-line plug-ins of the run: named by the host, started by each process. Names without a slash
 * are built into the guest.
 */
#define CONTROL_PLUGINS 8
#define CONTROL_OPTIONS_BYTES 2048

struct control_plugin {
	char name[256];			     /* or absolute path of a library; empty: no more */
	uint32_t layers;		     /* bit per enum layer: of whose calls it is told */
	char options[CONTROL_OPTIONS_BYTES]; /* KEY=VALUE, each ended by a newline */
};

/*
 * What ranks agree on without a message, see capture/inline/agree.h: which ranks of a job are here;
 * answers that were proposed; and for each opening of a file by several ranks the one that counts.
 */
#define CONTROL_JOBS 64
#define CONTROL_ANSWERS 64
#define CONTROL_OPENINGS 16384
#define CONTROL_HINTS_BYTES 1024

struct control_job {
	_Atomic uint64_t key;	  /* 0: free */
	_Atomic uint32_t present; /* ranks that have come to MPI_Init */
};

enum answer_state {
	ANSWER_FREE,
	ANSWER_TAKEN,	 /* its maker is writing it */
	ANSWER_COMPLETE, /* and will not change again */
};

struct control_answer {
	_Atomic uint32_t state;		 /* enum answer_state */
	uint32_t plugin;		 /* whose it is: number in plugins[] */
	char hints[CONTROL_HINTS_BYTES]; /* KEY=VALUE;KEY=VALUE */
};

/* The control page: what the collector tells every process of the run. Mapped shared by all of
 * them. */
struct control {
	uint64_t magic;
	uint32_t version;
	uint32_t clock;		       /* enum capture_clock */
	uint32_t messages;	       /* not 0: those of MPI-IO are recorded, too */
	_Atomic uint32_t mode;	       /* enum capture_mode; guests look when they change chunks */
	uint32_t chunks_max;	       /* bound of the whole run */
	_Atomic uint32_t chunks;       /* allocated by all processes of the run */
	_Atomic uint32_t sequence;     /* gives each spool a number of its own */
	char skip[CONTROL_SKIP_BYTES]; /* names of programs to leave alone, each ended by a newline
					*/
	/* For `sluice recover`, should the collector die: */
	int32_t collector_pid;
	uint64_t collector_start;	   /* as process_start below */
	uint64_t begin_ticks;		   /* time 0 of the trace */
	_Atomic uint32_t pass_state;	   /* enum pass_state */
	uint64_t pass_until;		   /* ticks */
	uint64_t pass_before;		   /* activities that were in the trace when it began */
	uint64_t clock_num, clock_den;	   /* what a tick was thought to be worth at the start */
	char trace[SPOOL_TEXT_BYTES];	   /* absolute path of the container it was writing */
	char parameters[PARAMETERS_BYTES]; /* contract/parameters.h; empty: none */
	/* Not 0: ranks of the job that are not in this page have one with the same parameters. */
	uint32_t parameters_shared;
	/* New files that were given one of several destinations, per list: capture/apply/weighted_rotation.h. */
	_Atomic uint64_t turns[CONTROL_TURNS];
	/* In-line plug-ins, and what they agree on: */
	uint64_t
		plugin_budget_ticks; /* a hook that takes longer is not called again; 0: no limit */
	struct control_plugin plugins[CONTROL_PLUGINS];
	_Atomic uint32_t opens, explored; /* MPI files opened so far, and with hints on trial */
	struct control_job jobs[CONTROL_JOBS];
	struct control_answer answers[CONTROL_ANSWERS];
	/* Number of the opening (upper 48 bits) and of its answer, 0 for none. 0: free. */
	_Atomic uint64_t openings[CONTROL_OPENINGS];
};

/* How far the collector is with the records of a pass: they are in the spools until it ends. */
enum pass_state {
	PASS_NONE,
	PASS_WRITING, /* some of those that ended by pass_until are in the trace, in its order */
	PASS_WRITTEN, /* all of them are */
	PASS_FLIGHT,  /* a flight recorder's: what is in the spools is not to be in the trace */
};

/* How an in-line plug-in fares in one process. */
enum plugin_state {
	PLUGIN_NONE,
	PLUGIN_ACTIVE,
	PLUGIN_MISSING, /* the library cannot be loaded, or is no plug-in */
	PLUGIN_FOREIGN, /* another ABI, or not an in-line one */
	PLUGIN_FAILED,	/* start() failed, or a required hook is not there */
	PLUGIN_SLOW,	/* over its budget: switched off */
};

struct plugin_account {
	_Atomic uint32_t state;	      /* enum plugin_state */
	_Atomic uint32_t reason;      /* error number of FAILED */
	_Atomic uint64_t calls, acts; /* of its hooks, and how often they acted */
	_Atomic uint64_t ticks;	      /* spent in them */
	_Atomic uint64_t worst_ticks; /* the longest */
};

enum spool_state {
	SPOOL_ATTACHING, /* header not yet complete: the collector comes back later */
	SPOOL_LIVE,
};

struct spool_header {
	uint64_t magic;
	uint32_t version;
	_Atomic uint32_t state; /* enum spool_state; release store completes the header */
	int32_t pid, ppid;
	uint32_t number;	  /* of this spool in the run */
	int32_t parent_number;	  /* spool of the process it was forked from, -1 for none */
	uint32_t first_thread;	  /* number of its first thread; of a child, the one that forked */
	uint32_t forked_thread;	  /* number that thread has in the parent, */
	uint64_t forked_seq;	  /* and its last call there: what is under way goes on in both */
	_Atomic uint32_t threads; /* next thread number to give */
	uint64_t pid_namespace;	  /* inode of /proc/self/ns/pid, 0 where unknown */
	uint64_t process_start; /* start time of the pid in clock ticks since boot: /proc/PID/stat,
				   field 22 */
	uint64_t attached;	/* ticks */
	_Atomic uint64_t segment_map[SPOOL_SEGMENTS_MAX /
				     64]; /* bit set: the segment's space is allocated */
	_Atomic int32_t rank, ranks; /* in MPI_COMM_WORLD, and its size; -1 and 0 before MPI_Init */
	_Atomic uint64_t lost_records;
	_Atomic uint64_t lost_threads;
	/* What we cost, in ticks and summed over threads, as far as it is known: brought up to date
	 * when a thread changes its chunk. */
	_Atomic uint64_t cost_ticks;
	_Atomic uint64_t cost_records;			/* records that are in it */
	struct plugin_account plugins[CONTROL_PLUGINS]; /* as in the control page */
	/* Texts that describe the process: NUL-terminated, possibly cut. */
	char program[SPOOL_TEXT_BYTES];
	char directory[SPOOL_TEXT_BYTES];
	char command[SPOOL_TEXT_BYTES]; /* arguments, each ended by NUL */
	uint32_t command_bytes;
	/* Bit set: the chunk is mapped, empty and nobody's. Claimed by fetch_and, returned by
	 * fetch_or. */
	_Atomic uint64_t free_map[SPOOL_MAP_WORDS] __attribute__((aligned(64)));
};

_Static_assert(sizeof(struct spool_header) <= SPOOL_HEADER_BYTES,
	       "the header has outgrown its space");

enum chunk_state {
	CHUNK_FREE,
	CHUNK_OWNED,
	CHUNK_FULL,
};

struct chunk {
	_Atomic uint32_t committed; /* words of records that are complete */
	_Atomic uint32_t state;	    /* enum chunk_state */
	uint32_t thread;	    /* number of the thread (or signal lane) that owns it */
	int32_t tid;		    /* of the owner, as the kernel knows it */
	uint32_t drained; /* words that the collector has dealt with; the collector's alone */
	uint32_t reserved[11];
	uint64_t words[]; /* records back to back */
};

#define CHUNK_WORDS ((SPOOL_CHUNK_BYTES - (uint32_t)sizeof(struct chunk)) / 8)

_Static_assert(sizeof(struct chunk) == 64, "records start on a cache line of their own");
_Static_assert(RECORD_WORDS_MAX <= CHUNK_WORDS, "the longest record fits into an empty chunk");

/* Which segment a chunk belongs to, and the segment's first chunk and number of chunks. */
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
 * The counters of a process: a second file beside the spool, made when calls are first counted
 * instead of recorded. One slot per handle that was opened (keyed by its LINK word) and layer,
 * found by hashing; slot n takes what found no slot and belongs to layer n. The first
 * COUNTERS_OWNERS threads have slots of their own, which nobody else adds to; for the rest
 * additions are atomic. Who reads adds up what is of one handle and layer.
 */
#define COUNTERS_MAGIC UINT64_C(0x3153544e554f4353) /* "SCOUNTS1" */
#define COUNTERS_SUFFIX ".counters"
#define COUNTERS_SLOTS 2048
#define COUNTERS_RESERVED 16 /* at least as many as there are layers */
#define COUNTERS_GROUPS 6    /* enum group of contract/group.h */
#define COUNTERS_OWNERS 8

struct counter {
	_Atomic uint64_t calls, errors, bytes, ticks;
};

struct counters_slot {
	_Atomic uint64_t key;	/* LINK word; 0: unused, or one of the reserved */
	_Atomic uint64_t whose; /* counters_whose(); 0 while the slot is being made */
	struct counter groups[COUNTERS_GROUPS];
};

/* The layer, and the thread that the slot belongs to; 0 for a slot of all, else above 0. */
static inline uint64_t counters_whose(unsigned layer, uint32_t owner)
{
	return (uint64_t)owner << 32 | (layer + 1);
}

static inline unsigned counters_layer(uint64_t whose)
{
	return (uint32_t)whose - 1;
}

struct counters_file {
	uint64_t magic;
	uint64_t reserved[7];
	struct counters_slot slots[COUNTERS_SLOTS];
};

#endif
