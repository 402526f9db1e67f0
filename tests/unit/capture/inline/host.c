/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In-line plug-ins on the real hot path: which calls they get, what they may do, and how their time
 * is accounted for. The plug-ins are defined in this file.
 * Papers: SIOX-16, SIOX-26, SIOX-27, SIOX-38.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "capture/inline/host.h"
#include "capture/record/handles.h"
#include "capture/record/hooks.h"
#include "check.h"
#include "contract/calls.h"
#include "guest.h"

const struct record_hooks record_hooks = { .flush = inline_flush };

#define READS (1u << CLASS_READ)
#define ALL_LAYERS ((1u << LAYER_COUNT) - 1)

static uint64_t link_of_fd = 0;

/* What a wrapper of pread does. */
static void wrapped_read(int fd, int64_t offset, int64_t size)
{
	struct frame f;
	uint64_t *w;

	if (!frame_enter(&f))
		return;
	frame_stop(&f);
	w = frame_leave(&f, CALL_pread, 8, 0);
	w[4] = (uint64_t)size;
	w[5] = link_of_fd;
	w[6] = (uint64_t)size;
	w[7] = (uint64_t)offset;
	frame_commit(&f, w, 8);
	if (frame_watched(LAYER_POSIX, CLASS_READ))
		inline_after(&f, CALL_pread, fd, link_of_fd, (uint64_t)size, (uint64_t)offset,
			     (uint64_t)size, 0);
}

static _Atomic unsigned told;
static struct sluice_called last;
static const struct sluice_guest *guest;
static void (*in_hook)(void);

static int watcher_start(const struct sluice_guest *g, void **state)
{
	guest = g;
	*state = &told;
	return 0;
}

static unsigned watcher_after(void *state, const struct sluice_called *called)
{
	CHECK(state == &told);
	atomic_fetch_add(&told, 1);
	if (in_hook)
		in_hook();
	else
		last = *called;
	errno = 77;
	return 2;
}

static bool watcher_suggest(void *state, const struct sluice_query *query,
			    struct sluice_answer *answer)
{
	(void)state;
	if (strcmp(query->path, "known") != 0) {
		answer->count = 1; /* an incomplete answer */
		return false;
	}
	answer->count = 1;
	strcpy(answer->hints[0].key, "cb_nodes");
	strcpy(answer->hints[0].value, "4");
	return true;
}

static int failing_start(const struct sluice_guest *g, void **state)
{
	(void)g;
	(void)state;
	return -ENOMEM;
}

static unsigned quiet_after(void *state, const struct sluice_called *called)
{
	(void)state;
	(void)called;
	return 0;
}

static int quiet_start(const struct sluice_guest *g, void **state)
{
	(void)g;
	(void)state;
	return 0;
}

static const struct sluice_inline watcher_ops = {
	.classes = READS, .start = watcher_start, .after = watcher_after, .suggest = watcher_suggest
};
static const struct sluice_inline failing_ops = { .classes = READS,
						  .start = failing_start,
						  .after = quiet_after };
static const struct sluice_inline hookless_ops = { .classes = READS, .start = quiet_start };
static const struct sluice_inline stdio_ops = {
	.classes = READS, .layers = 1u << LAYER_STDIO, .start = quiet_start, .after = quiet_after
};

