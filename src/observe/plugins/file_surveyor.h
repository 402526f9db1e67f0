/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The surveys of all files, per layer and process, of activities that arrive in the order of their
 * start. observe/tally/surveyor.h defines what is counted. The asynchronous plug-in `file_surveyor`
 * feeds it while the program runs.
 * Papers: SIOX-41.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_FILE_SURVEYOR_H
#define SLUICE_OBSERVE_PLUGINS_FILE_SURVEYOR_H

#include <stddef.h>

#include <sluice/plugin.h>

#include "base/map.h"
#include "observe/tally/nest.h"
#include "observe/tally/survey_rows.h"
#include "observe/tally/surveyor.h"

struct file_surveyor {
	const struct sluice_host *host;
	struct map surveys; /* struct survey by layer, file and process */
	struct surveyor core;
	struct nest nest;
};

/*
 * The surveyor asks the host for calls, files and processes. The host must outlive it. The surveyor
 * must not be moved.
 */
void file_surveyor_init(struct file_surveyor *surveyor, const struct sluice_host *host);
void file_surveyor_release(struct file_surveyor *surveyor);

void file_surveyor_add(struct file_surveyor *surveyor, const struct activity *activity);

/*
 * Combines the surveys; see survey_rows_new(). If ranks is NULL or empty, members are processes;
 * otherwise processes that belong to no rank are left out. The caller frees the rows.
 */
struct survey_row *file_surveyor_rows(const struct file_surveyor *surveyor,
				      const struct ranks *ranks, size_t *count);

/* Calls `seen` once for each survey, in the order of layer, file and process. */
typedef void (*survey_seen)(void *arg, unsigned layer, file_id file, uint32_t process,
			    const struct survey *survey);
void file_surveyor_list(const struct file_surveyor *surveyor, survey_seen seen, void *arg);

extern const struct sluice_plugin plugin_file_surveyor;

#endif
