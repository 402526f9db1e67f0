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

/* Sums of offsets and sizes stay far from what 64 bits hold. */
#define FILE_BYTES_MAX (UINT64_C(1) << 60)
#define RANKS_MAX (UINT64_C(1) << 31)

static uint64_t pieces_of(const struct access *access)
{
	return access->rank_bytes / access->block_bytes;
}

static int check_strided(const struct access *access, struct err *err)
{
	if (!access->block_bytes || access->rank_bytes % access->block_bytes)
		return err_set(err, EINVAL,
			       "a block of %lu bytes does not divide the %lu bytes of a rank",
			       access->block_bytes, access->rank_bytes);
	if (access->stride_bytes < access->block_bytes)
		return err_set(err, EINVAL,
			       "a stride of %lu bytes is less than a block of %lu: blocks overlap",
			       access->stride_bytes, access->block_bytes);
	if (access->stride_bytes > FILE_BYTES_MAX / access->ranks / pieces_of(access))
		return err_set(err, EFBIG, "a stride of %lu bytes makes the file too large",
			       access->stride_bytes);
	return 0;
}

bool settings_are_same(const struct settings *a, const struct settings *b)
{
	return a->aggregators == b->aggregators && a->node_aggregators == b->node_aggregators &&
	       a->buffer_bytes == b->buffer_bytes && a->stripes == b->stripes &&
	       a->stripe_bytes == b->stripe_bytes && a->buffering == b->buffering;
}

int access_check(const struct access *access, struct err *err)
{
	if (!access->ranks || !access->nodes)
		return err_set(err, EINVAL, "an access needs at least one %s",
			       access->nodes ? "rank" : "node");
	if (access->ranks > RANKS_MAX)
		return err_set(err, EINVAL, "%lu ranks are more than MPI can have", access->ranks);
	if (access->ranks % access->nodes)
		return err_set(err, EINVAL,
			       "%lu ranks do not fill %lu nodes: every node has equally many",
			       access->ranks, access->nodes);
	if (!access->rank_bytes)
		return err_set(err, EINVAL, "an access needs at least one byte per rank");
	if (access->rank_bytes > FILE_BYTES_MAX / access->ranks || access->offset > FILE_BYTES_MAX)
		return err_set(err, EFBIG, "%lu bytes of %lu ranks make the file too large",
			       access->rank_bytes, access->ranks);
	return access->pattern == ACCESS_STRIDED ? check_strided(access, err) : 0;
}

uint64_t access_extent(const struct access *access)
{
	if (access->pattern == ACCESS_CONTIGUOUS)
		return access->ranks * access->rank_bytes;
	return (access->ranks * pieces_of(access) - 1) * access->stride_bytes + access->block_bytes;
}

/* A rank begins before its predecessor ends: with more than one piece, as all have a first one
 * before anybody has a second. */
bool access_interleaves(const struct access *access)
{
	return access->pattern == ACCESS_STRIDED && access->ranks > 1 && pieces_of(access) > 1;
}

/* One hint that is a number. */
struct hint {
	const char *name;
	size_t offset;
};

#define SETTING(name) offsetof(struct settings, name)

static const struct hint hints[] = {
	{ "cb_buffer_size", SETTING(buffer_bytes) },
	{ "striping_factor", SETTING(stripes) },
	{ "striping_unit", SETTING(stripe_bytes) },
};

#define HINTS (sizeof(hints) / sizeof(hints[0]))

static const char *value_of(const struct param_set *set, const char *name)
{
	const struct param *param = param_set_find(set, tunable_by_name(name), NULL, NULL);

	return param ? param->value : NULL;
}

/* Left alone where it is not set. Values are as tunable_parse() leaves them: plain digits. */
static int number_of(const struct param_set *set, const char *name, uint64_t *out, struct err *err)
{
	const char *value = value_of(set, name);

	if (value && (unit_parse_count(value, out) < 0 || !*out))
		return err_set(err, EINVAL, "%s=%s cannot be counted with", name, value);
	return 0;
}

