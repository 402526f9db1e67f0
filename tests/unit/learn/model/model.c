/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models of every method, from a table to a file and back.
 */
#include "learn/model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"
#include "learn/table/folds.h"

enum { ROWS = 120 };

/* A synthetic table: bw depends on nodes, size and kind; slow is a class that depends on them. */
static void table_init(struct dataset *dataset, size_t rows, uint64_t seed, const char *header)
{
	static const char *const kinds[] = { "read", "write" };
	AUTO_BUF struct buf text = { 0 };
	struct random random;
	struct err err = { 0 };

	random_init(&random, seed);
	buf_printf(&text, "%s\n", header);
	for (size_t i = 0; i < rows; i++) {
		size_t nodes = (size_t)1 << random_below(&random, 4);
		double size = 1 + 9 * random_real(&random);
		size_t kind = random_below(&random, 2);
		double bw = 10 * (double)nodes + 3 * size + 20 * (double)kind +
			    2 * random_normal(&random) + 20;

		buf_printf(&text, "%zu,%.6f,%s,%.6f,%s,%d,%zu\n", nodes, size, kinds[kind], bw,
			   bw < 80 ? "slow" : "fast", bw < 80 ? 1 : 2, i * 60);
	}
	if (csv_parse(dataset, "table", buf_text(&text), text.len, &err) < 0) {
		printf("%s\n", err.text);
		exit(1);
	}
}

#define HEADER "nodes,size,kind,bw,state,grade,t"

static struct model_plan plan_of(const char *name, bool classify)
{
	struct model_plan plan = { .target = classify ? "state" : "bw",
				   .features = "nodes,size,kind",
				   .classify = classify,
				   .folds = 5,
				   .effort = { .seed = 1, .threads = 2 } };
	const struct learner_ops *learner = learner_find(name, 0, NULL);

	REQUIRE(learner);
	pipeline_plan_init(&plan.pipeline, learner);
	return plan;
}

static void require_fit(struct model *model, const struct dataset *dataset,
			const struct model_plan *plan)
{
	struct err err = { 0 };

	if (model_fit(model, dataset, plan, &err) < 0) {
		printf("%s: %s\n", plan->pipeline.learner->name, err.text);
		exit(1);
	}
}

static void rows_without_target_are_left_out(void)
{
	static const char text[] = "t,a,kind,y\n1,5,x,1\n2,6,y,\n3,,y,3\n4,8,z,4\n";
	struct model_plan plan = { .target = "y", .time = "t" };
	AUTO_DATASET struct dataset dataset = { 0 };
	struct model_rows rows = { 0 };

	REQUIRE(csv_parse(&dataset, "x", text, strlen(text), NULL) >= 0);
	REQUIRE(model_rows_init(&rows, &dataset, &plan, NULL) >= 0);
	CHECK_INT(rows.rows, 3);
	CHECK_INT(rows.left_out, 1);
	/* a and three kinds (y stays as a feature); neither target nor time. */
	CHECK_INT(rows.schema.count, 2);
	CHECK_INT(rows.schema.width, 4);
	CHECK(rows.x[0] == 5);
	CHECK(rows.x[8] == 8);
	/* The pipeline fills them inside each fold. */
	CHECK(isnan(rows.x[4]));
	CHECK(rows.missing == 1);
	CHECK(rows.y[1] == 3);
	CHECK(rows.time[1] == 3);
	CHECK(rows.from[1] == 2);
	CHECK(!rows.classes);
	model_rows_release(&rows);
	plan.features = "t,a";
	REQUIRE(model_rows_init(&rows, &dataset, &plan, NULL) >= 0);
	CHECK_INT(rows.schema.count, 2);
	CHECK_TEXT(rows.schema.features[0].name, "t");
	model_rows_release(&rows);
}

