/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Folded stacks, the input of flamegraph.pl and speedscope: one line per chain of causal calls with
 * the time that its last call spent outside of the calls that it caused, in microseconds.
 *
 *   simulation;H5Dwrite;MPI_File_write_at_all;pwrite64 152034
 *
 * The first frame is the program. Chains form a tree, which has limits: a trace may hold any number
 * of distinct chains.
 */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/export/export.h"
#include "observe/export/texts.h"
#include "observe/tally/nest.h"
#include "trace/format.h"

#define DEPTH_MAX 64	  /* calls of a chain; deeper ones count for the last of them */
#define FRAMES_MAX 100000 /* nodes of the tree; time of further ones counts for the call above */

struct frame_key {
	uint32_t above; /* number of the frame */
	uint32_t text;
};

struct frame {
	struct frame_key key;
	uint32_t number;
	int64_t self_ns;
	UT_hash_handle hh;
};

/* Frame 0 is the root, which has no name. */
struct folded {
	const struct trace_head *head;
	struct nest nest;
	struct texts texts;
	uint32_t *calls, *programs; /* texts by call and by process */
	struct frame **frames;	    /* by number */
	size_t count, cap;
	struct frame *table; /* hash by key */
};

static struct frame *add_frame(struct folded *folded, const struct frame_key *key)
{
	struct frame *frame = xcalloc(1, sizeof(*frame));

	frame->key = *key;
	frame->number = (uint32_t)folded->count;
	HASH_ADD(hh, folded->table, key, sizeof(frame->key), frame);
	folded->frames =
		xgrow(folded->frames, &folded->cap, folded->count + 1, sizeof(struct frame *));
	folded->frames[folded->count++] = frame;
	return frame;
}

/* The frame below another one; that one itself if there are too many. */
static struct frame *find_frame(struct folded *folded, struct frame *above, uint32_t text)
{
	struct frame_key key = { above->number, text };
	struct frame *frame;

	HASH_FIND(hh, folded->table, &key, sizeof(key), frame);
	if (frame)
		return frame;
	return folded->count < FRAMES_MAX ? add_frame(folded, &key) : above;
}

static uint32_t add_text(struct folded *folded, const char *text)
{
	return texts_add(&folded->texts, text && *text ? text : "?");
}

/* An activity of the program is shown by its name, which takes the place of its file. */
static uint32_t call_text(struct folded *folded, unsigned layer, unsigned call, file_id file)
{
	const struct trace_head *head = folded->head;

	if (layer == LAYER_APPLICATION && file && file < head->file_count)
		return add_text(folded, head->files[file]);
	return folded->calls[call];
}

/* The time of a call is taken from the call that caused it. */
static void add_call(struct folded *folded, const struct activity *a)
{
	const struct nest_call *enclosing;
	size_t depth = size_min(nest_enter(&folded->nest, a, &enclosing), DEPTH_MAX);
	struct frame *frame = folded->frames[0], *above;

	frame = find_frame(folded, frame, folded->programs[a->process]);
	for (size_t i = 0; i < depth; i++)
		frame = find_frame(folded, frame,
				   call_text(folded, enclosing[i].layer, enclosing[i].call,
					     enclosing[i].file));
	above = frame;
	if (depth < DEPTH_MAX)
		frame = find_frame(folded, frame, call_text(folded, a->layer, a->call, a->file));
	frame->self_ns += a->duration_ns;
	if (depth)
		above->self_ns -= a->duration_ns;
}

static int add_calls(void *arg, const struct activity *batch, size_t n, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < n; i++) {
		struct activity a = batch[i];

		if (a.layer == LAYER_APPLICATION)
			a.file = a.name;
		add_call(arg, &a);
	}
	return 0;
}

static void init_folded(struct folded *folded, const struct trace_head *head)
{
	*folded = (struct folded){ .head = head };
	folded->calls = xcalloc(head->call_count, sizeof(*folded->calls));
	folded->programs = xcalloc(head->process_count, sizeof(*folded->programs));
	for (size_t i = 0; i < head->call_count; i++)
		folded->calls[i] = add_text(folded, head->calls[i].name);
	for (size_t i = 0; i < head->process_count; i++)
		folded->programs[i] =
			add_text(folded, path_base_name(text_or_empty(head->processes[i].program)));
	add_frame(folded, &(struct frame_key){ UINT32_MAX, 0 });
}

static void release_folded(struct folded *folded)
{
	HASH_CLEAR(hh, folded->table);
	for (size_t i = 0; i < folded->count; i++)
		free(folded->frames[i]);
	free(folded->frames);
	free(folded->calls);
	free(folded->programs);
	texts_release(&folded->texts);
	nest_release(&folded->nest);
}

/* A semicolon separates frames, and the last blank of a line precedes the number. */
static void put_name(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text == ';' || *text == ' ' ? '_' : *text, out);
}

static void print_frame(const struct folded *folded, const struct frame *frame, FILE *out)
{
	const struct frame *chain[DEPTH_MAX + 2];
	int64_t us = frame->self_ns / NS_PER_US + (frame->self_ns % NS_PER_US >= NS_PER_US / 2);
	size_t depth = 0;

	if (us <= 0)
		return;
	for (; frame->number; frame = folded->frames[frame->key.above])
		chain[depth++] = frame;
	while (depth) {
		put_name(out, folded->texts.list[chain[--depth]->key.text]);
		if (depth)
			fputc(';', out);
	}
	fprintf(out, " %lld\n", (long long)us);
}

static int write_stacks(const struct export_job *job, FILE *out, struct err *err)
{
	struct folded folded;
	int r;

	init_folded(&folded, &job->trace->head);
	r = export_read(job, add_calls, &folded, err);
	for (size_t i = 1; i < folded.count && !r; i++)
		print_frame(&folded, folded.frames[i], out);
	release_folded(&folded);
	return r;
}

const struct export_format export_folded = {
	.name = "folded",
	.suffix = ".folded",
	.help = "stacks of causal calls with their time, for flame graphs",
	.write = write_stacks,
};
