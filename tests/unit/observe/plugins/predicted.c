/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-ins predicted and model_hints, with a model that was fitted to synthetic benchmarks and
 * calibrated with simulated accesses.
 * Papers: SIOX-2.
 */
#include "observe/plugins/predicted.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "contract/record.h"
#include "fake_plugin_host.h"
#include "model_sample.h"
#include "predict/model/access.h"

enum { RANKS = 4, NO_FILE = 0, SET, PIECES, BACK, OTHER, FILES };
#define KIB INT64_C(1024)
#define MS INT64_C(1000000)

static const char *const files[] = { "", "romio_ds_write=disable",
				     "romio_cb_write=disable;romio_ds_write=disable",
				     "romio_cb_write=;romio_ds_write=", "cb_buffer_size=65536" };
static const char machine[] =
	"[machine]\nname = small\nromio = generic\n[nodes]\ncores = 4\n"
	"[storage]\nblock = 4K\n[defaults]\nnode_aggregators = 1\ncb_buffer_size = 1M\n";
static const struct sluice_process processes[RANKS] = {
	{ .index = 0, .rank = 0, .host = "n1" },
	{ .index = 1, .rank = 1, .host = "n1" },
	{ .index = 2, .rank = 2, .host = "n1" },
	{ .index = 3, .rank = 3, .host = "n1" },
};

static char path[32], option[64];
static const char *const options[] = { option, NULL };

/* Contiguous writes of 64 KiB by all ranks take as long as predicted, give or take 5 %. */
static const struct access usual = { .nodes = 1, .ranks = RANKS, .rank_bytes = 64 * KIB };
static double usual_seconds;

static void calibrate(struct hybrid *hybrid, const char *host)
{
	double seconds[TRANSFERS] = { 0 };
	struct prediction prediction;
	struct settings settings = { 0 };

	REQUIRE(hybrid_predict(hybrid, &usual, &settings, HYBRID_COVERAGE, &prediction, NULL) >= 0);
	usual_seconds = prediction.seconds;
	seconds[prediction.counts.transfer] = usual_seconds;
	model_calibrate(hybrid, &usual, seconds, 0.05, host);
	REQUIRE(hybrid_save(hybrid, path, NULL) >= 0);
}

/* Makes the model file; host: where it was calibrated, "": nowhere, NULL: here. */
static void model_make(const char *host)
{
	struct hybrid hybrid = { 0 };

	model_save(&hybrid, machine, 1, path);
	if (!host || *host)
		calibrate(&hybrid, host);
	hybrid_release(&hybrid);
	snprintf(option, sizeof(option), "model=%s", path);
}

struct run {
	const struct sluice_plugin *plugin;
	struct fake_host host;
	void *state;
	uint64_t seq, collective, opens[RANKS];
	int64_t now_ns;
};

static uint64_t feed(struct run *run, struct activity a, const char *call)
{
	a.layer = LAYER_MPI;
	a.call = fake_host_call_number(call);
	a.id = id_make(1, ++run->seq);
	run->plugin->async->batch(run->state, &a, 1);
	return a.id;
}

static void run_init(struct run *run, const struct sluice_plugin *plugin)
{
	*run = (struct run){ .plugin = plugin, .collective = 1000 };
	fake_host_init(&run->host, options, processes, RANKS);
	run->host.files = files;
	run->host.file_count = FILES;
}

/* Starts the plug-in, and opens a file on all ranks. */
static void run_open(struct run *run, file_id hints)
{
	REQUIRE(run->plugin->async->start(&run->host.host, &run->state) >= 0);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		run->opens[rank] =
			feed(run,
			     (struct activity){ .process = rank,
						.collective = 77,
						.hints = hints,
						.present = PRESENT(COLLECTIVE) | PRESENT(HINTS) },
			     "MPI_File_open");
}

static void plugin_start(struct run *run, const struct sluice_plugin *plugin, file_id hints)
{
	run_init(run, plugin);
	run_open(run, hints);
}

static void run_start(struct run *run, file_id hints)
{
	plugin_start(run, &plugin_predicted, hints);
}

