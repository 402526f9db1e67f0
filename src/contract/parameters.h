/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The compiled parameters of a run: a text in the control page through which the host passes them
 * to every process. The host writes it before the first process starts and never changes it. All
 * processes of a node read the same bytes; if a job has several nodes, the hosts ensure that all
 * pages hold the same text. Guest-safe.
 *
 *	sluice-parameters 1 AUTHORITY
 *	PLACE	FILE	OBJECT	NAME	VALUE
 *	...
 *
 * Lines end with a newline, fields are separated by one tab. AUTHORITY says which value is used
 * if the program sets the same parameter: "parameters" or "application". FILE is a pattern
 * (parameters_match()), "*" for every file; OBJECT is a pattern for the name of a dataset, "*" for
 * all. The most specific lines come first: the first line that matches decides about a NAME. The
 * host has checked all values. The guest itself leaves out what the MPI in use does not bear
 * (contract/hints.h).
 *
 * The guest records the outcome once per opening, as a call with one of the PARAMETERS_OF_* names
 * and class CONTROL. activity.name is what was requested, "KEY=VALUE;KEY=VALUE", with "KEY=!REASON"
 * for a refused parameter; activity.hints is what was read back, in the same form. It contains:
 *
 *   of an MPI file    PARAMETERS_MPI=WORD, where WORD is the implementation that reads the hints
 *   of an HDF5 file   PARAMETERS_FROM=WORD: whether the properties were read from the open file or
 *                     are those that it was opened with
 *   of a dataset      PARAMETERS_OFFSET and PARAMETERS_SIZE, in bytes: the place of its data in the
 *                     file. Only if the file has an alignment, and if the data is contiguous and
 *                     already allocated
 *
 * With an empty text nothing is applied and nothing is read back. With a title and no lines nothing
 * is applied, but effective values are read back and recorded (the baseline run of a tuning).
 */
#ifndef SLUICE_CONTRACT_PARAMETERS_H
#define SLUICE_CONTRACT_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PARAMETERS_BYTES 16384
#define PARAMETERS_TITLE "sluice-parameters 1 "
#define PARAMETERS_APPLICATION "application"
#define PARAMETERS_PARAMETERS "parameters"

#define PARAMETERS_OF_MPI "MPI_File_parameters"
#define PARAMETERS_OF_HDF5_FILE "H5F_parameters"
#define PARAMETERS_OF_DATASET "H5D_parameters"
#define PARAMETERS_OF_POSIX "posix_parameters"

#define PARAMETERS_MPI "mpi"
#define PARAMETERS_MPICH "mpich"
#define PARAMETERS_OPENMPI_ROMIO "openmpi-romio"
#define PARAMETERS_OMPIO "ompio"

#define PARAMETERS_ALIGNMENT "alignment"
#define PARAMETERS_CHUNK_CACHE "rdcc_" /* what names of the chunk cache begin with */
#define PARAMETERS_PAGE_BUFFER "page_buffer_size"
#define PARAMETERS_STDIO_BUFFER "stdio_buffer_size"
#define PARAMETERS_FROM "from"
#define PARAMETERS_FROM_FILE "file"
#define PARAMETERS_FROM_LIST "list"
#define PARAMETERS_OFFSET "offset"
#define PARAMETERS_SIZE "size"

/* Lists of destinations; each new file is assigned one of them: parameters_destination(). */
#define PARAMETERS_SPREAD_DIRECTORIES "spread_directories"
#define PARAMETERS_SPREAD_OSTS "spread_osts"
#define PARAMETERS_SPREAD_POOLS "spread_pools"
#define PARAMETERS_DESTINATIONS 512 /* the maximum number in a list */
#define PARAMETERS_WEIGHTS 4096	    /* the maximum sum of their weights */

