/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layer POSIX: descriptors, paths, directories, mappings, locks, asynchronous I/O; and the layer
 * POSIX.Network: pipes, sockets and event descriptors.
 *
 * One line per function; docs/reference/interfaces.md explains the marks. PATH is recorded as the program passed it. Of
 * two offsets, that of the FD is recorded; sendfile and tee have none there. Calls on sockets and pipes are
 * assigned to their layer when a trace is read, by the kind of the descriptor.
 *
 * mmap is recorded for files only, because allocators use anonymous mappings; munmap and mremap only if
 * they start at a recorded mapping. tests/lint/not-io.txt says why the other functions are left out.
 * Papers: SIOX-24.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_POSIX_H
#define SLUICE_CAPTURE_INTERFACES_POSIX_H

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <pty.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "capture/apply/layout.h"
#include "capture/apply/placed.h"
#include "capture/apply/spread.h"
#include "capture/preserve/preserve.h"
#include "capture/interfaces/marks.h"

LAYER(POSIX)

/*
 * Opening. As in libc, __OPEN_NEEDS_MODE decides whether a mode was passed. If the run has parameters for
 * it, a new file gets its layout first (capture/apply/layout.h). In a trial of a tuning the files that a
 * call changes are preserved first (capture/preserve/preserve.h).
 */
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, flags), -1) LAYOUT_OPENS(AT_FDCWD, flags, mode);) PASS(flags, layout.flags) LAST(layout_end(&layout, ret);)
CALL(OPEN) MAKES(FILE) REST(MODE mode_t mode, __OPEN_NEEDS_MODE(flags))
AFTER(fuse_opened(ret, path);)
int open(PATH const char *path, FLAGS int flags, ...);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, flags), -1) LAYOUT_OPENS(AT_FDCWD, flags, mode);) PASS(flags, layout.flags) LAST(layout_end(&layout, ret);)
CALL(OPEN) MAKES(FILE) REST(MODE mode_t mode, __OPEN_NEEDS_MODE(flags))
AFTER(fuse_opened(ret, path);)
int open64(PATH const char *path, FLAGS int flags, ...);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, flags), -1) LAYOUT_OPENS(AT_FDCWD, flags, mode);) PASS(flags, layout.flags) LAST(layout_end(&layout, ret);)
CALL(OPEN) MAKES(FILE) REST(MODE mode_t mode, __OPEN_NEEDS_MODE(flags))
AFTER(fuse_opened(ret, path);)
int __open(PATH const char *path, FLAGS int flags, ...);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, flags), -1) LAYOUT_OPENS(AT_FDCWD, flags, mode);) PASS(flags, layout.flags) LAST(layout_end(&layout, ret);)
CALL(OPEN) MAKES(FILE) REST(MODE mode_t mode, __OPEN_NEEDS_MODE(flags))
AFTER(fuse_opened(ret, path);)
int __open64(PATH const char *path, FLAGS int flags, ...);
FIRST(PRESERVE(preserve_open(dirfd, path, flags), -1) LAYOUT_OPENS(dirfd, flags, mode);) PASS(flags, layout.flags) LAST(layout_end(&layout, ret);)
CALL(OPEN) MAKES(FILE) REST(MODE mode_t mode, __OPEN_NEEDS_MODE(flags))
AFTER(fuse_opened(ret, path);)
int openat(DIRFD int dirfd, PATH const char *path, FLAGS int flags, ...);
FIRST(PRESERVE(preserve_open(dirfd, path, flags), -1) LAYOUT_OPENS(dirfd, flags, mode);) PASS(flags, layout.flags) LAST(layout_end(&layout, ret);)
CALL(OPEN) MAKES(FILE) REST(MODE mode_t mode, __OPEN_NEEDS_MODE(flags))
AFTER(fuse_opened(ret, path);)
int openat64(DIRFD int dirfd, PATH const char *path, FLAGS int flags, ...);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, flags), -1))
CALL(OPEN) MAKES(FILE) FIELD(MODE, 0) AFTER(fuse_opened(ret, path);)
int __open_2(PATH const char *path, FLAGS int flags);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, flags), -1))
CALL(OPEN) MAKES(FILE) FIELD(MODE, 0) AFTER(fuse_opened(ret, path);)
int __open64_2(PATH const char *path, FLAGS int flags);
FIRST(PRESERVE(preserve_open(dirfd, path, flags), -1)) CALL(OPEN) MAKES(FILE) FIELD(MODE, 0)
AFTER(fuse_opened(ret, path);)
int __openat_2(DIRFD int dirfd, PATH const char *path, FLAGS int flags);
FIRST(PRESERVE(preserve_open(dirfd, path, flags), -1)) CALL(OPEN) MAKES(FILE) FIELD(MODE, 0)
AFTER(fuse_opened(ret, path);)
int __openat64_2(DIRFD int dirfd, PATH const char *path, FLAGS int flags);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC), -1)
      LAYOUT_OPENS(AT_FDCWD, O_CREAT, mode);) LAST(layout_end(&layout, ret);)
CALL(OPEN) MAKES(FILE) int creat(PATH const char *path, MODE mode_t mode);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC), -1)
      LAYOUT_OPENS(AT_FDCWD, O_CREAT, mode);) LAST(layout_end(&layout, ret);)
