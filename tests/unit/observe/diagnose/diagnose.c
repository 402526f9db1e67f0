/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/finding.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/mem.h"
#include "check.h"
#include "observe/diagnose/rule.h"
#include "observe/profile/profile.h"
#include "observe/tally/overhead_notes.h"
#include "observe/tally/parameters.h"
#include "params/tunable.h"

#define MIB (INT64_C(1) << 20)
#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

enum {
	OPEN = 1,
	PREAD,
	PWRITE,
	FSYNC,
	FILE_OPEN,
	LAYOUT,
	H5DREAD,
	FFLUSH,
	WRITE_AT,
	OF_HDF5,
	PUT_VAR,
	CALLS
};
static struct call_info calls[CALLS] = {
	[0] = { .name = "none", .class = CLASS_CONTROL },
	[OPEN] = { .name = "open", .layer = LAYER_POSIX, .class = CLASS_OPEN },
	[PREAD] = { .name = "pread", .layer = LAYER_POSIX, .class = CLASS_READ },
	[PWRITE] = { .name = "pwrite", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	[FSYNC] = { .name = "fsync", .layer = LAYER_POSIX, .class = CLASS_SYNC },
	[FILE_OPEN] = { .name = "MPI_File_open", .layer = LAYER_MPI, .class = CLASS_OPEN },
	[LAYOUT] = { .name = "H5D_layout", .layer = LAYER_HDF5, .class = CLASS_CONTROL },
	[FFLUSH] = { .name = "fflush", .layer = LAYER_STDIO, .class = CLASS_SYNC },
	[WRITE_AT] = { .name = "MPI_File_write_at", .layer = LAYER_MPI, .class = CLASS_WRITE },
	[PUT_VAR] = { .name = "nc_put_var1", .layer = LAYER_NETCDF, .class = CLASS_WRITE },
	[OF_HDF5] = { .name = "H5F_parameters", .layer = LAYER_HDF5, .class = CLASS_CONTROL },
	[H5DREAD] = { .name = "H5Dread", .layer = LAYER_HDF5, .class = CLASS_READ },
};

/* File 2 and above are texts of hints. */
static char *files[] = { "",
			 "/data/a b\"$x",
			 "striping_factor=1",
			 "cache=1048576;chunk=32,256;element=8;filters=2,1;slots=521",
			 "transfer=independent",
			 "transfer=collective",
			 "transfer=!application" };

#define RANKS 2
struct run {
	struct trace_head head;
	struct process_info processes[RANKS];
	struct profile profile;
	struct config config;
	struct diagnose_options options;
	struct finding *findings;
	size_t count;
	int64_t now[RANKS];
	uint64_t id;
};

static void run_begin(struct run *run, int ranks, int64_t duration_ns)
{
	*run = (struct run){ 0 };
	for (int i = 0; i < RANKS; i++)
		run->processes[i] = (struct process_info){ .index = (uint32_t)i,
							   .parent = -1,
							   .rank = ranks ? i : -1,
							   .ranks = ranks,
							   .host = (char *)"n0" };
	run->head = (struct trace_head){
		.calls = calls,
		.call_count = CALLS,
		.files = files,
		.file_count = sizeof(files) / sizeof(*files),
		.processes = run->processes,
		.process_count = ranks ? (size_t)ranks : 1,
		.run = { .command = (char *)"./app 'a b'", .started_ns = 1000 * SECOND },
		.end = { .duration_ns = duration_ns, .complete = true },
	};
	config_init(&run->config);
	run->options = (struct diagnose_options){ .config = &run->config, .run = "abc" };
}

/* Adds a call that takes this long, after the previous one of its rank. */
static struct activity *run_call(struct run *run, int rank, unsigned call, int64_t bytes,
				 int64_t offset, int64_t duration_ns)
{
	static struct activity a;

	a = (struct activity){
		.start_ns = run->now[rank],
		.duration_ns = duration_ns,
		.id = ++run->id,
		.process = (uint32_t)rank,
		.file = 1,
		.call = (uint16_t)call,
		.layer = calls[call].layer,
		.result = bytes,
		.size = bytes,
		.offset = offset,
		.present = PRESENT(RESULT) | PRESENT(SIZE) | (offset >= 0 ? PRESENT(OFFSET) : 0),
	};
	run->now[rank] += duration_ns;
	return &a;
}

static void run_add(struct run *run, int rank, unsigned call, int64_t bytes, int64_t offset,
		    int64_t duration_ns)
{
	profile_add(&run->profile, run_call(run, rank, call, bytes, offset, duration_ns));
}

static void run_diagnose(struct run *run)
{
	run->findings = diagnose(&run->profile, &run->options, &run->count);
}

static const struct finding *run_find(const struct run *run, const char *code)
{
	for (size_t i = 0; i < run->count; i++)
		if (!strcmp(run->findings[i].rule->code, code))
			return &run->findings[i];
	return NULL;
}

static void run_end(struct run *run)
{
	findings_release(run->findings, run->count);
	profile_release(&run->profile);
	config_release(&run->config);
}

static void a_clean_run_has_no_findings(void)
{
	struct run run;

	run_begin(&run, 0, SECOND);
	profile_init(&run.profile, &run.head, NULL);
	for (int i = 0; i < 8; i++)
		run_add(&run, 0, PWRITE, MIB, i * MIB, MS);
	run_diagnose(&run);
	CHECK_INT(run.count, 0);
	run_end(&run);
}

/* A run of 1 s that spends 800 ms in 600 small writes, of which 400 ms are repeated reads. */
static void findings_state_share_gain_and_fixes(void)
{
	struct run run;
	const struct finding *f;

	run_begin(&run, 0, SECOND);
	profile_init(&run.profile, &run.head, NULL);
	for (int i = 0; i < 8; i++)
		run_add(&run, 0, PREAD, MIB, 0, 100 * MS);
	run_diagnose(&run);
	REQUIRE(run.count == 1);
	f = run_find(&run, "redundant-reads");
	REQUIRE(f);
	CHECK_NEAR(f->share, 0.7, 1e-3);
	CHECK_INT(f->severity, SEVERITY_CRITICAL);
	CHECK(!f->possible);
	CHECK_NEAR(f->predicted.gain, 1 / 0.3, 1e-2);
	CHECK_NEAR(f->predicted.low, 1 / 0.65, 1e-2);
	CHECK_TEXT(f->query, "sluice print --layer POSIX --file '/data/a b\"$x' abc");
	CHECK_INT(f->sample_count, 3);
	CHECK(isnan(f->measured.gain));
	REQUIRE(f->fix_count == 1); /* there is no HDF5 in the run */
	CHECK(strstr(f->fixes[0].text, "/data/a b\\\"$x"));
	run_end(&run);
}

/*
 * Requests take 4 us and 1 us per KiB. 600 of 1 KiB take 3 ms; one request with the same bytes
 * takes 0.604 ms. A slow call does not change the estimate.
 */
static void the_gain_of_larger_requests_follows_from_their_sizes(void)
{
	const struct finding *f;
	struct run run;
	int64_t at = 0;

	run_begin(&run, 0, 10 * MS);
	profile_init(&run.profile, &run.head, NULL);
	for (int i = 0; i < 600; i++, at += 1024)
		run_add(&run, 0, PWRITE, 1024, at, 5000);
	for (int i = 0; i < 20; i++, at += 128 << 10)
		run_add(&run, 0, PWRITE, 128 << 10, at, 132000 + (i == 5) * 3 * MS);
	run_diagnose(&run);
	f = run_find(&run, "small-requests");
	REQUIRE(f);
	CHECK_TEXT(f->predicted.source, "request sizes");
	CHECK_NEAR(f->predicted.gain, 10 / (10 - (3 - 0.604)), 0.01);
	CHECK(!f->unpredicted);
	run_end(&run);
}

/* Requests of one size tell nothing of the cost of a request, unless they can be replayed. */
static void requests_of_one_size_need_a_replay(void)
{
	for (int local = 0; local < 2; local++) {
		for (int slow = 0; slow < 2; slow++) {
			const struct finding *f;
			struct run run;

			run_begin(&run, 0, SECOND);
			run.options.is_local = local;
			profile_init(&run.profile, &run.head, NULL);
			for (int i = 0; i < 600; i++)
				run_add(&run, 0, PWRITE, 1024, i * 1024, slow ? MS : 1000);
			run_diagnose(&run);
			f = run_find(&run, "small-requests");
			REQUIRE(f);
			CHECK(isnan(f->predicted.gain) == (f->unpredicted != NULL));
			if (!local)
				CHECK(strstr(f->unpredicted, "another machine"));
			else if (slow)
				CHECK(strstr(f->unpredicted, "as in memory"));
			run_end(&run);
		}
	}
}

/* Recording takes 200 ms of the second, so that the program itself takes 800 ms. */
static void recording_is_not_part_of_the_gain(void)
{
	struct note note = { .process = 0,
			     .source = (char *)OVERHEAD_SOURCE,
			     .kind = (char *)NOTE_COST,
			     .name = (char *)OVERHEAD_GUEST_NS,
			     .value = (char *)"200000000" };
	struct run run;

	run_begin(&run, 0, SECOND);
	run.head.notes = &note;
	run.head.note_count = 1;
	profile_init(&run.profile, &run.head, NULL);
	for (int i = 0; i < 8; i++)
		run_add(&run, 0, PREAD, MIB, 0, 50 * MS);
	run_diagnose(&run);
	REQUIRE(run_find(&run, "redundant-reads"));
	CHECK_NEAR(run_find(&run, "redundant-reads")->predicted.gain, 0.8 / 0.45, 1e-2);
	findings_release(run.findings, run.count);
	note.value = (char *)"600000000";
	run_diagnose(&run);
	CHECK(strstr(run_find(&run, "redundant-reads")->unpredicted, "recording"));
	run_end(&run);
}

static void flushing_a_stream_forces_nothing_to_storage(void)
{
	for (int forced = 0; forced < 2; forced++) {
		struct run run;

		run_begin(&run, 0, SECOND);
		profile_init(&run.profile, &run.head, NULL);
		for (int i = 0; i < 200; i++) {
			run_add(&run, 0, FFLUSH, 0, -1, 10000);
			if (forced)
				run_add(&run, 0, FSYNC, 0, -1, 1000000);
		}
		run_diagnose(&run);
		CHECK_INT(run_find(&run, "sync-storm") != NULL, forced);
		run_end(&run);
	}
}

static void a_straggler_needs_equal_work_and_much_more_time(void)
{
	for (int slow = 0; slow < 2; slow++) {
		struct run run;

		run_begin(&run, 2, 20 * SECOND);
		profile_init(&run.profile, &run.head, NULL);
		for (int i = 0; i < 8; i++) {
			run_add(&run, 0, PWRITE, MIB, i * MIB, 10 * MS);
			run_add(&run, 1, PWRITE, MIB, (8 + i) * MIB, slow ? SECOND : 20 * MS);
		}
		run_diagnose(&run);
		CHECK_INT(run_find(&run, "straggler") != NULL, slow);
		if (slow) {
			CHECK_INT(run_find(&run, "straggler")->ranks[0], 1);
			CHECK(run_find(&run, "straggler")->possible);
		}
		run_end(&run);
	}
}

/* Both ranks open the file with a hint that names one stripe, and write 80 MiB. */
static void write_one_stripe(struct run *run)
{
	struct activity *open;

	profile_init(&run->profile, &run->head, NULL);
	for (int rank = 0; rank < 2; rank++) {
		open = run_call(run, rank, FILE_OPEN, 0, -1, MS);
		open->hints = 2;
		profile_add(&run->profile, open);
	}
	for (int i = 0; i < 40; i++)
		run_add(run, i % 2, PWRITE, 2 * MIB, (i % 2 * 20 + i / 2) * 2 * MIB, 10 * MS);
	run_diagnose(run);
}

static void a_large_shared_file_with_one_stripe_is_found(void)
{
	struct run run;

	run_begin(&run, 2, SECOND);
	write_one_stripe(&run);
	REQUIRE(run_find(&run, "stripe-count"));
	CHECK(strstr(run_find(&run, "stripe-count")->fixes[2].text, "lfs setstripe -c 2 /data"));
	run_end(&run);
}

/* What the file system tells of the file is right, whatever the hints say. */
static void stripes_of_the_file_system_have_priority_over_hints(void)
{
	static const struct {
		const char *value;
		bool is_found;
	} cases[] = { { "striping_factor=4;striping_unit=1048576", false },
		      { "striping_factor=1;striping_unit=1048576", true } };
	struct note note = { .process = -1,
			     .source = (char *)"ceph",
			     .kind = (char *)NOTE_LAYOUT,
			     .name = files[1] };
	struct run run;

	for (size_t i = 0; i < 2; i++) {
		files[2] = (char *)(cases[i].is_found ? "striping_factor=4" : "striping_factor=1");
		note.value = (char *)cases[i].value;
		run_begin(&run, 2, SECOND);
		run.head.notes = &note;
		run.head.note_count = 1;
		write_one_stripe(&run);
		CHECK_INT(run_find(&run, "stripe-count") != NULL, cases[i].is_found);
		run_end(&run);
	}
	files[2] = (char *)"striping_factor=1";
}

/* Both ranks write 64 MiB in step; the unit decides whether they are on the same stripe. */
static void writers_of_the_same_stripe_are_found(void)
{
	static const struct {
		const char *layout;
		bool is_found;
	} cases[] = { { "striping_factor=4;striping_unit=16777216", true },
		      { "striping_factor=4;striping_unit=1048576", false },
		      { "striping_factor=3;striping_unit=16777216", false },
		      { "striping_factor=4", false } };
	struct note note = { .process = -1,
			     .source = (char *)"ceph",
			     .kind = (char *)NOTE_LAYOUT,
			     .name = files[1] };
	const struct finding *f;
	struct run run;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		note.value = (char *)cases[i].layout;
		run_begin(&run, 2, SECOND);
		run.head.notes = &note;
		run.head.note_count = 1;
		profile_init(&run.profile, &run.head, NULL);
		for (int k = 0; k < 32; k++)
			run_add(&run, k % 2, PWRITE, 4 * MIB, (k % 2 * 16 + k / 2) * 4 * MIB,
				10 * MS);
		run_diagnose(&run);
		f = run_find(&run, "stripe-convoy");
		CHECK_INT(f != NULL, cases[i].is_found);
		if (f) {
			CHECK_TEXT(f->evidence, "32 writes of 4.00 MiB on average; while several "
						"were under way, 2.0 of them shared a stripe on "
						"average");
			CHECK_TEXT(f->fixes[0].text,
				   "sluice run --params striping_unit=1048576 -- ./app 'a b'");
		}
		run_end(&run);
	}
}

