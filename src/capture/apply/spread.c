/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/spread.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/apply/inject.h"
#include "capture/apply/layout_internal.h"
#include "capture/apply/weighted_rotation.h"
#include "capture/libraries/wrapper_helpers.h"
#include "capture/record/capture.h"

#define NAME_BYTES 255
#define TAIL_BYTES (sizeof(SPREAD_MARK) - 1 + SPREAD_DIGITS)

static const char digits[] = "0123456789abcdef";

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- what is left alone ---- */

/* Is the path in the directory, or below it? */
static bool is_below(const char *path, const char *directory, size_t n)
{
	return !strncmp(path, directory, n) && path[n] == '/';
}

/* Is the path below a destination of the rule; with `just`, right in it? */
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

/* What MPIs and their launchers make for themselves: processes of a node meet there. */
static bool is_of_session(const char *path)
{
	static const char *const names[] = { "/ompi.", "/openmpi-sessions-", "/pmix-", "/prte.",
					     "/prterun." };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(path, names[i]))
			return true;
	return false;
}

static bool is_left_alone(const struct layout *layout, const struct parameters_line *rule,
			  const char *full)
{
	size_t n = strnlen(layout->path, RULES_PATH_BYTES);

	return layout->flags & O_NOFOLLOW || !n || layout->path[n - 1] == '/' ||
	       is_below(full, "/proc", 5) || is_below(full, "/sys", 4) ||
	       is_below(full, "/dev", 4) || is_of_session(full) ||
	       is_at_destination(rule, full, false);
}

/* ---- links ---- */

