/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Training never uses more than three times the size of its input: the caller's table, the prepared
 * copy and the memory that learner.h allows a method. This program counts every allocated byte of
 * our code and of the libraries that it loads, while each method learns under several preparations.
 * learner.h lists the methods that need more, and `trials` below repeats these amounts. OpenBLAS
 * maps a fixed buffer per thread when it is loaded; that is not counted.
 */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/learner.h"
#include "learn/math/library.h"
#include "learn/math/random.h"
#include "learn/pipeline.h"

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *old);

static atomic_size_t live, peak;

static void *count_in(void *block)
{
	size_t now, seen;

	if (!block)
		return NULL;
	now = atomic_fetch_add(&live, malloc_usable_size(block)) + malloc_usable_size(block);
	seen = atomic_load(&peak);
	while (now > seen && !atomic_compare_exchange_weak(&peak, &seen, now))
		;
	return block;
}

static void count_out(void *block)
{
	if (block)
		atomic_fetch_sub(&live, malloc_usable_size(block));
}

void *malloc(size_t bytes)
{
	return count_in(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes)
{
	return count_in(__libc_calloc(count, bytes));
}

/* The kernel moves large blocks without a copy, and small ones do not matter. */
void *realloc(void *old, size_t bytes)
{
	size_t before = old ? malloc_usable_size(old) : 0;
	void *block = __libc_realloc(old, bytes);

	if (block || !bytes)
		atomic_fetch_sub(&live, before);
	return count_in(block);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return count_in(__libc_memalign(alignment, bytes));
}

void *memalign(size_t alignment, size_t bytes)
{
	return count_in(__libc_memalign(alignment, bytes));
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
	*block = count_in(__libc_memalign(alignment, bytes));
	return *block ? 0 : ENOMEM;
}

void free(void *block)
{
	count_out(block);
	__libc_free(block);
}

static void blocks_are_counted(void)
{
	size_t before = atomic_load(&live), during;
	char *volatile block = malloc(1 << 20);
	void *volatile aligned = NULL;

	REQUIRE(block && posix_memalign((void **)&aligned, 64, 1 << 20) == 0);
	block = realloc(block, 3 << 20);
	during = atomic_load(&live);
	CHECK(during >= before + (4 << 20));
	CHECK(during < before + (4 << 20) + 8192);
	CHECK(atomic_load(&peak) >= during);
	free(block);
	free(aligned);
	CHECK(atomic_load(&live) == before);
}

enum { MIB = 1 << 20 };

/* Sizes at which a method is fast but the free MiB does not hide its memory. */
struct trial {
	const char *learner;
	const char *settings; /* few rounds, because they cost time but no memory */
	size_t rows, width;
	/* Bytes beyond the general limit, as learner.h lists them by name. */
	size_t (*beyond)(const struct samples *samples, unsigned threads);
};

/* libsvm's form of the rows is twice as large; its data per row and thread; 1 MiB of cache. */
static size_t svm_beyond(const struct samples *samples, unsigned threads)
{
	size_t input = samples->rows * (samples->width + 1) * sizeof(double);

	return input + threads * 200 * samples->rows + MIB;
}

/* Several squares of `limit`: distances, the matrix, its factor, its inverse. */
static size_t gaussian_beyond(const struct samples *samples, unsigned threads)
{
	(void)samples, (void)threads;
	return 4 * 100 * 100 * sizeof(double);
}

/* 26 numbers for each of about 20 x 100 weights. */
static size_t lbfgs_beyond(const struct samples *samples, unsigned threads)
{
	(void)threads;
	return 26 * (samples->width + 5) * 100 * sizeof(double);
}

/* If a row has few inputs, the data of boosting per row matters. */
static size_t boosting_beyond(const struct samples *samples, unsigned threads)
{
	(void)threads;
	return (8 + 8 * samples->classes) * samples->rows;
}

static size_t boosting_drawn_beyond(const struct samples *samples, unsigned threads)
{
	return boosting_beyond(samples, threads) + (samples->classes ? 10 : 18) * samples->rows;
}

static const struct trial trials[] = {
	{ "svm", "cache=1", 500, 500, svm_beyond },
	{ "svm", "cache=1,cost=0.0001,tolerance=1", 5000, 2, svm_beyond },
	{ "gaussian", "limit=100,restarts=0", 10000, 24, gaussian_beyond },
	{ "boosting", "trees=3", 10000, 24, NULL },
	{ "forest", "trees=4", 10000, 24, NULL },
	{ "rules", "committees=2,neighbors=5", 10000, 24, NULL },
	{ "perceptron", "rounds=2", 10000, 24, NULL },
	{ "perceptron", "solver=lbfgs,rounds=2", 10000, 24, lbfgs_beyond },
	{ "linear", "", 10000, 24, NULL },
	{ "logistic", "", 10000, 24, NULL },
	{ "bayes", "", 10000, 24, NULL },
	{ "neighbors", "", 10000, 24, NULL },
	{ "tree", "", 10000, 24, NULL },
	{ "tree", "", 40000, 4, NULL },
	{ "tree", "", 70000, 4, NULL },
	{ "forest", "trees=2", 40000, 4, NULL },
	{ "forest", "trees=2,bootstrap=no", 70000, 4, NULL },
	{ "boosting", "trees=2", 40000, 4, boosting_beyond },
	{ "boosting", "trees=2", 70000, 4, boosting_beyond },
	{ "boosting", "trees=2,loss=absolute,sample=0.9", 70000, 4, boosting_drawn_beyond },
	{ "neighbors", "", 40000, 4, NULL },
	{ "bayes", "", 40000, 4, NULL },
	{ 0 },
};

/*
 * Inputs are positive, so that every preparation has an effect; there is some signal and some
 * noise.
 */
static struct samples samples_make(size_t rows, size_t width, size_t classes, double *room)
{
	double *x = room, *y = room + rows * width;
	struct random random;

	random_init(&random, 3);
	for (size_t i = 0; i < rows; i++) {
		double sum = 0;

		for (size_t j = 0; j < width; j++) {
			x[i * width + j] = exp(random_normal(&random) * 0.5);
			sum += j < 5 ? x[i * width + j] * (double)(j + 1) : 0;
		}
		sum += random_normal(&random);
		y[i] = classes ? (double)((sum > 14) + (sum > 19)) : sum;
	}
	return (struct samples){ .x = x, .y = y, .rows = rows, .width = width, .classes = classes };
}

static void fit_measure(const struct trial *trial, const struct pipeline_plan *plan,
			const struct samples *samples, unsigned threads)
{
	size_t input = samples->rows * (samples->width + 1) * sizeof(double);
	size_t allowed = 2 * input + MIB + (trial->beyond ? trial->beyond(samples, threads) : 0);
	size_t before = atomic_load(&live), model, work;
	struct effort effort = { .seed = 1, .threads = threads };
	struct pipeline pipeline;
	struct err err = { 0 };

	atomic_store(&peak, before);
	if (pipeline_fit(&pipeline, plan, samples, NULL, 0, &effort, &err) < 0) {
		printf("%s: %s\n", plan->learner->name, err.text);
		check_failures++;
		return;
	}
	model = atomic_load(&live) - before;
	work = atomic_load(&peak) - before - model;
	printf("%-12s %-8s %-24s %u thread%s: input %5.2f MiB, model %6.2f, held besides %5.2f = "
	       "%.2f x, allowed %.2f\n",
	       plan->learner->name, samples->classes ? "classes" : "numbers",
	       plan->recipe ? plan->recipe : plan->learner->recipe, threads, threads > 1 ? "s" : "",
	       (double)input / MIB, (double)model / MIB, (double)work / MIB,
	       (double)work / (double)input, (double)allowed / MIB);
	CHECK(work <= allowed);
	pipeline_release(&pipeline);
	/* Threads and printing use a little memory. */
	CHECK(atomic_load(&live) < before + (16 << 10));
}

static void trial_run(const struct trial *trial, const struct learner_ops *learner, size_t classes)
{
	static const char *const recipes[] = { NULL, "boxcox,centre,scale,pca" };
	size_t count = trial->rows * (trial->width + 1);
	AUTO_FREE double *room = xcalloc(count, sizeof(*room));
	struct samples samples = samples_make(trial->rows, trial->width, classes, room);
	struct pipeline_plan plan;

	pipeline_plan_init(&plan, learner);
	REQUIRE(learner_parse(learner, trial->settings, plan.settings, NULL) == 0);
	for (unsigned i = 0; i < 2; i++) {
		plan.recipe = recipes[i];
		fit_measure(trial, &plan, &samples, 2 - i);
	}
}

static void training_uses_at_most_three_times_its_input(void)
{
	/* Libraries keep the memory that they allocate when they are loaded. */
	REQUIRE(library_lapack(NULL) && library_svm(NULL));
	for (const struct trial *trial = trials; trial->learner; trial++) {
		const struct learner_ops *learner = learner_find(trial->learner, 0, NULL);

		REQUIRE(learner);
		if (learner->tasks & LEARNER_REGRESSES)
			trial_run(trial, learner, 0);
		if (learner->tasks & LEARNER_CLASSIFIES)
			trial_run(trial, learner, 3);
	}
}

static void every_method_is_tested(void)
{
	for (size_t i = 0; learners[i]; i++) {
		const struct trial *trial = trials;

		while (trial->learner && strcmp(trial->learner, learners[i]->name) != 0)
			trial++;
		CHECK(trial->learner);
	}
}

TESTS(TEST(blocks_are_counted), TEST(training_uses_at_most_three_times_its_input),
      TEST(every_method_is_tested))
