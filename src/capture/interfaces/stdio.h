/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layer STDIO: streams of bytes and of wide characters, with their fortified, unlocked, locale- and
 * standard-bound variants and the old names that libc still exports.
 *
 * RESULT is in bytes, except for wide characters, which are counted as characters because their bytes
 * depend on the locale. getc_unlocked and similar functions are macros in optimized programs. Then only
 * __uflow, __underflow and __overflow are seen, when the buffer is empty or full; they report what the
 * macros have moved (capture/libraries/followed.h).
 */
#ifndef SLUICE_CAPTURE_INTERFACES_STDIO_H
#define SLUICE_CAPTURE_INTERFACES_STDIO_H

#include <err.h>
#include <mntent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <wchar.h>

#include "capture/apply/layout.h"
#include "capture/apply/stream_buffer.h"
#include "capture/libraries/followed.h"
#include "capture/preserve/preserve.h"
#include "capture/interfaces/marks.h"

/* Macros of libc; the second group exists in fortified programs. Only the functions matter here. */
#undef fread_unlocked
#undef fwrite_unlocked
#undef dprintf
#undef fprintf
#undef fwprintf
#undef printf
#undef wprintf

LAYER(STDIO)

/* Opening and closing. */
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, stream_flags(mode)), NULL)
      LAYOUT_OPENS(AT_FDCWD, layout_is_wanted() ? stream_makes(mode) : 0, 0666);)
LAST(layout_end(&layout, stream_fd(ret)); stream_buffer_opened(ret, path);)
CALL(OPEN) MAKES(FILE) FIELD(FLAGS, stream_flags(mode))
FILE *fopen(PATH const char *path, const char *mode);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, stream_flags(mode)), NULL)
      LAYOUT_OPENS(AT_FDCWD, layout_is_wanted() ? stream_makes(mode) : 0, 0666);)
LAST(layout_end(&layout, stream_fd(ret)); stream_buffer_opened(ret, path);)
CALL(OPEN) MAKES(FILE) FIELD(FLAGS, stream_flags(mode))
FILE *fopen64(PATH const char *path, const char *mode);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, stream_flags(mode)), NULL))
CALL(OPEN) MAKES(FILE) FIELD(FLAGS, stream_flags(mode))
FILE *_IO_fopen(PATH const char *path, const char *mode);
CALL(OPEN) MAKES(SAME) FIELD(FLAGS, stream_flags(mode)) FILE *fdopen(FD int fd, const char *mode);
CALL(OPEN) MAKES(SAME) FIELD(FLAGS, stream_flags(mode))
FILE *_IO_fdopen(FD int fd, const char *mode);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, stream_flags(mode)), NULL) PLACED_CALL(CLOSE, stream_fd(stream), 0);)
LAST(placed_end(&placed, 0);)
CALL(OPEN) MAKES(FILE) ENDS FIELD(FLAGS, stream_flags(mode))
FILE *freopen(PATH const char *path, const char *mode, STREAM FILE *stream);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, stream_flags(mode)), NULL) PLACED_CALL(CLOSE, stream_fd(stream), 0);)
LAST(placed_end(&placed, 0);)
CALL(OPEN) MAKES(FILE) ENDS FIELD(FLAGS, stream_flags(mode))
FILE *freopen64(PATH const char *path, const char *mode, STREAM FILE *stream);
CALL(OPEN) MAKES(FILE) FILE *tmpfile(void);
CALL(OPEN) MAKES(FILE) FILE *tmpfile64(void);
CALL(OPEN) MAKES(OWN) FIELD(FLAGS, stream_flags(mode))
FILE *fmemopen(void *buf, SIZE size_t length, const char *mode);
CALL(OPEN) MAKES(OWN) FILE *open_memstream(char **place, size_t *length);
CALL(OPEN) MAKES(OWN) FILE *open_wmemstream(wchar_t **place, size_t *length);
CALL(OPEN) MAKES(OWN) FIELD(FLAGS, stream_flags(mode))
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, stream_flags(mode)), NULL))
CALL(OPEN) MAKES(FILE) FIELD(FLAGS, stream_flags(mode))
FILE *setmntent(PATH const char *path, const char *mode);
FIRST(PRESERVE(preserve_open(AT_FDCWD, path, stream_flags(mode)), NULL))
CALL(OPEN) MAKES(FILE) FIELD(FLAGS, stream_flags(mode))
FILE *__setmntent(PATH const char *path, const char *mode);
FIRST(struct stream_buffer buffer; stream_buffer_closing(&buffer, stream); PLACED_CALL(CLOSE, stream_fd(stream), 0);)
LAST(stream_buffer_closed(&buffer); placed_end(&placed, 0);)
CALL(CLOSE) FAILS(EOF_ERRNO) ENDS int fclose(STREAM FILE *stream);
FIRST(struct stream_buffer buffer; stream_buffer_closing(&buffer, stream); PLACED_CALL(CLOSE, stream_fd(stream), 0);)
LAST(stream_buffer_closed(&buffer); placed_end(&placed, 0);)
CALL(CLOSE) FAILS(EOF_ERRNO) ENDS int _IO_fclose(STREAM FILE *stream);
CALL(CLOSE) FAILS(EOF_ERRNO) int fcloseall(void);
CALL(CLOSE) ENDS int pclose(STREAM FILE *stream);
CALL(CLOSE) FAILS(NEVER) ENDS int endmntent(STREAM FILE *stream);
CALL(CLOSE) FAILS(NEVER) ENDS int __endmntent(STREAM FILE *stream);

