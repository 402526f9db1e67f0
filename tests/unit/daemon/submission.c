/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/submission.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "check.h"
#include "contract/policy.h"
#include "daemon/about.h"
#include "daemon/keeper.h"
#include "trace/format.h"

#define UUID "0123456789abcdef0123456789abcdef"

static struct {
	int channel[2]; /* the second end takes what the keeper would receive */
	char *traces;
	struct submission *submission;
	_Atomic unsigned published;
	bool only_sums;
} test;

static void on_trace(void *arg, const struct submitted *submitted)
{
	(void)arg;
	CHECK(place_exists(submitted->trace));
	CHECK_TEXT(submitted->about->job, "4711");
	test.only_sums = submitted->about->only_sums;
	test.published++;
}

static void tell(const char *sentence)
{
	CHECK(sentence[0]);
}

static void begin(bool has_database, uint64_t limit)
{
	struct submission_options options = { .has_database = has_database,
					      .limits = { .bytes = limit },
					      .on_trace = on_trace,
					      .tell = tell };
	int size = 1 << 20;

	test.traces = place_join(check_directory(), "traces");
	file_remove_tree(test.traces);
	test.published = 0;
	REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, test.channel) == 0);
	setsockopt(test.channel[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	options.traces = test.traces;
	options.channel = test.channel[0];
	REQUIRE(submission_start(&test.submission, &options, NULL) == 0);
}

static void end(void)
{
	submission_stop(test.submission);
	close(test.channel[0]);
	close(test.channel[1]);
	free(test.traces);
}

/* A small trace. */
static char *make_trace(const char *name)
{
	char *path = place_join(check_directory(), name);
	struct run_info run = { .uuid = (char *)UUID,
				.command = (char *)"program",
				.directory = (char *)"/",
				.host = (char *)"host",
				.user = (char *)"user",
				.version = (char *)"1" };
	struct run_clock clock = { .source = (char *)"monotonic", .num = 1, .den = 1 };
	struct run_end run_end = { 0 };
	void *writer = NULL;

	REQUIRE(trace_container.create(&writer, path, &run, &clock, NULL, 0, NULL) == 0);
	REQUIRE(trace_container.finish(writer, &run_end, &clock, NULL) >= 0);
	return path;
}

static struct handed_trace about(enum policy_mode mode)
{
	struct handed_trace handed = { .version = HANDED_TRACE_VERSION, .mode = mode };

	snprintf(handed.job, sizeof(handed.job), "4711");
	snprintf(handed.program, sizeof(handed.program), "../a b");
	return handed;
}

/* Offers a descriptor; it belongs to the submission if the result is 0 and it was taken. */
static int offer(int fd, uid_t user, const struct handed_trace *handed, uint32_t bytes)
{
	struct client client = { .fd = -1, .user = user, .fds = { fd }, .fd_count = 1 };
	struct frame frame = { .type = FRAME_TRACE,
			       .payload = (const uint8_t *)handed,
			       .length = bytes };
	int r = submission_offer(test.submission, &client, &frame);

	if (client.fd_count)
		close(fd);
	return r;
}

/* Waits until nothing waits. */
static struct submission_counts settle(void)
{
	struct submission_counts counts;

	do {
		clock_sleep_ns(NS_PER_MS);
		counts = submission_counts(test.submission);
	} while (counts.waiting);
	return counts;
}

static void a_trace_is_copied_once(void)
{
	AUTO_FREE char *path = make_trace("once.sluice");
	struct handed_trace handed = about(POLICY_TRACE);

	begin(false, 1 << 30);
	for (int i = 0; i < 2; i++)
		CHECK_INT(
			offer(open(path, O_RDONLY | O_CLOEXEC), getuid(), &handed, sizeof(handed)),
			0);
	CHECK_INT(settle().failed, 0);
	CHECK_INT(test.published, 1);
	CHECK(!test.only_sums);
	end();
}

static void sums_need_a_database(void)
{
	AUTO_FREE char *path = make_trace("sums.sluice");
	struct handed_trace handed = about(POLICY_COUNTERS);

	for (int has_database = 0; has_database < 2; has_database++) {
		begin(has_database, 0);
		CHECK_INT(
			offer(open(path, O_RDONLY | O_CLOEXEC), getuid(), &handed, sizeof(handed)),
			0);
		settle();
		CHECK_INT(test.published, has_database);
		CHECK(test.only_sums == (has_database == 1));
		end();
	}
}

static void wrong_messages_are_refused(void)
{
	AUTO_FREE char *path = make_trace("wrong.sluice");
	struct handed_trace handed = about(POLICY_TRACE), bad = handed;
	int ends[2];

	begin(false, 0);
	CHECK_INT(offer(open(path, O_RDONLY | O_CLOEXEC), getuid(), &handed, 8),
		  -1 - REFUSAL_CONTENT);
	bad.mode = POLICY_OFF;
	CHECK_INT(offer(open(path, O_RDONLY | O_CLOEXEC), getuid(), &bad, sizeof(bad)),
		  -1 - REFUSAL_CONTENT);
	bad = handed;
	memset(bad.program, 'x', sizeof(bad.program));
	CHECK_INT(offer(open(path, O_RDONLY | O_CLOEXEC), getuid(), &bad, sizeof(bad)),
		  -1 - REFUSAL_CONTENT);
	/* The file of another user, one that cannot be read, a path, and a pipe. */
	CHECK_INT(offer(open(path, O_RDONLY | O_CLOEXEC), getuid() + 1, &handed, sizeof(handed)),
		  -1 - REFUSAL_DESCRIPTORS);
	CHECK_INT(offer(open(path, O_WRONLY | O_CLOEXEC), getuid(), &handed, sizeof(handed)),
		  -1 - REFUSAL_DESCRIPTORS);
	CHECK_INT(offer(open(path, O_PATH | O_CLOEXEC), getuid(), &handed, sizeof(handed)),
		  -1 - REFUSAL_DESCRIPTORS);
	REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
	CHECK_INT(offer(ends[0], getuid(), &handed, sizeof(handed)), -1 - REFUSAL_DESCRIPTORS);
	close(ends[1]);
	settle();
	CHECK_INT(test.published, 0);
	end();
}

static void files_that_are_no_traces_or_too_large_leave_nothing(void)
{
	AUTO_FREE char *path = place_join(check_directory(), "garbage"), *kept = NULL;
	struct handed_trace handed = about(POLICY_TRACE);

	CHECK_INT(file_write_all(path, "garbage", 7, NULL), 0);
	begin(false, 1 << 20);
	CHECK_INT(offer(open(path, O_RDONLY | O_CLOEXEC), getuid(), &handed, sizeof(handed)), 0);
	CHECK_INT(settle().failed, 1);
	/* A hole of a terabyte. */
	CHECK_INT(truncate(path, (off_t)1 << 40), 0);
	CHECK_INT(offer(open(path, O_RDONLY | O_CLOEXEC), getuid(), &handed, sizeof(handed)), 0);
	CHECK_INT(settle().failed, 2);
	CHECK_INT(test.published, 0);
	kept = xprintf("%s/%u", test.traces, (unsigned)getuid());
	CHECK_INT(rmdir(kept), 0);
	end();
}

static void what_was_kept_is_copied(void)
{
	AUTO_FREE char *path = make_trace("kept.sluice");
	struct handed_trace handed = about(POLICY_TRACE);
	struct kept kept = {
		.ticket = 5, .user = getuid(), .bytes = sizeof(handed), .fd_count = 1
	};

	begin(false, 0);
	kept.fds[0] = open(path, O_RDONLY | O_CLOEXEC);
	memcpy(kept.payload, &handed, sizeof(handed));
	CHECK(submission_take_kept(test.submission, &kept));
	kept.bytes++;
	CHECK(!submission_take_kept(test.submission, &kept));
	settle();
	CHECK_INT(test.published, 1);
	end();
}

TESTS(TEST(a_trace_is_copied_once), TEST(sums_need_a_database), TEST(wrong_messages_are_refused),
      TEST(files_that_are_no_traces_or_too_large_leave_nothing), TEST(what_was_kept_is_copied))
