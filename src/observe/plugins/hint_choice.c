/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/hint_choice_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"
#include "contract/call.h"
#include "contract/hints.h"
#include "contract/spool.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"
#include "store/outcomes.h"

#define KEY_BYTES 64
#define VALUE_BYTES 256

/* A set must have been tried on at least this share of the time that the defaults took. */
#define COVERAGE 0.5
/* Files on unknown file systems may be on several. */
#define UNKNOWN_PLACES 2

struct knowledge {
	const struct history_options *options;
	struct known *list; /* sorted by known_compare() */
	size_t count, cap;
};

static int text_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool hint_set_is_safe(const char *hints)
{
	char key[KEY_BYTES], value[VALUE_BYTES];
	size_t count = 0, parts = *hints != 0;

	for (const char *p = hints; *p; p++)
		parts += *p == ';';
	for (const char *at = hints; hints_next(&at, key, sizeof(key), value, sizeof(value));) {
		if (!hints_is_safe(key, value, false))
			return false;
		count++;
	}
	/* hints_next() skips what it cannot parse. */
	return count == parts;
}

/* Returns the set sorted by key, or NULL with err set if it is malformed or not safe. */
static char *hint_set_parse(const char *text, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text);
	AUTO_BUF struct buf out = { 0 };
	char *parts[64] = { 0 }, *rest = NULL;
	size_t count = 0;

	for (char *part = strtok_r(copy, "; \t", &rest); part && count < 64;
	     part = strtok_r(NULL, "; \t", &rest))
		parts[count++] = part;
	qsort(parts, count, sizeof(*parts), text_compare);
	for (size_t i = 0; i < count; i++)
		buf_printf(&out, "%s%s", i ? ";" : "", parts[i]);
	if (count && hint_set_is_safe(buf_text(&out)))
		return buf_take(&out);
	err_set(err, EINVAL,
		"\"%s\" is not a safe hint set; expected KEY=VALUE;KEY=VALUE, such as "
		"cb_buffer_size=16777216;romio_ds_write=disable",
		text);
	return NULL;
}

static int option_invalid(struct err *err, const char *key, const char *text, const char *wanted)
{
	return err_set(err, EINVAL, "plugin.history.%s: invalid value \"%s\"; expected %s", key,
		       text, wanted);
}

static int read_flag(const char *key, const char *text, bool *flag, struct err *err)
{
	if (text && strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		return option_invalid(err, key, text, "yes or no");
	if (text)
		*flag = !strcmp(text, "yes");
	return 0;
}

static int read_share(const char *key, const char *text, double *share, struct err *err)
{
	char *end;
	double value;

	if (!text)
		return 0;
	value = strtod(text, &end);
	if (end == text || strcmp(end, "%") != 0 || !(value >= 0 && value <= 100))
		return option_invalid(err, key, text, "a percentage such as 5%");
	*share = value / 100;
	return 0;
}

static int read_learn(const char *text, uint64_t *learn, struct err *err)
{
	char *end;

	if (!text)
		return 0;
	*learn = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || !*learn)
		return option_invalid(err, "learn", text, "a number above 0");
	return 0;
}

static int read_changes(const char *text, uint64_t *changes, struct err *err)
{
	AUTO_FREE char *wanted = NULL;
	char *end;

	if (!text)
		return 0;
	*changes = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && *changes < CONTROL_CHANGES_MAX)
		return 0;
	wanted = xprintf("a number from 0 to %u", CONTROL_CHANGES_MAX - 1);
	return option_invalid(err, "changes", text, wanted);
}

/* An empty text means that accesses are told apart by their operation alone. */
static int read_attributes(const char *text, struct history_options *options, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text ? text : "volume offset");
	char *rest = NULL;

	options->by_volume = options->by_offset = false;
	for (char *word = strtok_r(copy, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest)) {
		if (!strcmp(word, "volume"))
			options->by_volume = true;
		else if (!strcmp(word, "offset"))
			options->by_offset = true;
		else
			return option_invalid(err, "attributes", word, "volume, offset or both");
	}
	return 0;
}

/* Does a call of MPI-IO with this name move data? */
static bool is_access(const char *name)
{
	for (unsigned i = 0; i < call_count; i++)
		if (call_table[i].layer == LAYER_MPI && traffic_ways(&call_table[i]) &&
		    names_list_has(name, LAYER_MPI, call_table[i].name))
			return true;
	return false;
}

