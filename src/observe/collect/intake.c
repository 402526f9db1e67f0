/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/intake.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "observe/collect/final_account.h"
#include "observe/collect/flight.h"
#include "observe/collect/ledger.h"
#include "observe/tally/losses.h"
#include "observe/watch/watcher.h"
#include "trace/facts.h"
#include "trace/head.h"

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

/* Value of intake.numbers for a spool that is not read. */
#define NOT_READ UINTPTR_MAX

#define RANKS_MAX (1 << 24)
/* The headers of so many spools, 32 MiB, may stay in memory between two uses. */
#define RESIDENT_MEMBERS 1024

void intake_note_failure(struct intake *in, int result, const struct err *err)
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
	if (in->tap.file)
		in->tap.file(in->tap.arg, id, path);
	if (!in->error.code)
		intake_note_failure(in, in->form->add_file(in->writer, id, path, &err), &err);
}

static void member_free(struct member *m)
{
	spool_close(&m->spool);
	if (m->counters >= 0)
		close(m->counters);
	free(m);
}

void intake_init(struct intake *in, const char *directory, const char *host)
{
	*in = (struct intake){ .directory = directory, .host = host, .form = &trace_container };
	in->batch = xcalloc(BATCH, sizeof(*in->batch));
	in->header = xcalloc(1, sizeof(*in->header));
	in->resolver = resolver_new(on_new_file, in);
}

void intake_release(struct intake *in)
{
	for (size_t i = 0; i < in->member_count; i++)
		member_free(in->members[i]);
	free(in->released);
	launches_release(&in->launches);
	resolver_free(in->resolver);
	order_release(&in->order);
	portion_release(&in->portion);
	map_release(&in->numbers);
	map_release(&in->threads);
	map_release(&in->images);
	free(in->members);
	free(in->pending);
	free(in->known_taken);
	free(in->header);
	free(in->batch);
}

int64_t intake_ns(const struct run_clock *clock, uint64_t ticks)
{
	unsigned __int128 ns;

	if (clock->num == clock->den)
		return ticks < HEAD_TIME_MAX ? (int64_t)ticks : HEAD_TIME_MAX;
	ns = (unsigned __int128)ticks * clock->num / clock->den;
	return ns < HEAD_TIME_MAX ? (int64_t)ns : HEAD_TIME_MAX;
}

/* Converts a time to nanoseconds since the start of the run. */
static int64_t time_ns(const struct run_clock *clock, uint64_t ticks)
{
	return ticks > clock->tick0 ? intake_ns(clock, ticks - clock->tick0) : 0;
}

/*
 * The mapped headers of many processes would need more memory than everything else. It is given
 * back after each use then.
 */
static void rest_member(const struct intake *in, const struct member *m)
{
	if (in->member_count > RESIDENT_MEMBERS)
		mapping_rest(&m->spool.header);
}

const struct spool_header *intake_header(struct intake *in, const struct member *m)
{
	spool_copy_header(&m->spool, in->header, false);
	rest_member(in, m);
	return in->header;
}

