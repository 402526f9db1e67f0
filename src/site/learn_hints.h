/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hint statistics from stored activities: lets the history plug-in (observe/plugins/history.h) see
 * the calls of a stored run, as if they were made now. For site/learn.h only.
 */
#ifndef SLUICE_SITE_LEARN_HINTS_H
#define SLUICE_SITE_LEARN_HINTS_H

struct config;
struct err;
struct file_places;
struct site_db;
struct trace;

/*
 * Adds the transfer rates of the MPI files of an open run, of which all calls are stored, to the
 * outcomes of its owner, by the file systems of the files. What was learned from this run before is
 * replaced.
 */
int learn_hints(struct site_db *site, const struct config *config, struct trace *trace,
		const struct file_places *places, const char *uuid, const char *owner,
		struct err *err);

#endif
