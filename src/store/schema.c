/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables. Names of columns that are reserved words of PostgreSQL ("user") are quoted wherever
 * they are used.
 */
#include "store/schema.h"

#include <string.h>

/* A column that exists since its table does; one that may be NULL; the same, added later. */
#define COLUMN(name, type, help)                          \
	{                                                 \
		name, COLUMN_##type, false, 0, NULL, help \
	}
#define OPTIONAL(name, type, help)                       \
	{                                                \
		name, COLUMN_##type, true, 0, NULL, help \
	}
#define ADDED(since, name, type, fallback, help)                  \
	{                                                         \
		name, COLUMN_##type, false, since, fallback, help \
	}
#define ADDED_OPTIONAL(since, name, type, help)              \
	{                                                    \
		name, COLUMN_##type, true, since, NULL, help \
	}
#define COLUMNS(list) list, sizeof(list) / sizeof((list)[0])

static const struct schema_column attribute[] = {
	COLUMN("id", ID, NULL),
	COLUMN("domain", TEXT, "such as POSIX"),
	COLUMN("name", TEXT, NULL),
	COLUMN("type", TEXT, "unit of its values"),
};

static const struct schema_column attribute_note[] = {
	COLUMN("attribute", INT, "id in attribute"),
	COLUMN("key", TEXT, NULL),
	COLUMN("value", TEXT, NULL),
};

static const struct schema_column thing[] = {
	COLUMN("id", ID, NULL),
	COLUMN("kind", TEXT, "node, device, layer or call"),
	COLUMN("of", INT, "id of the thing that it belongs to; 0: none"),
	COLUMN("name", TEXT, NULL),
};

static const struct schema_column fact[] = {
	COLUMN("run", TEXT, "id of the run"),
	COLUMN("process", INT, "-1: of the whole run"),
	COLUMN("key", TEXT, NULL),
	COLUMN("value", TEXT, NULL),
};

static const struct schema_column duration[] = {
	COLUMN("host", TEXT, NULL),
	COLUMN("layer", TEXT, NULL),
	COLUMN("call", TEXT, NULL),
	COLUMN("size", INT, "class of the transferred bytes"),
	COLUMN("bin", INT, "class of the duration"),
	COLUMN("count", INT, "calls"),
};

static const struct schema_column outcome[] = {
	COLUMN("operation", TEXT, "read or write"),
	COLUMN("user", OWNER, NULL),
	ADDED(6, "program", TEXT, "''", NULL),
	COLUMN("extension", TEXT, "of the file"),
	ADDED(12, "filesystem", TEXT, "''", "mount point; empty: unknown"),
	COLUMN("size", INT, "class of the bytes"),
	COLUMN("hints", TEXT, "KEY=VALUE;..."),
	ADDED(6, "run", TEXT, "''", "id of the run"),
	COLUMN("count", INT, "accesses"),
	COLUMN("bytes", REAL, NULL),
	COLUMN("seconds", REAL, NULL),
	COLUMN("rate", REAL, "mean, in bytes per second"),
	COLUMN("spread", REAL, "sum of squared deviations from the mean"),
};

static const struct schema_column trial[] = {
	COLUMN("user", OWNER, NULL),
	COLUMN("extension", TEXT, "of the file"),
	COLUMN("opens", INT, NULL),
	COLUMN("explored", INT, "opens with hints that were tried out"),
};

static const struct schema_column study[] = {
	COLUMN("id", ID, NULL),
	COLUMN("command", TEXT, NULL),
	COLUMN("plan", TEXT, "JSON: what determines its course"),
	COLUMN("digest", TEXT, "of command and options"),
	COLUMN("state", TEXT, "running or done"),
	COLUMN("begun", INT, "time in ns since 1970"),
	COLUMN("changed", INT, "time in ns since 1970"),
	ADDED_OPTIONAL(8, "gain", REAL, "run time before / after"),
	ADDED_OPTIONAL(8, "gain_low", REAL, "lower end of its 95 % interval"),
	ADDED_OPTIONAL(8, "gain_high", REAL, "upper end of its 95 % interval"),
	ADDED(8, "conditions", TEXT, "''", "that limit the result"),
	ADDED(9, "owner", OWNER, "''", NULL),
};

