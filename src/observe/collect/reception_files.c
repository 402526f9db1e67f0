/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/reception_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/place.h"
#include "base/process.h"
#include "base/trusted.h"
#include "observe/collect/ledger.h"
#include "trace/format.h"

#define CONTROL_SUFFIX ".control"
#define DRAFT_SUFFIX ".new"
#define LEFTOVER_S 60 /* age from which on a file without a process is removed */
#define PROGRAM_BYTES 64

uint64_t reception_inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

uint32_t reception_read_clock(int control)
{
	uint32_t clock;

	if (pread(control, &clock, sizeof(clock), offsetof(struct control, clock)) !=
		    (ssize_t)sizeof(clock) ||
	    clock >= CLOCK_SOURCE_COUNT)
		return CLOCK_SOURCE_MONOTONIC;
	return clock;
}

bool reception_read_uuid(int control, char *uuid, size_t digits)
{
	if (pread(control, uuid, digits + 1, offsetof(struct control, run)) != (ssize_t)digits + 1)
		return false;
	return !uuid[digits] && strspn(uuid, "0123456789abcdef") == digits;
}

void reception_read_job(int control, struct hello *hello)
{
	if (pread(control, hello->job, sizeof(hello->job) - 1, offsetof(struct control, job)) < 0 ||
	    pread(control, hello->partition, sizeof(hello->partition) - 1,
		  offsetof(struct control, partition)) < 0)
		hello->job[0] = 0;
	hello->job[sizeof(hello->job) - 1] = 0;
	hello->partition[sizeof(hello->partition) - 1] = 0;
}

bool reception_is_closed(int control)
{
	uint32_t state;

	return pread(control, &state, sizeof(state), offsetof(struct control, pass_state)) !=
		       (ssize_t)sizeof(state) ||
	       state == PASS_CLOSED;
}

void reception_mark_closed(int control)
{
	const uint32_t closed = PASS_CLOSED;

	(void)!pwrite(control, &closed, sizeof(closed), offsetof(struct control, pass_state));
}

void reception_read_process(int spool, char *program, size_t bytes, char **command,
			    char **directory)
{
	AUTO_FREE struct spool_header *h = xcalloc(1, sizeof(*h));
	const char *slash;
	size_t n;

	if (pread(spool, h, sizeof(*h), 0) != (ssize_t)sizeof(*h))
		memset(h, 0, sizeof(*h));
	h->program[SPOOL_TEXT_BYTES - 1] = h->directory[SPOOL_TEXT_BYTES - 1] = 0;
	slash = strrchr(h->program, '/');
	snprintf(program, bytes, "%s", slash ? slash + 1 : h->program);
	n = h->command_bytes < SPOOL_TEXT_BYTES ? h->command_bytes : SPOOL_TEXT_BYTES - 1;
	while (n && !h->command[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!h->command[i])
			h->command[i] = ' ';
	*command = xstrndup(h->command, n);
	*directory = xstrdup(h->directory);
}

static void remove_if(int directory, const char *name, uint64_t inode)
{
	struct stat st;

	if (directory >= 0 && name[0] && !strchr(name, '/') &&
	    fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == inode)
		unlinkat(directory, name, 0);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), s = strlen(suffix);

	return n > s && !strcmp(name + n - s, suffix);
}

/* Writes the name with another suffix. */
static void put_sibling(char to[HANDOVER_NAME_BYTES], const char *name, size_t stem,
			const char *suffix)
{
	snprintf(to, HANDOVER_NAME_BYTES, "%.*s%s", (int)stem, name, suffix);
}

