/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/striping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "contract/striping.h"

static bool read_lustre(struct striping *striping, const char *path)
{
	/* As many as a file may have: the attribute cannot be read in part. */
	static const size_t bytes = 65536;
	AUTO_FREE struct lustre_stripes *stripes = xcalloc(1, bytes);
	ssize_t n = getxattr(path, LUSTRE_STRIPES, stripes, bytes);

	if (n < (ssize_t)sizeof(*stripes) ||
	    (stripes->magic != LUSTRE_STRIPES_1 && stripes->magic != LUSTRE_STRIPES_3))
		return false;
	striping->count = stripes->count;
	striping->unit = stripes->size;
	return true;
}

static uint64_t read_ceph_number(const char *text, const char *field)
{
	const char *at = strstr(text, field);

	return at ? strtoull(at + strlen(field), NULL, 10) : 0;
}

/*
 * The units of `count` objects take turns until this set of objects is full; then the next one
 * follows. Of the last one, there are only as many objects as there are units.
 */
static uint64_t count_ceph_objects(uint64_t size, uint64_t unit, uint64_t count, uint64_t set)
{
	uint64_t rest = (size % set + unit - 1) / unit;
	uint64_t objects = size / set * count + (rest < count ? rest : count);

	return objects ? objects : 1;
}

static void read_ceph_pool(struct striping *striping, const char *text)
{
	const char *at = strstr(text, "pool=");
	size_t n;

	if (!at)
		return;
	at += strlen("pool=");
	n = strcspn(at, " ");
	if (n < sizeof(striping->pool))
		memcpy(striping->pool, at, n);
}

static bool read_ceph(struct striping *striping, const char *path, uint64_t size, uint64_t inode)
{
	char text[256];
	ssize_t n = getxattr(path, CEPH_LAYOUT, text, sizeof(text) - 1);
	uint64_t unit, count, object, set;

	text[n > 0 ? n : 0] = 0;
	unit = read_ceph_number(text, "stripe_unit=");
	count = read_ceph_number(text, "stripe_count=");
	object = read_ceph_number(text, "object_size=");
	if (!unit || __builtin_mul_overflow(object, count, &set) || !set)
		return false;
	striping->count = count_ceph_objects(size, unit, count, set);
	striping->unit = unit;
	striping->inode = inode;
	striping->stripe_count = count;
	striping->object_bytes = object;
	read_ceph_pool(striping, text);
	if (size > set) {
		striping->set_count = count;
		striping->set_bytes = set;
	}
	return true;
}

bool striping_inherited(struct striping *striping, const char *directory)
{
	/* What Ceph uses if no directory has a layout. */
	struct striping found = { .filesystem = filesystem_of(directory),
				  .count = 1,
				  .unit = 4 << 20 };
	AUTO_FREE char *path = realpath(directory, NULL);
	char text[256], *slash;

	if (!path || found.filesystem != FILESYSTEM_CEPH)
		return false;
	for (;; *slash = 0) {
		ssize_t n = getxattr(path, "ceph.dir.layout", text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = 0;
		if (n > 0) {
			found.unit = read_ceph_number(text, "stripe_unit=");
			found.count = read_ceph_number(text, "stripe_count=");
			break;
		}
		slash = strrchr(path, '/');
		/* Directories of other file systems are above the root of this one. */
		if ((n < 0 && errno == EOPNOTSUPP) || !slash || slash == path)
			break;
	}
	*striping = found;
	return found.unit && found.count;
}

static bool read_beegfs(struct striping *striping, const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct beegfs_stripes stripes = { 0 };

	if (fd < 0 || ioctl(fd, BEEGFS_STRIPES, &stripes) != 0)
		return false;
	striping->count = stripes.targets;
	striping->unit = stripes.chunk;
	return true;
}

bool striping_read(struct striping *striping, const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	*striping = (struct striping){ .filesystem = filesystem_of(path) };
	switch (striping->filesystem) {
	case FILESYSTEM_LUSTRE:
		return read_lustre(striping, path);
	case FILESYSTEM_CEPH:
		return read_ceph(striping, path, (uint64_t)st.st_size, st.st_ino);
	case FILESYSTEM_BEEGFS:
		return read_beegfs(striping, path);
	default:
		return false;
	}
}