static const struct schema_column study_run[] = {
	COLUMN("study", INT, "id in study"),
	COLUMN("number", INT, NULL),
	COLUMN("phase", TEXT, NULL),
	COLUMN("point", INT, "number in the search space"),
	COLUMN("parameters", TEXT, "JSON"),
	COLUMN("effective", TEXT, "KEY=VALUE;..."),
	COLUMN("state", TEXT, NULL),
	COLUMN("reason", TEXT, "why the run failed"),
	OPTIONAL("cost", REAL, "value of the objective"),
	COLUMN("run", REAL, "run time in s"),
	COLUMN("io", REAL, "time in I/O in s"),
	COLUMN("read", REAL, "bytes"),
	COLUMN("written", REAL, "bytes"),
	COLUMN("digest", TEXT, "of the data that the run wrote"),
	COLUMN("begun", INT, "time in ns since 1970"),
	ADDED(5, "compared", TEXT, "''", "how data was compared"),
	ADDED_OPTIONAL(8, "foreign_load", REAL, "share of the processors that others used"),
	ADDED_OPTIONAL(8, "frequency", REAL, "of the processors, in Hz"),
};

static const struct schema_column knowledge[] = {
	COLUMN("id", ID, NULL),
	COLUMN("program", TEXT, NULL),
	COLUMN("fingerprint", TEXT, "of its code"),
	COLUMN("arguments", TEXT, NULL),
	COLUMN("platform", TEXT, NULL),
	COLUMN("filesystem", TEXT, NULL),
	COLUMN("ranks", INT, NULL),
	COLUMN("size", INT, "class of the bytes"),
	COLUMN("parameters", TEXT, "JSON; empty: nothing was faster"),
	COLUMN("objective", TEXT, NULL),
	COLUMN("before", REAL, "cost without parameters"),
	COLUMN("after", REAL, "cost with them"),
	COLUMN("gain", REAL, "before / after"),
	COLUMN("gain_low", REAL, "lower end of its 95 % interval"),
	COLUMN("gain_high", REAL, "upper end of its 95 % interval"),
	COLUMN("found", INT, "time in ns since 1970"),
	COLUMN("study", TEXT, "the tuning that found it"),
	COLUMN("pinned", INT, "1: not replaced"),
	ADDED(5, "compared", TEXT, "''", "how data was compared"),
	ADDED(7, "demoted", INT, "0", "time in ns since 1970; 0: not"),
	ADDED(7, "reason", TEXT, "''", "why it was demoted"),
	ADDED(8, "conditions", TEXT, "''", "that limit the result"),
};

static const struct schema_column entry_run[] = {
	COLUMN("id", ID, NULL),
	COLUMN("entry", INT, "id in knowledge"),
	COLUMN("applied", INT, "1: with the parameters"),
	COLUMN("cost", REAL, NULL),
	COLUMN("bytes", REAL, NULL),
	COLUMN("time", INT, "ns since 1970"),
};

static const struct schema_column element[] = {
	COLUMN("id", ID, NULL),
	COLUMN("platform", TEXT, NULL),
	COLUMN("operation", TEXT, NULL),
	COLUMN("placement", TEXT, NULL),
	COLUMN("cache", TEXT, NULL),
	COLUMN("nodes", REAL, NULL),
	COLUMN("cores", REAL, NULL),
	COLUMN("senders", REAL, NULL),
	COLUMN("receivers", REAL, NULL),
	COLUMN("writers", REAL, NULL),
	COLUMN("bytes", REAL, NULL),
	COLUMN("round", INT, NULL),
	COLUMN("repetition", INT, NULL),
	COLUMN("seconds", REAL, NULL),
	COLUMN("time", INT, "ns since 1970"),
};

static const struct schema_column probe_system[] = {
	COLUMN("id", ID, NULL),
	COLUMN("name", TEXT, NULL),
};

static const struct schema_column probe_target[] = {
	COLUMN("id", ID, NULL),
	COLUMN("system", INT, "id in probe_system"),
	COLUMN("name", TEXT, NULL),
};

static const struct schema_column probe_round[] = {
	COLUMN("id", ID, NULL),
	COLUMN("system", INT, "id in probe_system"),
	COLUMN("time", REAL, "s since 1970"),
	COLUMN("bytes", INT, "size of a test write"),
};

static const struct schema_column probe[] = {
	COLUMN("round", INT, "id in probe_round"),
	COLUMN("target", INT, "id in probe_target"),
	COLUMN("seconds", REAL, NULL),
	COLUMN("outcome", INT, "how the write ended"),
};

