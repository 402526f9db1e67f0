/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: GA-6.
 */
#include "params/space.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

#define LIST(...)                 \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static void need(int r, const struct err *err)
{
	if (r < 0)
		printf("%s\n", err->text);
	REQUIRE(r >= 0);
}

/* The example of the manual: the buffer is tied to the stripe, and the number of aggregators is
 * active only if aggregators are used. */
static void sample(struct space *space)
{
	struct err err = { 0 };

	*space = (struct space){ 0 };
	need(space_add(space, "striping_factor", LIST("4", "8", "16"), "8", &err), &err);
	need(space_add(space, "striping_unit", LIST("1M", "2M"), NULL, &err), &err);
	need(space_tie(space, "cb_buffer_size", "strp_unt", &err), &err);
	need(space_add(space, "romio_cb_write", LIST("", "enable", "disable"), NULL, &err), &err);
	need(space_add(space, "cb_nodes", LIST("", "1", "2"), NULL, &err), &err);
	need(space_when(space, "cb_nodes", "romio_cb_write", LIST("enable", ""), &err), &err);
}

static const char *line_of(const struct space *space, const size_t *point)
{
	static struct buf line;

	buf_clear(&line);
	space_line(space, point, &line);
	return buf_text(&line);
}

static void points_convert_to_numbers_and_back(void)
{
	size_t point[SPACE_DIMENSIONS];
	struct space space;

	sample(&space);
	CHECK_INT(space_points(&space), 54);
	for (uint64_t i = 0; i < 54; i++) {
		space_point(&space, i, point);
		CHECK_INT(space_number(&space, point), i);
	}
	space_default(&space, point);
	CHECK_TEXT(line_of(&space, point),
		   "striping_factor=8 striping_unit=1048576 cb_buffer_size=1048576");
	space_release(&space);
}

static void ties_follow_and_conditions_deactivate(void)
{
	size_t point[] = { 0, 1, 2, 2 };
	struct param_set set;
	struct space space;

	sample(&space);
	CHECK(space_is_active(&space, point, 2));
	CHECK(!space_is_active(&space, point, 3));
	CHECK_TEXT(line_of(&space, point), "striping_factor=4 striping_unit=2097152 "
					   "cb_buffer_size=2097152 romio_cb_write=disable");
	space_settle(&space, point);
	CHECK_INT(point[3], 0);
	point[2] = 1;
	point[3] = 2;
	space_settle(&space, point);
	CHECK_INT(point[3], 2);
	space_set(&space, point, &set);
	CHECK_INT(set.count, 5);
	CHECK_TEXT(param_set_find(&set, tunable_by_name("cb_buffer_size"), NULL, NULL)->value,
		   "2097152");
	CHECK_TEXT(param_set_find(&set, tunable_by_name("cb_nodes"), NULL, NULL)->value, "2");
	param_set_release(&set);
	space_release(&space);
}

/* A dimension is inactive if its condition refers to an inactive dimension. */
static void conditions_chain(void)
{
	size_t point[] = { 1, 0, 1 };
	struct space space = { 0 };
	struct err err = { 0 };

	need(space_add(&space, "transfer", LIST("", "independent"), NULL, &err), &err);
	need(space_add(&space, "romio_cb_write", LIST("", "disable"), NULL, &err), &err);
	need(space_add(&space, "cb_nodes", LIST("", "2"), NULL, &err), &err);
	need(space_when(&space, "romio_cb_write", "transfer", LIST(""), &err), &err);
	need(space_when(&space, "cb_nodes", "romio_cb_write", LIST(""), &err), &err);
	CHECK(!space_is_active(&space, point, 2));
	point[0] = 0;
	CHECK(space_is_active(&space, point, 2));
	space_release(&space);
}

