/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of templates, and the two that print the rows as data.
 */
#include "capture/wrapgen/template.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "capture/wrapgen/interface.h"

const struct template_ops *const template_list[] = {
	&template_preload, &template_link,    &template_flags,
	&template_table,   &template_numbers, NULL,
};

const struct template_ops *template_find(const char *name)
{
	for (size_t i = 0; template_list[i]; i++) {
		if (strcmp(template_list[i]->name, name) == 0)
			return template_list[i];
	}
	return NULL;
}

#define NAME_ROW(name, ...) #name,
static const char *const layer_words[] = { LAYER_LIST(NAME_ROW) };
static const char *const class_words[] = { CLASS_LIST(NAME_ROW) };
static const char *const field_words[] = { FIELD_LIST(NAME_ROW) };
#undef NAME_ROW

static const char *const failure_words[] = {
#define FAILS_ROW(name, table) #table,
	FAILS_LIST(FAILS_ROW)
#undef FAILS_ROW
};

/* Rows of calls that have no wrapper. */
#define END_OF_FIELDS FIELD_COUNT
#define FIELDS(...)                        \
	{                                  \
		__VA_ARGS__, END_OF_FIELDS \
	}
#define COMPLETED(layer)                                                  \
	{                                                                 \
		"completed_" layer, "completed", layer, "WAIT", "STATUS", \
			FIELDS(FIELD_RESULT, FIELD_LINK)                  \
	}
#define STARTED(name, ...)                                                 \
	{                                                                  \
		name, name, "POSIX", "START", "NEVER", FIELDS(__VA_ARGS__) \
	}
#define URING(name, ...) STARTED("io_uring_" name, __VA_ARGS__)
#define URING_DATA(name) URING(name, FIELD_LINK, FIELD_SIZE, FIELD_OFFSET, FIELD_FLAGS)
#define URING_MESSAGE(name) URING(name, FIELD_LINK, FIELD_SIZE, FIELD_FLAGS)
#define LIBAIO_DATA(name) STARTED("libaio_" name, FIELD_LINK, FIELD_SIZE, FIELD_OFFSET, FIELD_FLAGS)

#define PARAMETERS(name, layer)                                                                    \
	{                                                                                          \
		name, name, layer, "CONTROL", "NEVER", FIELDS(FIELD_LINK, FIELD_NAME, FIELD_HINTS) \
	}

/*
 * Calls that have no wrapper; contract/call.h describes them. Columns: name in CALL_x, printed
 * name, layer, class, failure, fields.
 */
static const struct {
	const char *number, *name, *layer, *class, *failure;
	enum field fields[CALL_FIELDS_MAX + 1]; /* ends with END_OF_FIELDS */
} unwrapped_calls[] = {
	{ "none", "none", "POSIX", "CONTROL", "NEVER", { END_OF_FIELDS } },
	{ "inherited", "inherited", "POSIX", "OPEN", "NEVER",
	  FIELDS(FIELD_RESULT, FIELD_HANDLE, FIELD_FLAGS, FIELD_PATH, FIELD_NAME) },
	{ "fuse_request", "fuse_request", "POSIX", "CONTROL", "NEVER",
	  FIELDS(FIELD_RESULT, FIELD_LINK, FIELD_SIZE, FIELD_OFFSET, FIELD_FLAGS, FIELD_VARIABLE) },
	{ "fuse_reply", "fuse_reply", "POSIX", "CONTROL", "NEVER",
	  FIELDS(FIELD_RESULT, FIELD_LINK) },
	COMPLETED("POSIX"),
	COMPLETED("MPI"),
	COMPLETED("PNETCDF"),
	PARAMETERS("MPI_File_parameters", "MPI"),
	PARAMETERS("H5F_parameters", "HDF5"),
	PARAMETERS("H5D_parameters", "HDF5"),
	PARAMETERS("H5D_layout", "HDF5"),
	PARAMETERS("H5D_no_collective", "HDF5"),
	PARAMETERS("posix_parameters", "POSIX"),
	{ "activity", "activity", "APPLICATION", "ACTIVITY", "STATUS",
	  FIELDS(FIELD_LINK, FIELD_SIZE, FIELD_VARIABLE, FIELD_NAME, FIELD_HINTS) },
	{ "phase", "phase", "APPLICATION", "ACTIVITY", "NEVER", FIELDS(FIELD_NAME) },
	{ "misuse", "misuse", "APPLICATION", "ACTIVITY", "NEVER", FIELDS(FIELD_NAME) },
	URING_DATA("read"),
	URING_DATA("readv"),
	URING_DATA("read_fixed"),
	URING_DATA("write"),
	URING_DATA("writev"),
	URING_DATA("write_fixed"),
	URING("fsync", FIELD_LINK, FIELD_FLAGS),
	URING_DATA("sync_file_range"),
	URING_DATA("fadvise"),
	URING("fallocate", FIELD_LINK, FIELD_SIZE, FIELD_OFFSET, FIELD_MODE),
	URING("ftruncate", FIELD_LINK, FIELD_SIZE),
	URING("openat", FIELD_LINK2, FIELD_FLAGS, FIELD_MODE, FIELD_PATH),
	URING("openat2", FIELD_LINK2, FIELD_PATH),
	URING("close", FIELD_LINK),
	URING("statx", FIELD_LINK2, FIELD_FLAGS, FIELD_PATH),
	URING("splice", FIELD_LINK, FIELD_LINK2, FIELD_SIZE, FIELD_OFFSET, FIELD_FLAGS),
	URING("tee", FIELD_LINK, FIELD_LINK2, FIELD_SIZE, FIELD_FLAGS),
	URING("renameat", FIELD_LINK2, FIELD_FLAGS, FIELD_PATH, FIELD_PATH2),
	URING("unlinkat", FIELD_LINK2, FIELD_FLAGS, FIELD_PATH),
	URING("mkdirat", FIELD_LINK2, FIELD_MODE, FIELD_PATH),
	URING("symlinkat", FIELD_LINK2, FIELD_PATH, FIELD_PATH2),
	URING("linkat", FIELD_LINK2, FIELD_FLAGS, FIELD_PATH, FIELD_PATH2),
	URING_MESSAGE("send"),
	URING_MESSAGE("recv"),
	URING_MESSAGE("sendmsg"),
	URING_MESSAGE("recvmsg"),
	URING("socket", FIELD_FLAGS),
	URING("accept", FIELD_LINK, FIELD_FLAGS),
	URING("connect", FIELD_LINK),
	URING("shutdown", FIELD_LINK),
	URING("other", FIELD_FLAGS), /* FLAGS is the kernel's code of the operation */
	LIBAIO_DATA("pread"),
	LIBAIO_DATA("preadv"),
	LIBAIO_DATA("pwrite"),
	LIBAIO_DATA("pwritev"),
	STARTED("libaio_fsync", FIELD_LINK),
	STARTED("libaio_fdsync", FIELD_LINK),
};

