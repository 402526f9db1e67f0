/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The volumes of the kernels, and the spaces that the paper searched for them.
 * Papers: GA-7 to GA-10, GA-AC-2, GA-AC-4.
 */
#include "predict/simulate/workload.h"

#include <errno.h>

#include "base/err.h"
#include "check.h"

#define GIB (1024.0 * 1024 * 1024)

static void kernel_of(struct workload *workload, const char *kernel, uint64_t ranks)
{
	REQUIRE(workload_find(workload, kernel, ranks, NULL) == 0);
}

static double gib(const char *kernel, uint64_t ranks)
{
	struct workload workload;

	kernel_of(&workload, kernel, ranks);
	return (double)workload_bytes(&workload) / GIB;
}

static bool is_about(double value, double expected)
{
	return value > expected * 0.9995 && value < expected * 1.0005;
}

static void volumes_match_the_paper(void)
{
	CHECK(gib("vpic", 128) == 32);
	CHECK(gib("vpic", 2048) == 512);
	CHECK(gib("vpic", 4096) == 1024);
	CHECK(is_about(gib("vorpal", 128), 34.33));
	CHECK(is_about(gib("vorpal", 2048), 549.3));
	CHECK(is_about(gib("vorpal", 4096), 1098.6));
	/* The paper prints 40 GB, 650 GB and 1.3 TB. */
	CHECK(is_about(gib("gcrm", 2048), 650));
	CHECK(is_about(gib("gcrm", 4096), 1300));
	CHECK(gib("gcrm", 128) > 40 && gib("gcrm", 128) < 41);
}

static void bytes_per_rank_do_not_depend_on_ranks(void)
{
	static const char *const kernels[] = { "vpic", "vorpal", "gcrm" };

	for (size_t i = 0; i < 3; i++) {
		struct workload few, many;

		kernel_of(&few, kernels[i], 128);
		kernel_of(&many, kernels[i], 4096);
		CHECK_INT(workload_bytes(&many), 32 * workload_bytes(&few));
		CHECK_INT(few.variables * few.steps * few.access_bytes, few.rank_bytes);
	}
}

static void unknown_kernels_and_no_ranks_are_refused(void)
{
	struct workload workload;
	struct err err = { 0 };

	CHECK_INT(workload_find(&workload, "ior", 4, &err), -ENOENT);
	CHECK(strstr(err.text, "vpic"));
	CHECK_INT(workload_find(&workload, "vpic", 0, &err), -EINVAL);
	CHECK_INT(workload_find(&workload, "vpic", UINT64_MAX, &err), -EINVAL);
}

static void space_of(struct space *space, const char *kernel, const char *name)
{
	struct platform *platform;
	struct workload workload;
	struct err err = { 0 };

	kernel_of(&workload, kernel, 2048);
	REQUIRE(platform_open(&platform, name, &err) == 0);
	CHECK_INT(workload_space(&workload, platform, space, &err), 0);
	CHECK_TEXT(err.text, "");
	platform_close(platform);
}

