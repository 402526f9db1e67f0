/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tells the files of the user from those of the system, so that reports can fold the latter. The
 * class of a path is:
 *   channel   sockets and pipes ("socket:[1]", "pipe:[1]");
 *   system    below /proc, /sys, /dev (except /dev/shm), /etc, /run, /usr, /lib*, /bin, /sbin;
 *             shared libraries, Python modules and message catalogs anywhere; files that MPI
 *             libraries create for themselves in /dev/shm and /tmp; objects of the kernel without
 *             a path; the standard streams of logs that do not name their file ("<STDOUT>");
 *   user      all others, among them everything else in /tmp and /dev/shm.
 */
#ifndef SLUICE_OBSERVE_TALLY_FILE_CLASS_H
#define SLUICE_OBSERVE_TALLY_FILE_CLASS_H

#include <stdbool.h>

enum file_class { FILE_USER, FILE_SYSTEM, FILE_CHANNEL, FILE_CLASSES };
extern const char *const file_class_names[FILE_CLASSES];

/*
 * The class of a path. A path that the program wrote to belongs to the user unless the path can
 * only be a system file: a program may well write a Python module or a library of its own.
 */
enum file_class file_class_of(const char *path, bool is_written);

/* Does an MPI library use it for itself, such as memory that its ranks share? */
bool file_is_of_mpi(const char *path);

#endif
