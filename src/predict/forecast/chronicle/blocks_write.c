/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes probe data as text: see blocks.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/number.h"
#include "learn/table/export.h"
#include "predict/forecast/chronicle/blocks.h"

/* Writes bytes that would end a word, or make it look like a section, in the form "%20". */
static void write_name(struct buf *out, const char *name)
{
	bool hides_colons = blocks_is_section(name);

	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c <= ' ' || c == 0x7f || c == ',' || c == '%' ||
		    (c == ':' && (hides_colons || !name[1])))
			buf_printf(out, "%%%02x", c);
		else
			buf_putc(out, *name);
	}
}

static void write_number(struct buf *out, double value)
{
	char text[NUMBER_TEXT_MAX];

	number_format(value, text);
	buf_puts(out, text);
}

/* Writes the fewest digits that are read back as the same float. */
static void write_seconds(struct buf *out, float seconds)
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

/* Writes a size such as "64MB", in the largest unit that gives a whole number. */
static void write_size(struct buf *out, uint64_t bytes)
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

/* Writes word `number` of a list such as "a|b|c". */
static void write_word(struct buf *out, const char *words, unsigned number)
{
	for (; number; number--)
		words += strcspn(words, "|") + 1;
	buf_add(out, words, strcspn(words, "|"));
}

/* Writes an exact number without exponent, because qstat prints none. */
static void write_number_attribute(struct buf *out, const char *name, double value,
				   const char *unit)
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

static void write_bytes_attribute(struct buf *out, const char *name, double bytes)
{
	if (bytes >= 1024 && fmod(bytes, 1024) == 0)
		write_number_attribute(out, name, bytes / 1024, "kb");
	else
		write_number_attribute(out, name, bytes, "b");
}

static void write_time_attribute(struct buf *out, const char *name, double seconds)
{
	unsigned long long whole;

	if (!(seconds >= 0 && seconds < 1e12) || seconds != floor(seconds)) {
		write_number_attribute(out, name, seconds, "");
		return;
	}
	whole = (unsigned long long)seconds;
	buf_printf(out, "    %s = %02llu:%02llu:%02llu\n", name, whole / 3600, whole / 60 % 60,
		   whole % 60);
}

static void write_text_attribute(struct buf *out, const char *name, const char *text)
{
	if (*text)
		buf_printf(out, "    %s = %s\n", name, text);
}

/*
 * Writes a job in the format of qstat -f. The store does not know whether memory was used or
 * requested, so it is written as used.
 */
static void write_job(struct buf *out, const struct job *job)
{
	buf_printf(out, "Job Id: %s\n", job->id);
	write_text_attribute(out, "Job_Name", job->name);
	write_text_attribute(out, "Job_Owner", job->owner);
	write_bytes_attribute(out, "resources_used.mem", job->memory_bytes);
	write_bytes_attribute(out, "resources_used.vmem", job->virtual_bytes);
	write_time_attribute(out, "resources_used.walltime", job->used_s);
	buf_puts(out, "    job_state = R\n");
	write_text_attribute(out, "queue", job->queue);
	write_number_attribute(out, "Resource_List.nodect", job->nodes, "");
	write_time_attribute(out, "Resource_List.walltime", job->allocated_s);
	buf_putc(out, '\n');
}

/* Produces the blocks in order of time. The chronicle must not change meanwhile. */
struct blocks_writer {
	const struct chronicle *chronicle;
	double to_s;
	size_t *next; /* per series: its next sample */
	size_t snapshot, node;
};

static void blocks_writer_init(struct blocks_writer *writer, const struct chronicle *chronicle,
			       double from_s, double to_s)
{
	double before_s = nextafter(from_s, -INFINITY);
	size_t series = chronicle->target_count * CHRONICLE_SIZES;

	*writer = (struct blocks_writer){ .chronicle = chronicle, .to_s = to_s };
	writer->next = xcalloc(series + 1, sizeof(*writer->next));
	for (size_t i = 0; i < series; i++)
		writer->next[i] = chronicle_count_until(&chronicle->series[i], before_s);
	writer->snapshot = (size_t)(chronicle_jobs_at(chronicle, before_s) + 1);
	writer->node = (size_t)(chronicle_node_at(chronicle, before_s) + 1);
}

static void blocks_writer_release(struct blocks_writer *writer)
{
	free(writer->next);
	*writer = (struct blocks_writer){ 0 };
}

/* True if the next sample of the series has this time. */
static bool has_sample_at(const struct blocks_writer *writer, size_t series, double time_s)
{
	const struct chronicle_series *of = &writer->chronicle->series[series];

	return writer->next[series] < of->count && of->time_s[writer->next[series]] == time_s;
}

