/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab program disk DIRECTORY NEAR_US FAR_US: simulates a slow disk with one head. The
 * process serves one file of 10 GiB of zeros through /dev/fuse. A request takes NEAR_US if it
 * starts within NEAR_BYTES after the end of the previous one, else FAR_US. Requests are served one
 * after another, in order. A throttled device is not sufficient: it limits the rate of requests,
 * not their latency, so read-ahead would not help.
 *
 * It requires root. It mounts the file as DIRECTORY/file. On SIGTERM or SIGINT, or when its parent
 * ends, it unmounts and removes the directory.
 * Papers: SIOX-63.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"

#define FILE_BYTES (UINT64_C(10) << 30)
#define NEAR_BYTES (512u << 10)
#define FILE_NODE 2
#define READ_BYTES_MAX (1u << 20)
#define WAITING_MAX 256

/* A read that is waiting or in progress. */
struct waiting {
	uint64_t unique, due_ns;
	uint32_t bytes;
};

struct disk {
	int fd;
	uint64_t near_ns, far_ns;
	uint64_t head;	  /* current offset */
	uint64_t free_ns; /* time at which all requests are done */
	struct waiting waiting[WAITING_MAX];
	unsigned first, count;
};

static volatile sig_atomic_t ended;
static char zeros[READ_BYTES_MAX];

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static void reply(const struct disk *disk, uint64_t unique, int error, const void *data,
		  size_t bytes)
{
	struct fuse_out_header header = { .len = (uint32_t)(sizeof(header) + bytes),
					  .error = -error,
					  .unique = unique };
	struct iovec parts[] = { { &header, sizeof(header) }, { (void *)data, bytes } };

	/* ENOENT: the request was interrupted, and no caller waits for it. */
	if (writev(disk->fd, parts, 2) < 0 && errno != ENOENT && errno != ENODEV)
		perror("sluice lab program disk: reply");
}

static struct fuse_attr attributes(uint64_t node)
{
	bool is_file = node == FILE_NODE;

	return (struct fuse_attr){ .ino = node,
				   .size = is_file ? FILE_BYTES : 0,
				   .blocks = is_file ? FILE_BYTES / 512 : 0,
				   .mode = is_file ? S_IFREG | 0444 : S_IFDIR | 0555,
				   .nlink = 1,
				   .blksize = 4096 };
}

static void answer_init(const struct disk *disk, uint64_t unique, const struct fuse_init_in *in)
{
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
				     .minor = in->minor < FUSE_KERNEL_MINOR_VERSION
						      ? in->minor
						      : FUSE_KERNEL_MINOR_VERSION,
				     .max_readahead = in->max_readahead,
				     .flags = FUSE_ASYNC_READ,
				     .max_background = 64,
				     .congestion_threshold = 48,
				     .max_write = 4096 };

	reply(disk, unique, 0, &out, sizeof(out));
}

static void answer_lookup(const struct disk *disk, uint64_t unique, const char *name)
{
	struct fuse_entry_out out = { .nodeid = FILE_NODE,
				      .entry_valid = 3600,
				      .attr_valid = 3600,
				      .attr = attributes(FILE_NODE) };

	if (strcmp(name, "file") != 0)
		reply(disk, unique, ENOENT, NULL, 0);
	else
		reply(disk, unique, 0, &out, sizeof(out));
}

static void answer_getattr(const struct disk *disk, uint64_t unique, uint64_t node)
{
	struct fuse_attr_out out = { .attr_valid = 3600, .attr = attributes(node) };

	reply(disk, unique, 0, &out, sizeof(out));
}

