/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processes time once, from the first row to the last. Two lists of the same rows are walked in
 * parallel: one by the time at which a row asks for a prediction, one by the time at which its
 * outcome becomes known. An outcome is used for rows that ask strictly later.
 */
#include "bench/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/judge/conformal.h"
#include "learn/math/vector.h"
#include "learn/table/dataset.h"

/* A row and a time; lists are sorted by group, then time, then row. */
struct instant {
	double group, when;
	size_t row;
};

static int compare_instants(const void *a, const void *b)
{
	const struct instant *one = a, *other = b;

	if (one->group != other->group)
		return one->group < other->group ? -1 : 1;
	if (one->when != other->when)
		return one->when < other->when ? -1 : 1;
	return (one->row > other->row) - (one->row < other->row);
}

/* An outcome is never known before its own row asks; a missing outcome is never known. */
static double outcome_time(double time, double known, double value)
{
	return isfinite(value) && !isnan(known) ? fmax(known, time) : INFINITY;
}

struct past {
	double *values; /* ring of the newest values */
	size_t room, count, next;
	double weighted, weight; /* sums of the exponentially weighted mean */
};

/* Value number `back` from the end; 0 is the newest. */
static double past_value(const struct past *past, size_t back)
{
	return back < past->count ? past->values[(past->next + past->room - 1 - back) % past->room]
				  : NAN;
}

static void past_add(struct past *past, double value, double decay)
{
	past->weighted = past->weighted * decay + value;
	past->weight = past->weight * decay + 1;
	if (!past->room)
		return;
	past->values[past->next] = value;
	past->next = (past->next + 1) % past->room;
	past->count += past->count < past->room;
}

/* Mean and deviation (n - 1) of the newest `window` values, or of fewer if there are fewer. */
static void past_moments(const struct past *past, size_t window, double *mean, double *deviation)
{
	size_t count = past->count < window ? past->count : window;
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		sum += past_value(past, i);
	*mean = count ? sum / (double)count : NAN;
	for (size_t i = 0; i < count; i++)
		squares += (past_value(past, i) - *mean) * (past_value(past, i) - *mean);
	*deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
}

/* The number of features; feature_name() and fill_features() define their order. */
static size_t feature_count(const struct series_lags *lags)
{
	return lags->lags + (lags->window ? 2 : 0) + (lags->half_life > 0);
}

static char *feature_name(const struct series_lags *lags, const char *value, size_t feature)
{
	size_t rest = feature - lags->lags;

	if (feature < lags->lags)
		return xprintf("%s_lag%zu", value, feature + 1);
	if (lags->window && rest < 2)
		return xprintf("%s_%s", value, rest ? "deviation" : "mean");
	return xprintf("%s_ewm", value);
}

static void fill_features(const struct series_lags *lags, const struct past *past, double *out)
{
	for (size_t i = 0; i < lags->lags; i++)
		*out++ = past_value(past, i);
	if (lags->window) {
		past_moments(past, lags->window, &out[0], &out[1]);
		out += 2;
	}
	if (lags->half_life > 0)
		*out = past->weight > 0 ? past->weighted / past->weight : NAN;
}

/*
 * Processes one group: `asks` and `outcomes` are the same rows. features is rows x feature_count.
 */
static void walk_group(const struct dataset *dataset, const struct series_lags *lags,
		       const struct instant *asks, const struct instant *outcomes, size_t count,
		       struct past *past, double *features)
{
	double decay = lags->half_life > 0 ? exp2(-1 / lags->half_life) : 0;
	size_t known = 0;

	past->count = past->next = 0;
	past->weighted = past->weight = 0;
	for (size_t i = 0; i < count; i++) {
		for (; known < count && outcomes[known].when < asks[i].when; known++)
			past_add(past, dataset_row(dataset, outcomes[known].row)[lags->value],
				 decay);
		fill_features(lags, past, features + asks[i].row * feature_count(lags));
	}
}

/* Rows without a time or group are skipped. */
static size_t make_instants(const struct dataset *dataset, const struct series_lags *lags,
			    struct instant *asks, struct instant *outcomes)
{
	size_t count = 0;

