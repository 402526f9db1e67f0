/* SPDX-License-Identifier: BSD-3-Clause
 *
 * inih splits the lines. Its handler gets no line numbers, and it cannot handle lines longer than
 * its buffer, so our own reader feeds it from memory and counts lines.
 */
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/text.h"
#include "base/trusted.h"

#define SETTING_ROW(name, section, key, kind, value, fallback, help) \
	[SETTING_##name] = { section, key, "SLUICE_" #name, OPTION_##kind, value, fallback, help },
const struct setting settings[SETTING_COUNT] = { SETTING_LIST(SETTING_ROW) };
#undef SETTING_ROW

/* The environment can name another file for other settings, but not for restrictions. */
#define SITE_FILE "/etc/sluice.conf"

/* inih silently truncates longer names. */
#define CONFIG_SECTION_MAX 49

/* A settings file is short; a larger file is a mistake, such as a device or a data file. */
#define CONFIG_BYTES_MAX (1 << 20)

/* Names that settings had in earlier versions. They are accepted everywhere but never listed. */
static const struct setting_alias {
	const char *section, *key, *environment;
	enum setting_id id;
} aliases[] = {
	{ "reason", "cycle", "SLUICE_REASON_CYCLE", SETTING_HEALTH_INTERVAL },
	{ "reason", "calls", "SLUICE_REASON_CALLS", SETTING_HEALTH_MIN_CALLS },
	{ "reason", "slow", "SLUICE_REASON_SLOW", SETTING_HEALTH_SLOW_PERCENT },
	{ "reason", "load", "SLUICE_REASON_LOAD", SETTING_HEALTH_BUSY_PERCENT },
	{ "stats", "network", "SLUICE_STATS_NETWORK", SETTING_STATS_LINK_SPEED },
	{ "flight", "ring", "SLUICE_FLIGHT_RING", SETTING_FLIGHT_CALLS },
};
#define ALIASES (sizeof(aliases) / sizeof(aliases[0]))

static void problem_add(struct config *config, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void problem_add(struct config *config, const char *format, ...)
{
	va_list ap;

	config->problems = xgrow(config->problems, &config->problem_cap, config->problem_count + 1,
				 sizeof(*config->problems));
	va_start(ap, format);
	config->problems[config->problem_count++] = xvprintf(format, ap);
	va_end(ap);
}

static void value_set(struct config_value *value, char *text, const char *origin)
{
	free(value->text);
	free(value->origin);
	value->text = text;
	value->origin = xstrdup(origin);
}

int config_set(struct config *config, enum setting_id id, const char *text, const char *origin,
	       struct err *err)
{
	const struct setting *row = &settings[id];
	struct config_value *value = &config->values[id];
	AUTO_FREE char *name = NULL;
	int ret = 0;

	if (!text)
		return 0;
	name = xprintf("%s.%s", row->section, row->key);
	if (row->kind == OPTION_CHOICE)
		ret = option_value(row->kind, row->value, name, text, &value->choice, err);
	else if (row->kind != OPTION_TEXT)
		ret = option_value(row->kind, row->value, name, text, &value->number, err);
	if (ret)
		return ret;
	value_set(value, strcmp(row->value, "PATH") ? xstrdup(text) : place_expand(text), origin);
	return 0;
}

/* Open sections accept any key. */
static bool section_is_open(const char *section)
{
	return text_starts_with(section, "plugin.") || text_starts_with(section, "plugins.");
}

static int find_extra(const struct config *config, const char *section, const char *key)
{
	for (size_t i = 0; i < config->extra_count; i++)
		if (strcmp(config->extras[i].section, section) == 0 &&
		    strcmp(config->extras[i].key, key) == 0)
			return (int)i;
	return -1;
}

static int set_extra(struct config *config, const char *section, const char *key, const char *text,
		     const char *origin, struct err *err)
{
	int at = find_extra(config, section, key);
	struct config_extra *extra;

	if (!strchr(section, '.')[1] || !*key)
		return err_set(err, EINVAL, "[%s]: missing name after the dot, or missing key",
			       section);
	if (text_starts_with(section, "plugins.") && strcmp(key, "load") != 0)
		return err_set(err, EINVAL, "unknown key \"%s\" in [%s]; expected: load", key,
			       section);
	if (at < 0) {
		config->extras = xgrow(config->extras, &config->extra_cap, config->extra_count + 1,
				       sizeof(*config->extras));
		at = (int)config->extra_count++;
		config->extras[at] =
			(struct config_extra){ .section = xstrdup(section), .key = xstrdup(key) };
	}
	extra = &config->extras[at];
	free(extra->text);
	free(extra->origin);
	extra->text = xstrdup(text);
	extra->origin = xstrdup(origin);
	return 0;
}

const char *config_extra(const struct config *config, const char *section, const char *key)
{
	int at = find_extra(config, section, key);

	return at < 0 ? NULL : config->extras[at].text;
}

void config_init(struct config *config)
{
	*config = (struct config){ .site_allow = CONFIG_ALLOW_SEMANTICS };
	for (int id = 0; id < SETTING_COUNT; id++)
		config_set(config, id, settings[id].fallback, "default", NULL);
}

void config_release(struct config *config)
{
	for (int id = 0; id < SETTING_COUNT; id++) {
		free(config->values[id].text);
		free(config->values[id].origin);
	}
	for (size_t i = 0; i < config->extra_count; i++) {
		free(config->extras[i].section);
		free(config->extras[i].key);
		free(config->extras[i].text);
		free(config->extras[i].origin);
	}
	free(config->extras);
	free(config->site_forbid);
	for (size_t i = 0; i < config->problem_count; i++)
		free(config->problems[i]);
	free(config->problems);
	*config = (struct config){ 0 };
}

/* Fails, with a list of the valid names: those of sections, or of the keys in a known section. */
static int refuse_name(const char *section, const char *key, bool section_known, struct err *err)
{
	AUTO_BUF struct buf known = { 0 };
	const char *last = "";

	for (int id = 0; id < SETTING_COUNT; id++) {
		const struct setting *row = &settings[id];

		if (section_known && strcmp(row->section, section) == 0)
			buf_printf(&known, " %s", row->key);
		else if (!section_known && strcmp(row->section, last) != 0)
			buf_printf(&known, " [%s]", row->section);
		last = row->section;
	}
	if (section_known)
		return err_set(err, EINVAL, "unknown key \"%s\" in [%s]; expected one of:%s", key,
			       section, buf_text(&known));
	return err_set(err, EINVAL,
		       "unknown section [%s]; expected one of:%s [plugins.LAYER] [plugin.NAME]",
		       section, buf_text(&known));
}

/* The setting of that name, or -EINVAL. */
static int find_setting(const char *section, const char *key, struct err *err)
{
	bool section_known = false;

	for (int id = 0; id < SETTING_COUNT; id++) {
		if (strcmp(settings[id].section, section) == 0) {
			if (strcmp(settings[id].key, key) == 0)
				return id;
			section_known = true;
		}
	}
	for (size_t i = 0; i < ALIASES; i++)
		if (strcmp(aliases[i].section, section) == 0 && strcmp(aliases[i].key, key) == 0)
			return aliases[i].id;
	return refuse_name(section, key, section_known, err);
}

/* Sets a setting, or a key of an open section. */
static int set_by_name(struct config *config, const char *section, const char *key,
		       const char *text, const char *origin, struct err *err)
{
	int id;

	if (section_is_open(section))
		return set_extra(config, section, key, text, origin, err);
	id = find_setting(section, key, err);
	return id < 0 ? id : config_set(config, id, text, origin, err);
}

int config_find(const char *name, struct err *err)
{
	const char *dot = strrchr(name, '.');
	AUTO_FREE char *section = dot ? xstrndup(name, (size_t)(dot - name)) : NULL;

	if (!dot)
		return err_set(err, EINVAL, "expected SECTION.KEY, got \"%s\"", name);
	return find_setting(section, dot + 1, err);
}

int config_assign(struct config *config, const char *assignment, const char *origin,
		  struct err *err)
{
	const char *equals = strchr(assignment, '=');
	/* The last dot counts: sections of plug-ins contain dots. */
	const char *dot = equals ? memrchr(assignment, '.', (size_t)(equals - assignment)) : NULL;
	AUTO_FREE char *section = NULL;
	AUTO_FREE char *key = NULL;

	if (!dot)
		return err_set(err, EINVAL, "invalid setting \"%s\"; expected SECTION.KEY=VALUE",
			       assignment);
	section = xstrndup(assignment, (size_t)(dot - assignment));
	key = xstrndup(dot + 1, (size_t)(equals - dot - 1));
	return set_by_name(config, section, key, equals + 1, origin, err);
}

struct source {
	struct config *config;
	const char *name;
	const char *text;
	size_t left;
	unsigned line;
};

static void report_line(struct source *source, const char *what)
{
	problem_add(source->config, "%s:%u: %s", source->name, source->line, what);
}

/* Whether the line is neither a comment nor a heading nor an assignment; inih would misread it. */
static bool line_is_broken(const char *line)
{
	if (!*line || *line == ';' || *line == '#')
		return false;
	if (*line == '[')
		return !strchr(line, ']');
	return !strpbrk(line, "=:") || *line == '=' || *line == ':';
}

/* Copies the next line without its leading and trailing blanks. False if it cannot be used. */
static bool read_source_line(struct source *s, char *out, size_t cap)
{
	const char *newline = memchr(s->text, '\n', s->left);
	size_t n = newline ? (size_t)(newline - s->text) : s->left;
	const char *from = s->text;
	size_t consumed = n + (newline != NULL);

	while (n && isspace((unsigned char)*from)) {
		from++;
		n--;
	}
	while (n && isspace((unsigned char)from[n - 1]))
		n--;
	s->text += consumed;
	s->left -= consumed;
	s->line++;
	if (n >= cap || memchr(from, 0, n)) {
		report_line(s, n >= cap ? "line too long; set this value in the environment instead"
					: "line contains a zero byte");
		return false;
	}
	memcpy(out, from, n);
	out[n] = 0;
	return true;
}

/*
 * The reader that inih calls. Leading blanks are removed, so that an indented key is not taken for
 * a continuation. A line that cannot be used becomes an empty one.
 */
static char *feed_line(char *out, int cap, void *user)
{
	struct source *s = user;
	bool usable;

	if (!s->left)
		return NULL;
	usable = read_source_line(s, out, (size_t)cap);
	if (usable && line_is_broken(out)) {
		report_line(s, *out == '[' ? "missing ] after the section name"
					   : "expected [section] or key = value");
		usable = false;
	} else if (usable && *out == '[' && strcspn(out + 1, "]") > CONFIG_SECTION_MAX) {
		report_line(s, "section name too long");
		usable = false;
	}
	if (!usable)
		out[0] = 0;
	return out;
}

static int handle_assignment(void *user, const char *section, const char *key, const char *value)
{
	struct source *s = user;
	struct err err = { 0 };
	AUTO_FREE char *origin = xprintf("%s:%u", s->name, s->line);

	if (!*section)
		report_line(s, "assignment before the first [section]");
	else if (set_by_name(s->config, section, key, value, origin, &err) < 0)
		report_line(s, err.text);
	return 1;
}

void config_read_text(struct config *config, const char *name, const char *text, size_t n)
{
	struct source source = { .config = config, .name = name, .text = text, .left = n };

	if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
		source.text += 3;
		source.left -= 3;
	}
	ini_parse_stream(feed_line, &source, handle_assignment, &source);
}

/* Its values replace older ones. A missing file is a problem only if `named`. */
static void read_file(struct config *config, const char *path, bool named)
{
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };
	int ret;

	if (!strcmp(path, "/dev/null")) /* the usual word for "no file" */
		return;
	ret = trusted_read_file(&text, path, CONFIG_BYTES_MAX, &err);
	if (!ret)
		config_read_text(config, path, buf_text(&text), text.len);
	else if (named || (ret != -ENOENT && ret != -ENOTDIR))
		problem_add(config, "cannot read the settings file %s", err.text);
}

