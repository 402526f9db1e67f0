/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes Darshan logs for tests, from the description of the format: any format version from 3.10
 * to 3.41, any version of a module, both byte orders, and all compressions. Records are given as
 * words, so that the tables of the reader are not used.
 */
#ifndef SLUICE_TESTS_DARSHAN_SAMPLE_H
#define SLUICE_TESTS_DARSHAN_SAMPLE_H

#include <byteswap.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/darshan/log.h"
#include "trace/darshan/region.h"

#define LOG_UNUSED __attribute__((unused))

struct log {
	unsigned format; /* 341 for 3.41 */
	bool is_swapped;
	unsigned compression;
	struct buf job, names, modules[DARSHAN_MODULES];
	uint32_t versions[DARSHAN_MODULES];
	uint64_t partial; /* one bit per enum darshan_module */
};

struct log_segment {
	int64_t offset, length;
	double start, end;
	uint64_t thread;
};

static LOG_UNUSED void log_release(struct log *log)
{
	buf_release(&log->job);
	buf_release(&log->names);
	for (unsigned i = 0; i < DARSHAN_MODULES; i++)
		buf_release(&log->modules[i]);
}

static LOG_UNUSED void log_word(const struct log *log, struct buf *to, uint64_t word)
{
	if (log->is_swapped)
		word = bswap_64(word);
	buf_add(to, &word, sizeof(word));
}

static LOG_UNUSED uint64_t log_real(double seconds)
{
	uint64_t word;

	memcpy(&word, &seconds, sizeof(word));
	return word;
}

static LOG_UNUSED void log_text(struct buf *to, const char *text, size_t bytes)
{
	size_t n = strlen(text);

	buf_add(to, text, n < bytes ? n : bytes);
	for (; n < bytes; n++)
		buf_putc(to, 0);
}

/* A job that starts at second 1,700,000,000. */
static LOG_UNUSED void log_job(struct log *log, int64_t processes, int64_t seconds,
			       const char *command)
{
	bool fine = log->format >= 341;

	log_word(log, &log->job, 1000);
	log_word(log, &log->job, 1700000000);
	if (fine)
		log_word(log, &log->job, 5);
	log_word(log, &log->job, (uint64_t)(1700000000 + seconds));
	if (fine)
		log_word(log, &log->job, 5);
	log_word(log, &log->job, (uint64_t)processes);
	log_word(log, &log->job, 4711);
	log_text(&log->job, "lib_ver=3.4.4\nh=x\n", 1024);
	buf_printf(&log->job, "%s\nlustre\t/scratch\next4\t/\n", command);
}

static LOG_UNUSED void log_name(struct log *log, uint64_t id, const char *name)
{
	log_word(log, &log->names, id);
	buf_add(&log->names, name, strlen(name) + 1);
}

static LOG_UNUSED void log_record(struct log *log, enum darshan_module module, uint32_t version,
				  const uint64_t *words, size_t count)
{
	log->versions[module] = version;
	for (size_t i = 0; i < count; i++)
		log_word(log, &log->modules[module], words[i]);
}

/* The segments of writes come first. */
static LOG_UNUSED void log_segments(struct log *log, enum darshan_module module, uint32_t version,
				    uint64_t id, int64_t rank, const char *host,
				    const struct log_segment *list, size_t writes, size_t reads)
{
	struct buf *to = &log->modules[module];
	bool has_thread = version >= (module == DARSHAN_DXT_POSIX ? 2 : 3);

	log->versions[module] = version;
	log_word(log, to, id);
	log_word(log, to, (uint64_t)rank);
	log_word(log, to, 0);
	log_text(to, host, 64);
	log_word(log, to, writes);
	log_word(log, to, reads);
	for (size_t i = 0; i < writes + reads; i++) {
		log_word(log, to, (uint64_t)list[i].offset);
		log_word(log, to, (uint64_t)list[i].length);
		log_word(log, to, log_real(list[i].start));
		log_word(log, to, log_real(list[i].end));
		if (has_thread)
			log_word(log, to, list[i].thread);
	}
}

/* `bins` holds the bins of writes, then those of reads. */
static LOG_UNUSED void log_heatmap(struct log *log, uint64_t id, int64_t rank, double width,
				   const int64_t *bins, size_t count)
{
	struct buf *to = &log->modules[DARSHAN_HEATMAP];

	log->versions[DARSHAN_HEATMAP] = 1;
	log_word(log, to, id);
	log_word(log, to, (uint64_t)rank);
	log_word(log, to, log_real(width));
	log_word(log, to, count);
	log_word(log, to, 0xdead);
	log_word(log, to, 0xbeef);
	for (size_t i = 0; i < 2 * count; i++)
		log_word(log, to, (uint64_t)bins[i]);
}

