/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mounts the CephFS of the test bed with FUSE 3, over libcephfs:
 *
 *	cephfs_mount MOUNTPOINT -o conf=CEPH_CONF[,spread=N,pool=NAME]
 *
 * It stays in the foreground. Data is not cached by the kernel, so hosts see each other's writes.
 * Locks of fcntl(2) and flock(2) hold between hosts; ROMIO's data sieving depends on that.
 *
 * With spread=N, the first N objects of each new file in the pool lie on N different OSDs, as the
 * allocator of Lustre places stripes. CRUSH places an object by a hash of the number of its file,
 * and files are created until one fits. The number of an object does not depend on the layout, so
 * this holds for every layout that the file gets later.
 */
#define FUSE_USE_VERSION 35
#include <cephfs/libcephfs.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define SPREAD_MAX 64
#define SPREAD_TRIES 2000
#define TRANSFERS_MAX 256
#define WAKE_SECONDS 2

static struct ceph_mount_info *ceph;

static struct settings {
	char *conf, *pool;
	unsigned spread;
} settings;

static int spread_pool; /* number of settings.pool */

static const struct fuse_opt options[] = {
	{ "conf=%s", offsetof(struct settings, conf), 0 },
	{ "spread=%u", offsetof(struct settings, spread), 0 },
	{ "pool=%s", offsetof(struct settings, pool), 0 },
	FUSE_OPT_END,
};

/* An open file. Only the low-level interface of libcephfs has locks of ranges; its handle is opened
 * when it is needed. */
struct file {
	int fd;
	struct Fh *_Atomic locks;
};

static struct file *file_of(const struct fuse_file_info *info)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): FUSE stores an integer */
	return (struct file *)(uintptr_t)info->fh;
}

static int file_new(int fd, struct fuse_file_info *info)
{
	struct file *file = calloc(1, sizeof(*file));

	if (!file) {
		ceph_close(ceph, fd);
		return -ENOMEM;
	}
	file->fd = fd;
	info->fh = (uintptr_t)file;
	return 0;
}

static void copy_attributes(const struct ceph_statx *from, struct stat *to)
{
	*to = (struct stat){
		.st_mode = from->stx_mode,
		.st_nlink = from->stx_nlink,
		.st_uid = from->stx_uid,
		.st_gid = from->stx_gid,
		.st_size = (off_t)from->stx_size,
		.st_blocks = (blkcnt_t)from->stx_blocks,
		.st_blksize = (blksize_t)from->stx_blksize,
		.st_ino = from->stx_ino,
		.st_atim = from->stx_atime,
		.st_mtim = from->stx_mtime,
		.st_ctim = from->stx_ctime,
	};
}

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *info)
{
	struct ceph_statx found;
	int r = info ? ceph_fstatx(ceph, file_of(info)->fd, &found, CEPH_STATX_BASIC_STATS, 0)
		     : ceph_statx(ceph, path, &found, CEPH_STATX_BASIC_STATS, AT_SYMLINK_NOFOLLOW);

	if (!r)
		copy_attributes(&found, st);
	return r;
}

static int read_directory(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
			  struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	struct ceph_dir_result *directory;
	struct dirent entry;
	int r = ceph_opendir(ceph, path, &directory);

	(void)offset;
	(void)info;
	(void)flags;
	if (r)
		return r;
	while ((r = ceph_readdir_r(ceph, directory, &entry)) > 0) {
		if (fill(buffer, entry.d_name, NULL, 0, 0))
			break;
	}
	ceph_closedir(ceph, directory);
	return r < 0 ? r : 0;
}

/*
 * Whether the first objects of an empty file lie on different OSDs, or it is in another pool;
 * -errno on failure.
 */
