/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: H5T-8.
 */
#include "params/set.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static void set_value(struct param_set *set, const char *name, const char *value, const char *file)
{
	struct err err = { 0 };

	if (param_set_put(set, tunable_by_name(name), value, file, NULL, 0, &err) < 0) {
		printf("%s\n", err.text);
		CHECK(!"put");
	}
}

static const char *found(const struct param_set *set, const char *name, const char *path)
{
	const struct param *param = param_set_find(set, tunable_by_name(name), path, NULL);

	return param ? param->value : "none";
}

static void the_more_specific_pattern_wins_in_any_order(void)
{
	static const char *const files[] = { NULL,	 "*.h5",       "run_*.h5",
					     "run_1.h5", "/scratch/*", "/scratch/run_1.h5" };

	for (int first = 0; first < 6; first++) {
		struct param_set set = { 0 };

		for (int i = 0; i < 6; i++) {
			int k = (first + i) % 6;
			char value[8] = { (char)('1' + k), 0 };

			set_value(&set, "striping_factor", value, files[k]);
		}
		CHECK_TEXT(found(&set, "strp_fac", NULL), "1");
		CHECK_TEXT(found(&set, "strp_fac", "x.nc"), "1");
		CHECK_TEXT(found(&set, "strp_fac", "dir/x.h5"), "2");
		CHECK_TEXT(found(&set, "strp_fac", "dir/run_2.h5"), "3");
		CHECK_TEXT(found(&set, "strp_fac", "dir/run_1.h5"), "4");
		CHECK_TEXT(found(&set, "strp_fac", "/scratch/run_2.h5"), "5");
		CHECK_TEXT(found(&set, "strp_fac", "/scratch/run_1.h5"), "6");
		CHECK_TEXT(found(&set, "cb_nodes", "x"), "none");
		param_set_release(&set);
	}
}

static void a_second_value_replaces_the_first(void)
{
	struct param_set set = { 0 };
	struct err err = { 0 };

	set_value(&set, "cb_nodes", "4", NULL);
	set_value(&set, "cb_nds", "8", "*");
	CHECK_INT(set.count, 1);
	CHECK_TEXT(set.params[0].value, "8");
	CHECK_INT(param_set_put(&set, tunable_by_name("cb_nodes"), "x", NULL, NULL, 0, &err),
		  -EINVAL);
	CHECK_INT(param_set_put(&set, tunable_by_name("cb_nodes"), "4", "a\tb", NULL, 0, &err),
		  -EINVAL);
	CHECK_TEXT(set.params[0].value, "8");
	CHECK_INT(set.count, 1);
	param_set_release(&set);
}

static void copies_are_equal_whatever_the_order(void)
{
	struct param_set a = { 0 }, b = { 0 }, c;
	AUTO_BUF struct buf line = { 0 };

	set_value(&a, "cb_nodes", "4", NULL);
	set_value(&a, "alignment", "0, 64K", NULL);
	set_value(&a, "strp_fac", "4", "sample.h5part");
	set_value(&b, "strp_fac", "4", "sample.h5part");
	set_value(&b, "alignment", "0,65536", NULL);
	CHECK(!param_set_equal(&a, &b));
	set_value(&b, "cb_nodes", "4", NULL);
	CHECK(param_set_equal(&a, &b));
	param_set_copy(&c, &b);
	CHECK(param_set_equal(&a, &c));
	set_value(&c, "cb_nodes", "5", NULL);
	CHECK(!param_set_equal(&a, &c));
	param_set_line(&a, &line);
	CHECK_TEXT(buf_text(&line), "cb_nodes=4 alignment=0,65536 striping_factor=4@sample.h5part");
	param_set_release(&a);
	param_set_release(&b);
	param_set_release(&c);
}

static void compiled_text_lists_specific_patterns_first_and_layouts(void)
{
	struct param_set set = { 0 };
	char text[PARAMETERS_BYTES];

	CHECK_INT(param_set_compile(&set, true, text, NULL), 0);
	CHECK_TEXT(text, "sluice-parameters 1 application\n");
	set_value(&set, "striping_factor", "16", NULL);
	set_value(&set, "alignment", "0, 65536", NULL);
	set_value(&set, "striping_factor", "4", "sample.h5part");
	set_value(&set, "bglockless", "true", NULL);
	set_value(&set, "bglockless", "false", "other");
	set_value(&set, "start_iodevice", "3", NULL);
	CHECK_INT(param_set_put(&set, tunable_by_name("chunk_size"), "1,2", NULL, "/g/x", 0, NULL),
		  0);
	CHECK_INT(param_set_compile(&set, false, text, NULL), 0);
	CHECK_TEXT(text, "sluice-parameters 1 parameters\n"
			 "hint\tsample.h5part\t*\tstriping_factor\t4\n"
			 "layout\tsample.h5part\t*\tstriping_factor\t4\n"
			 "prefix\tother\t*\tbglockless\t\n"
			 "dataset\t*\t/g/x\tchunk_size\t1,2\n"
			 "access\t*\t*\talignment\t0,65536\n"
			 "hint\t*\t*\tstriping_factor\t16\n"
			 "layout\t*\t*\tstriping_factor\t16\n"
			 "hint\t*\t*\tromio_lustre_start_iodevice\t3\n"
			 "layout\t*\t*\tstart_iodevice\t3\n"
			 "prefix\t*\t*\tbglockless\tbglockless:\n");
	param_set_release(&set);
}

