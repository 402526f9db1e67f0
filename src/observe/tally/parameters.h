/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collects what happened to the parameters of a run: the requested values, the values that were
 * read back after each open (records of contract/parameters.h), and evidence from the calls inside,
 * because some MPI libraries report every hint back unchanged. observe/tally/effect.h derives the
 * effect from it. Memory grows with the number of files that were opened with parameters (one bit
 * per process and file) and with the number of datasets whose offset is known.
 */
#ifndef SLUICE_OBSERVE_TALLY_PARAMETERS_H
#define SLUICE_OBSERVE_TALLY_PARAMETERS_H

#include <stdbool.h>

#include "base/map.h"
#include "observe/tally/nest.h"
#include "trace/format.h"

/*
 * Source and names of the NOTE_APPLIED notes about the parameters that the processes received: the
 * output of param_set_line(), and where the parameters came from.
 */
#define PARAMETERS_SOURCE "parameters"
#define PARAMETERS_GIVEN "given"
#define PARAMETERS_ORIGIN "origin"

/* Which library call a record belongs to. */
enum parameters_of {
	PARAMETERS_NONE,
	PARAMETERS_FILE_MPI,
	PARAMETERS_FILE_HDF5,
	PARAMETERS_DATASET,
	PARAMETERS_FILE_POSIX,
};

/* What the calls on a file show that was opened with parameters. */
struct evidence {
	size_t writing;	    /* processes that took part in collective writes */
	size_t writers;	    /* processes of these that wrote to storage inside collective writes */
	uint64_t largest;   /* largest such write to storage, in bytes */
	uint64_t transfers; /* HDF5 data transfers, counted per process */
	uint64_t collectives;	     /* collective MPI transfers inside these */
	uint64_t *took_part, *wrote; /* one bit per process */
	const char *mpi;	     /* value of PARAMETERS_MPI; NULL: not reported */
	char *driver;	   /* ROMIO's name of its file system driver; NULL: not reported */
	bool is_read_back; /* at least one open read the property list back from the HDF5 file */
	struct map places; /* datasets: size in bytes, stored as a pointer value, by offset + 1 */
};

/* Identical records of one file. */
struct parameter_record {
	enum parameters_of of;
	file_id file, requested, effective;
	uint64_t count;
	size_t number;		       /* order of arrival */
	struct parameter_record *next; /* next record with the same hash */
};

struct parameters {
	const struct trace_head *head;
	uint8_t *kinds;			 /* for each call, see kind_of_call() in parameters.c */
	struct map files;		 /* struct evidence by file + 1 */
	struct map records;		 /* distinct records with their counts */
	struct parameter_record **order; /* in order of arrival */
	size_t count, cap;
};

/* head must outlive the parameters. */
void parameters_init(struct parameters *parameters, const struct trace_head *head);
void parameters_release(struct parameters *parameters);

/* Adds a record that was seen record->count times. */
void parameters_put(struct parameters *parameters, const struct parameter_record *record);

/* The evidence of a file; adds it if it is missing. */
struct evidence *parameters_put_evidence(struct parameters *parameters, file_id file);

/* The constant text for the MPI library `name`; NULL if it is unknown. */
const char *parameters_mpi(const char *name, size_t n);

/* To be called after calls were added to the head. */
void parameters_follow_head(struct parameters *parameters);

/* Adds an activity with the calls that enclose it, outermost first. */
void parameters_add(struct parameters *parameters, const struct activity *activity,
		    const struct nest_call *enclosing, size_t depth);

/* Adds those of another part of the job. The head must have its calls already. */
struct renumbering;
void parameters_merge(struct parameters *parameters, const struct parameters *other,
		      const struct renumbering *to);

/* One parameter of one file. The texts belong to the row. */
struct parameter {
	enum parameters_of of;
	char *name;
	file_id file;
	char *requested;   /* NULL: not requested, only read back */
	char *refusal;	   /* why it was not passed on; NULL: it was passed on */
	char *effective;   /* NULL: it could not be read back */
	uint64_t openings; /* opens of the file or of its datasets, by all processes */
	uint64_t agreeing; /* opens of these with the same requested and effective value */
};

/* Rows in order of arrival, grouped by file. Release them with parameters_rows_release(). */
struct parameter *parameters_rows(const struct parameters *parameters, size_t *count);
void parameters_rows_release(struct parameter *rows, size_t count);

const struct evidence *parameters_evidence(const struct parameters *parameters, file_id file);

#endif
