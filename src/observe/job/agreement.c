/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/job/agreement.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/trusted.h"
#include "contract/clock.h"
#include "contract/parameters.h"
#include "observe/job/parts.h"

#define PARAMETERS "parameters"
#define VERDICT "verdict"
#define YES "yes"
#define NO "no"

/* Shorter than the time that members of a node wait for their collector (share.c). */
#define PATIENCE_NS (5 * NS_PER_S)
#define PAUSE_MIN_NS NS_PER_MS
#define PAUSE_MAX_NS (100 * NS_PER_MS)

static int io_error(const char *name, struct err *err)
{
	err_set(err, errno, "%s: %s", name, strerror(errno));
	return -EIO;
}

static int write_file(int dir, const char *name, const char *text, struct err *err)
{
	AUTO_CLOSE int fd = trusted_create_file(dir, name, err);
	size_t n = strlen(text);
	ssize_t written = fd < 0 ? -1 : write(fd, text, n);

	if (fd < 0)
		return fd;
	if (written >= 0 && (size_t)written != n)
		errno = ENOSPC;
	return (size_t)written != n || fsync(fd) != 0 ? io_error(name, err) : 0;
}

/*
 * Reads a whole file, which is no longer than a page of parameters. Returns NULL and sets err on
 * failure.
 */
static char *read_file(int dir, const char *name, struct err *err)
{
	AUTO_CLOSE int fd = trusted_open_file(dir, name, O_RDONLY, TRUSTED_PRIVATE, err);
	char *text = xcalloc(1, PARAMETERS_BYTES);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, PARAMETERS_BYTES, 0);

	if (n >= 0 && n < PARAMETERS_BYTES && !memchr(text, 0, (size_t)n))
		return text;
	if (fd >= 0)
		err_set(err, n < 0 ? errno : EBADMSG, "%s: %s", name,
			strerror(n < 0 ? errno : EBADMSG));
	free(text);
	return NULL;
}

/*
 * Creates the file with the whole text at once, unless the name exists. Returns 1 if it is ours. A
 * server's answer to link() may get lost, so the test is whether our file has two names.
 */
