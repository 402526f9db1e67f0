/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/report.h"

#include <stdlib.h>

#include "base/mem.h"
#include "site/rows.h"

static void set_value(const struct schema_table *table, struct row_value *values, const char *name,
		      struct row_value value)
{
	int column = schema_column(table, name);

	if (column >= 0)
		values[column] = value;
}

void report_put_anomaly(struct rows_writer *writer, const struct report_anomaly *anomaly)
{
	const struct schema_table *table = schema_find("anomaly");
	struct row_value values[ROWS_COLUMNS_MAX] = { 0 };

	set_value(table, values, "node", row_text(anomaly->node));
	set_value(table, values, "subject", row_text("node"));
	set_value(table, values, "owner", row_text(anomaly->owner));
	set_value(table, values, "job", row_text(anomaly->job));
	set_value(table, values, "target", row_text(anomaly->target));
	set_value(table, values, "started_ns", row_number(anomaly->started_ns));
	if (anomaly->ended_ns)
		set_value(table, values, "ended_ns", row_number(anomaly->ended_ns));
	set_value(table, values, "cause", row_text(anomaly->cause));
	set_value(table, values, "detail", row_text(anomaly->detail));
	set_value(table, values, "value", row_real(anomaly->value));
	rows_start(writer, ROWS_NO_RUN);
	rows_add(writer, table, values);
	rows_finish(writer);
}

static int compare_loads(const void *a, const void *b)
{
	const struct report_load *x = a, *y = b;
	double left = x->bytes_read + x->bytes_written, right = y->bytes_read + y->bytes_written;

	if (left != right)
		return left < right ? 1 : -1;
	return (x->operations < y->operations) - (x->operations > y->operations);
}

static void put_load(struct rows_writer *writer, const char *node, const struct report_load *load,
		     int64_t now_ns)
{
	const struct schema_table *table = schema_find("node_load");
	struct row_value values[ROWS_COLUMNS_MAX] = { 0 };

	set_value(table, values, "node", row_text(node));
	set_value(table, values, "owner", row_text(load->owner));
	set_value(table, values, "job", row_text(load->job));
	set_value(table, values, "target", row_text(load->target));
	set_value(table, values, "bytes_read", row_real(load->bytes_read));
	set_value(table, values, "bytes_written", row_real(load->bytes_written));
	set_value(table, values, "operations", row_real(load->operations));
	set_value(table, values, "updated_ns", row_number(now_ns));
	rows_add(writer, table, values);
}

void report_put_loads(struct rows_writer *writer, const char *node, const struct report_load *loads,
		      size_t count, int64_t now_ns)
{
	AUTO_FREE struct report_load *sorted = xcalloc(count + 1, sizeof(*sorted));
	struct report_load rest = { .owner = "", .job = "", .target = "" };

	for (size_t i = 0; i < count; i++)
		sorted[i] = loads[i];
	qsort(sorted, count, sizeof(*sorted), compare_loads);
	rows_start(writer, ROWS_NO_RUN);
	for (size_t i = REPORT_LOADS; i < count; i++) {
		rest.bytes_read += sorted[i].bytes_read;
		rest.bytes_written += sorted[i].bytes_written;
		rest.operations += sorted[i].operations;
	}
	/* The first row of a report is the one without an owner. */
	put_load(writer, node, &rest, now_ns);
	for (size_t i = 0; i < count && i < REPORT_LOADS; i++)
		put_load(writer, node, &sorted[i], now_ns);
	rows_finish(writer);
}
