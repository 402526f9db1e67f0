/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A Darshan log: its header, job and names. A log consists of
 *
 *   header     format version, byte order, compression, and where the regions are
 *   job        start, end, number of processes, command, mounted file systems
 *   names      the path of every record id
 *   modules    the records of each module that counted or traced something
 *
 * Everything after the header is compressed. Numbers have the byte order and the alignment of the
 * machine that wrote the log. Format versions 3.10 to 3.41 are understood, which Darshan 3.1.0 to
 * 3.5.0 write. A log is not trusted: offsets and lengths are checked before they are used.
 */
#ifndef SLUICE_TRACE_DARSHAN_LOG_H
#define SLUICE_TRACE_DARSHAN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct err;
struct region;

/*
 * One row per module in the order of format 3.41: enum name, Darshan's name, newest version of its
 * records that is understood (0: the module is not imported).
 */
#define DARSHAN_MODULE_LIST(X)             \
	X(NULL, "NULL", 0)                 \
	X(POSIX, "POSIX", 4)               \
	X(MPIIO, "MPI-IO", 3)              \
	X(H5F, "H5F", 3)                   \
	X(H5D, "H5D", 2)                   \
	X(PNETCDF_FILE, "PNETCDF_FILE", 3) \
	X(PNETCDF_VAR, "PNETCDF_VAR", 1)   \
	X(BGQ, "BG/Q", 0)                  \
	X(LUSTRE, "LUSTRE", 2)             \
	X(STDIO, "STDIO", 2)               \
	X(DXT_POSIX, "DXT_POSIX", 2)       \
	X(DXT_MPIIO, "DXT_MPIIO", 3)       \
	X(MDHIM, "MDHIM", 0)               \
	X(APXC, "APXC", 0)                 \
	X(APMPI, "APMPI", 0)               \
	X(HEATMAP, "HEATMAP", 1)           \
	X(DFS, "DFS", 0)                   \
	X(DAOS, "DAOS", 0)
#define DARSHAN_ENUM(name, ...) DARSHAN_##name,
enum darshan_module { DARSHAN_MODULE_LIST(DARSHAN_ENUM) DARSHAN_MODULES };
#undef DARSHAN_ENUM

#define DARSHAN_SHARED (-1) /* the rank of a record that all ranks share */

struct darshan_part {
	uint64_t offset, bytes; /* compressed, in the file; bytes 0: absent */
	uint32_t version;	/* of the records of a module */
	bool is_partial;	/* the module ran out of memory and did not record everything */
};

struct darshan_job {
	int64_t start_ns, end_ns; /* since the epoch */
	int64_t user, id;
	int64_t processes; /* at least 1 */
	bool has_nanoseconds;
	char *command; /* may be truncated */
	char *library; /* version of Darshan, "" if unknown */
};

struct darshan_log {
	int fd;
	char *path;
	uint64_t bytes;	 /* of the file */
	unsigned format; /* 310 for 3.10 */
	bool is_swapped; /* written on a machine of the other byte order */
	unsigned compression;
	struct darshan_part job_part, names_part, modules[DARSHAN_MODULES];
	unsigned unknown_modules; /* present, but not even known by name */
	struct darshan_job job;
	struct map names;    /* char * by record id */
	bool has_more_names; /* there were too many to keep */
};

/* Do the first n bytes of a file belong to a log of any version? */
bool darshan_recognize(const unsigned char *head, size_t n);

/* On failure the log is zeroed and err names the file. Release it with darshan_log_close(). */
int darshan_log_open(struct darshan_log *log, const char *path, struct err *err);
void darshan_log_close(struct darshan_log *log);

const char *darshan_module_name(enum darshan_module module);

/* Can the records of the module be read? */
bool darshan_log_has(const struct darshan_log *log, enum darshan_module module);

/* Opens the records of a module. Close with region_close(). NULL with err set on failure. */
struct region *darshan_log_module(const struct darshan_log *log, enum darshan_module module,
				  struct err *err);

/* The name of a record; NULL if the log has none. */
const char *darshan_log_name(const struct darshan_log *log, uint64_t id);

/* Numbers of a log in the byte order of this machine. */
uint64_t darshan_word(const struct darshan_log *log, const void *bytes);
double darshan_real(const struct darshan_log *log, const void *bytes);

/* Seconds as nanoseconds; 0 if they are negative, not a number or longer than any run. */
int64_t darshan_ns(double seconds);

#endif
