/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file with a readable first line and a checksum: one line of JSON that begins with the schema,
 * then the numbers (blob.h), then the XXH64 of everything before it. A reader uses only the version
 * from the JSON; everything else it needs is among the numbers as well.
 */
#ifndef SLUICE_LEARN_FILE_CHECKED_FILE_H
#define SLUICE_LEARN_FILE_CHECKED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct blob;
struct buf;
struct err;
struct json;

struct checked_file_kind {
	const char *schema; /* "sluice.model" */
	unsigned version;   /* the latest version that this program can read */
	const char *what;   /* for messages: "model of Sluice" */
	/* For messages, what to do if it is unusable: "fit it again (sluice model fit)". */
	const char *again;
	/*
	 * Size in bytes of the object that take() builds from the numbers. take() must consume all
	 * of them.
	 */
	size_t bytes;
	int (*take)(void *made, struct blob *blob, struct err *err);
	void (*release)(void *made); /* must also accept an object that take() left incomplete */
};

/* Writes the line of JSON. tell() adds the members that follow the schema. */
typedef void checked_file_describe(const void *arg, struct json *json);
void checked_file_begin(struct buf *buf, const struct checked_file_kind *kind,
			checked_file_describe *tell, const void *arg);
void checked_file_end(struct buf *buf); /* appends the checksum */

/*
 * Parses bytes into *made, an object of kind->bytes. Returns -EBADMSG, -EPROTONOSUPPORT (a later
 * version) or the result of take(); err says what to do. name stands for the file in messages.
 */
int checked_file_parse(const struct checked_file_kind *kind, const char *name, const void *bytes,
		       size_t n, void *made, struct err *err);

/* Like checked_file_parse(), but reads a file. */
int checked_file_load(const struct checked_file_kind *kind, const char *path, void *made,
		      struct err *err);

/* True if the file begins like one of this kind. */
bool checked_file_probe(const struct checked_file_kind *kind, const char *path);

/* Writes to a temporary file and renames it, so that path never holds an incomplete file. */
int checked_file_write(const struct buf *buf, const char *path, struct err *err);

/* Reads a whole file into buf. */
int checked_file_read(struct buf *buf, const struct checked_file_kind *kind, const char *path,
		      struct err *err);

#endif
