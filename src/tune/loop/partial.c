/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/partial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* A parameter in which the winner differs from the baseline. from, to: values; NULL: unset. */
struct change {
	const struct tunable *tunable;
	const char *file, *object;
	const char *from, *to;
};

struct changes {
	struct change *list;
	size_t count, cap;
};

void partial_release(struct partial *partial)
{
	for (size_t i = 0; i < partial->count; i++) {
		free(partial->rows[i].label);
		free(partial->rows[i].refusal);
		param_set_release(&partial->rows[i].set);
	}
	free(partial->rows);
	*partial = (struct partial){ 0 };
}

static size_t find_param(const struct param_set *set, const struct tunable *tunable,
			 const char *file, const char *object)
{
	size_t i = 0;

	while (i < set->count &&
	       (set->params[i].tunable != tunable || !text_equal(set->params[i].file, file) ||
		!text_equal(set->params[i].object, object)))
		i++;
	return i;
}

static void add_change(struct changes *changes, const struct param *param, const char *from,
		       const char *to)
{
	if (text_equal(from, to))
		return;
	changes->list =
		xgrow(changes->list, &changes->cap, changes->count + 1, sizeof(*changes->list));
	changes->list[changes->count++] =
		(struct change){ param->tunable, param->file, param->object, from, to };
}

static void find_changes(struct changes *changes, const struct param_set *initial,
			 const struct param_set *winner)
{
	for (size_t i = 0; i < winner->count; i++) {
		const struct param *p = &winner->params[i];
		size_t at = find_param(initial, p->tunable, p->file, p->object);

		add_change(changes, p, at < initial->count ? initial->params[at].value : NULL,
			   p->value);
	}
	for (size_t i = 0; i < initial->count; i++) {
		const struct param *p = &initial->params[i];

		if (find_param(winner, p->tunable, p->file, p->object) == winner->count)
			add_change(changes, p, p->value, NULL);
	}
}

static void remove_param(struct param_set *set, size_t at)
{
	free(set->params[at].value);
	free(set->params[at].file);
	free(set->params[at].object);
	set->count--;
	memmove(&set->params[at], &set->params[at + 1], (set->count - at) * sizeof(*set->params));
}

static void apply_change(struct param_set *set, const struct change *change, const char *value)
{
	size_t at = find_param(set, change->tunable, change->file, change->object);

	/* Cannot fail: the value was valid in another set. */
	if (value)
		param_set_put(set, change->tunable, value, change->file, change->object, 0, NULL);
	else if (at < set->count)
		remove_param(set, at);
}

static char *label_change(const struct change *change, const char *before)
{
	AUTO_BUF struct buf text = { 0 };

	buf_printf(&text, "%s%s", before, change->tunable->name);
	buf_printf(&text, change->to ? "=%s" : " unset%s", change->to ? change->to : "");
	if (change->file)
		buf_printf(&text, "@%s", change->file);
	if (change->object)
		buf_printf(&text, ":%s", change->object);
	return buf_take(&text);
}

/* Takes over the label and the set. */
static struct partial_row *append_row(struct partial *partial, enum partial_kind kind, char *label,
				      struct param_set *set)
{
	struct partial_row *row;

	partial->rows =
		xgrow(partial->rows, &partial->cap, partial->count + 1, sizeof(*partial->rows));
	row = &partial->rows[partial->count];
	*row = (struct partial_row){ .kind = kind, .label = label, .set = *set };
	row->cost = row->factor = row->share = NAN;
	while (row->same < partial->count &&
	       !param_set_equal(&partial->rows[row->same].set, &row->set))
		row->same++;
	partial->count++;
	return row;
}

static void keep_first_refusal(void *arg, const struct param *param, bool drop, const char *text)
{
	char **refusal = arg;

	(void)param;
	if (drop && !*refusal)
		*refusal = xstrdup(text);
}

