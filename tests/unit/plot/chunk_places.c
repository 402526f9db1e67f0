/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/chunk_places.h"

#include "check.h"

enum { FILE_OF_CHUNKS = 1, OTHER_FILE = 2, CHUNK = 100 };

static struct profile profile;
static struct raster_point points[8];
static struct raster raster = { .file = FILE_OF_CHUNKS, .points = points };

/* A profile with one file whose chunks have 100 bytes; the caller releases it. */
static struct file_facts *profile_start(void)
{
	struct file_facts *facts;

	profile = (struct profile){ 0 };
	profile.timeline.rasters.list[0] = &raster;
	profile.timeline.rasters.count = 1;
	raster.point_count = 0;
	facts = facts_put(&profile.facts, FILE_OF_CHUNKS);
	facts->chunk_bytes = CHUNK;
	return facts;
}

static void access_add(int64_t offset, uint64_t bytes)
{
	points[raster.point_count++] = (struct raster_point){ .offset = offset, .bytes = bytes };
}

static void accesses_of_one_chunk_show_its_place(void)
{
	struct chunk_places places;

	profile_start();
	access_add(900, CHUNK);
	access_add(0, 96); /* metadata */
	access_add(500, CHUNK);
	access_add(900, CHUNK);
	access_add(600, CHUNK);
	access_add(500, 3 * CHUNK);
	chunk_places_init(&places, &profile, FILE_OF_CHUNKS);
	CHECK(places.bytes == CHUNK && places.count == 3);
	CHECK(places.offsets[0] == 500 && places.offsets[1] == 600 && places.offsets[2] == 900);
	chunk_places_release(&places);
	facts_release(&profile.facts);
}

static void overlapping_accesses_are_not_chunks(void)
{
	struct chunk_places places;

	profile_start();
	access_add(500, CHUNK);
	access_add(599, CHUNK);
	chunk_places_init(&places, &profile, FILE_OF_CHUNKS);
	CHECK(places.bytes == CHUNK && places.count == 0);
	chunk_places_release(&places);
	facts_release(&profile.facts);
}

static void compressed_chunks_have_other_sizes(void)
{
	struct chunk_places places;

	profile_start()->compressed = true;
	access_add(500, 61);
	access_add(561, 67);
	chunk_places_init(&places, &profile, FILE_OF_CHUNKS);
	CHECK(places.bytes == CHUNK && places.has_compressed && places.count == 0);
	chunk_places_release(&places);
	facts_release(&profile.facts);
}

static void other_files_have_no_chunks(void)
{
	struct chunk_places places;

	profile_start();
	access_add(500, CHUNK);
	chunk_places_init(&places, &profile, OTHER_FILE);
	CHECK(places.bytes == 0 && places.count == 0);
	chunk_places_release(&places);
	facts_release(&profile.facts);
}

TESTS(TEST(accesses_of_one_chunk_show_its_place), TEST(overlapping_accesses_are_not_chunks),
      TEST(compressed_chunks_have_other_sizes), TEST(other_files_have_no_chunks))
