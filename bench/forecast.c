/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The measurements of bench/forecast.sh on generated systems. They use the functions of the
 *commands.
 *
 *	judge SYSTEM TARGETS TRAIN_DAYS TRUTH_S DIR
 *		evaluates every method on 1 GB writes: prints a line per target and method, and
 *		writes rows with labels and folds to DIR/SYSTEM.TARGET.csv
 *	rows SYSTEM TARGETS DIR
 *		writes only these rows
 *	train SYSTEM TARGETS METHOD DAYS
 *		trains a forecaster of all sizes: wall and CPU seconds, microseconds per forecast;
 *		DAYS 0: all days
 *	steps SYSTEM TARGETS TRAIN_DAYS METHOD SEED POINTS
 *		simulates placement: 100 repetitions of 100 points, of POINTS in the test days (0:
 *		all of them)
 *	generate SYSTEM
 *		generates a system: rows per second
 *
 * TARGETS 0 means all targets. Output lines consist of "key=value" words.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/judge/metrics.h"
#include "predict/forecast/place/placement.h"
#include "predict/forecast/place/steps.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/judgment.h"
#include "predict/simulate/system.h"

#define DAY_S 86400.0
#define GIB (UINT64_C(1) << 30)
enum { TARGETS_MAX = 1024, SEED = 1, THREADS = 2, ASKS = 2000, ASK_BLOCKS = 15 };

/* A generated system with its site. */
struct bed {
	struct generated generated;
	struct site site;
	size_t size; /* index of the size 1 GB */
	double from_s, to_s;
};

static double clock_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int bed_init(struct bed *bed, const char *name, size_t targets, double truth_every_s,
		    uint64_t seed, struct err *err)
{
	struct system_request wish = {
		.targets = targets, .seed = seed, .truth_every_s = truth_every_s, .threads = THREADS
	};
	struct system *system;
	int r = system_open(&system, name, err);

	if (r < 0)
		return r;
	r = system_generate(&bed->generated, system, &wish, err);
	system_close(system);
	if (r < 0)
		return r;
	site_init(&bed->site);
	r = site_load(&bed->site, name, err);
	if (r < 0)
		return r;
	bed->size = (size_t)chronicle_find_size(&bed->generated.chronicle, GIB);
	chronicle_span(&bed->generated.chronicle, &bed->from_s, &bed->to_s);
	return 0;
}

static void bed_release(struct bed *bed)
{
	generated_release(&bed->generated);
	site_release(&bed->site);
}

static int rows_write(const struct judgment_rows *rows, const struct features_plan *features,
		      const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	for (size_t i = 0; i < rows->rows.width; i++)
		fprintf(f, "%s,", features_name(features, i));
	fputs("label,posterior,busy,shuffled,blocked\n", f);
	for (size_t i = 0; i < rows->rows.rows; i++) {
		bool trains = i < rows->train;

		for (size_t k = 0; k < rows->rows.width; k++)
			fprintf(f, "%.17g,", rows->rows.x[i * rows->rows.width + k]);
		fprintf(f, "%.0f,%.9g,%d,%d,%d\n", rows->labels[i], rows->posterior[i],
			rows->busy ? rows->busy[i] : -1, trains ? (int)rows->shuffled[i] : -1,
			trains ? (int)rows->blocked[i] : -1);
	}
	return fclose(f) < 0 ? -errno : 0;
}

static int rows_export(const struct bed *bed, const struct judgment *judgment,
		       const struct judgment_plan *plan, size_t targets, const char *directory,
		       const char *name, struct err *err)
{
	const struct chronicle *chronicle = &bed->generated.chronicle;
	struct features features;
	int r = 0;

	features_init(&features, chronicle, &bed->site, &plan->features);
	for (size_t target = 0; r >= 0 && target < targets; target++) {
		AUTO_FREE char *path = xprintf("%s/%s.%zu.csv", directory, name, target);
		struct judgment_rows rows;

		r = judgment_rows_make(&rows, judgment, chronicle, &features, plan, target,
				       bed->size, err);
		if (r < 0)
			break;
		r = rows_write(&rows, &plan->features, path);
		if (r < 0)
			err_set(err, -r, "%s: %s", path, strerror(-r));
		judgment_rows_release(&rows);
	}
	features_release(&features);
	return r;
}

