/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A block is collected and becomes part of the chronicle when it is complete: a writer that was
 * killed in the middle of a listing leaves no snapshot of half the jobs.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"
#include "predict/forecast/chronicle/blocks.h"
#include "predict/forecast/chronicle/blocks_lines.h"
#include "predict/forecast/chronicle/blocks_table.h"
#include "predict/forecast/jobs/text.h"

#define LISTING_BYTES_MAX (256u << 20)

enum place {
	PLACE_START,  /* before the first block */
	PLACE_TIME,   /* the time is on a line of its own */
	PLACE_HEAD,   /* behind it */
	PLACE_JOBS,   /* in the listing */
	PLACE_HEADER, /* behind "Performance:" */
	PLACE_ROWS,
};

struct reading {
	struct lines lines;
	struct chronicle *chronicle;
	const uint8_t *key;
	struct blocks_facts facts;
	enum place place;
	/* The block. */
	double time_s;
	enum sample_method method;
	bool has_jobs, has_node;
	struct buf listing;
	struct node_state node;
	struct blocks_table table;
	size_t guess; /* the target that comes next, if all blocks have the same order */
};

static void reading_release(struct reading *reading)
{
	lines_close(&reading->lines);
	buf_release(&reading->listing);
	blocks_table_release(&reading->table);
}

#define AT(reading) LINE_AT(&(reading)->lines)

/* ---- the end of a block ---- */

static size_t target_find(struct reading *reading, const char *name)
{
	const struct chronicle *chronicle = reading->chronicle;
	size_t target = reading->guess;

	if (target >= chronicle->target_count || strcmp(chronicle->targets[target], name) != 0)
		target = chronicle_target(reading->chronicle, name);
	reading->guess = target + 1 < chronicle->target_count ? target + 1 : 0;
	return target;
}

static int rows_keep(struct reading *reading, struct err *err)
{
	size_t number[CHRONICLE_SIZES] = { 0 };

	/* A new size moves others: all are added before any is looked up. */
	for (size_t i = 0; i < reading->table.size_count; i++)
		if (chronicle_size_add(reading->chronicle, reading->table.sizes[i]) < 0)
			return err_set(err, E2BIG,
				       "%s:%zu: there are more than %d sizes of writes in all: "
				       "read files of other sizes under another --system",
				       AT(reading), CHRONICLE_SIZES);
	for (size_t i = 0; i < reading->table.size_count; i++)
		number[i] = (size_t)chronicle_size(reading->chronicle, reading->table.sizes[i]);
	for (size_t i = 0; i < reading->table.row_count; i++) {
		const struct blocks_row *row = &reading->table.rows[i];
		size_t target = target_find(reading, row->target);

		for (size_t j = 0; j < reading->table.size_count; j++) {
			if (row->outcome[j] < 0)
				continue;
			chronicle_add(reading->chronicle, target, number[j], reading->time_s,
				      row->seconds[j], (enum sample_outcome)(row->outcome[j] & 15),
				      (enum sample_method)(row->outcome[j] >> 4));
			reading->facts.samples++;
		}
	}
	return 0;
}

static int jobs_keep(struct reading *reading, struct err *err)
{
	struct jobs jobs = { .time_s = reading->time_s };
	int r = jobs_reader_pbs.read(&jobs, reading->lines.name, buf_text(&reading->listing),
				     reading->listing.len, reading->key, err);

	if (r < 0)
		return r;
	chronicle_add_jobs(reading->chronicle, &jobs);
	reading->facts.snapshots++;
	return 0;
}

static void block_tear(struct reading *reading)
{
	if (!reading->facts.torn++)
		reading->facts.torn_line = reading->lines.number;
}

/* A block that ends inside its head or listing was not finished. */
static int block_end(struct reading *reading, struct err *err)
{
	int r = 0;

	if (reading->place == PLACE_START)
		return 0;
	if (reading->place != PLACE_ROWS) {
		block_tear(reading);
		return 0;
	}
	r = rows_keep(reading, err);
	if (r >= 0 && reading->has_jobs)
		r = jobs_keep(reading, err);
	if (r < 0)
		return r;
	if (reading->has_node) {
		reading->node.time_s = reading->time_s;
		chronicle_add_node(reading->chronicle, &reading->node);
	}
	reading->facts.blocks++;
	return 0;
}

/* ---- the head ---- */

