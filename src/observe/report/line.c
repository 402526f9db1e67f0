/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-9.
 */
#include "observe/report/line.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/json.h"
#include "observe/chain/chain.h"
#include "observe/tally/names.h"

/* Columns of a tree, wide enough for an hour, a thousand processes and all layers. */
#define TREE_ID 13
#define TREE_LAYER 28
#define TREE_CALL 42
#define TREE_INDENT 2

struct flag_name {
	int64_t value;
	const char *name;
};

/*
 * O_SYNC includes the bits of O_DSYNC, and O_TMPFILE those of O_DIRECTORY, so the larger ones come
 * first.
 */
static const struct flag_name open_flags[] = {
	{ O_TMPFILE, "O_TMPFILE" },	{ O_SYNC, "O_SYNC" },	      { O_DSYNC, "O_DSYNC" },
	{ O_CREAT, "O_CREAT" },		{ O_EXCL, "O_EXCL" },	      { O_TRUNC, "O_TRUNC" },
	{ O_APPEND, "O_APPEND" },	{ O_NONBLOCK, "O_NONBLOCK" }, { O_DIRECT, "O_DIRECT" },
	{ O_DIRECTORY, "O_DIRECTORY" }, { O_NOFOLLOW, "O_NOFOLLOW" }, { O_CLOEXEC, "O_CLOEXEC" },
	{ O_NOATIME, "O_NOATIME" },	{ O_PATH, "O_PATH" },	      { O_NOCTTY, "O_NOCTTY" },
};

static const char *const access_modes[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };
static const char *const whences[] = { "SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA",
				       "SEEK_HOLE" };

/*
 * Libraries have their own flags. MPICH and Open MPI use the same values, and so do NetCDF and
 * PnetCDF. The last row names the value without flags, if it has a name.
 */
static const struct flag_name mpi_modes[] = { { 0x2, "MPI_MODE_RDONLY" },
					      { 0x4, "MPI_MODE_WRONLY" },
					      { 0x8, "MPI_MODE_RDWR" },
					      { 0x1, "MPI_MODE_CREATE" },
					      { 0x40, "MPI_MODE_EXCL" },
					      { 0x80, "MPI_MODE_APPEND" },
					      { 0x10, "MPI_MODE_DELETE_ON_CLOSE" },
					      { 0x20, "MPI_MODE_UNIQUE_OPEN" },
					      { 0x100, "MPI_MODE_SEQUENTIAL" },
					      { 0 } };
static const struct flag_name hdf5_modes[] = {
	{ 0x1, "H5F_ACC_RDWR" },   { 0x2, "H5F_ACC_TRUNC" },	   { 0x4, "H5F_ACC_EXCL" },
	{ 0x10, "H5F_ACC_CREAT" }, { 0x20, "H5F_ACC_SWMR_WRITE" }, { 0x40, "H5F_ACC_SWMR_READ" },
	{ 0, "H5F_ACC_RDONLY" }
};
static const struct flag_name netcdf_modes[] = {
	{ 0x1, "NC_WRITE" },	      { 0x4, "NC_NOCLOBBER" },
	{ 0x8, "NC_DISKLESS" },	      { 0x10, "NC_MMAP" },
	{ 0x20, "NC_64BIT_DATA" },    { 0x100, "NC_CLASSIC_MODEL" },
	{ 0x200, "NC_64BIT_OFFSET" }, { 0x400, "NC_LOCK" },
	{ 0x800, "NC_SHARE" },	      { 0x1000, "NC_NETCDF4" },
	{ 0x2000, "NC_MPIIO" },	      { 0x4000, "NC_PERSIST" },
	{ 0x8000, "NC_INMEMORY" },    { 0 }
};
static const struct flag_name *const library_modes[LAYER_COUNT] = {
	[LAYER_MPI] = mpi_modes,
	[LAYER_HDF5] = hdf5_modes,
	[LAYER_NETCDF] = netcdf_modes,
	[LAYER_PNETCDF] = netcdf_modes,
};
static const struct flag_name mpi_whences[] = {
	{ 600, "MPI_SEEK_SET" }, { 602, "MPI_SEEK_CUR" }, { 604, "MPI_SEEK_END" }, { 0 }
};

