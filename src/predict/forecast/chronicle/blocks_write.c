/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "learn/table/export.h"
#include "base/number.h"
#include "predict/forecast/chronicle/blocks.h"

/* ---- words ---- */

/* What would end a word, or make it look like the name of a section, is written as "%20". */
static void name_write(struct buf *out, const char *name)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c <= ' ' || c == 0x7f || c == ',' || c == '%' || (c == ':' && !name[1]))
			buf_printf(out, "%%%02x", c);
		else
			buf_putc(out, *name);
	}
}

static void real_write(struct buf *out, double value)
{
	char text[NUMBER_TEXT_MAX];

	number_format(value, text);
	buf_puts(out, text);
}

/* As few digits as read back as the same. */
static void seconds_write(struct buf *out, float seconds)
{
	char text[NUMBER_TEXT_MAX];

	for (int digits = 5; digits <= 9; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, (double)seconds);
		if ((float)strtod(text, NULL) == seconds)
			break;
	}
	buf_puts(out, text);
	buf_putc(out, 's');
}

/* "64MB"; in the largest unit of which there is a whole number. */
static void size_write(struct buf *out, uint64_t bytes)
{
	static const char units[] = "KMGTP";
	int unit = -1;

	while (unit < 4 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	buf_printf(out, "%llu", (unsigned long long)bytes);
	if (unit >= 0)
		buf_printf(out, "%cB", units[unit]);
}

/* Always the words of a fixed list. */
static void word_write(struct buf *out, const char *words, unsigned number)
{
	for (; number; number--)
		words += strcspn(words, "|") + 1;
	buf_add(out, words, strcspn(words, "|"));
}

/* ---- jobs ---- */

/* Without an exponent, which qstat has not, and with as many digits as it takes. */
static void attribute_number(struct buf *out, const char *name, double value, const char *unit)
{
	char text[400];

	if (!isfinite(value) || value < 0)
		return;
	for (int digits = 0; digits <= 44; digits++) {
		snprintf(text, sizeof(text), "%.*f", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_printf(out, "    %s = %s%s\n", name, text, unit);
}

static void attribute_bytes(struct buf *out, const char *name, double bytes)
{
	if (bytes >= 1024 && fmod(bytes, 1024) == 0)
		attribute_number(out, name, bytes / 1024, "kb");
	else
		attribute_number(out, name, bytes, "b");
}

static void attribute_time(struct buf *out, const char *name, double seconds)
{
	unsigned long long whole;

	if (!(seconds >= 0 && seconds < 1e12) || seconds != floor(seconds)) {
		attribute_number(out, name, seconds, "");
		return;
	}
	whole = (unsigned long long)seconds;
	buf_printf(out, "    %s = %02llu:%02llu:%02llu\n", name, whole / 3600, whole / 60 % 60,
		   whole % 60);
}

static void attribute_text(struct buf *out, const char *name, const char *text)
{
	if (*text)
		buf_printf(out, "    %s = %s\n", name, text);
}

/*
 * In the words of qstat -f. Of memory the store does not know whether it was used or granted: it
 * is written as used.
 */
static void job_write(struct buf *out, const struct job *job)
{
	buf_printf(out, "Job Id: %s\n", job->id);
	attribute_text(out, "Job_Name", job->name);
	attribute_text(out, "Job_Owner", job->owner);
	attribute_bytes(out, "resources_used.mem", job->memory_bytes);
	attribute_bytes(out, "resources_used.vmem", job->virtual_bytes);
	attribute_time(out, "resources_used.walltime", job->used_s);
	buf_puts(out, "    job_state = R\n");
	attribute_text(out, "queue", job->queue);
	attribute_number(out, "Resource_List.nodect", job->nodes, "");
	attribute_time(out, "Resource_List.walltime", job->allocated_s);
	buf_putc(out, '\n');
}

/* ---- blocks ---- */

void blocks_writer_init(struct blocks_writer *writer, const struct chronicle *chronicle,
			double from_s, double to_s)
{
	double before_s = nextafter(from_s, -INFINITY);
	size_t series = chronicle->target_count * CHRONICLE_SIZES;

	*writer = (struct blocks_writer){ .chronicle = chronicle, .to_s = to_s };
	writer->next = xcalloc(series + 1, sizeof(*writer->next));
	for (size_t i = 0; i < series; i++)
		writer->next[i] = chronicle_until(&chronicle->series[i], before_s);
	writer->snapshot = (size_t)(chronicle_jobs_at(chronicle, before_s) + 1);
	writer->node = (size_t)(chronicle_node_at(chronicle, before_s) + 1);
}

void blocks_writer_release(struct blocks_writer *writer)
{
	free(writer->next);
	*writer = (struct blocks_writer){ 0 };
}

/* Has the series a sample of that time that is still to be written? */
static bool is_next(const struct blocks_writer *writer, size_t series, double time_s)
{
	const struct chronicle_series *of = &writer->chronicle->series[series];

	return writer->next[series] < of->count && of->time_s[writer->next[series]] == time_s;
}

static double time_next(const struct blocks_writer *writer)
{
	const struct chronicle *chronicle = writer->chronicle;
	double earliest = INFINITY;

	for (size_t i = 0; i < chronicle->target_count * CHRONICLE_SIZES; i++) {
		const struct chronicle_series *series = &chronicle->series[i];

		if (writer->next[i] < series->count && series->time_s[writer->next[i]] < earliest)
			earliest = series->time_s[writer->next[i]];
	}
	if (writer->snapshot < chronicle->snapshot_count)
		earliest = fmin(earliest, chronicle->snapshots[writer->snapshot].time_s);
	if (writer->node < chronicle->node_count)
		earliest = fmin(earliest, chronicle->nodes[writer->node].time_s);
	return earliest < writer->to_s ? earliest : INFINITY;
}

/* Most cells of a block are measured the same way: by that of the first. */
static enum sample_method method_of(const struct blocks_writer *writer, double time_s)
{
	const struct chronicle *chronicle = writer->chronicle;

	for (size_t i = 0; i < chronicle->target_count * CHRONICLE_SIZES; i++)
		if (is_next(writer, i, time_s))
			return sample_method(&chronicle->series[i], writer->next[i]);
	return SAMPLE_UNKNOWN;
}

static void cell_write(struct buf *out, const struct chronicle_series *series, size_t i,
		       enum sample_method usual)
{
	switch (sample_outcome(series, i)) {
	case SAMPLE_TIMEOUT:
		buf_putc(out, '>');
		/* fall through */
	case SAMPLE_DONE:
		seconds_write(out, series->seconds[i]);
		break;
	case SAMPLE_FULL:
		buf_puts(out, "full");
		break;
	case SAMPLE_FAILED:
		buf_puts(out, "failed");
		break;
	}
	if (sample_method(series, i) != usual) {
		buf_putc(out, '/');
		word_write(out, SAMPLE_METHODS, sample_method(series, i));
	}
}

/* A row of the target; false where it has nothing of that time. */
static bool row_write(struct blocks_writer *writer, struct buf *out, size_t target, double time_s,
		      enum sample_method usual)
{
	const struct chronicle *chronicle = writer->chronicle;
	size_t first = target * CHRONICLE_SIZES;
	bool has_any = false;

	for (size_t i = 0; i < chronicle->size_count; i++)
		has_any |= is_next(writer, first + i, time_s);
	if (!has_any)
		return false;
	name_write(out, chronicle->targets[target]);
	for (size_t i = 0; i < chronicle->size_count; i++) {
		buf_putc(out, ' ');
		if (is_next(writer, first + i, time_s))
			cell_write(out, &chronicle->series[first + i], writer->next[first + i]++,
				   usual);
		else
			buf_putc(out, '-');
	}
	buf_putc(out, '\n');
	return true;
}

static void table_write(struct blocks_writer *writer, struct buf *out, double time_s,
			enum sample_method usual)
{
	const struct chronicle *chronicle = writer->chronicle;

	buf_puts(out, "Performance:\nOSS id");
	for (size_t i = 0; i < chronicle->size_count; i++) {
		buf_putc(out, ' ');
		size_write(out, chronicle->sizes[i]);
	}
	buf_putc(out, '\n');
	/* Two samples of one time are two rows. */
	for (size_t i = 0; i < chronicle->target_count; i++)
		while (row_write(writer, out, i, time_s, usual))
			;
	buf_putc(out, '\n');
}

static void node_write(struct buf *out, const struct node_state *node)
{
	buf_puts(out, "Node:");
	for (int i = 0; i < NODE_VALUES; i++) {
		if (isnan(node->values[i]))
			continue;
		buf_printf(out, " %s=", node_value_names[i]);
		real_write(out, node->values[i]);
	}
	buf_putc(out, '\n');
}

bool blocks_writer_next(struct blocks_writer *writer, struct buf *out)
{
	const struct chronicle *chronicle = writer->chronicle;
	double time_s = time_next(writer);
	enum sample_method usual = method_of(writer, time_s);

	if (time_s == INFINITY)
		return false;
	buf_puts(out, "Timestamp: ");
	real_write(out, time_s);
	buf_putc(out, '\n');
	if (usual != SAMPLE_UNKNOWN) {
		buf_puts(out, "Method: ");
		word_write(out, SAMPLE_METHODS, usual);
		buf_putc(out, '\n');
	}
	if (writer->node < chronicle->node_count && chronicle->nodes[writer->node].time_s == time_s)
		node_write(out, &chronicle->nodes[writer->node++]);
	if (writer->snapshot < chronicle->snapshot_count &&
	    chronicle->snapshots[writer->snapshot].time_s == time_s) {
		const struct jobs *jobs = &chronicle->snapshots[writer->snapshot++];

		buf_puts(out, "All running jobs:\n");
		for (size_t i = 0; i < jobs->count; i++)
			job_write(out, &jobs->rows[i]);
	}
	table_write(writer, out, time_s, usual);
	return true;
}

void blocks_begin(struct buf *out, const struct chronicle *chronicle)
{
	buf_puts(out, "System: ");
	name_write(out, *chronicle->system ? chronicle->system : "unknown");
	buf_puts(out, "\n\n");
}

void blocks_add(struct buf *out, const struct chronicle *chronicle, double from_s, double to_s)
{
	struct blocks_writer writer;

	blocks_writer_init(&writer, chronicle, from_s, to_s);
	while (blocks_writer_next(&writer, out))
		;
	blocks_writer_release(&writer);
}

/* ---- files ---- */

/* What of a chronicle is written. */
struct part {
	const struct chronicle *chronicle;
	double from_s, to_s;
};

static void part_write(gzFile file, const void *arg)
{
	const struct part *part = arg;
	AUTO_BUF struct buf block = { 0 };
	struct blocks_writer writer;
	bool more = true;

	blocks_begin(&block, part->chronicle);
	blocks_writer_init(&writer, part->chronicle, part->from_s, part->to_s);
	while (more && gzwrite(file, block.data, (unsigned)block.len) == (int)block.len) {
		buf_clear(&block);
		more = blocks_writer_next(&writer, &block);
	}
	blocks_writer_release(&writer);
}

int blocks_write(const struct chronicle *chronicle, const char *path, double from_s, double to_s,
		 struct err *err)
{
	struct part part = { chronicle, from_s, to_s };

	return export_write(path, part_write, &part, err);
}
