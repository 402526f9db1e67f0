/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/diagnose/bounds.h"
#include "observe/diagnose/case.h"
#include "observe/diagnose/cost.h"
#include "observe/diagnose/fill.h"

const char *const severity_names[SEVERITIES] = { "info", "warning", "critical" };

/* A rule comes before those that it hides. */
const struct rule_table *const diagnose_rules[] = { &rules_mpi,	     &rules_stripes,  &rules_hdf5,
						    &rules_stdio,    &rules_metadata, &rules_ranks,
						    &rules_requests, &rules_node,     NULL };

/* Shares of the run time from which on a finding is a warning or critical. */
#define SHARE_WARNING 0.05
#define SHARE_CRITICAL 0.25

#define RULES_MAX 64 /* bits of case_file.hidden */

struct match match_none(void)
{
	return (struct match){ .saved_ns = NAN, .way = -2, .layer = -2 };
}

static int join(int a, int b)
{
	return a == -2 || a == b ? b : -1;
}

void match_add(struct match *sum, const struct match *one)
{
	sum->calls += one->calls;
	sum->of_calls += one->of_calls;
	sum->bytes += one->bytes;
	sum->of_bytes += one->of_bytes;
	sum->time_ns += one->time_ns;
	if (!isnan(one->saved_ns))
		sum->saved_ns = (isnan(sum->saved_ns) ? 0 : sum->saved_ns) + one->saved_ns;
	sum->unproven += one->unproven;
	sum->value = one->value > sum->value ? one->value : sum->value;
	sum->fix_value = one->fix_value > sum->fix_value ? one->fix_value : sum->fix_value;
	sum->way = join(sum->way, one->way);
	sum->layer = join(sum->layer, one->layer);
	sum->reason = sum->reason ? sum->reason : one->reason;
	sum->source = sum->source ? sum->source : one->source;
	sum->unknown = sum->unknown ? sum->unknown : one->unknown;
}

void finding_add_file(struct finding *f, file_id file, double weight)
{
	bool is_full = f->file_count >= FINDING_FILES;
	size_t at = is_full ? FINDING_FILES - 1 : f->file_count;

	f->file_count++;
	if (is_full && weight <= f->weights[at])
		return;
	for (; at && weight > f->weights[at - 1]; at--) {
		f->files[at] = f->files[at - 1];
		f->weights[at] = f->weights[at - 1];
	}
	f->files[at] = file;
	f->weights[at] = weight;
}

/* The number of a rule over all tables. */
static unsigned rule_number(const char *code, size_t length)
{
	unsigned number = 0;

	for (size_t t = 0; diagnose_rules[t]; t++) {
		for (size_t i = 0; i < diagnose_rules[t]->count; i++, number++) {
			const char *own = diagnose_rules[t]->rules[i].code;

			if (strlen(own) == length && !strncmp(own, code, length))
				return number;
		}
	}
	return RULES_MAX;
}

/* The bits of the codes that a rule hides. */
static uint64_t hidden_bits(const struct rule *rule)
{
	const char *at = rule->hides ? rule->hides : "";
	uint64_t bits = 0;

	while (*at) {
		size_t n = strcspn(at, " ");
		unsigned number = rule_number(at, n);

		if (n && number < RULES_MAX)
			bits |= UINT64_C(1) << number;
		at += n + (at[n] == ' ');
	}
	return bits;
}

static void add_sample(struct finding *f, const struct cell_sample *sample)
{
	if (sample->call.id && f->sample_count < FINDING_SAMPLES)
		f->samples[f->sample_count++] = sample->call;
}

/* Slow calls of the first file, and the members that made them. */
static void add_samples(struct finding *f, const struct case_file *file, const struct match *m)
{
	const struct file_total *t = m->layer >= 0 ? file->layers[m->layer] : file->top;

	if (!t)
		return;
	for (int way = READING; way <= WRITING; way++) {
		if (m->way >= 0 && m->way != way)
			continue;
		for (int i = 0; i < CELL_SAMPLES; i++)
			add_sample(f, &t->total.samples[way][i]);
	}
	for (size_t i = 0; i < t->members && f->rank_count < FINDING_RANKS; i++) {
		if (t->cells[i]->member >= 0)
			f->ranks[f->rank_count++] = t->cells[i]->member;
	}
}

static bool test_files(struct diagnosis *d, const struct rule *rule, unsigned number,
		       struct match *sum, struct finding *f)
{
	const struct case_file *slowest = NULL;
	uint64_t hides = hidden_bits(rule);

	for (size_t i = 0; i < d->count; i++) {
		struct case_file *file = &d->files[i];
		struct match one = match_none();

		if (file->hidden >> number & 1 || !rule->test_file(d, file, &one))
			continue;
		file->hidden |= hides;
		match_add(sum, &one);
		finding_add_file(f, file->file, one.time_ns);
		if (f->files[0] == file->file)
			slowest = file;
	}
	if (!slowest)
		return false;
	add_samples(f, slowest, sum);
	return true;
}

/* A rule about the whole run hides codes on all files. */
static bool test_whole(struct diagnosis *d, const struct rule *rule, unsigned number,
		       struct match *sum, struct finding *f)
{
	uint64_t hides = hidden_bits(rule);

	for (size_t i = 0; i < d->count; i++) {
		if (d->files[i].hidden >> number & 1)
			return false;
	}
	if (!rule->test_run(d, sum, f))
		return false;
	for (size_t i = 0; i < d->count; i++)
		d->files[i].hidden |= hides;
	return true;
}

