/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define BYTES 16384

static const char path[] = "mapping-test";

static int make_file(void)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	REQUIRE(fd >= 0 && ftruncate(fd, BYTES) == 0);
	return fd;
}

static void truncated_file_reads_as_zeros(void)
{
	struct mapping first, second;
	int fd = make_file();
	char *bytes, found;

	REQUIRE(mapping_open(&first, fd, BYTES) == 0);
	REQUIRE(mapping_open(&second, fd, BYTES) == 0);
	bytes = first.base;
	bytes[BYTES - 1] = 7;
	CHECK(!first.lost);
	REQUIRE(pread(fd, &found, 1, BYTES - 1) == 1);
	CHECK_INT(found, 7);
	REQUIRE(ftruncate(fd, 0) == 0);
	CHECK_INT(*(volatile char *)&bytes[BYTES - 1], 0);
	CHECK(first.lost);
	CHECK(!second.lost);
	bytes[0] = 1; /* is discarded */
	CHECK_INT(*(volatile char *)second.base, 0);
	CHECK(second.lost);
	close(fd);
	mapping_close(&first);
	mapping_close(&first);
	mapping_close(&second);
	unlink(path);
}

static void bus_error_elsewhere_ends_the_process(void)
{
	struct mapping mapping;
	int fd = make_file(), status = 0;
	pid_t pid;

	REQUIRE(mapping_open(&mapping, fd, BYTES) == 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		raise(SIGBUS);
		raise(SIGBUS);
		_exit(0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	close(fd);
	mapping_close(&mapping);
	unlink(path);
}

static void failure_is_returned(void)
{
	struct mapping mapping;

	CHECK_INT(mapping_open(&mapping, -1, BYTES), -EBADF);
	CHECK(!mapping.base);
	mapping_close(&mapping);
}

TESTS(TEST(truncated_file_reads_as_zeros), TEST(bus_error_elsewhere_ends_the_process),
      TEST(failure_is_returned))