static void append_layer_row(struct partial *partial, const struct param_set *initial,
			     const struct changes *changes, enum tunable_layer layer)
{
	struct param_set set;
	size_t applied = 0;

	param_set_copy(&set, initial);
	for (size_t i = 0; i < changes->count; i++) {
		if (changes->list[i].tunable->layer != layer)
			continue;
		apply_change(&set, &changes->list[i], changes->list[i].to);
		applied++;
	}
	if (!applied) {
		param_set_release(&set);
		return;
	}
	append_row(partial, PARTIAL_LAYER, xstrdup(tunable_layer_name(layer)), &set)->layer = layer;
}

static void append_change_row(struct partial *partial, const struct param_set *base,
			      const struct change *change, enum partial_kind kind)
{
	bool alone = kind == PARTIAL_ALONE;
	struct partial_row *row;
	struct param_set set;

	param_set_copy(&set, base);
	apply_change(&set, change, alone ? change->to : change->from);
	row = append_row(partial, kind, label_change(change, alone ? "" : "without "), &set);
	row->layer = change->tunable->layer;
	row->tunable = change->tunable;
}

void partial_plan(struct partial *partial, const struct param_set *initial,
		  const struct param_set *winner, const struct tunable_context *context)
{
	struct tunable_context named = *context;
	struct changes changes = { 0 };
	struct param_set set;

	*partial = (struct partial){ 0 };
	find_changes(&changes, initial, winner);
	param_set_copy(&set, initial);
	append_row(partial, PARTIAL_DEFAULT, xstrdup("default"), &set);
	for (int layer = 0; layer < TUNABLE_LAYERS; layer++)
		append_layer_row(partial, initial, &changes, (enum tunable_layer)layer);
	for (size_t i = 0; i < changes.count; i++)
		append_change_row(partial, initial, &changes.list[i], PARTIAL_ALONE);
	for (size_t i = 0; i < changes.count; i++)
		append_change_row(partial, winner, &changes.list[i], PARTIAL_WITHOUT);
	param_set_copy(&set, winner);
	append_row(partial, PARTIAL_FULL, xstrdup("all"), &set);
	free(changes.list);
	/* The parameters of the winner were allowed when it was chosen. */
	named.allowed = TUNABLE_SEMANTICS;
	for (size_t i = 0; i < partial->count; i++)
		param_set_check(&partial->rows[i].set, &named, keep_first_refusal,
				&partial->rows[i].refusal);
}

bool partial_next(struct partial *partial, size_t *row)
{
	while (partial->next < partial->count) {
		const struct partial_row *r = &partial->rows[partial->next++];

		if (r->same != partial->next - 1 || r->refusal || !isnan(r->cost))
			continue;
		*row = partial->next - 1;
		return true;
	}
	return false;
}

size_t partial_find(const struct partial *partial, enum partial_kind kind)
{
	size_t i = 0;

	while (i < partial->count && partial->rows[i].kind != kind)
		i++;
	return i;
}

static void rate_row(struct partial_row *row, double initial, double full)
{
	double gain = log(initial / full), part;

	row->factor = initial / row->cost;
	part = row->kind == PARTIAL_WITHOUT ? log(row->cost / full) : log(initial / row->cost);
	row->share = gain > 0 ? part / gain : NAN;
}

void partial_tell(struct partial *partial, size_t row, double cost)
{
	double initial, full;

	for (size_t i = 0; i < partial->count; i++)
		if (partial->rows[i].same == partial->rows[row].same)
			partial->rows[i].cost = cost;
	initial = partial->rows[partial_find(partial, PARTIAL_DEFAULT)].cost;
	full = partial->rows[partial_find(partial, PARTIAL_FULL)].cost;
	for (size_t i = 0; i < partial->count; i++)
		rate_row(&partial->rows[i], initial, full);
}

bool partial_is_shown(const struct partial *partial, size_t row)
{
	static const int ranks[] = { [PARTIAL_DEFAULT] = 0,
				     [PARTIAL_FULL] = 1,
				     [PARTIAL_ALONE] = 2,
				     [PARTIAL_LAYER] = 3,
				     [PARTIAL_WITHOUT] = 4 };
	const struct partial_row *rows = partial->rows;

	for (size_t i = 0; i < partial->count; i++)
		if (rows[i].same == rows[row].same && ranks[rows[i].kind] < ranks[rows[row].kind])
			return false;
	return true;
}
