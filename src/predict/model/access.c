/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/access.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/option.h"
#include "base/unit.h"
#include "params/set.h"
#include "predict/model/machine.h"

/* The limits keep sums of offsets and sizes within 64 bits. */
#define FILE_BYTES_MAX (UINT64_C(1) << 60)
#define RANKS_MAX (UINT64_C(1) << 31)

static uint64_t count_pieces(const struct access *access)
{
	return access->rank_bytes / access->block_bytes;
}

static int check_strided(const struct access *access, struct err *err)
{
	if (!access->block_bytes || access->rank_bytes % access->block_bytes)
		return err_set(err, EINVAL,
			       "the block size (%lu bytes) must divide the bytes per rank (%lu)",
			       access->block_bytes, access->rank_bytes);
	if (access->stride_bytes < access->block_bytes)
		return err_set(err, EINVAL,
			       "the stride (%lu bytes) must be at least the block size (%lu bytes)",
			       access->stride_bytes, access->block_bytes);
	if (access->stride_bytes > FILE_BYTES_MAX / access->ranks / count_pieces(access))
		return err_set(err, EFBIG, "the file is too large with a stride of %lu bytes",
			       access->stride_bytes);
	return 0;
}

bool settings_equal(const struct settings *a, const struct settings *b)
{
	return a->aggregators == b->aggregators && a->node_aggregators == b->node_aggregators &&
	       a->buffer_bytes == b->buffer_bytes && a->stripes == b->stripes &&
	       a->stripe_bytes == b->stripe_bytes && a->buffering == b->buffering &&
	       a->sieving == b->sieving && a->sieve_bytes == b->sieve_bytes;
}

int access_check(const struct access *access, struct err *err)
{
	if (!access->ranks || !access->nodes)
		return err_set(err, EINVAL, "the access needs at least one %s",
			       access->nodes ? "rank" : "node");
	if (access->ranks > RANKS_MAX)
		return err_set(err, EINVAL, "%lu ranks exceed the limit of MPI", access->ranks);
	if (access->ranks % access->nodes)
		return err_set(err, EINVAL, "%lu ranks cannot be divided evenly among %lu nodes",
			       access->ranks, access->nodes);
	if (!access->rank_bytes)
		return err_set(err, EINVAL, "the access needs at least one byte per rank");
	if (access->rank_bytes > FILE_BYTES_MAX / access->ranks || access->offset > FILE_BYTES_MAX)
		return err_set(err, EFBIG, "the file is too large: %lu bytes for each of %lu ranks",
			       access->rank_bytes, access->ranks);
	return access->pattern == ACCESS_STRIDED ? check_strided(access, err) : 0;
}

uint64_t access_extent(const struct access *access)
{
	if (access->pattern == ACCESS_CONTIGUOUS)
		return access->ranks * access->rank_bytes;
	return (access->ranks * count_pieces(access) - 1) * access->stride_bytes +
	       access->block_bytes;
}

bool access_has_pieces(const struct access *access)
{
	return access->pattern == ACCESS_STRIDED && count_pieces(access) > 1 &&
	       access->ranks * access->stride_bytes > access->block_bytes;
}

/* Ranks interleave if they have more than one piece: the first pieces of all ranks precede the
 * second pieces. */
bool access_interleaves(const struct access *access)
{
	return access->pattern == ACCESS_STRIDED && access->ranks > 1 && count_pieces(access) > 1;
}

/* A hint, which may have another name for reads. */
struct hint {
	const char *write_name, *read_name;
	size_t offset;
};

#define SETTING(name) offsetof(struct settings, name)

static const struct hint numbers[] = {
	{ "cb_buffer_size", "cb_buffer_size", SETTING(buffer_bytes) },
	{ "striping_factor", "striping_factor", SETTING(stripes) },
	{ "striping_unit", "striping_unit", SETTING(stripe_bytes) },
	{ "ind_wr_buffer_size", "ind_rd_buffer_size", SETTING(sieve_bytes) },
};

