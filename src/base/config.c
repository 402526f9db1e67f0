/* SPDX-License-Identifier: BSD-3-Clause
 *
 * inih splits the lines; it knows neither line numbers in its handler nor lines longer than its
 * buffer, so our reader feeds it from memory and keeps count.
 */
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"

#define SETTING_ROW(name, section, key, kind, value, fallback, help) \
	[SETTING_##name] = { section, key, "SLUICE_" #name, OPTION_##kind, value, fallback, help },
const struct setting settings[SETTING_COUNT] = { SETTING_LIST(SETTING_ROW) };
#undef SETTING_ROW

/* inih cuts longer names, and says nothing. */
#define CONFIG_SECTION_MAX 49

/* A settings file is short; anything larger is a mistake such as a device or a data file. */
#define CONFIG_BYTES_MAX (1 << 20)

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

/* Sections whose keys we do not know beforehand. */
static bool section_is_open(const char *section)
{
	return strncmp(section, "plugin.", 7) == 0 || strncmp(section, "plugins.", 8) == 0;
}

static int extra_find(const struct config *config, const char *section, const char *key)
{
	for (size_t i = 0; i < config->extra_count; i++)
		if (strcmp(config->extras[i].section, section) == 0 &&
		    strcmp(config->extras[i].key, key) == 0)
			return (int)i;
	return -1;
}

static int extra_set(struct config *config, const char *section, const char *key, const char *text,
		     const char *origin, struct err *err)
{
	int at = extra_find(config, section, key);
	struct config_extra *extra;

	if (!strchr(section, '.')[1] || !*key)
		return err_set(err, EINVAL, "[%s]: a name is missing after the dot, or a key",
			       section);
	if (section[6] == 's' && strcmp(key, "load") != 0)
		return err_set(err, EINVAL, "[%s] has no key \"%s\"; there are: load", section,
			       key);
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
	int at = extra_find(config, section, key);

	return at < 0 ? NULL : config->extras[at].text;
}

void config_init(struct config *config)
{
	*config = (struct config){ 0 };
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
	for (size_t i = 0; i < config->problem_count; i++)
		free(config->problems[i]);
	free(config->problems);
	*config = (struct config){ 0 };
}

/* -1 where the section or key is unknown; err then says which names there are. */
static int setting_find(const char *section, const char *key, struct err *err)
{
	AUTO_BUF struct buf known = { 0 };
	const char *last = "";
	bool section_known = false;

	for (int id = 0; id < SETTING_COUNT; id++) {
		if (strcmp(settings[id].section, section) == 0) {
			if (strcmp(settings[id].key, key) == 0)
				return id;
			section_known = true;
		}
	}
	for (int id = 0; id < SETTING_COUNT; id++) {
		const struct setting *row = &settings[id];

		if (section_known && strcmp(row->section, section) == 0)
			buf_printf(&known, " %s", row->key);
		else if (!section_known && strcmp(row->section, last) != 0)
			buf_printf(&known, " [%s]", row->section);
		last = row->section;
	}
	if (section_known)
		err_set(err, EINVAL, "[%s] has no key \"%s\"; there are:%s", section, key,
			buf_text(&known));
	else
		err_set(err, EINVAL,
			"there is no section [%s]; there are:%s [plugins.LAYER] [plugin.NAME]",
			section, buf_text(&known));
	return -1;
}

/* Sets what the section and key name, be it a setting or a plug-in's own. */
static int pair_set(struct config *config, const char *section, const char *key, const char *text,
		    const char *origin, struct err *err)
{
	int id;

	if (section_is_open(section))
		return extra_set(config, section, key, text, origin, err);
	id = setting_find(section, key, err);
	return id < 0 ? -EINVAL : config_set(config, id, text, origin, err);
}

int config_assign(struct config *config, const char *assignment, const char *origin,
		  struct err *err)
{
	const char *equals = strchr(assignment, '=');
	/* The last one: sections of plug-ins have dots of their own. */
	const char *dot = equals ? memrchr(assignment, '.', (size_t)(equals - assignment)) : NULL;
	AUTO_FREE char *section = NULL;
	AUTO_FREE char *key = NULL;

	if (!dot)
		return err_set(err, EINVAL, "\"%s\" is not of the form section.key=value",
			       assignment);
	section = xstrndup(assignment, (size_t)(dot - assignment));
	key = xstrndup(dot + 1, (size_t)(equals - dot - 1));
	return pair_set(config, section, key, equals + 1, origin, err);
}

struct source {
	struct config *config;
	const char *name;
	const char *text;
	size_t left;
	unsigned line;
};

static void source_problem(struct source *source, const char *what)
{
	problem_add(source->config, "%s:%u: %s", source->name, source->line, what);
}

/* True for what inih would call an error or misread: neither comment, heading nor assignment. */
static bool line_is_broken(const char *line)
{
	if (!*line || *line == ';' || *line == '#')
		return false;
	if (*line == '[')
		return !strchr(line, ']');
	return !strpbrk(line, "=:") || *line == '=' || *line == ':';
}

/* Takes the next line, without blanks at its ends, as far as it fits. False if it does not. */
static bool line_take(struct source *s, char *out, size_t cap)
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
		source_problem(
			s, n >= cap
				   ? "the line is too long for a settings file; use the environment"
				   : "the line holds a zero byte");
		return false;
	}
	memcpy(out, from, n);
	out[n] = 0;
	return true;
}

