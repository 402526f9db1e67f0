/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/place.h"

#include <errno.h>
#include <glob.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#define LIBRARY_NAME "libsluice.so"
/*
 * A directory beside the library that contains a link to it. The runtime of gcc's AddressSanitizer
 * ends the program unless the name of the first library contains "libasan.so". The guest forwards
 * every call to the next library, so the sanitizer works behind it.
 */
#define LIBRARY_ALIAS_DIRECTORY "libasan.so.d"

char *place_binary_dir(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	if (slash == path)
		slash++;
	return xstrndup(path, (size_t)(slash - path));
}

bool place_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Distributions use lib, lib64 or, like Debian, lib/<architecture>. */
static char *find_installed(const char *bin)
{
	static const char *const patterns[] = { "../lib/sluice", "../lib64/sluice",
						"../lib/*/sluice" };
	glob_t found;
	char *path = NULL;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && !path; i++) {
		AUTO_FREE char *pattern = xprintf("%s/%s/%s", bin, patterns[i], LIBRARY_NAME);

		if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc)
			path = realpath(found.gl_pathv[0], NULL);
		globfree(&found);
	}
	return path;
}

/* Takes the path of the library and returns the name to preload it by. */
static char *library_alias(char *library)
{
	AUTO_FREE char *path = library;
	AUTO_FREE char *directory = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	char *alias = xprintf("%s/%s/%s", directory, LIBRARY_ALIAS_DIRECTORY, LIBRARY_NAME);
	struct stat real, linked;

	if (stat(path, &real) == 0 && stat(alias, &linked) == 0 && real.st_dev == linked.st_dev &&
	    real.st_ino == linked.st_ino)
		return alias;
	free(alias);
	return xstrdup(path);
}

static char *library_find(struct err *err)
{
	const char *named = getenv("SLUICE_LIBRARY");
	AUTO_FREE char *bin = NULL;
	AUTO_FREE char *beside = NULL;
	char *path;

	if (named && *named) {
		path = realpath(named, NULL);
		if (!path)
			err_set(err, errno, "SLUICE_LIBRARY: cannot use %s: %s", named,
				strerror(errno));
		return path;
	}
	bin = place_binary_dir();
	if (!bin) {
		err_set(err, ENOENT,
			"cannot find " LIBRARY_NAME " because /proc/self/exe cannot be read; set "
			"SLUICE_LIBRARY to its path");
		return NULL;
	}
	beside = place_join(bin, LIBRARY_NAME);
	path = place_exists(beside) ? xstrdup(beside) : find_installed(bin);
	if (!path)
		err_set(err, ENOENT,
			LIBRARY_NAME " not found in %s or its ../lib/sluice; reinstall Sluice or "
				     "set SLUICE_LIBRARY to the path of the library",
			bin);
	return path;
}

char *place_library(struct err *err)
{
	char *path = library_find(err);

	if (!path)
		return NULL;
	/* LD_PRELOAD has no way to quote its separators. */
	if (strpbrk(path, " \t\n:")) {
		err_set(err, EINVAL,
			"%s: cannot be preloaded, because its path contains a blank or a colon; "
			"install Sluice in another directory",
			path);
		free(path);
		return NULL;
	}
	return library_alias(path);
}

char *place_user(void)
{
	const char *user = getenv("USER");
	struct passwd *entry;

	if (user && *user)
		return xstrdup(user);
	entry = getpwuid(getuid());
	return entry ? xstrdup(entry->pw_name) : xprintf("%u", (unsigned)getuid());
}

static char *find_home(void)
{
	const char *home = getenv("HOME");
	struct passwd *entry;

	if (home && *home)
		return xstrdup(home);
	entry = getpwuid(getuid());
	return xstrdup(entry && entry->pw_dir && *entry->pw_dir ? entry->pw_dir : "/");
}

char *place_join(const char *directory, const char *name)
{
	size_t n = strlen(directory);

	return xprintf("%s%s%s", directory, n && directory[n - 1] == '/' ? "" : "/", name);
}

/* Length of "${NAME}" or "${NAME:-text}" at the start of text, else 0. */
static size_t variable_length(const char *text)
{
	const char *end;

	if (text[0] != '$' || text[1] != '{')
		return 0;
	end = strchr(text, '}');
	return end ? (size_t)(end - text) + 1 : 0;
}

static void expand_variable(struct buf *out, const char *text, size_t length)
{
	AUTO_FREE char *name = xstrndup(text + 2, length - 3);
	char *otherwise = strstr(name, ":-");
	const char *value;

	if (otherwise) {
		*otherwise = 0;
		otherwise += 2;
	}
	value = getenv(name);
	if (value && *value) {
		buf_puts(out, value);
	} else if (otherwise) {
		AUTO_FREE char *expanded = place_expand(otherwise);

		buf_puts(out, expanded);
	}
}

char *place_expand(const char *path)
{
	struct buf out = { 0 };

	if (path[0] == '~' && (path[1] == '/' || !path[1])) {
		AUTO_FREE char *home = find_home();

		buf_puts(&out, home);
		path++;
	}
	while (*path) {
		size_t n = variable_length(path);

		if (n)
			expand_variable(&out, path, n);
		else
			buf_putc(&out, *path);
		path += n ? n : 1;
	}
	return buf_take(&out);
}

static int make_single_dir(const char *path, mode_t mode)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno == EEXIST && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return errno == EEXIST ? 0 : -errno;
}

int place_make_dir(const char *path, mode_t mode, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(path);
	int ret = 0;

	for (char *c = copy + (*copy == '/'); !ret; c++) {
		char was = *c;

		if (was && was != '/')
			continue;
		*c = 0;
		if (c > copy)
			ret = make_single_dir(copy, mode);
		*c = was;
		if (!was)
			break;
	}
	if (ret)
		return err_set(err, -ret, "cannot create directory %s: %s", path, strerror(-ret));
	return 0;
}

int place_make_parent(const char *file, mode_t mode, struct err *err)
{
	const char *slash = strrchr(file, '/');
	AUTO_FREE char *directory = NULL;

	if (!slash || slash == file)
		return 0;
	directory = xstrndup(file, (size_t)(slash - file));
	return place_make_dir(directory, mode, err);
}

static bool is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *place_program(const char *name)
{
	const char *search = getenv("PATH");

	if (strchr(name, '/'))
		return is_executable(name) ? xstrdup(name) : NULL;
	if (!*name)
		return NULL;
	for (const char *p = search ? search : "/bin:/usr/bin";;) {
		size_t n = strcspn(p, ":");
		AUTO_FREE char *directory = n ? xstrndup(p, n) : xstrdup(".");
		char *path = place_join(directory, name);

		if (is_executable(path))
			return path;
		free(path);
		if (!p[n])
			return NULL;
		p += n + 1;
	}
}
