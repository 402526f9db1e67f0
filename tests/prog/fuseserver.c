/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small FUSE server, and its clients, to test that calls are matched across a mount.
 *
 *   fuseserver serve plain|reopen|splice direct|cached|later DIRECTORY MOUNTPOINT [OPTION OF LIBFUSE]...
 *   fuseserver write FILE THREADS WRITES BYTES
 *   fuseserver again FILE WRITES BYTES
 *   fuseserver garbage
 *
 * The server shows DIRECTORY below MOUNTPOINT. With "splice", libfuse moves requests and data by
 * splice() if it can. With "reopen", the server first opens and closes /dev/fuse many times. The kernel hands on each call ("direct"), caches data but hands on each write
 * ("cached"), or writes data back later ("later"). The client "write" makes as many writes in each
 * thread, each of them at an offset of its own in FILE, and reads them back; "again" writes to
 * offset 0 only, and asks for the attributes of FILE in between. "garbage" misuses /dev/fuse.
 */
#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define THREADS_MAX 64

#define CHECK(condition)                                                \
	do {                                                            \
		if (!(condition)) {                                     \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
			perror(#condition);                             \
			exit(1);                                        \
		}                                                       \
	} while (0)

/* --- server --- */

static int directory;

/* Of a path of FUSE below the directory. */
static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int result_of(int r)
{
	return r < 0 ? -errno : r;
}

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *info)
{
	(void)info;
	return result_of(fstatat(directory, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int read_directory(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
			  struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	int fd = openat(directory, below(path), O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	(void)offset;
	(void)info;
	(void)flags;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (fill(buffer, entry->d_name, NULL, 0, 0))
			break;
	closedir(dir);
	return 0;
}

static int open_with(const char *path, struct fuse_file_info *info, int flags, mode_t mode)
{
	int fd = openat(directory, below(path), flags, mode);

	if (fd < 0)
		return -errno;
	info->fh = (uint64_t)fd;
	return 0;
}

static int open_file(const char *path, struct fuse_file_info *info)
{
	return open_with(path, info, info->flags & ~O_APPEND, 0);
}

static int create_file(const char *path, mode_t mode, struct fuse_file_info *info)
{
	return open_with(path, info, (info->flags & ~O_APPEND) | O_CREAT, mode);
}

static int release_file(const char *path, struct fuse_file_info *info)
{
	(void)path;
	return result_of(close((int)info->fh));
}

static int read_file(const char *path, char *data, size_t bytes, off_t offset,
		     struct fuse_file_info *info)
{
	(void)path;
	return result_of((int)pread((int)info->fh, data, bytes, offset));
}

static int write_file(const char *path, const char *data, size_t bytes, off_t offset,
		      struct fuse_file_info *info)
{
	(void)path;
	return result_of((int)pwrite((int)info->fh, data, bytes, offset));
}

static struct fuse_bufvec whole_file(const struct fuse_file_info *info, size_t bytes, off_t offset)
{
	struct fuse_bufvec vector = FUSE_BUFVEC_INIT(bytes);

	vector.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	vector.buf[0].fd = (int)info->fh;
	vector.buf[0].pos = offset;
	return vector;
}

static int read_buffers(const char *path, struct fuse_bufvec **data, size_t bytes, off_t offset,
			struct fuse_file_info *info)
{
	(void)path;
	*data = malloc(sizeof(**data));
	if (!*data)
		return -ENOMEM;
	**data = whole_file(info, bytes, offset);
	return 0;
}

static int write_buffers(const char *path, struct fuse_bufvec *data, off_t offset,
			 struct fuse_file_info *info)
{
	struct fuse_bufvec to = whole_file(info, fuse_buf_size(data), offset);

	(void)path;
	return (int)fuse_buf_copy(&to, data, FUSE_BUF_SPLICE_NONBLOCK);
}

static int sync_file(const char *path, int data_only, struct fuse_file_info *info)
{
	(void)path;
	return result_of(data_only ? fdatasync((int)info->fh) : fsync((int)info->fh));
}

static int resize_file(const char *path, off_t bytes, struct fuse_file_info *info)
{
	int fd = info ? (int)info->fh : openat(directory, below(path), O_WRONLY);
	int r = result_of(fd < 0 ? -1 : ftruncate(fd, bytes));

	if (!info && fd >= 0)
		close(fd);
	return r;
}

static int set_times(const char *path, const struct timespec times[2], struct fuse_file_info *info)
{
	(void)info;
	return result_of(utimensat(directory, below(path), times, 0));
}

static int remove_file(const char *path)
{
	return result_of(unlinkat(directory, below(path), 0));
}

static bool by_splice, is_direct, is_later, reopens;

static void *configure(struct fuse_conn_info *connection, struct fuse_config *config)
{
	unsigned splices = FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE;

	for (int i = 0; reopens && i < 5000; i++)
		CHECK(!close(open("/dev/fuse", O_RDWR)));
	config->direct_io = is_direct;
	connection->want &= ~splices;
	if (by_splice)
		connection->want |= connection->capable & splices;
	if (is_later)
		connection->want |= connection->capable & FUSE_CAP_WRITEBACK_CACHE;
	return NULL;
}

static int serve(const char *of, const char *mount, int count, char **given)
{
	struct fuse_operations operations = {
		.init = configure,
		.getattr = get_attributes,
		.readdir = read_directory,
		.open = open_file,
		.create = create_file,
		.release = release_file,
		.read = read_file,
		.write = write_file,
		.fsync = sync_file,
		.truncate = resize_file,
		.unlink = remove_file,
		.utimens = set_times,
	};
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	int r;

	if (by_splice) {
		operations.read_buf = read_buffers;
		operations.write_buf = write_buffers;
	}
	directory = open(of, O_RDONLY | O_DIRECTORY);
	CHECK(directory >= 0);
	CHECK(!fuse_opt_add_arg(&args, "fuseserver") && !fuse_opt_add_arg(&args, "-f"));
	for (int i = 0; i < count; i++)
		CHECK(!fuse_opt_add_arg(&args, given[i]));
	CHECK(!fuse_opt_add_arg(&args, mount));
	r = fuse_main(args.argc, args.argv, &operations, NULL);
	fuse_opt_free_args(&args);
	return r;
}

/* --- clients --- */

struct client {
	int fd;
	long thread, writes;
	size_t bytes;
};

static void *write_and_read(void *arg)
{
	const struct client *c = arg;
	char *data = malloc(c->bytes), *back = malloc(c->bytes);

	CHECK(data && back);
	for (long i = 0; i < c->writes; i++) {
		off_t offset = (off_t)((size_t)(c->thread * c->writes + i) * c->bytes);

		memset(data, (int)(c->thread + i) % 251, c->bytes);
		CHECK(pwrite(c->fd, data, c->bytes, offset) == (ssize_t)c->bytes);
		CHECK(pread(c->fd, back, c->bytes, offset) == (ssize_t)c->bytes);
		CHECK(!memcmp(data, back, c->bytes));
	}
	free(data);
	free(back);
	return NULL;
}

static int write_all(const char *path, long threads, long writes, size_t bytes)
{
	struct client clients[THREADS_MAX];
	pthread_t ids[THREADS_MAX];
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	CHECK(fd >= 0 && threads <= THREADS_MAX);
	for (long i = 0; i < threads; i++) {
		clients[i] = (struct client){ fd, i, writes, bytes };
		CHECK(!pthread_create(&ids[i], NULL, write_and_read, &clients[i]));
	}
	for (long i = 0; i < threads; i++)
		CHECK(!pthread_join(ids[i], NULL));
	CHECK(!fsync(fd) && !close(fd));
	return 0;
}

static int write_again(const char *path, long writes, size_t bytes)
{
	char *data = calloc(1, bytes);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	struct stat st;

	CHECK(data && fd >= 0);
	for (long i = 0; i < writes; i++)
		CHECK(pwrite(fd, data, bytes, 0) == (ssize_t)bytes && !stat(path, &st));
	CHECK(!close(fd));
	free(data);
	return 0;
}

/* A descriptor of /dev/fuse without a mount, and pipes that carry what looks like heads. */
static int misuse(void)
{
	unsigned char garbage[4096] __attribute__((aligned(8)));
	uint32_t *words = (uint32_t *)garbage;
	char *volatile invalid = (char *)words - (uintptr_t)words + 8;
	struct iovec iov[2] = { { garbage, 3 }, { garbage + 3, 500 } };
	int fd = open("/dev/fuse", O_RDWR), pair[2];

	CHECK(fd >= 0 && !pipe(pair));
	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (unsigned char)(i * 7);
	words[0] = sizeof(garbage);
	(void)!write(fd, garbage, sizeof(garbage));
	(void)!writev(fd, iov, 2);
	(void)!writev(fd, NULL, 0);
	(void)!write(fd, invalid, 100);
	(void)!read(fd, garbage, sizeof(garbage));
	(void)!readv(fd, iov, 2);
	CHECK(write(pair[1], garbage, 200) == 200);
	(void)!splice(pair[0], NULL, fd, NULL, 100, 0);
	(void)!splice(fd, NULL, pair[1], NULL, 100, SPLICE_F_NONBLOCK);
	(void)!vmsplice(pair[1], iov, 2, SPLICE_F_NONBLOCK);
	CHECK(read(pair[0], garbage, sizeof(garbage)) > 0);
	/* A file that gets the number of the descriptor holds what looks like a request. */
	close(fd);
	fd = open("looks_like_a_request", O_RDWR | O_CREAT | O_TRUNC, 0600);
	words[0] = sizeof(garbage);
	CHECK(write(fd, garbage, sizeof(garbage)) == sizeof(garbage) && !lseek(fd, 0, SEEK_SET));
	CHECK(read(fd, garbage, sizeof(garbage)) == sizeof(garbage));
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "serve") && argc >= 6) {
		by_splice = !strcmp(argv[2], "splice");
		reopens = !strcmp(argv[2], "reopen");
		is_direct = !strcmp(argv[3], "direct");
		is_later = !strcmp(argv[3], "later");
		return serve(argv[4], argv[5], argc - 6, argv + 6);
	}
	if (!strcmp(what, "write") && argc == 6)
		return write_all(argv[2], atol(argv[3]), atol(argv[4]), (size_t)atol(argv[5]));
	if (!strcmp(what, "again") && argc == 5)
		return write_again(argv[2], atol(argv[3]), (size_t)atol(argv[4]));
	if (!strcmp(what, "garbage"))
		return misuse();
	return 2;
}