static void commands_keep_the_parameters_of_the_run(void)
{
	struct note note = { .process = -1,
			     .source = (char *)PARAMETERS_SOURCE,
			     .kind = (char *)NOTE_APPLIED,
			     .name = (char *)PARAMETERS_GIVEN,
			     .value = (char *)"cb_nodes=4 striping_unit=65536@*.h5" };
	const struct finding *f;
	struct run run;

	for (int given = 0; given < 2; given++) {
		run_begin(&run, 2, SECOND);
		run.head.notes = &note;
		run.head.note_count = (size_t)given;
		write_one_stripe(&run);
		f = run_find(&run, "stripe-count");
		REQUIRE(f && f->fix_count > 0);
		CHECK_TEXT(f->fixes[0].text,
			   given ? "sluice run --params 'cb_nodes=4 striping_unit=65536@*.h5 "
				   "striping_factor=2' -- ./app 'a b'"
				 : "sluice run --params striping_factor=2 -- ./app 'a b'");
		run_end(&run);
	}
}

/* Two ranks write interleaved pieces on their own. parameters: file that names those of the run. */
static void write_pieces(struct run *run, file_id parameters)
{
	run_begin(run, 2, 20 * MS);
	profile_init(&run->profile, &run->head, NULL);
	for (int rank = 0; parameters && rank < 2; rank++) {
		struct activity *record = run_call(run, rank, OF_HDF5, 0, -1, 0);

		record->name = parameters;
		record->present |= PRESENT(NAME);
		profile_add(&run->profile, record);
	}
	for (int i = 0; i < 128; i++)
		run_add(run, i % 2, WRITE_AT, 4096, i * 4096, MS / 10);
	run_diagnose(run);
}