/* False if libbz2 is missing. */
static LOG_UNUSED bool log_pack_bzip2(struct buf *to, const struct buf *from)
{
	void *library = dlopen("libbz2.so.1.0", RTLD_NOW);
	unsigned bytes = (unsigned)from->len * 2 + 1000;
	int (*compress)(char *, unsigned *, char *, unsigned, int, int, int) = NULL;

	if (library)
		*(void **)&compress = dlsym(library, "BZ2_bzBuffToBuffCompress");
	if (!compress)
		return false;
	buf_reserve(to, bytes);
	compress(to->data + to->len, &bytes, from->data, (unsigned)from->len, 9, 0, 0);
	to->len += bytes;
	return true;
}

/* Two streams, as two processes would have written them. */
static LOG_UNUSED void log_pack_zlib(struct buf *to, const struct buf *from)
{
	size_t parts[] = { from->len / 2, from->len - from->len / 2 }, at = 0;

	for (int i = 0; i < 2; i++) {
		uLongf bytes = compressBound(parts[i]);

		buf_reserve(to, bytes);
		compress((Bytef *)to->data + to->len, &bytes, (const Bytef *)from->data + at,
			 parts[i]);
		to->len += bytes;
		at += parts[i];
	}
}

/* Appends the packed bytes to the file, and the place to the header. */
static LOG_UNUSED bool log_part(const struct log *log, struct buf *file, char *header, size_t at,
				const struct buf *part)
{
	uint64_t place[2] = { file->len, 0 };
	bool good = true;

	if (!part->len)
		return true;
	if (log->compression == REGION_ZLIB)
		log_pack_zlib(file, part);
	else if (log->compression == REGION_BZIP2)
		good = log_pack_bzip2(file, part);
	else
		buf_add(file, part->data, part->len);
	place[1] = file->len - place[0];
	for (int i = 0; i < 2 && at; i++) {
		uint64_t word = log->is_swapped ? bswap_64(place[i]) : place[i];

		memcpy(header + at + 8 * (size_t)i, &word, sizeof(word));
	}
	return good;
}

/* The number of a module in a header of this format. */
static LOG_UNUSED unsigned log_number(const struct log *log, unsigned module)
{
	unsigned number = module;

	if (log->format < 341 && module > DARSHAN_PNETCDF_VAR)
		number--;
	if (log->format < 320 && module > DARSHAN_H5D)
		number--;
	return number;
}

/* The whole file. False if libbz2 is needed and missing. */
static LOG_UNUSED bool log_make(const struct log *log, struct buf *file)
{
	bool wide = log->format >= 341, good;
	char header[1328] = "";
	size_t bytes = wide ? 1328 : 360, maps = wide ? 32 : 24, versions = wide ? 1072 : 296;
	uint64_t magic = 6567223, partial = 0;

	snprintf(header, sizeof(header), "%u.%02u", log->format / 100, log->format % 100);
	if (log->is_swapped)
		magic = bswap_64(magic);
	memcpy(header + 8, &magic, sizeof(magic));
	header[16] = (char)log->compression;
	buf_add(file, header, bytes);
	good = log_part(log, file, header, 0, &log->job) &&
	       log_part(log, file, header, maps, &log->names);
	for (unsigned i = 0; i < DARSHAN_MODULES && good; i++) {
		unsigned number = log_number(log, i);
		uint32_t version = log->is_swapped ? bswap_32(log->versions[i]) : log->versions[i];

		if (!log->modules[i].len)
			continue;
		good = log_part(log, file, header, maps + 16 * (number + 1), &log->modules[i]);
		memcpy(header + versions + 4 * number, &version, sizeof(version));
		partial |= (log->partial >> i & 1) << number;
	}
	if (wide) {
		partial = log->is_swapped ? bswap_64(partial) : partial;
		memcpy(header + 24, &partial, 8);
	} else {
		uint32_t flags = (uint32_t)partial;

		flags = log->is_swapped ? bswap_32(flags) : flags;
		memcpy(header + 20, &flags, 4);
	}
	memcpy(file->data, header, bytes);
	return good;
}

static LOG_UNUSED bool log_save(const struct log *log, const char *path)
{
	AUTO_BUF struct buf file = { 0 };
	struct err err;

	return log_make(log, &file) && file_write_all(path, buf_text(&file), file.len, &err) == 0;
}

/* --- A job of four ranks --- */

/*
 * Rank R of 4 writes 8 accesses of 1 MiB through MPI-IO to /scratch/shared (id 100), each as two
 * POSIX writes of 512 KiB, and reads 10 records of 100 B from /scratch/input.R (id 200 + R).
 */
enum { LOG_RANKS = 4, LOG_WRITES = 8, LOG_READS = 10 };
#define LOG_SHARED UINT64_C(100)
#define LOG_INPUT UINT64_C(200)
#define LOG_MIB (1 << 20)

/* Words of POSIX version 4 and MPI-IO version 3: the base has 2 words, then come the counters. */
static LOG_UNUSED void log_posix(uint64_t words[88], uint64_t id, int64_t rank)
{
	memset(words, 0, 88 * sizeof(*words));
	words[0] = id;
	words[1] = (uint64_t)rank;
}