/* "NAME.sluice.0123456789abcdef" right in one of the run's directories. */
static bool is_ours(const char *target)
{
	const char *name = base_of(target);
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

/* Where the link points to, if it is one of ours and has one name only. "": directory is the link.
 */
static bool link_read(int directory, const char *path, char target[RULES_PATH_BYTES])
{
	long n = syscall(SYS_readlinkat, directory, path, target, RULES_PATH_BYTES - 1);
	struct stat st;

	if (n <= 0)
		return false;
	target[n] = 0;
	return is_ours(target) &&
	       syscall(SYS_newfstatat, directory, path, &st,
		       AT_SYMLINK_NOFOLLOW | (*path ? 0 : AT_EMPTY_PATH)) == 0 &&
	       st.st_nlink == 1;
}

static uint64_t number_make(void)
{
	struct timespec now = { 0 };
	uint64_t number = 0;

	if (syscall(SYS_getrandom, &number, sizeof(number), 1) == (long)sizeof(number))
		return number;
	clock_gettime(CLOCK_REALTIME, &now);
	number = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return number ^ (uint64_t)syscall(SYS_getpid) << 44;
}

static void digits_write(char *at, uint64_t number)
{
	for (unsigned i = 0; i < SPREAD_DIGITS; i++, number >>= 4)
		*at++ = digits[number & 15];
	*at = 0;
}

static bool target_write(char to[RULES_PATH_BYTES], const struct parameters_destination *in,
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
	digits_write(at + n + sizeof(SPREAD_MARK) - 1, number);
	return true;
}

/* ---- making ---- */

/*
 * The file itself, empty, with what the program wants of it. One that its owner may not read and
 * write could not be opened a second time: that is put right after the open.
 */
static bool file_make(struct layout *layout, const char *target)
{
	int flags = (layout->flags & ~O_TRUNC) | O_CREAT | O_EXCL | O_CLOEXEC;
	long fd = syscall(SYS_openat, AT_FDCWD, target, flags, layout->mode);
	struct stat st;

	if (fd < 0) {
		/* Flags that a file system does not know may be found after the file is made. */
		if (errno == EINVAL)
			syscall(SYS_unlinkat, AT_FDCWD, target, 0);
		return false;
	}
	if (syscall(SYS_fstat, fd, &st) == 0 && (st.st_mode & 0600) != 0600) {
		layout->mode = st.st_mode & 07777;
		layout->is_made = syscall(SYS_fchmod, fd, layout->mode | 0600) == 0;
	}
	syscall(SYS_close, fd);
	return true;
}

/* The link, which a mount or the system's policy may forbid to follow. */
static bool link_try(const struct layout *layout, const char *target)
{
	struct stat st;

	if (syscall(SYS_symlinkat, target, layout->directory, layout->path) != 0)
		return false;
	if (syscall(SYS_newfstatat, layout->directory, layout->path, &st, 0) == 0)
		return true;
	syscall(SYS_unlinkat, layout->directory, layout->path, 0);
	return false;
}

/* A handler that jumps away would leave a file without a link. */
static bool link_put(struct layout *layout, const char *target)
{
	signal_mask held = signals_hold();
	bool is_file = file_make(layout, target), is_linked = is_file && link_try(layout, target);

	if (is_file && !is_linked)
		syscall(SYS_unlinkat, AT_FDCWD, target, 0);
	signals_release(held);
	return is_linked;
}

bool spread_begin(struct layout *layout, struct layout_desk *desk)
{
	const struct parameters_line *rule = layout_rule(desk->full, PARAMETERS_SPREAD_DIRECTORIES);
	struct parameters_destination in;

	if (!rule || is_left_alone(layout, rule, desk->full) || !layout_is_absent(layout))
		return false;
	if (layout->is_common)
		return true;
	layout->turn = weighted_rotation_take(capture_membership.control->turns, rule, 1);
	layout->number = number_make();
	if (weighted_rotation_destination(rule, layout->turn, &in) &&
	    target_write(desk->target, &in, base_of(desk->full), layout->number))
		layout->is_linked = link_put(layout, desk->target);
	if (layout->is_linked)
		layout->flags &= ~O_EXCL;
	/* Somebody else has just made it: nothing was refused. */
	return layout->is_linked || layout_is_absent(layout);
}

/* ---- after the open ---- */

/* Nothing is in it, and it is the one that was made for this open: as if it had never been. */
static void link_undo(const struct layout *layout, char target[RULES_PATH_BYTES])
{
	char number[SPREAD_DIGITS + 1];
	struct stat st;

	digits_write(number, layout->number);
	if (!link_read(layout->directory, layout->path, target) ||
	    strcmp(target + strlen(target) - SPREAD_DIGITS, number) != 0 ||
	    syscall(SYS_newfstatat, AT_FDCWD, target, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_size)
		return;
	syscall(SYS_unlinkat, layout->directory, layout->path, 0);
	syscall(SYS_unlinkat, AT_FDCWD, target, 0);
}

/* The directory that the open file lies in, as far as its link leads there. */
static void place_tell(const struct layout *layout, int fd, struct layout_desk *desk)
{
	char *target = desk->target;
	struct stat file, at;

	if (!link_read(layout->directory, layout->path, target) ||
	    syscall(SYS_fstat, fd, &file) != 0 ||
	    syscall(SYS_newfstatat, AT_FDCWD, target, &at, AT_SYMLINK_NOFOLLOW) != 0 ||
	    file.st_ino != at.st_ino || file.st_dev != at.st_dev)
		return;
	*strrchr(target, '/') = 0;
	info_text_put(&desk->effective, PARAMETERS_SPREAD_DIRECTORIES, target);
}

void spread_end(struct layout *layout, int fd, struct layout_desk *desk)
{
	const struct parameters_line *rule = layout_rule(desk->full, PARAMETERS_SPREAD_DIRECTORIES);
	struct parameters_destination in;

	if (fd < 0 && layout->is_linked)
		link_undo(layout, desk->target);
	if (fd < 0 || !rule)
		return;
	if (!layout->is_linked) {
		inject_refuse(&desk->requested, PARAMETERS_SPREAD_DIRECTORIES, "failed");
		return;
	}
	/* It fits: it was part of a path. */
	if (weighted_rotation_destination(rule, layout->turn, &in)) {
		memcpy(desk->target, in.name, in.bytes);
		desk->target[in.bytes] = 0;
		info_text_put(&desk->requested, PARAMETERS_SPREAD_DIRECTORIES, desk->target);
	}
	place_tell(layout, fd, desk);
}

/* ---- removing ---- */

static char *page_take(void)
{
	void *page = (void *)syscall(SYS_mmap, NULL, RULES_PATH_BYTES, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

static void removal_drop(struct spread_removal *removal)
{
	if (removal->link >= 0)
		syscall(SYS_close, removal->link);
	if (removal->target)
		syscall(SYS_munmap, removal->target, RULES_PATH_BYTES);
	*removal = (struct spread_removal){ NULL, -1 };
}

/* Holds the link itself: others may put another one in its place before the program's call. */
static void link_hold(struct spread_removal *removal, int directory, const char *path)
{
	removal->link = (int)syscall(SYS_openat, directory, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	removal->target = removal->link >= 0 ? page_take() : NULL;
	if (!removal->target || !link_read(removal->link, "", removal->target))
		removal_drop(removal);
}

/* Is the link that is held nowhere any more? */
static bool link_is_gone(int link)
{
	struct stat st;

	return syscall(SYS_fstat, link, &st) == 0 ? st.st_nlink == 0 : errno == ESTALE;
}

void spread_removes_slow(struct spread_removal *removal, int directory, const char *path)
{
	char target[RULES_PATH_BYTES];
	int saved = errno;

	/* The path is not proved yet. */
	if (!capture_self.vforked && path_bytes(path, EINVAL) && link_read(directory, path, target))
		link_hold(removal, directory, path);
	errno = saved;
}

void spread_replaces_slow(struct spread_removal *removal, int directory, const char *path,
			  int to_directory, const char *to)
{
	char target[RULES_PATH_BYTES];
	int saved = errno;

	spread_removes_slow(removal, to_directory, to);
	/* Another link to the same file takes its place: the file is still wanted. */
	if (removal->target && path_bytes(path, EINVAL)) {
		long n = syscall(SYS_readlinkat, directory, path, target, RULES_PATH_BYTES - 1);

		if (n > 0 && !strncmp(removal->target, target, (size_t)n) && !removal->target[n])
			removal_drop(removal);
	}
	errno = saved;
}

void spread_removed_slow(struct spread_removal *removal, int result)
{
	int saved = errno;

	if (result == 0 && link_is_gone(removal->link))
		syscall(SYS_unlinkat, AT_FDCWD, removal->target, 0);
	removal_drop(removal);
	errno = saved;
}

/* ---- copying ---- */

void spread_copies_slow(struct spread_removal *removal, const char *target)
{
	size_t n = !capture_self.vforked ? path_bytes(target, EINVAL) : 0;
	int saved = errno;

	if (!n || n >= RULES_PATH_BYTES || !is_ours(target))
		return;
	removal->link = -1;
	removal->target = page_take();
	if (removal->target) {
		memcpy(removal->target, target, n);
		digits_write(removal->target + n - SPREAD_DIGITS, number_make());
		if (syscall(SYS_linkat, AT_FDCWD, target, AT_FDCWD, removal->target, 0) != 0)
			removal_drop(removal);
	}
	errno = saved;
}

void spread_copied_slow(struct spread_removal *removal, int result)
{
	int saved = errno;

	if (result != 0)
		syscall(SYS_unlinkat, AT_FDCWD, removal->target, 0);
	removal_drop(removal);
	errno = saved;
}
