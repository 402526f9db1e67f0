/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recommends settings: finds the fastest, and the prediction interval of the gain over the default.
 * Papers: HYB-46.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "predict/model/hybrid/hybrid_internal.h"

/* A distinct pair of operation and arguments in two predictions. */
struct common {
	enum operation operation;
	struct elemental at;
	double margin;
	double from, to; /* its fraction of both times */
};

static struct common *find_or_add_common(struct common *list, size_t *count,
					 const struct prediction *p, size_t at)
{
	const struct term *term = &p->counts.terms[at];

	for (size_t i = 0; i < *count; i++)
		if (list[i].operation == term->operation &&
		    elementals_are_same(&list[i].at, &term->at))
			return &list[i];
	list[*count] = (struct common){ .operation = term->operation,
					.at = term->at,
					.margin = p->margins[at] };
	return &list[(*count)++];
}

/* The change of the logarithm of the gain by a shift of one cost. */
static double shift_effect(const struct common *common, double shift)
{
	double change = expm1(shift);

	/* An infinite margin makes the term dominate both times. */
	if (isinf(change))
		return common->from > 0 && common->to > 0 ? log(common->from / common->to)
		       : common->from > 0		  ? INFINITY
		       : common->to > 0			  ? -INFINITY
							  : 0;
	return log1p(common->from * change) - log1p(common->to * change);
}

/* Effects of upward and downward shifts in one direction of the gain. */
struct effects {
	double up[OPERATIONS], down[OPERATIONS];
};

static void add_effect(struct effects *effects, const struct common *common, double sign)
{
	double up = sign * shift_effect(common, common->margin);
	double down = sign * shift_effect(common, -common->margin);

	if (up > down)
		effects->up[common->operation] += fmax(up, 0);
	else
		effects->down[common->operation] += fmax(down, 0);
}

static double combine_effects(const struct effects *effects)
{
	double squares = 0;

	for (int i = 0; i < OPERATIONS; i++)
		squares += effects->up[i] * effects->up[i] + effects->down[i] * effects->down[i];
	return sqrt(squares);
}

/* The time if every term with slack is as cheap as possible. */
static double seconds_with_slack(const struct prediction *p)
{
	double seconds = 0;

	for (size_t i = 0; i < p->counts.count; i++)
		seconds += p->terms[i] * exp(-p->slacks[i]);
	return seconds * p->correction;
}

static void set_calibrated_gain(const struct prediction *from, const struct prediction *to,
				struct gain *gain)
{
	gain->is_calibrated =
		from->is_calibrated && to->is_calibrated && isfinite(from->gain_margin);
	if (!gain->is_calibrated)
		return;
	gain->low = gain->gain * exp(-from->gain_margin);
	gain->high = gain->gain * exp(from->gain_margin);
}

void hybrid_gain(const struct prediction *from, const struct prediction *to, struct gain *gain)
{
	struct common list[2 * COUNTS_TERMS];
	struct effects lower = { 0 }, higher = { 0 };
	size_t count = 0;
	double slack;

	for (size_t i = 0; i < from->counts.count; i++)
		find_or_add_common(list, &count, from, i)->from +=
			from->correction * from->terms[i] / from->seconds;
	for (size_t i = 0; i < to->counts.count; i++)
		find_or_add_common(list, &count, to, i)->to +=
			to->correction * to->terms[i] / to->seconds;
	for (size_t i = 0; i < count; i++) {
		add_effect(&lower, &list[i], -1);
		add_effect(&higher, &list[i], 1);
	}
	gain->gain = from->seconds / to->seconds;
	slack = seconds_with_slack(from) / seconds_with_slack(to);
	gain->low = fmin(gain->gain, slack) * exp(-combine_effects(&lower));
	gain->high = fmax(gain->gain, slack) * exp(combine_effects(&higher));
	set_calibrated_gain(from, to, gain);
}

int hybrid_recommend(const struct hybrid *hybrid, const struct access *access,
		     const struct settings *settings, size_t count, const struct settings *initial,
		     double coverage, struct recommendation *recommendation, struct err *err)
{
	struct recommendation made = { 0 };
	struct prediction from, to;
	struct gain gain;
	int r = hybrid_best(hybrid, access, settings, count, 1, &made.best, &made.seconds, err);

	if (!r)
		return err_set(err, ENODATA, "the list of settings is empty");
	if (r >= 0)
		r = hybrid_predict(hybrid, access, initial, coverage, &from, err);
	if (r >= 0)
		r = hybrid_predict(hybrid, access, &settings[made.best], coverage, &to, err);
	if (r < 0)
		return r;
	hybrid_gain(&from, &to, &gain);
	made.gain = gain.gain;
	made.gain_low = gain.low;
	made.gain_high = gain.high;
	made.keep = !(gain.low > 1) || !(made.gain >= HYBRID_GAIN_LEAST);
	made.is_calibrated = gain.is_calibrated;
	made.is_outside = from.is_outside || to.is_outside;
	made.initial_seconds = from.seconds;
	*recommendation = made;
	return 0;
}
