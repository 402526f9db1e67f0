/* SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: darshan_log KIND FILE
 * Writes a Darshan log of the job of tests/unit/darshan_sample.h. KIND is one of
 *
 *   dxt       with DXT
 *   counters  without DXT
 *   old       as Darshan 3.1 wrote it, in the other byte order
 *   bzip2     compressed by bzip2; exits with 77 if libbz2 is missing
 *   plain     not compressed, with DXT: a seed for the fuzzer
 *   heat      without DXT, with a heat map, not compressed: likewise
 *   stripes   without DXT; the shared file has one stripe, and standard output was flushed often
 */
#include <stdio.h>
#include <string.h>

#include "../unit/darshan_sample.h"

/* Darshan 3.1: POSIX version 2, MPI-IO version 2, and segments without threads. */
static void fill_old(struct log *log)
{
	const struct log_segment write = { 0, 4096, 1, 2, 0 };
	uint64_t posix[81] = { LOG_SHARED, UINT64_MAX, LOG_RANKS };

	log->format = 310;
	log->is_swapped = true;
	log_job(log, LOG_RANKS, 10, "/opt/old");
	log_name(log, LOG_SHARED, "/scratch/shared");
	posix[2 + 2] = 1;     /* writes */
	posix[2 + 10] = 4096; /* bytes written */
	log_record(log, DARSHAN_POSIX, 2, posix, 81);
	log_segments(log, DARSHAN_DXT_POSIX, 1, LOG_SHARED, 3, "node1", &write, 1, 0);
}

static void fill_heat(struct log *log)
{
	const int64_t bins[] = { 1 << 20, 0, 1 << 21, 0, 0, 512 };

	log_fill(log, false);
	log_name(log, 900, "heatmap:POSIX");
	for (int rank = 0; rank < LOG_RANKS; rank++)
		log_heatmap(log, 900, rank, 4, bins, 3);
}

static void fill_stripes(struct log *log)
{
	const uint64_t lustre[8] = { LOG_SHARED, 0, 4, 1, 0, LOG_MIB, 1, 11 };
	uint64_t stdio[2 + 14 + 15] = { 901, 0 };

	log_fill(log, false);
	log_record(log, DARSHAN_LUSTRE, 1, lustre, 8);
	log_name(log, 901, "<STDOUT>");
	stdio[2 + 3] = 1000;   /* writes */
	stdio[2 + 5] = 1000;   /* flushes */
	stdio[2 + 6] = 100000; /* bytes written */
	log_record(log, DARSHAN_STDIO, 2, stdio, 2 + 14 + 15);
}

int main(int argc, char **argv)
{
	struct log log = { .format = 341, .compression = REGION_ZLIB };
	bool good;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "plain") || !strcmp(argv[1], "heat"))
		log.compression = REGION_PLAIN;
	if (!strcmp(argv[1], "bzip2"))
		log.compression = REGION_BZIP2;
	if (!strcmp(argv[1], "old"))
		fill_old(&log);
	else if (!strcmp(argv[1], "heat"))
		fill_heat(&log);
	else if (!strcmp(argv[1], "stripes"))
		fill_stripes(&log);
	else
		log_fill(&log, strcmp(argv[1], "counters") != 0);
	good = log_save(&log, argv[2]);
	log_release(&log);
	return good ? 0 : 77;
}