CALL(OPEN) MAKES(FILE) int creat64(PATH const char *path, MODE mode_t mode);
CALL(OPEN) MAKES(FILE)
int open_by_handle_at(DIRFD int mount, struct file_handle *handle, FLAGS int flags);
CALL(OPEN) MAKES(FILE) int shm_open(PATH const char *name, FLAGS int flags, MODE mode_t mode);
CALL(OPEN) MAKES(FILE) int memfd_create(PATH const char *name, FLAGS unsigned flags);
LAST(PRESERVE_MADE(ret >= 0, name)) CALL(OPEN) MAKES(FILE) int mkstemp(PATH char *name);
LAST(PRESERVE_MADE(ret >= 0, name)) CALL(OPEN) MAKES(FILE) int mkstemp64(PATH char *name);
LAST(PRESERVE_MADE(ret >= 0, name)) CALL(OPEN) MAKES(FILE) int mkstemps(PATH char *name, int suffix);
LAST(PRESERVE_MADE(ret >= 0, name)) CALL(OPEN) MAKES(FILE) int mkstemps64(PATH char *name, int suffix);
LAST(PRESERVE_MADE(ret >= 0, name)) CALL(OPEN) MAKES(FILE)
int mkostemp(PATH char *name, FLAGS int flags);
LAST(PRESERVE_MADE(ret >= 0, name)) CALL(OPEN) MAKES(FILE)
int mkostemp64(PATH char *name, FLAGS int flags);
LAST(PRESERVE_MADE(ret >= 0, name)) CALL(OPEN) MAKES(FILE)
int mkostemps(PATH char *name, int suffix, FLAGS int flags);
LAST(PRESERVE_MADE(ret >= 0, name)) CALL(OPEN) MAKES(FILE)
int mkostemps64(PATH char *name, int suffix, FLAGS int flags);

/* Closing and duplicating. What is done with placed files is measured (capture/apply/placed.h). */
FIRST(PLACED_CALL(CLOSE, fd, 0);) LAST(placed_end(&placed, 0);) CALL(CLOSE) ENDS int close(FD int fd);
FIRST(PLACED_CALL(CLOSE, fd, 0);) LAST(placed_end(&placed, 0);) CALL(CLOSE) ENDS int __close(FD int fd);
FIRST(if (!(flags & (int)CLOSE_RANGE_CLOEXEC)) placed_close_range(first, last);)
CALL(CLOSE) FIELD(HANDLE, first)
AFTER(if (!err && !(flags & (int)CLOSE_RANGE_CLOEXEC)) handle_clear(first, last);)
int close_range(unsigned first, unsigned last, FLAGS int flags);
FIRST(placed_close_range(first < 0 ? 0 : (unsigned)first, UINT32_MAX);)
CALL(CLOSE) FIELD(HANDLE, first) AFTER(handle_clear(first < 0 ? 0 : (unsigned)first, UINT32_MAX);)
void closefrom(int first);
LAST(placed_copy(fd, ret);) CALL(DUP) MAKES(SAME) AFTER(FUSE_COPIED(ret)) int dup(FD int fd);
LAST(placed_copy(fd, ret);) CALL(DUP) MAKES(SAME) AFTER(FUSE_COPIED(ret)) int dup2(FD int fd, int onto);
LAST(placed_copy(fd, ret);) CALL(DUP) MAKES(SAME) AFTER(FUSE_COPIED(ret)) int __dup2(FD int fd, int onto);
LAST(placed_copy(fd, ret);) CALL(DUP) MAKES(SAME) AFTER(FUSE_COPIED(ret)) int dup3(FD int fd, int onto, FLAGS int flags);
CALL(DUP) MAKES(FILE) int pidfd_getfd(int pidfd, int target, FLAGS unsigned flags);
LAST(if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) placed_copy(fd, ret);) CALL(CONTROL) REST(void *arg)
AFTER(if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) { handle_made(ret, link_kind(link), &f); FUSE_COPIED(ret) })
int fcntl(FD int fd, FLAGS int command, ...);
LAST(if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) placed_copy(fd, ret);) CALL(CONTROL) REST(void *arg)
AFTER(if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) { handle_made(ret, link_kind(link), &f); FUSE_COPIED(ret) })
int fcntl64(FD int fd, FLAGS int command, ...);
LAST(if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) placed_copy(fd, ret);) CALL(CONTROL) REST(void *arg)
AFTER(if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) { handle_made(ret, link_kind(link), &f); FUSE_COPIED(ret) })
int __fcntl(FD int fd, FLAGS int command, ...);
CALL(CONTROL) REST(void *arg) int ioctl(FD int fd, FLAGS unsigned long request, ...);

/* Reading. */
CALL(READ) AFTER(FUSE_CALL(fuse_read, buf, ret))
ssize_t read(FD int fd, void *buf, SIZE size_t count);
CALL(READ) AFTER(FUSE_CALL(fuse_read, buf, ret))
ssize_t __read(FD int fd, void *buf, SIZE size_t count);
CALL(READ) AFTER(FUSE_CALL(fuse_read, buf, ret))
ssize_t __read_chk(FD int fd, void *buf, SIZE size_t count, size_t room);
CALL(READ) ssize_t pread(FD int fd, void *buf, SIZE size_t count, OFFSET off_t offset);
CALL(READ) ssize_t pread64(FD int fd, void *buf, SIZE size_t count, OFFSET off64_t offset);
CALL(READ) ssize_t __pread64(FD int fd, void *buf, SIZE size_t count, OFFSET off64_t offset);
CALL(READ)
ssize_t __pread_chk(FD int fd, void *buf, SIZE size_t count, OFFSET off_t offset, size_t room);
CALL(READ)
ssize_t __pread64_chk(FD int fd, void *buf, SIZE size_t count, OFFSET off64_t offset, size_t room);
CALL(READ) AFTER(FUSE_CALL(fuse_readv, iov, count, ret))
ssize_t readv(FD int fd, IOV const struct iovec *iov, IOVCNT int count);
CALL(READ)
ssize_t preadv(FD int fd, IOV const struct iovec *iov, IOVCNT int count, OFFSET off_t offset);
CALL(READ)
ssize_t preadv64(FD int fd, IOV const struct iovec *iov, IOVCNT int count, OFFSET off64_t offset);
CALL(READ)
ssize_t preadv2(FD int fd, IOV const struct iovec *iov, IOVCNT int count, OFFSET off_t offset,
		FLAGS int flags);
