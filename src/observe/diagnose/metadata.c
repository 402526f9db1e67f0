/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about calls that transfer no data: opens, metadata, synchronization, locks and mappings.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/integer.h"
#include "base/unit.h"
#include "observe/diagnose/case.h"

/* Opens of one file by one member, from which on they are repeated without need. */
#define OPENS_PER_MEMBER 20
/* The fix forces data to storage after so many steps. */
#define SYNCS_PER_STEP 100

static uint64_t bytes_of(const struct case_file *file)
{
	const struct survey *s = file->top ? &file->top->total.survey : NULL;

	return s ? s->bytes[READING] + s->bytes[WRITING] : 0;
}

static int64_t transfer_ns_of(const struct case_file *file)
{
	const struct survey *s = file->top ? &file->top->total.survey : NULL;

	return s ? s->transfer_ns[READING] + s->transfer_ns[WRITING] : 0;
}

/* Files in memory need no server and no device. */
static bool is_in_memory(const struct diagnosis *d, const struct case_file *file)
{
	return !strncmp(profile_file(d->profile, file->file), "/dev/shm/", 9);
}

/* All calls on files of the user that are not in memory. */
static uint64_t count_all_calls(const struct diagnosis *d)
{
	uint64_t all = 0;
	int64_t time = 0;

	for (size_t i = 0; i < d->count; i++) {
		if (is_in_memory(d, &d->files[i]))
			continue;
		for (int class = 0; class < CLASS_COUNT; class ++)
			all += case_calls(&d->files[i], (enum call_class) class, &time);
	}
	return all;
}

static bool test_small_files(const struct diagnosis *d, struct match *m, struct finding *f)
{
	uint64_t opened = 0;

	m->saved_ns = 0;
	for (size_t i = 0; i < d->count; i++) {
		const struct case_file *file = &d->files[i];
		int64_t time = 0, all;

		if (!case_calls(file, CLASS_OPEN, &time) || !file->top)
			continue;
		opened++;
		if (bytes_of(file) >= LIMIT(d, SMALL_BYTES))
			continue;
		case_calls(file, CLASS_CLOSE, &time);
		m->calls++;
		m->bytes += bytes_of(file);
		all = time + transfer_ns_of(file);
		m->time_ns += (double)all;
		m->saved_ns += (double)time;
		finding_add_file(f, file->file, (double)all);
	}
	m->of_calls = opened;
	m->saved_ns = m->calls ? m->saved_ns * (1 - 1 / (double)m->calls) : NAN;
	return m->calls >= LIMIT(d, SMALL_FILES) && case_is_most(d, m->calls, opened);
}

static void describe_small_files(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char bytes[UNIT_TEXT];

	(void)d;
	buf_printf(out,
		   "%" PRIu64 " of %" PRIu64
		   " files hold less data than a large request, %s on average",
		   m->calls, m->of_calls,
		   unit_bytes(bytes, m->calls ? (double)m->bytes / (double)m->calls : 0));
}

/* Ranks or processes that opened the file. */
static uint64_t opening_members(const struct case_file *file)
{
	uint64_t members = 1;

	for (unsigned layer = LAYER_POSIX; layer <= LAYER_STDIO; layer++) {
		const struct file_total *t = file->layers[layer];

		if (t && t->total.calls[CLASS_OPEN] && t->sharers > members)
			members = t->sharers;
	}
	return members;
}

static bool test_churn(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	int64_t time = 0;
	uint64_t opens = case_calls(file, CLASS_OPEN, &time), members = opening_members(file);

	if (opens < LIMIT(d, MIN_ACCESSES) || opens < OPENS_PER_MEMBER * members)
		return false;
	case_calls(file, CLASS_CLOSE, &time);
	m->calls = m->of_calls = opens;
	m->time_ns = (double)time;
	m->saved_ns = (double)time * (1 - (double)members / (double)opens);
	m->value = (double)members;
	return true;
}

static void describe_churn(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	(void)d;
	buf_printf(out, "%" PRIu64 " opens of the same file%s", m->calls, m->files > 1 ? "s" : "");
}

