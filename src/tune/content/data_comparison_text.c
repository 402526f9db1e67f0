/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Says what a comparison has compared and what it has left out.
 */
#include "tune/content/data_comparison_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/unit.h"

#define DETAILS_MAX 3 /* of what was left out */

/* The items of one output. */
struct output {
	const struct data_comparison_item *items;
	size_t count;
	size_t full, partial;  /* items */
	double bytes, varying; /* compared, left out of items that were compared */
	const struct data_comparison_item *first; /* the first item that is not compared in full */
};

/* The bytes of the blocks that vary; of a text, a share of its bytes. */
static double varying_bytes(const struct data_comparison_item *i)
{
	double bytes = (double)i->item.bytes, count = (double)i->item.block_count,
	       varying = (double)i->varying * (double)i->item.block_bytes;

	if (!i->varying)
		return 0;
	if (i->item.is_text)
		return bytes * (double)i->varying / count;
	return varying < bytes ? varying : bytes;
}

static struct output collect_output(const struct data_comparison *c, size_t at)
{
	struct output o = { .items = &c->items[at] };

	for (; at + o.count < c->count &&
	       strcmp(c->items[at + o.count].item.file, o.items->item.file) == 0;
	     o.count++) {
		const struct data_comparison_item *i = &o.items[o.count];

		if (i->excluded == DATA_INCLUDED) {
			o.full += !i->varying;
			o.partial += i->varying > 0;
			o.bytes += (double)i->item.bytes - varying_bytes(i);
			o.varying += varying_bytes(i);
		}
		if (!o.first && (i->excluded != DATA_INCLUDED || i->varying))
			o.first = i;
	}
	return o;
}

/* What was left out of an output: "out.log differs between runs without parameters". */
static void append_exclusion(const struct output *o, struct buf *text)
{
	const struct data_comparison_item *i = o->first;
	AUTO_FREE char *name = data_comparison_name(&i->item);
	size_t others = o->count - o->full - 1;
	char bytes[UNIT_TEXT];

	if (i->excluded == DATA_UNREAD)
		buf_printf(text, "%s: %s", name, i->item.unread);
	else if (i->excluded == DATA_SOMETIMES)
		buf_printf(text, "%s is not written by every run", name);
	else if (i->excluded == DATA_VARIES)
		buf_printf(text, "%s differs between runs without parameters", name);
	else if (i->item.is_text)
		buf_printf(text, "%zu of %zu lines of %s differ between runs without parameters",
			   i->varying, i->item.block_count, name);
	else
		buf_printf(text, "%s of %s differ between runs without parameters",
			   unit_bytes(bytes, o->varying), name);
	if (others)
		buf_printf(text, " (and %zu other object%s of the file)", others,
			   others == 1 ? "" : "s");
}

/* The sum over all outputs. */
struct coverage {
	size_t outputs, full, partial;
	double bytes;
	struct buf left_out;
	size_t details;
};

static void append_detail(struct coverage *all, const char *text)
{
	if (all->details++ < DETAILS_MAX)
		buf_printf(&all->left_out, "; %s", text);
}

static void add_output(struct coverage *all, const struct output *o)
{
	AUTO_BUF struct buf text = { 0 };

	all->outputs++;
	all->full += !o->first;
	all->partial += o->first && o->full + o->partial;
	all->bytes += o->bytes;
	if (!o->first)
		return;
	append_exclusion(o, &text);
	append_detail(all, buf_text(&text));
}

static void sum_outputs(const struct data_comparison *c, const struct manifest *manifest,
			struct coverage *all)
{
	for (size_t at = 0; at < c->count;) {
		struct output o = collect_output(c, at);

		if (o.items->item.origin == MANIFEST_OUTPUT)
			add_output(all, &o);
		at += o.count;
	}
	if (c->has_strangers)
		append_detail(all, "the names of some outputs vary");
	for (size_t i = 0; i < c->gaps.gap_count; i++)
		append_detail(all, c->gaps.gaps[i]);
	for (size_t i = 0; i < manifest->gap_count; i++)
		if (!strstr(buf_text(&all->left_out), manifest->gaps[i]))
			append_detail(all, manifest->gaps[i]);
	if (all->details > DETAILS_MAX)
		buf_printf(&all->left_out, "; and %zu more", all->details - DETAILS_MAX);
}

/* "3 of 5 files, 12 MiB" */
static void append_files(const struct coverage *all, struct buf *text)
{
	char bytes[UNIT_TEXT];

	if (all->full + all->partial < all->outputs)
		buf_printf(text, "%zu of ", all->full + all->partial);
	buf_printf(text, "%zu file%s, %s", all->outputs, all->outputs == 1 ? "" : "s",
		   unit_bytes(bytes, all->bytes));
}

static const struct data_comparison_item *find_stdout(const struct data_comparison *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].item.origin == MANIFEST_STDOUT && c->items[i].item.bytes &&
		    c->items[i].excluded == DATA_INCLUDED)
			return &c->items[i];
	return NULL;
}

static void describe_stdout(const struct data_comparison_item *output, const struct coverage *all,
			    struct buf *text)
{
	bool is_whole = !output->varying && !all->details && !all->outputs;

	buf_printf(text, "%s: standard output", is_whole ? "identical" : "partly");
	if (output->item.is_text)
		buf_printf(text, ", %zu of %zu lines", output->item.block_count - output->varying,
			   output->item.block_count);
	if (all->outputs && !all->details)
		buf_puts(text, "; the files are empty");
	buf_puts(text, buf_text(&all->left_out));
}

static void describe_nothing(const struct data_comparison *c, const struct coverage *all,
			     struct buf *text)
{
	bool has_stdout = false;

	for (size_t i = 0; i < c->count; i++)
		has_stdout |= c->items[i].item.origin == MANIFEST_STDOUT && c->items[i].item.bytes;
	buf_puts(text, "not compared: ");
	if (!all->outputs)
		buf_puts(text, "the program wrote no file");
	else if (all->details)
		buf_puts(text, "no file could be compared");
	else
		buf_puts(text, "all files are empty");
	buf_puts(text, buf_text(&all->left_out));
	if (has_stdout)
		buf_puts(text, "; the standard output differs between runs without parameters");
}

char *data_comparison_describe(const struct data_comparison *c, const struct manifest *manifest)
{
	const struct data_comparison_item *output = find_stdout(c);
	struct coverage all = { 0 };
	struct buf text = { 0 };

	sum_outputs(c, manifest, &all);
	if (!data_comparison_needs_stdout(c)) {
		buf_puts(&text, all.details ? "partly: " : "identical: ");
		append_files(&all, &text);
		buf_puts(&text, buf_text(&all.left_out));
	} else if (output) {
		describe_stdout(output, &all, &text);
	} else {
		describe_nothing(c, &all, &text);
	}
	buf_release(&all.left_out);
	return buf_take(&text);
}
