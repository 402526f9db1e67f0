/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/convoy.h"

#include "check.h"
#include "observe/profile/raster.h"
#include "observe/tally/layouts.h"
#include "observe/tally/traffic.h"

#define MIB (INT64_C(1) << 20)

/* Four writers, each of which writes `pieces` pieces of 8 MiB in step, one per second. */
static struct convoy measure(const struct layout *layout, int pieces)
{
	struct raster_point points[64];
	struct raster raster = { .points = points };

	for (int i = 0; i < pieces; i++)
		for (int writer = 0; writer < 4; writer++)
			points[raster.point_count++] = (struct raster_point){
				.start_ns = i * INT64_C(1000000000),
				.duration_ns = 1000000000,
				.offset = (writer * pieces + i) * 8 * MIB,
				.bytes = 8 * MIB,
				.member = writer,
				.way = WRITING,
			};
	return convoy_measure(&raster, layout);
}

/* Each writer has 128 MiB, which is once around all stripes: all are on the same one. */
static void writers_in_step_share_a_stripe(void)
{
	struct convoy c = measure(&(struct layout){ .stripes = 4, .unit = 32 * MIB }, 16);

	CHECK_NEAR(c.writes, 4, 1e-9);
	CHECK_NEAR(c.stripes, 1, 1e-9);
	CHECK_NEAR(c.could, 4, 1e-9);
	CHECK_NEAR(c.time_ns, 64e9, 1);
}

static void small_units_and_shifted_writers_use_all_stripes(void)
{
	struct convoy small = measure(&(struct layout){ .stripes = 4, .unit = MIB }, 16);
	struct convoy shifted = measure(&(struct layout){ .stripes = 4, .unit = 32 * MIB }, 4);

	CHECK_NEAR(small.stripes, 4, 1e-9);
	CHECK_NEAR(shifted.stripes, 4, 1e-9);
	CHECK_NEAR(shifted.could, 4, 1e-9);
}

/* On CephFS, the second 256 MiB are on four other objects: two pairs of writers. */
static void sets_of_objects_are_different_stripes(void)
{
	struct layout layout = {
		.stripes = 8, .unit = 32 * MIB, .set_stripes = 4, .set_bytes = 256 * MIB
	};
	struct convoy c = measure(&layout, 16);

	CHECK_NEAR(c.stripes, 2, 1e-9);
	CHECK_NEAR(c.could, 4, 1e-9);
	CHECK_INT(layout_stripe(&layout, 0), 0);
	CHECK_INT(layout_stripe(&layout, (uint64_t)(128 + 32) * MIB), 1);
	CHECK_INT(layout_stripe(&layout, (uint64_t)(256 + 32) * MIB), 5);
}

/* Writes that follow each other, reads, and what no program does. */
static void without_simultaneous_writes_there_are_no_figures(void)
{
	static const struct layout four = { .stripes = 4, .unit = 1 };
	struct raster_point points[] = {
		{ 0, 10, 0, 8, 0, WRITING },
		{ 10, 10, 8, 8, 1, WRITING },
		{ 0, 20, 8, 8, 2, READING },
		{ INT64_MAX - 1, INT64_MAX, INT64_MAX, UINT64_MAX, 3, WRITING },
		{ 0, 20, -8, 8, 3, WRITING },
		{ 0, -20, 8, 8, 3, WRITING },
	};
	struct raster raster = { .points = points, .point_count = 6 };
	struct layout unknown = { .stripes = 4 }, huge = { .stripes = UINT64_MAX, .unit = 1 };

	CHECK_NEAR(convoy_measure(&raster, &four).writes, 0, 0);
	points[1].start_ns = 5;
	CHECK_NEAR(convoy_measure(&raster, &four).writes, 2, 1e-9);
	CHECK_NEAR(convoy_measure(&raster, &four).time_ns, 10, 1e-9);
	CHECK_NEAR(convoy_measure(&raster, &unknown).writes, 0, 0);
	CHECK_NEAR(convoy_measure(&raster, &huge).writes, 0, 0);
	raster = (struct raster){ 0 };
	CHECK_NEAR(convoy_measure(&raster, &four).writes, 0, 0);
}

TESTS(TEST(writers_in_step_share_a_stripe), TEST(small_units_and_shifted_writers_use_all_stripes),
      TEST(sets_of_objects_are_different_stripes),
      TEST(without_simultaneous_writes_there_are_no_figures))