static void wrong_dimensions_are_refused(void)
{
	struct space space;
	struct err err = { 0 };

	sample(&space);
	CHECK_INT(space_add(&space, "nope", LIST("1"), NULL, &err), -ENOENT);
	CHECK_INT(space_add(&space, "cb_nodes", LIST("1"), NULL, &err), -EEXIST);
	CHECK_INT(space_add(&space, "cb_buffer_size", LIST("1M"), NULL, &err), -EEXIST);
	CHECK(strstr(err.text, "striping_unit"));
	CHECK_INT(space_add(&space, "ind_rd_buffer_size", LIST("1M", "1048576"), NULL, &err),
		  -EINVAL);
	CHECK(strstr(err.text, "twice"));
	CHECK_INT(space_add(&space, "ind_rd_buffer_size", LIST("1M"), "2M", &err), -EINVAL);
	CHECK_INT(space_add(&space, "ind_rd_buffer_size", LIST("0"), NULL, &err), -EINVAL);
	CHECK_INT(space_tie(&space, "romio_cb_read", "cb_nodes", &err), -EINVAL);
	CHECK_INT(space_tie(&space, "cb_nodes", "striping_unit", &err), -EEXIST);
	CHECK_INT(space_when(&space, "romio_cb_write", "cb_nodes", LIST("1"), &err), -EINVAL);
	CHECK_INT(space_when(&space, "cb_nodes", "romio_cb_write", LIST("automatic"), &err),
		  -EINVAL);
	CHECK_INT(space.count, 4);
	CHECK_INT(space.dimensions[3].condition_count, 1);
	space_release(&space);
}

static void huge_spaces_are_not_counted(void)
{
	struct space space = { 0 };
	AUTO_FREE char **values = xcalloc(601, sizeof(char *));
	struct err err = { 0 };
	static const char *const names[] = { "cb_nodes",	   "cb_buffer_size",
					     "ind_rd_buffer_size", "ind_wr_buffer_size",
					     "sieve_buf_size",	   "meta_block_size",
					     "mdc_initial_size" };

	for (int i = 0; i < 600; i++)
		values[i] = xprintf("%d", i + 1024);
	for (int i = 0; i < 6; i++)
		need(space_add(&space, names[i], (const char *const *)values, NULL, &err), &err);
	CHECK_INT(space_points(&space), 600ull * 600 * 600 * 600 * 600 * 600);
	need(space_add(&space, names[6], (const char *const *)values, NULL, &err), &err);
	CHECK_INT(space_points(&space), 0);
	for (int i = 0; i < 600; i++)
		free(values[i]);
	space_release(&space);
}

static void useless_and_dangerous_points_are_not_allowed(void)
{
	static const struct tunable_context lustre = { .middleware = MIDDLEWARE_MPICH,
						       .filesystem = FILESYSTEM_LUSTRE };
	struct space space = { .context = lustre };
	struct err err = { 0 };
	size_t small[] = { 1, 0, 0 }, equal[] = { 1, 1, 0 }, version[] = { 0, 0, 1 };

	need(space_add(&space, "striping_unit", LIST("1M", "4M"), NULL, &err), &err);
	need(space_add(&space, "cb_buffer_size", LIST("1M", "4M"), NULL, &err), &err);
	need(space_add(&space, "libver", LIST("", "latest"), NULL, &err), &err);
	CHECK(!space_allows(&space, small));
	CHECK(space_allows(&space, equal));
	/* The space names the parameter, so its safety class is accepted. */
	CHECK(space_allows(&space, version));
	space.context.filesystem = FILESYSTEM_LOCAL;
	CHECK(space_allows(&space, small));
	space_release(&space);
	space.context.middleware = MIDDLEWARE_OMPIO;
	need(space_add(&space, "cb_nodes", LIST("", "2"), NULL, &err), &err);
	CHECK(space_allows(&space, (size_t[]){ 0 }));
	CHECK(!space_allows(&space, (size_t[]){ 1 }));
	space_release(&space);
}

static const char manual[] =
	"{\"schema\": \"sluice.space/1\",\n"
	" \"dimensions\": [\n"
	"  {\"name\": \"striping_factor\", \"values\": [4, 8, 16], \"default\": 8},\n"
	"  {\"name\": \"striping_unit\", \"values\": [\"1M\", \"2M\"], \"ties\": "
	"[\"cb_buffer_size\"]},\n"
	"  {\"name\": \"romio_cb_write\", \"values\": [null, \"enable\", \"disable\"]},\n"
	"  {\"name\": \"cb_nodes\", \"values\": [null, 1, 2], \"when\": {\"romio_cb_write\": "
	"[\"enable\", null]}},\n"
	"  {\"name\": \"alignment\", \"values\": [[0, 65536], \"8K, 1M\"], \"file\": \"*.h5\"},\n"
	"  {\"name\": \"cb_nodes\", \"values\": [4], \"file\": \"big.h5\"}]}\n";

