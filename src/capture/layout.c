/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/layout.h"

#ifndef SLUICE_LINKED
#include <dlfcn.h>
#endif
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "capture/handles.h"
#include "capture/inject.h"
#include "capture/splice.h"
#include "trace/calls.h"

#define MAGIC_LUSTRE 0x0BD00BD0u
#define MAGIC_CEPH 0x00C36400u

/* Lustre's O_LOV_DELAY_CREATE: whoever opens so sets the stripes himself. */
#define DELAYS_STRIPES (O_NOCTTY | O_ASYNC)

/* liblustreapi, as far as it is there. */
static struct {
	int (*create)(const char *name, unsigned long long stripe_size, int stripe_offset,
		      int stripe_count, int stripe_pattern);
	int (*level_get)(void);
	void (*level_set)(int level); /* of messages, which it prints */
} lustre;

/* Set while liblustreapi works: it opens files, too. */
static __thread bool is_within TLS_FAST;

void layout_load(void)
{
#ifndef SLUICE_LINKED
	void *library;

	if (!rules_has(PLACE_LAYOUT) || lustre.create)
		return;
	library = dlopen("liblustreapi.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = dlopen("liblustreapi.so", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	lustre.level_get = (int (*)(void))(uintptr_t)dlsym(library, "llapi_msg_get_level");
	lustre.level_set = (void (*)(int))(uintptr_t)dlsym(library, "llapi_msg_set_level");
	lustre.create = (__typeof__(lustre.create))(uintptr_t)dlsym(library, "llapi_file_create");
#endif
}

/* Paths. */

static char *number_put(char *to, unsigned number)
{
	char digits[16];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	while (n)
		*to++ = digits[--n];
	*to = 0;
	return to;
}

/* The path with the directory before it that it starts from; false if it does not fit. */
static bool path_join(char to[RULES_PATH_BYTES], const struct layout *layout)
{
	size_t n = strnlen(layout->path, RULES_PATH_BYTES), used = 0;
	char link[64] = "/proc/self/fd/";
	long got;

	if (layout->path[0] != '/' && layout->directory != AT_FDCWD) {
		number_put(link + strlen(link), (unsigned)layout->directory);
		got = syscall(SYS_readlinkat, AT_FDCWD, link, to, RULES_PATH_BYTES - 1);
		if (got <= 0 || to[0] != '/')
			return false;
		used = (size_t)got;
		to[used++] = '/';
	}
	if (used + n >= RULES_PATH_BYTES)
		return false;
	memcpy(to + used, layout->path, n + 1);
	return true;
}

static uint32_t magic_of_parent(const char *full)
{
	char parent[RULES_PATH_BYTES];
	struct statfs fs = { 0 };
	char *slash;

	strcpy(parent, full);
	slash = strrchr(parent, '/');
	if (!slash)
		return 0;
	slash[slash == parent] = 0;
	return syscall(SYS_statfs, parent, &fs) == 0 ? (uint32_t)fs.f_type : 0;
}

static bool value_of(const char *full, const char *name, uint64_t *number)
{
	const char *value = rules_value(&rules_own, PLACE_LAYOUT, full, "", name);

	return value && rules_number(&value, number) && !*value;
}

/* Lustre. */

/* The process's mask; umask() itself would change it for a moment. */
static bool mask_read(mode_t *mask)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC), n;
	char text[1024], *at;

	if (fd < 0)
		return false;
	n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, "\nUmask:\t");
	if (!at)
		return false;
	*mask = 0;
	for (at += 8; *at >= '0' && *at <= '7'; at++)
		*mask = *mask << 3 | (mode_t)(*at - '0');
	return true;
}

static bool is_absent(const struct layout *layout)
{
	struct stat st;

	return syscall(SYS_newfstatat, layout->directory, layout->path, &st, AT_SYMLINK_NOFOLLOW) !=
		       0 &&
	       errno == ENOENT;
}

static int lustre_create(const char *path, uint64_t unit, int first, int count)
{
	int level = lustre.level_get ? lustre.level_get() : 0, result;

	is_within = true;
	if (lustre.level_get && lustre.level_set)
		lustre.level_set(0);
	result = lustre.create(path, unit, first, count, 0);
	if (lustre.level_get && lustre.level_set)
		lustre.level_set(level);
	is_within = false;
	return result;
}

