/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/disk_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

#define TYPE FRAME_ROWS_FIRST
#define SMALL (UINT64_C(1) << 20)

static struct disk_queue *open_sized(const char *name, uint64_t bytes, uint64_t segment)
{
	AUTO_FREE char *path = check_path(name);
	struct disk_queue_options options = { .directory = path,
					      .bytes_max = bytes,
					      .segment_bytes = segment };
	struct disk_queue *queue = NULL;
	struct err err = { 0 };

	if (disk_queue_open(&queue, &options, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(queue);
	return queue;
}

static struct disk_queue *open_queue(const char *name)
{
	return open_sized(name, SMALL, 0);
}

/* The content of a frame can be computed from its sequence. */
static size_t make_content(char *text, uint64_t sequence)
{
	size_t n =
		(size_t)snprintf(text, 64, "content of frame %llu ", (unsigned long long)sequence);

	for (uint64_t i = 0; i < sequence % 23; i++)
		text[n++] = (char)('a' + i);
	return n;
}

static void append(struct disk_queue *queue, uint64_t expected)
{
	char text[128];
	uint64_t sequence = 0;
	size_t n = make_content(text, expected);

	CHECK_INT(disk_queue_append(queue, TYPE, text, n, &sequence), 0);
	CHECK_INT(sequence, expected);
}

/* Reads the next frame and checks its content. Returns its sequence, 0: none. */
static uint64_t read_one(struct disk_queue *queue)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct frame frame;
	struct err err = { 0 };
	char text[128];
	int r = disk_queue_read(queue, &bytes, &frame, &err);
	size_t n;

	if (r < 0)
		printf("%s\n", err.text);
	CHECK(r >= 0);
	if (r <= 0)
		return 0;
	n = make_content(text, frame.sequence);
	CHECK_INT(frame.type, TYPE);
	CHECK_INT(frame.length, n);
	CHECK(frame.length == n && memcmp(frame.payload, text, n) == 0);
	CHECK_TEXT(frame.stream, disk_queue_id(queue));
	return frame.sequence;
}

static size_t list_segments(const char *name, glob_t *found)
{
	AUTO_FREE char *path = check_path(name);
	AUTO_FREE char *pattern = xprintf("%s/*.frames", path);

	memset(found, 0, sizeof(*found));
	return glob(pattern, 0, NULL, found) == 0 ? found->gl_pathc : 0;
}

static size_t count_segments(const char *name)
{
	glob_t found;
	size_t count = list_segments(name, &found);

	globfree(&found);
	return count;
}

static char *newest_segment(const char *name)
{
	glob_t found;
	size_t count = list_segments(name, &found);
	char *path = count ? xstrdup(found.gl_pathv[count - 1]) : NULL;

	globfree(&found);
	REQUIRE(path);
	return path;
}

static void change_byte(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	char byte;

	REQUIRE(fd >= 0 && pread(fd, &byte, 1, at) == 1);
	byte ^= 0x55;
	REQUIRE(pwrite(fd, &byte, 1, at) == 1);
	close(fd);
}

static off_t size_of(const char *path)
{
	struct stat st;

	REQUIRE(stat(path, &st) == 0);
	return st.st_size;
}

static void frames_are_read_in_order_once_they_are_durable(void)
{
	struct disk_queue *queue = open_queue("order");

	append(queue, 1);
	append(queue, 2);
	CHECK_INT(read_one(queue), 0);
	CHECK_INT(disk_queue_sync(queue), 0);
	append(queue, 3);
	CHECK_INT(read_one(queue), 1);
	CHECK_INT(read_one(queue), 2);
	CHECK_INT(read_one(queue), 0);
	CHECK_INT(disk_queue_sync(queue), 0);
	CHECK_INT(read_one(queue), 3);
	disk_queue_rewind(queue);
	CHECK_INT(read_one(queue), 1);
	disk_queue_close(queue);
}

static void released_frames_do_not_return(void)
{
	struct disk_queue *queue = open_queue("released");
	AUTO_FREE char *id = xstrdup(disk_queue_id(queue));

	for (uint64_t i = 1; i <= 5; i++)
		append(queue, i);
	disk_queue_sync(queue);
	CHECK_INT(disk_queue_release(queue, 6), -EINVAL); /* nobody can have seen it */
	CHECK_INT(read_one(queue), 1);
	CHECK_INT(read_one(queue), 2);
	CHECK_INT(disk_queue_release(queue, 2), 0);
	CHECK_INT(disk_queue_release(queue, 1), 0);
	CHECK_INT(read_one(queue), 3);
	disk_queue_rewind(queue);
	CHECK_INT(read_one(queue), 3);
	disk_queue_close(queue);
	queue = open_queue("released");
	CHECK_TEXT(disk_queue_id(queue), id);
	CHECK_INT(read_one(queue), 3);
	CHECK_INT(disk_queue_release(queue, 4), 0); /* before it was read */
	disk_queue_rewind(queue);
	CHECK_INT(read_one(queue), 5);
	disk_queue_close(queue);
}

static void segments_are_removed_but_numbers_are_never_reused(void)
{
	struct disk_queue *queue = open_sized("segments", SMALL, 4096);
	struct disk_queue_status status;

	for (uint64_t i = 1; i <= 500; i++)
		append(queue, i);
	disk_queue_sync(queue);
	CHECK(count_segments("segments") > 5);
	for (uint64_t i = 1; i <= 500; i++)
		CHECK_INT(read_one(queue), i);
	disk_queue_release(queue, 500);
	CHECK_INT(count_segments("segments"), 1);
	status = disk_queue_status(queue);
	CHECK(status.bytes <= 4096);
	disk_queue_close(queue);
	queue = open_sized("segments", SMALL, 4096);
	CHECK_INT(read_one(queue), 0);
	append(queue, 501);
	disk_queue_sync(queue);
	CHECK_INT(read_one(queue), 501);
	disk_queue_close(queue);
}

static void full_queue_refuses_and_recovers(void)
{
	struct disk_queue *queue = open_sized("full", 16384, 4096);
	char block[1024] = { 0 };
	uint64_t count = 0, after;

	while (disk_queue_append(queue, TYPE, block, sizeof(block), NULL) == 0)
		count++;
	CHECK(count >= 10 && count <= 16);
	CHECK_INT(disk_queue_append(queue, TYPE, block, sizeof(block), NULL), -ENOSPC);
	CHECK_INT(disk_queue_status(queue).refused, 2);
	CHECK(disk_queue_status(queue).bytes <= 16384);
	disk_queue_sync(queue);
	disk_queue_release(queue, count);
	for (after = 0; after < 100; after++) {
		CHECK_INT(disk_queue_append(queue, TYPE, block, sizeof(block), NULL), 0);
		CHECK_INT(disk_queue_sync(queue), 0);
		CHECK_INT(disk_queue_release(queue, count + after + 1), 0);
	}
	CHECK_INT(disk_queue_append(queue, 0, block, 1, NULL), -EMSGSIZE);
	disk_queue_close(queue);
}

/* A limit of the file size stands for a full disk: the write is cut, and then fails. */
static void failed_write_leaves_nothing_behind(void)
{
	struct disk_queue *queue = open_queue("cut");
	AUTO_FREE char *path = NULL;
	struct rlimit old, small;
	char block[512] = { 0 };

	append(queue, 1);
	disk_queue_sync(queue);
	path = newest_segment("cut");
	REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
	small = old;
	small.rlim_cur = (rlim_t)size_of(path) + 100;
	signal(SIGXFSZ, SIG_IGN);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
	CHECK_INT(disk_queue_append(queue, TYPE, block, sizeof(block), NULL), -EFBIG);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
	CHECK_INT(disk_queue_status(queue).failures, 1);
	append(queue, 2);
	disk_queue_sync(queue);
	CHECK_INT(read_one(queue), 1);
	CHECK_INT(read_one(queue), 2);
	disk_queue_close(queue);
	queue = open_queue("cut");
	CHECK_INT(disk_queue_status(queue).torn_bytes, 0);
	disk_queue_close(queue);
}

/* Cuts the last frame at each byte: as if the process was killed while it wrote. */
static void tail_may_be_torn_at_each_byte(void)
{
	AUTO_FREE char *path = NULL;
	struct disk_queue *queue = open_queue("torn");
	off_t before, after;

	append(queue, 1);
	append(queue, 2);
	disk_queue_sync(queue);
	path = newest_segment("torn");
	before = size_of(path);
	append(queue, 3);
	disk_queue_close(queue);
	after = size_of(path);
	for (off_t size = after - 1; size >= before; size--) {
		REQUIRE(truncate(path, size) == 0);
		queue = open_queue("torn");
		CHECK_INT(disk_queue_status(queue).torn_bytes, size - before);
		CHECK_INT(disk_queue_status(queue).lost, 0);
		CHECK_INT(read_one(queue), 1);
		CHECK_INT(read_one(queue), 2);
		CHECK_INT(read_one(queue), 0);
		append(queue, 3);
		disk_queue_sync(queue);
		CHECK_INT(read_one(queue), 3);
		disk_queue_close(queue);
		CHECK_INT(size_of(path), after);
	}
}

/* A power failure may leave zeros, or a segment without a header. */
static void tail_of_zeros_is_torn(void)
{
	struct disk_queue *queue = open_queue("zeros");
	AUTO_FREE char *path = NULL, *next = NULL;
	off_t size;

	append(queue, 1);
	disk_queue_close(queue);
	path = newest_segment("zeros");
	size = size_of(path);
	REQUIRE(truncate(path, size + 5000) == 0);
	queue = open_queue("zeros");
	CHECK_INT(disk_queue_status(queue).torn_bytes, 5000);
	append(queue, 2);
	disk_queue_close(queue);
	next = xstrdup(path);
	next[strlen(next) - strlen(".frames") - 1] = '3';
	for (off_t bytes = 0; bytes <= 4096; bytes += bytes < 64 ? 16 : 4032) {
		int fd = open(next, O_WRONLY | O_CREAT, 0600);

		REQUIRE(fd >= 0 && ftruncate(fd, bytes) == 0);
		close(fd);
		queue = open_queue("zeros");
		CHECK_INT(disk_queue_status(queue).next, 3);
		CHECK_INT(read_one(queue), 1);
		CHECK_INT(read_one(queue), 2);
		disk_queue_close(queue);
		CHECK(access(next, F_OK) != 0);
	}
}

static void damaged_frame_is_lost_alone(void)
{
	AUTO_FREE char *path = NULL;
	struct disk_queue *queue = open_queue("damaged");
	off_t at;

	append(queue, 1);
	disk_queue_sync(queue);
	path = newest_segment("damaged");
	at = size_of(path);
	append(queue, 2);
	append(queue, 3);
	disk_queue_close(queue);
	for (off_t i = 0; i < 50; i += 3) {
		change_byte(path, at + i);
		queue = open_queue("damaged");
		CHECK_INT(disk_queue_status(queue).torn_bytes, 0);
		CHECK_INT(read_one(queue), 1);
		CHECK_INT(read_one(queue), 3);
		CHECK_INT(read_one(queue), 0);
		CHECK_INT(disk_queue_status(queue).lost, 1);
		disk_queue_close(queue);
		change_byte(path, at + i);
	}
}

static void damage_while_it_is_open_does_not_stop_the_queue(void)
{
	struct disk_queue *queue = open_queue("open");
	AUTO_FREE char *path = NULL;

	append(queue, 1);
	disk_queue_sync(queue);
	path = newest_segment("open");
	append(queue, 2);
	disk_queue_sync(queue);
	change_byte(path, size_of(path) - 1);
	CHECK_INT(read_one(queue), 1);
	CHECK_INT(read_one(queue), 0);
	CHECK_INT(disk_queue_status(queue).lost, 1);
	append(queue, 3);
	disk_queue_sync(queue);
	CHECK_INT(read_one(queue), 3);
	disk_queue_close(queue);
}

static void two_processes_cannot_share_a_queue(void)
{
	struct disk_queue *queue = open_queue("busy"), *second = NULL;
	AUTO_FREE char *path = check_path("busy");
	struct disk_queue_options options = { .directory = path, .bytes_max = SMALL };
	struct err err = { 0 };

	CHECK_INT(disk_queue_open(&second, &options, &err), -EBUSY);
	CHECK_WORDS(err.text, "another process");
	disk_queue_close(queue);
	REQUIRE(chmod(path, 0755) == 0);
	CHECK_INT(disk_queue_open(&second, &options, &err), -EPERM);
}

static void later_version_is_refused(void)
{
	struct disk_queue *queue = open_queue("version");
	AUTO_FREE char *path = NULL, *directory = check_path("version");
	struct disk_queue_options options = { .directory = directory, .bytes_max = SMALL };
	struct err err = { 0 };

	append(queue, 1);
	disk_queue_close(queue);
	path = newest_segment("version");
	/* The only segment has no valid header: nothing is guessed, and nothing is removed. */
	change_byte(path, 4);
	CHECK_INT(disk_queue_open(&queue, &options, &err), -EBADMSG);
	CHECK_WORDS(err.text, "header");
	change_byte(path, 4);
	queue = open_queue("version");
	CHECK_INT(read_one(queue), 1);
	disk_queue_close(queue);
}

/* Appends until it is killed; tells the parent the last acknowledged sequence through a pipe. */
static void append_forever(int out, unsigned seed)
{
	struct disk_queue *queue = open_sized("killed", UINT64_C(64) << 20, 16384);
	uint64_t next = disk_queue_status(queue).next;

	for (;;) {
		seed = seed * 1103515245 + 12345;
		for (unsigned i = 0; i <= (seed >> 16) % 40; i++)
			append(queue, next++);
		if (disk_queue_sync(queue) < 0)
			_exit(1);
		next--;
		if (write(out, &next, sizeof(next)) != sizeof(next))
			_exit(1);
		next++;
		/* Now and then the frames are read and released as well. */
		if ((seed >> 8) % 4 == 0) {
			uint64_t last = 0, sequence;

			while ((sequence = read_one(queue)))
				last = sequence;
			if (last && (seed >> 10) % 2)
				disk_queue_release(queue, last - last % 3);
		}
		if (check_failures)
			_exit(1);
	}
}

static uint64_t kill_appender(unsigned round, uint64_t *acknowledged)
{
	int ends[2], status;
	uint64_t last;
	pid_t child;

	REQUIRE(pipe(ends) == 0);
	child = fork();
	REQUIRE(child >= 0);
	if (!child) {
		close(ends[0]);
		append_forever(ends[1], round);
	}
	close(ends[1]);
	clock_sleep_ns((int64_t)(round * 7919 % 997) * 30 * NS_PER_US);
	kill(child, SIGKILL);
	REQUIRE(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status));
	while (read(ends[0], &last, sizeof(last)) == sizeof(last))
		*acknowledged = last;
	close(ends[0]);
	return *acknowledged;
}

