/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What has to be known of a site (WAN-22): its scheduler and queues, the bounds of its size classes
 * of jobs, its storage targets and its policy for placement. An INI file: share/sites/NAME.ini, or
 * one of the user's own. Everything has a default, so that an empty file is a site.
 */
#ifndef SLUICE_PREDICT_FORECAST_SITE_H
#define SLUICE_PREDICT_FORECAST_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define SITE_NAME 64
#define SITE_TEXT 256
#define SITE_CLASSES 5

/* A storage target as the file has it; targets.h takes `place` apart. */
struct site_target {
	char name[SITE_NAME];
	char place[SITE_TEXT]; /* "/mnt/a", "lustre:/scratch,ost=3", "ceph:/mnt/ceph,pool=fast" */
};

struct site {
	char name[SITE_NAME];
	char reader[SITE_NAME];	      /* of jobs: jobs_readers[], "auto" or "none" */
	char jobs_command[SITE_TEXT]; /* "": the reader's own */
	/* Queues that features 2 and 3 count: names, or patterns, with commas between. */
	char batch[SITE_TEXT], debug[SITE_TEXT];
	/* Least nodes of the classes from extra-large down to small; below the last: extra-small.
	 */
	double bounds[SITE_CLASSES - 1];
	struct site_target *targets;
	size_t target_count, target_cap;
	/* [placement]: what may be done to programs. */
	char allow[SITE_TEXT]; /* targets that files may be put on, patterns; "": all */
	char files[SITE_TEXT]; /* files that may be placed, patterns of parameters.h; "": all */
	double most_extra;     /* a target gets at most so many times its equal share */
	double least;	       /* and at least so many times */
};

/* The defaults: Titan's size classes, all targets allowed. */
void site_init(struct site *site);
void site_release(struct site *site);

/* By name or path; site is untouched on failure, err tells file and line. */
int site_load(struct site *site, const char *name, struct err *err);
/* The same from memory; any bytes. */
int site_parse(struct site *site, const char *name, const char *text, size_t bytes,
	       struct err *err);

/* Does a name fit one of the patterns ("" fits nothing)? */
bool site_fits(const char *patterns, const char *name);

/* 0: extra-large .. 4: extra-small. */
size_t site_class(const struct site *site, double nodes);

#endif
