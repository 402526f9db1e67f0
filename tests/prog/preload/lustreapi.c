/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulates Lustre and CephFS, which the test system lacks: as liblustreapi, and, preloaded, by
 * replacing those calls by which the guest (with syscall()) and probes ask the kernel. Paths below
 * STANDIN_ROOT are on a file system with the magic STANDIN_MAGIC; operations on files are logged to
 * STANDIN_LOG. If STANDIN_OST is set, all objects are on that OST, whatever is requested.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static int level = 4;
#define OBJECTS 64

/* The stripes of a file in the format of lustre.lov: the head, and an object per stripe. */
static struct stripes {
	uint32_t magic, pattern;
	uint64_t object[2];
	uint32_t size;
	uint16_t count, first;
	struct {
		uint64_t id[2];
		uint32_t generation, target;
	} objects[OBJECTS];
} stripes;
static char pool[64]; /* "": the layout of the directory, which is never requested */
static uint64_t unit = 4194304, object = 4194304;

static void note(const char *format, ...)
{
	const char *path = getenv("STANDIN_LOG");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
	va_list ap;

	if (fd < 0)
		return;
	va_start(ap, format);
	vdprintf(fd, format, ap);
	va_end(ap);
	close(fd);
}

int llapi_msg_get_level(void)
{
	return level;
}

void llapi_msg_set_level(int new_level)
{
	level = new_level;
}

static void object_put(struct stripes *to, int stripe, uint32_t target)
{
	const char *elsewhere = getenv("STANDIN_OST");

	if (stripe < OBJECTS)
		to->objects[stripe].target = elsewhere ? (uint32_t)atoi(elsewhere) : target;
}

/* Like the real function, it opens the file itself and prints errors. */
int llapi_file_create(const char *name, unsigned long long size, int offset, int count, int pattern)
{
	const char *slash = strrchr(name, '/');
	int fd;

	if (getenv("STANDIN_FAILS")) {
		if (level)
			fprintf(stderr, "llapi: error\n");
		return -EINVAL;
	}
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_ASYNC, 0644);
	if (fd < 0)
		return -errno;
	close(fd);
	stripes.magic = 0x0BD10BD0;
	stripes.size = (uint32_t)size;
	stripes.count = (uint16_t)count;
	for (int i = 0; i < count; i++)
		object_put(&stripes, i, (uint32_t)(offset + i));
	note("create %s %llu %d %d %d\n", slash ? slash + 1 : name, size, offset, count, pattern);
	return 0;
}

/* Files with given targets, as since Lustre 2.7. One layout at a time is enough. */
static struct stripes wished;

void *llapi_layout_alloc(void)
{
	wished = (struct stripes){ .magic = 0x0BD10BD0, .size = 1048576 };
	return &wished;
}

void llapi_layout_free(void *layout)
{
	if (layout != &wished)
		note("illegal free\n");
}

int llapi_layout_stripe_count_set(void *layout, uint64_t count)
{
	((struct stripes *)layout)->count = (uint16_t)count;
	return count && count <= OBJECTS ? 0 : -1;
}

int llapi_layout_stripe_size_set(void *layout, uint64_t bytes)
{
	((struct stripes *)layout)->size = (uint32_t)bytes;
	return bytes && bytes % 65536 == 0 ? 0 : -1;
}

/* Like the real function, it rejects unknown targets when the file is created. */
int llapi_layout_ost_index_set(void *layout, int stripe, uint64_t target)
{
	struct stripes *to = layout;

	if (stripe < 0 || stripe >= to->count)
		return -1;
	object_put(to, stripe, (uint32_t)target);
	return 0;
}

int llapi_layout_file_create(const char *path, int flags, int mode, const void *layout)
{
	const char *slash = strrchr(path, '/');
	const struct stripes *from = layout;
	char list[OBJECTS * 12] = "";
	int used = 0, fd = -1;

	for (int i = 0; i < from->count; i++)
		if (from->objects[i].target >= OBJECTS) {
			if (level)
				fprintf(stderr, "llapi: no such target\n");
			errno = EINVAL;
			return -1;
		}
	fd = open(path, flags | O_CREAT | O_EXCL | O_NOCTTY | O_ASYNC, mode);
	if (fd < 0)
		return -1;
	stripes = *from;
	/* A line is one write, because several processes share the log. */
	for (int i = 0; i < stripes.count; i++)
		used += snprintf(list + used, sizeof(list) - (size_t)used, " %u",
				 stripes.objects[i].target);
	note("layout %s %u%s\n", slash ? slash + 1 : path, stripes.size, list);
	return fd;
}

static long fsetxattr_stand(const char *name, const char *value, size_t bytes)
{
	const char *field = name + strlen("ceph.file.layout.");
	uint64_t number = strtoull(value, NULL, 10);
	uint64_t *of = !strcmp(field, "stripe_unit")   ? &unit
		       : !strcmp(field, "object_size") ? &object
						       : NULL;
	uint64_t was = of ? *of : 0;

	if (!strcmp(field, "pool"))
		snprintf(pool, sizeof(pool), "%.*s", (int)bytes, value);
	if (of)
		*of = number;
	if (object % unit) {
		*of = was;
		note("illegal %s %.*s\n", field, (int)bytes, value);
		errno = EINVAL;
		return -1;
	}
	note("set %s %.*s\n", field, (int)bytes, value);
	return 0;
}

static long fgetxattr_stand(const char *name, char *value, size_t bytes)
{
	size_t used = offsetof(struct stripes, objects[stripes.count]);

	if (!strcmp(name, "lustre.lov") && stripes.magic && bytes >= used) {
		memcpy(value, &stripes, used);
		return (long)used;
	}
	if (pool[0] && !strcmp(name, "ceph.file.layout.pool"))
		return snprintf(value, bytes, "%s", pool);
	if (!strcmp(name, "ceph.file.layout.stripe_unit"))
		return snprintf(value, bytes, "%llu", (unsigned long long)unit);
	if (!strcmp(name, "ceph.file.layout.object_size"))
		return snprintf(value, bytes, "%llu", (unsigned long long)object);
	errno = ENODATA;
	return -1;
}

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	const char *root = getenv("STANDIN_ROOT"), *magic = getenv("STANDIN_MAGIC");
	va_list ap;
	long a[6], result;

	if (!real)
		real = (long (*)(long, ...))(uintptr_t)dlsym(RTLD_NEXT, "syscall");
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (magic && number == SYS_fsetxattr)
		return fsetxattr_stand((const char *)a[1], (const char *)a[2], (size_t)a[3]);
	if (magic && number == SYS_fgetxattr)
		return fgetxattr_stand((const char *)a[1], (char *)a[2], (size_t)a[3]);
	result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (!result && number == SYS_statfs && root && magic &&
	    !strncmp((const char *)a[0], root, strlen(root)))
		((struct statfs *)a[1])->f_type =
			(__typeof__(((struct statfs *)a[1])->f_type))strtoull(magic, NULL, 0);
	return result;
}

int fsetxattr(int fd, const char *name, const void *value, size_t bytes, int flags)
{
	(void)fd;
	(void)flags;
	return (int)fsetxattr_stand(name, value, bytes);
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t bytes)
{
	(void)fd;
	return fgetxattr_stand(name, value, bytes);
}
