/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads probe data from text: see blocks.h. A block is added to the chronicle when it is complete,
 * so a writer that was killed in the middle of a job list leaves no incomplete snapshot.
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
	PLACE_TIME,   /* after "Timestamp:"; the time is on the next line */
	PLACE_HEAD,   /* after the time */
	PLACE_JOBS,   /* in the list of jobs */
	PLACE_HEADER, /* after "Performance:" */
	PLACE_ROWS,
};

struct reading {
	struct lines lines;
	struct chronicle *chronicle;
	const uint8_t *key;
	struct blocks_facts facts;
	enum place place;
	/* The current block. */
	double time_s;
	enum sample_method method;
	bool has_jobs, has_node;
	struct buf listing;
	struct node_state node;
	struct blocks_table table;
	size_t guess; /* the next target, if all blocks have the same order */
};

static void reading_release(struct reading *reading)
{
	lines_close(&reading->lines);
	buf_release(&reading->listing);
	blocks_table_release(&reading->table);
}

#define AT(reading) LINE_AT(&(reading)->lines)

static size_t find_target(struct reading *reading, const char *name)
{
	const struct chronicle *chronicle = reading->chronicle;
	size_t target = reading->guess;

	if (target >= chronicle->target_count || strcmp(chronicle->targets[target], name) != 0)
		target = chronicle_add_target(reading->chronicle, name);
	reading->guess = target + 1 < chronicle->target_count ? target + 1 : 0;
	return target;
}

static int add_rows(struct reading *reading, struct err *err)
{
	size_t number[CHRONICLE_SIZES] = { 0 };

	/* A new size changes the indices of others, so add all sizes before looking up any. */
	for (size_t i = 0; i < reading->table.size_count; i++)
		if (chronicle_add_size(reading->chronicle, reading->table.sizes[i]) < 0)
			return err_set(err, E2BIG,
				       "%s:%zu: more than %d different write sizes in all; import "
				       "files with other sizes under another --system",
				       AT(reading), CHRONICLE_SIZES);
	for (size_t i = 0; i < reading->table.size_count; i++)
		number[i] =
			(size_t)chronicle_find_size(reading->chronicle, reading->table.sizes[i]);
	for (size_t i = 0; i < reading->table.row_count; i++) {
		const struct blocks_row *row = &reading->table.rows[i];
		size_t target = find_target(reading, row->target);

		for (size_t j = 0; j < reading->table.size_count; j++) {
			if (row->outcome[j] < 0)
				continue;
			chronicle_add(reading->chronicle, target, number[j], reading->time_s,
				      row->seconds[j],
				      (enum sample_outcome)(row->outcome[j] & SAMPLE_OUTCOME_MASK),
				      (enum sample_method)(row->outcome[j] >> SAMPLE_METHOD_SHIFT));
			reading->facts.samples++;
		}
	}
	return 0;
}

static int add_snapshot(struct reading *reading, struct err *err)
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

static void count_incomplete_block(struct reading *reading)
{
	if (!reading->facts.torn++)
		reading->facts.torn_line = reading->lines.number;
}

/* Adds the block to the chronicle, or counts it as incomplete if it ends before its table. */
static int finish_block(struct reading *reading, struct err *err)
{
	int r = 0;

	if (reading->place == PLACE_START)
		return 0;
	if (reading->place != PLACE_ROWS) {
		count_incomplete_block(reading);
		return 0;
	}
	r = add_rows(reading, err);
	if (r >= 0 && reading->has_jobs)
		r = add_snapshot(reading, err);
	if (r < 0)
		return r;
	if (reading->has_node) {
		reading->node.time_s = reading->time_s;
		chronicle_add_node(reading->chronicle, &reading->node);
	}
	reading->facts.blocks++;
	return 0;
}

