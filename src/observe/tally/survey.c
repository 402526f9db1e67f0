/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/survey.h"

#include "observe/tally/traffic.h"

static const uint64_t stride_limits[SURVEY_STRIDES - 1] = { 4 << 10, 64 << 10, 1 << 20, 16 << 20 };
static const uint64_t alignments[SURVEY_ALIGNMENTS] = { 512, 4 << 10, 1 << 20 };

void survey_release(struct survey *survey)
{
	regions_release(&survey->regions[READING]);
	regions_release(&survey->regions[WRITING]);
	*survey = (struct survey){ 0 };
}

static void merge_way(struct survey *s, const struct survey *o, int way)
{
	s->accesses[way] += o->accesses[way];
	s->sequential[way] += o->sequential[way];
	s->short_seeks[way] += o->short_seeks[way];
	s->long_seeks[way] += o->long_seeks[way];
	for (int i = 0; i < SURVEY_STRIDES; i++)
		s->strided[way][i] += o->strided[way][i];
	for (int i = 0; i < SURVEY_ALIGNMENTS; i++)
		s->aligned[way][i] += o->aligned[way][i];
	s->bytes[way] += o->bytes[way];
	s->seek_bytes[way] += o->seek_bytes[way];
	if (o->seek_largest[way] > s->seek_largest[way])
		s->seek_largest[way] = o->seek_largest[way];
	s->transfer_ns[way] += o->transfer_ns[way];
	regions_add_all(&s->regions[way], &o->regions[way]);
}

void survey_merge(struct survey *survey, const struct survey *other)
{
	merge_way(survey, other, READING);
	merge_way(survey, other, WRITING);
	survey->seeks += other->seeks;
	survey->open_ns += other->open_ns;
	survey->close_ns += other->close_ns;
	if (!other->calls)
		return;
	if (!survey->calls || other->first_ns < survey->first_ns)
		survey->first_ns = other->first_ns;
	if (!survey->calls || other->last_ns > survey->last_ns)
		survey->last_ns = other->last_ns;
	survey->calls += other->calls;
}

uint64_t survey_repeated_bytes(const struct survey *survey, int way)
{
	const struct regions *regions = &survey->regions[way];
	uint64_t distinct = regions_bytes(regions);

	return !regions->unplaced && survey->bytes[way] > distinct ? survey->bytes[way] - distinct
								   : 0;
}

double survey_time_ns(const struct survey *survey)
{
	return (double)(survey->open_ns + survey->transfer_ns[READING] +
			survey->transfer_ns[WRITING] + survey->close_ns);
}

void survey_add_strides(struct survey *survey, int way, uint64_t stride, uint64_t count)
{
	int i = 0;

	while (i < SURVEY_STRIDES - 1 && stride > stride_limits[i])
		i++;
	survey->strided[way][i] += count;
}

void survey_add_aligned(struct survey *survey, int way, uint64_t alignment, uint64_t count)
{
	for (int i = 0; i < SURVEY_ALIGNMENTS; i++)
		if (alignment % alignments[i] == 0)
			survey->aligned[way][i] += count;
}

