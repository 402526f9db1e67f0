/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A search space: dimensions, each a list of values of one tunable, and rules on which combinations
 * make sense. A point is one index per dimension.
 *
 * A tied parameter gets the same value as its dimension (cb_buffer_size = striping_unit). A
 * dimension with a condition is active only if another dimension has one of the named values;
 * otherwise its index is 0 and it sets nothing. So two points with the same meaning are equal after
 * space_settle().
 *
 * A space file is JSON; numbers may be written as strings with a unit:
 *
 *	{"schema": "sluice.space/1",
 *	 "dimensions": [
 *	  {"name": "striping_factor", "values": [4, 8, 16], "default": 4},
 *	  {"name": "striping_unit", "values": ["1M", "2M"], "ties": ["cb_buffer_size"]},
 *	  {"name": "romio_cb_write", "values": [null, "enable", "disable"]},
 *	  {"name": "cb_nodes", "values": [null, 1, 2], "when": {"romio_cb_write": ["enable"]}}]}
 *
 * Whole numbers may also be given as a range, which is appended to the values:
 *
 *	{"name": "{block}", "range": {"from": "64K", "to": "4M", "factor": 4}}
 *	{"name": "env:OMP_NUM_THREADS", "values": [null], "range": {"from": 1, "to": 8, "step": 1}}
 *
 * null leaves the parameter unset. The default of a dimension is null if that is among its values,
 * else its first value. "file" and "object" restrict a dimension to matching files and objects.
 * Papers: GA-6.
 */
#ifndef SLUICE_PARAMS_SPACE_H
#define SLUICE_PARAMS_SPACE_H

#include "params/set.h"

#define SPACE_TIES 4
#define SPACE_DIMENSIONS 32

struct space_condition {
	size_t dimension; /* index of an earlier dimension */
	bool *values;	  /* for each of its values: is the condition satisfied? */
};

struct space_dimension {
	const struct tunable *tunable;
	char **values; /* in the form of tunable_parse(); NULL: unset */
	size_t count;
	size_t initial; /* index of the default */
	const struct tunable *ties[SPACE_TIES];
	size_t tie_count;
	struct space_condition *conditions; /* all must be satisfied */
	size_t condition_count;
	char *file, *object; /* NULL: all */
	bool is_ordered;     /* values are numbers: neighbors in the list are similar */
};

struct space {
	struct space_dimension *dimensions;
	size_t count, cap;
	struct tunable_context context; /* combinations that it forbids are excluded */
	char *name;
};

void space_release(struct space *space);

/* Adds a dimension. values is a NULL-terminated list; "" means unset. initial NULL: see above. */
int space_add(struct space *space, const char *tunable, const char *const *values,
	      const char *initial, struct err *err);
/* Adds a dimension for matching files and objects; NULL: all. */
int space_add_for(struct space *space, const char *tunable, const char *const *values,
		  const char *initial, const char *file, const char *object, struct err *err);
/* Ties the tunable to the value of dimension `to`. */
int space_tie(struct space *space, const char *tunable, const char *to, struct err *err);
/* Makes the dimension of the tunable active only if `other`, an earlier dimension, is active and
 * has one of the values. */
int space_when(struct space *space, const char *tunable, const char *other,
	       const char *const *values, struct err *err);

/* Replaces the dimensions of the space and keeps its context. Leaves it untouched on failure. */
int space_read(struct space *space, const char *path, struct err *err);
int space_read_text(struct space *space, const char *name, const char *text, size_t bytes,
		    struct err *err);
int space_write(const struct space *space, struct buf *out);

/*
 * The features that the baseline run of the program used. `sluice tune` without --space suggests a
 * space from them.
 */
struct space_uses {
	bool hdf5, hdf5_parallel, mpi, collective;
	bool creates;	      /* creates files, so layouts can be chosen */
	bool collective_hdf5; /* transfers with H5FD_MPIO_COLLECTIVE */
	/* Transfers of parallel HDF5 files without, or of the program itself with MPI-IO. */
	bool independent;
	bool reads, writes; /* both false: unknown, so it may do both */
	bool chunked;	    /* HDF5 datasets that are stored in chunks */
	bool streams;	    /* data moves through streams of the C library */
};
/*
 * Suggests the parameters and values that are worth trying in this environment. The space is small
 * enough to try every point on a local disk. -ENODATA: there is nothing to tune.
 */
int space_suggest(struct space *space, const struct tunable_context *context,
		  const struct space_uses *uses, struct err *err);

/* Brings a point into its canonical form: inactive dimensions get index 0. */
void space_settle(const struct space *space, size_t *point);
void space_default(const struct space *space, size_t *point);
/*
 * True if the point may be tried: no value is refused, and every parameter has an effect. The
 * safety class does not matter, because whoever made the space chose the parameter.
 */
bool space_allows(const struct space *space, const size_t *point);
/* True if the dimension is active at the point. */
bool space_is_active(const struct space *space, const size_t *point, size_t dimension);

/* Points as numbers from 0 to space_points() - 1, in canonical form or not. space_points() returns
 * 0 if the number of points exceeds 64 bits. */
uint64_t space_points(const struct space *space);
void space_point(const struct space *space, uint64_t number, size_t *point);
uint64_t space_number(const struct space *space, const size_t *point);

/* The parameters of a point. The caller releases the set. */
void space_set(const struct space *space, const size_t *point, struct param_set *set);

/* "cb_nodes=4 striping_unit=1048576": the parameters that the point sets. */
void space_line(const struct space *space, const size_t *point, struct buf *out);

#endif