#define UNWRAPPED_CALLS (sizeof(unwrapped_calls) / sizeof(unwrapped_calls[0]))

static void print_fields(struct buf *out, const enum field *fields, unsigned count)
{
	buf_printf(out, "%u,\n\t  {", count);
	for (unsigned i = 0; i < count; i++)
		buf_printf(out, "%s FIELD_%s", i ? "," : "", field_words[fields[i]]);
	buf_puts(out, count ? " } },\n" : " 0 } },\n");
}

static void print_unwrapped_calls(struct buf *out)
{
	for (size_t i = 0; i < UNWRAPPED_CALLS; i++) {
		unsigned count = 0;

		while (unwrapped_calls[i].fields[count] != END_OF_FIELDS)
			count++;
		buf_printf(out, "\t{ NAME(\"%s\"), LAYER_%s, CLASS_%s, FAILS_%s, ",
			   unwrapped_calls[i].name, unwrapped_calls[i].layer,
			   unwrapped_calls[i].class, unwrapped_calls[i].failure);
		print_fields(out, unwrapped_calls[i].fields, count);
	}
}

static void print_row(struct buf *out, const struct row *row)
{
	buf_printf(out, "\t{ NAME(\"%s\"), LAYER_%s, CLASS_%s, FAILS_%s, ", row->call,
		   layer_words[row->layer], class_words[row->class], failure_words[row->how]);
	print_fields(out, row->fields, row->field_count);
}

/* FNV-1a of the rows, never 0. */
static uint32_t digest_rows(const char *rows, size_t n)
{
	uint32_t hash = UINT32_C(0x811c9dc5);

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)rows[i]) * UINT32_C(0x01000193);
	return hash | 1;
}

static void table_print(struct buf *out, const struct interface *interface)
{
	size_t start;

	buf_puts(out, "/* Generated by wrapgen from capture/interfaces/. */\n"
		      "#include \"contract/call.h\"\n\n"
		      "/* The guest does not need names, which would have to be relocated. */\n"
		      "#ifdef SLUICE_GUEST\n#define NAME(text) 0\n#else\n"
		      "#define NAME(text) text\n#endif\n\n"
		      "const struct call_info call_table[] = {\n");
	start = out->len;
	print_unwrapped_calls(out);
	for (size_t i = 0; i < interface->count; i++)
		if (row_is_recorded(&interface->rows[i]))
			print_row(out, &interface->rows[i]);
	buf_printf(out,
		   "};\n\nconst unsigned call_count = sizeof(call_table) / sizeof(call_table[0]);\n"
		   "const uint32_t call_digest = 0x%08xu;\n",
		   (unsigned)digest_rows(out->data + start, out->len - start));
}

static void numbers_print(struct buf *out, const struct interface *interface)
{
	buf_puts(out, "/* Generated by wrapgen from capture/interfaces/. */\n"
		      "#ifndef SLUICE_CONTRACT_CALLS_H\n#define SLUICE_CONTRACT_CALLS_H\n\n"
		      "/* Indices of call_table. */\n"
		      "enum call_number {\n");
	for (size_t i = 0; i < UNWRAPPED_CALLS; i++)
		buf_printf(out, "\tCALL_%s,\n", unwrapped_calls[i].number);
	for (size_t i = 0; i < interface->count; i++)
		if (row_is_recorded(&interface->rows[i]))
			buf_printf(out, "\tCALL_%s,\n", interface->rows[i].call);
	buf_printf(out,
		   "};\n\n/* Calls with lower numbers have no wrapper. */\n"
		   "#define CALLS_WITHOUT_WRAPPER %zu\n\n#endif\n",
		   UNWRAPPED_CALLS);
}

const struct template_ops template_table = {
	.name = "table",
	.help = "the call table (contract/calls.c)",
	.print = table_print,
};

const struct template_ops template_numbers = {
	.name = "numbers",
	.help = "the call numbers (contract/calls.h)",
	.print = numbers_print,
};