static const struct call_info *call_get(const struct trace_head *head, const struct activity *a)
{
	static const struct call_info unknown = { .name = "?" };

	return a->call < head->call_count ? &head->calls[a->call] : &unknown;
}

static const char *file_name(const struct trace_head *head, file_id file)
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
	escape_text(out, text, "\"\\");
	buf_putc(out, '"');
}

static void put_collective(struct buf *out, const struct activity *a)
{
	buf_printf(out, "%016" PRIx64, a->collective);
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

/* Appends the names of the bits; bits without a name are a number. */
static void put_modes(struct buf *out, const struct flag_name *names, int64_t flags)
{
	const char *between = "";

	for (; names->value; names++) {
		if (!(flags & names->value))
			continue;
		buf_printf(out, "%s%s", between, names->name);
		flags &= ~names->value;
		between = "|";
	}
	if (!flags && !*between && names->name)
		buf_puts(out, names->name);
	else if (flags || !*between)
		buf_printf(out, "%s0x%" PRIx64, between, flags);
}

static const char *whence_name(const struct activity *a)
{
	if (a->layer == LAYER_MPI) {
		for (const struct flag_name *row = mpi_whences; row->name; row++)
			if (row->value == a->flags)
				return row->name;
	} else if (a->flags >= 0 && a->flags < (int64_t)(sizeof(whences) / sizeof(whences[0]))) {
		return whences[a->flags];
	}
	return NULL;
}

/* Only libc has permissions and flags that are bits; settings of libraries are plain numbers. */
static bool is_libc(const struct call_info *call)
{
	return call->layer == LAYER_POSIX || call->layer == LAYER_STDIO ||
	       call->layer == LAYER_NETWORK;
}

/* The operations of the kernel's requests to FUSE servers, by their codes. */
#define FUSE_NAME(name) [FUSE_##name] = #name
static const char *const fuse_names[] = {
	FUSE_NAME(LOOKUP),	 FUSE_NAME(FORGET),    FUSE_NAME(GETATTR),
	FUSE_NAME(SETATTR),	 FUSE_NAME(READLINK),  FUSE_NAME(SYMLINK),
	FUSE_NAME(MKNOD),	 FUSE_NAME(MKDIR),     FUSE_NAME(UNLINK),
	FUSE_NAME(RMDIR),	 FUSE_NAME(RENAME),    FUSE_NAME(LINK),
	FUSE_NAME(OPEN),	 FUSE_NAME(READ),      FUSE_NAME(WRITE),
	FUSE_NAME(STATFS),	 FUSE_NAME(RELEASE),   FUSE_NAME(FSYNC),
	FUSE_NAME(SETXATTR),	 FUSE_NAME(GETXATTR),  FUSE_NAME(LISTXATTR),
	FUSE_NAME(REMOVEXATTR),	 FUSE_NAME(FLUSH),     FUSE_NAME(INIT),
	FUSE_NAME(OPENDIR),	 FUSE_NAME(READDIR),   FUSE_NAME(RELEASEDIR),
	FUSE_NAME(FSYNCDIR),	 FUSE_NAME(GETLK),     FUSE_NAME(SETLK),
	FUSE_NAME(SETLKW),	 FUSE_NAME(ACCESS),    FUSE_NAME(CREATE),
	FUSE_NAME(INTERRUPT),	 FUSE_NAME(BMAP),      FUSE_NAME(DESTROY),
	FUSE_NAME(IOCTL),	 FUSE_NAME(POLL),      FUSE_NAME(NOTIFY_REPLY),
	FUSE_NAME(BATCH_FORGET), FUSE_NAME(FALLOCATE), FUSE_NAME(READDIRPLUS),
	FUSE_NAME(RENAME2),	 FUSE_NAME(LSEEK),     FUSE_NAME(COPY_FILE_RANGE),
};
#undef FUSE_NAME

static const char *fuse_name(const struct activity *a, const struct call_info *call)
{
	size_t count = sizeof(fuse_names) / sizeof(fuse_names[0]);

	if (call->class != CLASS_CONTROL || strcmp(call->name, "fuse_request") != 0 ||
	    (uint64_t)a->flags >= count)
		return NULL;
	return fuse_names[a->flags];
}

static void put_flags(struct buf *out, const struct activity *a, const struct call_info *call)
{
	const char *name = call->class == CLASS_SEEK ? whence_name(a) : fuse_name(a, call);

	/* memfd_create() opens a file, but its flags are not those of open(). */
	if (name)
		buf_puts(out, name);
	else if (call->class != CLASS_OPEN || !strcmp(call->name, "memfd_create"))
		buf_printf(out, is_libc(call) ? "0x%" PRIx64 : "%" PRId64, a->flags);
	else if (a->layer < LAYER_COUNT && library_modes[a->layer])
		put_modes(out, library_modes[a->layer], a->flags);
	else
		put_open_flags(out, a->flags);
}

/*
 * The result is an attribute if the class gives it a name (bytes of a read), or if it says more
 * than the error number and the handle. A pointer is recorded as 0 or 1 and says nothing; a
 * library's status is the error.
 */
static bool shows_result(const struct activity *a, const struct call_info *call)
{
	if (names_own_result(call->class))
		return a->result >= 0 && !(a->error && call->failure == FAILS_STATUS);
	if (a->error || !a->result || call->failure == FAILS_NULL_ERRNO)
		return false;
	return !(a->present & PRESENT(HANDLE)) || a->result != a->handle;
}

static bool shows_field(const struct activity *a, const struct call_info *call, enum field field)
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
	case FIELD_NAME:
		return (a->present & PRESENT(NAME)) && a->name;
	case FIELD_HINTS:
		return (a->present & PRESENT(HINTS)) && a->hints;
	case FIELD_COLLECTIVE:
		return (a->present & PRESENT(COLLECTIVE)) && a->collective;
	default:
		return a->present & 1u << field;
	}
}

