/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-37.
 */
#include "observe/plugins/histogram.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "observe/plugins/grading.h"
#include "observe/plugins/tempo.h"
#include "observe/tally/traffic.h"
#include "trace/facts.h"

#define CLASSES_DEFAULT "open close read write copy sync"

/* A histogram of an earlier run. */
struct known {
	char *layer, *call;
	unsigned size_class;
	struct durations durations;
};

struct histogram {
	const struct sluice_host *host;
	struct grading grading;
	uint32_t classes;   /* one bit per enum call_class */
	char *store;	    /* path; NULL: do not store */
	char *node;	    /* host of these durations; NULL until the first call */
	struct known *list; /* sorted by layer, call and size class */
	size_t count, cap;
	struct tempo tempo;
};

static int known_compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	int order = strcmp(x->layer, y->layer);

	if (!order)
		order = strcmp(x->call, y->call);
	return order ? order : (x->size_class > y->size_class) - (x->size_class < y->size_class);
}

static int known_keep(void *arg, const char *host, const char *layer, const char *call,
		      unsigned size_class, const struct durations *durations)
{
	struct histogram *h = arg;

	(void)host;
	h->list = xgrow(h->list, &h->cap, h->count + 1, sizeof(*h->list));
	h->list[h->count++] =
		(struct known){ xstrdup(layer), xstrdup(call), size_class, *durations };
	/* Further kinds would not be graded anyway. */
	return h->count == GRADING_KEYS_MAX;
}

static const struct durations *known_find(void *arg, struct grading_key key)
{
	const struct histogram *h = arg;
	const struct call_info *call = h->host->call(h->host->self, key.call);
	struct known wanted = { .size_class = key.size_class };
	const struct known *found;

	if (!call || !h->count)
		return NULL;
	wanted.layer = (char *)layer_name(key.layer);
	wanted.call = (char *)call->name;
	found = bsearch(&wanted, h->list, h->count, sizeof(*h->list), known_compare);
	return found ? &found->durations : NULL;
}

static void known_load(struct histogram *h, uint32_t process)
{
	const struct sluice_process *who = h->host->process(h->host->self, process);
	struct store *store = NULL;
	struct err err = { 0 };
	int r;

	h->node = xstrdup(who && who->host ? who->host : "");
	if (!h->store)
		return;
	r = store_open(&store, h->store, &err);
	if (r >= 0)
		r = durations_list(store, h->node, known_keep, h, &err);
	store_close(store);
	if (h->count)
		qsort(h->list, h->count, sizeof(*h->list), known_compare);
	if (r < 0) {
		h->host->warn(h->host->self, err.text);
		/* Do not try to write either: one warning is enough. */
		free(h->store);
		h->store = NULL;
	}
}

static int option_invalid(const struct sluice_host *host, const char *key, const char *text,
			  const char *wanted)
{
	AUTO_FREE char *message = xprintf("plugin.histogram.%s: invalid value \"%s\"; expected %s",
					  key, text, wanted);

	host->warn(host->self, message);
	return -EINVAL;
}

static bool parse_double(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end;
}

static bool parse_quantiles(const char *text, double quantiles[4])
{
	double before = 0;

	for (size_t i = 0; i < 4; i++) {
		char *end;
		double percent = strtod(text, &end);

		if (end == text || !(percent > before && percent < 100))
			return false;
		quantiles[i] = percent / 100;
		before = percent;
		text = end + strspn(end, " ,%");
	}
	return !*text && quantiles[1] < 0.5 && quantiles[2] > 0.5;
}

static bool parse_classes(const char *text, uint32_t *classes)
{
#define NAME(name, text, ...) text,
	static const char *const names[] = { CLASS_LIST(NAME) };
#undef NAME
	uint32_t bits = 0;

	for (text += strspn(text, " ,"); *text; text += strspn(text, " ,")) {
		size_t n = strcspn(text, " ,"), i = 0;

		while (i < CLASS_COUNT &&
		       (strlen(names[i]) != n || strncmp(names[i], text, n) != 0))
			i++;
		if (i == CLASS_COUNT)
			return false;
		bits |= 1u << i;
		text += n;
	}
	*classes = bits;
	return bits != 0;
}

