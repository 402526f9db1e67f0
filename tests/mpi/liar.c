/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Leaves its output in one of many manners: `liar MANNER [WORD]`. With WORD "lie", it writes other
 * data if the file `input` is opened with the hint romio_cb_write=disable. A comparison of its data
 * must find that, and must not find anything without WORD. It needs no launcher.
 */
#include <mpi.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "must.h"

#define BYTES 20000

static bool has_the_hint;
static bool is_lying; /* now */

/* Which of the two contents to write. */
static char content(bool lies)
{
	return lies && is_lying ? 'y' : 'x';
}

static void write_bytes(const char *path, int flags, char byte, size_t n)
{
	char *bytes = malloc(n + 1);
	int fd = open(path, O_WRONLY | flags, 0644);

	MUST(fd >= 0 && bytes);
	memset(bytes, byte, n);
	MUST(write(fd, bytes, n) == (ssize_t)n);
	MUST(close(fd) == 0);
	free(bytes);
}

static void create(const char *path, bool lies)
{
	write_bytes(path, O_CREAT | O_TRUNC, content(lies), BYTES);
}

static void create_plain(void)
{
	create("out", true);
}

static void create_and_rename(void)
{
	create("out.tmp", true);
	MUST(rename("out.tmp", "out") == 0);
}

static void rename_directory(void)
{
	MUST(mkdir("new", 0755) == 0);
	create("new/out", true);
	MUST(rename("new", "made") == 0);
}

/* The first version of the output is replaced by the second. */
static void replace_first(void)
{
	create("out", true);
	create("out.tmp", false);
	MUST(rename("out.tmp", "out") == 0);
}

static void replace_second(void)
{
	create("out", false);
	create("out.tmp", true);
	MUST(rename("out.tmp", "out") == 0);
}

static void create_and_remove(void)
{
	create("out", true);
	MUST(unlink("out") == 0);
}

static void truncate_first(void)
{
	create("out", true);
	create("out", false);
}

/* The file `old` exists. */
static void append(void)
{
	write_bytes("old", O_APPEND, content(true), BYTES);
}

static void update_in_place(void)
{
	write_bytes("old", 0, content(true), 10);
}

static void leave_empty(void)
{
	write_bytes("out", O_CREAT, content(true), is_lying ? 1 : 0);
}

static void create_two(void)
{
	create("one", false);
	create("two", true);
}

static void create_one_more(void)
{
	create("one", false);
	if (is_lying)
		create("two", true);
}

static void write_random(const char *path, size_t n)
{
	char bytes[BYTES];
	int from = open("/dev/urandom", O_RDONLY), fd = open(path, O_WRONLY | O_CREAT, 0644);

	MUST(from >= 0 && fd >= 0 && read(from, bytes, n) == (ssize_t)n);
	MUST(write(fd, bytes, n) == (ssize_t)n);
	close(from);
	close(fd);
}

static void create_random_and_plain(void)
{
	write_random("random", 1000);
	create("out", true);
}

static void create_random(void)
{
	write_random("random", 1000);
}

/* Uninitialized bytes within a file. */
static void create_with_holes(void)
{
	create("out", true);
	write_random("out", 100);
}

static void create_log(void)
{
	FILE *f = fopen("log", "w");
	struct timeval now;

	MUST(f && gettimeofday(&now, NULL) == 0);
	fprintf(f, "started %ld.%06ld\nresult %c\n", (long)now.tv_sec, (long)now.tv_usec,
		content(true));
	MUST(fclose(f) == 0);
}

/* Returns the number of earlier runs. Sluice does not see these calls, and so does not undo them.
 */
static long count_run(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "runs", O_RDWR | O_APPEND);
	struct stat st;

	MUST(fd >= 0 && fstat(fd, &st) == 0);
	MUST(syscall(SYS_write, fd, "r", 1) == 1);
	close(fd);
	return (long)st.st_size;
}

