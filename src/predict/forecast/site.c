/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/site.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "predict/describe.h"
#include "predict/forecast/jobs/jobs.h"

#define FIELD(name) offsetof(struct site, name)

static const struct describe_row rows[] = {
	{ "classes", "extra_large", DESCRIBE_COUNT, 0, 1, 1e9, FIELD(bounds[0]) },
	{ "classes", "large", DESCRIBE_COUNT, 0, 1, 1e9, FIELD(bounds[1]) },
	{ "classes", "medium", DESCRIBE_COUNT, 0, 1, 1e9, FIELD(bounds[2]) },
	{ "classes", "small", DESCRIBE_COUNT, 0, 1, 1e9, FIELD(bounds[3]) },
	{ "placement", "most_extra", DESCRIBE_NUMBER, 0, 1, 1e6, FIELD(most_extra) },
	{ "placement", "least", DESCRIBE_NUMBER, 0, 0, 1, FIELD(least) },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The text values. The lines of a list with the same key are joined. */
static const struct text_row {
	const char *section, *key;
	size_t offset, cap;
	bool is_list;
} texts[] = {
	{ "site", "name", FIELD(name), SITE_NAME, false },
	{ "jobs", "reader", FIELD(reader), SITE_NAME, false },
	{ "jobs", "command", FIELD(jobs_command), SITE_TEXT, false },
	{ "jobs", "batch", FIELD(batch), SITE_TEXT, true },
	{ "jobs", "debug", FIELD(debug), SITE_TEXT, true },
	{ "placement", "allow", FIELD(allow), SITE_TEXT, true },
	{ "placement", "files", FIELD(files), SITE_TEXT, true },
};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

/* The site being read, and the lines on which its texts were given. */
struct reading {
	struct site site; /* must be first, because rows[] has offsets into it */
	unsigned seen[TEXTS];
};

void site_init(struct site *site)
{
	*site = (struct site){ .name = "generic",
			       .reader = "auto",
			       .batch = "batch",
			       .debug = "debug",
			       .bounds = { 11250, 3750, 313, 126 },
			       .most_extra = 4 };
}

void site_release(struct site *site)
{
	free(site->targets);
	free(site->schedulers);
	*site = (struct site){ 0 };
}

static void set_text(struct describe *d, size_t i, const char *text)
{
	struct reading *reading = d->into;
	char *to = (char *)&reading->site + texts[i].offset;
	size_t used = reading->seen[i] && texts[i].is_list ? strlen(to) : 0;

	if (reading->seen[i] && !texts[i].is_list)
		describe_complain(d, "duplicate %s; the first one is in line %u", texts[i].key,
				  reading->seen[i]);
	else if (used + (used > 0) + strlen(text) >= texts[i].cap)
		describe_complain(d, "%s is too long: at most %zu characters are allowed",
				  texts[i].key, texts[i].cap - 1);
	else
		snprintf(to + used, texts[i].cap - used, "%s%s", used ? "," : "", text);
	reading->seen[i] = d->line;
}

/* Names appear in lists, in columns of files and before an equals sign. */
static bool is_name(const char *text)
{
	if (!*text || strlen(text) >= SITE_NAME)
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._-", *text))
			return false;
	return true;
}

static void add_target(struct describe *d, const char *name, const char *place)
{
	struct site *site = &((struct reading *)d->into)->site;
	struct site_target *target;

	for (size_t i = 0; i < site->target_count; i++)
		if (strcmp(site->targets[i].name, name) == 0)
			describe_complain(d, "duplicate target '%s'", name);
	if (!is_name(name))
		describe_complain(
			d,
			"invalid target name '%.64s': expected at most %d letters, digits "
			"and . _ -",
			name, SITE_NAME - 1);
	else if (!*place || strlen(place) >= SITE_TEXT)
		describe_complain(d, "the place of target '%s' is %s", name,
				  *place ? "too long" : "missing");
	if (d->err.code)
		return;
	site->targets = xgrow(site->targets, &site->target_cap, site->target_count + 1,
			      sizeof(*site->targets));
	target = &site->targets[site->target_count++];
	*target = (struct site_target){ 0 };
	memcpy(target->name, name, strlen(name));
	memcpy(target->place, place, strlen(place));
}

/* text: the name of a reader and, after a blank, the command. */
static void add_scheduler(struct describe *d, const char *name, const char *text)
{
	struct site *site = &((struct reading *)d->into)->site;
	size_t n = strcspn(text, " \t");
	const char *command = text + n + strspn(text + n, " \t");
	struct site_scheduler *scheduler;

	for (size_t i = 0; i < site->scheduler_count; i++)
		if (strcmp(site->schedulers[i].name, name) == 0)
			describe_complain(d, "duplicate scheduler '%s'", name);
	if (!is_name(name))
		describe_complain(d,
				  "invalid scheduler name '%.64s': expected at most %d letters, "
				  "digits and . _ -",
				  name, SITE_NAME - 1);
	else if (!n || n >= SITE_NAME || strlen(command) >= SITE_TEXT)
		describe_complain(d, "scheduler '%s': expected READER or READER COMMAND", name);
	if (d->err.code)
		return;
	site->schedulers = xgrow(site->schedulers, &site->scheduler_cap, site->scheduler_count + 1,
				 sizeof(*site->schedulers));
	scheduler = &site->schedulers[site->scheduler_count++];
	*scheduler = (struct site_scheduler){ 0 };
	memcpy(scheduler->name, name, strlen(name));
	memcpy(scheduler->reader, text, n);
	memcpy(scheduler->command, command, strlen(command));
}

static bool set_value(struct describe *d, const char *section, const char *key, const char *text)
{
	if (strcmp(section, "targets") == 0) {
		add_target(d, key, text);
		return true;
	}
	if (strcmp(section, "schedulers") == 0) {
		add_scheduler(d, key, text);
		return true;
	}
	for (size_t i = 0; i < TEXTS; i++)
		if (strcmp(texts[i].section, section) == 0 && strcmp(texts[i].key, key) == 0) {
			set_text(d, i, text);
			return true;
		}
	if (strcmp(section, "site") != 0 && strcmp(section, "jobs") != 0)
		return false;
	describe_complain(d, "unknown key '%s' in [%s]", key, section);
	return true;
}

static int check_schedulers(const struct site *site, const char *name, struct err *err)
{
	for (size_t i = 0; i < site->scheduler_count; i++)
		if (!jobs_reader_find(site->schedulers[i].reader, err)) {
			err_prefix(err, "%s: [schedulers] %s", name, site->schedulers[i].name);
			return -EINVAL;
		}
	return 0;
}

static int check_site(const struct site *site, const char *name, struct err *err)
{
	static const char *const classes[] = { "extra_large", "large", "medium", "small" };

	for (size_t i = 1; i < SITE_CLASSES - 1; i++)
		if (!(site->bounds[i] < site->bounds[i - 1]))
			return err_set(err, EINVAL,
				       "%s: [classes] %s is %g and %s is %g; each must be less "
				       "than the one before",
				       name, classes[i - 1], site->bounds[i - 1], classes[i],
				       site->bounds[i]);
	if (!*site->name)
		return err_set(err, EINVAL, "%s: [site] name is empty", name);
	if (check_schedulers(site, name, err) < 0)
		return -EINVAL;
	if (strcmp(site->reader, "auto") == 0 || strcmp(site->reader, "none") == 0)
		return 0;
	if (jobs_reader_find(site->reader, err))
		return 0;
	err_prefix(err, "%s: [jobs] reader", name);
	return -EINVAL;
}

int site_parse(struct site *site, const char *name, const char *text, size_t bytes, struct err *err)
{
	struct reading reading = { 0 };
	struct describe describe = {
		.name = name,
		.into = &reading,
		.rows = rows,
		.row_count = ROWS,
		.take = set_value,
		.sections = "[site], [jobs], [schedulers], [classes], [targets] and [placement]",
	};
	int r;

	site_init(&reading.site);
	r = describe_read(&describe, text, bytes);
	if (r < 0 && err)
		*err = describe.err;
	if (r >= 0)
		r = check_site(&reading.site, name, err);
	if (r < 0) {
		site_release(&reading.site);
		return r;
	}
	*site = reading.site;
	return 0;
}

int site_load(struct site *site, const char *name, struct err *err)
{
	static const struct describe_folder folder = { "sites", "SLUICE_SITES", "site",
						       "titan, cori, generic" };
	AUTO_BUF struct buf text = { 0 };
	AUTO_FREE char *path = NULL;
	int r = describe_load(&folder, name, &path, &text, err);

	return r < 0 ? r : site_parse(site, path, buf_text(&text), text.len, err);
}

bool site_name_matches(const char *patterns, const char *name)
{
	char pattern[SITE_TEXT];

	for (const char *p = patterns; *p;) {
		size_t n = strcspn(p, ","), skip = strspn(p, " \t"), len;

		len = n > skip ? n - skip : 0;
		while (len && isblank((unsigned char)p[skip + len - 1]))
			len--;
		if (len && len < sizeof(pattern)) {
			memcpy(pattern, p + skip, len);
			pattern[len] = 0;
			if (fnmatch(pattern, name, 0) == 0)
				return true;
		}
		p += n + (p[n] == ',');
	}
	return false;
}

size_t site_class(const struct site *site, double nodes)
{
	size_t i = 0;

	/* A job with unknown nodes (NAN) is extra-small. */
	while (i < SITE_CLASSES - 1 && !(nodes >= site->bounds[i]))
		i++;
	return i;
}