/* All ranks change hints of the open file. */
static void set_hints(struct run *run, file_id hints)
{
	for (uint32_t rank = 0; rank < RANKS; rank++)
		feed(run,
		     (struct activity){ .process = rank,
					.link = run->opens[rank],
					.hints = hints,
					.present = PRESENT(LINK) | PRESENT(HINTS) },
		     "MPI_File_set_info");
}

/* A write of all ranks, each with this many bytes, that ends after so long. If they are more than
 * the step from one rank to the next, they are interleaved. */
static void write_together(struct run *run, int64_t bytes, int64_t step, double seconds)
{
	int64_t duration = (int64_t)(seconds * 1e9), span = bytes;

	if (step && step < bytes)
		span = (bytes / step - 1) * RANKS * step + step;
	run->collective++;
	for (uint32_t rank = 0; rank < RANKS; rank++)
		feed(run,
		     (struct activity){ .process = rank,
					.link = run->opens[rank],
					.collective = run->collective,
					.start_ns = run->now_ns + rank,
					.duration_ns = rank ? duration / 2 : duration,
					.offset = 4096 + rank * step,
					.size = bytes,
					.span = span,
					.present = PRESENT(COLLECTIVE) | PRESENT(LINK) |
						   PRESENT(SIZE) | PRESENT(OFFSET) |
						   PRESENT(SPAN) },
		     "MPI_File_write_at_all");
	run->now_ns += 10 * duration;
}

static void check_said(const struct run *run, const char *text)
{
	if (!strstr(buf_text(&run->host.said), text))
		CHECK_TEXT(buf_text(&run->host.said), text);
}

static void run_end(struct run *run)
{
	run->plugin->async->report(run->state);
	run->plugin->async->stop(run->state);
	CHECK_TEXT(buf_text(&run->host.warned), "");
}

static void accesses_beyond_the_interval_are_slow(void)
{
	struct sluice_health health = { 0 };
	struct run run;

	model_make(NULL);
	run_start(&run, NO_FILE);
	for (int i = 0; i < 20; i++)
		write_together(&run, 64 * KIB, 64 * KIB, usual_seconds);
	write_together(&run, 64 * KIB, 64 * KIB, 1.5 * usual_seconds);
	for (int i = 0; i < 3; i++)
		write_together(&run, 64 * KIB, 64 * KIB, 5 * usual_seconds);
	write_together(&run, 64 * KIB, 64 * KIB, 0.5 * usual_seconds);
	/* Other ranks may be late. */
	plugin_predicted.async->tick(run.state, 0);
	CHECK(!plugin_predicted.async->health(run.state, 1, &health));
	plugin_predicted.async->tick(run.state, run.now_ns + 2000 * MS);
	CHECK(plugin_predicted.async->health(run.state, 1, &health));
	CHECK_INT(health.counts[SLUICE_NORMAL], 20);
	CHECK_INT(health.counts[SLUICE_SLOW], 1);
	CHECK_INT(health.counts[SLUICE_VERY_SLOW], 3);
	CHECK_INT(health.counts[SLUICE_FAST], 1);
	CHECK(fabs((double)health.excess_ns / (3 * 4e9 * usual_seconds) - 1) < 0.2);
	CHECK(!plugin_predicted.async->health(run.state, 1, &health));
	run_end(&run);
	CHECK_INT(fake_host_reported(&run.host, "accesses", "compared"), 25);
	check_said(&run, "|model|state|calibrated on 20");
	check_said(&run, "with 40 measurements: 90 % prediction interval");
	check_said(&run, "slower than the model predicts|contiguous write, 4 ranks, 64.0 KiB each|"
			 "4 of 25 accesses took more than ");
	fake_host_release(&run.host);
	unlink(path);
}