/*
 * inih's reader. Leading blanks are gone, so that an indented key is a key and no continuation; a
 * line that cannot be used becomes an empty one, which keeps inih's count equal to ours.
 */
static char *read_line(char *out, int cap, void *user)
{
	struct source *s = user;
	bool usable;

	if (!s->left)
		return NULL;
	usable = line_take(s, out, (size_t)cap);
	if (usable && line_is_broken(out)) {
		source_problem(s, *out == '[' ? "the heading has no closing ]"
					      : "the line is neither [section] nor key = value");
		usable = false;
	} else if (usable && *out == '[' && strcspn(out + 1, "]") > CONFIG_SECTION_MAX) {
		source_problem(s, "the name of the section is too long");
		usable = false;
	}
	if (!usable)
		out[0] = 0;
	return out;
}

static int take_pair(void *user, const char *section, const char *key, const char *value)
{
	struct source *s = user;
	struct err err = { 0 };
	AUTO_FREE char *origin = xprintf("%s:%u", s->name, s->line);

	if (!*section)
		source_problem(s, "the line stands before any [section]");
	else if (pair_set(s->config, section, key, value, origin, &err) < 0)
		source_problem(s, err.text);
	return 1;
}

void config_read_text(struct config *config, const char *name, const char *text, size_t n)
{
	struct source source = { .config = config, .name = name, .text = text, .left = n };

	if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
		source.text += 3;
		source.left -= 3;
	}
	ini_parse_stream(read_line, &source, take_pair, &source);
}

static int read_whole(FILE *f, struct buf *out)
{
	char piece[4096];
	size_t n;

	while ((n = fread(piece, 1, sizeof(piece), f)) > 0) {
		if (out->len + n > CONFIG_BYTES_MAX)
			return -EFBIG;
		buf_add(out, piece, n);
	}
	return ferror(f) ? -errno : 0;
}

void config_read_file(struct config *config, const char *path, bool named)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	AUTO_BUF struct buf text = { 0 };
	int ret;

	if (!f) {
		if (named || (errno != ENOENT && errno != ENOTDIR))
			problem_add(config, "%s: the settings file cannot be read: %s", path,
				    strerror(errno));
		return;
	}
	ret = read_whole(f, &text);
	if (ret)
		problem_add(config, "%s: the settings file cannot be read: %s", path,
			    strerror(-ret));
	else
		config_read_text(config, path, buf_text(&text), text.len);
}

/*
 * A misspelt key must not pass in silence: SLUICE_CAPTURE_MOED is a problem, SLUICE_DISABLE is
 * not.
 */
static bool is_unknown_setting(const char *variable)
{
	size_t n = strcspn(variable, "=");
	bool section_known = false;

	for (int id = 0; id < SETTING_COUNT; id++) {
		const char *name = settings[id].environment;
		size_t section = strlen("SLUICE_") + strlen(settings[id].section) + 1;

		if (strlen(name) == n && memcmp(name, variable, n) == 0)
			return false;
		section_known |= strncmp(name, variable, section) == 0;
	}
	return section_known;
}

static void read_environment(struct config *config)
{
	for (char **variable = environ; *variable; variable++) {
		if (is_unknown_setting(*variable))
			problem_add(config,
				    "environment variable %.*s is no setting; `sluice config` "
				    "lists them",
				    (int)strcspn(*variable, "="), *variable);
	}
	for (int id = 0; id < SETTING_COUNT; id++) {
		const char *name = settings[id].environment;
		const char *text = getenv(name);
		struct err err = { 0 };

		if (text && config_set(config, id, text, name, &err) < 0)
			problem_add(config, "environment variable %s: %s", name, err.text);
	}
}

const char *config_site_file(void)
{
	const char *etc = getenv("SLUICE_ETC");

	return etc && *etc ? etc : "/etc/sluice.conf";
}

void config_load(struct config *config)
{
	const char *named = getenv("SLUICE_CONFIG");
	AUTO_FREE char *user = place_expand("${XDG_CONFIG_HOME:-~/.config}/sluice/config");

	config_init(config);
	config_read_file(config, config_site_file(), false);
	config_read_file(config, user, false);
	if (named && *named)
		config_read_file(config, named, true);
	read_environment(config);
}
