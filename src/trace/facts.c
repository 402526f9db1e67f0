/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* Field tables: name, type, offset, presence bit (OPTIONAL fields only) and first version. */
#define FIELD_SINCE(since, type, kind, member) \
#member, FACT_##kind, offsetof(type, member), 0, since
#define FIELD(type, kind, member) FIELD_SINCE(1, type, kind, member)
#define OPTIONAL_SINCE(since, kind, member, bit) \
#member, FACT_##kind, offsetof(struct activity, member), FIELD_##bit, since
#define OPTIONAL(kind, member, bit) OPTIONAL_SINCE(1, kind, member, bit)
#define FACT(label, type, table) label, table, sizeof(table) / sizeof((table)[0]), sizeof(type)

static const struct fact_field name_fields[] = {
	{ FIELD(struct name_row, TEXT, list) },
	{ FIELD(struct name_row, U32, number) },
	{ FIELD(struct name_row, TEXT, name) },
};

static const struct fact_field call_fields[] = {
	{ FIELD(struct call_row, U32, number) },   { FIELD(struct call_row, TEXT, name) },
	{ FIELD(struct call_row, TEXT, layer) },   { FIELD(struct call_row, TEXT, class) },
	{ FIELD(struct call_row, TEXT, failure) }, { FIELD(struct call_row, TEXT, fields) },
};

static const struct fact_field run_fields[] = {
	{ FIELD(struct run_info, TEXT, uuid) },	     { FIELD(struct run_info, TEXT, command) },
	{ FIELD(struct run_info, TEXT, directory) }, { FIELD(struct run_info, TEXT, host) },
	{ FIELD(struct run_info, TEXT, user) },	     { FIELD(struct run_info, TEXT, version) },
	{ FIELD(struct run_info, I64, started_ns) },
};

static const struct fact_field clock_fields[] = {
	{ FIELD(struct run_clock, TEXT, source) },  { FIELD(struct run_clock, U64, tick0) },
	{ FIELD(struct run_clock, U64, num) },	    { FIELD(struct run_clock, U64, den) },
	{ FIELD(struct run_clock, I64, error_ns) },
};

static const struct fact_field process_fields[] = {
	{ "process", FACT_U32, offsetof(struct process_info, index), 0, 1 },
	{ FIELD(struct process_info, I32, parent) },
	{ FIELD(struct process_info, U32, first_thread) },
	{ FIELD(struct process_info, I32, pid) },
	{ FIELD(struct process_info, I32, ppid) },
	{ FIELD(struct process_info, I32, rank) },
	{ FIELD(struct process_info, I64, attached_ns) },
	{ FIELD(struct process_info, TEXT, host) },
	{ FIELD(struct process_info, TEXT, program) },
	{ FIELD(struct process_info, TEXT, command) },
	{ FIELD(struct process_info, TEXT, directory) },
	{ FIELD_SINCE(2, struct process_info, I32, ranks) },
};

static const struct fact_field file_fields[] = {
	{ FIELD(struct file_row, U32, id) },
	{ FIELD(struct file_row, TEXT, path) },
};

static const struct fact_field aggregate_fields[] = {
	{ FIELD(struct aggregate_row, U32, process) },
	{ FIELD(struct aggregate_row, U32, file) },
	{ "class_group", FACT_TEXT, offsetof(struct aggregate_row, group), 0, 1 },
	{ FIELD(struct aggregate_row, TEXT, layer) },
	{ FIELD(struct aggregate_row, U64, calls) },
	{ FIELD(struct aggregate_row, U64, errors) },
	{ FIELD(struct aggregate_row, I64, bytes) },
	{ FIELD(struct aggregate_row, I64, duration_ns) },
	{ FIELD_SINCE(4, struct aggregate_row, U32, place) },
};

static const struct fact_field loss_fields[] = {
	{ FIELD(struct loss_info, U32, process) },
	{ FIELD(struct loss_info, U64, records) },
	{ FIELD(struct loss_info, U64, threads) },
};

#define USAGE_FIELD(value_name, text)                                                            \
	{ #text, FACT_I64, offsetof(struct usage, value) + USAGE_##value_name * sizeof(int64_t), \
	  0, 4 },