	for (size_t i = 0; i < dataset->rows; i++) {
		const double *row = dataset_row(dataset, i);
		double group = lags->group ? lags->group[i] : 0;

		if (isnan(row[lags->time]) || isnan(group))
			continue;
		asks[count] = (struct instant){ group, row[lags->time], i };
		outcomes[count] = asks[count];
		outcomes[count++].when =
			outcome_time(row[lags->time], row[lags->known], row[lags->value]);
	}
	qsort(asks, count, sizeof(*asks), compare_instants);
	qsort(outcomes, count, sizeof(*outcomes), compare_instants);
	return count;
}

static void make_features(const struct dataset *dataset, const struct series_lags *lags,
			  double *features)
{
	AUTO_FREE struct instant *asks = xmalloc(dataset->rows * sizeof(*asks)),
				 *outcomes = xmalloc(dataset->rows * sizeof(*outcomes));
	size_t room = lags->lags > lags->window ? lags->lags : lags->window;
	AUTO_FREE double *ring = xmalloc(room * sizeof(*ring));
	struct past past = { .values = ring, .room = room };
	size_t count = make_instants(dataset, lags, asks, outcomes);

	for (size_t i = 0; i < dataset->rows * feature_count(lags); i++)
		features[i] = NAN;
	for (size_t start = 0, end; start < count; start = end) {
		for (end = start; end < count && asks[end].group == asks[start].group;)
			end++;
		walk_group(dataset, lags, asks + start, outcomes + start, end - start, &past,
			   features);
	}
}

int series_add_lags(struct dataset *dataset, const struct series_lags *lags, struct err *err)
{
	size_t count = feature_count(lags);
	AUTO_FREE double *features = NULL, *column = NULL;

	if (lags->time >= dataset->width || lags->known >= dataset->width ||
	    lags->value >= dataset->width)
		return err_set(err, EINVAL, "the column for lags does not exist in the table");
	if (dataset->columns[lags->value].levels)
		return err_set(err, EINVAL, "%s is a text column; lags need numbers",
			       dataset->columns[lags->value].name);
	features = xmalloc(dataset->rows * count * sizeof(*features));
	column = xmalloc(dataset->rows * sizeof(*column));
	make_features(dataset, lags, features);
	for (size_t f = 0; f < count; f++) {
		AUTO_FREE char *name = feature_name(lags, dataset->columns[lags->value].name, f);

		for (size_t i = 0; i < dataset->rows; i++)
			column[i] = features[i * count + f];
		dataset_add(dataset, name, column);
	}
	return 0;
}

enum {
	MEMORY = 500,	/* default number of errors */
	OWN_ERRORS = 20 /* a group with fewer errors uses those of all groups */
};
#define STEP 0.02

struct roll {
	const struct series_plan *plan;
	const struct samples *samples;
	size_t *asks, *outcomes; /* rows by time, and by the time of their outcome */
	double *when;		 /* time of the outcome of each row */
	size_t known;		 /* number of outcomes so far */
	double *margin;		 /* margin of each row; NAN: none */
	size_t *group_of; /* group of each row; group 0 has all rows and determines the level */
	struct adaptive *errors; /* one per group */
	size_t groups;
	struct pipeline model;
	struct series_result *result;
};

static void copy_order(const struct instant *instants, size_t count, size_t *rows)
{
	for (size_t i = 0; i < count; i++)
		rows[i] = instants[i].row;
}

static int order_times(struct roll *roll, struct err *err)
{
	const struct series_plan *plan = roll->plan;
	size_t rows = roll->samples->rows;
	AUTO_FREE struct instant *instants = xmalloc(rows * sizeof(*instants));

	for (size_t i = 0; i < rows; i++) {
		if (isnan(plan->time[i]))
			return err_set(err, EINVAL, "row %zu has no time", i + 1);
		instants[i] = (struct instant){ 0, plan->time[i], i };
	}
	qsort(instants, rows, sizeof(*instants), compare_instants);
	copy_order(instants, rows, roll->asks);
	for (size_t i = 0; i < rows; i++) {
		roll->when[i] =
			outcome_time(plan->time[i], plan->known ? plan->known[i] : plan->time[i],
				     roll->samples->y[i]);
		instants[i] = (struct instant){ 0, roll->when[i], i };
	}
	qsort(instants, rows, sizeof(*instants), compare_instants);
	copy_order(instants, rows, roll->outcomes);
	return 0;
}

