/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A Parquet dataset: a directory with the small tables of fact_table.h and with the activities,
 * partitioned by rank and by time:
 *
 *   activities/rank=0/slice=0/part.parquet
 *
 * A slice is an interval of time; it is the same for all ranks. Activities arrive in the order of
 * their start, so each rank has one part in progress. Rows wait in memory until they are a row
 * group, or until all parts together have too many of them. Many ranks are written in several
 * passes over the trace, because reading it is cheap and small row groups are not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/integer.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/trusted.h"
#include "observe/export/activity_table.h"
#include "observe/export/export.h"
#include "observe/export/fact_table.h"

#define GROUP_ROWS 131072  /* rows of a row group */
#define GROUP_MIN 64	   /* rows for which a part allocates memory at first */
#define SLICE_ROWS 2000000 /* rows of a part, on average, if the user does not choose slices */
#define SLICES_MAX 10000
#define GROUP_WANTED 16384 /* rows of a row group that are worth another pass */
#define PASSES_MAX 32
#define THREADS_MAX 8

/* The part in progress of one rank. */
struct part {
	int32_t rank;
	unsigned pass; /* in which it is written */
	int64_t slice;
	struct activity *rows;
	size_t count, cap;
	struct parquet file; /* its path is NULL if there is none yet */
};

struct dataset {
	const struct export_job *job;
	const char *directory;
	struct activity_names names;
	struct parquet_encoder *encoder;
	struct dataset_info info;
	int64_t slices;
	struct map ranks;    /* struct part by rank_key() */
	struct part **parts; /* by process; several processes may share one */
	unsigned pass, passes;
	size_t waiting, waiting_max; /* rows for which parts have memory */
};

/* The part at a place of the map that is in use. */
#define PART(set, place) ((struct part *)(set)->ranks.entries[place].value)

static uint64_t rank_key(int32_t rank)
{
	return (uint64_t)((int64_t)rank - INT32_MIN) + 1;
}

static void init_parts(struct dataset *set)
{
	const struct trace_head *head = &set->job->trace->head;

	set->parts = xcalloc(head->process_count, sizeof(*set->parts));
	for (size_t i = 0; i < head->process_count; i++) {
		uint64_t key = rank_key(head->processes[i].rank);
		struct part *part = map_get(&set->ranks, key);

		if (!part) {
			part = xcalloc(1, sizeof(*part));
			part->rank = head->processes[i].rank;
			map_put(&set->ranks, key, part);
		}
		set->parts[i] = part;
	}
}

/* Distributes the ranks over passes, so that the rows of each have room for large groups. */
static void choose_passes(struct dataset *set)
{
	const struct trace_head *head = &set->job->trace->head;
	uint64_t ranks = set->ranks.count;
	uint64_t rows = u64_min(head->activities, ranks * GROUP_WANTED), number = 0;

	set->passes = (unsigned)u64_min(rows / set->waiting_max + 1, PASSES_MAX);
	for (size_t i = 0; i < set->ranks.cap; i++)
		if (set->ranks.entries[i].key)
			PART(set, i)->pass = (unsigned)(number++ * set->passes / ranks);
}

/* Chooses slices so that the parts have SLICE_ROWS on average, or as the user wants. */
static int choose_slices(struct dataset *set, struct err *err)
{
	const struct trace_head *head = &set->job->trace->head;
	int64_t duration = i64_max(head->end.duration_ns, 1), wanted = set->job->options->slice_ns;
	uint64_t rows = head->activities / u64_max(set->ranks.count, 1);

	set->slices = wanted ? (duration - 1) / wanted + 1
			     : (int64_t)u64_min(rows / SLICE_ROWS + 1, SLICES_MAX);
	if (set->slices > SLICES_MAX)
		return err_set(err, EINVAL,
			       "the run has more than %d slices of that length; choose longer ones",
			       SLICES_MAX);
	set->info.slice_ns = wanted ? wanted : (duration - 1) / set->slices + 1;
	return 0;
}

/* Calls that start after the end of the run belong to the last slice. */
static int64_t slice_of(const struct dataset *set, int64_t start_ns)
{
	return i64_max(0, i64_min(start_ns / set->info.slice_ns, set->slices - 1));
}

static int make_directory(const char *path, struct err *err)
{
	if (mkdir(path, TRUSTED_DIRECTORY_MODE) == 0 || errno == EEXIST)
		return 0;
	return err_set(err, errno, "%s: cannot create: %s", path, strerror(errno));
}

/* Creates activities/rank=R/slice=S in the directory. */
static int make_partition(const struct dataset *set, const struct part *part, char **path,
			  struct err *err)
{
	AUTO_FREE char *rank = xprintf("%s/activities/rank=%d", set->directory, part->rank);
	int r = make_directory(rank, err);

	*path = xprintf("%s/slice=%lld", rank, (long long)part->slice);
	return r ? r : make_directory(*path, err);
}

static int start_file(struct dataset *set, struct part *part, struct err *err)
{
	AUTO_FREE char *directory = NULL, *path = NULL;
	int r = make_partition(set, part, &directory, err);

	path = xprintf("%s/part.parquet", directory);
	if (!r)
		parquet_init(&part->file, path, &activity_schema);
	return r;
}