/* Blocks. */
CALL(READ) FAILS(SHORT_ERRNO)
size_t fread(void *buf, ITEM size_t item, ITEMS size_t n, STREAM FILE *stream);
CALL(READ) FAILS(SHORT_ERRNO)
size_t fread_unlocked(void *buf, ITEM size_t item, ITEMS size_t n, STREAM FILE *stream);
CALL(READ) FAILS(SHORT_ERRNO)
size_t _IO_fread(void *buf, ITEM size_t item, ITEMS size_t n, STREAM FILE *stream);
CALL(READ) FAILS(SHORT_ERRNO)
size_t __fread_chk(void *buf, size_t room, ITEM size_t item, ITEMS size_t n, STREAM FILE *stream);
CALL(READ) FAILS(SHORT_ERRNO)
size_t __fread_unlocked_chk(void *buf, size_t room, ITEM size_t item, ITEMS size_t n,
			    STREAM FILE *stream);
FIRST(PLACED_CALL(CACHED_WRITE, stream_fd(stream), item * n);) LAST(placed_end(&placed, (int64_t)(ret * item));)
CALL(WRITE) FAILS(SHORT_ERRNO)
size_t fwrite(const void *buf, ITEM size_t item, ITEMS size_t n, STREAM FILE *stream);
FIRST(PLACED_CALL(CACHED_WRITE, stream_fd(stream), item * n);) LAST(placed_end(&placed, (int64_t)(ret * item));)
CALL(WRITE) FAILS(SHORT_ERRNO)
size_t fwrite_unlocked(const void *buf, ITEM size_t item, ITEMS size_t n, STREAM FILE *stream);
FIRST(PLACED_CALL(CACHED_WRITE, stream_fd(stream), item * n);) LAST(placed_end(&placed, (int64_t)(ret * item));)
CALL(WRITE) FAILS(SHORT_ERRNO)
size_t _IO_fwrite(const void *buf, ITEM size_t item, ITEMS size_t n, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret == EOF ? 0 : (int)sizeof(int)) int getw(STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) RESULT(ret == EOF ? 0 : (int)sizeof(int))
int putw(int word, STREAM FILE *stream);

