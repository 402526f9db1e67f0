/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about HDF5: chunks, their cache, and filters.
 */
#include <inttypes.h>

#include "base/integer.h"
#include "base/unit.h"
#include "observe/diagnose/case.h"

#define CACHE_LEAST (UINT64_C(16) << 20)
#define CACHE_MOST (UINT64_C(4) << 30)

/* A library that moves at least this many times the requested bytes is not explained by metadata.
 */
#define TIMES_REQUESTED 2

static bool is_chunked(const struct case_file *file)
{
	return case_uses(file, LAYER_HDF5) && file->facts->chunk_bytes;
}

static uint64_t requested_bytes(const struct case_file *file)
{
	const struct survey *s = &file->layers[LAYER_HDF5]->total.survey;

	return s->bytes[READING] + s->bytes[WRITING];
}

static uint64_t stored_bytes(const struct case_file *file)
{
	return case_stored(file, READING) + case_stored(file, WRITING);
}

static uint64_t repeated_bytes(const struct case_file *file)
{
	const struct file_total *t = file->layers[LAYER_POSIX];

	return t ? case_repeated(t, READING) + case_repeated(t, WRITING) : 0;
}

/* A direction with less of the stored bytes has metadata only. */
#define METADATA_PART 32

/* Could HDF5 have converted the data between types of different size, in each direction? */
static bool may_be_converted(const struct case_file *file)
{
	const struct survey *s = &file->layers[LAYER_HDF5]->total.survey;
	bool converted = false, exactly;

	for (int way = READING; way <= WRITING; way++) {
		uint64_t stored = case_stored(file, way), requested = s->bytes[way];

		if (stored < stored_bytes(file) / METADATA_PART ||
		    stored <= requested + requested / METADATA_PART)
			continue;
		if (!case_may_convert(file, requested, stored, &exactly) || !exactly)
			return false;
		converted = true;
	}
	return converted;
}

/* Do storage calls move much more than requested, apart from data written in another type? */
static bool is_excessive(const struct case_file *file)
{
	if (stored_bytes(file) < TIMES_REQUESTED * requested_bytes(file))
		return false;
	return !may_be_converted(file) || !case_is_written_once(file) ||
	       case_stored(file, READING) > case_stored(file, WRITING) / METADATA_PART;
}

static void set_amplification(struct match *m, const struct case_file *file)
{
	m->layer = LAYER_POSIX;
	m->of_bytes = requested_bytes(file);
	m->bytes = stored_bytes(file);
	m->value = (double)m->bytes / (double)m->of_bytes;
	m->of_calls = file->layers[LAYER_HDF5]->total.survey.accesses[READING] +
		      file->layers[LAYER_HDF5]->total.survey.accesses[WRITING];
	for (int outer = 0; outer < CASE_WAYS; outer++) {
		for (int way = READING; way <= WRITING; way++) {
			m->calls += file->inner[outer].calls[way];
			m->time_ns += (double)file->inner[outer].time_ns[way];
		}
	}
	/* How much of the time in HDF5 itself the superfluous bytes take is not known. */
	m->saved_ns = m->time_ns * (1 - 1 / m->value);
	m->time_ns += (double)(file->own_ns[READING] + file->own_ns[WRITING]);
	if (may_be_converted(file))
		case_set_unproven(m);
}

/*
 * The chunks that one transfer touches must fit. Each of them costs up to two storage calls, one to
 * evict another chunk and one to read it, if they do not.
 */
static uint64_t needed_cache(const struct match *m, const struct case_file *file)
{
	uint64_t chunks = m->of_calls ? (m->calls + m->of_calls - 1) / m->of_calls : 1;
	uint64_t bytes = CACHE_LEAST;

	while (bytes < CACHE_MOST && bytes / 2 < chunks * file->facts->chunk_bytes)
		bytes *= 2;
	return bytes;
}

/* MPI-IO files do not use the cache for writing, so only serial files can thrash. */
static bool test_cache(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	if (!is_chunked(file) || case_uses(file, LAYER_MPI) || !is_excessive(file) ||
	    repeated_bytes(file) < LIMIT(d, MIN_BYTES) ||
	    !case_is_most(d, repeated_bytes(file), stored_bytes(file)))
		return false;
	set_amplification(m, file);
	m->fix_value = needed_cache(m, file);
	m->reason = file->facts->chunk;
	return true;
}

static void describe_chunks(struct buf *out, const struct match *m)
{
	char requested[UNIT_TEXT], stored[UNIT_TEXT];

	buf_printf(out,
		   "%" PRIu64 " transfers of %s caused %" PRIu64
		   " storage calls of %s (%.1f times the requested bytes)",
		   m->of_calls, unit_bytes(requested, (double)m->of_bytes), m->calls,
		   unit_bytes(stored, (double)m->bytes),
		   m->of_bytes ? (double)m->bytes / (double)m->of_bytes : 0);
	if (m->reason && *m->reason)
		buf_printf(out, "; chunks are %s", m->reason);
}

static void describe_cache(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	(void)d;
	describe_chunks(out, m);
	buf_puts(out, ", and the same chunks were read and written again and again");
	case_describe_unproven(out, m);
}

static bool test_shape(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	if (!is_chunked(file) || !is_excessive(file) ||
	    stored_bytes(file) < requested_bytes(file) + LIMIT(d, MIN_BYTES))
		return false;
	set_amplification(m, file);
	m->reason = file->facts->chunk;
	return true;
}

static void describe_shape(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	(void)d;
	describe_chunks(out, m);
	case_describe_unproven(out, m);
}

static bool test_compression(const struct diagnosis *d, const struct case_file *file,
			     struct match *m)
{
	int64_t own = 0, library = 0;

