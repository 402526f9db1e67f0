/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules for MPI hints that host and guest share: the extension and access mode that files are
 * grouped by, the hints that are too dangerous to set, and the file through which the host passes
 * its answers to the guest. Guest-safe.
 */
#ifndef SLUICE_CONTRACT_HINTS_H
#define SLUICE_CONTRACT_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The answers file, which the host writes into the run's directory for the in-line plug-in
 * "history". The words of a line are separated by one blank. NAME is that of a program
 * (contract/program.h) and may have blanks; EXTENSION is "*" for any extension; MODE is r, w or b
 * (RDONLY, WRONLY, RDWR).
 *
 *	sluice-answers 2
 *	program NAME                    the lines "best" up to the next one are for this program
 *	best EXTENSION MODE HINTS       at most one per program, extension and mode
 *	access EXTENSION MODE OPERATION SIZE OFFSETS HINTS
 *	                                the best hints for these accesses (see below) to a file,
 *	                                which is opened without those of "best"; SIZE is a size
 *	                                class, OFFSETS contiguous or strided, either may be "any"
 *	alone ...                       the same, for files that one rank opens alone
 *	beside ...                      the same, for files that several ranks open, with those of
 *	                                "best"
 *	changes N                       the hints of an open file change N times at most
 *	calls NAME...                   the calls before which they may change; without: all
 *	explore SHARE OPENS EXPLORED    try hints in SHARE millionths of all opens; OPENS and
 *	                                EXPLORED are the counts of earlier runs
 *	try HINTS                       a set of hints to try, in order of priority
 */
#define HINTS_ANSWERS_NAME "answers"
#define HINTS_ANSWERS_TITLE "sluice-answers 2"
#define HINTS_ANSWERS_BYTES 65536 /* the guest ignores the lines beyond */
#define HINTS_MILLION 1000000

/* Access modes of MPI_File_open. All implementations use the same values. */
#define HINTS_RDONLY 2
#define HINTS_WRONLY 4
#define HINTS_RDWR 8

/* The shortest limits of any implementation, without the terminating zero. */
#define HINTS_KEY_MAX 35
#define HINTS_VALUE_MAX 191

#define HINTS_EXTENSION_BYTES 17 /* with the terminating zero */

static inline char hints_mode(int64_t amode)
{
	return amode & HINTS_RDONLY ? 'r' : amode & HINTS_WRONLY ? 'w' : 'b';
}

static inline bool hints_is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '-' || c == '+';
}

/*
 * Accesses are told apart by their operation, by the volume (the bytes of a rank's part, in powers
 * of 4: class 0 is up to 3 bytes, 1 up to 15 bytes, etc.), and by their offsets: an access is
 * strided if its bytes are not adjacent in the file. An operation of strided accesses has the
 * suffix below; other ones are contiguous, or offsets are not considered.
 */
#define HINTS_SIZE_CLASSES 32
#define HINTS_ANY_SIZE (HINTS_SIZE_CLASSES - 1) /* no access is that large: 2^62 bytes */
#define HINTS_STRIDED " strided"

static inline unsigned hints_size_class(uint64_t bytes)
{
	return bytes ? (63u - (unsigned)__builtin_clzll(bytes)) / 2 : 0;
}

/* Hints that ROMIO heeds at the next access if they are set while the file is open. */
#define HINTS_CHANGEABLE 7
static const char *const hints_changeable[HINTS_CHANGEABLE] = {
	"cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size", "romio_cb_read",
	"romio_cb_write", "romio_ds_read",	"romio_ds_write",
};

/* The index of the hint in this list; -1: it has an effect only if the file is opened with it. */
static inline int hints_change_index(const char *key)
{
	for (int i = 0; i < HINTS_CHANGEABLE; i++)
		if (!strcmp(key, hints_changeable[i]))
			return i;
	return -1;
}

/*
 * Writes and returns the extension of the file's name; "" if it has none. An extension of digits
 * only is skipped: out.nc.0003 has the extension "nc". A leading dot does not start an extension.
 */
static inline const char *hints_extension(const char *path, char extension[HINTS_EXTENSION_BYTES])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *end = name + strlen(name), *first;
	bool is_number = true;

	extension[0] = 0;
	while (is_number) {
		for (first = end; first > name && first[-1] != '.'; first--)
			;
		if (first <= name + 1 || first == end || end - first >= HINTS_EXTENSION_BYTES)
			return extension;
		for (const char *p = first; p < end; p++) {
			if (!hints_is_word(*p))
				return extension;
			is_number = is_number && *p >= '0' && *p <= '9';
		}
		if (!is_number) {
			memcpy(extension, first, (size_t)(end - first));
			extension[end - first] = 0;
		}
		end = first - 1;
	}
	return extension;
}

/* Is it a decimal number from 1 to INT_MAX? ROMIO's atoi() misreads everything else. */
static inline bool hints_is_count(const char *value)
{
	uint64_t number = 0;

	for (const char *p = value; *p; p++) {
		if (*p < '0' || *p > '9' || p - value > 9)
			return false;
		number = number * 10 + (uint64_t)(*p - '0');
	}
	return number >= 1 && number <= INT32_MAX;
}

static inline bool hints_is_among(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (!strcmp(key, *keys))
			return true;
	return false;
}

/*
 * May Sluice set this hint in a program that did not set it? No if an implementation is known to
 * lose data or to abort: buffer sizes that atoi() misreads, romio_cb_pfr, and OMPIO with several
 * aggregators. Also no if key or value exceeds the smallest limit of any implementation.
 */
static inline bool hints_is_safe(const char *key, const char *value, bool is_ompio)
{
	static const char *const counts[] = { "cb_buffer_size",
					      "ind_rd_buffer_size",
					      "ind_wr_buffer_size",
					      "cb_nodes",
					      "striping_unit",
					      "striping_factor",
					      NULL };
	static const char *const aggregators[] = { "cb_nodes", "cb_config_list", "num_aggregators",
						   NULL };
	size_t k = strlen(key), v = strlen(value);

	if (!k || k > HINTS_KEY_MAX || !v || v > HINTS_VALUE_MAX)
		return false;
	for (const char *p = key; *p; p++)
		if (!hints_is_word(*p))
			return false;
	for (const char *p = value; *p; p++)
		if (*p <= ' ' || *p > '~' || *p == ';' || *p == '|')
			return false;
	if (hints_is_among(key, counts) && !hints_is_count(value))
		return false;
	if (is_ompio && hints_is_among(key, aggregators))
		return false;
	return strcmp(key, "romio_cb_pfr") != 0;
}

/*
 * Copies the next hint of KEY=VALUE;KEY=VALUE and moves *at behind it. False at the end. A part
 * without "=", or with a key or value that does not fit, is skipped.
 */
static inline bool hints_next(const char **at, char *key, size_t key_bytes, char *value,
			      size_t value_bytes)
{
	while (**at) {
		const char *part = *at;
		size_t n = strcspn(part, ";\n"), k = strcspn(part, "=");

		*at = part + n + (part[n] == ';');
		if (part[n] == '\n')
			*at = part + n + strlen(part + n);
		if (k >= n || !k || k >= key_bytes || n - k - 1 >= value_bytes)
			continue;
		memcpy(key, part, k);
		key[k] = 0;
		memcpy(value, part + k + 1, n - k - 1);
		value[n - k - 1] = 0;
		return true;
	}
	return false;
}

#endif
