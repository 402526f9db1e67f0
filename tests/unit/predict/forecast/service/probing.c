/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing as a daemon would call it: options are divided among ranks, rows reach the store, and
 * nothing is printed.
 */
#include "predict/forecast/service/probing.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "predict/forecast/site.h"
#include "store/store.h"

#define MS 1000000ll

static struct site site;
static const char *const places[] = { "a=/mnt/a", "b=/mnt/b", "c=/mnt/c" };
static struct err err;

static struct probing_options options_init(void)
{
	struct probing_options options = { .system = "test",
					   .site = &site,
					   .site_name = "test",
					   .targets = places,
					   .target_count = 3,
					   .ranks = 1,
					   .cpu = PROBING_LAST_CPU };

	site_init(&site);
	snprintf(site.reader, sizeof(site.reader), "none");
	prober_plan_init(&options.plan);
	return options;
}

static void ranks_divide_targets_and_limits(void)
{
	struct probing_options options = options_init();
	struct probing probing;

	options.rank = 1;
	options.ranks = 2;
	options.plan.budget_bytes = 1000;
	options.plan.target_bytes = 1000;
	REQUIRE(probing_init(&probing, &options, &err) == 0);
	CHECK_INT(probing.options.plan.first_target, 1);
	CHECK_INT(probing.options.plan.target_step, 2);
	CHECK_INT(probing.options.plan.budget_bytes, 500);
	CHECK_INT(probing.options.plan.target_bytes, 1000);
	probing_release(&probing);
}

static void all_to_all_gives_each_rank_its_own_series(void)
{
	struct probing_options options = options_init();
	struct probing probing;

	options.rank = 1;
	options.ranks = 2;
	options.is_all_to_all = true;
	options.plan.target_bytes = 1000;
	REQUIRE(probing_init(&probing, &options, &err) == 0);
	CHECK_INT(probing.options.plan.first_target, 0);
	CHECK_INT(probing.options.plan.target_step, 1);
	CHECK_INT(probing.options.plan.target_bytes, 500);
	CHECK_TEXT(probing.targets.rows[2].name, "c-r1");
	probing_release(&probing);
}

static void wrong_options_are_refused(void)
{
	static char *const none[] = { NULL };
	struct probing_options wrong[5];
	struct probing probing;

	for (int i = 0; i < 5; i++)
		wrong[i] = options_init();
	wrong[0].system = "";
	wrong[1].target_count = 0;
	wrong[2].ranks = 2000;
	wrong[2].plan.rate_bytes = 1000;
	wrong[3].command = none;
	wrong[4].plan.every_ns = 1;
	for (int i = 0; i < 5; i++) {
		CHECK_INT(probing_init(&probing, &wrong[i], &err), -EINVAL);
		probing_release(&probing);
	}
}

static void site_targets_are_the_default(void)
{
	struct probing_options options = options_init();
	struct probing probing;
	static const char text[] = "[targets]\nx = /mnt/x\ny = /mnt/y\n";

	REQUIRE(site_parse(&site, "s.ini", text, sizeof(text) - 1, &err) == 0);
	options.target_count = 0;
	REQUIRE(probing_init(&probing, &options, &err) == 0);
	CHECK_INT(probing.targets.count, 2);
	CHECK_TEXT(probing.targets.rows[1].name, "y");
	probing_release(&probing);
	site_release(&site);
}

static void count_warning(void *arg, const char *text)
{
	(void)text;
	++*(int *)arg;
}

/* Runs quick rounds on a directory; returns the directory's store. */
static struct probing run_quickly(const char *folder, char *const *command, int *warnings)
{
	static char target[96], store[96];
	static const char *targets[1] = { target };
	struct probing_options options = options_init();
	struct probing probing;
	int r;

	snprintf(target, sizeof(target), "a=%s", folder);
	snprintf(store, sizeof(store), "%s/store.db", folder);
	options.store_path = store;
	options.targets = targets;
	options.target_count = 1;
	options.plan.every_ns = 20 * MS;
	options.plan.reference_every_ns = 0;
	options.duration_ns = command ? 0 : 200 * MS;
	options.command = command;
	options.on_warning = count_warning;
	options.arg = warnings;
	REQUIRE(prober_plan_sizes(&options.plan, "64K", NULL) == 0);
	REQUIRE(probing_init(&probing, &options, &err) == 0);
	r = probing_run(&probing, &err);
	if (r < 0 && !command)
		printf("%s\n", err.text);
	CHECK(command || r == 0);
	return probing;
}

static void remove_store(const char *folder)
{
	static const char *const endings[] = { "", "-wal", "-shm", ".lock" };

	for (int i = 0; i < 4; i++) {
		AUTO_FREE char *path = xprintf("%s/store.db%s", folder, endings[i]);

		unlink(path);
	}
	CHECK_INT(rmdir(folder), 0);
}

static void rows_reach_the_store(void)
{
	char folder[] = "/tmp/sluice-probing.XXXXXX";
	struct chronicle rows = { 0 };
	struct store *store = NULL;
	struct probing probing;
	int warnings = 0;

	REQUIRE(mkdtemp(folder));
	probing = run_quickly(folder, NULL, &warnings);
	CHECK(probing.saved > 0);
	CHECK_INT(probing.lost, 0);
	CHECK(!probing_has_no_data(&probing));
	CHECK_INT(warnings, 0);
	REQUIRE(store_open_existing(&store, probing.options.store_path, &err) >= 0);
	REQUIRE(chronicle_load(&rows, store, "test", -INFINITY, INFINITY, &err) >= 0);
	CHECK_INT(chronicle_series(&rows, 0, 0)->count, probing.saved);
	chronicle_release(&rows);
	store_close(store);
	probing_release(&probing);
	remove_store(folder);
}

static void command_ends_the_probes_and_gives_the_exit_code(void)
{
	static char *const command[] = { "sh", "-c", "sleep 0.1; exit 7", NULL };
	char folder[] = "/tmp/sluice-probing.XXXXXX";
	struct probing probing;
	int warnings = 0;

	REQUIRE(mkdtemp(folder));
	probing = run_quickly(folder, command, &warnings);
	CHECK_INT(probing.command_exit, 7);
	probing_release(&probing);
	remove_store(folder);
}

static void command_that_does_not_exist_is_an_error(void)
{
	static char *const command[] = { "/nowhere/command", NULL };
	char folder[] = "/tmp/sluice-probing.XXXXXX";
	struct probing probing;
	int warnings = 0;

	REQUIRE(mkdtemp(folder));
	err = (struct err){ 0 };
	probing = run_quickly(folder, command, &warnings);
	CHECK_INT(err.code, ENOENT);
	CHECK_INT(probing.command_exit, 127);
	CHECK_INT(probing.prober.rounds, 0);
	probing_release(&probing);
	remove_store(folder);
}

TESTS(TEST(ranks_divide_targets_and_limits), TEST(all_to_all_gives_each_rank_its_own_series),
      TEST(wrong_options_are_refused), TEST(site_targets_are_the_default),
      TEST(rows_reach_the_store), TEST(command_ends_the_probes_and_gives_the_exit_code),
      TEST(command_that_does_not_exist_is_an_error))
