/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/plot.h"

#include <errno.h>
#include <math.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "contract/parameters.h"
#include "observe/profile/profile.h"
#include "plot/stored/stored.h"
#include "svg_check.h"

enum { PREAD = 1, PWRITE, WRITE_AT, PARAMETERS, CALLS };

static struct call_info calls[CALLS] = {
	[0] = { .name = "none", .class = CLASS_CONTROL },
	[PREAD] = { .name = "pread", .layer = LAYER_POSIX, .class = CLASS_READ },
	[PWRITE] = { .name = "pwrite", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	[WRITE_AT] = { .name = "MPI_File_write_at", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[PARAMETERS] = { .name = PARAMETERS_OF_MPI, .layer = LAYER_MPI, .class = CLASS_CONTROL },
};

#define SECOND 1000000000
#define WRITE_BYTES 1000
#define STORED_BYTES 1500 /* the library writes more than the program asked for */
#define READ_BYTES 64

/* A run in which each rank writes and reads blocks of one file. */
struct job {
	struct trace_head head;
	struct process_info *processes;
	char *files[4]; /* the file, and two sets of hints */
	struct profile profile;
};

static void add_access(struct job *job, int rank, int call, uint64_t id, uint64_t parent,
		       int64_t start_ns, int64_t bytes)
{
	profile_add(&job->profile,
		    &(struct activity){
			    .call = (uint16_t)call,
			    .layer = calls[call].layer,
			    .process = (uint32_t)rank,
			    .id = id_make(1, id),
			    .parent = parent ? id_make(1, parent) : 0,
			    .start_ns = start_ns,
			    .duration_ns = 1000,
			    .offset = start_ns / 10000,
			    .size = bytes,
			    .result = bytes,
			    .file = 1,
			    .present = PRESENT(OFFSET) | PRESENT(SIZE) | PRESENT(RESULT),
		    });
}

/* ranks 0: a serial run. */
static void start_job(struct job *job, int ranks, const char *file)
{
	size_t processes = ranks ? (size_t)ranks : 1;

	*job = (struct job){ .files = { (char *)"", (char *)file,
					(char *)"mpi=mpich;romio_filesystem_type=LUSTRE:;"
						"striping_unit=1024",
					(char *)"mpi=mpich;romio_filesystem_type=UFS: Generic;"
						"striping_unit=1024" } };
	job->processes = xcalloc(processes, sizeof(*job->processes));
	job->head = (struct trace_head){
		.run = { .command = (char *)file },
		.calls = calls,
		.call_count = CALLS,
		.files = job->files,
		.file_count = 4,
		.processes = job->processes,
		.process_count = processes,
		.end = { .duration_ns = SECOND, .complete = true },
	};
	for (size_t i = 0; i < processes; i++)
		job->processes[i] = (struct process_info){ .index = (uint32_t)i,
							   .parent = -1,
							   .rank = ranks ? (int32_t)i : -1,
							   .ranks = ranks,
							   .host = (char *)"node",
							   .program = (char *)file };
	profile_init(&job->profile, &job->head, NULL);
}

static void run_job(struct job *job, int rounds)
{
	int ranks = (int)job->head.process_count;

	for (int i = 0; i < rounds; i++)
		for (int rank = 0; rank < ranks; rank++) {
			int64_t at = SECOND / rounds / ranks * ((int64_t)i * ranks + rank);
			uint64_t id = 1 + 3 * (uint64_t)i;

			add_access(job, rank, WRITE_AT, id, 0, at, WRITE_BYTES);
			add_access(job, rank, PWRITE, id + 1, id, at, STORED_BYTES);
			add_access(job, rank, PREAD, id + 2, 0, at + 1000, READ_BYTES);
		}
}

static void end_job(struct job *job)
{
	profile_release(&job->profile);
	free(job->processes);
}

static void check_draws(const struct plot_kind *kind, const struct job *job)
{
	AUTO_BUF struct buf svg = { 0 };
	struct err err = { 0 };

	CHECK_INT(plot_draw(kind, &(struct plot_source){ .profile = &job->profile }, &svg, &err),
		  0);
	CHECK_TEXT(err.text, "");
	check_well_formed(buf_text(&svg));
	CHECK(svg.len < 500000);
	CHECK(!strstr(buf_text(&svg), "<script") && !strchr(buf_text(&svg), 27));
}

static void check_all_draw(const struct job *job)
{
	for (const struct plot_kind *const *kind = plot_run_kinds; *kind; kind++)
		check_draws(*kind, job);
}

/* The text after `count` commas; NULL if there are fewer. */
static const char *skip_cells(const char *line, int count)
{
	while (line && count--) {
		line = strchr(line, ',');
		line += line != NULL;
	}
	return line;
}

/* The sum of a column over the rows that contain the text. */
static double sum_column(const struct plot_kind *kind, const struct job *job, const char *column,
			 const char *with)
{
	AUTO_BUF struct buf csv = { 0 };
	double sum = 0;
	char *rest = NULL;
	int at = 0;

	CHECK(plot_table(kind, &(struct plot_source){ .profile = &job->profile }, &csv, NULL) >= 0);
	if (!csv.len || !strstr(csv.data, column))
		return NAN;
	for (const char *c = csv.data; c < strstr(csv.data, column); c++)
		at += *c == ',';
	strtok_r(csv.data, "\n", &rest);
	for (char *line = strtok_r(NULL, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *cell = strstr(line, with) ? skip_cells(line, at) : NULL;

		sum += cell ? strtod(cell, NULL) : 0;
	}
	return sum;
}

static void every_kind_of_a_run_is_drawn(void)
{
	struct job job;

	start_job(&job, 4, "/data/out");
	run_job(&job, 20);
	check_all_draw(&job);
	end_job(&job);
}

static void tables_have_the_sums_of_the_run(void)
{
	enum { RANKS = 4, ROUNDS = 20, ALL = RANKS * ROUNDS };
	struct job job;

	start_job(&job, RANKS, "/data/out");
	run_job(&job, ROUNDS);
	CHECK_NEAR(sum_column(&plot_bandwidth, &job, "written_bytes", ",POSIX,"),
		   ALL * STORED_BYTES, 0);
	CHECK_NEAR(sum_column(&plot_bandwidth, &job, "written_bytes", ",MPI,"), ALL * WRITE_BYTES,
		   0);
	CHECK_NEAR(sum_column(&plot_heatmap, &job, "written_bytes", ""), ALL * WRITE_BYTES, 0);
	CHECK_NEAR(sum_column(&plot_ranks, &job, "read_bytes", ""), ALL * READ_BYTES, 0);
	CHECK_NEAR(sum_column(&plot_offsets, &job, "bytes", "write"), ALL * STORED_BYTES, 0);
	CHECK_NEAR(sum_column(&plot_offsets, &job, "bytes", "read"), ALL * READ_BYTES, 0);
	CHECK_NEAR(sum_column(&plot_sizes, &job, "reads", "POSIX"), ALL, 0);
	CHECK_NEAR(sum_column(&plot_sizes, &job, "writes", "MPI"), ALL, 0);
	CHECK_NEAR(sum_column(&plot_causes, &job, "calls", ""), 3 * ALL, 0);
	CHECK_NEAR(sum_column(&plot_causes, &job, "amplification", ""),
		   (double)STORED_BYTES / WRITE_BYTES, 1e-6);
	end_job(&job);
}

static void hostile_names_do_not_reach_the_markup(void)
{
	struct job job;

	start_job(&job, 2, "/data/</text></svg><script>\n\x1b[31m\xff\"&',=1+1");
	run_job(&job, 5);
	check_all_draw(&job);
	end_job(&job);
}

static void many_ranks_and_accesses_are_drawn_in_bounded_size(void)
{
	struct job job;

	start_job(&job, 600, "/data/out");
	run_job(&job, 20);
	check_all_draw(&job);
	end_job(&job);
}

static void a_run_without_data_is_refused(void)
{
	struct job empty, serial;
	struct err err = { 0 };

	start_job(&empty, 2, "/data/out");
	start_job(&serial, 0, "/data/out");
	run_job(&serial, 3);
	for (const struct plot_kind *const *kind = plot_run_kinds; *kind; kind++) {
		AUTO_BUF struct buf svg = { 0 };
		bool is_ranks = *kind == &plot_ranks;
		struct plot_source source = { .profile =
						      is_ranks ? &serial.profile : &empty.profile };

		CHECK_INT(plot_draw(*kind, &source, &svg, &err), -ENODATA);
		CHECK(*err.text && !svg.len);
		if (!is_ranks)
			check_draws(*kind, &serial);
	}
	end_job(&empty);
	end_job(&serial);
}

static int draw_offsets(const struct job *job, bool all, const char *file)
{
	AUTO_BUF struct buf svg = { 0 };
	struct plot_source source = { .profile = &job->profile, .all = all, .file = file };

	return plot_draw(&plot_offsets, &source, &svg, NULL);
}

/* A local file system has none, whatever the hint says. */
static void stripes_are_drawn_if_the_file_has_some(void)
{
	for (file_id hints = 2; hints <= 3; hints++) {
		AUTO_BUF struct buf svg = { 0 };
		struct job job;

		start_job(&job, 2, "/data/out");
		profile_add(&job.profile, &(struct activity){ .call = PARAMETERS,
							      .layer = LAYER_MPI,
							      .id = id_make(1, 1),
							      .file = 1,
							      .hints = hints,
							      .present = PRESENT(HINTS) });
		add_access(&job, 0, PWRITE, 2, 0, 1000, 4096);
		CHECK_INT(plot_draw(&plot_offsets, &(struct plot_source){ .profile = &job.profile },
				    &svg, NULL),
			  0);
		CHECK_INT(strstr(svg.data, "stripes of 1.00 KiB") != NULL, hints == 2);
		CHECK_INT(count_parts(svg.data, "\"rule fine\""), hints == 2 ? 5 : 0);
		end_job(&job);
	}
}

static void files_of_the_system_are_left_out(void)
{
	struct job job;

	start_job(&job, 2, "/proc/self/mem");
	run_job(&job, 5);
	CHECK_INT(draw_offsets(&job, false, NULL), -ENODATA);
	CHECK_INT(draw_offsets(&job, true, NULL), 0);
	CHECK_INT(draw_offsets(&job, false, "mem*"), 0);
	CHECK_INT(draw_offsets(&job, false, "x"), -ENODATA);
	end_job(&job);
}

static void missing_knowledge_is_refused(void)
{
	struct config config;
	struct err err = { 0 };

	config_init(&config);
	config_set(&config, SETTING_STORE_PATH, "/nonexistent/store.db", "test", NULL);
	config_set(&config, SETTING_MODEL_PATH, "/nonexistent/model", "test", NULL);
	for (const struct plot_kind *const *kind = plot_stored_kinds; *kind; kind++) {
		AUTO_BUF struct buf svg = { 0 };
		int r = plot_draw(*kind, &(struct plot_source){ .config = &config }, &svg, &err);

		CHECK(r == -ENODATA || r == -ENOENT);
		CHECK(*err.text && !svg.len);
	}
	config_release(&config);
}

TESTS(TEST(every_kind_of_a_run_is_drawn), TEST(tables_have_the_sums_of_the_run),
      TEST(hostile_names_do_not_reach_the_markup),
      TEST(many_ranks_and_accesses_are_drawn_in_bounded_size), TEST(a_run_without_data_is_refused),
      TEST(stripes_are_drawn_if_the_file_has_some), TEST(files_of_the_system_are_left_out),
      TEST(missing_knowledge_is_refused))