#define PLUGIN(id, version, sort)                                      \
	static const struct sluice_plugin id = { .abi = version,       \
						 .kind = sort,         \
						 .name = #id,          \
						 .help = "for a test", \
						 .in_line = &id##_ops }
static const struct sluice_inline old_ops, async_ops;
PLUGIN(watcher, SLUICE_PLUGIN_ABI, SLUICE_INLINE);
PLUGIN(failing, SLUICE_PLUGIN_ABI, SLUICE_INLINE);
PLUGIN(hookless, SLUICE_PLUGIN_ABI, SLUICE_INLINE);
PLUGIN(stdio, SLUICE_PLUGIN_ABI, SLUICE_INLINE);
PLUGIN(old, SLUICE_PLUGIN_ABI + 1, SLUICE_INLINE);
PLUGIN(async, SLUICE_PLUGIN_ABI, SLUICE_ASYNC);

const struct sluice_plugin *const inline_builtin[] = { &watcher, &failing, &hookless, &stdio,
						       &old,	 &async,   NULL };

static _Atomic uint64_t handles[HANDLES_MAX];

/* Joins a run with these plug-ins; the list ends with NULL. */
static void join(const char *const *names, uint32_t layers)
{
	guest_start(1, CAPTURE_TRACE);
	capture_handles = handles;
	link_of_fd = 0;
	in_hook = NULL;
	atomic_store(&told, 0);
	last = (struct sluice_called){ 0 };
	for (unsigned i = 0; names[i]; i++) {
		strcpy(control.plugins[i].name, names[i]);
		strcpy(control.plugins[i].options, "depth=3\nempty=\ndepths=4\n");
		control.plugins[i].layers = layers;
	}
	inline_forget(&capture_self);
	inline_start();
}

static const char *const only_watcher[] = { "watcher", NULL };

static uint32_t plugin_state_of(unsigned i)
{
	return atomic_load(&capture_membership.header->plugins[i].state);
}

/* Takes all records of the spool, in the order of one thread. They are valid until the next call.
 */
static unsigned take_records(const uint64_t **records, unsigned most)
{
	struct pending *list = NULL;
	size_t count = 0, cap = 0;
	unsigned n = 0;
	static uint64_t copies[16][CHUNK_WORDS];

	spool_pending(&spool, &list, &count, &cap);
	REQUIRE(count <= sizeof(copies) / sizeof(copies[0]));
	for (size_t i = 0; i < count; i++) {
		const uint64_t *at, *r;

		pending_load(&list[i], copies[i], CHUNK_WORDS);
		at = list[i].records;
		while (n < most && at < list[i].end && (r = pending_next(&list[i], &at)))
			records[n++] = r;
	}
	free(list);
	return n;
}

static void a_plugin_gets_the_calls_it_wants(void)
{
	join(only_watcher, ALL_LAYERS);
	CHECK_INT(plugin_state_of(0), PLUGIN_ACTIVE);
	CHECK(frame_watched(LAYER_POSIX, CLASS_READ));
	CHECK(frame_watched(LAYER_MPI, CLASS_READ));
	CHECK(!frame_watched(LAYER_POSIX, CLASS_WRITE));
	link_of_fd = link_make(LINK_FILE, id_make(3, 17));
	wrapped_read(5, 4096, 100);
	CHECK_INT(told, 1);
	CHECK_INT(last.call, CALL_pread);
	CHECK_INT(last.class, CLASS_READ);
	CHECK_INT(last.layer, LAYER_POSIX);
	CHECK_INT(last.handle, 5);
	CHECK_INT(last.opening, id_make(3, 17));
	CHECK_INT(last.offset, 4096);
	CHECK_INT(last.size, 100);
	CHECK_INT(last.result, 100);
	CHECK(!last.is_network);
	guest_stop();
}

static void calls_on_sockets_belong_to_the_network_layer(void)
{
	join(only_watcher, 1u << LAYER_NETWORK);
	CHECK(frame_watched(LAYER_POSIX, CLASS_READ));
	/* A stream may be on a socket, too. */
	CHECK(frame_watched(LAYER_STDIO, CLASS_READ));
	CHECK(!frame_watched(LAYER_MPI, CLASS_READ));
	link_of_fd = link_make(LINK_FILE, id_make(3, 17));
	wrapped_read(5, 0, 100);
	CHECK_INT(told, 0);
	link_of_fd = link_make(LINK_NETWORK, id_make(3, 18));
	wrapped_read(5, 0, 100);
	CHECK_INT(told, 1);
	CHECK(last.is_network);
	CHECK_INT(last.layer, LAYER_NETWORK);
	guest_stop();
}

static void a_layer_that_a_plugin_does_not_support_is_not_watched(void)
{
	static const char *const names[] = { "stdio", NULL };

	join(names, ALL_LAYERS);
	CHECK(frame_watched(LAYER_STDIO, CLASS_READ));
	CHECK(!frame_watched(LAYER_POSIX, CLASS_READ));
	guest_stop();
}

static void invalid_plugins_are_rejected_and_the_others_work(void)
{
	static const char *const names[] = { "old",	"async",   "failing", "hookless",
					     "unknown", "watcher", NULL };

	join(names, ALL_LAYERS);
	CHECK_INT(plugin_state_of(0), PLUGIN_FOREIGN);
	CHECK_INT(plugin_state_of(1), PLUGIN_FOREIGN);
	CHECK_INT(plugin_state_of(2), PLUGIN_FAILED);
	CHECK_INT(atomic_load(&capture_membership.header->plugins[2].reason), ENOMEM);
	CHECK_INT(plugin_state_of(3), PLUGIN_FAILED);
	CHECK_INT(plugin_state_of(4), PLUGIN_MISSING);
	CHECK_INT(plugin_state_of(5), PLUGIN_ACTIVE);
	CHECK_INT(plugin_state_of(6), PLUGIN_NONE);
	wrapped_read(5, 0, 1);
	CHECK_INT(told, 1);
	guest_stop();
}

static void a_library_that_does_not_exist_is_missing(void)
{
	static const char *const names[] = { "/nowhere/at/all.so", "watcher", NULL };

	join(names, ALL_LAYERS);
	CHECK_INT(plugin_state_of(0), PLUGIN_NONE);
	inline_load();
	CHECK_INT(plugin_state_of(0), PLUGIN_MISSING);
	wrapped_read(5, 0, 1);
	CHECK_INT(told, 1);
	guest_stop();
}

static void options_are_those_of_the_control_page(void)
{
	join(only_watcher, ALL_LAYERS);
	CHECK_TEXT(guest->option(guest->self, "depth"), "3");
	CHECK_TEXT(guest->option(guest->self, "depths"), "4");
	CHECK_TEXT(guest->option(guest->self, "empty"), "");
	CHECK(!guest->option(guest->self, "dept"));
	CHECK(!guest->option(guest->self, "3"));
	guest_stop();
}

static void errno_is_restored(void)
{
	join(only_watcher, ALL_LAYERS);
	errno = 5;
	wrapped_read(5, 0, 1);
	CHECK_INT(errno, 5);
	CHECK_INT(told, 1);
	guest_stop();
}

static int real_fd = -1;

static void advise_next(void)
{
	CHECK(guest->advise(guest->self, real_fd, 8192, 512, POSIX_FADV_WILLNEED) >= 0);
}

static void advice_is_recorded_as_a_child_of_the_call(void)
{
	char path[] = "/tmp/sluice-unit-XXXXXX";
	const uint64_t *records[8];
	unsigned n;

	join(only_watcher, ALL_LAYERS);
	real_fd = mkstemp(path);
	REQUIRE(real_fd >= 0);
	unlink(path);
	link_of_fd = link_make(LINK_FILE, id_make(0, 99));
	handle_put(real_fd, link_of_fd);
	in_hook = advise_next;
	wrapped_read(real_fd, 0, 512);
	in_hook = NULL;
	wrapped_read(real_fd, 512, 512);
	n = take_records(records, 8);
	REQUIRE(n == 3);
	CHECK_INT(record_call(records[0]), CALL_pread);
	CHECK_INT(record_call(records[1]), CALL_posix_fadvise);
	CHECK_INT(record_parent(records[1]), record_seq(records[0]));
	CHECK(record_start(records[1]) >= record_start(records[0]) + record_duration(records[0]));
	for (unsigned i = 0; i < call_table[CALL_posix_fadvise].field_count; i++) {
		uint64_t word = records[1][RECORD_HEAD_WORDS + i];

		switch (call_table[CALL_posix_fadvise].fields[i]) {
		case FIELD_LINK:
			CHECK_INT(word, link_of_fd);
			break;
		case FIELD_SIZE:
			CHECK_INT(word, 512);
			break;
		case FIELD_OFFSET:
			CHECK_INT(word, 8192);
			break;
		case FIELD_FLAGS:
			CHECK_INT(word, POSIX_FADV_WILLNEED);
			break;
		default:
			CHECK_INT(word, 0);
		}
	}
	/* The next call has no parent. */
	CHECK_INT(record_parent(records[2]), 0);
	close(real_fd);
	guest_stop();
}

static void read_inside(void)
{
	wrapped_read(6, 0, 1);
}

static void calls_of_hooks_do_not_call_hooks(void)
{
	const uint64_t *records[8];

	join(only_watcher, ALL_LAYERS);
	in_hook = read_inside;
	wrapped_read(5, 0, 1);
	CHECK_INT(told, 1);
	REQUIRE(take_records(records, 8) == 2);
	CHECK_INT(record_parent(records[1]), record_seq(records[0]));
	guest_stop();
}

static void on_signal(int number)
{
	(void)number;
	wrapped_read(6, 0, 1);
}

static void signal_inside(void)
{
	raise(SIGUSR1);
}

static void a_handler_that_interrupts_a_hook_is_recorded(void)
{
	const uint64_t *records[8];

	join(only_watcher, ALL_LAYERS);
	signal(SIGUSR1, on_signal);
	in_hook = signal_inside;
	wrapped_read(5, 0, 1);
	signal(SIGUSR1, SIG_DFL);
	CHECK_INT(told, 1);
	CHECK_INT(take_records(records, 8), 2);
	CHECK_INT(capture_self.level, 0);
	guest_stop();
}

static sigjmp_buf away;

static void on_signal_leave(int number)
{
	(void)number;
	siglongjmp(away, 1);
}

static __attribute__((noinline)) void read_deeper(void)
{
	volatile char deeper[4096];

	deeper[0] = 0;
	wrapped_read(5, deeper[0], 1);
}

static void hooks_run_again_after_one_was_left_by_longjmp(void)
{
	join(only_watcher, ALL_LAYERS);
	signal(SIGUSR1, on_signal_leave);
	in_hook = signal_inside;
	if (!sigsetjmp(away, 1))
		read_deeper();
	signal(SIGUSR1, SIG_DFL);
	CHECK_INT(told, 1);
	in_hook = NULL;
	wrapped_read(5, 0, 1);
	CHECK_INT(told, 2);
	guest_stop();
}

static void sleep_a_while(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
}

static void ticks_calibrate(void)
{
	uint64_t ticks = clock_ticks(CLOCK_SOURCE_COUNTER), ns = clock_monotonic_ns();

	sleep_a_while();
	control.clock_num = clock_monotonic_ns() - ns;
	control.clock_den = clock_ticks(CLOCK_SOURCE_COUNTER) - ticks;
	/* One millisecond, however long the sleep was. */
	control.plugin_budget_ticks = control.clock_den * 1000000 / control.clock_num;
}

static void a_hook_over_its_budget_is_switched_off(void)
{
	unsigned calls;

	join(only_watcher, ALL_LAYERS);
	ticks_calibrate();
	inline_start();
	in_hook = sleep_a_while;
	/* The first call makes it a suspect; calls during which the thread is preempted do not
	 * count. */
	for (calls = 0; calls < 200 && plugin_state_of(0) == PLUGIN_ACTIVE; calls++)
		wrapped_read(5, 0, 1);
	CHECK_INT(plugin_state_of(0), PLUGIN_SLOW);
	CHECK(calls >= 2 && calls < 200);
	CHECK(!frame_watched(LAYER_POSIX, CLASS_READ));
	CHECK_INT(told, calls);
	wrapped_read(5, 0, 1);
	CHECK_INT(told, calls);
	inline_flush(&capture_self);
	CHECK(atomic_load(&capture_membership.header->plugins[0].worst_ticks) >
	      control.plugin_budget_ticks);
	guest_stop();
}

static void fast_hooks_stay_active(void)
{
	join(only_watcher, ALL_LAYERS);
	ticks_calibrate();
	inline_start();
	for (unsigned i = 0; i < 2000; i++)
		wrapped_read(5, 0, 1);
	CHECK_INT(plugin_state_of(0), PLUGIN_ACTIVE);
	CHECK_INT(told, 2000);
	guest_stop();
}

#define THREADS 4
#define CALLS 1000

static void *reader(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < CALLS; i++)
		wrapped_read(5, 0, 1);
	return NULL;
}

