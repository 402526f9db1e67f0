/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Explicit instrumentation: a program tells Sluice what it is doing, and asks what Sluice knows.
 *
 *	#include <sluice/instrument.h>
 *
 *	sluice_phase("solve");
 *	...
 *	sluice_activity write = sluice_begin(sluice_register("checkpoint"), "write");
 *	sluice_step(write, step);
 *	... any I/O: its calls are recorded as children of the activity ...
 *	sluice_end(write);
 *
 * The header needs no library: neither to link nor to run. Without Sluice, a call is one load and
 * one branch, and every question is answered by "no opinion". Under `sluice run`, the functions of
 * the preloaded library are found when the program is loaded. They obey the rules of the library:
 * they never wait, print, exit or allocate on the heap, and they preserve errno. Wrong use is
 * ignored and counted in the report.
 *
 * All functions may be called from any thread. In a signal handler that interrupts Sluice itself
 * they do nothing.
 *
 * The module for Fortran is sluice.f90, the one for Python is sluice.py: see
 * docs/reference/instrumentation.md. Define SLUICE_INSTRUMENT_OFF before the include to remove all
 * calls at compile time.
 */
#ifndef SLUICE_INSTRUMENT_H
#define SLUICE_INSTRUMENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A component of a program, such as a solver or an output library. 0: none. */
typedef uint32_t sluice_component;

/* An activity that has begun. 0: none; every function accepts it and does nothing. */
typedef uint64_t sluice_activity;

/* Longer texts are cut. Control characters become '?'. */
#define SLUICE_NAME_BYTES 64	   /* of a component, an activity or a phase */
#define SLUICE_ATTRIBUTE_BYTES 512 /* all attributes of an activity: KEY=VALUE;KEY=VALUE */
#define SLUICE_COMPONENTS 64	   /* per process */
#define SLUICE_NESTING 16	   /* activities that a thread may have begun */

/* A storage target, as forecast at the start of the run. */
struct sluice_target {
	char name[SLUICE_NAME_BYTES];
	double busy;  /* probability that it is busy now; negative: no opinion */
	double share; /* of the data that should be written to it now, 0 to 1; negative: no opinion
		       */
	double slowdown; /* time of a write when busy / when idle; 0: unknown */
	double age_s;	 /* of the forecast */
};

/* The functions of the preloaded library. Members are added at the end only. */
struct sluice_instrument {
	uint32_t abi;	/* SLUICE_INSTRUMENT_ABI */
	uint32_t bytes; /* of this struct */
	sluice_component (*component)(const char *name, size_t bytes);
	sluice_activity (*begin)(sluice_component component, const char *name, size_t bytes);
	void (*text)(sluice_activity activity, const char *key, size_t key_bytes, const char *value,
		     size_t value_bytes);
	void (*number)(sluice_activity activity, const char *key, size_t key_bytes, int64_t value);
	void (*step)(sluice_activity activity, int64_t step);
	void (*data)(sluice_activity activity, int64_t data_bytes);
	void (*link)(sluice_activity activity, sluice_activity cause);
	void (*end)(sluice_activity activity, int32_t error);
	void (*phase)(const char *name, size_t bytes);
	int32_t (*target)(const char *name, size_t bytes, struct sluice_target *target);
	int32_t (*target_at)(uint32_t index, struct sluice_target *target);
	int32_t (*best)(const char *parameter, size_t parameter_bytes, const char *file,
			size_t file_bytes, char *value, size_t value_bytes);
};

#define SLUICE_INSTRUMENT_ABI 1
#define SLUICE_INSTRUMENT_SYMBOL "sluice_instrument_1"

#if defined(SLUICE_INSTRUMENT_OFF) || !defined(__GNUC__)

static inline const struct sluice_instrument *sluice_instrument_get(void)
{
	return NULL;
}

#else

/*
 * The functions, if Sluice is present. The pointer is one per program or library; it is NULL until
 * they were searched for, and the address of sluice_instrument_absent if there is nothing to call.
 * A weak reference finds the functions in programs that are position-independent or linked with
 * libsluice-link.a, dlsym() in all others. A dlsym() that finds nothing allocates memory, so the
 * search is made when the program or library is loaded: the first call may come from a signal
 * handler that has interrupted malloc(). The loads may be relaxed: what they find is constant.
 */
extern const struct sluice_instrument sluice_instrument_1 __attribute__((weak));
extern void *sluice_instrument_dlsym(void *handle, const char *name) __asm__("dlsym")
	__attribute__((weak));
extern char *sluice_instrument_dlerror(void) __asm__("dlerror") __attribute__((weak));
__attribute__((weak, visibility("hidden"))) const struct sluice_instrument *sluice_instrument_found;
__attribute__((weak, visibility("hidden"))) char sluice_instrument_absent;

static __attribute__((noinline, cold, unused)) const struct sluice_instrument *
sluice_instrument_search(void)
{
	const struct sluice_instrument *found = &sluice_instrument_1;

	if (!found && sluice_instrument_dlsym)
		found = (const struct sluice_instrument *)sluice_instrument_dlsym(
			NULL, SLUICE_INSTRUMENT_SYMBOL); /* NULL is RTLD_DEFAULT */
	if (!found && sluice_instrument_dlerror)
		sluice_instrument_dlerror(); /* leaves no error for the program to find */
	if (found && (found->abi != SLUICE_INSTRUMENT_ABI || found->bytes < sizeof(*found)))
		found = NULL;
	__atomic_store_n(
		&sluice_instrument_found,
		found ? found
		      : (const struct sluice_instrument *)(const void *)&sluice_instrument_absent,
		__ATOMIC_RELAXED);
	return found;
}

