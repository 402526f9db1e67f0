/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The version of Sluice, and the environment variables that programs and job scripts may set.
 * Sluice needs no change to a program: `sluice run -- PROGRAM` loads its library by LD_PRELOAD.
 *
 *   SLUICE_DISABLE=1     record nothing in this process and in those that it starts
 *   SLUICE_LIBRARY=PATH  the preload library that `sluice run` uses
 *   SLUICE_SECCOMP=trust also record programs that are started in a seccomp sandbox, such as that of
 *                        a container; without it, they run unrecorded, because a sandbox may kill
 *                        a program for the system calls of the library
 *   SLUICE_CONFIG=PATH   an additional settings file, read after those of the system and the user
 *   SLUICE_<SECTION>_<KEY>=VALUE
 *                        one setting, such as SLUICE_CAPTURE_MODE=counters; `sluice config` lists
 *                        all of them
 *   SLUICE_JOB=NAME      the name of a parallel job, the same for all ranks; replaces the name
 *                        that the launcher gives
 *   NO_COLOR=1           no color on terminals
 *
 * `sluice run` sets SLUICE_SPOOL for the processes that it starts: the directory of the run. `sluice
 * tune` sets SLUICE_JOURNAL for its trials: the directory in which it preserves the files that they
 * change. Do not set or save these variables.
 */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 2
#define SLUICE_VERSION_PATCH 0

#define SLUICE_AT_LEAST(major, minor)      \
	(SLUICE_VERSION_MAJOR > (major) || \
	 (SLUICE_VERSION_MAJOR == (major) && SLUICE_VERSION_MINOR >= (minor)))

#endif
