/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Evaluates the searches on problems with a known optimum: the toy stack of the unit tests, and
 *every kernel on the simulated platforms with 2048 ranks. The costs of all points are computed
 *first; then every method searches with many seeds. A search that only has to get near the optimum
 *stops there.
 *
 * Priors: "rough" is the same model, but each rate and time of the platform is multiplied by a
 *random factor, drawn for each seed (log-normal, deviation ROUGH; on the toy stack, which has no
 *such constants, each point is multiplied); "inverted" prefers the worst points.
 *
 *	bench_search BUILD [SEEDS [PROBLEM]]
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "bench.h"
#include "learn/math/random.h"
#include "predict/simulate/workload.h"
#include "toy_stack.h"
#include "tune/search/search.h"

#define RANKS 2048
#define NEAR 1.05 /* times the lowest cost */

#define ROUGH 0.5 /* of the logarithm: two thirds of the factors are within 1.65 */

enum prior_kind { PRIOR_NONE, PRIOR_ROUGH, PRIOR_INVERTED };

struct problem {
	char *name;
	const char *platform, *kernel; /* NULL: the toy stack */
	struct space space;
	double *costs; /* by the number of a point; NAN: not allowed or not computed */
	uint64_t points;
	double best, median;
};

struct method {
	const char *label, *name, *settings;
	uint64_t runs[2]; /* runs after which the share of seeds near the optimum is reported; 0:
			     unused */
	double toy[2], model; /* their thresholds in percent; model: of the last one on platforms */
	bool is_long;	      /* the search stops when it is near the optimum */
	enum prior_kind prior;
};

static const struct method methods[] = {
	{ "genetic, per individual",
	  "genetic",
	  "per_gene=0",
	  { 600 },
	  { 84 },
	  0,
	  false,
	  PRIOR_NONE },
	{ "genetic, per gene", "genetic", "per_gene=1", { 600 }, { 99 }, 0, false, PRIOR_NONE },
	{ "random, replaced",
	  "random",
	  "draws=600,replacement=1",
	  { 600 },
	  { 0 },
	  0,
	  false,
	  PRIOR_NONE },
	{ "random", "random", "draws=600", { 600 }, { 0 }, 0, false, PRIOR_NONE },
	{ "annealing", "annealing", "steps=600", { 600 }, { 0 }, 0, false, PRIOR_NONE },
	{ "bayesian", "bayesian", "runs=100", { 60, 100 }, { 0, 95 }, 95, true, PRIOR_NONE },
	{ "bayesian, rough prior",
	  "bayesian",
	  "runs=100",
	  { 20, 100 },
	  { 0, 95 },
	  95,
	  true,
	  PRIOR_ROUGH },
	{ "bayesian, inverted prior",
	  "bayesian",
	  "runs=100",
	  { 60, 100 },
	  { 0, 90 },
	  90,
	  true,
	  PRIOR_INVERTED },
	{ "model, rough prior", "model", "top=5", { 5 }, { 0 }, 0, true, PRIOR_ROUGH },
};

/* One search with one seed. */
struct course {
	uint64_t near; /* runs until it was near the optimum; 0: never */
	uint64_t asked, measured;
	double cpu_s;
};

struct courses {
	const struct problem *problem;
	const struct method *method;
	struct course *list;
	bool is_whole; /* search to the end, even if is_long */
};

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef double cost_of(void *arg, const struct space *space, const size_t *point);

struct model {
	struct platform *platform;
	struct workload workload;
};

static double model_point(void *arg, const struct space *space, const size_t *point)
{
	struct model *model = arg;
	struct param_set set;
	struct simulated out;
	struct err err = { 0 };

	space_set(space, point, &set);
	toy_require(workload_simulate(&model->workload, model->platform, &set, &out, &err), &err);
	param_set_release(&set);
	return out.total;
}

/* Appends the description with changed rates and times; only these have an exponent. */
static void platform_blur(const char *name, struct random *random, struct buf *out)
{
	AUTO_FREE char *path = xprintf("%s/%s.ini", getenv("SLUICE_PLATFORMS"), name);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		char *equals = strchr(line, '='), *end = NULL;
		double number = equals && *line != '#' ? strtod(equals + 1, &end) : 0;

		if (number != 0 && memchr(equals, 'e', (size_t)(end - equals)))
			buf_printf(out, "%.*s= %.9g\n", (int)(equals - line), line,
				   number * exp(ROUGH * random_normal(random)));
		else
			buf_puts(out, line);
	}
}

/* The prior costs that the method gets, by the numbers of points. */
struct expectation {
	const struct problem *problem;
	double *costs;
};