static int is_spread(int fd)
{
	int osds[SPREAD_MAX], unit, count, object, pool;
	int r = ceph_get_file_layout(ceph, fd, &unit, &count, &object, &pool);

	if (r < 0)
		return r;
	if (pool != spread_pool)
		return 1;
	for (unsigned i = 0; i < settings.spread; i++) {
		int64_t set = (int64_t)(i / (unsigned)count) * object * count;
		int64_t length;

		r = ceph_get_file_extent_osds(ceph, fd, set + (int64_t)(i % (unsigned)count) * unit,
					      &length, &osds[i], 1);
		if (r < 0)
			return r;
		for (unsigned j = 0; j < i; j++) {
			if (osds[j] == osds[i])
				return 0;
		}
	}
	return 1;
}

/*
 * Makes sure that path exists: if it does not, it becomes an empty file whose objects are spread.
 * The caller holds the lock of the folder, so no other host creates the file meanwhile.
 */
static int create_spread(const char *path, const char *folder, int flags, mode_t mode)
{
	char temporary[PATH_MAX], host[HOST_NAME_MAX + 1] = "";
	struct ceph_statx found;
	int r = ceph_statx(ceph, path, &found, CEPH_STATX_INO, AT_SYMLINK_NOFOLLOW);

	if (!r)
		return flags & O_EXCL ? -EEXIST : 0;
	if (r != -ENOENT)
		return r;
	gethostname(host, sizeof(host) - 1);
	if (snprintf(temporary, sizeof(temporary), "%s/.spread-%s-%d", folder, host, getpid()) >=
	    PATH_MAX)
		return -ENAMETOOLONG;
	for (int try = 0; try < SPREAD_TRIES; try++) {
		int fd = ceph_open(ceph, temporary, O_CREAT | O_EXCL | O_RDWR, mode);

		/* A mount that was killed may have left it behind. */
		if (fd == -EEXIST && !ceph_unlink(ceph, temporary))
			continue;
		if (fd < 0)
			return fd;
		r = is_spread(fd);
		ceph_close(ceph, fd);
		if (r > 0)
			return ceph_rename(ceph, temporary, path);
		ceph_unlink(ceph, temporary);
		if (r < 0)
			return r;
	}
	return -ENOSPC;
}

/* As create_spread, under the lock of the folder of path, which ends with the host that holds it.
 */
static int create_locked(const char *path, int flags, mode_t mode)
{
	static _Atomic uint64_t owners = 1;
	uint64_t owner = owners++;
	char folder[PATH_MAX];
	int fd, r;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	fd = ceph_open(ceph, *folder ? folder : "/", O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	r = ceph_flock(ceph, fd, LOCK_EX, owner);
	if (!r) {
		r = create_spread(path, folder, flags, mode);
		ceph_flock(ceph, fd, LOCK_UN, owner);
	}
	ceph_close(ceph, fd);
	return r;
}

static int create_file(const char *path, mode_t mode, struct fuse_file_info *info)
{
	int flags = info->flags & ~O_APPEND;
	int fd;

	if (settings.spread > 1) {
		int r = create_locked(path, flags, mode);

		if (r)
			return r;
		flags &= ~(O_CREAT | O_EXCL);
	}
	fd = ceph_open(ceph, path, flags, mode);
	return fd < 0 ? fd : file_new(fd, info);
}

static int open_file(const char *path, struct fuse_file_info *info)
{
	/* The kernel computes the offset of appended data itself. */
	int fd = ceph_open(ceph, path, info->flags & ~(O_CREAT | O_EXCL | O_APPEND), 0);

	return fd < 0 ? fd : file_new(fd, info);
}

static int release_file(const char *path, struct fuse_file_info *info)
{
	struct file *file = file_of(info);

	(void)path;
	if (file->locks)
		ceph_ll_close(ceph, file->locks);
	ceph_close(ceph, file->fd);
	free(file);
	return 0;
}

/*
 * libcephfs 16.2 can miss the wake-up of a read or write that waits until buffered data is flushed
 * for another host. Then it would wait for ever. Asking the server for the size of the file makes
 * it grant capabilities anew, which wakes all. So a thread watches how long reads and writes take.
 */
static struct transfer {
	int fd;
	time_t since; /* seconds of the monotonic clock; 0: free */
	bool is_used; /* by the thread */
} transfers[TRANSFERS_MAX];
static pthread_mutex_t transfers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t waked = PTHREAD_COND_INITIALIZER;

static time_t monotonic_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + 1;
}

