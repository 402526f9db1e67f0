/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/line.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "observe/report/names.h"

struct flag_name {
	int64_t value;
	const char *name;
};

/*
 * O_SYNC holds the bits of O_DSYNC and O_TMPFILE those of O_DIRECTORY: the larger ones come first.
 */
static const struct flag_name open_flags[] = {
	{ O_TMPFILE, "O_TMPFILE" },   { O_SYNC, "O_SYNC" },           { O_DSYNC, "O_DSYNC" },
	{ O_CREAT, "O_CREAT" },       { O_EXCL, "O_EXCL" },           { O_TRUNC, "O_TRUNC" },
	{ O_APPEND, "O_APPEND" },     { O_NONBLOCK, "O_NONBLOCK" },   { O_DIRECT, "O_DIRECT" },
	{ O_DIRECTORY, "O_DIRECTORY" }, { O_NOFOLLOW, "O_NOFOLLOW" }, { O_CLOEXEC, "O_CLOEXEC" },
	{ O_NOATIME, "O_NOATIME" },   { O_PATH, "O_PATH" },           { O_NOCTTY, "O_NOCTTY" },
};

static const char *const access_modes[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };
static const char *const whences[] = { "SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA",
				       "SEEK_HOLE" };

static const struct call_info *call_of(const struct trace_head *head, const struct activity *a)
{
	static const struct call_info unknown = { .name = "?" };

	return a->call < head->call_count ? &head->calls[a->call] : &unknown;
}

static const char *file_of(const struct trace_head *head, file_id file)
{
	return file < head->file_count ? head->files[file] : "?";
}

void line_id(struct buf *out, uint32_t process, uint64_t id)
{
	uint32_t thread = id_thread(id);

	buf_puts(out, "ID");
	if (process)
		buf_printf(out, "%" PRIu32 ":", process);
	if (process || thread)
		buf_printf(out, "%" PRIu32 ".", thread);
	buf_printf(out, "%" PRIu64, id_seq(id));
}

static void put_quoted(struct buf *out, const char *text)
{
	buf_putc(out, '"');
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			buf_printf(out, "\\%c", *c);
		else if ((unsigned char)*c < 0x20 || *c == 0x7F)
			buf_printf(out, "\\x%02x", (unsigned char)*c);
		else
			buf_putc(out, *c);
	}
	buf_putc(out, '"');
}

static void put_open_flags(struct buf *out, int64_t flags)
{
	buf_puts(out, access_modes[flags & O_ACCMODE]);
	flags &= ~(int64_t)O_ACCMODE;
	for (size_t i = 0; i < sizeof(open_flags) / sizeof(open_flags[0]); i++) {
		int64_t value = open_flags[i].value;

		if (!value || (flags & value) != value)
			continue;
		buf_printf(out, "|%s", open_flags[i].name);
		flags &= ~value;
	}
	if (flags)
		buf_printf(out, "|0x%" PRIx64, flags);
}

static void put_flags(struct buf *out, const struct activity *a, const struct call_info *call)
{
	/* memfd_create() is an open whose flags are not those of open(). */
	if (call->class == CLASS_OPEN && strcmp(call->name, "memfd_create") != 0)
		put_open_flags(out, a->flags);
	else if (call->class == CLASS_SEEK && a->flags >= 0 &&
		 a->flags < (int64_t)(sizeof(whences) / sizeof(whences[0])))
		buf_puts(out, whences[a->flags]);
	else
		buf_printf(out, "0x%" PRIx64, a->flags);
}

/*
 * The result is an attribute where the class gives it a name (bytes of a read), or where it tells
 * more than the error number and the handle do. A pointer is recorded as 0 or 1 and tells nothing.
 */
static bool shows_result(const struct activity *a, const struct call_info *call)
{
	if (names_own_result(call->class))
		return a->result >= 0;
	if (a->error || !a->result || call->failure == FAILS_NULL_ERRNO)
		return false;
	return !(a->present & PRESENT(HANDLE)) || a->result != a->handle;
}