static const struct schema_column probe_snapshot[] = {
	COLUMN("id", ID, NULL),
	COLUMN("system", INT, "id in probe_system"),
	COLUMN("time", REAL, "s since 1970"),
};

static const struct schema_column probe_job[] = {
	COLUMN("id", ID, NULL),
	COLUMN("system", INT, "id in probe_system"),
	COLUMN("job", TEXT, NULL),
	COLUMN("name", TEXT, NULL),
	COLUMN("owner", TEXT, "keyed hash of the user"),
	COLUMN("queue", TEXT, NULL),
};

static const struct schema_column probe_running[] = {
	COLUMN("snapshot", INT, "id in probe_snapshot"),
	COLUMN("number", INT, NULL),
	COLUMN("job", INT, "id in probe_job"),
	OPTIONAL("nodes", REAL, NULL),
	OPTIONAL("memory", REAL, "bytes"),
	OPTIONAL("virtual", REAL, "bytes"),
	OPTIONAL("used", REAL, "s"),
	OPTIONAL("allocated", REAL, "s"),
};

static const struct schema_column probe_node[] = {
	COLUMN("system", INT, "id in probe_system"),
	COLUMN("time", REAL, "s since 1970"),
	OPTIONAL("a", REAL, "see probe-data.md"),
	OPTIONAL("b", REAL, NULL),
	OPTIONAL("c", REAL, NULL),
	OPTIONAL("d", REAL, NULL),
	OPTIONAL("e", REAL, NULL),
	OPTIONAL("f", REAL, NULL),
};

static const struct schema_column source[] = {
	COLUMN("node", TEXT, "id of its queue"),
	COLUMN("sequence", INT, "of its last payload that was applied"),
	COLUMN("changed", INT, "time in ns since 1970"),
};

static const struct schema_column run[] = {
	COLUMN("id", ID, NULL),
	COLUMN("uuid", TEXT, "id of the run, 32 hexadecimal digits"),
	COLUMN("owner", OWNER, "user whose run it is"),
	COLUMN("job", TEXT, "id of the job; empty: none"),
	COLUMN("job_partition", TEXT, "of the job; empty: unknown"),
	COLUMN("program", TEXT, "base name of the program of the first process"),
	COLUMN("command", TEXT, "command line; empty: omitted"),
	COLUMN("directory", TEXT, "working directory"),
	COLUMN("host", TEXT, NULL),
	COLUMN("version", TEXT, "of the Sluice that recorded it"),
	COLUMN("started_ns", INT, "ns since 1970"),
	COLUMN("duration_ns", INT, NULL),
	COLUMN("exit_status", INT32, "-1: unknown"),
	COLUMN("complete", INT16, "0: recording did not finish"),
	COLUMN("processes", INT32, NULL),
	COLUMN("ranks", INT32, "0: not parallel"),
	COLUMN("activities", INT, "calls that were recorded"),
	COLUMN("kept", INT, "of them, how many the database received"),
	COLUMN("sample", INT, "one of so many was kept; 1: all, 0: none"),
	COLUMN("lost", INT, "calls that were not recorded"),
	COLUMN("bytes_read", INT, "by the program"),
	COLUMN("bytes_written", INT, "by the program"),
	OPTIONAL("io_share", REAL, "share of the run time in I/O, 0 to 1"),
	COLUMN("hidden", INT16, "1: paths are hashed"),
};

static const struct schema_column run_process[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("process", INT32, "number in the run"),
	COLUMN("parent", INT32, "process that forked it; -1: none"),
	COLUMN("first_thread", INT, NULL),
	COLUMN("pid", INT32, NULL),
	COLUMN("ppid", INT32, NULL),
	COLUMN("rank", INT32, "-1: none"),
	COLUMN("ranks", INT32, "size of MPI_COMM_WORLD"),
	COLUMN("attached_ns", INT, "since the start of the run"),
	COLUMN("host", TEXT, NULL),
	COLUMN("program", TEXT, "path of the executable"),
	COLUMN("command", TEXT, NULL),
	COLUMN("directory", TEXT, NULL),
};

static const struct schema_column run_file[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("file", INT32, "number in the run"),
	COLUMN("path", TEXT, "path, or another text that calls refer to"),
	ADDED_OPTIONAL(11, "filesystem", TEXT, "mount point; NULL: unknown, or no file"),
};