static int64_t field_number(const struct activity *a, enum field field)
{
	switch (field) {
	case FIELD_RESULT:
		return a->result;
	case FIELD_HANDLE:
		return a->handle;
	case FIELD_SIZE:
		return a->size;
	case FIELD_SPAN:
		return a->span;
	case FIELD_VARIABLE:
		return a->variable;
	default:
		return a->offset;
	}
}

/* The text of a field that is one; NULL: it is a number, or bits. */
static const char *field_text(const struct trace_head *head, const struct activity *a,
			      enum field field)
{
	switch (field) {
	case FIELD_PATH:
		return file_name(head, a->file);
	case FIELD_PATH2:
		return file_name(head, a->file2);
	case FIELD_NAME:
		return file_name(head, a->name);
	case FIELD_HINTS:
		return file_name(head, a->hints);
	default:
		return NULL;
	}
}

static void put_value(struct buf *out, const struct trace_head *head, const struct activity *a,
		      const struct call_info *call, enum field field)
{
	switch (field) {
	case FIELD_PATH:
	case FIELD_PATH2:
	case FIELD_NAME:
	case FIELD_HINTS:
		put_quoted(out, field_text(head, a, field));
		break;
	case FIELD_FLAGS:
		put_flags(out, a, call);
		break;
	case FIELD_MODE:
		buf_printf(out, is_libc(call) ? "0%" PRIo64 : "%" PRId64, a->mode);
		break;
	case FIELD_COLLECTIVE:
		put_collective(out, a);
		break;
	default:
		buf_printf(out, "%" PRId64, field_number(a, field));
	}
}

/*
 * The order of SIOX's sample: names, quantities, handle, position, then fields that the sample does
 * not have.
 */
static const enum field field_order[] = {
	FIELD_PATH,   FIELD_PATH2,	FIELD_NAME,   FIELD_SIZE, FIELD_RESULT,
	FIELD_HANDLE, FIELD_VARIABLE,	FIELD_OFFSET, FIELD_SPAN, FIELD_FLAGS,
	FIELD_MODE,   FIELD_COLLECTIVE, FIELD_HINTS,
};
#define FIELD_ORDER_COUNT (sizeof(field_order) / sizeof(field_order[0]))

static void put_call(struct buf *out, const struct trace_head *head, const struct activity *a)
{
	const struct call_info *call = call_get(head, a);
	const char *between = "";

	escape_text(out, call->name, "");
	buf_putc(out, '(');
	for (size_t i = 0; i < FIELD_ORDER_COUNT; i++) {
		if (!shows_field(a, call, field_order[i]))
			continue;
		buf_printf(out, "%s%s/%s=", between, names_domain(a->layer),
			   names_field(call->class, field_order[i]));
		put_value(out, head, a, call, field_order[i]);
		between = ", ";
	}
	buf_putc(out, ')');
}

