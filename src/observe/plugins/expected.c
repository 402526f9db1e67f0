/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/expected.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/unit.h"
#include "contract/knowledge.h"
#include "observe/plugins/tempo.h"
#include "observe/tally/access_pattern.h"
#include "observe/tally/traffic.h"
#include "store/durations.h"
#include "trace/facts.h"

#define FACTOR 2
#define FLOOR_NS 100000
#define LINES_MAX 8	  /* kinds in the report */
#define SHARE_REPORTED 5  /* percent of the calls; 1 % is expected */
#define CALLS_REPORTED 10 /* slow calls at least */

/* Calls with the same expectation. */
struct kind {
	uint16_t call;
	uint8_t layer;
	const char *filesystem; /* of the page; "": any, or unknown */
	bool is_of_program;	/* the expectation is for this program */
	bool is_of_place;	/* and for this file system */
	uint64_t learned;	/* calls that it is from; 0: there is none */
	int64_t median_ns, slow_ns;
	uint64_t slow;
	int64_t excess_ns; /* time beyond the median of slow calls */
	struct durations durations;
};

struct expected {
	const struct sluice_host *host;
	struct buf text; /* the page */
	const struct knowledge *page;
	double factor;
	int64_t floor_ns;
	char *program; /* of the first process, as the site names runs; NULL: not known yet */
	struct access_tracker accesses;
	struct map kinds; /* struct kind */
	struct tempo tempo;
	uint64_t compared, unknown, left_out;
};

/* --- expectations --- */

static const struct knowledge_duration *find_duration(const struct expected *e, const char *program,
						      const char *filesystem, const char *pattern,
						      const struct kind *kind, const char *call,
						      unsigned class)
{
	return knowledge_find_duration(e->page, knowledge_duration_key(program, filesystem, pattern,
								       layer_name(kind->layer),
								       call, class));
}

/* The most specific expectation: for the program rather than for all, then for the file system. */
static void expect(const struct expected *e, struct kind *kind, enum access_pattern pattern,
		   const char *call, unsigned class)
{
	const char *programs[] = { e->program, "*" }, *places[] = { kind->filesystem, "" };

	for (int i = 0; i < 4; i++) {
		const struct knowledge_duration *d =
			find_duration(e, programs[i / 2], places[i % 2],
				      access_pattern_name(pattern), kind, call, class);

		if (!d || !d->calls)
			continue;
		kind->is_of_program = i < 2;
		kind->is_of_place = !(i % 2) && *kind->filesystem;
		kind->learned = d->calls;
		kind->median_ns = (int64_t)(d->median_ns & INT64_MAX);
		kind->slow_ns = (int64_t)(d->slow_ns & INT64_MAX);
		return;
	}
}

/* The index of a file system of the page + 1; 0: any other one. */
static unsigned place_index(const struct knowledge *page, const char *filesystem)
{
	for (uint32_t i = 0; *filesystem && i < page->mount_count; i++)
		if (filesystem == page->mounts[i])
			return i + 1;
	return 0;
}

/* NULL: there are too many kinds. */
static struct kind *find_kind(struct expected *e, const struct activity *a, const char *call,
			      enum access_pattern pattern, unsigned class)
{
	const char *path = a->file ? e->host->file(e->host->self, a->file) : NULL;
	const char *filesystem = path ? knowledge_filesystem(e->page, path) : "";
	uint64_t key = ((uint64_t)a->call << 32 | (uint64_t)place_index(e->page, filesystem) << 24 |
			(uint64_t)a->layer << 16 | (uint64_t)pattern << 8 | class) +
		       1;
	struct kind *kind = map_get(&e->kinds, key);

	if (kind || e->kinds.count == EXPECTED_KINDS_MAX)
		return kind;
	kind = xcalloc(1, sizeof(*kind));
	*kind = (struct kind){ .call = a->call, .layer = a->layer, .filesystem = filesystem };
	expect(e, kind, pattern, call, class);
	map_put(&e->kinds, key, kind);
	return kind;
}

/* --- calls --- */

static void compare(struct expected *e, const struct activity *a, struct kind *kind)
{
	bool is_slow = a->duration_ns > kind->slow_ns && a->duration_ns >= e->floor_ns;
	bool is_very_slow = is_slow && (double)a->duration_ns > e->factor * (double)kind->slow_ns;
	int64_t excess_ns = is_slow ? a->duration_ns - kind->median_ns : 0;

	e->compared++;
	durations_add(&kind->durations, a->duration_ns);
	kind->slow += is_slow;
	kind->excess_ns += excess_ns;
	tempo_count(&e->tempo, a->process,
		    is_very_slow ? SLUICE_VERY_SLOW
		    : is_slow	 ? SLUICE_SLOW
				 : SLUICE_NORMAL,
		    is_very_slow ? excess_ns : 0);
}

static void find_program(struct expected *e)
{
	const struct sluice_process *first = e->host->process(e->host->self, 0);

	if (!e->program && first && first->program)
		e->program = xstrdup(path_base_name(first->program));
}

static void add_call(struct expected *e, const struct activity *a)
{
	const struct call_info *call = e->host->call(e->host->self, a->call);
	enum access_pattern pattern;
	struct kind *kind;
	uint64_t bytes;

	if (!call || a->error || traffic_is_notice(call))
		return;
	find_program(e);
	if (!e->program)
		return;
	bytes = traffic_bytes(a, call);
	pattern = access_tracker_add(&e->accesses, a, bytes);
	kind = find_kind(e, a, call->name, pattern, durations_size_class(bytes));
	if (!kind)
		e->left_out++;
	else if (!kind->learned)
		e->unknown++;
	else
		compare(e, a, kind);
}

/* --- report --- */

