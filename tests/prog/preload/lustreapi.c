/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulates Lustre, CephFS and BeeGFS, which the test system lacks: as liblustreapi, and,
 * preloaded, by replacing those calls by which the guest (with syscall()) and probes ask the
 * kernel. Paths below STANDIN_ROOT are on a file system with the magic STANDIN_MAGIC; operations on
 * files are logged to STANDIN_LOG. If STANDIN_OST is set, all objects are on that OST, whatever is
 * requested.
 *
 * Stripes follow the rules of liblustreapi and of the servers. As with these, a request that fails
 * leaves a file without stripes behind. With STANDIN_OVERSTRIPING=library or =servers these are
 * older than 2.13.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static int level = 4;
#define TARGETS 64
#define STRIPES 2000
#define DELAYED (O_NOCTTY | O_ASYNC) /* the open sets no stripes */

/* The stripes of a file in the format of lustre.lov: the head, and an object per stripe. */
struct stripes {
	uint32_t magic, pattern;
	uint64_t object[2];
	uint32_t size;
	uint16_t count, first;
	struct {
		uint64_t id[2];
		uint32_t generation, target;
	} objects[STRIPES];
};

/* The files with stripes. */
static struct {
	ino_t file;
	struct stripes stripes;
} striped[TARGETS];

static struct stripes *stripes_of(int fd)
{
	struct stat st = { 0 };

