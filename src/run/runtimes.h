/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Container runtimes: commands that run a program in a root directory of its own. The program is
 * recorded if the library and the spool directory have the same paths there, and if it gets the
 * variables of the run.
 *
 * Apptainer and Singularity read mounts and variables from their environment, so that `sluice run`
 * can pass them. Others (Podman, Docker) need options. `sluice run` does not change the command of
 * the user; it prints these options.
 */
#ifndef SLUICE_RUN_RUNTIMES_H
#define SLUICE_RUN_RUNTIMES_H

#include <stdbool.h>

struct buf;

/* True if the command is that of a container runtime. What it starts may be recorded, even if the
 * runtime cannot. */
bool runtimes_have(const char *program);

/*
 * Appends the variables, "NAME=VALUE" and a zero byte each, by which Apptainer or Singularity pass
 * the library (NULL: none) and the spool directory to their containers, if the command names one of
 * them or one is installed. They extend the values that the user has set. Appends nothing if a path
 * cannot be written in a variable.
 */
void runtimes_put_variables(struct buf *variables, char *const *argv, const char *library,
			    const char *spool);

/*
 * A sentence with the options that the command lacks to be recorded, or NULL if it starts no
 * container, or has them. The caller frees it.
 */
char *runtimes_advise(char *const *argv, const char *library, const char *spool);

#endif
