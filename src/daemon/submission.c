/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/submission.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/text.h"
#include "base/trusted.h"
#include "contract/policy.h"
#include "daemon/about.h"
#include "daemon/keeper.h"
#include "trace/format.h"

#define WAITING_MAX 256
#define USER_MAX 32 /* waiting traces of one user */
#define COPIES 4
#define STALL_NS (60 * NS_PER_S)
#define BUSY_NS (20 * NS_PER_MS)
#define IDLE_NS NS_PER_S
#define RETENTION_NS (60 * NS_PER_S)
#define STOP_NS NS_PER_S
#define TICKET_BIT (UINT64_C(1) << 63) /* tickets of the collection do not have it */
#define UUID_DIGITS 32

enum copy_result { COPY_GOOD, COPY_FAILED, COPY_TOO_LARGE, COPY_NO_SPACE };

/* A trace that was offered. */
struct offer {
	struct handed_trace about;
	uint64_t ticket;
	uid_t user;
	int fd;
	/* While it is copied: */
	pid_t child; /* 0: it waits */
	char *path;  /* of the copy */
	int copy;    /* descriptor */
	uint64_t bytes;
	int64_t progress_ns; /* when the copy was seen to grow */
};

struct submission {
	struct submission_options options;
	char *traces;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stops;
	struct offer offers[WAITING_MAX]; /* in order; only the thread removes them */
	size_t count;
	uint64_t ticket;
	struct submission_counts counts;
};

static int refuse(enum refusal why)
{
	return -1 - (int)why;
}

/* --- threads of the server --- */

/* A regular file of the user. Its file system is not asked, because it could block. */
static bool is_file_of(int fd, uid_t user)
{
	int flags = fcntl(fd, F_GETFL);
	struct statx st;

	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_WRONLY &&
	       statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_UID, &st) ==
		       0 &&
	       S_ISREG(st.stx_mode) && st.stx_uid == user;
}

static bool is_valid(const struct handed_trace *about)
{
	return about->version == HANDED_TRACE_VERSION && about->mode > POLICY_OFF &&
	       about->mode < POLICY_MODE_COUNT && memchr(about->job, 0, sizeof(about->job)) &&
	       memchr(about->partition, 0, sizeof(about->partition)) &&
	       memchr(about->program, 0, sizeof(about->program));
}

/* Under the lock. */
static bool has_room(const struct submission *submission, uid_t user)
{
	size_t own = 0;

	for (size_t i = 0; i < submission->count; i++)
		own += submission->offers[i].user == user;
	return submission->count < WAITING_MAX && own < USER_MAX;
}

static void hold_offer(const struct submission *submission, const struct offer *offer)
{
	struct kept kept = { .ticket = offer->ticket,
			     .user = offer->user,
			     .bytes = sizeof(offer->about),
			     .fd_count = 1,
			     .fds = { offer->fd } };

	memcpy(kept.payload, &offer->about, sizeof(offer->about));
	/* If the keeper is out of reach, the user still has the trace. */
	keeper_hold(submission->options.channel, &kept);
}

/* Takes the descriptor on success. ticket 0: a new one, which the keeper has to hold. */
static bool add_offer(struct submission *submission, const struct handed_trace *about, uid_t user,
		      int fd, uint64_t ticket)
{
	struct offer offer = { .about = *about, .user = user, .fd = fd, .copy = -1 };
	bool added;

	pthread_mutex_lock(&submission->lock);
	added = has_room(submission, user);
	if (added) {
		offer.ticket = ticket ? ticket : ++submission->ticket;
		if (!ticket)
			hold_offer(submission, &offer);
		submission->offers[submission->count++] = offer;
		pthread_cond_signal(&submission->changed);
	}
	pthread_mutex_unlock(&submission->lock);
	return added;
}

int submission_offer(struct submission *submission, struct client *client,
		     const struct frame *frame)
{
	struct handed_trace about;

	if (frame->length != sizeof(about))
		return refuse(REFUSAL_CONTENT);
	memcpy(&about, frame->payload, sizeof(about));
	if (!is_valid(&about))
		return refuse(REFUSAL_CONTENT);
	if (client->fd_count != 1 || !is_file_of(client->fds[0], client->user))
		return refuse(REFUSAL_DESCRIPTORS);
	if (about.mode != POLICY_TRACE && !submission->options.has_database)
		return 0;
	if (!add_offer(submission, &about, client->user, client->fds[0], 0))
		return refuse(REFUSAL_BUSY);
	client->fd_count = 0;
	return 0;
}