	fstat(fd, &st);
	for (int i = 0; i < TARGETS; i++)
		if (striped[i].file == st.st_ino)
			return &striped[i].stripes;
	return NULL;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* Opens a file without setting stripes. A new one may have the number of one that was removed. */
static int open_delayed(const char *path, int flags, int mode)
{
	bool is_new = access(path, F_OK) != 0;
	int fd = open(path, flags | DELAYED, mode);
	struct stat st = { 0 };

	if (fd >= 0 && is_new && fstat(fd, &st) == 0)
		for (int i = 0; i < TARGETS; i++)
			if (striped[i].file == st.st_ino)
				striped[i].file = 0;
	return fd;
}

/* A file gets stripes once. */
static int stripes_set(int fd, const struct stripes *stripes)
{
	static unsigned count;
	struct stat st = { 0 };
	unsigned i = count++ % TARGETS; /* the oldest file is forgotten */

	if (stripes_of(fd))
		return fail(EEXIST);
	fstat(fd, &st);
	striped[i].file = st.st_ino;
	striped[i].stripes = *stripes;
	return 0;
}

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

static uint32_t place(uint32_t target)
{
	const char *elsewhere = getenv("STANDIN_OST");

	return elsewhere ? (uint32_t)atoi(elsewhere) : target;
}

/* Like the real function, it opens the file itself, which may exist, and prints errors. */
int llapi_file_create(const char *name, unsigned long long size, int offset, int count, int pattern)
{
	const char *slash = strrchr(name, '/');
	struct stripes made = { .magic = 0x0BD10BD0, .size = (uint32_t)size };
	int fd, result;

	if (getenv("STANDIN_FAILS")) {
		if (level)
			fprintf(stderr, "llapi: error\n");
		return -EINVAL;
	}
	fd = open_delayed(name, O_WRONLY | O_CREAT, 0644);
	if (fd < 0)
		return -errno;
	made.count = (uint16_t)(count > 0 ? count : 1);
	for (int i = 0; i < made.count; i++)
		made.objects[i].target = place((uint32_t)(offset + i));
	result = stripes_set(fd, &made) < 0 ? -errno : 0;
	close(fd);
	if (!result)
		note("create %s %llu %d %d %d\n", slash ? slash + 1 : name, size, offset, count,
		     pattern);
	return result;
}

/* Files with given targets, as since Lustre 2.9. One layout at a time is enough. */
#define OVERSTRIPING 4u
#define UNSET UINT32_MAX
static struct stripes wished;

void *llapi_layout_alloc(void)
{
	wished = (struct stripes){ .magic = 0x0BD10BD0, .size = 1048576 };
	for (int i = 0; i < STRIPES; i++)
		wished.objects[i].target = UNSET;
	return &wished;
}

void llapi_layout_free(void *layout)
{
	if (layout != &wished)
		note("illegal free\n");
}

int llapi_layout_stripe_count_set(void *layout, uint64_t count)
{
	if (!count || count > STRIPES)
		return fail(EINVAL);
	((struct stripes *)layout)->count = (uint16_t)count;
	return 0;
}

int llapi_layout_stripe_size_set(void *layout, uint64_t bytes)
{
	if (!bytes || bytes % 65536)
		return fail(EINVAL);
	((struct stripes *)layout)->size = (uint32_t)bytes;
	return 0;
}

int llapi_layout_pattern_set(void *layout, uint64_t pattern)
{
	const char *lacks = getenv("STANDIN_OVERSTRIPING");

	if (pattern && (pattern != OVERSTRIPING || (lacks && !strcmp(lacks, "library"))))
		return fail(EOPNOTSUPP);
	((struct stripes *)layout)->pattern = (uint32_t)pattern;
	return 0;
}

int llapi_layout_ost_index_set(void *layout, int stripe, uint64_t target)
{
	struct stripes *to = layout;

	if (stripe < 0 || stripe >= STRIPES || target >= UNSET)
		return fail(EINVAL);
	to->objects[stripe].target = (uint32_t)target;
	if (to->count <= stripe)
		to->count = (uint16_t)(stripe + 1);
	return 0;
}

/* The checks of the library and of the servers when stripes are set. */
static bool are_valid(const struct stripes *stripes)
{
	const char *lacks = getenv("STANDIN_OVERSTRIPING");
	bool seen[TARGETS] = { false };

	if (stripes->pattern == OVERSTRIPING && lacks && !strcmp(lacks, "servers"))
		return false;
	for (int i = 0; i < STRIPES; i++) {
		uint32_t target = stripes->objects[i].target;

		/* All stripes must have a target, and only these. */
		if ((target == UNSET) != (i >= stripes->count))
			return false;
		if (target == UNSET)
			continue;
		if (target >= TARGETS || (seen[target] && stripes->pattern != OVERSTRIPING))
			return false;
		seen[target] = true;
	}
	return true;
}

int llapi_layout_file_open(const char *path, int flags, int mode, const void *layout)
{
	/* The library delays the stripes of files that it creates. */
	bool is_delayed = flags & O_CREAT || (flags & DELAYED) == DELAYED;
	const char *slash = strrchr(path, '/');
	struct stripes made = *(const struct stripes *)layout;
	char list[STRIPES * 6] = "";
	int used = 0, fd = open_delayed(path, flags, mode);

	if (fd < 0)
		return -1;
	/* A line is one write, because several processes share the log. */
	for (int i = 0; i < made.count; i++) {
		used += snprintf(list + used, sizeof(list) - (size_t)used, " %u",
				 made.objects[i].target);
		made.objects[i].target = place(made.objects[i].target);
	}
	errno = EINVAL;
	if (!is_delayed || !are_valid(layout) || stripes_set(fd, &made) < 0) {
		int error = errno;

		if (level)
			fprintf(stderr, "llapi: cannot set stripes\n");
		close(fd);
		return fail(error);
	}
	note("layout %s %u%s\n", slash ? slash + 1 : path, made.size, list);
	return fd;
}

int llapi_layout_file_create(const char *path, int flags, int mode, const void *layout)
{
	return llapi_layout_file_open(path, flags | O_CREAT | O_EXCL, mode, layout);
}

/* The layout of a file of CephFS, or the stripes of one of BeeGFS (unit and count). */
struct layout {
	ino_t file;
	uint64_t unit, count, object;
	char pool[64]; /* "": that of the directory, which is never requested */
};

static struct layout *layout_of(int fd)
{
	static _Thread_local struct layout layouts[TARGETS];
	struct layout *layout = layouts;
	struct stat st = { .st_ino = 1 };

