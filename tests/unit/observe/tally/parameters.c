/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/parameters.h"

#include "base/buf.h"
#include "base/mem.h"
#include "check.h"
#include "observe/report/brief.h"
#include "observe/report/render.h"
#include "observe/tally/effect.h"
#include "observe/tally/summary.h"

enum { OF_MPI = 1, OF_FILE, OF_DATASET, OF_POSIX, WRITE_ALL, WRITE_AT, PWRITE, H5_WRITE };

static struct call_info calls[] = {
	[0] = { .name = "none" },
	[OF_MPI] = { .name = "MPI_File_parameters", .layer = LAYER_MPI, .class = CLASS_CONTROL },
	[OF_FILE] = { .name = "H5F_parameters", .layer = LAYER_HDF5, .class = CLASS_CONTROL },
	[OF_DATASET] = { .name = "H5D_parameters", .layer = LAYER_HDF5, .class = CLASS_CONTROL },
	[OF_POSIX] = { .name = "posix_parameters", .class = CLASS_CONTROL },
	[WRITE_ALL] = { .name = "MPI_File_write_at_all", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[WRITE_AT] = { .name = "MPI_File_write_at", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[PWRITE] = { .name = "pwrite", .class = CLASS_WRITE },
	[H5_WRITE] = { .name = "H5Dwrite", .layer = LAYER_HDF5, .class = CLASS_WRITE },
};
static struct process_info processes[] = {
	{ .parent = -1, .rank = 0, .ranks = 4 },
	{ .parent = -1, .rank = 1, .ranks = 4 },
	{ .parent = -1, .rank = 2, .ranks = 4 },
	{ .parent = -1, .rank = 3, .ranks = 4 },
};
static struct note notes[4];
static char *files[32];
static size_t used; /* of the call table */
static struct trace_head head = {
	.run = { .command = "prog" },
	.end = { .duration_ns = 1000, .complete = true },
	.calls = calls,
	.call_count = sizeof(calls) / sizeof(calls[0]),
	.processes = processes,
	.process_count = 4,
	.notes = notes,
	.files = files,
	.file_count = sizeof(files) / sizeof(files[0]),
};
static struct summary summary;
static uint64_t ids;
static int64_t now_ns;

static void begin(void)
{
	summary_release(&summary);
	head.note_count = 0;
	for (used = 0; used < head.file_count; used++)
		files[used] = "";
	used = 1;
	summary_init(&summary, &head);
	ids = 0;
	now_ns = 0;
}

/* Returns the number of a text in the file table, which holds texts as well. */
static file_id text(const char *text)
{
	for (size_t i = 1; i < used; i++)
		if (strcmp(files[i], text) == 0)
			return (file_id)i;
	REQUIRE(used < head.file_count);
	files[used] = (char *)text;
	return (file_id)used++;
}

static void opened(uint32_t process, unsigned call, const char *path, const char *requested,
		   const char *effective)
{
	summary_add(&summary, &(struct activity){
				      .process = process,
				      .id = ++ids,
				      .start_ns = now_ns++,
				      .call = (uint16_t)call,
				      .layer = calls[call].layer,
				      .file = text(path),
				      .name = requested ? text(requested) : 0,
				      .hints = effective ? text(effective) : 0,
				      .present = (uint16_t)((requested ? PRESENT(NAME) : 0) |
							    (effective ? PRESENT(HINTS) : 0)),
			      });
}

/* A call of a process, inside another one of it. Returns its id. */
static uint64_t called(uint32_t process, unsigned call, const char *path, uint64_t parent,
		       int64_t bytes)
{
	summary_add(&summary, &(struct activity){ .process = process,
						  .id = ++ids,
						  .parent = parent,
						  .start_ns = now_ns++,
						  .call = (uint16_t)call,
						  .layer = calls[call].layer,
						  .file = text(path),
						  .result = bytes });
	return ids;
}

/* All ranks write collectively; `writers` of them write to storage in pieces of that size. */
static void write_together(const char *path, unsigned writers, int64_t bytes)
{
	for (uint32_t rank = 0; rank < 4; rank++) {
		uint64_t id = called(rank, WRITE_ALL, path, 0, 1000);

		if (rank < writers)
			called(rank, PWRITE, path, id, bytes);
	}
}

static void all_opened(unsigned call, const char *path, const char *requested,
		       const char *effective)
{
	for (uint32_t rank = 0; rank < 4; rank++)
		opened(rank, call, path, requested, effective);
}

/* Returns the judgment of a parameter, such as "yes ROMIO: " and the reason. */
static const char *judged(const char *name)
{
	static char said[256];
	size_t n;
	struct parameter *rows = parameters_rows(&summary.parameters, &n);

	strcpy(said, "nothing");
	for (size_t i = 0; i < n; i++) {
		struct effect_judgment j;

		if (strcmp(rows[i].name, name) != 0)
			continue;
		j = effect_judge(&rows[i], parameters_evidence(&summary.parameters, rows[i].file));
		snprintf(said, sizeof(said), "%s %s: %s", effect_name(j.effect), j.by, j.why);
	}
	parameters_rows_release(rows, n);
	return said;
}

static void mpich_reports_the_hints_it_uses(void)
{
	size_t n;
	struct parameter *rows;

	begin();
	all_opened(OF_MPI, "/d/a", "cb_buffer_size=1048576;cb_nodes=4;foo=1",
		   "cb_buffer_size=1048576;cb_nodes=1;mpi=mpich");
	rows = parameters_rows(&summary.parameters, &n);
	REQUIRE(n == 3);
	CHECK_TEXT(rows[1].name, "cb_nodes");
	CHECK_TEXT(rows[1].requested, "4");
	CHECK_TEXT(rows[1].effective, "1");
	CHECK_INT(rows[1].openings, 4);
	CHECK_INT(rows[1].agreeing, 4);
	parameters_rows_release(rows, n);
	CHECK_TEXT(judged("cb_buffer_size"), "yes ROMIO: ");
	CHECK_WORDS(judged("cb_nodes"), "no ROMIO:|uses 1");
	CHECK_WORDS(judged("foo"), "no ROMIO:|recognize");
}

static void open_mpi_is_judged_by_its_calls(void)
{
	static const char given[] = "cb_buffer_size=4096;cb_nodes=2;foo=1;romio_cb_write=enable";

	begin();
	all_opened(OF_MPI, "/d/a", given,
		   "cb_buffer_size=4096;cb_nodes=2;foo=1;mpi=openmpi-romio;romio_cb_write=enable");
	CHECK_WORDS(judged("cb_nodes"), "unknown ROMIO:|collective write");
	write_together("/d/a", 2, 4096);
	called(3, PWRITE, "/d/a", 0, 1 << 20); /* not inside a collective call */
	CHECK_WORDS(judged("cb_nodes"), "yes ROMIO:|2 of 4 ranks");
	CHECK_WORDS(judged("cb_buffer_size"), "yes ROMIO:|4096 bytes");
	CHECK_WORDS(judged("romio_cb_write"), "yes ROMIO:|2 of 4 ranks");
	CHECK_WORDS(judged("foo"), "unknown ROMIO:|every hint");
	write_together("/d/a", 4, 65536);
	CHECK_WORDS(judged("cb_nodes"), "no ROMIO:|4 of 4 ranks");
	CHECK_WORDS(judged("cb_buffer_size"), "no ROMIO:|65536 bytes");
	CHECK_WORDS(judged("romio_cb_write"), "no ROMIO:|4 of 4 ranks");
}

static void without_buffering_every_rank_writes(void)
{
	begin();
	all_opened(OF_MPI, "/d/a", "romio_cb_write=disable",
		   "mpi=openmpi-romio;romio_cb_write=disable");
	write_together("/d/a", 4, 10);
	CHECK_WORDS(judged("romio_cb_write"), "yes ROMIO:|4 of 4 ranks");
	begin();
	all_opened(OF_MPI, "/d/a", "cb_buffer_size=4096;romio_cb_write=disable",
		   "cb_buffer_size=4096;mpi=ompio;romio_cb_write=disable");
	write_together("/d/a", 4, 10);
	CHECK_WORDS(judged("romio_cb_write"), "no OMPIO:|ROMIO");
	/* There was no more to write. */
	CHECK_WORDS(judged("cb_buffer_size"), "unknown OMPIO:|10 bytes");
}

static void a_refusal_of_the_guest_has_its_reason(void)
{
	size_t n;
	struct parameter *rows;

	begin();
	all_opened(OF_MPI, "/d/a", "cb_nodes=!ompio", "mpi=ompio");
	CHECK_WORDS(judged("cb_nodes"), "no :|ompio");
	rows = parameters_rows(&summary.parameters, &n);
	REQUIRE(n == 1);
	CHECK(!rows[0].requested);
	CHECK_TEXT(rows[0].refusal, "ompio");
	CHECK_INT(rows[0].agreeing, 4);
	parameters_rows_release(rows, n);
}

static void striping_needs_a_file_system_that_supports_it(void)
{
	begin();
	all_opened(OF_MPI, "/d/a", "striping_factor=4", "mpi=mpich;striping_factor=4");
	CHECK_WORDS(judged("striping_factor"), "no :|file system");
	begin();
	all_opened(OF_MPI, "/d/a", "striping_factor=4",
		   "mpi=mpich;romio_filesystem_type=LUSTRE:;striping_factor=4");
	CHECK_TEXT(judged("striping_factor"), "yes ROMIO: ");
	begin();
	opened(0, OF_POSIX, "/d/a", "striping_factor=4", NULL);
	CHECK_WORDS(judged("striping_factor"), "no :|file system");
	begin();
	opened(0, OF_POSIX, "/d/a", "striping_factor=4", "striping_factor=4");
	CHECK_WORDS(judged("striping_factor"), "yes the file system:");
}

static void hdf5_reports_alignment_and_chunks(void)
{
	begin();
	all_opened(OF_FILE, "/d/a", "alignment=0, 65536;libver=v18",
		   "alignment=0,65536;from=file;libver=v18");
	all_opened(OF_DATASET, "/d/a", "chunk_size=1048576", "chunk_size=8,128,256");
	CHECK_WORDS(judged("alignment"), "yes HDF5:|file");
	CHECK_TEXT(judged("libver"), "yes HDF5: ");
	CHECK_WORDS(judged("chunk_size"), "yes HDF5:|8,128,256");
	begin();
	all_opened(OF_DATASET, "/d/a", "chunk_size=1,2,3", "chunk_size=1,2,4");
	CHECK_WORDS(judged("chunk_size"), "no HDF5:|1,2,4");
	begin();
	all_opened(OF_FILE, "/d/a", "alignment=0,65536", "alignment=1,1;from=file");
	CHECK_WORDS(judged("alignment"), "no HDF5:|1,1");
}

/* A value passed to a file that ranks share proves nothing; the offsets of its datasets do. */
static void alignment_is_judged_by_the_offsets_of_datasets(void)
{
	begin();
	all_opened(OF_FILE, "/d/a", "alignment=1000,4096", "alignment=1000,4096;from=list");
	CHECK_WORDS(judged("alignment"), "unknown HDF5:|dataset");
	all_opened(OF_DATASET, "/d/a", NULL, "offset=2048;size=999");
	CHECK_WORDS(judged("alignment"), "unknown HDF5:|dataset");
	all_opened(OF_DATASET, "/d/a", NULL, "offset=4096;size=1000");
	all_opened(OF_DATASET, "/d/a", "fill_time=never",
		   "chunk_size=contiguous;fill_time=never;offset=0;size=70000");
	CHECK_WORDS(judged("alignment"), "yes HDF5:|2 of 2 datasets|4096 bytes");
	opened(0, OF_DATASET, "/d/b", NULL, "offset=1;size=70000"); /* unrelated */
	opened(0, OF_DATASET, "/d/a", NULL, "offset=8191;size=70000");
	CHECK_WORDS(judged("alignment"), "no HDF5:|2 of 3 datasets|4096 bytes");
	/* Offsets are not parameters. */
	CHECK_TEXT(judged("offset"), "nothing");
	CHECK_TEXT(judged("size"), "nothing");
	CHECK_TEXT(judged("from"), "nothing");
}

static void an_invalid_offset_is_ignored(void)
{
	begin();
	all_opened(OF_FILE, "/d/a", "alignment=0,4096", "alignment=0,4096;from=list");
	all_opened(OF_DATASET, "/d/a", NULL, "offset=4096");
	all_opened(OF_DATASET, "/d/a", NULL, "offset=;size=1");
	all_opened(OF_DATASET, "/d/a", NULL, "offset=-1;size=1");
	all_opened(OF_DATASET, "/d/a", NULL, "offset=18446744073709551615;size=1");
	all_opened(OF_DATASET, "/d/a", NULL, "offset=1x;size=1");
	all_opened(OF_DATASET, "/d/a", NULL, "offset=1;size=0");
	CHECK_WORDS(judged("alignment"), "unknown HDF5:|dataset");
}

static void independent_transfers_contain_no_collective_ones(void)
{
	uint64_t id;

	begin();
	all_opened(OF_FILE, "/d/a", "transfer=independent", "transfer=independent");
	CHECK_WORDS(judged("transfer"), "unknown HDF5:|no data");
	id = called(0, H5_WRITE, "/d/a", 0, 10);
	called(0, WRITE_AT, "/d/a", id, 10);
	CHECK_WORDS(judged("transfer"), "yes HDF5:|0 collective|1 HDF5");
	id = called(0, H5_WRITE, "/d/a", 0, 10);
	called(0, WRITE_ALL, "/d/a", id, 10);
	/* Those of datasets with filters stay collective. */
	CHECK_WORDS(judged("transfer"), "yes HDF5:|1 collective|2 HDF5");
	begin();
	all_opened(OF_FILE, "/d/a", "transfer=independent", "transfer=independent");
	id = called(0, H5_WRITE, "/d/a", 0, 10);
	called(0, WRITE_ALL, "/d/a", id, 10);
	CHECK_WORDS(judged("transfer"), "no HDF5:|1 collective|1 HDF5");
}

static void collective_transfers_contain_collective_ones(void)
{
	uint64_t id;

	begin();
	all_opened(OF_FILE, "/d/a", "transfer=collective", NULL);
	CHECK_WORDS(judged("transfer"), "unknown HDF5:|no data");
	id = called(0, H5_WRITE, "/d/a", 0, 10);
	called(0, WRITE_AT, "/d/a", id, 10);
	CHECK_WORDS(judged("transfer"), "no HDF5:|0 collective|1 HDF5");
	id = called(0, H5_WRITE, "/d/a", 0, 10);
	called(0, WRITE_ALL, "/d/a", id, 10);
	CHECK_WORDS(judged("transfer"), "yes HDF5:|1 collective|2 HDF5");
}

static void ranks_that_differ_are_counted(void)
{
	size_t n;
	struct parameter *rows;

	begin();
	opened(0, OF_MPI, "/d/a", "cb_nodes=4", "cb_nodes=4;mpi=mpich");
	opened(1, OF_MPI, "/d/a", "cb_nodes=4", "cb_nodes=2;mpi=mpich");
	opened(2, OF_MPI, "/d/a", "cb_nodes=4", "cb_nodes=4;mpi=mpich");
	opened(0, OF_MPI, "/d/b", "cb_nodes=4", "cb_nodes=4;mpi=mpich");
	rows = parameters_rows(&summary.parameters, &n);
	REQUIRE(n == 2);
	CHECK_INT(rows[0].openings, 3);
	CHECK_INT(rows[0].agreeing, 2);
	CHECK_INT(rows[1].openings, 1);
	parameters_rows_release(rows, n);
}

static char *rendered(void (*render)(FILE *, const struct report *))
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	render(f, &(struct report){ .summary = &summary, .top = 10 });
	fclose(f);
	return out;
}

static int count_lines(const char *text)
{
	int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void files_with_equal_results_are_one_row(void)
{
	AUTO_FREE char *out = NULL;

	begin();
	all_opened(OF_MPI, "/d/a", "cb_nodes=4;foo=1",
		   "cb_nodes=4;mpi=mpich;romio_ds_read=automatic");
	all_opened(OF_MPI, "/d/b", "cb_nodes=4;foo=1",
		   "cb_nodes=4;mpi=mpich;romio_ds_read=automatic");
	all_opened(OF_MPI, "/d/c", "cb_nodes=4", "cb_nodes=1;mpi=mpich;romio_ds_read=automatic");
	out = rendered(render_parameters);
	CHECK(strstr(out, "\n  cb_nodes   2 files  4          4            8/8  ROMIO "));
	CHECK(strstr(out, "\n  foo        2 files  1          -            8/8  not applied"));
	CHECK(strstr(out, "\n  cb_nodes   c        4          1            4/4  not applied"));
	CHECK_INT(count_lines(out), 6);
}

static void datasets_of_files_with_equal_results_are_added_up(void)
{
	static const char *const paths[] = { "/d/a", "/d/b" };
	AUTO_FREE char *out = NULL;

	begin();
	for (int i = 0; i < 2; i++) {
		all_opened(OF_FILE, paths[i], "alignment=0,4096", "alignment=0,4096;from=list");
		all_opened(OF_DATASET, paths[i], NULL, "offset=4096;size=10");
	}
	all_opened(OF_DATASET, "/d/b", NULL, "offset=8192;size=10");
	out = rendered(render_parameters);
	CHECK(strstr(out, "\n  alignment  2 files  0,4096     0,4096       8/8  HDF5 (3 of 3 "));
	CHECK_INT(count_lines(out), 4);
}

static void values_that_were_only_read_back_are_in_the_json(void)
{
	AUTO_FREE char *out = NULL, *json = NULL;

	begin();
	all_opened(OF_MPI, "/d/a", NULL, "cb_nodes=4;mpi=mpich");
	out = rendered(render_parameters);
	CHECK_WORDS(out, "no parameter|1 values");
	json = rendered(render_json);
	CHECK(strstr(json, "\"parameters\":"));
	CHECK(strstr(json, "\"effective\": \"4\"") || strstr(json, "\"effective\":\"4\""));
	CHECK(!strstr(json, "\"honoured\""));
}

static void a_run_without_parameters_has_no_section(void)
{
	AUTO_FREE char *out = NULL;

	begin();
	called(0, PWRITE, "/d/a", 0, 10);
	out = rendered(render_parameters);
	CHECK_TEXT(out, "");
}

static void the_run_summary_counts_applied_parameters(void)
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	begin();
	notes[head.note_count++] = (struct note){ .time_ns = -1,
						  .process = -1,
						  .host = "n0",
						  .source = PARAMETERS_SOURCE,
						  .kind = NOTE_APPLIED,
						  .name = PARAMETERS_GIVEN,
						  .value = "cb_nodes=4 foo=1" };
	all_opened(OF_MPI, "/d/a", "cb_nodes=4;foo=1", "cb_nodes=4;mpi=mpich");
	all_opened(OF_MPI, "/d/b", "cb_nodes=4;foo=1", "cb_nodes=4;mpi=mpich");
	brief_render(f, &summary, NULL, "t", true);
	fclose(f);
	CHECK(strstr(out, "  parameters cb_nodes=4 foo=1 (1 of 2 applied)\n"));
	free(out);
	summary_release(&summary);
}

TESTS(TEST(mpich_reports_the_hints_it_uses), TEST(open_mpi_is_judged_by_its_calls),
      TEST(without_buffering_every_rank_writes), TEST(a_refusal_of_the_guest_has_its_reason),
      TEST(striping_needs_a_file_system_that_supports_it), TEST(hdf5_reports_alignment_and_chunks),
      TEST(alignment_is_judged_by_the_offsets_of_datasets), TEST(an_invalid_offset_is_ignored),
      TEST(datasets_of_files_with_equal_results_are_added_up),
      TEST(independent_transfers_contain_no_collective_ones),
      TEST(collective_transfers_contain_collective_ones), TEST(ranks_that_differ_are_counted),
      TEST(files_with_equal_results_are_one_row),
      TEST(values_that_were_only_read_back_are_in_the_json),
      TEST(a_run_without_parameters_has_no_section),
      TEST(the_run_summary_counts_applied_parameters))