/* Calls of some classes on all files, if they are most of the program's calls. */
static bool test_classes(const struct diagnosis *d, struct match *m, struct finding *f,
			 const enum call_class *classes, size_t count)
{
	for (size_t i = 0; i < d->count; i++) {
		int64_t time = 0;
		uint64_t calls = 0;

		if (is_in_memory(d, &d->files[i]))
			continue;
		for (size_t k = 0; k < count; k++)
			calls += case_calls(&d->files[i], classes[k], &time);
		if (!calls)
			continue;
		m->calls += calls;
		m->time_ns += (double)time;
		m->value++;
		finding_add_file(f, d->files[i].file, (double)calls);
	}
	m->of_calls = count_all_calls(d);
	return m->calls >= LIMIT(d, MIN_CALLS) && case_is_most(d, m->calls, m->of_calls);
}

static bool test_stats(const struct diagnosis *d, struct match *m, struct finding *f)
{
	static const enum call_class classes[] = { CLASS_STAT };

	if (!test_classes(d, m, f, classes, 1))
		return false;
	m->saved_ns = m->time_ns * (1 - m->value / (double)m->calls);
	return true;
}

static bool test_metadata(const struct diagnosis *d, struct match *m, struct finding *f)
{
	/* Without CLASS_DIR: readdir() returns one name at a time, but asks for many at once. */
	static const enum call_class classes[] = { CLASS_META, CLASS_RESIZE };

	return test_classes(d, m, f, classes, sizeof(classes) / sizeof(*classes));
}

static void describe_classes(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	(void)d;
	buf_printf(out, "%" PRIu64 " of %" PRIu64 " calls, on %.0f path%s", m->calls, m->of_calls,
		   m->value, m->value == 1 ? "" : "s");
}

static bool test_syncs(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	int64_t time = 0;
	uint64_t syncs = case_syncs(file, &time);

	if (syncs < LIMIT(d, SYNCS))
		return false;
	m->calls = syncs;
	m->of_calls = file->top ? file->top->total.survey.accesses[WRITING] : 0;
	m->bytes = file->top ? file->top->total.survey.bytes[WRITING] : 0;
	m->time_ns = (double)time;
	m->saved_ns = (double)time * (1 - ceil((double)syncs / SYNCS_PER_STEP) / (double)syncs);
	return true;
}

static void describe_syncs(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char bytes[UNIT_TEXT];

	(void)d;
	buf_printf(out, "%" PRIu64 " calls force data to storage, one for every %s that is written",
		   m->calls, unit_bytes(bytes, (double)m->bytes / (double)m->calls));
}

/* The shortest time that a rank or process waits for locks on the file; fcntl() controls. */
static double shortest_wait(const struct file_total *t)
{
	double least = INFINITY;

	for (size_t i = 0; t && i < t->members; i++) {
		const struct cell *cell = t->cells[i];
		double own = (double)(cell->time_ns[CLASS_LOCK] + cell->time_ns[CLASS_CONTROL]);

		if (cell->calls[CLASS_LOCK] + cell->calls[CLASS_CONTROL])
			least = own < least ? own : least;
	}
	return least;
}

/*
 * While one waits, another one works: the run becomes shorter by the time that each of them waits.
 */
static void set_lock_gain(const struct diagnosis *d, struct match *m, const struct finding *f)
{
	const struct case_file *file = f->file_count == 1 ? case_find(d, f->files[0]) : NULL;
	const struct file_total *t = file ? file->layers[LAYER_POSIX] : NULL;
	double wait = shortest_wait(t);

	if (!t || isinf(wait))
		m->unknown = "the waits of the ranks or processes are not known";
	else if (wait * 10 < m->time_ns / (double)t->members)
		m->unknown = "one of them hardly waits, and the run takes at least its time";
	else
		m->saved_ns = case_summed(d, wait);
}

