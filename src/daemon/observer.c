/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/observer.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sluice/activity.h>
#include <sluice/plugin.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/unit.h"
#include "contract/call.h"
#include "contract/record.h"
#include "daemon/sums_table.h"
#include "observe/plugins/grading.h"
#include "observe/reason/hierarchy.h"
#include "observe/reason/reasoner.h"
#include "observe/stats/statistics.h"
#include "observe/tally/traffic.h"
#include "observe/stats/mount_table.h"
#include "store/durations.h"

#define MOUNTS_PERIOD_NS (60 * NS_PER_S)
#define CAUSE_SHARE 0.8 /* of the time lost, for a cause to be one file system or one job */

/* Calls of a run or a mount since the last cycle. */
struct tally {
	uint64_t calls, bytes;
	int64_t excess_ns; /* beyond what is normal */
	int64_t slow_ns;   /* of very slow calls */
};

struct run {
	uint64_t id;
	uid_t user;
	char job[64];
	uint8_t *mounts; /* by file: index in observer.mounts; 0: unknown */
	size_t mount_cap;
	uint16_t loads[OBSERVER_MOUNTS + 1]; /* by mount: its entry of the loads + 1; 0: none */
	uint64_t counted;		     /* see struct observed */
	/* By the id of the call that has opened a file: its mount + 1, or 1 if processes differ. */
	struct map opened;
	struct tally now, last;
};

/* A mount point that files were found on. It stays when the file system is unmounted. */
struct mount {
	char *path;
	char *target; /* see observer_target() */
	struct tally now, last;
};

struct observer {
	char *node, *shared; /* settings */
	/* The collecting thread's. */
	struct mount_table mount_table;
	int64_t mounts_read_ns;
	struct grading grading;
	/* Shared. */
	pthread_mutex_t lock;
	struct map runs;  /* id -> struct run */
	struct run other; /* calls of runs beyond the limit */
	struct mount mounts[OBSERVER_MOUNTS + 1];
	size_t mount_count;
	struct sluice_health health; /* graded since the last cycle */
	struct sums_table *sums;
	struct load_table loads;
	/* The judging thread's. */
	struct reasoner *reasoner;
	struct statistics *statistics;
	struct alert alert;
	int64_t last_cycle_ns;
	double cycle_s;
	char reason[256];
	struct observer_anomaly anomaly; /* its job is that below */
	char job[LOAD_JOB_BYTES];
};

static const enum speed speeds[SLUICE_SPEEDS] = {
	[SLUICE_VERY_SLOW] = SPEED_VERY_SLOW, [SLUICE_SLOW] = SPEED_SLOW,
	[SLUICE_NORMAL] = SPEED_NORMAL,	      [SLUICE_FAST] = SPEED_FAST,
	[SLUICE_VERY_FAST] = SPEED_VERY_FAST,
};

/* --- judging --- */

static bool poll_health(void *arg, struct sluice_health *health)
{
	struct observer *observer = arg;
	uint64_t calls = 0;

	pthread_mutex_lock(&observer->lock);
	for (int i = 0; i < SLUICE_SPEEDS; i++) {
		health->counts[i] += observer->health.counts[i];
		calls += observer->health.counts[i];
	}
	health->excess_ns += observer->health.excess_ns;
	observer->health = (struct sluice_health){ 0 };
	pthread_mutex_unlock(&observer->lock);
	return calls > 0;
}

static void hear_anomaly(void *arg, const struct anomaly *anomaly)
{
	struct observer *observer = arg;

	snprintf(observer->reason, sizeof(observer->reason), "%s", anomaly->reason);
}

/* The name of the node in the site. */
static char *node_name(const struct config *config)
{
	const char *name = config_text(config, SETTING_SITE_NODE);
	char host[256] = "";

	if (*name)
		return xstrdup(name);
	gethostname(host, sizeof(host) - 1);
	return xstrdup(host);
}

