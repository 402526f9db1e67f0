/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-16, SIOX-38.
 */
#include "capture/inline/host.h"

#ifndef SLUICE_LINKED
#include <dlfcn.h>
#endif
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "capture/record/capture.h"
#include "capture/record/files.h"
#include "capture/record/handles.h"
#include "capture/record/kernel.h"
#include "capture/record/load.h"
#include "capture/record/sandbox.h"
#include "capture/record/symbols.h"
#include "contract/call.h"
#include "contract/calls.h"
#include "contract/sources.h"

/* A plug-in in this process. Hooks read members that never change after `active` is set. */
struct plugin {
	const struct sluice_inline *ops;
	void *state;
	uint32_t classes, layers;
	atomic_bool active;
	_Atomic uint32_t suspect; /* hook calls left to be timed by CPU time, too */
	struct sluice_guest guest;
} __attribute__((aligned(64)));

#define TICK_SHIFT 24

static struct plugin plugins[CONTROL_PLUGINS];
static unsigned plugin_count; /* number of plug-ins in the control page */
static uint64_t tick_ns;      /* nanoseconds per tick, times 2^TICK_SHIFT */
static uint64_t budget_ticks; /* copied from the control page to save a cache line */
/* Libraries are never unloaded, and stay loaded in a forked child. */
static const struct sluice_plugin *libraries[CONTROL_PLUGINS];

static int64_t ticks_to_ns(uint64_t ticks)
{
	return (int64_t)((unsigned __int128)ticks * tick_ns >> TICK_SHIFT);
}

/* Finds the value of KEY in lines KEY=VALUE; NULL if there is none. *bytes is its length. */
static const char *find_option(const char *text, size_t size, const char *key, size_t *bytes)
{
	const char *line = text, *end;
	size_t n = strlen(key);

	for (; (end = memchr(line, '\n', (size_t)(text + size - line))); line = end + 1)
		if ((size_t)(end - line) > n && line[n] == '=' && !memcmp(line, key, n)) {
			*bytes = (size_t)(end - line) - n - 1;
			return line + n + 1;
		}
	return NULL;
}

/* Called from start() only, which is never in two threads at the same time. */
static const char *guest_option(void *self, const char *key)
{
	static char value[CONTROL_OPTIONS_BYTES];
	const struct control_plugin *c =
		&capture_membership.control->plugins[(struct plugin *)self - plugins];
	size_t bytes = 0;
	const char *found = find_option(c->options, sizeof(c->options), key, &bytes);

	if (!found)
		return NULL;
	memcpy(value, found, bytes);
	value[bytes] = 0;
	return value;
}

/* Writes the record of a posix_fadvise, in the order of fields of its row in call_table. */
static void record_advice(struct frame *f, int fd, int64_t offset, int64_t bytes, int advice,
			  int error)
{
	const struct call_info *call = &call_table[CALL_posix_fadvise];
	unsigned words = RECORD_HEAD_WORDS + call->field_count;
	uint64_t values[FIELD_COUNT] = {
		[FIELD_RESULT] = (uint64_t)error, [FIELD_LINK] = handle_peek(fd),
		[FIELD_SIZE] = (uint64_t)bytes,	  [FIELD_OFFSET] = (uint64_t)offset,
		[FIELD_FLAGS] = (uint64_t)advice,
	};
	uint64_t *w = frame_leave(f, CALL_posix_fadvise, words, error);

	for (unsigned i = 0; i < call->field_count; i++)
		w[RECORD_HEAD_WORDS + i] = values[call->fields[i]];
	frame_commit(f, w, words);
}

static int64_t guest_advise(void *self, int fd, int64_t offset, int64_t bytes, int advice)
{
	struct frame f;
	bool recorded = frame_enter(&f);
	int error;

	(void)self;
	if (sandbox_is_sealed())
		return -EPERM;
	if (!recorded)
		f.start = clock_ticks(capture_gate->clock);
	error = (int)-kernel_call(SYS_fadvise64, fd, offset, bytes, advice);
	frame_stop(&f);
	capture_self.hooks.kernel_ticks += f.stop - f.start;
	if (recorded)
		record_advice(&f, fd, offset, bytes, advice, error);
	return error ? -error : ticks_to_ns(f.stop - f.start);
}

