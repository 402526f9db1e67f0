/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/spread.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "capture/apply/inject.h"
#include "capture/apply/layout_internal.h"
#include "capture/apply/placed.h"
#include "capture/apply/weighted_rotation.h"
#include "capture/libraries/wrapper_helpers.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"

#define NAME_BYTES 255
#define TAIL_BYTES (sizeof(SPREAD_MARK) - 1 + SPREAD_DIGITS)

static const char digits[] = "0123456789abcdef";

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is the path below the directory? */
static bool is_below(const char *path, const char *directory, size_t n)
{
	return !strncmp(path, directory, n) && path[n] == '/';
}

/* Is the path below a destination of the rule? With `just`, directly in it? */
static bool is_at_destination(const struct parameters_line *rule, const char *path, bool just)
{
	struct parameters_destination next;
	const char *list = rule->value;

	while (parameters_destination(&list, &next))
		if (is_below(path, next.name, next.bytes) &&
		    (!just || !strchr(path + next.bytes + 1, '/')))
			return true;
	return false;
}

/* Is it a session file of an MPI or its launcher? The processes of a node share them. */
static bool is_session_file(const char *path)
{
	static const char *const names[] = { "/ompi.", "/openmpi-sessions-", "/pmix-", "/prte.",
					     "/prterun." };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(path, names[i]))
			return true;
	return false;
}

static bool is_excluded(const struct layout *layout, const struct parameters_line *rule,
			const char *full)
{
	size_t n = strnlen(layout->path, RULES_PATH_BYTES);

	return layout->flags & O_NOFOLLOW || !n || layout->path[n - 1] == '/' ||
	       is_below(full, "/proc", 5) || is_below(full, "/sys", 4) ||
	       is_below(full, "/dev", 4) || is_session_file(full) ||
	       is_at_destination(rule, full, false);
}

/* Is it "NAME.sluice.0123456789abcdef" directly in one of the run's directories? */
static bool is_spread_file(const char *target)
{
	const char *name = base_name(target);
	size_t n = strlen(name);
	const struct parameters_line *r = rules_own.rule;

	if (n <= TAIL_BYTES ||
	    memcmp(name + n - TAIL_BYTES, SPREAD_MARK, sizeof(SPREAD_MARK) - 1) ||
	    strspn(name + n - SPREAD_DIGITS, digits) != SPREAD_DIGITS)
		return false;
	for (; r < rules_own.rule + rules_own.count; r++)
		if (!strcmp(r->name, PARAMETERS_SPREAD_DIRECTORIES) &&
		    is_at_destination(r, target, true))
			return true;
	return false;
}

/* Reads the target of a link of the guest that has one name only. With path "", `directory` is a
 * descriptor of the link itself. */
static bool read_link(int directory, const char *path, char target[RULES_PATH_BYTES])
{
	long n = kernel_call(SYS_readlinkat, directory, path, target, RULES_PATH_BYTES - 1);
	struct stat st;

	if (n <= 0)
		return false;
	target[n] = 0;
	return is_spread_file(target) &&
	       kernel_call(SYS_newfstatat, directory, path, &st,
			   AT_SYMLINK_NOFOLLOW | (*path ? 0 : AT_EMPTY_PATH)) == 0 &&
	       st.st_nlink == 1;
}

static uint64_t random_number(void)
{
	struct timespec now = { 0 };
	uint64_t number = 0;

	if (kernel_call(SYS_getrandom, &number, sizeof(number), 1) == (long)sizeof(number))
		return number;
	clock_gettime(CLOCK_REALTIME, &now);
	number = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	return number ^ (uint64_t)kernel_call(SYS_getpid) << 44;
}

static void write_digits(char *at, uint64_t number)
{
	for (unsigned i = 0; i < SPREAD_DIGITS; i++, number >>= 4)
		*at++ = digits[number & 15];
	*at = 0;
}

static bool write_target(char to[RULES_PATH_BYTES], const struct parameters_destination *in,
			 const char *name, uint64_t number)
{
	size_t n = strlen(name), most = NAME_BYTES - TAIL_BYTES;
	char *at = to + in->bytes;

	n = n < most ? n : most;
	if (in->bytes + 1 + n + TAIL_BYTES >= RULES_PATH_BYTES)
		return false;
	memcpy(to, in->name, in->bytes);
	*at++ = '/';
	memcpy(at, name, n);
	memcpy(at + n, SPREAD_MARK, sizeof(SPREAD_MARK) - 1);
	write_digits(at + n + sizeof(SPREAD_MARK) - 1, number);
	return true;
}

