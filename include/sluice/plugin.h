/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-in ABI. A plug-in is one constant:
 *
 *	const struct sluice_plugin sluice_plugin = {
 *		.abi = SLUICE_PLUGIN_ABI, .kind = SLUICE_ASYNC, .name = "mine", .help = "...",
 *		.async = &mine,
 *	};
 *
 * compiled with `cc -shared -fPIC` and named in the settings by its absolute path; it is linked
 * against nothing of ours. Which plug-ins are loaded, and of which layers they are told, is said in
 * the settings alone (docs/plugins.md):
 *
 *	[plugins]          of all layers             load = histogram /opt/site/mine.so
 *	[plugins.POSIX]    of this layer             load = read_ahead
 *	[plugin.mine]      its own options           depth = 3
 *
 * There are two kinds.
 *
 * An ASYNCHRONOUS plug-in lives in the watcher, a process of ours beside the program: it gets
 * batches of activities, may use any library, take its time, and even crash: the program and its
 * trace do not notice. What comes faster than the plug-ins can take it is left out and counted:
 * delivered + dropped = produced. Its hooks are called from one thread.
 *
 * An IN-LINE plug-in lives in the program under observation: it acts in the calling thread right
 * after a call, or answers before one. The law of the guest applies: libc only; no waiting, no
 * printing, no exit, no allocation in a hook; errno is put back by us; any thread may be in a hook
 * at any time, also a signal handler. A hook that takes longer than its budget
 * (plugins.budget), and not because its thread was put aside, is soon not called any more in that
 * process, and the report says so; what sluice_guest.advise takes is the kernel's time and not
 * held against it. Calls that a hook makes are recorded with the call it was told of as their
 * cause, and hooks are not told of them.
 *
 * A plug-in with another `abi`, without its required hooks, or whose start() fails is refused with
 * a message; nothing else changes.
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

/* Changes whenever a struct that a plug-in sees does. */
#define SLUICE_PLUGIN_ABI 1

enum sluice_plugin_kind {
	SLUICE_ASYNC = 1,
	SLUICE_INLINE = 2,
};

struct sluice_plugin {
	uint32_t abi;	  /* SLUICE_PLUGIN_ABI */
	uint32_t kind;	  /* enum sluice_plugin_kind */
	const char *name; /* one word: its section in the settings, and its lines in the report */
	const char *help; /* one line */
	union {
		const struct sluice_async *async;
		const struct sluice_inline *in_line;
	};
};

/* The one symbol of a plug-in library. */
extern const struct sluice_plugin sluice_plugin;

/* ---- asynchronous ---- */

struct sluice_process {
	uint32_t index;
	int32_t pid, rank; /* rank is -1 outside MPI */
	int32_t parent;	   /* index of the process it was forked from, -1 for none */
	const char *host, *program, *command;
};

/* Counts of a detector since it was last asked, by how long calls took for what they are. */
enum sluice_speed {
	SLUICE_VERY_SLOW,
	SLUICE_SLOW,
	SLUICE_NORMAL,
	SLUICE_FAST,
	SLUICE_VERY_FAST,
	SLUICE_SPEEDS
};

struct sluice_health {
	uint64_t counts[SLUICE_SPEEDS];
	int64_t excess_ns; /* time that the slow and very slow took beyond what is normal for them
			    */
};

/* What the watcher offers. Pointers are valid while the plug-in lives, texts until the next call.
 */
struct sluice_host {
	uint32_t bytes; /* of this struct: a later one is longer */
	void *self;	/* first argument of all of these */

	/* A value of the plug-in's own section; NULL where it is not set. */
	const char *(*option)(void *self, const char *key);
	/* A row of the call table, the text of a file id ("" for 0), a process; NULL: no such. */
	const struct call_info *(*call)(void *self, uint32_t number);
	const char *(*file)(void *self, file_id id);
	const struct sluice_process *(*process)(void *self, uint32_t index);
	const char *(*user)(void *self);
	const char *(*run)(void *self); /* uuid of the run */
	/* Nanoseconds of the run that have passed for the plug-ins; never before what they were
	 * told of. */
	int64_t (*now_ns)(void *self);

