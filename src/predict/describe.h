/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptions of machines as INI files (share/FOLDER/NAME.ini): the reader that all of them share.
 * Which keys there are is said by rows; what is no number goes to a hook. A problem is told with
 * file and line, and the first one stays: what follows may be its consequence.
 *
 * Several readers may take what is theirs from one file: each leaves the sections of others alone.
 */
#ifndef SLUICE_PREDICT_DESCRIBE_H
#define SLUICE_PREDICT_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct buf;

/* What a value looks like, and what it is kept as. */
enum describe_kind {
	DESCRIBE_COUNT,	  /* double */
	DESCRIBE_BYTES,	  /* double */
	DESCRIBE_RATE,	  /* double: bytes per second */
	DESCRIBE_SECONDS, /* double */
	DESCRIBE_NUMBER,  /* double */
	DESCRIBE_WHOLE,	  /* uint64_t, written as COUNT */
	DESCRIBE_SIZE,	  /* uint64_t, written as BYTES */
};

/* min and max: beyond is a slip of the pen. */
struct describe_row {
	const char *section, *key;
	enum describe_kind kind;
	unsigned need; /* bits: whoever asks describe_complete() for one of them misses it */
	double min, max;
	size_t offset;
};

#define DESCRIBE_ROWS_MAX 96

struct describe {
	const char *name; /* of the file, for messages */
	void *into;	  /* what rows point into */
	const struct describe_row *rows;
	size_t row_count; /* <= DESCRIBE_ROWS_MAX */
	/* Sees a pair before the rows do; false: it is not the hook's. NULL: none. */
	bool (*take)(struct describe *describe, const char *section, const char *key,
		     const char *text);
	const char *sections; /* for the message about another; NULL: others are left alone */
	const char *skipped;  /* one section more that is left alone; NULL: none */

	/* The reader's own. */
	const char *text;
	size_t left;
	unsigned line;
	unsigned seen[DESCRIBE_ROWS_MAX]; /* line of each row; 0: not given */
	struct err err;
};

/* Reads all of it; the text may hold any bytes. describe->err tells what is wrong. */
int describe_read(struct describe *describe, const char *text, size_t bytes);

/* Complains of the first row that is needed and was not given. */
int describe_complete(struct describe *describe, unsigned need);

/* For hooks: "FILE:LINE: ..." unless something was wrong before. */
void describe_complain(struct describe *describe, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Where descriptions of one sort are. */
struct describe_folder {
	const char *folder;   /* below share/ */
	const char *variable; /* of the environment, names a directory that goes first */
	const char *noun;     /* "platform" */
	const char *known;    /* names that are installed, for the message: "hopper, stampede" */
};

/*
 * The text of a description: by name, or by path (it has a slash or ends in ".ini"). A name is
 * looked for in the variable's directory, beside the binary (build tree), and in
 * ../share/sluice/FOLDER (installed). path is the caller's to free.
 */
int describe_load(const struct describe_folder *folder, const char *name, char **path,
		  struct buf *text, struct err *err);

#endif
