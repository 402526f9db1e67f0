/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders a summary as sentences.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/unit.h"
#include "observe/report/render.h"
#include "observe/tally/summary.h"

/* The verdict calls ranks uneven if the slowest takes this many times the average. */
#define UNEVEN 1.1

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* With counted calls, the wall-clock share is unknown, but the time of the threads is known. */
static void verdict_time(struct buf *out, const struct summary *s)
{
	int64_t duration = s->head->end.duration_ns;
	char text[UNIT_TEXT], share[UNIT_TEXT];

	buf_printf(out, "ran %s", unit_ns(text, duration));
	if (s->has_aggregates)
		buf_printf(out, ", threads spent %s in I/O", unit_ns(text, s->all.io.time_ns));
	else
		buf_printf(out, ", %s of it in I/O (%s)", unit_share(share, summary_io_share(s), 1),
			   unit_ns(text, s->all.busy_ns));
}

static void verdict_calls(struct buf *out, const struct tally *io)
{
	char bytes[UNIT_TEXT];

	buf_printf(out, "; read %s", unit_bytes(bytes, (double)io->bytes_read));
	buf_printf(out, ", wrote %s", unit_bytes(bytes, (double)io->bytes_written));
	buf_printf(out, " in %" PRIu64 " call%s", io->calls, plural(io->calls));
	if (io->errors)
		buf_printf(out, ", %" PRIu64 " of them failed", io->errors);
}

static struct spread rank_time_spread(const struct summary *s)
{
	return summary_rank_spread(s, &sums_measures[s->has_aggregates ? SUMS_TIME : SUMS_BUSY]);
}

static void verdict_bytes(struct buf *out, const struct tally *io)
{
	char bytes[UNIT_TEXT];

	if (io->bytes_read)
		buf_printf(out, " read %s", unit_bytes(bytes, (double)io->bytes_read));
	if (io->bytes_read && io->bytes_written)
		buf_puts(out, " and");
	if (io->bytes_written)
		buf_printf(out, " wrote %s", unit_bytes(bytes, (double)io->bytes_written));
	if (!io->bytes_read && !io->bytes_written)
		buf_puts(out, " transferred no data");
}

static void verdict_ranks(struct buf *out, const struct summary *s)
{
	struct spread time = rank_time_spread(s);
	char text[UNIT_TEXT];

	buf_printf(out, "%zu rank%s", s->ranks.count, plural(s->ranks.count));
	if (s->ranks.hosts > 1)
		buf_printf(out, " on %zu hosts", s->ranks.hosts);
	verdict_bytes(out, &s->all.io);
	buf_printf(out, "; ran %s", unit_ns(text, s->head->end.duration_ns));
	buf_printf(out, ", %s of it in I/O", unit_share(text, summary_io_share(s), 1));
	buf_printf(out, " (%s per rank", unit_ns(text, (int64_t)summary_io_time_ns(s)));
	if (summary_knows_ranks(s) && time.maximum > UNEVEN * spread_average(&time))
		buf_printf(out, ", slowest rank %" PRId32 ": %s", time.maximum_rank,
			   unit_ns(text, i64_of(time.maximum)));
	buf_putc(out, ')');
	if (s->all.io.errors)
		buf_printf(out, "; %" PRIu64 " of %" PRIu64 " calls failed", s->all.io.errors,
			   s->all.io.calls);
}

/* Names the first row that is not network: waiting on a pipe is not I/O. */
static void verdict_consumer(struct buf *out, const struct summary *s,
			     const struct summary_row *rows, size_t count, const char *before,
			     const char *of_run)
{
	char share[UNIT_TEXT];
	size_t i = 0;

	while (i < count && rows[i].is_network)
		i++;
	if (i == count || rows[i].is_process || rows[i].tally->time_ns <= 0)
		return;
	buf_printf(out, "%s%s (%s%s)", before, rows[i].name,
		   unit_share(share, summary_share(s, (double)rows[i].tally->time_ns), 1), of_run);
}

void render_verdict(struct buf *out, const struct summary *summary)
{
	const struct tally *io = &summary->all.io;
	size_t functions, files, users;
	AUTO_FREE struct summary_row *by_function =
		summary_rows(summary, SUMMARY_FUNCTIONS, &functions);
	AUTO_FREE struct summary_row *by_file = summary_rows(summary, SUMMARY_FILES, &files);
	struct tally totals[FILE_CLASSES];

	files = summary_fold_files(by_file, files, &users, totals);
	if (summary->ranks.count) {
		verdict_ranks(out, summary);
	} else {
		verdict_time(out, summary);
		verdict_calls(out, io);
	}
	verdict_consumer(out, summary, by_function, functions, "; most time in ", " of the run");
	verdict_consumer(out, summary, by_file, files, " and on ", "");
}