static void nothing_acknowledged_is_lost_by_kill_9(void)
{
	uint64_t acknowledged = 0, read_to = 0;

	for (unsigned round = 1; round <= 100; round++) {
		struct disk_queue_status status;
		struct disk_queue *queue;
		uint64_t first, sequence, last = 0;

		kill_appender(round, &acknowledged);
		queue = open_sized("killed", UINT64_C(64) << 20, 16384);
		status = disk_queue_status(queue);
		first = status.released + 1;
		CHECK(status.released <= acknowledged);
		CHECK(status.released >= read_to || status.released == 0);
		read_to = status.released;
		for (last = status.released; (sequence = read_one(queue)); last = sequence)
			CHECK_INT(sequence, last + 1);
		CHECK(last >= acknowledged);
		CHECK(first == last + 1 || last == status.durable);
		CHECK_INT(disk_queue_status(queue).lost, 0);
		acknowledged = last;
		disk_queue_close(queue);
	}
	CHECK(acknowledged > 1000);
}

TESTS(TEST(frames_are_read_in_order_once_they_are_durable), TEST(released_frames_do_not_return),
      TEST(segments_are_removed_but_numbers_are_never_reused),
      TEST(full_queue_refuses_and_recovers), TEST(failed_write_leaves_nothing_behind),
      TEST(tail_may_be_torn_at_each_byte), TEST(tail_of_zeros_is_torn),
      TEST(damaged_frame_is_lost_alone), TEST(damage_while_it_is_open_does_not_stop_the_queue),
      TEST(two_processes_cannot_share_a_queue), TEST(later_version_is_refused),
      TEST(nothing_acknowledged_is_lost_by_kill_9))
