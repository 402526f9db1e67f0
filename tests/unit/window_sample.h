/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random traces for tests of windows, and what a plain pass over all activities says of a window.
 */
#ifndef SLUICE_TESTS_WINDOW_SAMPLE_H
#define SLUICE_TESTS_WINDOW_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "observe/tally/names.h"
#include "observe/tally/summary.h"
#include "observe/tally/traffic.h"
#include "observe/window/index.h"
#include "trace/format.h"
#include "trace_sample.h"

enum {
	NONE,
	OPEN,
	PREAD,
	PWRITE,
	FWRITE,
	COPY,
	SEND,
	AIO_WRITE,
	AIO_RETURN,
	COMPLETED,
	MPI_INIT,
	MPI_WRITE,
	H5_WRITE,
	PHASE,
	SUBMIT,
	URING_WRITE,
	CALLS
};

static const struct call_info calls[CALLS] = {
	[NONE] = { .name = "none", .class = CLASS_CONTROL },
	[OPEN] = { .name = "open", .class = CLASS_OPEN },
	[PREAD] = { .name = "pread", .class = CLASS_READ },
	[PWRITE] = { .name = "pwrite", .class = CLASS_WRITE },
	[FWRITE] = { .name = "fwrite", .layer = LAYER_STDIO, .class = CLASS_WRITE },
	[COPY] = { .name = "copy_file_range", .class = CLASS_COPY },
	[SEND] = { .name = "send", .layer = LAYER_NETWORK, .class = CLASS_WRITE },
	[AIO_WRITE] = { .name = "aio_write", .class = CLASS_START },
	[AIO_RETURN] = { .name = "aio_return", .class = CLASS_WAIT },
	[COMPLETED] = { .name = "completed", .class = CLASS_WAIT },
	[MPI_INIT] = { .name = "MPI_Init", .layer = LAYER_MPI, .class = CLASS_PROCESS },
	[MPI_WRITE] = { .name = "MPI_File_write_at", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[H5_WRITE] = { .name = "H5Dwrite", .layer = LAYER_HDF5, .class = CLASS_WRITE },
	[PHASE] = { .name = "phase", .layer = LAYER_APPLICATION, .class = CLASS_ACTIVITY },
	[SUBMIT] = { .name = "io_uring_submit", .class = CLASS_START },
	[URING_WRITE] = { .name = "io_uring_write", .class = CLASS_START },
};

#define FILES 24
#define THREADS 2

/* A run that is being made up. */
struct made {
	struct activity *list;
	size_t count, cap;
	uint32_t processes;
	bool parallel; /* process 0 is a launcher, the others are ranks */
	int64_t end_ns;
};

static uint64_t below(uint64_t limit)
{
	return sample_random() % limit;
}

static void put(struct made *m, struct activity a)
{
	m->list = xgrow(m->list, &m->cap, m->count + 1, sizeof(*m->list));
	m->list[m->count++] = a;
	if (a.start_ns + a.duration_ns > m->end_ns)
		m->end_ns = a.start_ns + a.duration_ns;
}

static struct activity make_call(uint32_t process, uint32_t thread, uint64_t *seq, uint64_t parent,
				 int64_t start)
{
	struct activity a = {
		.start_ns = start,
		.id = id_make(thread, ++*seq),
		.parent = parent,
		.process = process,
		.call = (uint16_t)(OPEN + below(CALLS - OPEN)),
		.handle = -1,
		.present = PRESENT(RESULT),
	};

	a.layer = calls[a.call].layer;
	a.file = (file_id)below(FILES);
	a.name = a.layer == LAYER_APPLICATION ? (file_id)below(FILES) : 0;
	a.file2 = a.call == COPY ? (file_id)below(FILES) : 0;
	if (a.call == SEND)
		a.file = 0;
	a.error = below(20) ? 0 : 5;
	a.size = (int64_t)(below(2) ? below(5000) : UINT64_C(1) << below(30));
	a.result = a.error ? -1 : (int64_t)below((uint64_t)a.size + 1);
	a.present |= PRESENT(SIZE);
	if (below(3)) {
		a.offset = (int64_t)below(1 << 20);
		a.present |= PRESENT(OFFSET);
	}
	return a;
}

/* A call with the calls that it encloses. Returns its end. */
static int64_t make_nested(struct made *m, uint32_t process, uint32_t thread, uint64_t *seq,
			   uint64_t parent, int64_t start, int depth, uint64_t *started)
{
	struct activity a = make_call(process, thread, seq, parent, start);
	size_t children = depth < 5 && below(3) == 0 ? below(depth ? 4 : 6) : 0;
	int64_t now = start + (int64_t)below(20);
	size_t place;

	if ((a.call == AIO_RETURN || a.call == COMPLETED) && *started) {
		a.link = *started;
		a.present |= PRESENT(LINK);
		*started = 0;
	}
	if ((a.call == AIO_WRITE || a.call == URING_WRITE) && !a.error)
		*started = a.id;
	if (a.call == COMPLETED)
		children = 0; /* it is not a call */
	place = m->count;
	put(m, a);
	for (size_t i = 0; i < children; i++)
		now = make_nested(m, process, thread, seq, a.id, now, depth + 1, started) +
		      (int64_t)below(5);
	if (!children)
		now += below(200) ? (int64_t)below(50) : (int64_t)below(20000);
	m->list[place].duration_ns = now - start;
	if (now > m->end_ns)
		m->end_ns = now;
	return now;
}

static struct made make_run(uint32_t processes, bool parallel, size_t calls_per_thread)
{
	struct made m = { .processes = processes, .parallel = parallel };

	for (uint32_t p = 0; p < processes; p++) {
		for (uint32_t t = 0; t < THREADS; t++) {
			uint64_t seq = 0, started = 0;
			int64_t now = (int64_t)below(1000);

			for (size_t i = 0; i < calls_per_thread; i++)
				now = make_nested(&m, p, p * THREADS + t, &seq, 0, now, 0,
						  &started) +
				      (below(50) ? (int64_t)below(100) : (int64_t)below(10000));
		}
	}
	qsort(m.list, m.count, sizeof(*m.list), activity_compare);
	return m;
}

/* Writes it, and returns the path. */
static char *write_run(const struct made *m, const struct trace_format *form)
{
	const struct run_end end = { m->end_ns, 0, true };
	char *path = sample_path(form->suffix);
	struct err err = { 0 };
	void *w = NULL;

	REQUIRE(form->create(&w, path, &sample_run, &sample_clock, calls, CALLS, &err) == 0);
	for (uint32_t i = 0; i < m->processes; i++) {
		struct process_info process = sample_process(i);

		process.parent = -1;
		process.first_thread = i * THREADS;
		process.rank = m->parallel ? (int32_t)i - 1 : -1;
		process.ranks = m->parallel && i ? (int32_t)m->processes - 1 : 0;
		REQUIRE(form->add_process(w, &process, &err) == 0);
	}
	for (file_id i = 1; i < FILES; i++) {
		AUTO_FREE char *name = xprintf("/data/%u", i);

		REQUIRE(form->add_file(w, i, name, &err) == 0);
	}
	if (form->add_activities(w, m->list, m->count, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	REQUIRE(form->finish(w, &end, &sample_clock, &err) == 0);
	return path;
}

/* How one activity counts, from what really encloses it. */
struct counted {
	struct activity a;
	struct contribution share;
	struct call_context at;
	bool notice;
	int64_t more; /* bytes that its completion adds */
};

static UNUSED struct counted *count_all(const struct made *m)
{
	struct counted *all = xcalloc(m->count + 1, sizeof(*all));
	struct trace_head head = { .calls = (struct call_info *)calls, .call_count = CALLS };
	uint8_t *ways = traffic_table(&head);
	struct nest nest = { 0 };

	for (size_t i = 0; i < m->count; i++) {
		struct counted *c = &all[i];
		const struct nest_call *enclosing;
		size_t depth;

		c->a = m->list[i];
		if (c->a.layer == LAYER_APPLICATION)
			c->a.file = c->a.name;
		depth = nest_enter(&nest, &c->a, &enclosing);
		c->share = summary_contribution(&head, ways, &c->a);
		c->at = summary_context(&head, ways, &c->a, enclosing, depth);
		c->notice = c->a.call == COMPLETED;
		if (!(c->a.present & PRESENT(LINK)))
			continue;
		for (size_t k = i; k-- > 0;) {
			struct counted *start = &all[k];

			if (start->a.process != c->a.process || start->a.id != c->a.link)
				continue;
			start->more =
				(int64_t)(traffic_completed(&c->a, start->share.bytes_written) -
					  start->share.bytes_written);
			break;
		}
	}
	nest_release(&nest);
	free(ways);
	return all;
}

static int32_t member_of(const struct made *m, uint32_t process)
{
	return m->parallel ? (int32_t)process - 1 : (int32_t)process;
}

/* Is the call selected and in the figures? The window does not matter. */
static UNUSED bool is_selected(const struct made *m, const struct counted *c,
			       const struct window_filter *f, bool figures)
{
	bool in_tables = c->a.layer == LAYER_NETWORK || c->share.is_process || !c->at.in_process;
	const char *file = c->a.layer == LAYER_APPLICATION ? "" : NULL;
	AUTO_FREE char *first = xprintf("/data/%u", c->a.file);
	AUTO_FREE char *second = xprintf("/data/%u", c->a.file2);

	if (f->level != WINDOW_ALL && (!names_layer_is_io(c->a.layer) || c->share.is_process ||
				       c->at.in_process || c->notice))
		return false;
	if (f->level == WINDOW_PROGRAM && c->at.in_io)
		return false;
	if (f->level == WINDOW_STORAGE &&
	    (c->at.in_storage || (c->a.layer != LAYER_POSIX && c->a.layer != LAYER_STDIO)))
		return false;
	if (figures && (c->notice || !in_tables || member_of(m, c->a.process) < 0))
		return false;
	return (!f->layer || c->a.layer == names_find_layer(f->layer, strlen(f->layer))) &&
	       (!f->function || strcmp(calls[c->a.call].name, f->function) == 0) &&
	       (!f->file || (!file && (strcmp(f->file, first) == 0 ||
				       (c->a.file2 && strcmp(f->file, second) == 0)))) &&
	       (!f->has_member || member_of(m, c->a.process) == f->member) &&
	       (!f->errors || c->a.error) && c->a.duration_ns >= f->min_ns;
}

static struct window_index *index_run(const char *path, const struct index_tuning *tuning)
{
	struct window_index *index = NULL;
	struct err err = { 0 };

	if (index_open(&index, path, tuning, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(index);
	return index;
}

static UNUSED struct window_index *index_whole_run(const char *path,
						   const struct index_tuning *tuning)
{
	struct window_index *index = index_run(path, tuning);
	struct err err = { 0 };

	if (window_index_wait(index, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	return index;
}

#endif
