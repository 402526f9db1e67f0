/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about the requests of the program: their size, alignment and order.
 */
#include <inttypes.h>

#include "base/integer.h"
#include "base/unit.h"
#include "observe/diagnose/case.h"
#include "observe/diagnose/cost.h"

/* Calls `test` for reading and writing, and adds both. */
typedef bool (*way_test)(const struct diagnosis *, const struct case_file *, int, struct match *);

static bool test_ways(const struct diagnosis *d, const struct case_file *file, way_test test,
		      struct match *m)
{
	bool found = false;

	if (!file->top)
		return false;
	for (int way = READING; way <= WRITING; way++) {
		struct match one = match_none();

		one.way = way;
		one.layer = file->top->layer;
		if (!test(d, file, way, &one))
			continue;
		match_add(m, &one);
		found = true;
	}
	return found;
}

/* Sets the concerned accesses, and their part of the transfer time and of the bytes. */
static void set_accesses(struct match *m, const struct file_total *t, uint64_t calls)
{
	const struct survey *s = &t->total.survey;
	double part = (double)calls / (double)s->accesses[m->way];

	m->calls = calls;
	m->of_calls = s->accesses[m->way];
	m->bytes = u64_of(part * (double)s->bytes[m->way]);
	m->of_bytes = s->bytes[m->way];
	m->time_ns = part * (double)s->transfer_ns[m->way];
}

/* Streams have a buffer of their own; rules_stdio covers them. */
static bool is_small(const struct diagnosis *d, const struct case_file *file, int way,
		     struct match *m)
{
	const struct file_total *t = file->top;
	uint64_t small = case_small(d, t, way);

	if (t->layer == LAYER_STDIO || case_is_collective(t, way) || small < LIMIT(d, MIN_CALLS) ||
	    !case_is_most(d, small, t->total.survey.accesses[way]))
		return false;
	set_accesses(m, t, small);
	m->bytes = case_small_bytes(d, t, way);
	m->time_ns = case_small_time(d, t, way, m->time_ns);
	m->value = case_average(t, way);
	if (t->layer == LAYER_POSIX) {
		cost_merge(d, file, m, m->bytes);
	} else {
		/* What the library does for each request, apart from the storage calls inside. */
		m->saved_ns = (double)file->own_ns[way] * (double)small / (double)m->of_calls;
	}
	return true;
}

static bool test_small(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	return test_ways(d, file, is_small, m);
}

static const char *verb_of(const struct match *m)
{
	return m->way < 0 ? "reads and writes" : m->way == READING ? "reads" : "writes";
}

static void describe_part(struct buf *out, const struct match *m, const char *what)
{
	buf_printf(out, "%" PRIu64 " of %" PRIu64 " %s %s", m->calls, m->of_calls, verb_of(m),
		   what);
}

static void describe_small(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char limit[UNIT_TEXT], average[UNIT_TEXT];

	describe_part(out, m, "transfer less than ");
	buf_printf(out, "%s each (%s on average)", unit_bytes(limit, (double)LIMIT(d, SMALL_BYTES)),
		   unit_bytes(average, m->calls ? (double)m->bytes / (double)m->calls : 0));
}

static bool is_unaligned(const struct diagnosis *d, const struct case_file *file, int way,
			 struct match *m)
{
	const struct file_total *t = file->top;
	uint64_t placed = case_placed(t, way), aligned = t->total.survey.aligned[way][SURVEY_4K];
	uint64_t unaligned = placed > aligned ? placed - aligned : 0;

	if (t->layer == LAYER_STDIO || t->accessing[way] < 2 || case_is_collective(t, way) ||
	    placed < LIMIT(d, MIN_ACCESSES) || !case_is_most(d, unaligned, placed) ||
	    case_average(t, way) < (double)LIMIT(d, SMALL_BYTES))
		return false;
	set_accesses(m, t, unaligned);
	m->value = (double)t->accessing[way];
	return true;
}

static bool test_unaligned(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	return test_ways(d, file, is_unaligned, m);
}

static void describe_unaligned(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	(void)d;
	describe_part(out, m, "start or end inside a block of 4 KiB");
	buf_printf(out, " of a file that %.0f ranks or processes share", m->value);
}

static uint64_t strided_accesses(const struct file_total *t, int way)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SURVEY_STRIDES; i++)
		n += t->total.survey.strided[way][i];
	return n;
}

static bool is_random(const struct diagnosis *d, const struct case_file *file, int way,
		      struct match *m)
{
	const struct file_total *t = file->top;
	const struct survey *s = &t->total.survey;
	uint64_t jumps = s->short_seeks[way] + s->long_seeks[way];
	uint64_t strided = strided_accesses(t, way);
	uint64_t random = jumps > strided ? jumps - strided : 0;

