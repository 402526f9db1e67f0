/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about MPI-IO: collective and independent access, aggregators, data sieving.
 */
#include <inttypes.h>

#include "base/unit.h"
#include "observe/diagnose/case.h"
#include "observe/diagnose/causes.h"

/* Data sieving is reported if writes read at least this share of what they write. */
#define SIEVED_PERCENT 10
#define RANKS_PER_AGGREGATOR 4

static const struct file_total *mpi_of(const struct case_file *file)
{
	return case_uses(file, LAYER_MPI) ? file->layers[LAYER_MPI] : NULL;
}

static bool test_degraded(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = file->layers[LAYER_HDF5];

	(void)d;
	if (!t || !file->facts->causes)
		return false;
	case_set_transfers(m, t, t->total.survey.bytes[WRITING] ? WRITING : READING);
	m->reason = causes_name(file->facts->causes);
	return true;
}

static void describe_degraded(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	(void)d;
	buf_printf(out, "HDF5 made collective transfers independent; its reason: %s", m->reason);
}

static bool test_sieving(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct case_inner *in = &file->mpi[WRITING];

	if (!mpi_of(file) || in->bytes[READING] < LIMIT(d, SMALL_BYTES) ||
	    in->bytes[READING] * 100 < in->bytes[WRITING] * SIEVED_PERCENT)
		return false;
	m->way = WRITING;
	m->layer = LAYER_POSIX;
	m->calls = in->calls[READING];
	m->of_calls = in->calls[WRITING];
	m->bytes = in->bytes[READING];
	m->of_bytes = in->bytes[WRITING];
	m->time_ns = (double)(in->time_ns[READING] + in->time_ns[WRITING]);
	m->saved_ns = (double)in->time_ns[READING];
	return true;
}

static void describe_sieving(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char read[UNIT_TEXT], written[UNIT_TEXT];

	(void)d;
	buf_printf(out, "MPI-IO read %s in %" PRIu64 " calls inside writes, in order to write %s",
		   unit_bytes(read, (double)m->bytes), m->calls,
		   unit_bytes(written, (double)m->of_bytes));
}

/* Bytes of one collective call, over all ranks that take part. */
static double bytes_per_call(const struct file_total *t, int way)
{
	return case_average(t, way) * (double)t->accessing[way];
}

static uint64_t calls_per_rank(const struct file_total *t, int way)
{
	return t->accessing[way] ? t->total.collective[way] / t->accessing[way] : 0;
}

static int collective_way(const struct diagnosis *d, const struct file_total *t)
{
	for (int way = WRITING; t && way >= READING; way--) {
		if (case_is_collective(t, way) && t->accessing[way] >= 2 &&
		    calls_per_rank(t, way) >= LIMIT(d, MIN_ACCESSES))
			return way;
	}
	return -1;
}

static bool test_harmful(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = mpi_of(file);
	int way = collective_way(d, t);

	if (way < 0 || bytes_per_call(t, way) >= (double)LIMIT(d, SMALL_BYTES))
		return false;
	case_set_transfers(m, t, way);
	m->calls = calls_per_rank(t, way);
	m->value = bytes_per_call(t, way);
	m->saved_ns = m->time_ns -
		      (double)(file->mpi[way].time_ns[READING] + file->mpi[way].time_ns[WRITING]);
	return true;
}

static void describe_harmful(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char bytes[UNIT_TEXT];

	(void)d;
	buf_printf(out, "%" PRIu64 " collective calls move only %s each, over all ranks together",
		   m->calls, unit_bytes(bytes, m->value));
}

/* Members that write to storage inside collective writes. */
static size_t aggregators_of(const struct case_file *file)
{
	const struct file_total *posix = file->layers[LAYER_POSIX];

	return posix ? posix->accessing[WRITING] : 0;
}

static bool test_few(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = mpi_of(file);
	size_t aggregators = aggregators_of(file);

	if (!t || !case_is_collective(t, WRITING) || !aggregators ||
	    t->accessing[WRITING] < RANKS_PER_AGGREGATOR * aggregators ||
	    t->total.survey.bytes[WRITING] < aggregators * LIMIT(d, AGGREGATOR_BYTES))
		return false;
	case_set_transfers(m, t, WRITING);
	m->calls = aggregators;
	m->of_calls = t->accessing[WRITING];
	m->fix_value = (t->accessing[WRITING] + 1) / 2;
	return true;
}

static void describe_aggregators(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char bytes[UNIT_TEXT];

	(void)d;
	buf_printf(out, "%" PRIu64 " of %" PRIu64 " ranks wrote %s to storage", m->calls,
		   m->of_calls, unit_bytes(bytes, (double)m->bytes));
}

