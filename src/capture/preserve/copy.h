/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies a file: as a clone, which takes neither time nor space, if the file system supports it,
 * else by its bytes, without its holes. Guest.
 */
#ifndef SLUICE_CAPTURE_PRESERVE_COPY_H
#define SLUICE_CAPTURE_PRESERVE_COPY_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * Creates `to`, which must not exist. A symbolic link is copied as such. -EFBIG if the file cannot
 * be cloned and has more than `limit` bytes; any other result but 0 is -errno. On failure `to` may
 * exist in part. buffer is for the bytes.
 */
long copy_file(const char *from, const char *to, uint64_t limit, char *buffer, size_t bytes);

#pragma GCC visibility pop

#endif