static void case_print(const struct judgment_case *judged, const char *name)
{
	for (size_t m = 0; m < JUDGMENT_METHODS; m++) {
		const struct judgment_cell *cell = &judged->cells[m];

		if (!cell->is_known)
			continue;
		printf("system=%s target=%zu method=%s train=%zu test=%zu ceiling=%.6f "
		       "label_truth=%.6f busy=%.6f shuffled=%.6f shuffled_auc=%.6f blocked=%.6f "
		       "blocked_auc=%.6f accuracy=%.6f auc=%.6f latent=%.6f error=%.6f fit_s=%.6f "
		       "ask_us=%.3f\n",
		       name, judged->target, judgment_method(m), judged->train, judged->test,
		       judged->ceiling, judged->label_truth, judged->busy_share,
		       cell->shuffled_accuracy, cell->shuffled_auc, cell->blocked_accuracy,
		       cell->blocked_auc, cell->accuracy, cell->auc, cell->latent,
		       cell->calibration_error, cell->fit_s, 1e6 * cell->ask_s);
	}
}

static int run_judge(char **words, struct err *err)
{
	struct bed bed = { 0 };
	struct judgment judgment = { 0 };
	struct judgment_plan plan;
	size_t targets[TARGETS_MAX];
	int r = bed_init(&bed, words[0], 0, strtod(words[3], NULL), SEED, err);

	if (r < 0)
		return r;
	judgment_plan_init(&plan);
	plan.target_count = strtoul(words[1], NULL, 10);
	if (!plan.target_count || plan.target_count > bed.generated.chronicle.target_count)
		plan.target_count = bed.generated.chronicle.target_count;
	for (size_t i = 0; i < plan.target_count; i++)
		targets[i] = i;
	plan.targets = targets;
	plan.labels.from_s = bed.from_s;
	plan.labels.to_s = bed.from_s + DAY_S * strtod(words[2], NULL);
	plan.bytes = GIB;
	plan.threads = THREADS;
	plan.busy = bed.generated.busy;
	r = judgment_run(&judgment, &bed.generated.chronicle, &bed.site, &plan, err);
	for (size_t i = 0; r >= 0 && i < judgment.case_count; i++)
		case_print(&judgment.cases[i], words[0]);
	if (r >= 0 && strcmp(words[4], "-") != 0)
		r = rows_export(&bed, &judgment, &plan, plan.target_count, words[4], words[0], err);
	judgment_release(&judgment);
	bed_release(&bed);
	return r;
}

/* Only the states are fitted; the folds are required by the format. */
static int run_rows(char **words, struct err *err)
{
	struct bed bed = { 0 };
	struct judgment judgment = { 0 };
	struct judgment_plan plan;
	int r = bed_init(&bed, words[0], strtoul(words[1], NULL, 10), 0, SEED, err);

	if (r < 0)
		return r;
	judgment_plan_init(&plan);
	plan.labels.from_s = bed.from_s;
	plan.labels.to_s = plan.test_to_s = bed.to_s + 1;
	r = states_fit(&judgment.states, &bed.generated.chronicle, &plan.labels, err);
	if (r >= 0)
		r = rows_export(&bed, &judgment, &plan, bed.generated.chronicle.target_count,
				words[2], words[0], err);
	states_release(&judgment.states);
	bed_release(&bed);
	return r;
}

/* Returns the median over blocks; consecutive forecasts are for different targets. */
static double ask_us(const struct bed *bed, const struct forecaster *forecaster,
		     const struct features *features)
{
	size_t targets = bed->generated.chronicle.target_count,
	       width = features_width(&features->plan);
	AUTO_FREE double *rows = xmalloc(targets * width * sizeof(*rows));
	double took[ASK_BLOCKS];
	struct forecast forecast;

	for (size_t i = 0; i < targets; i++)
		features_at(features, i, bed->size, bed->to_s - 1000.0 * (double)(i % 50),
			    rows + i * width);
	for (size_t block = 0; block < ASK_BLOCKS; block++) {
		double start = clock_s(CLOCK_THREAD_CPUTIME_ID);

		for (size_t i = 0; i < ASKS; i++)
			forecaster_predict(forecaster, i % targets, bed->size,
					   rows + i % targets * width, &forecast);
		took[block] = 1e6 * (clock_s(CLOCK_THREAD_CPUTIME_ID) - start) / ASKS;
	}
	return metrics_quantile(took, ASK_BLOCKS, 0.5);
}

