/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: KRN-2 to KRN-4, KRN-6, KRN-7, KRN-9, KRN-10, KRN-AC-1, KRN-AC-2.
 */
#include "kernels/shapes.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "kernels/kinds.h"
#include "predict/simulate/workload.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static const uint64_t scales[] = { 128, 2048, 4096 };

/* Returns the shape of a command line; words are separated by blanks. */
static int shape_of(struct shape *shape, const char *name, const char *text, uint64_t ranks,
		    struct err *err)
{
	const struct kind *kind = kind_find(name);
	AUTO_FREE char *copy = xstrdup(text);
	struct kind_args args = { 0 };
	char *words[16], *rest = copy, *word;
	int n = 0, ret;

	while ((word = strsep(&rest, " ")))
		if (*word)
			words[n++] = word;
	words[n] = NULL;
	ret = option_parse(kind->options, OPTION_ANYWHERE, &args, n, words, err);
	REQUIRE(ret <= 0);
	if (!ret)
		ret = kind_shape(kind, &args, ranks, shape, err);
	option_release(kind->options, &args);
	return ret;
}

static struct shape good(const char *name, const char *text, uint64_t ranks)
{
	struct shape shape = { 0 };
	struct err err = { 0 };

	if (shape_of(&shape, name, text, ranks, &err) < 0) {
		printf("%s %s: %s\n", name, text, err.text);
		CHECK(!"the shape is refused");
	}
	return shape;
}

static void paper_volumes_are_exact(void)
{
	static const struct {
		const char *name;
		uint64_t bytes[3];
	} kernels[] = {
		{ "vpic", { 32 * GIB, 512 * GIB, 1024 * GIB } },
		/* 34.33, 549.3 and 1098.6 GiB */
		{ "vorpal", { 36864000000, 589824000000, 1179648000000 } },
		/* 40.625, 650 and 1300 GiB */
		{ "gcrm", { 41600 * MIB, 650 * GIB, 1300 * GIB } },
	};

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < 3; i++) {
			struct shape shape = good(kernels[k].name, "--paper", scales[i]);

			CHECK_INT(shape_bytes(&shape), kernels[k].bytes[i]);
		}
}

static void paper_shapes_match_the_paper(void)
{
	struct shape vpic = good("vpic", "--paper", 128), vorpal = good("vorpal", "--paper", 128),
		     gcrm = good("gcrm", "--paper", 128);
	struct dataset set;

	CHECK_INT(shape_datasets(&vpic), 8);
	shape_dataset(&vpic, 5, 7, &set);
	CHECK_INT(dataset_rank_bytes(&set), 32 * MIB);
	CHECK_INT(set.start[0], 5 * 8 * MIB);
	CHECK_TEXT(set.group, "Step#0");
	CHECK_TEXT(set.name, "pz");

	CHECK_INT(shape_datasets(&vorpal), 20 * 3);
	shape_dataset(&vorpal, 127, 59, &set);
	CHECK_TEXT(set.group, "Step#19/Block/E");
	CHECK_TEXT(set.name, "2");
	CHECK_INT(set.count[0], 60); /* x runs fastest */
	CHECK_INT(set.count[1], 100);
	CHECK_INT(set.count[2], 100);
	CHECK_INT(dataset_rank_bytes(&set), 4800000);

	CHECK_INT(shape_datasets(&gcrm), 10);
	shape_dataset(&gcrm, 1, 0, &set);
	CHECK_INT(set.size[0], 1);
	CHECK_INT(set.size[1], 26);
	CHECK_INT(set.start[2], 327680);
	CHECK_INT(set.count[2], 327680);
}

static void bytes_per_rank_do_not_depend_on_the_number_of_ranks(void)
{
	static const struct {
		const char *name, *text;
		uint64_t bytes;
	} cases[] = {
		{ "vpic", "--paper", 256 * MIB },
		{ "vorpal", "--paper", 288000000 },
		{ "gcrm", "--paper", 325 * MIB },
		{ "vpic", "--scale 0.125", 32 * MIB },
		{ "vorpal", "--scale 0.001 --steps 1", 10 * 10 * 6 * 24 },
		{ "gcrm", "--scale 0.1", 32768 * 26 * 4 * 10 },
		{ "small", "", 300 * 256 * 4 },
	};
	static const uint64_t ranks[] = { 1, 2, 3, 7, 12, 128, 1000, 4096 };

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
		for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
			struct shape shape = good(cases[c].name, cases[c].text, ranks[i]);

			CHECK_INT(shape_rank_bytes(&shape, 0), cases[c].bytes);
			CHECK_INT(shape_rank_bytes(&shape, ranks[i] - 1), cases[c].bytes);
			CHECK_INT(shape_bytes(&shape), cases[c].bytes * ranks[i]);
		}
}

