/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers as bytes, for model files: little-endian whatever the machine. Writing goes into a
 * struct buf. Reading is safe on any bytes: the first value that does not fit marks the reader as
 * failed, and from then on it yields zeros; a loader checks blob_ok() at the end and before it
 * trusts a count. blob_take_count() bounds counts by what is left, so that a damaged file cannot
 * make us allocate.
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
void blob_put_reals(struct buf *buf, const double *values, size_t count); /* without the count */
void blob_put_floats(struct buf *buf, const float *values, size_t count);
void blob_put_u32s(struct buf *buf, const uint32_t *values, size_t count);
void blob_put_text(struct buf *buf, const char *text); /* length and bytes; NULL as "" */

struct blob {
	const unsigned char *at, *end;
	bool failed;
};

void blob_init(struct blob *blob, const void *bytes, size_t n);
uint32_t blob_take_u32(struct blob *blob);
uint64_t blob_take_u64(struct blob *blob);
double blob_take_real(struct blob *blob);

/* A u64 that counts things of at least `bytes` each, all still to come; else failed and 0. */
size_t blob_take_count(struct blob *blob, size_t bytes);

/* Arrays; zeros where they do not fit. */
void blob_take_reals(struct blob *blob, double *values, size_t count);
void blob_take_floats(struct blob *blob, float *values, size_t count);
void blob_take_u32s(struct blob *blob, uint32_t *values, size_t count);

/* The same; a number that is not finite marks the reader as failed. */
void blob_take_finite(struct blob *blob, double *values, size_t count);

char *blob_take_text(struct blob *blob); /* the caller's; "" on failure */

/* Marks the reader as failed unless the condition holds; returns the condition. */
bool blob_expect(struct blob *blob, bool condition);
static inline bool blob_ok(const struct blob *blob)
{
	return !blob->failed;
}

#endif