static int parse_time(struct reading *reading, const char *text, struct err *err)
{
	text += strspn(text, " \t");
	if (!*text) {
		reading->place = PLACE_TIME;
		return 0;
	}
	if (!number_parse(text, strlen(text), &reading->time_s) || !(reading->time_s >= 0) ||
	    !isfinite(reading->time_s))
		return err_set(err, EINVAL,
			       "%s:%zu: invalid timestamp \"%.60s\": expected seconds since 1970",
			       AT(reading), text);
	reading->place = PLACE_HEAD;
	return 0;
}

static int start_block(struct reading *reading, char *rest, struct err *err)
{
	int r = finish_block(reading, err);

	if (r < 0)
		return r;
	reading->has_jobs = reading->has_node = false;
	reading->method = SAMPLE_UNKNOWN;
	reading->table.row_count = 0;
	buf_clear(&reading->listing);
	return parse_time(reading, rest, err);
}

static int parse_system(struct reading *reading, char *rest, struct err *err)
{
	char name[CHRONICLE_NAME], *word = next_word(&rest);
	struct chronicle *chronicle = reading->chronicle;
	int r = word ? decode_word_name(&reading->lines, word, "system", name, sizeof(name), err)
		     : err_set(err, EINVAL, "%s:%zu: missing name of the system", AT(reading));

	if (r < 0)
		return r;
	/* A name that the caller has set takes precedence. */
	if (!*chronicle->system)
		snprintf(chronicle->system, sizeof(chronicle->system), "%s", name);
	return 0;
}

static int parse_method(struct reading *reading, char *rest, struct err *err)
{
	char *word = next_word(&rest);
	int method = word ? find_word(SAMPLE_METHODS, word) : -1;

	if (method < 0)
		return err_set(err, EINVAL,
			       "%s:%zu: unknown method \"%.60s\" (expected " SAMPLE_METHODS ")",
			       AT(reading), word ? word : "");
	reading->method = (enum sample_method)method;
	return 0;
}

/* Parses "load=0.5 dirty=4096". Unknown names are ignored; a later version may write them. */
static int parse_node(struct reading *reading, char *rest, struct err *err)
{
	char *word;

	for (int i = 0; i < NODE_VALUES; i++)
		reading->node.values[i] = NAN;
	while ((word = next_word(&rest))) {
		char *equals = strchr(word, '=');
		double value;

		if (!equals || !number_parse(equals + 1, strlen(equals + 1), &value))
			return err_set(err, EINVAL,
				       "%s:%zu: invalid value \"%.60s\": expected NAME=NUMBER",
				       AT(reading), word);
		*equals = 0;
		for (int i = 0; i < NODE_VALUES; i++)
			if (strcmp(node_value_names[i], word) == 0)
				reading->node.values[i] = value;
	}
	reading->has_node = true;
	return 0;
}

static int start_jobs(struct reading *reading, char *rest, struct err *err)
{
	(void)rest;
	(void)err;
	reading->has_jobs = true;
	reading->place = PLACE_JOBS;
	return 0;
}

static int start_table(struct reading *reading, char *rest, struct err *err)
{
	(void)rest;
	(void)err;
	reading->place = PLACE_HEADER;
	return 0;
}

#define IN(place) (1u << (place))

/* The words that start a line of their own, and the places where they are allowed. */
static const struct section {
	const char *word;
	unsigned places;
	int (*take)(struct reading *reading, char *rest, struct err *err);
} sections[] = {
	{ "Timestamp:", ~0u, start_block },
	{ "System:", IN(PLACE_START) | IN(PLACE_HEAD) | IN(PLACE_ROWS), parse_system },
	{ "Method:", IN(PLACE_HEAD), parse_method },
	{ "Node:", IN(PLACE_HEAD), parse_node },
	{ "All running jobs:", IN(PLACE_HEAD), start_jobs },
	{ "Performance:", IN(PLACE_HEAD) | IN(PLACE_JOBS), start_table },
};

static const struct section *find_section(const char *line)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strncmp(line, sections[i].word, strlen(sections[i].word)) == 0)
			return &sections[i];
	return NULL;
}

bool blocks_is_section(const char *text)
{
	return find_section(text);
}