/* Measures a forecast from probes: the row of features and the prediction. */
static double whole_us(const struct bed *bed, const struct forecaster *forecaster,
		       const struct features *features)
{
	size_t targets = bed->generated.chronicle.target_count;
	double row[FEATURES_MAX], start = clock_s(CLOCK_THREAD_CPUTIME_ID);
	struct forecast forecast;

	for (size_t i = 0; i < ASKS; i++) {
		features_at(features, i % targets, bed->size, bed->to_s - 30.0 * (double)i, row);
		forecaster_predict(forecaster, i % targets, bed->size, row, &forecast);
	}
	return 1e6 * (clock_s(CLOCK_THREAD_CPUTIME_ID) - start) / ASKS;
}

static int forecaster_make(struct forecaster *forecaster, const struct bed *bed, const char *method,
			   double to_s, size_t folds, struct err *err)
{
	struct forecaster_plan plan;
	int r;

	forecaster_plan_init(&plan);
	r = forecast_method_plan(&plan.pipeline, method, NULL, err);
	if (r < 0)
		return r;
	plan.labels.from_s = bed->from_s;
	plan.labels.to_s = to_s;
	plan.labels.seed = plan.seed = SEED;
	plan.folds = folds;
	if (!folds)
		plan.calibration = CALIBRATION_NONE;
	plan.threads = THREADS;
	return forecaster_fit(forecaster, &bed->generated.chronicle, &bed->site, &plan, err);
}

static int run_train(char **words, struct err *err)
{
	struct bed bed = { 0 };
	struct forecaster forecaster = { 0 };
	struct features features;
	double wall, cpu, days = strtod(words[3], NULL);
	size_t known = 0, rows = 0;
	int r = bed_init(&bed, words[0], strtoul(words[1], NULL, 10), 0, SEED, err);

	if (r < 0)
		return r;
	wall = clock_s(CLOCK_MONOTONIC);
	cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	r = forecaster_make(&forecaster, &bed, words[2],
			    days > 0 ? bed.from_s + DAY_S * days : bed.to_s + 1, 0, err);
	if (r < 0)
		return r;
	wall = clock_s(CLOCK_MONOTONIC) - wall;
	cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	for (size_t i = 0; i < forecaster.target_count * forecaster.size_count; i++) {
		known += forecaster.models[i].is_known;
		rows += forecaster.models[i].rows;
	}
	features_init(&features, &bed.generated.chronicle, &bed.site, &forecaster.features);
	printf("method=%s models=%zu rows=%zu wall_s=%.3f cpu_s=%.3f ask_us=%.3f whole_us=%.3f\n",
	       words[2], known, known ? rows / known : 0, wall, cpu,
	       ask_us(&bed, &forecaster, &features), whole_us(&bed, &forecaster, &features));
	features_release(&features);
	forecaster_release(&forecaster);
	bed_release(&bed);
	return 0;
}

/* Replaces blanks in a name, so that it is one word. */
static const char *joined(const char *name, char text[64])
{
	snprintf(text, 64, "%s", name);
	for (char *at = text; (at = strchr(at, ' ')) != NULL;)
		*at = '_';
	return text;
}

static void row_print(const struct steps_row *row)
{
	char source[64], metric[64];

	for (size_t m = 0; m < PLACEMENT_METRICS; m++) {
		const struct steps_gain *gain = &row->gains[m];

		printf("rule=%s source=%s metric=%s mean=%.6f low=%.6f high=%.6f total=%.6f "
		       "won=%.4f lost=%.4f worst=%.4f\n",
		       placement_names[row->rule], joined(steps_sources[row->source], source),
		       joined(placement_metrics[m], metric), gain->mean, gain->low, gain->high,
		       gain->total, gain->won, gain->lost, gain->worst);
	}
}

/* Keeps some points at equal distances. */
static void points_thin(struct steps *steps, size_t points)
{
	size_t n = steps->targets;

	if (!points || points >= steps->points)
		return;
	for (size_t p = 0; p < points; p++) {
		size_t from = p * steps->points / points;

		steps->time_s[p] = steps->time_s[from];
		memmove(steps->seconds + p * n, steps->seconds + from * n, n * sizeof(double));
		memmove(steps->forecasts + p * n, steps->forecasts + from * n,
			n * sizeof(*steps->forecasts));
		memmove(steps->truth + p * n, steps->truth + from * n, n * sizeof(bool));
		memmove(steps->labels + p * n, steps->labels + from * n, n * sizeof(bool));
	}
	steps->points = points;
}

