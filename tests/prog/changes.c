/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Changes files in the ways that make a program difficult to run twice. `changes CASE [DIRECTORY]`
 * works in the directory, by default the current one. The file `data` holds the input of most
 * cases.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 100000

static void require(int is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "changes: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Opens the file with these flags and writes the letter. */
static void write_file(const char *path, int flags, char letter)
{
	char *bytes = malloc(BYTES);
	int fd = open(path, O_WRONLY | flags, 0640);

	require(fd >= 0, path);
	memset(bytes, letter, BYTES);
	require(write(fd, bytes, BYTES) == BYTES, path);
	require(close(fd) == 0, path);
	free(bytes);
}

static void append(void)
{
	write_file("data", O_APPEND, 'a');
}

/* The result depends on what is there: it increments each byte. */
static void update(void)
{
	FILE *f = fopen("data", "r+");
	char bytes[512];
	size_t n;

	require(f != NULL, "data");
	n = fread(bytes, 1, sizeof(bytes), f);
	for (size_t i = 0; i < n; i++)
		bytes[i]++;
	rewind(f);
	require(fwrite(bytes, 1, n, f) == n && fclose(f) == 0, "data");
	write_file("out", O_CREAT | O_TRUNC, bytes[0]);
}

static void replace(void)
{
	write_file("data.tmp", O_CREAT | O_EXCL, 'r');
	require(rename("data.tmp", "data") == 0, "rename");
}

static void rotate(void)
{
	require(rename("data", "data.bak") == 0, "rename");
	write_file("data", O_CREAT | O_EXCL, 'n');
	write_file("data.bak", O_APPEND, 'o');
}

static void delete (void)
{
	require(unlink("data") == 0, "unlink");
	require(unlink("folder/inner") == 0 && rmdir("folder") == 0, "folder");
	write_file("out", O_CREAT, 'd');
}

static void cut(void)
{
	require(truncate("data", 10) == 0, "truncate");
	write_file("data2", O_TRUNC, 'c');
	require(chmod("data2", 0600) == 0, "chmod");
}

static void in_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		append();
		_exit(0);
	}
	require(waitpid(pid, &status, 0) == pid && status == 0, "child");
	write_file("out", O_CREAT | O_TRUNC, 'f');
}

static void elsewhere(void)
{
	require(chdir("folder") == 0, "chdir");
	write_file("inner", O_APPEND, 'e');
	require(mkdir("new", 0755) == 0, "mkdir");
	write_file("new/out", O_CREAT, 'e');
	require(rename("new", "named") == 0, "rename");
	write_file("named/out", O_APPEND, 'f');
	require(symlink("inner", "link") == 0, "symlink");
}

static void two(void)
{
	write_file("out1", O_CREAT | O_TRUNC, '1');
	write_file("data2", O_CREAT | O_TRUNC, '2');
	write_file("out.tmp", O_CREAT | O_TRUNC, '3');
	require(rename("out.tmp", "out3") == 0, "rename");
}

/* Renames a directory that existed, which cannot be undone. */
static void move(void)
{
	require(rename("folder", "moved") == 0, "rename");
	write_file("out", O_CREAT, 'm');
}

/* Takes as long as a test needs to interrupt it: until the file `go` exists. */
static void hold(void)
{
	append();
	write_file("out.tmp", O_CREAT, 'h');
	require(rename("out.tmp", "out") == 0, "rename");
	write_file("holding", O_CREAT, 'h');
	for (int i = 0; access("go", F_OK) != 0 && i < 12000; i++)
		usleep(50000);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "append", append }, { "update", update }, { "replace", replace }, { "rotate", rotate },
	{ "delete", delete }, { "cut", cut },	    { "fork", in_child },   { "chdir", elsewhere },
	{ "two", two },	      { "move", move },	    { "hold", hold },
};

int main(int argc, char **argv)
{
	require(argc < 3 || chdir(argv[2]) == 0, "directory");
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[1]) != 0)
			continue;
		cases[i].run();
		return 0;
	}
	fprintf(stderr, "usage: changes CASE [DIRECTORY]\n");
	return 2;
}