	/*
	 * A line of the report: a field of a group, such as "files" and "reads/sequential", for a
	 * process or, with -1, for the node. Numbers are compared between ranks. Kept in the
	 * trace; also allowed before report(), for what happens once. Several calls with the same
	 * names are several lines.
	 */
	void (*number)(void *self, int32_t process, const char *group, const char *field,
		       double value);
	void (*text)(void *self, int32_t process, const char *group, const char *field,
		     const char *value);
	/* Something the user must hear of, once: a missing file, a wrong option. */
	void (*warn)(void *self, const char *text);
};

struct sluice_async {
	/* Optional. 0, or -errno after warn(): the plug-in is refused. */
	int (*start)(const struct sluice_host *host, void **state);
	/* Required. In the order of the collector: within a batch by start; times in ns. */
	void (*batch)(void *state, const struct activity *activities, size_t count);
	/*
	 * Optional: a detector. Called once per cycle of the reasoner for each process it saw calls
	 * of since the last time (then with that process), adds to *health. False: nothing of it.
	 */
	bool (*health)(void *state, uint32_t process, struct sluice_health *health);
	/* Optional: about ten times a second. */
	void (*tick)(void *state, int64_t now_ns);
	/* Optional: at the end of the run, after the last batch. */
	void (*report)(void *state);
	/* Optional: frees the state. */
	void (*stop)(void *state);
};

/* ---- in-line ---- */

/* A call that has just ended, as the wrapper saw it. */
struct sluice_called {
	uint16_t call;	 /* number in the call table */
	uint8_t class;	 /* enum call_class */
	uint8_t layer;	 /* enum layer */
	bool is_network; /* the handle is a socket or a pipe */
	int32_t error;
	int64_t handle;	  /* descriptor, -1: none */
	uint64_t opening; /* the same for all calls through one opening of a file, 0: unknown */
	int64_t offset;	  /* -1: at the file's own position, which only the kernel knows */
	int64_t size;	  /* asked for */
	int64_t result;	  /* bytes that were moved; else what the call returned */
	int64_t duration_ns;
};

/* What a program leaves open, and a plug-in may know: the hints of an MPI file. */
struct sluice_query {
	const char *path; /* as the program wrote it */
	int32_t flags;	  /* access mode of MPI_File_open */
	uint32_t ranks;	  /* of the communicator */
	/* Does the program set this hint itself? Then an answer to it is left out. */
	bool (*is_set)(const struct sluice_query *query, const char *key);
};

#define SLUICE_ANSWERS 16
#define SLUICE_KEY_BYTES 64
#define SLUICE_VALUE_BYTES 192

struct sluice_answer {
	uint32_t count;
	uint32_t trial; /* not 0: to find something out, not because it is known to be good */
	struct {
		char key[SLUICE_KEY_BYTES], value[SLUICE_VALUE_BYTES];
	} hints[SLUICE_ANSWERS];
};

/* What the guest offers. */
struct sluice_guest {
	uint32_t bytes;
	void *self;
	/* A value of the plug-in's own section, at start() only; NULL where it is not set. */
	const char *(*option)(void *self, const char *key);
	/* Directory that host and guests of the run share. */
	const char *directory;
	/* posix_fadvise, recorded as ours. The nanoseconds that it took, or -errno. */
	int64_t (*advise)(void *self, int fd, int64_t offset, int64_t bytes, int advice);
};

struct sluice_inline {
	/* Classes of calls to be told of: bit per enum call_class. 0: none. */
	uint32_t classes;
	/* Layers that it has a use for, of those that the settings give it: bit per enum layer. 0:
	 * all. A layer that nobody wants costs nothing. */
	uint32_t layers;
	/* Required. Once per process (also in a forked child that has joined the run). 0 or -errno.
	 */
	int (*start)(const struct sluice_guest *guest, void **state);
	/* Required with classes. After the call, in its thread. Returns how often it acted. */
	unsigned (*after)(void *state, const struct sluice_called *called);
	/*
	 * Optional: answers before MPI_File_open, the same on every rank: one rank is asked, the
	 * others get its answer. False: no opinion.
	 */
	bool (*suggest)(void *state, const struct sluice_query *query,
			struct sluice_answer *answer);
};

#ifdef __cplusplus
}
#endif

#endif