static bool is_set(const struct config *config, enum setting_id id)
{
	return strcmp(config->values[id].origin, "default") != 0;
}

/*
 * Adds what a site's file forbids. It counts whoever owns the file, because it can only forbid.
 */
static void read_restrictions(struct config *config, const char *path)
{
	AUTO_BUF struct buf text = { 0 };
	struct config site;

	if (file_read_all(&text, path, CONFIG_BYTES_MAX, NULL) < 0)
		return;
	config_init(&site);
	config_read_text(&site, path, buf_text(&text), text.len);
	if (is_set(&site, SETTING_PARAMS_ALLOW) &&
	    config_choice(&site, SETTING_PARAMS_ALLOW) < config->site_allow)
		config->site_allow = config_choice(&site, SETTING_PARAMS_ALLOW);
	if (is_set(&site, SETTING_PARAMS_FORBID)) {
		char *before = config->site_forbid;

		config->site_forbid = xprintf("%s %s", before ? before : "",
					      config_text(&site, SETTING_PARAMS_FORBID));
		free(before);
	}
	config_release(&site);
}

/* Is the name in a list that is separated by blanks or commas? */
static bool is_listed(const char *names, const char *name)
{
	size_t n = strlen(name);

	while (names && *names) {
		size_t word = strcspn(names, ", \t");

		if (word == n && strncmp(names, name, n) == 0)
			return true;
		names += word;
		names += strspn(names, ", \t");
	}
	return false;
}

