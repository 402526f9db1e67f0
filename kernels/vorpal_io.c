/* SPDX-License-Identifier: BSD-3-Clause
 *
 * VORPAL-IO, the write kernel of an accelerator code: a field of three components on a box that is
 * cut into a block for each rank. The file is laid out as H5Block does it: "Step#N/Block/E/0", "1"
 * and "2", doubles, x running fastest.
 */
#include "kernels/datasets.h"

int main(int argc, char **argv)
{
	return datasets_main("vorpal", argc, argv);
}
