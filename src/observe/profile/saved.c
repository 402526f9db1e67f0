/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/profile/pack.h"
#include "observe/profile/profile.h"
#include "observe/profile/saved_ranks.h"

/* Increased when the layout changes in a way that the numbers in pack_version() do not show. */
#define SAVED_VERSION 5

/* The profile that is written or read. When writing, nothing in it is changed. */
struct saving {
	struct pack pack;
	struct profile *profile;
	const struct trace_head *head;
};

/* Returns the version, which is 0 if the numbers that it does not show differ. */
static uint64_t pack_version(struct pack *pack)
{
	const uint64_t expected[] = { LAYER_COUNT,    CLASS_COUNT,	     sizeof(struct tally),
				      CELL_SIZE_BINS, sizeof(struct survey), sizeof(struct cell),
				      TIMELINE_BINS,  TIMELINE_ROWS,	     RASTER_COLUMNS,
				      RASTER_LINES };
	uint64_t version = SAVED_VERSION;

	pack_number(pack, &version);
	for (size_t i = 0; version == SAVED_VERSION && i < sizeof(expected) / sizeof(*expected);
	     i++) {
		uint64_t value = expected[i];

		pack_number(pack, &value);
		if (value != expected[i])
			version = 0;
	}
	return version;
}

static int fail_version(uint64_t version, struct err *err)
{
	if (!version)
		return err_set(err, ENOTSUP,
			       "the profile was saved by another build of Sluice; save it again "
			       "with 'sluice report --part'");
	return err_set(err, ENOTSUP,
		       "the saved profile has version %llu, but this version of Sluice reads "
		       "version %d; %ssave it again with 'sluice report --part'",
		       (unsigned long long)version, SAVED_VERSION,
		       version > SAVED_VERSION ? "update Sluice, or " : "");
}

static uint64_t file_limit(const struct saving *s)
{
	return s->head->file_count;
}

/* functions: the keys are those of functions, else of files. */
static void pack_table(struct saving *s, struct map *table, bool functions)
{
	struct pack *pack = &s->pack;
	uint64_t count;
	AUTO_FREE struct map_entry *list = pack_entries(pack, table, &count);

	for (uint64_t i = 0; i < count && !pack->in.bad; i++) {
		struct tally tally = list ? *(struct tally *)list[i].value : (struct tally){ 0 };
		uint64_t key = list ? list[i].key : 0;

		pack_number(pack, &key);
		pack_words(pack, &tally, sizeof(tally));
		if (!pack_is_reading(pack))
			continue;
		if (!key || !(functions ? sums_is_function : sums_is_file)(s->head, key))
			pack->in.bad = true;
		else
			*sums_tally(table, key) = tally;
	}
}

static void pack_sums(struct saving *s, struct sums *sums)
{
	struct pack *pack = &s->pack;

	pack_words(pack, &sums->io, sizeof(sums->io));
	pack_words(pack, &sums->storage, sizeof(sums->storage));
	pack_words(pack, &sums->startup, sizeof(sums->startup));
	pack_words(pack, &sums->process, sizeof(sums->process));
	pack_words(pack, &sums->network, sizeof(sums->network));
	pack_words(pack, &sums->network_in_io, sizeof(sums->network_in_io));
	pack_words(pack, &sums->bytes_read_to_write, sizeof(sums->bytes_read_to_write));
	pack_words(pack, &sums->busy_ns, sizeof(sums->busy_ns));
	pack_words(pack, &sums->busy_from_ns, sizeof(sums->busy_from_ns));
	pack_words(pack, &sums->busy_until_ns, sizeof(sums->busy_until_ns));
	pack_words(pack, sums->layers, sizeof(sums->layers));
	pack_table(s, &sums->functions, true);
	pack_table(s, &sums->files, false);
}

/* The ranks of one trace are known from its head. */
static void pack_ranks(struct saving *s, struct summary *summary)
{
	uint64_t is_merged = s->profile->own || summary->ranks.names, ranks;

	pack_index(&s->pack, &is_merged, 2);
	if (is_merged)
		saved_pack_ranks(&s->pack, summary);
	ranks = summary->ranks.count;
	pack_index(&s->pack, &ranks, summary->ranks.count + 1);
	s->pack.in.bad |= ranks != summary->ranks.count;
}