int observer_new(struct observer **made, const struct config *config, const char *command,
		 void (*tell)(const char *sentence), struct err *err)
{
	struct observer *observer = xcalloc(1, sizeof(*observer));
	struct reasoner_settings thresholds = hierarchy_settings(config);
	int r = statistics_new(&observer->statistics, config_text(config, SETTING_STATS_PROVIDERS),
			       "", err);

	if (r < 0) {
		free(observer);
		return r;
	}
	statistics_network_set(observer->statistics,
			       (double)config_number(config, SETTING_STATS_LINK_SPEED));
	pthread_mutex_init(&observer->lock, NULL);
	grading_init(&observer->grading, &grading_defaults, NULL, NULL);
	observer->sums = sums_table_new();
	observer->reasoner = reasoner_new(ROLE_NODE, "node", &thresholds);
	reasoner_add_detector(observer->reasoner, poll_health, observer);
	reasoner_add_listener(observer->reasoner, hear_anomaly, observer);
	observer->alert = (struct alert){ .command = command, .tell = tell };
	observer->node = node_name(config);
	observer->shared = xstrdup(config_text(config, SETTING_SITE_SHARED));
	observer->anomaly = (struct observer_anomaly){ .target = "", .cause = "" };
	observer->mounts[0].path = xstrdup("other");
	observer->mounts[0].target = xstrdup("");
	observer->mount_count = 1;
	*made = observer;
	return 0;
}

static void free_run(struct run *run)
{
	map_release(&run->opened);
	free(run->mounts);
	free(run);
}

void observer_free(struct observer *observer)
{
	if (!observer)
		return;
	for (size_t i = 0; i < observer->runs.cap; i++)
		if (observer->runs.entries[i].key)
			free_run(observer->runs.entries[i].value);
	map_release(&observer->runs);
	for (size_t i = 0; i < observer->mount_count; i++) {
		free(observer->mounts[i].path);
		free(observer->mounts[i].target);
	}
	free(observer->node);
	free(observer->shared);
	mount_table_release(&observer->mount_table);
	grading_release(&observer->grading);
	sums_table_free(observer->sums);
	reasoner_free(observer->reasoner);
	statistics_free(observer->statistics);
	pthread_mutex_destroy(&observer->lock);
	free(observer);
}

/* Begins a new cycle for all tallies. Call with the lock. Returns the number of runs. */
static size_t turn_tallies(struct observer *observer, struct run **list)
{
	size_t count = 0;

	for (size_t i = 0; i < observer->runs.cap; i++) {
		struct run *run = observer->runs.entries[i].value;

		if (!observer->runs.entries[i].key)
			continue;
		run->last = run->now;
		run->now = (struct tally){ 0 };
		list[count++] = run;
	}
	for (size_t i = 0; i < observer->mount_count; i++) {
		observer->mounts[i].last = observer->mounts[i].now;
		observer->mounts[i].now = (struct tally){ 0 };
	}
	return count;
}

static int compare_load(const void *a, const void *b)
{
	const struct tally *x = &(*(struct run *const *)a)->last,
			   *y = &(*(struct run *const *)b)->last;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->calls < y->calls) - (x->calls > y->calls);
}

static void name_run(struct buf *out, const struct run *run)
{
	if (*run->job)
		buf_printf(out, "job %s of user %u", run->job, (unsigned)run->user);
	else
		buf_printf(out, "a run of user %u", (unsigned)run->user);
}

/* The heaviest runs of the last cycle, by bytes and then by calls. */
static void rank_runs(const struct observer *observer, struct run **list, size_t count,
		      struct buf *out)
{
	double seconds = observer->cycle_s > 0 ? observer->cycle_s : 1;

	qsort(list, count, sizeof(*list), compare_load);
	for (size_t i = 0; i < count && i < OBSERVER_RANKED && list[i]->last.calls; i++) {
		char rate[UNIT_TEXT];

		buf_puts(out, i ? ", " : "");
		name_run(out, list[i]);
		buf_printf(out, " (%s/s, %.0f calls/s)",
			   unit_bytes(rate, (double)list[i]->last.bytes / seconds),
			   (double)list[i]->last.calls / seconds);
	}
}

