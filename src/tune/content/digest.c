/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/content/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "contract/clock.h"
#include "tune/content/digest_hdf5.h"
#include "tune/content/digest_netcdf.h"
#include "tune/content/item_writer.h"

/* How often the child, *stop and the time limit are checked. */
#define POLL_NS (2 * 1000 * 1000)
/* A larger text is read by block. */
#define TEXT_BYTES (1u << 20)

/* Shared with the child. */
struct progress {
	volatile size_t at; /* the source that the child is reading */
};

/* Is it a text? Counts its lines. */
static bool is_text(const char *bytes, size_t n, size_t *lines)
{
	*lines = n && bytes[n - 1] != '\n';
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if ((c < ' ' && (!c || !strchr("\t\n\r\f", c))) || c == 0x7f)
			return false;
		*lines += c == '\n';
	}
	return true;
}

static void digest_raw(struct item_writer *w, int fd, const struct stat *st)
{
	AUTO_FREE char *piece = xmalloc(DIGEST_PIECE_BYTES);
	size_t lines = 0;
	bool is_begun = false;
	ssize_t n;

	while ((n = read(fd, piece, DIGEST_PIECE_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			AUTO_FREE char *why = xprintf("it cannot be read (%s)", strerror(errno));

			item_writer_unread(w, "", why);
			return;
		}
		if (!is_begun && n == st->st_size && n <= (ssize_t)TEXT_BYTES &&
		    is_text(piece, (size_t)n, &lines))
			item_writer_begin_text(w, "", lines);
		else if (!is_begun)
			item_writer_begin(w, "", (uint64_t)st->st_size);
		is_begun = true;
		item_writer_data(w, piece, (size_t)n);
	}
	if (!is_begun)
		item_writer_begin(w, "", 0);
	item_writer_end(w);
}

static void digest_source(struct item_writer *w, const struct digest_source *source)
{
	AUTO_CLOSE int fd =
		source->path ? open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct err err = { 0 };
	struct stat st;
	int r = 0;

	item_writer_file(w, source->name, source->origin);
	if (!source->path)
		item_writer_unread(w, "", "its content was not kept");
	else if (fd < 0 || fstat(fd, &st) != 0)
		item_writer_unread(w, "",
				   errno == ENOENT ? "it does not exist after the run"
						   : strerror(errno));
	else if (!S_ISREG(st.st_mode))
		item_writer_unread(w, "", "it is not a regular file");
	else if (digest_is_hdf5(fd))
		r = digest_hdf5(w, source->path, &err);
	else if (digest_is_netcdf(fd))
		r = digest_netcdf(w, fd, &err);
	else
		digest_raw(w, fd, &st);
	if (r < 0)
		item_writer_unread(w, "", err.text);
}

/* Runs in the child process. */
static _Noreturn void digest_all(const struct digest_options *o, struct progress *progress, int to,
				 pid_t parent)
{
	FILE *stream = fdopen(to, "we");
	struct item_writer writer;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !stream)
		_exit(1);
	/* The caller's signal handlers must not run here. */
	for (int signal = 1; signal < NSIG; signal++)
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	item_writer_init(&writer, stream);
	for (; progress->at < o->count; progress->at++)
		digest_source(&writer, &o->sources[progress->at]);
	item_writer_release(&writer);
	fflush(stream);
	_exit(ferror(stream) != 0);
}

/* Waits for the child. Ends it at the time limit (-ETIME) or if *stop is set (-EINTR). */
static int wait_for_child(pid_t pid, const struct digest_options *o, uint64_t until_ns, int *status)
{
	int r = 0;

	while (waitpid(pid, status, WNOHANG) == 0) {
		if (o->stop && *o->stop)
			r = -EINTR;
		else if (clock_monotonic_ns() >= until_ns)
			r = -ETIME;
		if (r < 0) {
			kill(pid, SIGKILL);
			while (waitpid(pid, status, 0) < 0 && errno == EINTR)
				;
			return r;
		}
		nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
	}
	return 0;
}

static void add_unread(struct manifest *manifest, const struct digest_source *source,
		       const char *why)
{
	manifest_add(manifest, &(struct manifest_item){ .file = xstrdup(source->name),
							.object = xstrdup(""),
							.unread = xstrdup(why),
							.origin = source->origin });
}

/* Reads the sources from progress->at on in a child process, and adds their items. A process that
 * is killed may leave half of an item at the end of its own stream only. */
static int run_child(struct manifest *manifest, const struct digest_options *o,
		     struct progress *progress, uint64_t until_ns, int *status, struct err *err)
{
	int to = memfd_create("sluice-manifest", MFD_CLOEXEC), r;
	pid_t parent = getpid(), pid = to < 0 ? -1 : fork();
	FILE *stream;

	if (pid == 0)
		digest_all(o, progress, to, parent);
	r = pid < 0 ? err_set(err, errno, "cannot start a process: %s", strerror(errno))
		    : wait_for_child(pid, o, until_ns, status);
	stream = to < 0 ? NULL : fdopen(to, "re");
	if (stream) {
		rewind(stream);
		item_writer_read(manifest, stream);
		fclose(stream);
	}
	return r;
}

/* Reads all sources. A source that crashes the child is left out, and a new child reads the rest.
 */
static int read_sources(struct manifest *manifest, const struct digest_options *o,
			struct progress *progress, struct err *err)
{
	uint64_t until = isfinite(o->limit_s)
				 ? clock_monotonic_ns() + (uint64_t)(o->limit_s * NS_PER_S)
				 : UINT64_MAX;
	int status = 0, r = 0;

	while (progress->at < o->count && r != -ETIME) {
		AUTO_FREE char *why = NULL;

		r = run_child(manifest, o, progress, until, &status, err);
		if (r < 0 && r != -ETIME)
			return r == -EINTR ? err_set(err, EINTR, "interrupted") : r;
		why = WIFSIGNALED(status)
			      ? xprintf("reading it crashed (%s)", strsignal(WTERMSIG(status)))
			      : xstrdup("reading it failed");
		if (r >= 0 && progress->at < o->count)
			add_unread(manifest, &o->sources[progress->at++], why);
	}
	for (; progress->at < o->count; progress->at++)
		add_unread(manifest, &o->sources[progress->at], "reading it takes too long");
	return 0;
}

int digest_files(struct manifest *manifest, const struct digest_options *options, struct err *err)
{
	struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (progress == MAP_FAILED)
		return err_set(err, errno, "cannot share memory: %s", strerror(errno));
	r = read_sources(manifest, options, progress, err);
	munmap(progress, sizeof(*progress));
	manifest_sort(manifest);
	return r;
}
