/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: GA-2, HYB-1.
 */
#include "tune/trial/objective.h"

#include <string.h>

#include "base/buf.h"
#include "check.h"

enum {
	OPEN = 1,
	READ,
	WRITE,
	CLOSE,
	MPI_INIT,
	MPI_OPEN,
	MPI_WRITE_ALL,
	MPI_WRITE,
	MPI_IREAD,
	MPI_WAIT,
	MPI_PARAMETERS,
	H5_WRITE,
	H5_CLOSE,
	SEND,
};

static struct call_info calls[] = {
	[0] = { .name = "none" },
	[OPEN] = { .name = "open", .class = CLASS_OPEN },
	[READ] = { .name = "read", .class = CLASS_READ },
	[WRITE] = { .name = "write", .class = CLASS_WRITE },
	[CLOSE] = { .name = "close", .class = CLASS_CLOSE },
	[MPI_INIT] = { .name = "MPI_Init", .layer = LAYER_MPI, .class = CLASS_PROCESS },
	[MPI_OPEN] = { .name = "MPI_File_open", .layer = LAYER_MPI, .class = CLASS_OPEN },
	[MPI_WRITE_ALL] = { .name = "MPI_File_write_all",
			    .layer = LAYER_MPI,
			    .class = CLASS_WRITE },
	[MPI_WRITE] = { .name = "MPI_File_write", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[MPI_IREAD] = { .name = "MPI_File_iread", .layer = LAYER_MPI, .class = CLASS_START },
	[MPI_WAIT] = { .name = "MPI_Wait", .layer = LAYER_MPI, .class = CLASS_WAIT },
	[MPI_PARAMETERS] = { .name = "MPI_File_parameters",
			     .layer = LAYER_MPI,
			     .class = CLASS_CONTROL },
	[H5_WRITE] = { .name = "H5Dwrite", .layer = LAYER_HDF5, .class = CLASS_WRITE },
	[H5_CLOSE] = { .name = "H5Fclose", .layer = LAYER_HDF5, .class = CLASS_CLOSE },
	[SEND] = { .name = "write", .layer = LAYER_NETWORK, .class = CLASS_WRITE },
};

enum { OUT = 1, IN, CONFIG, LIBRARY, PROC, LOG, HINTS_1, HINTS_2, SOCKET };
static char *files[] = {
	"",
	"/d/out.h5",
	"/d/in.dat",
	"/d/app.conf",
	"/lib/x.so.3",
	"/proc/self/status",
	"/scratch/trial/output.log",
	"cb_nodes=2;mpi=mpich;romio_cb_write=enable",
	"alignment=1,4096;cb_nodes=4",
	"socket:[5]",
};
static struct process_info processes[] = {
	{ .index = 0, .parent = -1, .rank = -1, .host = "a" },
	{ .index = 1, .parent = -1, .rank = 0, .ranks = 2, .host = "a" },
	{ .index = 2, .parent = -1, .rank = 1, .ranks = 2, .host = "b" },
};

static struct trace_head parallel = {
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(calls[0]),
	.files = files,
	.file_count = sizeof(files) / sizeof(files[0]),
	.processes = processes,
	.process_count = 3,
};

static struct trace_head serial(void)
{
	static struct process_info plain[] = {
		{ .index = 0, .parent = -1, .rank = -1, .host = "a" },
		{ .index = 1, .parent = -1, .rank = -1, .host = "a" },
	};
	struct trace_head head = parallel;

