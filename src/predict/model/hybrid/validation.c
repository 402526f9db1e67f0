/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/hybrid/validation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/math/vector.h"

#define FOLDS 5
#define HELD FOLDS /* the fold of cases that are held out */
/* Weight of the correction of all transfers, in cases, beside that of one transfer. */
#define COMMON_CASES 2

static unsigned fold_of(const struct validation_case *one)
{
	return one->is_held ? HELD : (unsigned)(one->group % FOLDS);
}

static double log_ratio(const struct validation_case *one)
{
	return log(one->measured / one->predicted);
}

/* Median of the logarithms of cases in one direction that are neither in a fold nor held out;
 * transfer TRANSFERS: any. */
static double median_ratio(const struct validation *c, unsigned fold, bool is_read, int transfer,
			   size_t *count)
{
	AUTO_FREE double *ratios = xmalloc((c->count + 1) * sizeof(*ratios));

	*count = 0;
	for (size_t i = 0; i < c->count; i++) {
		const struct validation_case *one = &c->cases[i];

		if (fold_of(one) != fold && !one->is_held && one->is_read == is_read &&
		    (transfer == TRANSFERS || (int)one->transfer == transfer))
			ratios[(*count)++] = log_ratio(one);
	}
	return *count ? vector_median(ratios, *count) : 0;
}

/* The logarithm of the correction. A transfer with few cases is also corrected like the others. */
static double shift_without(const struct validation *c, unsigned fold, bool is_read,
			    enum transfer transfer)
{
	size_t all, own;
	double common = median_ratio(c, fold, is_read, TRANSFERS, &all);
	double median = median_ratio(c, fold, is_read, (int)transfer, &own);

	return ((double)own * median + COMMON_CASES * common) / (double)(own + COMMON_CASES);
}

/* Logarithms of measured and of corrected values. The correction of a value and the value itself
 * are from different folds. */
struct guesses {
	double *truth, *guess;
	unsigned *fold;
	size_t count;
};

static void guesses_release(struct guesses *g)
{
	free(g->truth);
	free(g->guess);
	free(g->fold);
}

static void guesses_add(struct guesses *g, unsigned fold, double truth, double guess)
{
	g->truth[g->count] = truth;
	g->guess[g->count] = guess;
	g->fold[g->count++] = fold;
}

static double corrected(const struct validation_case *one, double shifts[FOLDS + 1][2][TRANSFERS])
{
	return log(one->predicted) + shifts[fold_of(one)][one->is_read][one->transfer];
}

static const struct validation_case *find_default(const struct validation *c,
						  const struct validation_case *of)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->cases[i].group == of->group && c->cases[i].is_read == of->is_read &&
		    c->cases[i].is_default)
			return &c->cases[i];
	return NULL;
}

static void add_gain(struct guesses *g, const struct validation *c,
		     const struct validation_case *one, double shifts[FOLDS + 1][2][TRANSFERS])
{
	const struct validation_case *from = one->is_default ? NULL : find_default(c, one);

	if (from)
		guesses_add(g, fold_of(one), log(from->measured / one->measured),
			    corrected(from, shifts) - corrected(one, shifts));
}

static struct guesses make_guesses(const struct validation *c, enum validation_of of)
{
	struct guesses g = { .truth = xmalloc((c->count + 1) * sizeof(*g.truth)),
			     .guess = xmalloc((c->count + 1) * sizeof(*g.guess)),
			     .fold = xmalloc((c->count + 1) * sizeof(*g.fold)) };
	double shifts[FOLDS + 1][2][TRANSFERS];

	for (unsigned fold = 0; fold <= HELD; fold++)
		for (int is_read = 0; is_read < 2; is_read++)
			for (int t = 0; t < TRANSFERS; t++)
				shifts[fold][is_read][t] =
					shift_without(c, fold, is_read, (enum transfer)t);
	for (size_t i = 0; i < c->count; i++) {
		const struct validation_case *one = &c->cases[i];

		if (of == VALIDATION_GAINS)
			add_gain(&g, c, one, shifts);
		else
			guesses_add(&g, fold_of(one), log(one->measured), corrected(one, shifts));
	}
	return g;
}