static void pack_sums_of_ranks(struct saving *s, struct summary *summary)
{
	uint64_t has_spreads = summary->spreads != NULL;

	pack_index(&s->pack, &has_spreads, 2);
	if (has_spreads)
		saved_pack_spreads(&s->pack, summary);
	for (size_t i = 0; i < summary->ranks.count && !has_spreads && !s->pack.in.bad; i++)
		pack_sums(s, &summary->of_rank[i]);
}

static void pack_summary(struct saving *s, struct summary *summary)
{
	uint64_t has_aggregates = summary->has_aggregates;

	pack_ranks(s, summary);
	pack_index(&s->pack, &has_aggregates, 2);
	summary->has_aggregates = has_aggregates;
	pack_words(&s->pack, &summary->group, sizeof(summary->group));
	pack_sums(s, &summary->all);
	pack_sums(s, &summary->outside);
	pack_sums_of_ranks(s, summary);
	for (size_t i = 0; i < s->head->file_count && !s->pack.in.bad; i++) {
		uint64_t layers = summary->file_layers[i];

		pack_index(&s->pack, &layers, UINT64_C(1) << LAYER_COUNT);
		summary->file_layers[i] = (uint8_t)layers;
	}
}

static void pack_file(struct saving *s, file_id *file)
{
	uint64_t value = *file;

	pack_index(&s->pack, &value, file_limit(s));
	*file = (file_id)value;
}

static void pack_places(struct saving *s, struct map *places)
{
	uint64_t count;
	AUTO_FREE struct map_entry *list = pack_entries(&s->pack, places, &count);

	for (uint64_t i = 0; i < count && !s->pack.in.bad; i++) {
		uint64_t place[2] = { list ? list[i].key : 0, list ? (uintptr_t)list[i].value : 0 };

		pack_words(&s->pack, place, sizeof(place));
		if (pack_is_reading(&s->pack) && place[0])
			map_put(places, place[0], (void *)(uintptr_t)place[1]);
	}
}

static void pack_evidence(struct saving *s, struct evidence *e)
{
	uint64_t numbers[] = { e->writing,   e->writers,     e->largest,
			       e->transfers, e->collectives, e->is_read_back };
	char *mpi = (char *)e->mpi;

	pack_words(&s->pack, numbers, sizeof(numbers));
	e->writing = numbers[0];
	e->writers = numbers[1];
	e->largest = numbers[2];
	e->transfers = numbers[3];
	e->collectives = numbers[4];
	e->is_read_back = numbers[5];
	pack_text(&s->pack, &mpi);
	if (pack_is_reading(&s->pack)) {
		e->mpi = mpi ? parameters_mpi(mpi, strlen(mpi)) : NULL;
		free(mpi);
	}
	pack_text(&s->pack, &e->driver);
	pack_places(s, &e->places);
}

static void pack_record(struct saving *s, struct parameter_record *record)
{
	uint64_t of = record->of;

	pack_index(&s->pack, &of, PARAMETERS_FILE_POSIX + 1);
	record->of = (enum parameters_of)of;
	pack_file(s, &record->file);
	pack_file(s, &record->requested);
	pack_file(s, &record->effective);
	pack_words(&s->pack, &record->count, sizeof(record->count));
}

static void pack_parameters(struct saving *s, struct parameters *p)
{
	uint64_t files, records = p->count;
	AUTO_FREE struct map_entry *list = pack_entries(&s->pack, &p->files, &files);

	for (uint64_t i = 0; i < files && !s->pack.in.bad; i++) {
		file_id file = list ? (file_id)(list[i].key - 1) : 0;

		pack_file(s, &file);
		pack_evidence(s, parameters_put_evidence(p, file));
	}
	pack_count(&s->pack, &records);
	for (uint64_t i = 0; i < records && !s->pack.in.bad; i++) {
		struct parameter_record record = { 0 };

		if (!pack_is_reading(&s->pack))
			record = *p->order[i];
		pack_record(s, &record);
		if (pack_is_reading(&s->pack) && !s->pack.in.bad)
			parameters_put(p, &record);
	}
}