/* The cause comes first, then relations. An id appears once, and never the activity's own. */
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
		line_id(out, i ? trace_find_owner(head, a->process, ids[i]) : a->process, ids[i]);
	}
}

/* Seven digits after the point, as in SIOX's sample; rounding may carry into the seconds. */
static void put_time(struct buf *out, int64_t ns)
{
	uint64_t tenths_us = ((ns < 0 ? -(uint64_t)ns : (uint64_t)ns) + 50) / 100;

	buf_printf(out, "%s%" PRIu64 ".%07" PRIu64, ns < 0 && tenths_us ? "-" : "",
		   tenths_us / 10000000, tenths_us % 10000000);
}

static void put_rest_of_line(struct buf *out, const struct trace_head *head,
			     const struct activity *a)
{
	put_call(out, head, a);
	buf_printf(out, " = %" PRId32, a->error);
	put_relations(out, head, a);
}

/* The calls at the other end of a connection, or the request that the call was made for. */
static void put_chain(struct buf *out, const struct chain *chain, const struct activity *a)
{
	const struct chain_transfer *t = chain_find(chain, a->process, a->id);
	const struct chain_transfer *request = chain_request(chain, a);

	if (request) {
		buf_puts(out, " <- ");
		line_id(out, request->process, request->id);
	}
	for (uint32_t i = 0; t && i < t->count; i++) {
		const struct chain_transfer *partner = chain_partner(chain, t, i);

		buf_puts(out, i ? " " : t->is_sent ? " -> " : " <- ");
		line_id(out, partner->process, partner->id);
	}
}

void line_format(struct buf *out, const struct trace_head *head, const struct activity *activity)
{
	put_time(out, activity->start_ns);
	buf_putc(out, ' ');
	line_id(out, activity->process, activity->id);
	buf_printf(out, " %s ", names_layer(activity->layer));
	put_rest_of_line(out, head, activity);
	buf_putc(out, '\n');
}

/* Appends blanks up to a column of the line that began at start, at least one. */
static void put_blanks(struct buf *out, size_t start, size_t column)
{
	do
		buf_putc(out, ' ');
	while (out->len - start < column);
}

void line_tree(struct buf *out, const struct trace_head *head, const struct activity *activity,
	       size_t depth, const struct chain *chain)
{
	size_t start = out->len;

	put_time(out, activity->start_ns);
	put_blanks(out, start, TREE_ID);
	line_id(out, activity->process, activity->id);
	put_blanks(out, start, TREE_LAYER);
	buf_puts(out, names_layer(activity->layer));
	put_blanks(out, start, TREE_CALL + TREE_INDENT * depth);
	put_rest_of_line(out, head, activity);
	put_chain(out, chain, activity);
	buf_putc(out, '\n');
}

static int32_t activity_rank(const struct trace_head *head, const struct activity *a)
{
	return a->process < head->process_count ? head->processes[a->process].rank : -1;
}

void line_csv_titles(struct buf *out)
{
	buf_puts(out, "start_ns,duration_ns,process,rank,thread,id,layer,function,class,error,"
		      "result,size,offset,"
		      "handle,flags,mode,file,file2,cause,relation,relation2,span,variable,"
		      "collective,name,hints\n");
}

static void csv_text(struct buf *out, const char *text)
{
	buf_putc(out, ',');
	buf_put_csv_cell(out, text);
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
		line_id(out, trace_find_owner(head, a->process, id & ID_MASK), id & ID_MASK);
}

void line_csv(struct buf *out, const struct trace_head *head, const struct activity *activity)
{
	const struct activity *a = activity;
	const struct call_info *call = call_get(head, a);

	buf_printf(out, "%" PRId64 ",%" PRId64 ",%" PRIu32, a->start_ns, a->duration_ns,
		   a->process);
	csv_number(out, activity_rank(head, a) >= 0, activity_rank(head, a));
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
	csv_text(out, file_name(head, a->file));
	csv_text(out, file_name(head, a->file2));
	csv_id(out, head, a, a->parent);
	csv_id(out, head, a, a->link);
	csv_id(out, head, a, a->link2);
	csv_number(out, a->present & PRESENT(SPAN), a->span);
	csv_number(out, a->present & PRESENT(VARIABLE), a->variable);
	buf_putc(out, ',');
	if (a->present & PRESENT(COLLECTIVE))
		put_collective(out, a);
	csv_text(out, file_name(head, a->name));
	csv_text(out, file_name(head, a->hints));
	buf_putc(out, '\n');
}