/* Where nearly all of the time is lost, for the site. */
static void describe_anomaly(struct observer *observer, struct run *const *list, size_t count)
{
	struct observer_anomaly *a = &observer->anomaly;
	double lost = 0, slow = 0;
	size_t active = 0;

	*a = (struct observer_anomaly){ .target = "", .job = observer->job };
	for (size_t i = 0; i < observer->mount_count; i++) {
		lost += (double)observer->mounts[i].last.excess_ns;
		slow += (double)observer->mounts[i].last.slow_ns;
	}
	a->value = slow > lost ? slow / (slow - lost) : 1;
	for (size_t i = 0; i < observer->mount_count && lost > 0; i++)
		if ((double)observer->mounts[i].last.excess_ns > CAUSE_SHARE * lost)
			a->target = observer->mounts[i].target;
	for (size_t i = 0; i < count; i++)
		active += list[i]->last.calls > 0;
	for (size_t i = 0; i < count && lost > 0 && active > 1; i++) {
		if ((double)list[i]->last.excess_ns <= CAUSE_SHARE * lost)
			continue;
		a->has_job = true;
		a->user = list[i]->user;
		snprintf(observer->job, sizeof(observer->job), "%s", list[i]->job);
	}
}

/* One file system or one job, if nearly all of the lost time is there. Returns its kind. */
static const char *find_cause(const struct observer *observer, struct run *const *list,
			      size_t count, struct buf *out)
{
	double lost = 0;
	size_t active = 0, mounts = 0;

	for (size_t i = 0; i < count; i++) {
		lost += (double)list[i]->last.excess_ns;
		active += list[i]->last.calls > 0;
	}
	for (size_t i = 0; i < observer->mount_count; i++)
		mounts += observer->mounts[i].last.calls > 0;
	for (size_t i = 0; i < observer->mount_count && mounts > 1; i++) {
		if ((double)observer->mounts[i].last.excess_ns <= CAUSE_SHARE * lost || lost <= 0)
			continue;
		buf_printf(out, "file system %s", observer->mounts[i].path);
		return "file system";
	}
	for (size_t i = 0; i < count && active > 1; i++) {
		if ((double)list[i]->last.excess_ns <= CAUSE_SHARE * lost || lost <= 0)
			continue;
		name_run(out, list[i]);
		return "job";
	}
	buf_puts(out, "unknown");
	return "unknown";
}

static void describe_load(const double utilization[4], struct buf *out)
{
	static const char *const names[4] = { "processors", "network", "disks", "memory" };
	int most = -1;

	for (int i = 0; i < 3; i++)
		if (isfinite(utilization[i]) && (most < 0 || utilization[i] > utilization[most]))
			most = i;
	buf_puts(out, "node load");
	if (most >= 0)
		buf_printf(out, " (%s %.0f %%)", names[most], utilization[most]);
}

bool observer_cycle(struct observer *observer, int64_t now_ns)
{
	AUTO_BUF struct buf cause = { 0 }, users = { 0 };
	AUTO_FREE struct run **list = xcalloc(OBSERVER_RUNS, sizeof(struct run *));
	const struct health_report *report;
	struct alert_view view;
	double utilization[4];
	const char *kind = "node load";
	size_t count;
	bool has_changed;

	statistics_poll(observer->statistics, now_ns);
	statistics_utilization(observer->statistics, utilization);
	reasoner_load(observer->reasoner, utilization);
	observer->cycle_s =
		observer->last_cycle_ns ? (double)(now_ns - observer->last_cycle_ns) / NS_PER_S : 0;
	observer->last_cycle_ns = now_ns;
	report = reasoner_cycle(observer->reasoner, now_ns);
	pthread_mutex_lock(&observer->lock);
	count = turn_tallies(observer, list);
	rank_runs(observer, list, count, &users);
	/* The calls that raise an alert may have been counted in the cycle before. */
	if (!observer->alert.is_raised || !*observer->anomaly.target)
		describe_anomaly(observer, list, count);
	if (report->rule == RULE_LOADED) {
		describe_load(utilization, &cause);
		snprintf(observer->reason, sizeof(observer->reason),
			 "calls are slow on a loaded node");
	} else {
		kind = find_cause(observer, list, count, &cause);
	}
	pthread_mutex_unlock(&observer->lock);
	view = (struct alert_view){
		.is_bad = report->state == HEALTH_BAD || report->rule == RULE_LOADED,
		.reason = observer->reason,
		.cause = buf_text(&cause),
		.kind = kind,
		.users = buf_text(&users),
	};
	alert_reap(&observer->alert);
	has_changed = alert_update(&observer->alert, &view);
	observer->anomaly.reason = observer->reason;
	observer->anomaly.cause = observer->alert.kind;
	return has_changed;
}

void observer_judge(struct observer *observer, const char *kind, const char *verdict)
{
	alert_judge(&observer->alert, kind, verdict);
}

