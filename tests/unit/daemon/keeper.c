/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/keeper.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/err.h"
#include "check.h"

/* Shared by the keeper and its workers, which are processes of their own. */
struct shared {
	int starts, told;
	uint64_t tickets[16];
	char texts[16][64], contents[16][64];
	int counts[4]; /* messages that each worker received */
	int result;
};

static struct shared *shared;

static struct kept make_message(uint64_t ticket, const char *text)
{
	struct kept kept = { .ticket = ticket, .user = 1000, .fd_count = 2 };

	kept.bytes = (uint32_t)strlen(text) + 1;
	memcpy(kept.payload, text, kept.bytes);
	for (int i = 0; i < 2; i++) {
		kept.fds[i] = memfd_create("spool", MFD_CLOEXEC);
		if (kept.fds[i] < 0 || dprintf(kept.fds[i], "%s %d", text, i) < 0)
			_exit(3);
	}
	return kept;
}

static void receive_all(int channel)
{
	int start = shared->starts - 1, count = 0, r;
	struct kept kept;

	while ((r = keeper_next(channel, &kept)) > 0) {
		shared->tickets[count] = kept.ticket;
		memcpy(shared->texts[count], kept.payload, kept.bytes);
		if (kept.fd_count == 2 && kept.user == 1000 &&
		    pread(kept.fds[1], shared->contents[count], 63, 0) > 0)
			count++;
		close(kept.fds[0]);
		close(kept.fds[1]);
	}
	shared->counts[start] = r < 0 ? r : count;
}

/* The first worker is killed, the second one crashes, the third one exits. */
static int work(void *arg, int channel)
{
	struct kept first = make_message(5, "first"), second = make_message(3, "second"),
		    third = make_message(9, "third");

	(void)arg;
	shared->starts++;
	receive_all(channel);
	keeper_ready(channel);
	switch (shared->starts) {
	case 1:
		keeper_hold(channel, &first);
		keeper_hold(channel, &second);
		keeper_hold(channel, &third);
		keeper_drop(channel, 9);
		kill(getpid(), SIGKILL);
		break;
	case 2:
		keeper_drop(channel, 5);
		keeper_drop(channel, 77); /* nothing has this ticket */
		return 1;
	default:
		return 0;
	}
	return 4;
}

static void tell(void *arg, const char *sentence)
{
	(void)arg;
	shared->told += strstr(sentence, "signal 9") || strstr(sentence, "code 1");
}

static void run_keeper(int (*run)(void *arg, int channel), size_t kept_max)
{
	struct keeper_options options = { .work = run, .kept_max = kept_max, .tell = tell };
	struct err err = { 0 };
	pid_t child;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	REQUIRE(shared != MAP_FAILED);
	child = fork();
	REQUIRE(child >= 0);
	if (child == 0) {
		shared->result = keeper_run(&options, &err);
		_exit(0);
	}
	REQUIRE(waitpid(child, NULL, 0) == child);
}

static void new_worker_gets_what_the_old_one_held(void)
{
	run_keeper(work, 100);
	CHECK_INT(shared->starts, 3);
	CHECK_INT(shared->result, 0);
	CHECK_INT(shared->told, 2);
	CHECK_INT(shared->counts[0], 0);
	CHECK_INT(shared->counts[1], 2);
	CHECK_INT(shared->counts[2], 1);
	CHECK_INT(shared->tickets[0], 3);
	CHECK_TEXT(shared->texts[0], "second");
	CHECK_TEXT(shared->contents[0], "second 1");
	/* What the second worker received after it. */
	CHECK_INT(shared->tickets[1], 5);
	CHECK_TEXT(shared->contents[1], "first 1");
}

static void keeper_holds_no_more_than_its_limit(void)
{
	run_keeper(work, 1);
	CHECK_INT(shared->counts[1], 1);
	CHECK_INT(shared->tickets[0], 5);
	CHECK_INT(shared->counts[2], 0);
}

static int fail_at_once(void *arg, int channel)
{
	(void)arg, (void)channel;
	shared->starts++;
	return 2;
}

static void worker_that_never_works_is_not_repeated(void)
{
	run_keeper(fail_at_once, 1);
	CHECK_INT(shared->starts, 1);
	CHECK_INT(shared->result, 2);
}

TESTS(TEST(new_worker_gets_what_the_old_one_held), TEST(keeper_holds_no_more_than_its_limit),
      TEST(worker_that_never_works_is_not_repeated))