static const struct fact_field usage_fields[] = { { FIELD_SINCE(4, struct usage, U32, process) },
						  { FIELD_SINCE(4, struct usage, U32, file) },
						  { FIELD_SINCE(4, struct usage, TEXT, layer) },
						  USAGE_LIST(USAGE_FIELD) };

static const struct fact_field flow_fields[] = {
	{ FIELD_SINCE(4, struct flow, U32, process) },
	{ FIELD_SINCE(4, struct flow, TEXT, layer) },
	{ FIELD_SINCE(4, struct flow, I64, start_ns) },
	{ FIELD_SINCE(4, struct flow, I64, period_ns) },
	{ FIELD_SINCE(4, struct flow, I64, bytes_read) },
	{ FIELD_SINCE(4, struct flow, I64, bytes_written) },
};

static const struct fact_field host_fields[] = {
	{ FIELD(struct host_info, TEXT, host) },
	{ FIELD(struct host_info, TEXT, method) },
	{ FIELD(struct host_info, I64, offset_ns) },
	{ FIELD(struct host_info, I64, error_ns) },
};

static const struct fact_field statistic_fields[] = {
	{ FIELD(struct statistic_info, U32, number) },
	{ FIELD(struct statistic_info, TEXT, host) },
	{ FIELD(struct statistic_info, TEXT, name) },
	{ FIELD(struct statistic_info, TEXT, unit) },
	{ FIELD(struct statistic_info, TEXT, reduction) },
	{ FIELD(struct statistic_info, U32, scale) },
};

static const struct fact_field sample_fields[] = {
	{ FIELD(struct stat_sample, U32, statistic) },
	{ FIELD(struct stat_sample, I64, time_ns) },
	{ FIELD(struct stat_sample, I64, period_ns) },
	{ FIELD(struct stat_sample, I64, value) },
};

static const struct fact_field note_fields[] = {
	{ FIELD(struct note, I64, time_ns) }, { FIELD(struct note, I32, process) },
	{ FIELD(struct note, TEXT, host) },   { FIELD(struct note, TEXT, source) },
	{ FIELD(struct note, TEXT, kind) },   { FIELD(struct note, TEXT, name) },
	{ FIELD(struct note, TEXT, value) },
};

static const struct fact_field end_fields[] = {
	{ FIELD(struct run_end, I64, duration_ns) },
	{ FIELD(struct run_end, I32, exit_status) },
	{ FIELD(struct run_end, BOOL, complete) },
};

static const struct fact_field activity_fields[] = {
	{ FIELD(struct activity, I64, start_ns) },
	{ FIELD(struct activity, I64, duration_ns) },
	{ FIELD(struct activity, U32, process) },
	{ FIELD(struct activity, U64, id) },
	{ FIELD(struct activity, U64, parent) },
	{ FIELD(struct activity, LAYER, layer) },
	{ FIELD(struct activity, CALL, call) },
	{ FIELD(struct activity, I64, result) },
	{ FIELD(struct activity, I32, error) },
	{ FIELD(struct activity, U32, file) },
	{ FIELD(struct activity, U32, file2) },
	{ FIELD(struct activity, U16, present) },
	{ OPTIONAL(U64, link, LINK) },
	{ OPTIONAL(U64, link2, LINK2) },
	{ OPTIONAL(I64, handle, HANDLE) },
	{ OPTIONAL(I64, size, SIZE) },
	{ OPTIONAL(I64, offset, OFFSET) },
	{ OPTIONAL(I64, flags, FLAGS) },
	{ OPTIONAL(I64, mode, MODE) },
	{ OPTIONAL_SINCE(2, I64, span, SPAN) },
	{ OPTIONAL_SINCE(2, I64, variable, VARIABLE) },
	{ OPTIONAL_SINCE(2, U64, collective, COLLECTIVE) },
	{ FIELD_SINCE(2, struct activity, U32, name) },
	{ FIELD_SINCE(3, struct activity, U32, hints) },
};