/* Returns the index of the process whose spool has this number; -1 if it never appeared. */
static int32_t find_process(const struct intake *in, int32_t number)
{
	uintptr_t index = number < 0 ? 0 : (uintptr_t)map_get(&in->numbers, (uint64_t)number + 1);

	return index && index != NOT_READ ? (int32_t)(index - 1) : -1;
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

/* Returns the rank in a copy of a header; -1: no rank yet, or an impossible one. */
static int32_t header_rank(const struct spool_header *h)
{
	int32_t rank = atomic_load(&h->rank), ranks = atomic_load(&h->ranks);

	return rank >= 0 && rank < ranks && ranks <= RANKS_MAX ? rank : -1;
}

/* A process gets its rank once. */
static bool has_new_rank(struct intake *in, const struct member *m)
{
	return m->rank < 0 && header_rank(intake_header(in, m)) >= 0;
}

/* Writes the process into the trace; again when its rank is known. */
static void write_process(struct intake *in, struct member *m)
{
	struct spool_header *h = in->header;
	struct process_info info;
	struct err err;

	spool_copy_header(&m->spool, h, true);
	m->rank = header_rank(h);
	info = (struct process_info){
		.index = m->index,
		.parent = m->parent,
		.first_thread = h->first_thread,
		.pid = h->pid,
		.ppid = h->ppid,
		.rank = m->rank,
		.ranks = m->rank < 0 ? 0 : atomic_load(&h->ranks),
		.attached_ns = time_ns(&in->clock, h->attached),
		.host = xstrdup(in->host),
		.program = header_text(h->program),
		.command = command_text(h),
		.directory = header_text(h->directory),
	};
	if (in->watcher)
		watcher_process(in->watcher, &info);
	if (!in->error.code)
		intake_note_failure(in, in->form->add_process(in->writer, &info, &err), &err);
	process_info_release(&info);
}

static void register_process(struct intake *in, const struct member *m)
{
	struct spool_header *h = in->header;
	AUTO_FREE char *directory = NULL;

	spool_copy_header(&m->spool, h, true);
	directory = header_text(h->directory);
	resolver_process(in->resolver, m->index, m->parent, h->first_thread, directory);
	resolver_forked(in->resolver, m->index, h->forked_thread, h->forked_seq);
}

size_t intake_ranks(struct intake *in)
{
	size_t ranks = in->ended_ranks;

	for (size_t i = 0; i < in->member_count; i++) {
		struct member *m = in->members[i];

		if (has_new_rank(in, m))
			write_process(in, m);
		ranks += m->rank >= 0;
	}
	return ranks;
}

void intake_set_known(struct intake *in, const struct process_info *known, size_t count)
{
	in->known = known;
	in->known_count = count;
	in->known_taken = xcalloc(count + 1, sizeof(*in->known_taken));
	in->process_count = (uint32_t)count;
}

/*
 * Returns the index that an earlier collector gave to the process of this spool, or else the next
 * free one.
 */
static uint32_t choose_index(const struct intake *in, const struct spool_identity *is)
{
	for (size_t i = 0; i < in->known_count; i++) {
		const struct process_info *p = &in->known[i];

		if (!in->known_taken[i] && p->pid == is->pid &&
		    p->first_thread == is->first_thread &&
		    p->attached_ns == time_ns(&in->clock, is->attached))
			return (uint32_t)i;
	}
	return in->process_count;
}

static uint64_t image_key(const struct spool_identity *is)
{
	uint64_t key = (is->process_start * 31 + is->pid_namespace) * UINT64_C(0x9e3779b97f4a7c15) +
		       (uint32_t)is->pid;

	return key ? key : 1;
}

/* A newer spool of the same process means that exec replaced the old image. */
static void replace_image(struct intake *in, struct member *m)
{
	const struct spool_identity *is = &m->spool.identity, *was;
	struct member *old = map_get(&in->images, image_key(is));

	if (old) {
		was = &old->spool.identity;
		old->replaced = was->pid == is->pid && was->process_start == is->process_start &&
				was->pid_namespace == is->pid_namespace;
	}
	map_put(&in->images, image_key(is), m);
}

/* Notes a fact about the threads of a process. */
static void note_thread(struct intake *in, const struct member *m, const char *name, uint64_t value)
{
	char text[24];
	struct note note = { .time_ns = -1,
			     .process = (int32_t)m->index,
			     .host = (char *)in->host,
			     .source = "collector",
			     .kind = NOTE_THREAD,
			     .name = (char *)name,
			     .value = text };

	snprintf(text, sizeof(text), "%" PRIu64, value);
	intake_fact(in, &fact_note, &note);
}

/* Notes the kernel's id of a thread, unless it follows from the process. */
static void note_thread_id(struct intake *in, const struct member *m, const struct pending *p)
{
	const struct spool_identity *is = &m->spool.identity;
	uint64_t key = ((uint64_t)m->index << ID_THREAD_BITS | p->thread) + 1;
	char name[16];

	if (p->tid <= 0 || (p->thread == is->first_thread && p->tid == is->pid) ||
	    map_get(&in->threads, key) || in->threads.count == THREADS_NOTED_MAX)
		return;
	map_put(&in->threads, key, in);
	snprintf(name, sizeof(name), "%" PRIu32, p->thread);
	note_thread(in, m, name, (uint64_t)p->tid);
}

/* Announces a process that no earlier collector knew. */
static void announce_member(struct intake *in, struct member *m)
{
	m->parent = find_process(in, m->spool.identity.parent_number);
	write_process(in, m);
	register_process(in, m);
	launches_joined(&in->launches, in->header);
	if (m->spool.identity.pid_namespace != THREAD_NAMESPACE_INITIAL)
		note_thread(in, m, THREAD_NAMESPACE, m->spool.identity.pid_namespace);
	in->process_count++;
}

/*
 * The trace holds the records of a known process that end by written_until: a collector died after
 * it had written them, and before it had consumed them.
 */
static void skip_written(struct intake *in, struct member *m)
{
	uint64_t until = in->ledger ? in->ledger->page->written_until : 0;

	in->pending_count = 0;
	if (until)
		spool_pending(&m->spool, &in->pending, &in->pending_count, &in->pending_cap);
	for (size_t i = 0; i < in->pending_count; i++) {
		struct pending *p = &in->pending[i];
		const uint64_t *at, *r, *end;

		portion_begin(&in->portion);
		portion_add(&in->portion, p);
		for (at = end = p->records; at < p->end && (r = pending_next(p, &at)); end = at)
			if (record_start(r) + record_duration(r) > until)
				break;
		spool_consume(p, end);
	}
	in->pending_count = 0;
}

/* Adds a member whose spool is open. */
static void add_member(struct intake *in, struct member *m, uint32_t number)
{
	m->number = number;
	m->index = choose_index(in, &m->spool.identity);
	m->rank = -1;
	if (m->index == in->process_count) {
		announce_member(in, m);
	} else {
		m->parent = in->known[m->index].parent;
		m->rank = in->known[m->index].rank;
		in->known_taken[m->index] = true;
		skip_written(in, m);
	}
	in->members =
		xgrow(in->members, &in->member_cap, in->member_count + 1, sizeof(*in->members));
	in->members[in->member_count++] = m;
	map_put(&in->numbers, (uint64_t)number + 1, (void *)((uintptr_t)m->index + 1));
	replace_image(in, m);
	rest_member(in, m);
	in->totals.processes++;
}

static int open_member(struct intake *in, const char *path, uint32_t number)
{
	struct member *m = xcalloc(1, sizeof(*m));
	struct err err = { 0 };
	int r = spool_open(&m->spool, path, &err);

	m->counters = -1;
	if (r < 0)
		member_free(m);
	else
		add_member(in, m, number);
	return r;
}

int intake_adopt(struct intake *in, const struct intake_handed *handed, struct err *err)
{
	struct member *m;
	int r;

	if (map_get(&in->numbers, (uint64_t)handed->number + 1))
		return err_set(err, EEXIST, "spool %u of this run is known", handed->number);
	if (in->process_count >= PROCESSES_MAX)
		return err_set(err, EUSERS, "the run has more than %d processes", PROCESSES_MAX);
	m = xcalloc(1, sizeof(*m));
	m->counters = -1;
	r = spool_adopt(&m->spool, handed->spool, err);
	if (r < 0) {
		member_free(m);
		return r;
	}
	m->counters = handed->counters;
	m->process = handed->process;
	m->ticket = handed->ticket;
	add_member(in, m, handed->number);
	return 0;
}

int intake_adopt_counters(struct intake *in, uint64_t ticket, int fd)
{
	for (size_t i = 0; i < in->member_count; i++) {
		struct member *m = in->members[i];

		if (m->ticket != ticket || m->counters >= 0)
			continue;
		m->counters = fd;
		return 0;
	}
	return -ENOENT;
}

static int is_spool(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name), s = strlen(SPOOL_SUFFIX);

	return n > s && !strcmp(entry->d_name + n - s, SPOOL_SUFFIX);
}