/* A row without a group belongs to group 0 only. */
static void number_groups(struct roll *roll)
{
	size_t rows = roll->samples->rows, count = 0;
	AUTO_FREE struct instant *instants = xmalloc(rows * sizeof(*instants));

	roll->groups = 1;
	if (!roll->plan->group)
		return;
	for (size_t i = 0; i < rows; i++) {
		if (!isnan(roll->plan->group[i]))
			instants[count++] = (struct instant){ roll->plan->group[i], 0, i };
	}
	qsort(instants, count, sizeof(*instants), compare_instants);
	for (size_t i = 0; i < count; i++) {
		roll->groups += !i || instants[i].group != instants[i - 1].group;
		roll->group_of[instants[i].row] = roll->groups - 1;
	}
}

static void roll_init(struct roll *roll)
{
	const struct series_plan *plan = roll->plan;
	size_t rows = roll->samples->rows;

	roll->asks = xmalloc(rows * sizeof(*roll->asks));
	roll->outcomes = xmalloc(rows * sizeof(*roll->outcomes));
	roll->when = xmalloc(rows * sizeof(*roll->when));
	roll->margin = xmalloc(rows * sizeof(*roll->margin));
	roll->group_of = xcalloc(rows, sizeof(*roll->group_of));
	number_groups(roll);
	roll->errors = xcalloc(roll->groups, sizeof(*roll->errors));
	for (size_t i = 0; i < roll->groups; i++)
		adaptive_init(&roll->errors[i], plan->coverage, plan->step > 0 ? plan->step : STEP,
			      plan->memory ? plan->memory : MEMORY);
}

static void roll_release(struct roll *roll)
{
	for (size_t i = 0; i < roll->groups; i++)
		adaptive_release(&roll->errors[i]);
	free(roll->errors);
	free(roll->asks);
	free(roll->outcomes);
	free(roll->when);
	free(roll->margin);
	free(roll->group_of);
	pipeline_release(&roll->model);
}

/* Fits to the newest outcomes except for the last `spared` ones. */
static int refit_model(struct roll *roll, size_t spared, struct err *err)
{
	const struct series_plan *plan = roll->plan;
	size_t known = roll->known - spared;
	size_t count = plan->window && plan->window < known ? plan->window : known;
	struct pipeline model = { 0 };
	int r;

	r = pipeline_fit(&model, &plan->pipeline, roll->samples, roll->outcomes + known - count,
			 count, &plan->effort, err);
	if (r < 0)
		return r;
	pipeline_release(&roll->model);
	roll->model = model;
	roll->result->fits++;
	return 0;
}

static double prediction_error(const struct roll *roll, size_t row, double guess)
{
	double truth = roll->samples->y[row];

	return fabs(roll->plan->pipeline.log_target ? log(truth / guess) : truth - guess);
}

/*
 * All groups share one level, which every outcome moves, so that the promised coverage holds over
 * all rows; the errors of a group determine the width for that group.
 */
static double give_margin(struct roll *roll, size_t row)
{
	struct adaptive *own = &roll->errors[roll->group_of[row]];

	if (own->count < OWN_ERRORS)
		own = &roll->errors[0];
	own->missing = roll->errors[0].missing;
	return adaptive_margin(own);
}

static void learn_margin(struct roll *roll, size_t row)
{
	double error = prediction_error(roll, row, roll->result->guess[row]);

	if (isnan(roll->margin[row]))
		return;
	adaptive_learn(&roll->errors[0], roll->margin[row], error);
	if (roll->group_of[row])
		adaptive_seed(&roll->errors[roll->group_of[row]], error);
}

/*
 * Before the first prediction, errors come from the last quarter of the first rows, predicted by a
 * model of the other three quarters.
 */
static int seed_margins(struct roll *roll, struct err *err)
{
	size_t spared = roll->known / 4;
	const size_t *rows = roll->outcomes + roll->known - spared;
	AUTO_FREE double *guesses = xmalloc(spared * sizeof(*guesses));
	int r = refit_model(roll, spared, err);

	if (r < 0)
		return r;
	pipeline_predict_rows(&roll->model, roll->samples->x, rows, spared, guesses);
	for (size_t i = 0; i < spared; i++) {
		double error = prediction_error(roll, rows[i], guesses[i]);

		adaptive_seed(&roll->errors[0], error);
		if (roll->group_of[rows[i]])
			adaptive_seed(&roll->errors[roll->group_of[rows[i]]], error);
	}
	return 0;
}