void survey_add_alignment(struct survey *survey, int way, uint64_t offset, uint64_t bytes)
{
	/* They are powers of two. */
	for (int i = 0; i < SURVEY_ALIGNMENTS; i++)
		survey->aligned[way][i] += !((offset | bytes) & (alignments[i] - 1));
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static double strided(const struct survey *s, int way)
{
	uint64_t sum = 0;

	for (int i = 0; i < SURVEY_STRIDES; i++)
		sum += s->strided[way][i];
	return (double)sum;
}

#define GET(name, value)                         \
	static double name(const void *record)   \
	{                                        \
		const struct survey *s = record; \
		return value;                    \
	}
/* Defines the function for both directions. */
#define GET_WAYS(name, value)                            \
	static double name##_reading(const void *record) \
	{                                                \
		const struct survey *s = record;         \
		const int w = READING;                   \
		return value;                            \
	}                                                \
	static double name##_writing(const void *record) \
	{                                                \
		const struct survey *s = record;         \
		const int w = WRITING;                   \
		return value;                            \
	}

GET(get_accesses, (double)(s->accesses[READING] + s->accesses[WRITING]))
GET_WAYS(accesses, (double)s->accesses[w])
GET_WAYS(aligned_512, (double)s->aligned[w][SURVEY_512])
GET_WAYS(aligned_4k, (double)s->aligned[w][SURVEY_4K])
GET_WAYS(aligned_1m, (double)s->aligned[w][SURVEY_1M])
GET_WAYS(long_seeks, (double)s->long_seeks[w])
GET_WAYS(short_seeks, (double)s->short_seeks[w])
GET_WAYS(sequential, (double)s->sequential[w])
GET_WAYS(strided, strided(s, w))
GET_WAYS(stride_4k, (double)s->strided[w][0])
GET_WAYS(stride_64k, (double)s->strided[w][1])
GET_WAYS(stride_1m, (double)s->strided[w][2])
GET_WAYS(stride_16m, (double)s->strided[w][3])
GET_WAYS(stride_far, (double)s->strided[w][4])
GET(get_bytes, (double)(s->bytes[READING] + s->bytes[WRITING]))
GET_WAYS(bytes, (double)s->bytes[w])
GET_WAYS(size, ratio(s->bytes[w], s->accesses[w]))
GET_WAYS(seek, ratio(s->seek_bytes[w], s->accesses[w]))
GET_WAYS(seek_largest, (double)s->seek_largest[w])
GET(get_seeks, (double)s->seeks)
GET_WAYS(time, (double)s->transfer_ns[w])
GET(get_closing, (double)s->close_ns)
GET(get_opening, (double)s->open_ns)
GET(get_surveyed, (double)(s->last_ns - s->first_ns))

/* The lines of one direction, in alphabetical order as in SIOX. */
#define ACCESSES(Way, way)                                                                        \
	{ "Accesses/" Way, NULL, QUANTITY_COUNT, accesses_##way },                                \
		{ "Accesses/" Way "/Aligned to 1 MiB", NULL, QUANTITY_COUNT, aligned_1m_##way },  \
		{ "Accesses/" Way "/Aligned to 4 KiB", NULL, QUANTITY_COUNT, aligned_4k_##way },  \
		{ "Accesses/" Way "/Aligned to 512 B", NULL, QUANTITY_COUNT, aligned_512_##way }, \
		{ "Accesses/" Way "/Random, long seek", NULL, QUANTITY_COUNT, long_seeks_##way }, \
		{ "Accesses/" Way "/Random, short seek", NULL, QUANTITY_COUNT,                    \
		  short_seeks_##way },                                                            \
		{ "Accesses/" Way "/Sequential", NULL, QUANTITY_COUNT, sequential_##way },        \
		{ "Accesses/" Way "/Strided", NULL, QUANTITY_COUNT, strided_##way },              \
		{ "Accesses/" Way "/Strided, up to 4 KiB", NULL, QUANTITY_COUNT,                  \
		  stride_4k_##way },                                                              \
		{ "Accesses/" Way "/Strided, up to 64 KiB", NULL, QUANTITY_COUNT,                 \
		  stride_64k_##way },                                                             \
		{ "Accesses/" Way "/Strided, up to 1 MiB", NULL, QUANTITY_COUNT,                  \
		  stride_1m_##way },                                                              \
		{ "Accesses/" Way "/Strided, up to 16 MiB", NULL, QUANTITY_COUNT,                 \
		  stride_16m_##way },                                                             \
	{                                                                                         \
		"Accesses/" Way "/Strided, beyond 16 MiB", NULL, QUANTITY_COUNT, stride_far_##way \
	}

const struct measure survey_measures[SURVEY_MEASURES] = {
	{ "Accesses", NULL, QUANTITY_COUNT, get_accesses },
	ACCESSES("Reading", reading),
	ACCESSES("Writing", writing),
	{ "Bytes", NULL, QUANTITY_BYTES, get_bytes },
	{ "Bytes/Read per access", NULL, QUANTITY_BYTES, size_reading },
	{ "Bytes/Total read", NULL, QUANTITY_BYTES, bytes_reading },
	{ "Bytes/Total written", NULL, QUANTITY_BYTES, bytes_writing },
	{ "Bytes/Written per access", NULL, QUANTITY_BYTES, size_writing },
	{ "Seek Distance/Average reading", NULL, QUANTITY_BYTES, seek_reading },
	{ "Seek Distance/Average writing", NULL, QUANTITY_BYTES, seek_writing },
	{ "Seek Distance/Largest reading", NULL, QUANTITY_BYTES, seek_largest_reading },
	{ "Seek Distance/Largest writing", NULL, QUANTITY_BYTES, seek_largest_writing },
	{ "Seeks", NULL, QUANTITY_COUNT, get_seeks },
	{ "Time/Total for closing", NULL, QUANTITY_NS, get_closing },
	{ "Time/Total for opening", NULL, QUANTITY_NS, get_opening },
	{ "Time/Total for reading", NULL, QUANTITY_NS, time_reading },
	{ "Time/Total for writing", NULL, QUANTITY_NS, time_writing },
	{ "Time/Total surveyed", NULL, QUANTITY_NS, get_surveyed },
};