static void written_spaces_are_read_back_unchanged(void)
{
	AUTO_BUF struct buf first = { 0 }, second = { 0 };
	struct space space = { .context = { .ranks = 7 } };
	struct err err = { 0 };

	need(space_read_text(&space, "m", manual, strlen(manual), &err), &err);
	CHECK_INT(space.count, 6);
	CHECK_INT(space.context.ranks, 7);
	CHECK_INT(space_points(&space), 3 * 2 * 3 * 3 * 2);
	CHECK_INT(space.dimensions[0].initial, 1);
	CHECK_TEXT(space.dimensions[4].values[1], "8192,1048576");
	CHECK_TEXT(space.dimensions[5].file, "big.h5");
	CHECK(space.dimensions[0].is_ordered && !space.dimensions[2].is_ordered);
	space_write(&space, &first);
	need(space_read_text(&space, "w", first.data, first.len, &err), &err);
	space_write(&space, &second);
	CHECK_TEXT(buf_text(&second), buf_text(&first));
	space_release(&space);
}

static const char *refusal(const char *text)
{
	static struct err err;
	struct space space = { 0 };

	err.text[0] = 0;
	CHECK(space_read_text(&space, "s", text, strlen(text), &err) < 0);
	CHECK(!space.count && !space.name);
	return err.text;
}

static void the_last_dimension_can_have_ties(void)
{
	static const char *const values[] = { "1M", "2M", NULL };
	struct space space = { 0 };
	struct err err = { 0 };
	char file[16];

	for (int i = 0; i < SPACE_DIMENSIONS; i++) {
		snprintf(file, sizeof(file), "f%d", i);
		CHECK(space_add_for(&space, "striping_unit", values, NULL, file, NULL, &err) == 0);
	}
	CHECK(space_tie(&space, "cb_buffer_size", "striping_unit", &err) == 0);
	CHECK(space_add(&space, "cb_nodes", values, NULL, &err) == -E2BIG);
	CHECK(strstr(err.text, "32"));
	space_release(&space);
}

#define DIMENSIONS "{\"schema\": \"sluice.space/1\", \"dimensions\": [\n"

static void broken_files_are_refused_with_their_line(void)
{
	CHECK(strstr(refusal("{}"), "sluice.space/1"));
	CHECK(strncmp(refusal("{\n\"a\": }"), "s:2: ", 5) == 0);
	CHECK(strstr(refusal("{\"schema\": \"sluice.space/1\"}"), "\"dimensions\""));
	CHECK(strstr(refusal(DIMENSIONS "]}"), "empty"));
	CHECK(strstr(refusal(DIMENSIONS "{\"name\": \"cb_nodes\", \"values\": [1]},\n"
					"{\"name\": \"x\", \"values\": [1]}]}"),
		     "s:3: x: "));
	CHECK(strstr(refusal(DIMENSIONS "{\"name\": \"cb_nodes\", \"values\": []}]}"),
		     "s:2: cb_nodes: "));
	CHECK(strstr(refusal(DIMENSIONS "{\"name\": \"cb_nodes\", \"values\": [1.5]}]}"), "s:2: "));
	CHECK(strstr(
		refusal(DIMENSIONS "{\"name\": \"cb_nodes\", \"values\": [1], \"default\": 2}]}"),
		"s:2: default: cb_nodes: 2 "));
	CHECK(strstr(refusal(DIMENSIONS "{\"name\": \"cb_nodes\", \"values\": [1], \"when\": "
					"{\"striping_factor\": [1]}}]}"),
		     "s:2: striping_factor "));
	CHECK(strstr(refusal(DIMENSIONS "3]}"), "dimension 1 "));
}

/* The values of the only dimension in a file with this dimension. */
static const char *values_of(const char *dimension)
{
	static char out[600];
	AUTO_FREE char *text = xprintf(DIMENSIONS "%s]}", dimension);
	struct space space = { 0 };
	struct err err = { 0 };
	size_t used = 0;

	if (space_read_text(&space, "s", text, strlen(text), &err) < 0) {
		snprintf(out, sizeof(out), "!%s", err.text);
		return out;
	}
	used = (size_t)snprintf(out, sizeof(out), "%s", space.dimensions[0].tunable->name);
	for (size_t i = 0; i < space.dimensions[0].count; i++) {
		const char *value = space.dimensions[0].values[i];

		used += (size_t)snprintf(out + used, sizeof(out) - used, " %s",
					 value ? value : "-");
	}
	if (space.dimensions[0].is_ordered)
		snprintf(out + used, sizeof(out) - used, " ordered");
	space_release(&space);
	return out;
}