/* Bytes. */
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret != EOF) int fgetc(STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret != EOF) int fgetc_unlocked(STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret != EOF) int getc(STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret != EOF) int getc_unlocked(STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret != EOF) int _IO_getc(STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT((ret != EOF) + followed_take_read(followed))
AFTER(followed_start(followed, stream);)
int __uflow(STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(followed_take_read(followed))
AFTER(followed_start(followed, stream);)
int __underflow(STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret != EOF) IMPLIED(stdin) int getchar(void);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret != EOF) IMPLIED(stdin) int getchar_unlocked(void);
CALL(READ) FAILS(EOF_ERRNO) RESULT(0) int ungetc(int c, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(0) int _IO_ungetc(int c, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) RESULT(ret != EOF) int fputc(int c, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) RESULT(ret != EOF) int fputc_unlocked(int c, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) RESULT(ret != EOF) int putc(int c, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) RESULT(ret != EOF) int putc_unlocked(int c, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) RESULT(ret != EOF) int _IO_putc(int c, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) RESULT(ret == EOF ? 0 : 1 + followed_take_written(followed))
AFTER(followed_start(followed, stream);)
int __overflow(STREAM FILE *stream, int c);
CALL(WRITE) FAILS(EOF_ERRNO) RESULT(ret != EOF) IMPLIED(stdout) int putchar(int c);
CALL(WRITE) FAILS(EOF_ERRNO) RESULT(ret != EOF) IMPLIED(stdout) int putchar_unlocked(int c);

/* Lines. */
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret) : 0)
char *fgets(char *buf, SIZE int room, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret) : 0)
char *fgets_unlocked(char *buf, SIZE int room, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret) : 0)
char *_IO_fgets(char *buf, SIZE int room, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret) : 0)
char *__fgets_chk(char *buf, size_t length, SIZE int room, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret) : 0)
char *__fgets_unlocked_chk(char *buf, size_t length, SIZE int room, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret) + 1 : 0) IMPLIED(stdin) char *gets(char *buf);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret) + 1 : 0) IMPLIED(stdin)
char *_IO_gets(char *buf);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret) + 1 : 0) IMPLIED(stdin)
char *__gets_chk(char *buf, size_t length);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret < 0 ? 0 : ret)
ssize_t getline(char **line, size_t *room, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret < 0 ? 0 : ret)
ssize_t getdelim(char **line, size_t *room, int end, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret < 0 ? 0 : ret)
ssize_t __getdelim(char **line, size_t *room, int end, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) FIELD(SIZE, strlen(s)) RESULT(ret < 0 ? 0 : size)
int fputs(const char *s, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) FIELD(SIZE, strlen(s)) RESULT(ret < 0 ? 0 : size)
int fputs_unlocked(const char *s, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) FIELD(SIZE, strlen(s)) RESULT(ret < 0 ? 0 : size)
int _IO_fputs(const char *s, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) FIELD(SIZE, strlen(s) + 1) RESULT(ret < 0 ? 0 : size) IMPLIED(stdout)
int puts(const char *s);
CALL(WRITE) FAILS(EOF_ERRNO) FIELD(SIZE, strlen(s) + 1) RESULT(ret < 0 ? 0 : size) IMPLIED(stdout)
int _IO_puts(const char *s);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret->mnt_fsname) : 0)
struct mntent *getmntent(STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret->mnt_fsname) : 0)
struct mntent *getmntent_r(STREAM FILE *stream, struct mntent *item, char *buf, SIZE int room);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? strlen(ret->mnt_fsname) : 0)
struct mntent *__getmntent_r(STREAM FILE *stream, struct mntent *item, char *buf, SIZE int room);
CALL(WRITE) FAILS(NEVER) RESULT(0) int addmntent(STREAM FILE *stream, const struct mntent *item);