	if (case_is_collective(t, way) || case_placed(t, way) < LIMIT(d, MIN_ACCESSES) ||
	    !case_is_most(d, random, case_placed(t, way)))
		return false;
	set_accesses(m, t, random);
	m->value = (double)s->seek_bytes[way] / (double)s->accesses[way];
	/* Rewriting the same block again and again does not jump. */
	return m->value > case_average(t, way);
}

static bool test_random(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	return test_ways(d, file, is_random, m);
}

static void describe_random(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char distance[UNIT_TEXT];

	(void)d;
	describe_part(out, m, "do not continue where the previous one ended");
	buf_printf(out, ", and jump by %s on average", unit_bytes(distance, m->value));
}

static bool test_strided(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = file->top;
	uint64_t strided;

	if (!t || case_is_collective(t, READING) ||
	    case_placed(t, READING) < LIMIT(d, MIN_ACCESSES))
		return false;
	strided = strided_accesses(t, READING);
	if (!case_is_most(d, strided, case_placed(t, READING)))
		return false;
	m->way = READING;
	m->layer = t->layer;
	set_accesses(m, t, strided);
	m->value = (double)t->total.survey.seek_bytes[READING] /
		   (double)t->total.survey.accesses[READING];
	cost_merge(d, file, m, u64_of(m->value * (double)strided));
	return true;
}

static void describe_strided(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char distance[UNIT_TEXT], size[UNIT_TEXT];

	(void)d;
	describe_part(out, m, "follow each other at a constant distance");
	buf_printf(out, ": %s every %s",
		   unit_bytes(size, m->calls ? (double)m->bytes / (double)m->calls : 0),
		   unit_bytes(distance, m->value));
}

/* Libraries do not tell the positions of their data, but the storage calls inside do. */
static const struct file_total *placed_reads(const struct case_file *file)
{
	const struct file_total *posix = file->layers[LAYER_POSIX];

	return file->top && posix && !case_placed(file->top, READING) ? posix : file->top;
}

static bool test_redundant(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = placed_reads(file);
	uint64_t repeated;

	if (!t)
		return false;
	repeated = case_repeated(t, READING);
	if (repeated < LIMIT(d, MIN_BYTES) ||
	    !case_is_most(d, repeated, t->total.survey.bytes[READING]))
		return false;
	m->way = READING;
	m->layer = t->layer;
	m->calls = t->total.survey.accesses[READING];
	m->of_calls = m->calls;
	m->bytes = repeated;
	m->of_bytes = t->total.survey.bytes[READING];
	m->time_ns = (double)t->total.survey.transfer_ns[READING] * (double)repeated /
		     (double)m->of_bytes;
	m->saved_ns = m->time_ns;
	return true;
}

static void describe_redundant(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char repeated[UNIT_TEXT], all[UNIT_TEXT];

	(void)d;
	buf_printf(
		out,
		"at least %s of %s that were read had been read before by the same rank or process",
		unit_bytes(repeated, (double)m->bytes), unit_bytes(all, (double)m->of_bytes));
}

static bool is_more(const struct diagnosis *d, uint64_t stored, uint64_t requested)
{
	return requested && stored >= requested + LIMIT(d, MIN_BYTES) &&
	       (double)stored * 100 >= (double)requested * (double)LIMIT(d, AMPLIFICATION_PERCENT);
}

/*
 * Do more bytes reach storage even if the library converts what the program requests? Calls that
 * hold no requested data move them, or MPI-IO, which gets the converted data.
 */
static bool is_proven(const struct diagnosis *d, const struct case_file *file, int way,
		      uint64_t requested)
{
	const struct file_total *mpi = file->layers[LAYER_MPI];

	return is_more(d, requested + file->unrequested[way], requested) ||
	       (mpi && is_more(d, case_stored(file, way), mpi->total.survey.bytes[way]));
}

/* Compares what the storage calls inside a library moved with what was requested. */
static bool is_amplified(const struct diagnosis *d, const struct case_file *file, int way,
			 struct match *m)
{
	const struct file_total *t = file->top;
	uint64_t requested, stored;
	bool exactly;

	if (!t || t->layer == LAYER_POSIX || t->layer == LAYER_STDIO)
		return false;
	requested = t->total.survey.bytes[way];
	stored = case_stored(file, way);
	if (!is_more(d, stored, requested))
		return false;
	m->way = way;
	m->layer = LAYER_POSIX;
	for (int outer = 0; outer < CASE_WAYS; outer++) {
		m->calls += file->inner[outer].calls[way];
		m->time_ns += (double)file->inner[outer].time_ns[way];
	}
	m->of_calls = m->calls;
	m->bytes = stored;
	m->of_bytes = requested;
	m->value = (double)stored / (double)requested;
	if (!case_may_convert(file, requested, stored, &exactly) ||
	    is_proven(d, file, way, requested)) {
		m->saved_ns = m->time_ns * (1 - 1 / m->value);
		return true;
	}
	case_set_unproven(m);
	return way == READING || !exactly || !case_is_written_once(file);
}

