/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: ATE-4, ATE-7, ATE-8, ATE-11.
 */
#include "lab/reproduce/paper.h"

#include <string.h>

const struct paper_volume paper_volumes[] = {
	{ "vpic", 128, "32 GB" },     { "vpic", 2048, "512 GB" },
	{ "vpic", 4096, "1.1 TB" },   { "vorpal", 128, "34 GB" },
	{ "vorpal", 2048, "549 GB" }, { "vorpal", 4096, "1.1 TB" },
	{ "gcrm", 128, "40 GB" },     { "gcrm", 2048, "650 GB" },
	{ "gcrm", 4096, "1.3 TB" },   { 0 },
};

/* The printed maximum of 256 contradicts the twelve values of cb_nds. */
const struct paper_range paper_ranges[] = {
	{ "strp_fac", "striping_factor", "4", "156/160", 10 },
	{ "strp_unt", "striping_unit", "1 MB", "128 MB", 8 },
	{ "cb_nds", "cb_nodes", "1", "256", 12 },
	{ "cb_buf_size", "cb_buffer_size", "1 MB", "128 MB", 8 },
	{ "align", "alignment", "(0, 1)", "(16 KB, 32 MB)", 14 },
	{ "bgl_nodes_pset", "bgl_nodes_pset", "1", "256", 12 },
	{ "bglockless", "bglockless", "false", "true", 2 },
	{ "IBM_largeblock_io", "IBM_largeblock_io", "false", "true", 2 },
	{ "chunk_size", "chunk_size", "10 MB", "2 GB", 25 },
	{ 0 },
};

const struct paper_cell paper_cells[PAPER_CELLS] = {
	{ 128, "hopper", "vpic", 400, 3034, 7.57 },
	{ 128, "hopper", "vorpal", 378, 2614, 6.90 },
	{ 128, "hopper", "gcrm", 757, 2348, 3.10 },
	{ 128, "intrepid", "vpic", 659, 1126, 1.70 },
	{ 128, "intrepid", "vorpal", 846, 1102, 1.30 },
	{ 128, "intrepid", "gcrm", 255, 1801, 7.05 },
	{ 128, "stampede", "vpic", 394, 2328, 5.90 },
	{ 128, "stampede", "vorpal", 439, 2130, 4.85 },
	{ 128, "stampede", "gcrm", 331, 2291, 6.90 },
	{ 2048, "hopper", "vpic", 365, 14900, 40.80 },
	{ 2048, "hopper", "vorpal", 370, 12669, 34.16 },
	{ 2048, "hopper", "gcrm", 240, 17816, 74.12 },
	{ 2048, "intrepid", "vpic", 2282, 5964, 2.61 },
	{ 2048, "intrepid", "vorpal", 2033, 4842, 2.38 },
	{ 2048, "intrepid", "gcrm", 414, 870, 2.10 },
	{ 2048, "stampede", "vpic", 380, 13047, 34.28 },
	{ 2048, "stampede", "vorpal", 436, 12542, 28.70 },
	{ 2048, "stampede", "gcrm", 128, 13825, 107.73 },
	{ 4096, "hopper", "vpic", 348, 17620, 50.60 },
	{ 4096, "hopper", "vorpal", 320, 12192, 38.00 },
	{ 4096, "hopper", "gcrm", 413, 20136, 48.67 },
	{ 4096, "intrepid", "vpic", 2841, 7014, 2.46 },
	{ 4096, "intrepid", "vorpal", 3131, 7766, 2.47 },
	{ 4096, "intrepid", "gcrm", 523, 2177, 4.16 },
};

const struct paper_mean paper_means[] = {
	{ "hopper", NULL, 0, 28.55, 33.77 },   { "intrepid", NULL, 0, 2.76, 2.91 },
	{ "stampede", NULL, 0, 31.39, 31.39 }, { NULL, "vpic", 0, 16.04, 18.24 },
	{ NULL, "vorpal", 0, 13.69, 14.845 },  { NULL, "gcrm", 0, 33.50, 31.73 },
	{ NULL, NULL, 128, 0, 5.03 },	       { NULL, NULL, 2048, 0, 36.32 },
	{ NULL, NULL, 4096, 0, 24.39 },	       { "hopper", NULL, 128, 0, 5.86 },
	{ "hopper", NULL, 2048, 0, 49.69 },    { "hopper", NULL, 4096, 0, 45.76 },
	{ "intrepid", NULL, 128, 0, 3.35 },    { "intrepid", NULL, 2048, 0, 2.36 },
	{ "intrepid", NULL, 4096, 0, 3.03 },   { "stampede", NULL, 128, 0, 5.88 },
	{ "stampede", NULL, 2048, 0, 56.90 },  { 0 },
};

const struct paper_setting paper_settings[] = {
	{ "vpic", "hopper",
	  "striping_factor=128 striping_unit=64M cb_buffer_size=64M cb_nodes=1024 "
	  "alignment=0,64K" },
	{ "vpic", "intrepid",
	  "bgl_nodes_pset=512 cb_buffer_size=128M bglockless=true IBM_largeblock_io=false "
	  "alignment=8K,1M" },
	{ "vpic", "stampede",
	  "striping_factor=128 striping_unit=8M cb_buffer_size=8M cb_nodes=512 alignment=8K,2M" },
	{ "vorpal", "hopper",
	  "striping_factor=128 striping_unit=16M cb_buffer_size=16M cb_nodes=1024 "
	  "alignment=1K,16K" },
	{ "vorpal", "intrepid",
	  "bgl_nodes_pset=128 cb_buffer_size=128M bglockless=true IBM_largeblock_io=true "
	  "alignment=8K,8M" },
	{ "vorpal", "stampede",
	  "striping_factor=160 striping_unit=2M cb_buffer_size=2M cb_nodes=512 alignment=8K,8M" },
	{ "gcrm", "hopper",
	  "striping_factor=156 striping_unit=32M chunk_size=1,26,327680 alignment=2K,64K" },
	{ "gcrm", "intrepid", "chunk_size=1,26,1048760 alignment=1M,4M" },
	{ "gcrm", "stampede",
	  "striping_factor=160 striping_unit=32M chunk_size=1,26,1048760 alignment=1M,4M" },
	{ 0 },
};

bool paper_is_in(const struct paper_mean *group, const struct paper_cell *cell)
{
	return (!group->platform || strcmp(group->platform, cell->platform) == 0) &&
	       (!group->kernel || strcmp(group->kernel, cell->kernel) == 0) &&
	       (!group->ranks || group->ranks == cell->ranks);
}
