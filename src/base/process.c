/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/trusted.h"

/* Files above this number are not closed if the kernel has no close_range(). */
#define FILES_MAX 4096

struct stat_line {
	uint64_t start;
	long threads;
	char state;
};

static bool read_stat(int pid, struct stat_line *line)
{
	/* Of the first thread: qemu-user makes up /proc/PID/stat of the calling process. */
	AUTO_FREE char *path = xprintf("/proc/%d/task/%d/stat", pid, pid);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char text[1024], *fields;

	if (!f || !fgets(text, sizeof(text), f))
		return false;
	/* The name may contain anything and ends at the last parenthesis; the state is field 3. */
	fields = strrchr(text, ')');
	return fields &&
	       sscanf(fields + 1,
		      " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d "
		      "%" SCNu64,
		      &line->state, &line->threads, &line->start) == 3;
}

uint64_t process_start(int pid)
{
	struct stat_line line;

	if (!read_stat(pid, &line))
		return 0;
	/* A thread group leader that exited before its threads looks like a zombie. */
	if (line.state == 'X' || (line.state == 'Z' && line.threads <= 1))
		return 0;
	return line.start;
}

bool process_is_idle(int pid)
{
	struct stat_line line;

	return read_stat(pid, &line) && line.state != 'R' && line.state != 'D';
}

int process_pidfd(int pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

bool process_has_thread(int pid, int tid)
{
	AUTO_FREE char *path = xprintf("/proc/%d/task/%d", pid, tid);

	return access(path, F_OK) == 0 || errno != ENOENT;
}

uint64_t process_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/* The pid in the process's own namespace: the last number of "NSpid:\t4711\t12". 0: unknown. */
static int read_inner_pid(const char *pid)
{
	AUTO_FREE char *path = xprintf("/proc/%s/status", pid);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char line[1024], *last;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6) && (last = strrchr(line, '\t')))
			return atoi(last + 1);
	return 0;
}

static void scan_process(struct process_scan *scan, const char *pid, uint64_t own)
{
	AUTO_FREE char *process = xprintf("/proc/%s", pid);
	AUTO_FREE char *namespace = xprintf("/proc/%s/ns/pid", pid);
	struct stat st;

	if (stat(namespace, &st) == 0) {
		if (st.st_ino == own)
			return;
		scan->list = xgrow(scan->list, &scan->cap, scan->count + 1, sizeof(*scan->list));
		scan->list[scan->count++] =
			(struct process_foreign){ st.st_ino, read_inner_pid(pid) };
	} else if (errno != ENOENT && stat(process, &st) == 0 && st.st_uid == getuid() &&
		   process_start(atoi(pid)) >= scan->since) {
		scan->blind = true;
	}
}

void process_scan(struct process_scan *scan, uint64_t own)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	scan->count = 0;
	scan->blind = !dir;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			scan_process(scan, entry->d_name, own);
	if (dir)
		closedir(dir);
}

void process_scan_release(struct process_scan *scan)
{
	free(scan->list);
	*scan = (struct process_scan){ 0 };
}

bool process_scan_has(const struct process_scan *scan, uint64_t namespace, int pid)
{
	for (size_t i = 0; i < scan->count; i++)
		if (scan->list[i].namespace == namespace &&
		    (!scan->list[i].pid || scan->list[i].pid == pid))
			return true;
	return scan->blind;
}

static bool has_variable(const char *pid, const char *variable)
{
	AUTO_FREE char *path = xprintf("/proc/%s/environ", pid);
	AUTO_BUF struct buf environment = { 0 };
	struct err unreadable = { 0 };
	size_t at = 0;

	if (file_read_all(&environment, path, 0, &unreadable) < 0)
		return false;
	while (at < environment.len && strcmp(environment.data + at, variable) != 0)
		at += strlen(environment.data + at) + 1;
	return at < environment.len;
}

bool process_exists_with(const char *variable)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			found = has_variable(entry->d_name, variable);
	if (dir)
		closedir(dir);
	return found;
}

static void close_between(int first, int last)
{
	if (first > last || syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0u) == 0)
		return;
	/* The kernel is older than the call. */
	for (int fd = first; fd <= last && fd < FILES_MAX; fd++)
		close(fd);
}

void process_close_files(const int *keep, size_t count)
{
	int null = open("/dev/null", O_RDWR), from = STDERR_FILENO + 1, next;

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	do {
		next = INT_MAX;
		for (size_t i = 0; i < count; i++)
			if (keep[i] >= from && keep[i] < next)
				next = keep[i];
		close_between(from, next - 1);
		from = next < INT_MAX ? next + 1 : next;
	} while (next < INT_MAX);
}

void process_remove_spool(const char *path, const char *last)
{
	int fd = trusted_open_directory(AT_FDCWD, path, TRUSTED_PRIVATE, NULL);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && (!last || strcmp(entry->d_name, last) != 0))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir && last)
		unlinkat(dirfd(dir), last, 0);
	if (dir)
		closedir(dir);
	if (fd >= 0)
		rmdir(path);
}