static void other_accesses_are_not_compared(void)
{
	struct sluice_health health = { 0 };
	struct run run;

	model_make(NULL);
	run_start(&run, NO_FILE);
	/* Larger than what was measured. */
	write_together(&run, 128 * KIB, 128 * KIB, 100);
	/* With holes, or overlapping. */
	write_together(&run, 64 * KIB, 100 * KIB, 100);
	write_together(&run, 64 * KIB, 0, 100);
	/* Not all ranks are seen. */
	run.collective++;
	feed(&run,
	     (struct activity){ .link = run.opens[0],
				.collective = run.collective,
				.duration_ns = 1,
				.size = 64 * KIB,
				.span = 64 * KIB,
				.present = PRESENT(COLLECTIVE) | PRESENT(LINK) | PRESENT(SIZE) |
					   PRESENT(OFFSET) | PRESENT(SPAN) },
	     "MPI_File_write_at_all");
	/* After the hints have changed. */
	set_hints(&run, SET);
	write_together(&run, 64 * KIB, 64 * KIB, 100);
	plugin_predicted.async->tick(run.state, INT64_MAX);
	CHECK(!plugin_predicted.async->health(run.state, 0, &health));
	run_end(&run);
	CHECK_INT(fake_host_reported(&run.host, "accesses", "compared"), 0);
	fake_host_release(&run.host);
	unlink(path);
}

/* Nothing is claimed without a calibrated model of this host, and the report says why. */
static void check_unused(const char *why)
{
	struct sluice_health health = { 0 };
	struct run run;

	run_start(&run, NO_FILE);
	write_together(&run, 64 * KIB, 64 * KIB, 100);
	plugin_predicted.async->tick(run.state, INT64_MAX);
	CHECK(!plugin_predicted.async->health(run.state, 0, &health));
	run_end(&run);
	check_said(&run, why);
	CHECK(!strstr(buf_text(&run.host.said), "accesses"));
	fake_host_release(&run.host);
}

static void a_model_that_is_not_calibrated_here_is_not_used(void)
{
	model_make("");
	check_unused("is not calibrated, so nothing was compared");
	unlink(path);
	check_unused("there is no fitted model at /tmp/");
	model_make("elsewhere");
	check_unused("was calibrated on elsewhere, not on this host");
	unlink(path);
}

/* A model by which interleaved writes are five times as fast without collective buffering. */
static void gainful_model_make(void)
{
	const struct access access = { .pattern = ACCESS_STRIDED,
				       .nodes = 1,
				       .ranks = RANKS,
				       .rank_bytes = 256 * KIB,
				       .block_bytes = 64 * KIB,
				       .stride_bytes = 64 * KIB };
	const double seconds[TRANSFERS] = {
		[TRANSFER_COLLECTIVE] = 0.05, [TRANSFER_SIEVED] = 0.4, [TRANSFER_PIECES] = 0.01
	};
	struct hybrid hybrid = { 0 };

	model_save(&hybrid, machine, 1, path);
	model_calibrate(&hybrid, &access, seconds, 0.05, NULL);
	REQUIRE(hybrid_save(&hybrid, path, NULL) >= 0);
	hybrid_release(&hybrid);
	snprintf(option, sizeof(option), "model=%s", path);
}

/* So many writes, of which each takes a little longer than the one before. */
static void write_often(struct run *run, int count, double seconds)
{
	for (int i = 0; i < count; i++)
		write_together(run, 256 * KIB, 64 * KIB, seconds * (1 + 0.01 * i));
	plugin_predicted.async->tick(run->state, run->now_ns + 2000 * MS);
}

static void check_acted(const struct run *run, const char *text)
{
	if (!strstr(buf_text(&run->host.acted), text))
		CHECK_TEXT(buf_text(&run->host.acted), text);
}

static void hints_are_suggested_after_eight_accesses(void)
{
	struct run run;

	gainful_model_make();
	plugin_start(&run, &plugin_model_hints, NO_FILE);
	write_often(&run, 7, 0.05);
	CHECK_TEXT(buf_text(&run.host.acted), "");
	write_often(&run, 1, 0.05);
	CHECK_TEXT(buf_text(&run.host.acted), "suggest write of 4 ranks, 262144 of 851968 bytes: "
					      "romio_cb_write=disable;romio_ds_write=disable; "
					      "opened with \n");
	/* Further accesses before the change are measured, too. */
	write_often(&run, 8, 0.06);
	set_hints(&run, PIECES);
	write_often(&run, 8, 0.02);
	run_end(&run);
	CHECK(!strstr(buf_text(&run.host.acted), "withdraw"));
	check_acted(&run,
		    "applied strided write, 4 ranks, 256 KiB each with romio_cb_write=disable;"
		    "romio_ds_write=disable: median 62.1 ms before, 20.7 ms after\n");
	check_said(&run, "|suggested hints|strided write, 4 ranks, 256 KiB each|"
			 "romio_cb_write=disable;romio_ds_write=disable: predicted speedup ");
	CHECK_INT(fake_host_reported(&run.host, "accesses", "compared"), 16);
	fake_host_release(&run.host);
	unlink(path);
}