void reception_remove_spool(int directory, const char *name, uint64_t inode)
{
	char counters[HANDOVER_NAME_BYTES];
	struct stat spool, st;

	if (directory < 0 || !has_suffix(name, SPOOL_SUFFIX) || strchr(name, '/') ||
	    fstatat(directory, name, &spool, AT_SYMLINK_NOFOLLOW) != 0 || spool.st_ino != inode)
		return;
	put_sibling(counters, name, strlen(name) - strlen(SPOOL_SUFFIX), COUNTERS_SUFFIX);
	if (fstatat(directory, counters, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_uid == spool.st_uid)
		unlinkat(directory, counters, 0);
	unlinkat(directory, name, 0);
}

void reception_remove_control(int directory, const char *name, uint64_t inode)
{
	if (has_suffix(name, CONTROL_SUFFIX))
		remove_if(directory, name, inode);
}

void reception_describe_ledger(const char *path, const struct reception_run *run,
			       const char *control_name, uint64_t control_inode)
{
	const size_t from = offsetof(struct ledger_page, mode);
	AUTO_CLOSE int fd = trusted_open_file(AT_FDCWD, path, O_RDWR, TRUSTED_PRIVATE, NULL);
	struct ledger_page page = { .mode = run->mode,
				    .key = run->key,
				    .control_inode = control_inode };

	snprintf(page.job, sizeof(page.job), "%s", run->job);
	snprintf(page.partition, sizeof(page.partition), "%s", run->partition);
	snprintf(page.control, sizeof(page.control), "%s", control_name);
	if (fd >= 0)
		(void)!pwrite(fd, (const char *)&page + from, sizeof(page) - from, (off_t)from);
}

/* The name with an underscore for each character that is unusual in a file name. */
static void put_program(char to[PROGRAM_BYTES], const char *program)
{
	snprintf(to, PROGRAM_BYTES, "%.*s", PROGRAM_BYTES - 1, program[0] ? program : "run");
	for (char *p = to; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(".-", *p))
			*p = '_';
}

char *reception_publish(const char *base, const char *partial, const char *program)
{
	AUTO_FREE char *ledger = xprintf("%s" LEDGER_SUFFIX, base);
	const char *slash = strrchr(base, '/');
	char stamp[32], name[PROGRAM_BYTES], *path;
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	put_program(name, program);
	path = xprintf("%.*s/%s-%s-%s%s", (int)(slash - base), base, stamp, name, slash + 1,
		       trace_container.suffix);
	if (rename(partial, path) != 0) {
		free(path);
		return NULL;
	}
	unlink(ledger);
	return path;
}

/* ---- The shared directory ---- */

/* UID-KEY-M-NNNNNNNN-PID.spool; *stem: the length of UID-KEY-M. */
static bool parse_name(const char *name, struct hello *hello, size_t *stem)
{
	unsigned long long key;
	unsigned user, number;
	char letter;
	int pid, run = 0, end = 0;

	if (!has_suffix(name, SPOOL_SUFFIX) || strlen(name) >= HANDOVER_NAME_BYTES ||
	    sscanf(name, "%10u-%16llx-%c%n-%8u-%d%n", &user, &key, &letter, &run, &number, &pid,
		   &end) != 5 ||
	    strcmp(name + end, SPOOL_SUFFIX) != 0)
		return false;
	*hello = (struct hello){
		.version = SPOOL_VERSION, .number = number, .key = key, .pid = pid
	};
	switch (letter) {
	case 'c':
		hello->mode = POLICY_COUNTERS;
		break;
	case 'f':
		hello->mode = POLICY_FLIGHT;
		break;
	case 't':
		hello->mode = POLICY_TRACE;
		break;
	default:
		return false;
	}
	*stem = (size_t)run;
	snprintf(hello->spool, sizeof(hello->spool), "%s", name);
	put_sibling(hello->control, name, *stem, CONTROL_SUFFIX);
	return true;
}

static bool is_old(const struct stat *st)
{
	return time(NULL) - st->st_mtime > LEFTOVER_S && time(NULL) - st->st_ctime > LEFTOVER_S;
}

/* The process died while it created the file, or its run is over and it was not read. */
static void remove_leftover(int directory, const char *name, int pid)
{
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !is_old(&st))
		return;
	if (!pid || !process_start(pid))
		remove_if(directory, name, st.st_ino);
}

/* Is it a spool with a control page? */
static bool find_spool(int directory, const char *name, struct reception_found *found)
{
	struct stat spool, control;
	size_t stem;

	if (!parse_name(name, &found->hello, &stem))
		return false;
	if (fstatat(directory, found->hello.control, &control, AT_SYMLINK_NOFOLLOW) != 0) {
		remove_leftover(directory, name, found->hello.pid);
		return false;
	}
	if (fstatat(directory, name, &spool, AT_SYMLINK_NOFOLLOW) != 0 ||
	    spool.st_uid != control.st_uid || !S_ISREG(spool.st_mode))
		return false;
	found->user = spool.st_uid;
	found->spool_inode = spool.st_ino;
	found->control_inode = control.st_ino;
	return true;
}

static DIR *open_list(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (!list && fd >= 0)
		close(fd);
	return list;
}

/* Does a file of the directory begin with UID-KEY-M-? */
static bool has_spools(int directory, const char *control)
{
	size_t stem = strlen(control) - strlen(CONTROL_SUFFIX);
	DIR *list = open_list(directory);
	struct dirent *entry;
	bool found = !list;

	while (!found && (entry = readdir(list)))
		found = !strncmp(entry->d_name, control, stem) && entry->d_name[stem] == '-';
	if (list)
		closedir(list);
	return found;
}