/* Formatted output. */
CALL(WRITE) FORWARD(vfprintf) int fprintf(STREAM FILE *stream, const char *format, ...);
CALL(WRITE) FORWARD(_IO_vfprintf) int _IO_fprintf(STREAM FILE *stream, const char *format, ...);
CALL(WRITE) FORWARD(vprintf) IMPLIED(stdout) int printf(const char *format, ...);
CALL(WRITE) FORWARD(vprintf) IMPLIED(stdout) int _IO_printf(const char *format, ...);
CALL(WRITE) int vfprintf(STREAM FILE *stream, const char *format, va_list list);
CALL(WRITE) int _IO_vfprintf(STREAM FILE *stream, const char *format, va_list list);
CALL(WRITE) IMPLIED(stdout) int vprintf(const char *format, va_list list);
CALL(WRITE) FORWARD(vdprintf) int dprintf(FD int fd, const char *format, ...);
CALL(WRITE) int vdprintf(FD int fd, const char *format, va_list list);
CALL(WRITE) FORWARD(__vfprintf_chk)
int __fprintf_chk(STREAM FILE *stream, int flag, const char *format, ...);
CALL(WRITE) FORWARD(__vprintf_chk) IMPLIED(stdout)
int __printf_chk(int flag, const char *format, ...);
CALL(WRITE) int __vfprintf_chk(STREAM FILE *stream, int flag, const char *format, va_list list);
CALL(WRITE) IMPLIED(stdout) int __vprintf_chk(int flag, const char *format, va_list list);
CALL(WRITE) FORWARD(__vdprintf_chk) int __dprintf_chk(FD int fd, int flag, const char *format, ...);
CALL(WRITE) int __vdprintf_chk(FD int fd, int flag, const char *format, va_list list);
CALL(WRITE) IMPLIED(stderr) void perror(const char *s);
CALL(WRITE) IMPLIED(stderr) void psignal(int number, const char *s);
CALL(WRITE) IMPLIED(stderr) void psiginfo(const siginfo_t *info, const char *s);
CALL(WRITE) FORWARD(vwarn) IMPLIED(stderr) void warn(const char *format, ...);
CALL(WRITE) FORWARD(vwarnx) IMPLIED(stderr) void warnx(const char *format, ...);
CALL(WRITE) IMPLIED(stderr) void vwarn(const char *format, va_list list);
CALL(WRITE) IMPLIED(stderr) void vwarnx(const char *format, va_list list);

/* Formatted input. RESULT is the bytes read, which the functions themselves do not return. */
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream)) FORWARD(vfscanf)
int fscanf(STREAM FILE *stream, const char *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) FORWARD(vscanf) IMPLIED(stdin)
int scanf(const char *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream))
int vfscanf(STREAM FILE *stream, const char *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream))
int __vfscanf(STREAM FILE *stream, const char *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream))
int _IO_vfscanf(STREAM FILE *stream, const char *format, va_list list, int *failure);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) IMPLIED(stdin)
int vscanf(const char *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream)) FORWARD(__isoc99_vfscanf)
int __isoc99_fscanf(STREAM FILE *stream, const char *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) FORWARD(__isoc99_vscanf) IMPLIED(stdin)
int __isoc99_scanf(const char *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream))
int __isoc99_vfscanf(STREAM FILE *stream, const char *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) IMPLIED(stdin)
int __isoc99_vscanf(const char *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream)) FORWARD(__isoc23_vfscanf)
int __isoc23_fscanf(STREAM FILE *stream, const char *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) FORWARD(__isoc23_vscanf) IMPLIED(stdin)
int __isoc23_scanf(const char *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream))
int __isoc23_vfscanf(STREAM FILE *stream, const char *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) IMPLIED(stdin)
int __isoc23_vscanf(const char *format, va_list list);