static bool shows(const struct activity *a, const struct call_info *call, enum field field)
{
	switch (field) {
	case FIELD_RESULT:
		return shows_result(a, call);
	case FIELD_LINK:
	case FIELD_LINK2:
		return false;
	case FIELD_PATH:
		return (a->present & PRESENT(PATH)) && a->file;
	case FIELD_PATH2:
		return (a->present & PRESENT(PATH2)) && a->file2;
	default:
		return a->present & 1u << field;
	}
}

static void put_value(struct buf *out, const struct trace_head *head, const struct activity *a,
		      const struct call_info *call, enum field field)
{
	int64_t number = field == FIELD_RESULT ? a->result : field == FIELD_HANDLE ? a->handle
		       : field == FIELD_SIZE ? a->size : a->offset;

	if (field == FIELD_PATH)
		put_quoted(out, file_of(head, a->file));
	else if (field == FIELD_PATH2)
		put_quoted(out, file_of(head, a->file2));
	else if (field == FIELD_FLAGS)
		put_flags(out, a, call);
	else if (field == FIELD_MODE)
		buf_printf(out, "0%" PRIo64, (uint64_t)a->mode);
	else
		buf_printf(out, "%" PRId64, number);
}

/*
 * The order of SIOX's sample: names, quantities, handle, position, and then what the sample does
 * not have.
 */
static const enum field field_order[] = {
	FIELD_PATH,   FIELD_PATH2,  FIELD_SIZE,	 FIELD_RESULT,
	FIELD_HANDLE, FIELD_OFFSET, FIELD_FLAGS, FIELD_MODE,
};
#define FIELD_ORDER_COUNT (sizeof(field_order) / sizeof(field_order[0]))

static void put_call(struct buf *out, const struct trace_head *head, const struct activity *a)
{
	const struct call_info *call = call_of(head, a);
	const char *between = "";

	buf_printf(out, "%s(", call->name);
	for (size_t i = 0; i < FIELD_ORDER_COUNT; i++) {
		if (!shows(a, call, field_order[i]))
			continue;
		buf_printf(out, "%s%s/%s=", between, names_domain(a->layer),
			   names_field(call->class, field_order[i]));
		put_value(out, head, a, call, field_order[i]);
		between = ", ";
	}
	buf_putc(out, ')');
}

/* Cause first, then relations; an id is named once and never the activity's own. */
static void put_relations(struct buf *out, const struct trace_head *head, const struct activity *a)
{
	uint64_t ids[3] = { a->parent, a->link & ID_MASK, a->link2 & ID_MASK };

	for (int i = 0; i < 3; i++) {
		bool known = !ids[i] || ids[i] == a->id;

		for (int k = 0; k < i; k++)
			known |= ids[k] == ids[i];
		if (known)
			continue;
		buf_putc(out, ' ');
		line_id(out, i ? trace_owner(head, a->process, ids[i]) : a->process, ids[i]);
	}
}

/* Seven digits after the point, as in SIOX's sample; rounded, which may carry into the seconds. */
static void put_time(struct buf *out, int64_t ns)
{
	uint64_t tenths_us = ((ns < 0 ? -(uint64_t)ns : (uint64_t)ns) + 50) / 100;

	buf_printf(out, "%s%" PRIu64 ".%07" PRIu64, ns < 0 && tenths_us ? "-" : "",
		   tenths_us / 10000000, tenths_us % 10000000);
}

void line_format(struct buf *out, const struct trace_head *head, const struct activity *activity,
		 size_t depth)
{
	put_time(out, activity->start_ns);
	buf_putc(out, ' ');
	line_id(out, activity->process, activity->id);
	buf_printf(out, " %s %*s", names_layer(activity->layer), (int)(2 * depth), "");
	put_call(out, head, activity);
	buf_printf(out, " = %" PRId32, activity->error);
	put_relations(out, head, activity);
	buf_putc(out, '\n');
}

static int32_t rank_of(const struct trace_head *head, const struct activity *a)
{
	return a->process < head->process_count ? head->processes[a->process].rank : -1;
}

void line_csv_titles(struct buf *out)
{
	buf_puts(out, "start_ns,duration_ns,process,rank,thread,id,layer,function,class,error,"
		      "result,size,offset,"
		      "handle,flags,mode,file,file2,cause,relation,relation2\n");
}

