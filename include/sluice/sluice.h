/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program or a job script may rely on. Sluice needs no change to a program: `sluice run --
 * PROGRAM` loads its library through LD_PRELOAD, and these variables steer it.
 *
 *   SLUICE_DISABLE=1     nothing is recorded, in this process and all it starts; needs no rebuild
 *   SLUICE_LIBRARY=PATH  the preload library that `sluice run` uses
 *   SLUICE_CONFIG=PATH   a settings file of your own, read after the system's and the user's
 *   SLUICE_<SECTION>_<KEY>=VALUE
 *                        one setting, such as SLUICE_CAPTURE_MODE=counters; `sluice config` lists
 * them SLUICE_JOB=NAME      name of a parallel job, the same for all its ranks, where the
 * launcher's is not good NO_COLOR=1           no colour on terminals
 *
 * `sluice run` sets SLUICE_SPOOL for the processes it starts. It names a directory that belongs to
 * the run; do not set or keep it.
 */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0

#define SLUICE_AT_LEAST(major, minor)      \
	(SLUICE_VERSION_MAJOR > (major) || \
	 (SLUICE_VERSION_MAJOR == (major) && SLUICE_VERSION_MINOR >= (minor)))

#endif
