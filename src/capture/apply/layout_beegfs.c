/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stripes of BeeGFS: an ioctl of the directory creates a file with a number of targets and a chunk
 * size, another one of the file reads them. The structs are those of its client (beegfs_ioctl.h).
 * No call chooses both the targets and the size, so lists of targets are refused.
 * Papers: H5T-11.
 */
#include "capture/apply/layout_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "capture/record/kernel.h"
#include "contract/striping.h"

#define MAGIC_BEEGFS 0x19830326u

/* A file to create. */
struct beegfs_hints {
	const char *name; /* in the directory */
	unsigned mode;
	unsigned targets; /* 0: as the directory says */
	unsigned chunk;	  /* bytes, a power of two, at least 64 KiB; 0: as the directory says */
};

#define BEEGFS_CREATE _IOW('f', 27, struct beegfs_hints)

/* Reads the request from the rules; false if there is none. */
static bool beegfs_request(const char *full, struct beegfs_hints *hints)
{
	uint64_t targets = 0, chunk = 0;

	layout_number(full, "striping_factor", &targets);
	layout_number(full, "striping_unit", &chunk);
	hints->targets = targets <= UINT16_MAX ? (unsigned)targets : UINT16_MAX;
	hints->chunk = chunk <= UINT32_MAX ? (unsigned)chunk : 1; /* 1 is invalid, too */
	return targets || chunk;
}

/* Splits the path at its last slash and makes the call; path is as before at the end. */
static long beegfs_make(char *path, struct beegfs_hints *hints)
{
	char *slash = strrchr(path, '/');
	long directory, error;

	hints->name = slash ? slash + 1 : path;
	if (slash)
		*slash = 0;
	directory = kernel_call(SYS_openat, AT_FDCWD,
				!slash		? "."
				: slash == path ? "/"
						: path,
				O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (slash)
		*slash = '/';
	if (directory < 0)
		return directory;
	error = layout_control((int)directory, BEEGFS_CREATE, hints);
	kernel_call(SYS_close, directory);
	return error;
}

static void beegfs_create(struct layout *layout, struct layout_workspace *space)
{
	struct beegfs_hints hints = { .mode = 0600 };
	long error;

	if (!beegfs_request(space->full, &hints))
		return;
	if (!layout_may_make(layout)) {
		layout->refusal = layout->is_absent ? "failed" : "exists";
		return;
	}
	error = beegfs_make(space->path, &hints);
	if (!error)
		layout_made(layout);
	else
		layout->refusal = error == -EEXIST ? "exists" : layout_refusal_of(error);
}

static void beegfs_get(const struct layout *layout, int fd, struct layout_workspace *space)
{
	struct beegfs_stripes stripes = { 0 };

	(void)layout;
	if (layout_control(fd, BEEGFS_STRIPES, &stripes) != 0)
		return;
	layout_put_number(&space->effective, "striping_factor", stripes.targets);
	layout_put_number(&space->effective, "striping_unit", stripes.chunk);
}

const struct layout_system layout_beegfs = {
	.magic = MAGIC_BEEGFS,
	.name = "BeeGFS",
	.create = beegfs_create,
	.get = beegfs_get,
};