static void csv_text(struct buf *out, const char *text)
{
	buf_putc(out, ',');
	if (!strpbrk(text, ",\"\n\r")) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

static void csv_number(struct buf *out, bool present, int64_t number)
{
	if (present)
		buf_printf(out, ",%" PRId64, number);
	else
		buf_putc(out, ',');
}

static void csv_id(struct buf *out, const struct trace_head *head, const struct activity *a,
		   uint64_t id)
{
	buf_putc(out, ',');
	if (id & ID_MASK)
		line_id(out, trace_owner(head, a->process, id & ID_MASK), id & ID_MASK);
}

void line_csv(struct buf *out, const struct trace_head *head, const struct activity *activity)
{
	const struct activity *a = activity;
	const struct call_info *call = call_of(head, a);

	buf_printf(out, "%" PRId64 ",%" PRId64 ",%" PRIu32, a->start_ns, a->duration_ns,
		   a->process);
	csv_number(out, rank_of(head, a) >= 0, rank_of(head, a));
	buf_printf(out, ",%" PRIu32, id_thread(a->id));
	csv_id(out, head, a, a->id);
	csv_text(out, names_layer(a->layer));
	csv_text(out, call->name);
	csv_text(out, names_class(call->class));
	buf_printf(out, ",%" PRId32 ",%" PRId64, a->error, a->result);
	csv_number(out, a->present & PRESENT(SIZE), a->size);
	csv_number(out, a->present & PRESENT(OFFSET), a->offset);
	csv_number(out, a->present & PRESENT(HANDLE), a->handle);
	csv_number(out, a->present & PRESENT(FLAGS), a->flags);
	csv_number(out, a->present & PRESENT(MODE), a->mode);
	csv_text(out, file_of(head, a->file));
	csv_text(out, file_of(head, a->file2));
	csv_id(out, head, a, a->parent);
	csv_id(out, head, a, a->link);
	csv_id(out, head, a, a->link2);
	buf_putc(out, '\n');
}

static void json_id(struct json *json, const char *key, const struct trace_head *head,
		    const struct activity *a, uint64_t id)
{
	AUTO_BUF struct buf text = { 0 };

	if (!(id & ID_MASK))
		return;
	line_id(&text, trace_owner(head, a->process, id & ID_MASK), id & ID_MASK);
	json_text(json, key, buf_text(&text));
}

static void json_fields(struct json *json, const struct activity *a)
{
	if (a->present & PRESENT(SIZE))
		json_number(json, "size", a->size);
	if (a->present & PRESENT(OFFSET))
		json_number(json, "offset", a->offset);
	if (a->present & PRESENT(HANDLE))
		json_number(json, "handle", a->handle);
	if (a->present & PRESENT(FLAGS))
		json_number(json, "flags", a->flags);
	if (a->present & PRESENT(MODE))
		json_number(json, "mode", a->mode);
}

void line_json(struct json *json, const struct trace_head *head, const struct activity *activity)
{
	const struct activity *a = activity;
	const struct call_info *call = call_of(head, a);

	json_open(json, NULL, '{');
	json_id(json, "id", head, a, a->id);
	json_number(json, "start_ns", a->start_ns);
	json_number(json, "duration_ns", a->duration_ns);
	json_number(json, "process", a->process);
	if (rank_of(head, a) >= 0)
		json_number(json, "rank", rank_of(head, a));
	json_number(json, "thread", id_thread(a->id));
	json_text(json, "layer", names_layer(a->layer));
	json_text(json, "function", call->name);
	json_text(json, "class", names_class(call->class));
	json_number(json, "error", a->error);
	json_number(json, "result", a->result);
	json_fields(json, a);
	if (a->file)
		json_text(json, "file", file_of(head, a->file));
	if (a->file2)
		json_text(json, "file2", file_of(head, a->file2));
	json_id(json, "cause", head, a, a->parent);
	json_id(json, "relation", head, a, a->link);
	json_id(json, "relation2", head, a, a->link2);
	json_close(json);
}