CALL(READ)
ssize_t preadv64v2(FD int fd, IOV const struct iovec *iov, IOVCNT int count, OFFSET off64_t offset,
		   FLAGS int flags);
CALL(ADVISE) ssize_t readahead(FD int fd, OFFSET off64_t offset, SIZE size_t count);

/* Writing. */
FIRST(PLACED_CALL(CACHED_WRITE, fd, count);) LAST(placed_end(&placed, ret);) CALL(WRITE)
AFTER(FUSE_CALL(fuse_write, buf, ret)) ssize_t write(FD int fd, const void *buf, SIZE size_t count);
FIRST(PLACED_CALL(CACHED_WRITE, fd, count);) LAST(placed_end(&placed, ret);) CALL(WRITE)
AFTER(FUSE_CALL(fuse_write, buf, ret)) ssize_t __write(FD int fd, const void *buf, SIZE size_t count);
FIRST(PLACED_CALL(CACHED_WRITE, fd, count);) LAST(placed_end(&placed, ret);) CALL(WRITE) ssize_t pwrite(FD int fd, const void *buf, SIZE size_t count, OFFSET off_t offset);
FIRST(PLACED_CALL(CACHED_WRITE, fd, count);) LAST(placed_end(&placed, ret);) CALL(WRITE) ssize_t pwrite64(FD int fd, const void *buf, SIZE size_t count, OFFSET off64_t offset);
FIRST(PLACED_CALL(CACHED_WRITE, fd, count);) LAST(placed_end(&placed, ret);) CALL(WRITE)
ssize_t __pwrite64(FD int fd, const void *buf, SIZE size_t count, OFFSET off64_t offset);
FIRST(PLACED_CALL(CACHED_WRITE, fd, 0);) LAST(placed_end(&placed, ret);) CALL(WRITE)
AFTER(FUSE_CALL(fuse_writev, iov, count, ret)) ssize_t writev(FD int fd, IOV const struct iovec *iov, IOVCNT int count);
FIRST(PLACED_CALL(CACHED_WRITE, fd, 0);) LAST(placed_end(&placed, ret);) CALL(WRITE)
ssize_t pwritev(FD int fd, IOV const struct iovec *iov, IOVCNT int count, OFFSET off_t offset);
FIRST(PLACED_CALL(CACHED_WRITE, fd, 0);) LAST(placed_end(&placed, ret);) CALL(WRITE)
ssize_t pwritev64(FD int fd, IOV const struct iovec *iov, IOVCNT int count, OFFSET off64_t offset);
FIRST(PLACED_CALL(CACHED_WRITE, fd, 0);) LAST(placed_end(&placed, ret);) CALL(WRITE)
ssize_t pwritev2(FD int fd, IOV const struct iovec *iov, IOVCNT int count, OFFSET off_t offset,
		 FLAGS int flags);
FIRST(PLACED_CALL(CACHED_WRITE, fd, 0);) LAST(placed_end(&placed, ret);) CALL(WRITE)
ssize_t pwritev64v2(FD int fd, IOV const struct iovec *iov, IOVCNT int count, OFFSET off64_t offset,
		    FLAGS int flags);

/* Copying inside the kernel. */
FIRST(PLACED_CALL(CACHED_WRITE, out, count);) LAST(placed_end(&placed, ret);) CALL(COPY)
ssize_t sendfile(FD int out, SOURCE int in, OFFSET_AT off_t *offset, SIZE size_t count);
FIRST(PLACED_CALL(CACHED_WRITE, out, count);) LAST(placed_end(&placed, ret);) CALL(COPY)
ssize_t sendfile64(FD int out, SOURCE int in, OFFSET_AT off64_t *offset, SIZE size_t count);
FIRST(PLACED_CALL(CACHED_WRITE, out, count);) LAST(placed_end(&placed, ret);) CALL(COPY)
ssize_t copy_file_range(SOURCE int in, off64_t *in_offset, FD int out, OFFSET_AT off64_t *offset,
			SIZE size_t count, FLAGS unsigned flags);
FIRST(PLACED_CALL(CACHED_WRITE, out, count);) LAST(placed_end(&placed, ret);) CALL(COPY)
AFTER(if (fuse_is_seen()) fuse_splice(&f, in, link2, out, link, ret);)
ssize_t splice(SOURCE int in, off64_t *in_offset, FD int out, OFFSET_AT off64_t *offset,
	       SIZE size_t count, FLAGS unsigned flags);
CALL(COPY) ssize_t tee(SOURCE int in, FD int out, SIZE size_t count, FLAGS unsigned flags);
CALL(COPY)
AFTER(if (fuse_is_seen()) fuse_vmsplice(link, iov, count, ret);)
ssize_t vmsplice(FD int fd, IOV const struct iovec *iov, IOVCNT size_t count, FLAGS unsigned flags);

/* Position, length and allocation. */
CALL(SEEK) off_t lseek(FD int fd, OFFSET off_t offset, FLAGS int whence);
CALL(SEEK) off64_t lseek64(FD int fd, OFFSET off64_t offset, FLAGS int whence);
CALL(SEEK) off_t __lseek(FD int fd, OFFSET off_t offset, FLAGS int whence);
CALL(SEEK) off64_t llseek(FD int fd, OFFSET off64_t offset, FLAGS int whence);
FIRST(PRESERVE(preserve_truncate(path), -1)) CALL(RESIZE)
int truncate(PATH const char *path, SIZE off_t length);
FIRST(PRESERVE(preserve_truncate(path), -1)) CALL(RESIZE)
int truncate64(PATH const char *path, SIZE off64_t length);
FIRST(PRESERVE(preserve_shorten(fd, length), -1)) CALL(RESIZE)
int ftruncate(FD int fd, SIZE off_t length);
FIRST(PRESERVE(preserve_shorten(fd, length), -1)) CALL(RESIZE)
int ftruncate64(FD int fd, SIZE off64_t length);
CALL(RESIZE) int fallocate(FD int fd, FLAGS int how, OFFSET off_t offset, SIZE off_t length);
CALL(RESIZE) int fallocate64(FD int fd, FLAGS int how, OFFSET off64_t offset, SIZE off64_t length);
CALL(RESIZE) FAILS(IS_ERRNO) int posix_fallocate(FD int fd, OFFSET off_t offset, SIZE off_t length);
CALL(RESIZE) FAILS(IS_ERRNO)
int posix_fallocate64(FD int fd, OFFSET off64_t offset, SIZE off64_t length);
CALL(ADVISE) FAILS(IS_ERRNO)
int posix_fadvise(FD int fd, OFFSET off_t offset, SIZE off_t length, FLAGS int advice);
CALL(ADVISE) FAILS(IS_ERRNO)
int posix_fadvise64(FD int fd, OFFSET off64_t offset, SIZE off64_t length, FLAGS int advice);