/* Where a parameter is applied: the words of PLACE. */
#define PARAMETERS_PLACES(X)                                                               \
	X(HINT, "hint")		/* MPI_Info of MPI_File_open; NAME is the key */           \
	X(ACCESS, "access")	/* access properties of H5Fcreate, H5Fopen, H5Dopen */     \
	X(CREATION, "creation") /* file creation properties of H5Fcreate */                \
	X(DATASET, "dataset")	/* creation properties of H5Dcreate */                     \
	X(TRANSFER, "transfer") /* transfer properties of H5Dread and H5Dwrite */          \
	X(PREFIX, "prefix")	/* VALUE is put before the name that MPI_File_open gets */ \
	X(LAYOUT, "layout")	/* layout of a new file: striping before the first open */ \
	X(STREAM, "stream")	/* buffer of a stream that fopen() opens */

#define PARAMETERS_ENUM(name, word) PLACE_##name,
enum parameters_place { PARAMETERS_PLACES(PARAMETERS_ENUM) PLACE_COUNT };
#undef PARAMETERS_ENUM

/* One line of the text. The strings are not owned. */
struct parameters_line {
	enum parameters_place place;
	const char *file, *object; /* patterns, "*" for all */
	const char *name, *value;
};

/* A text being written. `bytes` counts what does not fit, too, so that the caller can report it. */
struct parameters_writer {
	char *text;
	size_t bytes; /* without the terminating zero; the text is complete if < PARAMETERS_BYTES */
};

/* Starts a text with its title. The text is always terminated. */
void parameters_write_title(struct parameters_writer *writer, char text[PARAMETERS_BYTES],
			    bool application_wins);

/* Appends one line. No string of it may hold a tab or a newline. */
void parameters_write_line(struct parameters_writer *writer, const struct parameters_line *line);

/*
 * Reads the title and returns the first line; NULL if there is no valid title. The text is
 * terminated and is changed: the reader ends each field with a zero byte.
 */
char *parameters_read_title(char *text, bool *application_wins);

/*
 * Reads the line at *at and moves *at to the next; the strings point into the text. A line with an
 * unknown PLACE or an empty FILE, OBJECT or NAME is skipped. False at the end of the text, and from
 * the first line on that does not have five fields.
 */
bool parameters_read_line(char **at, struct parameters_line *line);

/* Does the text match? "*" is any text, "?" any byte; every other byte is itself. */
static inline bool parameters_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *back = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			back = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Matches a pattern with a slash against the whole path, any other against the base name. */
static inline bool parameters_match(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');

	return parameters_glob(pattern, strchr(pattern, '/') || !slash ? path : slash + 1);
}

struct parameters_destination {
	const char *name;
	size_t bytes;	 /* of the name */
	uint32_t weight; /* 1 if the list does not give one */
};

/*
 * Reads the next destination of "NAME*WEIGHT,NAME,..." and moves *at behind it. False at the end,
 * and if the rest is malformed: then **at is not 0.
 */
static inline bool parameters_destination(const char **at, struct parameters_destination *next)
{
	const char *name = *at;
	size_t n = strcspn(name, "*,");
	const char *end = name + n;
	uint32_t weight = *end != '*';

	if (!n)
		return false;
	if (*end == '*')
		for (end++; *end >= '0' && *end <= '9' && weight <= PARAMETERS_WEIGHTS; end++)
			weight = weight * 10 + (uint32_t)(*end - '0');
	if (!weight || weight > PARAMETERS_WEIGHTS || (*end && *end != ',') ||
	    (*end == ',' && !end[1]))
		return false;
	*next = (struct parameters_destination){ name, n, weight };
	*at = end + (*end == ',');
	return true;
}

/* A hash of the names of a list and their order, not of their weights. */
static inline uint64_t parameters_destinations_key(const char *list)
{
	struct parameters_destination next;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (parameters_destination(&list, &next)) {
		for (size_t i = 0; i < next.bytes; i++)
			hash = (hash ^ (unsigned char)next.name[i]) * UINT64_C(0x100000001b3);
		hash = (hash ^ ',') * UINT64_C(0x100000001b3);
	}
	return hash;
}

#endif