static int parse_options(struct histogram *h, struct grading_options *o)
{
	const struct sluice_host *host = h->host;
	const char *text;

	if ((text = host->option(host->self, "learn")) &&
	    (unit_parse_count(text, &o->learn) < 0 || !o->learn))
		return option_invalid(host, "learn", text, "a positive count");
	if ((text = host->option(host->self, "quantiles")) && !parse_quantiles(text, o->quantiles))
		return option_invalid(host, "quantiles", text,
				      "four ascending percentages around 50, such as 1 10 90 99");
	if ((text = host->option(host->self, "factor")) &&
	    (!parse_double(text, &o->factor) || !(o->factor >= 1 && o->factor < 1e9)))
		return option_invalid(host, "factor", text, "a number of at least 1");
	if ((text = host->option(host->self, "floor")) && unit_parse_ns(text, &o->floor_ns) < 0)
		return option_invalid(host, "floor", text, "a time such as 100us");
	if ((text = host->option(host->self, "freeze"))) {
		o->is_frozen = strcmp(text, "yes") == 0;
		if (!o->is_frozen && strcmp(text, "no") != 0)
			return option_invalid(host, "freeze", text, "yes or no");
	}
	text = host->option(host->self, "classes");
	if (!parse_classes(text ? text : CLASSES_DEFAULT, &h->classes))
		return option_invalid(host, "classes", text,
				      "a list of call classes, such as " CLASSES_DEFAULT);
	return 0;
}

static void histogram_stop(void *state)
{
	struct histogram *h = state;

	grading_release(&h->grading);
	for (size_t i = 0; i < h->count; i++) {
		free(h->list[i].layer);
		free(h->list[i].call);
	}
	free(h->list);
	tempo_release(&h->tempo);
	free(h->store);
	free(h->node);
	free(h);
}

static int histogram_start(const struct sluice_host *host, void **state)
{
	struct histogram *h = xcalloc(1, sizeof(*h));
	struct grading_options options = grading_defaults;
	const char *store = host->option(host->self, "store");
	int r;

	h->host = host;
	h->store = store && *store ? xstrdup(store) : NULL;
	r = parse_options(h, &options);
	if (r < 0) {
		histogram_stop(h);
		return r;
	}
	grading_init(&h->grading, &options, known_find, h);
	*state = h;
	return 0;
}

/* Records that Sluice inserts are not calls of the program; their time means nothing. */
static bool is_call(const struct call_info *call)
{
	return !traffic_is_notice(call) &&
	       !(call->class == CLASS_OPEN && strcmp(call->name, "inherited") == 0);
}

static void histogram_add(struct histogram *h, const struct activity *a)
{
	const struct call_info *call = h->host->call(h->host->self, a->call);
	struct grading_key key = { a->call, a->layer, 0 };
	int64_t excess_ns = 0;
	int speed;

	if (!call || !(h->classes >> call->class & 1) || a->layer == LAYER_NETWORK || a->error ||
	    !is_call(call))
		return;
	if (!h->node)
		known_load(h, a->process);
	if (traffic_ways(call))
		key.size_class = (uint8_t)durations_size_class(traffic_bytes(a, call));
	speed = grading_add(&h->grading, key, a->duration_ns, &excess_ns);
	if (speed >= 0)
		tempo_count(&h->tempo, a->process, speed, excess_ns);
}

static void histogram_batch(void *state, const struct activity *activities, size_t count)
{
	for (size_t i = 0; i < count; i++)
		histogram_add(state, &activities[i]);
}

static bool histogram_health(void *state, uint32_t process, struct sluice_health *health)
{
	struct histogram *h = state;

	return tempo_take(&h->tempo, process, health);
}

static int kind_compare(const void *a, const void *b)
{
	const struct grading_kind *x = *(struct grading_kind *const *)a,
				  *y = *(struct grading_kind *const *)b;

	if (x->key.layer != y->key.layer)
		return x->key.layer < y->key.layer ? -1 : 1;
	if (x->key.call != y->key.call)
		return x->key.call < y->key.call ? -1 : 1;
	return (x->key.size_class > y->key.size_class) - (x->key.size_class < y->key.size_class);
}

static uint64_t graded_calls(const struct grading_kind *kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SLUICE_SPEEDS; i++)
		sum += kind->counts[i];
	return sum;
}