/* Whether a later attempt to open a spool may succeed. */
static bool is_temporary(int result)
{
	return result == -EAGAIN || result == -ENOMEM || result == -EMFILE || result == -ENFILE;
}

static enum loss_cause cause_of_error(int code)
{
	switch (code) {
	case ENOMEM:
		return LOSS_ADDRESS_SPACE;
	case EMFILE:
	case ENFILE:
		return LOSS_DESCRIPTORS;
	case EINVAL:
		return LOSS_DAMAGED;
	default:
		return LOSS_UNKNOWN;
	}
}

/* Opens a spool. Returns whether nothing is left to do for it. */
static bool find_member(struct intake *in, const char *name, bool last)
{
	AUTO_FREE char *path = xprintf("%s/%s", in->directory, name);
	enum loss_cause cause = LOSS_PROCESSES;
	int32_t pid;
	char *end;
	/* NUMBER-PID.spool */
	uint32_t number = (uint32_t)strtoul(name, &end, 10);

	if (map_get(&in->numbers, (uint64_t)number + 1))
		return false;
	if (in->process_count < PROCESSES_MAX) {
		int r = open_member(in, path, number);

		if (r == 0)
			return true;
		/* A process that finds no space removes its spool, and reports that itself. */
		if (r == -ENOENT || (is_temporary(r) && !last))
			return false;
		cause = cause_of_error(-r);
	}
	pid = (int32_t)strtol(end + (*end == '-'), NULL, 10);
	launches_unreadable(&in->launches, pid, cause);
	map_put(&in->numbers, (uint64_t)number + 1, (void *)NOT_READ);
	return true;
}