static void no_fix_undoes_a_parameter_that_the_run_was_given(void)
{
	static const file_id kept[] = { 0, 5, 6 }; /* none, what the fix sets, refused */
	const struct finding *f;
	struct run run;

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		write_pieces(&run, kept[i]);
		f = run_find(&run, "independent-io");
		REQUIRE(f);
		CHECK_INT(f->severity, SEVERITY_CRITICAL);
		CHECK(f->fix_count > 0);
		CHECK(!strstr(f->evidence, "Sluice set"));
		run_end(&run);
	}
	write_pieces(&run, 4);
	f = run_find(&run, "independent-io");
	REQUIRE(f);
	CHECK_INT(f->fix_count, 0);
	CHECK_INT(f->severity, SEVERITY_INFO);
	CHECK(strstr(f->evidence, "; Sluice set transfer=independent in this run"));
	CHECK(f->unpredicted && isnan(f->predicted.gain));
	run_end(&run);
}

/* All that fixes say they set is in the catalog. */
static void fixes_set_parameters_of_the_catalog(void)
{
	for (size_t t = 0; diagnose_rules[t]; t++) {
		for (size_t i = 0; i < diagnose_rules[t]->count * RULE_FIXES; i++) {
			const struct fix_row *fix =
				&diagnose_rules[t]->rules[i / RULE_FIXES].fixes[i % RULE_FIXES];
			char *rest = NULL;
			AUTO_FREE char *sets = xstrdup(fix->sets ? fix->sets : "");

			for (char *set = strtok_r(sets, " ", &rest); set;
			     set = strtok_r(NULL, " ", &rest)) {
				set[strcspn(set, "=")] = 0;
				CHECK(tunable_by_name(set));
			}
		}
	}
}

