/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The description of a site (WAN-22): its schedulers and queues, the size classes of its jobs, its
 * storage targets and its placement policy. It is an INI file, share/sites/NAME.ini or one of the
 * user. Every value has a default, so an empty file is a valid site.
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

/* A storage target as in the file; targets.h parses `place`. */
struct site_target {
	char name[SITE_NAME];
	char place[SITE_TEXT]; /* "/mnt/a", "lustre:/scratch,ost=3", "ceph:/mnt/ceph,pool=fast" */
};

/* A scheduler of another compute system that shares the storage. */
struct site_scheduler {
	char name[SITE_NAME];
	char reader[SITE_NAME];	 /* name of a job reader */
	char command[SITE_TEXT]; /* "": the default command of the reader */
};

struct site {
	char name[SITE_NAME];
	char reader[SITE_NAME];	      /* name of a job reader, "auto" or "none" */
	char jobs_command[SITE_TEXT]; /* "": the default command of the reader */
	struct site_scheduler
		*schedulers; /* asked in addition; with "auto", only these are asked */
	size_t scheduler_count, scheduler_cap;
	/* Queues that features 2 and 3 count: comma-separated names or patterns. */
	char batch[SITE_TEXT], debug[SITE_TEXT];
	/* Minimum nodes of the classes from extra-large to small; smaller jobs are extra-small. */
	double bounds[SITE_CLASSES - 1];
	struct site_target *targets;
	size_t target_count, target_cap;
	/* [placement] */
	char allow[SITE_TEXT]; /* patterns of targets that files may be placed on; "": all */
	char files[SITE_TEXT]; /* patterns of files that may be placed (parameters.h); "": all */
	double most_extra;     /* maximum share of a target, as a multiple of the equal share */
	double least;	       /* minimum share of a target, as a multiple of the equal share */
};

/* Sets the defaults: size classes of Titan, all targets allowed. */
void site_init(struct site *site);
void site_release(struct site *site);

/* Loads a site by name or path. The site is unchanged on failure; err gives file and line. */
int site_load(struct site *site, const char *name, struct err *err);
/* The same from memory. The text may contain any bytes. */
int site_parse(struct site *site, const char *name, const char *text, size_t bytes,
	       struct err *err);

/* True if a name matches one of the comma-separated patterns; "" matches nothing. */
bool site_name_matches(const char *patterns, const char *name);

/* The size class of a job: 0 is extra-large, 4 is extra-small. */
size_t site_class(const struct site *site, double nodes);

#endif