/*
 * Creates the empty file with the program's flags and mode. If its owner may not read and write it,
 * the program could not open it; then the mode is set after the open.
 */
static bool create_file(struct layout *layout, const char *target)
{
	int flags = (layout->flags & ~O_TRUNC) | O_CREAT | O_EXCL | O_CLOEXEC;
	long fd = kernel_call(SYS_openat, AT_FDCWD, target, flags, layout->mode);
	struct stat st;

	if (fd < 0) {
		/* Some file systems reject flags only after they have created the file. */
		if (fd == -EINVAL)
			kernel_call(SYS_unlinkat, AT_FDCWD, target, 0);
		return false;
	}
	if (kernel_call(SYS_fstat, fd, &st) == 0 && (st.st_mode & 0600) != 0600) {
		layout->mode = st.st_mode & 07777;
		layout->is_made = kernel_call(SYS_fchmod, fd, layout->mode | 0600) == 0;
	}
	kernel_call(SYS_close, fd);
	return true;
}

/* Creates the link. A mount option or a policy of the system may forbid to follow it. */
static bool create_link(const struct layout *layout, const char *target)
{
	struct stat st;

	if (kernel_call(SYS_symlinkat, target, layout->directory, layout->path) != 0)
		return false;
	if (kernel_call(SYS_newfstatat, layout->directory, layout->path, &st, 0) == 0)
		return true;
	kernel_call(SYS_unlinkat, layout->directory, layout->path, 0);
	return false;
}

/* Creates the file and its link with signals blocked: a longjmp would leave a file without a link.
 */
static bool create_linked_file(struct layout *layout, const char *target)
{
	struct signals_held held = signals_hold();
	bool is_file = create_file(layout, target),
	     is_linked = is_file && create_link(layout, target);

	if (is_file && !is_linked)
		kernel_call(SYS_unlinkat, AT_FDCWD, target, 0);
	signals_release(held);
	return is_linked;
}

bool spread_begin(struct layout *layout, struct layout_workspace *space)
{
	const struct parameters_line *rule =
		layout_rule(space->full, PARAMETERS_SPREAD_DIRECTORIES);
	struct parameters_destination in;

	if (!rule || is_excluded(layout, rule, space->full) || !layout_is_absent(layout))
		return false;
	if (layout->is_common)
		return true;
	layout->turn = weighted_rotation_take(capture_membership.control->turns, rule, 1);
	layout->placed = placed_choose(rule, &layout->turn, &space->view);
	layout->number = random_number();
	if (weighted_rotation_destination(rule, layout->turn, &in) &&
	    write_target(space->target, &in, base_name(space->full), layout->number))
		layout->is_linked = create_linked_file(layout, space->target);
	if (layout->is_linked)
		layout->flags &= ~O_EXCL;
	else
		placed_cancel(&layout->placed);
	/* If another process has just created the file, nothing was refused. */
	return layout->is_linked || layout_is_absent(layout);
}

