/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/access.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "check.h"
#include "params/set.h"
#include "predict/model/counts/counts.h"

static const struct machine here = {
	.romio = ROMIO_GENERIC, .cores = 8, .node_aggregators = 1, .buffer_bytes = 16 << 20
};
static const struct machine vesta = { .romio = ROMIO_BLUEGENE,
				      .cores = 16,
				      .bridges = 8,
				      .bridge_nodes = 128,
				      .aggregators = 64,
				      .buffer_bytes = 16 << 20 };
static const struct access eight = { .nodes = 2, .ranks = 8, .rank_bytes = 4096 };

static void set_value(struct param_set *set, const char *name, const char *value)
{
	struct err err = { 0 };

	REQUIRE(tunable_by_name(name));
	CHECK_INT(param_set_put(set, tunable_by_name(name), value, NULL, NULL, 0, &err), 0);
	CHECK_TEXT(err.text, "");
}

static void refuse(struct access access, const char *words)
{
	struct err err = { 0 };

	CHECK(access_check(&access, &err) < 0);
	CHECK_WORDS(err.text, words);
}

static void impossible_accesses_are_refused(void)
{
	struct access a = eight;

	CHECK_INT(access_check(&a, NULL), 0);
	a.ranks = 0;
	refuse(a, "one rank");
	a = eight;
	a.nodes = 0;
	refuse(a, "one node");
	a.nodes = 3;
	refuse(a, "3 nodes");
	a = eight;
	a.rank_bytes = 0;
	refuse(a, "one byte");
	a.rank_bytes = UINT64_MAX;
	refuse(a, "too large");
	a = eight;
	a.pattern = ACCESS_STRIDED;
	a.block_bytes = 1000;
	refuse(a, "1000");
	a.block_bytes = 1024;
	refuse(a, "1024");
	a.stride_bytes = UINT64_MAX;
	refuse(a, "too large");
	a.stride_bytes = 1024;
	CHECK_INT(access_check(&a, NULL), 0);
}

static void the_extent_is_from_the_first_to_the_last_byte(void)
{
	struct access a = eight;

	CHECK_INT(access_extent(&a), 8 * 4096);
	CHECK(!access_interleaves(&a));
	a.pattern = ACCESS_STRIDED;
	a.block_bytes = 1024;
	a.stride_bytes = 1500;
	CHECK_INT(access_extent(&a), 31 * 1500 + 1024);
	CHECK(access_interleaves(&a));
	a.block_bytes = a.rank_bytes;
	a.stride_bytes = 5000;
	CHECK(!access_interleaves(&a)); /* one piece per rank, in order */
}

static struct settings settings_from(const struct machine *machine, const struct param_set *set)
{
	struct settings settings = { 0 };
	struct err err = { 0 };

	CHECK_INT(settings_from_params(&settings, machine, &eight, set, &err), 0);
	CHECK_TEXT(err.text, "");
	return settings;
}

static void an_empty_set_means_defaults(void)
{
	const struct param_set none = { 0 };
	struct settings s = settings_from(&here, &none);

	CHECK_INT(s.aggregators, 0);
	CHECK_INT(s.buffering, BUFFERING_AUTOMATIC);
	CHECK_INT(counts_aggregators(&here, &eight, &s), 2); /* one per node */
}

