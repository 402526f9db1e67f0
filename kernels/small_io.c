/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many small datasets, each created and written by all ranks: very little data, and two
 * synchronizations of all ranks per dataset. Programs that dump one dataset per scalar do this.
 */
#include "kernels/datasets.h"

int main(int argc, char **argv)
{
	return datasets_main("small", argc, argv);
}