static void guest_yielded(void *self, const char *key, const char *value, const char *other)
{
	struct control *c = capture_membership.control;
	const char *name = c->plugins[(struct plugin *)self - plugins].name;
	bool is_read_ahead = strcmp(name, source_word(SOURCE_READ_AHEAD)) == 0;

	outcomes_note_conflict(&c->outcomes, key, SOURCE_PROGRAM, value,
			       is_read_ahead ? SOURCE_READ_AHEAD : SOURCE_PLUGIN, other);
}

/* Updates the calls for which wrappers call hooks. */
static void update_watched_calls(void)
{
	uint32_t watched[LAYER_COUNT] = { 0 };

	for (unsigned i = 0; i < plugin_count; i++)
		for (unsigned layer = 0; layer < LAYER_COUNT; layer++)
			if (atomic_load(&plugins[i].active) && plugins[i].layers >> layer & 1)
				watched[layer] |= plugins[i].classes;
	/* A wrapper of libc does not know whether its descriptor or stream is a socket or a pipe.
	 */
	watched[LAYER_POSIX] |= watched[LAYER_NETWORK];
	watched[LAYER_STDIO] |= watched[LAYER_NETWORK];
	for (unsigned layer = 0; layer < LAYER_COUNT; layer++)
		atomic_store_explicit(&capture_gate->watched[layer], watched[layer],
				      memory_order_release);
}

static void plugin_set_state(unsigned i, enum plugin_state state, int reason)
{
	struct plugin_account *account = &capture_membership.header->plugins[i];

	atomic_store(&account->reason, (uint32_t)reason);
	atomic_store(&account->state, state);
}

/* PLUGIN_ACTIVE if the plug-in can be started, else why not. */
static enum plugin_state plugin_check(const struct sluice_plugin *plugin)
{
	const struct sluice_inline *ops;

	if (plugin->abi != SLUICE_PLUGIN_ABI || plugin->kind != SLUICE_INLINE)
		return PLUGIN_FOREIGN;
	ops = plugin->in_line;
	if (!ops || !ops->start || (ops->classes ? !ops->after : !ops->suggest))
		return PLUGIN_FAILED;
	return PLUGIN_ACTIVE;
}

static void plugin_begin(unsigned i, const struct sluice_plugin *plugin)
{
	struct membership *m = &capture_membership;
	enum plugin_state state = plugin_check(plugin);
	struct plugin *p = &plugins[i];
	int error;

	if (state != PLUGIN_ACTIVE) {
		plugin_set_state(i, state, 0);
		return;
	}
	p->ops = plugin->in_line;
	p->state = NULL;
	p->classes = p->ops->classes;
	p->layers = m->control->plugins[i].layers & (p->ops->layers ? p->ops->layers : UINT32_MAX);
	p->guest = (struct sluice_guest){ .bytes = sizeof(p->guest),
					  .self = p,
					  .option = guest_option,
					  .directory = m->directory,
					  .advise = guest_advise,
					  .yielded = guest_yielded };
	error = p->ops->start(&p->guest, &p->state);
	if (error < 0) {
		plugin_set_state(i, PLUGIN_FAILED, -error);
		return;
	}
	/* Pairs with the acquire in hooks_run(). */
	atomic_store_explicit(&p->active, true, memory_order_release);
	plugin_set_state(i, PLUGIN_ACTIVE, 0);
}

static const struct sluice_plugin *builtin_find(const char *name)
{
	for (unsigned i = 0; inline_builtin[i]; i++)
		if (strcmp(inline_builtin[i]->name, name) == 0)
			return inline_builtin[i];
	return NULL;
}