static bool test_locks(const struct diagnosis *d, struct match *m, struct finding *f)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct case_file *file = &d->files[i];
		int64_t time = file->facts->lock_ns;
		uint64_t calls = case_calls(file, CLASS_LOCK, &time) + file->facts->locks;

		if (!calls)
			continue;
		m->calls += calls;
		m->time_ns += (double)time;
		finding_add_file(f, file->file, (double)time);
	}
	m->of_calls = m->calls;
	if (!m->calls || m->time_ns < (double)LIMIT(d, MIN_TIME) ||
	    !(case_share(d, m->time_ns) * 100 >= (double)LIMIT(d, TIME_PERCENT)))
		return false;
	set_lock_gain(d, m, f);
	return true;
}

static void describe_locks(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char time[UNIT_TEXT];

	(void)d;
	buf_printf(out, "%" PRIu64 " calls waited %s for locks", m->calls,
		   unit_ns(time, i64_of(m->time_ns)));
}

static bool test_mapped(const struct diagnosis *d, const struct case_file *file, struct match *m)
{
	if (file->facts->mapped_bytes < LIMIT(d, MIN_BYTES))
		return false;
	m->bytes = m->of_bytes = file->facts->mapped_bytes;
	return true;
}

static void describe_mapped(struct buf *out, const struct diagnosis *d, const struct match *m)
{
	char bytes[UNIT_TEXT];

	(void)d;
	buf_printf(out, "%s of files were mapped into memory", unit_bytes(bytes, (double)m->bytes));
}

