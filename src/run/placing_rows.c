/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-39.
 */
#include "run/placing_rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "contract/spool.h"
#include "predict/forecast/chronicle/chronicle.h"
#include "run/placing.h"
#include "store/probes.h"
#include "store/store.h"

/* The index of the reference size that is nearest by ratio; 0: there is none. */
static size_t find_size(uint64_t bytes, const uint64_t *sizes, size_t size_count)
{
	double best = INFINITY;
	size_t found = 0;

	for (size_t i = 1; i < size_count; i++) {
		double ratio = fabs(log((double)bytes / (double)sizes[i]));

		if (ratio < best) {
			best = ratio;
			found = i;
		}
	}
	return found;
}

bool placing_row_make(struct placing_row *row, const struct burst_total *burst,
		      const uint64_t *sizes, size_t size_count)
{
	size_t size = burst->bytes ? find_size(burst->bytes, sizes, size_count) : 0;
	uint64_t span_ns = burst->last_ns - burst->first_ns;
	double seconds, ratio;

	if (!size || !burst->busy_ns || burst->last_ns <= burst->first_ns ||
	    span_ns / PLACING_ROW_SPAN > burst->busy_ns ||
	    burst->bytes / sizes[0] < burst->transfers)
		return false;
	ratio = (double)sizes[size] / (double)burst->bytes;
	if (ratio > PLACING_ROW_FACTOR || ratio < 1.0 / PLACING_ROW_FACTOR)
		return false;
	seconds = ratio * (double)burst->busy_ns / NS_PER_S;
	*row = (struct placing_row){ .size = size,
				     .begin_ns = burst->first_ns,
				     .seconds = seconds };
	if (seconds * NS_PER_S < (double)span_ns)
		row->begin_ns = burst->last_ns - (uint64_t)(seconds * NS_PER_S);
	return true;
}

/* The rows of a run. */
struct rows {
	const struct placing_adaptive *adaptive;
	uint64_t sizes[CHRONICLE_SIZES];
	size_t size_count;
	double offset_s; /* from the clock of bursts to the time since 1970 */
	struct chronicle chronicle;
	int count;
};

static void add_burst(struct rows *rows, const struct burst_total *burst)
{
	struct placing_row row;
	const char *target = burst->destination < rows->adaptive->target_count
				     ? rows->adaptive->targets[burst->destination]
				     : "";

	if (!*target || !placing_row_make(&row, burst, rows->sizes, rows->size_count))
		return;
	chronicle_add(&rows->chronicle, chronicle_add_target(&rows->chronicle, target), row.size,
		      rows->offset_s + (double)row.begin_ns / NS_PER_S, row.seconds, SAMPLE_DONE,
		      SAMPLE_PROGRAM);
	rows->count++;
}

/* The steps that have ended, and the last one of each destination. */
static void add_bursts(struct rows *rows, const struct control_placement *placement)
{
	uint32_t count = placement->total_count;

	for (uint32_t i = 0; i < count && i < PLACEMENT_TOTALS; i++)
		add_burst(rows, &placement->totals[i]);
	for (uint32_t i = 0; i < placement->count && i < PARAMETERS_DESTINATIONS; i++) {
		struct burst_total total;
		struct burst burst;

		memcpy(&burst, &placement->bursts[i], sizeof(burst));
		if (!burst_take(&burst, &total))
			continue;
		total.destination = i;
		add_burst(rows, &total);
	}
}

static int save_rows(struct rows *rows, const struct control_placement *placement,
		     struct store *store, struct err *err)
{
	const char *system = rows->adaptive->system;
	int r = probes_sizes(store, system, clock_realtime_s() - PLACING_ROW_HISTORY_S, INFINITY,
			     rows->sizes, CHRONICLE_SIZES, err);

	if (r < 2)
		return r < 0 ? r : 0;
	rows->size_count = r < CHRONICLE_SIZES ? (size_t)r : CHRONICLE_SIZES;
	rows->offset_s = clock_realtime_s() - clock_now_s();
	chronicle_init(&rows->chronicle, system, rows->sizes, rows->size_count);
	add_bursts(rows, placement);
	r = rows->count ? chronicle_save(&rows->chronicle, store, -INFINITY, INFINITY, err) : 0;
	chronicle_release(&rows->chronicle);
	return r < 0 ? r : rows->count;
}

int placing_rows_save(const struct control_placement *placement,
		      const struct placing_adaptive *adaptive, const struct config *config,
		      struct err *err)
{
	struct rows rows = { .adaptive = adaptive };
	struct store *store = NULL;
	int r;

	if (!adaptive->system)
		return 0;
	r = store_open_existing(&store, config_text(config, SETTING_STORE_PATH), err);
	if (r >= 0)
		r = save_rows(&rows, placement, store, err);
	store_close(store);
	return r;
}
