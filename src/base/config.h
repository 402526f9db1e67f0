/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The settings of Sluice, their values, and where each value comes from.
 *
 * Sources, from lowest to highest precedence: the built-in default, /etc/sluice.conf (or the file
 * that $SLUICE_ETC names), ${XDG_CONFIG_HOME:-~/.config}/sluice/config, the file that
 * $SLUICE_CONFIG names, the environment (SLUICE_<SECTION>_<KEY>), the command line. Files are in
 * INI format, and must belong to the user or to root (base/trusted.h).
 *
 * What /etc/sluice.conf says about params.allow and params.forbid is binding: no other source can
 * lift it, and the file that $SLUICE_ETC names can only restrict further.
 *
 * Reading never fails as a whole: an invalid assignment is ignored, the previous value stays, and a
 * message is added to `problems`. A caller that must not continue with such a configuration checks
 * problem_count.
 * Papers: SIOX-5, H5T-9.
 */
#ifndef SLUICE_BASE_CONFIG_H
#define SLUICE_BASE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

struct err;

/*
 * One row per setting: NAME, section, key, kind (OPTION_), name of the value or its words, default,
 * help. SLUICE_NAME is the environment variable and SETTING_NAME the index. A TEXT value that is
 * called PATH may begin with ~ and contain ${VARIABLE} or ${VARIABLE:-text}; it is expanded when it
 * is read. config.c lists the names that settings had in earlier versions; they still work.
 */