static void classes_are_named_as_in_the_table(void)
{
	static const char text[] = "a,y,z\n1,10,b\n2,2,a\n3,10,c\n4,2,b\n5,0.5,a\n";
	struct model_plan plan = { .target = "y", .features = "a", .classify = true };
	AUTO_DATASET struct dataset dataset = { 0 };
	struct model_rows rows = { 0 };

	REQUIRE(csv_parse(&dataset, "x", text, strlen(text), NULL) >= 0);
	REQUIRE(model_rows_init(&rows, &dataset, &plan, NULL) >= 0);
	CHECK_INT(rows.class_count, 3);
	CHECK_TEXT(rows.classes[0], "0.5");
	CHECK_TEXT(rows.classes[1], "2");
	CHECK_TEXT(rows.classes[2], "10");
	CHECK(rows.y[0] == 2);
	CHECK(rows.y[1] == 1);
	CHECK(rows.y[4] == 0);
	model_rows_release(&rows);
	plan.target = "z";
	REQUIRE(model_rows_init(&rows, &dataset, &plan, NULL) >= 0);
	CHECK_TEXT(rows.classes[2], "c");
	CHECK(rows.y[0] == 1);
	model_rows_release(&rows);
}

static void check_refused(const char *text, const struct model_plan *plan, const char *words)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct model_rows rows = { 0 };
	struct folds folds = { 0 };
	struct err err = { 0 };
	int r;

	REQUIRE(csv_parse(&dataset, "x", text, strlen(text), NULL) >= 0);
	r = model_rows_init(&rows, &dataset, plan, &err);
	if (r >= 0)
		r = model_rows_split(&rows, &dataset, plan, &folds, &err);
	CHECK(r < 0);
	CHECK_WORDS(err.text, words);
	model_rows_release(&rows);
	folds_release(&folds);
}

static void invalid_plan_is_rejected(void)
{
	static const char text[] = "a,y,z,g\n1,10,b,1\n2,2,a,1\n3,10,c,2\n4,2,b,2\n";

	check_refused(text, &(struct model_plan){ .target = "nope", .folds = 2 }, "nope");
	check_refused(text, &(struct model_plan){ .folds = 2 }, "missing target");
	check_refused(text, &(struct model_plan){ .target = "z", .folds = 2 }, "z|\"a\"");
	check_refused(text, &(struct model_plan){ .target = "y", .features = "y", .folds = 2 },
		      "feature");
	check_refused(text, &(struct model_plan){ .target = "y", .split = "odd", .folds = 2 },
		      "split|\"odd\"");
	check_refused(text, &(struct model_plan){ .target = "y", .split = "grouped", .folds = 2 },
		      "group");
	check_refused(text, &(struct model_plan){ .target = "y", .split = "given", .folds = 2 },
		      "fold");
	check_refused(text,
		      &(struct model_plan){ .target = "y", .split = "stratified", .folds = 2 },
		      "class");
	check_refused(
		text,
		&(struct model_plan){ .target = "y", .split = "blocked", .by = "a,g", .folds = 2 },
		"one column");
	check_refused("a,y\n1,5\n2,5\n",
		      &(struct model_plan){ .target = "y", .classify = true, .folds = 2 },
		      "same value");
	check_refused("a,y\n1,\n2,\n", &(struct model_plan){ .target = "y", .folds = 2 }, "row|y");
}

static void split_suits_the_plan(void)
{
	struct model_plan plan = { .target = "bw", .folds = 4 };
	AUTO_DATASET struct dataset dataset = { 0 };
	static const struct {
		const char *time, *by, *split;
		bool classify;
		enum folds_kind kind;
	} cases[] = {
		{ NULL, NULL, NULL, false, FOLDS_PLAIN },
		{ NULL, NULL, NULL, true, FOLDS_STRATIFIED },
		{ "t", NULL, NULL, false, FOLDS_FORWARD },
		{ NULL, "nodes,kind", NULL, false, FOLDS_GROUPED },
		{ "t", NULL, "blocked", false, FOLDS_BLOCKED },
		{ NULL, NULL, "blocked", false, FOLDS_BLOCKED },
		{ NULL, "kind", "given", false, FOLDS_GIVEN },
		{ NULL, "kind", "stratified", false, FOLDS_STRATIFIED },
	};

	table_init(&dataset, ROWS, 1, HEADER);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model_rows rows = { 0 };
		struct folds folds = { 0 };

		plan.time = cases[i].time;
		plan.by = cases[i].by;
		plan.split = cases[i].split;
		plan.classify = cases[i].classify;
		plan.target = cases[i].classify ? "state" : "bw";
		REQUIRE(model_rows_init(&rows, &dataset, &plan, NULL) >= 0);
		REQUIRE(model_rows_split(&rows, &dataset, &plan, &folds, NULL) >= 0);
		CHECK_INT(folds.kind, cases[i].kind);
		CHECK_INT(folds.count, cases[i].kind == FOLDS_GIVEN ? 2 : 4);
		for (size_t a = 0; cases[i].kind == FOLDS_GROUPED && a < ROWS; a++) {
			for (size_t b = 0; b < a; b++) {
				const double *x = dataset_row(&dataset, a);
				const double *y = dataset_row(&dataset, b);

				if (x[0] == y[0] && x[2] == y[2])
					CHECK(folds.of[a] == folds.of[b]);
			}
		}
		folds_release(&folds);
		model_rows_release(&rows);
	}
}

