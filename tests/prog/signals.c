/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Signal handlers that do I/O, call longjmp, or fork, while the thread is at any point of its work.
 */
#include "prog.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

/* A storm lasts until this many signals have been handled, however slow the machine is. */
#define STORM 100

static int file = -1, side = -1;
static volatile sig_atomic_t handled, wanted;
static sigjmp_buf back;

static void install(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	MUST(!sigaction(signal, &action, NULL));
}

static void timer(int microseconds)
{
	struct itimerval every = { { 0, microseconds }, { 0, microseconds } };

	MUST(!setitimer(ITIMER_REAL, &every, NULL));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

HANDLER static void writes(int signal)
{
	int saved = errno;

	(void)signal;
	if (pwrite(side, "h", 1, handled) != 1)
		_exit(97);
	handled++;
	errno = saved;
}

/* Stores the numbers of writes in files: they differ between runs and must not be printed. */
static void tell(const char *name, long n)
{
	FILE *f = fopen(name, "w");

	MUST(f && fprintf(f, "%ld\n", n) > 0 && !fclose(f));
}

/* storm MS: a handler runs every 50 us while the program does I/O. */
static int storm(int argc, char **argv)
{
	double end = now() + (argc > 0 ? atof(argv[0]) : 500) / 1000;
	FILE *stream = fopen("stream", "w");
	long n = 0;

	file = file_make("file");
	side = file_make("side");
	MUST(stream);
	install(SIGALRM, writes, SA_RESTART);
	timer(50);
	while (now() < end || handled <= STORM) {
		for (int i = 0; i < 100; i++, n++) {
			MUST(fwrite("x", 1, 1, stream) == 1);
			MUST(pwrite(file, "y", 1, 0) == 1);
		}
	}
	timer(0);
	MUST(!fclose(stream));
	close(file);
	close(side);
	tell("main.count", n);
	tell("handler.count", handled);
	puts("storm");
	return 0;
}

/* The same with a handler on an alternate stack, which is interrupted by a second signal. */
HANDLER static void writes_more(int signal)
{
	writes(signal);
	if (handled % 2)
		raise(SIGUSR1);
}

static int storm_altstack(int argc, char **argv)
{
	static char stack[65536];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	double end = now() + (argc > 0 ? atof(argv[0]) : 300) / 1000;
	long n = 0;

	file = file_make("file");
	side = file_make("side");
	MUST(!sigaltstack(&alternate, NULL));
	install(SIGALRM, writes_more, SA_RESTART | SA_ONSTACK);
	install(SIGUSR1, writes, SA_RESTART | SA_ONSTACK);
	timer(50);
	for (; now() < end || handled <= STORM; n++)
		MUST(pwrite(file, "y", 1, 0) == 1);
	timer(0);
	close(file);
	tell("main.count", n);
	tell("handler.count", handled);
	puts("storm");
	return 0;
}

HANDLER static void jumps(int signal)
{
	(void)signal;
	handled++;
	siglongjmp(back, 1);
}

/* Leaves read() by longjmp 50 times; the calls in between are recorded as usual. */
static int jump_from_read(int argc, char **argv)
{
	int fds[2];
	char c;

	(void)argc, (void)argv;
	file = file_make("file");
	MUST(!pipe(fds));
	install(SIGALRM, jumps, 0);
	for (volatile int i = 0; i < 50; i++) {
		struct itimerval once = { { 0, 0 }, { 0, 2000 } };

		if (!sigsetjmp(back, 1)) {
			setitimer(ITIMER_REAL, &once, NULL);
			MUST(read(fds[0], &c, 1) < 0);
		}
		put(file, "after\n");
	}
	printf("%d jumps\n", (int)handled);
	return 0;
}

HANDLER static void jumps_if_wanted(int signal)
{
	(void)signal;
	handled++;
	if (wanted)
		siglongjmp(back, 1);
}

/* Writes that storm_jump makes at least, in spite of the jumps. */
#define JUMPED_WRITES 5000

/* storm_jump MS: longjmp from any point, also from guest code. */
static int storm_jump(int argc, char **argv)
{
	double end = now() + (argc > 0 ? atof(argv[0]) : 300) / 1000;
	volatile long n = 0;

	file = file_make("file");
	install(SIGALRM, jumps_if_wanted, SA_NODEFER);
	timer(70);
	while (now() < end || handled <= STORM || n < JUMPED_WRITES) {
		wanted = 0;
		sigsetjmp(back, 1);
		wanted = 1;
		/* Signals may jump back here forever, so the loop must notice the end, too. */
		for (int i = 0; i < 200 && (now() < end || handled <= STORM || n < JUMPED_WRITES);
		     i++) {
			if (pwrite(file, "y", 1, 0) != 1)
				_exit(96);
			n++;
		}
		wanted = 0;
	}
	timer(0);
	wanted = 0;
	for (int i = 0; i < 1000; i++)
		put(file, "z");
	tell("main.count", n);
	puts("storm");
	return 0;
}

static volatile pid_t forked;

/* The child returns to the interrupted code, which may be in the middle of a recorded call. */
HANDLER static void forks(int signal)
{
	(void)signal;
	if (forked)
		return;
	forked = fork();
	if (!forked) {
		forked = -1;
		handled++;
		if (pwrite(side, "c", 1, 0) != 1)
			_exit(95);
	}
}

/* fork_in_handler N: a handler forks N times while the program writes. */
static int fork_in_handler(int argc, char **argv)
{
	int rounds = argc > 0 ? atoi(argv[0]) : 100, codes = 0;

	file = file_make("file");
	side = file_make("side");
	install(SIGALRM, forks, SA_RESTART);
	for (int i = 0; i < rounds; i++) {
		struct itimerval once = { { 0, 0 }, { 0, 50 + i % 17 } };

		forked = 0;
		setitimer(ITIMER_REAL, &once, NULL);
		while (!forked)
			MUST(pwrite(file, "y", 1, 0) == 1);
		for (int j = 0; j < 10; j++)
			MUST(pwrite(file, "z", 1, 0) == 1);
		if (forked == -1)
			_exit(1);
		codes += child_code(forked);
	}
	printf("codes %d\n", codes);
	return 0;
}

/* The alarm is repeated, because the first may come before the call that it is to interrupt. */
static void alarm_every_us(int us)
{
	struct itimerval timer = { { 0, us }, { 0, us } };

	MUST(!setitimer(ITIMER_REAL, &timer, NULL));
}

/* A child of the handler makes no recorded call until it is back in the interrupted one. It does
 * not inherit the timer. */
HANDLER static void forks_silently(int signal)
{
	(void)signal;
	if (!forked) {
		forked = fork();
		if (!forked) {
			forked = -1;
			alarm_every_us(2000);
		}
	}
}

static int fork_in_read(int argc, char **argv)
{
	int rounds = argc > 0 ? atoi(argv[0]) : 20, codes = 0, fds[2];
	char c;

	file = file_make("file");
	MUST(!pipe(fds));
	install(SIGALRM, forks_silently, 0);
	for (int i = 0; i < rounds; i++) {
		forked = 0;
		alarm_every_us(2000);
		if (read(fds[0], &c, 1) < 0 && errno != EINTR)
			_exit(94);
		alarm_every_us(0);
		for (int j = 0; j < 10; j++)
			put(file,
			    "x"); /* the same in both processes, because their order is random */
		if (forked == -1)
			_exit(1);
		codes += child_code(forked);
	}
	printf("codes %d\n", codes);
	return 0;
}

/* die N HOW: N writes, prints N to standard error, then ends abruptly. */
static int die(int argc, char **argv)
{
	long n = argc > 0 ? atol(argv[0]) : 1000;
	const char *how = argc > 1 ? argv[1] : "kill";

	file = file_make("file");
	for (long i = 0; i < n; i++)
		MUST(pwrite(file, "y", 1, i) == 1);
	dprintf(2, "%ld\n", n);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "exit"))
		_exit(14);
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	kill(getpid(), SIGKILL);
	return 0;
}