static bool test_many(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	const struct file_total *t = mpi_of(file);
	const struct case_inner *in = &file->mpi[WRITING];
	size_t aggregators = aggregators_of(file);

	if (collective_way(d, t) != WRITING || aggregators < 2 || !in->calls[WRITING] ||
	    in->bytes[WRITING] / in->calls[WRITING] >= LIMIT(d, SMALL_BYTES))
		return false;
	case_set_transfers(m, t, WRITING);
	m->calls = aggregators;
	m->of_calls = t->accessing[WRITING];
	m->value = (double)in->bytes[WRITING] / (double)in->calls[WRITING];
	return true;
}

static void describe_many(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char bytes[UNIT_TEXT];

	describe_aggregators(out, d, m);
	buf_printf(out, ", in accesses of %s on average", unit_bytes(bytes, m->value));
}

static bool is_interleaved(const struct file_total *t, int way)
{
	return t->sharing[way] == SHARING_INTERLEAVED || t->sharing[way] == SHARING_OVERLAPPING ||
	       t->sharing[way] == SHARING_UNKNOWN;
}

static bool is_independent(const struct diagnosis *d, const struct file_total *t, int way)
{
	const struct survey *s = &t->total.survey;

	return t->accessing[way] >= 2 && !case_is_collective(t, way) && is_interleaved(t, way) &&
	       s->accesses[way] - t->total.collective[way] >= LIMIT(d, MIN_ACCESSES) &&
	       case_average(t, way) < (double)LIMIT(d, COLLECTIVE_BYTES);
}

static bool test_independent(const struct diagnosis *d, const struct case_file *file,
			     struct match *m)
{
	const struct file_total *t = mpi_of(file);

	for (int way = WRITING; t && way >= READING; way--) {
		if (!is_independent(d, t, way))
			continue;
		case_set_transfers(m, t, way);
		m->value = (double)t->accessing[way];
		return true;
	}
	return false;
}

static void describe_independent(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char size[UNIT_TEXT];

	(void)d;
	buf_printf(out,
		   "%.0f ranks %s interleaved parts of the file in %" PRIu64
		   " independent calls of %s on average",
		   m->value, m->way == READING ? "read" : "write", m->calls,
		   unit_bytes(size, m->calls ? (double)m->bytes / (double)m->calls : 0));
}

/* What decides about the number of aggregators. */
#define AGGREGATORS "cb_nodes cb_config_list num_aggregators"

#define ACCESS_CODES                                                                   \
	"independent-io shared-contention small-requests random-access strided-reads " \
	"unaligned-requests redundant-reads"

