/* SPDX-License-Identifier: BSD-3-Clause
 *
 * VORPAL-IO, the write kernel of an accelerator code: a field on a box that is divided into one
 * block per rank. The file has the layout of H5Block: "Step#N/Block/E/0", "1" and so on are the
 * components, datasets of doubles, and x is the fastest dimension.
 * Papers: KRN-1, KRN-5.
 */
#include "kernels/datasets.h"

int main(int argc, char **argv)
{
	return datasets_main("vorpal", argc, argv);
}