static int time_take(struct reading *reading, const char *text, struct err *err)
{
	text += strspn(text, " \t");
	if (!*text) {
		reading->place = PLACE_TIME;
		return 0;
	}
	if (!number_parse(text, strlen(text), &reading->time_s) || !(reading->time_s >= 0) ||
	    !isfinite(reading->time_s))
		return err_set(err, EINVAL,
			       "%s:%zu: \"%.60s\" is no time: behind Timestamp: are the seconds "
			       "since 1970",
			       AT(reading), text);
	reading->place = PLACE_HEAD;
	return 0;
}

static int block_begin(struct reading *reading, char *rest, struct err *err)
{
	int r = block_end(reading, err);

	if (r < 0)
		return r;
	reading->has_jobs = reading->has_node = false;
	reading->method = SAMPLE_UNKNOWN;
	reading->table.row_count = 0;
	buf_clear(&reading->listing);
	return time_take(reading, rest, err);
}

static int system_take(struct reading *reading, char *rest, struct err *err)
{
	char name[CHRONICLE_NAME], *word = word_take(&rest);
	struct chronicle *chronicle = reading->chronicle;
	int r = word ? word_name(&reading->lines, word, "system", name, sizeof(name), err)
		     : err_set(err, EINVAL, "%s:%zu: names no system", AT(reading));

	if (r < 0)
		return r;
	/* A name that the chronicle has was given by the caller, who knows better. */
	if (!*chronicle->system)
		snprintf(chronicle->system, sizeof(chronicle->system), "%s", name);
	return 0;
}

static int method_take(struct reading *reading, char *rest, struct err *err)
{
	char *word = word_take(&rest);
	int method = word ? word_choice(SAMPLE_METHODS, word) : -1;

	if (method < 0)
		return err_set(err, EINVAL, "%s:%zu: \"%.60s\" is none of " SAMPLE_METHODS,
			       AT(reading), word ? word : "");
	reading->method = (enum sample_method)method;
	return 0;
}

/* "load=0.5 dirty=4096"; values that we do not know are of a later version. */
static int node_take(struct reading *reading, char *rest, struct err *err)
{
	char *word;

	for (int i = 0; i < NODE_VALUES; i++)
		reading->node.values[i] = NAN;
	while ((word = word_take(&rest))) {
		char *equals = strchr(word, '=');
		double value;

		if (!equals || !number_parse(equals + 1, strlen(equals + 1), &value))
			return err_set(err, EINVAL, "%s:%zu: \"%.60s\" is not NAME=NUMBER",
				       AT(reading), word);
		*equals = 0;
		for (int i = 0; i < NODE_VALUES; i++)
			if (strcmp(node_value_names[i], word) == 0)
				reading->node.values[i] = value;
	}
	reading->has_node = true;
	return 0;
}

static int jobs_begin(struct reading *reading, char *rest, struct err *err)
{
	(void)rest;
	(void)err;
	reading->has_jobs = true;
	reading->place = PLACE_JOBS;
	return 0;
}

static int table_begin(struct reading *reading, char *rest, struct err *err)
{
	(void)rest;
	(void)err;
	reading->place = PLACE_HEADER;
	return 0;
}

#define IN(place) (1u << (place))

/* Lines that begin so, and where they may stand. */
static const struct section {
	const char *word;
	unsigned places;
	int (*take)(struct reading *reading, char *rest, struct err *err);
} sections[] = {
	{ "Timestamp:", ~0u, block_begin },
	{ "System:", IN(PLACE_START) | IN(PLACE_HEAD) | IN(PLACE_ROWS), system_take },
	{ "Method:", IN(PLACE_HEAD), method_take },
	{ "Node:", IN(PLACE_HEAD), node_take },
	{ "All running jobs:", IN(PLACE_HEAD), jobs_begin },
	{ "Performance:", IN(PLACE_HEAD) | IN(PLACE_JOBS), table_begin },
};

static const struct section *section_find(const char *line)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strncmp(line, sections[i].word, strlen(sections[i].word)) == 0)
			return &sections[i];
	return NULL;
}

/* ---- lines ---- */