#define SETTING_LIST(X)                                                                            \
	X(CAPTURE_MODE, "capture", "mode", CHOICE, "trace|counters|off|flight", "trace",           \
	  "what to record: every call, counters per file, nothing, or the calls before an "        \
	  "anomaly")                                                                               \
	X(CAPTURE_SKIP, "capture", "skip", TEXT, "NAMES", "",                                      \
	  "programs not to record, separated by blanks or commas")                                 \
	X(CAPTURE_CLOCK, "capture", "clock", CHOICE, "auto|counter|monotonic", "auto",             \
	  "source of time stamps; auto: the cycle counter if it is invariant, else clock_gettime") \
	X(CAPTURE_MESSAGES, "capture", "messages", CHOICE, "off|on", "off",                        \
	  "record the messages that MPI sends inside file calls")                                  \
	X(SPOOL_DIR, "spool", "dir", TEXT, "PATH", "auto",                                         \
	  "directory of records that wait for the collector; auto: in memory if there is room")    \
	X(SPOOL_LIMIT, "spool", "limit", SIZE, "SIZE", "1G",                                       \
	  "maximum size of records that wait for the collector")                                   \
	X(TRACE_DIR, "trace", "dir", TEXT, "PATH", "${XDG_DATA_HOME:-~/.local/share}/sluice/runs", \
	  "directory of recorded runs")                                                            \
	X(STORE_PATH, "store", "path", TEXT, "PATH",                                               \
	  "${XDG_DATA_HOME:-~/.local/share}/sluice/store.db",                                      \
	  "database of results from earlier runs")                                                 \
	X(PLUGINS_LOAD, "plugins", "load", TEXT, "NAMES", "catalogue histogram",                   \
	  "plug-ins to load in all layers: names, or paths of libraries")                          \
	X(PLUGINS_ACT, "plugins", "act", TEXT, "NAMES", "",                                        \
	  "plug-ins to load in addition, which act on the program: history passes MPI hints, "     \
	  "model_hints changes hints of open MPI files, read_ahead prefetches; empty: programs "   \
	  "are only observed")                                                                     \
	X(PLUGINS_BUDGET, "plugins", "budget", TIME, "TIME", "2ms",                                \
	  "disable an in-line plug-in if one of its calls takes longer than this")                 \
	X(PLUGINS_QUEUE, "plugins", "queue", SIZE, "SIZE", "32M",                                  \
	  "maximum memory for records that wait for plug-ins; more are dropped and counted")       \
	X(STATS_PERIOD, "stats", "period", TIME, "TIME", "100ms",                                  \
	  "sampling interval of node statistics; 0: do not sample")                                \
	X(STATS_PROVIDERS, "stats", "providers", TEXT, "NAMES",                                    \
	  "cpu memory network io lustre utilization", "node statistics to sample")                 \
	X(STATS_LINK_SPEED, "stats", "link_speed", SIZE, "SIZE", "0",                              \
	  "bytes per second assumed for interfaces that report no speed; 0: the observed peak")    \
	X(HEALTH_INTERVAL, "health", "interval", TIME, "TIME", "1s", "time between health checks") \
	X(HEALTH_MIN_CALLS, "health", "min_calls", COUNT, "N", "20",                               \
	  "minimum number of calls for a health check to reach a verdict")                         \
	X(HEALTH_SLOW_PERCENT, "health", "slow_percent", COUNT, "PERCENT", "5",                    \
	  "report an anomaly if more than this share of the calls is very slow")                   \
	X(HEALTH_BUSY_PERCENT, "health", "busy_percent", COUNT, "PERCENT", "90",                   \
	  "report no anomaly for slow calls while the node is busier than this")                   \
	X(FLIGHT_CALLS, "flight", "calls", COUNT, "N", "100000",                                   \
	  "number of calls that the flight recorder keeps")                                        \
	X(OVERHEAD_BUDGET, "overhead", "budget", TEXT, "PERCENT", "1%",                            \
	  "maximum overhead as a share of the run time; beyond it, less is recorded; 0: no limit") \
	X(OVERHEAD_GRACE, "overhead", "grace", TIME, "TIME", "1s",                                 \
	  "overhead that is exempt from the budget, so that short runs are recorded in full")      \
	X(PARAMS_FILE, "params", "file", TEXT, "PATH", "",                                         \
	  "parameter file to apply to every run; empty: none")                                     \
	X(PARAMS_ALLOW, "params", "allow", CHOICE, "safe|layout|semantics", "layout",              \
	  "what parameters may change: run time only, file layout, or what readers see; the "      \
	  "site's file sets the limit")                                                            \
	X(PARAMS_FORBID, "params", "forbid", TEXT, "NAMES", "",                                    \
	  "parameters never to apply; those that the site's file forbids are always included")     \
	X(PARAMS_AUTHORITY, "params", "authority", CHOICE, "auto|parameters|application", "auto",  \
	  "which value wins if the program sets the parameter, too; auto: a file wins, learned "   \
	  "values do not")                                                                         \
	X(TUNE_APPLY, "tune", "apply", CHOICE, "off|suggest|apply", "suggest",                     \
	  "what to do with parameters that tuning has found for a program")                        \
	X(TUNE_PLATFORM, "tune", "platform", TEXT, "NAME", "auto",                                 \
	  "name of this machine in the knowledge base; auto: type and number of its processors")   \
	X(TUNE_COPY_LIMIT, "tune", "copy_limit", SIZE, "SIZE", "1G",                               \
	  "largest file that 'sluice tune' copies in order to restore it after each run; links "   \
	  "and clones have no limit")                                                              \
	X(MODEL_PATH, "model", "path", TEXT, "PATH",                                               \
	  "${XDG_DATA_HOME:-~/.local/share}/sluice/hybrid.model",                                  \
	  "fitted performance model of collective I/O on this machine")                            \
	X(PROBE_SITE, "probe", "site", TEXT, "NAME", "",                                           \
	  "site to probe: a name, or a file that describes the site; empty: none")                 \
	X(PROBE_SYSTEM, "probe", "system", TEXT, "NAME", "auto",                                   \
	  "name under which probe data is stored; auto: the name of the cluster or host")          \
	X(SITE_POLICY, "site", "policy", TEXT, "PATH", "/etc/sluice.policy",                       \
	  "file with the rules by which sluiced records processes of all users")                   \
	X(SITE_SPOOLS, "site", "spools", TEXT, "PATH", "/run/sluice/spools",                       \
	  "directory in which processes of all users keep records until sluiced reads them; on a " \
	  "file system in memory")                                                                 \
	X(FORECAST_MODEL, "forecast", "model", TEXT, "PATH",                                       \
	  "${XDG_DATA_HOME:-~/.local/share}/sluice/forecast.model",                                \
	  "trained model that forecasts which storage targets are busy")                           \
	X(PLACE_RULE, "place", "rule", CHOICE, "off|equal|classes|expected|hedged|adaptive",       \
	  "off",                                                                                   \
	  "how the new files of a run are distributed over storage targets: file by file "         \
	  "(adaptive), by shares of a forecast, or not at all (off)")                              \
	X(PLACE_SHARE, "place", "share", CHOICE, "on|off", "on",                                   \
	  "exchange sums of the backlogs of storage targets with other users of the node, "        \
	  "through "                                                                               \
	  "sluiced; off for sluiced: with nobody")                                                 \
	X(INSTRUMENT_FORECAST, "instrument", "forecast", CHOICE, "off|on", "on",                   \
	  "make a forecast at the start of each run if probe.site is set, for programs that ask "  \
	  "for it by sluice/instrument.h")                                                         \
	X(FINDINGS_SHOW, "findings", "show", COUNT, "N", "3",                                      \
	  "number of findings that a report shows in full")                                        \
	X(FINDINGS_MIN_CALLS, "findings", "min_calls", COUNT, "N", "500",                          \
	  "minimum number of small requests, status calls or metadata operations for a finding")   \
	X(FINDINGS_MIN_ACCESSES, "findings", "min_accesses", COUNT, "N", "50",                     \
	  "minimum number of accesses for a finding about their order, or of opens of a file")     \
	X(FINDINGS_MIN_BYTES, "findings", "min_bytes", SIZE, "SIZE", "1M",                         \
	  "minimum number of superfluous bytes, or of bytes that ranks share unevenly")            \
	X(FINDINGS_MIN_TIME, "findings", "min_time", TIME, "TIME", "1s",                           \
	  "minimum time in locks, of a straggler or of a regression")                              \
	X(FINDINGS_SHARE_PERCENT, "findings", "share_percent", COUNT, "PERCENT", "50",             \
	  "share of the accesses or bytes of a file that a finding must concern")                  \
	X(FINDINGS_TIME_PERCENT, "findings", "time_percent", COUNT, "PERCENT", "10",               \
	  "share of the run time for findings that are derived from times")                        \
	X(FINDINGS_SMALL_BYTES, "findings", "small_bytes", SIZE, "SIZE", "64K",                    \
	  "requests and files below this size are small")                                          \
	X(FINDINGS_SMALL_FILES, "findings", "small_files", COUNT, "N", "100",                      \
	  "number of small files for a finding")                                                   \
	X(FINDINGS_SYNCS, "findings", "syncs", COUNT, "N", "100",                                  \
	  "number of fsync calls and flushes of a file for a finding")                             \
	X(FINDINGS_COLLECTIVE_BYTES, "findings", "collective_bytes", SIZE, "SIZE", "1M",           \
	  "below this size, interleaved accesses of ranks should be collective")                   \
	X(FINDINGS_AGGREGATOR_BYTES, "findings", "aggregator_bytes", SIZE, "SIZE", "8M",           \
	  "bytes per aggregator from which on more aggregators are suggested")                     \
	X(FINDINGS_STRIPE_BYTES, "findings", "stripe_bytes", SIZE, "SIZE", "64M",                  \
	  "size from which on a shared file should have several stripes")                          \
	X(FINDINGS_STDIO_BYTES, "findings", "stdio_bytes", SIZE, "SIZE", "16M",                    \
	  "size from which on data is large for a stream, or for reads that miss the cache")       \
	X(FINDINGS_AMPLIFICATION_PERCENT, "findings", "amplification_percent", COUNT, "PERCENT",   \
	  "150", "bytes that libraries move, in percent of the requested bytes, for a finding")    \
	X(FINDINGS_IMBALANCE_PERCENT, "findings", "imbalance_percent", COUNT, "PERCENT", "150",    \
	  "bytes or time of one rank, in percent of the average, for a finding")                   \
	X(FINDINGS_HISTORY_RUNS, "findings", "history_runs", COUNT, "N", "5",                      \
	  "number of earlier runs that a run is compared with, at least")                          \
	X(FINDINGS_REGRESSION_PERCENT, "findings", "regression_percent", COUNT, "PERCENT", "150",  \
	  "run time, in percent of the median of earlier runs, for a finding")                     \
	X(SITE_DATABASE, "site", "database", TEXT, "DATABASE", "",                                 \
	  "database of the site: a connection string of PostgreSQL, or an SQLite file; empty: "    \
	  "none")                                                                                  \
	X(SITE_GROUP, "site", "group", TEXT, "NAME", "",                                           \
	  "group of the operating system whose members may read the runs of all users; empty: "    \
	  "none")                                                                                  \
	X(SITE_PROXY_USER, "site", "proxy_user", TEXT, "NAME", "",                                 \
	  "user of the operating system as whom the authenticating proxy of 'sluice serve "        \
	  "--site' runs, such as www-data; empty: none")                                           \
	X(SITE_USER_HEADER, "site", "user_header", TEXT, "NAME", "X-Remote-User",                  \
	  "header in which this proxy names the user of a request")                                \
	X(SITE_SAMPLE, "site", "sample", COUNT, "N", "0",                                          \
	  "store one of N recorded calls of each run in the site database; 1: all, 0: none")       \
	X(SITE_PATHS, "site", "paths", CHOICE, "plain|hash", "plain",                              \
	  "how paths are stored in the site database; hash: as keyed hashes with the extension")   \
	X(SITE_COMMANDS, "site", "commands", CHOICE, "keep|omit", "keep",                          \
	  "whether command lines are stored in the site database")                                 \
	X(SITE_KEY, "site", "key", TEXT, "PATH", "/etc/sluice.key",                                \
	  "file with the key of hashed paths, the same on all nodes")                              \
	X(SITE_LEARN, "site", "learn", TEXT, "CALLS", "read write sync open close",                \
	  "calls whose durations 'sluice site learn' learns: classes as 'sluice print --csv' "     \
	  "names them, or functions; empty: none")                                                 \
	X(SITE_KEEP_ACTIVITIES, "site", "keep_activities", TIME, "TIME", "30d",                    \
	  "age from which on calls move from the site database to the archive; 0: never")          \
	X(SITE_KEEP_RUNS, "site", "keep_runs", TIME, "TIME", "730d",                               \
	  "age from which on runs are removed from the site database and the archive; 0: never")   \
	X(SITE_KEEP_SIZE, "site", "keep_size", SIZE, "SIZE", "0",                                  \
	  "size of the site database from which on the oldest calls move to the archive; 0: no "   \
	  "limit")                                                                                 \
	X(SITE_ARCHIVE, "site", "archive", TEXT, "PATH", "/var/lib/sluice/archive",                \
	  "directory of the archive: calls that left the site database, as Parquet files")         \
	X(SITE_SOCKET, "site", "socket", TEXT, "PATH", "/run/sluice/socket",                       \
	  "socket of the daemon sluiced")                                                          \
	X(SITE_STATE, "site", "state", TEXT, "PATH", "/var/lib/sluice",                            \
	  "directory in which sluiced keeps traces and what waits for the database")               \
	X(SITE_NODE, "site", "node", TEXT, "NAME", "",                                             \
	  "name of the node in the site database; empty: the name of the host")                    \
	X(SITE_SHARED, "site", "shared", TEXT, "PATHS", "",                                        \
	  "mount points, separated by blanks, of file systems that nodes share, in addition to "   \
	  "those of a type that is known to be shared")                                            \
	X(SITE_TRACES, "site", "traces", SIZE, "SIZE", "16G",                                      \
	  "maximum size of the traces that sluiced keeps below site.state: the oldest are "        \
	  "removed; 0: no limit")                                                                  \
	X(SITE_KEEP_TRACES, "site", "keep_traces", TIME, "TIME", "30d",                            \
	  "age from which on sluiced removes its traces; 0: never")                                \
	X(SITE_USE, "site", "use", CHOICE, "auto|yes|no", "auto",                                  \
	  "pass a copy of the trace of 'sluice run' to sluiced, as the policy of the site says; "  \
	  "yes: warn if there is no daemon")                                                       \
	X(SITE_MEMORY, "site", "memory", SIZE, "SIZE", "256M",                                     \
	  "memory limit of sluiced: connections get a quarter; no new process is collected while " \
	  "more than three quarters are in use")                                                   \
	X(SITE_CLIENTS, "site", "clients", COUNT, "N", "8192",                                     \
	  "maximum number of connections to sluiced; fewer if the limit of open files is lower")   \
	X(SITE_USER_CLIENTS, "site", "user_clients", COUNT, "N", "1024",                           \
	  "maximum number of connections of one user to sluiced")                                  \
	X(SITE_THREADS, "site", "threads", COUNT, "N", "2",                                        \
	  "threads of sluiced that receive messages, 1 to 64")                                     \
	X(SITE_TIMEOUT, "site", "timeout", TIME, "TIME", "10s",                                    \
	  "time in which a client of sluiced must complete a message that it has begun")           \
	X(SITE_QUEUE, "site", "queue", SIZE, "SIZE", "1G",                                         \
	  "maximum size of what waits on disk for the database of the site")                       \
	X(SITE_KNOWLEDGE, "site", "knowledge", TIME, "TIME", "60s",                                \
	  "how often sluiced reads what the database has learned, to serve it to programs")        \
	X(SITE_METRICS, "site", "metrics", TEXT, "ADDRESS", "",                                    \
	  "where sluiced serves metrics to Prometheus: HOST:PORT or the path of a unix socket; "   \
	  "empty: nowhere")                                                                        \
	X(SITE_ALERT, "site", "alert", TEXT, "COMMAND", "",                                        \
	  "command that sluiced runs when an alert begins or ends; empty: none")                   \
	X(RUN_SUMMARY, "run", "summary", CHOICE, "auto|yes|no", "auto",                            \
	  "print a summary after a run; auto: if standard error is a terminal, else only the "     \
	  "path "                                                                                  \
	  "of the trace; no: neither")

