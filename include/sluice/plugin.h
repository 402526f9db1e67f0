/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-in ABI. A plug-in is one constant:
 *
 *	const struct sluice_plugin sluice_plugin = {
 *		.abi = SLUICE_PLUGIN_ABI, .kind = SLUICE_ASYNC, .name = "mine", .help = "...",
 *		.async = &mine,
 *	};
 *
 * Compile it with `cc -shared -fPIC` and name its absolute path in the settings; it does not link
 * against any library of Sluice. The settings alone decide which plug-ins are loaded and which
 * layers they observe (docs/reference/plugins.md):
 *
 *	[plugins]          plug-ins for all layers        load = histogram /opt/site/mine.so
 *	                   and those that act             act = history
 *	[plugins.POSIX]    plug-ins for this layer        load = read_ahead
 *	[plugin.mine]      the plug-in's own options      depth = 3
 *
 * There are two kinds.
 *
 * An ASYNCHRONOUS plug-in runs in the watcher, a separate process of Sluice. It gets batches of
 * activities, may use any library and take its time. If it crashes, neither the program nor its
 * trace is affected. Activities that arrive faster than the plug-ins can process them are dropped
 * and counted: delivered + dropped = produced. All hooks are called from one thread.
 *
 * An IN-LINE plug-in runs inside the observed program: its hooks act in the calling thread right
 * after a call, or answer a question before one. In a hook it may use libc only, and must not wait,
 * print, exit or allocate memory. Sluice restores errno. Several threads may be in a hook at the
 * same time, and a signal handler may interrupt one. If a hook exceeds its time budget
 * (plugins.budget) by itself, and not because its thread was preempted, the plug-in is soon
 *switched off in that process, and the report says so; the time of sluice_guest.advise does not
 *count. Calls that a hook makes are recorded as children of the call that the hook was called for,
 *and do not call hooks again.
 *
 * A plug-in is rejected with a message if its `abi` differs, if a required hook is missing, or if
 * its start() fails. The run continues without it.
 */
#ifndef SLUICE_PLUGIN_H
#define SLUICE_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sluice/activity.h>
#include <sluice/call.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Increased whenever a struct that plug-ins use changes. */
#define SLUICE_PLUGIN_ABI 1

enum sluice_plugin_kind {
	SLUICE_ASYNC = 1,
	SLUICE_INLINE = 2,
};

struct sluice_plugin {
	uint32_t abi;  /* SLUICE_PLUGIN_ABI */
	uint32_t kind; /* enum sluice_plugin_kind */
	const char
		*name; /* one word: names its section in the settings and its lines in the report */
	const char *help; /* one line */
	union {
		const struct sluice_async *async;
		const struct sluice_inline *in_line;
	};
};

/* The one symbol of a plug-in library. */
extern const struct sluice_plugin sluice_plugin;

/* A process of the run, as an asynchronous plug-in sees it. */
struct sluice_process {
	uint32_t index;
	int32_t pid, rank; /* rank is -1 outside MPI */
	int32_t parent;	   /* index of the process it was forked from, -1 for none */
	const char *host, *program, *command;
};

/* How fast a call was, compared with what is normal for such a call. */
enum sluice_speed {
	SLUICE_VERY_SLOW,
	SLUICE_SLOW,
	SLUICE_NORMAL,
	SLUICE_FAST,
	SLUICE_VERY_FAST,
	SLUICE_SPEEDS
};

/* What a detector has seen since it was last asked. */
struct sluice_health {
	uint64_t counts[SLUICE_SPEEDS]; /* calls by speed */
	int64_t excess_ns;		/* time of slow and very slow calls beyond what is normal */
};

/* Hints for accesses of this kind to files that were opened with certain hints. */
struct sluice_suggestion {
	bool is_write;
	uint32_t ranks;	      /* that have opened the file, and make the access together */
	uint64_t bytes, span; /* of each rank's part; span: from its first to its last byte */
	const char *opened;   /* as recorded at MPI_File_open; "": without hints */
	const char *hints;    /* KEY=VALUE;KEY=VALUE */
};

/* Services of the watcher. Pointers are valid until stop(), strings until the next call. */
struct sluice_host {
	uint32_t bytes; /* size of this struct; a later version may be longer */
	void *self;	/* first argument of all functions */

	/* The value of an option in the plug-in's section; NULL if it is not set. */
	const char *(*option)(void *self, const char *key);
	/* A row of the call table, the text of a file id ("" for 0), a process; NULL if it does not
	 * exist. */
	const struct call_info *(*call)(void *self, uint32_t number);
	const char *(*file)(void *self, file_id id);
	const struct sluice_process *(*process)(void *self, uint32_t index);
	const char *(*user)(void *self);
	const char *(*run)(void *self); /* the UUID of the run */
	/* Nanoseconds since the start of the run; not earlier than any activity that the plug-in
	 * has got. */
	int64_t (*now_ns)(void *self);

