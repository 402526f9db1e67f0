/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The facts of a trace: everything besides its activities. Each kind of fact has one table of
 * fields, and the container, the text form and the SQLite form read and write facts by these
 * tables.
 *
 * Numbers that are specific to a build of Sluice (layers, classes, fields, groups) are written as
 * names, so that a trace stays readable when later builds use other numbers.
 */
#ifndef SLUICE_TRACE_FACTS_H
#define SLUICE_TRACE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"
#include "trace/usage.h"

/*
 * Version of the tables below; text and SQLite traces store it. Fields are only ever added, and
 * only at the end of a table, so that a row of an earlier version is a prefix of the current one.
 */
#define FACTS_VERSION 4

enum fact_type {
	FACT_TEXT, /* char *, owned by the row; NULL is written as "" */
	FACT_I64,
	FACT_U64,
	FACT_I32,
	FACT_U32,
	FACT_U16,
	FACT_BOOL,
	FACT_LAYER, /* uint8_t, enum layer; the text and SQLite forms write its name */
	FACT_CALL,  /* uint16_t, index in the call table; the text form writes its name */
};

struct fact_field {
	const char *name;
	enum fact_type type;
	size_t offset;
	int present; /* enum field whose PRESENT() bit says that the field is set; 0: always set */
	int since;   /* first FACTS_VERSION that has the field */
};

struct fact {
	const char *name;
	const struct fact_field *fields;
	size_t count;
	size_t bytes; /* size of a row in memory */
};

/* The name of a number in this trace; list is "layer" or "field". */
struct name_row {
	char *list;
	uint32_t number;
	char *name;
};

/* A struct call_info with names instead of numbers; fields are separated by blanks. */
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
	uint32_t place;
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
	struct usage usage;
	struct flow flow;
	struct host_info host;
	struct statistic_info statistic;
	struct stat_sample sample;
	struct note note;
	struct run_end end;
};

extern const struct fact fact_name, fact_call, fact_run, fact_clock, fact_process, fact_file,
	fact_aggregate, fact_loss, fact_usage, fact_flow, fact_host, fact_statistic, fact_sample,
	fact_note, fact_end;

/* The fields of a struct activity, for the forms that write them one by one. */
extern const struct fact fact_activity;

const struct fact *fact_by_name(const char *name); /* a fact of union fact_row, or NULL */

/*
 * Access to one field of a row. Numbers are passed as int64_t; a uint64_t keeps its bits.
 * fact_set_number() returns false if the value is out of range for the field.
 */
int64_t fact_number(const struct fact_field *field, const void *row);
bool fact_set_number(const struct fact_field *field, void *row, int64_t value);
const char *fact_text(const struct fact_field *field, const void *row); /* never NULL */
void fact_set_text(const struct fact_field *field, void *row, const char *text, size_t n);
void fact_release(const struct fact *fact, void *row); /* frees the texts of a row and zeroes it */

/* Convert to rows; the caller releases them with fact_release(). */
struct call_row call_row_make(const struct call_info *call, size_t number);
struct aggregate_row aggregate_row_make(const struct aggregate *aggregate);

/*
 * Convert back from rows. They return NULL, or the kind of a name that is unknown ("layer",
 * "class",
 * ...); the output is then untouched. call->name is not set: the row keeps its name.
 */
const char *call_row_parse(const struct call_row *row, struct call_info *call);
const char *aggregate_row_parse(const struct aggregate_row *row, struct aggregate *aggregate);

const char *layer_name(unsigned layer); /* "?" if unknown */
const char *field_name(unsigned field);
int layer_by_name(const char *name); /* -1 if unknown */
int field_by_name(const char *name);

#endif
