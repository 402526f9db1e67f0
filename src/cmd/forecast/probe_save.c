/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of a probe run, and where they go: the store, which is opened for each save, so that no
 * process that is forked in between inherits it; or a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/place.h"
#include "cmd/forecast/probe_run.h"
#include "predict/forecast/chronicle/blocks.h"
#include "store/store.h"

#define ROWS_MOST 1000000 /* kept while they cannot be saved */

static size_t probed_count(const struct chronicle *rows)
{
	size_t count = 0;

	for (size_t t = 0; t < rows->target_count; t++)
		for (size_t s = 0; s < rows->size_count; s++)
			count += chronicle_series(rows, t, s)->count;
	return count;
}

/* By parts: a double has no room for nanoseconds since 1970. */
static double time_of(int64_t ns)
{
	int64_t seconds = ns / 1000000000, rest_ns = ns % 1000000000;

	return (double)seconds + (double)rest_ns / 1e9;
}

static void node_take(struct running *run, int64_t round_ns)
{
	struct node_state state = { .time_s = time_of(round_ns) };

	if (run->node_ns == round_ns || run->rank)
		return;
	node_look(&run->node, &state);
	chronicle_add_node(&run->rows, &state);
	run->node_ns = round_ns;
}

/* The first of a target is told; how many there were stands in the table at the end. */
static void trouble_tell(struct running *run, const struct prober_sample *sample)
{
	struct probe_times *times = &run->times[sample->target];

	if (sample->outcome == SAMPLE_DONE || times->has_warned || run->args->beside)
		return;
	command_warn(run->command, "target \"%s\": %s", run->targets.rows[sample->target].name,
		     *sample->text ? sample->text : "no answer in time");
	times->has_warned = true;
}

void probed_take(struct running *run, const struct prober_sample *sample)
{
	const char *name = run->targets.rows[sample->target].name;
	struct probe_times *times = &run->times[sample->target];

	chronicle_add(&run->rows, chronicle_target(&run->rows, name), sample->size,
		      time_of(sample->round_ns), sample->seconds, sample->outcome, sample->method);
	node_take(run, sample->round_ns);
	trouble_tell(run, sample);
	if (!sample->size && sample->outcome == SAMPLE_DONE) {
		times->sum_s += sample->seconds;
		times->worst_s = fmax(times->worst_s, sample->seconds);
		times->count++;
	}
}

/* ---- where they go ---- */

int probed_place(struct running *run, struct err *err)
{
	const char *dir = run->args->spool;
	char host[64] = "";
	int r;

	if (!dir)
		return 0;
	r = place_make_dir(dir, 0777, err);
	if (r < 0)
		return r;
	gethostname(host, sizeof(host) - 1);
	run->spool = xprintf("%s/%s.%s.%d", dir, run->system, host, (int)getpid());
	return 0;
}

/* One call adds whole blocks, so that what a kill leaves behind can be read. */
static int probed_append(const struct running *run, const char *kind, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s%s.blocks", run->spool, kind);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	AUTO_BUF struct buf text = { 0 };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!st.st_size)
		blocks_begin(&text, &run->rows);
	blocks_add(&text, &run->rows, -INFINITY, INFINITY);
	if (write(fd, text.data, text.len) == (ssize_t)text.len)
		return 0;
	return err_set(err, errno ? errno : ENOSPC, "%s: %s", path,
		       strerror(errno ? errno : ENOSPC));
}

static int probed_store(struct running *run, struct err *err)
{
	const char *path = config_text(run->command->config, SETTING_STORE_PATH);
	struct store *store = NULL;
	int r = store_open(&store, path, err);

	if (r >= 0)
		r = chronicle_save(&run->rows, store, -INFINITY, INFINITY, err);
	store_close(store);
	return r;
}

int probed_write(struct running *run, const char *kind, struct err *err)
{
	return run->spool ? probed_append(run, kind, err) : probed_store(run, err);
}

void probed_save(struct running *run)
{
	size_t count = probed_count(&run->rows);
	struct err err = { 0 };
	int r;

	if (!count)
		return;
	r = probed_write(run, "", &err);
	if (r < 0 && !run->has_warned)
		command_warn(run->command, "rows are kept for now: %s", err.text);
	run->has_warned = r < 0;
	if (r < 0 && count < ROWS_MOST)
		return;
	if (r < 0)
		run->lost += count;
	else
		run->saved += count;
	chronicle_forget(&run->rows, INFINITY);
}

/* ---- what was spent before ---- */

static uint64_t bytes_of(const struct chronicle *day, size_t target)
{
	uint64_t bytes = 0;

	for (size_t s = 0; s < day->size_count; s++) {
		const struct chronicle_series *series = chronicle_series(day, target, s);

		for (size_t i = 0; i < series->count; i++)
			if (sample_outcome(series, i) == SAMPLE_DONE)
				bytes += day->sizes[s];
	}
	return bytes;
}

void probed_spent(struct running *run)
{
	const char *path = config_text(run->command->config, SETTING_STORE_PATH);
	int64_t now_ns = prober_now().wall_ns;
	double today_s = floor(time_of(now_ns) / 86400) * 86400;
	struct chronicle day = { 0 };
	struct store *store = NULL;

	if (store_open_existing(&store, path, NULL) >= 0 &&
	    chronicle_load(&day, store, run->system, today_s, INFINITY, NULL) >= 0)
		for (size_t i = 0; i < run->prober.count; i++) {
			size_t number = run->prober.number[i];
			int known = chronicle_find(&day, run->targets.rows[number].name);

			if (known >= 0)
				prober_ledger_spend(&run->prober.ledger, now_ns, i,
						    bytes_of(&day, (size_t)known));
		}
	chronicle_release(&day);
	store_close(store);
}