static const struct schema_column run_call[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("call", INT16, "number in the run"),
	COLUMN("name", TEXT, "of the function"),
	COLUMN("layer", TEXT, NULL),
	COLUMN("class", TEXT, "such as read, write, open"),
	COLUMN("failure", TEXT, "how it reports errors"),
	COLUMN("fields", TEXT, "names, separated by blanks"),
};

static const struct schema_column run_host[] = {
	COLUMN("run", INT, "id in run"), COLUMN("number", INT32, "in the order of the trace"),
	COLUMN("host", TEXT, NULL),	 COLUMN("method", TEXT, "how its clock was aligned"),
	COLUMN("offset_ns", INT, NULL),	 COLUMN("error_ns", INT, "-1: unknown"),
};

static const struct schema_column run_loss[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("process", INT32, NULL),
	COLUMN("records", INT, "calls that were not recorded"),
	COLUMN("threads", INT, "threads that were not recorded"),
};

static const struct schema_column run_counter[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("process", INT32, NULL),
	COLUMN("file", INT32, NULL),
	COLUMN("class_group", TEXT, NULL),
	COLUMN("layer", TEXT, NULL),
	COLUMN("calls", INT, "that were counted but not recorded"),
	COLUMN("errors", INT, NULL),
	COLUMN("bytes", INT, NULL),
	COLUMN("duration_ns", INT, NULL),
	COLUMN("place", INT32, "whether other calls enclose them"),
};

static const struct schema_column statistic[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("number", INT32, "in the run"),
	COLUMN("host", TEXT, NULL),
	COLUMN("name", TEXT, "such as cpu/user"),
	COLUMN("unit", TEXT, NULL),
	COLUMN("reduction", TEXT, "sum: increments, mean: levels"),
	COLUMN("scale", INT, "a sample is value / scale"),
};

static const struct schema_column sample[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("statistic", INT32, "number in statistic"),
	COLUMN("time_ns", INT, "since the start of the run"),
	COLUMN("period_ns", INT, "before that time"),
	COLUMN("value", INT, NULL),
};

static const struct schema_column note[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("number", INT32, "in the order of writing"),
	COLUMN("time_ns", INT, "since the start of the run; -1: the whole run"),
	COLUMN("process", INT32, "-1: the node"),
	COLUMN("host", TEXT, NULL),
	COLUMN("source", TEXT, "module"),
	COLUMN("kind", TEXT, "such as anomaly, applied, report"),
	COLUMN("name", TEXT, NULL),
	COLUMN("value", TEXT, NULL),
};

static const struct schema_column aggregate[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("layer", TEXT, NULL),
	COLUMN("file", INT32, "number in run_file; 0: files without a row of their own"),
	COLUMN("rank", INT32,
	       "rank, or process of a serial run; -1: those without a row of their own"),
	COLUMN("calls", INT, "that no other call of layer and file encloses"),
	COLUMN("errors", INT, NULL),
	COLUMN("opens", INT, NULL),
	COLUMN("reads", INT, NULL),
	COLUMN("writes", INT, NULL),
	COLUMN("bytes_read", INT, NULL),
	COLUMN("bytes_written", INT, NULL),
	COLUMN("read_ns", INT, NULL),
	COLUMN("write_ns", INT, NULL),
	COLUMN("time_ns", INT, "of all calls"),
	COLUMN("sequential", INT, "accesses where the previous one ended"),
	COLUMN("small", INT, "accesses of less than 64 KiB"),
	COLUMN("first_ns", INT, "start of the first call, since the start of the run"),
	COLUMN("last_ns", INT, "end of the last call"),
};