/* "*:K" or "*:*". Who names hosts could mean any number of ranks. */
static int config_list_of(const char *list, const struct access *access, uint64_t *out,
			  struct err *err)
{
	uint64_t cores = access->ranks / access->nodes;

	if (strcmp(list, "*:*") == 0) {
		*out = cores;
		return 0;
	}
	if (strncmp(list, "*:", 2) != 0 || unit_parse_count(list + 2, out) < 0 || !*out)
		return err_set(err, EINVAL,
			       "cb_config_list=%s cannot be counted with: give *:K, so many "
			       "aggregators on every node",
			       list);
	if (*out > cores)
		*out = cores;
	return 0;
}

static int aggregators_of(struct settings *s, const struct machine *machine,
			  const struct access *access, const struct param_set *set, struct err *err)
{
	const char *list = value_of(set, "cb_config_list");
	int r;

	if (machine->bridges)
		return number_of(set, "bg_nodes_pset", &s->aggregators, err);
	r = number_of(set, "cb_nodes", &s->aggregators, err);
	if (r == 0 && list)
		r = config_list_of(list, access, &s->node_aggregators, err);
	else if (r == 0 && s->aggregators)
		s->node_aggregators = machine->node_aggregators;
	return r;
}

int settings_of(struct settings *settings, const struct machine *machine,
		const struct access *access, const struct param_set *set, struct err *err)
{
	const char *buffering = value_of(set, access->is_read ? "romio_cb_read" : "romio_cb_write");
	struct settings s = { 0 };
	int r = aggregators_of(&s, machine, access, set, err);

	for (size_t i = 0; r == 0 && i < HINTS; i++)
		r = number_of(set, hints[i].name, (uint64_t *)((char *)&s + hints[i].offset), err);
	if (r < 0)
		return r;
	if (buffering) {
		int word = option_choice(BUFFERING_WORDS, buffering, strlen(buffering));

		s.buffering = word < 0 ? BUFFERING_AUTOMATIC : (enum buffering)word;
	}
	*settings = s;
	return 0;
}

static int number_put(struct param_set *set, const char *name, const char *before, uint64_t number,
		      struct err *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%lu", before, number);
	return param_set_put(set, tunable_by_name(name), text, NULL, NULL, 0, err);
}

/* ROMIO takes no more aggregators of a node than cb_config_list allows: what is more than the
 * default needs both. */
static int aggregators_put(const struct settings *s, const struct machine *machine,
			   const struct access *access, struct param_set *set, struct err *err)
{
	uint64_t each = s->node_aggregators;
	int r = 0;

	if (machine->bridges)
		return s->aggregators ? number_put(set, "bg_nodes_pset", "", s->aggregators, err)
				      : 0;
	if (s->aggregators)
		r = number_put(set, "cb_nodes", "", s->aggregators, err);
	if (s->aggregators && !each)
		each = (s->aggregators + access->nodes - 1) / access->nodes;
	if (r == 0 && each && each != machine->node_aggregators)
		r = number_put(set, "cb_config_list", "*:", each, err);
	return r;
}

int settings_params(const struct settings *settings, const struct machine *machine,
		    const struct access *access, struct param_set *set, struct err *err)
{
	const char *buffering = access->is_read ? "romio_cb_read" : "romio_cb_write";
	int r = aggregators_put(settings, machine, access, set, err);
	char word[16];

	for (size_t i = 0; r == 0 && i < HINTS; i++) {
		uint64_t number = *(const uint64_t *)((const char *)settings + hints[i].offset);

		if (number)
			r = number_put(set, hints[i].name, "", number, err);
	}
	if (r < 0 || settings->buffering == BUFFERING_AUTOMATIC)
		return r;
	option_choice_name(BUFFERING_WORDS, settings->buffering, word, sizeof(word));
	return param_set_put(set, tunable_by_name(buffering), word, NULL, NULL, 0, err);
}