const struct fact fact_name = { FACT("name", struct name_row, name_fields) };
const struct fact fact_call = { FACT("call", struct call_row, call_fields) };
const struct fact fact_run = { FACT("run", struct run_info, run_fields) };
const struct fact fact_clock = { FACT("clock", struct run_clock, clock_fields) };
const struct fact fact_process = { FACT("process", struct process_info, process_fields) };
const struct fact fact_file = { FACT("file", struct file_row, file_fields) };
const struct fact fact_aggregate = { FACT("aggregate", struct aggregate_row, aggregate_fields) };
const struct fact fact_loss = { FACT("loss", struct loss_info, loss_fields) };
const struct fact fact_usage = { FACT("usage", struct usage, usage_fields) };
const struct fact fact_flow = { FACT("flow", struct flow, flow_fields) };
const struct fact fact_host = { FACT("host", struct host_info, host_fields) };
const struct fact fact_statistic = { FACT("statistic", struct statistic_info, statistic_fields) };
const struct fact fact_sample = { FACT("sample", struct stat_sample, sample_fields) };
const struct fact fact_note = { FACT("note", struct note, note_fields) };
const struct fact fact_end = { FACT("end", struct run_end, end_fields) };
const struct fact fact_activity = { FACT("activity", struct activity, activity_fields) };

const int64_t usage_size_limits[USAGE_SIZES] = {
	100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30, INT64_MAX
};

const struct fact *fact_by_name(const char *name)
{
	static const struct fact *const all[] = { &fact_name,	   &fact_call,	  &fact_run,
						  &fact_clock,	   &fact_process, &fact_file,
						  &fact_aggregate, &fact_loss,	  &fact_host,
						  &fact_statistic, &fact_sample,  &fact_note,
						  &fact_end,	   &fact_usage,	  &fact_flow };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}

int64_t fact_number(const struct fact_field *field, const void *row)
{
	const char *at = (const char *)row + field->offset;

	switch (field->type) {
	case FACT_I64:
	case FACT_U64:
		return *(const int64_t *)at;
	case FACT_I32:
		return *(const int32_t *)at;
	case FACT_U32:
		return *(const uint32_t *)at;
	case FACT_U16:
	case FACT_CALL:
		return *(const uint16_t *)at;
	case FACT_BOOL:
		return *(const bool *)at;
	case FACT_LAYER:
		return *(const uint8_t *)at;
	case FACT_TEXT:
		break;
	}
	return 0;
}

bool fact_set_number(const struct fact_field *field, void *row, int64_t value)
{
	char *at = (char *)row + field->offset;

	switch (field->type) {
	case FACT_I64:
	case FACT_U64:
		*(int64_t *)at = value;
		return true;
	case FACT_I32:
		*(int32_t *)at = (int32_t)value;
		return value == (int32_t)value;
	case FACT_U32:
		*(uint32_t *)at = (uint32_t)value;
		return value == (uint32_t)value;
	case FACT_U16:
	case FACT_CALL:
		*(uint16_t *)at = (uint16_t)value;
		return value == (uint16_t)value;
	case FACT_BOOL:
		*(bool *)at = value != 0;
		return value == 0 || value == 1;
	case FACT_LAYER:
		*(uint8_t *)at = (uint8_t)value;
		return value == (uint8_t)value;
	case FACT_TEXT:
		break;
	}
	return false;
}

const char *fact_text(const struct fact_field *field, const void *row)
{
	const char *text = *(char *const *)((const char *)row + field->offset);

	return text ? text : "";
}

void fact_set_text(const struct fact_field *field, void *row, const char *text, size_t n)
{
	char **at = (char **)((char *)row + field->offset);

	free(*at);
	*at = xstrndup(text, n);
}

void fact_release(const struct fact *fact, void *row)
{
	for (size_t i = 0; i < fact->count; i++)
		if (fact->fields[i].type == FACT_TEXT)
			free(*(char **)((char *)row + fact->fields[i].offset));
	memset(row, 0, fact->bytes);
}

void run_info_release(struct run_info *run)
{
	fact_release(&fact_run, run);
}

void process_info_release(struct process_info *process)
{
	fact_release(&fact_process, process);
}
