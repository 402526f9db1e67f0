/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/layout.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "capture/apply/inject.h"
#include "capture/apply/layout_internal.h"
#include "capture/apply/placed.h"
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

void layout_commit(int fd)
{
	int saved = errno;

	result_of(syscall(SYS_fsync, fd), saved);
}

long layout_get_path_attribute(const char *path, const char *name, void *value, size_t bytes)
{
	int saved = errno;

	return result_of(syscall(SYS_getxattr, path, name, value, bytes), saved);
}

long layout_control(int fd, unsigned long request, void *argument)
{
	int saved = errno;

	return result_of(syscall(SYS_ioctl, fd, request, argument), saved);
}

const char *layout_refusal_of(long error)
{
	switch (-error) {
	case ENOTEMPTY:
		return "not_empty";
	case EINVAL:
		return "invalid";
	case EPERM:
	case EACCES:
	case EROFS:
		return "denied";
	case ENOTTY:
	case EOPNOTSUPP:
		return "filesystem";
	default:
		return "failed";
	}
}

bool layout_descriptor_path(int fd, char to[RULES_PATH_BYTES])
{
	char link[64] = "/proc/self/fd/";
	long got;

	rules_put_number(link + strlen(link), (unsigned)fd);
	got = kernel_call(SYS_readlinkat, AT_FDCWD, link, to, RULES_PATH_BYTES - 1);
	if (got <= 0 || to[0] != '/')
		return false;
	to[got] = 0;
	return true;
}

/* Puts the directory before a relative path; false if the result does not fit. */
static bool path_join(char to[RULES_PATH_BYTES], const struct layout *layout)
{
	size_t n = strnlen(layout->path, RULES_PATH_BYTES), used = 0;

	if (layout->path[0] != '/' && layout->directory != AT_FDCWD) {
		if (!layout_descriptor_path(layout->directory, to))
			return false;
		used = strlen(to);
		to[used++] = '/';
	}
	if (used + n >= RULES_PATH_BYTES)
		return false;
	memcpy(to + used, layout->path, n + 1);
	return true;
}

/* The file systems with layouts. */
static const struct layout_system *const systems[] = { &layout_lustre, &layout_ceph,
						       &layout_ceph_fuse, &layout_beegfs };

/* Stands for a file that is created in another directory. */
static const struct layout_system elsewhere = { .name = "another directory" };

static const struct layout_system *system_find(uint32_t magic, const char *directory)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (systems[i]->magic == magic &&
		    (!systems[i]->is_on || systems[i]->is_on(directory)))
			return systems[i];
	return NULL;
}

/* What is known of the directory in which a file is created. */
struct parent {
	bool is_there;
	bool is_common; /* writable by all users and sticky, as /tmp */
	const struct layout_system *system;
};

static struct parent parent_of(char *full)
{
	char *slash = strrchr(full, '/'), *end = slash ? slash + (slash == full) : NULL, was;
	struct parent parent = { 0 };
	struct statfs fs = { 0 };
	struct stat st;

