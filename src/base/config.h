/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The settings: what can be set, what is set, and who set it.
 *
 * A later source wins: built-in default, /etc/sluice.conf ($SLUICE_ETC names another file),
 * ${XDG_CONFIG_HOME:-~/.config}/sluice/config, the file that $SLUICE_CONFIG names, the environment
 * (SLUICE_<SECTION>_<KEY>), the command line. Files are INI.
 *
 * Reading never fails as a whole: what is wrong is left out, the value before it stays, and a
 * problem is kept that names the place and what to mend. A caller that must not go on asks for
 * problem_count.
 */
#ifndef SLUICE_BASE_CONFIG_H
#define SLUICE_BASE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

struct err;

/*
 * One row per setting: NAME, section, key, kind (OPTION_), value or words, default, help.
 * SLUICE_NAME is its environment form and SETTING_NAME its number. A TEXT value whose name is PATH
 * may begin with ~ and hold ${VARIABLE} or ${VARIABLE:-text}; it is expanded when it is read.
 */
#define SETTING_LIST(X)                                                                            \
	X(CAPTURE_MODE, "capture", "mode", CHOICE, "trace|counters|off|flight", "trace",           \
	  "record every call, count calls per file, nothing, or what came before an anomaly")      \
	X(CAPTURE_SKIP, "capture", "skip", TEXT, "NAMES", "",                                      \
	  "names of programs to leave alone, separated by blanks or commas")                       \
	X(CAPTURE_CLOCK, "capture", "clock", CHOICE, "auto|counter|monotonic", "auto",             \
	  "source of time stamps: cycle counter where it is steady, or clock_gettime")             \
	X(CAPTURE_MESSAGES, "capture", "messages", CHOICE, "off|on", "off",                        \
	  "record what MPI sends inside calls on files")                                           \
	X(SPOOL_DIR, "spool", "dir", TEXT, "PATH", "auto",                                         \
	  "where processes hand over records; auto takes memory if there is room, else disk")      \
	X(SPOOL_LIMIT, "spool", "limit", SIZE, "SIZE", "1G",                                       \
	  "most space that records may take before they are collected")                            \
	X(TRACE_DIR, "trace", "dir", TEXT, "PATH", "${XDG_DATA_HOME:-~/.local/share}/sluice/runs", \
	  "where traces of runs are kept")                                                         \
	X(STORE_PATH, "store", "path", TEXT, "PATH",                                               \
	  "${XDG_DATA_HOME:-~/.local/share}/sluice/store.db", "what is known from earlier runs")   \
	X(PLUGINS_LOAD, "plugins", "load", TEXT, "NAMES",                                          \
	  "catalogue histogram history read_ahead",                                                \
	  "plug-ins for all layers: names, or paths of libraries")                                 \
	X(PLUGINS_BUDGET, "plugins", "budget", TIME, "TIME", "2ms",                                \
	  "an in-line plug-in that takes longer in one call is switched off")                      \
	X(PLUGINS_QUEUE, "plugins", "queue", SIZE, "SIZE", "32M",                                  \
	  "most space for what plug-ins have not seen yet; beyond it is left out and counted")     \
	X(STATS_PERIOD, "stats", "period", TIME, "TIME", "100ms",                                  \
	  "how often the node is looked at; 0 for never")                                          \
	X(STATS_PROVIDERS, "stats", "providers", TEXT, "NAMES",                                    \
	  "cpu memory network io lustre utilisation", "what is looked at")                         \
	X(STATS_NETWORK, "stats", "network", SIZE, "SIZE", "0",                                    \
	  "bytes per second that an interface can do which does not tell; 0 to go by what is "     \
	  "seen")                                                                                  \
	X(REASON_CYCLE, "reason", "cycle", TIME, "TIME", "1s", "how often health is judged")       \
	X(REASON_CALLS, "reason", "calls", COUNT, "N", "20",                                       \
	  "calls in a cycle that it takes to judge")                                               \
	X(REASON_SLOW, "reason", "slow", COUNT, "PERCENT", "5",                                    \
	  "an anomaly has more very slow calls than this")                                         \
	X(REASON_LOAD, "reason", "load", COUNT, "PERCENT", "90",                                   \
	  "slow calls on a node that is busier than this are no anomaly")                          \
	X(FLIGHT_RING, "flight", "ring", COUNT, "N", "100000",                                     \
	  "calls that the flight recorder keeps")                                                  \
	X(OVERHEAD_BUDGET, "overhead", "budget", TEXT, "PERCENT", "1%",                            \
	  "what recording may cost of the run time before less is recorded; 0 for no limit")       \
	X(OVERHEAD_GRACE, "overhead", "grace", TIME, "TIME", "1s",                                 \
	  "cost that is never held against the budget: short runs are recorded in full")           \
	X(PARAMS_FILE, "params", "file", TEXT, "PATH", "",                                         \
	  "parameters that every run is given; empty for none")                                    \
	X(PARAMS_ALLOW, "params", "allow", CHOICE, "safe|layout|semantics", "layout",              \
	  "what parameters may change: time alone, how files are laid out, what readers see")      \
	X(PARAMS_FORBID, "params", "forbid", TEXT, "NAMES", "",                                    \
	  "parameters that are never applied; those of the site's file count in any case")         \
	X(PARAMS_AUTHORITY, "params", "authority", CHOICE, "auto|parameters|application", "auto",  \
	  "who wins where the program sets the same; auto: a file does, what was learnt does not") \
	X(TUNE_APPLY, "tune", "apply", CHOICE, "off|suggest|apply", "suggest",                     \
	  "what to do with parameters that tuning has found for a program")                        \
	X(TUNE_PLATFORM, "tune", "platform", TEXT, "NAME", "auto",                                 \
	  "name that this machine is known by; auto for its kind and number of processors")        \
	X(MODEL_PATH, "model", "path", TEXT, "PATH",                                               \
	  "${XDG_DATA_HOME:-~/.local/share}/sluice/hybrid.model",                                  \
	  "what collective accesses cost on this machine, learnt from benchmarks")                 \
	X(PROBE_SITE, "probe", "site", TEXT, "NAME", "",                                           \
	  "site that is probed, or a file that describes it; empty for none")                      \
	X(PROBE_SYSTEM, "probe", "system", TEXT, "NAME", "auto",                                   \
	  "what rows of probes are kept under; auto for the cluster's name or the host's")         \
	X(FORECAST_MODEL, "forecast", "model", TEXT, "PATH",                                       \
	  "${XDG_DATA_HOME:-~/.local/share}/sluice/forecast.model",                                \
	  "which storage targets will be busy when, learnt from probes and running jobs")          \
	X(PLACE_RULE, "place", "rule", CHOICE, "off|equal|classes|expected|hedged", "off",         \
	  "how a forecast spreads the new files of a run over the site's targets; off: it does "   \
	  "not")                                                                                   \
	X(RUN_SUMMARY, "run", "summary", CHOICE, "auto|yes|no", "auto",                            \
	  "print a summary after a run; auto does if standard error is a terminal")

