/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-19.
 */
#include "observe/watch/library.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/trusted.h"

static int hooks_check(const struct sluice_plugin *p, const char *name, struct err *err)
{
	const char *missing = NULL;

	if (p->kind == SLUICE_ASYNC) {
		if (!p->async || !p->async->batch)
			missing = "batch";
	} else if (!p->in_line || !p->in_line->start) {
		missing = "start";
	} else if (p->in_line->classes && !p->in_line->after) {
		missing = "after";
	}
	if (missing)
		return err_set(err, EINVAL, "%s: the required hook %s is missing", name, missing);
	return 0;
}

/* The name is used as a section of the settings and as a word in reports. */
static bool name_is_valid(const char *name)
{
	if (!name || !*name || strlen(name) >= LIBRARY_NAME_BYTES)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_-.", *name))
			return false;
	return true;
}

int library_check(const struct sluice_plugin *p, const char *name, uint32_t kind, struct err *err)
{
	if (p->abi != SLUICE_PLUGIN_ABI)
		return err_set(err, EINVAL,
			       "%s: built for plug-in ABI %u, but this Sluice has ABI %d; "
			       "compile it against this version's headers",
			       name, p->abi, SLUICE_PLUGIN_ABI);
	if (p->kind != SLUICE_ASYNC && p->kind != SLUICE_INLINE)
		return err_set(
			err, EINVAL,
			"%s: unknown plug-in kind %u; expected asynchronous (%d) or in-line (%d)",
			name, p->kind, SLUICE_ASYNC, SLUICE_INLINE);
	if (kind && p->kind != kind)
		return err_set(err, EINVAL, "%s: %s plug-ins cannot be used here", name,
			       p->kind == SLUICE_ASYNC ? "asynchronous" : "in-line");
	if (!name_is_valid(p->name))
		return err_set(err, EINVAL,
			       "%s: invalid plug-in name; use letters, digits, _ - and .", name);
	return hooks_check(p, name, err);
}

const struct sluice_plugin *library_load(const char *path, uint32_t kind, struct err *err)
{
	const struct sluice_plugin *plugin;
	const char *why;
	void *library;

	if (trusted_check_path(path, err) < 0)
		return NULL;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	why = library ? NULL : dlerror();
	if (!library) {
		err_set(err, ENOENT, "%s", why ? why : path);
		return NULL;
	}
	plugin = dlsym(library, "sluice_plugin");
	if (!plugin)
		err_set(err, EINVAL, "%s: not a plug-in: the symbol sluice_plugin is missing",
			path);
	if (plugin && library_check(plugin, path, kind, err) >= 0)
		return plugin;
	dlclose(library);
	return NULL;
}

/* Result of the test process, sent in one write that is smaller than PIPE_BUF. */
struct verdict {
	int result;
	struct library_found found;
	struct err err;
};

static void probe_in_child(const char *path, int out)
{
	const struct rlimit none = { 0, 0 };
	struct verdict v = { 0 };
	const struct sluice_plugin *p;
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	p = library_load(path, 0, &v.err);
	v.result = p ? 0 : -v.err.code;
	if (p) {
		v.found.kind = p->kind;
		v.found.detects = p->kind == SLUICE_ASYNC && p->async->health;
		snprintf(v.found.name, sizeof(v.found.name), "%s", p->name);
	}
	_exit(write(out, &v, sizeof(v)) == sizeof(v) ? 0 : 1);
}

/* Returns false if no complete result arrived in time. */
static bool read_verdict(int fd, struct verdict *v)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r;

	do
		r = poll(&p, 1, LIBRARY_WAIT_MS);
	while (r < 0 && errno == EINTR);
	return r > 0 && read(fd, v, sizeof(*v)) == sizeof(*v);
}

/* Waits shortly for the process to exit. Returns false if it had to be killed. */
static bool await_exit(pid_t pid, int *status)
{
	for (int i = 0; i < 100; i++) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		clock_sleep_ns(NS_PER_MS);
	}
	kill(pid, SIGKILL);
	waitpid(pid, status, 0);
	return false;
}

int library_probe(const char *path, struct library_found *found, struct err *err)
{
	struct verdict v;
	int fds[2], status = 0;
	bool received, ended;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, errno, "%s: cannot test the plug-in: %s", path,
			       strerror(errno));
	pid = fork();
	if (!pid)
		probe_in_child(path, fds[1]);
	close(fds[1]);
	received = pid > 0 && read_verdict(fds[0], &v);
	close(fds[0]);
	ended = pid > 0 && await_exit(pid, &status);
	if (received && v.result >= 0)
		*found = v.found;
	else if (received)
		*err = v.err;
	if (received)
		return v.result;
	if (pid < 0)
		return err_set(err, EAGAIN, "%s: cannot test the plug-in: fork failed", path);
	if (!ended)
		return err_set(err, ETIMEDOUT, "%s: loading the plug-in takes longer than %d s",
			       path, LIBRARY_WAIT_MS / 1000);
	if (WIFSIGNALED(status))
		return err_set(err, EFAULT, "%s: the plug-in crashes when it is loaded: %s", path,
			       strsignal(WTERMSIG(status)));
	return err_set(err, EFAULT, "%s: the plug-in exits the process that loads it", path);
}