/* Checks that the ranks write every value of the first dataset exactly once. */
static void check_cover(const struct shape *shape)
{
	struct dataset set;
	AUTO_FREE unsigned char *seen = NULL;
	uint64_t values, wrong = 0;

	shape_dataset(shape, 0, 0, &set);
	for (int d = set.dims; d < SHAPE_DIMS; d++)
		CHECK_INT(set.size[d], 0);
	values = dataset_bytes(&set) / shape_type_bytes(set.type);
	seen = xcalloc(values, 1);
	for (uint64_t rank = 0; rank < shape->ranks; rank++) {
		uint64_t from[SHAPE_DIMS] = { 0 }, n[SHAPE_DIMS] = { 1, 1, 1 }, size[SHAPE_DIMS];

		shape_dataset(shape, rank, 0, &set);
		for (int d = 0, to = SHAPE_DIMS - set.dims; d < set.dims; d++, to++) {
			from[to] = set.start[d];
			n[to] = set.count[d];
			size[to] = set.size[d];
		}
		for (int d = 0; d < SHAPE_DIMS - set.dims; d++)
			size[d] = 1;
		for (uint64_t a = from[0]; a < from[0] + n[0]; a++)
			for (uint64_t b = from[1]; b < from[1] + n[1]; b++)
				for (uint64_t c = from[2]; c < from[2] + n[2]; c++)
					wrong += seen[(a * size[1] + b) * size[2] + c]++ != 0;
	}
	for (uint64_t i = 0; i < values; i++)
		wrong += !seen[i];
	CHECK_INT(wrong, 0);
}

static void ranks_cover_every_dataset_exactly_once(void)
{
	static const uint64_t ranks[] = { 1, 2, 3, 4, 5, 6, 8, 12, 27, 30 };
	static const struct {
		const char *name, *text;
	} cases[] = {
		{ "vpic", "-n 17" },
		{ "vorpal", "-b 10x7x5" },
		{ "vorpal", "-b 10x7x5 --non-uniform" },
		{ "vorpal", "-b 1x1x1 --non-uniform" },
		{ "gcrm", "-n 11" },
		{ "gcrm", "-R 3 -S 1" },
		{ "small", "-v 3 -n 2" },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
		for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
			struct shape shape = good(cases[c].name, cases[c].text, ranks[i]);
			uint64_t sum = 0;

			check_cover(&shape);
			for (uint64_t rank = 0; rank < shape.ranks; rank++)
				sum += shape_rank_bytes(&shape, rank);
			CHECK_INT(sum, shape_bytes(&shape));
		}
}

