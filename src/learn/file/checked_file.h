/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that people can look into and that tells when it is damaged: one line of JSON that begins
 * with its schema, then the numbers (blob.h), then a checksum (XXH64) of it all. Readers take the
 * version from the JSON and nothing else: what they need is among the numbers as well.
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

struct sealed_kind {
	const char *schema; /* "sluice.model" */
	unsigned version;   /* the latest that is understood */
	const char *what;   /* "model of Sluice" */
	const char *again;  /* how to get another: "fit it again (sluice learn fit)" */
	/* What is read: so many bytes, made from the numbers by take(), which leaves none over. */
	size_t bytes;
	int (*take)(void *made, struct blob *blob, struct err *err);
	void (*release)(void *made); /* also what take() has begun */
};

/* The line of JSON; tell() adds what stands in it behind the schema. */
typedef void sealed_tell(const void *arg, struct json *json);
void sealed_begin(struct buf *buf, const struct sealed_kind *kind, sealed_tell *tell,
		  const void *arg);
void sealed_end(struct buf *buf); /* the checksum */

/*
 * Reads into *made, kind->bytes of it; else -EBADMSG, -EPROTONOSUPPORT (a later version) or what
 * take() returned, with a sentence that says what to do. name is for the sentence.
 */
int sealed_parse(const struct sealed_kind *kind, const char *name, const void *bytes, size_t n,
		 void *made, struct err *err);

/* The same from a file. */
int sealed_load(const struct sealed_kind *kind, const char *path, void *made, struct err *err);

/* Does a file begin as one of the kind? */
bool sealed_probe(const struct sealed_kind *kind, const char *path);

/* The file appears under its name when it is complete. */
int sealed_write(const struct buf *buf, const char *path, struct err *err);

/* All of a file. */
int sealed_read(struct buf *buf, const struct sealed_kind *kind, const char *path, struct err *err);

#endif
