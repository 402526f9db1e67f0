/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An error that tells the user what to mend. Functions return -errno; where errno alone cannot say
 * it, they take a trailing `struct err *` (NULL is fine) and fill in one sentence without a final
 * newline.
 */
#ifndef SLUICE_BASE_ERR_H
#define SLUICE_BASE_ERR_H

struct err {
	int code;	/* positive errno, 0 when nothing is wrong */
	char text[512]; /* names the file and line and what to mend */
};

/* Fills err and returns -code, so that a caller fails in one statement. An earlier message is
 * replaced. */
int err_set(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the message already in err. Returns -err->code. */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