static LOG_UNUSED void log_shared_counters(struct log *log)
{
	uint64_t p[88], m[70] = { 0 };

	log_posix(p, LOG_SHARED, -1);
	p[2 + 0] = LOG_RANKS + 1;				/* opens, with a dup */
	p[2 + 2] = 1;						/* dups */
	p[2 + 4] = 2 * LOG_RANKS * LOG_WRITES;			/* writes */
	p[2 + 6] = 3;						/* stats */
	p[2 + 8] = 2;						/* fsyncs */
	p[2 + 15] = (uint64_t)LOG_RANKS * LOG_WRITES * LOG_MIB; /* bytes */
	p[2 + 19] = LOG_RANKS * LOG_WRITES;			/* consecutive */
	p[2 + 21] = 2 * LOG_RANKS * LOG_WRITES - LOG_RANKS;	/* forward */
	p[2 + 25] = 0;
	p[2 + 26] = 4096;
	p[2 + 39 + 4] = 2 * LOG_RANKS * LOG_WRITES; /* 100 KiB to 1 MiB */
	p[2 + 57] = LOG_MIB / 2;
	p[2 + 61] = 2 * LOG_RANKS * LOG_WRITES;
	p[2 + 65] = 1; /* fastest rank */
	p[2 + 67] = 2; /* slowest rank */
	p[2 + 69 + 0] = log_real(0.5);
	p[2 + 69 + 2] = log_real(1);
	p[2 + 69 + 6] = log_real(9);
	p[2 + 69 + 7] = log_real(9.5);
	p[2 + 69 + 9] = log_real(4);	/* writes, with syncs */
	p[2 + 69 + 10] = log_real(0.2); /* metadata */
	p[2 + 69 + 13] = log_real(0.9);
	p[2 + 69 + 14] = log_real(1.5);
	log_record(log, DARSHAN_POSIX, 4, p, 88);
	m[0] = LOG_SHARED;
	m[1] = (uint64_t)-1;
	m[2 + 1] = LOG_RANKS;		   /* collective opens */
	m[2 + 5] = LOG_RANKS * LOG_WRITES; /* collective writes */
	m[2 + 15] = (uint64_t)LOG_RANKS * LOG_WRITES * LOG_MIB;
	m[2 + 29 + 4] = LOG_RANKS * LOG_WRITES;
	m[2 + 51 + 9] = log_real(5);
	log_record(log, DARSHAN_MPIIO, 3, m, 70);
}

static LOG_UNUSED void log_input_counters(struct log *log)
{
	for (uint64_t rank = 0; rank < LOG_RANKS; rank++) {
		uint64_t p[88];

		log_posix(p, LOG_INPUT + rank, (int64_t)rank);
		p[2 + 0] = 1;
		p[2 + 3] = LOG_READS;
		p[2 + 5] = 4; /* seeks */
		p[2 + 14] = 100 * LOG_READS;
		p[2 + 18] = 2;
		p[2 + 20] = 5;
		p[2 + 25] = LOG_READS - 1; /* not aligned */
		p[2 + 26] = 4096;
		p[2 + 29] = LOG_READS; /* up to 100 B */
		p[2 + 57] = 100;
		p[2 + 61] = LOG_READS;
		p[2 + 69 + 8] = log_real(0.25);
		log_record(log, DARSHAN_POSIX, 4, p, 88);
	}
}

static LOG_UNUSED void log_shared_segments(struct log *log)
{
	for (int rank = 0; rank < LOG_RANKS; rank++) {
		struct log_segment outer[LOG_WRITES], inner[2 * LOG_WRITES];

		for (int i = 0; i < LOG_WRITES; i++) {
			int64_t at = (int64_t)(i * LOG_RANKS + rank) * LOG_MIB;
			double start = 1 + i + rank * 0.01;

			outer[i] = (struct log_segment){ at, LOG_MIB, start, start + 0.1, 77 };
			inner[2 * i] = (struct log_segment){ at, LOG_MIB / 2, start + 0.01,
							     start + 0.05, 77 };
			inner[2 * i + 1] = (struct log_segment){ at + LOG_MIB / 2, LOG_MIB / 2,
								 start + 0.05, start + 0.09, 77 };
		}
		log_segments(log, DARSHAN_DXT_POSIX, 2, LOG_SHARED, rank, "node1", inner,
			     2 * LOG_WRITES, 0);
		log_segments(log, DARSHAN_DXT_MPIIO, 3, LOG_SHARED, rank, "node1", outer,
			     LOG_WRITES, 0);
	}
}

/* The job of four ranks, with or without DXT. */
static LOG_UNUSED void log_fill(struct log *log, bool has_segments)
{
	log_job(log, LOG_RANKS, 10, "/opt/app --size 3");
	log_name(log, LOG_SHARED, "/scratch/shared");
	for (uint64_t rank = 0; rank < LOG_RANKS; rank++) {
		AUTO_FREE char *name = xprintf("/scratch/input.%u", (unsigned)rank);

		log_name(log, LOG_INPUT + rank, name);
	}
	log_shared_counters(log);
	log_input_counters(log);
	if (has_segments)
		log_shared_segments(log);
}

#endif