static int publish(int dir, const char *name, const char *text, struct err *err)
{
	char host[256] = "";
	AUTO_FREE char *own = NULL;
	struct stat st = { 0 };
	int r;

	gethostname(host, sizeof(host) - 1);
	own = xprintf("%s.%s-%d.new", name, host, (int)getpid());
	unlinkat(dir, own, 0); /* of a killed process with the same pid */
	r = write_file(dir, own, text, err);
	if (r < 0)
		return r;
	r = linkat(dir, own, dir, name, 0) == 0 ||
	    (fstatat(dir, own, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink == 2);
	if (!r && errno != EEXIST && faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		r = io_error(name, err);
	unlinkat(dir, own, 0);
	return r;
}

/* Publishes the text, and reads what all nodes find under that name. */
static int publish_and_read(int dir, const char *name, const char *text, char **settled,
			    struct err *err)
{
	int r = publish(dir, name, text, err);
	char *found = r < 0 ? NULL : read_file(dir, name, err);

	if (r >= 0 && !found)
		return -EIO;
	if (r >= 0)
		*settled = found;
	return r;
}

/* Returns N of "NAME.HOST-PID.N"; 0 for other names. */
static uint32_t ranks_in_name(const char *entry, const char *name)
{
	size_t n = strlen(name);
	const char *dot = strrchr(entry, '.');
	char *end;
	unsigned long ranks;

	if (strncmp(entry, name, n) != 0 || entry[n] != '.' || !dot || dot == entry + n)
		return 0;
	ranks = strtoul(dot + 1, &end, 10);
	return *end || end == dot + 1 || ranks > UINT32_MAX ? 0 : (uint32_t)ranks;
}

static char *directory_of(const char *path)
{
	const char *base = path_base_name(path);

	return base == path ? xstrdup(".") : xstrndup(path, (size_t)(base - path));
}

/* Opens the directory of the part for reading its entries; `dir` may be at its end. */
static DIR *list_directory(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

/* Number of ranks that collectors represent. */
static uint64_t count_ranks(int dir, const char *name)
{
	DIR *list = list_directory(dir);
	struct dirent *entry;
	uint64_t ranks = 0;

	while (list && (entry = readdir(list)))
		ranks += ranks_in_name(entry->d_name, name);
	if (list)
		closedir(list);
	return ranks;
}

/* Waits until all ranks are represented, or another node has decided. Returns true if all are. */
static bool await_all_ranks(int dir, const char *name, const char *verdict,
			    const struct agreement_options *o)
{
	uint64_t patience = o->patience_ns ? o->patience_ns : PATIENCE_NS;
	uint64_t until = clock_monotonic_ns() + patience;
	long pause = PAUSE_MIN_NS;

	for (;;) {
		if (count_ranks(dir, name) >= o->size)
			return true;
		if (faccessat(dir, verdict, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		    clock_monotonic_ns() >= until)
			return false;
		clock_sleep_ns(pause);
		pause = 2 * pause < PAUSE_MAX_NS ? 2 * pause : PAUSE_MAX_NS;
	}
}

/* Returns 1 if all nodes apply it, 0 if none does. */
static int decide(int dir, const char *name, const struct agreement_options *o, struct err *err)
{
	AUTO_FREE char *verdict = xprintf("%s." VERDICT, name);
	AUTO_FREE char *decided = NULL;
	char host[256] = "";
	AUTO_FREE char *representation = NULL;
	int r;

	gethostname(host, sizeof(host) - 1);
	representation = xprintf("%s.%s-%d.%u", name, host, (int)getpid(), o->ranks);
	r = o->ranks ? write_file(dir, representation, "", err) : 0;
	if (r < 0 && r != -EEXIST)
		return r;
	r = publish_and_read(dir, verdict,
			     o->ranks && await_all_ranks(dir, name, verdict, o) ? YES : NO,
			     &decided, err);
	return r < 0 ? r : decided && strcmp(decided, YES) == 0;
}

/* A node without parameters uses existing ones, but does not publish any. */
static int find_text(int dir, const char *name, const char *own, char **text, struct err *err)
{
	struct err why = { 0 };

	if (*own)
		return publish_and_read(dir, name, own, text, err);
	*text = read_file(dir, name, &why);
	if (*text)
		return 0;
	if (why.code != ENOENT)
		return err_set(err, why.code, "%s", why.text);
	*text = xstrdup("");
	return 1;
}

/* Checks the text of another node. If it is refused, no node applies it. */
static int check_text(int dir, const char *name, const struct agreement_options *o,
		      const char *text, struct err *err)
{
	AUTO_FREE char *verdict = xprintf("%s." VERDICT, name);

	if (!o->accepts || o->accepts(o->arg, text, err))
		return 0;
	publish(dir, verdict, NO, NULL);
	return -EPERM;
}

static int reach_in(int dir, const char *name, struct agreement *agreement,
		    const struct agreement_options *o, struct err *err)
{
	struct agreement reached = { 0 };
	int r = find_text(dir, name, o->text, &reached.text, err);
	bool any = r >= 0 && reached.text && *reached.text;

	reached.is_ours = r > 0;
	if (any && !reached.is_ours)
		r = check_text(dir, name, o, reached.text, err);
	if (any && r >= 0)
		r = decide(dir, name, o, err);
	if (r < 0) {
		free(reached.text);
		return r;
	}
	if (any && !r)
		reached.refusal = o->ranks ? "not all ranks of the job run under Sluice with "
					     "parameters, or some of them took too long to start"
					   : "the launcher does not report how many ranks of the "
					     "job are on each node";
	*agreement = reached;
	return 0;
}

int agreement_reach(struct agreement *agreement, const struct agreement_options *o, struct err *err)
{
	AUTO_FREE char *path = parts_sibling(o->part, PARAMETERS);
	AUTO_FREE char *directory = directory_of(path);
	AUTO_CLOSE int dir = trusted_open_directory(AT_FDCWD, directory, TRUSTED_PRIVATE, err);
	int r = dir < 0 ? dir : reach_in(dir, path_base_name(path), agreement, o, err);

	if (dir >= 0 && r < 0)
		err_prefix(err, "%s", directory);
	return r;
}

void agreement_remove(const char *part)
{
	AUTO_FREE char *path = parts_sibling(part, PARAMETERS);
	AUTO_FREE char *directory = directory_of(path);
	AUTO_CLOSE int dir = trusted_open_directory(AT_FDCWD, directory, TRUSTED_PRIVATE, NULL);
	DIR *list = dir < 0 ? NULL : list_directory(dir);
	const char *name = path_base_name(path);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (strncmp(entry->d_name, name, strlen(name)) == 0)
			unlinkat(dir, entry->d_name, 0);
	if (list)
		closedir(list);
}
