/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The results of `sluice model calibrate`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/model/calibrate.h"
#include "cmd/model/model.h"
#include "learn/math/vector.h"
#include "predict/model/access_words.h"

static const char *const ways[] = { "write", "read" };

static const char *transfer_name(enum transfer transfer, char out[16])
{
	option_choice_name(TRANSFER_WORDS, (int)transfer, out, 16);
	return out;
}

/* Half the width of an interval as a factor: a margin of 0.69 is "2.0". */
static double margin_factor(const struct validation *v, enum validation_of of, double coverage)
{
	return exp(validation_margin(v, of, coverage));
}

static void print_corrections(const struct validation *v)
{
	static const char *const titles[] = { "direction", "transfer", ">accesses", ">correction",
					      NULL };
	struct table table;
	char name[16];

	table_init(&table, titles);
	for (int way = 0; way < 2; way++)
		for (int t = 0; t < TRANSFERS; t++) {
			if (!v->seen[way][t])
				continue;
			table_add(&table, "%s", ways[way]);
			table_add(&table, "%s", transfer_name((enum transfer)t, name));
			table_add(&table, "%zu", v->seen[way][t]);
			table_add(&table, "%.2f", validation_correction(v, way, (enum transfer)t));
		}
	table_print(&table, stdout, 2);
	table_release(&table);
}

static void print_interval(const struct calibrate_run *run, enum validation_of of, const char *what)
{
	const struct validation *v = &run->hybrid.validation;
	double factor = margin_factor(v, of, run->coverage);

	if (!isfinite(factor))
		term_sentence(stdout,
			      "%s: too few accesses for an interval with a coverage of %.0f %%\n",
			      what, 100 * run->coverage);
	else
		term_sentence(
			stdout,
			"%s: within a factor of %.2f; %.0f %% of %zu held-out measurements are "
			"inside (claimed: %.0f %%)%s\n",
			what, factor, 100 * validation_measured_coverage(v, of, run->coverage),
			v->checked[of], 100 * run->coverage,
			validation_supports(v, of, run->coverage) ? "" : ": not supported");
}

static void show_json(const struct calibrate_run *run)
{
	const struct validation *v = &run->hybrid.validation;
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	json_count(&json, "accesses", run->accesses);
	json_count(&json, "cases", v->count);
	json_count(&json, "held_out", v->checked[VALIDATION_TIMES]);
	json_count(&json, "repeat", v->repeat);
	json_double(&json, "load", v->environment.load);
	json_text(&json, "library", v->environment.library);
	json_text(&json, "library_version", v->environment.version);
	json_double(&json, "coverage", run->coverage);
	json_double(&json, "measured_coverage",
		    validation_measured_coverage(v, VALIDATION_TIMES, run->coverage));
	json_bool(&json, "supported", validation_supports(v, VALIDATION_TIMES, run->coverage));
	json_double(&json, "time_factor", margin_factor(v, VALIDATION_TIMES, run->coverage));
	json_double(&json, "gain_factor", margin_factor(v, VALIDATION_GAINS, run->coverage));
	json_double(&json, "measured_gain_coverage",
		    validation_measured_coverage(v, VALIDATION_GAINS, run->coverage));
	json_end(&json);
}

void calibrate_show(const struct calibrate_run *run, bool json)
{
	const struct validation *v = &run->hybrid.validation;

	if (json) {
		show_json(run);
		return;
	}
	term_sentence(stdout, "%zu accesses, %zu measurements, medians of %lu runs, load %.1f\n",
		      run->accesses, v->count, v->repeat, v->environment.load);
	print_corrections(v);
	print_interval(run, VALIDATION_TIMES, "times");
	print_interval(run, VALIDATION_GAINS, "speedups");
}

/* ---- --check ---- */

static const struct validation_case *find_case(const struct calibrate_run *run, size_t at, int way)
{
	return &run->cases[at * (size_t)run->ways + (size_t)way];
}

/* The settings that a user without a model would try: the default, and a hint that enables or
 * disables collective buffering. */
static bool is_plain(const struct settings *s)
{
	struct settings plain = { .buffering = s->buffering };

	return settings_equal(s, &plain);
}

/* How the recommendation of one access compares. */
struct comparison {
	double recommended, initial, best; /* seconds; best: of the plain settings */
};

static struct comparison compare_access(const struct calibrate_run *run, size_t group, int way)
{
	struct comparison c = { .best = INFINITY };

	for (size_t i = 0; i < run->plan.count; i++) {
		const struct validate_case *one = &run->plan.cases[i];
		double seconds = find_case(run, i, way)->measured;

		if (one->group != group)
			continue;
		if (run->recommended[group][way] == i)
			c.recommended = seconds;
		if (find_case(run, i, way)->is_default)
			c.initial = seconds;
		if (is_plain(&one->settings))
			c.best = fmin(c.best, seconds);
	}
	return c;
}

struct check {
	size_t inside, claimed; /* claimed: cases with a calibrated interval */
	size_t count;		/* accesses and directions */
	double median_regret, worst_regret, median_speedup, mean_speedup;
	size_t changed; /* recommendations other than the default */
	double median_ratio;
};

