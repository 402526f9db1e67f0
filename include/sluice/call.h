/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layers, classes and fields of recorded calls. Part of the plug-in ABI: new rows are added at
 * the end of their list, and no row is ever removed. Uses no libc function.
 */
#ifndef SLUICE_CALL_H
#define SLUICE_CALL_H

#include <stdint.h>

/* One row per layer: enum name, printed name. SIOX calls a layer "component". */
#define LAYER_LIST(X)               \
	X(POSIX, "POSIX")           \
	X(STDIO, "STDIO")           \
	X(NETWORK, "POSIX.Network") \
	X(MPI, "MPI")               \
	X(HDF5, "HDF5")             \
	X(NETCDF, "NetCDF")         \
	X(PNETCDF, "PnetCDF")       \
	X(APPLICATION, "Application")

/* One row per class: enum name, printed name, attribute names of size and result if they are byte
 * counts. */
#define CLASS_LIST(X)                                                       \
	X(OPEN, "open", 0, 0)                                               \
	X(CLOSE, "close", 0, 0)                                             \
	X(READ, "read", "quantity/BytesToRead", "quantity/BytesRead")       \
	X(WRITE, "write", "quantity/BytesToWrite", "quantity/BytesWritten") \
	X(COPY, "copy", "quantity/BytesToCopy", "quantity/BytesCopied")     \
	X(SEEK, "seek", 0, 0)                                               \
	X(STAT, "stat", 0, 0)                                               \
	X(SYNC, "sync", 0, 0)                                               \
	X(MAP, "map", 0, 0)                                                 \
	X(DUP, "dup", 0, 0)                                                 \
	X(META, "metadata", 0, 0)                                           \
	X(DIR, "directory", 0, 0)                                           \
	X(LOCK, "lock", 0, 0)                                               \
	X(ADVISE, "advise", 0, 0)                                           \
	X(RESIZE, "resize", 0, 0)                                           \
	X(CONTROL, "control", 0, 0)                                         \
	X(CONNECT, "connect", 0, 0)                                         \
	X(START, "start", "quantity/BytesToTransfer", 0)                    \
	X(WAIT, "wait", 0, "quantity/BytesTransferred")                     \
	X(PROCESS, "process", 0, 0)                                         \
	X(MESSAGE, "message", "quantity/BytesInMessage", 0)                 \
	X(ACTIVITY, "activity", "quantity/Bytes", 0)

/*
 * One row per field that a record may have after its fixed head: enum name, attribute name in the
 * layer's domain. LINK and LINK2 are ids of the calls that made the handles; in a completion, LINK
 * is the call that started the operation. SPAN is the distance in the file from the first byte to
 * the end of the last; it exceeds the bytes moved if the view has holes. COLLECTIVE is the same
 * number on all ranks that take part in a call. PATH, PATH2, NAME and HINTS are strings; NAME is an
 * object inside a file, HINTS are the hints that a file was opened with: KEY=VALUE;KEY=VALUE,
 * sorted by key. FLAGS of a MESSAGE is the rank at the other end, or the root.
 */
#define FIELD_LIST(X)                      \
	X(RESULT, "result")                \
	X(LINK, 0)                         \
	X(LINK2, 0)                        \
	X(HANDLE, "descriptor/filehandle") \
	X(SIZE, "quantity/Size")           \
	X(OFFSET, "file/position")         \
	X(FLAGS, "hint/flags")             \
	X(MODE, "hint/mode")               \
	X(SPAN, "file/span")               \
	X(VARIABLE, "descriptor/variable") \
	X(COLLECTIVE, "group/collective")  \
	X(PATH, "descriptor/filename")     \
	X(PATH2, "descriptor/filename2")   \
	X(NAME, "descriptor/name")         \
	X(HINTS, "hint/set")

#define CALL_ENUM_1(name, ...) LAYER_##name,
#define CALL_ENUM_2(name, ...) CLASS_##name,
#define CALL_ENUM_3(name, ...) FIELD_##name,
enum layer { LAYER_LIST(CALL_ENUM_1) LAYER_COUNT };
enum call_class { CLASS_LIST(CALL_ENUM_2) CLASS_COUNT };
enum field { FIELD_LIST(CALL_ENUM_3) FIELD_COUNT };
#undef CALL_ENUM_1
#undef CALL_ENUM_2
#undef CALL_ENUM_3

/* How a call reports failure, and where its error code is. */
enum call_failure {
	FAILS_NEVER,	   /* the call cannot fail */
	FAILS_MINUS_ERRNO, /* result < 0, the code is in errno */
	FAILS_NULL_ERRNO,  /* result is NULL (recorded as 0), the code is in errno */
	FAILS_EOF_ERRNO,   /* result is EOF, the code is in errno (0 at the end of the file) */
	FAILS_IS_ERRNO,	   /* the result is an errno value, 0 for success */
	FAILS_STATUS,	   /* the result is a code of the library, 0 for success */
	FAILS_NEGATIVE,	   /* result < 0 without a code: the error is recorded as -1 */
};

#define CALL_FIELDS_MAX 11

struct call_info {
	const char *name;
	uint8_t layer;	 /* enum layer; calls on sockets and pipes are recorded as LAYER_NETWORK */
	uint8_t class;	 /* enum call_class */
	uint8_t failure; /* enum call_failure */
	uint8_t field_count;
	uint8_t fields[CALL_FIELDS_MAX]; /* enum field, in the order of the record's words; strings
					    last */
};

#endif