static void ranges_become_lists(void)
{
	CHECK_TEXT(values_of("{\"name\": \"{block}\", \"range\": {\"from\": \"4K\", \"to\": "
			     "\"1M\", \"factor\": 16}}"),
		   "{block} 4096 65536 1048576 ordered");
	CHECK_TEXT(values_of("{\"name\": \"env:N\", \"values\": [null], \"range\": {\"from\": 0, "
			     "\"to\": 5, \"step\": 2}}"),
		   "env:N - 0 2 4 ordered");
	CHECK_TEXT(values_of("{\"name\": \"cb_nodes\", \"range\": {\"from\": 1, \"to\": 1, "
			     "\"step\": 1}}"),
		   "cb_nodes 1 ordered");
	CHECK(strstr(values_of("{\"name\": \"{a}\", \"range\": {\"from\": 1, \"to\": 9}}"),
		     "step"));
	CHECK(strstr(values_of("{\"name\": \"{a}\", \"range\": {\"from\": 0, \"to\": 9, "
			       "\"factor\": 2}}"),
		     "range"));
	CHECK(strstr(values_of("{\"name\": \"{a}\", \"range\": {\"from\": 3, \"to\": 2, "
			       "\"step\": 1}}"),
		     "range"));
	CHECK(strstr(values_of("{\"name\": \"{a}\", \"range\": {\"from\": 1, \"to\": \"1G\", "
			       "\"step\": 1}}"),
		     "4096"));
	CHECK(strstr(values_of("{\"name\": \"{a}\", \"range\": 3}"), "range"));
}

static void variables_and_arguments_can_be_dimensions(void)
{
	CHECK_TEXT(values_of("{\"name\": \"env:OMPI_MCA_io\", \"values\": [null, \"ompio\", "
			     "\"romio321\"]}"),
		   "mca:io - ompio romio321");
	CHECK_TEXT(values_of("{\"name\": \"ucx:TLS\", \"values\": [\"tcp\", \"sm,self\"]}"),
		   "ucx:TLS tcp sm,self");
	CHECK(strstr(values_of("{\"name\": \"{a}\", \"values\": [null, 1]}"), "unset"));
	CHECK(strstr(values_of("{\"name\": \"env:A\", \"values\": [1], \"file\": \"*.h5\"}"),
		     "whole program"));
}

struct counted {
	uint64_t allowed; /* different points that may be tried */
	bool hit[4];
};

/* Counts the points that may be tried, and notes which of the wanted lines occur. */
static struct counted count(const struct space *space, const char *const *wanted)
{
	struct counted counted = { 0 };
	size_t point[SPACE_DIMENSIONS], settled[SPACE_DIMENSIONS];

	for (uint64_t i = 0; i < space_points(space); i++) {
		space_point(space, i, point);
		memcpy(settled, point, sizeof(point));
		space_settle(space, settled);
		if (memcmp(settled, point, space->count * sizeof(*point)) != 0 ||
		    !space_allows(space, point))
			continue;
		counted.allowed++;
		for (size_t k = 0; wanted && wanted[k]; k++)
			counted.hit[k] |= strcmp(line_of(space, point), wanted[k]) == 0;
	}
	return counted;
}

static const struct tunable_context mpich = { .middleware = MIDDLEWARE_MPICH,
					      .filesystem = FILESYSTEM_LOCAL,
					      .allowed = TUNABLE_LAYOUT,
					      .ranks = 4,
					      .nodes = 1 };

static void the_space_of_strided_writes_contains_their_best_settings(void)
{
	static const struct space_uses uses = {
		.mpi = true, .collective = true, .creates = true, .writes = true
	};
	struct space space = { 0 };
	struct counted counted;
	struct err err = { 0 };

	need(space_suggest(&space, &mpich, &uses, &err), &err);
	counted = count(&space, LIST("cb_config_list=*:4", "romio_cb_write=disable", ""));
	CHECK(counted.hit[0] && counted.hit[1] && counted.hit[2]);
	CHECK(counted.allowed > 20 && counted.allowed <= 300);
	space_release(&space);
}

static void the_space_of_small_datasets_contains_their_best_settings(void)
{
	static const struct space_uses uses = { .hdf5 = true,
						.hdf5_parallel = true,
						.mpi = true,
						.collective = true,
						.creates = true,
						.collective_hdf5 = true };
	struct space space = { 0 };
	struct counted counted;
	struct err err = { 0 };
	size_t point[SPACE_DIMENSIONS];

	need(space_suggest(&space, &mpich, &uses, &err), &err);
	counted = count(&space, LIST("transfer=independent", "cb_config_list=*:4",
				     "romio_cb_write=disable romio_cb_read=disable"));
	CHECK(counted.hit[0] && counted.hit[1] && counted.hit[2]);
	CHECK(counted.allowed > 50 && counted.allowed <= 300);
	space_default(&space, point);
	CHECK_TEXT(line_of(&space, point), "");
	space_release(&space);
}