static void nonuniform_blocks_have_the_same_total(void)
{
	struct shape even = good("vorpal", "--paper", 128),
		     uneven = good("vorpal", "--paper --non-uniform", 128);
	uint64_t least = UINT64_MAX, most = 0;

	for (uint64_t rank = 0; rank < 128; rank++) {
		uint64_t bytes = shape_rank_bytes(&uneven, rank);

		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	CHECK(least < 288000000 && most > 288000000);
	CHECK_INT(shape_bytes(&uneven), shape_bytes(&even));
}

static void ranks_are_factored_into_the_box_nearest_to_a_cube(void)
{
	static const struct {
		uint64_t ranks, grid[3];
	} cases[] = {
		{ 1, { 1, 1, 1 } },   { 2, { 2, 1, 1 } },      { 4, { 2, 2, 1 } },
		{ 7, { 7, 1, 1 } },   { 12, { 3, 2, 2 } },     { 128, { 8, 4, 4 } },
		{ 512, { 8, 8, 8 } }, { 2048, { 16, 16, 8 } }, { 4096, { 16, 16, 16 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t grid[3] = { 0 };

		shape_factorize(cases[i].ranks, grid);
		for (int d = 0; d < 3; d++)
			CHECK_INT(grid[d], cases[i].grid[d]);
	}
}

/* Meshes of about 240 km and 3.9 km, and the paper's 128 ranks with five blocks each. */
static void geodesic_meshes_have_ten_rhombi_and_two_poles(void)
{
	struct shape shape = good("gcrm", "--resolution 11", 128);

	CHECK_INT(shape_mesh_cells(5), 10242);
	CHECK_INT(shape_mesh_cells(11), 41943042);
	CHECK_INT(shape_rank_bytes(&shape, 0), 325 * MIB);
	CHECK_INT(shape_rank_bytes(&shape, 126), 325 * MIB);
	CHECK_INT(shape_rank_bytes(&shape, 127), 325 * MIB + 2 * 26 * 4 * 10);
	shape = good("gcrm", "--resolution 13", 2048);
	CHECK_INT(shape_rank_bytes(&shape, 0), 325 * MIB);
}

static void the_simulated_kernels_have_the_same_volumes(void)
{
	static const char *const names[] = { "vpic", "vorpal", "gcrm" };

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < 3; i++) {
			struct shape shape = good(names[k], "--paper", scales[i]);
			struct workload workload;
			struct dataset set;
			struct err err = { 0 };

			REQUIRE(workload_find(&workload, names[k], scales[i], &err) == 0);
			shape_dataset(&shape, 0, 0, &set);
			CHECK_INT(workload_bytes(&workload), shape_bytes(&shape));
			CHECK_INT(workload.rank_bytes, shape_rank_bytes(&shape, 0));
			CHECK_INT(workload.access_bytes, dataset_rank_bytes(&set));
			CHECK_INT(workload.variables * workload.steps, shape_datasets(&shape));
		}
}

static void impossible_shapes_are_refused(void)
{
	static const struct {
		const char *name, *text;
		uint64_t ranks;
		const char *words;
	} cases[] = {
		{ "vpic", "-n 0", 2, "value" },
		{ "vpic", "--steps 0", 2, "step" },
		{ "vpic", "-n 600000000", 2, "per rank" },
		{ "vpic", "--paper --steps 99999999999999", 4096, "too large" },
		{ "vpic", "", 0, "ranks" },
		{ "vpic", "", UINT64_C(1) << 40, "ranks" },
		{ "vpic", "--scale -1", 2, "--scale" },
		{ "vpic", "--scale nan", 2, "--scale" },
		{ "vpic", "--scale 1x", 2, "--scale" },
		{ "vorpal", "-b 3x4", 2, "--block" },
		{ "vorpal", "-b 3x4x0", 2, "--block" },
		{ "vorpal", "-b 3x4x5x", 2, "--block" },
		{ "vorpal", "-b 3x4x5x6", 2, "--block" },
		{ "vorpal", "-b 3x4x99999999999999999999", 2, "--block" },
		{ "gcrm", "-R 99", 2, "--resolution" },
		{ "gcrm", "-R 5 -S 6", 2, "--subdomain" },
		{ "gcrm", "-R 5 -S 5", 11, "lower --subdomain" },
		{ "gcrm", "-S 5", 11, "--resolution" },
		{ "gcrm", "-R 5 --paper", 11, "--paper" },
		{ "small", "-n 0", 2, "dataset" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shape shape = { .ranks = 77 };
		struct err err = { 0 };

		CHECK(shape_of(&shape, cases[i].name, cases[i].text, cases[i].ranks, &err) < 0);
		CHECK_INT(shape.ranks, 77);
		CHECK_WORDS(err.text, cases[i].words);
	}
}

TESTS(TEST(paper_volumes_are_exact), TEST(paper_shapes_match_the_paper),
      TEST(bytes_per_rank_do_not_depend_on_the_number_of_ranks),
      TEST(ranks_cover_every_dataset_exactly_once), TEST(nonuniform_blocks_have_the_same_total),
      TEST(ranks_are_factored_into_the_box_nearest_to_a_cube),
      TEST(geodesic_meshes_have_ten_rhombi_and_two_poles),
      TEST(the_simulated_kernels_have_the_same_volumes), TEST(impossible_shapes_are_refused))
