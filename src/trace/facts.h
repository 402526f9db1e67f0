/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The facts of a trace besides its activities, described once: one table of fields per kind of
 * fact. The container, the text form and the database read and write their facts by these tables.
 *
 * Numbers that belong to one build of Sluice (layers, classes, fields, groups) are written as
 * names, so that a trace stays readable when later builds number them otherwise.
 */
#ifndef SLUICE_TRACE_FACTS_H
#define SLUICE_TRACE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/*
 * Version of the tables below, which text and SQLite traces carry. Fields are only added, each at
 * the end of what the container writes in order: a row of an earlier version ends before them.
 */
#define FACTS_VERSION 3

enum fact_type {
	FACT_TEXT, /* char *, owned; NULL is written as "" */
	FACT_I64,
	FACT_U64,
	FACT_I32,
	FACT_U32,
	FACT_U16,
	FACT_BOOL,
	FACT_LAYER, /* uint8_t, enum layer; written by name where people read it */
	FACT_CALL,  /* uint16_t, index in the call table; likewise */
};

struct fact_field {
	const char *name;
	enum fact_type type;
	size_t offset;
	int present; /* enum field whose PRESENT() bit must be set for it to count; 0: always */
	int since;   /* first FACTS_VERSION that has it: a file of an earlier one does not */
};

struct fact {
	const char *name;
	const struct fact_field *fields;
	size_t count;
	size_t bytes; /* of the row */
};

/* A number of this trace and what it means: list is "layer" or "field". */
struct name_row {
	char *list;
	uint32_t number;
	char *name;
};

/* A struct call_info with everything by name; fields is a list with blanks between. */
struct call_row {
	uint32_t number;
	char *name, *layer, *class, *failure, *fields;
};

struct file_row {
	uint32_t id;
	char *path;
};

struct aggregate_row {
	uint32_t process, file;
	char *group, *layer;
	uint64_t calls, errors;
	int64_t bytes, duration_ns;
};

union fact_row {
	struct name_row name;
	struct call_row call;
	struct run_info run;
	struct run_clock clock;
	struct process_info process;
	struct file_row file;
	struct aggregate_row aggregate;
	struct loss_info loss;
	struct host_info host;
	struct statistic_info statistic;
	struct stat_sample sample;
	struct note note;
	struct run_end end;
};

extern const struct fact fact_name, fact_call, fact_run, fact_clock, fact_process, fact_file,
	fact_aggregate, fact_loss, fact_host, fact_statistic, fact_sample, fact_note, fact_end;

/* The columns of an activity, where they are written one by one. Its rows are struct activity. */
extern const struct fact fact_activity;

const struct fact *fact_by_name(const char *name); /* of a fact_row; NULL where unknown */

/* Numbers travel as int64_t; a uint64_t keeps its bits. Setting fails when out of range. */
int64_t fact_number(const struct fact_field *field, const void *row);
bool fact_set_number(const struct fact_field *field, void *row, int64_t value);
const char *fact_text(const struct fact_field *field, const void *row); /* never NULL */
void fact_set_text(const struct fact_field *field, void *row, const char *text, size_t n);
void fact_release(const struct fact *fact, void *row); /* frees its texts and zeroes it */

/* Rows for what is kept otherwise in memory. Release with fact_release(). */
struct call_row call_row_of(const struct call_info *call, size_t number);
struct aggregate_row aggregate_row_of(const struct aggregate *aggregate);

/*
 * Back from names: NULL, or what is unknown ("layer", "class", ...) with the output untouched. The
 * name of the call is left out: it stays the row's.
 */
const char *call_of_row(const struct call_row *row, struct call_info *call);
const char *aggregate_of_row(const struct aggregate_row *row, struct aggregate *aggregate);

const char *layer_name(unsigned layer); /* "?" beyond the list */
const char *field_name(unsigned field);
int layer_by_name(const char *name); /* -1 where unknown */
int field_by_name(const char *name);

#endif
