/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A retrainer trains a first model, keeps it while it is accurate, and trains it again on schedule.
 */
#include "predict/forecast/service/retrainer.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "forecast_sample.h"
#include "store/store.h"

static char folder[64], store_file[96], model_path[96];

struct seen {
	struct retrainer_check check;
	uint64_t generation;
	int checks, errors;
};

static void on_check(void *arg, const struct retrainer_check *check)
{
	struct seen *seen = arg;

	seen->check = *check;
	seen->generation = check->forecaster->generation;
	seen->checks++;
}

static void on_error(void *arg, const struct err *err)
{
	(void)err;
	((struct seen *)arg)->errors++;
}

static int run_once(double now_s, struct seen *seen)
{
	struct retrainer_options options = {
		.model_path = model_path,
		.query = { .store_path = store_file, .system = "little", .site = "" },
		.train_s = RETRAINER_TRAIN_S,
		.retrain_s = 86400,
		.drift_window = 2000,
		.every_ns = 1,
		.now_s = now_s,
		.is_once = true,
		.on_check = on_check,
		.on_error = on_error,
		.arg = seen
	};

	*seen = (struct seen){ 0 };
	forecaster_plan_init(&options.plan);
	REQUIRE(forecast_method_plan(&options.plan.pipeline, "logistic", NULL, NULL) == 0);
	return retrainer_run(&options);
}

static void save_days(double days)
{
	struct store *store = NULL;
	struct sample sample;

	sample_make(&sample, days, 1, 0);
	REQUIRE(store_open(&store, store_file, NULL) >= 0);
	REQUIRE(chronicle_save(&sample.chronicle, store, -INFINITY, INFINITY, NULL) >= 0);
	store_close(store);
	sample_release(&sample);
}

static void remove_files(void)
{
	static const char *const names[] = { "store.db",      "store.db-wal", "store.db-shm",
					     "store.db.lock", "model",	      "model.previous" };

	for (int i = 0; i < 6; i++) {
		AUTO_FREE char *path = xprintf("%s/%s", folder, names[i]);

		unlink(path);
	}
	CHECK_INT(rmdir(folder), 0);
}

static void model_is_trained_kept_and_trained_again(void)
{
	struct seen seen;

	snprintf(folder, sizeof(folder), "/tmp/sluice-retrainer.XXXXXX");
	REQUIRE(mkdtemp(folder));
	snprintf(store_file, sizeof(store_file), "%s/store.db", folder);
	snprintf(model_path, sizeof(model_path), "%s/model", folder);
	CHECK_INT(run_once(SAMPLE_START + 86400, &seen), -ENODATA);
	CHECK_INT(seen.errors, 1);
	CHECK_INT(seen.checks, 0);
	save_days(2.5);
	CHECK_INT(run_once(SAMPLE_START + 86400, &seen), 0);
	CHECK_INT(seen.check.reason, RETRAINING_MISSING);
	CHECK(seen.check.is_trained);
	CHECK_INT(seen.generation, 1);
	CHECK_INT(run_once(SAMPLE_START + 1.5 * 86400, &seen), 0);
	CHECK(!seen.check.is_trained);
	CHECK(seen.check.scored > 0);
	CHECK(seen.check.right > 0.6);
	CHECK_INT(run_once(SAMPLE_START + 2.1 * 86400, &seen), 0);
	CHECK_INT(seen.check.reason, RETRAINING_SCHEDULE);
	CHECK_INT(seen.generation, 2);
	remove_files();
}

TESTS(TEST(model_is_trained_kept_and_trained_again))
