/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/trusted.h"

static struct ledger_sizes *current(const struct ledger *l)
{
	return &l->page->sizes[atomic_load(&l->page->generation) % 2];
}

static int map_page(struct ledger *l, int fd, const char *path, struct err *err)
{
	struct ledger_page *page;
	struct stat st;
	int code = 0;

	if (fstat(fd, &st) != 0)
		code = errno;
	else if (st.st_size < (off_t)sizeof(*page))
		code = posix_fallocate(fd, 0, sizeof(*page));
	if (code)
		return err_set(err, code, "%s: %s", path, strerror(code));
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return err_set(err, errno, "%s: cannot map: %s", path, strerror(errno));
	if (page->magic && page->magic != LEDGER_MAGIC) {
		munmap(page, sizeof(*page));
		return err_set(err, EINVAL, "%s: not a ledger; remove it", path);
	}
	page->magic = LEDGER_MAGIC;
	l->page = page;
	return atomic_load(&page->generation) ? 1 : 0;
}

int ledger_open(struct ledger *l, const char *path, struct err *err)
{
	int fd = trusted_open_file(AT_FDCWD, path, O_RDWR, TRUSTED_PRIVATE, NULL), r;

	*l = (struct ledger){ .fd = -1 };
	if (fd == -ENOENT)
		fd = trusted_create_file(AT_FDCWD, path, err);
	if (fd < 0)
		return err_set(err, -fd, "%s: %s", path, strerror(-fd));
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		r = err_set(err, EBUSY, "%s: another collector has this run", path);
	else
		r = map_page(l, fd, path, err);
	if (r < 0)
		close(fd);
	else
		l->fd = fd;
	return r;
}

void ledger_close(struct ledger *l)
{
	if (!l->page)
		return;
	munmap(l->page, sizeof(*l->page));
	close(l->fd);
	*l = (struct ledger){ .fd = -1 };
}

uint64_t ledger_valid_bytes(const struct ledger *l)
{
	const struct ledger_sizes *sizes = current(l);

	return atomic_load(&l->page->state) == LEDGER_WRITING ? sizes->before : sizes->after;
}

void ledger_begin(struct ledger *l, uint64_t until)
{
	current(l)->before = current(l)->after;
	l->page->until = until;
	atomic_store(&l->page->state, LEDGER_WRITING);
}

void ledger_written(struct ledger *l, uint64_t bytes)
{
	current(l)->after = bytes;
	atomic_store(&l->page->state, LEDGER_WRITTEN);
}

void ledger_consumed(struct ledger *l)
{
	atomic_store(&l->page->state, LEDGER_IDLE);
}

void ledger_extend(struct ledger *l, uint64_t bytes)
{
	current(l)->after = bytes;
}

void ledger_replace(struct ledger *l, uint64_t bytes)
{
	struct ledger_page *page = l->page;
	uint32_t next = atomic_load(&page->generation) + 1;

	page->sizes[next % 2] = (struct ledger_sizes){ bytes, bytes };
	if (atomic_load(&page->state) == LEDGER_WRITTEN && page->until > page->written_until)
		page->written_until = page->until;
	/* A death between the two stores: the state of the old trace was IDLE, then the new one is
	 * valid, too, because both of its sizes are. */
	atomic_store(&page->generation, next);
	atomic_store(&page->state, LEDGER_IDLE);
}
