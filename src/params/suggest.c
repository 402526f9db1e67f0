/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Suggests a search space. There are few values per parameter, the extremes of what has helped on
 * some system, so every combination can be tried. Users who want more values write a space file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "params/space.h"

#define LIST(...)                 \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

#define RANKS_MAX 64 /* most aggregators per node that are suggested */

struct suggestion {
	struct space *space;
	const struct tunable_context *context;
	const struct space_uses *uses;
	bool reads, writes;
	struct err *err;
	int failed; /* the first error, or 0 */
	/* The values of `transfer` with which there are collective transfers, ends with NULL. */
	const char *collective[3];
};

/* Adds a dimension if the parameter may be applied and has an effect. Returns false if it does not.
 */
static bool suggest(struct suggestion *s, const char *name, const char *const *values)
{
	const struct tunable *tunable = tunable_by_name(name);
	const char *value = *values[0] ? values[0] : values[1];
	int r;

	if (s->failed || !tunable_consumers(tunable, s->context) ||
	    tunable_allow(tunable, value, s->context, NULL) < 0)
		return false;
	r = space_add(s->space, name, values, NULL, s->err);
	if (r < 0)
		s->failed = r;
	return r >= 0;
}

static bool has_dimension(const struct suggestion *s, const char *name)
{
	const struct tunable *tunable = tunable_by_name(name);

	for (size_t i = 0; i < s->space->count; i++)
		if (s->space->dimensions[i].tunable == tunable)
			return true;
	return false;
}

/* Makes `name` active only if `other` has one of the values, provided that both are in the space.
 */
static void add_condition(struct suggestion *s, const char *name, const char *other,
			  const char *const *values)
{
	int r = 0;

	if (!s->failed && has_dimension(s, name) && has_dimension(s, other))
		r = space_when(s->space, name, other, values, s->err);
	if (r < 0)
		s->failed = r;
}

/* Suggests a hint for writes with the hint for reads tied to it, or only one of them. */
static const char *suggest_both(struct suggestion *s, const char *write, const char *read,
				const char *const *values)
{
	const char *name = s->writes ? write : read;
	int r = 0;

	if (!suggest(s, name, values))
		return NULL;
	if (s->writes && s->reads)
		r = space_tie(s->space, read, write, s->err);
	if (r < 0)
		s->failed = r;
	return name;
}

/* Slots matter only if there is room for more chunks than the default number of slots. */
static void suggest_chunk_cache(struct suggestion *s)
{
	suggest(s, "rdcc_nbytes", LIST("", "16M", "256M"));
	suggest(s, "rdcc_nslots", LIST("", "20011"));
	add_condition(s, "rdcc_nslots", "rdcc_nbytes", LIST("16M", "256M"));
}

/* Collective transfers can always be made independent; the reverse needs evidence. */
static void suggest_transfer(struct suggestion *s)
{
	const char *values[4] = { "" };
	size_t count = 1, collective = 0;

	if (s->uses->collective_hdf5)
		values[count++] = "independent";
	if (s->uses->independent &&
	    tunable_allow(tunable_by_name("transfer"), "collective", s->context, NULL) == 0)
		values[count++] = "collective";
	if (count > 1)
		suggest(s, "transfer", values);
	if (s->uses->collective)
		s->collective[collective++] = "";
	if (strcmp(values[count - 1], "collective") == 0)
		s->collective[collective] = "collective";
}

static void suggest_hdf5(struct suggestion *s)
{
	bool parallel = s->uses->hdf5_parallel;

	if (s->uses->creates && s->writes)
		suggest(s, "alignment", LIST("", "4096,4096", "65536,1048576"));
	if (parallel && s->writes)
		suggest(s, "coll_metadata_write", LIST("", "on"));
	/* HDF5 does not cache chunks of parallel files that are open for writing. */
	if (s->uses->chunked && !(parallel && s->writes))
		suggest_chunk_cache(s);
	if (parallel)
		return;
	suggest(s, "sieve_buf_size", LIST("", "1M", "8M"));
	if (s->writes)
		suggest(s, "meta_block_size", LIST("", "64K", "1M"));
	suggest(s, "mdc_initial_size", LIST("", "16M"));
}

/* Suggests "*:2", "*:4" and so on, up to the number of ranks per node. */
static void suggest_list(struct suggestion *s)
{
	uint32_t nodes = s->context->nodes ? s->context->nodes : 1;
	uint32_t ranks = s->context->ranks ? (s->context->ranks + nodes - 1) / nodes : 4;
	char texts[8][16];
	const char *values[10] = { "" };
	size_t count = 1;

	if (ranks > RANKS_MAX)
		ranks = RANKS_MAX;
	for (uint32_t n = 2; n <= ranks; n *= 2) {
		/* The last value is the number of ranks itself: 2, 4, 6 for six ranks. */
		snprintf(texts[count], sizeof(texts[0]), "*:%u", n * 2 > ranks ? ranks : n);
		values[count] = texts[count];
		count++;
	}
	if (count > 1)
		suggest(s, "cb_config_list", values);
}

static void suggest_nodes(struct suggestion *s)
{
	uint32_t ranks = s->context->ranks ? s->context->ranks : 64;
	char texts[16][16];
	const char *values[18] = { "" };
	size_t count = 1;

	for (uint64_t n = 1; n <= ranks && count < 16; n *= 4) {
		snprintf(texts[count], sizeof(texts[0]), "%lu", (unsigned long)n);
		values[count] = texts[count];
		count++;
	}
	suggest(s, s->context->filesystem == FILESYSTEM_GPFS ? "bgl_nodes_pset" : "cb_nodes",
		values);
}