#define SETTING_ENUM(name, ...) SETTING_##name,
enum setting_id { SETTING_LIST(SETTING_ENUM) SETTING_COUNT };
#undef SETTING_ENUM

/* The words of CHOICE settings, in the order of their rows above. */
enum config_mode { CONFIG_MODE_TRACE, CONFIG_MODE_COUNTERS, CONFIG_MODE_OFF, CONFIG_MODE_FLIGHT };
enum config_clock { CONFIG_CLOCK_AUTO, CONFIG_CLOCK_COUNTER, CONFIG_CLOCK_MONOTONIC };
enum config_messages { CONFIG_MESSAGES_OFF, CONFIG_MESSAGES_ON };
enum config_instrument_forecast { CONFIG_INSTRUMENT_FORECAST_OFF, CONFIG_INSTRUMENT_FORECAST_ON };
enum config_allow { CONFIG_ALLOW_SAFE, CONFIG_ALLOW_LAYOUT, CONFIG_ALLOW_SEMANTICS };
enum config_authority {
	CONFIG_AUTHORITY_AUTO,
	CONFIG_AUTHORITY_PARAMETERS,
	CONFIG_AUTHORITY_APPLICATION
};
enum config_use { CONFIG_USE_AUTO, CONFIG_USE_YES, CONFIG_USE_NO };
enum config_apply { CONFIG_APPLY_OFF, CONFIG_APPLY_SUGGEST, CONFIG_APPLY_APPLY };
enum config_place {
	CONFIG_PLACE_OFF,
	CONFIG_PLACE_EQUAL,
	CONFIG_PLACE_CLASSES,
	CONFIG_PLACE_EXPECTED,
	CONFIG_PLACE_HEDGED,
	CONFIG_PLACE_ADAPTIVE
};
enum config_share { CONFIG_SHARE_ON, CONFIG_SHARE_OFF };
enum config_paths { CONFIG_PATHS_PLAIN, CONFIG_PATHS_HASH };
enum config_commands { CONFIG_COMMANDS_KEEP, CONFIG_COMMANDS_OMIT };
enum config_when { CONFIG_WHEN_AUTO, CONFIG_WHEN_YES, CONFIG_WHEN_NO };

