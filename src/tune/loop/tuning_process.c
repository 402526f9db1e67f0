/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/tuning_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "store/studies.h"
#include "tune/trial/lock.h"

#define OTHERS_MAX 4096 /* descriptors that an old kernel closes one by one */

const char *tuning_state_name(enum tuning_state state)
{
	static const char *const names[] = { [TUNING_RUNNING] = "running",
					     [TUNING_INTERRUPTED] = "interrupted",
					     [TUNING_FINISHED] = "finished" };

	return names[state];
}

char *tuning_state_directory(const struct config *config)
{
	return xprintf("%s.tunings", config_text(config, SETTING_STORE_PATH));
}

char *tuning_lock_path(const struct config *config, const char *digest)
{
	AUTO_FREE char *directory = tuning_state_directory(config);

	return xprintf("%s/%s.lock", directory, digest);
}

char *tuning_log_path(const struct config *config, int64_t id)
{
	AUTO_FREE char *directory = tuning_state_directory(config);

	return xprintf("%s/%" PRId64 ".log", directory, id);
}

/* The process that runs this tuning; one that runs another tuning of the same command does not. */
static int find_process(const struct config *config, const struct study *study,
			struct lock_process *process)
{
	AUTO_FREE char *path = tuning_lock_path(config, study->digest);
	int r = lock_find_process(path, process);

	if (r >= 0 && process->subject != study->id) {
		lock_process_release(process);
		return -ESRCH;
	}
	return r;
}

static bool is_finished(const struct study *study)
{
	return strcmp(study->state, "done") == 0;
}

void tuning_status_read(struct tuning_status *status, const struct config *config,
			const struct study *study)
{
	struct lock_process process;

	*status = (struct tuning_status){ .state = is_finished(study) ? TUNING_FINISHED
								       : TUNING_INTERRUPTED };
	if (find_process(config, study, &process) < 0)
		return;
	status->state = TUNING_RUNNING;
	status->pid = process.pid;
	status->is_here = process.is_here;
	memcpy(status->host, process.host, sizeof(status->host));
	lock_process_release(&process);
}

static int send_interrupt(const struct lock_process *process)
{
#ifdef SYS_pidfd_send_signal
	if (process->pidfd >= 0)
		return syscall(SYS_pidfd_send_signal, process->pidfd, SIGINT, NULL, 0) == 0
			       ? 0
			       : -errno;
#endif
	return kill(process->pid, SIGINT) == 0 ? 0 : -errno;
}

int tuning_stop(const struct config *config, const struct study *study, struct err *err)
{
	struct lock_process process;
	int r;

	if (find_process(config, study, &process) < 0)
		return err_set(err, ESRCH, "tuning %" PRId64 " is not running", study->id);
	if (process.is_here) {
		r = send_interrupt(&process);
		if (r < 0)
			err_set(err, -r, "process %d: %s", process.pid, strerror(-r));
	} else {
		r = err_set(err, EREMOTE,
			    "tuning %" PRId64 " runs as process %d on host %s; stop it there",
			    study->id, process.pid, process.host);
	}
	lock_process_release(&process);
	return r;
}

/* --- start --- */

/* What the new process is started with. Everything is prepared before fork(): the caller may have
 * threads. */
struct start {
	char **argv;
	char program[PATH_MAX];
	int output;
};

static void start_release(struct start *start)
{
	for (char **arg = start->argv; arg && *arg; arg++)
		free(*arg);
	free(start->argv);
	auto_close(&start->output);
}

/* Settings that this process got from its command line are passed on; the others have sources that
 * the new process reads, too. */
static void fill_arguments(struct start *start, const struct config *config, int64_t id)
{
	size_t n = 0;

	start->argv = xcalloc(2 * SETTING_COUNT + 8, sizeof(*start->argv));
	start->argv[n++] = xstrdup("sluice");
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct config_value *value = &config->values[i];

		if (value->origin[0] != '-')
			continue;
		start->argv[n++] = xstrdup("-c");
		start->argv[n++] =
			xprintf("%s.%s=%s", settings[i].section, settings[i].key, value->text);
	}
	start->argv[n++] = xstrdup("tune");
	start->argv[n++] = xstrdup("--resume");
	start->argv[n++] = xstrdup("--tuning");
	start->argv[n++] = xprintf("%" PRId64, id);
}

static int start_init(struct start *start, const struct config *config, int64_t id, struct err *err)
{
	AUTO_FREE char *log = tuning_log_path(config, id), *state = tuning_state_directory(config);
	ssize_t length = readlink("/proc/self/exe", start->program, sizeof(start->program) - 1);
	int r = place_make_dir(state, 0700, err);

	if (r < 0)
		return r;
	if (length < 0)
		return err_set(err, errno, "/proc/self/exe: %s", strerror(errno));
	start->program[length] = 0;
	if (access(start->program, X_OK) != 0)
		return err_set(err, errno, "%s: %s; start the server again", start->program,
			       strerror(errno));
	start->output = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (start->output < 0)
		return err_set(err, errno, "%s: %s", log, strerror(errno));
	fill_arguments(start, config, id);
	return 0;
}

/* The new process must not keep the sockets of a server open. */
static void close_others(void)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0)
		return;
#endif
	for (int fd = STDERR_FILENO + 1; fd < OTHERS_MAX; fd++)
		close(fd);
}

/* In the new process: only functions that are safe after fork(). */
static _Noreturn void run_program(const struct start *start, const sigset_t *none)
{
	int input = open("/dev/null", O_RDONLY);

	if (setsid() < 0 || fork() != 0)
		_exit(0);
	dup2(input, STDIN_FILENO);
	dup2(start->output, STDOUT_FILENO);
	dup2(start->output, STDERR_FILENO);
	close_others();
	/* What the caller handles or ignores is the default again: Ctrl-C must stop a tuning. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, none, NULL);
	execv(start->program, start->argv);
	_exit(127);
}

int tuning_restart(const struct config *config, const struct study *study, struct err *err)
{
	struct start start = { .output = -1 };
	struct tuning_status status;
	sigset_t none;
	pid_t pid;
	int r;

	tuning_status_read(&status, config, study);
	if (status.state == TUNING_FINISHED)
		return err_set(err, EALREADY, "tuning %" PRId64 " is finished", study->id);
	if (status.state == TUNING_RUNNING)
		return err_set(err, EBUSY, "tuning %" PRId64 " is running: process %d on host %s",
			       study->id, status.pid, status.host);
	sigemptyset(&none);
	r = start_init(&start, config, study->id, err);
	if (r >= 0) {
		pid = fork();
		if (!pid)
			run_program(&start, &none);
		r = pid < 0 ? err_set(err, errno, "a process cannot be started: %s",
				      strerror(errno))
			    : 0;
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	start_release(&start);
	return r;
}