/* Names sort by number, so that parents come before their children. */
size_t intake_find(struct intake *in, bool last)
{
	struct dirent **names;
	size_t found = 0;
	int n = in->directory ? scandir(in->directory, &names, is_spool, alphasort) : -1;

	for (int i = 0; i < n; i++) {
		found += find_member(in, names[i]->d_name, last);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return found;
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
		intake_note_failure(in, in->form->add_activities(in->writer, batch, n, &err), &err);
}

void intake_fact(struct intake *in, const struct fact *fact, const void *row)
{
	struct err err;

	if (!in->error.code)
		intake_note_failure(in, in->form->add_fact(in->writer, fact, row, &err), &err);
}

/* Converts the times of an activity from ticks to ns since the start of the run; returns its end.
 */
static int64_t convert_to_ns(struct activity *a, const struct run_clock *clock)
{
	uint64_t start_ticks = resolved_start_ticks(a), end_ticks;
	int64_t end_ns;

	if (__builtin_add_overflow(start_ticks, resolved_duration_ticks(a), &end_ticks))
		end_ticks = UINT64_MAX;
	end_ns = time_ns(clock, end_ticks);
	a->start_ns = time_ns(clock, start_ticks);
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
	if (in->tap.activities && in->batch_count)
		in->tap.activities(in->tap.arg, in->batch, in->batch_count);
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
		intake_note_failure(in, in->form->flush(in->writer, &err), &err);
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

		m->pending = spool_pending(&m->spool, &in->pending, &in->pending_count,
					   &in->pending_cap);
		for (size_t k = in->pending_count - m->pending; k < in->pending_count; k++)
			note_thread_id(in, m, &in->pending[k]);
		rest_member(in, m);
	}
	for (size_t i = 0; i < in->pending_count; i++)
		words += in->pending[i].words;
	return words;
}

/* Loads and collects the records that end by `until`, each chunk while it is in the cache. */
static void order_all(struct intake *in, uint64_t until)
{
	portion_begin(&in->portion);
	for (size_t i = 0; i < in->pending_count; i++) {
		struct pending *p = &in->pending[i];

		portion_add(&in->portion, p);
		p->taken = order_sequence(in, p, until);
		portion_keep(&in->portion, p->taken);
	}
}

/* Collects the records of the portion that end by `until`. */
static void order_portion(struct intake *in, uint64_t until)
{
	for (size_t i = 0; i < in->pending_count; i++)
		if (in->pending[i].records)
			in->pending[i].taken = order_sequence(in, &in->pending[i], until);
}

static void consume_taken(struct intake *in)
{
	in->progress = false;
	for (size_t i = 0; i < in->pending_count; i++) {
		struct pending *p = &in->pending[i];

		if (!p->taken)
			continue;
		in->progress |= p->taken != p->records || p->dropped;
		spool_consume(p, p->taken);
		rest_member(in, (const struct member *)p->spool);
	}
}