static int read_calls(const char *text, struct history_options *options, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text ? text : "");
	AUTO_BUF struct buf names = { 0 };
	char *rest = NULL;

	for (char *word = strtok_r(copy, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest)) {
		if (!is_access(word))
			return option_invalid(err, "calls", word,
					      "names of functions that read or write MPI files, "
					      "such as MPI_File_write_all");
		buf_printf(&names, "%s%s", names.len ? " " : "",
			   strchr(word, '/') ? strchr(word, '/') + 1 : word);
	}
	if (names.len)
		options->calls = buf_take(&names);
	return 0;
}

static int read_sets(const char *text, struct history_options *options, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text ? text : "");
	char *rest = NULL;
	size_t cap = 0;

	for (char *part = strtok_r(copy, "|", &rest); part; part = strtok_r(NULL, "|", &rest)) {
		char *set = hint_set_parse(part, err);

		if (!set) {
			err_prefix(err, "plugin.history.sets");
			return -EINVAL;
		}
		options->sets =
			xgrow(options->sets, &cap, options->set_count + 1, sizeof(*options->sets));
		options->sets[options->set_count++] = set;
	}
	return 0;
}

int history_options_read(struct history_options *options, history_option get, void *arg,
			 struct err *err)
{
	struct history_options o = {
		.by_user = true, .by_extension = true, .learn = 3, .margin = 0.05, .changes = 32
	};
	int r = read_flag("by_user", get(arg, "by_user"), &o.by_user, err);

	if (r >= 0)
		r = read_flag("by_extension", get(arg, "by_extension"), &o.by_extension, err);
	if (r >= 0)
		r = read_learn(get(arg, "learn"), &o.learn, err);
	if (r >= 0)
		r = read_share("margin", get(arg, "margin"), &o.margin, err);
	if (r >= 0)
		r = read_share("explore", get(arg, "explore"), &o.explore, err);
	if (r >= 0)
		r = read_changes(get(arg, "changes"), &o.changes, err);
	if (r >= 0)
		r = read_attributes(get(arg, "attributes"), &o, err);
	if (r >= 0)
		r = read_calls(get(arg, "calls"), &o, err);
	if (r >= 0)
		r = read_sets(get(arg, "sets"), &o, err);
	if (r < 0) {
		history_options_release(&o);
		return r;
	}
	if (get(arg, "store") && *get(arg, "store"))
		o.store = xstrdup(get(arg, "store"));
	*options = o;
	return 0;
}

void history_options_release(struct history_options *options)
{
	for (size_t i = 0; i < options->set_count; i++)
		free(options->sets[i]);
	free(options->sets);
	free(options->calls);
	free(options->store);
	*options = (struct history_options){ 0 };
}

/* Files of the same kind: of one program and extension. */
static int kind_compare(const struct known *x, const struct known *y)
{
	int order = strcmp(x->program, y->program);

	return order ? order : strcmp(x->extension, y->extension);
}

static int known_compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	int order = kind_compare(x, y);

	if (!order)
		order = strcmp(x->filesystem, y->filesystem);
	if (!order)
		order = strcmp(x->operation, y->operation);
	if (!order)
		order = (x->size_class > y->size_class) - (x->size_class < y->size_class);
	return order ? order : strcmp(x->hints, y->hints);
}

static int known_add(void *arg, const struct outcome_key *key, const char *hints,
		     const struct outcome *outcome)
{
	struct knowledge *k = arg;

	if (!*key->program)
		return 0; /* of a store that did not tell programs apart */
	/* Learned while accesses were told apart by other attributes. */
	if ((key->size_class == HINTS_ANY_SIZE) == k->options->by_volume ||
	    (strstr(key->operation, HINTS_STRIDED) && !k->options->by_offset))
		return 0;
	k->list = xgrow(k->list, &k->cap, k->count + 1, sizeof(*k->list));
	k->list[k->count++] = (struct known){ xstrdup(key->program),
					      xstrdup(key->extension),
					      xstrdup(key->filesystem),
					      xstrdup(key->operation),
					      xstrdup(hints),
					      key->size_class,
					      *outcome };
	return 0;
}

static void known_free(struct known *known)
{
	free(known->program);
	free(known->extension);
	free(known->filesystem);
	free(known->operation);
	free(known->hints);
}

static void knowledge_release(struct knowledge *k)
{
	for (size_t i = 0; i < k->count; i++)
		known_free(&k->list[i]);
	free(k->list);
}