static void hints_are_withdrawn_if_accesses_are_not_faster(void)
{
	struct run run;

	gainful_model_make();
	plugin_start(&run, &plugin_model_hints, NO_FILE);
	write_often(&run, 8, 0.05);
	set_hints(&run, PIECES);
	write_often(&run, 7, 0.052);
	CHECK(!strstr(buf_text(&run.host.acted), "withdraw"));
	write_often(&run, 1, 0.052);
	check_acted(&run, "withdraw 0\n");
	set_hints(&run, BACK);
	/* They are compared again, and nothing is suggested again. */
	write_often(&run, 20, 0.05);
	run_end(&run);
	CHECK_INT(run.host.suggestions, 1);
	CHECK_INT(fake_host_reported(&run.host, "accesses", "compared"), 28);
	check_acted(&run, "therefore withdrawn");
	fake_host_release(&run.host);
	unlink(path);
}

static void accesses_with_other_hints_do_not_count(void)
{
	struct run run;

	gainful_model_make();
	plugin_start(&run, &plugin_model_hints, NO_FILE);
	write_often(&run, 8, 0.05);
	set_hints(&run, OTHER);
	write_often(&run, 10, 0.2);
	run_end(&run);
	CHECK(!strstr(buf_text(&run.host.acted), "withdraw"));
	CHECK(!strstr(buf_text(&run.host.acted), "applied"));
	CHECK_INT(fake_host_reported(&run.host, "accesses", "of other forms"), 10);
	fake_host_release(&run.host);
	unlink(path);
}

static void only_model_hints_acts(void)
{
	struct run run;

	gainful_model_make();
	plugin_start(&run, &plugin_predicted, NO_FILE);
	write_often(&run, 20, 0.05);
	run_end(&run);
	CHECK_TEXT(buf_text(&run.host.acted), "");
	fake_host_release(&run.host);
	/* Nor does it in a host that does not permit it. */
	run_init(&run, &plugin_model_hints);
	run.host.host.suggest = NULL;
	run_open(&run, NO_FILE);
	write_often(&run, 20, 0.05);
	run_end(&run);
	CHECK_TEXT(buf_text(&run.host.acted), "");
	fake_host_release(&run.host);
	unlink(path);
}

static void a_damaged_model_and_invalid_options_are_named(void)
{
	static const char *const wrong[] = { "factor=0.5", NULL };
	struct fake_host host;
	void *state;
	FILE *f;

	strcpy(path, "/tmp/sluice-model-XXXXXX");
	f = fdopen(mkstemp(path), "w");
	REQUIRE(f && fputs("no model\n", f) >= 0 && fclose(f) == 0);
	snprintf(option, sizeof(option), "model=%s", path);
	fake_host_init(&host, options, processes, RANKS);
	REQUIRE(plugin_predicted.async->start(&host.host, &state) >= 0);
	CHECK(strstr(buf_text(&host.warned), path));
	plugin_predicted.async->stop(state);
	fake_host_release(&host);
	unlink(path);
	fake_host_init(&host, wrong, processes, RANKS);
	CHECK(plugin_predicted.async->start(&host.host, &state) < 0);
	CHECK(strstr(buf_text(&host.warned), "plugin.predicted.factor: invalid value \"0.5\""));
	fake_host_release(&host);
}

TESTS(TEST(accesses_beyond_the_interval_are_slow), TEST(other_accesses_are_not_compared),
      TEST(a_model_that_is_not_calibrated_here_is_not_used),
      TEST(hints_are_suggested_after_eight_accesses),
      TEST(hints_are_withdrawn_if_accesses_are_not_faster),
      TEST(accesses_with_other_hints_do_not_count), TEST(only_model_hints_acts),
      TEST(a_damaged_model_and_invalid_options_are_named))
