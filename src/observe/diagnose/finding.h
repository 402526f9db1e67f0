/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A finding: one reason why the I/O of a run was slow, with its evidence, the part of the run time
 * that it accounts for, and fixes that can be copied. diagnose() compares a profile with the rules
 * (observe/diagnose/rule.h), one finding per rule at most. Text, page and JSON show the same
 * fields.
 *
 * Texts contain file names and commands as they are, so they must be escaped where they are shown.
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_FINDING_H
#define SLUICE_OBSERVE_DIAGNOSE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/tally/recent.h"
#include "trace/activity.h"

struct config;
struct profile;
struct rule;

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL, SEVERITIES };
extern const char *const severity_names[SEVERITIES]; /* "info", "warning", "critical" */

/* Run time before the fix / run time after it. `gain` is NAN if it is unknown. */
struct gain {
	double low, gain, high;
	char *source; /* predicted: how (cost.h); measured: where; NULL if the gain is unknown */
};

struct fix {
	/*
	 * "sluice", "shell", "c", "mpi", "hdf5", "netcdf", "pnetcdf", "h5py", "netcdf4", "xarray",
	 * "python"; or "inspect", a command that shows more where no change is known to help
	 */
	const char *kind;
	char *text; /* a command, or lines of code */
};

/* Is a fix of this kind a command of the shell? Others are code. */
bool fix_is_command(const char *kind);

enum { FINDING_FILES = 8, FINDING_RANKS = 8, FINDING_SAMPLES = 3 };

struct finding {
	const struct rule *rule; /* code, title, explanation, parameter */
	enum severity severity;
	bool possible; /* the evidence fits the cause, but does not prove it */
	double share;  /* of the run time, by summary_share(), 0 to 1; NAN: unknown */
	struct gain predicted, measured;
	const char *unpredicted;       /* why there is no prediction; NULL: there is one */
	char *evidence;		       /* one sentence with the numbers */
	char *query;		       /* a command that prints the calls; NULL: there are none */
	file_id files[FINDING_FILES];  /* those with the most time, or with the most calls */
	double weights[FINDING_FILES]; /* of these files: that time or number */
	size_t file_count;	       /* all of them; may exceed FINDING_FILES */
	int32_t ranks[FINDING_RANKS];  /* ranks, or processes of a serial run, that are concerned */
	size_t rank_count;	       /* at most FINDING_RANKS */
	struct call_ref samples[FINDING_SAMPLES]; /* slow calls */
	size_t sample_count;
	struct fix *fixes;
	size_t fix_count;
};

/* An earlier run of the same command, for the comparison with its history. */
struct past_run {
	int64_t started_ns, duration_ns;
};

/* A gain that was measured for this program, from the knowledge base. */
struct known_gain {
	const char *parameters; /* JSON of params/set.h */
	double gain, low, high;
	const char *from; /* "tuned on 2026-11-16" */
};

struct diagnose_options {
	const struct config *config; /* thresholds: the settings findings.* */
	const char *run; /* the run as a user would name it in a command; NULL: omitted */
	const struct past_run *past; /* complete earlier runs, any order */
	size_t past_count;
	const struct known_gain *known;
	size_t known_count;
	bool is_local; /* the run was on this machine: requests may be measured here, see cost.h */
};

/*
 * Returns the findings of the profile, sorted by severity, then share. Release them with
 * findings_release(). The profile must outlive them. options->config must be set.
 */
struct finding *diagnose(const struct profile *profile, const struct diagnose_options *options,
			 size_t *count);
void findings_release(struct finding *findings, size_t count);

/* "possible: small requests" or "small requests". The caller frees it. */
char *finding_title(const struct finding *finding);

#endif