/* Synchronization with storage. */
FIRST(PLACED_CALL(SYNC, fd, 0);) LAST(placed_end(&placed, ret);) CALL(SYNC) int fsync(FD int fd);
FIRST(PLACED_CALL(SYNC, fd, 0);) LAST(placed_end(&placed, ret);) CALL(SYNC) int fdatasync(FD int fd);
CALL(SYNC) void sync(void);
CALL(SYNC) int syncfs(FD int fd);
CALL(SYNC)
int sync_file_range(FD int fd, OFFSET off64_t offset, SIZE off64_t count, FLAGS unsigned flags);
CALL(SYNC) FIELD(LINK, mapping_link(start))
int msync(void *start, SIZE size_t length, FLAGS int flags);

/* Mappings of files. */
CALL(MAP) FAILS(MINUS_ERRNO) ONLY_IF(!(flags & MAP_ANONYMOUS))
AFTER(mapping_made(&f, ret, link, err);)
void *mmap(void *start, SIZE size_t length, MODE int protection, FLAGS int flags, FD int fd,
	   OFFSET off_t offset);
CALL(MAP) FAILS(MINUS_ERRNO) ONLY_IF(!(flags & MAP_ANONYMOUS))
AFTER(mapping_made(&f, ret, link, err);)
void *mmap64(void *start, SIZE size_t length, MODE int protection, FLAGS int flags, FD int fd,
	     OFFSET off64_t offset);
CALL(MAP) ONLY_IF(mapping_link(start)) BEFORE(uint64_t from = mapping_take(start);)
FIELD(LINK, from)
int munmap(void *start, SIZE size_t length);
CALL(MAP) FAILS(MINUS_ERRNO) ONLY_IF(mapping_link(start)) REST(void *wanted, flags & MREMAP_FIXED)
BEFORE(uint64_t from = mapping_take(start);) FIELD(LINK, from)
AFTER(mapping_moved(start, ret, from, err);)
void *mremap(void *start, size_t old_length, SIZE size_t length, FLAGS int flags, ...);
CALL(MAP) FIELD(LINK, mapping_link(start))
int remap_file_pages(void *start, SIZE size_t length, MODE int protection, OFFSET size_t page,
		     FLAGS int flags);

/* Attributes of files. */
CALL(STAT) int stat(PATH const char *path, struct stat *st);
CALL(STAT) int stat64(PATH const char *path, struct stat64 *st);
CALL(STAT) int lstat(PATH const char *path, struct stat *st);
CALL(STAT) int lstat64(PATH const char *path, struct stat64 *st);
CALL(STAT) int fstat(FD int fd, struct stat *st);
CALL(STAT) int fstat64(FD int fd, struct stat64 *st);
CALL(STAT) int fstatat(DIRFD int dirfd, PATH const char *path, struct stat *st, FLAGS int flags);
CALL(STAT)
int fstatat64(DIRFD int dirfd, PATH const char *path, struct stat64 *st, FLAGS int flags);
CALL(STAT) int __xstat(int version, PATH const char *path, struct stat *st);
CALL(STAT) int __xstat64(int version, PATH const char *path, struct stat64 *st);
CALL(STAT) int __lxstat(int version, PATH const char *path, struct stat *st);
CALL(STAT) int __lxstat64(int version, PATH const char *path, struct stat64 *st);
CALL(STAT) int __fxstat(int version, FD int fd, struct stat *st);
CALL(STAT) int __fxstat64(int version, FD int fd, struct stat64 *st);
CALL(STAT)
int __fxstatat(int version, DIRFD int dirfd, PATH const char *path, struct stat *st,
	       FLAGS int flags);
CALL(STAT)
int __fxstatat64(int version, DIRFD int dirfd, PATH const char *path, struct stat64 *st,
		 FLAGS int flags);
CALL(STAT)
int statx(DIRFD int dirfd, PATH const char *path, FLAGS int flags, MODE unsigned mask,
	  struct statx *st);
CALL(STAT) int statfs(PATH const char *path, struct statfs *st);
CALL(STAT) int statfs64(PATH const char *path, struct statfs64 *st);
CALL(STAT) int __statfs(PATH const char *path, struct statfs *st);
CALL(STAT) int fstatfs(FD int fd, struct statfs *st);
CALL(STAT) int fstatfs64(FD int fd, struct statfs64 *st);
CALL(STAT) int statvfs(PATH const char *path, struct statvfs *st);
CALL(STAT) int statvfs64(PATH const char *path, struct statvfs64 *st);
CALL(STAT) int fstatvfs(FD int fd, struct statvfs *st);
CALL(STAT) int fstatvfs64(FD int fd, struct statvfs64 *st);
CALL(STAT) int access(PATH const char *path, MODE int mode);
CALL(STAT) int eaccess(PATH const char *path, MODE int mode);
CALL(STAT) int euidaccess(PATH const char *path, MODE int mode);
CALL(STAT) int faccessat(DIRFD int dirfd, PATH const char *path, MODE int mode, FLAGS int flags);
CALL(STAT) char *realpath(PATH const char *path, char *resolved);
CALL(STAT) char *__realpath_chk(PATH const char *path, char *resolved, size_t room);
CALL(STAT) char *canonicalize_file_name(PATH const char *path);
CALL(STAT) FAILS(EOF_ERRNO) long pathconf(PATH const char *path, FLAGS int name);
CALL(STAT) FAILS(EOF_ERRNO) long fpathconf(FD int fd, FLAGS int name);
CALL(STAT)
int name_to_handle_at(DIRFD int dirfd, PATH const char *path, struct file_handle *handle,
		      int *mount, FLAGS int flags);