/* Collects the residuals of the guesses that are neither in a fold nor held out. */
static int fit_residuals(struct conformal *conformal, const struct guesses *g, unsigned without,
			 struct err *err)
{
	AUTO_FREE double *kept = xmalloc((2 * g->count + 1) * sizeof(*kept));
	size_t n = 0;

	for (size_t i = 0; i < g->count; i++)
		if (g->fold[i] != without && g->fold[i] != HELD) {
			kept[n] = g->truth[i];
			kept[g->count + n++] = g->guess[i];
		}
	return conformal_fit(conformal, kept, kept + g->count, NULL, n, err);
}

static size_t count_fold(const struct guesses *g, unsigned fold)
{
	size_t count = 0;

	for (size_t i = 0; i < g->count; i++)
		count += g->fold[i] == fold;
	return count;
}

static size_t count_checked(const struct guesses *g)
{
	size_t held = count_fold(g, HELD);

	return held ? held : g->count;
}

static int derive(struct validation *c, struct err *err)
{
	int r = 0;

	for (int of = 0; r >= 0 && of < VALIDATION_KINDS; of++) {
		struct guesses g = make_guesses(c, (enum validation_of)of);

		r = fit_residuals(&c->residuals[of], &g, HELD, err);
		c->checked[of] = count_checked(&g);
		guesses_release(&g);
	}
	c->least_ranks = c->least_bytes = INFINITY;
	for (size_t i = 0; i < c->count; i++) {
		const struct validation_case *one = &c->cases[i];

		if (one->is_held)
			continue;
		c->seen[one->is_read][one->transfer]++;
		c->least_ranks = fmin(c->least_ranks, one->ranks);
		c->most_ranks = fmax(c->most_ranks, one->ranks);
		c->least_bytes = fmin(c->least_bytes, one->bytes);
		c->most_bytes = fmax(c->most_bytes, one->bytes);
	}
	for (int is_read = 0; is_read < 2; is_read++)
		for (int t = 0; t < TRANSFERS; t++)
			c->shifts[is_read][t] = shift_without(c, HELD, is_read, (enum transfer)t);
	return r;
}

static int check_cases(const struct validation_case *cases, size_t count, struct err *err)
{
	bool has_groups = false;

	for (size_t i = 0; i < count; i++) {
		if (!(cases[i].predicted > 0 && isfinite(cases[i].predicted) &&
		      cases[i].measured > 0 && isfinite(cases[i].measured)))
			return err_set(err, EINVAL, "a time of the calibration is not positive");
		has_groups |= cases[i].group != cases[0].group && !cases[i].is_held;
	}
	if (!has_groups)
		return err_set(err, ENODATA, "a calibration needs at least two accesses");
	return 0;
}

int validation_make(struct validation *validation, const struct validation_case *cases,
		    size_t count, uint64_t repeat, const struct environment *environment,
		    struct err *err)
{
	struct validation made = { .count = count, .repeat = repeat, .environment = *environment };
	int r = check_cases(cases, count, err);

	if (r < 0)
		return r;
	made.cases = xmalloc(count * sizeof(*made.cases));
	memcpy(made.cases, cases, count * sizeof(*made.cases));
	r = derive(&made, err);
	if (r < 0) {
		validation_release(&made);
		return r;
	}
	*validation = made;
	return 0;
}

void validation_release(struct validation *validation)
{
	free(validation->cases);
	for (int of = 0; of < VALIDATION_KINDS; of++)
		conformal_release(&validation->residuals[of]);
	*validation = (struct validation){ 0 };
}

bool validation_covers(const struct validation *c, const struct access *access,
		       enum transfer transfer)
{
	double ranks = (double)access->ranks, bytes = (double)access->rank_bytes;