static void note_ranks(struct buf *out, const struct summary *s)
{
	struct spread time = rank_time_spread(s);
	double average = summary_io_time_ns(s);
	char text[UNIT_TEXT];
	bool is_partial;

	buf_printf(out, "ranks: %zu", s->ranks.count);
	if (s->ranks.world > s->ranks.count)
		buf_printf(out, " of %zu", s->ranks.world);
	if (s->ranks.hosts)
		buf_printf(out, " on %zu host%s", s->ranks.hosts, plural(s->ranks.hosts));
	buf_printf(out, ", in I/O for %s on average", unit_ns(text, (int64_t)average));
	if (!summary_knows_ranks(s)) {
		buf_puts(out, "; how it differs between ranks is not known for shared files\n");
		return;
	}
	/* A log may have times that are known for all ranks together only. */
	is_partial = time.maximum + 1 < average;
	buf_printf(out, "%s %s (rank %" PRId32 ")", is_partial ? "; known by rank:" : ", from",
		   unit_ns(text, i64_of(time.minimum)), time.minimum_rank);
	buf_printf(out, " to %s (rank %" PRId32 ")", unit_ns(text, i64_of(time.maximum)),
		   time.maximum_rank);
	if (average > 0 && !is_partial)
		buf_printf(out, ", %.2f times the average", time.maximum / average);
	buf_putc(out, '\n');
}

static void put_amplified(struct buf *out, const char *verb, uint64_t stored, uint64_t asked)
{
	char text[UNIT_TEXT];

	buf_printf(out, "%s %s", verb, unit_bytes(text, (double)stored));
	if (asked)
		buf_printf(out, " (%.2f times the requested bytes)",
			   (double)stored / (double)asked);
}

/* Shown only if libraries are between the program and POSIX; otherwise both numbers are equal. */
static void note_storage(struct buf *out, const struct sums *sums)
{
	const struct tally *io = &sums->io, *storage = &sums->storage;
	char text[UNIT_TEXT];

	buf_puts(out, "storage: ");
	put_amplified(out, "read", storage->bytes_read, io->bytes_read);
	put_amplified(out, ", wrote", storage->bytes_written, io->bytes_written);
	buf_printf(out, " in %" PRIu64 " calls", storage->calls);
	if (storage->transfers && io->transfers) {
		const struct measure *size = &tally_measures[TALLY_TRANSFER_SIZE];

		buf_printf(out, "; requests of %s on average",
			   measure_text(text, size->quantity, size->get(io)));
		buf_printf(out, " became accesses of %s",
			   measure_text(text, size->quantity, size->get(storage)));
	}
	if (sums->bytes_read_to_write)
		buf_printf(out, "; %s were read inside writes (read-modify-write)",
			   unit_bytes(text, (double)sums->bytes_read_to_write));
	buf_putc(out, '\n');
}

static void note_apart(struct buf *out, const char *what, const struct tally *t)
{
	char text[UNIT_TEXT];

	if (!t->calls)
		return;
	buf_printf(out, "%s: %" PRIu64 " call%s", what, t->calls, plural(t->calls));
	buf_printf(out, ", read %s", unit_bytes(text, (double)t->bytes_read));
	buf_printf(out, ", wrote %s", unit_bytes(text, (double)t->bytes_written));
	buf_printf(out, " in %s, not part of the I/O time above\n", unit_ns(text, t->time_ns));
}

static void note_network(struct buf *out, const struct sums *sums)
{
	char text[UNIT_TEXT];

	if (sums->network.calls)
		buf_printf(out, "sockets and pipes: %s, not part of the I/O time above\n",
			   unit_ns(text, sums->network.time_ns));
	if (sums->network_in_io.calls)
		buf_printf(out,
			   "sockets and pipes inside I/O calls: %" PRIu64
			   " call%s, %s, part of the time of those calls\n",
			   sums->network_in_io.calls, plural(sums->network_in_io.calls),
			   unit_ns(text, sums->network_in_io.time_ns));
}

static void note_host(struct buf *out, const struct host_info *host)
{
	char text[UNIT_TEXT];

	buf_puts(out, "clock offset of ");
	escape_text(out, host->host ? host->host : "?", "");
	buf_printf(out, ": %s%s (", host->offset_ns < 0 ? "-" : "+",
		   unit_ns(text, llabs(host->offset_ns)));
	escape_text(out, host->method ? host->method : "?", "");
	buf_puts(out, ", ");
	if (host->error_ns < 0)
		buf_puts(out, "error unknown)\n");
	else
		buf_printf(out, "error up to %s)\n", unit_ns(text, host->error_ns));
}

void render_notes(struct buf *out, const struct summary *summary)
{
	const struct sums *all = &summary->all;

	if (summary->ranks.count)
		note_ranks(out, summary);
	if (summary_has_libraries(summary))
		note_storage(out, all);
	note_network(out, all);
	note_apart(out, "inside calls that start or end processes (MPI_Init, fork)", &all->startup);
	note_apart(out, "outside the ranks (launcher, scripts)", &summary->outside.io);
	for (size_t i = 0; i < summary->head->host_count; i++)
		note_host(out, &summary->head->hosts[i]);
}
