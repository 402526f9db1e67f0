/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/export/fact_table.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "observe/export/export.h"
#include "observe/export/texts.h"
#include "trace/facts.h"

#define COLUMNS_MAX 24
#define GROUP_ROWS 16384

/* A table that is filled row by row and written in groups. */
struct table {
	struct parquet_field fields[COLUMNS_MAX];
	struct parquet_schema schema;
	struct parquet file;
	struct texts texts;
	int64_t *cells; /* row by row; a text is its number */
	size_t count, cap;
};

static void add_column(struct table *table, const char *name, enum parquet_type type)
{
	table->fields[table->schema.count++] = (struct parquet_field){ name, type, false };
}

static enum parquet_type column_type(enum fact_type type)
{
	switch (type) {
	case FACT_TEXT:
		return PARQUET_TEXT;
	case FACT_BOOL:
		return PARQUET_BOOL;
	case FACT_I32:
		return PARQUET_INT32;
	default: /* INT64 holds 32 unsigned bits; 64 unsigned bits appear signed */
		return PARQUET_INT64;
	}
}

static void add_fact_columns(struct table *table, const struct fact *fact)
{
	for (size_t i = 0; i < fact->count; i++)
		add_column(table, fact->fields[i].name, column_type(fact->fields[i].type));
}

static void init_table(struct table *table, const char *directory, const char *name)
{
	AUTO_FREE char *path = xprintf("%s/%s.parquet", directory, name);

	*table = (struct table){ .schema.fields = table->fields };
	parquet_init(&table->file, path, &table->schema);
}

static void release_table(struct table *table)
{
	parquet_release(&table->file);
	texts_release(&table->texts);
	free(table->cells);
}

static void put_number(struct table *table, int64_t number)
{
	table->cells = xgrow(table->cells, &table->cap, table->count + 1, sizeof(*table->cells));
	table->cells[table->count++] = number;
}

static void put_fact(struct table *table, const struct fact *fact, const void *row)
{
	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];

		put_number(table, field->type == FACT_TEXT
					  ? texts_add(&table->texts, fact_text(field, row))
					  : fact_number(field, row));
	}
}

static void fill_column(const void *arg, size_t column, struct parquet_values *values)
{
	const struct table *table = arg;
	size_t columns = table->schema.count;

	for (size_t cell = column, i = 0; cell < table->count; cell += columns, i++)
		values->numbers[i] = table->cells[cell];
	values->texts = (const char *const *)table->texts.list;
	values->text_count = table->texts.count;
}

static int flush_table(struct table *table, struct parquet_encoder *encoder, struct err *err)
{
	size_t columns = size_max(table->schema.count, 1);
	struct parquet_rows rows = { table->count / columns, fill_column, table };
	int r = rows.count ? parquet_add(&table->file, encoder, &rows, err) : 0;

	table->count = 0;
	texts_release(&table->texts);
	return r;
}

static int finish_table(const struct export_job *job, struct table *table,
			const struct dataset_info *info, struct parquet_encoder *encoder,
			struct err *err)
{
	int r = flush_table(table, encoder, err);

	if (!r)
		r = parquet_finish(&table->file, info->pairs, err);
	job->totals->files++;
	job->totals->bytes += table->file.bytes;
	return r;
}

/* How to find the rows of a kind of fact. */
struct fact_table {
	const char *name;
	const struct fact *fact;
	size_t (*count)(const struct trace_head *head);
	/* Returns the row; it may use *space, which put_row() releases if `made` is true. */
	const void *(*row)(const struct trace_head *head, size_t i, union fact_row *space);
	bool made;
};

/* Facts that the head has as an array of rows. */
#define ROWS_OF(array, number)                                                  \
	static size_t count_##array(const struct trace_head *head)              \
	{                                                                       \
		return head->number;                                            \
	}                                                                       \
	static const void *row_##array(const struct trace_head *head, size_t i, \
				       union fact_row *space)                   \
	{                                                                       \
		(void)space;                                                    \
		return &head->array[i];                                         \
	}

ROWS_OF(processes, process_count)
ROWS_OF(losses, loss_count)
ROWS_OF(hosts, host_count)
ROWS_OF(statistics, statistic_count)
ROWS_OF(samples, sample_count)
ROWS_OF(notes, note_count)

