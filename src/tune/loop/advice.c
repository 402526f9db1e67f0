/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/advice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "params/space.h"
#include "predict/model/hybrid/hybrid.h"

/* One kind of access. Many points of a space have the same settings of the model, so predictions
 * are cached. */
struct subject {
	struct access access;
	double calls;
	char *file;
	struct param_set own; /* hints of the program itself */
	struct map known; /* cache: allocated seconds of one call, by the hash of its settings */
};

struct advice {
	struct hybrid hybrid;
	char digest[ADVICE_DIGEST];
	struct subject *subjects;
	size_t count;
	char *note;
	const struct space *space;
	struct search_prior prior;
};

static int read_model_file(struct buf *buf, const char *path, struct err *err)
{
	int r = file_read_all(buf, path, 0, err);

	if (r == -ENOENT)
		return err_set(
			err, ENOENT,
			"%s: no model of this machine; make one with 'sluice model measure' and "
			"'sluice model fit'",
			path);
	return r;
}

int advice_open(struct advice **advice, const char *path, struct err *err)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct advice *a;
	XXH128_hash_t hash;
	int r = read_model_file(&bytes, path, err);

	if (r < 0)
		return r;
	a = xcalloc(1, sizeof(*a));
	r = hybrid_parse(&a->hybrid, path, buf_text(&bytes), bytes.len, err);
	if (r < 0) {
		free(a);
		return r;
	}
	hash = XXH3_128bits(buf_text(&bytes), bytes.len);
	snprintf(a->digest, sizeof(a->digest), "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	*advice = a;
	return 0;
}

static void subject_release(struct subject *subject)
{
	for (size_t i = 0; i < subject->known.cap; i++)
		if (subject->known.entries[i].key)
			free(subject->known.entries[i].value);
	map_release(&subject->known);
	param_set_release(&subject->own);
	free(subject->file);
}

static void subjects_clear(struct advice *advice)
{
	for (size_t i = 0; i < advice->count; i++)
		subject_release(&advice->subjects[i]);
	free(advice->subjects);
	free(advice->note);
	advice->subjects = NULL;
	advice->count = 0;
	advice->note = NULL;
}

void advice_close(struct advice *advice)
{
	if (!advice)
		return;
	subjects_clear(advice);
	hybrid_release(&advice->hybrid);
	free(advice);
}

const struct hybrid *advice_model(const struct advice *advice)
{
	return &advice->hybrid;
}

const char *advice_digest(const struct advice *advice)
{
	return advice->digest;
}

const char *advice_note(const struct advice *advice)
{
	return advice->note;
}

/* Can the model predict the access with the program's own hints? */
static int check_subject(const struct advice *advice, const struct subject *subject,
			 struct err *err)
{
	struct prediction prediction;
	struct settings settings;
	int r = settings_from_params(&settings, &advice->hybrid.machine, &subject->access,
				     &subject->own, err);

	if (r < 0)
		return r;
	return hybrid_predict(&advice->hybrid, &subject->access, &settings, HYBRID_COVERAGE,
			      &prediction, err);
}

int advice_set_profile(struct advice *advice, const struct access_profile *profile, struct err *err)
{
	struct err why = { 0 };

	subjects_clear(advice);
	advice->subjects = xcalloc(profile->count + 1, sizeof(*advice->subjects));
	for (size_t i = 0; i < profile->count; i++) {
		const struct access_profile_row *row = &profile->rows[i];
		struct subject *subject = &advice->subjects[advice->count];

		*subject = (struct subject){ .access = row->access,
					     .calls = row->calls,
					     .file = xstrdup(row->file) };
		access_profile_row_hints(row, &subject->own);
		if (check_subject(advice, subject, &why) >= 0)
			advice->count++;
		else
			subject_release(subject);
	}
	if (!advice->count)
		return err_set(err, ENODATA, "the model cannot predict this program: %s",
			       profile->count ? why.text : "it has no collective file accesses");
	if (advice->count < profile->count)
		advice->note = xprintf("%zu of %zu kinds of accesses are left out: %s",
				       profile->count - advice->count, profile->count, why.text);
	return 0;
}

static uint64_t settings_hash(const struct settings *s)
{
	const uint64_t numbers[] = { s->aggregators, s->node_aggregators, s->buffer_bytes,
				     s->stripes,     s->stripe_bytes,	  (uint64_t)s->buffering };
	uint64_t hash = XXH3_64bits(numbers, sizeof(numbers));

	return hash ? hash : 1;
}

static double call_seconds(const struct hybrid *hybrid, struct subject *subject,
			   const struct settings *settings)
{
	uint64_t key = settings_hash(settings);
	double *known = map_get(&subject->known, key);

	if (known)
		return *known;
	known = xmalloc(sizeof(*known));
	if (hybrid_times(hybrid, &subject->access, settings, 1, known, NULL) < 0)
		*known = NAN;
	map_put(&subject->known, key, known);
	return *known;
}

/* The parameters that apply to the file: those of the set, then the program's own hints. */
static void make_effective_set(const struct subject *subject, const struct param_set *set,
			       struct param_set *out)
{
	param_set_copy(out, &subject->own);
	for (size_t i = 0; i < set->count; i++) {
		const struct param *param =
			param_set_find(set, set->params[i].tunable, subject->file, NULL);

		if (param)
			param_set_put(out, param->tunable, param->value, NULL, NULL, 0, NULL);
	}
}

static double subject_seconds(const struct hybrid *hybrid, struct subject *subject,
			      const struct param_set *set)
{
	struct param_set here = { 0 };
	struct settings settings;
	int r;

	make_effective_set(subject, set, &here);
	r = settings_from_params(&settings, &hybrid->machine, &subject->access, &here, NULL);
	param_set_release(&here);
	return r < 0 ? NAN : subject->calls * call_seconds(hybrid, subject, &settings);
}

double advice_seconds(struct advice *advice, const struct param_set *set)
{
	double seconds = 0;

	for (size_t i = 0; i < advice->count; i++)
		seconds += subject_seconds(&advice->hybrid, &advice->subjects[i], set);
	return advice->count ? seconds : NAN;
}

static double predict_point(void *arg, const size_t *point)
{
	struct advice *advice = arg;
	struct param_set set = { 0 };
	double seconds;

	space_set(advice->space, point, &set);
	seconds = advice_seconds(advice, &set);
	param_set_release(&set);
	return seconds;
}

const struct search_prior *advice_prior(struct advice *advice, const struct space *space)
{
	advice->space = space;
	advice->prior = (struct search_prior){ predict_point, advice };
	return &advice->prior;
}
