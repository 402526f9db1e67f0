/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/darshan/region.h"

#define JOB_BYTES 4096 /* numbers, metadata, command and mounts together */
#define METADATA_BYTES 1024
#define FORMAT_NANOSECONDS 341
#define SECONDS_MAX INT64_C(4000000000) /* in the year 2096 */

/* Limits of what is kept in memory; names beyond them are treated as missing. */
#define NAMES_MAX (1u << 20)
#define NAMES_BYTES_MAX (256u << 20)
#define NAME_MAX_BYTES 4096 /* a longer name is truncated */

void darshan_job_release(struct darshan_job *job)
{
	free(job->command);
	free(job->library);
	*job = (struct darshan_job){ 0 };
}

static int64_t number_at(const struct darshan_log *log, const char *bytes, size_t index)
{
	return (int64_t)darshan_word(log, bytes + 8 * index);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static int64_t time_at(int64_t seconds, int64_t nanoseconds)
{
	return clamp(seconds, 0, SECONDS_MAX) * NS_PER_S + clamp(nanoseconds, 0, NS_PER_S - 1);
}

/* Reads the numbers. Returns how many there are. */
static size_t read_numbers(const struct darshan_log *log, const char *bytes,
			   struct darshan_job *job)
{
	bool fine = log->format >= FORMAT_NANOSECONDS;
	size_t end = fine ? 3 : 2, rest = end + 1 + fine;

	job->has_nanoseconds = fine;
	job->user = number_at(log, bytes, 0);
	job->start_ns = time_at(number_at(log, bytes, 1), fine ? number_at(log, bytes, 2) : 0);
	job->end_ns =
		time_at(number_at(log, bytes, end), fine ? number_at(log, bytes, end + 1) : 0);
	job->processes = clamp(number_at(log, bytes, rest), 1, INT32_MAX);
	job->id = number_at(log, bytes, rest + 1);
	return rest + 2;
}

/* Returns the value of a line KEY=VALUE of the metadata, or "". The caller frees it. */
static char *find_metadata(const char *metadata, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = metadata; line && *line;) {
		const char *end = strchrnul(line, '\n');

		if (!strncmp(line, key, n) && line[n] == '=')
			return xstrndup(line + n + 1, (size_t)(end - line) - n - 1);
		line = *end ? end + 1 : NULL;
	}
	return xstrdup("");
}

int darshan_read_job(struct darshan_log *log, struct err *err)
{
	struct region *region = region_open(log->fd, log->job_part.offset, log->job_part.bytes,
					    log->compression, err);
	AUTO_FREE char *bytes = xcalloc(1, JOB_BYTES + 1);
	struct darshan_job *job = &log->job;
	char metadata[METADATA_BYTES + 1] = "";
	size_t have = 0, at;
	long got = region ? 1 : -EBADMSG;

	while (got > 0 && have < JOB_BYTES) {
		got = region_read_some(region, bytes + have, JOB_BYTES - have, err);
		have += got > 0 ? (size_t)got : 0;
	}
	region_close(region);
	if (got < 0)
		return (int)got;
	if (have <= 7 * 8 + METADATA_BYTES)
		return err_set(err, EBADMSG, "the log is damaged: it describes no job");
	at = 8 * read_numbers(log, bytes, job);
	memcpy(metadata, bytes + at, METADATA_BYTES);
	job->library = find_metadata(metadata, "lib_ver");
	at += METADATA_BYTES;
	bytes[have] = 0;
	/* The mounted file systems follow in further lines. */
	job->command = xstrndup(bytes + at, strcspn(bytes + at, "\n"));
	return 0;
}

/* The first name of an id that is not empty counts. */
static void keep_name(struct darshan_log *log, uint64_t id, const struct buf *name)
{
	const char *old = darshan_log_name(log, id);

	if (!id || (old && *old))
		return;
	free((char *)old);
	map_put(&log->names, id, xstrndup(buf_text(name), name->len));
}

struct name_parser {
	struct darshan_log *log;
	unsigned char id[8];
	size_t id_bytes;
	struct buf name;
	uint64_t kept_bytes;
};

/* A name record is the id and the name with its terminating zero, without padding. */
static void parse_names(struct name_parser *p, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p->id_bytes < sizeof(p->id)) {
			p->id[p->id_bytes++] = (unsigned char)bytes[i];
		} else if (bytes[i]) {
			if (p->name.len < NAME_MAX_BYTES)
				buf_putc(&p->name, bytes[i]);
		} else {
			p->log->has_more_names |= p->log->names.count >= NAMES_MAX ||
						  p->kept_bytes >= NAMES_BYTES_MAX;
			if (!p->log->has_more_names)
				keep_name(p->log, darshan_word(p->log, p->id), &p->name);
			p->kept_bytes += p->name.len;
			p->id_bytes = 0;
			buf_clear(&p->name);
		}
	}
}

int darshan_read_names(struct darshan_log *log, struct err *err)
{
	const struct darshan_part *part = &log->names_part;
	struct name_parser parser = { .log = log };
	AUTO_FREE char *bytes = xmalloc(JOB_BYTES);
	struct region *region;
	long got;

	if (!part->bytes)
		return 0;
	region = region_open(log->fd, part->offset, part->bytes, log->compression, err);
	if (!region)
		return -EBADMSG;
	while ((got = region_read_some(region, bytes, JOB_BYTES, err)) > 0)
		parse_names(&parser, bytes, (size_t)got);
	region_close(region);
	buf_release(&parser.name);
	return (int)got;
}