/* It changes from minute to minute only: the first two runs do not show that it varies. */
static void create_with_minute(void)
{
	write_bytes("stamp", O_CREAT, count_run() < 2 ? 'a' : 'b', 4);
	create("out", true);
}

static void print_result(void)
{
	printf("result %c\n", content(true));
}

static void name_by_process(void)
{
	char name[64];

	snprintf(name, sizeof(name), "out.%d", (int)getpid());
	create(name, true);
}

static void create_elsewhere(void)
{
	MUST(chdir("elsewhere") == 0);
	create("../another/out", true);
}

static void create_in_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		create("out", true);
		_exit(0);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

static void map_output(void)
{
	int fd = open("out", O_RDWR | O_CREAT, 0644);
	char *bytes;

	MUST(fd >= 0 && ftruncate(fd, BYTES) == 0);
	bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(bytes != MAP_FAILED);
	memset(bytes, content(true), BYTES);
	munmap(bytes, BYTES);
	close(fd);
}

/* The first run and every other one after it fails. */
static void fail_sometimes(void)
{
	create("out", true);
	if (count_run() % 2 == 0)
		_exit(3);
}

static void hang(void)
{
	create("out", true);
	while (is_lying)
		pause();
}

/* Far slower without the hint, and the same data. */
static void write_slowly(void)
{
	int fd = open("out", O_WRONLY | O_CREAT, 0644);
	char bytes[BYTES] = "";

	MUST(fd >= 0);
	if (has_the_hint)
		MUST(write(fd, bytes, BYTES) == BYTES);
	for (size_t i = 0; i < BYTES && !has_the_hint; i++)
		MUST(write(fd, bytes, 1) == 1);
	MUST(close(fd) == 0);
}

static void write_nothing(void)
{
}

static const struct {
	const char *name;
	void (*run)(void);
} manners[] = {
	{ "plain", create_plain },
	{ "rename", create_and_rename },
	{ "rename-directory", rename_directory },
	{ "replace-first", replace_first },
	{ "replace-second", replace_second },
	{ "remove", create_and_remove },
	{ "truncate", truncate_first },
	{ "append", append },
	{ "update", update_in_place },
	{ "empty", leave_empty },
	{ "two", create_two },
	{ "one-more", create_one_more },
	{ "random-and-plain", create_random_and_plain },
	{ "random", create_random },
	{ "holes", create_with_holes },
	{ "log", create_log },
	{ "minute", create_with_minute },
	{ "stdout", print_result },
	{ "process-name", name_by_process },
	{ "elsewhere", create_elsewhere },
	{ "fork", create_in_child },
	{ "map", map_output },
	{ "fail", fail_sometimes },
	{ "hang", hang },
	{ "slow", write_slowly },
	{ "nothing", write_nothing },
};

/* Does the library have the hint? */
static bool find_hint(void)
{
	char value[MPI_MAX_INFO_VAL + 1] = "";
	MPI_File file;
	MPI_Info info;
	int found = 0;

	MUST(MPI_File_open(MPI_COMM_SELF, "input", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) ==
	     MPI_SUCCESS);
	MUST(MPI_File_get_info(file, &info) == MPI_SUCCESS);
	MPI_Info_get(info, "romio_cb_write", MPI_MAX_INFO_VAL, value, &found);
	MPI_Info_free(&info);
	MPI_File_close(&file);
	return found && strcmp(value, "disable") == 0;
}

int main(int argc, char **argv)
{
	size_t i = 0;

	MUST(argc > 1);
	MUST(MPI_Init(NULL, NULL) == MPI_SUCCESS);
	has_the_hint = find_hint();
	is_lying = has_the_hint && argc > 2 && strcmp(argv[2], "lie") == 0;
	while (i < sizeof(manners) / sizeof(manners[0]) && strcmp(manners[i].name, argv[1]) != 0)
		i++;
	MUST(i < sizeof(manners) / sizeof(manners[0]));
	manners[i].run();
	MPI_Finalize();
	return 0;
}
