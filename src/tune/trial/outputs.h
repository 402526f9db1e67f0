/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The outputs of a trial: the files that it wrote, under the names that they have at its end. The
 * trace is followed through renames (also of directories), links, removals and truncations.
 *
 * An output is a file that the program named itself and wrote to, mapped for writing, truncated or
 * created. Files that only a library names, files of a launcher or in a directory that it created,
 * and shared memory are not outputs; tune/trial/objective.h says which other files are not. A
 * version of an output that was removed, replaced or truncated before the end is an output as well.
 * Its content is in the journal of the trial (contract/journal.h), or lost.
 */
#ifndef SLUICE_TUNE_TRIAL_OUTPUTS_H
#define SLUICE_TUNE_TRIAL_OUTPUTS_H

#include "base/map.h"
#include "trace/format.h"
#include "tune/content/digest.h"

struct output {
	char *path;	 /* its name now */
	bool is_named;	 /* by the program itself */
	bool is_written; /* also: truncated or mapped for writing */
	bool is_created; /* it may be empty */
	bool is_gone;	 /* the content no longer exists under this name */
	size_t twin;	 /* another name of the same file: index plus one; 0: none */
};

struct outputs {
	struct output *list;
	size_t count, cap;
	/* State while a trace is read. */
	const struct trace_head *head;
	const bool *named;   /* per file: objective_mark_named() */
	const uint8_t *ways; /* per call: traffic_table() */
	uint8_t *changes;    /* per call: what it does to names */
	bool *is_launcher;   /* per process */
	file_id *folders;    /* directories that launchers created */
	size_t folder_count, folder_cap;
	size_t *by_file; /* per file: index in the list plus one; 0: none */
	struct map live; /* index in the list plus one, by hash of the path */
};

/* The arguments must outlive the outputs. Activities are added in the order of their start. */
void outputs_init(struct outputs *outputs, const struct trace_head *head, const bool *named,
		  const uint8_t *ways);
void outputs_add(struct outputs *outputs, const struct activity *activity);
void outputs_release(struct outputs *outputs);

/* Sources for digest_files(), with texts of their own. */
struct output_sources {
	struct digest_source *list;
	size_t count, cap;
	/* Paths of versions that no longer exist, one for each version. */
	char **past;
	size_t past_count, past_cap;
};

struct entries;

/*
 * Lists the outputs. Names are relative to the working directory. scratch: the directory of the
 * runner, whose files are not outputs. The sources remain valid after the outputs are released.
 */
void outputs_list(const struct outputs *outputs, const char *scratch,
		  struct output_sources *sources);
void output_sources_add(struct output_sources *sources, const char *path, const char *name,
			enum manifest_origin origin);
/* Adds the past versions, from the entries of the journal (tune/trial/entries.h). A
 * version that is not there is a source without content. */
void output_sources_add_past(struct output_sources *sources, const struct entries *entries);
void output_sources_release(struct output_sources *sources);

#endif