/* The settings of aggregators are active only if collective buffering is. */
static void suggest_buffering(struct suggestion *s, const char *cb)
{
	static const char *const dependent[] = { "cb_config_list", "cb_nodes", "bgl_nodes_pset",
						 "cb_buffer_size", NULL };
	bool big = s->context->filesystem == FILESYSTEM_LUSTRE ||
		   s->context->filesystem == FILESYSTEM_GPFS;

	if (big)
		suggest_nodes(s);
	else
		suggest_list(s);
	if (!has_dimension(s, "striping_unit"))
		suggest(s, "cb_buffer_size",
			big ? LIST("", "4M", "32M", "128M") : LIST("", "4M", "64M"));
	for (size_t i = 0; cb && dependent[i]; i++)
		add_condition(s, dependent[i], cb, LIST("", "enable"));
	for (size_t i = 0; dependent[i]; i++)
		add_condition(s, dependent[i], "transfer", s->collective);
}

static bool has_collective(const struct suggestion *s)
{
	return s->uses->collective || s->collective[0];
}

static void suggest_romio(struct suggestion *s)
{
	bool parallel_hdf5 = s->uses->hdf5_parallel;
	const char *cb = NULL;

	if (has_collective(s)) {
		cb = suggest_both(s, "romio_cb_write", "romio_cb_read",
				  LIST("", "enable", "disable"));
		if (cb)
			add_condition(s, cb, "transfer", s->collective);
	}
	/* Accesses with holes are rare below HDF5. */
	suggest_both(s, "romio_ds_write", "romio_ds_read",
		     parallel_hdf5 ? LIST("", "disable") : LIST("", "enable", "disable"));
	if (has_collective(s))
		suggest_buffering(s, cb);
	else if (s->writes)
		suggest(s, "ind_wr_buffer_size", LIST("", "64K", "8M"));
	add_condition(s, "ind_wr_buffer_size", "romio_ds_write",
		      parallel_hdf5 ? LIST("") : LIST("", "enable"));
	suggest(s, "IBM_largeblock_io", LIST("", "true"));
}

static void suggest_ompio(struct suggestion *s)
{
	if (!has_collective(s))
		return;
	suggest(s, "collective_buffering", LIST("", "false"));
	if (!has_dimension(s, "striping_unit"))
		suggest(s, "cb_buffer_size", LIST("", "4M", "64M"));
	add_condition(s, "collective_buffering", "transfer", s->collective);
	add_condition(s, "cb_buffer_size", "collective_buffering", LIST(""));
}

static void suggest_storage(struct suggestion *s)
{
	enum filesystem fs = s->context->filesystem;
	int r = 0;

	if (!s->uses->creates || !s->writes)
		return;
	if (fs == FILESYSTEM_LUSTRE || fs == FILESYSTEM_CEPH || fs == FILESYSTEM_BEEGFS) {
		suggest(s, "striping_factor", LIST("", "4", "16", "64"));
		if (suggest(s, "striping_unit", LIST("", "1M", "8M", "32M")) && s->uses->mpi)
			r = space_tie(s->space, "cb_buffer_size", "striping_unit", s->err);
	}
	if (r < 0)
		s->failed = r;
}

/* Why no parameter was suggested, and what to do. */
static int refuse(const struct tunable_context *context, const struct space_uses *uses,
		  struct err *err)
{
	if (uses->mpi && !uses->collective && context->middleware == MIDDLEWARE_OMPIO)
		return err_set(err, ENODATA,
			       "nothing to tune: the program uses MPI-IO, but has no collective "
			       "accesses, and OMPIO of Open MPI has no parameters for others; "
			       "ROMIO has (mpiexec --mca io romio321; in Open MPI 5 romio341), or "
			       "name parameters with --space");
	if (uses->mpi || uses->hdf5 || uses->hdf5_parallel || uses->streams)
		return err_set(err, ENODATA,
			       "nothing to tune: no parameter of the libraries that the program "
			       "uses may be changed; see 'sluice kb params list' and --allow");
	return err_set(err, ENODATA,
		       "nothing to tune: the program used neither MPI-IO nor HDF5, and the file "
		       "system has no parameters (see 'sluice kb params list')");
}

int space_suggest(struct space *space, const struct tunable_context *context,
		  const struct space_uses *uses, struct err *err)
{
	bool known = uses->reads || uses->writes;
	struct space fresh = { .context = *context, .name = xstrdup("suggested") };
	struct suggestion s = {
		.space = &fresh,
		.context = context,
		.uses = uses,
		.reads = uses->reads || !known,
		.writes = uses->writes || !known,
		.err = err,
	};

	if (uses->mpi || uses->hdf5_parallel)
		suggest_transfer(&s);
	if (uses->hdf5 || uses->hdf5_parallel)
		suggest_hdf5(&s);
	if (uses->streams)
		suggest(&s, PARAMETERS_STDIO_BUFFER, LIST("", "64K", "1M"));
	suggest_storage(&s);
	if (uses->mpi && context->middleware == MIDDLEWARE_OMPIO)
		suggest_ompio(&s);
	else if (uses->mpi)
		suggest_romio(&s);
	if (!s.failed && !fresh.count)
		s.failed = refuse(context, uses, err);
	if (s.failed) {
		space_release(&fresh);
		return s.failed;
	}
	space_release(space);
	*space = fresh;
	return 0;
}