FIRST(PRESERVE(preserve_change(AT_FDCWD, path, 0), -1)) CALL(META)
int chmod(PATH const char *path, MODE mode_t mode);
FIRST(PRESERVE(preserve_change_open(fd), -1)) CALL(META)
int fchmod(FD int fd, MODE mode_t mode);
FIRST(PRESERVE(preserve_change(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW), -1)) CALL(META)
int lchmod(PATH const char *path, MODE mode_t mode);
FIRST(PRESERVE(preserve_change(dirfd, path, flags), -1)) CALL(META)
int fchmodat(DIRFD int dirfd, PATH const char *path, MODE mode_t mode, FLAGS int flags);
FIRST(PRESERVE(preserve_change(AT_FDCWD, path, 0), -1)) CALL(META)
int chown(PATH const char *path, uid_t owner, gid_t group);
FIRST(PRESERVE(preserve_change_open(fd), -1)) CALL(META)
int fchown(FD int fd, uid_t owner, gid_t group);
FIRST(PRESERVE(preserve_change(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW), -1)) CALL(META)
int lchown(PATH const char *path, uid_t owner, gid_t group);
FIRST(PRESERVE(preserve_change(dirfd, path, flags), -1)) CALL(META)
int fchownat(DIRFD int dirfd, PATH const char *path, uid_t owner, gid_t group, FLAGS int flags);
FIRST(PRESERVE(preserve_change(AT_FDCWD, path, 0), -1)) CALL(META)
int utime(PATH const char *path, const struct utimbuf *times);
FIRST(PRESERVE(preserve_change(AT_FDCWD, path, 0), -1)) CALL(META)
int utimes(PATH const char *path, const struct timeval times[2]);
FIRST(PRESERVE(preserve_change(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW), -1)) CALL(META)
int lutimes(PATH const char *path, const struct timeval times[2]);
FIRST(PRESERVE(preserve_change_open(fd), -1)) CALL(META)
int futimes(FD int fd, const struct timeval times[2]);
FIRST(PRESERVE(preserve_change(dirfd, path, 0), -1)) CALL(META)
int futimesat(DIRFD int dirfd, PATH const char *path, const struct timeval times[2]);
FIRST(PRESERVE(preserve_change_open(fd), -1)) CALL(META)
int futimens(FD int fd, const struct timespec times[2]);
FIRST(PRESERVE(preserve_change(dirfd, path, flags), -1)) CALL(META)
int utimensat(DIRFD int dirfd, PATH const char *path, const struct timespec times[2],
	      FLAGS int flags);

/* Extended attributes. */
CALL(STAT)
ssize_t getxattr(PATH const char *path, NAME const char *name, void *value, SIZE size_t room);
CALL(STAT)
ssize_t lgetxattr(PATH const char *path, NAME const char *name, void *value, SIZE size_t room);
CALL(STAT) ssize_t fgetxattr(FD int fd, NAME const char *name, void *value, SIZE size_t room);
FIRST(layout_yield(-1, path, name);) CALL(META)
int setxattr(PATH const char *path, NAME const char *name, const void *value, SIZE size_t length,
	     FLAGS int flags);
FIRST(layout_yield(-1, path, name);) CALL(META)
int lsetxattr(PATH const char *path, NAME const char *name, const void *value, SIZE size_t length,
	      FLAGS int flags);
FIRST(layout_yield(fd, NULL, name);) CALL(META)
int fsetxattr(FD int fd, NAME const char *name, const void *value, SIZE size_t length,
	      FLAGS int flags);
CALL(STAT) ssize_t listxattr(PATH const char *path, char *list, SIZE size_t room);
CALL(STAT) ssize_t llistxattr(PATH const char *path, char *list, SIZE size_t room);
CALL(STAT) ssize_t flistxattr(FD int fd, char *list, SIZE size_t room);
CALL(META) int removexattr(PATH const char *path, NAME const char *name);
CALL(META) int lremovexattr(PATH const char *path, NAME const char *name);
CALL(META) int fremovexattr(FD int fd, NAME const char *name);

/*
 * Names. If there are two directories, LINK2 is the first. Removing a link of the guest removes the file,
 * too (capture/apply/spread.h).
 */
FIRST(PRESERVE(preserve_rename(AT_FDCWD, path, AT_FDCWD, to, 0), -1)
      SPREAD_REPLACES(AT_FDCWD, path, AT_FDCWD, to);) LAST(spread_removed(&removal, ret);)
CALL(META) int rename(PATH const char *path, PATH2 const char *to);
FIRST(PRESERVE(preserve_rename(dirfd, path, to_dirfd, to, 0), -1)
      SPREAD_REPLACES(dirfd, path, to_dirfd, to);) LAST(spread_removed(&removal, ret);)
CALL(META) int renameat(DIRFD int dirfd, PATH const char *path, int to_dirfd, PATH2 const char *to);
FIRST(PRESERVE(preserve_rename(dirfd, path, to_dirfd, to, flags), -1)
      SPREAD_REPLACES(dirfd, path, to_dirfd, flags & (unsigned)RENAME_EXCHANGE ? NULL : to);)
LAST(spread_removed(&removal, ret);) CALL(META)
int renameat2(DIRFD int dirfd, PATH const char *path, int to_dirfd, PATH2 const char *to,
	      FLAGS unsigned flags);