static void pack_regions(struct saving *s, struct regions *regions)
{
	uint64_t count = regions->count, unplaced = regions->unplaced;

	pack_index(&s->pack, &unplaced, 2);
	regions->unplaced = unplaced;
	pack_index(&s->pack, &count, REGIONS_RUNS_MAX + 1);
	for (uint64_t i = 0; i < count && !s->pack.in.bad; i++) {
		struct region_run run = { 0 };
		uint64_t has_holes;

		if (!pack_is_reading(&s->pack))
			run = regions->runs[i];
		has_holes = run.has_holes;
		pack_words(&s->pack, &run, offsetof(struct region_run, has_holes));
		pack_index(&s->pack, &has_holes, 2);
		run.has_holes = has_holes;
		if (pack_is_reading(&s->pack) && !regions_put(regions, &run))
			s->pack.in.bad = true;
	}
}

static void pack_survey(struct saving *s, struct survey *survey)
{
	pack_words(&s->pack, survey, offsetof(struct survey, regions));
	pack_regions(s, &survey->regions[0]);
	pack_regions(s, &survey->regions[1]);
}

static void pack_samples(struct saving *s, struct cell *cell)
{
	for (int i = 0; i < 2 * CELL_SAMPLES; i++) {
		struct cell_sample *sample = &cell->samples[i / CELL_SAMPLES][i % CELL_SAMPLES];
		uint64_t process = sample->call.process;

		pack_words(&s->pack, &sample->duration_ns, sizeof(sample->duration_ns));
		pack_words(&s->pack, &sample->start_ns, sizeof(sample->start_ns));
		pack_words(&s->pack, &sample->bytes, sizeof(sample->bytes));
		pack_index(&s->pack, &process, s->profile->processes + 1);
		sample->call.process = (uint32_t)process;
		pack_number(&s->pack, &sample->call.id);
	}
}

static void pack_cell(struct saving *s, struct cell *cell)
{
	struct pack *pack = &s->pack;
	uint64_t group = (uint64_t)cell->group;

	pack_index(pack, &group, INT32_MAX);
	cell->group = (int32_t)group;
	pack_survey(s, &cell->survey);
	pack_words(pack, cell->calls, sizeof(cell->calls));
	pack_words(pack, cell->time_ns, sizeof(cell->time_ns));
	pack_words(pack, &cell->errors, sizeof(cell->errors));
	pack_words(pack, &cell->creates, sizeof(cell->creates));
	pack_words(pack, cell->collective, sizeof(cell->collective));
	pack_words(pack, cell->sizes, sizeof(cell->sizes));
	pack_words(pack, cell->size_ns, sizeof(cell->size_ns));
	pack_words(pack, cell->common, sizeof(cell->common));
	pack_samples(s, cell);
}

static void pack_cells(struct saving *s, struct cell_table *cells)
{
	size_t n;
	AUTO_FREE const struct cell **list = cell_table_list(cells, &n);
	uint64_t count = n;

	pack_words(&s->pack, &cells->folded_members, sizeof(cells->folded_members));
	pack_words(&s->pack, &cells->folded_files, sizeof(cells->folded_files));
	pack_count(&s->pack, &count);
	for (uint64_t i = 0; i < count && !s->pack.in.bad; i++) {
		struct cell *cell = pack_is_reading(&s->pack) ? NULL : (struct cell *)list[i];
		uint64_t layer = cell ? cell->layer : 0;
		uint64_t member = cell ? (uint64_t)(cell->member + 1) : 0;
		file_id file = cell ? cell->file : 0;

		pack_index(&s->pack, &layer, LAYER_COUNT);
		pack_file(s, &file);
		pack_index(&s->pack, &member, INT32_MAX);
		if (!cell)
			cell = cell_table_get(cells, (unsigned)layer, file, (int32_t)member - 1);
		pack_cell(s, cell);
	}
}

