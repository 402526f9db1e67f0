/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that damages its own spool while the collector reads it. Without a spool it does the
 * same work and prints the same.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "own_spool.h"

#define CALLS 3000

static struct own_spool own;
static volatile bool stop;

static void work(int fd, int calls)
{
	for (int i = 0; i < calls; i++)
		MUST(write(fd, "x", 1) == 1);
}

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Switches the call number of all records between a valid and an invalid one. */
static void flip_calls(uint64_t bits)
{
	for (uint64_t at = SPOOL_HEADER_BYTES; at < own.bytes; at += SPOOL_CHUNK_BYTES) {
		struct chunk *chunk = (struct chunk *)(own.base + at);
		uint32_t end = chunk->committed, i = 0;

		while (end <= CHUNK_WORDS && i + RECORD_HEAD_WORDS < end) {
			unsigned words = record_words(&chunk->words[i]);

			if (words < RECORD_HEAD_WORDS || i + words > end)
				break;
			chunk->words[i] =
				(chunk->words[i] & ~(UINT64_C(0x8000) << 40)) | bits << 40;
			i += words;
		}
	}
}

static void *flip_thread(void *unused)
{
	while (!stop) {
		flip_calls(0);
		flip_calls(0x8000);
	}
	return unused;
}

/* Spares what the guest itself depends on: the magic number and the map of free chunks. */
static void scribble_once(void)
{
	uint64_t first = offsetof(struct spool_header, pid);
	uint64_t texts = offsetof(struct spool_header, free_map);
	uint64_t chunks = (own.bytes - SPOOL_HEADER_BYTES) / 8;
	uint64_t value = next_random() >> next_random() % 64, at = next_random();

	if (next_random() % 8 == 0)
		at = first + at % (texts - first - 8);
	else if (next_random() % 4 == 0) /* the head of a chunk */
		at = SPOOL_HEADER_BYTES +
		     at % (chunks * 8 / SPOOL_CHUNK_BYTES) * SPOOL_CHUNK_BYTES + at % 40;
	else
		at = SPOOL_HEADER_BYTES + at % (chunks - 1) * 8;
	memcpy(own.base + at, &value, sizeof(value));
}

static void *scribble_thread(void *unused)
{
	while (!stop)
		scribble_once();
	return unused;
}

/* The process that reads the spools; 0: none. */
static pid_t find_collector(void)
{
	const char *directory = getenv("SLUICE_SPOOL");
	struct control *control;
	pid_t pid = 0;
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory ? directory : "", CONTROL_NAME);
	fd = open(path, O_RDONLY);
	control = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*control), PROT_READ, MAP_SHARED, fd, 0);
	if (control != MAP_FAILED) {
		pid = control->collector_pid;
		munmap(control, sizeof(*control));
	}
	if (fd >= 0)
		close(fd);
	return pid;
}

static bool is_stopped(pid_t pid)
{
	char path[64], line[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	MUST(f && fgets(line, sizeof(line), f));
	fclose(f);
	return strstr(line, ") T ");
}

/* Damages records that the collector certainly reads afterwards: it is stopped meanwhile. */
static void damage_surely(int fd, void (*damage)(void))
{
	pid_t collector = own.base ? find_collector() : 0;

	if (collector <= 0)
		return;
	MUST(kill(collector, SIGSTOP) == 0);
	while (!is_stopped(collector))
		pause_ms(1);
	work(fd, CALLS / 10);
	own_spool_find(&own);
	damage();
	MUST(kill(collector, SIGCONT) == 0);
}

static int run_with(void *(*thread)(void *), void (*damage)(void), const char *seconds)
{
	int fd = open("/dev/null", O_WRONLY);
	time_t end = time(NULL) + atoi(seconds);
	pthread_t id;

	MUST(fd >= 0);
	work(fd, CALLS);
	own_spool_find(&own);
	MUST(!own.base || pthread_create(&id, NULL, thread, NULL) == 0);
	while (time(NULL) < end) {
		work(fd, CALLS / 10);
		pause_ms(2);
	}
	stop = true;
	MUST(!own.base || pthread_join(id, NULL) == 0);
	damage_surely(fd, damage);
	puts("done");
	return 7;
}

static void flip_all(void)
{
	flip_calls(0x8000);
}

static int flip(int argc, char **argv)
{
	return run_with(flip_thread, flip_all, argc ? argv[0] : "1");
}

static void scribble_often(void)
{
	for (int i = 0; i < 100000; i++)
		scribble_once();
}

static int scribble(int argc, char **argv)
{
	return run_with(scribble_thread, scribble_often, argc ? argv[0] : "1");
}

/* Claims to have lost more calls than are possible. */
static int counts(int argc, char **argv)
{
	(void)argc, (void)argv;
	work(open("/dev/null", O_WRONLY), CALLS);
	own_spool_find(&own);
	if (own.base)
		atomic_store(&((struct spool_header *)own.base)->lost_records[LOSS_SPOOL_LIMIT],
			     UINT64_C(6479911954992612431));
	puts("done");
	return 7;
}

/* A child's spool is truncated while the child makes no calls. */
static int truncated(int argc, char **argv)
{
	int ends[2];
	pid_t pid;

	(void)argc, (void)argv;
	MUST(pipe(ends) == 0);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		work(open("/dev/null", O_WRONLY), CALLS);
		own_spool_find(&own);
		work(ends[1], 1);
		/* Not by a function that is recorded: the record would need the spool. */
		if (own.base)
			MUST(syscall(SYS_truncate, own.path, 0) == 0);
		for (;;)
			pause();
	}
	MUST(read(ends[0], &(char){ 0 }, 1) == 1);
	pause_ms(1000);
	MUST(kill(pid, SIGKILL) == 0);
	printf("child %d\n", child_code(pid));
	return 7;
}