FIRST(PRESERVE(preserve_link(AT_FDCWD, path, AT_FDCWD, to, 0), -1)) CALL(META)
int link(PATH const char *path, PATH2 const char *to);
FIRST(PRESERVE(preserve_link(dirfd, path, to_dirfd, to, flags), -1)) CALL(META)
int linkat(DIRFD int dirfd, PATH const char *path, int to_dirfd, PATH2 const char *to,
	   FLAGS int flags);
FIRST(PRESERVE(preserve_make(AT_FDCWD, path), -1) SPREAD_COPIES(target);)
PASS(target, removal.target ? removal.target : target) LAST(spread_copied(&removal, ret);) CALL(META)
int symlink(PATH2 const char *target, PATH const char *path);
FIRST(PRESERVE(preserve_make(dirfd, path), -1) SPREAD_COPIES(target);)
PASS(target, removal.target ? removal.target : target) LAST(spread_copied(&removal, ret);) CALL(META)
int symlinkat(PATH2 const char *target, DIRFD int dirfd, PATH const char *path);
CALL(META) ssize_t readlink(PATH const char *path, char *target, SIZE size_t room);
CALL(META)
ssize_t readlinkat(DIRFD int dirfd, PATH const char *path, char *target, SIZE size_t room);
CALL(META)
ssize_t __readlink_chk(PATH const char *path, char *target, SIZE size_t length, size_t room);
CALL(META)
ssize_t __readlinkat_chk(DIRFD int dirfd, PATH const char *path, char *target, SIZE size_t length,
			 size_t room);
FIRST(PRESERVE(preserve_remove(AT_FDCWD, path), -1) SPREAD_REMOVES(AT_FDCWD, path);) LAST(spread_removed(&removal, ret);)
CALL(META) int unlink(PATH const char *path);
FIRST(PRESERVE(preserve_remove(dirfd, path), -1) SPREAD_REMOVES(dirfd, path);) LAST(spread_removed(&removal, ret);)
CALL(META) int unlinkat(DIRFD int dirfd, PATH const char *path, FLAGS int flags);
FIRST(PRESERVE(preserve_remove(AT_FDCWD, path), -1) SPREAD_REMOVES(AT_FDCWD, path);) LAST(spread_removed(&removal, ret);)
CALL(META) int remove(PATH const char *path);
FIRST(PRESERVE(preserve_remove(AT_FDCWD, path), -1)) CALL(META) int rmdir(PATH const char *path);
FIRST(PRESERVE(preserve_make(AT_FDCWD, path), -1)) CALL(META)
int mkdir(PATH const char *path, MODE mode_t mode);
FIRST(PRESERVE(preserve_make(dirfd, path), -1)) CALL(META)
int mkdirat(DIRFD int dirfd, PATH const char *path, MODE mode_t mode);
LAST(PRESERVE_MADE(ret, name)) CALL(META) char *mkdtemp(PATH char *name);
FIRST(PRESERVE(preserve_make(AT_FDCWD, path), -1)) CALL(META)
int mkfifo(PATH const char *path, MODE mode_t mode);
FIRST(PRESERVE(preserve_make(dirfd, path), -1)) CALL(META)
int mkfifoat(DIRFD int dirfd, PATH const char *path, MODE mode_t mode);
FIRST(PRESERVE(preserve_make(AT_FDCWD, path), -1)) CALL(META)
int mknod(PATH const char *path, MODE mode_t mode, dev_t device);
FIRST(PRESERVE(preserve_make(dirfd, path), -1)) CALL(META)
int mknodat(DIRFD int dirfd, PATH const char *path, MODE mode_t mode, dev_t device);
FIRST(PRESERVE(preserve_make(AT_FDCWD, path), -1)) CALL(META)
int __xmknod(int version, PATH const char *path, MODE mode_t mode, dev_t *device);
FIRST(PRESERVE(preserve_make(dirfd, path), -1)) CALL(META)
int __xmknodat(int version, DIRFD int dirfd, PATH const char *path, MODE mode_t mode,
	       dev_t *device);
CALL(META) int shm_unlink(PATH const char *name);
CALL(META) int chdir(PATH const char *path);
CALL(META) int fchdir(FD int fd);
CALL(META) int chroot(PATH const char *path);

/* Directories. The end of a directory is not an error. */
CALL(OPEN) MAKES(FILE) DIR *opendir(PATH const char *path);
CALL(OPEN) MAKES(SAME) DIR *fdopendir(FD int fd);
CALL(CLOSE) ENDS int closedir(DIRP DIR *dir);
CALL(DIR) FAILS(EOF_ERRNO) struct dirent *readdir(DIRP DIR *dir);
CALL(DIR) FAILS(EOF_ERRNO) struct dirent64 *readdir64(DIRP DIR *dir);
CALL(DIR) FAILS(IS_ERRNO) int readdir_r(DIRP DIR *dir, struct dirent *item, struct dirent **found);
CALL(DIR) FAILS(IS_ERRNO)
int readdir64_r(DIRP DIR *dir, struct dirent64 *item, struct dirent64 **found);
CALL(DIR) void rewinddir(DIRP DIR *dir);
CALL(DIR) void seekdir(DIRP DIR *dir, OFFSET long position);
CALL(DIR) long telldir(DIRP DIR *dir);
CALL(DIR) ssize_t getdents64(FD int fd, void *buf, SIZE size_t count);
CALL(DIR) ssize_t getdirentries(FD int fd, char *buf, SIZE size_t count, off_t *base);
CALL(DIR) ssize_t getdirentries64(FD int fd, char *buf, SIZE size_t count, off64_t *base);
CALL(DIR)
int scandir(PATH const char *path, struct dirent ***list, int (*keep)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **));
CALL(DIR)
int scandir64(PATH const char *path, struct dirent64 ***list, int (*keep)(const struct dirent64 *),
	      int (*compare)(const struct dirent64 **, const struct dirent64 **));