static const struct rule rules[] = {
	{ .code = "small-files",
	  .title = "many small files",
	  .when = "at least findings.small_files files, and findings.share_percent of all opened "
		  "files, have less than findings.small_bytes transferred",
	  .explanation = "Creating, opening and closing a file costs much more than transferring a "
			 "few kilobytes, most of all on parallel file systems. One file, or one "
			 "file per node, with the same data needs a fraction of these calls.",
	  .hides = "stat-storm",
	  .gain = "the time of opening and closing all but one file",
	  .most = SEVERITY_CRITICAL,
	  .test_run = test_small_files,
	  .describe = describe_small_files,
	  .query = "--layer POSIX,STDIO",
	  .fixes = { FIX("c",
			 "/* append all records to one file; keep an index of offsets */\n"
			 "int fd = open(\"{directory}/all.dat\", O_WRONLY | O_CREAT | O_APPEND, "
			 "0666);"),
		     FIX("hdf5", "H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, "
				 "H5P_DEFAULT);  /* one dataset per record */"),
		     FIX("python",
			 "archive.writestr(name, data)  # archive = zipfile.ZipFile(\"all.zip\", "
			 "\"w\")") } },
	{ .code = "open-churn",
	  .title = "a file is opened again and again",
	  .when = "a file is opened at least findings.min_accesses times, and 20 times by each "
		  "rank or process",
	  .explanation =
		  "The program opens and closes the file for each access. Each open asks the "
		  "metadata server, and closing discards what the client and the library cached.",
	  .hides = "random-access strided-reads",
	  .gain = "the time of all but the first open and close of each rank or "
		  "process",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_churn,
	  .describe = describe_churn,
	  .fixes = { FIX("c",
			 "/* open {file} once, before the loop */\n"
			 "int fd = open(\"{file}\", O_RDWR);",
			 .layers = FIX_LIBC),
		     FIX("mpi",
			 "MPI_File_open(comm, \"{file}\", MPI_MODE_RDWR, info, &fh);  /* once, "
			 "before "
			 "the loop */",
			 .layers = 1u << LAYER_MPI),
		     FIX("hdf5",
			 "hid_t file = H5Fopen(\"{file}\", H5F_ACC_RDWR, fapl);  /* once, before "
			 "the "
			 "loop */",
			 .layers = 1u << LAYER_HDF5),
		     FIX("h5py",
			 "with h5py.File(\"{file}\", \"r+\") as f:  # outside the loop") } },
	{ .code = "stat-storm",
	  .title = "many status calls",
	  .when = "at least findings.min_calls calls, and findings.share_percent of all calls on "
		  "files of the user outside of /dev/shm, ask for the status of a file",
	  .explanation = "Most calls only ask whether files exist or how large they are. Each may "
			 "need an answer of the metadata server, which all jobs share.",
	  .gain = "the time of all but the first status call for each path",
	  .most = SEVERITY_CRITICAL,
	  .test_run = test_stats,
	  .describe = describe_classes,
	  .query = "--layer POSIX",
	  .fixes = { FIX("c",
			 "/* ask once and keep the answer; to wait for a file, use inotify */\n"
			 "int notes = inotify_init();\n"
			 "inotify_add_watch(notes, \"{directory}\", IN_CLOSE_WRITE);  /* then "
			 "read(notes, ...) */"),
		     FIX("python",
			 "entries = list(os.scandir(\"{directory}\"))  # one call for all "
			 "names") } },
	{ .code = "metadata-storm",
	  .title = "many metadata operations",
	  .when = "at least findings.min_calls calls, and findings.share_percent of all calls on "
		  "files of the user outside of /dev/shm, create, remove, rename or resize",
	  .explanation =
		  "Most calls change names or sizes instead of transferring data. A metadata "
		  "server executes them one after the other, for all jobs.",
	  .unknown = "the trace does not tell which of these operations are needed",
	  .most = SEVERITY_CRITICAL,
	  .test_run = test_metadata,
	  .describe = describe_classes,
	  .query = "--layer POSIX",
	  .fixes = { FIX("c", "/* keep temporary data in one file or in memory (_GNU_SOURCE) */\n"
			      "int fd = memfd_create(\"scratch\", 0);"),
		     FIX("shell", "export TMPDIR=/dev/shm  # temporary files on the node") } },
	{ .code = "sync-storm",
	  .title = "data is forced to storage very often",
	  .when = "at least findings.syncs calls of fsync, H5Fflush or similar functions on a "
		  "file; "
		  "fflush is exempt, because it forces nothing to storage",
	  .explanation = "Each of these calls waits until all data of the file is on storage. Once "
			 "per checkpoint is enough to survive a crash.",
	  .gain = "the time of all calls but every hundredth",
	  .most = SEVERITY_CRITICAL,
	  .test_file = test_syncs,
	  .describe = describe_syncs,
	  .fixes = { FIX("c", "if (step % 100 == 0)\n    fsync(fd);  /* not after each write */"),
		     FIX("hdf5", "if (step % 100 == 0)\n    H5Fflush(file, H5F_SCOPE_LOCAL);"),
		     FIX("h5py", "if step % 100 == 0:\n    f.flush()") } },
	{ .code = "lock-time",
	  .title = "processes wait for file locks",
	  .when = "locks take at least findings.min_time, and findings.time_percent of the run "
		  "time",
	  .explanation = "Processes wait until others release a lock on the file. Locks turn "
			 "parallel work into a sequence.",
	  .gain = "the time that each rank or process waits for locks",
	  .most = SEVERITY_CRITICAL,
	  .test_run = test_locks,
	  .describe = describe_locks,
	  .query = "--layer POSIX --min-duration 1ms",
	  .fixes = { FIX("c", "/* lock only the bytes that are changed, or give each rank its own "
			      "file */\n"
			      "struct flock l = { .l_type = F_WRLCK, .l_start = offset, .l_len = "
			      "bytes };\n"
			      "fcntl(fd, F_SETLKW, &l);"),
		     FIX("shell",
			 "export HDF5_USE_FILE_LOCKING=FALSE  # if only one process writes") } },
	{ .code = "mapped-io",
	  .title = "memory-mapped I/O is not visible",
	  .when = "at least findings.min_bytes of a file of the user are mapped",
	  .explanation =
		  "The program accesses files through memory mappings, whose page faults are no "
		  "calls. Their time is missing in this report: it looks like computation.",
	  .unknown = "the time of page faults is not recorded",
	  .most = SEVERITY_INFO,
	  .test_file = test_mapped,
	  .describe = describe_mapped,
	  .query = "--layer POSIX",
	  .fixes = { FIX("python", "data = numpy.load(\"{file}\")  # without mmap_mode"),
		     FIX("inspect",
			 "perf trace -F all --no-syscalls -- {command}  # shows page faults") } },
};

const struct rule_table rules_metadata = { rules, sizeof(rules) / sizeof(*rules) };
