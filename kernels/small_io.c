/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many small datasets, each created and written by all ranks: next to no data, and two agreements
 * of all ranks for each piece of it. Programs that dump one dataset per scalar do this.
 */
#include "kernels/datasets.h"

int main(int argc, char **argv)
{
	return datasets_main("small", argc, argv);
}
