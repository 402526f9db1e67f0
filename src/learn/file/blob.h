/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers as bytes for model files, always in little-endian order. Functions that write append to a
 * struct buf.
 *
 * Reading is safe on any input: the first value that does not fit marks the reader as failed, and
 * every later read returns zeros. A loader checks blob_ok() at the end and before it relies on a
 * count. blob_take_count() limits a count by the bytes that remain, so that a damaged file cannot
 * cause a huge allocation.
 */
#ifndef SLUICE_LEARN_FILE_BLOB_H
#define SLUICE_LEARN_FILE_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

void blob_put_u32(struct buf *buf, uint32_t value);
void blob_put_u64(struct buf *buf, uint64_t value);
void blob_put_real(struct buf *buf, double value);
/* Does not write the count. */
void blob_put_reals(struct buf *buf, const double *values, size_t count);
void blob_put_floats(struct buf *buf, const float *values, size_t count);
void blob_put_u32s(struct buf *buf, const uint32_t *values, size_t count);
/* Writes length and bytes; NULL counts as "". */
void blob_put_text(struct buf *buf, const char *text);

struct blob {
	const unsigned char *at, *end;
	bool failed;
};

void blob_init(struct blob *blob, const void *bytes, size_t n);
uint32_t blob_take_u32(struct blob *blob);
uint64_t blob_take_u64(struct blob *blob);
double blob_take_real(struct blob *blob);

/*
 * Reads a u64 that counts items of at least `bytes` bytes each. Marks the reader as failed and
 * returns 0 if so many items cannot follow.
 */
size_t blob_take_count(struct blob *blob, size_t bytes);

/* Read arrays. The values are all zero if the array does not fit. */
void blob_take_reals(struct blob *blob, double *values, size_t count);
void blob_take_floats(struct blob *blob, float *values, size_t count);
void blob_take_u32s(struct blob *blob, uint32_t *values, size_t count);

/* Like blob_take_reals(), but a number that is not finite marks the reader as failed. */
void blob_take_finite(struct blob *blob, double *values, size_t count);

char *blob_take_text(struct blob *blob); /* the caller frees it; "" on failure */

/* Marks the reader as failed unless the condition holds; returns the condition. */
bool blob_expect(struct blob *blob, bool condition);
static inline bool blob_ok(const struct blob *blob)
{
	return !blob->failed;
}

#endif
