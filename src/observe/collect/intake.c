/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/intake.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "observe/collect/flight.h"
#include "observe/watch/watcher.h"
#include "trace/facts.h"

/* Limit of chunks per pass, which bounds the memory of a pass to about 100 MB of keys. */
#define PASS_CHUNKS 512
/*
 * Activities that are resolved at a time: few enough to stay in the L1 cache until they are
 * encoded.
 */
#define BATCH 128

/*
 * A pass with fewer words waits until it is due, because small blocks compress badly. About 64 K
 * records.
 */
#define PASS_WORDS (64u * 1024 * 7)
/*
 * A pass that would return this many chunks does not wait: short-lived threads leave little in
 * each.
 */
#define PASS_SEQUENCES 64

static void note_failure(struct intake *in, int result, const struct err *err)
{
	if (result < 0 && !in->error.code)
		in->error = *err;
}

static void on_new_file(void *arg, file_id id, const char *path)
{
	struct intake *in = arg;
	struct err err;

	if (in->watcher)
		watcher_file(in->watcher, id, path);
	if (!in->error.code)
		note_failure(in, in->form->add_file(in->writer, id, path, &err), &err);
}

void intake_init(struct intake *in, const char *directory, const char *host)
{
	*in = (struct intake){ .directory = directory, .host = host, .form = &trace_container };
	in->batch = xcalloc(BATCH, sizeof(*in->batch));
	in->resolver = resolver_new(on_new_file, in);
}

void intake_release(struct intake *in)
{
	for (size_t i = 0; i < in->member_count; i++) {
		if (in->members[i])
			spool_close(&in->members[i]->spool);
		free(in->members[i]);
	}
	resolver_free(in->resolver);
	order_release(&in->order);
	free(in->members);
	free(in->pending);
	free(in->batch);
}

int64_t intake_ns(const struct run_clock *clock, uint64_t ticks)
{
	return (int64_t)((unsigned __int128)ticks * clock->num / clock->den);
}

/* Returns the index of the process whose spool has this number; -1 if it never appeared. */
static int32_t find_process(const struct intake *in, int32_t number)
{
	for (size_t i = in->member_count; number >= 0 && i-- > 0;)
		if (in->members[i] && in->members[i]->number == (uint32_t)number)
			return (int32_t)i;
	return -1;
}

