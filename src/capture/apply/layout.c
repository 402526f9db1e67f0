/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/layout.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "capture/apply/inject.h"
#include "capture/apply/layout_internal.h"
#include "capture/apply/spread.h"
#include "capture/libraries/wrapper_helpers.h"
#include "capture/record/handles.h"
#include "capture/record/kernel.h"
#include "contract/calls.h"

/* Lustre's O_LOV_DELAY_CREATE: the program sets the stripes itself after such an open. */
#define DELAYS_STRIPES (O_NOCTTY | O_ASYNC)

/* The result of a system call that libc has made; restores errno. */
static long result_of(long result, int saved)
{
	int error = errno;

	errno = saved;
	return result < 0 ? -error : result;
}

static long ask_statfs(const char *path, struct statfs *fs)
{
	int saved = errno;

	return result_of(syscall(SYS_statfs, path, fs), saved);
}

long layout_get_attribute(int fd, const char *name, void *value, size_t bytes)
{
	int saved = errno;

	return result_of(syscall(SYS_fgetxattr, fd, name, value, bytes), saved);
}

long layout_set_attribute(int fd, const char *name, const void *value, size_t bytes)
{
	int saved = errno;

	return result_of(syscall(SYS_fsetxattr, fd, name, value, bytes, 0), saved);
}

/* Puts the directory before a relative path; false if the result does not fit. */
static bool path_join(char to[RULES_PATH_BYTES], const struct layout *layout)
{
	size_t n = strnlen(layout->path, RULES_PATH_BYTES), used = 0;
	char link[64] = "/proc/self/fd/";
	long got;

	if (layout->path[0] != '/' && layout->directory != AT_FDCWD) {
		rules_put_number(link + strlen(link), (unsigned)layout->directory);
		got = kernel_call(SYS_readlinkat, AT_FDCWD, link, to, RULES_PATH_BYTES - 1);
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

/* The magic of the parent directory's file system, 0 if it does not exist. Sets is_common. */
static uint32_t parent_magic(struct layout *layout, char *full)
{
	char *slash = strrchr(full, '/'), *end = slash ? slash + (slash == full) : NULL, was;
	struct statfs fs = { 0 };
	struct stat st;
	bool is_there;

	if (!slash)
		return 0;
	was = *end;
	*end = 0;
	is_there = ask_statfs(full, &fs) == 0 &&
		   kernel_call(SYS_newfstatat, AT_FDCWD, full, &st, 0) == 0;
	*end = was;
	layout->is_common = is_there && (st.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
	return is_there ? (uint32_t)fs.f_type : 0;
}

static struct layout_workspace *workspace_map(void)
{
	return kernel_map_private(sizeof(struct layout_workspace));
}

static void workspace_unmap(struct layout_workspace *space)
{
	kernel_call(SYS_munmap, space, sizeof(*space));
}

bool layout_is_absent(const struct layout *layout)
{
	struct stat st;

	return kernel_call(SYS_newfstatat, layout->directory, layout->path, &st,
			   AT_SYMLINK_NOFOLLOW) == -ENOENT;
}

const struct parameters_line *layout_rule(const char *full, const char *name)
{
	return rules_find(&rules_own, PLACE_LAYOUT, full, "", name);
}

bool layout_number(const char *full, const char *name, uint64_t *number)
{
	const struct parameters_line *rule = layout_rule(full, name);
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
	layout->turn = WEIGHTED_ROTATION_NONE;
	if (magic == MAGIC_LUSTRE)
		lustre_begin(layout, path, full);
	else
		ceph_begin(layout, full);
}

static void file_begin(struct layout *layout, struct layout_workspace *space)
{
	uint32_t magic;

	if (!path_join(space->path, layout) ||
	    !rules_next(&rules_own, NULL, PLACE_LAYOUT, rules_path(space->full, space->path), ""))
		return;
	magic = parent_magic(layout, space->full);
	if (magic && spread_begin(layout, space))
		layout->magic = LAYOUT_ANY;
	if (!layout->is_linked && (magic == MAGIC_LUSTRE || magic == MAGIC_CEPH))
		system_begin(layout, magic, space->path, space->full);
}

void layout_begin_slow(struct layout *layout)
{
	struct layout_workspace *space;
	int saved = errno;

	if (lustre_is_within() || capture_self.vforked || layout->flags & (O_PATH | O_DIRECTORY) ||
	    (layout->flags & DELAYS_STRIPES) == DELAYS_STRIPES)
		return;
	/* No call has accepted the path yet, so it is probed. */
	space = path_bytes(layout->path, EINVAL) ? workspace_map() : NULL;
	if (space) {
		file_begin(layout, space);
		workspace_unmap(space);
	}
	errno = saved;
}

static bool is_recorded(int fd)
{
	return fd >= 0 && capture_handles && handle_peek(fd);
}

static void workspace_record(struct layout_workspace *space, int fd)
{
	inject_record(CALL_posix_parameters, handle_peek(fd), &space->requested, &space->effective);
}

static void layout_record(const struct layout *layout, int fd, struct layout_workspace *space)
{
	struct info_text *requested = &space->requested, *effective = &space->effective;
	const char *full = space->full;
	const struct parameters_line *rule = NULL;

	while ((rule = rules_next(&rules_own, rule, PLACE_LAYOUT, full, "")))
		if (strncmp(rule->name, "spread_", 7) &&
		    !strncmp(rule->name, "ceph_", 5) == (layout->magic == MAGIC_CEPH))
			inject_accept(requested, rule->name, rule->value);
	if (layout->magic == MAGIC_LUSTRE)
		lustre_report(layout, fd, full, requested, effective);
	else
		ceph_report(layout, fd, full, requested, effective);
	workspace_record(space, fd);
}

/* The texts of the workspace are empty. */
static void file_end(struct layout *layout, int fd, struct layout_workspace *space)
{
	if (!path_join(space->path, layout))
		return;
	rules_path(space->full, space->path);
	if (layout->magic == LAYOUT_ANY)
		spread_end(layout, fd, space);
	else if (fd >= 0 && layout->magic == MAGIC_CEPH)
		ceph_end(layout, fd, space->full);
	if (is_recorded(fd) && layout->magic == LAYOUT_ANY)
		workspace_record(space, fd);
	else if (is_recorded(fd))
		layout_record(layout, fd, space);
}

void layout_end_slow(struct layout *layout, int fd)
{
	struct layout_workspace *space;
	int saved = errno;

	if (layout->magic == MAGIC_LUSTRE && layout->is_made)
		lustre_end(layout, fd);
	if (fd >= 0 && layout->is_linked && layout->is_made)
		kernel_call(SYS_fchmod, fd, layout->mode);
	space = workspace_map();
	if (space) {
		file_end(layout, fd, space);
		workspace_unmap(space);
	}
	errno = saved;
}