static bool has_fix(const struct finding *finding, const char *kind)
{
	for (size_t i = 0; i < finding->fix_count; i++) {
		if (!strcmp(finding->fixes[i].kind, kind))
			return true;
	}
	return false;
}

/* The program calls a library, which calls those below; only the call of the program is small. */
static void fixes_belong_to_the_layer_that_makes_the_requests(void)
{
	static const struct {
		unsigned call;
		const char *kind;
	} rows[] = {
		{ PWRITE, "c" }, { WRITE_AT, "mpi" }, { H5DREAD, "hdf5" }, { PUT_VAR, "netcdf" }
	};
	enum { ROWS = sizeof(rows) / sizeof(*rows) };

	for (int i = 0; i < ROWS; i++) {
		const struct finding *f;
		struct run run;

		run_begin(&run, 1, SECOND);
		profile_init(&run.profile, &run.head, NULL);
		for (int k = 0; k < 600; k++)
			run_add(&run, 0, rows[i].call, 1024, -1, 10000);
		run_diagnose(&run);
		f = run_find(&run, "small-requests");
		REQUIRE(f);
		for (int k = 0; k < ROWS; k++)
			CHECK_INT(has_fix(f, rows[k].kind), i == k);
		CHECK_INT(has_fix(f, "python"), rows[i].call == PWRITE);
		CHECK_INT(has_fix(f, "h5py"), rows[i].call == H5DREAD);
		if (rows[i].call == H5DREAD)
			CHECK(strstr(f->fixes[0].text, "H5Dread("));
		run_end(&run);
	}
}

