/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arbitrary bytes as a sealed file. The checksum would keep nearly all of them from the loaders, so
 * an input whose first byte is odd gets a correct one; the others are read as they are.
 */
#ifndef SLUICE_TESTS_FUZZ_SEALED_H
#define SLUICE_TESTS_FUZZ_SEALED_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "learn/file/checked_file.h"

static inline void sealed_make(struct buf *file, const uint8_t *data, size_t size)
{
	if (!size)
		return;
	buf_add(file, data + 1, size - 1);
	if (data[0] & 1)
		sealed_end(file);
}

#endif
