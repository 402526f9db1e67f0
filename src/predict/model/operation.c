/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-38.
 */
#include "predict/model/operation.h"

#include <math.h>
#include <string.h>

const struct operation_row operations[OPERATIONS] = {
	[OPERATION_ALLREDUCE] = { "ar", "Allreduce", OPERATION_COLLECTIVE, false, false },
	[OPERATION_ALLTOALL] = { "aa", "Alltoall", OPERATION_COLLECTIVE, false, false },
	[OPERATION_ALLTOALLV] = { "aav", "Alltoallv", OPERATION_EXCHANGE, false, false },
	[OPERATION_ALLGATHER] = { "ag", "Allgather", OPERATION_COLLECTIVE, false, false },
	[OPERATION_BROADCAST] = { "bc", "Broadcast", OPERATION_COLLECTIVE, false, false },
	[OPERATION_BARRIER] = { "ba", "Barrier", OPERATION_COLLECTIVE, false, false },
	[OPERATION_WRITE_FIRST] = { "s_lock", "first write", OPERATION_STORAGE, false, false },
	[OPERATION_WRITE_FULL] = { "s_nl_full", "full write", OPERATION_STORAGE, false, false },
	[OPERATION_WRITE_PARTIAL] = { "s_nl_partial", "partial write", OPERATION_STORAGE, false,
				      false },
	[OPERATION_READ_FIRST] = { "r_first", "first read", OPERATION_STORAGE, true, false },
	[OPERATION_READ_FULL] = { "r_full", "full read", OPERATION_STORAGE, true, false },
	[OPERATION_READ_PARTIAL] = { "r_partial", "partial read", OPERATION_STORAGE, true, false },
	[OPERATION_WRITE_CACHED] = { "s_cached", "cached write", OPERATION_STORAGE, false, true },
	[OPERATION_PIECE_WRITE] = { "p_write", "piece write", OPERATION_PIECES, false, false },
	[OPERATION_PIECE_READ] = { "p_read", "piece read", OPERATION_PIECES, true, false },
	[OPERATION_SIEVE] = { "s_sieve", "sieved window", OPERATION_PIECES, false, false },
	[OPERATION_PIECE_COPY] = { "c_piece", "piece copy", OPERATION_PIECES, false, false },
	[OPERATION_PIECE_EXCHANGE] = { "x_piece", "piece exchange", OPERATION_PIECES, false,
				       false },
};

bool operation_has_writers(enum operation operation)
{
	return operations[operation].kind == OPERATION_STORAGE ||
	       operations[operation].kind == OPERATION_PIECES;
}

int operation_by_name(const char *name)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (!operations[i].is_derived && strcmp(operations[i].name, name) == 0)
			return i;
	return -1;
}

bool elementals_are_same(const struct elemental *a, const struct elemental *b)
{
	return a->nodes == b->nodes && a->cores == b->cores && a->senders == b->senders &&
	       a->receivers == b->receivers && a->writers == b->writers && a->bytes == b->bytes;
}

struct features {
	double *values;
	const char **names;
	size_t count;
};

static void append_feature(struct features *f, const char *name, const char *log_name, double value)
{
	if (f->values) {
		f->values[f->count] = value;
		f->values[f->count + 1] = value > 0 ? log2(value) : 0;
	}
	if (f->names) {
		f->names[f->count] = name;
		f->names[f->count + 1] = log_name;
	}
	f->count += 2;
}

size_t operation_features(enum operation operation, const struct elemental *at, double *values,
			  const char **names)
{
	static const struct elemental none;
	struct features f = { values, names, 0 };

	if (!at)
		at = &none;
	append_feature(&f, "nodes", "log_nodes", at->nodes);
	append_feature(&f, "cores", "log_cores", at->cores);
	if (operations[operation].kind == OPERATION_EXCHANGE) {
		append_feature(&f, "senders", "log_senders", at->senders);
		append_feature(&f, "receivers", "log_receivers", at->receivers);
	}
	if (operation_has_writers(operation))
		append_feature(&f, "writers", "log_writers", at->writers);
	append_feature(&f, "bytes", "log_bytes", at->bytes);
	/* They follow, because models of earlier versions, which do not have them, store the
	 * numbers of features. */
	if (operations[operation].kind == OPERATION_STORAGE) {
		append_feature(&f, "pieces", "log_pieces", at->senders);
		append_feature(&f, "targets", "log_targets", at->receivers);
	}
	return f.count;
}
