/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An error message for the user. Functions return -errno; where errno alone does not explain the
 * problem, they take a trailing `struct err *` (which may be NULL) and fill in one sentence without
 * a final newline.
 */
#ifndef SLUICE_BASE_ERR_H
#define SLUICE_BASE_ERR_H

struct err {
	int code;	/* positive errno; 0: no error */
	char text[512]; /* what is wrong, where, and what to do about it */
};

/*
 * Fills err and returns -code, so that a caller fails in one statement. It replaces an earlier
 * message. A code of 0 becomes EIO.
 */
int err_set(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the message already in err. Returns -err->code. */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
