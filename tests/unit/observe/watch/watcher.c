/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests the watcher with real processes and the plug-ins of this file, and the plug-in host by
 * itself.
 */
#include "observe/watch/watcher.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "observe/watch/library.h"
#include "observe/watch/message.h"
#include "observe/watch/plugin_host.h"
#include "observe/watch/plugins.h"

struct seen {
	const struct sluice_host *host;
	uint64_t calls, layers, last_start, unordered;
};

static int seen_start(const struct sluice_host *host, void **state)
{
	struct seen *s = xcalloc(1, sizeof(*s));
	const char *fail = host->option(host->self, "fail");

	if (fail) {
		host->warn(host->self, fail);
		free(s);
		return -EINVAL;
	}
	s->host = host;
	*state = s;
	return 0;
}

static void seen_batch(void *arg, const struct activity *activities, size_t count)
{
	struct seen *s = arg;

	s->calls += count;
	for (size_t i = 0; i < count; i++) {
		s->layers |= UINT64_C(1) << activities[i].layer;
		s->unordered += (uint64_t)activities[i].start_ns < s->last_start;
		s->last_start = (uint64_t)activities[i].start_ns;
	}
}

static void seen_report(void *arg)
{
	struct seen *s = arg;

	s->host->number(s->host->self, -1, "seen", "calls", (double)s->calls);
	s->host->number(s->host->self, -1, "seen", "layers", (double)s->layers);
	s->host->number(s->host->self, -1, "seen", "unordered", (double)s->unordered);
	s->host->number(s->host->self, -1, "seen", "last", (double)s->last_start);
	s->host->text(s->host->self, 0, "seen", "file 1", s->host->file(s->host->self, 1));
	s->host->text(s->host->self, 0, "seen", "program",
		      s->host->process(s->host->self, 0)
			      ? s->host->process(s->host->self, 0)->program
			      : "?");
}

static void seen_stop(void *state)
{
	free(state);
}

static const struct sluice_async seen_hooks = {
	.start = seen_start, .batch = seen_batch, .report = seen_report, .stop = seen_stop
};
static const struct sluice_plugin seen_plugin = {
	.abi = SLUICE_PLUGIN_ABI, .kind = SLUICE_ASYNC, .name = "seen", .async = &seen_hooks
};

static void note_take(void *arg, const struct note *note)
{
	buf_printf(arg, "%s %s %s: %s\n", note->kind, note->source, note->name, note->value);
}

static void fact_take(void *arg, const struct fact *fact, const void *row)
{
	if (fact == &fact_note)
		note_take(arg, row);
}

static struct run_info run = { .uuid = "u", .host = "h", .user = "me" };

static void activities_make(struct activity *batch, size_t n, uint64_t from)
{
	for (size_t i = 0; i < n; i++)
		batch[i] = (struct activity){ .id = from + i,
					      .start_ns = (int64_t)(100 + 2 * (from + i)),
					      .duration_ns = 1,
					      .layer = (uint8_t)(i % LAYER_APPLICATION) };
}

static struct watcher *watcher_of(struct config *config, const char *assignment, struct buf *notes)
{
	static struct run_clock clock = { .tick0 = 100, .num = 1, .den = 2 };
	struct watcher_options options = {
		.config = config, .run = &run, .clock = &clock, .stop_ms = 2000
	};
	struct watcher_sink sink = { .arg = notes, .fact = fact_take };

	setenv("XDG_DATA_HOME", "/nonexistent", 1);
	config_init(config);
	config_assign(config, "stats.period=0", "test", NULL);
	REQUIRE(config_assign(config, assignment, "test", NULL) == 0);
	return watcher_start(&options, &sink);
}

static void a_row_is_packed_and_unpacked(void)
{
	struct process_info from = { .index = 3,
				     .parent = -1,
				     .pid = 77,
				     .rank = 5,
				     .host = "h",
				     .program = "/bin/x",
				     .command = "x y" };
	struct process_info to = { 0 };
	AUTO_BUF struct buf bytes = { 0 };

	message_pack(&bytes, &fact_process, &from);
	CHECK(message_unpack(&fact_process, bytes.data, bytes.len, &to));
	CHECK_INT(to.index, 3);
	CHECK_INT(to.parent, -1);
	CHECK_INT(to.rank, 5);
	CHECK_TEXT(to.program, "/bin/x");
	CHECK_TEXT(to.directory, "");
	fact_release(&fact_process, &to);
	for (size_t n = 0; n < bytes.len; n++) {
		CHECK(!message_unpack(&fact_process, bytes.data, n, &to));
		fact_release(&fact_process, &to);
	}
	CHECK_INT(message_kind_of(&fact_note), MESSAGE_NOTE);
	CHECK_INT(message_kind_of(&fact_loss), MESSAGE_KINDS);
}

