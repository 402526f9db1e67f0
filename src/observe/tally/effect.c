/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/effect.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/parameters.h"

const char *effect_name(enum effect honour)
{
	static const char *const names[] = { "no", "yes", "unknown" };

	return names[honour];
}

static struct judgement say(enum effect honour, const char *by, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static struct judgement say(enum effect honour, const char *by, const char *format, ...)
{
	struct judgement j = { .honour = honour, .by = by };
	va_list ap;

	va_start(ap, format);
	vsnprintf(j.why, sizeof(j.why), format, ap);
	va_end(ap);
	return j;
}

static bool is_named(const struct parameter *row, const char *name)
{
	return strcmp(row->name, name) == 0;
}

/* Whole numbers from 1; 0: it is none. */
static uint64_t number_of(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	return *end || end == text ? 0 : n;
}

/* What was read back is what was asked for, blanks aside. */
static bool is_same(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, " \t");
		b += strspn(b, " \t");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

/* Somebody who tells what he made of it. */
static struct judgement by_answer(const struct parameter *row, const char *who)
{
	if (!row->effective)
		return say(EFFECT_IGNORED, who, "%s does not know it", who);
	if (!is_same(row->requested, row->effective))
		return say(EFFECT_IGNORED, who, "%s has %s", who, row->effective);
	return say(EFFECT_APPLIED, who, "%s", "");
}

/* How many ranks write for the others. */
static struct judgement by_writers(const struct parameter *row, const struct evidence *e,
				   const char *who)
{
	uint64_t asked = number_of(row->requested);
	uint64_t expected = asked < e->writing ? asked : e->writing;
	bool same = expected == e->writers;

	return say(same ? EFFECT_APPLIED : EFFECT_IGNORED, who, "%zu of %zu ranks wrote",
		   e->writers, e->writing);
}

/* Writes that are much smaller than the buffer show nothing: there may be less to write. */
static struct judgement by_size(const struct parameter *row, const struct evidence *e,
				const char *who)
{
	uint64_t asked = number_of(row->requested);
	enum effect honour = e->largest > asked	      ? EFFECT_IGNORED
			     : 2 * e->largest < asked ? EFFECT_UNKNOWN
						      : EFFECT_APPLIED;

	return say(honour, who, "the largest write has %" PRIu64, e->largest);
}

/* With collective buffering some ranks write for all; without, each its own. */
static struct judgement by_buffering(const struct parameter *row, const struct evidence *e,
				     const char *who)
{
	bool buffered = e->writers < e->writing;
	bool wanted = strcmp(row->requested, "enable") == 0;

	if (e->writing < 2 || (!wanted && strcmp(row->requested, "disable") != 0))
		return say(EFFECT_UNKNOWN, who, "it cannot be seen from the calls");
	return say(buffered == wanted ? EFFECT_APPLIED : EFFECT_IGNORED, who,
		   "%zu of %zu ranks wrote", e->writers, e->writing);
}

/* An MPI that repeats any hint. */
static struct judgement by_calls(const struct parameter *row, const struct evidence *e,
				 const char *who)
{
	static const struct {
		const char *name;
		struct judgement (*judge)(const struct parameter *row, const struct evidence *e,
					  const char *who);
	} rules[] = {
		{ "cb_nodes", by_writers },
		{ "num_aggregators", by_writers },
		{ "cb_buffer_size", by_size },
		{ "romio_cb_write", by_buffering },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (!is_named(row, rules[i].name))
			continue;
		if (!e->writers)
			return say(EFFECT_UNKNOWN, who, "no collective write was seen");
		return rules[i].judge(row, e, who);
	}
	return say(EFFECT_UNKNOWN, who, "%s repeats any hint", who);
}

static bool is_striping(const struct parameter *row)
{
	return strncmp(row->name, "striping_", 9) == 0 || is_named(row, "start_iodevice");
}

/* Does the driver lay files out? That of local and NFS files does not. */
static bool has_stripes(const struct evidence *e)
{
	return e->driver && (strcasestr(e->driver, "lustre") || strcasestr(e->driver, "panfs") ||
			     strcasestr(e->driver, "gpfs") || strcasestr(e->driver, "beegfs"));
}

static struct judgement mpi_judge(const struct parameter *row, const struct evidence *e)
{
	const char *mpi = e && e->mpi ? e->mpi : "";
	bool is_ompio = strcmp(mpi, PARAMETERS_OMPIO) == 0;
	const char *who = is_ompio ? "OMPIO" : *mpi ? "ROMIO" : "the MPI";

	if (is_striping(row) && e && !has_stripes(e))
		return say(EFFECT_IGNORED, "", "local file system");
	if (is_ompio && strncmp(row->name, "romio_", 6) == 0)
		return say(EFFECT_IGNORED, who, "OMPIO knows no hints of ROMIO");
	if (strcmp(mpi, PARAMETERS_MPICH) == 0)
		return by_answer(row, who);
	return e ? by_calls(row, e, who) : say(EFFECT_UNKNOWN, who, "nothing was seen");
}

/* Data goes by single processes if no collective transfer is beneath HDF5's. */
static struct judgement transfer_judge(const struct parameter *row, const struct evidence *e)
{
	if (!e || !e->transfers)
		return say(EFFECT_UNKNOWN, "HDF5", "no data was moved");
	if (strcmp(row->requested, "independent") != 0)
		return by_answer(row, "HDF5");
	return say(e->collectives ? EFFECT_IGNORED : EFFECT_APPLIED, "HDF5",
		   "%" PRIu64 " collective transfers beneath %" PRIu64, e->collectives,
		   e->transfers);
}

/* A size in bytes becomes a shape that has about that size. */
static bool is_shaped(const struct parameter *row)
{
	return is_named(row, "chunk_size") && row->effective && row->effective[0] >= '0' &&
	       row->effective[0] <= '9' && !strchr(row->requested, ',');
}

/* "THRESHOLD,BOUNDARY" */
static bool alignment_read(const char *text, uint64_t *threshold, uint64_t *boundary)
{
	char *end;

	*threshold = strtoull(text, &end, 10);
	end += strspn(end, " \t");
	if (end == text || *end != ',')
		return false;
	*boundary = strtoull(end + 1, &end, 10);
	return *boundary && !end[strspn(end, " \t")];
}

/* An opening that could ask the file proves what its list says, though not where data is. */
static struct judgement by_list(const struct parameter *row, const struct evidence *e)
{
	struct judgement j = by_answer(row, "HDF5");

	if (j.honour != EFFECT_APPLIED)
		return j;
	return e && e->is_read_back ? say(EFFECT_APPLIED, "HDF5", "read back from the file")
				    : say(EFFECT_UNKNOWN, "HDF5", "no dataset shows it");
}

static void places_say(struct judgement *j)
{
	j->honour = j->aligned == j->datasets ? EFFECT_APPLIED : EFFECT_IGNORED;
	snprintf(j->why, sizeof(j->why),
		 "%" PRIu64 " of %" PRIu64 " datasets at multiples of %" PRIu64, j->aligned,
		 j->datasets, j->boundary);
}

/* Datasets of the size that counts begin at multiples of the boundary, or they do not. */
static struct judgement alignment_judge(const struct parameter *row, const struct evidence *e)
{
	struct judgement j = { .by = "HDF5" };
	uint64_t threshold;

	if (!e || !alignment_read(row->requested, &threshold, &j.boundary))
		return by_list(row, e);
	for (size_t i = 0; i < e->places.cap; i++) {
		const struct map_entry *place = &e->places.entries[i];

		if (!place->key || (uintptr_t)place->value < threshold)
			continue;
		j.datasets++;
		j.aligned += (place->key - 1) % j.boundary == 0;
	}
	if (!j.datasets)
		return by_list(row, e);
	places_say(&j);
	return j;
}

void effect_join(struct judgement *judgement, const struct judgement *other)
{
	if (!judgement->datasets || !other->datasets)
		return;
	judgement->datasets += other->datasets;
	judgement->aligned += other->aligned;
	places_say(judgement);
}

static struct judgement hdf5_judge(const struct parameter *row, const struct evidence *e)
{
	if (is_named(row, "transfer"))
		return transfer_judge(row, e);
	if (is_named(row, PARAMETERS_ALIGNMENT))
		return alignment_judge(row, e);
	if (is_shaped(row))
		return say(EFFECT_APPLIED, "HDF5", "as chunks of %s", row->effective);
	return by_answer(row, "HDF5");
}

struct judgement effect_judge(const struct parameter *row, const struct evidence *evidence)
{
	if (row->refusal)
		return say(EFFECT_IGNORED, "", "refused: %s", row->refusal);
	switch (row->of) {
	case PARAMETERS_FILE_MPI:
		return mpi_judge(row, evidence);
	case PARAMETERS_FILE_HDF5:
	case PARAMETERS_DATASET:
		return hdf5_judge(row, evidence);
	case PARAMETERS_FILE_POSIX:
		if (!row->effective)
			return say(EFFECT_IGNORED, "", "local file system");
		return by_answer(row, "the file system");
	case PARAMETERS_NONE:
		break;
	}
	return say(EFFECT_UNKNOWN, "", "nothing was seen");
}