	if (!slash)
		return parent;
	was = *end;
	*end = 0;
	if (ask_statfs(full, &fs) == 0 &&
	    kernel_call(SYS_newfstatat, AT_FDCWD, full, &st, 0) == 0) {
		parent.is_there = true;
		parent.is_common = (st.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
		parent.system = system_find((uint32_t)fs.f_type, full);
	}
	*end = was;
	return parent;
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

bool layout_is_supported(const char *path)
{
	struct layout_workspace *space = workspace_map();
	bool is_supported;

	if (!space)
		return false;
	strncpy(space->full, path, RULES_PATH_BYTES - 1);
	is_supported = parent_of(space->full).system;
	workspace_unmap(space);
	return is_supported;
}

/* Rules that MPI-IO knows as hints, and the hints. */
static const char *const hinted[][2] = { { "striping_factor", "striping_factor" },
					 { "striping_unit", "striping_unit" },
					 { "start_iodevice", "romio_lustre_start_iodevice" } };
#define HINTED (sizeof(hinted) / sizeof(hinted[0]))

static __thread unsigned kept TLS_FAST; /* a bit per row of `hinted` */

/* The bit of a hint, 0 if it is not about layouts. */
static unsigned hint_bit(const char *hint)
{
	for (size_t i = 0; i < HINTED; i++)
		if (!strcmp(hinted[i][1], hint))
			return 1u << i;
	return 0;
}

void layout_keep_hint(const char *hint)
{
	kept = hint ? kept | hint_bit(hint) : 0;
}

bool layout_is_hint(const char *hint)
{
	return layout_is_wanted() && hint_bit(hint);
}

static bool is_kept(const char *name)
{
	for (size_t i = 0; kept && i < HINTED; i++)
		if (!strcmp(hinted[i][0], name))
			return kept >> i & 1;
	return false;
}

const struct parameters_line *layout_rule(const char *full, const char *name)
{
	return is_kept(name) ? NULL : rules_find(&rules_own, PLACE_LAYOUT, full, "", name);
}

bool layout_number(const char *full, const char *name, uint64_t *number)
{
	const struct parameters_line *rule = layout_rule(full, name);
	const char *value = rule ? rule->value : "";

	return rules_number(&value, number) && !*value;
}

/* Reads the umask of the process. umask() would have to change it for a moment. */
static bool read_umask(mode_t *mask)
{
	long fd = kernel_call(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC), n;
	char text[1024], *at;

	if (fd < 0)
		return false;
	n = kernel_call(SYS_read, fd, text, sizeof(text) - 1);
	kernel_call(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, "\nUmask:\t");
	if (!at)
		return false;
	*mask = 0;
	for (at += 8; *at >= '0' && *at <= '7'; at++)
		*mask = *mask << 3 | (mode_t)(*at - '0');
	return true;
}

bool layout_may_make(struct layout *layout)
{
	return layout->is_absent && read_umask(&layout->mask);
}

/* Creating the file satisfies O_EXCL, because only one process can succeed. */
void layout_made(struct layout *layout)
{
	layout->is_made = true;
	layout->flags &= ~O_EXCL;
}

/* Sets the permissions that the program wants, or removes the file if it could not be opened. */
static void finish_made(struct layout *layout, int fd)
{
	struct stat st;

	if (fd >= 0)
		kernel_call(SYS_fchmod, fd, layout->mode & ~layout->mask & 07777);
	else if (kernel_call(SYS_newfstatat, layout->directory, layout->path, &st,
			     AT_SYMLINK_NOFOLLOW) == 0 &&
		 !st.st_size)
		kernel_call(SYS_unlinkat, layout->directory, layout->path, 0);
}

void layout_put_number(struct info_text *text, const char *key, uint64_t number)
{
	char value[24];

	if (number <= UINT32_MAX) {
		rules_put_number(value, number);
		info_text_put(text, key, value);
	}
}

void layout_load(void)
{
	for (size_t i = 0; rules_has(PLACE_LAYOUT) && i < sizeof(systems) / sizeof(systems[0]); i++)
		if (systems[i]->load)
			systems[i]->load();
}

static bool is_spread(const struct parameters_line *rule)
{
	return !strncmp(rule->name, "spread_", 7);
}

/* Files are created where there are no layouts. */
static void refuse_rules(const char *full)
{
	const struct parameters_line *rule = NULL;

	while ((rule = rules_next(&rules_own, rule, PLACE_LAYOUT, full, "")))
		if (strcmp(rule->name, PARAMETERS_SPREAD_DIRECTORIES) != 0)
			rules_note_refusal(&rules_own, rule->name,
					   is_kept(rule->name) ? "application" : "filesystem");
}

static void file_begin(struct layout *layout, struct layout_workspace *space)
{
	struct parent parent;

	if (!path_join(space->path, layout) ||
	    !rules_next(&rules_own, NULL, PLACE_LAYOUT, rules_path(space->full, space->path), ""))
		return;
	parent = parent_of(space->full);
	layout->is_common = parent.is_common;
	if (parent.is_there && spread_begin(layout, space))
		layout->system = &elsewhere;
	if (parent.is_there && !parent.system && !layout->is_linked)
		refuse_rules(space->full);
	if (layout->is_linked || !parent.system)
		return;
	layout->system = parent.system;
	layout->turn = WEIGHTED_ROTATION_NONE;
	layout->is_absent = layout_is_absent(layout);
	if (parent.system->create)
		parent.system->create(layout, space);
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

/* Is the value of a key in "KEY=VALUE;...;" this one? -1: the key is missing. */
static int has_value(const struct info_text *text, const char *key, const char *value)
{
	size_t k = strlen(key), v = strlen(value);

	for (const char *at = text->text; *at; at += strcspn(at, ";") + 1)
		if (!strncmp(at, key, k) && at[k] == '=')
			return !strncmp(at + k + 1, value, v) && at[k + 1 + v] == ';';
	return -1;
}

/* Why the rule has no effect on this file; NULL: it was applied, or the report shows the
 * difference.
 */
static const char *refusal_of(const struct layout *layout, const struct parameters_line *rule,
			      const struct info_text *effective)
{
	int is_in_effect = has_value(effective, rule->name, rule->value);

	if (is_kept(rule->name))
		return "application";
	if (is_in_effect < 0)
		return effective->used ? "filesystem" : layout->refusal;
	return is_in_effect ? NULL : layout->refusal;
}

/* Compares the rules with the layout that the file has. */
static void judge_rules(const struct layout *layout, struct layout_workspace *space)
{
	const struct parameters_line *rule = NULL;
	const char *known = layout->system->spread, *refusal;

	while ((rule = rules_next(&rules_own, rule, PLACE_LAYOUT, space->full, ""))) {
		if (!strcmp(rule->name, PARAMETERS_SPREAD_DIRECTORIES) ||
		    (known && !strcmp(rule->name, known)))
			continue;
		refusal = is_spread(rule) ? "filesystem"
					  : refusal_of(layout, rule, &space->effective);
		if (refusal)
			inject_refuse(&space->requested, rule->name, refusal);
		else
			inject_accept(&space->requested, rule->name, rule->value);
	}
}

/* Is the file where the backlog wanted it? */
static bool is_as_placed(const struct layout *layout, struct layout_workspace *space)
{
	const char *list = layout->system->spread;
	const struct parameters_line *rule = list ? layout_rule(space->full, list) : NULL;
	struct parameters_destination in;

	if (!rule || layout->refusal || !weighted_rotation_destination(rule, layout->turn, &in) ||
	    in.bytes >= RULES_PATH_BYTES)
		return false;
	memcpy(space->target, in.name, in.bytes);
	space->target[in.bytes] = 0;
	return has_value(&space->effective, list, space->target) == 1;
}

/* A file that the file system has put elsewhere, or that was not created, is not measured. */
static void end_placed(struct layout *layout, int fd, struct layout_workspace *space)
{
	if (layout->turn == WEIGHTED_ROTATION_NONE || !(layout->turn & WEIGHTED_ROTATION_INDEX))
		return;
	if (fd >= 0 && is_as_placed(layout, space))
		placed_open(layout->placed, layout->turn, fd, layout->flags);
	else
		placed_cancel(&layout->placed);
}

/* The texts of the workspace are empty. */
static void file_end(struct layout *layout, int fd, struct layout_workspace *space)
{
	if (!path_join(space->path, layout))
		return;
	rules_path(space->full, space->path);
	if (layout->system == &elsewhere) {
		spread_end(layout, fd, space);
	} else if (fd >= 0) {
		if (layout->system->set)
			layout->system->set(layout, fd, space);
		layout->system->get(layout, fd, space);
		judge_rules(layout, space);
	}
	if (layout->system != &elsewhere)
		end_placed(layout, fd, space);
	if (fd >= 0 && capture_handles && handle_peek(fd))
		inject_record(CALL_posix_parameters, handle_peek(fd), &space->requested,
			      &space->effective);
}

void layout_end_slow(struct layout *layout, int fd)
{
	struct layout_workspace *space;
	int saved = errno;

	if (layout->is_made && !layout->is_linked)
		finish_made(layout, fd);
	if (fd >= 0 && layout->is_linked && layout->is_made)
		kernel_call(SYS_fchmod, fd, layout->mode);
	space = workspace_map();
	if (space) {
		file_end(layout, fd, space);
		workspace_unmap(space);
	}
	lustre_request_free(layout->request);
	errno = saved;
}

/* The layout of this file is now the program's. */
static void note_yielded(const char *full)
{
	const struct parameters_line *rule = NULL;

	while ((rule = rules_next(&rules_own, rule, PLACE_LAYOUT, full, "")))
		if (strcmp(rule->name, PARAMETERS_SPREAD_DIRECTORIES) != 0)
			rules_note_refusal(&rules_own, rule->name, "application");
}

static void file_yield(int fd, const char *attribute, struct layout_workspace *space)
{
	const struct layout_system *system;

	if (!layout_descriptor_path(fd, space->path))
		return;
	rules_path(space->full, space->path);
	system = parent_of(space->full).system;
	if (system && system->yield &&
	    rules_next(&rules_own, NULL, PLACE_LAYOUT, space->full, "") &&
	    system->yield(fd, attribute, space))
		note_yielded(space->full);
}

void layout_yield_slow(int fd, const char *path, const char *attribute)
{
	struct layout_workspace *space;
	int saved = errno;
	long opened = -1;

	if (capture_self.vforked || !path_bytes(attribute, EINVAL) ||
	    strncmp(attribute, "ceph.", 5) != 0)
		return;
	/* A path may lead to a pipe or a device, whose open must neither wait nor have an effect.
	 */
	if (fd < 0 && path_bytes(path, EINVAL))
		opened = kernel_call(SYS_openat, AT_FDCWD, path,
				     O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	space = fd >= 0 || opened >= 0 ? workspace_map() : NULL;
	if (space) {
		file_yield(fd >= 0 ? fd : (int)opened, attribute, space);
		workspace_unmap(space);
	}
	if (opened >= 0)
		kernel_call(SYS_close, opened);
	errno = saved;
}