/* Advances time to `now` and learns the outcomes that are known before it. */
static void learn_outcomes(struct roll *roll, double now)
{
	for (; roll->known < roll->samples->rows; roll->known++) {
		size_t row = roll->outcomes[roll->known];

		if (!(roll->when[row] < now))
			break;
		if (roll->plan->coverage > 0)
			learn_margin(roll, row);
	}
}

static void give_interval(struct roll *roll, size_t row)
{
	struct series_result *result = roll->result;
	double margin = give_margin(roll, row), guess = result->guess[row];
	bool logarithm = roll->plan->pipeline.log_target;

	roll->margin[row] = margin;
	result->low[row] = logarithm ? guess * exp(-margin) : guess - margin;
	result->high[row] = logarithm ? guess * exp(margin) : guess + margin;
	result->unbounded += isinf(margin);
	result->covered += prediction_error(roll, row, guess) <= margin;
}

/*
 * Predicts the rows from one fit to the next. Predictions do not depend on outcomes in between;
 * intervals do.
 */
static int predict_stretch(struct roll *roll, size_t from, size_t to, struct err *err)
{
	const struct series_plan *plan = roll->plan;
	AUTO_FREE double *guesses = xmalloc((to - from) * sizeof(*guesses));
	const size_t *rows = roll->asks + from;
	int r = 0;

	learn_outcomes(roll, plan->time[rows[0]]);
	if (!roll->known)
		return err_set(err, ENODATA, "no outcome is known before the first prediction");
	if (plan->coverage > 0 && from == plan->first)
		r = seed_margins(roll, err);
	if (r >= 0)
		r = refit_model(roll, 0, err);
	if (r < 0)
		return r;
	pipeline_predict_rows(&roll->model, roll->samples->x, rows, to - from, guesses);
	for (size_t i = 0; i < to - from; i++) {
		roll->result->guess[rows[i]] = guesses[i];
		roll->result->predicted++;
		if (plan->coverage > 0) {
			learn_outcomes(roll, plan->time[rows[i]]);
			give_interval(roll, rows[i]);
		}
	}
	return 0;
}

static void result_init(struct series_result *result, const struct series_plan *plan, size_t rows)
{
	*result = (struct series_result){ .guess = vector_new_nan(rows) };
	if (plan->coverage > 0) {
		result->low = vector_new_nan(rows);
		result->high = vector_new_nan(rows);
	}
}

static int check_plan(const struct series_plan *plan, const struct samples *samples,
		      struct err *err)
{
	if (samples->classes)
		return err_set(err, EINVAL, "a series needs a numeric target");
	if (!plan->first || plan->first >= samples->rows)
		return err_set(err, EINVAL,
			       "%zu of %zu rows in the first training set leave no rows to predict",
			       plan->first, samples->rows);
	if (!(plan->coverage >= 0 && plan->coverage < 1))
		return err_set(err, EINVAL, "invalid coverage %g; expected at least 0 and below 1",
			       plan->coverage);
	return 0;
}

static int run_roll(struct roll *roll, struct err *err)
{
	const struct series_plan *plan = roll->plan;
	size_t rows = roll->samples->rows, every = plan->every ? plan->every : rows;
	int r = order_times(roll, err);

	for (size_t i = 0; i < rows; i++)
		roll->margin[i] = NAN;
	for (size_t from = plan->first; r >= 0 && from < rows; from += every)
		r = predict_stretch(roll, from, rows - from < every ? rows : from + every, err);
	return r;
}

int series_roll(struct series_result *result, const struct series_plan *plan,
		const struct samples *samples, struct err *err)
{
	struct series_result made;
	struct roll roll = { .plan = plan, .samples = samples, .result = &made };
	int r = check_plan(plan, samples, err);

	if (r < 0)
		return r;
	result_init(&made, plan, samples->rows);
	roll_init(&roll);
	r = run_roll(&roll, err);
	roll_release(&roll);
	if (r < 0)
		series_result_release(&made);
	else
		*result = made;
	return r;
}

void series_result_release(struct series_result *result)
{
	free(result->guess);
	free(result->low);
	free(result->high);
	*result = (struct series_result){ 0 };
}