static void space_sizes_match_the_paper(void)
{
	static const struct {
		const char *kernel, *platform;
		uint64_t points;
	} cases[] = {
		{ "vpic", "hopper", 13440 },   { "vorpal", "hopper", 13440 },
		{ "vpic", "stampede", 13440 }, { "vorpal", "stampede", 13440 },
		{ "vpic", "intrepid", 5376 },  { "vorpal", "intrepid", 5376 },
		{ "gcrm", "hopper", 28000 },   { "gcrm", "stampede", 28000 },
		{ "gcrm", "intrepid", 350 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct space space;

		space_of(&space, cases[i].kernel, cases[i].platform);
		CHECK_INT(space_points(&space), cases[i].points);
		space_release(&space);
	}
}

static void check_length(const struct space *space, const char *name, size_t length)
{
	for (size_t i = 0; i < space->count; i++) {
		if (strcmp(space->dimensions[i].tunable->name, name) != 0)
			continue;
		if (space->dimensions[i].count != length)
			printf("%s\n", name);
		CHECK_INT(space->dimensions[i].count, length);
		return;
	}
	printf("%s is not searched\n", name);
	CHECK(false);
}

static void list_lengths_match_the_paper(void)
{
	struct space space;

	space_of(&space, "vpic", "hopper");
	check_length(&space, "striping_factor", 10);
	check_length(&space, "striping_unit", 8);
	check_length(&space, "cb_nodes", 12);
	check_length(&space, "alignment", 14);
	space_release(&space);
	space_of(&space, "vpic", "intrepid");
	check_length(&space, "bglockless", 2);
	check_length(&space, "IBM_largeblock_io", 2);
	check_length(&space, "bgl_nodes_pset", 12);
	check_length(&space, "cb_buffer_size", 8);
	space_release(&space);
	space_of(&space, "gcrm", "intrepid");
	check_length(&space, "chunk_size", 25);
	space_release(&space);
}

static bool has_value(const struct space *space, const char *name, const char *value)
{
	for (size_t i = 0; i < space->count; i++)
		for (size_t k = 0; k < space->dimensions[i].count; k++)
			if (strcmp(space->dimensions[i].tunable->name, name) == 0 &&
			    strcmp(space->dimensions[i].values[k], value) == 0)
				return true;
	return false;
}

/* The lists contain the settings that the paper's searches found. */
static void lists_contain_the_best_settings_of_the_paper(void)
{
	static const char *const pairs[] = { "0,1",	     "0,65536",	       "8192,1048576",
					     "8192,2097152", "1024,16384",     "8192,8388608",
					     "2048,65536",   "1048576,4194304" };
	struct space space;

	space_of(&space, "gcrm", "stampede");
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		CHECK(has_value(&space, "alignment", pairs[i]));
	CHECK(has_value(&space, "chunk_size", "33554432"));
	CHECK(has_value(&space, "chunk_size", "1073741824"));
	CHECK(has_value(&space, "chunk_size", "34078720"));
	CHECK(has_value(&space, "striping_factor", "160"));
	space_release(&space);
	space_of(&space, "vpic", "hopper");
	CHECK(has_value(&space, "striping_factor", "48"));
	CHECK(has_value(&space, "striping_factor", "128"));
	CHECK(has_value(&space, "striping_factor", "156"));
	CHECK(has_value(&space, "cb_nodes", "1024"));
	space_release(&space);
}

static const char *value_of(const struct param_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->params[i].tunable->name, name) == 0)
			return set->params[i].value;
	return NULL;
}

/* The tie holds at every point, and every point is allowed. */
static void buffer_is_tied_to_the_stripe_on_lustre(void)
{
	static const char *const platforms[] = { "hopper", "stampede" };

	for (size_t i = 0; i < 2; i++) {
		size_t point[SPACE_DIMENSIONS];
		struct space space;

		space_of(&space, i ? "vorpal" : "vpic", platforms[i]);
		for (uint64_t n = 0; n < space_points(&space); n += 5) {
			struct param_set set;

			space_point(&space, n, point);
			CHECK(space_allows(&space, point));
			space_set(&space, point, &set);
			CHECK_TEXT(value_of(&set, "cb_buffer_size"),
				   value_of(&set, "striping_unit"));
			param_set_release(&set);
		}
		space_release(&space);
	}
}

static void gcrm_has_no_collective_buffering(void)
{
	size_t point[SPACE_DIMENSIONS] = { 0 };
	struct param_set set;
	struct space space;

	space_of(&space, "gcrm", "hopper");
	space_set(&space, point, &set);
	CHECK(!value_of(&set, "cb_buffer_size") && !value_of(&set, "cb_nodes"));
	CHECK_INT(set.count, 4);
	param_set_release(&set);
	space_release(&space);
}

TESTS(TEST(volumes_match_the_paper), TEST(bytes_per_rank_do_not_depend_on_ranks),
      TEST(unknown_kernels_and_no_ranks_are_refused), TEST(space_sizes_match_the_paper),
      TEST(list_lengths_match_the_paper), TEST(lists_contain_the_best_settings_of_the_paper),
      TEST(buffer_is_tied_to_the_stripe_on_lustre), TEST(gcrm_has_no_collective_buffering))