static const struct schema_column activity[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("time_ns", INT, "start, ns since 1970"),
	COLUMN("duration_ns", INT, NULL),
	COLUMN("id", INT, "unique in its process"),
	COLUMN("process", INT32, "number in run_process"),
	COLUMN("call", INT16, "number in run_call"),
	OPTIONAL("layer", TEXT, "if it is not that of the call"),
	OPTIONAL("file", INT32, "number in run_file"),
	OPTIONAL("size", INT, "requested bytes"),
	OPTIONAL("position", INT, "in the file"),
	COLUMN("result", INT, NULL),
	OPTIONAL("error", INT32, NULL),
	OPTIONAL("parent", INT, "id of the enclosing call"),
	OPTIONAL("link", INT, "call that made the handle"),
	OPTIONAL("link2", INT, "the same of the second handle"),
	OPTIONAL("handle", INT, "descriptor"),
	OPTIONAL("flags", INT, NULL),
	OPTIONAL("mode", INT, NULL),
	OPTIONAL("span", INT, "bytes with holes"),
	OPTIONAL("variable", INT, NULL),
	OPTIONAL("collective", INT, "the same on all ranks of a collective call"),
	OPTIONAL("file2", INT32, "number in run_file"),
	OPTIONAL("name", INT32, "number in run_file"),
	OPTIONAL("hints", INT32, "number in run_file"),
	OPTIONAL("present", INT16, "set of its fields, if the columns do not say it"),
};

static const struct schema_column finding[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("code", TEXT, "see findings.md"),
	COLUMN("title", TEXT, NULL),
	COLUMN("severity", TEXT, "info, warning or critical"),
	COLUMN("possible", INT16, "1: the evidence does not prove it"),
	OPTIONAL("share", REAL, "of the run time, 0 to 1"),
	OPTIONAL("gain", REAL, "predicted run time before / after"),
	COLUMN("files", INT, "number of files that it concerns"),
	OPTIONAL("file", INT32, "the first of them, number in run_file"),
	COLUMN("evidence", TEXT, "one sentence; empty if paths are hashed"),
};

static const struct schema_column anomaly[] = {
	COLUMN("id", ID, NULL),
	COLUMN("node", TEXT, "name of the node; empty: the whole site"),
	COLUMN("subject", TEXT, "who says so: node, or system: a verdict on several nodes"),
	COLUMN("owner", OWNER, "user whom it concerns; empty: administrators only"),
	COLUMN("job", TEXT, "empty: none"),
	COLUMN("target", TEXT, "file system, NODE:PATH if nodes do not share it; empty: unknown"),
	COLUMN("started_ns", INT, "ns since 1970"),
	OPTIONAL("ended_ns", INT, "NULL while it lasts"),
	COLUMN("cause", TEXT, "of a verdict: likely or possible, and node, target, job or load"),
	COLUMN("detail", TEXT, "one sentence"),
	COLUMN("value", REAL, "duration of very slow calls / that of the slowest usual ones"),
};

static const struct schema_column node_load[] = {
	COLUMN("node", TEXT, "name of the node"),
	COLUMN("owner", OWNER, "user who causes it; empty: all who are not listed"),
	COLUMN("job", TEXT, "empty: none"),
	COLUMN("target", TEXT, "file system, NODE:PATH if nodes do not share it; empty: unknown"),
	COLUMN("bytes_read", REAL, "per second"),
	COLUMN("bytes_written", REAL, "per second"),
	COLUMN("operations", REAL, "per second"),
	COLUMN("updated_ns", INT, "ns since 1970"),
};

static const struct schema_column expectation[] = {
	COLUMN("program", TEXT, "base name; *: all programs"),
	COLUMN("filesystem", TEXT, "mount point; empty: all file systems"),
	COLUMN("pattern", TEXT, "sequential, strided, random or other"),
	COLUMN("layer", TEXT, NULL),
	COLUMN("call", TEXT, "function"),
	COLUMN("size", INT, "class of the transferred bytes"),
	COLUMN("bin", INT, "class of the duration"),
	COLUMN("count", INT, "calls"),
};

static const struct schema_column learned[] = {
	COLUMN("learner", TEXT, NULL),
	COLUMN("run", INT, "id of the last run that it has read"),
};

static const struct schema_column agreement[] = {
	COLUMN("job", TEXT, "user and id of the job"),
	COLUMN("node", TEXT, "daemon that has counted the votes; empty: the verdict"),
	COLUMN("ranks", INT, "of the job"),
	COLUMN("votes", INT, "ranks that have voted"),
	COLUMN("digest", INT, "of all that decides on hints"),
	COLUMN("state", INT, "1: confirmed; of the verdict 1: granted, 2: refused"),
	COLUMN("changed_ns", INT, "ns since 1970"),
};

