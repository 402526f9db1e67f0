/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One I/O step of a parallel program: processes write a set of files into one directory, each its
 * own part of them one after another, and fsync each; the step is over when the last has ended.
 * Where the files come to lie is not its business. Prints "seconds bytes", from the moment at which
 * all processes are ready, and removes its files.
 *
 *	bench_forecast_writer DIRECTORY PROCESSES FILES_OF_EACH BYTES
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void file_write(const char *path, const char *data, size_t bytes)
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
	if (fsync(fd) < 0 || close(fd) < 0)
		die(path);
}

/* Files of one process; ready is closed when it is, and start ends when all are. */
static void process_main(const char *directory, int process, int files, size_t bytes,
			 const int ready[2], const int start[2])
{
	char *data = malloc(bytes), path[PATH_BYTES];
	char none;

	if (!data)
		die("memory");
	memset(data, 'a' + process % 26, bytes);
	close(ready[0]);
	close(ready[1]);
	close(start[1]);
	if (read(start[0], &none, 1) < 0)
		die("start");
	for (int i = 0; i < files; i++) {
		path_make(path, directory, process, i);
		file_write(path, data, bytes);
	}
	_exit(0);
}

static void processes_start(const char *directory, int processes, int files, size_t bytes,
			    const int ready[2], const int start[2])
{
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0)
			process_main(directory, i, files, bytes, ready, start);
	}
}

static void files_remove(const char *directory, int processes, int files)
{
	char path[PATH_BYTES];

	for (int i = 0; i < processes * files; i++) {
		path_make(path, directory, i / files, i % files);
		unlink(path);
	}
}

int main(int argc, char **argv)
{
	int ready[2], start[2], processes, files, status, failed = 0;
	size_t bytes;
	double begin;
	char none;

	if (argc != 5) {
		fprintf(stderr,
			"usage: bench_forecast_writer DIRECTORY PROCESSES FILES_OF_EACH BYTES\n");
		return 2;
	}
	processes = atoi(argv[2]);
	files = atoi(argv[3]);
	bytes = strtoull(argv[4], NULL, 10);
	if (pipe(ready) < 0 || pipe(start) < 0)
		die("pipe");
	processes_start(argv[1], processes, files, bytes, ready, start);
	close(ready[1]);
	if (read(ready[0], &none, 1) < 0)
		die("ready");
	begin = now_s();
	close(start[0]);
	close(start[1]);
	for (int i = 0; i < processes; i++)
		failed += wait(&status) < 0 || status != 0;
	printf("%.6f %zu\n", now_s() - begin, (size_t)processes * (size_t)files * bytes);
	files_remove(argv[1], processes, files);
	return failed != 0;
}
