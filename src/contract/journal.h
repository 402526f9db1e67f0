/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The journal of a tuning: a directory that holds the state of the user's files before the first
 * trial. The guest fills it while trials run; the tuner restores every file from it after each
 * trial (tune/trial/snapshot.h). Guest-safe.
 *
 * The journal describes states, not a sequence of changes: how a name was, and how the content of a
 * file was, before the guest let the program change it for the first time. An entry is made before
 * the change, never changes, and is valid for the whole tuning, because each trial starts from the
 * same state. Every entry is created by one system call that fails if the entry exists, so that any
 * number of processes fill one journal without a lock, and a killed process leaves no half entry.
 *
 * Names in the directory; HASH is journal_hash() of the path and FILE is DEVICE-INODE, all in
 * hexadecimal digits:
 *
 *   options    link: the options of struct journal_options
 *   p-HASH     link: a record of a path: what it named, or that it did not exist
 *   k-FILE     link: a record of a file whose content may have been changed, see d-FILE
 *   l-FILE     hard link to the original file that a path named
 *   d-FILE     the content of that file before it was opened for writing: a clone or a copy
 *   v-HASH-N   link: a record of the Nth version of a file that the trial itself wrote and then
 *              removed, replaced or truncated; N counts from 0 for each path
 *   c-HASH-N   the content of that version: a hard link, a clone or a copy
 *   x-HASH     link: a record of a path that cannot be preserved; the call on it has failed
 *              with EROFS unless the options permit it
 *   n-HASH     link: a record of a path on another host that did not exist there; HASH is
 *              journal_hash_on() of the path and the name of the host
 *   t-NUMBER   a file that is being copied
 *   files      directory with the tuner's own files, if programs run on other hosts
 *
 * A record is the target of a symbolic link, which is created and read by one system call each:
 *
 *   KIND DEVICE INODE MODE UID GID SIZE ATIME_NS MTIME_NS PATH
 *
 * The numbers are decimal. PATH is absolute, without symbolic links in its directory part, and may
 * contain any byte.
 *
 * Processes on several hosts fill one journal if it is on a file system that they share. DEVICE is
 * 0 for files on that file system, since hosts number their devices differently. A path on another
 * file system may name different files on different hosts, so processes on hosts other than the
 * tuner's enter only that they created it, which the tuner ignores; they do not change what was
 * there before.
 */
#ifndef SLUICE_CONTRACT_JOURNAL_H
#define SLUICE_CONTRACT_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The variable through which the processes of a trial find the directory. */
#define JOURNAL_VARIABLE "SLUICE_JOURNAL"

#define JOURNAL_OPTIONS "options"
#define JOURNAL_PATH "p-"
#define JOURNAL_CHANGED "k-"
#define JOURNAL_LINK "l-"
#define JOURNAL_DATA "d-"
#define JOURNAL_VERSION "v-"
#define JOURNAL_CONTENT "c-"
#define JOURNAL_REFUSED "x-"
#define JOURNAL_DRAFT "t-"
#define JOURNAL_NODE "n-"

#define JOURNAL_NAME_BYTES 64	  /* of any name, with its end */
#define JOURNAL_RECORD_BYTES 4096 /* of a record, with its end: the limit of a link's target */
#define JOURNAL_VERSIONS 64	  /* further versions of a path are not kept */

/* KIND of a record, one letter. */
enum journal_kind {
	/* p-HASH */
	JOURNAL_ABSENT = 'a', /* the path did not exist: the trial created it, or tried to */
	JOURNAL_FILE = 'f',   /* it named a regular file */
	JOURNAL_FOLDER = 'g', /* it named a directory, which the program removed */
	JOURNAL_OTHER = 'o',  /* it named a symbolic link or a special file */
	/* k-FILE */
	JOURNAL_WRITTEN = 'w', /* d-FILE exists */
	/* v-HASH-N: the content is in c-HASH-N, except for LOST */
	JOURNAL_REMOVED = 'r',	 /* the program removed the name */
	JOURNAL_REPLACED = 'm',	 /* it renamed another file to the name */
	JOURNAL_TRUNCATED = 't', /* it truncated the file */
	JOURNAL_LOST = 'n',	 /* one of the three, but the content could not be kept */
	/* x-HASH: why the path cannot be preserved */
	JOURNAL_TOO_LARGE = 'L',      /* it would have to be copied and is larger than the limit */
	JOURNAL_NO_SPACE = 'S',	      /* the disk is full */
	JOURNAL_NO_ACCESS = 'A',      /* the user may neither link nor read it */
	JOURNAL_CLAIMED = 'C',	      /* another tuning is using it */
	JOURNAL_RENAMED_FOLDER = 'D', /* an existing directory is renamed */
	JOURNAL_OTHER_HOST = 'H',     /* it is on another host and on another file system */
	JOURNAL_FAILED = 'F',	      /* anything else */
};

struct journal_record {
	enum journal_kind kind;
	/* Of the file before the change; 0 if the path did not exist. The device is one of
	 * journal_device(). */
	uint64_t device, inode, mode, uid, gid, size;
	int64_t atime_ns, mtime_ns;
	const char *path; /* not owned */
};

/* Options of a tuning: the target of the link `options` is "LIMIT PERMIT HOST CLAIMS", where HOST
 * is journal_hash() of the name of the tuner's host. */
struct journal_options {
	uint64_t limit; /* largest file to copy, in bytes */
	bool permit;	/* let the program change a file that cannot be preserved */
	uint64_t host;
	/* Directory with one link per path that a running tuning may change: its name is
	 * journal_hash(), its target the directory of the journal. Not owned. */
	const char *claims;
};

/* 64 bits of FNV-1a. */
uint64_t journal_hash(const char *path);

/* Of a path on a host, of whose name host is the hash. */
uint64_t journal_hash_on(uint64_t host, const char *path);

/* The number of a device in records and names: 0 for that of the journal. */
uint64_t journal_device(uint64_t device, uint64_t device_of_journal);

/* Write a name, terminated: PREFIX and 16 digits, with N if it is not negative;
 * PREFIX-DEVICE-INODE.
 */
void journal_hash_name(char name[JOURNAL_NAME_BYTES], const char *prefix, uint64_t hash, int n);
void journal_file_name(char name[JOURNAL_NAME_BYTES], const char *prefix, uint64_t device,
		       uint64_t inode);

/* Writes a record, terminated. False if the path is too long. */
bool journal_write_record(char text[JOURNAL_RECORD_BYTES], const struct journal_record *record);

/* Reads a record; its path points into the text. False if the text is malformed. */
bool journal_read_record(const char *text, struct journal_record *record);

bool journal_write_options(char text[JOURNAL_RECORD_BYTES], const struct journal_options *options);
bool journal_read_options(const char *text, struct journal_options *options);

#endif