static int compare_excess(const void *a, const void *b)
{
	const struct kind *x = *(struct kind *const *)a, *y = *(struct kind *const *)b;

	return (x->excess_ns < y->excess_ns) - (x->excess_ns > y->excess_ns);
}

static bool is_worth_reporting(const struct kind *kind)
{
	return kind->slow >= CALLS_REPORTED &&
	       100 * kind->slow > SHARE_REPORTED * kind->durations.calls;
}

static void report_kind(const struct expected *e, const struct kind *kind)
{
	const struct sluice_host *host = e->host;
	const struct call_info *call = host->call(host->self, kind->call);
	char share[UNIT_TEXT], slow[UNIT_TEXT], median[UNIT_TEXT], usual[UNIT_TEXT];
	AUTO_FREE char *field = xprintf("%s %s%s%s", layer_name(kind->layer), call->name,
					*kind->filesystem ? " on " : "", kind->filesystem);
	AUTO_FREE char *value = xprintf(
		"%s of %" PRIu64 " calls took more than %s; median %s, expected %s from %" PRIu64
		" calls of %s%s%s",
		unit_share(share, (double)kind->slow, (double)kind->durations.calls),
		kind->durations.calls, unit_ns(slow, kind->slow_ns),
		unit_ns(median, durations_quantile(&kind->durations, 0.5)),
		unit_ns(usual, kind->median_ns), kind->learned,
		kind->is_of_program ? e->program : "all programs", kind->is_of_place ? " on " : "",
		kind->is_of_place ? kind->filesystem : "");

	host->text(host->self, -1, "slower than the site expects", field, value);
}

static void expected_report(void *state)
{
	struct expected *e = state;
	AUTO_FREE struct kind **slow = xcalloc(e->kinds.count + 1, sizeof(struct kind *));
	size_t count = 0;

	if (!e->page)
		return;
	for (size_t i = 0; i < e->kinds.cap; i++)
		if (e->kinds.entries[i].key && is_worth_reporting(e->kinds.entries[i].value))
			slow[count++] = e->kinds.entries[i].value;
	qsort(slow, count, sizeof(struct kind *), compare_excess);
	e->host->number(e->host->self, -1, "calls", "compared", (double)e->compared);
	e->host->number(e->host->self, -1, "calls", "without expectation", (double)e->unknown);
	if (e->left_out)
		e->host->number(e->host->self, -1, "calls", "left out", (double)e->left_out);
	for (size_t i = 0; i < count && i < LINES_MAX; i++)
		report_kind(e, slow[i]);
}

/* --- the plug-in --- */

static void expected_batch(void *state, const struct activity *activities, size_t count)
{
	struct expected *e = state;

	for (size_t i = 0; e->page && i < count; i++)
		add_call(e, &activities[i]);
}

static bool expected_health(void *state, uint32_t process, struct sluice_health *health)
{
	struct expected *e = state;

	return tempo_take(&e->tempo, process, health);
}

static void free_values(struct map *map)
{
	for (size_t i = 0; i < map->cap; i++)
		free(map->entries[i].key ? map->entries[i].value : NULL);
	map_release(map);
}

static void expected_stop(void *state)
{
	struct expected *e = state;

	access_tracker_release(&e->accesses);
	free_values(&e->kinds);
	tempo_release(&e->tempo);
	buf_release(&e->text);
	free(e->program);
	free(e);
}

static int refuse_option(const struct sluice_host *host, const char *key, const char *text,
			 const char *wanted)
{
	AUTO_FREE char *message =
		xprintf("plugin.expected.%s: invalid value \"%s\"; expected %s", key, text, wanted);

	host->warn(host->self, message);
	return -EINVAL;
}

static int read_options(struct expected *e)
{
	const struct sluice_host *host = e->host;
	const char *text = host->option(host->self, "factor");
	char *end;

	e->factor = text ? strtod(text, &end) : FACTOR;
	if (text && (end == text || *end || !(e->factor >= 1 && e->factor < 1e9)))
		return refuse_option(host, "factor", text, "a number of at least 1");
	e->floor_ns = FLOOR_NS;
	text = host->option(host->self, "floor");
	if (text && unit_parse_ns(text, &e->floor_ns) < 0)
		return refuse_option(host, "floor", text, "a time such as 100us");
	return 0;
}

/* A site without a page is normal; a page that cannot be used is worth a warning. */
static void read_page(struct expected *e, const char *path)
{
	struct err err = { 0 };

	if (!path || !place_exists(path))
		return;
	if (file_read_all(&e->text, path, KNOWLEDGE_BYTES_MAX, &err) >= 0 &&
	    (e->text.len < sizeof(struct knowledge) ||
	     !knowledge_is_valid((const struct knowledge *)e->text.data, e->text.len)))
		err_set(&err, EBADMSG,
			"%s: not a knowledge page of this version of Sluice; calls are not "
			"compared with what the site expects",
			path);
	if (err.code)
		e->host->warn(e->host->self, err.text);
	else
		e->page = (const struct knowledge *)e->text.data;
}

static int expected_start(const struct sluice_host *host, void **state)
{
	struct expected *e = xcalloc(1, sizeof(*e));
	int r;

	e->host = host;
	e->accesses.limit = EXPECTED_POSITIONS_MAX;
	r = read_options(e);
	if (r < 0) {
		expected_stop(e);
		return r;
	}
	read_page(e, host->option(host->self, "page"));
	*state = e;
	return 0;
}

static const struct sluice_async ops = {
	.start = expected_start,
	.batch = expected_batch,
	.health = expected_health,
	.report = expected_report,
	.stop = expected_stop,
};

const struct sluice_plugin plugin_expected = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_ASYNC,
	.name = "expected",
	.help = "compare calls with the durations that the site has learned, and name slower ones",
	.async = &ops,
};
