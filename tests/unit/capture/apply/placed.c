/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placed files: what the guest reports to the backlog when a program creates, writes, duplicates
 * and closes files, forks, marks steps and is killed.
 */
#include "capture/apply/placed.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "guest_outside.h"

#define LIST "/a:1,/b:1,/c:1"
enum { TARGETS = 3, KIB = 1024 };

static struct control control;
static struct backlog *shared;
static struct backlog_view view;
static struct parameters_line rule = { .value = LIST };

/* The directory of a run with an empty backlog, which is mapped twice: here and by the guest. */
static void make_run(void)
{
	char path[sizeof(capture_membership.directory) + sizeof(BACKLOG_NAME) + 1];
	int fd;

	strcpy(capture_membership.directory, "/tmp/sluice-unit-XXXXXX");
	REQUIRE(mkdtemp(capture_membership.directory));
	snprintf(path, sizeof(path), "%s/%s", capture_membership.directory, BACKLOG_NAME);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	REQUIRE(fd >= 0 && ftruncate(fd, sizeof(*shared)) == 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(shared != MAP_FAILED);
	close(fd);
	shared->magic = BACKLOG_MAGIC;
	capture_membership.control = &control;
	rules_places = UINT32_C(1) << PLACE_LAYOUT;
	control.placement.count = TARGETS;
	placed_join();
	REQUIRE(rules_places & RULES_PLACED);
	unlink(path);
	rmdir(capture_membership.directory);
}

/* An empty backlog, and a run that has placed nothing. */
static void start(void)
{
	if (!shared)
		make_run();
	memset(shared, 0, sizeof(*shared));
	shared->magic = BACKLOG_MAGIC;
	memset(&control, 0, sizeof(control));
	control.placement.count = TARGETS;
	control.placement.list = parameters_destinations_key(LIST);
	for (int i = 0; i < TARGETS; i++) {
		control.placement.targets[i] =
			(uint16_t)backlog_find_target(shared, (uint64_t)i + 1);
		control.placement.weights[i] = 1;
	}
}

/* The destination that a new file would get. */
static unsigned choose(struct backlog_file **file)
{
	uint64_t turn = 0;

	*file = placed_choose(&rule, &turn, &view);
	REQUIRE(*file);
	return (unsigned)(turn & 0xff);
}

/* Creates a placed file, with these flags as far as placement is concerned. */
static int create(struct backlog_file **file, int flags)
{
	uint64_t turn = 0;
	FILE *stream = tmpfile();
	int fd = stream ? fcntl(fileno(stream), F_DUPFD_CLOEXEC, 3) : -1;

	REQUIRE(fd >= 0);
	fclose(stream);
	*file = placed_choose(&rule, &turn, &view);
	REQUIRE(*file);
	placed_open(*file, turn, fd, flags);
	return fd;
}

static void write_placed(int fd, size_t bytes)
{
	static const char zeros[64 * KIB];
	struct placed_call call;

	placed_begin(&call, BACKLOG_CACHED_WRITE, fd, bytes);
	placed_end(&call, write(fd, zeros, bytes));
}

static void sync_placed(int fd)
{
	struct placed_call call;

	placed_begin(&call, BACKLOG_SYNC, fd, 0);
	placed_end(&call, 0);
}

static void close_placed(int fd)
{
	struct placed_call call;

	placed_begin(&call, BACKLOG_CLOSE, fd, 0);
	close(fd);
	placed_end(&call, 0);
}

static void file_is_outstanding_until_it_is_closed(void)
{
	struct backlog_file *file, *next;
	int fd;

	start();
	fd = create(&file, 0);
	CHECK_INT(file->owner >> 32, getpid());
	CHECK_INT(choose(&next), 1);
	placed_cancel(&next);
	write_placed(fd, 4 * KIB);
	CHECK_INT(file->written, 4 * KIB);
	close_placed(fd);
	CHECK_INT(file->owner, 0);
	CHECK_INT(control.placement.files[0], 1);
	CHECK_INT(control.placement.bytes[0], 4 * KIB);
	CHECK_INT(control.placement.closed_files, 1);
	/* The next file is expected to have the same size. */
	choose(&next);
	CHECK_INT(next->expected, 4 * KIB);
}

static void bytes_that_no_call_has_shown_are_found_at_the_close(void)
{
	struct backlog_file *file;
	int fd;

	start();
	fd = create(&file, 0);
	REQUIRE(ftruncate(fd, 32 * KIB) == 0);
	close_placed(fd);
	CHECK_INT(control.placement.bytes[0], 32 * KIB);
	CHECK_INT(shared->targets[0].left, 32 * KIB);
}

static void only_stored_bytes_show_a_rate(void)
{
	struct backlog_file *file;
	int fd;

	start();
	fd = create(&file, 0);
	write_placed(fd, 4 * KIB);
	CHECK_INT(shared->targets[0].bytes, 0);
	sync_placed(fd);
	CHECK_INT(shared->targets[0].bytes, 4 * KIB);
	close_placed(fd);
	start();
	fd = create(&file, O_DSYNC);
	write_placed(fd, 4 * KIB);
	CHECK_INT(shared->targets[0].bytes, 4 * KIB);
	close_placed(fd);
}

static void last_duplicate_closes_the_file(void)
{
	struct backlog_file *file;
	int fd, to;

	start();
	fd = create(&file, 0);
	to = dup(fd);
	placed_copy(fd, to);
	close_placed(fd);
	CHECK(file->owner != 0);
	write_placed(to, 4 * KIB);
	CHECK_INT(file->written, 4 * KIB);
	close_placed(to);
	CHECK_INT(file->owner, 0);
	CHECK_INT(control.placement.closed_files, 1);
}

static void duplicate_replaces_what_the_number_was(void)
{
	struct backlog_file *file, *replaced;
	int fd, to;

	start();
	fd = create(&file, 0);
	to = create(&replaced, 0);
	write_placed(to, 4 * KIB);
	REQUIRE(dup2(fd, to) == to);
	placed_copy(fd, to);
	CHECK_INT(replaced->owner, 0);
	CHECK_INT(control.placement.bytes[1], 4 * KIB);
	CHECK_INT(file->references, 2);
	close_placed(fd);
	close_placed(to);
	CHECK_INT(file->owner, 0);
}

static void range_closes_its_files(void)
{
	struct backlog_file *files[4];
	int fds[4], kept;

	start();
	for (int i = 0; i < 4; i++)
		fds[i] = create(&files[i], 0);
	kept = dup(fds[1]);
	placed_copy(fds[1], kept);
	write_placed(fds[0], 4 * KIB);
	REQUIRE(fds[2] > fds[0] && fds[3] > fds[2]);
	placed_close_range((unsigned)fds[0], (unsigned)fds[2]);
	CHECK_INT(files[0]->owner, 0);
	CHECK(files[1]->owner != 0);
	CHECK_INT(files[2]->owner, 0);
	CHECK(files[3]->owner != 0);
	CHECK_INT(control.placement.closed_files, 2);
	CHECK_INT(control.placement.bytes[0], 4 * KIB);
	placed_close_range(3, ~0u);
	CHECK_INT(files[1]->owner, 0);
	CHECK_INT(files[3]->owner, 0);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	close(kept);
}

static void high_descriptor_is_not_measured(void)
{
	struct backlog_file *file;
	uint64_t turn = 0;

	start();
	file = placed_choose(&rule, &turn, &view);
	REQUIRE(file);
	placed_open(file, turn, PLACED_DESCRIPTORS, 0);
	CHECK_INT(file->owner, 0);
	CHECK_INT(control.placement.files[0], 1);
}

static void other_lists_are_not_placed(void)
{
	struct parameters_line other = { .value = "/a:1,/b:2" };
	uint64_t turn = 7;

	start();
	CHECK(!placed_choose(&other, &turn, &view));
	CHECK_INT(turn, 7);
}

static void mark_begins_one_step(void)
{
	struct backlog_file *file;

	start();
	close_placed(create(&file, 0));
	CHECK_INT(control.placement.steps, 1);
	/* Far from now in time: a pause. */
	control.placement.last_ns = 1;
	close_placed(create(&file, 0));
	CHECK_INT(control.placement.steps, 2);
	CHECK_INT(control.placement.step_files[0] + control.placement.step_files[1] +
			  control.placement.step_files[2],
		  1);
	/* No pause from here on, however slow the machine is. */
	control.placement.mark = 5;
	control.placement.last_ns = UINT64_MAX / 2;
	close_placed(create(&file, 0));
	CHECK_INT(control.placement.steps, 3);
	control.placement.last_ns = UINT64_MAX / 2;
	close_placed(create(&file, 0));
	CHECK_INT(control.placement.steps, 3);
}

static void forked_child_leaves_the_files_of_its_parent(void)
{
	struct backlog_file *file;
	int fd, status;
	pid_t pid;

	start();
	fd = create(&file, 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		/* Before it has joined, and afterwards. */
		placed_close_range(3, ~0u);
		placed_forget();
		placed_join();
		_exit(file->owner == 0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
	CHECK_INT(file->owner >> 32, getpid());
	close_placed(fd);
	CHECK_INT(file->owner, 0);
}

/* It joins with the record of that call, after the file was placed. */
static void first_file_of_a_forked_child_is_measured(void)
{
	struct backlog_file *file;
	int status;
	pid_t pid;

	start();
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		int fd = create(&file, 0);

		placed_forget();
		placed_join();
		write_placed(fd, 4 * KIB);
		close_placed(fd);
		/* The page is not shared in this test. */
		_exit(control.placement.bytes[0] != 4 * KIB);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

/* Ends the step so far, and begins another one. */
static void begin_step(void)
{
	struct backlog_file *file;

	control.placement.last_ns = 1;
	close_placed(create(&file, 0));
}

/* Takes so long that a pause of the test beside it does not matter. */
static void write_slowly(int fd, size_t bytes)
{
	static const char zeros[64 * KIB];
	struct placed_call call;

	placed_begin(&call, BACKLOG_CACHED_WRITE, fd, bytes);
	usleep(200000);
	placed_end(&call, write(fd, zeros, bytes));
}

static void step_leaves_what_it_has_stored(void)
{
	const struct burst_total *total = &control.placement.totals[0];
	struct backlog_file *file;
	int fd;

	start();
	fd = create(&file, 0);
	write_slowly(fd, 4 * KIB);
	write_placed(fd, 4 * KIB);
	sync_placed(fd);
	close_placed(fd);
	fd = create(&file, O_DSYNC);
	write_placed(fd, 8 * KIB);
	close_placed(fd);
	CHECK_INT(control.placement.total_count, 0);
	begin_step();
	REQUIRE(control.placement.total_count == 2);
	CHECK_INT(total->destination, 0);
	CHECK_INT(total->bytes, 8 * KIB);
	CHECK_INT(total->transfers, 1);
	CHECK(total->busy_ns >= 200000000);
	CHECK_INT(total[1].destination, 1);
	CHECK_INT(total[1].bytes, 8 * KIB);
}

static void fail_placed(int fd, enum backlog_call kind)
{
	struct placed_call call;

	placed_begin(&call, kind, fd, KIB);
	placed_end(&call, -1);
}

static void step_that_was_not_stored_leaves_nothing(void)
{
	struct backlog_file *file;
	int fd;

	/* Closed without a sync. */
	start();
	fd = create(&file, 0);
	write_placed(fd, 4 * KIB);
	close_placed(fd);
	begin_step();
	CHECK_INT(control.placement.total_count, 0);
	/* Written otherwise. */
	start();
	fd = create(&file, 0);
	write_placed(fd, 4 * KIB);
	sync_placed(fd);
	REQUIRE(ftruncate(fd, 32 * KIB) == 0);
	close_placed(fd);
	begin_step();
	CHECK_INT(control.placement.total_count, 0);
	/* Failed. */
	start();
	fd = create(&file, 0);
	write_placed(fd, 4 * KIB);
	fail_placed(fd, BACKLOG_SYNC);
	close_placed(fd);
	begin_step();
	CHECK_INT(control.placement.total_count, 0);
}

/* The kernel may write while the program does not. */
static void pause_before_the_sync_leaves_nothing(void)
{
	struct backlog_file *file;
	int fd;

	start();
	fd = create(&file, 0);
	write_placed(fd, 4 * KIB);
	usleep(200000);
	sync_placed(fd);
	close_placed(fd);
	begin_step();
	CHECK_INT(control.placement.total_count, 0);
}

static void file_that_the_program_lays_out_is_not_counted(void)
{
	struct backlog_file *file;
	int fd;

	start();
	fd = create(&file, 0);
	placed_yield(fd);
	CHECK_INT(file->owner, 0);
	CHECK_INT(control.placement.files[0], 0);
	close_placed(fd);
	CHECK_INT(control.placement.closed_files, 0);
}

/* In a child: has a write behind it that the cache has absorbed, and is killed in a call. */
static void write_until_killed(int ready)
{
	struct backlog_file *file;
	struct placed_call call;
	int fd;

	placed_forget();
	placed_join();
	fd = create(&file, 0);
	write_placed(fd, 8 * KIB);
	placed_begin(&call, BACKLOG_CACHED_WRITE, fd, 64 * KIB);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void killed_process_leaves_only_its_cached_bytes(void)
{
	struct backlog_file *file = NULL, *next;
	siginfo_t ended;
	int ready[2];
	char byte;
	pid_t pid;

	start();
	REQUIRE(pipe(ready) == 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid)
		write_until_killed(ready[1]);
	REQUIRE(read(ready[0], &byte, 1) == 1);
	for (int i = 0; i < BACKLOG_FILES && !file; i++)
		if ((pid_t)(shared->files[i].owner >> 32) == pid)
			file = &shared->files[i];
	REQUIRE(file);
	CHECK_INT(file->call_bytes, 64 * KIB);
	CHECK(choose(&next) != 0);
	placed_cancel(&next);
	kill(pid, SIGKILL);
	/* It has ended, but nobody has waited for it. */
	REQUIRE(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) == 0);
	file->checked_ns = 0;
	/* Its entry is free, so the next file may get it. */
	choose(&next);
	CHECK((pid_t)(file->owner >> 32) != pid);
	CHECK_INT(shared->targets[0].left, 8 * KIB);
	REQUIRE(waitpid(pid, NULL, 0) == pid);
	close(ready[0]);
	close(ready[1]);
}

TESTS(TEST(file_is_outstanding_until_it_is_closed),
      TEST(bytes_that_no_call_has_shown_are_found_at_the_close),
      TEST(only_stored_bytes_show_a_rate), TEST(last_duplicate_closes_the_file),
      TEST(duplicate_replaces_what_the_number_was), TEST(range_closes_its_files),
      TEST(high_descriptor_is_not_measured), TEST(other_lists_are_not_placed),
      TEST(mark_begins_one_step), TEST(forked_child_leaves_the_files_of_its_parent),
      TEST(first_file_of_a_forked_child_is_measured), TEST(step_leaves_what_it_has_stored),
      TEST(step_that_was_not_stored_leaves_nothing), TEST(pause_before_the_sync_leaves_nothing),
      TEST(file_that_the_program_lays_out_is_not_counted),
      TEST(killed_process_leaves_only_its_cached_bytes))