/* Joins the NUL-terminated arguments into one line. */
static char *command_text(const struct spool_header *h)
{
	size_t n = h->command_bytes < SPOOL_TEXT_BYTES ? h->command_bytes : SPOOL_TEXT_BYTES - 1;
	char *text = xstrndup("", 0);

	text = xrealloc(text, n + 1, 1);
	memcpy(text, h->command, n);
	while (n && !text[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = 0;
	return text;
}

static char *header_text(const char text[SPOOL_TEXT_BYTES])
{
	return xstrndup(text, SPOOL_TEXT_BYTES - 1);
}

/* Pairs with the release in the guest, which writes the size before the rank. -1: no rank yet. */
static int32_t header_rank(const struct spool_header *h)
{
	int32_t rank = atomic_load_explicit(&h->rank, memory_order_acquire);

	return rank < 0 ? -1 : rank;
}

/* Writes the process into the trace; again when its rank is known. */
static void write_process(struct intake *in, struct member *m)
{
	const struct spool_header *h = m->spool.header;
	int32_t rank = header_rank(h);
	struct process_info info = {
		.index = m->index,
		.parent = m->parent,
		.first_thread = h->first_thread,
		.pid = h->pid,
		.ppid = h->ppid,
		.rank = rank,
		.ranks = rank < 0 ? 0 : atomic_load(&h->ranks),
		.attached_ns = intake_ns(&in->clock, h->attached - in->clock.tick0),
		.host = xstrdup(in->host),
		.program = header_text(h->program),
		.command = command_text(h),
		.directory = header_text(h->directory),
	};
	struct err err;

	if (in->watcher)
		watcher_process(in->watcher, &info);
	if (!in->error.code)
		note_failure(in, in->form->add_process(in->writer, &info, &err), &err);
	m->rank = rank;
	process_info_release(&info);
}

static void register_process(struct intake *in, const struct member *m)
{
	const struct spool_header *h = m->spool.header;
	AUTO_FREE char *directory = header_text(h->directory);

	resolver_process(in->resolver, m->index, m->parent, h->first_thread, directory);
	resolver_forked(in->resolver, m->index, h->forked_thread, h->forked_seq);
}

size_t intake_ranks(struct intake *in)
{
	size_t ranks = 0;

	for (size_t i = 0; i < in->member_count; i++) {
		struct member *m = in->members[i];

		if (m && m->open && header_rank(m->spool.header) != m->rank)
			write_process(in, m);
		ranks += m && m->rank >= 0;
	}
	return ranks;
}

/*
 * Returns the index that an earlier collector gave to the process of this spool, or else the next
 * free one.
 */
static uint32_t choose_index(const struct intake *in, const struct spool_header *h)
{
	for (size_t i = 0; i < in->known_count; i++) {
		const struct process_info *p = &in->known[i];

		if (!in->members[i] && p->pid == h->pid && p->first_thread == h->first_thread &&
		    p->attached_ns == intake_ns(&in->clock, h->attached - in->clock.tick0))
			return (uint32_t)i;
	}
	return (uint32_t)in->member_count;
}

static bool add_member(struct intake *in, const char *path, uint32_t number)
{
	struct member *m = xcalloc(1, sizeof(*m));
	struct err err;

	if (spool_open(&m->spool, path, &err) < 0) {
		free(m);
		return false;
	}
	m->index = choose_index(in, m->spool.header);
	m->number = number;
	m->open = true;
	m->rank = -1;
	if (m->index == in->member_count) {
		m->parent = find_process(in, m->spool.header->parent_number);
		in->members = xgrow(in->members, &in->member_cap, in->member_count + 1,
				    sizeof(*in->members));
		write_process(in, m);
		register_process(in, m);
		in->member_count++;
	} else {
		m->parent = in->known[m->index].parent;
		m->rank = in->known[m->index].rank;
	}
	in->members[m->index] = m;
	in->totals.processes++;
	return true;
}

static int is_spool(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name), s = strlen(SPOOL_SUFFIX);

	return n > s && !strcmp(entry->d_name + n - s, SPOOL_SUFFIX);
}

/* Names sort by number, so that parents come before their children. */
size_t intake_find(struct intake *in)
{
	struct dirent **names;
	size_t found = 0;
	int n = scandir(in->directory, &names, is_spool, alphasort);

	for (int i = 0; i < n; i++) {
		AUTO_FREE char *path = xprintf("%s/%s", in->directory, names[i]->d_name);
		uint32_t number = (uint32_t)strtoul(names[i]->d_name, NULL, 10);

		if (find_process(in, (int32_t)number) < 0)
			found += add_member(in, path, number);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return found;
}

static int pending_compare(const void *a, const void *b)
{
	const uint64_t *ra = ((const struct pending *)a)->records,
		       *rb = ((const struct pending *)b)->records;
	uint64_t ea = record_start(ra) + record_duration(ra),
		 eb = record_start(rb) + record_duration(rb);

	return ea < eb ? -1 : ea > eb;
}

/*
 * Returns the time up to which this pass reads records. Whatever a record depends on (such as the
 * open before a write, in any thread) ended before the record began, so a pass that reads all
 * records up to one moment is self-contained.
 */
static uint64_t pass_until(struct intake *in, uint64_t now)
{
	struct pending *limit;

	if (in->pending_count <= PASS_CHUNKS)
		return now;
	qsort(in->pending, in->pending_count, sizeof(*in->pending), pending_compare);
	limit = &in->pending[PASS_CHUNKS];
	now = record_start(limit->records) + record_duration(limit->records);
	return now;
}

/* Keeps the chunks of a thread together, so that order_sort() finds one long run. */
static int thread_compare(const void *a, const void *b)
{
	const struct pending *pa = a, *pb = b;

	if (pa->spool != pb->spool)
		return pa->spool < pb->spool ? -1 : 1;
	if (pa->thread != pb->thread)
		return pa->thread < pb->thread ? -1 : 1;
	return pending_compare(a, b);
}

/* Adds the records of one sequence up to the given time; returns where it stopped. */
static const uint64_t *order_sequence(struct intake *in, struct pending *p, uint64_t until)
{
	uint32_t process = ((const struct member *)p->spool)->index;
	const uint64_t *at = p->records, *before = at, *r;

	while (at < p->end && (r = pending_next(p, &at))) {
		if (record_start(r) + record_duration(r) > until)
			return before;
		order_add(&in->order,
			  (struct order_key){ record_start(r), id_make(p->thread, record_seq(r)),
					      process, p->thread, r });
		before = at;
	}
	return at;
}

void intake_write(struct intake *in, const struct activity *batch, size_t n)
{
	struct err err;

	if (n && !in->error.code)
		note_failure(in, in->form->add_activities(in->writer, batch, n, &err), &err);
}

void intake_fact(struct intake *in, const struct fact *fact, const void *row)
{
	struct err err;

	if (!in->error.code)
		note_failure(in, in->form->add_fact(in->writer, fact, row, &err), &err);
}

/* Converts the times of an activity from ticks to ns since the start of the run; returns its end.
 */
static int64_t convert_to_ns(struct activity *a, const struct run_clock *clock)
{
	uint64_t start_ticks = resolved_start_ticks(a) - clock->tick0;
	uint64_t end_ticks = start_ticks + resolved_duration_ticks(a);
	int64_t end_ns = intake_ns(clock, end_ticks);

	a->start_ns = intake_ns(clock, start_ticks);
	a->duration_ns = end_ns - a->start_ns;
	return end_ns;
}

static void write_batch(struct intake *in)
{
	if (in->watcher && in->batch_count)
		watcher_activities(in->watcher, in->batch, in->batch_count);
	for (size_t i = 0; in->in_ns && i < in->batch_count; i++) {
		int64_t end_ns = convert_to_ns(&in->batch[i], &in->clock);

		if (end_ns > in->last_ns)
			in->last_ns = end_ns;
	}
	if (in->flight)
		flight_add(in->flight, in->batch, in->batch_count);
	else
		intake_write(in, in->batch, in->batch_count);
	in->batch_count = 0;
}

static void write_shipped(void *arg, const struct activity *batch, size_t n)
{
	intake_write(arg, batch, n);
}

void intake_ship(struct intake *in)
{
	struct err err;

	if (!in->flight)
		return;
	in->totals.activities += flight_ship(in->flight, write_shipped, in);
	if (in->form->flush && !in->error.code)
		note_failure(in, in->form->flush(in->writer, &err), &err);
}

/* Resolves and writes the sorted records. Returns their number. */
static size_t write_ordered(struct intake *in)
{
	size_t first = in->skip < in->order.count ? (size_t)in->skip : in->order.count;
	size_t count = in->order.count - first;

	order_sort(&in->order);
	for (size_t i = first; i < in->order.count; i++) {
		const struct order_key *key = &in->order.keys[i];

		resolver_activity(in->resolver, key->process, key->thread, key->record,
				  &in->batch[in->batch_count++]);
		if (in->batch_count == BATCH)
			write_batch(in);
	}
	write_batch(in);
	if (!in->flight)
		in->totals.activities += count;
	in->order.count = 0;
	return count;
}

/* Lists the pending sequences of all spools; returns their size in words. */
static uint64_t list_pending(struct intake *in)
{
	uint64_t words = 0;

	in->pending_count = 0;
	for (size_t i = 0; i < in->member_count; i++) {
		struct member *m = in->members[i];

		if (m && m->open)
			m->pending = spool_pending(&m->spool, &in->pending, &in->pending_count,
						   &in->pending_cap);
	}
	for (size_t i = 0; i < in->pending_count; i++)
		words += (uint64_t)(in->pending[i].end - in->pending[i].records);
	return words;
}

/*
 * Stores the progress of the pass, so that recovery knows which records are in the trace already.
 */
static void store_progress(struct intake *in, enum pass_state state, uint64_t until)
{
	if (!in->control)
		return;
	if (in->flight)
		state = PASS_FLIGHT;
	if (state == PASS_WRITING) {
		in->control->pass_until = until;
		in->control->pass_before = in->totals.activities;
	}
	atomic_store(&in->control->pass_state, state);
}

size_t intake_pass(struct intake *in, uint64_t now, bool due)
{
	struct err err;
	uint64_t until;
	size_t count;

	if (list_pending(in) < PASS_WORDS && in->pending_count < PASS_SEQUENCES && !due)
		return 0;
	until = in->skip ? now : pass_until(in, now);
	store_progress(in, PASS_WRITING, until);
	if (in->pending_count)
		qsort(in->pending, in->pending_count, sizeof(*in->pending), thread_compare);
	for (size_t i = 0; i < in->pending_count; i++)
		in->pending[i].end = order_sequence(in, &in->pending[i], until);
	count = write_ordered(in);
	if (in->form->flush && !in->error.code)
		note_failure(in, in->form->flush(in->writer, &err), &err);
	store_progress(in, PASS_WRITTEN, until);
	for (size_t i = 0; i < in->pending_count; i++)
		spool_consume(&in->pending[i], in->pending[i].end);
	store_progress(in, PASS_NONE, 0);
	return count;
}

static void write_loss(struct intake *in, const struct member *m)
{
	struct loss_info loss = {
		.process = m->index,
		.records = atomic_load(&m->spool.header->lost_records),
		.threads = atomic_load(&m->spool.header->lost_threads),
	};
	struct err err;

	in->totals.damaged_words += m->spool.damaged_words;
	/*
	 * The number of records in a damaged area is unknown; the shortest possible ones are
	 * assumed.
	 */
	loss.records += (m->spool.damaged_words + RECORD_HEAD_WORDS) / (RECORD_HEAD_WORDS + 1);
	in->totals.lost += loss.records;
	if ((loss.records || loss.threads) && !in->error.code)
		note_failure(in, in->form->add_loss(in->writer, &loss, &err), &err);
}

/* Counters of one handle and layer, added up over the slots of all threads. */
struct counted {
	uint64_t key;
	unsigned layer;
	struct {
		uint64_t calls, errors, bytes, ticks;
	} groups[COUNTERS_GROUPS];
};

static void counted_add(struct counted *to, const struct counters_slot *slot)
{
	for (unsigned g = 0; g < COUNTERS_GROUPS; g++) {
		to->groups[g].calls += atomic_load(&slot->groups[g].calls);
		to->groups[g].errors += atomic_load(&slot->groups[g].errors);
		to->groups[g].bytes += atomic_load(&slot->groups[g].bytes);
		to->groups[g].ticks += atomic_load(&slot->groups[g].ticks);
	}
}

static void write_counted(struct intake *in, uint32_t process, const struct counted *c)
{
	file_id file = resolver_link_file(in->resolver, process, c->key);
	struct err err;

	for (unsigned g = 0; g < COUNTERS_GROUPS; g++) {
		struct aggregate row = {
			.process = process,
			.file = file,
			.group = (uint8_t)g,
			.layer = (uint8_t)c->layer,
			.calls = c->groups[g].calls,
			.errors = c->groups[g].errors,
			.bytes = (int64_t)c->groups[g].bytes,
			.duration_ns = intake_ns(&in->clock, c->groups[g].ticks),
		};

		if (row.calls && !in->error.code)
			note_failure(in, in->form->add_aggregate(in->writer, &row, &err), &err);
	}
}

static struct counted *counted_find(struct counted *list, size_t *count, uint64_t key,
				    unsigned layer)
{
	size_t i = 0;

	while (i < *count && (list[i].key != key || list[i].layer != layer))
		i++;
	if (i == *count)
		list[(*count)++] = (struct counted){ .key = key, .layer = layer };
	return &list[i];
}

static void write_counters(struct intake *in, uint32_t process, const struct counters_file *file)
{
	AUTO_FREE struct counted *list = xcalloc(COUNTERS_SLOTS, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < COUNTERS_SLOTS; i++) {
		const struct counters_slot *slot = &file->slots[i];
		uint64_t key = atomic_load(&slot->key), whose = atomic_load(&slot->whose);
		unsigned layer = i < COUNTERS_RESERVED ? (unsigned)i : counters_layer(whose);

		if ((key || i < COUNTERS_RESERVED) && layer < LAYER_COUNT)
			counted_add(counted_find(list, &count, key, layer), slot);
	}
	for (size_t i = 0; i < count; i++)
		write_counted(in, process, &list[i]);
}

/* Reads the counters file next to a spool, if there is one. */
static void read_counters(struct intake *in, uint32_t process, const char *spool_path)
{
	int stem = (int)(strlen(spool_path) - strlen(SPOOL_SUFFIX));
	AUTO_FREE char *path = xprintf("%.*s%s", stem, spool_path, COUNTERS_SUFFIX);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct counters_file *file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(*file))
		return;
	file = mmap(NULL, sizeof(*file), PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		return;
	if (file->magic == COUNTERS_MAGIC)
		write_counters(in, process, file);
	munmap(file, sizeof(*file));
	unlink(path);
}

uint32_t intake_end(struct intake *in, struct member *m)
{
	uint32_t chunks = 0;

	if (header_rank(m->spool.header) != m->rank)
		write_process(in, m);
	write_loss(in, m);
	accounts_add(&in->accounts, m->spool.header, m->index);
	read_counters(in, m->index, m->spool.path);
	for (uint32_t i = 0; i < SPOOL_SEGMENTS_MAX; i++)
		if (atomic_load(&m->spool.header->segment_map[i / 64]) >> i % 64 & 1)
			chunks += spool_segment_chunks(i);
	unlink(m->spool.path);
	spool_close(&m->spool);
	m->open = false;
	return chunks;
}