static void expect_blurred(struct expectation *e, struct random *random)
{
	const struct problem *problem = e->problem;
	AUTO_BUF struct buf text = { 0 };
	size_t point[SPACE_DIMENSIONS];
	struct model model;
	struct err err = { 0 };

	platform_blur(problem->platform, random, &text);
	toy_require(platform_read_text(&model.platform, problem->platform, buf_text(&text),
				       text.len, &err),
		    &err);
	toy_require(workload_find(&model.workload, problem->kernel, RANKS, &err), &err);
	for (uint64_t i = 0; i < space_points(&problem->space); i++) {
		if (isnan(problem->costs[i]))
			continue;
		space_point(&problem->space, i, point);
		e->costs[i] = model_point(&model, &problem->space, point);
	}
	platform_close(model.platform);
}

static void expect(struct expectation *e, enum prior_kind kind, uint64_t seed)
{
	uint64_t points = space_points(&e->problem->space);
	struct random random;

	random_init(&random, seed + 1000);
	e->costs = xcalloc(points, sizeof(*e->costs));
	if (kind == PRIOR_ROUGH && e->problem->platform) {
		expect_blurred(e, &random);
		return;
	}
	for (uint64_t i = 0; i < points; i++)
		e->costs[i] = kind == PRIOR_INVERTED
				      ? 1 / e->problem->costs[i]
				      : e->problem->costs[i] * exp(ROUGH * random_normal(&random));
}

static double expected_of(void *arg, const size_t *point)
{
	const struct expectation *e = arg;

	return e->costs[space_number(&e->problem->space, point)];
}

static void course_run(const struct courses *courses, uint64_t seed, struct course *course)
{
	const struct problem *problem = courses->problem;
	const struct method *method = courses->method;
	struct expectation expectation = { problem, NULL };
	struct search_prior prior = { expected_of, &expectation };
	size_t point[SPACE_DIMENSIONS];
	struct search *search;
	struct err err = { 0 };
	double start;

	if (method->prior)
		expect(&expectation, method->prior, seed);
	start = cpu_now();
	toy_require(search_new_with_prior(&search, method->name, method->settings, &problem->space,
					  method->prior ? &prior : NULL, seed, &err),
		    &err);
	for (uint64_t run = 1; search_ask(search, point); run++) {
		double cost = problem->costs[space_number(&problem->space, point)];

		if (!course->near && cost <= NEAR * problem->best)
			course->near = run;
		search_tell(search, point, cost);
		if (course->near && method->is_long && !courses->is_whole)
			break;
	}
	course->asked = search_get_counts(search).asked;
	course->measured = search_get_counts(search).measured;
	search_free(search);
	course->cpu_s = cpu_now() - start;
	free(expectation.costs);
}

static void course_work(void *arg, size_t piece, unsigned worker)
{
	struct courses *courses = arg;

	(void)worker;
	course_run(courses, piece + 1, &courses->list[piece]);
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median_of(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), double_compare);
	return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : NAN;
}

static double share_near(const struct course *list, size_t seeds, uint64_t runs)
{
	size_t near = 0;

	for (size_t i = 0; i < seeds; i++)
		near += list[i].near && list[i].near <= runs;
	return 100 * (double)near / (double)seeds;
}

/* A seed that never gets near the optimum counts as infinitely many runs. */
static double runs_needed(const struct course *list, size_t seeds)
{
	AUTO_FREE double *runs = xcalloc(seeds, sizeof(*runs));

	for (size_t i = 0; i < seeds; i++)
		runs[i] = list[i].near ? (double)list[i].near : INFINITY;
	return median_of(runs, seeds);
}

static void cell_runs(struct bench *b, double runs)
{
	if (isfinite(runs))
		table_add(&b->table, "%.0f", runs);
	else
		table_add(&b->table, "%s", "never");
}

static void figure_add(struct bench *b, const struct problem *problem, const char *label,
		       uint64_t runs, double share)
{
	AUTO_FREE char *key = xprintf("%s_%s_%llu", problem->name, label, (unsigned long long)runs);

	for (char *c = key; *c; c++)
		*c = strchr(" ,-", *c) ? '_' : *c;
	bench_figure(b, key, share, 0);
}

static void method_show(struct bench *b, const struct problem *problem, const struct method *method,
			const struct course *list, size_t seeds, double whole_s)
{
	bool is_toy = strcmp(problem->name, "toy") == 0;
	double measured = 0, cpu_s = 0;

	for (size_t i = 0; i < seeds; i++) {
		measured += (double)list[i].measured / (double)seeds;
		cpu_s += list[i].cpu_s / (double)seeds;
	}
	for (int i = 0; i < 2 && method->runs[i]; i++) {
		bool is_last = i == 1 || !method->runs[1];
		double share = share_near(list, seeds, method->runs[i]);
		AUTO_FREE char *what = xprintf("%s, %s", problem->name, method->label);

		table_add(&b->table, "%s", problem->name);
		table_add(&b->table, "%s", method->label);
		table_add(&b->table, "%llu", (unsigned long long)method->runs[i]);
		table_add(&b->table, "%.0f", share);
		cell_runs(b, runs_needed(list, seeds));
		table_add(&b->table, "%.0f", method->is_long ? (double)method->runs[i] : measured);
		table_add(&b->table, "%.3f", method->is_long ? whole_s : cpu_s);
		bench_judge(b, what, share,
			    is_toy    ? method->toy[i]
			    : is_last ? method->model
				      : 0,
			    true, "% of the seeds");
		figure_add(b, problem, method->label, method->runs[i], share);
	}
}