/* The reader of listings counts lines from its own first: what it would refuse is refused here. */
static int listing_add(struct reading *reading, struct err *err)
{
	const struct buf *line = &reading->lines.line;
	bool is_empty = !line->data[strspn(line->data, " \t")];

	if (!reading->listing.len && is_empty)
		return 0;
	if (!reading->listing.len && strncmp(line->data, "Job Id:", 7) != 0)
		return err_set(err, EINVAL,
			       "%s:%zu: a job should begin here, with \"Job Id:\", as qstat -f "
			       "prints it",
			       AT(reading));
	if (reading->listing.len + line->len > LISTING_BYTES_MAX)
		return err_set(err, EINVAL,
			       "%s:%zu: the listing is too long: is \"Performance:\" "
			       "missing?",
			       AT(reading));
	buf_add(&reading->listing, line->data, line->len);
	buf_putc(&reading->listing, '\n');
	return 0;
}

static int other_read(struct reading *reading, struct err *err)
{
	int r;

	switch (reading->place) {
	case PLACE_TIME:
		return time_take(reading, buf_text(&reading->lines.line), err);
	case PLACE_JOBS:
		return listing_add(reading, err);
	case PLACE_HEADER:
		r = blocks_table_header(&reading->table, &reading->lines, err);
		reading->place = r < 0 ? PLACE_HEADER : PLACE_ROWS;
		return r;
	case PLACE_ROWS:
		return blocks_table_row(&reading->table, &reading->lines, reading->method, err);
	case PLACE_START:
	case PLACE_HEAD:
		break;
	}
	return err_set(err, EINVAL,
		       "%s:%zu: \"%.40s\" stands where %s should: is this a file of blocks?",
		       AT(reading), buf_text(&reading->lines.line),
		       reading->place == PLACE_START ? "\"Timestamp:\""
						     : "\"All running jobs:\" or \"Performance:\"");
}

static int line_read(struct reading *reading, struct err *err)
{
	char *line = reading->lines.line.data;
	const struct section *section;
	size_t blanks;

	if (!line)
		return 0;
	blanks = strspn(line, " \t");
	if (strcmp(line + blanks, "...") == 0 || (!line[blanks] && reading->place != PLACE_JOBS))
		return 0;
	section = section_find(line);
	if (!section)
		return other_read(reading, err);
	if (!(section->places & IN(reading->place)))
		return err_set(err, EINVAL,
			       "%s:%zu: \"%s\" cannot stand here: a block is "
			       "Timestamp:, All running jobs:, Performance:, in this order",
			       AT(reading), section->word);
	return section->take(reading, line + strlen(section->word), err);
}

/*
 * The end of a text that was cut off. Rows are complete or not each by itself: those before the cut
 * are kept, as is the last one if nothing of it is missing.
 */
static int cut_end(struct reading *reading, struct err *err)
{
	block_tear(reading);
	return reading->place == PLACE_ROWS ? block_end(reading, err) : 0;
}

static int cut_read(struct reading *reading, struct err *err)
{
	struct err why = { 0 };
	enum place before = reading->place;
	int r = line_read(reading, &why);

	if (before == PLACE_START && r < 0)
		return err_set(err, -r, "%s", why.text);
	if (before == PLACE_ROWS && r >= 0 && reading->place == PLACE_ROWS)
		return block_end(reading, err);
	return cut_end(reading, err);
}

static int reading_run(struct reading *reading, struct err *err)
{
	int r;

	while ((r = lines_next(&reading->lines, err)) > 0) {
		if (reading->lines.is_cut)
			return cut_read(reading, err);
		r = line_read(reading, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	return reading->lines.is_cut ? cut_end(reading, err) : block_end(reading, err);
}

static int reading_end(struct reading *reading, int r, struct blocks_facts *facts)
{
	if (facts)
		*facts = reading->facts;
	reading_release(reading);
	return r;
}

int blocks_read(struct chronicle *chronicle, const char *path, const uint8_t key[OWNER_KEY_BYTES],
		struct blocks_facts *facts, struct err *err)
{
	struct reading reading = { .chronicle = chronicle, .key = key };
	int r = lines_open(&reading.lines, path, err);

	if (r >= 0)
		r = reading_run(&reading, err);
	return reading_end(&reading, r, facts);
}

int blocks_parse(struct chronicle *chronicle, const char *name, const char *text, size_t bytes,
		 const uint8_t key[OWNER_KEY_BYTES], struct blocks_facts *facts, struct err *err)
{
	struct reading reading = { .chronicle = chronicle, .key = key };

	lines_parse(&reading.lines, name, text, bytes);
	return reading_end(&reading, reading_run(&reading, err), facts);
}