bool known_is_of_mode(const struct known *known, char mode)
{
	return mode == 'b' || *known->operation == mode; /* the first letter of read, write */
}

/* Finds samples of the same workload with other hints; NULL if fewer than `learn` runs have any. */
static const struct known *find_with_hints(const struct known *list, size_t count,
					   const struct known *known, const char *hints,
					   uint64_t learn)
{
	struct known wanted = *known;
	const struct known *found;

	wanted.hints = (char *)hints;
	found = bsearch(&wanted, list, count, sizeof(*list), known_compare);
	return found && found->outcome.runs >= learn ? found : NULL;
}

double known_speedup(const struct known *list, size_t count, char mode, const char *hints,
		     uint64_t learn)
{
	double all = 0, defaults = 0, set = 0;

	for (size_t i = 0; i < count; i++) {
		const struct known *known = &list[i], *other;
		double seconds = known->outcome.seconds, bytes = known->outcome.bytes;

		if (*known->hints || !known_is_of_mode(known, mode) || known->outcome.runs < learn)
			continue;
		all += seconds;
		other = find_with_hints(list, count, known, hints, learn);
		if (!other)
			continue;
		defaults += seconds;
		set += bytes / other->outcome.bytes * other->outcome.seconds;
	}
	if (!(all > 0))
		return -1;
	return defaults > 0 && defaults >= COVERAGE * all ? defaults / set : 0;
}

/* The end of the entries of the same file system. */
static size_t place_end(const struct known *list, size_t count, size_t from)
{
	size_t to = from + 1;

	while (to < count && !strcmp(list[to].filesystem, list[from].filesystem))
		to++;
	return to;
}

unsigned known_places(const struct known *list, size_t count, char mode, const char *hints,
		      uint64_t learn)
{
	unsigned places = 0;

	for (size_t from = 0, to; from < count; from = to) {
		double gain;

		to = place_end(list, count, from);
		gain = known_speedup(&list[from], to - from, mode, hints, learn);
		/* Rows of earlier versions are of an unknown file system. */
		if (gain == 0 && !*list[from].filesystem)
			continue;
		if (gain >= 0 && gain < 1)
			return 0;
		if (gain >= 1)
			places += *list[from].filesystem ? 1 : UNKNOWN_PLACES;
	}
	return places;
}

/* filesystem: that of all entries of the list; "": they are of all file systems. */
static void choose_for_mode(struct hint_choices *choices, size_t *cap, const struct known *list,
			    size_t count, const char *filesystem, char mode,
			    const struct history_options *options)
{
	const char *best = NULL;
	double most = 1 + options->margin;
	unsigned best_places = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned places;
		double gain;

		if (!*list[i].hints || !known_is_of_mode(&list[i], mode) ||
		    !hint_set_is_safe(list[i].hints))
			continue;
		gain = known_speedup(list, count, mode, list[i].hints, options->learn);
		if (!(gain > most))
			continue;
		places = known_places(list, count, mode, list[i].hints, options->learn);
		if (places) {
			best = list[i].hints;
			best_places = places;
			most = gain;
		}
	}
	if (!best)
		return;
	choices->best = xgrow(choices->best, cap, choices->count + 1, sizeof(*choices->best));
	choices->best[choices->count++] = (struct hint_choice){ xstrdup(list->program),
								xstrdup(list->extension),
								xstrdup(filesystem),
								mode,
								xstrdup(best),
								most,
								best_places };
}

/* Chooses for files of one kind: for all file systems, and for each. */
static void choose_for_kind(struct hint_choices *choices, size_t *cap, const struct known *list,
			    size_t count, const struct history_options *options)
{
	for (const char *mode = "rwb"; *mode; mode++) {
		choose_for_mode(choices, cap, list, count, "", *mode, options);
		for (size_t from = 0, to; from < count; from = to) {
			to = place_end(list, count, from);
			if (*list[from].filesystem)
				choose_for_mode(choices, cap, &list[from], to - from,
						list[from].filesystem, *mode, options);
		}
		access_choices_add(choices, list, count, *mode, options);
	}
}

static void choose_all(struct hint_choices *choices, const struct knowledge *k,
		       const struct history_options *options)
{
	size_t cap = 0, from = 0;

	for (size_t to = 1; to <= k->count; to++) {
		if (to < k->count && !kind_compare(&k->list[to], &k->list[from]))
			continue;
		choose_for_kind(choices, &cap, &k->list[from], to - from, options);
		from = to;
	}
}