/* Appends a read to the queue; it is answered when the head has served it. */
static void read_take(struct disk *disk, uint64_t unique, const struct fuse_read_in *in)
{
	uint64_t now = (uint64_t)clock_now_ns(),
		 left = in->offset < FILE_BYTES ? FILE_BYTES - in->offset : 0;
	bool is_near = in->offset >= disk->head && in->offset - disk->head <= NEAR_BYTES;
	uint64_t begin = disk->free_ns > now ? disk->free_ns : now;
	uint32_t bytes = in->size < READ_BYTES_MAX ? in->size : READ_BYTES_MAX;

	if (disk->count == WAITING_MAX) {
		reply(disk, unique, EIO, NULL, 0);
		return;
	}
	if (bytes > left)
		bytes = (uint32_t)left;
	disk->head = in->offset + bytes;
	disk->free_ns = begin + (is_near ? disk->near_ns : disk->far_ns);
	disk->waiting[(disk->first + disk->count++) % WAITING_MAX] =
		(struct waiting){ unique, disk->free_ns, bytes };
}

static void reads_finish(struct disk *disk)
{
	while (disk->count && disk->waiting[disk->first].due_ns <= (uint64_t)clock_now_ns()) {
		const struct waiting *w = &disk->waiting[disk->first];

		reply(disk, w->unique, 0, zeros, w->bytes);
		disk->first = (disk->first + 1) % WAITING_MAX;
		disk->count--;
	}
}

static void request_take(struct disk *disk, const char *request)
{
	const struct fuse_in_header *in = (const void *)request;
	const void *body = request + sizeof(*in);
	struct fuse_open_out opened = { .open_flags = FOPEN_KEEP_CACHE };

	switch (in->opcode) {
	case FUSE_INIT:
		answer_init(disk, in->unique, body);
		break;
	case FUSE_LOOKUP:
		answer_lookup(disk, in->unique, body);
		break;
	case FUSE_GETATTR:
		answer_getattr(disk, in->unique, in->nodeid);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(disk, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		read_take(disk, in->unique, body);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_READDIR:
	case FUSE_ACCESS:
		reply(disk, in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* these requests have no reply */
	default:
		reply(disk, in->unique, ENOSYS, NULL, 0);
	}
}

/* Waits until the next read is due or a request arrives. */
static bool is_request(const struct disk *disk)
{
	struct pollfd fuse = { .fd = disk->fd, .events = POLLIN };
	struct timespec until = { 0 };
	uint64_t now = (uint64_t)clock_now_ns();

	if (disk->count && disk->waiting[disk->first].due_ns > now) {
		uint64_t ns = disk->waiting[disk->first].due_ns - now;

		until = (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	}
	return ppoll(&fuse, 1, disk->count ? &until : NULL, NULL) > 0;
}

static void serve(struct disk *disk)
{
	static char request[FUSE_MIN_READ_BUFFER + READ_BYTES_MAX];

	while (!ended) {
		reads_finish(disk);
		if (!is_request(disk))
			continue;
		ssize_t n = read(disk->fd, request, sizeof(request));

		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			request_take(disk, request);
		else if (n < 0 && errno == ENODEV)
			return; /* unmounted */
	}
}

/* Mounts the disk on the directory. Returns -errno on failure. */
static int disk_mount(struct disk *disk, const char *directory)
{
	char options[128];

	disk->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (disk->fd < 0)
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", disk->fd);
	if (mount("sluice-disk", directory, "fuse", MS_NOSUID | MS_NODEV | MS_RDONLY, options) == 0)
		return 0;
	return -errno;
}

static int disk_run(struct command *command)
{
	static struct disk disk;
	const char *directory = command->argv[0];
	int r;

	disk.near_ns = strtoull(command->argv[1], NULL, 10) * 1000;
	disk.far_ns = strtoull(command->argv[2], NULL, 10) * 1000;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_TIMERSLACK, 1);
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	r = disk_mount(&disk, directory);
	if (r < 0)
		return command_fail(command, "%s: %s", directory, strerror(-r));
	serve(&disk);
	umount2(directory, MNT_DETACH);
	rmdir(directory);
	return COMMAND_GOOD;
}

const struct command_ops command_disk = {
	.name = "disk",
	.help = "serve a file from a simulated slow disk",
	.operands = "DIRECTORY NEAR_US FAR_US",
	.operands_min = 3,
	.operands_max = 3,
	.flags = COMMAND_HIDDEN | COMMAND_NO_JSON,
	.run = disk_run,
};