/* Returns NULL if there are too many transfers; such a transfer is not watched. */
static struct transfer *transfer_begin(int fd)
{
	struct transfer *found = NULL;

	pthread_mutex_lock(&transfers_lock);
	for (int i = 0; i < TRANSFERS_MAX && !found; i++) {
		if (!transfers[i].since)
			found = &transfers[i];
	}
	if (found)
		*found = (struct transfer){ .fd = fd, .since = monotonic_seconds() };
	pthread_mutex_unlock(&transfers_lock);
	return found;
}

/* The file cannot be closed before its transfers end, so fd stays valid while the thread uses it;
 * libcephfs would use memory that the close has freed. */
static void transfer_end(struct transfer *transfer)
{
	if (!transfer)
		return;
	pthread_mutex_lock(&transfers_lock);
	while (transfer->is_used)
		pthread_cond_wait(&waked, &transfers_lock);
	transfer->since = 0;
	pthread_mutex_unlock(&transfers_lock);
}

static bool wake_begin(struct transfer *transfer)
{
	pthread_mutex_lock(&transfers_lock);
	transfer->is_used =
		transfer->since && monotonic_seconds() - transfer->since >= WAKE_SECONDS;
	pthread_mutex_unlock(&transfers_lock);
	return transfer->is_used;
}

static void wake_end(struct transfer *transfer)
{
	pthread_mutex_lock(&transfers_lock);
	transfer->is_used = false;
	pthread_cond_broadcast(&waked);
	pthread_mutex_unlock(&transfers_lock);
}

static void *wake_slow_transfers(void *unused)
{
	for (;; sleep(WAKE_SECONDS)) {
		for (int i = 0; i < TRANSFERS_MAX; i++) {
			struct ceph_statx found;

			if (!wake_begin(&transfers[i]))
				continue;
			ceph_fstatx(ceph, transfers[i].fd, &found, CEPH_STATX_SIZE, 0);
			wake_end(&transfers[i]);
		}
	}
	return unused;
}

static int read_file(const char *path, char *buffer, size_t size, off_t offset,
		     struct fuse_file_info *info)
{
	int fd = file_of(info)->fd;
	struct transfer *transfer = transfer_begin(fd);
	int r = ceph_read(ceph, fd, buffer, (int64_t)size, offset);

	(void)path;
	transfer_end(transfer);
	return r;
}

static int write_file(const char *path, const char *buffer, size_t size, off_t offset,
		      struct fuse_file_info *info)
{
	int fd = file_of(info)->fd;
	struct transfer *transfer = transfer_begin(fd);
	int r = ceph_write(ceph, fd, buffer, (int64_t)size, offset);

	(void)path;
	transfer_end(transfer);
	return r;
}

static int sync_file(const char *path, int data_only, struct fuse_file_info *info)
{
	(void)path;
	return ceph_fsync(ceph, file_of(info)->fd, data_only);
}

static int truncate_file(const char *path, off_t size, struct fuse_file_info *info)
{
	return info ? ceph_ftruncate(ceph, file_of(info)->fd, size)
		    : ceph_truncate(ceph, path, size);
}

/* Ceph has no preallocation; as for posix_fallocate(3), the file gets the size. */
static int allocate_file(const char *path, int mode, off_t offset, off_t length,
			 struct fuse_file_info *info)
{
	struct ceph_statx found;
	int r;

	(void)path;
	if (mode)
		return -EOPNOTSUPP;
	r = ceph_fstatx(ceph, file_of(info)->fd, &found, CEPH_STATX_SIZE, 0);
	if (r || (off_t)found.stx_size >= offset + length)
		return r;
	return ceph_ftruncate(ceph, file_of(info)->fd, offset + length);
}

