/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled with the sanitizers of gcc and clang by run/sanitized.sh: I/O in several threads and in
 * children, and one error of each kind for the sanitizer to find.
 */
#include "prog.h"

#include <limits.h>
#include <pthread.h>

static int unprotected; /* for races */

static void *work(void *arg)
{
	char name[32];
	FILE *f;

	snprintf(name, sizeof(name), "file.%ld", (long)arg);
	f = fopen(name, "w");
	MUST(f);
	for (int i = 0; i < 1000; i++)
		MUST(fprintf(f, "%d\n", i) > 0);
	MUST(fclose(f) == 0);
	return NULL;
}

/* Long names fill the memory in which calls are recorded, so that threads use it by turns. */
static void *miss(void *arg)
{
	char name[200];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 10000; i++)
		MUST(open(name, O_RDONLY) == -1 && errno == ENOENT);
	return arg;
}

static void run_threads(void *(*run)(void *))
{
	pthread_t ids[3];

	for (long i = 0; i < 3; i++)
		MUST(!pthread_create(&ids[i], NULL, run, (void *)i));
	for (int i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
}

/* fine: without an error */
static int fine(int argc, char **argv)
{
	char *text = malloc(100), byte;
	int fd = file_make("data");
	pid_t child;

	(void)argc;
	(void)argv;
	strcpy(text, "text");
	put(fd, text);
	free(text);
	MUST(pread(fd, &byte, 1, 2) == 1 && byte == 'x');
	errno = 0;
	MUST(open("missing", O_RDONLY) == -1 && errno == ENOENT);
	run_threads(work);
	run_threads(miss);
	child = fork();
	if (child == 0) {
		put(fd, "child");
		_exit(5);
	}
	printf("child %d\n", child_code(child));
	close(fd);
	return 3;
}

/* overflow: writes behind the end of a block */
static int overflow(int argc, char **argv)
{
	volatile char *block = malloc(10);

	(void)argv;
	put(file_make("data"), "before");
	block[10 + argc] = 1;
	printf("not found\n");
	return 0;
}

/* buffer: read() writes behind the end of a block, which the sanitizer's own wrapper finds */
static int buffer(int argc, char **argv)
{
	char *block = malloc(10);
	int fd = open("/dev/zero", O_RDONLY);

	(void)argv;
	MUST(read(fd, block, (size_t)(12 + argc)) > 0);
	printf("not found\n");
	return 0;
}

static void *race_run(void *arg)
{
	for (int i = 0; i < 100000; i++)
		unprotected++;
	return arg;
}

/* race: threads change a variable without a lock */
static int race(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	run_threads(race_run);
	return 0;
}

/* undefined: a signed overflow */
static int undefined(int argc, char **argv)
{
	volatile int most = INT_MAX;

	(void)argv;
	put(file_make("data"), "before");
	most += 1 + argc;
	printf("%d\n", most);
	return 0;
}

CASES(CASE(fine), CASE(overflow), CASE(buffer), CASE(race), CASE(undefined))