static char *scratch(const char *name)
{
	const char *dir = getenv("TMPDIR");

	return xprintf("%s/sluice-model-%d-%s", dir ? dir : "/tmp", (int)getpid(), name);
}

static void predictions_make(const struct model *model, const struct dataset *dataset, double *out)
{
	struct err err = { 0 };

	if (model_predict(model, dataset, out, NULL, NULL, &err) < 0) {
		printf("%s\n", err.text);
		exit(1);
	}
}

static void file_round_trip(const struct learner_ops *learner, bool classify)
{
	AUTO_DATASET struct dataset dataset = { 0 }, other = { 0 };
	struct model_plan plan = plan_of(learner->name, classify);
	AUTO_FREE char *path = scratch(learner->name);
	struct model model = { 0 }, loaded = { 0 };
	double before[60], after[60], lows[2], highs[2], row[4] = { 2, 5, 1, 0 };
	struct err err = { 0 };

	plan.pipeline.log_target = !classify;
	plan.calibration = classify ? CALIBRATION_PLATT : CALIBRATION_NONE;
	plan.time = "t";
	plan.split = classify ? "stratified" : "plain";
	table_init(&dataset, ROWS, 2, HEADER);
	table_init(&other, 30, 3, HEADER);
	require_fit(&model, &dataset, &plan);
	REQUIRE(model_save(&model, path, &err) >= 0);
	CHECK(model_probe(path));
	if (model_load(&loaded, path, &err) < 0) {
		CHECK_TEXT(err.text, "");
		return;
	}
	predictions_make(&model, &other, before);
	predictions_make(&loaded, &other, after);
	CHECK(memcmp(before, after, 30 * (classify ? 2 : 1) * sizeof(double)) == 0);
	CHECK_INT(model_interval(&model, row, 50, 0.9, &lows[0], &highs[0]), !classify);
	CHECK_INT(model_interval(&loaded, row, 50, 0.9, &lows[1], &highs[1]), !classify);
	CHECK(classify || (lows[0] == lows[1] && highs[0] == highs[1] && lows[0] < 50));
	CHECK_TEXT(loaded.origin.target, classify ? "state" : "bw");
	CHECK_TEXT(loaded.origin.time, "t");
	CHECK_TEXT(loaded.origin.version, SLUICE_VERSION);
	CHECK(loaded.origin.from == 0);
	CHECK(loaded.origin.to == 60 * (ROWS - 1));
	CHECK_INT(loaded.origin.rows, ROWS);
	CHECK_INT(loaded.origin.seed, 1);
	CHECK(loaded.origin.score == model.origin.score);
	CHECK(loaded.origin.score > 0.7);
	CHECK(loaded.origin.second == model.origin.second);
	CHECK_INT(loaded.calibration.kind, plan.calibration);
	unlink(path);
	model_release(&model);
	model_release(&loaded);
}

static void every_method_survives_its_file(void)
{
	for (size_t i = 0; learners[i]; i++) {
		if (learners[i]->tasks & LEARNER_REGRESSES)
			file_round_trip(learners[i], false);
		if (learners[i]->tasks & LEARNER_CLASSIFIES)
			file_round_trip(learners[i], true);
	}
}

static void bytes_take(struct buf *buf, const char *path)
{
	AUTO_FCLOSE FILE *in = fopen(path, "re");
	char block[4096];
	size_t n;

	REQUIRE(in);
	while ((n = fread(block, 1, sizeof(block), in)) > 0)
		buf_add(buf, block, n);
}

static void model_bytes(struct buf *buf, const char *learner, bool classify)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct model_plan plan = plan_of(learner, classify);
	AUTO_FREE char *path = scratch("bytes");
	struct model model = { 0 };

	table_init(&dataset, 60, 4, HEADER);
	require_fit(&model, &dataset, &plan);
	REQUIRE(model_save(&model, path, NULL) >= 0);
	bytes_take(buf, path);
	unlink(path);
	model_release(&model);
}