	head.processes = plain;
	head.process_count = 2;
	return head;
}

/* A call of a thread during [start, start + duration). Its layer is in the table. */
static struct activity call(uint32_t process, uint64_t id, uint64_t parent, unsigned number,
			    file_id file, int64_t start, int64_t duration, int64_t result)
{
	return (struct activity){
		.process = process,
		.id = id_make(process + 1, id),
		.parent = parent ? id_make(process + 1, parent) : 0,
		.call = (uint16_t)number,
		.layer = calls[number].layer,
		.file = file,
		.start_ns = start,
		.duration_ns = duration,
		.result = result,
		.size = result,
		.present = PRESENT(RESULT) | PRESENT(SIZE),
	};
}

static void judge(struct objective *o, struct summary *s, const struct trace_head *head,
		  const struct activity *all, size_t n)
{
	bool asked[sizeof(files) / sizeof(files[0])] = { 0 };

	summary_init(s, head);
	for (size_t i = 0; i < n; i++) {
		summary_add(s, &all[i]);
		objective_mark_named(asked, head, &all[i]);
	}
	objective_init(o, s, asked, "/scratch/trial");
	for (size_t i = 0; i < n; i++)
		objective_add(o, &all[i]);
	objective_end(o);
}

static void release_both(struct objective *o, struct summary *s)
{
	objective_release(o);
	summary_release(s);
}

#define JUDGE(head, ...)                         \
	struct activity all[] = { __VA_ARGS__ }; \
	struct objective o;                      \
	struct summary s;                        \
	judge(&o, &s, head, all, sizeof(all) / sizeof(all[0]))

#define CHECK_NS(seconds, ns) CHECK_INT((seconds)*1e9 + 0.5, ns)
#define MIB (1 << 20)

static void nested_layers_are_counted_once(void)
{
	JUDGE(&parallel, call(1, 1, 0, H5_WRITE, OUT, 0, 100, 64),
	      call(1, 2, 1, MPI_WRITE, OUT, 10, 80, 64), call(1, 3, 2, WRITE, OUT, 20, 60, 64),
	      call(1, 4, 0, H5_CLOSE, OUT, 200, 50, 0), call(1, 5, 4, CLOSE, OUT, 210, 10, 0));
	CHECK_NS(o.io_s, 150);
	CHECK_NS(o.write_s, 150);
	CHECK_NS(o.read_s, 0);
	CHECK_INT(o.write_bytes, 64);
	CHECK_INT(o.ranks, 2);
	CHECK_INT(o.nodes, 2);
	release_both(&o, &s);
}

static void the_slowest_rank_counts(void)
{
	JUDGE(&parallel, call(1, 1, 0, MPI_WRITE, OUT, 0, 100, 64),
	      call(2, 1, 0, MPI_WRITE, OUT, 0, 70, 64), call(2, 2, 0, MPI_WRITE, OUT, 80, 70, 64),
	      call(0, 1, 0, WRITE, OUT, 0, 5000, 1));
	CHECK_NS(o.io_s, 140);
	/* I/O of the launcher does not count; the bytes are those of all ranks. */
	CHECK_INT(o.write_bytes, 192);
	release_both(&o, &s);
}

static void parallel_threads_are_counted_once(void)
{
	struct trace_head head = serial();
	struct activity other = call(0, 1, 0, WRITE, OUT, 50, 100, 8);

	other.id = id_make(9, 1);
	{
		JUDGE(&head, call(0, 1, 0, WRITE, OUT, 0, 100, 8), other);
		CHECK_NS(o.io_s, 150);
		CHECK_INT(o.ranks, 0);
		CHECK_INT(o.nodes, 1);
		release_both(&o, &s);
	}
}

static void without_ranks_the_slowest_process_counts(void)
{
	struct trace_head head = serial();
	JUDGE(&head, call(0, 1, 0, WRITE, OUT, 0, 100, 8), call(1, 1, 0, WRITE, OUT, 0, 30, 8));
	CHECK_NS(o.io_s, 100);
	release_both(&o, &s);
}

static void other_files_do_not_count(void)
{
	JUDGE(&parallel, call(1, 1, 0, MPI_INIT, 0, 0, 1000, 0),
	      call(1, 2, 1, WRITE, OUT, 10, 100, 5), call(1, 3, 0, READ, CONFIG, 2000, 500, 300),
	      call(1, 4, 0, READ, LIBRARY, 3000, 500, 2 * MIB),
	      call(1, 5, 0, READ, PROC, 4000, 500, 2 * MIB),
	      call(1, 6, 0, WRITE, LOG, 5000, 500, 2 * MIB),
	      call(1, 7, 0, SEND, SOCKET, 6000, 500, 2 * MIB),
	      call(1, 8, 0, READ, IN, 7000, 40, MIB), call(1, 9, 0, WRITE, OUT, 8000, 7, 5));
	CHECK_NS(o.io_s, 47);
	CHECK_NS(o.read_s, 40);
	CHECK_NS(o.write_s, 7);
	CHECK_INT(o.read_bytes, MIB);
	CHECK_INT(o.write_bytes, 5);
	CHECK_INT(o.calls, 2);
	CHECK(o.is_data[IN] && o.is_data[OUT] && !o.is_data[CONFIG] && !o.is_data[LOG]);
	CHECK(o.is_written[OUT] && !o.is_written[IN]);
	release_both(&o, &s);
}

static void files_that_only_a_library_opens_are_not_data(void)
{
	JUDGE(&parallel, call(1, 1, 0, MPI_OPEN, OUT, 0, 100, 64),
	      call(1, 2, 1, WRITE, IN, 10, 50, 40));
	CHECK(o.is_data[OUT] && !o.is_data[IN]);
	CHECK_NS(o.io_s, 100);
	CHECK_INT(o.write_bytes, 0);
	release_both(&o, &s);
}

static void small_files_count_if_there_are_no_others(void)
{
	struct trace_head head = serial();
	JUDGE(&head, call(0, 1, 0, OPEN, CONFIG, 0, 10, 3), call(0, 2, 0, READ, CONFIG, 20, 30, 8));
	CHECK_NS(o.io_s, 40);
	CHECK_NS(o.read_s, 40);
	release_both(&o, &s);
}

static void reads_inside_a_write_are_writing(void)
{
	JUDGE(&parallel, call(1, 1, 0, MPI_WRITE, OUT, 0, 100, 64),
	      call(1, 2, 1, READ, OUT, 10, 40, 4096), call(1, 3, 1, WRITE, OUT, 60, 30, 4096));
	CHECK_NS(o.write_s, 100);
	CHECK_NS(o.read_s, 0);
	CHECK_INT(o.write_bytes, 64);
	CHECK_INT(o.read_bytes, 0);
	release_both(&o, &s);
}

static void waits_count_but_computing_in_between_does_not(void)
{
	struct activity wait = call(1, 2, 0, MPI_WAIT, 0, 1000, 30, 64);

	wait.link = id_make(2, 1);
	{
		JUDGE(&parallel, call(1, 1, 0, MPI_IREAD, IN, 0, 10, 64), wait);
		CHECK_NS(o.io_s, 40);
		CHECK_NS(o.read_s, 40);
		CHECK_NS(o.write_s, 0);
		CHECK_INT(o.read_bytes, 64);
		release_both(&o, &s);
	}
}

static void aggregated_calls_count(void)
{
	struct trace_head head = serial();
	struct aggregate rows[] = {
		{ .process = 1,
		  .file = OUT,
		  .group = GROUP_WRITE,
		  .layer = LAYER_POSIX,
		  .calls = 5,
		  .bytes = 50,
		  .duration_ns = 900 },
		{ .process = 1,
		  .file = OUT,
		  .group = GROUP_WRITE,
		  .layer = LAYER_MPI,
		  .calls = 5,
		  .bytes = 50,
		  .duration_ns = 950 },
		{ .process = 1,
		  .file = 77,
		  .group = GROUP_WRITE,
		  .layer = LAYER_POSIX,
		  .calls = 5,
		  .bytes = 50,
		  .duration_ns = 900 },
	};

	head.aggregates = rows;
	head.aggregate_count = 3;
	{
		JUDGE(&head, call(0, 1, 0, WRITE, OUT, 0, 100, 8));
		CHECK_NS(o.io_s, 900);
		CHECK_NS(o.write_s, 900);
		release_both(&o, &s);
	}
}

static void damaged_activities_are_ignored(void)
{
	struct activity bad[3] = {
		call(1, 1, 0, WRITE, OUT, 0, 100, 8),
		call(1, 2, 0, WRITE, OUT, 0, 100, 8),
		call(1, 3, 0, WRITE, OUT, 0, 100, 8),
	};

	bad[0].call = 999;
	bad[1].file = 999;
	bad[2].process = 999;
	{
		JUDGE(&parallel, bad[0], bad[1], bad[2]);
		CHECK_NS(o.io_s, 0);
		release_both(&o, &s);
	}
}

static void the_libraries_that_a_program_uses_are_found(void)
{
	struct activity collective = call(1, 3, 2, MPI_WRITE_ALL, OUT, 20, 10, 8);
	struct activity read_back = call(1, 5, 4, MPI_PARAMETERS, OUT, 50, 1, 0);
	struct activity again = call(2, 5, 0, MPI_PARAMETERS, OUT, 60, 1, 0);
	AUTO_BUF struct buf text = { 0 };

	collective.collective = 17;
	read_back.hints = HINTS_1;
	again.hints = HINTS_2;
	{
		JUDGE(&parallel, call(1, 2, 0, H5_WRITE, OUT, 10, 30, 8), collective,
		      call(1, 4, 0, MPI_OPEN, OUT, 45, 10, 0), read_back, again);
		CHECK(o.usage.uses.hdf5 && o.usage.uses.hdf5_parallel && o.usage.uses.mpi);
		CHECK(o.usage.uses.collective && o.usage.uses.collective_hdf5);
		CHECK_INT(o.usage.middleware, MIDDLEWARE_MPICH);
		usage_effective(&o.usage, &text);
		CHECK_TEXT(buf_text(&text),
			   "alignment=1,4096;cb_nodes=2|4;mpi=mpich;romio_cb_write=enable");
		release_both(&o, &s);
	}
}

static void independent_and_serial_use_is_distinguished(void)
{
	struct activity metadata = call(1, 3, 2, MPI_WRITE_ALL, OUT, 20, 10, 8);

	metadata.collective = 17;
	{
		/* Metadata that HDF5 writes at a close is not a transfer of the program. */
		JUDGE(&parallel, call(1, 1, 0, H5_WRITE, OUT, 0, 5, 8),
		      call(1, 2, 0, H5_CLOSE, OUT, 10, 30, 0), metadata);
		CHECK(o.usage.uses.hdf5_parallel && !o.usage.uses.collective_hdf5);
		release_both(&o, &s);
	}
	{
		JUDGE(&parallel, call(1, 1, 0, H5_WRITE, OUT, 0, 5, 8));
		CHECK(o.usage.uses.hdf5 && !o.usage.uses.hdf5_parallel && !o.usage.uses.mpi);
		CHECK_INT(o.usage.middleware, MIDDLEWARE_ANY);
		release_both(&o, &s);
	}
}

static void files_of_the_mpi_are_not_data(void)
{
	CHECK(objective_may_be_data("/dev/shm/result", "/scratch"));
	CHECK(objective_may_be_data("/tmp/result", "/scratch"));
	CHECK(!objective_may_be_data("/dev/shm/sm_segment.host.0.3c460001.1", "/scratch"));
	CHECK(!objective_may_be_data("/dev/shm/vader_segment.host.0.1.1", "/scratch"));
	CHECK(!objective_may_be_data("/tmp/prterun.host.33.0/1/x.sm", "/scratch"));
	CHECK(!objective_may_be_data("/scratch/output.log", "/scratch"));
}

TESTS(TEST(files_of_the_mpi_are_not_data), TEST(nested_layers_are_counted_once),
      TEST(the_slowest_rank_counts), TEST(parallel_threads_are_counted_once),
      TEST(without_ranks_the_slowest_process_counts), TEST(other_files_do_not_count),
      TEST(files_that_only_a_library_opens_are_not_data),
      TEST(small_files_count_if_there_are_no_others), TEST(reads_inside_a_write_are_writing),
      TEST(waits_count_but_computing_in_between_does_not), TEST(aggregated_calls_count),
      TEST(damaged_activities_are_ignored), TEST(the_libraries_that_a_program_uses_are_found),
      TEST(independent_and_serial_use_is_distinguished))