static const struct schema_column forecast[] = {
	COLUMN("system", TEXT, NULL),
	COLUMN("target", TEXT, NULL),
	COLUMN("bytes", INT, "size of a write"),
	COLUMN("time", REAL, "for which it is made, s since 1970"),
	COLUMN("made", REAL, "s since 1970"),
	OPTIONAL("busy", REAL, "probability"),
	OPTIONAL("expected", REAL, "duration of a write in s"),
};

static const struct schema_column archive[] = {
	COLUMN("run", INT, "id in run"),
	COLUMN("path", TEXT, "directory of the Parquet files"),
	COLUMN("activities", INT, NULL),
	COLUMN("bytes", INT, NULL),
	COLUMN("archived_ns", INT, "ns since 1970"),
};

static const struct schema_column forgotten[] = {
	COLUMN("uuid", TEXT, "of a run, or user:NAME"),
	COLUMN("before_ns", INT, "what was recorded earlier is refused; ns since 1970"),
};

const struct schema_table schema_tables[] = {
	{ "attribute", 1, "ontology of attributes", COLUMNS(attribute), NULL, "domain, name", NULL,
	  ACCESS_ALL, false, NULL },
	{ "attribute_note", 1, "what is known of attributes", COLUMNS(attribute_note),
	  "attribute, key", NULL, NULL, ACCESS_ALL, false, NULL },
	{ "thing", 1, "catalog of nodes, devices, layers and calls", COLUMNS(thing), NULL,
	  "kind, of, name", NULL, ACCESS_ALL, false, NULL },
	{ "fact", 1, "facts of runs of a user's store", COLUMNS(fact), "run, process, key", NULL,
	  NULL, ACCESS_ADMIN, false, NULL },
	{ "duration", 1, "histograms of call durations", COLUMNS(duration),
	  "host, layer, call, size, bin", NULL, NULL, ACCESS_ALL, false, NULL },
	{ "outcome", 1, "transfer rates by hints", COLUMNS(outcome),
	  "operation, user, program, extension, filesystem, size, hints, run", NULL, NULL,
	  ACCESS_OWNER, false, NULL },
	{ "trial", 1, "opens that tried hints", COLUMNS(trial), "user, extension", NULL, NULL,
	  ACCESS_OWNER, false, NULL },
	{ "study", 2, "tunings", COLUMNS(study), NULL, NULL, NULL, ACCESS_OWNER, false, NULL },
	{ "study_run", 2, "runs of tunings", COLUMNS(study_run), "study, number", NULL, NULL,
	  ACCESS_STUDY, false, NULL },
	{ "knowledge", 2, "parameters that were proved to be faster", COLUMNS(knowledge), NULL,
	  "program, fingerprint, arguments, platform, filesystem, ranks, size", NULL, ACCESS_ALL,
	  false, NULL },
	{ "element", 3, "benchmarks of elementary operations", COLUMNS(element), NULL,
	  "platform, operation, placement, cache, nodes, cores, senders, receivers, writers, "
	  "bytes, round, repetition",
	  NULL, ACCESS_ALL, false, NULL },
	{ "probe_system", 4, "systems that are probed", COLUMNS(probe_system), NULL, "name", NULL,
	  ACCESS_ALL, false, NULL },
	{ "probe_target", 4, "storage targets", COLUMNS(probe_target), NULL, "system, name", NULL,
	  ACCESS_ALL, false, NULL },
	{ "probe_round", 4, "rounds of test writes", COLUMNS(probe_round), NULL,
	  "system, time, bytes", NULL, ACCESS_ALL, false, NULL },
	{ "probe", 4, "test writes", COLUMNS(probe), "round, target", NULL, NULL, ACCESS_ALL, false,
	  NULL },
	{ "probe_snapshot", 4, "times at which the scheduler was asked", COLUMNS(probe_snapshot),
	  NULL, "system, time", NULL, ACCESS_ADMIN, false, NULL },
	{ "probe_job", 4, "jobs of the scheduler", COLUMNS(probe_job), NULL,
	  "system, job, name, owner, queue", NULL, ACCESS_ADMIN, false, NULL },
	{ "probe_running", 4, "jobs that ran at those times", COLUMNS(probe_running),
	  "snapshot, number", NULL, NULL, ACCESS_ADMIN, false, NULL },
	{ "probe_node", 4, "load of the probing node", COLUMNS(probe_node), "system, time", NULL,
	  NULL, ACCESS_ALL, false, NULL },
	{ "entry_run", 7, "runs that entries of the knowledge base are judged by",
	  COLUMNS(entry_run), NULL, NULL, "entry, applied, id", ACCESS_ALL, false, NULL },
	{ "source", 9, "nodes that send payloads, and how far they are", COLUMNS(source), "node",
	  NULL, NULL, ACCESS_ADMIN, false, NULL },
	{ "run", 9, "recorded runs", COLUMNS(run), NULL, "uuid", "owner, started_ns", ACCESS_OWNER,
	  true, NULL },
	{ "run_process", 9, "processes of runs", COLUMNS(run_process), "run, process", NULL, NULL,
	  ACCESS_RUN, true, NULL },
	{ "run_file", 9, "files of runs", COLUMNS(run_file), "run, file", NULL, NULL, ACCESS_RUN,
	  true, NULL },
	{ "run_call", 9, "functions of runs", COLUMNS(run_call), "run, call", NULL, NULL,
	  ACCESS_RUN, true, NULL },
	{ "run_host", 9, "clocks of the hosts of runs", COLUMNS(run_host), "run, number", NULL,
	  NULL, ACCESS_RUN, true, NULL },
	{ "run_loss", 9, "calls that were not recorded", COLUMNS(run_loss), "run, process", NULL,
	  NULL, ACCESS_RUN, true, NULL },
	{ "run_counter", 9, "calls that were counted but not recorded", COLUMNS(run_counter), NULL,
	  NULL, "run", ACCESS_RUN, true, NULL },
	{ "statistic", 9, "quantities that were sampled", COLUMNS(statistic), "run, number", NULL,
	  NULL, ACCESS_RUN, true, NULL },
	{ "sample", 9, "their values", COLUMNS(sample), NULL, NULL, "run, statistic, time_ns",
	  ACCESS_RUN, true, NULL },
	{ "note", 9, "anomalies, applied parameters, results of plug-ins", COLUMNS(note),
	  "run, number", NULL, NULL, ACCESS_RUN, true, NULL },
	{ "aggregate", 9, "sums per run, layer, file and rank", COLUMNS(aggregate),
	  "run, layer, file, rank", NULL, NULL, ACCESS_RUN, true, NULL },
	{ "activity", 9, "recorded calls, all or a sample", COLUMNS(activity), NULL, NULL,
	  "run, time_ns", ACCESS_RUN, true, "time_ns" },
	{ "finding", 9, "reasons why the I/O of a run was slow", COLUMNS(finding), "run, code",
	  NULL, NULL, ACCESS_RUN, true, NULL },
	{ "anomaly", 9, "anomalies that last or lasted", COLUMNS(anomaly), NULL, NULL, "started_ns",
	  ACCESS_CONCERNED, true, NULL },
	{ "node_load", 9, "load that users cause on nodes now", COLUMNS(node_load),
	  "node, owner, job, target", NULL, NULL, ACCESS_CONCERNED, true, NULL },
	{ "expectation", 9, "learned durations of calls", COLUMNS(expectation),
	  "program, filesystem, pattern, layer, call, size, bin", NULL, NULL, ACCESS_ALL, false,
	  NULL },
	{ "learned", 9, "how far learners are", COLUMNS(learned), "learner", NULL, NULL,
	  ACCESS_ADMIN, false, NULL },
	{ "forecast", 9, "forecasts of storage targets", COLUMNS(forecast),
	  "system, target, bytes, time", NULL, NULL, ACCESS_ALL, false, NULL },
	{ "archive", 9, "activities that moved to Parquet files", COLUMNS(archive), "run", NULL,
	  NULL, ACCESS_RUN, false, NULL },
	{ "agreement", 10, "votes of nodes on hints of a job", COLUMNS(agreement), "job, node",
	  NULL, "changed_ns", ACCESS_ADMIN, false, NULL },
	{ "forgotten", 9, "runs and users whose data was removed", COLUMNS(forgotten),
	  "uuid, before_ns", NULL, NULL, ACCESS_ADMIN, false, NULL },
};

const size_t schema_table_count = sizeof(schema_tables) / sizeof(schema_tables[0]);

const struct schema_table *schema_find(const char *name)
{
	for (size_t i = 0; i < schema_table_count; i++)
		if (!strcmp(schema_tables[i].name, name))
			return &schema_tables[i];
	return NULL;
}

int schema_column(const struct schema_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->columns[i].name, name))
			return (int)i;
	return -1;
}