/* Independent transfers become collective only with evidence, and then their hints matter. */
static void collective_transfers_are_suggested_only_with_evidence(void)
{
	static const struct space_uses independent = { .hdf5 = true,
						       .hdf5_parallel = true,
						       .mpi = true,
						       .writes = true,
						       .independent = true };
	struct space_uses both = independent;
	struct tunable_context here = mpich;
	struct space space = { 0 };
	struct counted counted;
	struct err err = { 0 };

	need(space_suggest(&space, &here, &independent, &err), &err);
	counted = count(&space, LIST("transfer=collective", "cb_config_list=*:4", ""));
	CHECK(!counted.hit[0] && !counted.hit[1] && counted.hit[2]);
	here.is_lockstep = true;
	need(space_suggest(&space, &here, &independent, &err), &err);
	counted = count(&space, LIST("transfer=collective", "cb_config_list=*:4",
				     "transfer=collective cb_config_list=*:4"));
	CHECK(counted.hit[0] && !counted.hit[1] && counted.hit[2]);
	both.collective = both.collective_hdf5 = true;
	need(space_suggest(&space, &here, &both, &err), &err);
	counted = count(&space, LIST("transfer=collective cb_config_list=*:4", "cb_config_list=*:4",
				     "transfer=independent cb_config_list=*:4"));
	CHECK(counted.hit[0] && counted.hit[1] && !counted.hit[2]);
	counted = count(&space, LIST("transfer=independent", "transfer=collective", ""));
	CHECK(counted.hit[0] && counted.hit[1]);
	CHECK(counted.allowed > 50 && counted.allowed <= 300);
	space_release(&space);
}

static bool suggests(const struct space_uses *uses, const char *name)
{
	struct space space = { 0 };
	struct err err = { 0 };
	bool found = false;

	need(space_suggest(&space, &mpich, uses, &err), &err);
	for (size_t i = 0; i < space.count; i++)
		found |= strcmp(space.dimensions[i].tunable->name, name) == 0;
	space_release(&space);
	return found;
}

static void the_chunk_cache_is_suggested_only_where_it_is_used(void)
{
	static const struct space_uses serial = { .hdf5 = true, .writes = true, .chunked = true };
	static const struct space_uses contiguous = { .hdf5 = true, .writes = true };
	static const struct space_uses reading = {
		.hdf5 = true, .hdf5_parallel = true, .mpi = true, .reads = true, .chunked = true
	};
	static const struct space_uses writing = {
		.hdf5 = true, .hdf5_parallel = true, .mpi = true, .writes = true, .chunked = true
	};

	CHECK(suggests(&serial, "rdcc_nbytes"));
	CHECK(suggests(&reading, "rdcc_nbytes"));
	CHECK(!suggests(&contiguous, "rdcc_nbytes"));
	CHECK(!suggests(&writing, "rdcc_nbytes"));
}

static void larger_stream_buffers_need_permission(void)
{
	static const struct space_uses uses = { .hdf5 = true, .writes = true, .streams = true };
	struct tunable_context permitted = mpich;
	struct space space = { 0 };

	CHECK(!suggests(&uses, "stdio_buffer_size"));
	permitted.allowed = TUNABLE_SEMANTICS;
	REQUIRE(space_suggest(&space, &permitted, &uses, NULL) == 0);
	CHECK_TEXT(space.dimensions[space.count - 1].tunable->name, "stdio_buffer_size");
	space_release(&space);
}

static void nothing_unsafe_is_suggested(void)
{
	static const struct space_uses all = { true, true, true, true, true, true,
					       true, true, true, true, true };

	for (int middleware = 0; middleware <= MIDDLEWARE_OMPIO; middleware++) {
		for (int fs = 0; fs <= FILESYSTEM_LAST; fs++) {
			struct tunable_context place = { .middleware = (enum middleware)middleware,
							 .filesystem = (enum filesystem)fs,
							 .allowed = TUNABLE_LAYOUT,
							 .ranks = 64,
							 .nodes = 4 };
			struct space space = { 0 };
			struct err err = { 0 };

			need(space_suggest(&space, &place, &all, &err), &err);
			for (size_t i = 0; i < space.count; i++) {
				const struct space_dimension *d = &space.dimensions[i];

				CHECK(d->tunable->safety <= TUNABLE_LAYOUT);
				CHECK(tunable_consumers(d->tunable, &place));
				for (size_t k = 0; k < d->count; k++)
					CHECK(!d->values[k] ||
					      tunable_allow(d->tunable, d->values[k], &place,
							    NULL) >= 0);
			}
			CHECK(space_points(&space) && space_points(&space) < 1000000);
			space_release(&space);
		}
	}
}