/* The name of the i-th plug-in in the control page; NULL after the last. */
static const char *plugin_name(unsigned i)
{
	const struct control_plugin *c = &capture_membership.control->plugins[i];

	return i < CONTROL_PLUGINS && c->name[0] && memchr(c->name, 0, sizeof(c->name)) ? c->name
											: NULL;
}

void inline_start(void)
{
	const struct control *c = capture_membership.control;
	const char *name;

	budget_ticks = c->plugin_budget_ticks;
	tick_ns = 1 << TICK_SHIFT;
	if (c->clock_num && c->clock_den)
		tick_ns =
			(uint64_t)((double)c->clock_num / (double)c->clock_den * (1 << TICK_SHIFT));
	for (unsigned i = 0; (name = plugin_name(i)); i++) {
		bool is_library = strchr(name, '/');
		const struct sluice_plugin *found = is_library ? libraries[i] : builtin_find(name);

		if (found)
			plugin_begin(i, found);
		else if (!is_library)
			plugin_set_state(i, PLUGIN_MISSING, ENOENT);
		plugin_count = i + 1;
	}
	update_watched_calls();
}

void inline_stop(void)
{
	for (unsigned i = 0; i < CONTROL_PLUGINS; i++)
		atomic_store(&plugins[i].active, false);
	update_watched_calls();
}

void inline_forget(struct self *s)
{
	for (unsigned i = 0; i < CONTROL_PLUGINS; i++) {
		atomic_store(&plugins[i].active, false);
		atomic_store(&plugins[i].suspect, 0);
	}
	/* If a signal handler has forked during a hook, the hook continues in the child. */
	s->hooks = (struct hook_state){ .at = s->hooks.at };
}

#ifdef SLUICE_LINKED

/* A statically linked program cannot load libraries. */
static const struct sluice_plugin *library_load(const char *path)
{
	(void)path;
	return NULL;
}

#else

static const struct sluice_plugin *library_load(const char *path)
{
	struct link_map *library = NULL;
	const struct sluice_plugin *found = NULL;

	if (file_is_trusted_code(path))
		library = object_load(path, RTLD_NOW | RTLD_LOCAL);
	if (library)
		found = symbol_find(library, "sluice_plugin");
	if (library && !found)
		object_unload(library);
	return found;
}

#endif

void inline_load(void)
{
	struct self *s = &capture_self;
	uint32_t aside = s->vforked;
	const char *name;
	int saved = errno;

	if (frame_mode() < CAPTURE_COUNTERS)
		return;
	/* Calls made by loading and starting are not the program's. Setting vforked keeps them from
	 * being recorded. */
	s->vforked = 1;
	for (unsigned i = 0; (name = plugin_name(i)); i++) {
		if (!strchr(name, '/') || libraries[i])
			continue;
		libraries[i] = library_load(name);
		if (libraries[i])
			plugin_begin(i, libraries[i]);
		else
			plugin_set_state(i, PLUGIN_MISSING, ENOENT);
	}
	s->vforked = aside;
	update_watched_calls();
	errno = saved;
}

static void raise_atomic(_Atomic uint64_t *to, uint64_t n)
{
	uint64_t seen = atomic_load_explicit(to, memory_order_relaxed);

	while (seen < n && !atomic_compare_exchange_weak(to, &seen, n))
		;
}

void inline_flush(struct self *s)
{
	struct hook_state *h = &s->hooks;
	uint32_t limit = h->limit ? 2 * h->limit : 1;

	h->calls = 0;
	h->limit = limit < INLINE_FLUSH_CALLS ? limit : INLINE_FLUSH_CALLS;
	if (frame_mode() == CAPTURE_DETACHED || !capture_membership.header)
		return;
	for (unsigned i = 0; i < CONTROL_PLUGINS; i++) {
		struct plugin_account *to = &capture_membership.header->plugins[i];
		struct hook_account from = h->accounts[i];

		if (!from.calls && !from.acts)
			continue;
		h->accounts[i] = (struct hook_account){ 0 };
		counter_add(&to->calls, from.calls);
		counter_add(&to->acts, from.acts);
		counter_add(&to->ticks, from.ticks);
		raise_atomic(&to->worst_ticks, from.worst);
		counter_add(&capture_membership.header->cost_ticks, from.ticks);
	}
}