/* Hints with the words of enum buffering. */
static const struct hint switches[] = {
	{ "romio_cb_write", "romio_cb_read", SETTING(buffering) },
	{ "romio_ds_write", "romio_ds_read", SETTING(sieving) },
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *hint_name(const struct hint *hint, const struct access *access)
{
	return access->is_read ? hint->read_name : hint->write_name;
}

static void *hint_field(const struct hint *hint, const struct settings *settings)
{
	return (char *)settings + hint->offset;
}

bool settings_know(const char *name, const struct machine *machine, const struct access *access)
{
	if (machine->bridges ? strcmp(name, "bg_nodes_pset") == 0
			     : strcmp(name, "cb_nodes") == 0 || strcmp(name, "cb_config_list") == 0)
		return true;
	for (size_t i = 0; i < COUNT(numbers); i++)
		if (strcmp(name, hint_name(&numbers[i], access)) == 0)
			return true;
	for (size_t i = 0; i < COUNT(switches); i++)
		if (strcmp(name, hint_name(&switches[i], access)) == 0)
			return true;
	return false;
}

static const char *find_value(const struct param_set *set, const char *name)
{
	const struct param *param = param_set_find(set, tunable_by_name(name), NULL, NULL);

	return param ? param->value : NULL;
}

/* Reads a numeric hint; leaves *out untouched if it is not set. Values have the form of
 * tunable_parse(). */
static int read_number(const struct param_set *set, const char *name, uint64_t *out,
		       struct err *err)
{
	const char *value = find_value(set, name);

	if (value && (unit_parse_count(value, out) < 0 || !*out))
		return err_set(err, EINVAL, "%s=%s is not supported by the model", name, value);
	return 0;
}

/* Reads "*:K" or "*:*". Lists with host names are not supported. */
static int read_config_list(const char *list, const struct access *access, uint64_t *out,
			    struct err *err)
{
	uint64_t cores = access->ranks / access->nodes;

	if (strcmp(list, "*:*") == 0) {
		*out = cores;
		return 0;
	}
	if (strncmp(list, "*:", 2) != 0 || unit_parse_count(list + 2, out) < 0 || !*out)
		return err_set(err, EINVAL,
			       "cb_config_list=%s is not supported by the model; use *:K for K "
			       "aggregators per node",
			       list);
	if (*out > cores)
		*out = cores;
	return 0;
}

static int read_aggregators(struct settings *s, const struct machine *machine,
			    const struct access *access, const struct param_set *set,
			    struct err *err)
{
	const char *list = find_value(set, "cb_config_list");
	int r;

	if (machine->bridges)
		return read_number(set, "bg_nodes_pset", &s->aggregators, err);
	r = read_number(set, "cb_nodes", &s->aggregators, err);
	if (r == 0 && list)
		r = read_config_list(list, access, &s->node_aggregators, err);
	else if (r == 0 && s->aggregators)
		s->node_aggregators = machine->node_aggregators;
	return r;
}

int settings_from_params(struct settings *settings, const struct machine *machine,
			 const struct access *access, const struct param_set *set, struct err *err)
{
	struct settings s = { 0 };
	int r = read_aggregators(&s, machine, access, set, err);

	for (size_t i = 0; r == 0 && i < COUNT(numbers); i++)
		r = read_number(set, hint_name(&numbers[i], access), hint_field(&numbers[i], &s),
				err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < COUNT(switches); i++) {
		const char *value = find_value(set, hint_name(&switches[i], access));
		int word = value ? option_choice(BUFFERING_WORDS, value, strlen(value)) : -1;

		*(enum buffering *)hint_field(&switches[i], &s) =
			word < 0 ? BUFFERING_AUTOMATIC : (enum buffering)word;
	}
	*settings = s;
	return 0;
}

static int put_number(struct param_set *set, const char *name, const char *before, uint64_t number,
		      struct err *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%lu", before, number);
	return param_set_put(set, tunable_by_name(name), text, NULL, NULL, 0, err);
}

/* cb_config_list limits the aggregators per node, so more than the default needs both hints. */
static int put_aggregators(const struct settings *s, const struct machine *machine,
			   const struct access *access, struct param_set *set, struct err *err)
{
	uint64_t each = s->node_aggregators;
	int r = 0;

	if (machine->bridges)
		return s->aggregators ? put_number(set, "bg_nodes_pset", "", s->aggregators, err)
				      : 0;
	if (s->aggregators)
		r = put_number(set, "cb_nodes", "", s->aggregators, err);
	if (s->aggregators && !each)
		each = (s->aggregators + access->nodes - 1) / access->nodes;
	if (r == 0 && each && each != machine->node_aggregators)
		r = put_number(set, "cb_config_list", "*:", each, err);
	return r;
}

int settings_to_params(const struct settings *settings, const struct machine *machine,
		       const struct access *access, struct param_set *set, struct err *err)
{
	int r = put_aggregators(settings, machine, access, set, err);
	char word[16];

	for (size_t i = 0; r == 0 && i < COUNT(numbers); i++) {
		uint64_t number = *(const uint64_t *)hint_field(&numbers[i], settings);

		if (number)
			r = put_number(set, hint_name(&numbers[i], access), "", number, err);
	}
	for (size_t i = 0; r == 0 && i < COUNT(switches); i++) {
		enum buffering value = *(const enum buffering *)hint_field(&switches[i], settings);

		if (value == BUFFERING_AUTOMATIC)
			continue;
		option_choice_name(BUFFERING_WORDS, (int)value, word, sizeof(word));
		r = param_set_put(set, tunable_by_name(hint_name(&switches[i], access)), word, NULL,
				  NULL, 0, err);
	}
	return r;
}
