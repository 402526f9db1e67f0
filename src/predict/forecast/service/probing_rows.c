/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of a probing run and where they are saved: in the store, which is opened for each save so
 * that forked processes do not inherit an open database, or in a spool file.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "predict/forecast/chronicle/blocks.h"
#include "predict/forecast/service/probing_internal.h"
#include "store/store.h"

#define MAX_UNSAVED_ROWS 1000000
#define DAY_S 86400

static size_t count_samples(const struct chronicle *rows)
{
	size_t count = 0;

	for (size_t t = 0; t < rows->target_count; t++)
		for (size_t s = 0; s < rows->size_count; s++)
			count += chronicle_series(rows, t, s)->count;
	return count;
}

/* Converts seconds and the rest separately: a double cannot hold nanoseconds since 1970. */
static double seconds_from_ns(int64_t ns)
{
	int64_t seconds = ns / NS_PER_S, rest_ns = ns % NS_PER_S;

	return (double)seconds + (double)rest_ns / NS_PER_S;
}

/* Adds the state of the node once per round, on the first rank only. */
static void add_node_state(struct probing *probing, int64_t round_ns)
{
	struct node_state state = { .time_s = seconds_from_ns(round_ns) };

	if (probing->node_ns == round_ns || probing->options.rank)
		return;
	node_watch_read(&probing->node, &state);
	chronicle_add_node(&probing->rows, &state);
	probing->node_ns = round_ns;
}

/* Reports the first failed write of each target; the counts have the number of all of them. */
static void warn_of_failed_write(struct probing *probing, const struct prober_sample *sample)
{
	struct probing_times *times = &probing->times[sample->target];

	if (sample->outcome == SAMPLE_DONE || times->has_warned || probing->options.command)
		return;
	probing_warn(probing, "target \"%s\": %s", probing->targets.rows[sample->target].name,
		     *sample->text ? sample->text : "the write timed out");
	times->has_warned = true;
}

void probing_rows_add(struct probing *probing, const struct prober_sample *sample)
{
	const char *name = probing->targets.rows[sample->target].name;
	struct probing_times *times = &probing->times[sample->target];

	chronicle_add(&probing->rows, chronicle_add_target(&probing->rows, name), sample->size,
		      seconds_from_ns(sample->round_ns), sample->seconds, sample->outcome,
		      sample->method);
	add_node_state(probing, sample->round_ns);
	warn_of_failed_write(probing, sample);
	if (!sample->size && sample->outcome == SAMPLE_DONE) {
		times->sum_s += sample->seconds;
		times->worst_s = fmax(times->worst_s, sample->seconds);
		times->count++;
	}
}

int probing_rows_open(struct probing *probing, struct err *err)
{
	const char *dir = probing->options.spool_dir;
	char host[64] = "";
	int r;

	if (!dir)
		return 0;
	r = place_make_dir(dir, 0777, err);
	if (r < 0)
		return r;
	gethostname(host, sizeof(host) - 1);
	probing->spool = xprintf("%s/%s.%s.%d", dir, probing->options.system, host, (int)getpid());
	return 0;
}

/* Appends whole blocks with one write(), so that the file stays readable if we are killed. */
static int append_to_spool(const struct probing *probing, const char *suffix, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s%s.blocks", probing->spool, suffix);
	AUTO_CLOSE int fd =
		open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	AUTO_BUF struct buf text = { 0 };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!st.st_size)
		blocks_begin(&text, &probing->rows);
	blocks_add(&text, &probing->rows, -INFINITY, INFINITY);
	if (write(fd, text.data, text.len) == (ssize_t)text.len)
		return 0;
	return err_set(err, errno ? errno : ENOSPC, "%s: %s", path,
		       strerror(errno ? errno : ENOSPC));
}

static int write_to_store(struct probing *probing, struct err *err)
{
	struct store *store = NULL;
	int r = store_open(&store, probing->options.store_path, err);

	if (r >= 0)
		r = chronicle_save(&probing->rows, store, -INFINITY, INFINITY, err);
	store_close(store);
	return r;
}

int probing_rows_write(struct probing *probing, const char *suffix, struct err *err)
{
	return probing->spool ? append_to_spool(probing, suffix, err)
			      : write_to_store(probing, err);
}

void probing_rows_save(struct probing *probing)
{
	size_t count = count_samples(&probing->rows);
	struct err err = { 0 };
	int r;

	if (!count)
		return;
	r = probing_rows_write(probing, "", &err);
	if (r < 0 && !probing->has_unsaved)
		probing_warn(probing, "cannot save probe data (%s); it stays in memory for now",
			     err.text);
	probing->has_unsaved = r < 0;
	if (r < 0 && count < MAX_UNSAVED_ROWS)
		return;
	if (r < 0)
		probing->lost += count;
	else
		probing->saved += count;
	chronicle_discard_before(&probing->rows, INFINITY);
}

static uint64_t count_written_bytes(const struct chronicle *day, size_t target)
{
	uint64_t bytes = 0;

	for (size_t s = 0; s < day->size_count; s++) {
		const struct chronicle_series *series = chronicle_series(day, target, s);

		for (size_t i = 0; i < series->count; i++)
			if (sample_outcome(series, i) == SAMPLE_DONE &&
			    !sample_is_program(series, i))
				bytes += day->sizes[s];
	}
	return bytes;
}

void probing_rows_count_today(struct probing *probing)
{
	const struct probing_options *options = &probing->options;
	struct prober *prober = &probing->prober;
	int64_t now_ns = prober_now().wall_ns;
	double today_s = floor(seconds_from_ns(now_ns) / DAY_S) * DAY_S;
	struct chronicle day = { 0 };
	struct store *store = NULL;

	if (store_open_existing(&store, options->store_path, NULL) >= 0 &&
	    chronicle_load(&day, store, options->system, today_s, INFINITY, NULL) >= 0)
		for (size_t i = 0; i < prober->count; i++) {
			size_t number = prober->number[i];
			int known = chronicle_find_target(&day, probing->targets.rows[number].name);

			if (known >= 0)
				prober_ledger_spend(&prober->ledger, now_ns, i,
						    count_written_bytes(&day, (size_t)known));
		}
	chronicle_release(&day);
	store_close(store);
}
