/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/lock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"

static char directory[] = "/tmp/sluice-unit-lock-XXXXXX";
static char *path;

static void set_up(void)
{
	if (!path && mkdtemp(directory))
		path = xprintf("%s/lock", directory);
	REQUIRE(path);
	unlink(path);
}

/* A process that takes the lock and waits. */
static pid_t hold(int64_t subject)
{
	int ready[2];
	pid_t pid;
	char byte;

	REQUIRE(pipe(ready) == 0);
	pid = fork();
	if (!pid) {
		int lock = lock_take(path, "it", NULL);

		if (lock < 0)
			_exit(1);
		if (subject)
			lock_describe(lock, subject);
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	CHECK_INT(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void the_holder_and_its_work_are_found(void)
{
	struct lock_process found;
	pid_t pid;

	set_up();
	CHECK_INT(lock_find_process(path, &found), -ESRCH);
	pid = hold(0);
	REQUIRE(lock_find_process(path, &found) == 0);
	CHECK_INT(found.pid, pid);
	CHECK_INT(found.subject, 0);
	CHECK(found.is_here);
	lock_process_release(&found);
	end(pid);
	/* The file stays when its holder is killed. */
	CHECK_INT(access(path, F_OK), 0);
	CHECK_INT(lock_find_process(path, &found), -ESRCH);
	pid = hold(17);
	REQUIRE(lock_find_process(path, &found) == 0);
	CHECK_INT(found.pid, pid);
	CHECK_INT(found.subject, 17);
	lock_process_release(&found);
	end(pid);
}

static void a_process_that_only_the_file_names_is_not_its_holder(void)
{
	struct lock_process found;
	AUTO_FREE char *text = NULL;
	char host[256] = "";
	FILE *f;

	set_up();
	gethostname(host, sizeof(host) - 1);
	text = xprintf("process %d on host %s\ntuning 3\n", (int)getpid(), host);
	f = fopen(path, "w");
	REQUIRE(f && fputs(text, f) >= 0 && fflush(f) == 0);
	/* The process lives, and has the file open, but no lock. */
	CHECK_INT(lock_find_process(path, &found), -ESRCH);
	REQUIRE(ftruncate(fileno(f), 0) == 0);
	rewind(f);
	REQUIRE(fputs("process 1 on host\n", f) >= 0 && fflush(f) == 0);
	CHECK_INT(lock_find_process(path, &found), -ESRCH);
	fclose(f);
}

static void a_holder_on_another_host_is_named(void)
{
	struct lock_process found;
	FILE *f;

	set_up();
	f = fopen(path, "w");
	REQUIRE(f && fputs("process 4711 on host elsewhere.example\ntuning 3\n", f) >= 0);
	fclose(f);
	REQUIRE(lock_find_process(path, &found) == 0);
	CHECK(!found.is_here);
	CHECK_INT(found.pid, 4711);
	CHECK_INT(found.pidfd, -1);
	CHECK_INT(found.subject, 3);
	CHECK_TEXT(found.host, "elsewhere.example");
	lock_process_release(&found);
	unlink(path);
	rmdir(directory);
	free(path);
	path = NULL;
}

TESTS(TEST(the_holder_and_its_work_are_found),
      TEST(a_process_that_only_the_file_names_is_not_its_holder),
      TEST(a_holder_on_another_host_is_named))
