/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/plot_output.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#define CONVERTER "rsvg-convert"

extern char **environ;

/* Runs the converter from one file in memory to another. Returns its exit status or -errno. */
static int run_converter(int in, int out)
{
	char *argv[] = { CONVERTER, "--format=png", "--zoom=2", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r, status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	r = posix_spawnp(&pid, CONVERTER, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (r)
		return -r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int plot_output_png(const struct buf *svg, struct buf *png, struct err *err)
{
	AUTO_CLOSE int in = memfd_create("plot.svg", MFD_CLOEXEC);
	AUTO_CLOSE int out = memfd_create("plot.png", MFD_CLOEXEC);
	int r = in < 0 || out < 0 ? -errno : file_write_fd(in, svg->data, svg->len);

	if (!r && lseek(in, 0, SEEK_SET) < 0)
		r = -errno;
	if (!r)
		r = run_converter(in, out);
	if (r == -ENOENT)
		return err_set(err, ENOENT,
			       "PNG needs the program " CONVERTER
			       "; install librsvg (Debian: librsvg2-bin), or write a .svg file");
	if (r)
		return err_set(err, r < 0 ? -r : EIO, CONVERTER " failed%s%s", r < 0 ? ": " : "",
			       r < 0 ? strerror(-r) : "");
	if (lseek(out, 0, SEEK_SET) < 0)
		return err_set(err, errno, CONVERTER ": %s", strerror(errno));
	return file_read_open(png, out, CONVERTER, 0, err);
}