static void pack_node(struct saving *s, struct call_node *node, size_t number)
{
	uint64_t parent = node->parent, call = node->call, layer = node->layer;

	pack_index(&s->pack, &parent, number);
	pack_index(&s->pack, &call, s->head->call_count);
	pack_index(&s->pack, &layer, LAYER_COUNT);
	pack_file(s, &node->file);
	node->parent = (uint32_t)parent;
	node->call = (uint16_t)call;
	node->layer = (uint8_t)layer;
	pack_words(&s->pack, &node->calls, sizeof(node->calls));
	pack_words(&s->pack, &node->errors, sizeof(node->errors));
	pack_words(&s->pack, node->bytes, sizeof(node->bytes));
	pack_words(&s->pack, &node->time_ns, sizeof(node->time_ns));
}

/* In an order that does not depend on that of the calls. */
static void pack_tree(struct saving *s, struct call_tree *tree)
{
	uint64_t count = tree->count;
	AUTO_FREE struct call_node *list = pack_is_reading(&s->pack) ? NULL : call_tree_list(tree);

	pack_words(&s->pack, &tree->lost, sizeof(tree->lost));
	pack_words(&s->pack, &tree->folded, sizeof(tree->folded));
	pack_index(&s->pack, &count, 2 * tree->limit + 1);
	for (size_t i = 1; i < count && !s->pack.in.bad; i++) {
		struct call_node node = list ? list[i] : (struct call_node){ 0 };

		pack_node(s, &node, i);
		if (pack_is_reading(&s->pack) && !s->pack.in.bad && call_tree_put(tree, &node) != i)
			s->pack.in.bad = true;
	}
}

static void pack_raster_cells(struct saving *s, struct raster *raster)
{
	for (size_t i = 0; i < (size_t)RASTER_COLUMNS * RASTER_LINES && !s->pack.in.bad; i++) {
		struct raster_cell *cell = &raster->cells[i];
		uint64_t member = (uint64_t)((int64_t)cell->member - RASTER_NOBODY);

		pack_index(&s->pack, &member, UINT64_C(1) << 32);
		cell->member = (int32_t)((int64_t)member + RASTER_NOBODY);
		if (cell->member != RASTER_NOBODY)
			pack_words(&s->pack, cell->bytes, sizeof(cell->bytes));
	}
}

static void pack_points(struct saving *s, struct raster *raster)
{
	uint64_t count = raster->points ? raster->point_count + 1 : 0;

	pack_index(&s->pack, &count, RASTER_POINTS + 2);
	if (pack_is_reading(&s->pack))
		raster_set_points(raster, count);
	for (size_t i = 0; raster->points && i < raster->point_count && !s->pack.in.bad; i++) {
		struct raster_point *point = &raster->points[i];
		uint64_t member = (uint64_t)point->member, way = point->way;

		pack_words(&s->pack, point, offsetof(struct raster_point, member));
		pack_index(&s->pack, &member, INT32_MAX);
		pack_index(&s->pack, &way, 2);
		point->member = (int32_t)member;
		point->way = (uint8_t)way;
	}
}

static void pack_raster(struct saving *s, struct rasters *rasters, size_t i)
{
	struct raster *raster = pack_is_reading(&s->pack) ? NULL : rasters->list[i];
	struct raster_access key = { 0 };
	uint64_t layer = raster ? raster->layer : 0;
	int64_t scale[2] = { raster ? raster->column_ns : 0, raster ? raster->line_bytes : 0 };

	key.file = raster ? raster->file : 0;
	pack_file(s, &key.file);
	pack_index(&s->pack, &layer, LAYER_COUNT);
	pack_words(&s->pack, scale, sizeof(scale));
	key.layer = (uint8_t)layer;
	if (!raster)
		raster = rasters_put(rasters, &key, scale[0], scale[1]);
	if (!raster) {
		s->pack.in.bad = true;
		return;
	}
	pack_words(&s->pack, &raster->bytes, sizeof(raster->bytes));
	pack_words(&s->pack, &raster->missed, sizeof(raster->missed));
	pack_raster_cells(s, raster);
	pack_points(s, raster);
}