static int steps_print(const struct bed *bed, const struct forecaster *forecaster,
		       const struct features *features, size_t points, struct err *err)
{
	struct steps_origin origin = { .forecaster = forecaster,
				       .features = features,
				       .bytes = GIB,
				       .from_s = forecaster->to_s,
				       .to_s = bed->to_s,
				       .busy = bed->generated.busy,
				       .label_seed = SEED,
				       .threads = THREADS };
	struct steps_plan plan = { .seed = SEED, .threads = THREADS };
	struct steps_row *rows = NULL;
	struct steps steps = { 0 };
	int r = steps_gather(&steps, &origin, err);

	if (r < 0)
		return r;
	points_thin(&steps, points);
	printf("points=%zu targets=%zu accuracy=%.6f label_accuracy=%.6f\n", steps.points,
	       steps.targets, steps_accuracy(&steps, steps.truth),
	       steps_accuracy(&steps, steps.labels));
	r = steps_run(&steps, &plan, &rows, err);
	for (int i = 0; i < r; i++)
		row_print(&rows[i]);
	free(rows);
	steps_release(&steps);
	return r;
}

/* Keeps probes and writes of 1 GB only, because the other models are not needed. */
static void sizes_drop(struct bed *bed)
{
	struct chronicle *chronicle = &bed->generated.chronicle;

	for (size_t target = 0; target < chronicle->target_count; target++) {
		for (size_t size = 1; size < chronicle->size_count; size++) {
			if (size != bed->size)
				chronicle_series(chronicle, target, size)->count = 0;
		}
	}
}

static int run_steps(char **words, struct err *err)
{
	struct bed bed = { 0 };
	struct forecaster forecaster = { 0 };
	struct features features;
	int r = bed_init(&bed, words[0], strtoul(words[1], NULL, 10), 0,
			 strtoul(words[4], NULL, 10), err);

	if (r < 0)
		return r;
	sizes_drop(&bed);
	r = forecaster_make(&forecaster, &bed, words[3],
			    bed.from_s + DAY_S * strtod(words[2], NULL), 4, err);
	if (r < 0)
		return r;
	features_init(&features, &bed.generated.chronicle, &bed.site, &forecaster.features);
	r = steps_print(&bed, &forecaster, &features, strtoul(words[5], NULL, 10), err);
	features_release(&features);
	forecaster_release(&forecaster);
	bed_release(&bed);
	return r;
}

static int run_generate(char **words, struct err *err)
{
	struct system_request wish = { .seed = SEED, .threads = 1 };
	struct generated generated = { 0 };
	const struct chronicle *chronicle = &generated.chronicle;
	struct system *system;
	size_t rows = 0;
	double start;
	int r = system_open(&system, words[0], err);

	if (r < 0)
		return r;
	start = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	r = system_generate(&generated, system, &wish, err);
	if (r < 0)
		return r;
	start = clock_s(CLOCK_PROCESS_CPUTIME_ID) - start;
	for (size_t i = 0; i < chronicle->target_count; i++) {
		for (size_t k = 0; k < chronicle->size_count; k++)
			rows += chronicle_series(chronicle, i, k)->count;
	}
	printf("system=%s targets=%zu snapshots=%zu jobs=%zu rows=%zu cpu_s=%.3f per_s=%.0f\n",
	       words[0], chronicle->target_count, chronicle->snapshot_count, generated.job_count,
	       rows, start, (double)rows / start);
	generated_release(&generated);
	system_close(system);
	return 0;
}

static const struct verb {
	const char *name;
	int operands;
	int (*run)(char **words, struct err *err);
} verbs[] = {
	{ "judge", 5, run_judge }, { "rows", 3, run_rows },	    { "train", 4, run_train },
	{ "steps", 6, run_steps }, { "generate", 1, run_generate },
};

int main(int argc, char **argv)
{
	struct err err = { 0 };

	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0 || argc - 2 != verbs[i].operands)
			continue;
		if (verbs[i].run(argv + 2, &err) >= 0)
			return 0;
		fprintf(stderr, "bench_forecast: %s\n", err.text);
		return 1;
	}
	fprintf(stderr, "usage: bench_forecast judge|train|steps|generate ...\n");
	return 2;
}