static void damaged_file_is_rejected_by_its_checksum(void)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct model model = { 0 };
	struct err err = { 0 };
	size_t line;

	model_bytes(&bytes, "linear", false);
	line = strcspn(bytes.data, "\n");
	for (size_t n = 0; n < bytes.len; n++)
		CHECK(model_parse(&model, "m", bytes.data, n, &err) < 0);
	CHECK_WORDS(err.text, "m|damaged");
	CHECK_WORDS(err.text, "again");
	for (size_t i = line; i < bytes.len; i++) {
		bytes.data[i] ^= 1;
		CHECK(model_parse(&model, "m", bytes.data, bytes.len, &err) == -EBADMSG);
		bytes.data[i] ^= 1;
	}
	CHECK(model_parse(&model, "m", bytes.data, bytes.len, &err) == 0);
	model_release(&model);
}

/* A model that the loader accepts can be used, however odd it is. */
static void try_bytes(struct buf *bytes)
{
	AUTO_BUF struct buf sum = { 0 };
	double row[64] = { 1, 2 }, out[LEARNER_CLASSES_MAX], low, high;
	struct model model = { 0 };

	blob_put_u64(&sum, XXH64(bytes->data, bytes->len - 8, 0));
	memcpy(bytes->data + bytes->len - 8, sum.data, 8);
	if (model_parse(&model, "m", bytes->data, bytes->len, NULL) < 0)
		return;
	if (model.schema.width <= 64) {
		model_predict_row(&model, row, out);
		if (!model.classes)
			model_interval(&model, row, out[0], 0.9, &low, &high);
	}
	model_release(&model);
}

static void flipped_bits_with_a_valid_checksum_do_no_harm(void)
{
	struct random random;

	random_init(&random, 5);
	for (size_t i = 0; learners[i]; i++) {
		AUTO_BUF struct buf bytes = { 0 };

		model_bytes(&bytes, learners[i]->name, !(learners[i]->tasks & LEARNER_REGRESSES));
		for (int round = 0; round < 300; round++) {
			size_t at = random_below(&random, bytes.len - 8);
			char kept = bytes.data[at];

			bytes.data[at] = (char)random_u64(&random);
			try_bytes(&bytes);
			bytes.data[at] = kept;
		}
	}
}

static void foreign_and_later_files_are_distinguished(void)
{
	static const char foreign[] = "nodes,bw\n1,2\n";
	static const char later[] = "{\"schema\": \"sluice.model/77\", \"x\": 1}\nwhatever";
	struct model model = { 0 };
	struct err err = { 0 };

	CHECK_INT(model_parse(&model, "a.csv", foreign, strlen(foreign), &err), -EBADMSG);
	CHECK_WORDS(err.text, "a.csv|not a model");
	CHECK_INT(model_parse(&model, "m", later, strlen(later), &err), -EPROTONOSUPPORT);
	CHECK_WORDS(err.text, "later|77");
	CHECK_INT(model_parse(&model, "m", "", 0, &err), -EBADMSG);
	CHECK_INT(model_load(&model, "/nonexistent/m", &err), -ENOENT);
	CHECK(!model_probe("/nonexistent/m"));
}

