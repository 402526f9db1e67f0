/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/spool_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"

/* "BASE/sluice-UID" */
static char *own_path(const char *base)
{
	AUTO_FREE char *name = xprintf("sluice-%u", (unsigned)geteuid());

	return place_join(base, name);
}

/* The directory in which spool directories are created. */
static char *find_parent(const char *base, bool create)
{
	AUTO_FREE char *own = own_path(base);
	int fd;

	if (trusted_is_own_directory(base))
		return xstrdup(base);
	if (create)
		mkdir(own, TRUSTED_DIRECTORY_MODE);
	fd = trusted_open_directory(AT_FDCWD, own, TRUSTED_PRIVATE, NULL);
	if (fd >= 0)
		close(fd);
	return xstrdup(fd >= 0 || (fd == -ENOENT && !create) ? own : base);
}

char *spool_directory_create(const char *base, struct err *err)
{
	AUTO_FREE char *parent = NULL;
	char *path;

	if (base[0] != '/') {
		err_set(err, EINVAL, "%s: the spool directory must be an absolute path", base);
		return NULL;
	}
	parent = find_parent(base, true);
	path = xprintf("%s/sluice-%u-XXXXXX", parent, (unsigned)geteuid());
	if (mkdtemp(path))
		return path;
	err_set(err, errno, "%s: cannot make a spool directory: %s", base, strerror(errno));
	free(path);
	return NULL;
}

char *spool_directory_of_job(const char *base, uint64_t job, bool create)
{
	AUTO_FREE char *parent = find_parent(base, create);

	return xprintf("%s/sluice-%u-job-%016" PRIx64, parent, (unsigned)geteuid(), job);
}

void spool_directory_find(const char *base, glob_t *found)
{
	AUTO_FREE char *own = own_path(base);
	const char *parents[] = { base, own };

	for (size_t i = 0; i < sizeof(parents) / sizeof(*parents); i++) {
		AUTO_FREE char *pattern =
			xprintf("%s/sluice-%u-*", parents[i], (unsigned)geteuid());

		glob(pattern, (found->gl_pathc ? GLOB_APPEND : 0) | GLOB_ONLYDIR, NULL, found);
	}
}
