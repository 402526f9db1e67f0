/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/policy_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "contract/policy.h"

#define SHARED_MODE (S_ISVTX | S_IRWXU | S_IWGRP | S_IXGRP | S_IWOTH | S_IXOTH)
#define ALL_MODES 07777
#define PAGE_MODE (S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH)

static int set_path(char *to, size_t bytes, const char *path, struct err *err)
{
	if (path[0] != '/')
		return err_set(err, EINVAL, "%s: must be an absolute path", path);
	if (strlen(path) >= bytes)
		return err_set(err, ENAMETOOLONG, "%s: a path of more than %zu characters", path,
			       bytes - 1);
	memcpy(to, path, strlen(path) + 1);
	return 0;
}

int policy_page_init(struct policy *page, const char *socket, const char *spools, struct err *err)
{
	int r;

	memset(page, 0, sizeof(*page));
	page->magic = POLICY_MAGIC;
	page->version = POLICY_VERSION;
	page->bytes = sizeof(*page);
	page->group = POLICY_NOBODY;
	r = set_path(page->socket, sizeof(page->socket), socket, err);
	return r < 0 ? r : set_path(page->spools, sizeof(page->spools), spools, err);
}

int policy_page_prepare(const char *spools, uint32_t group, struct err *err)
{
	mode_t mode = SHARED_MODE | (group == POLICY_NOBODY ? 0 : S_ISGID);
	AUTO_CLOSE int fd = -1;
	struct stat st;

	if (mkdir(spools, S_IRWXU) != 0 && errno != EEXIST)
		return err_set(err, errno, "%s: %s", spools, strerror(errno));
	fd = open(spools, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set(err, errno, "%s: %s", spools, strerror(errno));
	if (st.st_uid != geteuid())
		return err_set(err, EPERM, "%s: belongs to user %u; remove it or set site.spools",
			       spools, (unsigned)st.st_uid);
	if (group != POLICY_NOBODY && st.st_gid != group && fchown(fd, (uid_t)-1, group) != 0)
		return err_set(err, errno, "%s: cannot give it to group %u: %s", spools, group,
			       strerror(errno));
	if (fstat(fd, &st) == 0 && (st.st_mode & ALL_MODES) == mode)
		return 0;
	/* After the change of the group, which clears the bit. A sandbox may prohibit the bit. */
	if (fchmod(fd, mode) != 0)
		return err_set(err, errno,
			       "%s: cannot change its mode to %o: %s; if the service manager "
			       "prohibits it, create the directory before (systemd-tmpfiles "
			       "--create)",
			       spools, (unsigned)mode, strerror(errno));
	return 0;
}

/* Maps the page that is in use; NULL if there is none of this version. */
static struct policy *map_current(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct policy *page;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_size < (off_t)sizeof(*page))
		return NULL;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (policy_is_valid(page, (uint64_t)st.st_size))
		return page;
	munmap(page, sizeof(*page));
	return NULL;
}

static int write_page(const char *path, const struct policy *page, struct err *err)
{
	AUTO_CLOSE int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	int r;

	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	r = file_write_fd(fd, page, sizeof(*page));
	if (r < 0)
		return err_set(err, -r, "%s: %s", path, strerror(-r));
	if (fchmod(fd, PAGE_MODE) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

/* A page after which processes hand over again, whatever they have seen before. */
static void number_page(struct policy *page, const struct policy *current)
{
	uint32_t epoch = 0;

	if (current) {
		epoch = atomic_load(&current->epoch) + 1;
		page->generation = current->generation + 1;
	} else if (getrandom(&epoch, sizeof(epoch), 0) != (ssize_t)sizeof(epoch)) {
		epoch = (uint32_t)getpid();
	}
	atomic_store(&page->epoch, epoch);
	atomic_store(&page->superseded, 0);
}

int policy_page_publish(const char *site, struct policy *page, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s/" POLICY_NAME, site);
	struct policy *current = map_current(path);
	struct file_draft draft;
	int r;

	number_page(page, current);
	file_draft_init(&draft, path);
	r = write_page(draft.temporary, page, err);
	if (r >= 0)
		r = file_draft_commit(&draft, err);
	file_draft_discard(&draft);
	if (current) {
		if (r >= 0)
			atomic_store(&current->superseded, 1);
		munmap(current, sizeof(*current));
	}
	return r;
}
