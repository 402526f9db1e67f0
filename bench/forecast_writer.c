/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One I/O step of a parallel program: processes write a set of files into one directory. Each
 * process writes and fsyncs its part of the files one after another; the step ends when the last
 * process has finished. The program prints "SECONDS BYTES FOLDER=FILES ...", where SECONDS starts
 * when all processes are ready and FOLDER is where files are in fact, and removes its files.
 *
 *	bench_forecast_writer DIRECTORY PROCESSES FILES_OF_EACH BYTES
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 4096

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "bench_forecast_writer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void path_make(char path[PATH_BYTES], const char *directory, int process, int file)
{
	snprintf(path, PATH_BYTES, "%s/out.%d.%d", directory, process, file);
}

/* The folder of an open file, which may be elsewhere than its path says. */
static void folder_of(int fd, char folder[PATH_BYTES])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, folder, PATH_BYTES - 1);
	if (n < 0)
		die(link);
	folder[n] = 0;
	*strrchr(folder, '/') = 0;
}

static void file_write(const char *path, const char *data, size_t bytes, char folder[PATH_BYTES])
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		die(path);
	for (size_t done = 0; done < bytes;) {
		ssize_t n = write(fd, data + done, bytes - done);

		if (n < 0)
			die(path);
		done += (size_t)n;
	}
	folder_of(fd, folder);
	if (fsync(fd) < 0 || close(fd) < 0)
		die(path);
}

/* The state that all processes share. */
struct step {
	const char *directory;
	int processes, files;
	size_t bytes;
	char (*folders)[PATH_BYTES]; /* shared: processes x files */
	/* Each process closes ready when it is ready; start is closed when all are ready. */
	int ready[2], start[2];
};

static void process_main(const struct step *step, int process)
{
	char *data = malloc(step->bytes), path[PATH_BYTES];
	char none;

	if (!data)
		die("memory");
	memset(data, 'a' + process % 26, step->bytes);
	close(step->ready[0]);
	close(step->ready[1]);
	close(step->start[1]);
	if (read(step->start[0], &none, 1) < 0)
		die("start");
	for (int i = 0; i < step->files; i++) {
		path_make(path, step->directory, process, i);
		file_write(path, data, step->bytes, step->folders[process * step->files + i]);
	}
	_exit(0);
}

static void processes_start(const struct step *step)
{
	for (int i = 0; i < step->processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0)
			process_main(step, i);
	}
}

static void files_remove(const struct step *step)
{
	char path[PATH_BYTES];

	for (int i = 0; i < step->processes * step->files; i++) {
		path_make(path, step->directory, i / step->files, i % step->files);
		unlink(path);
	}
}

/* Prints each folder once, at its first file. */
static void folders_print(char (*folders)[PATH_BYTES], int count)
{
	for (int i = 0; i < count; i++) {
		int of_it = 0, seen = 0;

		for (int k = 0; k < count; k++) {
			int same = !strcmp(folders[k], folders[i]);

			seen += k < i && same;
			of_it += same;
		}
		if (!seen)
			printf(" %s=%d", folders[i], of_it);
	}
	putchar('\n');
}

static void step_init(struct step *step, char **words)
{
	*step = (struct step){ .directory = words[0],
			       .processes = atoi(words[1]),
			       .files = atoi(words[2]),
			       .bytes = strtoull(words[3], NULL, 10) };
	if (step->processes < 1 || step->files < 1 || step->bytes < 1) {
		fprintf(stderr, "bench_forecast_writer: PROCESSES, FILES_OF_EACH and BYTES must be "
				"positive\n");
		exit(2);
	}
	step->folders = mmap(NULL, (size_t)step->processes * (size_t)step->files * PATH_BYTES,
			     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (step->folders == MAP_FAILED)
		die("memory");
	if (pipe(step->ready) < 0 || pipe(step->start) < 0)
		die("pipe");
}

int main(int argc, char **argv)
{
	struct step step;
	int status, failed = 0;
	double begin;
	char none;

	if (argc != 5) {
		fprintf(stderr,
			"usage: bench_forecast_writer DIRECTORY PROCESSES FILES_OF_EACH BYTES\n");
		return 2;
	}
	step_init(&step, argv + 1);
	processes_start(&step);
	close(step.ready[1]);
	if (read(step.ready[0], &none, 1) < 0)
		die("ready");
	begin = now_s();
	close(step.start[0]);
	close(step.start[1]);
	for (int i = 0; i < step.processes; i++)
		failed += wait(&status) < 0 || status != 0;
	printf("%.6f %zu", now_s() - begin,
	       (size_t)step.processes * (size_t)step.files * step.bytes);
	folders_print(step.folders, step.processes * step.files);
	files_remove(&step);
	return failed != 0;
}