	return c->count && c->seen[access->is_read][transfer] && ranks >= c->least_ranks &&
	       ranks <= c->most_ranks && bytes >= c->least_bytes && bytes <= c->most_bytes;
}

double validation_correction(const struct validation *c, bool is_read, enum transfer transfer)
{
	return exp(c->shifts[is_read][transfer]);
}

double validation_margin(const struct validation *c, enum validation_of of, double coverage)
{
	return conformal_margin(&c->residuals[of], coverage);
}

static size_t count_inside(const struct guesses *g, unsigned fold, double margin)
{
	size_t inside = 0;

	for (size_t i = 0; i < g->count; i++)
		inside += g->fold[i] == fold && fabs(g->truth[i] - g->guess[i]) <= margin;
	return inside;
}

double validation_measured_coverage(const struct validation *c, enum validation_of of,
				    double coverage)
{
	struct guesses g = make_guesses(c, of);
	bool has_held = count_fold(&g, HELD) > 0;
	size_t inside = 0;

	for (unsigned fold = has_held ? HELD : 0; fold < (has_held ? HELD + 1 : FOLDS); fold++) {
		struct conformal others = { 0 };

		if (fit_residuals(&others, &g, fold, NULL) >= 0)
			inside += count_inside(&g, fold, conformal_margin(&others, coverage));
		conformal_release(&others);
	}
	guesses_release(&g);
	if (!isfinite(validation_margin(c, of, coverage)))
		return NAN;
	return (double)inside / (double)c->checked[of];
}

bool validation_supports(const struct validation *c, enum validation_of of, double coverage)
{
	/* Sums of binary fractions may exceed the tolerance by a rounding error. */
	return fabs(validation_measured_coverage(c, of, coverage) - coverage) <=
	       VALIDATION_TOLERANCE + 1e-9;
}

void validation_save(const struct validation *c, struct buf *buf)
{
	blob_put_u64(buf, c->count);
	if (!c->count)
		return;
	blob_put_u64(buf, c->repeat);
	environment_save(&c->environment, buf);
	for (size_t i = 0; i < c->count; i++) {
		const struct validation_case *one = &c->cases[i];
		double numbers[] = { one->ranks, one->bytes, one->predicted, one->measured };

		blob_put_u64(buf, one->group);
		blob_put_u32(buf, (uint32_t)one->transfer);
		blob_put_u32(buf, one->is_read);
		blob_put_u32(buf, one->is_default);
		blob_put_u32(buf, one->is_held);
		blob_put_reals(buf, numbers, 4);
	}
}

static void read_case(struct validation_case *one, struct blob *blob)
{
	double numbers[4];
	uint32_t transfer;

	one->group = blob_take_u64(blob);
	transfer = blob_take_u32(blob);
	if (blob_expect(blob, transfer < TRANSFERS))
		one->transfer = (enum transfer)transfer;
	one->is_read = blob_take_u32(blob) != 0;
	one->is_default = blob_take_u32(blob) != 0;
	one->is_held = blob_take_u32(blob) != 0;
	blob_take_finite(blob, numbers, 4);
	one->ranks = numbers[0];
	one->bytes = numbers[1];
	one->predicted = numbers[2];
	one->measured = numbers[3];
}

int validation_load(struct validation *validation, struct blob *blob, struct err *err)
{
	size_t count = blob_take_count(blob, 4 * sizeof(double));
	AUTO_FREE struct validation_case *cases = xcalloc(count + 1, sizeof(*cases));
	struct environment environment = { 0 };
	uint64_t repeat;

	if (!count)
		return blob_ok(blob) ? 0 : err_set(err, EBADMSG, "its calibration is damaged");
	repeat = blob_take_u64(blob);
	environment_load(&environment, blob);
	for (size_t i = 0; blob_ok(blob) && i < count; i++)
		read_case(&cases[i], blob);
	if (!blob_ok(blob))
		return err_set(err, EBADMSG, "its calibration is damaged");
	return validation_make(validation, cases, count, repeat, &environment, err);
}