bool config_forbids(const struct config *config, const char *parameter)
{
	return is_listed(config_text(config, SETTING_PARAMS_FORBID), parameter) ||
	       is_listed(config->site_forbid, parameter);
}

int config_allowed(const struct config *config)
{
	int wanted = config_choice(config, SETTING_PARAMS_ALLOW);

	return wanted < config->site_allow ? wanted : config->site_allow;
}

static bool is_variable(const char *variable, const char *name)
{
	size_t n = strlen(name);

	return strncmp(variable, name, n) == 0 && variable[n] == '=';
}

/* A misspelled key must be reported: SLUICE_CAPTURE_MOED is a problem, SLUICE_DISABLE is not. */
static bool is_unknown_setting(const char *variable)
{
	bool section_known = false;

	for (int id = 0; id < SETTING_COUNT; id++) {
		const char *name = settings[id].environment;
		size_t section = strlen("SLUICE_") + strlen(settings[id].section) + 1;

		if (is_variable(variable, name))
			return false;
		section_known |= strncmp(name, variable, section) == 0;
	}
	for (size_t i = 0; i < ALIASES; i++)
		if (is_variable(variable, aliases[i].environment))
			return false;
	return section_known;
}

static void read_variable(struct config *config, enum setting_id id, const char *name)
{
	const char *text = getenv(name);
	struct err err = { 0 };

	if (text && config_set(config, id, text, name, &err) < 0)
		problem_add(config, "environment variable %s: %s", name, err.text);
}

