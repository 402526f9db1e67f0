/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/layout.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "capture/handles.h"
#include "capture/inject.h"
#include "capture/layout_parts.h"
#include "capture/splice.h"
#include "capture/spread.h"
#include "trace/calls.h"

/* Lustre's O_LOV_DELAY_CREATE: whoever opens so sets the stripes himself. */
#define DELAYS_STRIPES (O_NOCTTY | O_ASYNC)

char *number_put(char *to, unsigned number)
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

bool layout_is_absent(const struct layout *layout)
{
	struct stat st;

	return syscall(SYS_newfstatat, layout->directory, layout->path, &st, AT_SYMLINK_NOFOLLOW) !=
		       0 &&
	       errno == ENOENT;
}

const struct rule *layout_rule(const char *full, const char *name)
{
	return rules_find(&rules_own, PLACE_LAYOUT, full, "", name);
}

bool layout_number(const char *full, const char *name, uint64_t *number)
{
	const struct rule *rule = layout_rule(full, name);
	const char *value = rule ? rule->value : "";

	return rules_number(&value, number) && !*value;
}

void layout_load(void)
{
	if (rules_has(PLACE_LAYOUT))
		lustre_load();
}

static void system_begin(struct layout *layout, uint32_t magic, const char *path, const char *full)
{
	layout->magic = magic;
	layout->turn = TURN_NONE;
	if (magic == MAGIC_LUSTRE)
		lustre_begin(layout, path, full);
	else
		ceph_begin(layout, full);
}

void layout_begin_slow(struct layout *layout)
{
	char path[RULES_PATH_BYTES], full[RULES_PATH_BYTES];
	int saved = errno;
	uint32_t magic;

	if (lustre_is_within() || capture_self.vforked || layout->flags & (O_PATH | O_DIRECTORY) ||
	    (layout->flags & DELAYS_STRIPES) == DELAYS_STRIPES)
		return;
	/* The path is not proved yet. */
	if (path_bytes(layout->path, EINVAL) && path_join(path, layout) &&
	    rules_next(&rules_own, NULL, PLACE_LAYOUT, rules_path(full, path), "")) {
		magic = magic_of_parent(full);
		if (magic && spread_begin(layout, full))
			layout->magic = LAYOUT_ANY;
		if (!layout->is_linked && (magic == MAGIC_LUSTRE || magic == MAGIC_CEPH))
			system_begin(layout, magic, path, full);
	}
	errno = saved;
}

static bool is_recorded(int fd)
{
	return fd >= 0 && capture_handles && handle_peek(fd);
}

static void spread_finish(struct layout *layout, int fd, const char *full)
{
	struct info_text requested, effective;

	requested.used = effective.used = 0;
	spread_end(layout, fd, full, &requested, &effective);
	if (is_recorded(fd))
		inject_record(CALL_posix_parameters, handle_peek(fd), &requested, &effective);
}

static void layout_record(const struct layout *layout, int fd, const char *full)
{
	struct info_text requested, effective;
	const struct rule *rule = NULL;

	requested.used = effective.used = 0;
	while ((rule = rules_next(&rules_own, rule, PLACE_LAYOUT, full, "")))
		if (strncmp(rule->name, "spread_", 7) &&
		    !strncmp(rule->name, "ceph_", 5) == (layout->magic == MAGIC_CEPH))
			info_text_put(&requested, rule->name, rule->value);
	if (layout->magic == MAGIC_LUSTRE)
		lustre_tell(layout, fd, full, &requested, &effective);
	else
		ceph_tell(layout, fd, full, &requested, &effective);
	inject_record(CALL_posix_parameters, handle_peek(fd), &requested, &effective);
}

static void system_finish(struct layout *layout, int fd, const char *full)
{
	if (fd >= 0 && layout->magic == MAGIC_CEPH)
		ceph_end(layout, fd, full);
	if (is_recorded(fd))
		layout_record(layout, fd, full);
}

void layout_end_slow(struct layout *layout, int fd)
{
	char path[RULES_PATH_BYTES], full[RULES_PATH_BYTES];
	int saved = errno;

	if (layout->magic == MAGIC_LUSTRE && layout->is_made)
		lustre_end(layout, fd);
	if (path_join(path, layout)) {
		rules_path(full, path);
		if (layout->magic == LAYOUT_ANY)
			spread_finish(layout, fd, full);
		else
			system_finish(layout, fd, full);
	}
	errno = saved;
}
