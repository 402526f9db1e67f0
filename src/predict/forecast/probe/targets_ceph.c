/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Targets on CephFS: pools, with an optional object size. Extended attributes set and report the
 * layout of an empty file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "predict/forecast/probe/targets.h"

#define POOL_KEY "ceph.file.layout.pool"
#define OBJECT_KEY "ceph.file.layout.object_size"
#define UNIT_KEY "ceph.file.layout.stripe_unit"
#define CEPH_STEP 65536 /* object sizes must be multiples of it */

static int ceph_set_option(struct target *target, const char *key, const char *value,
			   struct err *err)
{
	if (strcmp(key, "pool") == 0 && !target->pool) {
		target->pool = xstrdup(value);
		return 0;
	}
	if (strcmp(key, "object_size") != 0)
		return -ENOENT;
	if (unit_parse_bytes(value, &target->object_bytes) < 0 || !target->object_bytes ||
	    target->object_bytes % CEPH_STEP)
		return err_set(err, EINVAL,
			       "invalid object_size \"%s\": expected a multiple of 64K", value);
	return 0;
}

static int ceph_finish(struct target *target, struct err *err)
{
	if (!target->pool)
		return err_set(err, EINVAL, "missing pool: expected %s", target->ops->options);
	if (!*target->name)
		snprintf(target->name, sizeof(target->name), "%s", target->pool);
	return 0;
}

static int set_layout(int fd, const char *path, const char *key, const char *value, struct err *err)
{
	if (fsetxattr(fd, key, value, strlen(value), 0) == 0)
		return 0;
	return err_set(err, errno, "%s: cannot set %s to %s: %s", path, key, value,
		       strerror(errno));
}

/* An object must hold whole stripe units at every step, so start with the smallest unit. */
static int set_object_size(int fd, const struct target *target, struct err *err)
{
	char bytes[24], step[24];
	int r;

	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)target->object_bytes);
	snprintf(step, sizeof(step), "%d", CEPH_STEP);
	r = set_layout(fd, target->path, UNIT_KEY, step, err);
	if (r >= 0)
		r = set_layout(fd, target->path, OBJECT_KEY, bytes, err);
	return r < 0 ? r : set_layout(fd, target->path, UNIT_KEY, bytes, err);
}

static int ceph_make(const struct target *target, const char *path, size_t turn, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), r;

	(void)turn;
	if (fd < 0)
		return err_set(err, errno, "%s: %s", target->path, strerror(errno));
	r = set_layout(fd, target->path, POOL_KEY, target->pool, err);
	if (r >= 0 && target->object_bytes)
		r = set_object_size(fd, target, err);
	/* Otherwise, the first write would wait until the server writes its journal, up to 5 s
	 * later. */
	if (r >= 0 && fsync(fd) < 0)
		r = err_set(err, errno, "%s: %s", target->path, strerror(errno));
	if (r >= 0)
		return fd;
	close(fd);
	unlink(path);
	return r;
}

static int ceph_verify(const struct target *target, int fd, size_t turn, struct err *err)
{
	char pool[CHRONICLE_NAME];
	ssize_t n = fgetxattr(fd, POOL_KEY, pool, sizeof(pool) - 1);

	(void)turn;
	if (n <= 0)
		return -ENODATA;
	pool[n] = 0;
	if (strcmp(pool, target->pool) == 0)
		return 0;
	return err_set(err, EXDEV, "%s: the file for target \"%s\" is in pool %s", target->path,
		       target->name, pool);
}

/* The objects of one file always have the same locations in the pool, so use new files. */
static bool ceph_is_reusable(const struct target *target)
{
	(void)target;
	return false;
}

const struct target_ops target_ceph = {
	.kind = "ceph",
	.options = "pool=NAME and object_size=SIZE",
	.set_option = ceph_set_option,
	.finish = ceph_finish,
	.make = ceph_make,
	.verify = ceph_verify,
	.is_reusable = ceph_is_reusable,
};