static void layouts_need_permission_and_new_files(void)
{
	static const enum filesystem striped[] = { FILESYSTEM_CEPH, FILESYSTEM_BEEGFS,
						   FILESYSTEM_LUSTRE };
	struct tunable_context lustre = { .middleware = MIDDLEWARE_MPICH,
					  .allowed = TUNABLE_LAYOUT };
	struct space_uses uses = { .mpi = true, .creates = true, .writes = true };
	const struct tunable *striping = tunable_by_name("striping_factor");
	struct space space = { 0 };

	for (size_t i = 0; i < sizeof(striped) / sizeof(striped[0]); i++) {
		lustre.filesystem = striped[i];
		REQUIRE(space_suggest(&space, &lustre, &uses, NULL) == 0);
		CHECK(space.dimensions[0].tunable == striping);
		CHECK(space.dimensions[1].ties[0] == tunable_by_name("cb_buffer_size"));
	}
	uses.creates = false;
	REQUIRE(space_suggest(&space, &lustre, &uses, NULL) == 0);
	CHECK(space.dimensions[0].tunable != striping);
	uses.creates = true;
	lustre.allowed = TUNABLE_SAFE;
	REQUIRE(space_suggest(&space, &lustre, &uses, NULL) == 0);
	CHECK(space.dimensions[0].tunable != striping);
	space_release(&space);
}

static void programs_without_libraries_have_nothing_to_tune(void)
{
	struct space space = { 0 };
	struct space_uses uses = { .creates = true };
	struct err err = { 0 };

	CHECK_INT(space_suggest(&space, &mpich, &uses, &err), -ENODATA);
	CHECK_WORDS(err.text, "tune|neither");
	CHECK(!space.count && !space.name);
}

static void independent_accesses_of_ompio_have_nothing_to_tune(void)
{
	struct tunable_context ompio = mpich;
	struct space_uses uses = { .mpi = true, .writes = true };
	struct space space = { 0 };
	struct err err = { 0 };

	ompio.middleware = MIDDLEWARE_OMPIO;
	CHECK_INT(space_suggest(&space, &ompio, &uses, &err), -ENODATA);
	CHECK_WORDS(err.text, "MPI-IO|collective|OMPIO");
	CHECK(!strstr(err.text, "neither"));
	uses.collective = true;
	need(space_suggest(&space, &ompio, &uses, &err), &err);
	CHECK(space.count > 0);
	space_release(&space);
}

static void a_dangerous_value_is_refused(void)
{
	struct space refused = { 0 };
	struct err err = { 0 };
	const char *text = "{\"schema\": \"sluice.space/1\", \"dimensions\": ["
			   "{\"name\": \"romio_cb_pfr\", \"values\": [null, \"enable\"]}]}";

	CHECK(space_read_text(&refused, "x", text, strlen(text), &err) < 0);
	CHECK(strstr(err.text, "romio_cb_pfr=enable"));
	space_release(&refused);
}

TESTS(TEST(a_dangerous_value_is_refused), TEST(points_convert_to_numbers_and_back),
      TEST(ties_follow_and_conditions_deactivate), TEST(conditions_chain),
      TEST(wrong_dimensions_are_refused), TEST(huge_spaces_are_not_counted),
      TEST(useless_and_dangerous_points_are_not_allowed),
      TEST(written_spaces_are_read_back_unchanged), TEST(the_last_dimension_can_have_ties),
      TEST(broken_files_are_refused_with_their_line), TEST(ranges_become_lists),
      TEST(variables_and_arguments_can_be_dimensions),
      TEST(the_space_of_strided_writes_contains_their_best_settings),
      TEST(the_space_of_small_datasets_contains_their_best_settings),
      TEST(collective_transfers_are_suggested_only_with_evidence),
      TEST(the_chunk_cache_is_suggested_only_where_it_is_used),
      TEST(larger_stream_buffers_need_permission), TEST(nothing_unsafe_is_suggested),
      TEST(layouts_need_permission_and_new_files),
      TEST(programs_without_libraries_have_nothing_to_tune),
      TEST(independent_accesses_of_ompio_have_nothing_to_tune))
