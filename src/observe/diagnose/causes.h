/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5's reasons for not making a collective transfer (H5D_mpio_no_collective_cause_t).
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_CAUSES_H
#define SLUICE_OBSERVE_DIAGNOSE_CAUSES_H

#include <stdint.h>

/* The reason with the lowest bit, in words. */
const char *causes_name(uint32_t causes);

#endif