static void problem_run(struct bench *b, const struct problem *problem, size_t seeds)
{
	AUTO_FREE struct course *list = xcalloc(seeds, sizeof(*list));

	for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++) {
		struct courses courses = { problem, &methods[m], list, false };
		struct course whole = { 0 };
		AUTO_FREE char *text = xprintf("%s: %s", problem->name, methods[m].label);

		bench_progress(text);
		memset(list, 0, seeds * sizeof(*list));
		parallel_for(parallel_cores(), seeds, course_work, &courses);
		courses.is_whole = true;
		if (methods[m].is_long)
			course_run(&courses, 1, &whole);
		method_show(b, problem, &methods[m], list, seeds, whole.cpu_s);
	}
}

static void problem_measure(struct problem *problem, cost_of *cost, void *arg)
{
	AUTO_FREE double *sorted = NULL;
	size_t point[SPACE_DIMENSIONS], count = 0;

	problem->points = space_points(&problem->space);
	problem->costs = xcalloc(problem->points, sizeof(double));
	sorted = xcalloc(problem->points, sizeof(double));
	problem->best = INFINITY;
	for (uint64_t i = 0; i < problem->points; i++) {
		problem->costs[i] = NAN;
		space_point(&problem->space, i, point);
		space_settle(&problem->space, point);
		if (space_number(&problem->space, point) != i ||
		    !space_allows(&problem->space, point))
			continue;
		sorted[count++] = problem->costs[i] = cost(arg, &problem->space, point);
		problem->best = fmin(problem->best, problem->costs[i]);
	}
	problem->points = count;
	problem->median = median_of(sorted, count);
}

static void problem_release(struct problem *problem)
{
	space_release(&problem->space);
	free(problem->costs);
	free(problem->name);
}

static double toy_point(void *arg, const struct space *space, const size_t *point)
{
	(void)arg;
	(void)space;
	return toy_cost(point);
}

static void toy_problem(struct problem *problem)
{
	*problem = (struct problem){ .name = xstrdup("toy") };
	toy_space(&problem->space);
	problem_measure(problem, toy_point, NULL);
}

static int model_problem(struct problem *problem, const char *platform, const char *kernel,
			 struct err *err)
{
	struct model model;
	int r = platform_open(&model.platform, platform, err);

	if (r < 0)
		return r;
	*problem = (struct problem){ .name = xprintf("%s-%s", platform, kernel),
				     .platform = platform,
				     .kernel = kernel };
	r = workload_find(&model.workload, kernel, RANKS, err);
	if (r >= 0)
		r = workload_space(&model.workload, model.platform, &problem->space, err);
	if (r >= 0)
		problem_measure(problem, model_point, &model);
	else
		problem_release(problem);
	platform_close(model.platform);
	return r;
}

static void problem_show(const struct problem *problem)
{
	printf("%s: %llu points, best %.2f s, median %.2f s\n", problem->name,
	       (unsigned long long)problem->points, problem->best, problem->median);
}

static void models_run(struct bench *b, size_t seeds, const char *only)
{
	static const char *const platforms[] = { "hopper", "intrepid", "stampede" };
	static const char *const kernels[] = { "vpic", "vorpal", "gcrm" };

	for (size_t i = 0; i < 9; i++) {
		struct problem problem;
		struct err err = { 0 };

		if (model_problem(&problem, platforms[i / 3], kernels[i % 3], &err) < 0) {
			bench_fail(b, "%s, %s: %s", platforms[i / 3], kernels[i % 3], err.text);
			continue;
		}
		if (!only || strcmp(only, problem.name) == 0) {
			problem_show(&problem);
			problem_run(b, &problem, seeds);
		}
		problem_release(&problem);
	}
}

int main(int argc, char **argv)
{
	static const char *const titles[] = {
		"problem",    "search",		 ">runs",      ">% near", ">needs",
		">different", ">CPU s per seed", ">threshold", "holds",	  NULL
	};
	size_t seeds = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	const char *only = argc > 3 ? argv[3] : NULL;
	struct problem toy;
	struct bench b;

	if (argc < 2 || !seeds || !bench_init(&b, "search", argv[1], titles)) {
		fprintf(stderr, "usage: bench_search BUILD [SEEDS [PROBLEM]]\n");
		return 2;
	}
	printf("seeds 1 to %zu; near: within %.0f %% of the lowest cost of all points\n", seeds,
	       100 * (NEAR - 1));
	if (!only || strcmp(only, "toy") == 0) {
		toy_problem(&toy);
		problem_show(&toy);
		problem_run(&b, &toy, seeds);
		problem_release(&toy);
	}
	if (!only || strcmp(only, "toy") != 0)
		models_run(&b, seeds, only);
	bench_progress("");
	table_print(&b.table, stdout, 0);
	return bench_end(&b);
}