/* Position and buffers. */
CALL(SEEK) int fseek(STREAM FILE *stream, OFFSET long offset, FLAGS int whence);
CALL(SEEK) int fseeko(STREAM FILE *stream, OFFSET off_t offset, FLAGS int whence);
CALL(SEEK) int fseeko64(STREAM FILE *stream, OFFSET off64_t offset, FLAGS int whence);
CALL(SEEK) long ftell(STREAM FILE *stream);
CALL(SEEK) long _IO_ftell(STREAM FILE *stream);
CALL(SEEK) off_t ftello(STREAM FILE *stream);
CALL(SEEK) off64_t ftello64(STREAM FILE *stream);
CALL(SEEK) void rewind(STREAM FILE *stream);
CALL(SEEK) int fgetpos(STREAM FILE *stream, fpos_t *position);
CALL(SEEK) int fgetpos64(STREAM FILE *stream, fpos64_t *position);
CALL(SEEK) int _IO_fgetpos(STREAM FILE *stream, fpos_t *position);
CALL(SEEK) int _IO_fgetpos64(STREAM FILE *stream, fpos64_t *position);
CALL(SEEK) int fsetpos(STREAM FILE *stream, const fpos_t *position);
CALL(SEEK) int fsetpos64(STREAM FILE *stream, const fpos64_t *position);
CALL(SEEK) int _IO_fsetpos(STREAM FILE *stream, const fpos_t *position);
CALL(SEEK) int _IO_fsetpos64(STREAM FILE *stream, const fpos64_t *position);
CALL(SYNC) FAILS(EOF_ERRNO) int fflush(STREAM FILE *stream);
CALL(SYNC) FAILS(EOF_ERRNO) int fflush_unlocked(STREAM FILE *stream);
CALL(SYNC) FAILS(EOF_ERRNO) int _IO_fflush(STREAM FILE *stream);
CALL(SYNC) void _flushlbf(void);
CALL(CONTROL) void __fpurge(STREAM FILE *stream);
CALL(CONTROL) int setvbuf(STREAM FILE *stream, char *buf, FLAGS int how, SIZE size_t room);
CALL(CONTROL) int _IO_setvbuf(STREAM FILE *stream, char *buf, FLAGS int how, SIZE size_t room);
CALL(CONTROL) void setbuf(STREAM FILE *stream, char *buf);
CALL(CONTROL) void setbuffer(STREAM FILE *stream, char *buf, SIZE size_t room);
CALL(CONTROL) void _IO_setbuffer(STREAM FILE *stream, char *buf, SIZE size_t room);
CALL(CONTROL) void setlinebuf(STREAM FILE *stream);

