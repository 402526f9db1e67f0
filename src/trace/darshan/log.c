/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/log.h"

#include <byteswap.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/darshan/job.h"
#include "trace/darshan/region.h"

#define MAGIC INT64_C(6567223)
#define VERSION_BYTES 8
#define FORMAT_FIRST 310
#define FORMAT_H5D 320	/* added the module H5D */
#define FORMAT_WIDE 341 /* 64 modules instead of 16; added PNETCDF_VAR */
#define FORMAT_LAST 341

/* Where the fields of a header are; it changed once. */
struct header_shape {
	unsigned modules, flags_at, flags_bytes, maps_at, versions_at, bytes;
};
static const struct header_shape narrow_header = { 16, 20, 4, 24, 296, 360 };
static const struct header_shape wide_header = { 64, 24, 8, 32, 1072, 1328 };

#define MODULE_NAME(name, text, version) [DARSHAN_##name] = text,
static const char *const module_names[] = { DARSHAN_MODULE_LIST(MODULE_NAME) };
#define MODULE_VERSION(name, text, version) [DARSHAN_##name] = version,
static const unsigned module_versions[] = { DARSHAN_MODULE_LIST(MODULE_VERSION) };

const char *darshan_module_name(enum darshan_module module)
{
	return module_names[module];
}

uint64_t darshan_word(const struct darshan_log *log, const void *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return log->is_swapped ? bswap_64(word) : word;
}

static uint32_t half_word(const struct darshan_log *log, const void *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return log->is_swapped ? bswap_32(word) : word;
}

double darshan_real(const struct darshan_log *log, const void *bytes)
{
	uint64_t word = darshan_word(log, bytes);
	double real;

	memcpy(&real, &word, sizeof(real));
	return real;
}

int64_t darshan_ns(double seconds)
{
	return seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * (double)NS_PER_S) : 0;
}

/* The magic number follows the version. Sets *is_swapped. */
static bool check_magic(const unsigned char *head, bool *is_swapped)
{
	uint64_t magic;

	memcpy(&magic, head + VERSION_BYTES, sizeof(magic));
	*is_swapped = magic == bswap_64((uint64_t)MAGIC);
	return *is_swapped || magic == (uint64_t)MAGIC;
}

bool darshan_recognize(const unsigned char *head, size_t n)
{
	bool is_swapped;

	return n >= VERSION_BYTES + sizeof(uint64_t) && check_magic(head, &is_swapped);
}

/* Returns 310 for "3.10"; 0 if it is no version. */
static unsigned parse_format(const unsigned char *head)
{
	char text[VERSION_BYTES + 1] = "";
	unsigned major, minor;
	char end;

	memcpy(text, head, VERSION_BYTES);
	if (sscanf(text, "%1u.%2u%c", &major, &minor, &end) != 2)
		return 0;
	return major * 100 + minor;
}

/* The module that a log of this format means by a number; DARSHAN_MODULES: an unknown one. */
static unsigned module_by_number(unsigned format, unsigned number)
{
	unsigned id = number;

	if (format < FORMAT_H5D && id >= DARSHAN_H5D)
		id++;
	if (format < FORMAT_WIDE && id >= DARSHAN_PNETCDF_VAR)
		id++;
	return id < DARSHAN_MODULES ? id : DARSHAN_MODULES;
}

static struct darshan_part read_part(const struct darshan_log *log, const unsigned char *at)
{
	return (struct darshan_part){ .offset = darshan_word(log, at),
				      .bytes = darshan_word(log, at + 8) };
}

/* Does the region lie within the file, after the header? */
static bool part_is_valid(const struct darshan_log *log, const struct darshan_part *part,
			  unsigned header_bytes)
{
	if (!part->bytes)
		return true;
	return part->offset >= header_bytes && part->offset <= log->bytes &&
	       part->bytes <= log->bytes - part->offset;
}

static int fail_damaged(struct err *err, const char *what)
{
	return err_set(err, EBADMSG, "the log is damaged: %s", what);
}

