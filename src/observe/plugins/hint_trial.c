/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/hint_trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "contract/hints.h"
#include "learn/math/vector.h"
#include "params/set.h"
#include "params/tunable.h"
#include "predict/model/access.h"
#include "predict/model/hybrid/choices.h"
#include "predict/model/hybrid/claim.h"

#define KEY_BYTES 64
#define VALUE_BYTES 512

void hint_trial_release(struct hint_trial *trial)
{
	free(trial->hints);
	trial->hints = NULL;
}

static void read_hints(struct param_set *set, const char *hints)
{
	char key[KEY_BYTES], value[VALUE_BYTES];

	while (hints_next(&hints, key, sizeof(key), value, sizeof(value))) {
		const struct tunable *tunable = tunable_by_name(key);

		if (tunable)
			param_set_put(set, tunable, value, NULL, NULL, 0, NULL);
	}
}

int hint_settings(struct settings *settings, const struct hybrid *hybrid,
		  const struct access *access, const char *hints, struct err *err)
{
	struct param_set set = { 0 };
	int r;

	read_hints(&set, hints);
	r = settings_from_params(settings, &hybrid->machine, access, &set, err);
	param_set_release(&set);
	return r;
}

/*
 * Appends what leads from the hints that the file was opened with to others. False if it cannot
 * change while the file is open.
 */
static bool put_changes(struct buf *out, const struct param_set *opened, const struct param_set *to)
{
	for (size_t i = 0; i < to->count; i++) {
		const struct param *now = param_set_find(opened, to->params[i].tunable, NULL, NULL);

		if (now ? strcmp(now->value, to->params[i].value) != 0
			: hints_change_index(to->params[i].tunable->name) < 0)
			return false;
	}
	for (int i = 0; i < HINTS_CHANGEABLE; i++) {
		const struct tunable *tunable = tunable_by_name(hints_changeable[i]);
		const struct param *param = param_set_find(to, tunable, NULL, NULL);

		if (param && !param_set_find(opened, tunable, NULL, NULL))
			buf_printf(out, "%s%s=%s", out->len ? ";" : "", hints_changeable[i],
				   param->value);
	}
	return out->len > 0;
}

/* The hints that lead to the settings, which the caller frees; NULL: none do. */
static char *hints_to(const struct settings *settings, const struct hybrid *hybrid,
		      const struct access *access, const char *opened)
{
	AUTO_BUF struct buf out = { 0 };
	struct param_set from = { 0 }, to = { 0 };
	bool can;

	read_hints(&from, opened);
	can = settings_to_params(settings, &hybrid->machine, access, &to, NULL) >= 0 &&
	      put_changes(&out, &from, &to);
	param_set_release(&from);
	param_set_release(&to);
	return can ? buf_take(&out) : NULL;
}

/* Finds hints whose predicted speedup is certain; NULL: there are none. */
static char *choose_hints(const struct hybrid *hybrid, const struct access *access,
			  const char *opened, struct recommendation *predicted)
{
	struct choices choices = { 0 };
	struct settings now;
	char *hints = NULL;

	if (hint_settings(&now, hybrid, access, opened, NULL) < 0)
		return NULL;
	choices_while_open(&choices, hybrid, access, &now);
	if (choices.count &&
	    hybrid_recommend(hybrid, access, choices.list, choices.count, &now, HYBRID_COVERAGE,
			     predicted, NULL) >= 0 &&
	    predicted->is_calibrated && !predicted->keep && predicted->gain_low > 1)
		hints = hints_to(&choices.list[predicted->best], hybrid, access, opened);
	choices_release(&choices);
	return hints;
}

/* Does the access count? */
static bool access_counts(struct hint_trial *trial, struct hint_trial_access one)
{
	if (!(one.seconds > 0) || one.begin_ns < trial->next_ns)
		return false;
	trial->next_ns = one.begin_ns + HINT_TRIAL_SPACING_NS;
	return true;
}

const char *hint_trial_before(struct hint_trial *trial, const struct hybrid *hybrid,
			      const struct access *access, const char *opened,
			      struct hint_trial_access one)
{
	if (trial->state > HINT_TRIAL_RUNS || trial->after_count || !access_counts(trial, one))
		return NULL;
	trial->before[trial->before_count++ % HINT_TRIAL_ACCESSES] = one.seconds;
	if (trial->state != HINT_TRIAL_WAITS || trial->before_count < HINT_TRIAL_ACCESSES)
		return NULL;
	trial->hints = choose_hints(hybrid, access, opened, &trial->predicted);
	trial->state = trial->hints ? HINT_TRIAL_RUNS : HINT_TRIAL_NONE;
	return trial->hints;
}

void hint_trial_cancel(struct hint_trial *trial)
{
	hint_trial_release(trial);
	trial->state = HINT_TRIAL_NONE;
}

bool hint_trial_after(struct hint_trial *trial, struct hint_trial_access one)
{
	if (trial->state != HINT_TRIAL_RUNS || !access_counts(trial, one))
		return false;
	trial->after[trial->after_count++] = one.seconds;
	if (trial->after_count < HINT_TRIAL_ACCESSES)
		return false;
	trial->state = ratio_interval(trial->before, HINT_TRIAL_ACCESSES, trial->after,
				      HINT_TRIAL_ACCESSES, &trial->measured) &&
				       trial->measured.low > 1
			       ? HINT_TRIAL_KEPT
			       : HINT_TRIAL_FAILED;
	return trial->state == HINT_TRIAL_FAILED;
}

static const char *show_median(char out[UNIT_TEXT], const double *seconds, size_t count)
{
	double copy[HINT_TRIAL_ACCESSES];

	memcpy(copy, seconds, count * sizeof(*copy));
	return unit_ns(out, (int64_t)(vector_median(copy, count) * NS_PER_S));
}

void hint_trial_applied(const struct hint_trial *trial, struct buf *out)
{
	char before[UNIT_TEXT], after[UNIT_TEXT];

	if (!trial->after_count)
		return;
	buf_printf(out, "with %s: median %s before, %s after", trial->hints,
		   show_median(before, trial->before, HINT_TRIAL_ACCESSES),
		   show_median(after, trial->after, trial->after_count));
	if (trial->state == HINT_TRIAL_RUNS)
		buf_puts(out, " (too few accesses to compare)");
	else if (trial->state == HINT_TRIAL_FAILED)
		buf_puts(out, ", therefore withdrawn");
}

void hint_trial_describe(const struct hint_trial *trial, const struct hybrid *hybrid,
			 struct buf *out)
{
	const struct recommendation *r = &trial->predicted;
	const struct ratio_interval *m = &trial->measured;
	char claim[CLAIM_TEXT];

	claim_text(hybrid, VALIDATION_GAINS, true, HYBRID_COVERAGE, claim);
	buf_printf(out, "%s: predicted speedup %.2f (%s %.2f to %.2f)", trial->hints, r->gain,
		   claim, r->gain_low, r->gain_high);
	if (trial->state == HINT_TRIAL_RUNS)
		buf_printf(out, "; not measured, because %zu of %d accesses were made with them",
			   trial->after_count, HINT_TRIAL_ACCESSES);
	else
		buf_printf(out, "; measured %.2f (95 %% confidence interval %.2f to %.2f)%s",
			   m->middle, m->low, m->high,
			   trial->state == HINT_TRIAL_FAILED ? "; withdrawn" : "");
}