struct setting {
	const char *section, *key;
	const char *environment;
	enum option_kind kind;
	const char *value, *fallback, *help;
};

extern const struct setting settings[SETTING_COUNT];

struct config_value {
	char *text;   /* as it was set, with paths expanded */
	char *origin; /* "default", "/etc/sluice.conf:3", "SLUICE_CAPTURE_MODE", "--mode" */
	union {
		uint64_t number; /* SIZE, COUNT */
		int choice;	 /* CHOICE */
	};
};

/*
 * A value of an open section, [plugins.LAYER] or [plugin.NAME], whose keys only the plug-ins know.
 * There are no environment variables for them; --set accepts plugin.NAME.KEY=VALUE.
 */
struct config_extra {
	char *section, *key, *text, *origin;
};

struct config {
	struct config_value values[SETTING_COUNT];
	struct config_extra *extras; /* one per section and key */
	size_t extra_count, extra_cap;
	char *site_forbid; /* parameters that the site forbids; NULL: none */
	int site_allow;	   /* enum config_allow: the limit of the site */
	char **problems;   /* one sentence each, with file:line and what to do */
	size_t problem_count;
	size_t problem_cap;
};

/* Reads all sources except the command line. The caller releases the config. */
void config_load(struct config *config);

/* Sets the built-in defaults. */
void config_init(struct config *config);
void config_release(struct config *config);