static void count_samples(struct hint_choices *choices, const struct knowledge *k,
			  const struct history_options *options)
{
	choices->seen = xcalloc(options->set_count + 1, sizeof(*choices->seen));
	for (size_t i = 0; i < k->count; i++)
		for (size_t j = 0; j < options->set_count; j++)
			if (!strcmp(k->list[i].hints, options->sets[j]))
				choices->seen[j] += k->list[i].outcome.count;
}

int hint_choices_of_store(struct hint_choices *choices, const struct history_options *options,
			  struct store *store, const char *user, struct err *err)
{
	struct outcomes_filter filter = { .user = options->by_user ? user : NULL,
					  .joins_users = !options->by_user,
					  .joins_extensions = !options->by_extension };
	struct knowledge k = { .options = options };
	struct hint_choices made = { 0 };
	int r = 0;

	if (store)
		r = outcomes_list(store, &filter, known_add, &k, err);
	if (store && r >= 0)
		r = outcomes_count_opens(store, user, &made.opens, &made.explored, err);
	if (r >= 0) {
		if (k.count)
			qsort(k.list, k.count, sizeof(*k.list), known_compare);
		choose_all(&made, &k, options);
		count_samples(&made, &k, options);
		*choices = made;
	}
	knowledge_release(&k);
	return r;
}

int hint_choices_make(struct hint_choices *choices, const struct history_options *options,
		      const char *user, struct err *err)
{
	struct store *store = NULL;
	int r = 0;

	if (options->store && place_exists(options->store))
		r = store_open(&store, options->store, err);
	if (r >= 0)
		r = hint_choices_of_store(choices, options, store, user, err);
	store_close(store);
	return r;
}

void hint_choices_release(struct hint_choices *choices)
{
	for (size_t i = 0; i < choices->count; i++) {
		free(choices->best[i].program);
		free(choices->best[i].extension);
		free(choices->best[i].filesystem);
		free(choices->best[i].hints);
	}
	free(choices->best);
	access_choices_release(choices);
	free(choices->seen);
	*choices = (struct hint_choices){ 0 };
}

const char *hint_choices_find(const struct hint_choices *choices, const char *program,
			      const char *extension, char mode)
{
	const char *any = NULL;

	for (size_t i = 0; i < choices->count; i++) {
		const struct hint_choice *best = &choices->best[i];

		if (best->mode != mode || *best->filesystem || strcmp(best->program, program) != 0)
			continue;
		if (!strcmp(best->extension, extension))
			return best->hints;
		if (!strcmp(best->extension, "*"))
			any = best->hints;
	}
	return any;
}

/* Lists the sets to try, those with the fewest samples first. */
static void write_trials(struct buf *out, const struct hint_choices *choices,
			 const struct history_options *options)
{
	AUTO_FREE bool *done = xcalloc(options->set_count + 1, sizeof(*done));

	for (size_t n = 0; n < options->set_count; n++) {
		size_t least = options->set_count;

		for (size_t i = 0; i < options->set_count; i++)
			if (!done[i] && (least == options->set_count ||
					 choices->seen[i] < choices->seen[least]))
				least = i;
		done[least] = true;
		buf_printf(out, "try %s\n", options->sets[least]);
	}
}

int hint_choices_write(const struct hint_choices *choices, const struct history_options *options,
		       const char *path, struct err *err)
{
	AUTO_BUF struct buf out = { 0 };
	AUTO_CLOSE int fd = -1;
	const char *program = NULL;

	buf_puts(&out, HINTS_ANSWERS_TITLE "\n");
	if (options->explore > 0 && options->set_count) {
		buf_printf(&out, "explore %.0f %llu %llu\n", options->explore * HINTS_MILLION,
			   (unsigned long long)choices->opens,
			   (unsigned long long)choices->explored);
		write_trials(&out, choices, options);
	}
	for (size_t i = 0; i < choices->count; i++) {
		const struct hint_choice *best = &choices->best[i];

		if (*best->filesystem)
			continue;
		if (!program || strcmp(program, best->program) != 0)
			buf_printf(&out, "program %s\n", best->program);
		program = best->program;
		buf_printf(&out, "best %s %c %s\n", best->extension, best->mode, best->hints);
	}
	access_choices_write(&out, choices, options);
	unlink(path);
	fd = trusted_create_file(AT_FDCWD, path, err);
	if (fd >= 0 && write(fd, out.data, out.len) != (ssize_t)out.len)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	return fd < 0 ? fd : 0;
}