/* Opens the handle that holds the locks of an open file; another thread may do the same. */
static int open_locks(const char *path, struct file *file, struct Fh **locks)
{
	struct UserPerm *user = ceph_mount_perms(ceph);
	struct Fh *none = NULL, *opened;
	struct ceph_statx found;
	struct Inode *inode;
	int r = ceph_ll_walk(ceph, path, &inode, &found, CEPH_STATX_INO, 0, user);

	if (r)
		return r;
	r = ceph_ll_open(ceph, inode, O_RDWR, &opened, user);
	ceph_ll_put(ceph, inode);
	if (r)
		return r;
	*locks = opened;
	if (!atomic_compare_exchange_strong(&file->locks, &none, opened)) {
		ceph_ll_close(ceph, opened);
		*locks = none;
	}
	return 0;
}

static int lock_range(const char *path, struct fuse_file_info *info, int command,
		      struct flock *lock)
{
	struct file *file = file_of(info);
	struct Fh *locks = file->locks;

	if (!locks) {
		int r;

		/* Each close(2) removes the locks of the process. */
		if (command != F_GETLK && lock->l_type == F_UNLCK)
			return 0;
		r = open_locks(path, file, &locks);
		if (r)
			return r;
	}
	if (command == F_GETLK)
		return ceph_ll_getlk(ceph, locks, lock, info->lock_owner);
	return ceph_ll_setlk(ceph, locks, lock, info->lock_owner, command == F_SETLKW);
}

static int lock_file(const char *path, struct fuse_file_info *info, int operation)
{
	(void)path;
	return ceph_flock(ceph, file_of(info)->fd, operation, info->lock_owner);
}

static int make_directory(const char *path, mode_t mode)
{
	return ceph_mkdir(ceph, path, mode);
}

static int remove_file(const char *path)
{
	return ceph_unlink(ceph, path);
}

static int remove_directory(const char *path)
{
	return ceph_rmdir(ceph, path);
}

static int rename_path(const char *from, const char *to, unsigned flags)
{
	return flags ? -EINVAL : ceph_rename(ceph, from, to);
}

static int change_mode(const char *path, mode_t mode, struct fuse_file_info *info)
{
	(void)info;
	return ceph_chmod(ceph, path, mode);
}

static int change_owner(const char *path, uid_t user, gid_t group, struct fuse_file_info *info)
{
	(void)info;
	return ceph_lchown(ceph, path, (int)user, (int)group);
}

static int make_symbolic_link(const char *target, const char *path)
{
	return ceph_symlink(ceph, target, path);
}

static int make_link(const char *from, const char *to)
{
	return ceph_link(ceph, from, to);
}

static int read_symbolic_link(const char *path, char *buffer, size_t size)
{
	int r = ceph_readlink(ceph, path, buffer, (int64_t)size - 1);

	if (r < 0)
		return r;
	buffer[r] = 0;
	return 0;
}

static int set_times(const char *path, const struct timespec times[2], struct fuse_file_info *info)
{
	static const int masks[2] = { CEPH_SETATTR_ATIME, CEPH_SETATTR_MTIME };
	struct ceph_statx wanted = { 0 };
	int mask = 0;

	(void)info;
	for (int i = 0; i < 2; i++) {
		struct timespec time = times[i];

		if (time.tv_nsec == UTIME_OMIT)
			continue;
		if (time.tv_nsec == UTIME_NOW)
			clock_gettime(CLOCK_REALTIME, &time);
		*(i ? &wanted.stx_mtime : &wanted.stx_atime) = time;
		mask |= masks[i];
	}
	return ceph_setattrx(ceph, path, &wanted, mask, AT_SYMLINK_NOFOLLOW);
}

/*
 * The server answers before it has written the change to its journal, which it may do 5 s later.
 * Until then nobody can write to the file. Flushing the file makes it write the journal at once.
 */