	if (!case_uses(file, LAYER_HDF5) || !file->facts->compressed ||
	    requested_bytes(file) < LIMIT(d, MIN_BYTES))
		return false;
	for (int way = 0; way < CASE_WAYS; way++) {
		own += file->own_ns[way];
		library += file->library_ns[way];
	}
	if (own <= 0 || !case_is_most(d, u64_of(own), u64_of(library)) ||
	    !(case_share(d, (double)own) * 100 >= (double)LIMIT(d, TIME_PERCENT)))
		return false;
	m->layer = LAYER_HDF5;
	m->calls = m->of_calls = file->layers[LAYER_HDF5]->total.survey.accesses[READING] +
				 file->layers[LAYER_HDF5]->total.survey.accesses[WRITING];
	m->bytes = m->of_bytes = requested_bytes(file);
	m->time_ns = (double)own;
	m->value = (double)library;
	return true;
}

static void describe_compression(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char own[UNIT_TEXT], all[UNIT_TEXT], bytes[UNIT_TEXT];

	(void)d;
	buf_printf(out,
		   "%s of %s in HDF5 passed outside of any storage call, while %s went through "
		   "compression filters",
		   unit_ns(own, i64_of(m->time_ns)), unit_ns(all, i64_of(m->value)),
		   unit_bytes(bytes, (double)m->bytes));
}

static const struct rule rules[] = {
	{ .code = "chunk-cache",
	  .title = "the HDF5 chunk cache is too small",
	  .when = "storage calls inside HDF5 move at least 2 times the requested bytes of a "
		  "chunked dataset, and findings.share_percent of them concern bytes that were "
		  "moved before (at least findings.min_bytes); files that are opened by MPI-IO are "
		  "exempt; possible, if a conversion of types may explain it",
	  .explanation = "One access touches more chunks than the chunk cache holds, so HDF5 "
			 "evicts chunks that the next access needs again. Each access then reads "
			 "and writes whole chunks instead of the few elements that it requests.",
	  .parameter = "rdcc_nbytes",
	  .hides = "chunk-shape compression write-amplification read-amplification small-requests "
		   "redundant-reads",
	  .gain = "the time of the storage calls inside HDF5, in proportion to the "
		  "superfluous bytes",
	  .most = SEVERITY_CRITICAL,
	  .uses_chains = true,
	  .test_file = test_cache,
	  .describe = describe_cache,
	  .fixes = { FIX("sluice", "sluice run --params rdcc_nbytes={value} -- {command}"),
		     FIX("hdf5",
			 "H5Pset_cache(fapl, 0, 10007, {value}, 0.75);  /* before H5Fopen */"),
		     FIX("h5py", "f = h5py.File(\"{file}\", \"r+\", rdcc_nbytes={value}, "
				 "rdcc_nslots=10007)"),
		     FIX("xarray",
			 "netCDF4.set_chunk_cache({value}, 10007)  # before open_dataset\n"
			 "data = xarray.open_dataset(\"{file}\", engine=\"netcdf4\")") } },
	{ .code = "chunk-shape",
	  .title = "chunks do not match the access",
	  .when = "storage calls inside HDF5 move at least 2 times the requested bytes of a "
		  "chunked dataset, and findings.min_bytes more; possible, if a conversion of "
		  "types may explain it",
	  .explanation = "HDF5 reads and writes whole chunks, but the program uses only a part of "
			 "each. Chunks with the shape of the accesses move only what is needed.",
	  .hides = "write-amplification read-amplification compression",
	  .gain = "the time of the storage calls inside HDF5, in proportion to the "
		  "superfluous bytes",
	  .most = SEVERITY_CRITICAL,
	  .uses_chains = true,
	  .test_file = test_shape,
	  .describe = describe_shape,
	  .fixes = { FIX("hdf5",
			 "hsize_t shape[2] = { rows_per_access, columns_per_access };\n"
			 "H5Pset_chunk(dcpl, 2, shape);",
			 .sets = "chunk_size"),
		     FIX("h5py",
			 "dataset = f.create_dataset(name, shape, dtype, "
			 "chunks=shape_of_one_access)",
			 .sets = "chunk_size"),
		     FIX("xarray",
			 "data.to_netcdf(path, encoding={name: {\"chunksizes\": "
			 "shape_of_one_access}})",
			 .sets = "chunk_size"),
		     FIX("shell", "h5repack -l CHUNK=ROWSxCOLUMNS {file} {file}.repacked",
			 .sets = "chunk_size") } },
	{ .code = "compression",
	  .title = "compression is on the critical path",
	  .when = "findings.share_percent of the time in HDF5, and findings.time_percent of the "
		  "run time, is outside of storage calls; the file has compressed datasets and at "
		  "least findings.min_bytes were transferred",
	  .explanation =
		  "HDF5 compresses and decompresses in the calling thread while the program waits. "
		  "A faster filter, or none, shortens the calls more than faster storage.",
	  .unknown = "the time of another filter depends on the data",
	  .most = SEVERITY_CRITICAL,
	  .possible = true,
	  .uses_chains = true,
	  .test_file = test_compression,
	  .describe = describe_compression,
	  .fixes = { FIX("hdf5", "H5Pset_shuffle(dcpl); H5Pset_deflate(dcpl, 1);  /* instead of "
				 "level 4 to 9 */"),
		     FIX("h5py",
			 "f.create_dataset(name, data=data, compression=\"lzf\", shuffle=True)"),
		     FIX("xarray", "data.to_netcdf(path, engine=\"h5netcdf\", encoding={name: "
				   "{\"zlib\": True, \"complevel\": 1}})") } },
};

const struct rule_table rules_hdf5 = { rules, sizeof(rules) / sizeof(*rules) };
