/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/job/share.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/job.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/trusted.h"
#include "contract/clock.h"
#include "observe/collect/spool_directory.h"

#define COLLECTOR "collector"
#define READY "ready"
#define CLOSED "closed"
#define MEMBER "member-"

/* Time limit for joining: the program must not wait longer for a collector that is not ready. */
#define JOIN_NS (10 * NS_PER_S)
/* How long the other members of the node may take to start, if their number is unknown. */
#define LATE_MEMBERS_NS (10 * NS_PER_S)
/*
 * How long the last member waits for programs whose `sluice run` was killed; these may run forever.
 */
#define ORPHANS_NS (5 * NS_PER_S)

/* Content of a member's file. */
struct member_state {
	int32_t rank;
	int32_t left; /* 0 while its program runs */
	int32_t code;
	int32_t outlive;
};

static bool has_file(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, 0) == 0;
}

static int create_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Is the file locked by another process? */
static bool is_locked(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

/*
 * Returns the path of the job's directory, existing or not. The first member may have chosen
 * another base directory because of its free space.
 */
static char *job_directory(const struct share_options *o)
{
	const char *temporary = getenv("TMPDIR");
	const char *bases[] = { collector_base(o->spool_dir, o->spool_bytes), "/dev/shm",
				temporary && temporary[0] == '/' ? temporary : "/tmp" };
	size_t count = o->spool_dir ? 1 : sizeof(bases) / sizeof(*bases);
	char *path = NULL;

	for (size_t i = 0; i < count; i++) {
		free(path);
		path = spool_directory_of_job(bases[i], job_hash(o->job), false);
		if (access(path, F_OK) == 0)
			return path;
	}
	free(path);
	return spool_directory_of_job(bases[0], job_hash(o->job), true);
}

/* Creates a directory next to path that no job uses, but that `sluice trace recover` finds. */
static char *create_sibling(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *other =
		xprintf("%.*s/sluice-%u-XXXXXX", (int)(slash - path), path, (unsigned)geteuid());

	if (mkdtemp(other))
		return other;
	free(other);
	return NULL;
}

/*
 * The collector of this directory is dead: moves it away and leaves the records to `sluice trace
 * recover`.
 */
static void retire_directory(int dir, const char *path)
{
	AUTO_FREE char *retired = NULL;
	struct stat seen, now;

	if (fstat(dir, &seen) != 0 || lstat(path, &now) != 0 || seen.st_ino != now.st_ino)
		return; /* another member has done it */
	if (!has_file(dir, CONTROL_NAME)) {
		process_remove_spool(path, NULL);
		return;
	}
	retired = create_sibling(path);
	if (retired && rename(path, retired) != 0)
		rmdir(retired);
}

static int create_member(struct share *s, const struct share_options *o)
{
	struct member_state state = { .rank = o->job->rank, .outlive = o->outlive };
	AUTO_FREE char *name = xprintf(MEMBER "%08d-%d", o->job->rank, (int)getpid());
	int fd = openat(s->directory_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	s->member_fd = fd;
	if (flock(fd, LOCK_EX) != 0 || pwrite(fd, &state, sizeof(state), 0) != sizeof(state))
		return errno ? -errno : -ENOSPC;
	return 0;
}

/*
 * Joins the open directory. Returns 1 if it succeeded, 0 if it is not ready yet or already closed.
 */
static int try_enter(struct share *s, const struct share_options *o)
{
	int r = 0;

	s->collector_fd =
		trusted_open_file(s->directory_fd, COLLECTOR, O_RDWR, TRUSTED_PRIVATE, NULL);
	if (s->collector_fd < 0)
		return s->collector_fd == -ENOENT ? 0 : s->collector_fd;
	if (flock(s->collector_fd, LOCK_EX | LOCK_NB) == 0) {
		retire_directory(s->directory_fd, s->directory);
		return 0;
	}
	if (!has_file(s->directory_fd, READY))
		return 0;
	/*
	 * The collector cannot close while this is locked; pairs with LOCK_EX in share_is_over().
	 */
	if (flock(s->directory_fd, LOCK_SH) != 0)
		return -errno;
	if (!has_file(s->directory_fd, CLOSED))
		r = create_member(s, o);
	else
		r = -EAGAIN;
	flock(s->directory_fd, LOCK_UN);
	return r == -EAGAIN ? 0 : r < 0 ? r : 1;
}

static void share_release(struct share *s)
{
	int *fds[] = { &s->directory_fd, &s->collector_fd, &s->member_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (*fds[i] >= 0)
			close(*fds[i]);
	free(s->directory);
	*s = (struct share){ NULL, -1, -1, -1 };
}

/* Closes all files of the launcher, which waits for the end of its pipes. */
static void close_inherited(int keep)
{
	int null = open("/dev/null", O_RDWR);
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd > 2 && fd != keep && fd != dirfd(dir))
			close(fd);
	}
	if (dir)
		closedir(dir);
}

/* Starts the collector, which inherits the lock on its file. */
static int collector_spawn(const char *directory, int lock, const struct share_options *o)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		struct share s = { xstrdup(directory), -1, lock, -1 };

		setsid();
		if (fork() != 0)
			_exit(0);
		close_inherited(lock);
		s.directory_fd = trusted_open_directory(AT_FDCWD, directory, TRUSTED_PRIVATE, NULL);
		o->collect(&s, o->arg);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

/*
 * Creates the job's directory and starts its collector. The directory appears with the lock held,
 * so that it is not mistaken for that of a dead collector. Returns -EEXIST if another member was
 * faster.
 */
static int start_collector(const char *path, const struct share_options *o)
{
	AUTO_FREE char *fresh = create_sibling(path);
	AUTO_FREE char *file = fresh ? xprintf("%s/%s", fresh, COLLECTOR) : NULL;
	AUTO_CLOSE int fd = file ? open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	int r = 0;

	if (fd < 0 || flock(fd, LOCK_EX) != 0)
		r = errno ? -errno : -EIO;
	else if (rename(fresh, path) != 0)
		r = errno == ENOTEMPTY ? -EEXIST : -errno;
	else if ((r = collector_spawn(path, fd, o)) < 0)
		process_remove_spool(path, NULL);
	if (fresh && r < 0)
		process_remove_spool(fresh, NULL);
	return r;
}

/* Tries once. Returns 1 if it joined, 0 to try again. */
static int try_join(struct share *s, const struct share_options *o, bool *founded)
{
	int r;

	s->directory = job_directory(o);
	s->directory_fd = trusted_open_directory(AT_FDCWD, s->directory, TRUSTED_PRIVATE, NULL);
	if (s->directory_fd >= 0)
		return try_enter(s, o);
	if (s->directory_fd != -ENOENT)
		return s->directory_fd;
	if (*founded) /* the collector that we started has failed */
		return -ECANCELED;
	r = start_collector(s->directory, o);
	*founded = r == 0;
	return r == -EEXIST ? 0 : r;
}

int share_join(struct share *s, const struct share_options *o, struct err *err)
{
	uint64_t until = clock_monotonic_ns() + JOIN_NS;
	bool founded = false;
	unsigned pause = 200;
	int r = 0;

	*s = (struct share){ NULL, -1, -1, -1 };
	if (o->spool_dir && o->spool_dir[0] != '/')
		return err_set(err, EINVAL, "%s: the spool directory must be an absolute path",
			       o->spool_dir);
	while ((r = try_join(s, o, &founded)) == 0 && clock_monotonic_ns() < until) {
		share_release(s);
		clock_sleep_ns(pause * NS_PER_US);
		pause = pause < 10000 ? pause * 2 : pause;
	}
	if (r > 0)
		return 0;
	r = err_set(err, r < 0 ? -r : ETIMEDOUT, "%s: cannot join the collector of this job: %s",
		    s->directory ? s->directory : "", strerror(r < 0 ? -r : ETIMEDOUT));
	share_release(s);
	return r;
}

static int is_member(const struct dirent *entry)
{
	return !strncmp(entry->d_name, MEMBER, strlen(MEMBER));
}

static void count_member(struct share_count *count, const struct member_state *state, bool active,
			 int32_t *code_rank)
{
	count->outlive |= state->outlive != 0;
	count->active += active;
	count->killed += !active && !state->left;
	if (!state->left || !state->code || state->rank > *code_rank)
		return;
	count->code = state->code;
	*code_rank = state->rank;
}

/* Names sort by rank, so that equal ranks are adjacent. */
static struct share_count count_members(int dir)
{
	int32_t code_rank = INT32_MAX, before = -1;
	struct share_count count = { 0 };
	struct dirent **names;
	int n = scandirat(dir, ".", &names, is_member, alphasort);

	for (int i = 0; i < n; i++) {
		AUTO_CLOSE int fd = openat(dir, names[i]->d_name, O_RDONLY | O_CLOEXEC);
		struct member_state state = { 0 };
		/*
		 * The lock is tested first, because a member writes its file before it releases the
		 * lock.
		 */
		bool active = fd >= 0 && is_locked(fd);

		if (fd >= 0 && pread(fd, &state, sizeof(state), 0) == sizeof(state)) {
			count_member(&count, &state, active, &code_rank);
			count.ranks += state.rank != before;
			before = state.rank;
		} else {
			count.active += active;
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	if (count.killed && !count.code)
		count.code = -1;
	return count;
}

bool share_leave(struct share *s, int code, struct share_outcome *outcome)
{
	uint64_t since = clock_monotonic_ns();
	struct member_state state;
	bool mine = false;

	if (pread(s->member_fd, &state, sizeof(state), 0) == sizeof(state)) {
		state.left = 1;
		state.code = code;
		(void)!pwrite(s->member_fd, &state, sizeof(state), 0);
	}
	close(s->member_fd);
	s->member_fd = -1;
	while (flock(s->collector_fd, LOCK_EX | LOCK_NB) != 0) {
		struct share_count count = count_members(s->directory_fd);

		if (count.active || (count.killed && clock_monotonic_ns() - since > ORPHANS_NS)) {
			share_release(s);
			return false;
		}
		clock_sleep_ns(NS_PER_MS);
	}
	if (pread(s->collector_fd, outcome, sizeof(*outcome), 0) == sizeof(*outcome)) {
		mine = !outcome->told;
		outcome->told = 1;
		(void)!pwrite(s->collector_fd, outcome, sizeof(*outcome), 0);
	}
	share_release(s);
	return mine;
}

int share_ready(const struct share *s, struct err *err)
{
	int r = create_file(s->directory_fd, READY);

	return r < 0 ? err_set(err, -r, "%s: %s", s->directory, strerror(-r)) : 0;
}

/*
 * No rank returns from MPI_Init before all ranks have entered it, and they join before their
 * program starts. So if there is one MPI rank, all members have joined.
 */
static bool have_all_joined(const struct share_count *count, const struct job *job,
			    const struct collector *c, uint64_t began_ns)
{
	return (job->locals && count->ranks >= (uint32_t)job->locals) || collector_ranks(c) ||
	       clock_monotonic_ns() - began_ns > LATE_MEMBERS_NS;
}

bool share_is_over(const struct share *s, const struct job *job, struct collector *c,
		   uint64_t began_ns, struct share_count *count)
{
	bool over;

	*count = count_members(s->directory_fd);
	if (count->active || !have_all_joined(count, job, c, began_ns) ||
	    ((count->killed || count->outlive) && collector_has_processes(c)))
		return false;
	flock(s->directory_fd, LOCK_EX);
	*count = count_members(s->directory_fd);
	over = !count->active;
	if (over)
		create_file(s->directory_fd, CLOSED);
	flock(s->directory_fd, LOCK_UN);
	return over;
}

void share_publish(const struct share *s, const struct share_outcome *outcome)
{
	(void)!pwrite(s->collector_fd, outcome, sizeof(*outcome), 0);
}
