/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"
#include "capture/record/site.h"

/* The control page, if launches are to be announced. */
static struct control *open_control(void)
{
	struct control *c = capture_membership.control;

	return c && atomic_load_explicit(&c->mode, memory_order_relaxed) > CAPTURE_OFF ? c : NULL;
}

/* The value of a variable in an environment, or NULL. */
static const char *find_value(char *const *envp, const char *name)
{
	size_t n = strlen(name);

	for (; envp && *envp; envp++)
		if (!strncmp(*envp, name, n) && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

static bool is_disabled(char *const *envp)
{
	const char *disable = find_value(envp, "SLUICE_DISABLE");

	return disable && disable[0] && strcmp(disable, "0") != 0;
}

static bool preloads_guest(char *const *envp)
{
	const char *preload = find_value(envp, "LD_PRELOAD");

	return preload && strstr(preload, "libsluice");
}

static bool has_variables(char *const *envp)
{
	const char *spool = find_value(envp, "SLUICE_SPOOL");

	/* A site may preload the library for all programs by another way. */
	if (capture_membership.policy)
		return preloads_guest(envp) || !preloads_guest(environ);
	return spool && !strcmp(spool, capture_membership.directory) && preloads_guest(envp);
}

/* Does the path of this process's spool directory lead to the directory of the run? */
static bool is_reachable(void)
{
	return kernel_call(SYS_faccessat, AT_FDCWD, capture_membership.directory, W_OK | X_OK) == 0;
}

static bool memory_is_limited(void)
{
	struct rlimit limit;

	return kernel_call(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) == 0 &&
	       limit.rlim_cur != RLIM_INFINITY;
}

static unsigned find_obstacles(const struct control *c, char *const *envp)
{
	unsigned flags = 0;

	if (!has_variables(envp))
		flags |= LAUNCH_NO_ENVIRONMENT;
	/* In a sandbox, nothing that needs a system call is found out. */
	if (sandbox_is_sealed())
		return flags | LAUNCH_SANDBOXED;
	if ((uint32_t)kernel_call(SYS_geteuid) != c->owner)
		flags |= LAUNCH_OTHER_USER;
	if (!is_reachable())
		flags |= LAUNCH_UNREACHABLE;
	if (memory_is_limited())
		flags |= LAUNCH_SMALL_MEMORY;
	return flags;
}

static pid_t own_pid(void)
{
	return sandbox_is_sealed() ? 0 : (pid_t)kernel_call(SYS_getpid);
}

static uint64_t find_namespace(void)
{
	struct stat ns;

	if (sandbox_is_sealed())
		return 0;
	return kernel_call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &ns, 0) == 0 ? ns.st_ino
										       : 0;
}

static void put_text(char *path, size_t at, const char *text)
{
	size_t n = strnlen(text, LAUNCH_PATH_BYTES - 1 - at);

	memcpy(path + at, text, n);
	path[at + n] = 0;
}

/* Stores the path that a descriptor was opened by; returns its length. */
static size_t put_descriptor(char *path, int fd)
{
	char link[] = "/proc/self/fd/0000000000";
	char *digit = link + sizeof(link) - 1;
	long n;

	for (unsigned i = 0, rest = (unsigned)fd; i < 10; i++, rest /= 10)
		*--digit = (char)('0' + rest % 10);
	/* The kernel accepts no leading zeros. */
	while (*digit == '0' && digit[1])
		digit++;
	memmove(link + sizeof("/proc/self/fd/") - 1, digit, strlen(digit) + 1);
	n = kernel_call(SYS_readlinkat, AT_FDCWD, link, path, LAUNCH_PATH_BYTES - 1);
	path[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}

/* Stores the working directory, if it fits; returns its length. */
static size_t put_directory(char *path)
{
	long n = kernel_call(SYS_getcwd, path, LAUNCH_PATH_BYTES);

	return n > 0 && path[0] == '/' ? (size_t)n - 1 : 0;
}

/* Searches the directories of PATH for an executable file, as libc does. */
static bool put_searched(char *path, const char *name)
{
	const char *at = getenv("PATH");

	for (at = at ? at : "/bin:/usr/bin"; at; at = *at ? at + 1 : NULL) {
		size_t n = strcspn(at, ":");

		if (n && n + 1 < LAUNCH_PATH_BYTES) {
			memcpy(path, at, n);
			path[n] = '/';
			put_text(path, n + 1, name);
			if (kernel_call(SYS_faccessat, AT_FDCWD, path, X_OK) == 0)
				return true;
		}
		at += n;
	}
	return false;
}

/* Makes the path absolute, because the collector has another working directory. */
static void put_path(char *to, const struct launch *l)
{
	const char *path = l->path ? l->path : "";
	size_t n = 0;

	if (sandbox_is_sealed()) {
		put_text(to, 0, path);
		return;
	}
	if (l->searched && path[0] && !strchr(path, '/') && put_searched(to, path))
		return;
	if (path[0] != '/')
		n = l->directory == AT_FDCWD ? put_directory(to) : put_descriptor(to, l->directory);
	if (path[0] == '.' && path[1] == '/')
		path += 2;
	if (n && path[0] && n < LAUNCH_PATH_BYTES - 1)
		to[n++] = '/';
	put_text(to, n, path);
}

static struct launch_note *note_begin(struct control *c, enum launch_kind kind, pid_t pid)
{
	struct launch_note *note = launch_claim(&c->launches);

	if (!note)
		return NULL;
	note->kind = (uint16_t)kind;
	note->flags = 0;
	note->pid = (int32_t)pid;
	note->cause = LOSS_UNKNOWN;
	note->pid_namespace = find_namespace();
	note->time = clock_ticks(c->clock);
	note->path[0] = 0;
	return note;
}

bool launch_begin(struct launch *l)
{
	const struct control *c = open_control();

	l->note = NULL;
	if (!c || is_disabled(l->envp))
		return false;
	l->time = clock_ticks(c->clock);
	return true;
}

static struct launch_note *announce(const struct launch *l, pid_t pid)
{
	struct control *c = capture_membership.control;
	struct launch_note *note = note_begin(c, pid ? LAUNCH_STARTS : LAUNCH_HIDDEN, pid);

	if (!note)
		return NULL;
	note->time = l->time;
	note->flags = (uint16_t)find_obstacles(c, l->envp);
	put_path(note->path, l);
	if (!site_includes(&capture_membership, note->path)) {
		launch_free(note);
		return NULL;
	}
	launch_publish(note);
	return note;
}

void launch_exec(struct launch *l)
{
	int saved = errno;

	l->note = announce(l, own_pid());
	errno = saved;
}

void launch_withdraw(const struct launch *l)
{
	int saved = errno;
	pid_t pid = own_pid();
	struct launch_note *note = l->note;

	if (note && launch_take(note)) {
		bool ours = note->pid == pid && note->time == l->time;

		if (ours)
			launch_free(note);
		else
			launch_publish(note);
		note = ours ? NULL : note;
	}
	if (note && pid)
		note = note_begin(capture_membership.control, LAUNCH_WITHDRAWN, pid);
	if (note && pid)
		launch_publish(note);
	errno = saved;
}

void launch_spawned(const struct launch *l, pid_t pid)
{
	int saved = errno;

	announce(l, pid);
	errno = saved;
}

void launch_shell(void)
{
	struct control *c = open_control();
	int saved = errno;
	unsigned flags = c && !is_disabled(environ) ? find_obstacles(c, environ) : 0;
	struct launch_note *note = NULL;

	/* Everything but a limit on memory keeps the shell from joining. */
	if (flags & ~(unsigned)LAUNCH_SMALL_MEMORY)
		note = note_begin(c, LAUNCH_HIDDEN, 0);
	if (note) {
		note->flags = (uint16_t)flags;
		put_text(note->path, 0, "/bin/sh");
		launch_publish(note);
	}
	errno = saved;
}

void launch_failed(enum loss_cause cause)
{
	struct control *c = open_control();
	int saved = errno;
	struct launch_note *note = c ? note_begin(c, LAUNCH_FAILED, own_pid()) : NULL;
	long n;

	if (note) {
		note->cause = cause;
		n = sandbox_is_sealed() ? 0
					: kernel_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe",
						      note->path, LAUNCH_PATH_BYTES - 1);
		put_text(note->path, n > 0 ? (size_t)n : 0, n > 0 ? "" : program_invocation_name);
		launch_publish(note);
	}
	errno = saved;
}