/* The control page is truncated, and no chunk is changed afterwards. */
static int control(int argc, char **argv)
{
	const char *directory = getenv("SLUICE_SPOOL");
	char path[600];

	(void)argc, (void)argv;
	work(open("/dev/null", O_WRONLY), 10);
	if (directory) {
		snprintf(path, sizeof(path), "%s/%s", directory, CONTROL_NAME);
		MUST(truncate(path, 0) == 0);
	}
	pause_ms(500);
	puts("done");
	return 7;
}

/*
 * Prints the text, and stays as long as the file $DAMAGE_HOLD exists, so that a test can look at
 * the collector. Not by a function that is recorded.
 */
static void print_and_hold(const char *text)
{
	const char *file = getenv("DAMAGE_HOLD");

	puts(text);
	fflush(stdout);
	while (file && syscall(SYS_faccessat, AT_FDCWD, file, F_OK) == 0)
		pause_ms(10);
}

/* Opens files with that many different names, which do not exist. */
static int names(int argc, char **argv)
{
	long count = argc ? atol(argv[0]) : 1000;
	char path[200];

	for (long i = 0; i < count; i++) {
		snprintf(path, sizeof(path),
			 "/nowhere/a-directory-with-a-long-name/file-%012ld.dat", i);
		MUST(open(path, O_RDONLY) < 0);
	}
	print_and_hold("done");
	return 7;
}

/* Runs that many children, fifty at a time, which write once each. */
static int children(int argc, char **argv)
{
	int count = argc ? atoi(argv[0]) : 100, bad = 0, running = 0;
	int fd = open("/dev/null", O_WRONLY);
	char text[64];

	for (int i = 0; i < count || running;) {
		int status;
		pid_t pid = i < count && running < 50 ? fork() : -1;

		if (!pid) {
			work(fd, 1);
			_exit(0);
		}
		if (pid > 0) {
			i++;
			running++;
			continue;
		}
		MUST(wait(&status) > 0);
		bad += status != 0;
		running--;
	}
	snprintf(text, sizeof(text), "children %d, failed %d", count, bad);
	print_and_hold(text);
	return 7;
}

/* Starts that many children, which write a number of times and stay until all have written. */
static int together(int argc, char **argv)
{
	int count = atoi(argv[0]), calls = atoi(argv[1]), written[2], leave[2], bad = 0;

	MUST(argc == 2 && pipe(written) == 0 && pipe(leave) == 0);
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (pid)
			continue;
		close(leave[1]);
		for (int j = 0, fd = open("/dev/null", O_WRONLY); j < calls; j++)
			MUST(pwrite(fd, "x", 1, j) == 1);
		work(written[1], 1);
		MUST(read(leave[0], &(char){ 0 }, 1) == 0);
		_exit(0);
	}
	for (int i = 0; i < count; i++)
		MUST(read(written[0], &(char){ 0 }, 1) == 1);
	pause_ms(1000);
	close(leave[1]);
	for (int i = 0, status; i < count; i++)
		bad += wait(&status) < 0 || status;
	printf("children %d, failed %d\n", count, bad);
	return 7;
}

CASES(CASE(flip), CASE(scribble), CASE(counts), CASE(truncated), CASE(control), CASE(names),
      CASE(children), CASE(together))
