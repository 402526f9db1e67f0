/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "contract/clock.h"
#include "tune/trial/digest_hdf5.h"

/* How often *stop and the time limit are checked. */
#define POLL_MS 200

/* The child's answer for one file; answers come in the order of the files. */
struct answer {
	int code; /* as digest_hdf5() returns */
	bool exists;
	uint64_t skipped;
	uint64_t high, low;
	struct err err;
};

/* One file and its checksum. */
struct file {
	const char *name;
	uint64_t high, low;
};

void digest_release(struct digest *digest)
{
	free(digest->note);
	*digest = (struct digest){ 0 };
}

static int hash_raw(XXH3_state_t *hash, int fd, const char *path, struct err *err)
{
	AUTO_FREE char *piece = xmalloc(DIGEST_PIECE_BYTES);
	ssize_t n;

	XXH3_128bits_update(hash, "raw", 4);
	while ((n = read(fd, piece, DIGEST_PIECE_BYTES)) != 0) {
		if (n < 0 && errno != EINTR)
			return err_set(err, EBADMSG, "%s: %s", path, strerror(errno));
		if (n > 0)
			XXH3_128bits_update(hash, piece, (size_t)n);
	}
	return 0;
}

static void digest_file(const char *path, struct answer *answer)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	XXH3_state_t *hash = XXH3_createState();
	XXH128_hash_t value;
	struct stat st;

	*answer = (struct answer){ 0 };
	if (!hash || fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		XXH3_freeState(hash);
		return;
	}
	XXH3_128bits_reset(hash);
	answer->exists = true;
	answer->code = digest_is_hdf5(fd) ? digest_hdf5(hash, path, &answer->skipped, &answer->err)
					  : hash_raw(hash, fd, path, &answer->err);
	value = XXH3_128bits_digest(hash);
	XXH3_freeState(hash);
	answer->high = value.high64;
	answer->low = value.low64;
}

/* Runs in the child process. */
static _Noreturn void digest_all(const struct digest_options *o, int to, pid_t parent)
{
	struct answer answer;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* The caller's signal handlers must not run here. */
	for (int signal = 1; signal < NSIG; signal++)
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	for (size_t i = 0; i < o->count; i++) {
		digest_file(o->paths[i], &answer);
		if (write(to, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
			_exit(1);
	}
	_exit(0);
}

/* Waits for the next answer. -EINTR, -ETIME, or -EPIPE if the child has exited. */
static int read_answer(const struct digest_options *o, int from, uint64_t until_ns,
		       struct answer *answer)
{
	struct pollfd fd = { .fd = from, .events = POLLIN };
	ssize_t n;

	for (;;) {
		if (o->stop && *o->stop)
			return -EINTR;
		if (clock_monotonic_ns() >= until_ns)
			return -ETIME;
		if (poll(&fd, 1, POLL_MS) <= 0)
			continue;
		/* Answers are shorter than PIPE_BUF, so they arrive whole. */
		n = read(from, answer, sizeof(*answer));
		if (n == (ssize_t)sizeof(*answer))
			return 0;
		if (n >= 0 || errno != EINTR)
			return -EPIPE;
	}
}

static const char *relative_name(const char *path, const char *directory)
{
	size_t n = directory ? strlen(directory) : 0;

	while (n && directory[n - 1] == '/')
		n--;
	return n && strncmp(path, directory, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static void combine_checksums(struct file *files, size_t count, char text[DIGEST_TEXT])
{
	AUTO_BUF struct buf all = { 0 };
	XXH128_hash_t value;

	qsort(files, count, sizeof(*files), compare_files);
	for (size_t i = 0; i < count; i++)
		buf_printf(&all, "%016" PRIx64 "%016" PRIx64 " %s\n", files[i].high, files[i].low,
			   files[i].name);
	value = XXH3_128bits(buf_text(&all), all.len);
	snprintf(text, DIGEST_TEXT, "%016llx%016llx", (unsigned long long)value.high64,
		 (unsigned long long)value.low64);
}

static int explain_failure(const char *path, int code, int status, struct err *err)
{
	if (code == -EINTR)
		return err_set(err, EINTR, "interrupted");
	if (code == -ETIME)
		return err_set(err, ETIME, "%s: making the checksum takes too long", path);
	if (WIFSIGNALED(status))
		return err_set(err, EBADMSG, "%s: reading it crashed (%s)", path,
			       strsignal(WTERMSIG(status)));
	return err_set(err, EBADMSG, "%s: reading it failed", path);
}

/* The checksums of all files that could be read. */
struct gathered {
	struct file *files;
	size_t count;
	uint64_t skipped;
	char *note;
	bool lacks_hdf5; /* the library cannot be loaded */
};

/* Reads all answers. *at is the index of the file that the child was reading last. */
static int read_answers(const struct digest_options *o, int from, struct gathered *all, size_t *at,
			struct err *err)
{
	uint64_t until = isfinite(o->limit_s)
				 ? clock_monotonic_ns() + (uint64_t)(o->limit_s * NS_PER_S)
				 : UINT64_MAX;
	struct answer answer;

	for (*at = 0; *at < o->count; ++*at) {
		int r = read_answer(o, from, until, &answer);

		if (r < 0)
			return r;
		if (answer.code == -EBADMSG)
			return err_set(err, EBADMSG, "%s", answer.err.text);
		if (answer.code < 0) {
			all->lacks_hdf5 = true;
			free(all->note);
			all->note = xstrdup(answer.err.text);
		} else if (answer.exists) {
			all->skipped += answer.skipped;
			all->files[all->count++] =
				(struct file){ relative_name(o->paths[*at], o->directory),
					       answer.high, answer.low };
		}
	}
	return 0;
}

/* Starts the child process, whose answers can be read from *from. */
static pid_t start_reader(const struct digest_options *o, int *from)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		digest_all(o, ends[1], parent);
	if (pid < 0)
		pid = -errno;
	close(ends[1]);
	*from = ends[0];
	if (pid < 0)
		close(ends[0]);
	return pid;
}

static void fill_digest(struct digest *digest, struct gathered *all)
{
	*digest = (struct digest){ .skipped = all->skipped, .note = all->note };
	if (!all->lacks_hdf5)
		combine_checksums(all->files, all->count, digest->text);
	if (all->skipped && !digest->note)
		digest->note = xprintf("%" PRIu64 " objects (variable length, references, unknown "
				       "filters) were not compared",
				       all->skipped);
}

int digest_files(struct digest *digest, const struct digest_options *options, struct err *err)
{
	AUTO_FREE struct file *files = xcalloc(options->count + 1, sizeof(*files));
	struct gathered all = { .files = files };
	int from = -1, r, status = 0;
	size_t at;
	pid_t pid = start_reader(options, &from);

	if (pid < 0)
		return err_set(err, -pid, "cannot start a process: %s", strerror(-pid));
	r = read_answers(options, from, &all, &at, err);
	/* If it has crashed, it is dead already, and its status shows the signal. */
	if (r < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	close(from);
	if (r < 0) {
		free(all.note);
		return r == -EBADMSG ? r : explain_failure(options->paths[at], r, status, err);
	}
	fill_digest(digest, &all);
	return 0;
}