/* Does the value come from the site's file? */
bool config_is_from_site(const struct config *config, enum setting_id id);

/* May the parameter not be applied? Considers the setting and the site. */
bool config_forbids(const struct config *config, const char *parameter);

/* What parameters may change (enum config_allow): the setting, within the limit of the site. */
int config_allowed(const struct config *config);

/*
 * Reads INI text from memory. Origins and messages call it `name`. The text may contain any bytes.
 */
void config_read_text(struct config *config, const char *name, const char *text, size_t n);

/*
 * Sets one value, as from the command line. On failure the old value stays. Does nothing if text is
 * NULL.
 */
int config_set(struct config *config, enum setting_id id, const char *text, const char *origin,
	       struct err *err);

/* Sets the value of "section.key=value". */
int config_assign(struct config *config, const char *assignment, const char *origin,
		  struct err *err);

/*
 * The setting "section.key", which may be a name of an earlier version. Returns its enum
 * setting_id, or -EINVAL.
 */
int config_find(const char *name, struct err *err);

/* A value of an open section, or NULL. */
const char *config_extra(const struct config *config, const char *section, const char *key);

static inline const char *config_text(const struct config *config, enum setting_id id)
{
	return config->values[id].text;
}

static inline uint64_t config_number(const struct config *config, enum setting_id id)
{
	return config->values[id].number;
}

static inline int config_choice(const struct config *config, enum setting_id id)
{
	return config->values[id].choice;
}

#endif