static void read_environment(struct config *config)
{
	for (char **variable = environ; *variable; variable++) {
		if (is_unknown_setting(*variable))
			problem_add(config,
				    "unknown environment variable %.*s; 'sluice config' lists all "
				    "settings",
				    (int)strcspn(*variable, "="), *variable);
	}
	for (size_t i = 0; i < ALIASES; i++)
		read_variable(config, aliases[i].id, aliases[i].environment);
	for (int id = 0; id < SETTING_COUNT; id++)
		read_variable(config, id, settings[id].environment);
}

static const char *site_file(void)
{
	const char *etc = getenv("SLUICE_ETC");

	return etc && *etc ? etc : SITE_FILE;
}

bool config_is_from_site(const struct config *config, enum setting_id id)
{
	const char *origin = config->values[id].origin, *site = site_file();
	size_t n = strlen(site);

	return strncmp(origin, site, n) == 0 && origin[n] == ':';
}

void config_load(struct config *config)
{
	const char *named = getenv("SLUICE_CONFIG"), *site = site_file();
	AUTO_FREE char *user = place_expand("${XDG_CONFIG_HOME:-~/.config}/sluice/config");

	config_init(config);
	read_file(config, site, false);
	read_restrictions(config, SITE_FILE);
	read_restrictions(config, site);
	read_file(config, user, false);
	if (named && *named)
		read_file(config, named, true);
	read_environment(config);
}