static size_t count_calls(const struct trace_head *head)
{
	return head->call_count;
}

static const void *row_call(const struct trace_head *head, size_t i, union fact_row *space)
{
	space->call = call_row_make(&head->calls[i], i);
	return space;
}

static size_t count_aggregates(const struct trace_head *head)
{
	return head->aggregate_count;
}

static const void *row_aggregate(const struct trace_head *head, size_t i, union fact_row *space)
{
	space->aggregate = aggregate_row_make(&head->aggregates[i]);
	return space;
}

/* File 0 stands for "no file". */
static size_t count_files(const struct trace_head *head)
{
	return head->file_count - 1;
}

static const void *row_file(const struct trace_head *head, size_t i, union fact_row *space)
{
	space->file = (struct file_row){ (uint32_t)i + 1, head->files[i + 1] };
	return space;
}

static const struct fact_table fact_tables[] = {
	{ "calls", &fact_call, count_calls, row_call, true },
	{ "processes", &fact_process, count_processes, row_processes, false },
	{ "files", &fact_file, count_files, row_file, false },
	{ "aggregates", &fact_aggregate, count_aggregates, row_aggregate, true },
	{ "losses", &fact_loss, count_losses, row_losses, false },
	{ "hosts", &fact_host, count_hosts, row_hosts, false },
	{ "statistics", &fact_statistic, count_statistics, row_statistics, false },
	{ "samples", &fact_sample, count_samples, row_samples, false },
	{ "notes", &fact_note, count_notes, row_notes, false },
};

static void put_row(struct table *table, const struct fact_table *kind,
		    const struct trace_head *head, size_t i)
{
	union fact_row space;

	put_fact(table, kind->fact, kind->row(head, i, &space));
	if (kind->made)
		fact_release(kind->fact, &space);
}

static int write_facts(const struct export_job *job, const struct fact_table *kind,
		       const struct dataset_info *info, const char *directory,
		       struct parquet_encoder *encoder, struct err *err)
{
	const struct trace_head *head = &job->trace->head;
	size_t count = kind->count(head);
	struct table table;
	int r = 0;

	init_table(&table, directory, kind->name);
	add_fact_columns(&table, kind->fact);
	for (size_t i = 0; i < count && !r; i++) {
		put_row(&table, kind, head, i);
		if ((i + 1) % GROUP_ROWS == 0)
			r = flush_table(&table, encoder, err);
	}
	if (!r)
		r = finish_table(job, &table, info, encoder, err);
	release_table(&table);
	return r;
}

/* One row: what is known of the run, and what the dataset contains. */
static int write_run(const struct export_job *job, const struct dataset_info *info,
		     const char *directory, struct parquet_encoder *encoder, struct err *err)
{
	const struct trace_head *head = &job->trace->head;
	struct table table;
	int r;

	init_table(&table, directory, "run");
	add_fact_columns(&table, &fact_run);
	add_fact_columns(&table, &fact_end);
	add_column(&table, "started", PARQUET_TIME);
	add_column(&table, "activities", PARQUET_INT64);
	add_column(&table, "damaged_blocks", PARQUET_INT64);
	add_column(&table, "slice_ns", PARQUET_INT64);
	put_fact(&table, &fact_run, &head->run);
	put_fact(&table, &fact_end, &head->end);
	put_number(&table, head->run.started_ns / NS_PER_US);
	put_number(&table, (int64_t)job->totals->activities);
	put_number(&table, (int64_t)head->damaged_blocks);
	put_number(&table, info->slice_ns);
	r = finish_table(job, &table, info, encoder, err);
	release_table(&table);
	return r;
}

int fact_tables_write(const struct export_job *job, const struct dataset_info *info,
		      const char *directory, struct parquet_encoder *encoder, struct err *err)
{
	int r = write_run(job, info, directory, encoder, err);

	for (size_t i = 0; i < sizeof(fact_tables) / sizeof(fact_tables[0]) && !r; i++)
		r = write_facts(job, &fact_tables[i], info, directory, encoder, err);
	return r;
}