static int write_group(struct dataset *set, struct part *part, struct err *err)
{
	struct activity_rows group = { &set->names, part->rows, part->count };
	struct parquet_rows rows = { part->count, activity_fill, &group };
	int r = part->file.path ? 0 : start_file(set, part, err);

	if (!r)
		r = parquet_add(&part->file, set->encoder, &rows, err);
	set->waiting -= part->cap;
	free(part->rows);
	part->rows = NULL;
	part->count = part->cap = 0;
	return r;
}

/* Writes the rows that wait, completes the file, and is ready for the next slice. */
static int finish_part(struct dataset *set, struct part *part, struct err *err)
{
	int r = part->count ? write_group(set, part, err) : 0;

	if (!part->file.path)
		return r;
	if (!r)
		r = parquet_finish(&part->file, set->info.pairs, err);
	set->job->totals->files++;
	set->job->totals->bytes += part->file.bytes;
	parquet_release(&part->file);
	return r;
}

/*
 * Writes the rows of all parts that have at least average memory. With any number of ranks, this
 * frees memory for many rows at once.
 */
static int write_large_parts(struct dataset *set, struct err *err)
{
	size_t count = 0, average;
	int r = 0;

	for (size_t i = 0; i < set->ranks.cap; i++)
		count += set->ranks.entries[i].key && PART(set, i)->cap;
	average = set->waiting / size_max(count, 1);
	for (size_t i = 0; i < set->ranks.cap && !r; i++)
		if (set->ranks.entries[i].key && PART(set, i)->count &&
		    PART(set, i)->cap >= average)
			r = write_group(set, PART(set, i), err);
	return r;
}

/* Makes room for one more row, if necessary by writing others. */
static int reserve_row(struct dataset *set, struct part *part, struct err *err)
{
	int r = 0;

	if (part->count < part->cap)
		return 0;
	if (part->count == GROUP_ROWS)
		r = write_group(set, part, err);
	else if (set->waiting + size_max(part->cap, GROUP_MIN) > set->waiting_max)
		r = write_large_parts(set, err);
	if (r < 0)
		return r;
	set->waiting -= part->cap;
	part->rows = xgrow(part->rows, &part->cap, size_max(part->count + 1, GROUP_MIN),
			   sizeof(*part->rows));
	set->waiting += part->cap;
	return 0;
}

static int add_row(struct dataset *set, const struct activity *a, struct err *err)
{
	struct part *part = set->parts[a->process];
	int64_t slice = slice_of(set, a->start_ns);
	int r;

	if (part->pass != set->pass)
		return 0;
	r = slice == part->slice ? 0 : finish_part(set, part, err);
	part->slice = slice;
	if (!r)
		r = reserve_row(set, part, err);
	if (!r)
		part->rows[part->count++] = *a;
	return r;
}

static int add_rows(void *arg, const struct activity *batch, size_t n, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = add_row(arg, &batch[i], err);
	return r;
}

static int finish_parts(struct dataset *set, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < set->ranks.cap && !r; i++)
		if (set->ranks.entries[i].key)
			r = finish_part(set, set->ranks.entries[i].value, err);
	return r;
}

static void release_dataset(struct dataset *set)
{
	for (size_t i = 0; i < set->ranks.cap; i++) {
		struct part *part = set->ranks.entries[i].value;

		if (!set->ranks.entries[i].key)
			continue;
		parquet_release(&part->file);
		free(part->rows);
		free(part);
	}
	map_release(&set->ranks);
	free(set->parts);
	activity_names_release(&set->names);
	parquet_encoder_free(set->encoder);
}

static int fill_dataset(struct dataset *set, struct err *err)
{
	AUTO_FREE char *activities = xprintf("%s/activities", set->directory);
	int r = choose_slices(set, err);

	if (!r)
		r = make_directory(activities, err);
	choose_passes(set);
	for (set->pass = 0; set->pass < set->passes && !r; set->pass++) {
		r = export_read_pass(set->job, set->pass, set->passes, add_rows, set, err);
		if (!r)
			r = finish_parts(set, err);
	}
	return r ? r : fact_tables_write(set->job, &set->info, set->directory, set->encoder, err);
}

static int fill(const struct export_job *job, const char *directory, struct err *err)
{
	const struct trace_head *head = &job->trace->head;
	unsigned threads = (unsigned)u64_min(parallel_cores(), THREADS_MAX);
	struct dataset set = { .job = job, .directory = directory };
	/* The id of a run is hexadecimal, but a file may claim anything. */
	AUTO_BUF struct buf id = { 0 };
	struct parquet_pair pairs[] = { { "sluice.schema", "sluice.parquet/1" },
					{ "sluice.run", NULL },
					{ NULL, NULL } };
	int r;

	escape_text(&id, head->run.uuid ? head->run.uuid : "", "");
	pairs[1].value = buf_text(&id);
	set.info.pairs = pairs;
	set.waiting_max = u64_max(job->options->memory / sizeof(struct activity), GROUP_MIN);
	set.encoder = parquet_encoder_new(threads);
	activity_names_init(&set.names, head);
	init_parts(&set);
	r = fill_dataset(&set, err);
	release_dataset(&set);
	return r;
}

const struct export_format export_parquet = {
	.name = "parquet",
	.suffix = ".parquet",
	.help = "directory of Parquet files for query engines",
	.fill = fill,
};
