/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creates files whose directory `sluice run --place` may choose, in ways that placement has to
 * notice. Files are called NAME0, NAME1 and so on.
 */
#include "prog.h"

#include <signal.h>
#include <sluice/instrument.h>

static int create(const char *name, int number)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s%d", name, number);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
	MUST(fd >= 0);
	return fd;
}

/* Uses the numbers of the files for something else, so that nothing closes them again. */
static void fill(int count)
{
	for (int i = 0; i < count; i++)
		MUST(open("/dev/null", O_RDONLY) >= 0);
}

/* Tells that the files are there, and waits until the test has looked. */
static int hold(void)
{
	MUST(close(open("ready", O_WRONLY)) == 0);
	MUST(close(open("go", O_RDONLY)) == 0);
	return 0;
}

/* steps NAME COUNT MARKS: a file per step; every process of two marks the steps if MARKS is 1 */
static int steps(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[1]) : 0, marks = argc == 3 ? atoi(argv[2]) : 0, status;
	pid_t pid = fork();

	MUST(pid >= 0);
	for (int i = 0; i < count; i++) {
		sluice_activity step = sluice_begin(0, "step");

		if (marks)
			sluice_step(step, i);
		MUST(close(create(argv[0], 2 * i + (pid == 0))) == 0);
		sluice_end(step);
	}
	if (!pid)
		_exit(0);
	MUST(waitpid(pid, &status, 0) == pid && !status);
	return 0;
}

/* keep NAME COUNT: keeps the files open */
static int keep(int argc, char **argv)
{
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++)
		create(argv[0], i);
	return hold();
}

/* duplicated NAME COUNT: only duplicates stay open */
static int duplicated(int argc, char **argv)
{
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++) {
		int fd = create(argv[0], i);

		MUST(fcntl(fd, F_DUPFD_CLOEXEC, 100) >= 0);
		MUST(close(fd) == 0);
	}
	return hold();
}

/* range NAME COUNT, from NAME COUNT: closes all files by one call, and continues */
static int range(int argc, char **argv)
{
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++)
		create(argv[0], i);
	MUST(!close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) && !close_range(3, ~0u, 0));
	fill(argc == 2 ? atoi(argv[1]) : 0);
	return hold();
}

static int from(int argc, char **argv)
{
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++)
		create(argv[0], i);
	closefrom(3);
	fill(argc == 2 ? atoi(argv[1]) : 0);
	return hold();
}

/* reopened NAME COUNT: a stream leaves its file for another */
static int reopened(int argc, char **argv)
{
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++) {
		FILE *stream = fdopen(create(argv[0], i), "w");

		MUST(stream);
		stream = freopen("/dev/null", "w", stream);
		MUST(stream);
	}
	return hold();
}

/* killed NAME COUNT: is killed when it has written a part of each file, and stored it */
static int killed(int argc, char **argv)
{
	for (int i = 0; argc == 2 && i < atoi(argv[1]); i++) {
		int fd = create(argv[0], i);

		put(fd, "a part");
		MUST(fsync(fd) == 0);
	}
	raise(SIGKILL);
	return 1;
}

CASES(CASE(steps), CASE(keep), CASE(duplicated), CASE(range), CASE(from), CASE(reopened),
      CASE(killed))