static void compiled_text_is_read_back(void)
{
	struct param_set set = { 0 }, back = { 0 };
	char text[PARAMETERS_BYTES];

	set_value(&set, "cb_nodes", "4", NULL);
	set_value(&set, "striping_factor", "8", "*.h5");
	set_value(&set, "bglockless", "true", NULL);
	set_value(&set, "alignment", "0,65536", "/data/x");
	set_value(&set, "spread_directories", "/mnt/a*3,/mnt/b", NULL);
	CHECK_INT(param_set_compile(&set, true, text, NULL), 0);
	CHECK_INT(param_set_decompile(&back, text, NULL), 0);
	CHECK(param_set_equal(&set, &back));
	param_set_release(&set);
	param_set_release(&back);
}

static void text_that_was_not_compiled_is_refused(void)
{
	static const char *const bad[] = {
		"",
		"sluice-parameters 2 parameters\n",
		"sluice-parameters 1 parameters\nhint\t*\t*\tno_such_hint\t4\n",
		"sluice-parameters 1 parameters\nhint\t*\t*\tcb_nodes\t4; rm\n",
		"sluice-parameters 1 parameters\nhint\t*\t*\tcb_buffer_size\t4K\n",
		"sluice-parameters 1 parameters\nprefix\t*\t*\tbglockless\t/home/x/\n",
		"sluice-parameters 1 parameters\nlayout\t*\t*\tcb_nodes\t4\n",
		"sluice-parameters 1 parameters\nhint\t*\tcb_nodes\t4\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct param_set set = { 0 };
		struct err err = { 0 };

		CHECK_INT(param_set_decompile(&set, bad[i], &err), -EINVAL);
		CHECK(err.text[0] && !set.count);
	}
}

static void a_set_that_does_not_fit_is_refused(void)
{
	struct param_set set = { 0 };
	struct err err = { 0 };
	char text[PARAMETERS_BYTES] = "untouched", file[64];

	for (int i = 0; i < 600; i++) {
		snprintf(file, sizeof(file), "a_rather_long_name_%d.h5", i);
		set_value(&set, "cb_nodes", "4", file);
	}
	CHECK_INT(param_set_compile(&set, false, text, &err), -ENOSPC);
	CHECK(strstr(err.text, "600 parameters"));
	CHECK_TEXT(text, "untouched");
	param_set_release(&set);
}

struct problems {
	struct buf text;
	size_t drops;
};

static void say(void *arg, const struct param *param, bool drop, const char *text)
{
	struct problems *problems = arg;

	CHECK(param && strstr(text, param->tunable->name));
	buf_printf(&problems->text, "%s\n", text);
	problems->drops += drop;
}

static const struct tunable_context mpich_local = { .middleware = MIDDLEWARE_MPICH,
						    .filesystem = FILESYSTEM_LOCAL,
						    .allowed = TUNABLE_LAYOUT,
						    .ranks = 4,
						    .nodes = 1 };
static const struct tunable_context lustre = { .middleware = MIDDLEWARE_MPICH,
					       .filesystem = FILESYSTEM_LUSTRE,
					       .allowed = TUNABLE_LAYOUT,
					       .ranks = 256,
					       .nodes = 16 };

/* Sets pairs "name", "value", ..., and checks them. The problems have these key words; NULL: there
 * are none. */
static void expect(const struct tunable_context *context, const char *const *pairs, size_t drops,
		   const char *words)
{
	struct param_set set = { 0 };
	struct problems problems = { 0 };

	for (; pairs[0]; pairs += 2)
		set_value(&set, pairs[0], pairs[1], NULL);
	CHECK_INT(param_set_check(&set, context, say, &problems), drops);
	CHECK_INT(problems.drops, drops);
	CHECK_INT(param_set_check(&set, context, NULL, NULL), drops);
	if (words)
		CHECK_WORDS(buf_text(&problems.text), words);
	else
		CHECK_TEXT(buf_text(&problems.text), "");
	buf_release(&problems.text);
	param_set_release(&set);
}