static void activities_are_packed_and_unpacked(void)
{
	struct activity from[3], to[3];
	uint64_t bytes[3 * MESSAGE_ACTIVITY_MAX / 8];
	const void *at = bytes;
	size_t n;

	/* Every byte differs, so that a missing or swapped field is noticed. */
	for (size_t i = 0; i < sizeof(from); i++)
		((unsigned char *)from)[i] = (unsigned char)(i * 7 + 1);
	from[1].present = PRESENT(LINK) | PRESENT(HANDLE) | PRESENT(SIZE) | PRESENT(OFFSET);
	from[1].file2 = from[1].name = from[1].hints = 0;
	n = message_pack_activities(bytes, from, 3);
	CHECK(n < 3 * sizeof(struct activity));
	for (size_t i = 0; i < 3; i++) {
		at = message_unpack_activity(at, &to[i]);
		CHECK(activity_equal(&from[i], &to[i]));
	}
	CHECK_INT((const char *)at - (const char *)bytes, n);
	CHECK_INT(to[1].mode, 0);
	CHECK_INT(to[2].mode, from[2].mode);
	CHECK_INT(to[2].link2, from[2].link2);
}

static void plugins_receive_their_layers_and_the_answers_of_the_host(void)
{
	struct config config;
	AUTO_BUF struct buf notes = { 0 };
	struct plugin_host_options options = {
		.config = &config, .run = &run, .arg = &notes, .note = note_take
	};
	struct process_info process = { .program = "/bin/x", .host = "h" };
	struct activity batch[700];
	struct plugin_host *a;

	config_init(&config);
	a = plugin_host_new(&options);
	REQUIRE(plugin_host_add(a, &seen_plugin, "all", PLUGIN_ALL_LAYERS, NULL) == 0);
	REQUIRE(plugin_host_add(a, &seen_plugin, "some", 1u << LAYER_MPI, NULL) == 0);
	plugin_host_file(a, 1, "/data/f");
	plugin_host_process(a, &process);
	activities_make(batch, 700, 0);
	plugin_host_activities(a, batch, 700);
	plugin_host_report(a);
	CHECK_TEXT(buf_text(&notes), "report all seen/calls: 700\n"
				     "report all seen/layers: 127\n"
				     "report all seen/unordered: 0\n"
				     "report all seen/last: 1498\n"
				     "report all seen/file 1: /data/f\n"
				     "report all seen/program: /bin/x\n"
				     "report some seen/calls: 100\n"
				     "report some seen/layers: 8\n"
				     "report some seen/unordered: 0\n"
				     "report some seen/last: 1492\n"
				     "report some seen/file 1: /data/f\n"
				     "report some seen/program: /bin/x\n");
	plugin_host_free(a);
	config_release(&config);
}

static void a_plugin_that_fails_to_start_is_refused_with_its_warning(void)
{
	struct config config;
	AUTO_BUF struct buf notes = { 0 };
	struct plugin_host_options options = {
		.config = &config, .run = &run, .arg = &notes, .note = note_take
	};
	struct err err = { 0 };
	struct plugin_host *a;

	config_init(&config);
	config_assign(&config, "plugin.mine.fail=no luck today", "test", NULL);
	a = plugin_host_new(&options);
	CHECK_INT(plugin_host_add(a, &seen_plugin, "mine", 1, &err), -EINVAL);
	CHECK(strstr(err.text, "mine"));
	CHECK(strstr(err.text, "no luck today"));
	CHECK_INT(plugin_host_count(a), 0);
	plugin_host_free(a);
	config_release(&config);
}

static void excess_report_lines_are_dropped_and_counted(void)
{
	static const struct sluice_plugin *const plugin = &seen_plugin;
	struct config config;
	AUTO_BUF struct buf notes = { 0 };
	struct plugin_host_options options = {
		.config = &config, .run = &run, .arg = &notes, .note = note_take
	};
	struct plugin_host *a;

	config_init(&config);
	a = plugin_host_new(&options);
	REQUIRE(plugin_host_add(a, plugin, "mine", 1, NULL) == 0);
	for (int i = 0; i < PLUGIN_HOST_NOTES_MAX / 6 + 2; i++)
		plugin_host_report(a);
	CHECK(strstr(buf_text(&notes), "degraded mine report lines dropped: "));
	plugin_host_free(a);
	config_release(&config);
}

static void the_error_of_an_invalid_plugin_is_named(void)
{
	static const struct sluice_async none = { 0 };
	static const struct sluice_inline deaf = { .classes = 1 };
	struct {
		struct sluice_plugin plugin;
		const char *words;
	} cases[] = {
		{ { .abi = 77, .kind = SLUICE_ASYNC, .name = "x", .async = &seen_hooks },
		  "ABI 77" },
		{ { .abi = SLUICE_PLUGIN_ABI, .kind = 9, .name = "x", .async = &seen_hooks },
		  "kind 9" },
		{ { .abi = SLUICE_PLUGIN_ABI,
		    .kind = SLUICE_ASYNC,
		    .name = "two words",
		    .async = &seen_hooks },
		  "name" },
		{ { .abi = SLUICE_PLUGIN_ABI, .kind = SLUICE_ASYNC, .name = "x", .async = &none },
		  "hook batch" },
		{ { .abi = SLUICE_PLUGIN_ABI, .kind = SLUICE_ASYNC, .name = "x" }, "hook batch" },
		{ { .abi = SLUICE_PLUGIN_ABI,
		    .kind = SLUICE_INLINE,
		    .name = "x",
		    .in_line = &deaf },
		  "hook start" },
	};

	CHECK_INT(library_check(&seen_plugin, "p", SLUICE_ASYNC, NULL), 0);
	CHECK(library_check(&seen_plugin, "p", SLUICE_INLINE, NULL) < 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };

		CHECK(library_check(&cases[i].plugin, "p", 0, &err) < 0);
		CHECK_WORDS(err.text, cases[i].words);
	}
}