unsigned inline_index(const struct control *control, const char *name)
{
	unsigned i = 0;

	while (i < CONTROL_PLUGINS && strcmp(control->plugins[i].name, name) != 0)
		i++;
	return i;
}

void inline_acted(unsigned plugin, unsigned acts)
{
	if (plugin < CONTROL_PLUGINS)
		capture_self.hooks.accounts[plugin].acts += acts;
}

/* The kernel's account of a thread: involuntary context switches and CPU time. */
struct usage {
	long preempted;
	int64_t cpu_ns;
};

static struct usage usage_read(void)
{
	struct rusage u = { 0 };
	struct timespec cpu = { 0 };

	kernel_call(SYS_getrusage, RUSAGE_THREAD, &u);
	kernel_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &cpu);
	return (struct usage){ u.ru_nivcsw, cpu.tv_sec * INT64_C(1000000000) + cpu.tv_nsec };
}

/* Has the hook itself exceeded its budget? Not if the thread was preempted and its CPU time is low.
 */
static bool hook_exceeds_budget(const struct usage *before, uint64_t kernel_ticks, uint64_t budget)
{
	struct usage after = usage_read();

	return after.preempted == before->preempted ||
	       after.cpu_ns - before->cpu_ns - ticks_to_ns(kernel_ticks) > ticks_to_ns(budget);
}

static void plugin_switch_off(struct plugin *p)
{
	atomic_store(&p->active, false);
	plugin_set_state((unsigned)(p - plugins), PLUGIN_SLOW, 0);
	update_watched_calls();
}

/* Counts a hook call of this duration. */
static void hook_account(struct plugin *p, struct hook_state *h, uint64_t ticks, unsigned acts)
{
	struct hook_account *a = &h->accounts[p - plugins];

	a->calls++;
	a->acts += acts;
	a->ticks += ticks;
	if (ticks > a->worst)
		a->worst = ticks;
	if (++h->calls >= h->limit)
		inline_flush(&capture_self);
}

/* The argument of either hook, so that both are timed by the same code. */
struct question {
	const struct sluice_called *called;
	const struct sluice_query *query;
	struct sluice_answer *answer;
};

static unsigned hook_call(const struct plugin *p, const struct question *q)
{
	if (q->called)
		return p->ops->after(p->state, q->called);
	return p->ops->suggest(p->state, q->query, q->answer);
}

/* Calls a hook at the time `start` and returns the time of its end. *returned is its return value.
 */
static uint64_t hook_run(struct plugin *p, const struct question *q, uint64_t start,
			 unsigned *returned)
{
	struct hook_state *h = &capture_self.hooks;
	uint64_t budget = budget_ticks, stop, own;
	uint32_t suspect = atomic_load_explicit(&p->suspect, memory_order_relaxed);
	struct usage before;
	bool exceeds;

	h->kernel_ticks = 0;
	if (unlikely(suspect)) {
		atomic_store_explicit(&p->suspect, suspect - 1, memory_order_relaxed);
		before = usage_read();
		start = clock_ticks(capture_gate->clock);
	}
	*returned = hook_call(p, q);
	stop = clock_ticks(capture_gate->clock);
	own = stop - start - h->kernel_ticks;
	if (likely(!budget || own <= budget)) {
		hook_account(p, h, stop - start, q->called ? *returned : 0);
		return stop;
	}
	if (!suspect)
		atomic_store_explicit(&p->suspect, INLINE_SUSPECT_CALLS, memory_order_relaxed);
	exceeds = suspect && hook_exceeds_budget(&before, h->kernel_ticks, budget);
	/* Unless the hook is known to be slow, the thread was preempted, which is no overhead. */
	hook_account(p, h, exceeds ? stop - start : budget + h->kernel_ticks,
		     q->called ? *returned : 0);
	if (exceeds)
		plugin_switch_off(p);
	return clock_ticks(capture_gate->clock);
}