CALL(DIR)
int scandirat(DIRFD int dirfd, PATH const char *path, struct dirent ***list,
	      int (*keep)(const struct dirent *),
	      int (*compare)(const struct dirent **, const struct dirent **));
CALL(DIR)
int scandirat64(DIRFD int dirfd, PATH const char *path, struct dirent64 ***list,
		int (*keep)(const struct dirent64 *),
		int (*compare)(const struct dirent64 **, const struct dirent64 **));
CALL(DIR) int ftw(PATH const char *path, __ftw_func_t visit, int descriptors);
CALL(DIR) int ftw64(PATH const char *path, __ftw64_func_t visit, int descriptors);
CALL(DIR) int nftw(PATH const char *path, __nftw_func_t visit, int descriptors, FLAGS int flags);
CALL(DIR)
int nftw64(PATH const char *path, __nftw64_func_t visit, int descriptors, FLAGS int flags);
CALL(DIR)
FTS *fts_open(char *const *paths, FLAGS int options,
	      int (*compare)(const FTSENT **, const FTSENT **));
CALL(DIR) FTSENT *fts_read(FTS *walk);
CALL(DIR) FTSENT *fts_children(FTS *walk, FLAGS int options);
CALL(DIR) int fts_close(FTS *walk);
CALL(DIR)
FTS64 *fts64_open(char *const *paths, FLAGS int options,
		  int (*compare)(const FTSENT64 **, const FTSENT64 **));
CALL(DIR) FTSENT64 *fts64_read(FTS64 *walk);
CALL(DIR) FTSENT64 *fts64_children(FTS64 *walk, FLAGS int options);
CALL(DIR) int fts64_close(FTS64 *walk);
CALL(DIR) FAILS(NEVER)
int glob(PATH const char *pattern, FLAGS int flags, int (*fault)(const char *, int), glob_t *found);
CALL(DIR) FAILS(NEVER)
int glob64(PATH const char *pattern, FLAGS int flags, int (*fault)(const char *, int),
	   glob64_t *found);

/* Locks. */
CALL(LOCK) int flock(FD int fd, FLAGS int operation);
CALL(LOCK) int lockf(FD int fd, FLAGS int command, SIZE off_t length);
CALL(LOCK) int lockf64(FD int fd, FLAGS int command, SIZE off64_t length);

/* Asynchronous I/O. LINK2 of the completing call is the id of the starting call. */
CALL(START) FIELD(LINK, handle_link(request->aio_fildes, err)) FIELD(SIZE, request->aio_nbytes)
FIELD(OFFSET, request->aio_offset) AFTER(request_started(&f, request, err);)
int aio_read(struct aiocb *request);
CALL(START) FIELD(LINK, handle_link(request->aio_fildes, err)) FIELD(SIZE, request->aio_nbytes)
FIELD(OFFSET, request->aio_offset) AFTER(request_started(&f, request, err);)
int aio_read64(struct aiocb64 *request);
CALL(START) FIELD(LINK, handle_link(request->aio_fildes, err)) FIELD(SIZE, request->aio_nbytes)
FIELD(OFFSET, request->aio_offset) AFTER(request_started(&f, request, err);)
int aio_write(struct aiocb *request);
CALL(START) FIELD(LINK, handle_link(request->aio_fildes, err)) FIELD(SIZE, request->aio_nbytes)
FIELD(OFFSET, request->aio_offset) AFTER(request_started(&f, request, err);)
int aio_write64(struct aiocb64 *request);
CALL(START) FIELD(LINK, handle_link(request->aio_fildes, err))
AFTER(request_started(&f, request, err);)
int aio_fsync(FLAGS int operation, struct aiocb *request);
CALL(START) FIELD(LINK, handle_link(request->aio_fildes, err))
AFTER(request_started(&f, request, err);)
int aio_fsync64(FLAGS int operation, struct aiocb64 *request);
CALL(START) FIELD(SIZE, requests_bytes(list, count, err))
AFTER(requests_started(&f, list, count, err);)
int lio_listio(FLAGS int mode, struct aiocb *const list[], int count, struct sigevent *event);
CALL(START) FIELD(SIZE, requests_bytes((struct aiocb *const *)list, count, err))
AFTER(requests_started(&f, (struct aiocb *const *)list, count, err);)
int lio_listio64(FLAGS int mode, struct aiocb64 *const list[], int count, struct sigevent *event);
CALL(WAIT) FIELD(LINK, handle_link(request->aio_fildes, err)) FIELD(LINK2, request_take(request))
ssize_t aio_return(struct aiocb *request);
CALL(WAIT) FIELD(LINK, handle_link(request->aio_fildes, err)) FIELD(LINK2, request_take(request))
ssize_t aio_return64(struct aiocb64 *request);
CALL(CONTROL) FAILS(NEVER) KEEP_IF(ret != EINPROGRESS)
FIELD(LINK, handle_link(request->aio_fildes, err)) int aio_error(const struct aiocb *request);
CALL(CONTROL) FAILS(NEVER) KEEP_IF(ret != EINPROGRESS)
FIELD(LINK, handle_link(request->aio_fildes, err)) int aio_error64(const struct aiocb64 *request);
CALL(WAIT)
int aio_suspend(const struct aiocb *const list[], SIZE int count, const struct timespec *limit);
CALL(WAIT)
int aio_suspend64(const struct aiocb64 *const list[], SIZE int count, const struct timespec *limit);
CALL(CONTROL) int aio_cancel(FD int fd, struct aiocb *request);
CALL(CONTROL) int aio_cancel64(FD int fd, struct aiocb64 *request);

LAYER(NETWORK)