static bool test_written(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	return is_amplified(d, file, WRITING, m);
}

static bool test_read(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	return is_amplified(d, file, READING, m);
}

static void describe_amplified(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char stored[UNIT_TEXT], requested[UNIT_TEXT];

	(void)d;
	buf_printf(out, "the program requested %s, the libraries %s %s (%.2f times as much)",
		   unit_bytes(requested, (double)m->of_bytes), m->way == READING ? "read" : "wrote",
		   unit_bytes(stored, (double)m->bytes),
		   m->of_bytes ? (double)m->bytes / (double)m->of_bytes : 0);
	case_describe_unproven(out, m);
}

static const struct rule rules[] = {
	{ .code = "redundant-reads",
	  .title = "the same data is read repeatedly",
	  .when = "at least findings.min_bytes, and findings.share_percent of the bytes that were "
		  "read from a file, had been read before by the same rank or process",
	  .explanation =
		  "The program reads bytes that it has read before. Each repetition costs a call "
		  "and a copy, and storage is accessed again if the page cache is too small.",
	  .hides = "strided-reads random-access",
	  .gain = "the time of the reads that repeat earlier ones",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_redundant,
	  .describe = describe_redundant,
	  .fixes = { FIX("c",
			 "/* read {file} once and keep it */\n"
			 "struct stat s; fstat(fd, &s);\n"
			 "char *data = malloc(s.st_size); pread(fd, data, s.st_size, 0);",
			 .layers = FIX_LIBC),
		     FIX("mpi",
			 "MPI_File_read_at(fh, 0, data, bytes, MPI_BYTE, &status);  /* once; keep "
			 "it */",
			 .layers = 1u << LAYER_MPI),
		     FIX("hdf5",
			 "H5Dread(dataset, type, H5S_ALL, H5S_ALL, dxpl, data);  /* once; keep it "
			 "*/",
			 .layers = 1u << LAYER_HDF5),
		     FIX("xarray",
			 "data = xarray.open_dataset(\"{file}\").load()  # in memory") } },
	{ .code = "strided-reads",
	  .title = "reads skip a constant distance",
	  .when = "at least findings.min_accesses reads of a file have a known position, and "
		  "findings.share_percent of them are strided",
	  .explanation =
		  "The program reads pieces at a constant distance and skips what is between them. "
		  "Reading ahead fetches data that is not used, and each piece costs a call.",
	  .hides = "random-access",
	  .gain = "the time of the reads, less that of reading the whole range in "
		  "requests of 1 MiB",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_strided,
	  .describe = describe_strided,
	  .fixes = { FIX("c",
			 "/* read the whole range at once and pick the pieces in memory */\n"
			 "pread(fd, buffer, pieces * stride, first);",
			 .layers = FIX_LIBC),
		     FIX("mpi",
			 "MPI_Type_vector(pieces, piece, stride, MPI_BYTE, &type);\n"
			 "MPI_Type_commit(&type);\n"
			 "MPI_File_set_view(fh, first, MPI_BYTE, type, \"native\", "
			 "MPI_INFO_NULL);\n"
			 "MPI_File_read_all(fh, buffer, pieces * piece, MPI_BYTE, &status);",
			 .sets = "transfer=collective") } },
	{ .code = "random-access",
	  .title = "accesses jump through the file",
	  .when = "at least findings.min_accesses accesses have a known position, and "
		  "findings.share_percent of them neither continue the previous one nor are "
		  "strided",
	  .explanation =
		  "The accesses do not follow the order of the data in the file. The kernel cannot "
		  "read ahead, and disks and parallel file systems serve such accesses slowly.",
	  .unknown = "the trace does not tell how long the same accesses take in order",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_random,
	  .describe = describe_random,
	  .fixes = { FIX("c", "/* sort the accesses by offset before they are made */\n"
			      "qsort(pieces, count, sizeof(*pieces), compare_offsets);") } },
	{ .code = "unaligned-requests",
	  .title = "requests on a shared file are not aligned",
	  .when = "several ranks access the file, requests are larger than findings.small_bytes on "
		  "average, and findings.share_percent of at least findings.min_accesses are not "
		  "multiples of 4 KiB",
	  .explanation = "Requests of different ranks share blocks of the file. Parallel file "
			 "systems lock whole blocks, so ranks may wait for each other, and partial "
			 "blocks are read before they are written.",
	  .unknown = "the trace does not tell how long a request waits for the block "
		     "that it shares",
	  .most = SEVERITY_WARNING,
	  .possible = true,
	  .test_file = test_unaligned,
	  .describe = describe_unaligned,
	  .fixes = { FIX(
		  "c", "/* give each rank a multiple of the block size (or of the stripe size) */\n"
		       "size_t share = (bytes / ranks + 4095) / 4096 * 4096;") } },
	{ .code = "small-requests",
	  .title = "many small requests",
	  .when = "at least findings.min_calls transfers of a file, and findings.share_percent of "
		  "all, are smaller than findings.small_bytes; streams and collective calls are "
		  "exempt",
	  .explanation = "Each request moves little data, so the fixed cost of a call dominates. "
			 "Larger requests move the same data with fewer calls.",
	  .gain = "the time of these requests, less that of requests of 1 MiB with "
		  "the same bytes; for requests to a library, the time in the library",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_small,
	  .describe = describe_small,
	  .fixes = { FIX("c",
			 "/* a buffer of 1 MiB; then use fread and fwrite */\n"
			 "FILE *stream = fopen(\"{file}\", \"{mode}\");\n"
			 "setvbuf(stream, NULL, _IOFBF, 1 << 20);",
			 .layers = FIX_LIBC),
		     FIX("python", "f = open(\"{file}\", \"{mode}b\", buffering=1 << 20)",
			 .layers = FIX_LIBC),
		     FIX("mpi",
			 "MPI_File_{verb}_at(fh, offset, block, pieces * count, type, &status);  "
			 "/* "
			 "many pieces in one call */",
			 .layers = 1u << LAYER_MPI),
		     FIX("hdf5",
			 "H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, many, NULL);\n"
			 "H5D{verb}(dataset, type, memory, space, dxpl, block);  /* many elements "
			 "at "
			 "once */",
			 .layers = 1u << LAYER_HDF5),
		     FIX("h5py",
			 "dataset[first:last] = block  # many elements at once, not one by one",
			 .layers = 1u << LAYER_HDF5),
		     FIX("netcdf",
			 "nc_{put}_vara(file, variable, first, many, block);  /* many elements at "
			 "once */",
			 .layers = 1u << LAYER_NETCDF),
		     FIX("netcdf4",
			 "variable[first:last] = block  # many elements at once, not one by one",
			 .layers = 1u << LAYER_NETCDF),
		     FIX("pnetcdf",
			 "ncmpi_{put}_vara_all(file, variable, first, many, block, elements, "
			 "type);",
			 .layers = 1u << LAYER_PNETCDF) } },
	{ .code = "write-amplification",
	  .title = "libraries write more than the program requests",
	  .when = "storage calls inside libraries write findings.amplification_percent of the "
		  "requested bytes, and findings.min_bytes more; possible, if a conversion of "
		  "types may explain it",
	  .explanation = "The bytes that reach storage exceed the bytes that the program writes. "
			 "The difference is metadata, fill values, alignment, or data that is "
			 "written more than once.",
	  .parameter = "fill_time",
	  .gain = "the time of the storage calls, in proportion to the superfluous "
		  "bytes",
	  .most = SEVERITY_CRITICAL,
	  .uses_chains = true,
	  .test_file = test_written,
	  .describe = describe_amplified,
	  .fixes = { FIX("sluice",
			 "sluice --set params.allow=semantics run --params fill_time=never "
			 "-- {command}"),
		     FIX("hdf5", "H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);"),
		     FIX("h5py", "dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)\n"
				 "dcpl.set_fill_time(h5py.h5d.FILL_TIME_NEVER)") } },
	{ .code = "read-amplification",
	  .title = "libraries read more than the program requests",
	  .when = "storage calls inside libraries read findings.amplification_percent of the "
		  "requested bytes, and findings.min_bytes more; possible, if a conversion of "
		  "types may explain it",
	  .explanation = "The libraries read more bytes than the program gets. The difference is "
			 "metadata, gaps between the requested pieces, or data that is read more "
			 "than once.",
	  .parameter = "romio_ds_read",
	  .gain = "the time of the storage calls, in proportion to the superfluous "
		  "bytes",
	  .most = SEVERITY_CRITICAL,
	  .uses_chains = true,
	  .test_file = test_read,
	  .describe = describe_amplified,
	  .fixes = { FIX("sluice", "sluice run --params romio_ds_read=disable -- {command}"),
		     FIX("mpi",
			 "MPI_File_read_all(fh, buffer, count, type, &status);  /* collective "
			 "*/",
			 .sets = "transfer=collective") } },
};

const struct rule_table rules_requests = { rules, sizeof(rules) / sizeof(*rules) };