void reception_clean_controls(int directory, bool (*used)(const void *arg, uint64_t inode),
			      const void *arg)
{
	DIR *list = open_list(directory);
	struct dirent *entry;
	struct stat st;

	while (list && (entry = readdir(list)))
		if (has_suffix(entry->d_name, CONTROL_SUFFIX) &&
		    fstatat(directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    is_old(&st) && !used(arg, st.st_ino) && !has_spools(directory, entry->d_name))
			remove_if(directory, entry->d_name, st.st_ino);
	if (list)
		closedir(list);
}

size_t reception_find_spools(int directory,
			     bool (*on_found)(void *arg, const struct reception_found *found),
			     void *arg)
{
	DIR *list = open_list(directory);
	struct dirent *entry;
	size_t count = 0;

	while (list && (entry = readdir(list))) {
		struct reception_found found = { 0 };

		if (has_suffix(entry->d_name, DRAFT_SUFFIX))
			remove_leftover(directory, entry->d_name, 0);
		else if (find_spool(directory, entry->d_name, &found))
			count += on_found(arg, &found);
	}
	if (list)
		closedir(list);
	return count;
}

bool reception_open_found(int directory, const struct reception_found *found,
			  int fds[HANDOVER_DESCRIPTORS], size_t *count)
{
	const char *spool = found->hello.spool;
	char counters[HANDOVER_NAME_BYTES];
	const char *names[HANDOVER_DESCRIPTORS] = { found->hello.control, spool, counters };

	put_sibling(counters, spool, strlen(spool) - strlen(SPOOL_SUFFIX), COUNTERS_SUFFIX);
	for (*count = 0; *count < HANDOVER_DESCRIPTORS; ++*count) {
		fds[*count] = openat(directory, names[*count],
				     O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fds[*count] < 0)
			break;
	}
	if (*count > HANDOVER_SPOOL)
		return true;
	for (size_t i = 0; i < *count; i++)
		close(fds[i]);
	return false;
}

/* ---- Forgotten runs ---- */

/* Does a process of the run live? */
struct survivors {
	uint64_t control_inode;
	bool alive;
};

static bool on_survivor(void *arg, const struct reception_found *found)
{
	struct survivors *s = arg;

	if (found->control_inode == s->control_inode && process_start(found->hello.pid))
		s->alive = true;
	return false;
}

static bool is_forgotten(int directory, const struct ledger_page *page)
{
	struct survivors s = { .control_inode = page->control_inode };
	struct stat st;

	if (!memchr(page->control, 0, sizeof(page->control)) || !page->control[0])
		return true;
	if (directory < 0 || fstatat(directory, page->control, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    st.st_ino != page->control_inode)
		return true;
	reception_find_spools(directory, on_survivor, &s);
	if (!s.alive)
		reception_remove_control(directory, page->control, page->control_inode);
	return !s.alive;
}

static void publish_forgotten(int directory, const char *base, uid_t user,
			      void (*forgotten)(void *arg, const struct reception_run *run,
						const char *trace),
			      void *arg)
{
	AUTO_FREE char *path = xprintf("%s" LEDGER_SUFFIX, base);
	AUTO_FREE char *partial = NULL, *trace = NULL;
	struct reception_run run = { .user = user };
	struct ledger ledger;

	/* One that is locked belongs to a run that is being collected. */
	if (ledger_open(&ledger, path, NULL) < 0)
		return;
	if (is_forgotten(directory, ledger.page)) {
		partial = xprintf("%s" RECEPTION_PARTIAL ".%u", base,
				  atomic_load(&ledger.page->generation));
		(void)!truncate(partial, (off_t)ledger_valid_bytes(&ledger));
		trace = reception_publish(base, partial, "");
		ledger.page->job[HANDOVER_JOB_BYTES - 1] = 0;
		ledger.page->partition[HANDOVER_PARTITION_BYTES - 1] = 0;
		run.mode = ledger.page->mode;
		run.key = ledger.page->key;
		run.job = ledger.page->job;
		run.partition = ledger.page->partition;
		if (trace)
			forgotten(arg, &run, trace);
		else
			unlink(path);
	}
	ledger_close(&ledger);
}

static int is_ledger(const struct dirent *entry)
{
	return has_suffix(entry->d_name, LEDGER_SUFFIX);
}

static int is_user(const struct dirent *entry)
{
	return entry->d_name[strspn(entry->d_name, "0123456789")] == 0;
}

void reception_find_forgotten(int directory, const char *traces,
			      void (*forgotten)(void *arg, const struct reception_run *run,
						const char *trace),
			      void *arg)
{
	struct dirent **users, **ledgers;
	int n = scandir(traces, &users, is_user, NULL);

	for (int i = 0; i < n; i++) {
		AUTO_FREE char *path = xprintf("%s/%s", traces, users[i]->d_name);
		int count = scandir(path, &ledgers, is_ledger, NULL);

		for (int j = 0; j < count; j++) {
			AUTO_FREE char *base =
				xprintf("%s/%.*s", path,
					(int)(strlen(ledgers[j]->d_name) - strlen(LEDGER_SUFFIX)),
					ledgers[j]->d_name);

			publish_forgotten(directory, base,
					  (uid_t)strtoul(users[i]->d_name, NULL, 10), forgotten,
					  arg);
			free(ledgers[j]);
		}
		if (count >= 0)
			free(ledgers);
		free(users[i]);
	}
	if (n >= 0)
		free(users);
}