static void pack_timeline(struct saving *s, struct timeline *timeline)
{
	int64_t scale[3] = { timeline->from_ns, timeline->bin_ns, timeline->members };
	uint64_t count = timeline->rasters.count;

	pack_words(&s->pack, scale, sizeof(scale));
	if (pack_is_reading(&s->pack) && !s->pack.in.bad) {
		timeline_release(timeline);
		timeline_init(timeline, 0, scale[2]);
		timeline->from_ns = scale[0];
		timeline->bin_ns = scale[1];
		s->pack.in.bad |= scale[1] < 1 || scale[1] > PACK_MAX / TIMELINE_BINS ||
				  scale[2] < 1 || scale[2] > INT32_MAX;
	}
	pack_words(&s->pack, timeline->layers, sizeof(timeline->layers));
	pack_words(&s->pack, timeline->io, sizeof(timeline->io));
	pack_words(&s->pack, timeline->rows,
		   timeline->row_count * TIMELINE_BINS * sizeof(*timeline->rows));
	pack_words(&s->pack, &timeline->rasters.dropped, sizeof(timeline->rasters.dropped));
	pack_index(&s->pack, &count, RASTERS_MAX + 1);
	for (size_t i = 0; i < count && !s->pack.in.bad; i++)
		pack_raster(s, &timeline->rasters, i);
}

static void pack_file_facts(struct saving *s, struct file_facts *f)
{
	uint64_t numbers[] = { f->chunk_bytes, f->cache_bytes,	    f->compressed,   f->causes,
			       f->has_buffer,  f->buffer_bytes,	    f->mapped_bytes, f->has_layout,
			       f->locks,       (uint64_t)f->lock_ns };
	struct layout layout = f->layout;
	struct group_facts group = f->group;
	char *chunk = f->chunk;

	pack_words(&s->pack, numbers, sizeof(numbers));
	pack_words(&s->pack, &layout, sizeof(layout));
	pack_words(&s->pack, &group, sizeof(group));
	pack_text(&s->pack, &chunk);
	if (!pack_is_reading(&s->pack))
		return;
	*f = (struct file_facts){ .chunk_bytes = numbers[0],
				  .cache_bytes = numbers[1],
				  .compressed = numbers[2],
				  .causes = (uint32_t)numbers[3],
				  .has_buffer = numbers[4],
				  .buffer_bytes = numbers[5],
				  .mapped_bytes = numbers[6],
				  .layout = layout,
				  .has_layout = numbers[7],
				  .locks = numbers[8],
				  .lock_ns = (int64_t)numbers[9] };
	f->group = group;
	snprintf(f->chunk, sizeof(f->chunk), "%s", chunk ? chunk : "");
	free(chunk);
}

static void pack_facts(struct saving *s, struct facts *facts)
{
	uint64_t count;
	AUTO_FREE struct map_entry *list = pack_entries(&s->pack, &facts->files, &count);

	for (uint64_t i = 0; i < count && !s->pack.in.bad; i++) {
		file_id file = list ? (file_id)list[i].key : 0;

		pack_file(s, &file);
		if (file)
			pack_file_facts(s, facts_put(facts, file));
		else
			s->pack.in.bad = true;
	}
}

static void pack_mark(struct saving *s, struct marks *marks, const struct mark *known)
{
	struct mark mark = known ? *known : (struct mark){ 0 };

	pack_words(&s->pack, &mark, sizeof(mark));
	if (!pack_is_reading(&s->pack))
		return;
	if (mark.kind >= MARK_KINDS || mark.name >= file_limit(s))
		s->pack.in.bad = true;
	else
		*marks_get(marks, (enum mark_kind)mark.kind, (file_id)mark.name) = mark;
}

static void pack_marks(struct saving *s, struct marks *marks)
{
	uint64_t count = marks->table.count, beginnings = marks->beginning_count;
	size_t at = 0;

	pack_index(&s->pack, &count, MARKS_MAX + MARK_KINDS + 1);
	for (uint64_t i = 0; i < count && !s->pack.in.bad; i++) {
		const struct mark *known = NULL;

		while (!pack_is_reading(&s->pack) && !known)
			known = marks->table.entries[at++].value;
		pack_mark(s, marks, known);
	}
	pack_index(&s->pack, &beginnings, MARKS_BEGINNINGS + 1);
	for (uint64_t i = 0; i < beginnings && !s->pack.in.bad; i++) {
		struct mark_beginning beginning = { 0 };

		if (!pack_is_reading(&s->pack))
			beginning = marks->beginnings[i];
		pack_words(&s->pack, &beginning, sizeof(beginning));
		if (!pack_is_reading(&s->pack))
			continue;
		if (beginning.name >= file_limit(s))
			s->pack.in.bad = true;
		else
			marks_put_beginning(marks, &beginning);
	}
}