/* One per program or library, although each source file that includes this header has it run. */
__attribute__((weak, visibility("hidden"), constructor, cold)) void sluice_instrument_load(void);
void sluice_instrument_load(void)
{
	if (!sluice_instrument_found)
		sluice_instrument_search();
}

/* NULL if Sluice is absent. */
static inline const struct sluice_instrument *sluice_instrument_get(void)
{
	const struct sluice_instrument *found =
		__atomic_load_n(&sluice_instrument_found, __ATOMIC_RELAXED);

	if (__builtin_expect((const void *)found == &sluice_instrument_absent, 1))
		return NULL;
	return found ? found : sluice_instrument_search();
}

#endif

/* Is the program being recorded by Sluice, or could it be? */
static inline int sluice_is_present(void)
{
	return sluice_instrument_get() != NULL;
}

/* The component with this name, which is registered if it is new. Can be called again and again. */
static inline sluice_component sluice_register(const char *name)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	return s && name ? s->component(name, strlen(name)) : 0;
}

/*
 * Begins an activity of a component (0: of the program itself). Until its end, calls of this thread
 * are its children, and so are the activities that this thread begins. It must end in the thread
 * that has begun it. An activity that is still open when an enclosing one ends, ends with it; one
 * that is open when the process exits, ends then; one that is open when its thread ends is lost. A
 * forked child starts without open activities.
 */
static inline sluice_activity sluice_begin(sluice_component component, const char *name)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	return s && name ? s->begin(component, name, strlen(name)) : 0;
}

/*
 * Attributes of an activity that has not ended. A trace stores each distinct set of attributes
 * once, so use sluice_step() for a number that always changes. ';', '=' in a key and control
 * characters become '?'.
 */
static inline void sluice_text(sluice_activity activity, const char *key, const char *value)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	if (s && activity && key && value)
		s->text(activity, key, strlen(key), value, strlen(value));
}

static inline void sluice_number(sluice_activity activity, const char *key, int64_t value)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	if (s && activity && key)
		s->number(activity, key, strlen(key), value);
}

/* The number of the time step, iteration or request that the activity belongs to. */
static inline void sluice_step(sluice_activity activity, int64_t step)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	if (s && activity)
		s->step(activity, step);
}

/* The amount of data that the activity handles, in bytes. */
static inline void sluice_bytes(sluice_activity activity, int64_t data_bytes)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	if (s && activity)
		s->data(activity, data_bytes);
}

/*
 * Another activity of this process is the cause of this one: one of another thread, such as the
 * producer of the data, or an earlier one. It may have ended. An activity has one such link.
 */
static inline void sluice_link(sluice_activity activity, sluice_activity cause)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	if (s && activity && cause)
		s->link(activity, cause);
}

/* Ends the activity. error: 0, or the program's own code; its lower 16 bits are recorded. */
static inline void sluice_fail(sluice_activity activity, int32_t error)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	if (s && activity)
		s->end(activity, error);
}

static inline void sluice_end(sluice_activity activity)
{
	sluice_fail(activity, 0);
}

/* The process enters a phase, such as "read input" or "time step", which lasts until the next
 * one. */
static inline void sluice_phase(const char *name)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	if (s && name)
		s->phase(name, strlen(name));
}

/*
 * What is forecast for a storage target: the one with this name, or the one whose directory
 * contains this absolute path. Returns 1, or 0 for "no opinion"; then *target is unchanged.
 * Forecasts are made when the run starts. There is none if the site has no forecast model, and none
 * any more when the forecast is too old.
 */
static inline int sluice_target(const char *name, struct sluice_target *target)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	return s && name && target ? s->target(name, strlen(name), target) : 0;
}

/* All targets, by index from 0 on; 0 behind the last. The sum of their shares is 1. */
static inline int sluice_target_at(uint32_t index, struct sluice_target *target)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	return s && target ? s->target_at(index, target) : 0;
}

/*
 * Ask before a step: how many of these bytes should be written now? As many as the storage takes
 * while it would take all of them if no target were busy; both times, the data is distributed so
 * that all targets finish together. The program decides: it may write fewer variables, or nothing
 * if that is too little, and ask again before the next step. Without a forecast, the answer is
 * `bytes`. It never waits.
 */
static inline int64_t sluice_advise(int64_t bytes)
{
	struct sluice_target target;
	double speed = 0, count = 0;
	uint32_t i;

	for (i = 0; sluice_target_at(i, &target); i++) {
		double slower = target.busy >= 0 && target.slowdown > 1
					? target.busy * (target.slowdown - 1)
					: 0;

		/* A target without a share is not to be used. */
		if (target.share > 0 || target.share < 0) {
			speed += 1 / (1 + slower);
			count++;
		}
	}
	return bytes > 0 && speed < count ? (int64_t)((double)bytes * (speed / count)) : bytes;
}

/*
 * The best known value of a parameter (`sluice kb params list`) for this program, and for a file of
 * this name if file is not NULL: the one that is applied by this run, else the one that tuning or
 * earlier runs have found. Writes the terminated value. Returns 1, or 0 for "no opinion", also if
 * the value does not fit; then the buffer is unchanged.
 */
static inline int sluice_best(const char *parameter, const char *file, char *value,
			      size_t value_bytes)
{
	const struct sluice_instrument *s = sluice_instrument_get();

	return s && parameter && value ? s->best(parameter, strlen(parameter), file,
						 file ? strlen(file) : 0, value, value_bytes)
				       : 0;
}

#ifdef __cplusplus
}
#endif

#endif