static enum severity severity_of(const struct rule *rule, double share)
{
	enum severity severity = share >= SHARE_CRITICAL  ? SEVERITY_CRITICAL
				 : share >= SHARE_WARNING ? SEVERITY_WARNING
							  : SEVERITY_INFO;

	return severity > rule->most ? rule->most : severity;
}

/* If recording takes more than this share of the run time, the times of calls tell little. */
#define RECORDING_MOST 0.5

/* Fixes leave at least this share of the run time, because a program does not only wait for I/O. */
#define LEFT_LEAST 0.01

static const char *why_unknown(const struct finding *f, const struct match *m, double share)
{
	if (isnan(m->saved_ns))
		return m->unknown ? m->unknown : f->rule->unknown;
	return isnan(share) ? "the run time is not known"
			    : "the fix saves no time that can be told";
}

/*
 * The gain of the program without recording, if the saved time vanishes from its run time: at most
 * all of it, and half of it as a lower limit, because other work may take its place.
 */
static void predict_gain(struct finding *f, const struct diagnosis *d, const struct match *m)
{
	double share = isnan(m->saved_ns) ? NAN : case_share(d, m->saved_ns), recording, saved,
	       most;

	if (isnan(share) || share <= 0) {
		f->unpredicted = why_unknown(f, m, share);
		return;
	}
	recording = cost_recording(d);
	if (recording > RECORDING_MOST) {
		f->unpredicted = "recording took most of the run time";
		return;
	}
	most = 1 - recording - LEFT_LEAST;
	saved = (share < most ? share : most) / (1 - recording);
	f->predicted = (struct gain){ 1 / (1 - saved / 2), 1 / (1 - saved), 1 / (1 - saved),
				      xstrdup(m->source ? m->source : SOURCE_CHAIN) };
}

/* Does the JSON of a parameter set name the parameter of the rule? */
static bool names_parameter(const char *json, const char *parameter)
{
	AUTO_FREE char *quoted = xprintf("\"%s\"", parameter);

	return strstr(json, quoted) != NULL;
}

static void find_measured_gain(struct finding *f, const struct diagnosis *d)
{
	for (size_t i = 0; f->rule->parameter && i < d->options->known_count; i++) {
		const struct known_gain *k = &d->options->known[i];

		if (!names_parameter(k->parameters, f->rule->parameter))
			continue;
		f->measured = (struct gain){ k->low, k->gain, k->high, xstrdup(k->from) };
		return;
	}
}

/* `undone`: the parameters of this run that would have to be undone in order to apply a fix. */
static void describe(struct finding *f, const struct diagnosis *d, struct match *m,
		     const char *undone)
{
	AUTO_BUF struct buf text = { 0 };

	m->files = f->file_count;
	f->rule->describe(&text, d, m);
	bounds_describe(&text, d, f);
	if (*undone)
		buf_printf(&text, "; Sluice set %s in this run, so fixes that undo it are left out",
			   undone);
	f->evidence = buf_take(&text);
}

/* If all fixes would undo what was chosen for this run, there is nothing to recommend or gain. */
static void recommend_nothing(struct finding *f)
{
	f->severity = SEVERITY_INFO;
	f->unpredicted = "every fix would undo a parameter that was chosen for this run";
}

static bool apply_rule(struct diagnosis *d, const struct rule *rule, unsigned number,
		       struct finding *f)
{
	AUTO_BUF struct buf undone = { 0 };
	struct match sum = match_none();

	*f = (struct finding){ .rule = rule, .possible = rule->possible, .share = NAN };
	f->predicted.gain = f->measured.gain = NAN;
	if (!(rule->test_file ? test_files(d, rule, number, &sum, f)
			      : test_whole(d, rule, number, &sum, f)))
		return false;
	if (sum.time_ns > 0)
		f->share = case_share(d, sum.time_ns);
	f->severity = severity_of(rule, f->share);
	f->possible |= sum.unproven && sum.unproven == f->file_count;
	fill_query(f, d, &sum);
	fill_fixes(f, d, &sum, &undone);
	if (undone.len && !f->fix_count) {
		recommend_nothing(f);
	} else {
		predict_gain(f, d, &sum);
		find_measured_gain(f, d);
	}
	describe(f, d, &sum, buf_text(&undone));
	return true;
}

static double share_or_zero(const struct finding *f)
{
	return isnan(f->share) ? 0 : f->share;
}

static int compare_findings(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	if (share_or_zero(x) != share_or_zero(y))
		return share_or_zero(x) > share_or_zero(y) ? -1 : 1;
	return strcmp(x->rule->code, y->rule->code);
}

struct finding *diagnose(const struct profile *profile, const struct diagnose_options *options,
			 size_t *count)
{
	struct finding *list = xcalloc(RULES_MAX, sizeof(*list));
	struct diagnosis d;
	unsigned number = 0;

	*count = 0;
	diagnosis_init(&d, profile, options);
	for (size_t t = 0; diagnose_rules[t]; t++) {
		for (size_t i = 0; i < diagnose_rules[t]->count; i++, number++)
			*count +=
				apply_rule(&d, &diagnose_rules[t]->rules[i], number, &list[*count]);
	}
	diagnosis_release(&d);
	qsort(list, *count, sizeof(*list), compare_findings);
	return list;
}

static void finding_release(struct finding *f)
{
	for (size_t i = 0; i < f->fix_count; i++)
		free(f->fixes[i].text);
	free(f->fixes);
	free(f->evidence);
	free(f->query);
	free(f->predicted.source);
	free(f->measured.source);
}

void findings_release(struct finding *findings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		finding_release(&findings[i]);
	free(findings);
}

char *finding_title(const struct finding *finding)
{
	return xprintf("%s%s", finding->possible ? "possible: " : "", finding->rule->title);
}