static struct check make_check(const struct calibrate_run *run)
{
	size_t most = run->plan.access_count * (size_t)run->ways + run->count;
	AUTO_FREE double *regrets = xmalloc((most + 1) * sizeof(*regrets));
	AUTO_FREE double *speedups = xmalloc((most + 1) * sizeof(*speedups));
	AUTO_FREE double *ratios = xmalloc((most + 1) * sizeof(*ratios));
	struct check check = { 0 };

	for (size_t i = 0; i < run->count; i++) {
		const struct prediction *p = &run->predictions[i];
		double measured = run->cases[i].measured;

		ratios[i] = p->seconds / measured;
		check.claimed += p->is_calibrated;
		check.inside += p->is_calibrated && measured >= p->low && measured <= p->high;
	}
	for (size_t g = 0; g < run->plan.access_count; g++)
		for (int way = 0; way < run->ways; way++) {
			struct comparison c = compare_access(run, g, way);

			regrets[check.count] = c.recommended / c.best - 1;
			speedups[check.count] = c.initial / c.recommended;
			check.mean_speedup += speedups[check.count];
			check.worst_regret = fmax(check.worst_regret, regrets[check.count]);
			check.changed += !find_case(run, run->recommended[g][way], way)->is_default;
			check.count++;
		}
	check.mean_speedup /= (double)check.count;
	check.median_regret = vector_median(regrets, check.count);
	check.median_speedup = vector_median(speedups, check.count);
	check.median_ratio = vector_median(ratios, run->count);
	return check;
}

static void print_check(const struct calibrate_run *run, const struct check *check)
{
	term_sentence(stdout,
		      "%zu held-out accesses (writes and reads counted separately), %zu settings, "
		      "medians "
		      "of %lu runs, load %.1f\n",
		      check->count, run->count, run->repeat, run->environment.load);
	if (check->claimed)
		term_sentence(
			stdout,
			"%zu of %zu measured times (%.0f %%) are inside the %.0f %% prediction "
			"intervals\n",
			check->inside, check->claimed,
			100 * (double)check->inside / (double)check->claimed, 100 * run->coverage);
	else
		term_sentence(stdout,
			      "the model is not calibrated, so it has no prediction intervals\n");
	term_sentence(stdout, "predicted / measured: median %.2f\n", check->median_ratio);
	term_sentence(
		stdout,
		"recommendations (%zu other than the default): speedup over the default median "
		"%.2f, mean %.2f\n",
		check->changed, check->median_speedup, check->mean_speedup);
	term_sentence(
		stdout,
		"time compared with the best of default, independent and collective: median %+.1f "
		"%%, worst %+.1f %%\n",
		100 * check->median_regret, 100 * check->worst_regret);
}

static void json_case(struct json *json, const struct calibrate_run *run, size_t at, int way)
{
	const struct validate_case *one = &run->plan.cases[at];
	size_t i = at * (size_t)run->ways + (size_t)way;
	const struct prediction *p = &run->predictions[i];
	struct access access = validate_access(&run->plan, one->group, way);
	char name[16];

	json_open(json, NULL, '{');
	json_count(json, "group", one->group);
	json_text(json, "direction", ways[way != 0]);
	json_count(json, "ranks", access.ranks);
	json_count(json, "size", access.rank_bytes);
	json_count(json, "block", access.block_bytes);
	json_text(json, "transfer", transfer_name(p->counts.transfer, name));
	settings_json(json, &one->settings, &run->hybrid.machine, &access);
	json_bool(json, "default", run->cases[i].is_default);
	json_bool(json, "plain", is_plain(&one->settings));
	json_bool(json, "recommended", run->recommended[one->group][way] == at);
	json_bool(json, "calibrated", p->is_calibrated);
	json_double(json, "predicted", p->seconds);
	json_double(json, "low", p->low);
	json_double(json, "high", p->high);
	json_double(json, "measured", run->cases[i].measured);
	json_close(json);
}

static void print_check_json(const struct calibrate_run *run, const struct check *check)
{
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	json_count(&json, "accesses", check->count);
	json_count(&json, "cases", run->count);
	json_count(&json, "repeat", run->repeat);
	json_double(&json, "load", run->environment.load);
	json_double(&json, "coverage", run->coverage);
	json_count(&json, "claimed", check->claimed);
	json_count(&json, "inside", check->inside);
	json_double(&json, "median_ratio", check->median_ratio);
	json_count(&json, "changed", check->changed);
	json_double(&json, "median_speedup", check->median_speedup);
	json_double(&json, "mean_speedup", check->mean_speedup);
	json_double(&json, "median_regret", check->median_regret);
	json_double(&json, "worst_regret", check->worst_regret);
	json_open(&json, "of", '[');
	for (size_t i = 0; i < run->plan.count; i++)
		for (int way = 0; way < run->ways; way++)
			json_case(&json, run, i, way);
	json_end(&json);
}

void calibrate_show_check(const struct calibrate_run *run, bool json)
{
	struct check check = make_check(run);

	if (json)
		print_check_json(run, &check);
	else
		print_check(run, &check);
}
