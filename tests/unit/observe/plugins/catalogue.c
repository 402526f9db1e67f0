/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-14.
 */
#include "observe/plugins/catalogue.h"

#include "fake_plugin_host.h"
#include "store/catalog.h"
#include "store_sample.h"

static const struct sluice_process processes[] = {
	{ .index = 0, .rank = -1, .host = "n1", .program = "/bin/mpiexec", .command = "mpiexec a" },
	{ .index = 1, .rank = 0, .host = "n1", .program = "/bin/a", .command = "a -x" },
	{ .index = 2, .rank = 1, .host = "n1", .program = "/bin/a", .command = "a -x" },
};

static const char *const files[] = { "", "cb_nodes=2", "cb_nodes=4" };

static void run_whole(const struct sample *sample, struct fake_host *host)
{
	AUTO_FREE char *store = xprintf("store=%s", sample->path);
	const char *const options[] = { store, NULL };
	struct activity a = { 0 };
	void *state = NULL;

	fake_host_init(host, options, processes, 3);
	host->files = files;
	host->file_count = 3;
	REQUIRE(plugin_catalogue.async->start(&host->host, &state) == 0);
	for (uint32_t i = 0; i < 3; i++) {
		a.process = i;
		a.call = fake_host_call_number("pread64");
		a.layer = LAYER_POSIX;
		plugin_catalogue.async->batch(state, &a, 1);
		a.call = fake_host_call_number("MPI_File_write_at");
		a.layer = LAYER_MPI;
		plugin_catalogue.async->batch(state, &a, 1);
	}
	a.call = fake_host_call_number("MPI_File_open");
	a.process = 2;
	a.present = PRESENT(HINTS);
	for (int i = 0; i < 4; i++) {
		a.hints = 1 + i % 2;
		plugin_catalogue.async->batch(state, &a, 1);
	}
	plugin_catalogue.async->report(state);
	plugin_catalogue.async->stop(state);
}

static int thing_list(void *arg, int64_t id, int64_t of, const char *name, const char *of_name)
{
	(void)id, (void)of;
	buf_printf(arg, "[%s of %s]", name, of_name);
	return 0;
}

static int attribute_list(void *arg, int64_t id, const char *domain, const char *name,
			  const char *type)
{
	(void)id;
	buf_printf(arg, "[%s/%s %s]", domain, name, type);
	return 0;
}

static int fact_list(void *arg, const char *run, int32_t process, const char *key,
		     const char *value)
{
	(void)run;
	buf_printf(arg, "[%d %s=%s]", process, key, value);
	return 0;
}

static void a_run_is_registered_once(void)
{
	AUTO_BUF struct buf things = { 0 }, attributes = { 0 }, facts = { 0 }, nodes = { 0 };
	struct sample sample;
	struct fake_host host;
	struct store *store;
	char node[300], expected[310];

	sample_make(&sample);
	setenv("SLURM_JOB_ID", "4711", 1);
	for (int i = 0; i < 2; i++) {
		run_whole(&sample, &host);
		CHECK_TEXT(buf_text(&host.warned), "");
		CHECK_INT(fake_host_reported(&host, "registered", "calls"), 3);
		fake_host_release(&host);
	}
	store = sample_open(&sample);
	CHECK_INT(catalog_things(store, THING_LAYER, thing_list, &things, NULL), 0);
	CHECK_INT(catalog_things(store, THING_CALL, thing_list, &things, NULL), 0);
	/* In the order of the call table. */
	CHECK(strstr(buf_text(&things), "[pread64 of POSIX]"));
	CHECK(strstr(buf_text(&things), "[MPI_File_write_at of MPI]"));
	CHECK_INT(things.len, strlen("[POSIX of ][MPI of ][pread64 of POSIX]"
				     "[MPI_File_write_at of MPI]"
				     "[MPI_File_open of MPI]"));
	CHECK_INT(catalog_attributes(store, attribute_list, &attributes, NULL), 0);
	CHECK(strstr(buf_text(&attributes), "[POSIX/quantity/BytesToRead bytes]"));
	CHECK(strstr(buf_text(&attributes), "[POSIX/quantity/BytesRead bytes]"));
	CHECK(strstr(buf_text(&attributes), "[POSIX/file/position bytes]"));
	CHECK(strstr(buf_text(&attributes), "[MPI/quantity/BytesToWrite bytes]"));
	CHECK(!strstr(buf_text(&attributes), "POSIX/quantity/BytesToWrite"));
	CHECK_INT(catalog_facts(store, NULL, fact_list, &facts, NULL), 0);
	CHECK(strstr(buf_text(&facts), "[-1 job=4711]"));
	CHECK(strstr(buf_text(&facts), "[-1 user=somebody]"));
	CHECK(strstr(buf_text(&facts), "[-1 ranks=2]"));
	CHECK(strstr(buf_text(&facts), "[-1 program=/bin/mpiexec]"));
	CHECK(strstr(buf_text(&facts), "[2 rank=1]"));
	CHECK(!strstr(buf_text(&facts), "[0 rank="));
	CHECK(strstr(buf_text(&facts), "[2 hints=cb_nodes=2][2 hints/2=cb_nodes=4]"));
	CHECK(!strstr(buf_text(&facts), "hints/3"));
	REQUIRE(gethostname(node, sizeof(node)) == 0);
	snprintf(expected, sizeof(expected), "[%s of ]", node);
	CHECK_INT(catalog_things(store, THING_NODE, thing_list, &nodes, NULL), 0);
	CHECK_TEXT(buf_text(&nodes), expected);
	store_close(store);
	sample_remove(&sample);
}

static void an_unusable_store_causes_one_warning(void)
{
	struct sample sample = { .path = "/proc/nothing/store.db" };
	struct fake_host host;

	run_whole(&sample, &host);
	CHECK(strstr(buf_text(&host.warned), "/proc/nothing"));
	CHECK(strchr(buf_text(&host.warned), '\n')[1] == 0);
	CHECK_TEXT(buf_text(&host.said), "");
	fake_host_release(&host);
}

static int run_count(void *arg, const char *run, int32_t process, const char *key,
		     const char *value)
{
	(void)process, (void)key, (void)value;
	buf_printf(arg, "%s ", run);
	return 0;
}

static void facts_of_old_runs_are_deleted(void)
{
	AUTO_BUF struct buf runs = { 0 };
	struct sample sample;
	struct store *store;
	char run[16], started[16];

	sample_make(&sample);
	store = sample_open(&sample);
	for (int i = 0; i < 12; i++) {
		/* The numbers have different lengths, so comparing them as text would fail. */
		snprintf(run, sizeof(run), "r%d", i);
		snprintf(started, sizeof(started), "%d", 990 + i);
		CHECK_INT(catalog_fact_set(store, run, -1, "started", started, NULL), 0);
	}
	CHECK_INT(catalog_keep_runs(store, 3, NULL), 0);
	CHECK_INT(catalog_facts(store, NULL, run_count, &runs, NULL), 0);
	CHECK_TEXT(buf_text(&runs), "r10 r11 r9 ");
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(a_run_is_registered_once), TEST(an_unusable_store_causes_one_warning),
      TEST(facts_of_old_runs_are_deleted))