static const struct rule rules[] = {
	{ .code = "degraded-collective",
	  .title = "HDF5 made collective transfers independent",
	  .when = "HDF5 reports a reason other than that the program asked for independent "
		  "transfers",
	  .explanation = "The program asks for collective transfers, but HDF5 cannot make them so "
			 "and lets each rank access storage on its own. HDF5 states the reason; "
			 "without it, the ranks' pieces are combined into large accesses.",
	  .hides = ACCESS_CODES " data-sieving",
	  .unknown = "the time of collective transfers depends on the machine; sluice "
		     "tune measures it",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_degraded,
	  .describe = describe_degraded,
	  .query = "--layer HDF5,MPI --tree",
	  .fixes = { FIX("hdf5",
			 "/* pass the type that the dataset has, so that nothing is converted */\n"
			 "hid_t type = H5Dget_type(dataset);\n"
			 "H5Dwrite(dataset, type, memory, space, dxpl, buffer);"),
		     FIX("h5py", "with dataset.collective:\n    dataset[selection] = "
				 "data.astype(dataset.dtype)") } },
	{ .code = "data-sieving",
	  .title = "MPI-IO reads in order to write (data sieving)",
	  .when = "storage calls inside MPI writes read at least findings.small_bytes, and 10 % of "
		  "what they write",
	  .explanation = "The pieces that a rank writes have gaps, so MPI-IO reads whole blocks, "
			 "changes the pieces, and writes the blocks back. Collective writes "
			 "without gaps, or separate writes of the pieces, need no reads.",
	  .parameter = "romio_ds_write",
	  .hides = ACCESS_CODES " write-amplification read-amplification",
	  .gain = "the time of the reads inside writes",
	  .most = SEVERITY_CRITICAL,
	  .uses_chains = true,
	  .test_file = test_sieving,
	  .describe = describe_sieving,
	  .query = "--layer MPI,POSIX --tree",
	  .fixes = { FIX("sluice", "sluice run --params romio_ds_write=disable -- {command}"),
		     FIX("mpi",
			 "MPI_File_write_all(fh, buffer, count, type, &status);  /* collective "
			 "*/",
			 .sets = "transfer=collective") } },
	{ .code = "harmful-collective",
	  .title = "collective calls move too little data",
	  .when = "at least findings.min_accesses collective calls of each rank move less than "
		  "findings.small_bytes over all ranks",
	  .explanation = "In a collective call, ranks wait for each other and exchange data before "
			 "storage is accessed. With so little data, this costs more than it saves.",
	  .parameter = "transfer",
	  .hides = ACCESS_CODES " many-aggregators",
	  .gain = "the time of the collective calls outside of storage calls",
	  .most = SEVERITY_CRITICAL,
	  .possible = true,
	  .uses_chains = true,
	  .test_file = test_harmful,
	  .describe = describe_harmful,
	  .fixes = { FIX("sluice", "sluice run --params transfer=independent -- {command}",
			 .sets = "transfer=independent"),
		     FIX("mpi",
			 "MPI_File_write_all(fh, buffer, pieces * count, type, &status);  /* "
			 "many pieces in one call */",
			 .sets = ""),
		     FIX("hdf5", "H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_INDEPENDENT);",
			 .sets = "transfer=independent"),
		     FIX("h5py", "dataset[selection] = data  # without dataset.collective",
			 .sets = "transfer=independent") } },
	{ .code = "few-aggregators",
	  .title = "too few aggregators",
	  .when = "collective writes of at least 4 ranks per aggregator move "
		  "findings.aggregator_bytes per aggregator",
	  .explanation = "In collective calls only the aggregators access storage, and all data of "
			 "the other ranks passes through them. With few aggregators, their memory "
			 "bandwidth and their share of the storage limit the speed.",
	  .parameter = "cb_config_list",
	  .unknown = "the speed of more aggregators depends on the machine; sluice tune "
		     "measures it",
	  .most = SEVERITY_WARNING,
	  .possible = true,
	  .test_file = test_few,
	  .describe = describe_aggregators,
	  .query = "--layer MPI,POSIX --tree",
	  .fixes = { FIX("sluice",
			 "sluice run --params 'cb_nodes={value} cb_config_list=*:{value}' "
			 "-- {command}",
			 .sets = AGGREGATORS),
		     FIX("mpi",
			 "MPI_Info_set(info, \"cb_config_list\", \"*:{value}\");\n"
			 "MPI_Info_set(info, \"cb_nodes\", \"{value}\");",
			 .sets = AGGREGATORS) } },
	{ .code = "many-aggregators",
	  .title = "too many aggregators",
	  .when = "several aggregators write less than findings.small_bytes at a time, in at least "
		  "findings.min_accesses collective calls",
	  .explanation = "Each aggregator writes only a small part of a collective call. Fewer "
			 "aggregators write larger pieces, with fewer messages.",
	  .parameter = "cb_nodes",
	  .hides = ACCESS_CODES,
	  .unknown = "the speed of fewer aggregators depends on the machine; sluice tune "
		     "measures it",
	  .most = SEVERITY_WARNING,
	  .possible = true,
	  .uses_chains = true,
	  .test_file = test_many,
	  .describe = describe_many,
	  .query = "--layer MPI,POSIX --tree",
	  .fixes = { FIX("sluice", "sluice run --params cb_nodes=1 -- {command}",
			 .sets = AGGREGATORS),
		     FIX("mpi", "MPI_Info_set(info, \"cb_nodes\", \"1\");",
			 .sets = AGGREGATORS) } },
	{ .code = "independent-io",
	  .title = "independent access where collective access is possible",
	  .when = "several ranks access interleaved parts of a file by at least "
		  "findings.min_accesses independent calls of less than findings.collective_bytes",
	  .explanation =
		  "Ranks access neighboring pieces of one file, each on its own. A collective call "
		  "lets a few ranks combine the pieces of all into large accesses.",
	  .parameter = "romio_cb_write",
	  .hides = ACCESS_CODES,
	  .unknown = "the time of collective transfers depends on the machine; sluice "
		     "tune measures it",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_independent,
	  .describe = describe_independent,
	  .fixes = { FIX("sluice",
			 "sluice tune -- {command}  # tries transfer=collective if all ranks make "
			 "the same transfers",
			 .sets = "transfer=collective",
			 .layers = 1u << LAYER_HDF5 | 1u << LAYER_NETCDF),
		     FIX("mpi", "MPI_File_write_at_all(fh, offset, buffer, count, type, &status);",
			 .sets = "transfer=collective"),
		     FIX("hdf5",
			 "hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);\n"
			 "H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);",
			 .sets = "transfer=collective"),
		     FIX("h5py", "with dataset.collective:\n    dataset[selection] = data",
			 .sets = "transfer=collective") } },
};

const struct rule_table rules_mpi = { rules, sizeof(rules) / sizeof(*rules) };
