/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions that start programs: exec.c wraps them to announce each program. They are not
 * recorded as calls. Guest.
 */
#ifndef SLUICE_CAPTURE_RECORD_EXEC_H
#define SLUICE_CAPTURE_RECORD_EXEC_H

/* Looks up the real functions. Runs early, because a child of vfork must not look up anything. */
__attribute__((visibility("hidden"))) void exec_resolve(void *(*find)(const char *name));

#endif
