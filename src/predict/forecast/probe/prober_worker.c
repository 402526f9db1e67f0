/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/probe/prober_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/process.h"
#include "learn/math/random.h"
#include "predict/forecast/probe/prober_plan.h"
#include "predict/forecast/probe/targets.h"

int payload_init(struct payload *payload, uint64_t largest, struct err *err)
{
	size_t size = largest < PAYLOAD_BYTES ? (size_t)largest : PAYLOAD_BYTES;
	struct random random;
	uint64_t seed = 0;
	uint64_t *words =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (words == MAP_FAILED)
		return err_set(err, errno, "cannot allocate %zu bytes of data to write: %s", size,
			       strerror(errno));
	/* Each prober writes different data, because the storage may deduplicate blocks. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = (uint64_t)getpid();
	random_init(&random, seed);
	for (size_t i = 0; i < size / sizeof(*words); i++)
		words[i] = random_u64(&random);
	*payload = (struct payload){ words, size };
	return 0;
}

void payload_release(struct payload *payload)
{
	if (payload->bytes)
		munmap(payload->bytes, payload->size);
	*payload = (struct payload){ 0 };
}

struct writing {
	const struct target *target;
	const struct payload *payload;
	int fd;	     /* -1: no file */
	int direct;  /* the same file for O_DIRECT; -1: not open */
	size_t turn; /* number of files created so far */
	dev_t device;
	ino_t directory; /* of the directory that the file was created in */
};

static void close_file(struct writing *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->direct >= 0)
		close(w->direct);
	w->fd = w->direct = -1;
}

/* An unlinked file survives an unmount, and another file system may be mounted there now. */
static bool file_is_current(const struct writing *w)
{
	struct stat st;

	return stat(w->target->path, &st) == 0 && st.st_dev == w->device &&
	       st.st_ino == w->directory;
}

static int create_file(struct writing *w, struct err *err)
{
	struct stat st;
	int fd = target_make(w->target, w->turn++, err);

	if (fd >= 0 && stat(w->target->path, &st) == 0) {
		w->device = st.st_dev;
		w->directory = st.st_ino;
	}
	return fd;
}

static int ensure_file(struct writing *w, struct err *err)
{
	if (w->fd >= 0 && (!w->target->ops->is_reusable(w->target) || !file_is_current(w)))
		close_file(w);
	if (w->fd < 0)
		w->fd = create_file(w, err);
	return w->fd < 0 ? w->fd : 0;
}

/*
 * Opens the file again with O_DIRECT. The server of a FUSE file system is not told if O_DIRECT is
 * set later, and would cache the data. Returns -EINVAL if the file system does not support it.
 */
static int open_direct(struct writing *w)
{
	char path[64];

	if (w->direct >= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
	w->direct = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
	return w->direct < 0 ? -EINVAL : 0;
}

static int write_bytes(int fd, const struct payload *payload, uint64_t bytes)
{
	uint64_t at = 0;

	while (at < bytes) {
		uint64_t left = bytes - at;
		size_t piece = left < payload->size ? (size_t)left : payload->size;
		ssize_t n = pwrite(fd, payload->bytes, piece, (off_t)at);

		if (n < 0 && errno != EINTR)
			return -errno;
		/* O_DIRECT continues at whole blocks; less than a block means no space left. */
		if (n >= 0 && n < PROBER_SIZE_STEP)
			return -ENOSPC;
		at += n > 0 ? (uint64_t)n / PROBER_SIZE_STEP * PROBER_SIZE_STEP : 0;
	}
	return 0;
}

/* Measures the write, including fdatasync() if the method needs it. */
static int measure_write(const struct writing *w, uint64_t bytes, enum sample_method method,
			 double *seconds)
{
	double began = clock_now_s();
	int r = write_bytes(method == SAMPLE_DIRECT ? w->direct : w->fd, w->payload, bytes);

	if (r >= 0 && method == SAMPLE_FSYNC && fdatasync(w->fd) < 0)
		r = -errno;
	*seconds = clock_now_s() - began;
	return r;
}

/* Uses O_DIRECT unless fsync is ordered. Falls back to fsync if the method is not ordered. */
static int write_by_method(struct writing *w, const struct worker_order *order,
			   struct worker_answer *answer)
{
	int r = -EINVAL;

	answer->method = SAMPLE_DIRECT;
	if (order->method != SAMPLE_FSYNC) {
		r = open_direct(w);
		if (r >= 0)
			r = measure_write(w, order->bytes, SAMPLE_DIRECT, &answer->seconds);
	}
	if (order->method == SAMPLE_FSYNC || (order->method == SAMPLE_UNKNOWN && r == -EINVAL)) {
		answer->method = SAMPLE_FSYNC;
		r = measure_write(w, order->bytes, SAMPLE_FSYNC, &answer->seconds);
	}
	return r;
}

/* Returns -ENOSPC if the write would use more than half of the free space. */
static int check_free_space(int fd, uint64_t bytes)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) < 0 || !fs.f_blocks)
		return 0;
	return (double)fs.f_bavail * (double)fs.f_frsize < 2.0 * (double)bytes ? -ENOSPC : 0;
}