static double find_next_time(const struct blocks_writer *writer)
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

/* The method of the first cell; most cells of a block have the same. */
static enum sample_method find_method(const struct blocks_writer *writer, double time_s)
{
	const struct chronicle *chronicle = writer->chronicle;

	for (size_t i = 0; i < chronicle->target_count * CHRONICLE_SIZES; i++)
		if (has_sample_at(writer, i, time_s))
			return sample_method(&chronicle->series[i], writer->next[i]);
	return SAMPLE_UNKNOWN;
}

static void write_cell(struct buf *out, const struct chronicle_series *series, size_t i,
		       enum sample_method usual)
{
	switch (sample_outcome(series, i)) {
	case SAMPLE_TIMEOUT:
		buf_putc(out, '>');
		/* fall through */
	case SAMPLE_DONE:
		write_seconds(out, series->seconds[i]);
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
		write_word(out, SAMPLE_METHODS, sample_method(series, i));
	}
}

/* Writes a row of the target. Returns false if it has no sample of this time. */
static bool write_row(struct blocks_writer *writer, struct buf *out, size_t target, double time_s,
		      enum sample_method usual)
{
	const struct chronicle *chronicle = writer->chronicle;
	size_t first = target * CHRONICLE_SIZES;
	bool has_any = false;

	for (size_t i = 0; i < chronicle->size_count; i++)
		has_any |= has_sample_at(writer, first + i, time_s);
	if (!has_any)
		return false;
	write_name(out, chronicle->targets[target]);
	for (size_t i = 0; i < chronicle->size_count; i++) {
		buf_putc(out, ' ');
		if (has_sample_at(writer, first + i, time_s))
			write_cell(out, &chronicle->series[first + i], writer->next[first + i]++,
				   usual);
		else
			buf_putc(out, '-');
	}
	buf_putc(out, '\n');
	return true;
}

static void write_table(struct blocks_writer *writer, struct buf *out, double time_s,
			enum sample_method usual)
{
	const struct chronicle *chronicle = writer->chronicle;

	buf_puts(out, "Performance:\nOSS id");
	for (size_t i = 0; i < chronicle->size_count; i++) {
		buf_putc(out, ' ');
		write_size(out, chronicle->sizes[i]);
	}
	buf_putc(out, '\n');
	/* A second sample of the same time needs another row. */
	for (size_t i = 0; i < chronicle->target_count; i++)
		while (write_row(writer, out, i, time_s, usual))
			;
	buf_putc(out, '\n');
}

static void write_node(struct buf *out, const struct node_state *node)
{
	buf_puts(out, "Node:");
	for (int i = 0; i < NODE_VALUES; i++) {
		if (isnan(node->values[i]))
			continue;
		buf_printf(out, " %s=", node_value_names[i]);
		write_number(out, node->values[i]);
	}
	buf_putc(out, '\n');
}

/* Appends the next block. Returns false if there is none. */
static bool blocks_writer_next(struct blocks_writer *writer, struct buf *out)
{
	const struct chronicle *chronicle = writer->chronicle;
	double time_s = find_next_time(writer);
	enum sample_method usual = find_method(writer, time_s);

	if (time_s == INFINITY)
		return false;
	buf_puts(out, "Timestamp: ");
	write_number(out, time_s);
	buf_putc(out, '\n');
	if (usual != SAMPLE_UNKNOWN) {
		buf_puts(out, "Method: ");
		write_word(out, SAMPLE_METHODS, usual);
		buf_putc(out, '\n');
	}
	if (writer->node < chronicle->node_count && chronicle->nodes[writer->node].time_s == time_s)
		write_node(out, &chronicle->nodes[writer->node++]);
	if (writer->snapshot < chronicle->snapshot_count &&
	    chronicle->snapshots[writer->snapshot].time_s == time_s) {
		const struct jobs *jobs = &chronicle->snapshots[writer->snapshot++];

		buf_puts(out, "All running jobs:\n");
		for (size_t i = 0; i < jobs->count; i++)
			write_job(out, &jobs->rows[i]);
	}
	write_table(writer, out, time_s, usual);
	return true;
}

void blocks_begin(struct buf *out, const struct chronicle *chronicle)
{
	buf_puts(out, "System: ");
	write_name(out, *chronicle->system ? chronicle->system : "unknown");
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

/* The part of a chronicle to write. */
struct part {
	const struct chronicle *chronicle;
	double from_s, to_s;
};

static void write_part(gzFile file, const void *arg)
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

	return export_write(path, write_part, &part, err);
}
