/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The common reader of descriptions of machines, platforms and systems: INI files in
 * share/FOLDER/NAME.ini. A table of rows defines the numeric keys, and a hook receives all other
 * keys. Errors name file and line; only the first error is kept, because later ones may follow from
 * it.
 *
 * Several readers may read different sections of one file; each skips the sections of the others.
 */
#ifndef SLUICE_PREDICT_DESCRIBE_H
#define SLUICE_PREDICT_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct buf;

/* How a value is written, and the type that stores it. */
enum describe_kind {
	DESCRIBE_COUNT,	  /* double */
	DESCRIBE_BYTES,	  /* double */
	DESCRIBE_RATE,	  /* double, in bytes per second */
	DESCRIBE_SECONDS, /* double */
	DESCRIBE_NUMBER,  /* double */
	DESCRIBE_WHOLE,	  /* uint64_t, written as COUNT */
	DESCRIBE_SIZE,	  /* uint64_t, written as BYTES */
};

/* A numeric key. Values outside min to max are errors. */
struct describe_row {
	const char *section, *key;
	enum describe_kind kind;
	unsigned need; /* bits: describe_complete() with one of them requires the key */
	double min, max;
	size_t offset;
};

#define DESCRIBE_ROWS_MAX 96

struct describe {
	const char *name; /* of the file, for messages */
	void *into;	  /* the object that row offsets refer to */
	const struct describe_row *rows;
	size_t row_count; /* <= DESCRIBE_ROWS_MAX */
	/* Optional hook that is called before the rows are searched. Returns false if the key is
	 * not its own. */
	bool (*take)(struct describe *describe, const char *section, const char *key,
		     const char *text);
	const char *sections; /* named in the error about an unknown section; NULL: skip those */
	const char *skipped;  /* one more section to skip, or NULL */

	/* Private to the reader. */
	const char *text;
	size_t left;
	unsigned line;
	unsigned seen[DESCRIBE_ROWS_MAX]; /* line of each row; 0: not present */
	struct err err;
};

/* Reads the whole text, which may contain any bytes. The error is in describe->err. */
int describe_read(struct describe *describe, const char *text, size_t bytes);

/* Fails if a required key is missing, and names the first one. */
int describe_complete(struct describe *describe, unsigned need);

/* For hooks: sets the error "FILE:LINE: ..." unless there is an error already. */
void describe_complain(struct describe *describe, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The place of one kind of descriptions. */
struct describe_folder {
	const char *folder;   /* below share/ */
	const char *variable; /* environment variable with a directory that is searched first */
	const char *noun;     /* "platform" */
	const char *known;    /* installed names, for messages: "hopper, stampede"; NULL: none */
};

/*
 * Loads the text of a description by name, or by path if the argument contains a slash or ends in
 * ".ini". Names are searched in the directory of the environment variable, beside the binary (build
 * tree), and in ../share/sluice/FOLDER (installation). The caller frees path.
 */
int describe_load(const struct describe_folder *folder, const char *name, char **path,
		  struct buf *text, struct err *err);

#endif
