/* SPDX-License-Identifier: BSD-3-Clause
 *
 * VPIC-IO, the write kernel of a plasma physics code: particles in one dimension, eight variables
 * of four bytes each; every rank writes a contiguous slab of each variable. A time step is a group
 * "Step#N", as in H5Part, with one dataset per variable.
 * Papers: KRN-1, KRN-2.
 */
#include "kernels/datasets.h"

int main(int argc, char **argv)
{
	return datasets_main("vpic", argc, argv);
}