/* Small writes of both ranks to file 1, and one write to each of files 2 and 3. */
static void write_many_files(struct run *run, const struct profile_limits *limits)
{
	run_begin(run, 2, SECOND);
	profile_init(&run->profile, &run->head, limits);
	for (int i = 0; i < 1200; i++)
		run_add(run, i % 2, PWRITE, 1024, i * 1024, 10000);
	for (file_id file = 2; file < 4; file++) {
		struct activity *write = run_call(run, 0, PWRITE, 1024, 0, 10000);

		write->file = file;
		profile_add(&run->profile, write);
	}
	run_diagnose(run);
}

static void findings_say_if_they_are_lower_bounds(void)
{
	static struct loss_info loss = { .process = 0, .records = 7 };
	static const struct profile_limits limits = { .cells = 1 };
	struct run run;

	write_many_files(&run, NULL);
	REQUIRE(run.count == 1);
	CHECK(!strstr(run.findings[0].evidence, "lower bounds"));
	findings_release(run.findings, run.count);
	run.head.losses = &loss;
	run.head.loss_count = 1;
	run_diagnose(&run);
	CHECK(strstr(run.findings[0].evidence,
		     "; these are lower bounds, because 7 calls were lost"));
	run_end(&run);

	write_many_files(&run, &limits);
	REQUIRE(run.count == 1);
	CHECK(strstr(run.findings[0].evidence,
		     "; these are lower bounds, because calls on further files are known "
		     "only in total, and further ranks that use a file are counted as one"));
	run_end(&run);
}

