/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hints of MPI files, as far as host and guest must think alike: what kind of file a name stands
 * for, which hints are never given unasked, and how the host tells the guest what it knows.
 * Guest-safe.
 */
#ifndef SLUICE_CONTRACT_HINTS_H
#define SLUICE_CONTRACT_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * What the host leaves in the run's directory for the guest's half of history: lines of words
 * separated by one blank. EXTENSION is "*" for any; MODE is r, w or b (RDONLY, WRONLY, RDWR).
 *
 *	sluice-answers 1
 *	best EXTENSION MODE HINTS       at most one per extension and mode
 *	explore SHARE OPENS EXPLORED    SHARE in millionths of opens; the others: so far
 *	try HINTS                       sets to be tried, the most wanted first
 */
#define HINTS_ANSWERS_NAME "answers"
#define HINTS_ANSWERS_TITLE "sluice-answers 1"
#define HINTS_ANSWERS_BYTES 65536 /* a longer file is cut at a line */
#define HINTS_MILLION 1000000

/* Access modes of MPI_File_open, the same in all implementations. */
#define HINTS_RDONLY 2
#define HINTS_WRONLY 4
#define HINTS_RDWR 8

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
 * The extension of a file's name; "" where it has none. One of digits alone is a number, and what
 * is before it counts: out.nc.0003 is a "nc". A dot in front makes no extension.
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

/* A plain number from 1 to INT_MAX: what ROMIO's atoi() understands as it was meant. */
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
 * Does this choice of Open MPI's component for files (OMPI_MCA_io, NULL where it is not set) name
 * its ROMIO? Else it is OMPIO, as far as we may rely on it.
 */
static inline bool hints_is_romio(const char *io)
{
	return io && strncmp(io, "romio", 5) == 0;
}

/*
 * May this hint be given to a program that did not ask for it? Not where implementations are known
 * to lose data or abort: a buffer of a size that atoi() misreads; romio_cb_pfr; and OMPIO with
 * several aggregators. Keys and values keep to what the shortest limits allow.
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

	if (!k || k > 35 || !v || v > 191)
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
 * The next hint of KEY=VALUE;KEY=VALUE. Moves *at on; false at the end. A part without "=", or that
 * does not fit, is passed over.
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