static void file_appears_complete_or_not_at_all(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct model_plan plan = plan_of("linear", false);
	struct model model = { 0 };
	struct err err = { 0 };

	table_init(&dataset, ROWS, 2, HEADER);
	require_fit(&model, &dataset, &plan);
	CHECK_INT(model_save(&model, "/nonexistent/m", &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/m: "));
	CHECK(model_save(&model, "/dev/full/m", &err) < 0);
	model_release(&model);
}

static void columns_are_found_by_name(void)
{
	static const char same[] = "nodes,size,kind\n4,5,write\n", other[] = "kind,x,size,nodes\n"
									     "write,9,5,4\n";
	AUTO_DATASET struct dataset dataset = { 0 }, a = { 0 }, b = { 0 }, c = { 0 };
	static const char strange[] = "nodes,size,kind\n4,,append\n", lacking[] = "nodes\n4\n";
	struct model_plan plan = plan_of("linear", false);
	size_t unseen = 0, missing = 0;
	struct model model = { 0 };
	struct err err = { 0 };
	double x, y;

	table_init(&dataset, ROWS, 2, HEADER);
	require_fit(&model, &dataset, &plan);
	REQUIRE(csv_parse(&a, "a", same, strlen(same), NULL) >= 0);
	REQUIRE(csv_parse(&b, "b", other, strlen(other), NULL) >= 0);
	REQUIRE(csv_parse(&c, "c", strange, strlen(strange), NULL) >= 0);
	predictions_make(&model, &a, &x);
	predictions_make(&model, &b, &y);
	CHECK(x == y);
	CHECK(fabs(x - 95) < 4);
	CHECK_INT(model_predict(&model, &c, &y, &unseen, &missing, &err), 0);
	CHECK_INT(unseen, 1);
	CHECK_INT(missing, 1);
	dataset_release(&c);
	REQUIRE(csv_parse(&c, "c", lacking, strlen(lacking), NULL) >= 0);
	CHECK(model_predict(&model, &c, &y, NULL, NULL, &err) < 0);
	CHECK(strstr(err.text, "size"));
	model_release(&model);
}

/*
 * With 2000 new rows three deviations of the share are 2 percent, and calibration rows vary, too.
 */
static void check_coverage(const char *name, bool logarithm)
{
	AUTO_DATASET struct dataset dataset = { 0 }, fresh = { 0 };
	struct model_plan plan = plan_of(name, false);
	AUTO_FREE double *inputs = NULL, *truth = NULL;
	double guess, low, high;
	struct model model = { 0 };
	size_t covered = 0;

	plan.pipeline.log_target = logarithm;
	table_init(&dataset, 300, 8, HEADER);
	table_init(&fresh, 2000, 9, HEADER);
	require_fit(&model, &dataset, &plan);
	inputs = xmalloc(2000 * model.schema.width * sizeof(*inputs));
	truth = xmalloc(2000 * sizeof(*truth));
	REQUIRE(schema_inputs(&model.schema, &fresh, true, inputs, NULL, NULL, NULL) >= 0);
	REQUIRE(model_truth(&model, &fresh, truth, NULL) >= 0);
	for (size_t i = 0; i < 2000; i++) {
		const double *row = inputs + i * model.schema.width;

		model_predict_row(&model, row, &guess);
		REQUIRE(model_interval(&model, row, guess, 0.9, &low, &high));
		covered += low <= truth[i] && truth[i] <= high;
	}
	CHECK(covered > 2000 * 0.85);
	CHECK(covered < 2000 * 0.96);
	/* 300 rows are too few for this. */
	CHECK(!model_interval(&model, inputs, 50, 0.9999, &low, &high));
	model_release(&model);
}

static void intervals_cover_what_they_promise(void)
{
	check_coverage("linear", false);
	check_coverage("tree", true);
	check_coverage("gaussian", false);
}

static void truth_of_another_table_is_read_by_class_name(void)
{
	static const char good[] = "state\nfast\nslow\n\nfast\n", bad[] = "state\nfast\nodd\n";
	AUTO_DATASET struct dataset dataset = { 0 }, other = { 0 };
	struct model_plan plan = plan_of("bayes", true);
	struct model model = { 0 };
	struct err err = { 0 };
	double truth[4];

	table_init(&dataset, ROWS, 2, HEADER);
	require_fit(&model, &dataset, &plan);
	REQUIRE(csv_parse(&other, "o", good, strlen(good), NULL) >= 0);
	CHECK_INT(model_truth(&model, &other, truth, &err), 0);
	CHECK(truth[0] == 0);
	CHECK(truth[1] == 1);
	dataset_release(&other);
	REQUIRE(csv_parse(&other, "o", bad, strlen(bad), NULL) >= 0);
	CHECK_INT(model_truth(&model, &other, truth, &err), -EINVAL);
	CHECK(strstr(err.text, "\"odd\""));
	model_release(&model);
}

static void calibration_needs_two_classes_and_folds(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct model_plan plan = plan_of("bayes", true);
	struct model model = { 0 };
	struct err err = { 0 };
	double chances[2 * ROWS];

	table_init(&dataset, ROWS, 2, HEADER);
	plan.calibration = CALIBRATION_ISOTONIC;
	require_fit(&model, &dataset, &plan);
	predictions_make(&model, &dataset, chances);
	for (size_t i = 0; i < ROWS; i++)
		CHECK(chances[2 * i] + chances[2 * i + 1] == 1);
	model_release(&model);
	plan.folds = 0;
	CHECK_INT(model_fit(&model, &dataset, &plan, &err), -EINVAL);
	CHECK(strstr(err.text, "folds"));
	plan.folds = 5;
	plan.target = "nodes";
	plan.features = "size,bw";
	CHECK_INT(model_fit(&model, &dataset, &plan, &err), -EINVAL);
	CHECK(strstr(err.text, "two classes"));
}

static void without_folds_nothing_is_evaluated(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct model_plan plan = plan_of("linear", false);
	struct model model = { 0 };
	double row[4] = { 2, 5, 1, 0 }, low, high;

	plan.folds = 0;
	table_init(&dataset, ROWS, 2, HEADER);
	require_fit(&model, &dataset, &plan);
	CHECK(isnan(model.origin.score));
	CHECK(isnan(model.origin.second));
	CHECK(!model_interval(&model, row, 50, 0.5, &low, &high));
	model_release(&model);
}

static void refreshed_model_has_learned_both_tables(void)
{
	AUTO_DATASET struct dataset all = { 0 }, old = { 0 }, more = { 0 };
	struct model_plan plan = plan_of("bayes", true);
	struct model model = { 0 }, whole = { 0 };
	size_t rows[ROWS];
	double a[2 * ROWS], b[2 * ROWS];

	for (size_t i = 0; i < ROWS; i++)
		rows[i] = i;
	plan.time = "t";
	plan.features = "nodes,size";
	plan.pipeline.recipe = "none";
	table_init(&all, ROWS, 2, HEADER);
	dataset_take(&old, &all, rows, ROWS / 2);
	dataset_take(&more, &all, rows + ROWS / 2, ROWS / 2);
	require_fit(&whole, &all, &plan);
	require_fit(&model, &old, &plan);
	CHECK(model.origin.to == 60 * (ROWS / 2 - 1));
	REQUIRE(model_refresh(&model, &more, &plan.effort, NULL) >= 0);
	CHECK(model.origin.to == 60 * (ROWS - 1));
	CHECK_INT(model.origin.refreshed, ROWS / 2);
	predictions_make(&model, &all, a);
	predictions_make(&whole, &all, b);
	/* Bayes keeps sums; only the smoothing, which comes from the first rows, differs. */
	for (size_t i = 0; i < 2 * ROWS; i++)
		CHECK(fabs(a[i] - b[i]) < 1e-6);
	model_release(&model);
	model_release(&whole);
}

/* A regression method that supports updates: the errors of new rows join the old ones. */
static void refresh_of_numbers_adds_their_errors(void)
{
	for (size_t i = 0; learners[i]; i++) {
		AUTO_DATASET struct dataset dataset = { 0 }, more = { 0 };
		struct model_plan plan = plan_of(learners[i]->name, false);
		struct model model = { 0 };
		struct err err = { 0 };
		int r;

		if (!(learners[i]->tasks & LEARNER_REGRESSES))
			continue;
		table_init(&dataset, 60, 2, HEADER);
		table_init(&more, 40, 3, HEADER);
		require_fit(&model, &dataset, &plan);
		r = model_refresh(&model, &more, &plan.effort, &err);
		CHECK_INT(r, learners[i]->refresh ? 0 : -ENOTSUP);
		CHECK_INT(model.conformal.count, learners[i]->refresh ? 100 : 60);
		CHECK_INT(model.origin.refreshed, learners[i]->refresh ? 40 : 0);
		model_release(&model);
	}
}

TESTS(TEST(rows_without_target_are_left_out), TEST(classes_are_named_as_in_the_table),
      TEST(invalid_plan_is_rejected), TEST(split_suits_the_plan),
      TEST(every_method_survives_its_file), TEST(damaged_file_is_rejected_by_its_checksum),
      TEST(flipped_bits_with_a_valid_checksum_do_no_harm),
      TEST(foreign_and_later_files_are_distinguished), TEST(file_appears_complete_or_not_at_all),
      TEST(columns_are_found_by_name), TEST(intervals_cover_what_they_promise),
      TEST(truth_of_another_table_is_read_by_class_name),
      TEST(calibration_needs_two_classes_and_folds), TEST(without_folds_nothing_is_evaluated),
      TEST(refreshed_model_has_learned_both_tables), TEST(refresh_of_numbers_adds_their_errors))