static void no_watcher_is_started_without_need(void)
{
	struct config config;
	AUTO_BUF struct buf notes = { 0 };

	CHECK(!watcher_of(&config, "plugins.load=", &notes));
	CHECK_TEXT(buf_text(&notes), "");
	config_release(&config);
}

static void refusals_name_their_origin_and_the_valid_names(void)
{
	struct config config;
	AUTO_BUF struct buf notes = { 0 };

	CHECK(!watcher_of(&config, "plugins.load=nonsense ./x.so", &notes));
	CHECK_WORDS(buf_text(&notes), "refused nonsense|plug-in nonsense");
	CHECK(strstr(buf_text(&notes), " histogram"));
	CHECK(strstr(buf_text(&notes), "(test)"));
	CHECK(strstr(buf_text(&notes), "absolute path"));
	config_release(&config);
}

/* Returns the number after a note's name. */
static long long number_of(const struct buf *notes, const char *name)
{
	const char *at = strstr(buf_text(notes), name);

	return at ? atoll(at + strlen(name)) : -1;
}

static void every_activity_is_delivered_or_dropped(void)
{
	struct config config;
	AUTO_BUF struct buf notes = { 0 };
	struct watcher *w = watcher_of(&config, "plugins.load=histogram", &notes);
	struct watcher_counts counts;
	struct activity batch[128];

	REQUIRE(w);
	for (uint64_t i = 0; i < 5000; i++) {
		activities_make(batch, 128, i * 128);
		watcher_activities(w, batch, 128);
		if (i % 64 == 0)
			watcher_poll(w);
	}
	watcher_stop(w, &counts);
	CHECK_INT(counts.produced, 5000 * 128);
	CHECK_INT(counts.delivered + counts.dropped, counts.produced);
	CHECK(counts.delivered > 0);
	CHECK_INT(number_of(&notes, "cost watcher calls produced: "), 5000 * 128);
	CHECK_INT(number_of(&notes, "cost watcher calls delivered: "), counts.delivered);
	CHECK(!strstr(buf_text(&notes), "watcher ended early"));
	config_release(&config);
}

/* Returns the pid of our only child. */
static pid_t child_pid(void)
{
	AUTO_FREE char *path = xprintf("/proc/self/task/%d/children", (int)getpid());
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	int pid = 0;

	return f && fscanf(f, "%d", &pid) == 1 ? pid : 0;
}

static void a_killed_watcher_costs_only_its_findings(void)
{
	struct config config;
	AUTO_BUF struct buf notes = { 0 };
	struct watcher *w = watcher_of(&config, "plugins.load=histogram", &notes);
	struct watcher_counts counts;
	struct activity batch[128];
	pid_t pid;

	REQUIRE(w);
	pid = child_pid();
	if (!pid) { /* a kernel that does not list children */
		watcher_stop(w, NULL);
		config_release(&config);
		return;
	}
	for (uint64_t i = 0; i < 100; i++) {
		activities_make(batch, 128, i * 128);
		watcher_activities(w, batch, 128);
		if (i == 50)
			kill(pid, SIGKILL);
		watcher_poll(w);
	}
	watcher_stop(w, &counts);
	CHECK_INT(counts.produced, 12800);
	CHECK_INT(counts.delivered + counts.dropped, counts.produced);
	CHECK_WORDS(buf_text(&notes), "signal 9 (Killed)");
	config_release(&config);
}

static void a_watcher_that_does_not_exit_is_killed(void)
{
	struct config config;
	AUTO_BUF struct buf notes = { 0 };
	struct watcher *w = watcher_of(&config, "plugins.load=histogram", &notes);
	struct watcher_counts counts;
	pid_t pid = child_pid();

	REQUIRE(w);
	if (pid)
		kill(pid, SIGSTOP);
	watcher_stop(w, &counts);
	if (pid)
		CHECK_WORDS(buf_text(&notes), "within 2 s");
	CHECK_INT(counts.delivered + counts.dropped, counts.produced);
	config_release(&config);
}

TESTS(TEST(a_row_is_packed_and_unpacked), TEST(activities_are_packed_and_unpacked),
      TEST(plugins_receive_their_layers_and_the_answers_of_the_host),
      TEST(a_plugin_that_fails_to_start_is_refused_with_its_warning),
      TEST(excess_report_lines_are_dropped_and_counted),
      TEST(the_error_of_an_invalid_plugin_is_named), TEST(no_watcher_is_started_without_need),
      TEST(refusals_name_their_origin_and_the_valid_names),
      TEST(every_activity_is_delivered_or_dropped), TEST(a_killed_watcher_costs_only_its_findings),
      TEST(a_watcher_that_does_not_exit_is_killed))
