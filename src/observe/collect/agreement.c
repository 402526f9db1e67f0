/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/agreement.h"

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
#include "contract/clock.h"
#include "contract/parameters.h"
#include "observe/collect/parts.h"

#define PARAMETERS "parameters"
#define VERDICT "verdict"
#define YES "yes"
#define NO "no"

/* Shorter than the time that members of a node wait for their collector (share.c). */
#define PATIENCE_NS (5 * NS_PER_S)
#define PAUSE_MIN_NS NS_PER_MS
#define PAUSE_MAX_NS (100 * NS_PER_MS)

static int io_error(const char *path, struct err *err)
{
	err_set(err, errno, "%s: %s", path, strerror(errno));
	return -EIO;
}

static int write_file(const char *path, const char *text)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t n = strlen(text);
	ssize_t written = fd < 0 ? -1 : write(fd, text, n);

	if (fd < 0 || written < 0)
		return -errno;
	return (size_t)written != n ? -ENOSPC : fsync(fd) != 0 ? -errno : 0;
}

/*
 * Reads a whole file, which is no longer than a page of parameters. Returns NULL and sets errno on
 * failure.
 */
static char *read_file(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = xcalloc(1, PARAMETERS_BYTES);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, PARAMETERS_BYTES, 0);

	if (n >= 0 && n < PARAMETERS_BYTES && !memchr(text, 0, (size_t)n))
		return text;
	free(text);
	if (n >= 0)
		errno = EBADMSG;
	return NULL;
}

/*
 * Creates the file with the whole text at once, unless the name exists. Returns 1 if it is ours. A
 * server's answer to link() may get lost, so the test is whether our file has two names.
 */
static int publish(const char *name, const char *text, struct err *err)
{
	AUTO_FREE char *own = xprintf("%s.%d.new", name, (int)getpid());
	struct stat st = { 0 };
	int r = write_file(own, text);

	if (r < 0)
		return err_set(err, -r, "%s: %s", own, strerror(-r));
	r = link(own, name) == 0 || (stat(own, &st) == 0 && st.st_nlink == 2);
	if (!r && errno != EEXIST && access(name, F_OK) != 0)
		r = io_error(name, err);
	unlink(own);
	return r;
}

/* Publishes the text, and reads what all nodes find under that name. */
static int publish_and_read(const char *name, const char *text, char **settled, struct err *err)
{
	int r = publish(name, text, err);
	char *found = r < 0 ? NULL : read_file(name);

	if (r >= 0 && !found)
		return io_error(name, err);
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

/* Number of ranks that collectors represent. */
static uint64_t count_ranks(const char *name)
{
	AUTO_FREE char *directory = directory_of(name);
	DIR *dir = opendir(directory);
	struct dirent *entry;
	uint64_t ranks = 0;

	while (dir && (entry = readdir(dir)))
		ranks += ranks_in_name(entry->d_name, path_base_name(name));
	if (dir)
		closedir(dir);
	return ranks;
}

/* Waits until all ranks are represented, or another node has decided. Returns true if all are. */
static bool await_all_ranks(const char *name, const char *verdict,
			    const struct agreement_options *o)
{
	uint64_t patience = o->patience_ns ? o->patience_ns : PATIENCE_NS;
	uint64_t until = clock_monotonic_ns() + patience;
	long pause = PAUSE_MIN_NS;

	for (;;) {
		if (count_ranks(name) >= o->size)
			return true;
		if (access(verdict, F_OK) == 0 || clock_monotonic_ns() >= until)
			return false;
		clock_sleep_ns(pause);
		pause = 2 * pause < PAUSE_MAX_NS ? 2 * pause : PAUSE_MAX_NS;
	}
}

/* Returns 1 if all nodes apply it, 0 if none does. */
static int decide(const char *name, const struct agreement_options *o, struct err *err)
{
	AUTO_FREE char *verdict = xprintf("%s." VERDICT, name);
	AUTO_FREE char *decided = NULL;
	char host[256] = "";
	AUTO_FREE char *representation = NULL;
	int r;

	gethostname(host, sizeof(host) - 1);
	representation = xprintf("%s.%s-%d.%u", name, host, (int)getpid(), o->ranks);
	if (o->ranks && (r = write_file(representation, "")) < 0)
		return err_set(err, -r, "%s: %s", representation, strerror(-r));
	r = publish_and_read(verdict, o->ranks && await_all_ranks(name, verdict, o) ? YES : NO,
			     &decided, err);
	return r < 0 ? r : decided && strcmp(decided, YES) == 0;
}

/* "DIRECTORY/JOB-parameters" */
static char *parameters_path(const char *part)
{
	return parts_sibling(part, PARAMETERS);
}

/* A node without parameters uses existing ones, but does not publish any. */
static int find_text(const char *name, const char *own, char **text, struct err *err)
{
	if (*own)
		return publish_and_read(name, own, text, err);
	*text = read_file(name);
	if (*text)
		return 0;
	if (errno != ENOENT)
		return io_error(name, err);
	*text = xstrdup("");
	return 1;
}

int agreement_reach(struct agreement *agreement, const struct agreement_options *o, struct err *err)
{
	AUTO_FREE char *name = parameters_path(o->part);
	struct agreement reached = { 0 };
	int r = find_text(name, o->text, &reached.text, err);
	bool any = r >= 0 && reached.text && *reached.text;

	reached.is_ours = r > 0;
	if (any)
		r = decide(name, o, err);
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

void agreement_remove(const char *part)
{
	AUTO_FREE char *name = parameters_path(part);
	AUTO_FREE char *directory = directory_of(name);
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, path_base_name(name), strlen(path_base_name(name))) == 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}