static void json_id(struct json *json, const char *key, const struct trace_head *head,
		    const struct activity *a, uint64_t id)
{
	AUTO_BUF struct buf text = { 0 };

	if (!(id & ID_MASK))
		return;
	line_id(&text, trace_find_owner(head, a->process, id & ID_MASK), id & ID_MASK);
	json_text(json, key, buf_text(&text));
}

static void json_fields(struct json *json, const struct activity *a)
{
	AUTO_BUF struct buf collective = { 0 };

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
	if (a->present & PRESENT(SPAN))
		json_number(json, "span", a->span);
	if (a->present & PRESENT(VARIABLE))
		json_number(json, "variable", a->variable);
	if (a->present & PRESENT(COLLECTIVE)) {
		put_collective(&collective, a);
		json_text(json, "collective", buf_text(&collective));
	}
}

static void json_transfer(struct json *json, const char *key, const struct chain_transfer *t)
{
	AUTO_BUF struct buf text = { 0 };

	line_id(&text, t->process, t->id);
	json_text(json, key, buf_text(&text));
}

static void json_chain(struct json *json, const struct chain *chain, const struct activity *a)
{
	const struct chain_transfer *t = chain_find(chain, a->process, a->id);
	const struct chain_transfer *request = chain_request(chain, a);

	if (request)
		json_transfer(json, "request", request);
	if (!t)
		return;
	json_text(json, "connection", chain_state_key(t->state));
	json_open(json, "remote_calls", '[');
	for (uint32_t i = 0; i < t->count; i++)
		json_transfer(json, NULL, chain_partner(chain, t, i));
	json_close(json);
}

void line_json(struct json *json, const struct trace_head *head, const struct activity *activity,
	       const struct chain *chain)
{
	const struct activity *a = activity;
	const struct call_info *call = call_get(head, a);

	json_open(json, NULL, '{');
	json_id(json, "id", head, a, a->id);
	json_number(json, "start_ns", a->start_ns);
	json_number(json, "duration_ns", a->duration_ns);
	json_number(json, "process", a->process);
	if (activity_rank(head, a) >= 0)
		json_number(json, "rank", activity_rank(head, a));
	json_number(json, "thread", id_thread(a->id));
	json_text(json, "layer", names_layer(a->layer));
	json_text(json, "function", call->name);
	json_text(json, "class", names_class(call->class));
	json_number(json, "error", a->error);
	json_number(json, "result", a->result);
	json_fields(json, a);
	if (a->file)
		json_text(json, "file", file_name(head, a->file));
	if (a->file2)
		json_text(json, "file2", file_name(head, a->file2));
	if (a->name)
		json_text(json, "name", file_name(head, a->name));
	if (a->hints)
		json_text(json, "hints", file_name(head, a->hints));
	json_id(json, "cause", head, a, a->parent);
	json_id(json, "relation", head, a, a->link);
	json_id(json, "relation2", head, a, a->link2);
	json_chain(json, chain, a);
	json_close(json);
}

void line_json_attributes(struct json *json, const struct trace_head *head,
			  const struct activity *activity)
{
	const struct call_info *call = call_get(head, activity);

	json_open(json, "attributes", '[');
	for (size_t i = 0; i < FIELD_ORDER_COUNT; i++) {
		const char *text = field_text(head, activity, field_order[i]);
		AUTO_BUF struct buf name = { 0 }, value = { 0 };

		if (!shows_field(activity, call, field_order[i]))
			continue;
		buf_printf(&name, "%s/%s", names_domain(activity->layer),
			   names_field(call->class, field_order[i]));
		if (!text)
			put_value(&value, head, activity, call, field_order[i]);
		json_open(json, NULL, '{');
		json_text(json, "name", buf_text(&name));
		json_text(json, "value", text ? text : buf_text(&value));
		json_close(json);
	}
	json_close(json);
}
