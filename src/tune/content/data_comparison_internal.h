/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What data_comparison.c and data_comparison_text.c share.
 */
#ifndef SLUICE_TUNE_CONTENT_DATA_COMPARISON_INTERNAL_H
#define SLUICE_TUNE_CONTENT_DATA_COMPARISON_INTERNAL_H

#include "tune/content/data_comparison.h"

/* Can no file be compared, so that the standard output has to be? */
bool data_comparison_needs_stdout(const struct data_comparison *comparison);

/* "out.h5:/x"; the caller frees it. */
char *data_comparison_name(const struct manifest_item *item);

#endif