bool submission_take_kept(struct submission *submission, const struct kept *kept)
{
	struct handed_trace about;

	if (kept->bytes != sizeof(about) || kept->fd_count != 1)
		return false;
	memcpy(&about, kept->payload, sizeof(about));
	if (is_valid(&about) &&
	    add_offer(submission, &about, kept->user, kept->fds[0], kept->ticket))
		return true;
	close(kept->fds[0]);
	keeper_drop(submission->options.channel, kept->ticket);
	return true;
}

struct submission_counts submission_counts(struct submission *submission)
{
	struct submission_counts counts;

	pthread_mutex_lock(&submission->lock);
	counts = submission->counts;
	counts.waiting = submission->count;
	pthread_mutex_unlock(&submission->lock);
	return counts;
}

/* --- the child that copies; only system calls, because other threads may have held locks --- */

static enum copy_result copy_bytes(int from, int to, uint64_t max)
{
	char room[65536];
	uint64_t done = 0;
	ssize_t n;

	while ((n = pread(from, room, sizeof(room), (off_t)done)) > 0) {
		if (done + (uint64_t)n > max)
			return COPY_TOO_LARGE;
		if (pwrite(to, room, (size_t)n, (off_t)done) != n)
			return COPY_NO_SPACE;
		done += (uint64_t)n;
	}
	if (n < 0)
		return COPY_FAILED;
	return fdatasync(to) == 0 ? COPY_GOOD : COPY_NO_SPACE;
}

static pid_t start_child(int from, int to, uint64_t max)
{
	pid_t parent = getpid(), child = fork();

	if (child != 0)
		return child;
	/* Descriptors of clients must not stay open. */
	if (dup2(from, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0 ||
	    syscall(SYS_close_range, STDERR_FILENO, ~0u, 0) != 0)
		_exit(COPY_FAILED);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(COPY_FAILED);
	_exit((int)copy_bytes(STDIN_FILENO, STDOUT_FILENO, max));
}

/* --- the thread --- */

static void put_program(char *to, size_t bytes, const char *program)
{
	snprintf(to, bytes, "%s", program[0] ? program : "run");
	for (char *p = to; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(".-", *p))
			*p = '_';
}

/* Reads the id of the run. Returns -errno if the file is not a complete container. */
static int read_uuid(const char *path, char uuid[UUID_DIGITS + 1], struct err *err)
{
	unsigned char start[64] = { 0 };
	struct trace trace;
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, start, sizeof(start));
	int r;

	/* Other formats are not meant for data that nobody has checked. */
	if (n <= 0 || !trace_container.recognize(start, (size_t)n))
		return err_set(err, EBADMSG, "not a trace");
	r = trace_open(&trace, path, NULL, err);
	if (r < 0)
		return r;
	if (!trace.head.run.uuid || strlen(trace.head.run.uuid) != UUID_DIGITS ||
	    strspn(trace.head.run.uuid, "0123456789abcdef") != UUID_DIGITS)
		r = err_set(err, EBADMSG, "a trace without an id");
	else
		snprintf(uuid, UUID_DIGITS + 1, "%s", trace.head.run.uuid);
	trace_close(&trace);
	return r;
}

/* Does the daemon have a trace of this run? Then it was offered twice. */
static bool is_known(const char *directory, const char *uuid)
{
	AUTO_FREE char *end = xprintf("-%s%s", uuid, trace_container.suffix);
	DIR *list = opendir(directory);
	const struct dirent *entry;
	bool found = false;

	while (list && !found && (entry = readdir(list)))
		found = text_ends_with(entry->d_name, end);
	if (list)
		closedir(list);
	return found;
}