struct observer_anomaly observer_anomaly(const struct observer *observer)
{
	return observer->anomaly;
}

size_t observer_loads(struct observer *observer, enum load_reader reader, int64_t now_ns,
		      struct load_sum *out)
{
	size_t count;

	pthread_mutex_lock(&observer->lock);
	count = load_table_read(&observer->loads, reader, now_ns, out);
	pthread_mutex_unlock(&observer->lock);
	return count;
}

const char *observer_node(const struct observer *observer)
{
	return observer->node;
}

/* Names are set before a place is used, and never change. */
const char *observer_mount(struct observer *observer, unsigned place)
{
	return observer->mounts[place].path;
}

const char *observer_target(struct observer *observer, unsigned place)
{
	return observer->mounts[place].target;
}

const struct alert *observer_alert(const struct observer *observer)
{
	return &observer->alert;
}

struct sums_table *observer_sums(struct observer *observer)
{
	return observer->sums;
}

/* --- collecting --- */

/* Call with the lock. */
static struct run *find_run(struct observer *observer, const struct observed *seen)
{
	struct run *run = map_get(&observer->runs, seen->id);

	if (run)
		return run;
	if (observer->runs.count >= OBSERVER_RUNS)
		return &observer->other;
	run = xcalloc(1, sizeof(*run));
	run->id = seen->id;
	run->user = seen->user;
	run->counted = seen->counted;
	snprintf(run->job, sizeof(run->job), "%s", seen->job ? seen->job : "");
	map_put(&observer->runs, run->id, run);
	return run;
}