/* Wide characters. */
CALL(READ) RESULT(ret != WEOF) wint_t fgetwc(STREAM FILE *stream);
CALL(READ) RESULT(ret != WEOF) wint_t fgetwc_unlocked(STREAM FILE *stream);
CALL(READ) RESULT(ret != WEOF) wint_t getwc(STREAM FILE *stream);
CALL(READ) RESULT(ret != WEOF) wint_t getwc_unlocked(STREAM FILE *stream);
CALL(READ) RESULT(ret != WEOF) IMPLIED(stdin) wint_t getwchar(void);
CALL(READ) RESULT(ret != WEOF) IMPLIED(stdin) wint_t getwchar_unlocked(void);
CALL(READ) RESULT(ret != WEOF) wint_t __wuflow(STREAM FILE *stream);
CALL(READ) RESULT(0) wint_t ungetwc(wint_t c, STREAM FILE *stream);
CALL(WRITE) RESULT(ret != WEOF) wint_t fputwc(wchar_t c, STREAM FILE *stream);
CALL(WRITE) RESULT(ret != WEOF) wint_t fputwc_unlocked(wchar_t c, STREAM FILE *stream);
CALL(WRITE) RESULT(ret != WEOF) wint_t putwc(wchar_t c, STREAM FILE *stream);
CALL(WRITE) RESULT(ret != WEOF) wint_t putwc_unlocked(wchar_t c, STREAM FILE *stream);
CALL(WRITE) RESULT(ret != WEOF) IMPLIED(stdout) wint_t putwchar(wchar_t c);
CALL(WRITE) RESULT(ret != WEOF) IMPLIED(stdout) wint_t putwchar_unlocked(wchar_t c);
CALL(WRITE) RESULT(ret != WEOF) wint_t __woverflow(STREAM FILE *stream, wint_t c);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? wcslen(ret) : 0)
wchar_t *fgetws(wchar_t *buf, SIZE int room, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? wcslen(ret) : 0)
wchar_t *fgetws_unlocked(wchar_t *buf, SIZE int room, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? wcslen(ret) : 0)
wchar_t *__fgetws_chk(wchar_t *buf, size_t length, SIZE int room, STREAM FILE *stream);
CALL(READ) FAILS(EOF_ERRNO) RESULT(ret ? wcslen(ret) : 0)
wchar_t *__fgetws_unlocked_chk(wchar_t *buf, size_t length, SIZE int room, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) FIELD(SIZE, wcslen(s)) RESULT(ret < 0 ? 0 : size)
int fputws(const wchar_t *s, STREAM FILE *stream);
CALL(WRITE) FAILS(EOF_ERRNO) FIELD(SIZE, wcslen(s)) RESULT(ret < 0 ? 0 : size)
int fputws_unlocked(const wchar_t *s, STREAM FILE *stream);
CALL(WRITE) FORWARD(vfwprintf) int fwprintf(STREAM FILE *stream, const wchar_t *format, ...);
CALL(WRITE) FORWARD(vwprintf) IMPLIED(stdout) int wprintf(const wchar_t *format, ...);
CALL(WRITE) int vfwprintf(STREAM FILE *stream, const wchar_t *format, va_list list);
CALL(WRITE) IMPLIED(stdout) int vwprintf(const wchar_t *format, va_list list);
CALL(WRITE) FORWARD(__vfwprintf_chk)
int __fwprintf_chk(STREAM FILE *stream, int flag, const wchar_t *format, ...);
CALL(WRITE) FORWARD(__vwprintf_chk) IMPLIED(stdout)
int __wprintf_chk(int flag, const wchar_t *format, ...);
CALL(WRITE) int __vfwprintf_chk(STREAM FILE *stream, int flag, const wchar_t *format, va_list list);
CALL(WRITE) IMPLIED(stdout) int __vwprintf_chk(int flag, const wchar_t *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream)) FORWARD(vfwscanf)
int fwscanf(STREAM FILE *stream, const wchar_t *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) FORWARD(vwscanf) IMPLIED(stdin)
int wscanf(const wchar_t *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream))
int vfwscanf(STREAM FILE *stream, const wchar_t *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) IMPLIED(stdin)
int vwscanf(const wchar_t *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream)) FORWARD(__isoc99_vfwscanf)
int __isoc99_fwscanf(STREAM FILE *stream, const wchar_t *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) FORWARD(__isoc99_vwscanf) IMPLIED(stdin)
int __isoc99_wscanf(const wchar_t *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream))
int __isoc99_vfwscanf(STREAM FILE *stream, const wchar_t *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) IMPLIED(stdin)
int __isoc99_vwscanf(const wchar_t *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream)) FORWARD(__isoc23_vfwscanf)
int __isoc23_fwscanf(STREAM FILE *stream, const wchar_t *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) FORWARD(__isoc23_vwscanf) IMPLIED(stdin)
int __isoc23_wscanf(const wchar_t *format, ...);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stream);)
RESULT(scan_bytes(at, stream))
int __isoc23_vfwscanf(STREAM FILE *stream, const wchar_t *format, va_list list);
CALL(READ) FAILS(EOF_ERRNO) BEFORE(struct scan at = scan_begin(stdin);)
RESULT(scan_bytes(at, stdin)) IMPLIED(stdin)
int __isoc23_vwscanf(const wchar_t *format, va_list list);

LAYER(NETWORK)

/* A stream of popen is a pipe. */
CALL(OPEN) MAKES(NETWORK) FIRST(launch_shell();) FILE *popen(PATH const char *command, const char *mode);
CALL(OPEN) MAKES(NETWORK) FIRST(launch_shell();) FILE *_IO_popen(PATH const char *command, const char *mode);

#endif