	/*
	 * Adds a line to the report: a field of a group, such as "files" and "reads/sequential",
	 * for a process or, with -1, for the node. The report compares numbers between ranks. The
	 * lines are stored in the trace. They may be added at any time, also before report().
	 * Several calls with the same names add several lines.
	 */
	void (*number)(void *self, int32_t process, const char *group, const char *field,
		       double value);
	void (*text)(void *self, int32_t process, const char *group, const char *field,
		     const char *value);
	/* Shows a warning to the user, such as a missing file or an invalid option. */
	void (*warn)(void *self, const char *text);
	/* The mount point of the file system that a file is on; "" if it is unknown. Hosts of
	 * earlier versions do not have it: check `bytes`. */
	const char *(*filesystem)(void *self, file_id id);

	/*
	 * The following act on the program. They are NULL unless the plug-in also has a part in the
	 * program (at present, only built-in plug-ins have one), and if a trace is replayed. Hosts
	 * of earlier versions do not have them.
	 *
	 * Suggests hints for collective accesses to open MPI files, from now on. Returns the number
	 * of the suggestion; -EINVAL if hints are unsafe or cannot change while a file is open, or
	 * -ENOSPC. A withdrawn suggestion is not used any more: the hints change back before the
	 * next such access.
	 */
	int (*suggest)(void *self, const struct sluice_suggestion *suggestion);
	void (*withdraw)(void *self, int number);
	/* Adds a line to what Sluice has applied to the program, which summaries show. */
	void (*applied)(void *self, const char *name, const char *value);
};

struct sluice_async {
	/* Optional. Returns 0, or -errno after warn(): then the plug-in is rejected. */
	int (*start)(const struct sluice_host *host, void **state);
	/* Required. Batches come in the order of the collector; a batch is sorted by start time. */
	void (*batch)(void *state, const struct activity *activities, size_t count);
	/*
	 * Optional: makes the plug-in a detector. Called once per cycle of the reasoner for each
	 * process that has made calls since the last cycle; adds to *health. Returns false if it
	 * has nothing to add.
	 */
	bool (*health)(void *state, uint32_t process, struct sluice_health *health);
	/* Optional: called about ten times per second. */
	void (*tick)(void *state, int64_t now_ns);
	/* Optional: called at the end of the run, after the last batch. */
	void (*report)(void *state);
	/* Optional: frees the state. */
	void (*stop)(void *state);
};

/* A call that has just ended, as an in-line plug-in sees it. */
struct sluice_called {
	uint16_t call;	 /* number in the call table */
	uint8_t class;	 /* enum call_class */
	uint8_t layer;	 /* enum layer */
	bool is_network; /* the handle is a socket or a pipe */
	int32_t error;
	int64_t handle;	  /* descriptor, -1: none */
	uint64_t opening; /* the same for all calls on one opening of a file, 0: unknown */
	int64_t offset;	  /* -1: at the file position, which only the kernel knows */
	int64_t size;	  /* bytes requested */
	int64_t result;	  /* bytes moved, or the value returned */
	int64_t duration_ns;
};

/* The question before MPI_File_open: which hints should the file be opened with? */
struct sluice_query {
	const char *path; /* as the program passed it */
	int32_t flags;	  /* access mode of MPI_File_open */
	uint32_t ranks;	  /* size of the communicator */
	/* Does the program set this hint itself? Then an answer for it is ignored. */
	bool (*is_set)(const struct sluice_query *query, const char *key);
};

#define SLUICE_ANSWERS 16
#define SLUICE_KEY_BYTES 64
#define SLUICE_VALUE_BYTES 192

struct sluice_answer {
	uint32_t count;
	uint32_t trial; /* not 0: the hints are an experiment, not known to be good */
	struct {
		char key[SLUICE_KEY_BYTES], value[SLUICE_VALUE_BYTES];
	} hints[SLUICE_ANSWERS];
};

/* Services of the guest. */
struct sluice_guest {
	uint32_t bytes; /* size of this struct; a later version may be longer */
	void *self;	/* first argument of all functions */
	/* The value of an option in the plug-in's section; NULL if it is not set. In start() only.
	 */
	const char *(*option)(void *self, const char *key);
	/* A directory that host and guests of the run share. */
	const char *directory;
	/* Calls and records posix_fadvise. Returns its duration in ns, or -errno. */
	int64_t (*advise)(void *self, int fd, int64_t offset, int64_t bytes, int advice);
	/*
	 * The plug-in does not act, because the program has decided itself: its `value` of the
	 * parameter `key` stays, and not the plug-in's `other`. The report shows it. Present if
	 * bytes says so.
	 */
	void (*yielded)(void *self, const char *key, const char *value, const char *other);
};

struct sluice_inline {
	/* Classes of calls that after() is called for: a bit per enum call_class. 0: none. */
	uint32_t classes;
	/* Layers that it supports, of those that the settings select: a bit per enum layer. 0: all.
	 * A layer that no plug-in wants has no overhead. */
	uint32_t layers;
	/* Required. Called once per process, also in a forked child. Returns 0 or -errno. */
	int (*start)(const struct sluice_guest *guest, void **state);
	/* Required if classes is not 0. Called after the call, in its thread. Returns how often it
	 * acted. */
	unsigned (*after)(void *state, const struct sluice_called *called);
	/*
	 * Optional: answers a question before MPI_File_open. All ranks use the same answer: that of
	 * the rank that answers first. Returns false if it has no answer.
	 */
	bool (*suggest)(void *state, const struct sluice_query *query,
			struct sluice_answer *answer);
};

#ifdef __cplusplus
}
#endif

#endif