#define SETTING_ENUM(name, ...) SETTING_##name,
enum setting_id { SETTING_LIST(SETTING_ENUM) SETTING_COUNT };
#undef SETTING_ENUM

/* The words of CHOICE settings, in the order of their rows. */
enum config_mode { CONFIG_MODE_TRACE, CONFIG_MODE_COUNTERS, CONFIG_MODE_OFF, CONFIG_MODE_FLIGHT };
enum config_clock { CONFIG_CLOCK_AUTO, CONFIG_CLOCK_COUNTER, CONFIG_CLOCK_MONOTONIC };
enum config_messages { CONFIG_MESSAGES_OFF, CONFIG_MESSAGES_ON };
enum config_allow { CONFIG_ALLOW_SAFE, CONFIG_ALLOW_LAYOUT, CONFIG_ALLOW_SEMANTICS };
enum config_authority {
	CONFIG_AUTHORITY_AUTO,
	CONFIG_AUTHORITY_PARAMETERS,
	CONFIG_AUTHORITY_APPLICATION
};
enum config_apply { CONFIG_APPLY_OFF, CONFIG_APPLY_SUGGEST, CONFIG_APPLY_APPLY };
/* Behind the first as enum placement_rule of predict/forecast/place/placement.h. */
enum config_place { CONFIG_PLACE_OFF, CONFIG_PLACE_EQUAL };
enum config_when { CONFIG_WHEN_AUTO, CONFIG_WHEN_YES, CONFIG_WHEN_NO };

struct setting {
	const char *section, *key;
	const char *environment;
	enum option_kind kind;
	const char *value, *fallback, *help;
};

extern const struct setting settings[SETTING_COUNT];

struct config_value {
	char *text;   /* as it was set; paths expanded */
	char *origin; /* "default", "/etc/sluice.conf:3", "SLUICE_CAPTURE_MODE", "--mode" */
	union {
		uint64_t number; /* SIZE, COUNT */
		int choice;	 /* CHOICE */
	};
};

/*
 * Sections of plug-ins are open: what [plugins.LAYER] and [plugin.NAME] may hold only the plug-ins
 * know. Their environment form does not exist; --set takes plugin.NAME.KEY=VALUE.
 */
struct config_extra {
	char *section, *key, *text, *origin;
};

struct config {
	struct config_value values[SETTING_COUNT];
	struct config_extra *extras; /* the last of a name counts */
	size_t extra_count, extra_cap;
	char **problems; /* one sentence each, naming file:line and what to mend */
	size_t problem_count;
	size_t problem_cap;
};

/* The site's file: $SLUICE_ETC, else /etc/sluice.conf. */
const char *config_site_file(void);

/* Reads every source but the command line. */
void config_load(struct config *config);

/* The built-in defaults only. */
void config_init(struct config *config);
void config_release(struct config *config);

/*
 * Reads one INI file over what is there. A file that does not exist is no problem unless `named`.
 */
void config_read_file(struct config *config, const char *path, bool named);

/*
 * The same from memory; name stands for the file in origins and messages. The text may hold any
 * bytes.
 */
void config_read_text(struct config *config, const char *name, const char *text, size_t n);

/*
 * Sets one value, as from the command line. The value stays as it was on failure. text NULL does
 * nothing.
 */
int config_set(struct config *config, enum setting_id id, const char *text, const char *origin,
	       struct err *err);

/* The same for "section.key=value". */
int config_assign(struct config *config, const char *assignment, const char *origin,
		  struct err *err);

/* A value of an open section; NULL where it is not set. */
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