/* Removes link and file if they were created for this open and the file is still empty. */
static void remove_unused_file(const struct layout *layout, char target[RULES_PATH_BYTES])
{
	char number[SPREAD_DIGITS + 1];
	struct stat st;

	write_digits(number, layout->number);
	if (!read_link(layout->directory, layout->path, target) ||
	    strcmp(target + strlen(target) - SPREAD_DIGITS, number) != 0 ||
	    kernel_call(SYS_newfstatat, AT_FDCWD, target, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    st.st_size)
		return;
	kernel_call(SYS_unlinkat, layout->directory, layout->path, 0);
	kernel_call(SYS_unlinkat, AT_FDCWD, target, 0);
}

/* Reports the directory of the open file, if the link points to it. */
static void report_place(const struct layout *layout, int fd, struct layout_workspace *space)
{
	char *target = space->target;
	struct stat file, at;

	if (!read_link(layout->directory, layout->path, target) ||
	    kernel_call(SYS_fstat, fd, &file) != 0 ||
	    kernel_call(SYS_newfstatat, AT_FDCWD, target, &at, AT_SYMLINK_NOFOLLOW) != 0 ||
	    file.st_ino != at.st_ino || file.st_dev != at.st_dev)
		return;
	*strrchr(target, '/') = 0;
	info_text_put(&space->effective, PARAMETERS_SPREAD_DIRECTORIES, target);
}

void spread_end(struct layout *layout, int fd, struct layout_workspace *space)
{
	const struct parameters_line *rule =
		layout_rule(space->full, PARAMETERS_SPREAD_DIRECTORIES);
	struct parameters_destination in;

	if (fd < 0 && layout->is_linked)
		remove_unused_file(layout, space->target);
	if (fd < 0)
		placed_cancel(&layout->placed);
	if (fd < 0 || !rule)
		return;
	if (!layout->is_linked) {
		inject_refuse(&space->requested, PARAMETERS_SPREAD_DIRECTORIES, "failed");
		return;
	}
	placed_open(layout->placed, layout->turn, fd, layout->flags);
	/* The name fits, because it was part of a path. */
	if (weighted_rotation_destination(rule, layout->turn, &in)) {
		memcpy(space->target, in.name, in.bytes);
		space->target[in.bytes] = 0;
		inject_accept(&space->requested, PARAMETERS_SPREAD_DIRECTORIES, space->target);
	}
	report_place(layout, fd, space);
}

static char *map_page(void)
{
	return kernel_map_private(RULES_PATH_BYTES);
}

static void unmap_page(char *page)
{
	if (page)
		kernel_call(SYS_munmap, page, RULES_PATH_BYTES);
}

static void removal_drop(struct spread_removal *removal)
{
	if (removal->link >= 0)
		kernel_call(SYS_close, removal->link);
	unmap_page(removal->target);
	*removal = (struct spread_removal){ NULL, -1 };
}

/* Opens the link itself, because another process may replace it before the program's call. */
static void open_link(struct spread_removal *removal, int directory, const char *path)
{
	removal->link =
		(int)kernel_call(SYS_openat, directory, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	removal->target = removal->link >= 0 ? map_page() : NULL;
	if (!removal->target || !read_link(removal->link, "", removal->target))
		removal_drop(removal);
}

/* Has the link been removed? */
static bool link_is_gone(int link)
{
	struct stat st;
	long failed = kernel_call(SYS_fstat, link, &st);

	return failed ? failed == -ESTALE : st.st_nlink == 0;
}

void spread_removes_slow(struct spread_removal *removal, int directory, const char *path)
{
	char *target = NULL;

	/* No call has accepted the path yet, so it is probed. */
	if (!capture_self.vforked && path_bytes(path, EINVAL))
		target = map_page();
	if (target && read_link(directory, path, target))
		open_link(removal, directory, path);
	unmap_page(target);
}

void spread_replaces_slow(struct spread_removal *removal, int directory, const char *path,
			  int to_directory, const char *to)
{
	char *target = NULL;

	spread_removes_slow(removal, to_directory, to);
	/* If the new link points to the same file, the file is kept. */
	if (removal->target && path_bytes(path, EINVAL))
		target = map_page();
	if (target) {
		long n = kernel_call(SYS_readlinkat, directory, path, target, RULES_PATH_BYTES - 1);

		if (n > 0 && !strncmp(removal->target, target, (size_t)n) && !removal->target[n])
			removal_drop(removal);
	}
	unmap_page(target);
}

void spread_removed_slow(struct spread_removal *removal, int result)
{
	int saved = errno;

	if (result == 0 && link_is_gone(removal->link))
		kernel_call(SYS_unlinkat, AT_FDCWD, removal->target, 0);
	removal_drop(removal);
	errno = saved;
}

void spread_copies_slow(struct spread_removal *removal, const char *target)
{
	size_t n = !capture_self.vforked ? path_bytes(target, EINVAL) : 0;
	int saved = errno;

	if (!n || n >= RULES_PATH_BYTES || !is_spread_file(target))
		return;
	removal->link = -1;
	removal->target = map_page();
	if (removal->target) {
		memcpy(removal->target, target, n);
		write_digits(removal->target + n - SPREAD_DIGITS, random_number());
		if (kernel_call(SYS_linkat, AT_FDCWD, target, AT_FDCWD, removal->target, 0) != 0)
			removal_drop(removal);
	}
	errno = saved;
}

void spread_copied_slow(struct spread_removal *removal, int result)
{
	int saved = errno;

	if (result != 0)
		kernel_call(SYS_unlinkat, AT_FDCWD, removal->target, 0);
	removal_drop(removal);
	errno = saved;
}
