/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/hybrid/advice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/unit.h"
#include "params/space.h"
#include "predict/model/access_words.h"
#include "predict/model/hybrid/claim.h"

void advice_release(struct advice *advice)
{
	choices_release(&advice->choices);
	free(advice->rows);
	advice->rows = NULL;
	advice->row_count = 0;
}

static int find_choices(struct advice *a, struct err *err)
{
	struct space space = { 0 };
	int r;

	if (!a->space)
		return choices_from_catalog(&a->choices, a->hybrid, &a->access, err);
	space.context = (struct tunable_context){ .allowed = TUNABLE_LAYOUT,
						  .ranks = (uint32_t)a->access.ranks,
						  .nodes = (uint32_t)a->access.nodes };
	r = space_read(&space, a->space, err);
	if (r >= 0)
		r = choices_from_space(&a->choices, &space, &a->hybrid->machine, &a->access, err);
	space_release(&space);
	return r;
}

/* Ranks the choices and compares the best one with the initial settings. */
static int find_best(struct advice *a, struct err *err)
{
	size_t wanted = size_min(size_max(a->top, 1), a->choices.count);
	AUTO_FREE size_t *order = xmalloc((wanted + 1) * sizeof(*order));
	AUTO_FREE double *seconds = xmalloc((wanted + 1) * sizeof(*seconds));
	int r = hybrid_best(a->hybrid, &a->access, a->choices.list, a->choices.count, wanted, order,
			    seconds, err);

	if (r <= 0)
		return r < 0 ? r : err_set(err, ENODATA, "the search space contains no settings");
	a->row_count = size_min((size_t)r, a->top);
	a->rows = xcalloc(a->row_count + 1, sizeof(*a->rows));
	for (size_t i = 0; i < a->row_count; i++)
		a->rows[i] = (struct advice_row){ .choice = order[i], .seconds = seconds[i] };
	r = hybrid_recommend(a->hybrid, &a->access, &a->choices.list[order[0]], 1, &a->initial,
			     a->coverage, &a->recommendation, err);
	a->recommendation.best = order[0];
	return r;
}

static int find_intervals(struct advice *a, struct err *err)
{
	struct prediction p;
	int r = hybrid_predict(a->hybrid, &a->access, &a->initial, a->coverage, &p, err);

	if (r >= 0) {
		a->initial_low = p.low;
		a->initial_high = p.high;
	}
	for (size_t i = 0; r >= 0 && i < a->row_count; i++) {
		r = hybrid_predict(a->hybrid, &a->access, &a->choices.list[a->rows[i].choice],
				   a->coverage, &p, err);
		if (r >= 0) {
			a->rows[i].low = p.low;
			a->rows[i].high = p.high;
		}
	}
	return r;
}

int advice_find(struct advice *a, struct err *err)
{
	double began = clock_now_s();
	int r = find_choices(a, err);

	if (r >= 0)
		r = find_best(a, err);
	a->took = clock_now_s() - began;
	return r < 0 ? r : find_intervals(a, err);
}

/* Explains the settings to readers who do not know collective buffering. */
static void put_meaning(const struct advice *a, const struct settings *s, struct buf *out)
{
	const struct machine *machine = &a->hybrid->machine;
	uint64_t buffer = s->buffer_bytes ? s->buffer_bytes : machine->buffer_bytes;
	char bytes[UNIT_TEXT];

	if (s->buffering == BUFFERING_DISABLED)
		buf_printf(out, "Every rank then accesses the file itself%s.\n",
			   !access_has_pieces(&a->access) ? ""
			   : s->sieving == BUFFERING_DISABLED
				   ? ", with one call per piece"
				   : ", in windows that include the bytes between its pieces (data "
				     "sieving)");
	else
		buf_printf(out,
			   "%" PRIu64 " of the %" PRIu64
			   " ranks (aggregators) then access the file for all, with a buffer of "
			   "%s each.\n",
			   counts_aggregators(machine, &a->access, s), a->access.ranks,
			   unit_bytes(bytes, (double)buffer));
}

static bool is_no_change(const struct advice *a)
{
	return a->recommendation.gain < HYBRID_GAIN_LEAST ||
	       settings_equal(&a->choices.list[a->recommendation.best], &a->initial);
}

void advice_verdict(const struct advice *a, struct buf *out)
{
	const struct recommendation *r = &a->recommendation;
	const struct settings *best = &a->choices.list[r->best];
	AUTO_FREE char *line = settings_text(best, &a->hybrid->machine, &a->access);
	char claim[CLAIM_TEXT];

	claim_text(a->hybrid, VALIDATION_GAINS, r->is_calibrated, a->coverage, claim);
	if (!r->keep) {
		buf_printf(out, "Use %s\n", line);
		buf_printf(out, "Predicted speedup: %.2f (%s %.2f to %.2f)\n", r->gain, claim,
			   r->gain_low, r->gain_high);
		put_meaning(a, best, out);
	} else if (is_no_change(a)) {
		buf_puts(out, "No change recommended: no other settings are predicted to be "
			      "faster.\n");
	} else {
		buf_printf(out,
			   "No change recommended. The predicted speedup of %s is %.2f, but it is "
			   "not significant (%s %.2f to %.2f).\n",
			   line, r->gain, claim, r->gain_low, r->gain_high);
	}
}

static void put_verdict(struct json *json, const struct advice *a)
{
	AUTO_BUF struct buf text = { 0 };
	char *rest, *line;

	advice_verdict(a, &text);
	rest = text.data;
	json_open(json, "verdict", '[');
	while ((line = strsep(&rest, "\n")))
		if (*line)
			json_text(json, NULL, line);
	json_close(json);
}

static void put_row(struct json *json, const struct advice *a, const struct advice_row *row)
{
	json_open(json, NULL, '{');
	json_double(json, "predicted", row->seconds);
	json_double(json, "low", row->low);
	json_double(json, "high", row->high);
	settings_json(json, &a->choices.list[row->choice], &a->hybrid->machine, &a->access);
	json_close(json);
}

void advice_json(const struct advice *a, struct json *json)
{
	const struct recommendation *r = &a->recommendation;

	access_json(json, &a->access);
	json_bool(json, "keep", r->keep);
	put_verdict(json, a);
	settings_json(json, &a->choices.list[r->best], &a->hybrid->machine, &a->access);
	json_double(json, "gain", r->gain);
	json_double(json, "gain_low", r->gain_low);
	json_double(json, "gain_high", r->gain_high);
	claim_json(json, a->hybrid, VALIDATION_GAINS, r->is_calibrated, a->coverage);
	json_double(json, "predicted", r->seconds);
	json_double(json, "predicted_now", r->initial_seconds);
	json_double(json, "now_low", a->initial_low);
	json_double(json, "now_high", a->initial_high);
	json_bool(json, "outside", r->is_outside);
	json_text(json, "unknown", buf_text(&a->choices.unknown));
	json_count(json, "candidates", a->choices.count);
	json_double(json, "seconds", a->took);
	json_open(json, "best", '[');
	for (size_t i = 0; i < a->row_count; i++)
		put_row(json, a, &a->rows[i]);
	json_close(json);
}
