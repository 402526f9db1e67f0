/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/effect.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/parameters.h"

const char *effect_name(enum effect effect)
{
	static const char *const names[] = { "no", "yes", "unknown" };

	return names[effect];
}

static struct effect_judgment judgment_make(enum effect effect, const char *by, const char *format,
					    ...) __attribute__((format(printf, 3, 4)));

static struct effect_judgment judgment_make(enum effect effect, const char *by, const char *format,
					    ...)
{
	struct effect_judgment j = { .effect = effect, .by = by };
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

/* Returns a positive whole number, or 0 if the text is not one. */
static uint64_t parse_count(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	return *end || end == text ? 0 : n;
}

/* Compares the requested value with the one that was read back; blanks do not matter. */
static bool values_equal(const char *a, const char *b)
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

/* For components that report the value they use. */
static struct effect_judgment judge_by_value_read_back(const struct parameter *row, const char *who)
{
	if (!row->effective)
		return judgment_make(EFFECT_IGNORED, who, "%s does not recognize it", who);
	if (!values_equal(row->requested, row->effective))
		return judgment_make(EFFECT_IGNORED, who, "%s uses %s", who, row->effective);
	return judgment_make(EFFECT_APPLIED, who, "%s", "");
}

/* Compares the number of aggregators with the number of ranks that wrote to storage. */
static struct effect_judgment judge_by_writers(const struct parameter *row,
					       const struct evidence *e, const char *who)
{
	uint64_t asked = parse_count(row->requested);
	uint64_t expected = asked < e->writing ? asked : e->writing;
	bool same = expected == e->writers;

	return judgment_make(same ? EFFECT_APPLIED : EFFECT_IGNORED, who, "%zu of %zu ranks wrote",
			     e->writers, e->writing);
}

/*
 * Writes that are much smaller than the buffer prove nothing: the program may have had less to
 * write.
 */
static struct effect_judgment judge_by_write_size(const struct parameter *row,
						  const struct evidence *e, const char *who)
{
	uint64_t asked = parse_count(row->requested);
	enum effect effect = e->largest > asked	      ? EFFECT_IGNORED
			     : 2 * e->largest < asked ? EFFECT_UNKNOWN
						      : EFFECT_APPLIED;

	return judgment_make(effect, who, "the largest write was %" PRIu64 " bytes", e->largest);
}

/*
 * With collective buffering, some ranks write for all of them; without it, every rank writes its
 * own data.
 */
static struct effect_judgment judge_by_buffering(const struct parameter *row,
						 const struct evidence *e, const char *who)
{
	bool buffered = e->writers < e->writing;
	bool wanted = strcmp(row->requested, "enable") == 0;

	if (e->writing < 2 || (!wanted && strcmp(row->requested, "disable") != 0))
		return judgment_make(EFFECT_UNKNOWN, who, "the recorded calls do not show it");
	return judgment_make(buffered == wanted ? EFFECT_APPLIED : EFFECT_IGNORED, who,
			     "%zu of %zu ranks wrote", e->writers, e->writing);
}

/* For an MPI library that reports every hint back unchanged. */
static struct effect_judgment judge_by_calls(const struct parameter *row, const struct evidence *e,
					     const char *who)
{
	static const struct {
		const char *name;
		struct effect_judgment (*judge)(const struct parameter *row,
						const struct evidence *e, const char *who);
	} rules[] = {
		{ "cb_nodes", judge_by_writers },
		{ "num_aggregators", judge_by_writers },
		{ "cb_buffer_size", judge_by_write_size },
		{ "romio_cb_write", judge_by_buffering },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (!is_named(row, rules[i].name))
			continue;
		if (!e->writers)
			return judgment_make(EFFECT_UNKNOWN, who,
					     "no collective write was recorded");
		return rules[i].judge(row, e, who);
	}
	return judgment_make(EFFECT_UNKNOWN, who, "%s reports every hint back unchanged", who);
}

static bool is_striping(const struct parameter *row)
{
	return strncmp(row->name, "striping_", 9) == 0 || is_named(row, "start_iodevice");
}

bool effect_has_stripes(const struct evidence *evidence)
{
	const char *driver = evidence->driver;

	return driver && (strcasestr(driver, "lustre") || strcasestr(driver, "panfs") ||
			  strcasestr(driver, "gpfs") || strcasestr(driver, "beegfs"));
}

static struct effect_judgment judge_mpi(const struct parameter *row, const struct evidence *e)
{
	const char *mpi = e && e->mpi ? e->mpi : "";
	bool is_ompio = strcmp(mpi, PARAMETERS_OMPIO) == 0;
	const char *who = is_ompio ? "OMPIO" : *mpi ? "ROMIO" : "the MPI";

	if (is_named(row, "transfer")) /* Sluice itself makes the other call */
		return judge_by_value_read_back(row, "Sluice");
	if (is_striping(row) && e && !effect_has_stripes(e))
		return judgment_make(EFFECT_IGNORED, "", "local file system");
	if (is_ompio && strncmp(row->name, "romio_", 6) == 0)
		return judgment_make(EFFECT_IGNORED, who, "OMPIO does not support ROMIO hints");
	if (strcmp(mpi, PARAMETERS_MPICH) == 0)
		return judge_by_value_read_back(row, who);
	return e ? judge_by_calls(row, e, who)
		 : judgment_make(EFFECT_UNKNOWN, who, "no evidence was recorded");
}

/*
 * An HDF5 transfer is collective if a collective MPI transfer happens inside it. The mode may be
 * applied to some datasets only: those with filters stay collective, and HDF5 makes others
 * independent.
 */
static struct effect_judgment judge_transfer(const struct parameter *row, const struct evidence *e)
{
	bool is_applied;

	if (!e || !e->transfers)
		return judgment_make(EFFECT_UNKNOWN, "HDF5", "no data transferred");
	is_applied = strcmp(row->requested, "independent") == 0 ? e->collectives < e->transfers
								: e->collectives > 0;
	return judgment_make(is_applied ? EFFECT_APPLIED : EFFECT_IGNORED, "HDF5",
			     "%" PRIu64 " collective MPI transfers inside %" PRIu64
			     " HDF5 transfers",
			     e->collectives, e->transfers);
}

/* HDF5 turns a size in bytes into a chunk shape of about that size. */
static bool is_chunk_shape(const struct parameter *row)
{
	return is_named(row, "chunk_size") && row->effective && row->effective[0] >= '0' &&
	       row->effective[0] <= '9' && !strchr(row->requested, ',');
}

/* Parses "THRESHOLD,BOUNDARY". */
static bool alignment_parse(const char *text, uint64_t *threshold, uint64_t *boundary)
{
	char *end;

	*threshold = strtoull(text, &end, 10);
	end += strspn(end, " \t");
	if (end == text || *end != ',')
		return false;
	*boundary = strtoull(end + 1, &end, 10);
	return *boundary && !end[strspn(end, " \t")];
}

/*
 * If HDF5 read the property list back from the file, the value is proven, although no dataset shows
 * it.
 */
static struct effect_judgment judge_by_property_list(const struct parameter *row,
						     const struct evidence *e)
{
	struct effect_judgment j = judge_by_value_read_back(row, "HDF5");

	if (j.effect != EFFECT_APPLIED)
		return j;
	return e && e->is_read_back
		       ? judgment_make(EFFECT_APPLIED, "HDF5", "read back from the file")
		       : judgment_make(EFFECT_UNKNOWN, "HDF5", "no recorded dataset shows it");
}

static void describe_alignment(struct effect_judgment *j)
{
	j->effect = j->aligned == j->datasets ? EFFECT_APPLIED : EFFECT_IGNORED;
	snprintf(j->why, sizeof(j->why),
		 "%" PRIu64 " of %" PRIu64 " datasets start at a multiple of %" PRIu64 " bytes",
		 j->aligned, j->datasets, j->boundary);
}

/* Counts the datasets above the threshold that start at a multiple of the boundary. */
static struct effect_judgment judge_alignment(const struct parameter *row, const struct evidence *e)
{
	struct effect_judgment j = { .by = "HDF5" };
	uint64_t threshold;

	if (!e || !alignment_parse(row->requested, &threshold, &j.boundary))
		return judge_by_property_list(row, e);
	for (size_t i = 0; i < e->places.cap; i++) {
		const struct map_entry *place = &e->places.entries[i];

		if (!place->key || (uintptr_t)place->value < threshold)
			continue;
		j.datasets++;
		j.aligned += (place->key - 1) % j.boundary == 0;
	}
	if (!j.datasets)
		return judge_by_property_list(row, e);
	describe_alignment(&j);
	return j;
}

void effect_join(struct effect_judgment *judgment, const struct effect_judgment *other)
{
	if (!judgment->datasets || !other->datasets)
		return;
	judgment->datasets += other->datasets;
	judgment->aligned += other->aligned;
	describe_alignment(judgment);
}

static struct effect_judgment judge_hdf5(const struct parameter *row, const struct evidence *e)
{
	if (is_named(row, "transfer"))
		return judge_transfer(row, e);
	if (is_named(row, PARAMETERS_ALIGNMENT))
		return judge_alignment(row, e);
	if (is_chunk_shape(row))
		return judgment_make(EFFECT_APPLIED, "HDF5", "as chunks of %s", row->effective);
	return judge_by_value_read_back(row, "HDF5");
}

struct effect_judgment effect_judge(const struct parameter *row, const struct evidence *evidence)
{
	if (row->refusal)
		return judgment_make(EFFECT_IGNORED, "", "refused: %s", row->refusal);
	switch (row->of) {
	case PARAMETERS_FILE_MPI:
		return judge_mpi(row, evidence);
	case PARAMETERS_FILE_HDF5:
	case PARAMETERS_DATASET:
		return judge_hdf5(row, evidence);
	case PARAMETERS_FILE_POSIX:
		if (!row->effective)
			return judgment_make(EFFECT_IGNORED, "", "local file system");
		return judge_by_value_read_back(row, "the file system");
	case PARAMETERS_NONE:
		break;
	}
	return judgment_make(EFFECT_UNKNOWN, "", "no evidence was recorded");
}
