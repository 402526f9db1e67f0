/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Works byte by byte; compilers turn this into plain loads and stores on little-endian machines.
 */
#include "learn/file/blob.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

void blob_put_u32(struct buf *buf, uint32_t value)
{
	unsigned char bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	buf_add(buf, bytes, sizeof(bytes));
}

void blob_put_u64(struct buf *buf, uint64_t value)
{
	blob_put_u32(buf, (uint32_t)value);
	blob_put_u32(buf, (uint32_t)(value >> 32));
}

void blob_put_real(struct buf *buf, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	blob_put_u64(buf, bits);
}

void blob_put_reals(struct buf *buf, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		blob_put_real(buf, values[i]);
}

void blob_put_floats(struct buf *buf, const float *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bits;

		memcpy(&bits, &values[i], sizeof(bits));
		blob_put_u32(buf, bits);
	}
}

void blob_put_u32s(struct buf *buf, const uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		blob_put_u32(buf, values[i]);
}

void blob_put_text(struct buf *buf, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	blob_put_u64(buf, n);
	buf_add(buf, text ? text : "", n);
}

void blob_init(struct blob *blob, const void *bytes, size_t n)
{
	blob->at = bytes;
	blob->end = blob->at + n;
	blob->failed = false;
}

bool blob_expect(struct blob *blob, bool condition)
{
	if (!condition)
		blob->failed = true;
	return condition;
}

static size_t bytes_left(const struct blob *blob)
{
	return blob->failed ? 0 : (size_t)(blob->end - blob->at);
}

uint32_t blob_take_u32(struct blob *blob)
{
	uint32_t value = 0;

	if (!blob_expect(blob, bytes_left(blob) >= 4))
		return 0;
	for (int i = 0; i < 4; i++)
		value |= (uint32_t)blob->at[i] << 8 * i;
	blob->at += 4;
	return value;
}

uint64_t blob_take_u64(struct blob *blob)
{
	uint64_t low = blob_take_u32(blob);

	return low | (uint64_t)blob_take_u32(blob) << 32;
}

double blob_take_real(struct blob *blob)
{
	uint64_t bits = blob_take_u64(blob);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return blob->failed ? 0 : value;
}

size_t blob_take_count(struct blob *blob, size_t bytes)
{
	uint64_t count = blob_take_u64(blob);

	return blob_expect(blob, count <= bytes_left(blob) / (bytes ? bytes : 1)) ? (size_t)count
										  : 0;
}

void blob_take_reals(struct blob *blob, double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = blob_take_real(blob);
}

void blob_take_finite(struct blob *blob, double *values, size_t count)
{
	blob_take_reals(blob, values, count);
	for (size_t i = 0; i < count; i++)
		blob_expect(blob, isfinite(values[i]));
}

void blob_take_floats(struct blob *blob, float *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bits = blob_take_u32(blob);

		memcpy(&values[i], &bits, sizeof(bits));
	}
}

void blob_take_u32s(struct blob *blob, uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = blob_take_u32(blob);
}

char *blob_take_text(struct blob *blob)
{
	size_t n = blob_take_count(blob, 1);
	char *text = xstrndup((const char *)blob->at, n);

	blob->at += n;
	return text;
}
