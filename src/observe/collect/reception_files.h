/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files of the reception: those that processes have created in the shared directory
 * (contract/handover.h), and its own traces and ledgers. A process can change its files at any
 * time, so every value is read once and checked, and a name is removed only if it leads to the file
 * that was handed over.
 */
#ifndef SLUICE_OBSERVE_COLLECT_RECEPTION_FILES_H
#define SLUICE_OBSERVE_COLLECT_RECEPTION_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "contract/handover.h"
#include "observe/collect/reception.h"

#define RECEPTION_PARTIAL ".partial"

/* The inode of an open file; 0: unknown. */
uint64_t reception_inode(int fd);

/* Values of a control page: enum capture_clock, and the uuid that an earlier reception stored. */
uint32_t reception_read_clock(int control);
bool reception_read_uuid(int control, char *uuid, size_t digits);

/* The job that the first process has stored there; texts are terminated. */
void reception_read_job(int control, struct hello *hello);

/* Is the trace of the run complete? Processes that see this begin another run. */
bool reception_is_closed(int control);
void reception_mark_closed(int control);

/*
 * Describes the process of a spool: base name of its program, command line and working directory.
 * The caller frees the texts.
 */
void reception_read_process(int spool, char *program, size_t bytes, char **command,
			    char **directory);

/* Remove names from the directory (-1: none), if they have this inode. */
void reception_remove_spool(int directory, const char *name, uint64_t inode);
void reception_remove_control(int directory, const char *name, uint64_t inode);

/* Stores in the ledger what is not known any more if all processes are gone. */
void reception_describe_ledger(const char *path, const struct reception_run *run,
			       const char *control_name, uint64_t control_inode);

/*
 * Gives a trace its final name beside `base`, and removes the ledger. Returns the path, which the
 * caller frees; NULL: the trace keeps its name.
 */
char *reception_publish(const char *base, const char *partial, const char *program);

/* A spool in the directory. */
struct reception_found {
	struct hello hello; /* as far as the name tells */
	uid_t user;
	uint64_t spool_inode, control_inode;
};

/*
 * Calls `found` for each spool that has a control page. Removes what processes have left that died
 * before they had a spool. Returns how often `found` returned true.
 */
size_t reception_find_spools(int directory,
			     bool (*found)(void *arg, const struct reception_found *found),
			     void *arg);

/* Removes control pages that no spool belongs to and that are not `used`. */
void reception_clean_controls(int directory, bool (*used)(const void *arg, uint64_t inode),
			      const void *arg);

/* Opens the files; false if this process may not. */
bool reception_open_found(int directory, const struct reception_found *found,
			  int fds[HANDOVER_DESCRIPTORS], size_t *count);

/* Publishes the traces of runs that no process will hand over again: their control page or all of
 * their processes are gone. */
void reception_find_forgotten(int directory, const char *traces,
			      void (*forgotten)(void *arg, const struct reception_run *run,
						const char *trace),
			      void *arg);

#endif
