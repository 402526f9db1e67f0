/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The helpers that rows of interfaces/ splice into wrappers: what they measure, and what they never
 * touch.
 */
#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Guest code in a host test: its file is taken in whole, and the tables it works on are our own. */
#include "capture/libraries/wrapper_helpers.c"
#include "capture/record/handle_table.c"

static _Atomic uint64_t handles[256];
_Atomic uint64_t *capture_handles = handles;
_Atomic int capture_handles_high;

static void modes_of_streams_are_flags(void)
{
	CHECK_INT(stream_flags("r"), O_RDONLY);
	CHECK_INT(stream_flags("rb+"), O_RDWR);
	CHECK_INT(stream_flags("w"), O_WRONLY | O_CREAT | O_TRUNC);
	CHECK_INT(stream_flags("wxe"), O_WRONLY | O_CREAT | O_TRUNC | O_EXCL | O_CLOEXEC);
	CHECK_INT(stream_flags("a+"), O_RDWR | O_CREAT | O_APPEND);
	CHECK_INT(stream_flags("r,ccs=x+"), O_RDONLY);
	CHECK_INT(stream_flags(NULL), 0);
}

/* Two pages of which the second cannot be read. */
static char *half_readable(void)
{
	char *pages =
		mmap(NULL, 2 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(pages != MAP_FAILED);
	REQUIRE(mprotect(pages + 65536, 65536, PROT_NONE) == 0);
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
	memset(pages + 65536 - 5, 'x', 5);
	CHECK_INT(path_bytes(pages + 65536 - 5, EINVAL), 5);
	pages[65535] = 0;
	CHECK_INT(path_bytes(pages + 65536 - 5, EINVAL), 4);
	CHECK_INT(path_bytes(pages + 65536 - 5, ENOENT), 4);
	CHECK_INT(path_bytes(pages + 65536 - 5, 0), 4);
	CHECK_INT(errno, 7);
	munmap(pages, 2 * 65536);
}

static void long_paths_are_cut(void)
{
	static char path[3 * RECORD_STRING_MAX];

	memset(path, 'x', sizeof(path) - 1);
	CHECK_INT(path_bytes(path, 0), RECORD_STRING_MAX);
	CHECK_INT(path_bytes(path + 1, EINVAL), RECORD_STRING_MAX);
}

static void vectors_count_only_where_they_were_read(void)
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

static void scans_tell_the_bytes_they_took(void)
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

static void range_of_handles_is_cleared(void)
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

TESTS(TEST(modes_of_streams_are_flags), TEST(unreadable_paths_are_not_read),
      TEST(long_paths_are_cut), TEST(vectors_count_only_where_they_were_read),
      TEST(scans_tell_the_bytes_they_took), TEST(range_of_handles_is_cleared))
