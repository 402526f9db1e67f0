/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What became of the parameters that a run was given: what was asked for beside what was read back
 * after each opening (records of contract/parameters.h), and what the calls beneath show of it, since
 * some MPIs repeat any hint that they were told. Who honoured what is judged by report/honour.h.
 *
 * Memory grows with the files that were opened under parameters, a bit per process for each, and
 * with the datasets whose places are known.
 */
#ifndef SLUICE_OBSERVE_TALLY_PARAMETERS_H
#define SLUICE_OBSERVE_TALLY_PARAMETERS_H

#include <stdbool.h>

#include "base/map.h"
#include "observe/tally/nest.h"
#include "trace/format.h"

/*
 * Source and names of NOTE_APPLIED notes about what was handed to the processes: param_set_line()
 * of it, and where it came from.
 */
#define PARAMETERS_SOURCE "parameters"
#define PARAMETERS_GIVEN "given"
#define PARAMETERS_ORIGIN "origin"

/* Whose record it is. */
enum parameters_of {
	PARAMETERS_NONE,
	PARAMETERS_FILE_MPI,
	PARAMETERS_FILE_HDF5,
	PARAMETERS_DATASET,
	PARAMETERS_FILE_POSIX,
};

/* What was seen of a file that was opened under parameters. */
struct evidence {
	size_t writing;		     /* processes that took part in collective writes */
	size_t writers;		     /* of these, such as wrote to storage beneath them */
	uint64_t largest;	     /* write to storage there, in bytes */
	uint64_t transfers;	     /* of HDF5 data, by single processes */
	uint64_t collectives;	     /* collective transfers of MPI beneath these */
	uint64_t *took_part, *wrote; /* bits of processes */
	const char *mpi;	     /* of PARAMETERS_MPI; NULL: not told */
	char *driver;		     /* of ROMIO, as it calls itself; NULL: not told */
	bool is_read_back;	     /* some opening asked the HDF5 file itself for its list */
	struct map places;	     /* of datasets: bytes, as a number, by offset + 1 */
};

struct parameters {
	const struct trace_head *head;
	uint8_t *kinds;	    /* of each call */
	struct map files;   /* struct evidence by file + 1 */
	struct map records; /* distinct ones, counted */
	void **order;	    /* of their coming */
	size_t count, cap;
};

/* head must outlive it. */
void parameters_init(struct parameters *parameters, const struct trace_head *head);
void parameters_release(struct parameters *parameters);

/* An activity, and what encloses it, outermost first. */
void parameters_add(struct parameters *parameters, const struct activity *activity,
		    const struct nest_call *enclosing, size_t depth);

/* One parameter of one file. Texts live as long as the rows. */
struct parameter {
	enum parameters_of of;
	char *name;
	file_id file;
	char *requested;   /* NULL: nobody asked, it was only read back */
	char *refusal;	   /* why it was not passed on; NULL: it was */
	char *effective;   /* NULL: it could not be read back */
	uint64_t openings; /* by all processes, of the file or of its datasets */
	uint64_t agreeing; /* of these, such as were asked for and came to the same */
};

/* In the order of their coming, those of a file together. The caller releases them. */
struct parameter *parameters_rows(const struct parameters *parameters, size_t *count);
void parameters_rows_release(struct parameter *rows, size_t count);

const struct evidence *parameters_evidence(const struct parameters *parameters, file_id file);

#endif