/* Makes the file with its stripes. Whoever makes it first decides: O_EXCL is then fulfilled. */
static void lustre_make(struct layout *layout, const char *path, const char *full)
{
	uint64_t unit = 0, count = 0, first = 0;
	bool has_unit = value_of(full, "striping_unit", &unit);
	bool has_count = value_of(full, "striping_factor", &count);
	bool has_first = value_of(full, "start_iodevice", &first) && first < INT32_MAX;

	if (!lustre.create || count > INT32_MAX || !(has_unit || has_count || has_first) ||
	    !is_absent(layout) || !mask_read(&layout->mask))
		return;
	if (lustre_create(path, unit, has_first ? (int)first : -1, (int)count) != 0)
		return;
	layout->is_made = true;
	layout->flags &= ~O_EXCL;
}

/* The permissions that the program wants; or no file, where it could not be opened after all. */
static void lustre_finish(struct layout *layout, int fd)
{
	struct stat st;

	if (fd >= 0)
		syscall(SYS_fchmod, fd, layout->mode & ~layout->mask & 07777);
	else if (syscall(SYS_newfstatat, layout->directory, layout->path, &st,
			 AT_SYMLINK_NOFOLLOW) == 0 &&
		 !st.st_size)
		syscall(SYS_unlinkat, layout->directory, layout->path, 0);
}

/* struct lov_user_md of Lustre, versions 1 and 3, as far as they are alike. */
struct stripes {
	uint32_t magic, pattern;
	uint64_t object[2];
	uint32_t size;
	uint16_t count, first;
};

#define STRIPES_1 0x0BD10BD0u
#define STRIPES_3 0x0BD30BD0u
#define STRIPES_BYTES 65536 /* with all objects, which are more than a stack need hold */

static void number_tell(struct info_text *text, const char *key, uint64_t number)
{
	char value[24];

	if (number <= UINT32_MAX) {
		number_put(value, (unsigned)number);
		info_text_put(text, key, value);
	}
}

static void lustre_tell(int fd, struct info_text *effective)
{
	struct stripes *stripes =
		(struct stripes *)syscall(SYS_mmap, NULL, STRIPES_BYTES, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stripes == MAP_FAILED)
		return;
	if (syscall(SYS_fgetxattr, fd, "lustre.lov", stripes, STRIPES_BYTES) >=
		    (long)sizeof(*stripes) &&
	    (stripes->magic == STRIPES_1 || stripes->magic == STRIPES_3)) {
		number_tell(effective, "striping_factor", stripes->count);
		number_tell(effective, "striping_unit", stripes->size);
	}
	syscall(SYS_munmap, stripes, STRIPES_BYTES);
}

/* CephFS. */

#define CEPH_KEY_BYTES 64
#define CEPH_STEP 65536 /* every size is a multiple of it */

static const char *ceph_key(char to[CEPH_KEY_BYTES], const char *field)
{
	strcpy(to, "ceph.file.layout.");
	strncat(to, field, CEPH_KEY_BYTES - strlen(to) - 1);
	return to;
}

static bool ceph_get(int fd, const char *field, char *value, size_t bytes)
{
	char key[CEPH_KEY_BYTES];
	long n = syscall(SYS_fgetxattr, fd, ceph_key(key, field), value, bytes - 1);

	if (n <= 0)
		return false;
	value[n] = 0;
	return true;
}

static uint64_t ceph_number(int fd, const char *field)
{
	char value[24];
	const char *at = value;
	uint64_t number = 0;

	if (!ceph_get(fd, field, value, sizeof(value)) || !rules_number(&at, &number))
		return 0;
	return number;
}

static void ceph_put(int fd, const char *field, const char *value)
{
	char key[CEPH_KEY_BYTES];

	syscall(SYS_fsetxattr, fd, ceph_key(key, field), value, strlen(value), 0);
}

static void ceph_put_number(int fd, const char *field, uint64_t number)
{
	char value[24];

	if (number > UINT32_MAX)
		return;
	number_put(value, (unsigned)number);
	ceph_put(fd, field, value);
}