static int carry_out(struct writing *w, const struct worker_order *order,
		     struct worker_answer *answer, struct err *err)
{
	struct stat st;
	int r = ensure_file(w, err);

	if (r < 0)
		return r;
	if (fstat(w->fd, &st) == 0)
		answer->device = st.st_dev;
	if (!order->bytes)
		return 0;
	r = check_free_space(w->fd, order->bytes);
	if (r >= 0)
		r = write_by_method(w, order, answer);
	/* Free the space before the answer is sent. */
	if (ftruncate(w->fd, 0) < 0 && r >= 0)
		r = -errno;
	if (r < 0)
		err_set(err, -r, "%s: %s", w->target->path, strerror(-r));
	return r;
}

static bool is_full(int r)
{
	return r == -ENOSPC || r == -EDQUOT || r == -EFBIG;
}

static void answer_order(struct writing *w, const struct worker_order *order,
			 struct worker_answer *answer)
{
	struct err err = { 0 };
	int r;

	*answer = (struct worker_answer){ .method = order->method };
	r = carry_out(w, order, answer, &err);
	answer->outcome = r >= 0 ? SAMPLE_DONE : is_full(r) ? SAMPLE_FULL : SAMPLE_FAILED;
	answer->error = r < 0 ? -r : 0;
	snprintf(answer->text, sizeof(answer->text), "%.239s", err.text);
	/* After an error, for example a server restart, the descriptor may stay unusable. */
	if (answer->outcome == SAMPLE_FAILED)
		close_file(w);
}

/* A worker dies with its prober, and ignores signals meant for the prober. */
static void set_signals(pid_t parent)
{
	static const int ignored[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT,
				       SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2 };
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void run_worker(const struct target *target, const struct payload *payload, int orders,
		       int answers)
{
	struct writing w = { .target = target, .payload = payload, .fd = -1, .direct = -1 };
	struct worker_order order;
	struct worker_answer answer;

	while (read(orders, &order, sizeof(order)) == (ssize_t)sizeof(order)) {
		answer_order(&w, &order, &answer);
		if (write(answers, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
			break;
	}
	_exit(0);
}

int worker_start(struct worker *worker, const struct target *target, const struct payload *payload,
		 struct err *err)
{
	int orders[2] = { -1, -1 }, answers[2] = { -1, -1 };
	pid_t self = getpid(), pid = -1;

	if (pipe2(orders, O_CLOEXEC) == 0 && pipe2(answers, O_CLOEXEC) == 0 &&
	    fcntl(answers[0], F_SETFL, O_NONBLOCK) == 0)
		pid = fork();
	if (pid == 0) {
		set_signals(self);
		/* A process that waits for the end of our output must not wait for a stuck worker.
		 */
		process_close_files((const int[]){ orders[0], answers[1] }, 2);
		run_worker(target, payload, orders[0], answers[1]);
	}
	if (pid < 0)
		err_set(err, errno, "cannot start a worker process for target \"%s\": %s",
			target->name, strerror(errno));
	for (int i = 0; i < 2; i++) {
		/* The prober keeps orders[1] and answers[0]. */
		if (orders[i] >= 0 && (pid < 0 || i == 0))
			close(orders[i]);
		if (answers[i] >= 0 && (pid < 0 || i == 1))
			close(answers[i]);
	}
	if (pid < 0)
		return -EAGAIN;
	worker->pid = pid;
	worker->orders = orders[1];
	worker->answers = answers[0];
	worker->is_killed = false;
	return 0;
}

/* A write to a worker that died must not raise SIGPIPE in the prober. */
static ssize_t write_without_sigpipe(int fd, const void *bytes, size_t n)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	ssize_t r;

	sigaction(SIGPIPE, &ignore, &old);
	r = write(fd, bytes, n);
	sigaction(SIGPIPE, &old, NULL);
	return r;
}

int worker_send(struct worker *worker, const struct worker_order *order)
{
	ssize_t n = write_without_sigpipe(worker->orders, order, sizeof(*order));

	return n == (ssize_t)sizeof(*order) ? 0 : -EPIPE;
}

int worker_receive(struct worker *worker, struct worker_answer *answer)
{
	struct worker_answer received;
	ssize_t n = read(worker->answers, &received, sizeof(received));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof(received))
		return -EPIPE;
	*answer = received;
	return 1;
}

static void close_pipes(struct worker *worker)
{
	if (worker->orders >= 0)
		close(worker->orders);
	if (worker->answers >= 0)
		close(worker->answers);
	worker->orders = worker->answers = -1;
}

void worker_kill(struct worker *worker)
{
	if (!worker->pid || worker->is_killed)
		return;
	kill(worker->pid, SIGKILL);
	worker->is_killed = true;
	close_pipes(worker);
}

static double cpu_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

bool worker_has_exited(struct worker *worker)
{
	struct rusage usage;

	if (!worker->pid)
		return true;
	if (wait4(worker->pid, NULL, WNOHANG, &usage) != worker->pid)
		return false;
	worker->cpu_s += cpu_seconds(&usage);
	close_pipes(worker);
	worker->pid = 0;
	return true;
}

void worker_close_pipes(struct worker *worker)
{
	close_pipes(worker);
}
