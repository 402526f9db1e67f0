/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Uses sluice/instrument.h: instrument CASE. Prints what a test compares, and exits with 1 if errno
 * or an answer is not what it has to be.
 */
#include <sluice/instrument.h>

#include "prog.h"

#include <pthread.h>
#include <signal.h>

static void expect(int is_true, const char *what)
{
	if (!is_true) {
		printf("wrong: %s\n", what);
		exit(1);
	}
}

static void write_file(const char *name, size_t bytes)
{
	char block[1024] = "";
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	for (size_t i = 0; i < bytes; i += sizeof(block))
		expect(write(fd, block, sizeof(block)) == sizeof(block), "write");
	close(fd);
}

/* Two phases, with three checkpoints in the second; one of them fails. */
static int steps(void)
{
	sluice_component checkpoint = sluice_register("checkpoint");

	expect(sluice_register("checkpoint") == checkpoint, "components are the same");
	errno = 77;
	sluice_phase("read input");
	write_file("input", 4096);
	sluice_phase("solve");
	for (int step = 0; step < 3; step++) {
		sluice_activity all = sluice_begin(checkpoint, "write");
		sluice_activity part;

		sluice_step(all, step);
		sluice_bytes(all, 8192);
		sluice_text(all, "format", "raw;=\n");
		sluice_number(all, "ranks", -1);
		part = sluice_begin(checkpoint, "fields");
		write_file("fields", 8192);
		sluice_end(part);
		write_file("index", 1024);
		sluice_fail(all, step == 2 ? 5 : 0);
	}
	/* The same after the loop: it is not part of any activity. */
	errno = 77;
	sluice_end(sluice_begin(0, "nothing"));
	expect(errno == 77, "errno is preserved");
	write_file("outside", 2048);
	return 0;
}

static sluice_activity produced;

static void *consume(void *arg)
{
	sluice_activity consumed = sluice_begin(sluice_register("consumer"), "store");

	(void)arg;
	sluice_link(consumed, produced);
	write_file("stored", 1024);
	/* Of another thread: ignored. */
	sluice_end(produced);
	sluice_end(consumed);
	return NULL;
}

static int threads(void)
{
	pthread_t thread;

	produced = sluice_begin(sluice_register("producer"), "make");
	pthread_create(&thread, NULL, consume, NULL);
	pthread_join(thread, NULL);
	write_file("made", 1024);
	sluice_end(produced);
	return 0;
}

/* A child of fork has no open activity; the parent's goes on. */
static int forks(void)
{
	sluice_activity all = sluice_begin(0, "around fork");
	int status = -1;

	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (!child) {
			sluice_activity own;

			if (i)
				sluice_end(all);
			own = sluice_begin(0, "child");
			write_file("child", 1024);
			sluice_end(own);
			sluice_end(all);
			_exit(0);
		}
		waitpid(child, &status, 0);
		expect(status == 0, "the child ends");
	}
	write_file("parent", 1024);
	sluice_end(all);
	return 0;
}

/* Nothing of this may harm the program. */
static int misuse(void)
{
	sluice_activity first, open[SLUICE_NESTING + 8];
	char value[4] = "abc";

	sluice_end(12345);
	sluice_end(UINT64_MAX);
	sluice_text(UINT64_MAX, "key", "value");
	sluice_step(1, 1);
	sluice_phase(NULL);
	sluice_begin(0, NULL);
	expect(!sluice_begin(99, "of an unknown component") || !sluice_is_present(), "component");
	first = sluice_begin(0, "first");
	sluice_end(first);
	for (int i = 0; i < 100; i++)
		sluice_end(first);
	for (int i = 0; i < SLUICE_NESTING + 8; i++)
		open[i] = sluice_begin(0, "deep");
	for (int i = 0; i < SLUICE_NESTING + 8; i++)
		for (int k = 0; k < 100; k++)
			sluice_text(open[i], "a key that is long", "a value that is even longer");
	for (int i = 0; i < 200; i++) {
		char name[200];

		memset(name, 'a' + i % 26, sizeof(name));
		name[100 + i / 2] = 0;
		sluice_register(name);
	}
	expect(!sluice_best("cb_nodes", "x", value, 0) && !strcmp(value, "abc"), "no room");
	write_file("deep", 1024);
	/* The outermost one ends all; one is left open at the exit. */
	sluice_end(open[0]);
	sluice_begin(0, "never ended");
	write_file("last", 1024);
	return 0;
}

static volatile sig_atomic_t ticks;

HANDLER static void on_tick(int signal)
{
	sluice_activity a = sluice_begin(0, "in handler");

	(void)signal;
	ticks = ticks + 1;
	sluice_end(a);
}

/* Handlers that interrupt Sluice, and many activities. */
static int busy(void)
{
	struct itimerspec every = { { 0, 200000 }, { 0, 200000 } };
	struct sigaction action = { .sa_handler = on_tick };
	timer_t timer;
	int fd = open("/dev/null", O_WRONLY);

	sigaction(SIGALRM, &action, NULL);
	timer_create(CLOCK_MONOTONIC, NULL, &timer);
	timer_settime(timer, 0, &every, NULL);
	for (int i = 0; i < 200000; i++) {
		sluice_activity a = sluice_begin(0, "loop");

		if (write(fd, "x", 1) != 1)
			return 1;
		sluice_end(a);
	}
	timer_delete(timer);
	expect(ticks > 0, "signals");
	return 0;
}

/* instrument ask TARGET PARAMETER FILE */
static int ask(char **argv)
{
	struct sluice_target target = { .name = "unchanged", .busy = 7 };
	char value[64] = "none";
	uint32_t count = 0;

	printf("target %d ", sluice_target(argv[0], &target));
	printf("%s %.2f %.2f\n", target.name, target.busy, target.share);
	while (sluice_target_at(count, &target))
		count++;
	printf("targets %u\n", count);
	printf("best %d ", sluice_best(argv[1], argv[2], value, sizeof(value)));
	printf("%s\n", value);
	return 0;
}

/* instrument advise BYTES */
static int advise(const char *bytes)
{
	expect(sluice_advise(0) == 0 && sluice_advise(-1) == -1, "nothing stays nothing");
	printf("%lld\n", (long long)sluice_advise(strtoll(bytes, NULL, 10)));
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (strcmp(name, "steps") == 0)
		return steps();
	if (strcmp(name, "threads") == 0)
		return threads();
	if (strcmp(name, "forks") == 0)
		return forks();
	if (strcmp(name, "misuse") == 0)
		return misuse();
	if (strcmp(name, "busy") == 0)
		return busy();
	if (strcmp(name, "ask") == 0 && argc == 5)
		return ask(argv + 2);
	if (strcmp(name, "advise") == 0 && argc == 3)
		return advise(argv[2]);
	printf("present %d\n", sluice_is_present());
	return 0;
}