static uint64_t container_bytes(const struct intake *in)
{
	struct stat st;

	return stat(in->container, &st) == 0 ? (uint64_t)st.st_size : 0;
}

void intake_commit(struct intake *in)
{
	struct err err;

	if (!in->ledger || in->error.code)
		return;
	intake_note_failure(in, in->form->flush(in->writer, &err), &err);
	if (!in->error.code)
		ledger_extend(in->ledger, container_bytes(in));
}

static void store_in_ledger(const struct intake *in, enum pass_state state, uint64_t until)
{
	/* What could not be written must not count as written. */
	if (!in->ledger || in->error.code)
		return;
	if (state == PASS_WRITING)
		ledger_begin(in->ledger, until);
	else if (state == PASS_WRITTEN)
		ledger_written(in->ledger, container_bytes(in));
	else
		ledger_consumed(in->ledger);
}

/*
 * Stores the progress of the pass, so that recovery knows which records are in the trace already.
 */
static void store_progress(struct intake *in, enum pass_state state, uint64_t until)
{
	store_in_ledger(in, state, until);
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

/* A daemon has many intakes, but only one at a time is in a pass: the memory goes to the next. */
static void rest_after_pass(struct intake *in)
{
	if (!in->ledger)
		return;
	order_release(&in->order);
	portion_release(&in->portion);
	if (in->form->rest)
		in->form->rest(in->writer);
}

size_t intake_pass(struct intake *in, uint64_t now, bool due)
{
	uint64_t until = now, words = list_pending(in);
	bool is_limited = words > PORTION_WORDS && !in->skip;
	struct err err;
	size_t count;

	in->progress = false;
	if (now != UINT64_MAX)
		in->now_ticks = now;
	if (words < PASS_WORDS && in->pending_count < PASS_SEQUENCES && !due)
		return 0;
	portion_sort(in->pending, in->pending_count);
	if (is_limited)
		until = portion_load(&in->portion, in->pending, in->pending_count, now);
	store_progress(in, PASS_WRITING, until);
	if (is_limited)
		order_portion(in, until);
	else
		order_all(in, until);
	count = write_ordered(in);
	if (in->form->flush && !in->error.code)
		intake_note_failure(in, in->form->flush(in->writer, &err), &err);
	/* A collector that continues later reads the records again. */
	if (in->ledger && in->error.code)
		return 0;
	store_progress(in, PASS_WRITTEN, until);
	consume_taken(in);
	store_progress(in, PASS_NONE, 0);
	rest_after_pass(in);
	return count;
}

static void write_note(void *arg, const struct note *note)
{
	intake_fact(arg, &fact_note, note);
}

void intake_unrecorded(struct intake *in)
{
	launches_finish(&in->launches);
	launches_report(&in->launches, in->host, in, write_note);
	in->totals.unrecorded = in->launches.unrecorded;
}

static void remove_member(struct intake *in, struct member *m)
{
	size_t i = 0;

	while (in->members[i] != m)
		i++;
	memmove(&in->members[i], &in->members[i + 1],
		(--in->member_count - i) * sizeof(struct member *));
	if (map_get(&in->images, image_key(&m->spool.identity)) == m)
		map_remove(&in->images, image_key(&m->spool.identity));
	in->ended_ranks += m->rank >= 0;
	resolver_ended(in->resolver, m->index);
	member_free(m);
}

static void release_spool(struct intake *in, const struct member *m)
{
	if (m->spool.path) {
		unlink(m->spool.path);
		return;
	}
	in->released = xgrow(in->released, &in->released_cap, in->released_count + 1,
			     sizeof(*in->released));
	in->released[in->released_count++] = m->ticket;
}

uint32_t intake_end(struct intake *in, struct member *m)
{
	uint32_t chunks = spool_chunks(&m->spool);

	if (has_new_rank(in, m))
		write_process(in, m);
	final_account_write(in, m);
	release_spool(in, m);
	remove_member(in, m);
	return chunks;
}