static void do_nothing(void)
{
}

static void accounts_of_threads_add_up(void)
{
	struct plugin_account *account;
	pthread_t threads[THREADS];

	join(only_watcher, ALL_LAYERS);
	in_hook = do_nothing;
	account = &capture_membership.header->plugins[0];
	wrapped_read(5, 0, 1);
	/* The first calls are flushed at once. */
	CHECK_INT(atomic_load(&account->calls), 1);
	CHECK_INT(atomic_load(&account->acts), 2);
	for (int i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, reader, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(atomic_load(&account->calls), 1 + THREADS * CALLS);
	CHECK_INT(atomic_load(&account->acts), 2 * (1 + THREADS * CALLS));
	CHECK(atomic_load(&account->ticks) >= atomic_load(&account->worst_ticks));
	guest_stop();
}

static bool is_never_set(const struct sluice_query *query, const char *key)
{
	(void)query;
	(void)key;
	return false;
}

static void the_first_plugin_with_an_answer_is_used(void)
{
	static const char *const names[] = { "stdio", "watcher", NULL };
	struct sluice_query query = { .path = "known", .is_set = is_never_set };
	struct sluice_answer answer;
	unsigned by = 99;
	struct frame f;

	join(names, ALL_LAYERS);
	REQUIRE(frame_enter(&f));
	CHECK(inline_suggest(&f, &query, &answer, &by));
	CHECK_INT(by, 1);
	CHECK_INT(answer.count, 1);
	CHECK_TEXT(answer.hints[0].value, "4");
	query.path = "new";
	CHECK(!inline_suggest(&f, &query, &answer, &by));
	CHECK_INT(answer.count, 0);
	guest_stop();
}

static void hooks_run_for_counted_calls_too(void)
{
	join(only_watcher, ALL_LAYERS);
	atomic_store(&control.mode, CAPTURE_COUNTERS);
	atomic_store(&gate.mode, CAPTURE_COUNTERS);
	for (unsigned i = 0; i < 10; i++)
		wrapped_read(5, 0, 1);
	CHECK_INT(told, 10);
	guest_stop();
}

TESTS(TEST(a_plugin_gets_the_calls_it_wants), TEST(calls_on_sockets_belong_to_the_network_layer),
      TEST(a_layer_that_a_plugin_does_not_support_is_not_watched),
      TEST(invalid_plugins_are_rejected_and_the_others_work),
      TEST(a_library_that_does_not_exist_is_missing), TEST(options_are_those_of_the_control_page),
      TEST(errno_is_restored), TEST(advice_is_recorded_as_a_child_of_the_call),
      TEST(calls_of_hooks_do_not_call_hooks), TEST(a_handler_that_interrupts_a_hook_is_recorded),
      TEST(hooks_run_again_after_one_was_left_by_longjmp),
      TEST(a_hook_over_its_budget_is_switched_off), TEST(fast_hooks_stay_active),
      TEST(accounts_of_threads_add_up), TEST(the_first_plugin_with_an_answer_is_used),
      TEST(hooks_run_for_counted_calls_too))