/* Reports one call of a layer in all its sizes: [from, to) of the sorted kinds. */
static void report_call(const struct histogram *h, struct grading_kind *const *from,
			struct grading_kind *const *to)
{
	static const char *const names[SLUICE_SPEEDS] = {
		[SLUICE_VERY_SLOW] = "very slow", [SLUICE_SLOW] = "slow",
		[SLUICE_NORMAL] = "normal",	  [SLUICE_FAST] = "fast",
		[SLUICE_VERY_FAST] = "very fast",
	};
	const struct sluice_host *host = h->host;
	const struct call_info *call = host->call(host->self, from[0]->key.call);
	const struct grading_kind *most = from[0];
	uint64_t counts[SLUICE_SPEEDS] = { 0 }, sum = 0;
	AUTO_FREE char *group = xprintf("%s %s", layer_name(most->key.layer), call->name);

	for (; from < to; from++) {
		for (size_t i = 0; i < SLUICE_SPEEDS; i++)
			counts[i] += (*from)->counts[i];
		sum += graded_calls(*from);
		if (graded_calls(*from) > graded_calls(most))
			most = *from;
	}
	if (!sum)
		return;
	for (size_t i = 0; i < SLUICE_SPEEDS; i++)
		host->number(host->self, -1, group, names[i], (double)counts[i]);
	host->number(host->self, -1, group, "size class from bytes",
		     (double)durations_class_bytes(most->key.size_class));
	host->number(host->self, -1, group, "median ns", (double)most->median_ns);
	host->number(host->self, -1, group, "very slow above ns", (double)most->limits_ns[3]);
}

static void report_totals(const struct histogram *h)
{
	const struct sluice_host *host = h->host;
	uint64_t sum = 0, learned = 0, kinds = 0;

	for (size_t i = 0; i < h->grading.count; i++) {
		sum += graded_calls(h->grading.kinds[i]);
		learned += h->grading.kinds[i]->learned;
		kinds += h->grading.kinds[i]->known != NULL;
	}
	host->number(host->self, -1, "calls", "graded", (double)sum);
	host->number(host->self, -1, "calls", "learned from", (double)learned);
	host->number(host->self, -1, "calls", "not graded", (double)h->grading.left_out);
	host->number(host->self, -1, "kinds", "seen", (double)h->grading.count);
	host->number(host->self, -1, "kinds", "known from earlier runs", (double)kinds);
}

static int knowledge_write(const struct histogram *h, struct store *store, struct err *err)
{
	int r = store_begin(store, err);

	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < h->grading.count; i++) {
		const struct grading_kind *kind = h->grading.kinds[i];
		const struct call_info *call = h->host->call(h->host->self, kind->key.call);
		struct durations knowledge;

		grading_knowledge(&h->grading, kind, &knowledge);
		r = durations_merge(store, h->node, layer_name(kind->key.layer), call->name,
				    kind->key.size_class, &knowledge, err);
	}
	if (r < 0) {
		store_end(store, 0, NULL);
		return r;
	}
	return store_end(store, 1, err);
}

static void knowledge_save(const struct histogram *h)
{
	struct store *store = NULL;
	struct err err = { 0 };
	int r = store_open(&store, h->store, &err);

	if (r >= 0)
		r = knowledge_write(h, store, &err);
	store_close(store);
	if (r < 0)
		h->host->warn(h->host->self, err.text);
}

static void histogram_report(void *state)
{
	struct histogram *h = state;
	struct grading *g = &h->grading;

	if (!g->count)
		return;
	qsort(g->kinds, g->count, sizeof(*g->kinds), kind_compare);
	report_totals(h);
	for (size_t from = 0, to; from < g->count; from = to) {
		for (to = from + 1; to < g->count; to++) {
			if (g->kinds[to]->key.layer != g->kinds[from]->key.layer ||
			    g->kinds[to]->key.call != g->kinds[from]->key.call)
				break;
		}
		report_call(h, g->kinds + from, g->kinds + to);
	}
	if (h->store)
		knowledge_save(h);
}

static const struct sluice_async histogram = {
	.start = histogram_start,
	.batch = histogram_batch,
	.health = histogram_health,
	.report = histogram_report,
	.stop = histogram_stop,
};

const struct sluice_plugin plugin_histogram = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_ASYNC,
	.name = "histogram",
	.help = "grade calls by the usual duration of such calls, and report to the reasoners",
	.async = &histogram,
};