static void pack_profile(struct saving *s, uint64_t *activities)
{
	uint64_t parts = s->profile->parts, processes = s->profile->processes;

	pack_words(&s->pack, activities, sizeof(*activities));
	pack_words(&s->pack, &parts, sizeof(parts));
	pack_index(&s->pack, &processes, INT32_MAX);
	s->profile->parts = parts;
	s->profile->processes = processes;
	pack_summary(s, &s->profile->summary);
	pack_parameters(s, &s->profile->summary.parameters);
	pack_cells(s, &s->profile->cells);
	pack_tree(s, &s->profile->tree);
	pack_facts(s, &s->profile->facts);
	pack_marks(s, &s->profile->marks);
	pack_timeline(s, &s->profile->timeline);
}

static int write_head(const struct trace_head *head, void *writer, struct err *err)
{
	const struct trace_format *form = &trace_container;
	int r = 0;

	for (size_t i = 0; i < head->process_count && r >= 0; i++)
		r = form->add_process(writer, &head->processes[i], err);
	for (size_t i = 1; i < head->file_count && r >= 0; i++)
		r = form->add_file(writer, (file_id)i, head->files[i], err);
	for (size_t i = 0; i < head->aggregate_count && r >= 0; i++)
		r = form->add_aggregate(writer, &head->aggregates[i], err);
	for (size_t i = 0; i < head->loss_count && r >= 0; i++)
		r = form->add_loss(writer, &head->losses[i], err);
	for (size_t i = 0; i < head->host_count && r >= 0; i++)
		r = form->add_host(writer, &head->hosts[i], err);
	return r < 0 ? r : trace_copy_notes(head, form, writer, err);
}

static int write_file(const struct trace_head *head, const struct buf *bytes, const char *path,
		      struct err *err)
{
	const struct trace_format *form = &trace_container;
	const struct run_clock clock = { .source = (char *)"monotonic", .num = 1, .den = 1 };
	void *writer;
	int r = form->create(&writer, path, &head->run, &clock, head->calls, head->call_count, err);

	if (r < 0)
		return r;
	r = write_head(head, writer, err);
	if (r >= 0)
		r = form->add_profile(writer, bytes->data, bytes->len, err);
	if (r < 0)
		form->finish(writer, &head->end, &clock, NULL);
	else
		r = form->finish(writer, &head->end, &clock, err);
	if (r < 0)
		unlink(path);
	return r;
}

int saved_write(const struct profile *profile, const char *path, struct err *err)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct saving s = { .pack = { .out = &bytes },
			    .profile = (struct profile *)profile,
			    .head = profile->head };
	uint64_t activities = profile->head->activities;

	pack_version(&s.pack);
	pack_profile(&s, &activities);
	return write_file(profile->head, &bytes, path, err);
}

static int read_bytes(struct profile *profile, struct trace *trace, const struct buf *bytes,
		      struct err *err)
{
	const uint8_t *at = (const uint8_t *)bytes->data;
	struct saving s = { .pack = { .in = { at, at + bytes->len, false } },
			    .profile = profile,
			    .head = &trace->head };
	uint64_t activities = 0, version;

	version = pack_version(&s.pack);
	if (s.pack.in.bad || version != SAVED_VERSION)
		return fail_version(version, err);
	/* The counted calls of the head are in the saved sums. */
	profile_init_share(profile, &trace->head, NULL);
	pack_profile(&s, &activities);
	trace->head.activities = activities;
	if (!s.pack.in.bad)
		return 1;
	profile_release(profile);
	return err_set(err, EBADMSG, "the saved profile is damaged");
}

int saved_read(struct profile *profile, struct trace *trace, struct err *err)
{
	AUTO_BUF struct buf bytes = { 0 };
	int r;

	if (!trace->format->read_profile)
		return 0;
	r = trace->format->read_profile(trace->reader, &bytes, err);
	if (r < 0 || !bytes.len)
		return r;
	r = read_bytes(profile, trace, &bytes, err);
	return r < 0 && trace->path ? err_prefix(err, "%s", trace->path) : r;
}