/* Was the hook abandoned by longjmp? Its frame is then below any live one, except on an alternate
 * signal stack. */
static bool hook_is_stale(const void *at, const struct frame *f)
{
	stack_t stack;

	if ((uintptr_t)at > (uintptr_t)f || sandbox_is_sealed())
		return false;
	return kernel_call(SYS_sigaltstack, NULL, &stack) == 0 && !(stack.ss_flags & SS_ONSTACK);
}

static bool hooks_enter(struct self *s, const struct frame *f)
{
	const void *at = s->hooks.at;

	if (unlikely(at) && !hook_is_stale(at, f))
		return false;
	s->hooks.at = f;
	signal_fence();
	return true;
}

static void hooks_leave(struct self *s)
{
	signal_fence();
	s->hooks.at = NULL;
}

/* Makes the ended call current again, so that calls of the hooks become its children. */
static void call_resume(struct frame *f, struct self *s)
{
	f->lane->current_at = f;
	signal_fence();
	s->level = f->level + 1;
	signal_fence();
	f->lane->current = f->seq;
	signal_fence();
	s->level = f->level;
	signal_fence();
}

static void call_finish(const struct frame *f)
{
	signal_fence();
	f->lane->current = f->parent;
	f->lane->current_at = f->parent_at;
}

static void hooks_run(const struct frame *f, const struct question *q)
{
	uint64_t not_before = capture_self.hooks.not_before,
		 now = not_before > f->stop ? not_before : f->stop;
	unsigned returned;

	for (unsigned i = 0; i < plugin_count; i++) {
		struct plugin *p = &plugins[i];

		if (atomic_load_explicit(&p->active, memory_order_acquire) &&
		    p->layers >> q->called->layer & 1 && p->classes >> q->called->class & 1)
			now = hook_run(p, q, now, &returned);
	}
}

void inline_after(struct frame *f, unsigned call, int64_t handle, uint64_t link, uint64_t size,
		  uint64_t offset, uint64_t result, int error)
{
	bool is_network = link_kind(link) == LINK_NETWORK;
	const struct call_info *info = &call_table[call];
	struct self *s = &capture_self;
	struct sluice_called called = {
		.call = (uint16_t)call,
		.class = info->class,
		.layer = link_layer(link, info->layer),
		.is_network = is_network,
		.error = error,
		.handle = handle,
		.opening = link & ID_MASK,
		.offset = (int64_t)offset,
		.size = (int64_t)size,
		.result = (int64_t)result,
		.duration_ns = ticks_to_ns(f->stop - f->start),
	};
	int saved = errno;

	if (!hooks_enter(s, f))
		return;
	if (f->seq)
		call_resume(f, s);
	hooks_run(f, &(struct question){ .called = &called });
	if (f->seq)
		call_finish(f);
	hooks_leave(s);
	errno = saved;
}

bool inline_suggest(struct frame *f, const struct sluice_query *query, struct sluice_answer *answer,
		    unsigned *by)
{
	struct question q = { .query = query, .answer = answer };
	struct self *s = &capture_self;
	unsigned returned = 0;
	int saved = errno;

	answer->count = 0;
	if (!hooks_enter(s, f))
		return false;
	for (unsigned i = 0; i < plugin_count && !returned; i++) {
		struct plugin *p = &plugins[i];

		if (!atomic_load_explicit(&p->active, memory_order_acquire) || !p->ops->suggest ||
		    !(p->layers >> LAYER_MPI & 1))
			continue;
		hook_run(p, &q, clock_ticks(capture_gate->clock), &returned);
		if (!returned)
			answer->count = 0;
		*by = i;
	}
	hooks_leave(s);
	errno = saved;
	return returned != 0;
}
