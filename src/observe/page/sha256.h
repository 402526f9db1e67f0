/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The SHA-256 digest of a text, in base64, as web pages name the scripts and style sheets that they
 * permit. Not meant for secrets.
 */
#ifndef SLUICE_OBSERVE_PAGE_SHA256_H
#define SLUICE_OBSERVE_PAGE_SHA256_H

#include <stddef.h>

#define SHA256_TEXT 45

/* 43 letters and a "=". Returns out. */
const char *sha256_text(char out[SHA256_TEXT], const void *bytes, size_t n);

#endif