/* The default *:1 of cb_config_list limits cb_nodes, as in ROMIO. */
static void aggregators_are_limited_by_the_config_list(void)
{
	static const struct {
		const char *nodes, *list;
		uint64_t expected;
	} cases[] = { { "8", NULL, 2 },	   { "8", "*:2", 4 },	{ "3", "*:2", 3 },
		      { NULL, "*:3", 6 },  { NULL, "*:*", 8 },	{ "5", "*:*", 5 },
		      { "100", "*:9", 8 }, { NULL, "*:99", 8 }, { "1", NULL, 1 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct param_set set = { 0 };
		struct settings s;

		if (cases[i].nodes)
			set_value(&set, "cb_nodes", cases[i].nodes);
		if (cases[i].list)
			set_value(&set, "cb_config_list", cases[i].list);
		s = settings_from(&here, &set);
		CHECK_INT(counts_aggregators(&here, &eight, &s), cases[i].expected);
		param_set_release(&set);
	}
}

static void buffering_depends_on_the_direction(void)
{
	struct param_set set = { 0 };
	struct access read = eight;
	struct settings s;

	set_value(&set, "romio_cb_write", "enable");
	set_value(&set, "romio_cb_read", "disable");
	CHECK_INT(settings_from(&here, &set).buffering, BUFFERING_ENABLED);
	read.is_read = true;
	CHECK_INT(settings_from_params(&s, &here, &read, &set, NULL), 0);
	CHECK_INT(s.buffering, BUFFERING_DISABLED);
	CHECK(settings_know("romio_ds_read", &here, &read));
	CHECK(!settings_know("romio_ds_write", &here, &read));
	CHECK(!settings_know("alignment", &here, &read));
	param_set_release(&set);
}

static void lists_with_host_names_are_refused(void)
{
	struct param_set set = { 0 };
	struct settings s = { .buffer_bytes = 77 };
	struct err err = { 0 };

	set_value(&set, "cb_config_list", "login1:2");
	CHECK_INT(settings_from_params(&s, &here, &eight, &set, &err), -EINVAL);
	CHECK(strstr(err.text, "*:K"));
	CHECK_INT(s.buffer_bytes, 77);
	param_set_release(&set);
}

/* Converts settings to parameters and back. */
static void check_round_trip(const struct machine *machine, const struct settings *s,
			     const char *expected)
{
	struct param_set set = { 0 };
	AUTO_BUF struct buf line = { 0 };
	struct settings again;
	struct err err = { 0 };

	CHECK_INT(settings_to_params(s, machine, &eight, &set, &err), 0);
	CHECK_TEXT(err.text, "");
	param_set_line(&set, &line);
	CHECK_TEXT(buf_text(&line), expected);
	again = settings_from(machine, &set);
	CHECK_INT(counts_aggregators(machine, &eight, &again),
		  counts_aggregators(machine, &eight, s));
	CHECK_INT(again.buffer_bytes, s->buffer_bytes);
	CHECK_INT(again.stripes, s->stripes);
	CHECK_INT(again.stripe_bytes, s->stripe_bytes);
	CHECK_INT(again.buffering, s->buffering);
	CHECK_INT(again.sieving, s->sieving);
	CHECK_INT(again.sieve_bytes, s->sieve_bytes);
	param_set_release(&set);
}

static void settings_convert_to_parameters_and_back(void)
{
	check_round_trip(&here, &(struct settings){ 0 }, "");
	/* More than one aggregator per node needs cb_config_list. */
	check_round_trip(&here, &(struct settings){ .aggregators = 2 }, "cb_nodes=2");
	check_round_trip(&here, &(struct settings){ .aggregators = 6, .buffer_bytes = 1 << 20 },
			 "cb_nodes=6 cb_config_list=*:3 cb_buffer_size=1048576");
	check_round_trip(&here,
			 &(struct settings){ .buffering = BUFFERING_DISABLED,
					     .stripes = 4,
					     .stripe_bytes = 1 << 20 },
			 "striping_factor=4 striping_unit=1048576 romio_cb_write=disable");
	check_round_trip(&here,
			 &(struct settings){ .buffering = BUFFERING_DISABLED,
					     .sieving = BUFFERING_DISABLED,
					     .sieve_bytes = 1 << 16 },
			 "ind_wr_buffer_size=65536 romio_cb_write=disable romio_ds_write=disable");
	check_round_trip(&vesta, &(struct settings){ .aggregators = 16, .buffer_bytes = 8 << 20 },
			 "bg_nodes_pset=16 cb_buffer_size=8388608");
}

TESTS(TEST(impossible_accesses_are_refused), TEST(the_extent_is_from_the_first_to_the_last_byte),
      TEST(an_empty_set_means_defaults), TEST(aggregators_are_limited_by_the_config_list),
      TEST(buffering_depends_on_the_direction), TEST(lists_with_host_names_are_refused),
      TEST(settings_convert_to_parameters_and_back))