#define PAIRS(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static void values_are_judged_together(void)
{
	expect(&lustre, PAIRS("cb_buffer_size", "1M", "striping_unit", "4M"), 0,
	       "cb_buffer_size=1048576|striping_unit");
	expect(&lustre, PAIRS("cb_buffer_size", "6M", "striping_unit", "4M"), 0,
	       "multiple|striping_unit");
	expect(&lustre, PAIRS("cb_buffer_size", "8M", "striping_unit", "4M"), 0, NULL);
	expect(&mpich_local, PAIRS("cb_buffer_size", "1M", "striping_unit", "4M"), 0, NULL);
	expect(&lustre, PAIRS("cb_nodes", "6", "striping_factor", "4"), 0,
	       "divides|striping_factor");
	expect(&lustre, PAIRS("cb_nodes", "8", "striping_factor", "4"), 0, NULL);
	expect(&lustre, PAIRS("cb_nodes", "4", "striping_factor", "16"), 0, NULL);
	expect(&mpich_local, PAIRS("cb_nodes", "4"), 0, "cb_config_list");
	expect(&mpich_local, PAIRS("cb_nodes", "4", "cb_config_list", "*:2"), 0, "cb_config_list");
	expect(&mpich_local, PAIRS("cb_nodes", "4", "cb_config_list", "*:4"), 0, NULL);
	expect(&mpich_local, PAIRS("cb_nodes", "8", "cb_config_list", "*:*"), 0, "ranks");
	expect(&mpich_local, PAIRS("cb_buffer_size", "8M", "romio_cb_write", "disable"), 0,
	       "romio_cb_write|writes");
	expect(&mpich_local, PAIRS("chunk_size", "8M"), 0, "fill_time");
	expect(&mpich_local, PAIRS("alignment", "0,100000"), 0, "power of two");
	expect(&mpich_local, PAIRS("striping_factor", "4"), 0, "effect|mpich");
	expect(&lustre, PAIRS("striping_unit", "100000"), 1, "multiple of 65536");
	expect(&lustre, PAIRS("libver", "latest"), 1, "params.allow = semantics");
	expect(&lustre, PAIRS("romio_cb_pfr", "enable", "num_aggregators", "2"), 2, "refused");
	expect(&lustre, PAIRS("transfer", "collective"), 1, "hangs|params.allow = semantics");
}

static void ompio_gets_no_aggregator_counts(void)
{
	struct tunable_context ompio = { .middleware = MIDDLEWARE_OMPIO };
	struct param_set set = { 0 };
	struct problems problems = { 0 };

	set_value(&set, "cb_nodes", "1", NULL);
	set_value(&set, "cb_buffer_size", "8M", NULL);
	set_value(&set, "num_aggregators", "2", NULL);
	param_set_prune(&set, &ompio, say, &problems);
	CHECK_INT(problems.drops, 2);
	CHECK_INT(set.count, 1);
	CHECK_TEXT(set.params[0].tunable->name, "cb_buffer_size");
	buf_release(&problems.text);
	param_set_release(&set);
}

/* A rule for one file is judged by the values that apply to that file. */
static void constraints_compare_values_for_the_same_files(void)
{
	struct param_set set = { 0 };
	struct problems problems = { 0 };

	set_value(&set, "striping_unit", "1M", NULL);
	set_value(&set, "striping_unit", "16M", "big.h5");
	set_value(&set, "cb_buffer_size", "4M", NULL);
	CHECK_INT(param_set_check(&set, &lustre, say, &problems), 0);
	CHECK_TEXT(buf_text(&problems.text), "");
	set_value(&set, "cb_buffer_size", "4M", "big.h5");
	CHECK_INT(param_set_check(&set, &lustre, say, &problems), 0);
	CHECK_WORDS(buf_text(&problems.text), "smaller|striping_unit");
	buf_release(&problems.text);
	param_set_release(&set);
}

static void parameters_can_be_given_as_texts(void)
{
	struct param_set set = { 0 };
	AUTO_BUF struct buf line = { 0 };
	struct err err = { 0 };

	CHECK_INT(param_set_put_text(&set, "cb_nodes=4", &err), 0);
	CHECK_INT(param_set_put_text(&set, "cb_config_list=*:2", &err), 0);
	param_set_line(&set, &line);
	CHECK_TEXT(buf_text(&line), "cb_nodes=4 cb_config_list=*:2");
	CHECK_INT(param_set_put_text(&set, "cb_nodes", &err), -EINVAL);
	CHECK_WORDS(err.text, "NAME=VALUE|cb_nodes");
	CHECK_INT(param_set_put_text(&set, "nodes=4", &err), -EINVAL);
	CHECK_WORDS(err.text, "unknown|nodes");
	param_set_release(&set);
}

TESTS(TEST(the_more_specific_pattern_wins_in_any_order), TEST(a_second_value_replaces_the_first),
      TEST(copies_are_equal_whatever_the_order),
      TEST(compiled_text_lists_specific_patterns_first_and_layouts),
      TEST(compiled_text_is_read_back), TEST(text_that_was_not_compiled_is_refused),
      TEST(a_set_that_does_not_fit_is_refused), TEST(values_are_judged_together),
      TEST(ompio_gets_no_aggregator_counts), TEST(constraints_compare_values_for_the_same_files),
      TEST(parameters_can_be_given_as_texts))