/* Do other nodes have the same file system there? */
static bool is_shared(const struct observer *observer, const char *mount)
{
	size_t n = strlen(mount);

	for (const char *at = observer->shared; (at = strstr(at, mount)); at++)
		if ((at == observer->shared || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return mount_table_is_shared(&observer->mount_table, mount);
}

static uint8_t find_mount(struct observer *observer, const char *path)
{
	int64_t now = clock_now_ns();
	const char *mount;

	if (!observer->mount_table.count || now - observer->mounts_read_ns > MOUNTS_PERIOD_NS) {
		mount_table_load(&observer->mount_table);
		observer->mounts_read_ns = now;
	}
	mount = mount_table_find(&observer->mount_table, path);
	for (size_t i = 0; i < observer->mount_count; i++)
		if (strcmp(observer->mounts[i].path, mount) == 0)
			return (uint8_t)i;
	if (observer->mount_count > OBSERVER_MOUNTS)
		return 0;
	observer->mounts[observer->mount_count].path = xstrdup(mount);
	observer->mounts[observer->mount_count].target =
		strcmp(mount, "other") == 0  ? xstrdup("")
		: is_shared(observer, mount) ? xstrdup(mount)
					     : xprintf("%s:%s", observer->node, mount);
	return (uint8_t)observer->mount_count++;
}

void observer_file(struct observer *observer, const struct observed *seen, uint32_t file,
		   const char *path)
{
	struct run *run;

	if (file >= OBSERVER_FILES)
		return;
	pthread_mutex_lock(&observer->lock);
	run = find_run(observer, seen);
	if (run != &observer->other) {
		size_t before = run->mount_cap;

		run->mounts = xgrow(run->mounts, &run->mount_cap, file + 1, 1);
		memset(run->mounts + before, 0, run->mount_cap - before);
		run->mounts[file] = find_mount(observer, path);
	}
	pthread_mutex_unlock(&observer->lock);
}

static void add_tally(struct tally *tally, uint64_t calls, uint64_t bytes, int64_t excess_ns,
		      int64_t slow_ns)
{
	tally->calls += calls;
	tally->bytes += bytes;
	tally->excess_ns += excess_ns;
	tally->slow_ns += slow_ns;
}

static void add_load(struct observer *observer, struct run *run, unsigned mount,
		     enum load_operation operation, uint64_t calls, uint64_t bytes)
{
	/* Runs beyond the limit have no entry of their own. */
	if (run != &observer->other && !run->loads[mount])
		run->loads[mount] =
			(uint16_t)(load_table_open(&observer->loads, run->user, run->job, mount) +
				   1);
	load_table_add(&observer->loads, run->loads[mount] ? run->loads[mount] - 1u : 0, operation,
		       calls, bytes);
}

/* Remembers on which mount the call has opened a file. */
static void add_open(struct run *run, uint64_t id, unsigned place)
{
	uintptr_t before = (uintptr_t)map_get(&run->opened, id), now = place + 1;

	if (before == now || (!before && run->opened.count >= OBSERVER_FILES))
		return;
	map_put(&run->opened, id, (void *)(before ? 1 : now));
}

static void add_activity(struct observer *observer, struct run *run, const struct activity *a)
{
	const struct call_info *call = &call_table[a->call < call_count ? a->call : 0];
	struct grading_key key = { a->call, a->layer, 0 };
	struct mount *mount;
	uint64_t bytes = 0;
	int64_t excess_ns = 0, slow_ns;
	unsigned place, ways;
	int speed = -1;

	if (a->call >= call_count || a->layer == LAYER_NETWORK || traffic_is_notice(call))
		return;
	ways = traffic_ways(call);
	if (ways) {
		bytes = traffic_bytes(a, call);
		key.size_class = (uint8_t)durations_size_class(bytes);
	}
	if (!a->error)
		speed = grading_add(&observer->grading, key, a->duration_ns, &excess_ns);
	if (speed >= 0) {
		observer->health.counts[speed]++;
		observer->health.excess_ns += excess_ns;
	}
	place = a->file < run->mount_cap ? run->mounts[a->file] : 0;
	if (run->counted && call->class == CLASS_OPEN && !a->error && a->file)
		add_open(run, a->id & ID_MASK, place);
	/* What a library does inside of a call must not count twice. */
	if (a->parent)
		return;
	mount = &observer->mounts[place];
	slow_ns = excess_ns ? a->duration_ns : 0;
	add_tally(&run->now, 1, bytes, excess_ns, slow_ns);
	add_tally(&mount->now, 1, bytes, excess_ns, slow_ns);
	add_load(observer, run, place,
		 ways & 1u << WRITING	? LOAD_WRITE
		 : ways & 1u << READING ? LOAD_READ
					: LOAD_OTHER,
		 1, bytes);
	sums_table_add(observer->sums, mount->path, "", call->class,
		       speed < 0 ? SPEED_UNKNOWN : speeds[speed],
		       &(struct sums){ 1, bytes, (uint64_t)a->duration_ns });
}

void observer_activities(struct observer *observer, const struct observed *seen,
			 const struct activity *batch, size_t n)
{
	struct run *run;

	pthread_mutex_lock(&observer->lock);
	run = find_run(observer, seen);
	for (size_t i = 0; i < n; i++)
		add_activity(observer, run, &batch[i]);
	pthread_mutex_unlock(&observer->lock);
}

/* Call with the lock. */
static struct run *find_counted(const struct observer *observer, uid_t user, uint64_t counted)
{
	for (size_t i = 0; i < observer->runs.cap; i++) {
		struct run *run = observer->runs.entries[i].value;

		if (observer->runs.entries[i].key && run->user == user && run->counted == counted)
			return run;
	}
	return NULL;
}

static void add_count(struct observer *observer, struct run *run, const struct observed_count *c)
{
	uintptr_t opened = c->link ? (uintptr_t)map_get(&run->opened, c->link & ID_MASK) : 0;
	unsigned place = opened ? (unsigned)opened - 1 : 0;

	add_tally(&run->now, c->calls, c->bytes, 0, 0);
	add_tally(&observer->mounts[place].now, c->calls, c->bytes, 0, 0);
	add_load(observer, run, place, c->operation, c->calls, c->bytes);
}

bool observer_counts(struct observer *observer, uid_t user, uint64_t counted,
		     const struct observed_count *list, size_t n)
{
	struct run *run;

	pthread_mutex_lock(&observer->lock);
	run = find_counted(observer, user, counted);
	for (size_t i = 0; run && i < n; i++)
		add_count(observer, run, &list[i]);
	pthread_mutex_unlock(&observer->lock);
	return run != NULL;
}

void observer_end(struct observer *observer, uint64_t id)
{
	struct run *run;

	pthread_mutex_lock(&observer->lock);
	run = map_remove(&observer->runs, id);
	for (size_t i = 0; run && i <= OBSERVER_MOUNTS; i++)
		if (run->loads[i])
			load_table_close(&observer->loads, run->loads[i] - 1u);
	pthread_mutex_unlock(&observer->lock);
	if (run)
		free_run(run);
}