/* An object holds whole stripe units, after every step. */
static void ceph_sizes_put(int fd, uint64_t unit, uint64_t object)
{
	uint64_t unit_now = ceph_number(fd, "stripe_unit");
	uint64_t object_now = ceph_number(fd, "object_size");

	unit = unit ? unit : unit_now;
	object = object ? object : object_now;
	if (!unit || !object || object % unit)
		return;
	if (unit_now && object % unit_now && object_now % unit)
		ceph_put_number(fd, "stripe_unit", unit_now = CEPH_STEP);
	if (unit_now && object % unit_now == 0) {
		ceph_put_number(fd, "object_size", object);
		ceph_put_number(fd, "stripe_unit", unit);
	} else {
		ceph_put_number(fd, "stripe_unit", unit);
		ceph_put_number(fd, "object_size", object);
	}
}

static void ceph_finish(int fd, const char *full)
{
	const char *pool = rules_value(&rules_own, PLACE_LAYOUT, full, "", "ceph_pool");
	uint64_t unit = 0, object = 0, count = 0;
	struct stat st;

	/* Only what is empty can get another layout. */
	if (syscall(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size)
		return;
	if (pool)
		ceph_put(fd, "pool", pool);
	value_of(full, "ceph_stripe_unit", &unit);
	value_of(full, "ceph_object_size", &object);
	if (unit || object)
		ceph_sizes_put(fd, unit, object);
	if (value_of(full, "ceph_stripe_count", &count))
		ceph_put_number(fd, "stripe_count", count);
}

static void ceph_tell(int fd, struct info_text *effective)
{
	static const char *const fields[] = { "stripe_unit", "stripe_count", "object_size",
					      "pool" };
	char key[CEPH_KEY_BYTES], value[128];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (ceph_get(fd, fields[i], value, sizeof(value))) {
			strcpy(key, "ceph_");
			strcat(key, fields[i]);
			info_text_put(effective, key, value);
		}
}

/* Any. */

void layout_begin_slow(struct layout *layout)
{
	char path[RULES_PATH_BYTES], full[RULES_PATH_BYTES];
	int saved = errno;
	uint32_t magic;

	if (is_within || capture_self.vforked || layout->flags & (O_PATH | O_DIRECTORY) ||
	    (layout->flags & DELAYS_STRIPES) == DELAYS_STRIPES)
		return;
	/* The path is not proved yet. */
	if (path_bytes(layout->path, EINVAL) && path_join(path, layout) &&
	    rules_next(&rules_own, NULL, PLACE_LAYOUT, rules_path(full, path), "")) {
		magic = magic_of_parent(full);
		if (magic == MAGIC_LUSTRE || magic == MAGIC_CEPH)
			layout->magic = magic;
		if (magic == MAGIC_LUSTRE)
			lustre_make(layout, path, full);
	}
	errno = saved;
}

static void layout_record(const struct layout *layout, int fd, const char *full)
{
	struct info_text requested, effective;
	const struct rule *rule = NULL;

	requested.used = effective.used = 0;
	while ((rule = rules_next(&rules_own, rule, PLACE_LAYOUT, full, "")))
		if (!strncmp(rule->name, "ceph_", 5) == (layout->magic == MAGIC_CEPH))
			info_text_put(&requested, rule->name, rule->value);
	if (layout->magic == MAGIC_LUSTRE)
		lustre_tell(fd, &effective);
	else
		ceph_tell(fd, &effective);
	inject_record(CALL_posix_parameters, handle_peek(fd), &requested, &effective);
}

void layout_end_slow(struct layout *layout, int fd)
{
	char path[RULES_PATH_BYTES], full[RULES_PATH_BYTES];
	int saved = errno;

	if (layout->is_made)
		lustre_finish(layout, fd);
	if (fd >= 0 && path_join(path, layout)) {
		rules_path(full, path);
		if (layout->magic == MAGIC_CEPH)
			ceph_finish(fd, full);
		if (capture_handles && handle_peek(fd))
			layout_record(layout, fd, full);
	}
	errno = saved;
}