/* Gives a copy its name: DATE-PROGRAM-UUID.sluice, as those of the reception have. */
static int publish(struct submission *submission, const struct offer *offer, struct err *err)
{
	AUTO_FREE char *directory = xprintf("%s/%u", submission->traces, (unsigned)offer->user);
	AUTO_FREE char *path = NULL;
	char uuid[UUID_DIGITS + 1], stamp[32], program[HANDOVER_PROGRAM_BYTES];
	struct about about = { (char *)(uintptr_t)offer->about.job,
			       (char *)(uintptr_t)offer->about.partition,
			       offer->about.mode != POLICY_TRACE };
	struct submitted submitted = { .user = offer->user, .about = &about };
	time_t now = time(NULL);
	struct tm local;
	int r = read_uuid(offer->path, uuid, err);

	if (r < 0)
		return r;
	if (is_known(directory, uuid)) {
		unlink(offer->path);
		return 0;
	}
	localtime_r(&now, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	put_program(program, sizeof(program), offer->about.program);
	path = xprintf("%s/%s-%s-%s%s", directory, stamp, program, uuid, trace_container.suffix);
	/* Before the trace has its name, under which the next worker finds it. */
	if (submission->options.has_database)
		about_write(directory, uuid, &about);
	if (rename(offer->path, path) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	submitted.trace = path;
	submission->options.on_trace(submission->options.arg, &submitted);
	return 1;
}

/* Removes it from the list. The keeper forgets it unless the next worker has to try again. */
static void remove_offer(struct submission *submission, size_t i, bool is_done)
{
	struct offer *offer = &submission->offers[i];

	close(offer->fd);
	if (offer->copy >= 0)
		close(offer->copy);
	if (offer->path)
		unlink(offer->path); /* published copies have another name */
	free(offer->path);
	if (is_done)
		keeper_drop(submission->options.channel, offer->ticket);
	pthread_mutex_lock(&submission->lock);
	submission->count--;
	memmove(offer, offer + 1, (submission->count - i) * sizeof(*offer));
	pthread_mutex_unlock(&submission->lock);
}

static void count_result(struct submission *submission, int result)
{
	pthread_mutex_lock(&submission->lock);
	submission->counts.taken += result > 0;
	submission->counts.failed += result < 0;
	pthread_mutex_unlock(&submission->lock);
}

static int judge_child(const struct offer *offer, int status, struct err *err)
{
	static const char *const reasons[] = { [COPY_FAILED] = "it cannot be read",
					       [COPY_TOO_LARGE] = "it exceeds site.traces",
					       [COPY_NO_SPACE] = "no space for the copy" };
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : COPY_FAILED;

	if (code == COPY_GOOD)
		return 0;
	return err_set(err, EIO, "a trace of user %u was not kept: %s", (unsigned)offer->user,
		       reasons[code <= COPY_NO_SPACE ? code : COPY_FAILED]);
}

/* Returns true if the copy has ended, and the offer was removed. */
static bool check_copy(struct submission *submission, size_t i)
{
	struct offer *offer = &submission->offers[i];
	int64_t now = clock_now_ns();
	struct err err = { 0 };
	struct stat st;
	int status, r;

	r = waitpid(offer->child, &status, WNOHANG);
	if (r == 0) {
		if (fstat(offer->copy, &st) == 0 && (uint64_t)st.st_size > offer->bytes) {
			offer->bytes = (uint64_t)st.st_size;
			offer->progress_ns = now;
		}
		if (now - offer->progress_ns > submission->options.stall_ns)
			kill(offer->child, SIGKILL);
		return false;
	}
	r = r < 0 ? -errno : judge_child(offer, status, &err);
	if (r == 0)
		r = publish(submission, offer, &err);
	if (r < 0 && err.code)
		submission->options.tell(err.text);
	count_result(submission, r);
	remove_offer(submission, i, true);
	return true;
}

static int start_copy(struct submission *submission, struct offer *offer, struct err *err)
{
	AUTO_FREE char *directory = xprintf("%s/%u", submission->traces, (unsigned)offer->user);
	uint64_t max = submission->options.limits.bytes / 4;
	int fd = trusted_make_directory(directory, err);

	if (fd < 0)
		return fd;
	close(fd);
	offer->path =
		xprintf("%s/%llx" RETENTION_COPY, directory, (unsigned long long)offer->ticket);
	unlink(offer->path);
	offer->copy = trusted_create_file(AT_FDCWD, offer->path, err);
	if (offer->copy < 0)
		return offer->copy;
	offer->progress_ns = clock_now_ns();
	offer->child = start_child(offer->fd, offer->copy, max ? max : UINT64_MAX);
	return offer->child < 0 ? err_set(err, errno, "cannot start a process") : 0;
}

static bool may_start(const struct submission *submission, size_t count, size_t wanted)
{
	size_t active = 0;

	for (size_t i = 0; i < count; i++) {
		const struct offer *offer = &submission->offers[i];

		if (offer->child <= 0)
			continue;
		if (offer->user == submission->offers[wanted].user)
			return false;
		active++;
	}
	return active < COPIES;
}

/* Returns the number of offers. Other threads only append, so indices stay valid. */
static size_t serve_offers(struct submission *submission)
{
	size_t count;

	pthread_mutex_lock(&submission->lock);
	count = submission->count;
	pthread_mutex_unlock(&submission->lock);
	for (size_t i = 0; i < count;) {
		struct offer *offer = &submission->offers[i];
		struct err err = { 0 };

		if (offer->child > 0 && check_copy(submission, i)) {
			count--;
			continue;
		}
		if (!offer->child && may_start(submission, count, i) &&
		    start_copy(submission, offer, &err) < 0) {
			submission->options.tell(err.text);
			count_result(submission, -1);
			remove_offer(submission, i, true);
			count--;
			continue;
		}
		i++;
	}
	return count;
}

static void keep_limits(struct submission *submission)
{
	struct retention_totals totals =
		retention_apply(submission->traces, &submission->options.limits);
	struct retention_totals *sum = &submission->counts.retention;
	char sentence[160];

	pthread_mutex_lock(&submission->lock);
	totals.removed += sum->removed;
	totals.removed_unsent += sum->removed_unsent;
	if (totals.removed_unsent > sum->removed_unsent)
		snprintf(sentence, sizeof(sentence),
			 "%llu traces were removed before the database had them, because they "
			 "exceed site.traces or site.keep_traces",
			 (unsigned long long)(totals.removed_unsent - sum->removed_unsent));
	else
		sentence[0] = 0;
	*sum = totals;
	pthread_mutex_unlock(&submission->lock);
	if (sentence[0])
		submission->options.tell(sentence);
}

static bool wait_for_offers(struct submission *submission, int64_t ns)
{
	struct timespec until;
	bool stops;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += until.tv_nsec;
	until.tv_sec += ns / NS_PER_S;
	until.tv_nsec = ns % NS_PER_S;
	pthread_mutex_lock(&submission->lock);
	if (!submission->stops)
		pthread_cond_timedwait(&submission->changed, &submission->lock, &until);
	stops = submission->stops;
	pthread_mutex_unlock(&submission->lock);
	return !stops;
}

/* The next worker starts them again. */
static void abandon_copies(struct submission *submission)
{
	int64_t until = clock_now_ns() + STOP_NS;

	for (size_t i = 0; i < submission->count; i++)
		if (submission->offers[i].child > 0)
			kill(submission->offers[i].child, SIGKILL);
	for (size_t i = 0; i < submission->count; i++)
		while (submission->offers[i].child > 0 &&
		       waitpid(submission->offers[i].child, NULL, WNOHANG) == 0 &&
		       clock_now_ns() < until)
			clock_sleep_ns(NS_PER_MS);
	while (submission->count)
		remove_offer(submission, submission->count - 1, false);
}

static void *run_thread(void *arg)
{
	struct submission *submission = arg;
	int64_t limited_ns = 0;
	size_t count = 0;

	while (wait_for_offers(submission, count ? BUSY_NS : limited_ns ? IDLE_NS : 1)) {
		count = serve_offers(submission);
		if (limited_ns && clock_now_ns() - limited_ns < RETENTION_NS)
			continue;
		keep_limits(submission);
		limited_ns = clock_now_ns();
	}
	abandon_copies(submission);
	return NULL;
}

/* --- start and stop --- */

int submission_start(struct submission **made, const struct submission_options *options,
		     struct err *err)
{
	struct submission *submission = xcalloc(1, sizeof(*submission));
	pthread_condattr_t attributes;
	int r;

	submission->options = *options;
	if (!submission->options.stall_ns)
		submission->options.stall_ns = STALL_NS;
	submission->traces = xstrdup(options->traces);
	submission->ticket = (uint64_t)clock_realtime_ns() | TICKET_BIT;
	pthread_mutex_init(&submission->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&submission->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	r = -pthread_create(&submission->thread, NULL, run_thread, submission);
	if (r < 0) {
		pthread_cond_destroy(&submission->changed);
		pthread_mutex_destroy(&submission->lock);
		free(submission->traces);
		free(submission);
		return err_set(err, -r, "cannot start a thread: %s", strerror(-r));
	}
	*made = submission;
	return 0;
}

void submission_stop(struct submission *submission)
{
	if (!submission)
		return;
	pthread_mutex_lock(&submission->lock);
	submission->stops = true;
	pthread_cond_signal(&submission->changed);
	pthread_mutex_unlock(&submission->lock);
	pthread_join(submission->thread, NULL);
	pthread_cond_destroy(&submission->changed);
	pthread_mutex_destroy(&submission->lock);
	free(submission->traces);
	free(submission);
}