static int read_modules(struct darshan_log *log, const unsigned char *header,
			const struct header_shape *shape, struct err *err)
{
	uint64_t flags = shape->flags_bytes == 8 ? darshan_word(log, header + shape->flags_at)
						 : half_word(log, header + shape->flags_at);

	for (unsigned i = 0; i < shape->modules; i++) {
		struct darshan_part part = read_part(log, header + shape->maps_at + 16 * (i + 1));
		unsigned module = module_by_number(log->format, i);

		part.version = half_word(log, header + shape->versions_at + 4 * i);
		part.is_partial = flags >> i & 1;
		if (!part_is_valid(log, &part, shape->bytes))
			return fail_damaged(err, "a module lies outside of the file");
		if (module < DARSHAN_MODULES)
			log->modules[module] = part;
		else
			log->unknown_modules += part.bytes > 0;
	}
	return 0;
}

/* The job has no entry in the header: it ends where the names or the first module begin. */
static void find_job(struct darshan_log *log, unsigned header_bytes)
{
	uint64_t end = log->bytes;

	if (log->names_part.bytes)
		end = log->names_part.offset;
	for (unsigned i = 0; i < DARSHAN_MODULES; i++)
		if (log->modules[i].bytes && log->modules[i].offset < end)
			end = log->modules[i].offset;
	log->job_part =
		(struct darshan_part){ .offset = header_bytes, .bytes = end - header_bytes };
}

static int read_header(struct darshan_log *log, struct err *err)
{
	unsigned char header[1328];
	const struct header_shape *shape;
	ssize_t n = pread(log->fd, header, sizeof(header), 0);

	_Static_assert(sizeof(header) == 1328, "the wide header fits");
	if (n < 0)
		return err_set(err, errno, "cannot read: %s", strerror(errno));
	if (n < VERSION_BYTES + 8 || !check_magic(header, &log->is_swapped))
		return err_set(err, EINVAL, "not a Darshan log");
	log->format = parse_format(header);
	if (log->format < FORMAT_FIRST || log->format > FORMAT_LAST)
		return err_set(err, ENOTSUP,
			       "Darshan log format %u.%02u is not supported; Sluice reads logs of "
			       "Darshan 3.1 to 3.5",
			       log->format / 100, log->format % 100);
	shape = log->format >= FORMAT_WIDE ? &wide_header : &narrow_header;
	if ((size_t)n < shape->bytes)
		return fail_damaged(err, "the file is truncated");
	log->compression = header[VERSION_BYTES + 8];
	if (log->compression >= REGION_COMPRESSIONS)
		return fail_damaged(err, "unknown compression");
	log->names_part = read_part(log, header + shape->maps_at);
	if (!part_is_valid(log, &log->names_part, shape->bytes))
		return fail_damaged(err, "the names lie outside of the file");
	if (read_modules(log, header, shape, err) < 0)
		return -EBADMSG;
	find_job(log, shape->bytes);
	return 0;
}

static int load_log(struct darshan_log *log, struct err *err)
{
	struct stat st;
	int r;

	if (fstat(log->fd, &st) < 0)
		return err_set(err, errno, "cannot read: %s", strerror(errno));
	log->bytes = (uint64_t)st.st_size;
	r = read_header(log, err);
	if (!r)
		r = darshan_read_job(log, err);
	if (!r)
		r = darshan_read_names(log, err);
	return r;
}

int darshan_log_open(struct darshan_log *log, const char *path, struct err *err)
{
	int r;

	*log = (struct darshan_log){ .path = xstrdup(path) };
	log->fd = file_open(path, err);
	if (log->fd < 0) {
		r = log->fd;
	} else {
		r = load_log(log, err);
		if (r < 0)
			err_prefix(err, "%s", path);
	}
	if (r < 0)
		darshan_log_close(log);
	return r;
}

void darshan_log_close(struct darshan_log *log)
{
	for (size_t i = 0; i < log->names.cap; i++)
		free(log->names.entries[i].value);
	map_release(&log->names);
	darshan_job_release(&log->job);
	if (log->path && log->fd >= 0)
		close(log->fd);
	free(log->path);
	*log = (struct darshan_log){ .fd = -1 };
}

bool darshan_log_has(const struct darshan_log *log, enum darshan_module module)
{
	const struct darshan_part *part = &log->modules[module];

	return part->bytes && part->version && part->version <= module_versions[module];
}

struct region *darshan_log_module(const struct darshan_log *log, enum darshan_module module,
				  struct err *err)
{
	const struct darshan_part *part = &log->modules[module];

	return region_open(log->fd, part->offset, part->bytes, log->compression, err);
}

const char *darshan_log_name(const struct darshan_log *log, uint64_t id)
{
	return id ? map_get(&log->names, id) : NULL;
}