/* Checks the list here, because its parser would count lines from the start of the list. */
static int append_to_job_list(struct reading *reading, struct err *err)
{
	const struct buf *line = &reading->lines.line;
	bool is_empty = !line->data[strspn(line->data, " \t")];

	if (!reading->listing.len && is_empty)
		return 0;
	if (!reading->listing.len && strncmp(line->data, "Job Id:", 7) != 0)
		return err_set(err, EINVAL,
			       "%s:%zu: expected \"Job Id:\" at the start of a job, as 'qstat -f' "
			       "prints it",
			       AT(reading));
	if (reading->listing.len + line->len > LISTING_BYTES_MAX)
		return err_set(err, EINVAL,
			       "%s:%zu: the list of jobs is too long; check for a missing "
			       "\"Performance:\" line",
			       AT(reading));
	buf_add(&reading->listing, line->data, line->len);
	buf_putc(&reading->listing, '\n');
	return 0;
}

static int parse_other_line(struct reading *reading, struct err *err)
{
	int r;

	switch (reading->place) {
	case PLACE_TIME:
		return parse_time(reading, buf_text(&reading->lines.line), err);
	case PLACE_JOBS:
		return append_to_job_list(reading, err);
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
	return err_set(
		err, EINVAL,
		"%s:%zu: expected %s instead of \"%.40s\"; check that this is a file of probe "
		"data",
		AT(reading),
		reading->place == PLACE_START ? "\"Timestamp:\""
					      : "\"All running jobs:\" or \"Performance:\"",
		buf_text(&reading->lines.line));
}

static int parse_line(struct reading *reading, struct err *err)
{
	char *line = reading->lines.line.data;
	const struct section *section;
	size_t blanks;

	if (!line)
		return 0;
	blanks = strspn(line, " \t");
	if (strcmp(line + blanks, "...") == 0 || (!line[blanks] && reading->place != PLACE_JOBS))
		return 0;
	section = find_section(line);
	if (!section)
		return parse_other_line(reading, err);
	if (!(section->places & IN(reading->place)))
		return err_set(err, EINVAL,
			       "%s:%zu: unexpected \"%s\"; the order in a block is Timestamp:, "
			       "All running jobs:, Performance:",
			       AT(reading), section->word);
	return section->take(reading, line + strlen(section->word), err);
}

/*
 * Handles the end of a truncated text. Each row is complete or not independently of the others, so
 * the rows before the cut are kept, and also the last one if nothing of it is missing.
 */
static int finish_truncated(struct reading *reading, struct err *err)
{
	count_incomplete_block(reading);
	return reading->place == PLACE_ROWS ? finish_block(reading, err) : 0;
}

static int parse_truncated_line(struct reading *reading, struct err *err)
{
	struct err why = { 0 };
	enum place before = reading->place;
	int r = parse_line(reading, &why);

	if (before == PLACE_START && r < 0)
		return err_set(err, -r, "%s", why.text);
	if (before == PLACE_ROWS && r >= 0 && reading->place == PLACE_ROWS)
		return finish_block(reading, err);
	return finish_truncated(reading, err);
}

static int read_blocks(struct reading *reading, struct err *err)
{
	int r;

	while ((r = lines_next(&reading->lines, err)) > 0) {
		if (reading->lines.is_cut)
			return parse_truncated_line(reading, err);
		r = parse_line(reading, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	return reading->lines.is_cut ? finish_truncated(reading, err) : finish_block(reading, err);
}

static int finish_reading(struct reading *reading, int r, struct blocks_facts *facts)
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
		r = read_blocks(&reading, err);
	return finish_reading(&reading, r, facts);
}

int blocks_parse(struct chronicle *chronicle, const char *name, const char *text, size_t bytes,
		 const uint8_t key[OWNER_KEY_BYTES], struct blocks_facts *facts, struct err *err)
{
	struct reading reading = { .chronicle = chronicle, .key = key };

	lines_parse(&reading.lines, name, text, bytes);
	return finish_reading(&reading, read_blocks(&reading, err), facts);
}