/* Pipes, terminals and event descriptors, which are not files and count as network. */
CALL(CONNECT) FIELD(HANDLE, err ? -1 : fds[0]) AFTER(handle_pair(fds, LINK_NETWORK, &f, err);)
int pipe(int fds[2]);
CALL(CONNECT) FIELD(HANDLE, err ? -1 : fds[0]) AFTER(handle_pair(fds, LINK_NETWORK, &f, err);)
int __pipe(int fds[2]);
CALL(CONNECT) FIELD(HANDLE, err ? -1 : fds[0]) AFTER(handle_pair(fds, LINK_NETWORK, &f, err);)
int pipe2(int fds[2], FLAGS int flags);
CALL(CONNECT) MAKES(NETWORK) int posix_openpt(FLAGS int flags);
CALL(CONNECT) MAKES(NETWORK) int getpt(void);
CALL(CONNECT) FIELD(HANDLE, err ? -1 : *master)
AFTER(if (!err) { handle_made(*master, LINK_NETWORK, &f); handle_made(*slave, LINK_NETWORK, &f); })
int openpty(int *master, int *slave, char *name, const struct termios *terminal,
	    const struct winsize *window);
CALL(CONNECT) MAKES(NETWORK) int eventfd(unsigned count, FLAGS int flags);
CALL(READ) RESULT(ret < 0 ? -1 : 8) int eventfd_read(FD int fd, eventfd_t *value);
CALL(WRITE) RESULT(ret < 0 ? -1 : 8) int eventfd_write(FD int fd, eventfd_t value);
CALL(CONNECT) MAKES(NETWORK) int timerfd_create(clockid_t clock, FLAGS int flags);
CALL(CONNECT) FIELD(HANDLE, ret) AFTER(if (fd < 0) handle_made(ret, LINK_NETWORK, &f);)
int signalfd(int fd, const sigset_t *mask, FLAGS int flags);
CALL(CONNECT) MAKES(NETWORK) int inotify_init(void);
CALL(CONNECT) MAKES(NETWORK) int inotify_init1(FLAGS int flags);
CALL(CONNECT) MAKES(NETWORK) int fanotify_init(FLAGS unsigned flags, unsigned event_flags);
CALL(CONNECT) MAKES(NETWORK) int epoll_create(int count);
CALL(CONNECT) MAKES(NETWORK) int epoll_create1(FLAGS int flags);
CALL(CONNECT) MAKES(NETWORK) int pidfd_open(pid_t pid, FLAGS unsigned flags);

/* Sockets. */
CALL(CONNECT) MAKES(NETWORK) int socket(MODE int domain, FLAGS int type, int protocol);
CALL(CONNECT) FIELD(HANDLE, err ? -1 : fds[0]) AFTER(handle_pair(fds, LINK_NETWORK, &f, err);)
int socketpair(MODE int domain, FLAGS int type, int protocol, int fds[2]);

/* The NAME of a TCP connection is the addresses of its ends, which the other end has in reverse. */
CALL(CONNECT) MAKES(NETWORK)
BEFORE(struct socket_ends ends;) FIELD(NAME, socket_accepted(&ends, ret))
int accept(FD int fd, __SOCKADDR_ARG address, socklen_t *length);
CALL(CONNECT) MAKES(NETWORK)
BEFORE(struct socket_ends ends;) FIELD(NAME, socket_accepted(&ends, ret))
int accept4(FD int fd, __SOCKADDR_ARG address, socklen_t *length, FLAGS int flags);
CALL(CONNECT) BEFORE(struct socket_ends ends;)
FIELD(NAME, socket_connected(&ends, fd, address.__sockaddr__, length, err))
int connect(FD int fd, __CONST_SOCKADDR_ARG address, socklen_t length);
CALL(CONNECT) BEFORE(struct socket_ends ends;)
FIELD(NAME, socket_connected(&ends, fd, address.__sockaddr__, length, err))
int __connect(FD int fd, __CONST_SOCKADDR_ARG address, socklen_t length);
CALL(CONNECT) int bind(FD int fd, __CONST_SOCKADDR_ARG address, socklen_t length);
CALL(CONNECT) int listen(FD int fd, int waiting);
CALL(CONNECT) int shutdown(FD int fd, FLAGS int how);
CALL(WRITE) ssize_t send(FD int fd, const void *buf, SIZE size_t count, FLAGS int flags);
CALL(WRITE) ssize_t __send(FD int fd, const void *buf, SIZE size_t count, FLAGS int flags);
CALL(WRITE)
ssize_t sendto(FD int fd, const void *buf, SIZE size_t count, FLAGS int flags,
	       __CONST_SOCKADDR_ARG address, socklen_t length);
CALL(WRITE) FIELD(SIZE, msg_bytes(message, err))
ssize_t sendmsg(FD int fd, const struct msghdr *message, FLAGS int flags);
CALL(WRITE) RESULT(mmsg_bytes(messages, ret))
int sendmmsg(FD int fd, struct mmsghdr *messages, unsigned count, FLAGS int flags);
CALL(READ) ssize_t recv(FD int fd, void *buf, SIZE size_t count, FLAGS int flags);
CALL(READ)
ssize_t __recv_chk(FD int fd, void *buf, SIZE size_t count, size_t room, FLAGS int flags);
CALL(READ)
ssize_t recvfrom(FD int fd, void *buf, SIZE size_t count, FLAGS int flags, __SOCKADDR_ARG address,
		 socklen_t *length);
CALL(READ)
ssize_t __recvfrom_chk(FD int fd, void *buf, SIZE size_t count, size_t room, FLAGS int flags,
		       __SOCKADDR_ARG address, socklen_t *length);
CALL(READ) FIELD(SIZE, msg_bytes(message, err))
ssize_t recvmsg(FD int fd, struct msghdr *message, FLAGS int flags);
CALL(READ) RESULT(mmsg_bytes(messages, ret))
int recvmmsg(FD int fd, struct mmsghdr *messages, unsigned count, FLAGS int flags,
	     struct timespec *limit);

#endif