/* HDF5 reads 32 times what the program gets, so no conversion of types explains it. */
static void causal_chains_that_lack_files_are_mentioned(void)
{
	static const char reason[] = "; these are lower bounds, because the calls inside libraries";
	const struct finding *f;
	struct activity *inner;
	struct run run;
	uint64_t outer;

	run_begin(&run, 1, SECOND);
	profile_init(&run.profile, &run.head, NULL);
	for (int i = 0; i < 4; i++) {
		run_add(&run, 0, H5DREAD, MIB, -1, 10 * MS);
		outer = run.id;
		run.now[0] -= 9 * MS;
		inner = run_call(&run, 0, PREAD, 32 * MIB, i * 32 * MIB, MS);
		inner->parent = outer;
		profile_add(&run.profile, inner);
		run.now[0] += 10 * MS;
	}
	run_diagnose(&run);
	f = run_find(&run, "read-amplification");
	REQUIRE(f);
	CHECK(!f->possible && !strstr(f->evidence, reason));
	findings_release(run.findings, run.count);
	run.profile.tree.folded = 1;
	run_diagnose(&run);
	CHECK(strstr(run_find(&run, "read-amplification")->evidence, reason));
	run_end(&run);
}

static void device_reads_show_misses_of_the_page_cache(void)
{
	static struct statistic_info statistic = { .host = (char *)"n0",
						   .name = (char *)"io/vda/read",
						   .unit = (char *)"bytes",
						   .reduction = (char *)"sum",
						   .scale = 1 };
	static struct stat_sample sample = { .time_ns = SECOND, .period_ns = SECOND };

	for (int cold = 0; cold < 2; cold++) {
		const struct finding *misses;
		struct run run;

		run_begin(&run, 0, SECOND);
		sample.value = cold ? 40 * MIB : MIB;
		run.head.statistics = &statistic;
		run.head.statistic_count = 1;
		run.head.samples = &sample;
		run.head.sample_count = 1;
		profile_init(&run.profile, &run.head, NULL);
		/* Of the files, the one whose reads took the most time is named first. */
		run_add(&run, 0, PREAD, 8, 0, MS);
		for (int i = 0; i < 40; i++) {
			struct activity *a = run_call(&run, 0, PREAD, MIB, i * MIB, 20 * MS);

			a->file = 2;
			profile_add(&run.profile, a);
		}
		run_diagnose(&run);
		misses = run_find(&run, "cache-misses");
		CHECK_INT(misses != NULL, cold);
		CHECK(!misses || (misses->file_count == 2 && misses->files[0] == 2));
		run_end(&run);
	}
}

static void a_run_is_compared_with_the_median_of_earlier_ones(void)
{
	struct past_run past[6] = { { 1, SECOND }, { 2, SECOND }, { 3, 2 * SECOND },
				    { 4, SECOND }, { 5, SECOND }, { INT64_MAX, SECOND } };
	struct run run;

	run_begin(&run, 0, 4 * SECOND);
	profile_init(&run.profile, &run.head, NULL);
	run.options.past = past;
	run.options.past_count = 6;
	run_diagnose(&run);
	REQUIRE(run_find(&run, "regression"));
	CHECK(strstr(run_find(&run, "regression")->evidence,
		     "4.00 times the median of its last 5"));
	findings_release(run.findings, run.count);
	run.options.past_count = 4; /* too few */
	run_diagnose(&run);
	CHECK(!run_find(&run, "regression"));
	run_end(&run);
}

static void more_ranks_than_processors_are_found(void)
{
	struct note note = { .process = -1,
			     .host = (char *)"n0",
			     .kind = (char *)NOTE_NODE,
			     .name = (char *)NODE_PROCESSORS,
			     .value = (char *)"1" };
	struct run run;

	run_begin(&run, 2, SECOND);
	run.head.notes = &note;
	run.head.note_count = 1;
	profile_init(&run.profile, &run.head, NULL);
	run_diagnose(&run);
	CHECK(run_find(&run, "oversubscribed"));
	findings_release(run.findings, run.count);
	note.value = (char *)"2";
	run_diagnose(&run);
	CHECK(!run_find(&run, "oversubscribed"));
	run_end(&run);
}

