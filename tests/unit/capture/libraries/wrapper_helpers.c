/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The helpers that rows of interfaces/ use in wrappers: their results, and memory that they must
 * not read.
 */
#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Guest code in a host test: the files are included, and the tables are defined here. */
#include "capture/libraries/wrapper_helpers.c"
#include "capture/record/handle_table.c"

atomic_bool sandbox_sealed;

static _Atomic uint64_t handles[256];
_Atomic uint64_t *capture_handles = handles;
_Atomic int capture_handles_high;

static void modes_of_streams_are_converted_to_flags(void)
{
	CHECK_INT(stream_flags("r"), O_RDONLY);
	CHECK_INT(stream_flags("rb+"), O_RDWR);
	CHECK_INT(stream_flags("w"), O_WRONLY | O_CREAT | O_TRUNC);
	CHECK_INT(stream_flags("wxe"), O_WRONLY | O_CREAT | O_TRUNC | O_EXCL | O_CLOEXEC);
	CHECK_INT(stream_flags("a+"), O_RDWR | O_CREAT | O_APPEND);
	CHECK_INT(stream_flags("r,ccs=x+"), O_RDONLY);
	CHECK_INT(stream_flags(NULL), 0);
}

#define REGION 65536

/* Two regions of memory, of which the second is not readable. */
static char *half_readable(void)
{
	char *pages =
		mmap(NULL, 2 * REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(pages != MAP_FAILED);
	REQUIRE(mprotect(pages + REGION, REGION, PROT_NONE) == 0);
	return pages;
}

static void unreadable_paths_are_not_read(void)
{
	char *pages = half_readable();

	errno = 7;
	CHECK_INT(path_bytes((const char *)8, EINVAL), 0);
	CHECK_INT(path_bytes((const char *)8, EFAULT), 0);
	CHECK_INT(path_bytes(NULL, 0), 0);
	CHECK_INT(path_bytes(NULL, EINVAL), 0);
	memset(pages + REGION - 5, 'x', 5);
	CHECK_INT(path_bytes(pages + REGION - 5, EINVAL), 5);
	pages[REGION - 1] = 0;
	CHECK_INT(path_bytes(pages + REGION - 5, EINVAL), 4);
	CHECK_INT(path_bytes(pages + REGION - 5, ENOENT), 4);
	CHECK_INT(path_bytes(pages + REGION - 5, 0), 4);
	CHECK_INT(errno, 7);
	munmap(pages, 2 * REGION);
}

static void long_paths_are_truncated(void)
{
	static char path[3 * RECORD_STRING_MAX];

	memset(path, 'x', sizeof(path) - 1);
	CHECK_INT(path_bytes(path, 0), RECORD_STRING_MAX);
	CHECK_INT(path_bytes(path + 1, EINVAL), RECORD_STRING_MAX);
}

static void vectors_are_read_only_if_the_call_has_read_them(void)
{
	const struct iovec iov[] = { { NULL, 3 }, { NULL, 4 } };
	const struct msghdr message = { .msg_iov = (struct iovec *)iov, .msg_iovlen = 2 };
	const struct mmsghdr messages[] = { { .msg_len = 5 }, { .msg_len = 6 } };
	off_t offset = 30;

	CHECK_INT(iov_bytes(iov, 2, 0), 7);
	CHECK_INT(iov_bytes(iov, 2, EAGAIN), 7);
	CHECK_INT(iov_bytes((const struct iovec *)8, 2, EFAULT), 0);
	CHECK_INT(iov_bytes((const struct iovec *)8, 2, EBADF), 0);
	CHECK_INT(msg_bytes(&message, 0), 7);
	CHECK_INT(msg_bytes((const struct msghdr *)8, EFAULT), 0);
	CHECK_INT(mmsg_bytes(messages, 2), 11);
	CHECK_INT(mmsg_bytes((const struct mmsghdr *)8, -1), -1);
	CHECK_INT(offset_before(&offset, 10, 0), 20);
	CHECK_INT(offset_before((const off_t *)8, -1, EFAULT), -1);
	CHECK_INT(offset_before(NULL, 10, 0), -1);
}

static void the_bytes_of_a_scan_are_known(void)
{
	char text[] = "12 abc 7";
	FILE *stream = fmemopen(text, strlen(text), "r");
	struct scan at;
	int number;

	REQUIRE(stream);
	at = scan_begin(stream);
	CHECK_INT(fscanf(stream, "%d", &number), 1);
	CHECK_INT(scan_bytes(at, stream), 2);
	at = scan_begin(stream);
	CHECK_INT(fscanf(stream, " abc%d", &number), 1);
	CHECK_INT(scan_bytes(at, stream), 6);
	fclose(stream);
}

static void a_range_of_handles_is_cleared(void)
{
	for (int fd = 0; fd < 100; fd++)
		handle_put(fd, 1);
	handle_clear(10, 19);
	CHECK_INT(handle_peek(9), 1);
	CHECK_INT(handle_peek(10), 0);
	CHECK_INT(handle_peek(19), 0);
	CHECK_INT(handle_peek(20), 1);
	handle_clear(50, UINT32_MAX);
	CHECK_INT(handle_peek(49), 1);
	CHECK_INT(handle_peek(99), 0);
	handle_clear(20, 10);
	CHECK_INT(handle_peek(20), 1);
}

TESTS(TEST(modes_of_streams_are_converted_to_flags), TEST(unreadable_paths_are_not_read),
      TEST(long_paths_are_truncated), TEST(vectors_are_read_only_if_the_call_has_read_them),
      TEST(the_bytes_of_a_scan_are_known), TEST(a_range_of_handles_is_cleared))
