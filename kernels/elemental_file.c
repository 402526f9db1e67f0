/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shared file of a storage or piece cell, and the ranks that write it.
 *
 * The file does not outlive the program: on one node its name is removed once all ranks have opened
 * it. On several nodes, where that could make it stale, it is removed at the end and by signal
 * handlers.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/elemental.h"
#include "kernels/striping.h"

#define ALIGNMENT 4096

/* For the signal handler of rank 0. */
static const char *volatile file_to_remove;
static bool file_is_guarded; /* equal on all ranks */

static void on_signal(int signal)
{
	if (file_to_remove)
		unlink(file_to_remove);
	_exit(128 + signal);
}

/* Removes the name of the file. Collective. */
static void remove_file(const struct elemental *e)
{
	if (e->kernel->rank == 0)
		unlink(e->file);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void guard_file(const struct elemental *e)
{
	file_is_guarded = true;
	if (e->kernel->rank)
		return;
	file_to_remove = e->file;
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	signal(SIGHUP, on_signal);
}

/* Pieces and windows always use the page cache, as ROMIO does. */
static bool is_direct(const struct elemental_session *s)
{
	return s->cell->cache == ELEMENTAL_BYPASSED && s->cell->kind == ELEMENTAL_STORAGE;
}

static void open_file(struct elemental_session *s, int flags, struct err *err)
{
	if (is_direct(s))
		flags |= O_DIRECT;
	s->fd = open(s->e->file, O_RDWR | O_CLOEXEC | flags, 0600);
	if (s->fd >= 0)
		return;
	if (errno == EINVAL && is_direct(s))
		err_set(err, EINVAL,
			"%s: the file system does not support bypassing the page cache (O_DIRECT)",
			s->e->file);
	else
		err_set(err, errno, "%s: %s", s->e->file, strerror(errno));
}

int elemental_session_create(struct elemental_session *s)
{
	struct err err = { 0 };

	remove_file(s->e);
	if (s->e->kernel->rank == 0)
		open_file(s, O_CREAT | O_EXCL, &err);
	if (s->fd >= 0 && (s->cell->stripes || s->cell->stripe))
		striping_set(s->fd, s->cell->stripes, s->cell->stripe, &err);
	if (kernel_agree(s->e->kernel, &err) < 0)
		return -EIO;
	if (s->e->kernel->rank)
		open_file(s, 0, &err);
	if (kernel_agree(s->e->kernel, &err) < 0)
		return -EIO;
	if (s->e->place.node_count == 1)
		remove_file(s->e);
	return 0;
}

void elemental_session_close_file(struct elemental_session *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int elemental_session_transfer(const struct elemental_session *s, bool is_read, char *data,
			       size_t bytes, off_t at, struct err *err)
{
	size_t done = 0;

	while (done < bytes) {
		off_t place = at + (off_t)done;
		ssize_t n = is_read ? pread(s->fd, data + done, bytes - done, place)
				    : pwrite(s->fd, data + done, bytes - done, place);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, errno, "%s: %s", s->e->file, strerror(errno));
		if (!n)
			return err_set(err, EIO, "%s: unexpected end of file", s->e->file);
		done += (size_t)n;
	}
	return 0;
}

/* Flushes the file to the device and drops it from the page cache, as far as possible. */
int elemental_session_drop_cache(const struct elemental_session *s)
{
	struct err err = { 0 };

	if (s->cell->cache != ELEMENTAL_WITHIN && s->mine >= 0) {
		if (fdatasync(s->fd) != 0)
			err_set(&err, errno, "%s: %s", s->e->file, strerror(errno));
		posix_fadvise(s->fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	return kernel_agree(s->e->kernel, &err);
}

static int choose_writers(struct elemental_session *s, struct err *err)
{
	const struct elemental_place *place = &s->e->place;
	uint64_t ranks = (uint64_t)s->e->kernel->ranks;

	if (s->cell->is_uniform)
		return selector_uniform(&s->writers, ranks, s->cell->writers, err);
	return selector_spread(&s->writers, place->nodes, place->sockets, ranks, s->cell->writers,
			       err);
}

static int check_cell(const struct elemental_session *s, struct err *err)
{
	if (!s->e->file)
		return err_set(err, EINVAL, "missing --file; storage benchmarks need a file");
	if (is_direct(s) && s->cell->bytes % ALIGNMENT)
		return err_set(err, EINVAL,
			       "%llu bytes: bypassing the page cache requires a multiple of %d",
			       (unsigned long long)s->cell->bytes, ALIGNMENT);
	return 0;
}

static int prepare(struct elemental_session *s, size_t bytes, struct err *err)
{
	int r = check_cell(s, err);

	if (r >= 0)
		r = choose_writers(s, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->writers.count; i++)
		if (s->writers.ranks[i] == (uint64_t)s->e->kernel->rank)
			s->mine = (int64_t)i;
	if (s->mine < 0)
		return 0;
	if (posix_memalign((void **)&s->data, ALIGNMENT, bytes) != 0) {
		s->data = NULL;
		return err_set(err, ENOMEM, "out of memory for %zu bytes", bytes);
	}
	/* Random data, so that compression and deduplication have no effect. */
	kernel_fill(s->data, bytes, (uint64_t)s->mine * bytes, s->cell->id + 1);
	return 0;
}

int elemental_session_open(struct elemental_session *session, const struct elemental *e,
			   const struct elemental_cell *cell, size_t bytes)
{
	struct err err = { 0 };
	int r;

	*session = (struct elemental_session){ .e = e, .cell = cell, .mine = -1, .fd = -1 };
	prepare(session, bytes, &err);
	r = kernel_agree(e->kernel, &err);
	if (r < 0)
		return r;
	guard_file(e);
	session->apart_s = elemental_apart_seconds(e);
	return 0;
}

void elemental_session_release(struct elemental_session *session)
{
	if (file_is_guarded)
		remove_file(session->e);
	free(session->data);
	chosen_release(&session->writers);
}
