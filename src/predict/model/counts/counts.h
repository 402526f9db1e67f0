/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The elemental operations that a collective access consists of: how many of each kind and of which
 * size. The counts are plain arithmetic that follows the code of ROMIO; nothing is learned here.
 * The time of an access is the sum over all terms of the count times the cost of one operation.
 *
 * counts_compute() evaluates formulas instead of stepping through rounds and ranks, so ten thousand
 * settings take milliseconds. Counts of collectives are exact. Counts of storage operations and of
 * messages are means over rounds; docs/reference/model.md states how close they are.
 * Papers: HYB-3, HYB-11, HYB-12.
 */
#ifndef SLUICE_PREDICT_MODEL_COUNTS_COUNTS_H
#define SLUICE_PREDICT_MODEL_COUNTS_COUNTS_H

#include "predict/model/access.h"
#include "predict/model/machine.h"
#include "predict/model/operation.h"
#include "predict/model/stripes.h"

struct term {
	enum operation operation;
	const char *what; /* a label for people: "offsets of all ranks" */
	double count;
	struct elemental at;
};

#define COUNTS_TERMS 24

/* How the data of an access gets from the ranks to the file. */
enum transfer {
	TRANSFER_COLLECTIVE, /* by aggregators */
	TRANSFER_CONTIGUOUS, /* every rank by one call */
	TRANSFER_SIEVED,     /* every rank by windows that include the bytes between its pieces */
	TRANSFER_PIECES,     /* every rank by one call per piece */
	TRANSFERS
};
#define TRANSFER_WORDS "collective|contiguous|sieved|pieces"

struct counts {
	enum transfer transfer;
	uint64_t aggregators; /* in the whole job */
	uint64_t bytes;	      /* of all ranks */
	uint64_t round_bytes; /* moved in a full round, by all aggregators */
	uint64_t rounds;      /* complete rounds, in which every aggregator moves a full buffer */
	uint64_t incomplete;  /* 1 if an incomplete round follows, else 0 */
	uint64_t incomplete_bytes; /* moved in the incomplete round */
	struct term terms[COUNTS_TERMS];
	size_t count;
};

/* Returns the seconds that one operation takes. */
typedef double (*counts_cost)(void *arg, enum operation operation, const struct elemental *at);

/* One prediction, as a form sees it. All pointers are borrowed. */
struct counts_case {
	const struct machine *machine;
	const struct access *access;
	const struct settings *settings;
	const struct counts *counts;
	counts_cost cost; /* the fitted cost of an operation */
	void *cost_arg;
};

/*
 * A form of ROMIO: the code path whose operations are counted. The product has one constant per
 * value of enum romio, except for Blue Gene, which only the lab has (lab/model/bluegene.h). A
 * machine uses the form in machine->form, or the product's form for machine->romio if that is NULL.
 */
struct counts_form {
	const char *name; /* the word after "romio =" in a machine description */
	/* The form divides files as layout.h does: collective buffering can be disabled, and
	 * rank_calls_count() can list the calls of a single rank. */
	bool has_layout;
	/* Appends the terms to zeroed counts. access_check() has accepted the access. */
	int (*count)(struct counts *counts, const struct machine *machine,
		     const struct access *access, const struct settings *settings, struct err *err);
	/* Optional. Sets *slack to how much cheaper a term may be than its price (see hybrid.h).
	 * Returns false to leave that to the rules that all forms share. */
	bool (*term_slack)(const struct counts_case *prediction, const struct term *term,
			   double price, double *slack);
};

extern const struct counts_form counts_form_generic, counts_form_lustre, counts_form_gpfs;

/* The form that counts accesses on this machine. NULL with ENOTSUP in err: the form is known only
 * to 'sluice lab'. */
const struct counts_form *counts_form_find(const struct machine *machine, struct err *err);

/*
 * The number of aggregators of the job: the hint, limited by the number of ranks and by the
 * aggregators that cb_config_list (*:K) allows on a node. counts_node_aggregators() returns that K.
 * ROMIO fills one node after the other.
 */
uint64_t counts_aggregators(const struct machine *machine, const struct access *access,
			    const struct settings *settings);
uint64_t counts_node_aggregators(const struct machine *machine, const struct access *access,
				 const struct settings *settings);

/* Leaves counts untouched on failure. */
int counts_compute(struct counts *counts, const struct machine *machine,
		   const struct access *access, const struct settings *settings, struct err *err);

/* Returns the sum over all terms of count times cost. terms: NULL, or receives each product. */
double counts_price(const struct counts *counts, counts_cost cost, void *arg, double *terms);

/*
 * The calls of one rank inside the MPI library, to compare with a trace of the real library. The
 * numbers are exact: the function steps through all rounds. Storage calls are those that ROMIO
 * intends: the second attempt of a read that hits the end of the file is not counted.
 */
struct rank_calls {
	uint64_t allreduces, alltoalls, alltoallvs, allgathers, broadcasts, barriers;
	uint64_t sends, receives; /* point-to-point messages */
	uint64_t reads, writes;	  /* storage calls */
	uint64_t read_bytes, written_bytes;
};
int rank_calls_count(struct rank_calls *calls, const struct machine *machine,
		     const struct access *access, const struct settings *settings, uint64_t rank,
		     struct err *err);

/* The storage calls of all ranks that access one object of the file, and their bytes in it. A call
 * counts for each object that it accesses. -EINVAL: the file has no such object, or no stripes. */
int object_calls_count(struct rank_calls *calls, const struct machine *machine,
		       const struct access *access, const struct settings *settings,
		       uint64_t object, struct err *err);

/* The stripes of the file that the settings result in; 0: it has none. */
struct stripes counts_stripes(const struct machine *machine, const struct settings *settings);

#endif
