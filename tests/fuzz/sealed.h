/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a sealed file. The checksum would keep nearly all inputs from the
 * loaders. Therefore an input whose first byte is odd gets a correct checksum. Other inputs are
 * read unchanged.
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
		checked_file_end(file);
}

#endif