	fstat(fd, &st);
	while (layout->file && layout->file != st.st_ino && layout < layouts + TARGETS - 1)
		layout++;
	if (layout->file != st.st_ino)
		*layout = (struct layout){
			.file = st.st_ino, .unit = 4194304, .count = 1, .object = 4194304
		};
	return layout;
}

/* Sets "FIELD=VALUE FIELD=VALUE"; false: there is an unknown field. */
static bool set_fields(struct layout *layout, char *text)
{
	for (char *field = strtok(text, " "); field; field = strtok(NULL, " ")) {
		char *value = strchr(field, '=');
		uint64_t number = value ? strtoull(value + 1, NULL, 10) : 0;

		if (value && !strncmp(field, "pool=", 5))
			snprintf(layout->pool, sizeof(layout->pool), "%s", value + 1);
		else if (!strncmp(field, "stripe_unit=", 12))
			layout->unit = number;
		else if (!strncmp(field, "stripe_count=", 13))
			layout->count = number;
		else if (!strncmp(field, "object_size=", 12))
			layout->object = number;
		else
			return false;
	}
	return true;
}

/* As the server: all fields or one of them, of empty files, and no invalid sizes. */
static long fsetxattr_stand(int fd, const char *name, const char *value, size_t bytes)
{
	const char *field = name + strlen("ceph.file.layout");
	char text[512], shown[512];
	struct layout layout = *layout_of(fd);
	struct stat st;

	snprintf(text, sizeof(text), "%s%s%.*s", *field ? field + 1 : "", *field ? "=" : "",
		 (int)bytes, value);
	snprintf(shown, sizeof(shown), "%s%s%.*s", *field ? field + 1 : "", *field ? " " : "",
		 (int)bytes, value);
	errno = EINVAL;
	if (fstat(fd, &st) == 0 && st.st_size) {
		errno = ENOTEMPTY;
		return -1;
	}
	if (!set_fields(&layout, text) || !layout.unit || layout.unit % 65536 || !layout.count ||
	    layout.object % layout.unit) {
		note("illegal %s\n", shown);
		return -1;
	}
	*layout_of(fd) = layout;
	note("set %s\n", shown);
	return 0;
}

static long fgetxattr_stand(int fd, const char *name, char *value, size_t bytes)
{
	const struct layout *layout = layout_of(fd);
	const struct stripes *stripes = stripes_of(fd);

	if (!strcmp(name, "lustre.lov") && stripes) {
		size_t used = offsetof(struct stripes, objects[stripes->count]);

		if (bytes < used)
			return fail(ERANGE);
		memcpy(value, stripes, used);
		return (long)used;
	}
	if (!strcmp(name, "ceph.file.layout"))
		return snprintf(value, bytes,
				"stripe_unit=%llu stripe_count=%llu object_size=%llu%s%s",
				(unsigned long long)layout->unit, (unsigned long long)layout->count,
				(unsigned long long)layout->object, layout->pool[0] ? " pool=" : "",
				layout->pool);
	if (layout->pool[0] && !strcmp(name, "ceph.file.layout.pool"))
		return snprintf(value, bytes, "%s", layout->pool);
	errno = ENODATA;
	return -1;
}

/* Directories have no layouts of their own; STANDIN_FUSE: they are on CephFS by FUSE. */
static long getxattr_stand(const char *name, char *value, size_t bytes)
{
	if (!strcmp(name, "ceph.dir.entries") && getenv("STANDIN_FUSE"))
		return snprintf(value, bytes, "7");
	errno = ENODATA;
	return -1;
}

/* BeeGFS: the numbers and structs of its client. */
struct beegfs_hints {
	const char *name;
	unsigned mode, targets, chunk;
};

static long ioctl_stand(int fd, unsigned long request, void *argument)
{
	const struct beegfs_hints *hints = argument;
	struct {
		unsigned pattern, chunk;
		uint16_t targets;
	} *found = argument;
	struct layout *layout;
	int file;

	if (request == 0x800c6619) {
		found->targets = (uint16_t)layout_of(fd)->count;
		found->chunk = (unsigned)layout_of(fd)->unit;
		return 0;
	}
	if (request != 0x4018661b || (hints->chunk && hints->chunk & (hints->chunk - 1))) {
		errno = request == 0x4018661b ? EINVAL : ENOTTY;
		return -1;
	}
	file = openat(fd, hints->name, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY | O_ASYNC,
		      hints->mode);
	if (file < 0)
		return -1;
	layout = layout_of(file);
	layout->count = hints->targets ? hints->targets : layout->count;
	layout->unit = hints->chunk ? hints->chunk : layout->unit;
	close(file);
	note("beegfs %s %u %u\n", hints->name, hints->targets, hints->chunk);
	return 0;
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
		return fsetxattr_stand((int)a[0], (const char *)a[1], (const char *)a[2],
				       (size_t)a[3]);
	if (magic && number == SYS_fgetxattr)
		return fgetxattr_stand((int)a[0], (const char *)a[1], (char *)a[2], (size_t)a[3]);
	if (magic && number == SYS_getxattr)
		return getxattr_stand((const char *)a[1], (char *)a[2], (size_t)a[3]);
	if (magic && number == SYS_ioctl)
		return ioctl_stand((int)a[0], (unsigned long)a[1], (void *)a[2]);
	if (magic && number == SYS_fsync)
		note("flush\n");
	result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (!result && number == SYS_statfs && root && magic &&
	    !strncmp((const char *)a[0], root, strlen(root)))
		((struct statfs *)a[1])->f_type =
			(__typeof__(((struct statfs *)a[1])->f_type))strtoull(magic, NULL, 0);
	return result;
}

int fsetxattr(int fd, const char *name, const void *value, size_t bytes, int flags)
{
	(void)flags;
	return (int)fsetxattr_stand(fd, name, value, bytes);
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t bytes)
{
	return fgetxattr_stand(fd, name, value, bytes);
}
