/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/heatmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/darshan/region.h"

#define HEAD_BYTES 48	   /* id, rank, width of a bin, number of bins, two pointers */
#define BINS_MAX (1 << 16) /* Darshan uses up to 200 */
#define FLOWS_MAX (1u << 20)

/* The layer of a heat map by the name of its record, or -1. */
static int find_layer(const struct import *import, uint64_t id)
{
	static const struct {
		const char *name;
		enum layer layer;
	} maps[] = { { "heatmap:POSIX", LAYER_POSIX },
		     { "heatmap:STDIO", LAYER_STDIO },
		     { "heatmap:MPIIO", LAYER_MPI } };
	const char *name = darshan_log_name(&import->log, id);

	for (size_t i = 0; name && i < sizeof(maps) / sizeof(maps[0]); i++)
		if (!strcmp(name, maps[i].name))
			return maps[i].layer;
	return -1;
}

static bool is_traced(const struct import *import, int layer)
{
	return (layer == LAYER_POSIX && import->coverage[0].count) ||
	       (layer == LAYER_MPI && import->coverage[1].count);
}

static int64_t bytes_at(const struct import *import, const unsigned char *bins, size_t i)
{
	int64_t bytes = (int64_t)darshan_word(&import->log, bins + 8 * i);

	return bytes > 0 && bytes <= (int64_t)HEAD_COUNT_MAX ? bytes : 0;
}

static void add_flow(struct import *import, const struct flow *flow, int layer)
{
	union fact_row row = { .flow = *flow };

	if ((!flow->bytes_read && !flow->bytes_written) ||
	    import->builder.head->flow_count >= FLOWS_MAX)
		return;
	row.flow.layer = xstrdup(layer_name((unsigned)layer));
	head_add(&import->builder, &fact_flow, &row, NULL);
}

/* The bins of writes precede those of reads. */
static void add_flows(struct import *import, int64_t rank, int layer, int64_t width_ns,
		      const unsigned char *bins, size_t count)
{
	struct flow flow = { .process = import_process(import, rank), .period_ns = width_ns };

	for (size_t i = 0; i < count; i++) {
		flow.start_ns = (int64_t)i * width_ns;
		flow.bytes_written = bytes_at(import, bins, i);
		flow.bytes_read = bytes_at(import, bins, count + i);
		add_flow(import, &flow, layer);
	}
}

static int read_map(struct import *import, struct region *region, struct err *err)
{
	const struct darshan_log *log = &import->log;
	unsigned char head[HEAD_BYTES];
	AUTO_FREE unsigned char *bins = NULL;
	int64_t count, width_ns;
	int layer, r = region_read(region, head, sizeof(head), err);

	if (r <= 0)
		return r;
	layer = find_layer(import, darshan_word(log, head));
	width_ns = darshan_ns(darshan_real(log, head + 16));
	count = (int64_t)darshan_word(log, head + 24);
	if (count < 0 || count > BINS_MAX || (count && width_ns > HEAD_TIME_MAX / count))
		return err_set(err, EBADMSG, "a heat map has %lld bins", (long long)count);
	bins = xmalloc(16 * (size_t)count + 1);
	r = count ? region_read(region, bins, 16 * (size_t)count, err) : 1;
	if (r <= 0)
		return r ? r : err_set(err, EBADMSG, "a record is incomplete");
	if (layer >= 0 && !is_traced(import, layer) && width_ns)
		add_flows(import, (int64_t)darshan_word(log, head + 8), layer, width_ns, bins,
			  (size_t)count);
	return 1;
}

void heatmap_import(struct import *import)
{
	struct region *region;
	struct err err;
	int r;

	if (!darshan_log_has(&import->log, DARSHAN_HEATMAP))
		return;
	region = darshan_log_module(&import->log, DARSHAN_HEATMAP, &err);
	r = region ? 1 : -EBADMSG;
	while (r > 0)
		r = read_map(import, region, &err);
	region_close(region);
	if (r < 0)
		import_damaged(import, DARSHAN_HEATMAP, &err);
}