static void a_measured_gain_comes_from_the_parameter(void)
{
	static const struct known_gain known[] = {
		{ "{\"name\": \"cb_nodes\"}", 9, 8, 10, "elsewhere" },
		{ "{\"name\": \"striping_factor\"}", 2, 1.5, 3, "tuned on 2026-11-16" },
	};
	struct activity *open;
	struct run run;

	run_begin(&run, 2, SECOND);
	run.options.known = known;
	run.options.known_count = 2;
	profile_init(&run.profile, &run.head, NULL);
	open = run_call(&run, 0, FILE_OPEN, 0, -1, MS);
	open->hints = 2;
	profile_add(&run.profile, open);
	for (int i = 0; i < 40; i++)
		run_add(&run, i % 2, PWRITE, 2 * MIB, (i % 2 * 20 + i / 2) * 2 * MIB, 10 * MS);
	run_diagnose(&run);
	REQUIRE(run_find(&run, "stripe-count"));
	CHECK_NEAR(run_find(&run, "stripe-count")->measured.gain, 2, 1e-9);
	run_end(&run);
}

static void facts_about_chunks_are_read(void)
{
	const struct file_facts *facts;
	struct activity *layout;
	struct run run;

	run_begin(&run, 0, SECOND);
	profile_init(&run.profile, &run.head, NULL);
	layout = run_call(&run, 0, LAYOUT, 0, -1, 0);
	layout->hints = 3;
	profile_add(&run.profile, layout);
	facts = facts_get(&run.profile.facts, 1);
	CHECK_INT(facts->chunk_bytes, 32 * 256 * 8);
	CHECK_INT(facts->cache_bytes, 1048576);
	CHECK(facts->compressed);
	CHECK_TEXT(facts->chunk, "32 x 256 elements of 8 bytes");
	CHECK_INT(facts_get(&run.profile.facts, 2)->chunk_bytes, 0);
	run_end(&run);
}

/* Two sentences, a condition, known codes in `hides`, and parameters of the catalog. */
static void rules_are_complete(void)
{
	size_t count = 0;

	for (size_t t = 0; diagnose_rules[t]; t++) {
		for (size_t i = 0; i < diagnose_rules[t]->count; i++, count++) {
			const struct rule *rule = &diagnose_rules[t]->rules[i];

			CHECK(rule->code && rule->title && rule->when && rule->describe);
			CHECK(!rule->test_file != !rule->test_run);
			CHECK(!rule->gain != !rule->unknown);
			CHECK(strstr(rule->explanation, ". ") && rule->fixes[0].kind);
			CHECK(!rule->parameter || tunable_by_name(rule->parameter));
		}
	}
	CHECK(count >= 30 && count <= 64);
}

TESTS(TEST(a_clean_run_has_no_findings), TEST(findings_state_share_gain_and_fixes),
      TEST(the_gain_of_larger_requests_follows_from_their_sizes),
      TEST(requests_of_one_size_need_a_replay), TEST(recording_is_not_part_of_the_gain),
      TEST(flushing_a_stream_forces_nothing_to_storage),
      TEST(a_straggler_needs_equal_work_and_much_more_time),
      TEST(a_large_shared_file_with_one_stripe_is_found),
      TEST(stripes_of_the_file_system_have_priority_over_hints),
      TEST(writers_of_the_same_stripe_are_found), TEST(commands_keep_the_parameters_of_the_run),
      TEST(no_fix_undoes_a_parameter_that_the_run_was_given),
      TEST(fixes_set_parameters_of_the_catalog), TEST(findings_say_if_they_are_lower_bounds),
      TEST(causal_chains_that_lack_files_are_mentioned),
      TEST(fixes_belong_to_the_layer_that_makes_the_requests),
      TEST(device_reads_show_misses_of_the_page_cache),
      TEST(a_run_is_compared_with_the_median_of_earlier_ones),
      TEST(more_ranks_than_processors_are_found), TEST(a_measured_gain_comes_from_the_parameter),
      TEST(facts_about_chunks_are_read), TEST(rules_are_complete))