static volatile sig_atomic_t last_signal;

HANDLER static void notes(int signal)
{
	last_signal = signal;
}

/* Writes until a signal arrives, then prints it. The file "ready" exists once the handler is set.
 */
static int wait_signal(int argc, char **argv)
{
	int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 };

	(void)argc, (void)argv;
	file = file_make("file");
	for (int i = 0; i < 5; i++)
		install(signals[i], notes, SA_RESTART);
	close(file_make("ready"));
	while (!last_signal) {
		put(file, "x");
		pause_ms(5);
	}
	printf("signal %d\n", (int)last_signal);
	return 20 + last_signal;
}

/* stream MS [PAUSE_MS]: writes as fast as possible or with pauses, and after every 100 writes their
 * number to "count". Ends after MS, or once the file "stop" exists. */
static int stream(int argc, char **argv)
{
	double end = now() + (argc > 0 ? atof(argv[0]) : 5000) / 1000;
	int count = file_make("count");
	long n = 0;
	char text[32];

	file = file_make("file");
	/* The check bypasses libc, so that it is not recorded. */
	while (now() < end && syscall(SYS_faccessat, AT_FDCWD, "stop", F_OK) != 0) {
		for (int i = 0; i < 100; i++, n++)
			MUST(pwrite(file, "y", 1, n % 1000) == 1);
		MUST(pwrite(count, text, (size_t)snprintf(text, sizeof(text), "%ld\n", n), 0) > 0);
		if (argc > 1)
			pause_ms(atoi(argv[1]));
	}
	return 15;
}

CASES(CASE(storm), CASE(storm_altstack), CASE(jump_from_read), CASE(storm_jump),
      CASE(fork_in_handler), CASE(fork_in_read), CASE(die), CASE(wait_signal), CASE(stream))
