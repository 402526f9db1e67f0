/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A space to search: dimensions, each a list of values of one tunable, and which of their
 * combinations make sense. A point is one index per dimension.
 *
 * Tied parameters get the same value as the dimension they hang on (cb_buffer_size =
 * striping_unit). A dimension with a condition counts only where another one has one of the named
 * values; elsewhere its index is 0 and it sets nothing. Two points that mean the same are therefore
 * the same once space_settle() has been at them.
 *
 * As a file it is JSON; numbers may be written as text with a unit:
 *
 *	{"schema": "sluice.space/1",
 *	 "dimensions": [
 *	  {"name": "striping_factor", "values": [4, 8, 16], "default": 4},
 *	  {"name": "striping_unit", "values": ["1M", "2M"], "ties": ["cb_buffer_size"]},
 *	  {"name": "romio_cb_write", "values": [null, "enable", "disable"]},
 *	  {"name": "cb_nodes", "values": [null, 1, 2], "when": {"romio_cb_write": ["enable"]}}]}
 *
 * null is "leave it alone". The default of a dimension is null where it has one, else its first
 * value. "file" and "object" of a dimension narrow what it is for.
 */
#ifndef SLUICE_PARAMS_SPACE_H
#define SLUICE_PARAMS_SPACE_H

#include "params/set.h"

#define SPACE_TIES 4
#define SPACE_DIMENSIONS 32

struct space_condition {
	size_t dimension; /* an earlier one */
	bool *values;	  /* per value of it: may this dimension count? */
};

struct space_dimension {
	const struct tunable *tunable;
	char **values; /* as tunable_parse() gives them; NULL: leave it alone */
	size_t count;
	size_t initial; /* index of the default */
	const struct tunable *ties[SPACE_TIES];
	size_t tie_count;
	struct space_condition *conditions; /* all must hold */
	size_t condition_count;
	char *file, *object; /* NULL: all */
	bool is_ordered;     /* neighbours in the list are alike: numbers */
};

struct space {
	struct space_dimension *dimensions;
	size_t count, cap;
	struct tunable_context context; /* combinations that it forbids are not in the space */
	char *name;
};

void space_release(struct space *space);

/* Adds a dimension; values NULL-ended texts, "" for "leave it alone". */
int space_add(struct space *space, const char *tunable, const char *const *values,
	      const char *initial, struct err *err);
/* The same for files and objects that match, NULL: all. */
int space_add_for(struct space *space, const char *tunable, const char *const *values,
		  const char *initial, const char *file, const char *object, struct err *err);
/* tunable gets the value of the dimension `to`. */
int space_tie(struct space *space, const char *tunable, const char *to, struct err *err);
/* tunable counts only where `other`, a dimension before it, has one of the values and counts. */
int space_when(struct space *space, const char *tunable, const char *other,
	       const char *const *values, struct err *err);

/* In place of what the space held, but for its context. On failure it is untouched. */
int space_read(struct space *space, const char *path, struct err *err);
int space_read_text(struct space *space, const char *name, const char *text, size_t bytes,
		    struct err *err);
int space_write(const struct space *space, struct buf *out);

/*
 * What is worth trying at a place, from the catalogue: for `sluice tune` without --space. uses:
 * what the program's default run was seen to do.
 */
struct space_uses {
	bool hdf5, hdf5_parallel, mpi, collective;
	bool creates;	      /* files, so that layouts can be chosen */
	bool collective_hdf5; /* transfers with H5FD_MPIO_COLLECTIVE */
	bool reads, writes;   /* neither: not known, so it may do both */
};
/*
 * Small enough that all of it can be tried on a local disk. -ENODATA: there is nothing to tune.
 */
int space_suggest(struct space *space, const struct tunable_context *context,
		  const struct space_uses *uses, struct err *err);

/* Brings a point into its one form. */
void space_settle(const struct space *space, size_t *point);
void space_default(const struct space *space, size_t *point);
/*
 * May it be tried? Not where the catalogue refuses it or where a parameter would do nothing beside
 * the others. What only the class of safety keeps back may be tried: the space names it.
 */
bool space_allows(const struct space *space, const size_t *point);
bool space_counts(const struct space *space, const size_t *point, size_t dimension);

/* Points as numbers from 0 to space_points() - 1, settled or not; 0: more than can be counted. */
uint64_t space_points(const struct space *space);
void space_point(const struct space *space, uint64_t number, size_t *point);
uint64_t space_number(const struct space *space, const size_t *point);

/* The parameters of a point. The caller releases the set. */
void space_set(const struct space *space, const size_t *point, struct param_set *set);

/* "cb_nodes=4 striping_unit=1048576": what differs from leaving all alone. */
void space_line(const struct space *space, const size_t *point, struct buf *out);

#endif
