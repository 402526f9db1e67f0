/* SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: model_file FILE RANKS BYTES BLOCK COLLECTIVE SIEVED PIECES
 * Writes a model of this host that is calibrated for strided writes of RANKS ranks, BYTES bytes
 * each in blocks of BLOCK bytes: they take COLLECTIVE seconds with collective buffering, SIEVED
 * with data sieving, and PIECES with a call per block, give or take 5 %.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/model_sample.h"

static const char machine[] =
	"[machine]\nname = small\nromio = generic\n[nodes]\ncores = 4\n"
	"[storage]\nblock = 4K\n[defaults]\nnode_aggregators = 1\ncb_buffer_size = 1M\n";

int main(int argc, char **argv)
{
	struct access access = { .pattern = ACCESS_STRIDED, .nodes = 1 };
	double seconds[TRANSFERS] = { 0 };
	struct hybrid hybrid = { 0 };
	char path[32];

	if (argc != 8)
		return 2;
	access.ranks = strtoull(argv[2], NULL, 10);
	access.rank_bytes = strtoull(argv[3], NULL, 10);
	access.block_bytes = access.stride_bytes = strtoull(argv[4], NULL, 10);
	seconds[TRANSFER_COLLECTIVE] = strtod(argv[5], NULL);
	seconds[TRANSFER_SIEVED] = strtod(argv[6], NULL);
	seconds[TRANSFER_PIECES] = strtod(argv[7], NULL);
	model_save(&hybrid, machine, 1, path);
	REQUIRE(remove(path) == 0);
	model_calibrate(&hybrid, &access, seconds, 0.05, NULL);
	REQUIRE(hybrid_save(&hybrid, argv[1], NULL) >= 0);
	CHECK(isfinite(validation_margin(&hybrid.validation, VALIDATION_GAINS, HYBRID_COVERAGE)));
	hybrid_release(&hybrid);
	return check_failures != 0;
}
