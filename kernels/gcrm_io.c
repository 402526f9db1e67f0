/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GCRM-IO, the write kernel of a climate model: ten variables on 26 interfaces above the cells of a
 * geodesic mesh; each rank writes the data above its cells. Cells are the fastest dimension, so a
 * rank's part of a variable consists of 26 pieces unless the datasets are chunked.
 * Papers: KRN-1, KRN-8.
 */
#include "kernels/datasets.h"

int main(int argc, char **argv)
{
	return datasets_main("gcrm", argc, argv);
}