static void commit_attributes(const char *path)
{
	int fd = ceph_open(ceph, path, O_RDONLY | O_NOFOLLOW, 0);

	if (fd < 0)
		return;
	ceph_fsync(ceph, fd, 0);
	ceph_close(ceph, fd);
}

static int set_attribute(const char *path, const char *name, const char *value, size_t size,
			 int flags)
{
	int r = ceph_setxattr(ceph, path, name, value, size, flags);

	if (!r)
		commit_attributes(path);
	return r;
}

static int get_attribute(const char *path, const char *name, char *value, size_t size)
{
	return ceph_getxattr(ceph, path, name, value, size);
}

static int list_attributes(const char *path, char *names, size_t size)
{
	return ceph_listxattr(ceph, path, names, size);
}

static int remove_attribute(const char *path, const char *name)
{
	return ceph_removexattr(ceph, path, name);
}

static int get_space(const char *path, struct statvfs *found)
{
	return ceph_statfs(ceph, path, found);
}

static void *configure(struct fuse_conn_info *connection, struct fuse_config *config)
{
	connection->max_write = 1 << 20;
	connection->max_readahead = 0;
	config->direct_io = 1;
	config->use_ino = 1;
	config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
	return NULL;
}

static const struct fuse_operations operations = {
	.init = configure,
	.getattr = get_attributes,
	.readdir = read_directory,
	.create = create_file,
	.open = open_file,
	.release = release_file,
	.read = read_file,
	.write = write_file,
	.fsync = sync_file,
	.truncate = truncate_file,
	.fallocate = allocate_file,
	.lock = lock_range,
	.flock = lock_file,
	.mkdir = make_directory,
	.unlink = remove_file,
	.rmdir = remove_directory,
	.rename = rename_path,
	.chmod = change_mode,
	.chown = change_owner,
	.symlink = make_symbolic_link,
	.link = make_link,
	.readlink = read_symbolic_link,
	.utimens = set_times,
	.setxattr = set_attribute,
	.getxattr = get_attribute,
	.listxattr = list_attributes,
	.removexattr = remove_attribute,
	.statfs = get_space,
};

static int mount_ceph(void)
{
	int r = ceph_create(&ceph, NULL);

	if (!r)
		r = ceph_conf_read_file(ceph, settings.conf);
	if (!r)
		r = ceph_conf_set(ceph, "client_permissions", "false");
	if (!r)
		r = ceph_mount(ceph, "/");
	if (!r && settings.spread)
		spread_pool = ceph_get_pool_id(ceph, settings.pool);
	return spread_pool < 0 ? spread_pool : r;
}

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
	pthread_t waker;
	int r;

	/* The threads of libcephfs do not survive a fork, so the program does not become a daemon.
	 * Threads may wait for locks. */
	if (fuse_opt_parse(&args, &settings, options, NULL) || fuse_opt_add_arg(&args, "-f") ||
	    fuse_opt_add_arg(&args,
			     "-ofsname=cephfs,subtype=cephfs,max_threads=256,max_idle_threads=16"))
		return 2;
	if (!settings.conf || settings.spread > SPREAD_MAX || !settings.spread != !settings.pool) {
		fprintf(stderr,
			"usage: cephfs_mount MOUNTPOINT -o conf=CEPH_CONF[,spread=N,pool=NAME], "
			"where N is at most %d\n",
			SPREAD_MAX);
		return 2;
	}
	r = mount_ceph();
	if (r) {
		fprintf(stderr, "cephfs_mount: cannot mount the file system of %s: %s\n",
			settings.conf, strerror(-r));
		return 1;
	}
	r = pthread_create(&waker, NULL, wake_slow_transfers, NULL);
	if (r) {
		fprintf(stderr, "cephfs_mount: cannot start a thread: %s\n", strerror(r));
		return 1;
	}
	r = fuse_main(args.argc, args.argv, &operations, NULL);
	pthread_cancel(waker);
	pthread_join(waker, NULL);
	ceph_unmount(ceph);
	ceph_release(ceph);
	fuse_opt_free_args(&args);
	return r;
}
