/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/probe/targets.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

const struct target_ops *const target_kinds[] = { &target_directory, &target_lustre, &target_ceph,
						  NULL };

/* Names appear in files with blanks between columns, and in comma-separated lists. */
static int check_name(const char *name, struct err *err)
{
	size_t n = strlen(name);

	if (!n || n >= CHRONICLE_NAME)
		return err_set(err, EINVAL,
			       "\"%s\": the name of a target must have 1 to %d characters", name,
			       CHRONICLE_NAME - 1);
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_.-", name[i]))
			return err_set(err, EINVAL,
				       "\"%s\": the name of a target may contain letters, digits "
				       "and _ . - only; choose one with NAME=PLACE",
				       name);
	return 0;
}

/* Finds the kind of a place; *rest points to the path and options that follow it. */
static const struct target_ops *find_kind(const char *place, const char **rest, struct err *err)
{
	size_t n = strcspn(place, ":/");
	AUTO_BUF struct buf names = { 0 };

	*rest = place;
	if (place[n] != ':')
		return &target_directory;
	for (size_t i = 0; target_kinds[i]; i++) {
		if (strlen(target_kinds[i]->kind) == n &&
		    memcmp(target_kinds[i]->kind, place, n) == 0) {
			*rest = place + n + 1;
			return target_kinds[i];
		}
		buf_printf(&names, "%s%s", i ? ", " : "", target_kinds[i]->kind);
	}
	err_set(err, EINVAL, "\"%s\": unknown kind of target \"%.*s\" (expected %s)", place, (int)n,
		place, buf_text(&names));
	return NULL;
}

static int parse_option(struct target *target, char *word, struct err *err)
{
	char *value = strchr(word, '=');
	int r;

	if (!value || !value[1])
		return err_set(err, EINVAL, "invalid option \"%s\": expected KEY=VALUE", word);
	*value++ = 0;
	r = target->ops->set_option(target, word, value, err);
	if (r == -ENOENT)
		return err_set(err, EINVAL, "unknown option \"%s\" of %s (expected %s)", word,
			       target->ops->kind, target->ops->options);
	return r;
}

/* Parses "PATH,KEY=VALUE,...". The path of a directory may contain commas. */
static int parse_place(struct target *target, const char *rest, struct err *err)
{
	AUTO_FREE char *words = xstrdup(rest);
	char *save = NULL, *word = words;
	int r = 0;

	if (target->ops->set_option)
		word = strtok_r(words, ",", &save);
	if (!word || !*word)
		return err_set(err, EINVAL, "missing path");
	target->path = xstrdup(word);
	while (target->ops->set_option && r >= 0 && (word = strtok_r(NULL, ",", &save)))
		r = parse_option(target, word, err);
	return r;
}

int target_init(struct target *target, const char *name, const char *place, struct err *err)
{
	struct target made = { 0 };
	const char *rest;
	int r = *name ? check_name(name, err) : 0;

	if (r < 0)
		return r;
	made.ops = find_kind(place, &rest, err);
	if (!made.ops)
		return -EINVAL;
	snprintf(made.name, sizeof(made.name), "%s", name);
	r = parse_place(&made, rest, err);
	if (r >= 0)
		r = made.ops->finish(&made, err);
	if (r < 0 && err)
		err_prefix(err, "target \"%s\"", place);
	if (r >= 0)
		r = check_name(made.name, err);
	if (r < 0)
		target_release(&made);
	else
		*target = made;
	return r;
}

int target_parse(struct target *target, const char *text, struct err *err)
{
	size_t n = strcspn(text, "=:/,");
	AUTO_FREE char *name = xstrndup(text, text[n] == '=' ? n : 0);

	if (text[n] == '=' && !n)
		return err_set(err, EINVAL, "\"%s\": missing name before =", text);
	return target_init(target, name, text[n] == '=' ? text + n + 1 : text, err);
}

void target_release(struct target *target)
{
	free(target->path);
	free(target->pool);
	*target = (struct target){ 0 };
}

int target_make(const struct target *target, size_t turn, struct err *err)
{
	char host[64] = "";
	AUTO_FREE char *path = NULL;
	int fd, r = 0;

	gethostname(host, sizeof(host) - 1);
	path = xprintf("%s/.sluice-probe.%s.%d.%zu", target->path, host, (int)getpid(), turn);
	fd = target->ops->make(target, path, turn, err);
	if (fd < 0)
		return fd;
	/* A file from O_TMPFILE has no name to unlink. */
	if (unlink(path) < 0 && errno != ENOENT)
		r = err_set(err, errno, "%s: %s", path, strerror(errno));
	if (r >= 0 && target->ops->verify)
		r = target->ops->verify(target, fd, turn, err);
	if (r < 0 && r != -ENODATA) {
		close(fd);
		return r;
	}
	return fd;
}

static int directory_finish(struct target *target, struct err *err)
{
	const char *slash;
	size_t n = strlen(target->path);

	(void)err;
	while (n > 1 && target->path[n - 1] == '/')
		target->path[--n] = 0;
	if (*target->name)
		return 0;
	slash = strrchr(target->path, '/');
	snprintf(target->name, sizeof(target->name), "%s", slash ? slash + 1 : target->path);
	if (!*target->name)
		strcpy(target->name, "root");
	return 0;
}

static int directory_make(const struct target *target, const char *path, size_t turn,
			  struct err *err)
{
	int fd = open(target->path, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

	(void)turn;
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? err_set(err, errno, "%s: %s", target->path, strerror(errno)) : fd;
}

static bool directory_is_reusable(const struct target *target)
{
	(void)target;
	return true;
}

const struct target_ops target_directory = {
	.kind = "directory",
	.options = "none",
	.finish = directory_finish,
	.make = directory_make,
	.is_reusable = directory_is_reusable,
};

int targets_add(struct targets *targets, struct target *target, struct err *err)
{
	for (size_t i = 0; i < targets->count; i++)
		if (strcmp(targets->rows[i].name, target->name) == 0) {
			int r = err_set(err, EEXIST,
					"duplicate target name \"%s\"; choose another one "
					"with NAME=PLACE",
					target->name);

			target_release(target);
			return r;
		}
	targets->rows =
		xgrow(targets->rows, &targets->cap, targets->count + 1, sizeof(*targets->rows));
	targets->rows[targets->count++] = *target;
	*target = (struct target){ 0 };
	return 0;
}

void targets_release(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		target_release(&targets->rows[i]);
	free(targets->rows);
	*targets = (struct targets){ 0 };
}
